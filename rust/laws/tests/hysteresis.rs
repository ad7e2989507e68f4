//! Spring laws on random paths of elongation: no energy from nothing, straight paths may be cut, both signs are alike.

use percuss_laws::{Hysteresis, SpringLaw};
use proptest::prelude::*;

fn law(name: &str, numbers: &[f64]) -> Hysteresis {
    let law = SpringLaw::from_name(name).unwrap();
    law.with(1000.0, numbers).unwrap()
}

fn laws() -> Vec<Hysteresis> {
    vec![
        law("bilinear", &[10.0, 0.05]),
        law("friction", &[0.1, 100.0]),
        law("pendulum", &[0.1, 100.0, 1.0]),
        law("lead-rubber", &[9.0, 0.1]),
        law("bouc-wen", &[10.0, 0.05, 1.0, 0.5, 0.5, 0.0, 0.0]),
        law("bouc-wen", &[10.0, 0.05, 2.0, 0.8, 0.2, 0.05, 0.0]),
        law("menegotto-pinto", &[10.0, 0.05, 20.0, 18.5, 0.15]),
    ]
}

/// Forces on the way, each leg of the path in `pieces`.
fn forces(law: &Hysteresis, path: &[f64], pieces: usize) -> (Vec<f64>, Vec<f64>) {
    let mut fine = vec![0.0];
    for pair in path.windows(2) {
        let steps = (1..=pieces).map(|i| i as f64 / pieces as f64);
        fine.extend(steps.map(|s| pair[0] + s * (pair[1] - pair[0])));
    }
    let forces = law.forces_along(&fine);
    (fine, forces)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_path_back_to_rest_takes_work(legs in prop::collection::vec(-0.08_f64..0.08, 1..8)) {
        let mut path = vec![0.0];
        path.extend(legs);
        // unload: the work that is left has been lost
        for law in laws() {
            let (e, f) = forces(&law, &path, 400);
            let work: f64 = (1..e.len())
                .map(|i| 0.5 * (f[i] + f[i - 1]) * (e[i] - e[i - 1]))
                .sum();
            let last = f[f.len() - 1];
            prop_assert!(work > 0.5 * last * last / law.initial() * (1.0 - 2e-2) - 1e-6, "{work}");
        }
    }

    #[test]
    fn a_straight_path_may_be_cut(legs in prop::collection::vec(-0.08_f64..0.08, 1..8)) {
        let mut path = vec![0.0];
        path.extend(legs);
        for law in laws() {
            let (_, whole) = forces(&law, &path, 4);
            let (_, cut) = forces(&law, &path, 256);
            for (i, force) in whole.iter().enumerate() {
                // of a yield force of 10 N: what Runge-Kutta steps of a tenth of the yield elongation leave
                prop_assert!((force - cut[64 * i]).abs() < 5e-3, "{force} {}", cut[64 * i]);
            }
        }
    }

    #[test]
    fn both_signs_are_alike(legs in prop::collection::vec(-0.08_f64..0.08, 1..8)) {
        let mut path = vec![0.0];
        path.extend(legs);
        let other: Vec<f64> = path.iter().map(|e| -e).collect();
        for law in laws() {
            for (there, here) in forces(&law, &path, 8).1.iter().zip(forces(&law, &other, 8).1) {
                prop_assert!((there + here).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn bad_numbers_are_refused_by_name() {
    let refusal = |name: &str, stiffness, numbers: &[f64]| {
        let law = SpringLaw::from_name(name);
        law.and_then(|law| law.with(stiffness, numbers))
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        refusal("bilinear", 1.0, &[-5.0, 0.0]),
        "yield_force -5 of the spring law `bilinear` must be in (0, inf)"
    );
    assert_eq!(
        refusal("bilinear", 0.0, &[5.0, 0.0]),
        "stiffness 0 of the spring law `bilinear` must be positive and finite"
    );
    assert_eq!(
        refusal("hook", 1.0, &[]),
        "the spring law `hook` takes 1 numbers beside its stiffness, not 0"
    );
    assert!(refusal("steel", 1.0, &[]).starts_with("spring law `steel` is unknown: use one of"));
}

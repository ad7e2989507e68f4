//! Achieved restitution of a free collision, by integration, against what was asked and against the stored table.

use crate::common::golden_text;
use percuss_laws::{Damping, Law};
use percuss_oscillators::{achieved_restitution, free_collision};
use proptest::prelude::*;

fn law_of_table(name: &str) -> (Law, Damping) {
    match name {
        "kv_full" => (Law::KelvinVoigtTension, Damping::Nominal),
        "kv" => (Law::KelvinVoigt, Damping::Nominal),
        "ye" => (Law::Ye, Damping::Nominal),
        "ye_exact" => (Law::Ye, Damping::Exact),
        "jank" => (Law::Jankowski, Damping::Nominal),
        "mj" => (Law::MahmoudJankowski, Damping::Nominal),
        "hertzdamp" => (Law::HertzDamp, Damping::Nominal),
        "hertzdamp_ye" => (Law::HertzDampYe, Damping::Nominal),
        "hunt" => (Law::HuntCrossley, Damping::Nominal),
        other => panic!("the table names a law the test does not know: {other}"),
    }
}

#[test]
fn nominal_damping_achieves_the_stored_values() {
    let text = golden_text("restitution_table.csv");
    let mut rows = 0;
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let (law, damping) = law_of_table(fields[0]);
        let number = |i: usize| fields[i].parse::<f64>().unwrap();
        let achieved = achieved_restitution(law, damping, number(1)).unwrap();
        assert!((achieved - number(2)).abs() < 1e-7, "{line}: {achieved}");
        rows += 1;
    }
    assert!(rows > 100);
}

/// Contact times of the stored table, made with the masses of the two frames: 2000 N/mm linear, 500 N/mm^1.5 Hertz.
#[test]
fn contact_times_match_the_stored_values() {
    for line in golden_text("restitution_table.csv").lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let (law, damping) = law_of_table(fields[0]);
        if law.facts().exponent != 1.0 {
            continue;
        }
        let number = |i: usize| fields[i].parse::<f64>().unwrap();
        let collision =
            free_collision(law, damping, number(1), 2e6, [6.0239, 4.9871], 0.25).unwrap();
        assert!(
            (collision.duration_s * 1e3 - number(6)).abs() < 1e-6,
            "{line}: {collision:?}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// Any law, restitution, masses, stiffness and speed: the rebound asked for.
    #[test]
    fn exact_damping_delivers_restitution(
        law in (0..Law::ALL.len()).prop_map(|i| Law::ALL[i]),
        e in 0.05..0.99_f64, mass in -3.0..4.0_f64, ratio in -3.0..3.0_f64, stiffness in 2.0..9.0_f64, speed in -4.0..1.5_f64,
    ) {
        let m = 10_f64.powf(mass);
        let collision = free_collision(
            law, Damping::Exact, e, 10_f64.powf(stiffness), [m, m * 10_f64.powf(ratio)], 10_f64.powf(speed),
        ).unwrap();
        prop_assert!((collision.restitution - e).abs() < 1e-8, "{law:?} {e}: {collision:?}");
    }
}

#[test]
fn ends_of_the_range() {
    for law in Law::ALL {
        let smallest = law.facts().smallest_restitution;
        for e in [smallest, 0.01, 1.0] {
            let achieved = achieved_restitution(law, Damping::Exact, e).unwrap();
            assert!((achieved - e).abs() < 1e-8, "{law:?}: {achieved} for {e}");
        }
        assert_eq!(
            achieved_restitution(law, Damping::Exact, 0.0).is_ok(),
            law == Law::Rigid
        );
    }
}

//! The five-body system against integrations of others (tests/golden/multibody).

use crate::common::fivebody::*;
use percuss_rigid::*;

/// Accelerations reach 485 m/s2, angular accelerations 1240 rad/s2.
const ALLOWED: f64 = 5e-4;
const FIXED: [Method; 2] = [Method::Adams, Method::Rk4];
const TIGHT: Method = Method::DormandPrince { tolerance: 1e-12 };

#[test]
fn acceleration_of_the_observed_point() {
    for (name, scene) in [
        ("fivebody_nominal.csv", nominal()),
        ("fivebody_perturbed.csv", perturbed()),
    ] {
        let reference = golden(name);
        for method in FIXED {
            let error = apart(&observed(scene.clone(), 1e-4, method, 1), &reference);
            assert!(error < ALLOWED, "{name}: {method:?} {error:e}");
        }
        // The stored digits and tolerances of the references are good to 1e-6.
        let adaptive = apart(&observed(scene, 1e-4, TIGHT, 1), &reference);
        assert!(adaptive < 5e-6, "{name}: dormand-prince {adaptive:e}");
    }
}

#[test]
fn the_order_is_four_or_better() {
    let exact = observed(perturbed(), 1e-4, TIGHT, 1);
    // Milne's modifier takes the leading error of Adams' corrector.
    for (method, orders) in [(Method::Rk4, 3.7..4.6), (Method::Adams, 4.6..5.4)] {
        let error = |each: usize| {
            let dt = 1e-4 / each as f64;
            apart(&observed(perturbed(), dt, method, each), &exact)
        };
        let errors = [1, 2, 4].map(error);
        for pair in errors.windows(2) {
            let order = (pair[0] / pair[1]).log2();
            assert!(
                orders.contains(&order),
                "{method:?} {errors:?}: order {order}"
            );
        }
    }
}

#[test]
fn nothing_drifts_in_ten_seconds() {
    let mut world = World::new(perturbed(), settings(2e-4, Method::Adams)).unwrap();
    let mut worst = 0.0_f64;
    for step in 0..50_000 {
        world.step().unwrap();
        if step % 100 == 99 {
            worst = worst.max(world.drift());
        }
    }
    assert!(worst < 1e-12, "{worst:e}");
    // The energy account closes to the accuracy of the method; the lifts bring in tens of joules.
    assert!(world.energy().motion_work_j > 10.0);
    assert!(world.energy().closing_error_j().abs() < 1e-3);
}

#[test]
fn a_restored_state_goes_on_to_the_same_bits() {
    let pair = Method::DormandPrince { tolerance: 1e-8 };
    // Adams' method has lost its past in the kink at 6 ms, and has a full one at 10 ms.
    let adams = [(Method::Adams, 0.0062), (Method::Adams, 0.01)];
    for (method, start) in adams.into_iter().chain([(Method::Rk4, 0.01), (pair, 0.01)]) {
        let mut world = World::new(perturbed(), settings(1e-4, method)).unwrap();
        world.run(start, &Record::default()).unwrap();
        let state = Snapshot::from_bytes(&world.snapshot().to_bytes()).unwrap();
        let first = world.run(0.005, &Record::default()).unwrap();
        let mut other = World::new(perturbed(), settings(1e-4, method)).unwrap();
        other.restore(&state).unwrap();
        assert_eq!(other.run(0.005, &Record::default()).unwrap(), first);
        assert_eq!(other.snapshot(), world.snapshot());
    }
    let mut plain = World::new(Scene::default(), Settings::with_step(1e-4)).unwrap();
    let strange = World::new(perturbed(), settings(1e-4, Method::Rk4))
        .unwrap()
        .snapshot();
    assert!(plain.restore(&strange).is_err());
}

#[test]
fn the_nonsmooth_stepper_converges_to_the_smooth_one() {
    let place = |settings: Settings, steps: usize| {
        let mut world = World::new(nominal(), settings).unwrap();
        for _ in 0..steps {
            world.step().unwrap();
        }
        assert!(world.drift() < 1e-12);
        // Of 39 J that the lifts bring in: rounding for the nonsmooth stepper, fourth order (2.8e-7 at 5e-5 s) for this one.
        assert!(world.energy().closing_error_j().abs() < 5e-7);
        world.pose(4).point(&OBSERVED.into())
    };
    let exact = place(settings(5e-5, Method::Rk4), 600);
    let error =
        |steps: usize| (place(Settings::with_step(0.03 / steps as f64), steps) - exact).norm();
    let (coarse, fine) = (error(300), error(600));
    assert!(
        fine < 1e-6 && (3.0..5.5).contains(&(coarse / fine)),
        "{coarse:e} {fine:e}"
    );
}

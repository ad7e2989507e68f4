//! The five-body system against integrations of others.

#[path = "common/fivebody.rs"]
mod fivebody;

use fivebody::*;
use percuss_rigid::*;

#[test]
fn nominal_acceleration_of_the_observed_point() {
    let reference = golden("fivebody_nominal.csv");
    let error = apart(&observed(nominal(), 1e-4, Method::Rk4, 1), &reference);
    println!("rk4 {error:e}");
    for (dt, each) in [(5e-5, 2), (2.5e-5, 4)] {
        println!(
            "{dt} {:e}",
            apart(&observed(nominal(), dt, Method::Rk4, each), &reference)
        );
    }
    println!(
        "dp {:e}",
        apart(
            &observed(
                nominal(),
                1e-4,
                Method::DormandPrince { tolerance: 1e-9 },
                1
            ),
            &reference
        )
    );
    let mut world = World::new(nominal(), settings(1e-4, Method::Rk4)).unwrap();
    let start = std::time::Instant::now();
    for _ in 0..10000 {
        world.step().unwrap();
    }
    println!("{:?}", start.elapsed());
    println!("{:?} {}", world.energy(), world.energy().closing_error_j());
    assert!(error < 5e-4);
}

#[test]
fn the_nonsmooth_stepper_converges_to_the_smooth_one() {
    let place = |settings: Settings, steps: usize| {
        let mut world = World::new(nominal(), settings).unwrap();
        for _ in 0..steps {
            world.step().unwrap();
        }
        assert!(world.drift() < 1e-12);
        assert!(world.energy().closing_error_j().abs() < 1e-7);
        world.pose(4).point(&OBSERVED.into())
    };
    let exact = place(settings(5e-5, Method::Rk4), 600);
    let error =
        |steps: usize| (place(Settings::with_step(0.03 / steps as f64), steps) - exact).norm();
    let (coarse, fine) = (error(300), error(600));
    println!("nonsmooth {coarse:e} {fine:e}");
    assert!(
        fine < 1e-6 && (3.0..5.5).contains(&(coarse / fine)),
        "{coarse:e} {fine:e}"
    );
    let mut world = World::new(nominal(), Settings::with_step(1e-4)).unwrap();
    let start = std::time::Instant::now();
    for _ in 0..10000 {
        world.step().unwrap();
    }
    println!(
        "nonsmooth {:?} {:?} {:e}",
        start.elapsed(),
        world.energy(),
        world.energy().closing_error_j()
    );
}

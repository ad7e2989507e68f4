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

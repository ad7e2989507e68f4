//! Time of the five-body system with both steppers: seconds of CPU for a simulated second.
//!
//! `cargo bench -p percuss-rigid --bench fivebody`

#[path = "../tests/common/fivebody.rs"]
#[allow(dead_code)]
mod fivebody;

use percuss_rigid::{Method, Settings, World};
use std::time::Instant;

/// Few enough to fit between two interruptions.
const STEPS: u32 = 300;

fn main() {
    let smooth = |method: Method| fivebody::settings(1e-4, method);
    for (name, settings) in [
        ("adams", smooth(Method::Adams)),
        ("rk4", smooth(Method::Rk4)),
        (
            "dormand-prince 1e-9",
            smooth(Method::DormandPrince { tolerance: 1e-9 }),
        ),
        ("moreau-jean", Settings::with_step(1e-4)),
    ] {
        let one = || {
            let mut world = World::new(fivebody::nominal(), settings).expect("a scene");
            let start = Instant::now();
            for _ in 0..STEPS {
                world.step().expect("a step");
            }
            start.elapsed().as_secs_f64() * 1e4 / f64::from(STEPS)
        };
        let best = (0..200).map(|_| one()).fold(f64::INFINITY, f64::min);
        println!("five bodies at 1e-4 s, {name}: {best:.4} s for a simulated second");
    }
}

//! Cost of a step, per real contact: N = 1000 and 5000, both laws, with and without moments, slow shear.

#[path = "../tests/common/mod.rs"]
mod common;

use common::material;
use std::time::Instant;

use percuss_grains::{Axis, Compaction, Damping, Material, Servo, World, make_packing};
use percuss_laws::grain::GrainLaw;

fn main() {
    // `cargo test --benches` calls with --test: nothing to measure there.
    if std::env::args().any(|a| a == "--test") {
        return;
    }
    let mut first = None;
    for n in [1000, 5000] {
        let start = Instant::now();
        let made = make_packing(&Compaction::toyoura(n, 1), &mut || true).expect("a packing");
        println!(
            "packing of {n}: void ratio {:.4}, coordination {:.2}, {} cycles, {} steps, {:.2} s",
            made.void_ratio,
            made.coordination,
            made.cycles,
            made.steps,
            start.elapsed().as_secs_f64()
        );
        for law in [GrainLaw::HertzMindlin, GrainLaw::ClassicalLinear] {
            for moments in [true, false] {
                let mut world = World::new(
                    &made.packing,
                    Material {
                        moments,
                        ..material(law)
                    },
                    0.8,
                )
                .expect("a world");
                world.drive(Servo {
                    axes: [Axis::Stress(2e5); 3],
                    most_per_s: 1.0,
                });
                world.damp(Damping(0.9));
                world.run(4000).expect("compression");
                let axes = [Axis::Stress(2e5), Axis::Stress(2e5), Axis::Rate(0.1)];
                world.drive(Servo {
                    axes,
                    most_per_s: 1.0,
                });
                world.damp(Damping(0.2));
                let mut best = f64::INFINITY;
                let steps = 400_000 / n as u64;
                let rebuilds = world.rebuilds();
                for _ in 0..10 {
                    let start = Instant::now();
                    world.run(steps).expect("shear");
                    let each = start.elapsed().as_secs_f64() / steps as f64;
                    best = best.min(1e9 * each / world.contacts() as f64);
                }
                let base = *first.get_or_insert(best);
                println!(
                    "{n} grains, {law:?}, moments {moments}: {best:.1} ns a contact and step ({:.2} of the first), {} contacts, {} rebuilds in {} steps",
                    best / base,
                    world.contacts(),
                    world.rebuilds() - rebuilds,
                    10 * steps
                );
            }
        }
    }
}

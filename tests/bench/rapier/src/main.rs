//! Boxes at rest by rapier: `percuss-bench-rapier STEP_S THREADS STEPS < boxes`, a line `a b c x y z` [m] each.
//!
//! Prints seconds per step after ten steps, the deepest overlap and how far a box has moved [m].

use rapier3d::prelude::*;
use std::io::Read;
use std::time::Instant;

const WARM_UP: usize = 10;

fn main() {
    let arguments: Vec<f64> = std::env::args()
        .skip(1)
        .map(|word| word.parse().expect("a number"))
        .collect();
    let [step_s, threads, steps] = arguments[..] else {
        panic!("STEP_S THREADS STEPS")
    };
    let mut world = PhysicsWorld {
        gravity: Vector::Z * -9.81,
        ..PhysicsWorld::default()
    };
    world.integration_parameters.dt = step_s as Real;
    world
        .configure_thread_pool(threads as usize)
        .expect("threads");
    world.insert(
        RigidBodyBuilder::fixed(),
        ColliderBuilder::new(SharedShape::halfspace(Vector::Z)).friction(0.5),
    );
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).expect("boxes");
    let mut placed = Vec::new();
    for line in text.lines() {
        let v: Vec<Real> = line
            .split_whitespace()
            .map(|word| word.parse().expect("a number"))
            .collect();
        let at = Vector::new(v[3], v[4], v[5]);
        // Asleep nothing is computed: no box may fall asleep.
        let body = RigidBodyBuilder::dynamic().translation(at).can_sleep(false);
        let shape = ColliderBuilder::cuboid(v[0] / 2.0, v[1] / 2.0, v[2] / 2.0)
            .density(1000.0)
            .friction(0.5);
        placed.push((world.insert(body, shape).0, at));
    }
    for _ in 0..WARM_UP {
        world.step();
    }
    let start = Instant::now();
    for _ in 0..steps as usize {
        world.step();
    }
    let took = start.elapsed().as_secs_f64() / steps;
    let overlap = world
        .contact_pairs()
        .flat_map(|pair| pair.manifolds())
        .flat_map(|manifold| manifold.points.iter())
        .fold(0.0, |deepest: Real, point| deepest.max(-point.dist));
    let moved = placed
        .iter()
        .map(|&(handle, at)| (world.bodies[handle].translation() - at).length())
        .fold(0.0, Real::max);
    println!("{took} {overlap} {moved}");
}

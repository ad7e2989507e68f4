//! Impacts with closed forms.

mod common;

use common::*;
use percuss_rigid::*;

/// A sphere of 1 kg and radius 0.5 m released 1 m above the ground.
fn drop(dt: f64, restitution: f64) -> World {
    let mut scene = ground(Pose::identity());
    add_sphere(&mut scene, 0.5, 1.0, Vec3::new(0.0, 0.0, 1.5));
    scene.add_law(ContactLaw::new((0, 1), restitution, 0.3));
    World::new(scene, Settings::with_step(dt)).unwrap()
}

/// Times of the first impacts and heights of the peaks after them.
fn bounces(dt: f64, restitution: f64, count: usize) -> (Vec<f64>, Vec<f64>) {
    let mut world = drop(dt, restitution);
    let (mut times, mut peaks) = (Vec::new(), Vec::new());
    let mut last = 0.0;
    while times.len() < count + 1 {
        advance(&mut world, 1);
        let state = world.state(1);
        if last < 0.0 && state.velocity.z > 0.0 {
            times.push(world.time_s());
            peaks.push(0.0);
        }
        last = state.velocity.z;
        if let Some(peak) = peaks.last_mut() {
            *peak = f64::max(*peak, state.position.z - 0.5);
        }
    }
    times.pop();
    peaks.pop();
    (times, peaks)
}

#[test]
fn a_bouncing_sphere_keeps_time_and_height_to_first_order() {
    let fall = (2.0 / G).sqrt();
    let exact = |e: f64, k: usize| {
        let times = (1..=k).map(|i| 2.0 * fall * e.powi(i as i32)).sum::<f64>() + fall;
        (times, e.powi(2 * (k as i32 + 1)))
    };
    let worst = |dt: f64| {
        let (times, peaks) = bounces(dt, 0.5, 4);
        let mut worst = (0.0_f64, 0.0_f64);
        for k in 0..4 {
            let (time, peak) = exact(0.5, k);
            worst.0 = worst.0.max((times[k] - time).abs());
            worst.1 = worst.1.max((peaks[k] - peak).abs());
        }
        worst
    };
    // An impact falls within a step: each costs up to a step of time and dt times the speed of height.
    for dt in [1e-3, 1e-4, 1e-5] {
        let (time, height) = worst(dt);
        assert!(time < 4.0 * dt, "dt {dt}: times off by {time}");
        assert!(height < 10.0 * dt, "dt {dt}: heights off by {height}");
    }
}

#[test]
fn the_energy_account_of_a_bouncing_sphere_closes_to_rounding() {
    let mut world = drop(1e-3, 0.7);
    advance(&mut world, 3000);
    assert!(closing(&world) < 1e-13, "{:e}", closing(&world));
    assert_eq!(world.energy().gain_steps, 0);
    assert!(world.energy().impact_dissipation_j > 9.0);
}

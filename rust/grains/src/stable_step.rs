//! The stable time step: a share of the least of sqrt(m/K) and sqrt(I/Kr) over all grains.
//!
//! K is the diagonal of the sum of contact stiffnesses of a grain along each axis, Kr that of its rotation: ks r^2
//! across the normal, and the rolling stiffness. Central differences are stable below sqrt(2 m/K) even when neighbours
//! move against each other, so that all of sqrt(m/K) has a margin of its own. Contact damping of ratio z shortens it by
//! sqrt(1 + z^2) - z.

use nalgebra::Vector3;
use percuss_laws::grain::{PairLaw, damping_ratio};
use percuss_laws::with_grain_law;

use crate::touching::for_each_touching;
use crate::world::World;

/// The step, s; notes the affine stiffness of the packing on the way.
pub(crate) fn stable_step(world: &mut World) -> f64 {
    let grain = world.material.grain;
    with_grain_law!(world.material.law, &grain, law => with(world, law))
}

fn with<L: PairLaw>(world: &mut World, law: L) -> f64 {
    let n = world.bodies.len();
    let mut linear = vec![Vector3::zeros(); n];
    let mut angular = vec![Vector3::zeros(); n];
    let mut affine = Vector3::zeros();
    for_each_touching(world, &law, |touching| {
        let k = touching.stiffness;
        let square = (touching.branch / touching.distance).map(|x| x * x);
        let across = square.map(|x| 1.0 - x);
        let along = square * k.normal_tangent_n_per_m + across * k.shear_n_per_m;
        let rolling = if world.material.moments {
            k.rolling_n_m
        } else {
            0.0
        };
        for at in [Some(touching.grains.0), touching.grains.1]
            .into_iter()
            .flatten()
        {
            let radius = world.bodies[at].radius;
            linear[at] += along;
            angular[at] += across * (k.shear_n_per_m * radius * radius) + Vector3::repeat(rolling);
        }
        affine += square * (k.normal_tangent_n_per_m * touching.distance * touching.distance);
    });
    let volume = world.cell.product();
    world.stiffness_pa = [affine.x / volume, affine.y / volume, affine.z / volume];
    let mut fastest = 0.0_f64;
    let mut longest = 0.0_f64;
    for i in 0..n {
        let inverse = world.inverse_mass[i];
        let radius = world.bodies[i].radius;
        let inverse_inertia = 2.5 * inverse / (radius * radius);
        fastest = fastest
            .max(linear[i].max() * inverse)
            .max(angular[i].max() * inverse_inertia);
        // A single contact at an overlap of a ten-thousandth of the radius: what a step must stand without contacts.
        let k = law.stiffness(law.factor(radius, radius), radius, radius, 1e-4 * radius);
        longest = longest.max(k.normal_tangent_n_per_m * inverse);
    }
    let z = damping_ratio(world.material.restitution);
    world.safety * ((1.0 + z * z).sqrt() - z) / fastest.max(longest).sqrt()
}

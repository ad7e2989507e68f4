//! Forces of all contacts: one pass over the pairs, in their order.

use nalgebra::Vector3;
use percuss_laws::grain::{
    GrainLaw, PairLaw, classical_linear::ClassicalLinear, hertz_mindlin::HertzMindlin,
};

use crate::contact::{Contact, Motion, react};
use crate::neighbours::image_shift;
use crate::world::{Loads, World};

/// Sums over all contacts of one step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    /// Force times branch along each axis, J: normal stress times volume.
    pub moment_j: [f64; 3],
    /// Sizes of the forces, N.
    pub force_n: f64,
    pub contacts: usize,
    pub sliding: usize,
}

/// Compute forces and torques on every grain.
pub(crate) fn apply(world: &mut World) {
    let grain = world.material.grain;
    match world.material.law {
        GrainLaw::ClassicalLinear => choose(world, ClassicalLinear::new(&grain)),
        GrainLaw::HertzMindlin => choose(world, HertzMindlin::new(&grain)),
    }
}

fn choose<L: PairLaw>(world: &mut World, law: L) {
    match (world.material.moments, world.material.rescaled) {
        (false, false) => pass::<L, false, false>(world, law),
        (false, true) => pass::<L, false, true>(world, law),
        (true, false) => pass::<L, true, false>(world, law),
        (true, true) => pass::<L, true, true>(world, law),
    }
}

fn pass<L: PairLaw, const MOMENTS: bool, const RESCALED: bool>(world: &mut World, law: L) {
    let limits = world.material.limits(world.dt_s);
    let mut shifts = [Vector3::zeros(); 27];
    for (image, shift) in shifts.iter_mut().enumerate() {
        *shift = image_shift(image, &world.cell);
    }
    let rates = Vector3::from(world.rates);
    let mut totals = Totals::default();
    let mut dissipated = [0.0; 2];
    world.loads.fill(Loads::default());
    let pairs = &mut world.pairs;
    for i in 0..world.bodies.len() {
        let (first, last) = (pairs.starts[i], pairs.starts[i + 1]);
        let body = world.bodies[i];
        let mut own = world.loads[i];
        let list = &mut pairs.list[first..last];
        let contacts = &mut pairs.contacts[first..last];
        let factors = &pairs.factors[first..last];
        for ((pair, contact), &factor) in list.iter_mut().zip(contacts).zip(factors) {
            let other = &world.bodies[pair.other as usize];
            let branch = other.position - body.position + shifts[pair.image as usize];
            let square = branch.norm_squared();
            let sum = body.radius + other.radius;
            if square >= sum * sum {
                if pair.touching {
                    pair.touching = false;
                    *contact = Contact::default();
                }
                continue;
            }
            let motion = Motion {
                branch_m: branch,
                velocity_m_s: other.velocity - body.velocity + rates.component_mul(&branch),
                spins_rad_s: [body.spin, other.spin],
                radii_m: [body.radius, other.radius],
            };
            let distance = square.sqrt();
            let is_new = !pair.touching;
            let found = react::<L, MOMENTS, RESCALED>(
                &law, &limits, factor, contact, is_new, &motion, distance,
            );
            pair.touching = true;
            own.force -= found.force_n;
            own.torque += found.torques_n_m[0];
            let their = &mut world.loads[pair.other as usize];
            their.force += found.force_n;
            their.torque += found.torques_n_m[1];
            for k in 0..3 {
                totals.moment_j[k] += found.force_n[k] * branch[k];
            }
            totals.force_n += found.force_n.norm();
            totals.contacts += 1;
            if found.dissipated_j[0] > 0.0 {
                totals.sliding += 1;
            }
            dissipated[0] += found.dissipated_j[0];
            dissipated[1] += found.dissipated_j[1];
        }
        world.loads[i] = own;
    }
    world.totals = totals;
    world.dissipated_j[0] += dissipated[0];
    world.dissipated_j[1] += dissipated[1];
}

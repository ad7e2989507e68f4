//! Forces of all contacts: one pass over the pairs, in their order.

use nalgebra::Vector3;
use percuss_laws::grain::PairLaw;
use percuss_laws::with_grain_law;

use crate::contact::{Contact, Lost, Motion, Reaction, react};
use crate::neighbours::image_shift;
use crate::walls;
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

impl Totals {
    #[inline(always)]
    pub fn count(&mut self, found: &Reaction) {
        self.force_n += found.force_n.norm();
        self.contacts += 1;
        if found.lost.sliding_j > 0.0 {
            self.sliding += 1;
        }
    }
}

/// Compute forces and torques on every grain.
pub(crate) fn apply(world: &mut World) {
    let grain = world.material.grain;
    with_grain_law!(world.material.law, &grain, law => choose(world, law));
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
    let rates = if world.walls.is_none() {
        Vector3::from(world.rates)
    } else {
        Vector3::zeros()
    };
    let mut totals = Totals::default();
    let mut lost = Lost::default();
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
            let touch = motion.touch(square.sqrt());
            let inverse = (
                world.inverse_mass[i],
                &world.inverse_mass[pair.other as usize],
            );
            let found = react::<L, MOMENTS, RESCALED>(
                &law,
                &limits,
                factor,
                contact,
                !pair.touching,
                &touch,
                || 1.0 / (inverse.0 + inverse.1),
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
            totals.count(&found);
            lost += found.lost;
        }
        world.loads[i] = own;
    }
    world.totals = totals;
    world.lost += lost;
    walls::press::<L, MOMENTS, RESCALED>(world, &law, &limits);
}

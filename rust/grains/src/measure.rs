//! What a packing is like: stress and fabric tensors, contacts, energies.

use nalgebra::Matrix3;
use percuss_laws::grain::PairLaw;
use percuss_laws::with_grain_law;

use crate::touching::for_each_touching;
use crate::world::World;

/// Bins of |cos| of the angle between a contact and the z axis: equal ones for contacts in all directions alike.
pub const ORIENTATION_BINS: usize = 10;

/// Energies, J. What the boundary put in is what is stored, moves or was dissipated.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energy {
    /// Stored in normal, shear and rolling springs.
    pub elastic_j: f64,
    /// Of grains, beside the deformation of the cell.
    pub kinetic_j: f64,
    /// Put in: by the overlaps at the start, and by the boundary and by gravity since.
    pub boundary_j: f64,
    /// Dissipated by sliding.
    pub sliding_j: f64,
    /// Dissipated by rolling and twisting.
    pub rolling_j: f64,
    /// Dissipated by damping, of motion and of contacts.
    pub damping_j: f64,
    /// Lost by shear springs that changed their stiffness under load; negative where the law creates energy.
    pub stiffening_j: f64,
}

/// A packing in numbers.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Stress, Pa, positive in compression: the mean over contacts, between walls its diagonal what they bear.
    pub stress_pa: Matrix3<f64>,
    /// Mean of n n' over contacts.
    pub fabric: Matrix3<f64>,
    /// Contacts.
    pub contacts: usize,
    /// Contacts at a grain, on average.
    pub coordination: f64,
    /// The same among grains that have at least 4, which bear load.
    pub mechanical_coordination: f64,
    /// Mean normal force, N.
    pub mean_normal_n: f64,
    /// Largest normal force, N.
    pub largest_normal_n: f64,
    /// Standard deviation of normal forces over their mean.
    pub normal_spread: f64,
    /// Share of contacts that slide.
    pub sliding: f64,
    /// Share of contacts in each bin of |cos| to the z axis.
    pub orientation: [f64; ORIENTATION_BINS],
    /// Energies.
    pub energy: Energy,
}

/// Energy of the overlaps that a packing starts with, J.
pub(crate) fn overlap_energy_j(world: &World) -> f64 {
    fn with<L: PairLaw>(world: &World, law: L) -> f64 {
        let mut sum = 0.0;
        for_each_touching(world, &law, |t| {
            sum += L::ENERGY_SHARE * t.stiffness.normal_n_per_m * t.overlap * t.overlap;
        });
        sum
    }
    let grain = &world.material.grain;
    with_grain_law!(world.material.law, grain, law => with(world, law))
}

/// Measure the present state.
pub fn measure(world: &World) -> Measured {
    let grain = &world.material.grain;
    with_grain_law!(world.material.law, grain, law => with(world, law))
}

fn with<L: PairLaw>(world: &World, law: L) -> Measured {
    let n = world.bodies.len();
    let (mut stress, mut fabric) = (Matrix3::zeros(), Matrix3::zeros());
    let (mut contacts, mut sum, mut squares, mut largest) = (0_usize, 0.0, 0.0, 0.0_f64);
    let mut orientation = [0.0; ORIENTATION_BINS];
    let mut degree = vec![0_u32; n];
    let mut elastic = 0.0;
    for_each_touching(world, &law, |touching| {
        let Some(contact) = touching.contact else {
            return;
        };
        let k = touching.stiffness;
        let normal = touching.branch / touching.distance;
        let force = k.normal_n_per_m * touching.overlap;
        stress += (normal * force + contact.shear_n) * touching.branch.transpose();
        fabric += normal * normal.transpose();
        contacts += 1;
        sum += force;
        squares += force * force;
        largest = largest.max(force);
        let bin = (normal.z.abs() * ORIENTATION_BINS as f64) as usize;
        orientation[bin.min(ORIENTATION_BINS - 1)] += 1.0;
        for at in [Some(touching.grains.0), touching.grains.1]
            .into_iter()
            .flatten()
        {
            degree[at] += 1;
        }
        elastic += L::ENERGY_SHARE * force * touching.overlap;
        elastic += stored(contact.shear_n.norm_squared(), k.shear_n_per_m);
        if world.material.moments {
            elastic += stored(contact.moment_n_m.norm_squared(), k.rolling_n_m);
        }
    });
    let count = contacts.max(1) as f64;
    let bearing: Vec<u32> = degree.iter().copied().filter(|&d| d >= 4).collect();
    let mean = sum / count;
    let kinetic: f64 = world
        .bodies
        .iter()
        .zip(&world.inverse_mass)
        .map(|(b, inverse)| {
            let spin = 0.4 * b.radius * b.radius * b.spin.norm_squared();
            0.5 * (b.velocity.norm_squared() + spin) / inverse
        })
        .sum();
    let mut stress = stress / world.cell.product();
    if world.walls.is_some() {
        // Friction at walls makes the mean over contacts another: what the walls bear is what a laboratory sees.
        let borne = world.stress_pa();
        (0..3).for_each(|k| stress[(k, k)] = borne[k]);
    }
    Measured {
        stress_pa: stress,
        fabric: fabric / count,
        contacts,
        coordination: degree.iter().sum::<u32>() as f64 / n as f64,
        mechanical_coordination: bearing.iter().sum::<u32>() as f64 / bearing.len().max(1) as f64,
        mean_normal_n: mean,
        largest_normal_n: largest,
        normal_spread: if mean > 0.0 {
            (squares / count - mean * mean).max(0.0).sqrt() / mean
        } else {
            0.0
        },
        sliding: world.totals.sliding as f64 / world.totals.contacts.max(1) as f64,
        orientation: orientation.map(|x| x / count),
        energy: Energy {
            elastic_j: elastic,
            kinetic_j: kinetic,
            boundary_j: world.boundary_j,
            sliding_j: world.lost.sliding_j,
            rolling_j: world.lost.rolling_j,
            damping_j: world.damped_j + world.lost.viscous_j,
            stiffening_j: world.lost.stiffening_j,
        },
    }
}

fn stored(square: f64, stiffness: f64) -> f64 {
    if stiffness > 0.0 {
        0.5 * square / stiffness
    } else {
        0.0
    }
}

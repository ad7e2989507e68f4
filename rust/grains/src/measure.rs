//! What a packing is like: stress and fabric tensors, contacts, energies.

use nalgebra::{Matrix3, Vector3};
use percuss_laws::grain::{
    GrainLaw, PairLaw, classical_linear::ClassicalLinear, hertz_mindlin::HertzMindlin,
};

use crate::neighbours::image_shift;
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
    /// Work of the boundary since the start.
    pub boundary_j: f64,
    /// Dissipated by sliding.
    pub sliding_j: f64,
    /// Dissipated by rolling and twisting.
    pub rolling_j: f64,
    /// Dissipated by damping.
    pub damping_j: f64,
}

/// A packing in numbers.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Stress, Pa, positive in compression.
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

/// Measure the present state.
pub fn measure(world: &World) -> Measured {
    let grain = &world.material.grain;
    match world.material.law {
        GrainLaw::ClassicalLinear => with(world, ClassicalLinear::new(grain)),
        GrainLaw::HertzMindlin => with(world, HertzMindlin::new(grain)),
    }
}

fn with<L: PairLaw>(world: &World, law: L) -> Measured {
    let n = world.bodies.len();
    let (mut stress, mut fabric) = (Matrix3::zeros(), Matrix3::zeros());
    let (mut contacts, mut sum, mut squares, mut largest) = (0_usize, 0.0, 0.0, 0.0_f64);
    let mut orientation = [0.0; ORIENTATION_BINS];
    let mut degree = vec![0_u32; n];
    let mut elastic = 0.0;
    for i in 0..n {
        for p in world.pairs.starts[i]..world.pairs.starts[i + 1] {
            let pair = &world.pairs.list[p];
            let j = pair.other as usize;
            let (a, b) = (&world.bodies[i], &world.bodies[j]);
            let branch: Vector3<f64> =
                b.position - a.position + image_shift(pair.image as usize, &world.cell);
            let distance = branch.norm();
            let overlap = a.radius + b.radius - distance;
            if !pair.touching || overlap <= 0.0 {
                continue;
            }
            let contact = &world.pairs.contacts[p];
            let k = law.stiffness(world.pairs.factors[p], a.radius, b.radius, overlap);
            let normal = branch / distance;
            let force = k.normal_n_per_m * overlap;
            stress += (normal * force + contact.shear_n) * branch.transpose();
            fabric += normal * normal.transpose();
            contacts += 1;
            sum += force;
            squares += force * force;
            largest = largest.max(force);
            let bin = (normal.z.abs() * ORIENTATION_BINS as f64) as usize;
            orientation[bin.min(ORIENTATION_BINS - 1)] += 1.0;
            degree[i] += 1;
            degree[j] += 1;
            elastic += L::ENERGY_SHARE * force * overlap;
            elastic += stored(contact.shear_n.norm_squared(), k.shear_n_per_m);
            if world.material.moments {
                elastic += stored(contact.moment_n_m.norm_squared(), k.rolling_n_m);
            }
        }
    }
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
    Measured {
        stress_pa: stress / world.cell.product(),
        fabric: fabric / count,
        contacts,
        coordination: 2.0 * contacts as f64 / n as f64,
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
            sliding_j: world.dissipated_j[0],
            rolling_j: world.dissipated_j[1],
            damping_j: world.dissipated_j[2],
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

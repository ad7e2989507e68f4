//! One contact of two spheres over one step: frame, shear force, moment, limits.
//!
//! The frame turns with the contact: shear force F and moment M of the step before follow the change of the normal
//! and the mean spin about it, to first order,
//!
//! ```text
//! F <- F - F x (n_old x n),      F <- F - F x (dt/2 n_old.(w1 + w2) n_old)
//! ```
//!
//! Increments are taken from the velocities at the contact point, with the branch at its unloaded length so that closed
//! cycles of rotation leave nothing behind (ratcheting; McNamara, Garcia-Rojo and Herrmann, 2008). Rolling and twisting
//! have the same stiffness and the same limit, each for itself.

use nalgebra::Vector3;
use percuss_laws::grain::PairLaw;

/// What a contact remembers: its normal (from the first to the second grain), shear force and moment on the second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Contact {
    /// Unit normal.
    pub normal: Vector3<f64>,
    /// Shear force on the second grain, N.
    pub shear_n: Vector3<f64>,
    /// Moment of rolling and twisting on the second grain, N m.
    pub moment_n_m: Vector3<f64>,
}

/// Motion of a pair over one step.
#[derive(Clone, Copy, Debug)]
pub struct Motion {
    /// Centre of the second grain less that of the first, m.
    pub branch_m: Vector3<f64>,
    /// Its rate, m/s.
    pub velocity_m_s: Vector3<f64>,
    /// Spins of both, rad/s.
    pub spins_rad_s: [Vector3<f64>; 2],
    /// Radii of both, m.
    pub radii_m: [f64; 2],
}

/// What a contact gives: force and torques, and what slid away.
#[derive(Clone, Copy, Debug)]
pub struct Reaction {
    /// Force on the second grain (the first has the opposite), N.
    pub force_n: Vector3<f64>,
    /// Torques on both, N m.
    pub torques_n_m: [Vector3<f64>; 2],
    /// Normal force, N.
    pub normal_n: f64,

    /// Energy dissipated by sliding, and by rolling and twisting, J.
    pub dissipated_j: [f64; 2],
}

/// Limits of a contact, and the step over which it is advanced.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Length of the step, s.
    pub dt_s: f64,
    /// tan of the friction angle.
    pub friction: f64,
    /// Rolling friction.
    pub rolling_friction: f64,
}

/// Advance a contact whose spheres overlap. `old` is None for a new one.
///
/// With `RESCALED` the shear force shrinks with its stiffness while the contact unloads (Thornton, 2000): without it
/// (as Cheng et al., 2018, and most programs have it) Hertz-Mindlin contacts can give back more energy than they took.
#[inline(always)]
pub(crate) fn react<L: PairLaw, const MOMENTS: bool, const RESCALED: bool>(
    law: &L,
    limits: &Limits,
    factor: f64,
    contact: &mut Contact,
    is_new: bool,
    motion: &Motion,
    distance_m: f64,
) -> Reaction {
    let dt_s = limits.dt_s;
    let [r1, r2] = motion.radii_m;
    let [w1, w2] = motion.spins_rad_s;
    let normal = motion.branch_m / distance_m;
    let overlap = r1 + r2 - distance_m;
    let stiffness = law.stiffness(factor, r1, r2, overlap);
    let normal_force = stiffness.normal_n_per_m * overlap;

    let stretch = (r1 + r2) / distance_m;
    let mut slip = motion.velocity_m_s * stretch - (w1 * r1 + w2 * r2).cross(&normal);
    slip -= normal * normal.dot(&slip);

    let mut shear = contact.shear_n;
    let mut moment = contact.moment_n_m;
    if !is_new {
        let old = contact.normal;
        let turn = old.cross(&normal);
        let twist = old * (0.5 * dt_s * old.dot(&(w1 + w2)));
        shear -= shear.cross(&turn);
        shear -= shear.cross(&twist);
        if MOMENTS {
            moment -= moment.cross(&turn);
            moment -= moment.cross(&twist);
        }
        if RESCALED {
            let before = r1 + r2 - (motion.branch_m - motion.velocity_m_s * dt_s).norm();
            if before > overlap {
                let was = law.stiffness(factor, r1, r2, before).shear_n_per_m;
                shear *= stiffness.shear_n_per_m / was;
            }
        }
    }
    shear -= slip * (stiffness.shear_n_per_m * dt_s);
    let mut dissipated = [0.0; 2];
    let most = limits.friction * normal_force;
    let square = shear.norm_squared();
    if square > most * most {
        let size = square.sqrt();
        dissipated[0] = (size - most) * most / stiffness.shear_n_per_m;
        shear *= most / size;
    }
    if MOMENTS {
        moment -= (w2 - w1) * (stiffness.rolling_n_m * dt_s);
        let most = limits.rolling_friction * normal_force * r1.min(r2);
        let mut twisting = normal * normal.dot(&moment);
        let mut rolling = moment - twisting;
        for part in [&mut twisting, &mut rolling] {
            let square = part.norm_squared();
            if square > most * most {
                let size = square.sqrt();
                if stiffness.rolling_n_m > 0.0 {
                    dissipated[1] += (size - most) * most / stiffness.rolling_n_m;
                }
                *part *= most / size;
            }
        }
        moment = twisting + rolling;
    }
    *contact = Contact {
        normal,
        shear_n: shear,
        moment_n_m: moment,
    };
    let arm = normal.cross(&shear);
    let (t1, t2) = (arm * -(r1 - 0.5 * overlap), arm * -(r2 - 0.5 * overlap));
    let torques = if MOMENTS {
        [t1 - moment, t2 + moment]
    } else {
        [t1, t2]
    };
    Reaction {
        force_n: normal * normal_force + shear,
        torques_n_m: torques,
        normal_n: normal_force,

        dissipated_j: dissipated,
    }
}

/// One step of a single contact, for tests and for those who want the law alone: None when the spheres are apart.
pub fn advance(
    material: &crate::Material,
    contact: &mut Option<Contact>,
    motion: &Motion,
    dt_s: f64,
) -> Option<(Vector3<f64>, [Vector3<f64>; 2], f64)> {
    use percuss_laws::grain::{
        GrainLaw, classical_linear::ClassicalLinear, hertz_mindlin::HertzMindlin,
    };

    let distance = motion.branch_m.norm();
    if distance >= motion.radii_m[0] + motion.radii_m[1] {
        *contact = None;
        return None;
    }
    match material.law {
        GrainLaw::ClassicalLinear => step_of(
            &ClassicalLinear::new(&material.grain),
            material,
            contact,
            motion,
            distance,
            dt_s,
        ),
        GrainLaw::HertzMindlin => step_of(
            &HertzMindlin::new(&material.grain),
            material,
            contact,
            motion,
            distance,
            dt_s,
        ),
    }
}

fn step_of<L: PairLaw>(
    law: &L,
    material: &crate::Material,
    contact: &mut Option<Contact>,
    motion: &Motion,
    distance: f64,
    dt_s: f64,
) -> Option<(Vector3<f64>, [Vector3<f64>; 2], f64)> {
    let is_new = contact.is_none();
    let state = contact.get_or_insert_default();
    let limits = material.limits(dt_s);
    let factor = law.factor(motion.radii_m[0], motion.radii_m[1]);
    let go = match (material.moments, material.rescaled) {
        (false, false) => react::<L, false, false>,
        (false, true) => react::<L, false, true>,
        (true, false) => react::<L, true, false>,
        (true, true) => react::<L, true, true>,
    };
    let found = go(law, &limits, factor, state, is_new, motion, distance);
    Some((found.force_n, found.torques_n_m, found.normal_n))
}

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
//! cycles of rotation leave nothing behind (ratcheting; McNamara, Garcia-Rojo and Herrmann, 2008).
//!
//! Contact damping is viscous and normal, c = 2 z sqrt(m kn / (2 s)) with s the energy of the normal spring over force
//! times overlap (1/2 linear, 2/5 Hertz), cut where contacts would pull. With the overlap to the power 5/4 as variable
//! Hertz's damped contact is the linear one, so that one relation gives z of a restitution for both, at every speed.

use nalgebra::Vector3;
use percuss_laws::grain::{MomentLimit, PairLaw};
use percuss_laws::with_grain_law;

/// What a contact remembers: its normal (from the first to the second grain), shear force and moment on the second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Contact {
    /// Unit normal.
    pub normal: Vector3<f64>,
    /// Shear force on the second grain, N.
    pub shear_n: Vector3<f64>,
    /// Moment of rolling and twisting on the second grain, N m.
    pub moment_n_m: Vector3<f64>,
    /// Shear stiffness of the last step, N/m; 0 of a new contact.
    pub shear_n_per_m: f64,
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

impl Motion {
    /// Where and how the surfaces meet, of spheres that overlap.
    #[inline(always)]
    pub(crate) fn touch(&self, distance_m: f64) -> Touch {
        let [r1, r2] = self.radii_m;
        let [w1, w2] = self.spins_rad_s;
        let normal = self.branch_m / distance_m;
        let slip =
            self.velocity_m_s * ((r1 + r2) / distance_m) - (w1 * r1 + w2 * r2).cross(&normal);
        Touch {
            normal,
            overlap_m: r1 + r2 - distance_m,
            slip_m_s: slip - normal * normal.dot(&slip),
            approach_m_s: -normal.dot(&self.velocity_m_s),
            spins_rad_s: self.spins_rad_s,
            radii_m: self.radii_m,
        }
    }
}

/// How two surfaces meet: of two spheres, or of a sphere and a wall (then `radii_m` has that of the sphere twice).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch {
    pub normal: Vector3<f64>,
    pub overlap_m: f64,
    pub slip_m_s: Vector3<f64>,
    pub approach_m_s: f64,
    pub spins_rad_s: [Vector3<f64>; 2],
    pub radii_m: [f64; 2],
}

/// What a contact gives: force and torques, and what slid away.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reaction {
    /// Force on the second grain (the first has the opposite), N.
    pub force_n: Vector3<f64>,
    /// Torques on both, N m.
    pub torques_n_m: [Vector3<f64>; 2],
    /// Normal force, N.
    pub normal_n: f64,
    /// Energy that left the springs, J.
    pub lost: Lost,
}

/// Energy that left the springs of contacts, J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Lost {
    pub sliding_j: f64,
    pub rolling_j: f64,
    pub viscous_j: f64,
    /// By shear springs that changed their stiffness under load; negative where the law creates energy.
    pub stiffening_j: f64,
}

impl std::ops::AddAssign for Lost {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        self.sliding_j += other.sliding_j;
        self.rolling_j += other.rolling_j;
        self.viscous_j += other.viscous_j;
        self.stiffening_j += other.stiffening_j;
    }
}

/// Limits of a contact, and the step over which it is advanced.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Length of the step, s.
    pub dt_s: f64,
    /// tan of the friction angle.
    pub friction: f64,
    /// Rolling friction.
    pub rolling_friction: f64,
    /// What is limited by it.
    pub moment_limit: MomentLimit,
    /// Damping ratio of contacts.
    pub damping_ratio: f64,
}

/// Advance a contact whose surfaces overlap; `mass_kg` is the reduced mass of the pair, which damping alone needs.
///
/// With `RESCALED` the shear force shrinks with its stiffness while the contact unloads (Thornton and Randall, 1988).
/// Without it (as Cheng et al., 2018, print it) Hertz-Mindlin contacts can give back more energy than they took.
#[inline(always)]
pub(crate) fn react<L: PairLaw, const MOMENTS: bool, const RESCALED: bool>(
    law: &L,
    limits: &Limits,
    factor: f64,
    contact: &mut Contact,
    is_new: bool,
    touch: &Touch,
    mass_kg: impl FnOnce() -> f64,
) -> Reaction {
    let dt_s = limits.dt_s;
    let [r1, r2] = touch.radii_m;
    let [w1, w2] = touch.spins_rad_s;
    let (normal, overlap) = (touch.normal, touch.overlap_m);
    let stiffness = law.stiffness(factor, r1, r2, overlap);
    let mut normal_force = stiffness.normal_n_per_m * overlap;
    let mut lost = Lost::default();
    if limits.damping_ratio > 0.0 {
        let spring = normal_force;
        let critical = (2.0 / L::ENERGY_SHARE * mass_kg() * stiffness.normal_n_per_m).sqrt();
        normal_force += limits.damping_ratio * critical * touch.approach_m_s;
        normal_force = normal_force.max(0.0);
        lost.viscous_j = (normal_force - spring) * touch.approach_m_s * dt_s;
    }

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
        if L::STIFFENS {
            let (was, is) = (contact.shear_n_per_m, stiffness.shear_n_per_m);
            let square = shear.norm_squared();
            if RESCALED && is < was {
                let share = is / was;
                lost.stiffening_j = 0.5 * square * (1.0 - share) / was;
                shear *= share;
            } else if was > 0.0 {
                lost.stiffening_j = 0.5 * square * (is - was) / (is * was);
            }
        }
    }
    shear -= touch.slip_m_s * (stiffness.shear_n_per_m * dt_s);
    let most = limits.friction * normal_force;
    let square = shear.norm_squared();
    if square > most * most {
        let size = square.sqrt();
        lost.sliding_j = (size - most) * most / stiffness.shear_n_per_m;
        shear *= most / size;
    }
    if MOMENTS {
        moment -= (w2 - w1) * (stiffness.rolling_n_m * dt_s);
        let length = limits.moment_limit.length_m(r1, r2);
        let most = limits.rolling_friction * normal_force * length;
        if moment.norm_squared() > most * most {
            let excess = bound(&mut moment, &normal, most, limits.moment_limit);
            if stiffness.rolling_n_m > 0.0 {
                lost.rolling_j = excess * most / stiffness.rolling_n_m;
            }
        }
    }
    *contact = Contact {
        normal,
        shear_n: shear,
        moment_n_m: moment,
        shear_n_per_m: stiffness.shear_n_per_m,
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
        lost,
    }
}

/// Bring a moment that is larger than `most` back to its limit; returns by how much it was beyond.
fn bound(moment: &mut Vector3<f64>, normal: &Vector3<f64>, most: f64, limit: MomentLimit) -> f64 {
    let shorten = |part: &mut Vector3<f64>| {
        let size = part.norm();
        let beyond = (size - most).max(0.0);
        if beyond > 0.0 {
            *part *= most / size;
        }
        beyond
    };
    if limit == MomentLimit::Joint {
        return shorten(moment);
    }
    let mut twisting = normal * normal.dot(moment);
    let mut rolling = *moment - twisting;
    let mut excess = shorten(&mut rolling);
    if limit == MomentLimit::Separate {
        excess += shorten(&mut twisting);
    }
    *moment = twisting + rolling;
    excess
}

/// One step of a single contact of two grains of mass `reduced_kg` together, for tests and for those who want the law
/// alone: force on the second, torques on both, normal force; None when the spheres are apart.
pub fn advance(
    material: &crate::Material,
    contact: &mut Option<Contact>,
    motion: &Motion,
    dt_s: f64,
    reduced_kg: f64,
) -> Option<(Vector3<f64>, [Vector3<f64>; 2], f64)> {
    let distance = motion.branch_m.norm();
    if distance >= motion.radii_m[0] + motion.radii_m[1] {
        *contact = None;
        return None;
    }
    let touch = motion.touch(distance);
    let is_new = contact.is_none();
    let state = contact.get_or_insert_default();
    let found = with_grain_law!(material.law, &material.grain, law => one_step(
        &law, material, state, is_new, &touch, dt_s, reduced_kg
    ));
    Some((found.force_n, found.torques_n_m, found.normal_n))
}

fn one_step<L: PairLaw>(
    law: &L,
    material: &crate::Material,
    state: &mut Contact,
    is_new: bool,
    touch: &Touch,
    dt_s: f64,
    reduced_kg: f64,
) -> Reaction {
    let limits = material.limits(dt_s);
    let factor = law.factor(touch.radii_m[0], touch.radii_m[1]);
    let mass = || reduced_kg;
    match (material.moments, material.rescaled) {
        (false, false) => {
            react::<L, false, false>(law, &limits, factor, state, is_new, touch, mass)
        }
        (false, true) => react::<L, false, true>(law, &limits, factor, state, is_new, touch, mass),
        (true, false) => react::<L, true, false>(law, &limits, factor, state, is_new, touch, mass),
        (true, true) => react::<L, true, true>(law, &limits, factor, state, is_new, touch, mass),
    }
}

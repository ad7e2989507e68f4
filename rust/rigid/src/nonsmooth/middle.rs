//! The bodies at the middle of a step, where forces and impulses act.

use super::threads::share;
use crate::body::{Inertia, Role};
use crate::free_motion::BodyState;
use crate::load::Load;
use crate::setup::Setup;
use crate::state::State;
use percuss_geometry::{Mat3, Pose, Vec3};
use percuss_solvers::InverseMass;
use rayon::prelude::*;

/// Places, inverse masses, and twists before and after the impulses of the step; world axes.
#[derive(Default)]
pub(crate) struct Middle {
    pub poses: Vec<Pose>,
    pub axes: Vec<Mat3>,
    pub before: Vec<[f64; 6]>,
    pub after: Vec<[f64; 6]>,
    pub masses: Vec<InverseMass>,
}

const IMMOVABLE: InverseMass = InverseMass {
    translation_per_kg: 0.0,
    rotation_per_kg_m2: [[0.0; 3]; 3],
};

impl Middle {
    /// The bodies where they are at the start.
    pub fn new(state: &State) -> Self {
        let count = state.bodies.len();
        let poses: Vec<Pose> = state.bodies.iter().map(|body| body.pose()).collect();
        // Of fixed bodies, which no step reaches, they stay as they are here.
        let axes = |pose: &Pose| pose.rotation.to_rotation_matrix().into_inner();
        Self {
            axes: poses.iter().map(axes).collect(),
            poses,
            before: vec![[0.0; 6]; count],
            after: vec![[0.0; 6]; count],
            masses: vec![IMMOVABLE; count],
        }
    }

    /// Free motion by (1 - theta) h; velocities and inverse inertia there.
    pub fn reach(&mut self, setup: &Setup, state: &mut State, parallel: bool) {
        let dt = (1.0 - setup.settings.theta) * setup.settings.dt_s;
        let present = &state.present;
        if !parallel {
            let Self {
                poses,
                axes,
                before,
                masses,
                ..
            } = self;
            reach(
                setup,
                present,
                dt,
                0,
                (poses, axes, before, masses, &mut state.bodies),
            );
            return;
        }
        let own = share(state.bodies.len(), parallel);
        let places = self
            .poses
            .par_chunks_mut(own)
            .zip(self.axes.par_chunks_mut(own));
        let twists = self
            .before
            .par_chunks_mut(own)
            .zip(self.masses.par_chunks_mut(own));
        let chunks = places.zip(twists).zip(state.bodies.par_chunks_mut(own));
        chunks
            .enumerate()
            .for_each(|(chunk, (((poses, axes), (before, masses)), bodies))| {
                let slices = (poses, axes, before, masses, bodies);
                reach(setup, present, dt, chunk * own, slices);
            });
    }

    /// Kinetic energy of what the step changes of a body's velocity [J].
    pub fn change_j(&self, inertia: &Inertia, body: usize) -> f64 {
        let (before, after) = (&self.before[body], &self.after[body]);
        let change: [f64; 6] = std::array::from_fn(|k| after[k] - before[k]);
        let velocity = Vec3::new(change[0], change[1], change[2]);
        let spin = self.axes[body].tr_mul(&Vec3::new(change[3], change[4], change[5]));
        0.5 * (inertia.mass_kg * velocity.norm_squared() + spin.dot(&(inertia.inertia * spin)))
    }

    /// Velocities after all forces but those of joints, bonds and contacts.
    pub fn push(&mut self, setup: &Setup, state: &State, parallel: bool) {
        let h = setup.settings.dt_s;
        let t = setup.time_s(state);
        let kick = setup.scene.gravity_m_per_s2 * h;
        let push = |first: usize, before: &[[f64; 6]], after: &mut [[f64; 6]]| {
            after.copy_from_slice(before);
            for (index, after) in (first..).zip(after) {
                if !state.present[index] {
                    continue;
                }
                match &setup.scene.bodies[index].role {
                    Role::Static => {}
                    Role::Dynamic(_) => {
                        for k in 0..3 {
                            after[k] += kick[k];
                        }
                    }
                    Role::Kinematic(motion) => {
                        let (velocity, turning) = motion.velocity(t + h);
                        *after = twist(&velocity, &turning);
                    }
                }
            }
        };
        if parallel {
            let own = share(self.before.len(), parallel);
            let before = self.before.par_chunks(own);
            let chunks = before.zip(self.after.par_chunks_mut(own)).enumerate();
            chunks.for_each(|(chunk, (before, after))| push(chunk * own, before, after));
        } else {
            push(0, &self.before, &mut self.after);
        }
        let middle = t + setup.settings.theta * h;
        for load in &setup.scene.loads {
            if !state.present[load.body] {
                continue;
            }
            let (force, torque) = self.load_at(setup, load, middle);
            let mass = &self.masses[load.body];
            let after = &mut self.after[load.body];
            let r = &mass.rotation_per_kg_m2;
            for k in 0..3 {
                after[k] += h * mass.translation_per_kg * force[k];
                after[k + 3] +=
                    h * (r[k][0] * torque[0] + r[k][1] * torque[1] + r[k][2] * torque[2]);
            }
        }
    }

    /// Force and torque about the centre of mass, at the middle of the step.
    fn load_at(&self, setup: &Setup, load: &Load, t: f64) -> (Vec3, Vec3) {
        let factor = load.factor(t);
        let arm = self.axes[load.body] * (load.point_m - setup.centre_m(load.body));
        let force = load.force_n * factor;
        (force, arm.cross(&force) + load.torque_n_m * factor)
    }

    /// Books the work of loads and the quadrature term of the scheme.
    pub fn account(&self, setup: &Setup, state: &mut State) {
        let h = setup.settings.dt_s;
        let middle = setup.time_s(state) + setup.settings.theta * h;
        for load in &setup.scene.loads {
            if state.present[load.body] {
                let (force, torque) = self.load_at(setup, load, middle);
                let (before, after) = (&self.before[load.body], &self.after[load.body]);
                for k in 0..3 {
                    state.energy.external_work_j += 0.5
                        * h
                        * (force[k] * (before[k] + after[k])
                            + torque[k] * (before[k + 3] + after[k + 3]));
                }
            }
        }
        if setup.settings.theta != 0.5 {
            let g = setup.scene.gravity_m_per_s2 * (h * (setup.settings.theta - 0.5));
            for (index, inertia) in setup.inertia.iter().enumerate() {
                if let (true, Some(inertia)) = (state.present[index], inertia) {
                    let (before, after) = (&self.before[index], &self.after[index]);
                    for k in 0..3 {
                        state.energy.scheme_j += inertia.mass_kg * g[k] * (before[k] - after[k]);
                    }
                }
            }
        }
    }

    /// Free motion by theta h with the new velocities; the first body that left the finite numbers, if any did.
    pub fn leave(&self, setup: &Setup, state: &mut State, parallel: bool) -> Option<usize> {
        let dt = setup.settings.theta * setup.settings.dt_s;
        let present = &state.present;
        let leave = |first: usize, bodies: &mut [BodyState]| {
            for (index, state) in (first..).zip(&mut *bodies) {
                let role = &setup.scene.bodies[index].role;
                if !present[index] || matches!(role, Role::Static) {
                    continue;
                }
                let after = &self.after[index];
                state.velocity = Vec3::new(after[0], after[1], after[2]);
                state.spin = self.axes[index].tr_mul(&Vec3::new(after[3], after[4], after[5]));
                state.drift(setup.inertia[index].as_ref(), dt);
            }
            let bad = bodies.iter().position(|body| !body.is_finite());
            bad.map(|bad| first + bad)
        };
        if parallel {
            let own = share(state.bodies.len(), parallel);
            let chunks = state.bodies.par_chunks_mut(own).enumerate();
            let bad = chunks.filter_map(|(chunk, bodies)| leave(chunk * own, bodies));
            bad.min()
        } else {
            leave(0, &mut state.bodies)
        }
    }
}

/// Places, axes, twists, inverse masses and states of bodies in a row.
type Slices<'a> = (
    &'a mut [Pose],
    &'a mut [Mat3],
    &'a mut [[f64; 6]],
    &'a mut [InverseMass],
    &'a mut [BodyState],
);

/// Brings the bodies from `first` on to the middle of the step.
fn reach(setup: &Setup, present: &[bool], dt: f64, first: usize, slices: Slices<'_>) {
    let (poses, axes, before, masses, bodies) = slices;
    for k in 0..bodies.len() {
        let index = first + k;
        if !present[index] || matches!(setup.scene.bodies[index].role, Role::Static) {
            continue;
        }
        let state = &mut bodies[k];
        let inertia = setup.inertia[index].as_ref();
        state.drift(inertia, dt);
        poses[k] = state.pose();
        axes[k] = state.rotation.to_rotation_matrix().into_inner();
        before[k] = twist(&state.velocity, &(axes[k] * state.spin));
        if let Some(inertia) = inertia {
            masses[k] = InverseMass {
                translation_per_kg: 1.0 / inertia.mass_kg,
                rotation_per_kg_m2: turned(&inertia.inverse, &axes[k], inertia.round),
            };
        }
    }
}

#[inline]
pub(super) fn twist(velocity: &Vec3, turning: &Vec3) -> [f64; 6] {
    [
        velocity.x, velocity.y, velocity.z, turning.x, turning.y, turning.z,
    ]
}

/// R A R^T, symmetric to the bit.
#[inline]
fn turned(a: &Mat3, r: &Mat3, round: bool) -> [[f64; 3]; 3] {
    if round {
        return std::array::from_fn(|i| std::array::from_fn(|j| a[(i, j)]));
    }
    let b = r * a * r.transpose();
    let mut result = [[0.0; 3]; 3];
    for i in 0..3 {
        result[i][i] = b[(i, i)];
        for j in 0..i {
            result[i][j] = 0.5 * (b[(i, j)] + b[(j, i)]);
            result[j][i] = result[i][j];
        }
    }
    result
}

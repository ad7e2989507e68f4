//! One step of the Moreau-Jean scheme.

use crate::body::Role;
use crate::contact::{ActiveContact, Matcher, jacobian, relative_velocity, spin_jacobian};
use crate::error::RigidError;
use crate::look_ahead::Approach;
use crate::timing::Stopwatch;
use crate::world::{StepReport, World};
use percuss_geometry::{Mat3, Vec3};
use percuss_laws::contact::ImpactLaw;
use percuss_solvers::{
    BlockKind, Bodies, Contact, InverseMass, Jacobian, Settings as SolverSettings, apply_impulses,
};

/// Contact work above this many solver tolerances times |P| |q| over all contacts counts as a gain of energy.
const GAIN_MARGIN: f64 = 10.0;

/// Relative velocities below this share of the velocities they are the difference of are rounding.
const ROUNDING: f64 = 1e-14;

/// What the solver made of the contact problem.
struct Solution {
    iterations: usize,
    factorisations: usize,
    residual: f64,
    residual_siconos: f64,
    met: bool,
}

impl World {
    /// Takes one step.
    ///
    /// # Errors
    /// When the state leaves the finite numbers. A contact problem above its tolerance is no error: see
    /// [`StepReport::met`].
    pub fn step(&mut self) -> Result<StepReport, RigidError> {
        if let Some(mut smooth) = self.smooth.take() {
            let report = self.step_smoothly(&mut smooth);
            self.smooth = Some(smooth);
            return report;
        }
        let mut watch = Stopwatch::start(self.timed);
        self.admit()?;
        self.tighten_joints()?;
        self.move_to_middle();
        self.apply_forces();
        self.hold_joints();
        watch.lap(&mut self.timing.rest);
        self.detector.update(&self.middle)?;
        watch.lap(&mut self.timing.detection);
        self.collect_contacts();
        self.bound_joints();
        let mut solution = self.solve(&mut watch)?;
        while self.regrip() {
            let iterations = solution.iterations;
            solution = self.solve(&mut watch)?;
            solution.iterations += iterations;
        }
        solution.met &= self.gripped();
        let (mut work, mut scale) = self.account_contacts();
        let (bounded, size) = self.account_joints();
        work += bounded;
        scale += size;
        self.account_loads();
        self.move_to_end()?;
        self.stabilise((-work).max(0.0))?;
        self.close_joints(self.step_end_s())?;
        let gained = work > GAIN_MARGIN * self.settings.tolerance * scale;
        if gained {
            self.energy.contact_gain_j += work;
            self.energy.gain_steps += 1;
        }
        self.account_state();
        self.step += 1;
        watch.lap(&mut self.timing.rest);
        Ok(StepReport {
            step: self.step - 1,
            time_s: self.time_s(),
            contacts: self.active.len(),
            iterations: solution.iterations,
            factorisations: solution.factorisations,
            residual: solution.residual,
            residual_siconos: solution.residual_siconos,
            met: solution.met,
            contact_work_j: work,
            gained,
            overlap_m: self.active.iter().fold(0.0, |deep, c| deep.max(-c.gap_m)),
            overlap_share: self.overlap_share(),
        })
    }

    fn overlap_share(&self) -> f64 {
        let half_width = |contactor: u32, normal: &Vec3| {
            let contactor = &self.detector.contactors()[contactor as usize];
            let turned = self.middle[contactor.body as usize].rotation * contactor.pose.rotation;
            contactor.shape.half_width(&(turned.inverse() * normal))
        };
        self.active
            .iter()
            .filter(|c| c.gap_m < 0.0)
            .map(|c| -c.gap_m / half_width(c.a, &c.normal).min(half_width(c.b, &c.normal)))
            .fold(0.0, f64::max)
    }

    /// Free motion by (1 - theta) h; velocities and inverse inertia there, in world axes.
    fn move_to_middle(&mut self) {
        let dt = (1.0 - self.settings.theta) * self.settings.dt_s;
        for index in 0..self.states.len() {
            if !self.present[index] || matches!(self.scene.bodies[index].role, Role::Static) {
                continue;
            }
            let state = &mut self.states[index];
            let inertia = self.inertia[index].as_ref();
            state.drift(inertia, dt);
            self.middle[index] = state.pose();
            let axes = state.rotation.to_rotation_matrix().into_inner();
            self.axes[index] = axes;
            self.before[index] = twist(&state.velocity, &(axes * state.spin));
            if let Some(inertia) = inertia {
                self.inverse_mass[index] = InverseMass {
                    translation_per_kg: 1.0 / inertia.mass_kg,
                    rotation_per_kg_m2: turned(&inertia.inverse, &axes, inertia.round),
                };
            }
        }
    }

    /// Velocities after all forces but those of contact.
    fn apply_forces(&mut self) {
        let h = self.settings.dt_s;
        let t = self.time_s();
        self.after.copy_from_slice(&self.before);
        let kick = self.scene.gravity_m_per_s2 * h;
        for index in 0..self.states.len() {
            if !self.present[index] {
                continue;
            }
            match &self.scene.bodies[index].role {
                Role::Static => {}
                Role::Dynamic(_) => {
                    for k in 0..3 {
                        self.after[index][k] += kick[k];
                    }
                }
                Role::Kinematic(motion) => {
                    let (velocity, turning) = motion.velocity(t + h);
                    self.after[index] = twist(&velocity, &turning);
                }
            }
        }
        let middle = t + self.settings.theta * h;
        for load in &self.scene.loads {
            if !self.present[load.body] {
                continue;
            }
            let (force, torque) = self.load_at(load, middle);
            let mass = &self.inverse_mass[load.body];
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
    fn load_at(&self, load: &crate::load::Load, t: f64) -> (Vec3, Vec3) {
        let factor = load.factor(t);
        let centre = self.inertia[load.body].map_or(Vec3::zeros(), |i| i.centre_m);
        let arm = self.axes[load.body] * (load.point_m - centre);
        let force = load.force_n * factor;
        (force, arm.cross(&force) + load.torque_n_m * factor)
    }

    /// From the detector's points to the contacts of the problem, each with last step's impulse to start from.
    fn collect_contacts(&mut self) {
        std::mem::swap(&mut self.active, &mut self.previous);
        self.active.clear();
        self.contacts.clear();
        self.impulses.clear();
        self.shifts.clear();
        let mut matcher = Matcher::default();
        for manifold in self.detector.manifolds() {
            let [first, second] =
                [manifold.a, manifold.b].map(|c| &self.detector.contactors()[c as usize]);
            let (a, b) = (manifold.a, manifold.b);
            let bodies = [first.body, second.body];
            let index = self.laws.law(first.group, second.group);
            let law = &self.scene.laws[index];
            // Couples are solved for in shares of the largest: the rows of the spin carry the coefficients.
            let scale = law.couple_scale();
            let known = matcher.of_pair(&self.previous, a, b);
            let moving = bodies.map(|body| (!self.fixed[body as usize]).then_some(body));
            let range = manifold.points.start as usize..manifold.points.end as usize;
            for point in &self.detector.points()[range] {
                let sides = [(bodies[0] as usize, -1.0), (bodies[1] as usize, 1.0)];
                let jacobians = sides.map(|(body, sign)| {
                    jacobian(point, &(point.position - self.middle[body].position), sign)
                });
                let before = relative(&jacobians, &bodies, &self.before);
                let free = relative(&jacobians, &bodies, &self.after);
                let start = known.iter().find(|c| c.feature == point.feature);
                let mut shift = law.impact.shift(&before, law.restitution);
                let approach = Approach {
                    gap_m: point.gap,
                    before: before[0],
                    free: free[0],
                    stays: start.is_some_and(|c| c.gap_m <= self.settings.contact_tolerance_m),
                    restitution: law.restitution,
                };
                match approach.shift(&self.settings, shift[0]) {
                    Some(normal) => shift[0] = normal,
                    None => continue,
                }
                let mut free_velocity = std::array::from_fn(|k| free[k] + shift[k]);
                // Bodies that move together: what is left of q is rounding, which no solver can satisfy to
                // a relative tolerance.
                let noise: f64 = sides
                    .iter()
                    .map(|&(body, _)| {
                        speed_bound(
                            &self.after[body],
                            &(point.position - self.middle[body].position),
                        )
                    })
                    .sum();
                if free_velocity
                    .iter()
                    .all(|x: &f64| x.abs() <= ROUNDING * noise)
                {
                    free_velocity = [0.0; 3];
                }
                let contact = ActiveContact {
                    a,
                    b,
                    feature: point.feature,
                    bodies,
                    law: index as u32,
                    position: point.position,
                    normal: point.normal,
                    gap_m: point.gap,
                    impulse_n_s: Vec3::zeros(),
                    couple_n_m_s: Vec3::zeros(),
                    velocity_before_m_per_s: before,
                    velocity_after_m_per_s: [0.0; 3],
                };
                self.shifts.push(shift);
                self.impulses
                    .push(start.map_or([0.0; 3], |c| contact.local(&c.impulse_n_s)));
                self.active.push(contact);
                self.contacts.push(Contact {
                    bodies: moving,
                    jacobians,
                    free_velocity,
                    friction: law.friction,
                    kind: BlockKind::Contact,
                });
                if law.has_couple() {
                    let jacobians =
                        [-1.0, 1.0].map(|sign| spin_jacobian(&point.normal, &scale, sign));
                    let mut free_velocity = relative(&jacobians, &bodies, &self.after);
                    if law.impact == ImpactLaw::Fremond {
                        let before = relative(&jacobians, &bodies, &self.before);
                        free_velocity = std::array::from_fn(|k| free_velocity[k] + before[k]);
                    }
                    let start = start.map_or([0.0; 3], |c| contact.local(&c.couple_n_m_s));
                    self.impulses.push(std::array::from_fn(|k| {
                        if scale[k] > 0.0 {
                            start[k] / scale[k]
                        } else {
                            0.0
                        }
                    }));
                    self.contacts.push(Contact {
                        bodies: moving,
                        jacobians,
                        free_velocity,
                        friction: 0.0,
                        kind: BlockKind::Couple,
                    });
                }
            }
        }
    }

    fn solve(&mut self, watch: &mut Stopwatch) -> Result<Solution, RigidError> {
        if self.contacts.is_empty() {
            watch.lap(&mut self.timing.assembly);
            return Ok(Solution {
                iterations: 0,
                factorisations: 0,
                residual: 0.0,
                residual_siconos: 0.0,
                met: true,
            });
        }
        self.velocities.clear();
        self.velocities.resize(self.contacts.len(), [0.0; 3]);
        let settings = SolverSettings {
            tolerance: self.settings.tolerance,
            max_iterations: self.settings.max_iterations,
            max_factorisations: self.settings.max_factorisations,
        };
        watch.lap(&mut self.timing.assembly);
        let bodies = Bodies {
            masses: &self.inverse_mass,
            contacts: &self.contacts,
            joined: self.articulation.as_ref().and_then(|a| a.joined()),
        };
        let report = self.settings.solver.solve_bodies(
            &bodies,
            &settings,
            &mut self.impulses,
            &mut self.velocities,
            &mut self.workspace,
        )?;
        self.drag_joints();
        apply_impulses(
            &self.inverse_mass,
            &self.contacts,
            &self.impulses,
            &mut self.after,
        );
        if let Some(joints) = &mut self.articulation {
            joints.hold(&mut self.after);
        }
        watch.lap(&mut self.timing.solve);
        Ok(Solution {
            iterations: report.iterations,
            factorisations: report.factorisations,
            residual: report.residuals.energy,
            residual_siconos: report.residuals.siconos,
            met: report.converged,
        })
    }

    /// Books the work of the contacts, P . (u- + u+)/2; gives it and the scale |P| |q| of its error.
    fn account_contacts(&mut self) -> (f64, f64) {
        let (mut total, mut size_p, mut size_q) = (0.0, 0.0, 0.0);
        let mut next = 0;
        for (contact, shift) in self.active.iter_mut().zip(&self.shifts) {
            let law = &self.scene.laws[contact.law as usize];
            // The couple of a contact is the block after it.
            let index = next;
            next += if law.has_couple() { 2 } else { 1 };
            let p = &self.impulses[index];
            let before = &contact.velocity_before_m_per_s;
            let after: [f64; 3] = std::array::from_fn(|k| self.velocities[index][k] - shift[k]);
            contact.velocity_after_m_per_s = after;
            contact.impulse_n_s = contact.world(p);
            for block in index..next {
                size_p += dot(&self.impulses[block], &self.impulses[block]);
                let q = &self.contacts[block].free_velocity;
                size_q += dot(q, q);
            }
            if *p == [0.0; 3] {
                continue;
            }
            let normal = 0.5 * p[0] * (before[0] + after[0]);
            let mut friction =
                0.5 * (p[1] * (before[1] + after[1]) + p[2] * (before[2] + after[2]));
            if law.has_couple() {
                let s = &self.impulses[index + 1];
                let couple = &self.contacts[index + 1];
                let [before, after] = [&self.before, &self.after]
                    .map(|twists| relative(&couple.jacobians, &contact.bodies, twists));
                friction += 0.5 * (dot(s, &before) + dot(s, &after));
                let scale = law.couple_scale();
                contact.couple_n_m_s = contact.world(&std::array::from_fn(|k| scale[k] * s[k]));
            }
            total += normal + friction;
            let pair = &mut self.pair_work[contact.law as usize];
            pair.impact_dissipation_j -= normal;
            pair.friction_dissipation_j -= friction;
            pair.normal_impulse_n_s += p[0];
            pair.friction_impulse_n_s += p[1].hypot(p[2]);
            self.energy.impact_dissipation_j -= normal;
            self.energy.friction_dissipation_j -= friction;
            for (side, &body) in contact.bodies.iter().enumerate() {
                let body = body as usize;
                if self.fixed[body] && !matches!(self.scene.bodies[body].role, Role::Static) {
                    let mean: [f64; 6] =
                        std::array::from_fn(|k| 0.5 * (self.before[body][k] + self.after[body][k]));
                    for block in index..next {
                        let jacobian: &Jacobian = &self.contacts[block].jacobians[side];
                        let velocity = relative_velocity(jacobian, &mean);
                        self.energy.motion_work_j -= dot(&self.impulses[block], &velocity);
                    }
                }
            }
        }
        (total, (size_p * size_q).sqrt())
    }

    /// Books the work of loads and the quadrature term of the scheme.
    fn account_loads(&mut self) {
        let h = self.settings.dt_s;
        let middle = self.time_s() + self.settings.theta * h;
        for load in &self.scene.loads {
            if self.present[load.body] {
                let (force, torque) = self.load_at(load, middle);
                let (before, after) = (&self.before[load.body], &self.after[load.body]);
                for k in 0..3 {
                    self.energy.external_work_j += 0.5
                        * h
                        * (force[k] * (before[k] + after[k])
                            + torque[k] * (before[k + 3] + after[k + 3]));
                }
            }
        }
        if self.settings.theta != 0.5 {
            let g = self.scene.gravity_m_per_s2 * (h * (self.settings.theta - 0.5));
            for (index, inertia) in self.inertia.iter().enumerate() {
                if let (true, Some(inertia)) = (self.present[index], inertia) {
                    let (before, after) = (&self.before[index], &self.after[index]);
                    for k in 0..3 {
                        self.energy.scheme_j += inertia.mass_kg * g[k] * (before[k] - after[k]);
                    }
                }
            }
        }
    }

    /// Free motion by theta h with the new velocities.
    fn move_to_end(&mut self) -> Result<(), RigidError> {
        let dt = self.settings.theta * self.settings.dt_s;
        for index in 0..self.states.len() {
            if !self.present[index] || matches!(self.scene.bodies[index].role, Role::Static) {
                continue;
            }
            let state = &mut self.states[index];
            let after = &self.after[index];
            state.velocity = Vec3::new(after[0], after[1], after[2]);
            state.spin = self.axes[index].tr_mul(&Vec3::new(after[3], after[4], after[5]));
            state.drift(self.inertia[index].as_ref(), dt);
            if !state.is_finite() {
                return Err(RigidError::Diverged {
                    step: self.step,
                    time_s: self.time_s(),
                    body: self.scene.bodies[index].name.clone(),
                });
            }
        }
        Ok(())
    }

    /// Kinetic and potential energy of what is there.
    pub(crate) fn account_state(&mut self) {
        let (mut kinetic, mut potential) = (0.0, 0.0);
        for index in 0..self.states.len() {
            if self.present[index] {
                let (k, p) = self.energy_of(index);
                kinetic += k;
                potential += p;
            }
        }
        self.energy.kinetic_j = kinetic;
        self.energy.potential_j = potential;
    }
}

/// Relative velocity of two bodies by the Jacobians of a contact.
#[inline]
pub(crate) fn relative(
    jacobians: &[Jacobian; 2],
    bodies: &[u32; 2],
    twists: &[[f64; 6]],
) -> [f64; 3] {
    let [u, w]: [[f64; 3]; 2] = std::array::from_fn(|side| {
        relative_velocity(&jacobians[side], &twists[bodies[side] as usize])
    });
    std::array::from_fn(|k| u[k] + w[k])
}

#[inline]
fn twist(velocity: &Vec3, turning: &Vec3) -> [f64; 6] {
    [
        velocity.x, velocity.y, velocity.z, turning.x, turning.y, turning.z,
    ]
}

/// No point at `arm` is faster.
#[inline]
fn speed_bound(twist: &[f64; 6], arm: &Vec3) -> f64 {
    let [x, y, z, turning @ ..] = twist.map(f64::abs);
    (x + y + z) + (turning[0] + turning[1] + turning[2]) * arm.abs().sum()
}

#[inline]
pub(crate) fn dot(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
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

//! Position stabilisation: pushes overlapping bodies apart without giving them energy.
//!
//! Velocity-level contact keeps whatever overlap an impact leaves, up to h |u_N|. Here the gaps at the end of
//! the step, g = g_M + theta h u_N, are cleared by the smallest displacement in the metric of the mass matrix:
//! 0 <= g + W_N r ⟂ r >= 0, the contact problem without friction in metres, of all points that the detector sees: open
//! ones may be closed, no more. Velocities are left alone. Moving bodies up costs potential energy; the displacement is
//! scaled down so that this never exceeds what the contacts dissipated in the same step, so mechanical energy does not
//! rise, and an overlap at rest stays.
//!
//! With `stabilise` every overlap is cleared; steps that look ahead clear those that are deep, and move no point
//! by more than half of what they see: else a bar pushed out of one hole passes through the wall of the next.

use crate::contact::{jacobian, relative_velocity};
use crate::error::RigidError;
use crate::look_ahead::works_off;
use crate::step::{dot, relative};
use crate::world::World;
use percuss_geometry::{Quat, Vec3};
use percuss_solvers::{BlockKind, Bodies, Contact, Settings, Solver, apply_impulses};

/// Sweeps are few, and are not stopped by the residual, in which the gaps of heavy bodies hide the overlap of light
/// ones: what is missed now is cleared in the next step.
const ITERATIONS: usize = 20;
const TOLERANCE: f64 = 1e-8;

impl World {
    /// Clears overlaps as far as `budget_j` pays for.
    pub(crate) fn stabilise(&mut self, budget_j: f64) -> Result<(), RigidError> {
        let left_m = self.settings.overlap_left_m();
        if left_m == f64::INFINITY || !self.close_gaps(left_m) {
            return Ok(());
        }
        self.impulses.clear();
        self.impulses.resize(self.contacts.len(), [0.0; 3]);
        self.velocities.resize(self.contacts.len(), [0.0; 3]);
        let settings = Settings {
            tolerance: TOLERANCE,
            max_iterations: ITERATIONS,
            max_factorisations: 0,
        };
        if let Some(joints) = &mut self.articulation {
            joints.couple(&self.inverse_mass, &self.contacts);
        }
        let bodies = Bodies {
            masses: &self.inverse_mass,
            contacts: &self.contacts,
            joined: self.articulation.as_ref().and_then(|a| a.joined()),
        };
        Solver::sweep_bodies(
            &bodies,
            &settings,
            &mut self.impulses,
            &mut self.velocities,
            &mut self.workspace,
        )?;
        // The twists are free again: they hold the displacements now.
        self.after.fill([0.0; 6]);
        apply_impulses(
            &self.inverse_mass,
            &self.contacts,
            &self.impulses,
            &mut self.after,
        );
        if let Some(joints) = &mut self.articulation {
            joints.hold_still(&mut self.after);
        }
        let mut rise = 0.0;
        for (inertia, d) in self.inertia.iter().zip(&self.after) {
            if let Some(inertia) = inertia {
                let d = Vec3::new(d[0], d[1], d[2]);
                rise -= inertia.mass_kg * self.scene.gravity_m_per_s2.dot(&d);
            }
        }
        let mut share = if rise > budget_j {
            budget_j / rise
        } else {
            1.0
        };
        if self.settings.look_ahead_m > 0.0 {
            share = share.min(0.5 * self.settings.look_ahead_m / self.farthest());
        }
        for (index, state) in self.states.iter_mut().enumerate() {
            let d = &self.after[index];
            if self.inertia[index].is_none() || *d == [0.0; 6] {
                continue;
            }
            state.position += Vec3::new(d[0], d[1], d[2]) * share;
            let half = Vec3::new(d[3], d[4], d[5]) * (0.5 * share);
            let turn = nalgebra::Quaternion::new(1.0, half.x, half.y, half.z);
            state.rotation = Quat::new_normalize(turn * state.rotation.as_ref());
        }
        self.energy.stabilisation_work_j += share * rise;
        Ok(())
    }

    /// The problem of the gaps at the end of the step, of all points in reach: an open one may be closed, no more. False
    /// where nothing is deeper than `left_m`, or nothing but what its own velocity works off.
    fn close_gaps(&mut self, left_m: f64) -> bool {
        let reach = self.settings.theta * self.settings.dt_s;
        let mut found = false;
        self.contacts.clear();
        for manifold in self.detector.manifolds() {
            let bodies =
                [manifold.a, manifold.b].map(|c| self.detector.contactors()[c as usize].body);
            let range = manifold.points.start as usize..manifold.points.end as usize;
            for point in &self.detector.points()[range] {
                let jacobians = [0, 1].map(|side| {
                    let arm = point.position - self.middle[bodies[side] as usize].position;
                    jacobian(point, &arm, [-1.0, 1.0][side])
                });
                let gap = point.gap + reach * relative(&jacobians, &bodies, &self.after)[0];
                let before = relative(&jacobians, &bodies, &self.before)[0];
                let beyond = gap + left_m;
                let way = if beyond < 0.0 && !works_off(&self.settings, before, beyond) {
                    found = true;
                    gap + 0.5 * left_m
                } else {
                    gap.max(0.0)
                };
                self.contacts.push(Contact {
                    bodies: bodies.map(|body| (!self.fixed[body as usize]).then_some(body)),
                    jacobians,
                    free_velocity: [way, 0.0, 0.0],
                    friction: 0.0,
                    kind: BlockKind::Contact,
                });
            }
        }
        found
    }

    /// Largest displacement of a contact point.
    fn farthest(&self) -> f64 {
        let mut most = 0.0_f64;
        for contact in &self.contacts {
            for (side, body) in contact.bodies.iter().enumerate() {
                if let Some(body) = body {
                    let d =
                        relative_velocity(&contact.jacobians[side], &self.after[*body as usize]);
                    most = most.max(dot(&d, &d));
                }
            }
        }
        most.sqrt()
    }
}

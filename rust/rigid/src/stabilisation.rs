//! Position stabilisation: pushes overlapping bodies apart without giving them energy.
//!
//! Velocity-level contact keeps whatever overlap an impact leaves, up to h/2 |u_N|. Here the gaps at the end of
//! the step, g = g_M + theta h u_N, are cleared by the smallest displacement in the metric of the mass matrix:
//! 0 <= g + W_N r ⟂ r >= 0, the contact problem without friction in metres. Velocities are left alone. Moving
//! bodies up costs potential energy; the displacement is scaled down so that this never exceeds what the
//! contacts dissipated in the same step, so mechanical energy does not rise, and an overlap at rest stays.

use crate::error::RigidError;
use crate::world::World;
use percuss_geometry::{Quat, Vec3};
use percuss_solvers::{BlockKind, Settings, apply_impulses};

/// Accuracy of the displacements, relative: what is missed now is cleared by the next impact.
const TOLERANCE: f64 = 1e-3;
const ITERATIONS: usize = 200;

impl World {
    /// Clears overlaps as far as `budget_j` pays for.
    pub(crate) fn stabilise(&mut self, budget_j: f64) -> Result<(), RigidError> {
        let reach = self.settings.theta * self.settings.dt_s;
        let mut deepest = 0.0_f64;
        if let Some(joints) = &self.articulation {
            self.contacts.truncate(joints.contacts());
        }
        self.contacts
            .retain(|contact| contact.kind == BlockKind::Contact);
        self.impulses.resize(self.contacts.len(), [0.0; 3]);
        self.velocities.resize(self.contacts.len(), [0.0; 3]);
        for (contact, state) in self.contacts.iter_mut().zip(&self.active) {
            let gap = state.gap_m + reach * state.velocity_after_m_per_s[0];
            deepest = deepest.min(gap);
            contact.free_velocity = [gap, 0.0, 0.0];
            contact.friction = 0.0;
        }
        if deepest >= -self.settings.contact_tolerance_m {
            return Ok(());
        }
        if let Some(joints) = &mut self.articulation {
            joints.couple(&self.inverse_mass, &self.contacts);
        }
        self.assemble()?;
        self.impulses.fill([0.0; 3]);
        let settings = Settings {
            tolerance: TOLERANCE,
            max_iterations: ITERATIONS,
            max_factorisations: 0,
        };
        self.settings.solver.solve(
            &self.problem,
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
        let share = if rise > budget_j {
            budget_j / rise
        } else {
            1.0
        };
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
}

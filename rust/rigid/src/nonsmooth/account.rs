//! Where the work of contacts goes.

use super::Nonsmooth;
use super::contact::{Touch, couple_jacobians, dot, relative, relative_velocity};
use super::middle::Middle;
use crate::body::Role;
use crate::setup::Setup;
use crate::state::State;

/// Contact work above this many solver tolerances times |P| |q| over all contacts counts as a gain of energy.
const GAIN_MARGIN: f64 = 10.0;

impl Nonsmooth {
    /// Books the work of contacts, joints and elements; gives that of contacts, limits and friction, and whether they
    /// gave energy beyond what the solver's tolerance explains.
    pub(super) fn account(&mut self, setup: &Setup, state: &mut State) -> (f64, bool) {
        for touch in &mut self.touches {
            touch.account(setup, state, &self.middle);
        }
        self.account_bonds(setup, state);
        for index in 0..self.parts.len() {
            if !self.sleeps(state, index) {
                self.parts[index].account(setup, state, &self.middle);
            }
        }
        let (mut total, mut size_p, mut size_q) = (0.0, 0.0, 0.0);
        let mut book = |work_j: f64, impulse: &[f64; 3], q: &[f64; 3]| {
            total += work_j;
            size_p += dot(impulse, impulse);
            size_q += dot(q, q);
        };
        for touch in &self.touches {
            let block = &touch.block;
            book(touch.work_j, &block.impulse, &block.contact.free_velocity);
            if let Some(couple) = &touch.couple {
                book(0.0, &couple.impulse, &couple.free_velocity);
            }
        }
        for bonded in &self.bonded {
            let block = &bonded.block;
            book(bonded.work_j, &block.impulse, &block.contact.free_velocity);
        }
        for bound in self.parts.iter().flat_map(|part| &part.active) {
            let block = &bound.block;
            book(bound.work_j, &block.impulse, &block.contact.free_velocity);
        }
        let gained = total > GAIN_MARGIN * setup.settings.tolerance * (size_p * size_q).sqrt();
        if gained {
            state.energy.contact_gain_j += total;
        }
        state.energy.gain_steps += u64::from(gained);
        (total, gained)
    }
}

impl Touch {
    /// Books the work of its impulses, P . (u- + u+)/2.
    fn account(&mut self, setup: &Setup, state: &mut State, middle: &Middle) {
        let contact = &mut self.contact;
        let p = &self.block.impulse;
        let before = &contact.velocity_before_m_per_s;
        let after: [f64; 3] = std::array::from_fn(|k| self.block.velocity[k] - self.shift[k]);
        contact.velocity_after_m_per_s = after;
        contact.impulse_n_s = contact.world(p);
        if *p == [0.0; 3] {
            return;
        }
        let normal = 0.5 * p[0] * (before[0] + after[0]);
        let mut friction = 0.5 * (p[1] * (before[1] + after[1]) + p[2] * (before[2] + after[2]));
        if let Some(couple) = &self.couple {
            let s = &couple.impulse;
            let jacobians = couple_jacobians(&contact.normal, &couple.scale);
            let [before, after] = [&middle.before, &middle.after]
                .map(|twists| relative(&jacobians, &contact.bodies, twists));
            friction += 0.5 * (dot(s, &before) + dot(s, &after));
            contact.couple_n_m_s = contact.world(&std::array::from_fn(|k| couple.scale[k] * s[k]));
        }
        self.work_j = normal + friction;
        let pair = &mut state.pair_work[contact.law as usize];
        pair.impact_dissipation_j -= normal;
        pair.friction_dissipation_j -= friction;
        pair.normal_impulse_n_s += p[0];
        pair.friction_impulse_n_s += p[1].hypot(p[2]);
        state.energy.impact_dissipation_j -= normal;
        state.energy.friction_dissipation_j -= friction;
        for (side, &body) in self.contact.bodies.iter().enumerate() {
            let body = body as usize;
            if matches!(setup.scene.bodies[body].role, Role::Kinematic(_)) {
                let (before, after) = (&middle.before[body], &middle.after[body]);
                let mean = std::array::from_fn(|k| 0.5 * (before[k] + after[k]));
                for block in self.blocks().into_iter().flatten() {
                    let velocity = relative_velocity(&block.contact.jacobians[side], &mean);
                    state.energy.motion_work_j -= dot(&block.impulse, &velocity);
                }
            }
        }
    }
}

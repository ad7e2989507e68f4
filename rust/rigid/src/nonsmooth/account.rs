//! Where the work of contacts goes.

use super::Nonsmooth;
use super::contact::{Touch, Work, couple_jacobians, dot, relative, relative_velocity};
use super::middle::Middle;
use super::threads::CHUNK;
use crate::body::Role;
use crate::setup::Setup;
use crate::state::State;
use rayon::prelude::*;

/// Contact work above this many solver tolerances times |P| |q| over all contacts counts as a gain of energy.
const GAIN_MARGIN: f64 = 10.0;

impl Nonsmooth {
    /// Takes what the solvers found for the contacts. Books the work of contacts, joints and elements; gives that of contacts,
    /// limits and friction, and whether they gave energy beyond what the solver's tolerance explains.
    pub(super) fn account(&mut self, setup: &Setup, state: &mut State) -> (f64, bool) {
        self.take();
        let (mut total, mut size_p, mut size_q) = (0.0, 0.0, 0.0);
        let mut enter = |work_j: f64, impulse: &[f64; 3], q: &[f64; 3]| {
            total += work_j;
            size_p += dot(impulse, impulse);
            size_q += dot(q, q);
        };
        for touch in &self.touches {
            touch.book(setup, state, &self.middle);
            enter(touch.work.total_j(), &touch.impulse, &touch.free_velocity);
            if let Some(couple) = &touch.couple {
                enter(0.0, &couple.impulse, &couple.free_velocity);
            }
        }
        self.account_bonds(setup, state);
        for index in 0..self.parts.len() {
            if !self.sleeps(state, index) {
                self.parts[index].account(setup, state, &self.middle);
            }
        }
        let bonds = self
            .bonded
            .iter()
            .map(|bonded| (&bonded.block, bonded.work_j));
        let bounds = self.parts.iter().flat_map(|part| &part.active);
        for (block, work_j) in bonds.chain(bounds.map(|bound| (&bound.block, bound.work_j))) {
            enter(work_j, &block.impulse, &block.contact.free_velocity);
        }
        let gained = total > GAIN_MARGIN * setup.settings.tolerance * (size_p * size_q).sqrt();
        if gained {
            state.energy.contact_gain_j += total;
        }
        state.energy.gain_steps += u64::from(gained);
        (total, gained)
    }

    /// Gives the contacts of islands that were solved what was found for them, and works it out.
    fn take(&mut self) {
        let parallel = self.is_parallel();
        let Self {
            touches,
            islands,
            problems,
            awake,
            middle,
            ..
        } = self;
        let take = |first: usize, touches: &mut [Touch]| {
            for (index, touch) in (first..).zip(touches) {
                if let Some(island) = islands.of_moved(&touch.moving)
                    && awake[island]
                {
                    problems[island].give(touch, islands.rank[index]);
                }
                touch.work_out(middle);
            }
        };
        if parallel {
            let chunks = touches.par_chunks_mut(CHUNK).enumerate();
            chunks.for_each(|(chunk, touches)| take(chunk * CHUNK, touches));
        } else {
            take(0, touches);
        }
    }
}

impl Touch {
    /// Velocity and impulse after the step, and the work of its impulses, P . (u- + u+)/2.
    fn work_out(&mut self, middle: &Middle) {
        let contact = &mut self.contact;
        let p = &self.impulse;
        let before = &contact.velocity_before_m_per_s;
        let after: [f64; 3] = std::array::from_fn(|k| self.velocity[k] - self.shift[k]);
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
        self.work = Work {
            normal_j: normal,
            friction_j: friction,
            friction_n_s: (p[1] * p[1] + p[2] * p[2]).sqrt(),
        };
    }

    /// Books the work of its impulses.
    fn book(&self, setup: &Setup, state: &mut State, middle: &Middle) {
        if self.impulse == [0.0; 3] {
            return;
        }
        let Work {
            normal_j,
            friction_j,
            friction_n_s,
        } = self.work;
        let pair = &mut state.pair_work[self.contact.law as usize];
        pair.impact_dissipation_j -= normal_j;
        pair.friction_dissipation_j -= friction_j;
        pair.normal_impulse_n_s += self.impulse[0];
        pair.friction_impulse_n_s += friction_n_s;
        state.energy.impact_dissipation_j -= normal_j;
        state.energy.friction_dissipation_j -= friction_j;
        for side in (0..2).filter(|&side| self.moving[side].is_none()) {
            let body = self.contact.bodies[side] as usize;
            if matches!(setup.scene.bodies[body].role, Role::Kinematic(_)) {
                let (before, after) = (&middle.before[body], &middle.after[body]);
                let mean = std::array::from_fn(|k| 0.5 * (before[k] + after[k]));
                let blocks = [Some(self.block(&middle.poses)), self.couple_block()];
                let impulses = [self.impulse, self.couple.map_or([0.0; 3], |c| c.impulse)];
                for (block, impulse) in blocks.iter().flatten().zip(&impulses) {
                    let velocity = relative_velocity(&block.jacobians[side], &mean);
                    state.energy.motion_work_j -= dot(impulse, &velocity);
                }
            }
        }
    }
}

//! Contacts of a fixed-step run: their forces, and the list of impacts they leave.
//!
//! Onset and release fall between two steps; their times are read off the line between the two indentations.

use percuss_laws::{Impact, Memory};

use super::Walk;
use crate::matrices::propagator::{Propagator, Vector};
use crate::results::impacts::{ImpactEvent, free_approach};
use crate::system::model::Pair;

/// One contact of a walk.
#[derive(Debug, Clone)]
pub(crate) struct WalkContact {
    pub pair: Pair,
    pub gap: f64,
    pub impact: Impact,
    /// Force in the current state, N.
    pub force: f64,
    pub(super) memory: Memory,
    pub(super) touching: bool,
    pub(super) work: f64,
    pub(super) deepest: f64,
    pub(super) peak_force: f64,
    /// Indentation a step ago.
    pub(super) before: f64,
    pub(super) event: Option<usize>,
    pub(super) pushed: bool,
}

impl WalkContact {
    /// Force for a state that may or may not become the next one.
    #[inline(always)]
    pub fn trial_force(&self, d: f64, rate: f64) -> f64 {
        if d <= 0.0 {
            0.0
        } else {
            self.touching_force(d, rate)
        }
    }

    /// Force where the masses overlap, and its slopes in indentation and rate.
    pub fn trial_slopes(&self, d: f64, rate: f64) -> (f64, f64, f64) {
        let memory = if self.touching {
            self.memory
        } else {
            Memory::at_onset(rate)
        };
        let gradient = self.impact.gradient(d, rate, &memory);
        let force = self.impact.force(d, rate, &memory);
        (force, gradient.indentation, gradient.rate)
    }

    #[inline(never)]
    fn touching_force(&self, d: f64, rate: f64) -> f64 {
        let memory = if self.touching {
            self.memory
        } else {
            Memory::at_onset(rate)
        };
        self.impact.force(d, rate, &memory)
    }
}

/// What is needed to see whether a contact stays open.
pub(crate) struct Watch<V: Vector> {
    pub(super) pick: V::Pick,
    pub(super) gap: f64,
    /// The indentation nearest to closing so far.
    pub(super) nearest: f64,
}

impl<V: Vector> Watch<V> {
    /// Whether the contact is open at these displacements; notes how near it came.
    #[inline(always)]
    pub fn stays_open(&mut self, u: &V) -> bool {
        let d = u.difference(&self.pick) - self.gap;
        let open = d <= 0.0;
        self.nearest = if open && d > self.nearest {
            d
        } else {
            self.nearest
        };
        open
    }
}

impl<P: Propagator> Walk<'_, P> {
    /// Take a contact's force in the new state. `onset_rate` is the approach speed should it begin here.
    #[inline(always)]
    pub fn commit(&mut self, contact: usize, d: f64, rate: f64, onset_rate: f64, force: f64) {
        let state = &mut self.contacts[contact];
        state.deepest = state.deepest.max(d);
        if d > 0.0 || state.touching {
            self.commit_touching(contact, d, rate, onset_rate, force);
        } else {
            state.force = 0.0;
            state.before = d;
        }
    }

    #[inline(never)]
    fn commit_touching(&mut self, contact: usize, d: f64, rate: f64, onset_rate: f64, force: f64) {
        let (time, dt) = (self.time(), self.dt);
        let state = &mut self.contacts[contact];
        let crossing = time
            - dt * if d == state.before {
                0.0
            } else {
                (d / (d - state.before)).clamp(0.0, 1.0)
            };
        if !state.touching {
            state.touching = true;
            state.memory = Memory::at_onset(onset_rate.max(0.0));
            state.event = Some(self.impacts.len());
            let mut work = vec![0.0; self.model.masses()];
            let (u, v) = (self.u.as_ref(), self.v.as_ref());
            let free = free_approach(
                self.model,
                contact,
                self.ground,
                u,
                v,
                &self.element_forces,
                &mut work,
            );
            let element = &self.model.contacts[contact];
            let mut event = ImpactEvent::begin(contact, element, crossing, u, v, free);
            event.approach_speed_m_s = onset_rate;
            self.impacts.push(event);
        }
        let state = &mut self.contacts[contact];
        state.force = force;
        state.work += force * rate * dt;
        state.peak_force = state.peak_force.max(force.abs());
        if state.impact.latches() {
            state.memory.deepest_m = state.memory.deepest_m.max(d);
        }
        if let Some(event) = state.event.map(|index| &mut self.impacts[index]) {
            event.impulse_n_s += force * dt;
            event.peak_force_n = event.peak_force_n.max(force.abs());
            event.deepest_m = event.deepest_m.max(d);
            if force != 0.0 {
                state.pushed = true;
            }
            if state.pushed && (force == 0.0 || d <= 0.0) {
                state.pushed = false;
                event.rebound_speed_m_s = -rate;
                event.duration_s = if d <= 0.0 { crossing } else { time } - event.start_s;
            }
        }
        if d <= 0.0 {
            state.touching = false;
            state.event = None;
        }
        state.before = d;
    }

    /// Take an impulse of a rigid contact.
    pub fn commit_impulse(
        &mut self,
        contact: usize,
        impulse: f64,
        before: f64,
        after: f64,
        time: f64,
    ) {
        let state = &mut self.contacts[contact];
        state.work += 0.5 * impulse * (before + after);
        let pressed_on = state.touching;
        state.touching = impulse > 0.0;
        if impulse > 0.0 && before > 0.0 && !pressed_on {
            let mut work = vec![0.0; self.model.masses()];
            let (u, v) = (self.u.as_ref(), self.v.as_ref());
            let free = free_approach(
                self.model,
                contact,
                self.ground,
                u,
                v,
                &self.element_forces,
                &mut work,
            );
            let mut event =
                ImpactEvent::begin(contact, &self.model.contacts[contact], time, u, v, free);
            event.approach_speed_m_s = before;
            event.rebound_speed_m_s = -after;
            event.duration_s = 0.0;
            event.impulse_n_s = impulse;
            self.impacts.push(event);
        }
    }

    /// Note how far a rigid contact went.
    pub fn note_gap(&mut self, contact: usize, d: f64) {
        self.contacts[contact].deepest = self.contacts[contact].deepest.max(d);
    }
}

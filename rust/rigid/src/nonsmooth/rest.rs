//! Sleep: islands at rest are not solved.
//!
//! With `sleep_speed_m_per_s` > 0 an island falls asleep when every body of it has been slower than that, its rotation
//! counted by its energy, for `sleep_steps` steps in a row, the forces on it in balance in each of them, and nothing in it
//! moves as given. What has just begun to slide, or turns back at the end of a swing, is slow too, but its velocity
//! changes. Its velocities become zero, exactly, and what they held of kinetic energy is booked as the scheme's. From then on its bodies stay where they are
//! and its contacts keep their impulses, until
//!
//! - a contact of one of its bodies appears or disappears, or a body that is awake touches it;
//! - a load on one of its bodies changes, or a body with a given motion that touches it begins to move;
//! - a velocity of one of its bodies is set, or a body of it comes or goes (its contacts change then).
//!
//! It is awake in that very step, with the impulses that held it to start from.

use super::Nonsmooth;
use crate::body::Role;
use crate::setup::Setup;
use crate::state::State;

/// Forces on a body are in balance if a step changes its velocity by less than this share of what gravity would, or
/// by this many solver tolerances of it.
const BALANCE: f64 = 1e-3;
const BALANCE_MARGIN: f64 = 100.0;

impl Nonsmooth {
    /// Wakes bodies whose loads change in this step.
    pub(super) fn wake_loaded(&self, setup: &Setup, state: &mut State) {
        let h = setup.settings.dt_s;
        let middle = setup.time_s(state) + setup.settings.theta * h;
        for load in &setup.scene.loads {
            if state.asleep[load.body] && load.factor(middle) != load.factor(middle - h) {
                state.asleep[load.body] = false;
            }
        }
    }

    /// Whether the bodies of a part of joints sleep.
    pub(super) fn sleeps(&self, state: &State, part: usize) -> bool {
        let mut bodies = self.parts[part].dynamic();
        bodies.next().is_some_and(|(body, _)| state.asleep[body])
    }

    /// Says which islands are to be solved: those with a body that is awake, or with other contacts than before.
    pub(super) fn choose_awake(&mut self, setup: &Setup, state: &mut State) {
        self.due.clear();
        self.due.resize(self.islands.count(), true);
        if setup.settings.sleep_speed_m_per_s == 0.0 || !state.asleep.contains(&true) {
            return;
        }
        let mut lost = vec![0_i64; state.bodies.len()];
        for contact in &state.contacts {
            contact.bodies.iter().for_each(|&b| lost[b as usize] += 1);
        }
        for touch in self.touches.iter().filter(|touch| touch.known) {
            let bodies = touch.contact.bodies;
            bodies.iter().for_each(|&b| lost[b as usize] -= 1);
        }
        let mut stays = vec![false; state.bodies.len()];
        for island in 0..self.islands.count() {
            let bodies = self.islands.bodies.of(island);
            let still = |&body: &u32| state.asleep[body as usize] && lost[body as usize] == 0;
            let held = |&index: &u32| {
                let touch = self.touches.get(index as usize);
                self.is_calm(setup, index) && touch.is_none_or(|touch| touch.known)
            };
            let contacts = self.islands.contacts.of(island);
            if !(bodies.iter().all(still) && contacts.iter().all(held)) {
                continue;
            }
            self.due[island] = false;
            for touch in contacts {
                // Velocities of bonds are zero already.
                if let Some(touch) = self.touches.get_mut(*touch as usize) {
                    touch.velocity = touch.shift;
                }
            }
            for &body in bodies {
                stays[body as usize] = true;
                self.middle.after[body as usize] = [0.0; 6];
            }
        }
        for body in 0..stays.len() {
            if state.asleep[body] && !stays[body] {
                state.asleep[body] = false;
                state.quiet[body] = 0;
            }
        }
    }

    /// Whether no body of a contact or bond is moved as given.
    fn is_calm(&self, setup: &Setup, index: u32) -> bool {
        let bodies = match self.touches.get(index as usize) {
            Some(touch) => touch.contact.bodies,
            None => {
                let bonded = &self.bonded[index as usize - self.touches.len()];
                self.bond_points[bonded.point].bodies
            }
        };
        bodies.iter().all(|&body| {
            let given = matches!(setup.scene.bodies[body as usize].role, Role::Kinematic(_));
            !given || self.middle.after[body as usize] == [0.0; 6]
        })
    }

    /// Lets islands fall asleep that have been at rest for long enough.
    pub(super) fn rest(&mut self, setup: &Setup, state: &mut State) {
        let slow = setup.settings.sleep_speed_m_per_s;
        if slow == 0.0 {
            return;
        }
        let settings = &setup.settings;
        let balance = BALANCE.max(BALANCE_MARGIN * settings.tolerance);
        let falling = setup.scene.gravity_m_per_s2.norm() * settings.dt_s;
        // Where there is no gravity: far from the speed of sleep within these steps.
        let change = if falling > 0.0 {
            balance * falling
        } else {
            balance * slow / settings.sleep_steps.max(1) as f64
        };
        for body in 0..state.bodies.len() {
            if let Some(inertia) = &setup.inertia[body] {
                let (kinetic, _) = setup.energy_of(state, body);
                let mass = inertia.mass_kg;
                let quiet = 2.0 * kinetic < mass * slow * slow
                    && self.middle.change_j(inertia, body) <= 0.5 * mass * change * change;
                state.quiet[body] = if quiet { state.quiet[body] + 1 } else { 0 };
            }
        }
        for island in 0..self.islands.count() {
            let bodies = self.islands.bodies.of(island).iter();
            let ready = |&body: &u32| state.quiet[body as usize] >= setup.settings.sleep_steps;
            let passive = |&part: &u32| self.parts[part as usize].passive;
            let calm = |&index: &u32| self.is_calm(setup, index);
            let rests = self.due.get(island).is_some()
                && bodies.clone().all(ready)
                && self.islands.parts.of(island).iter().all(passive)
                && self.islands.contacts.of(island).iter().all(calm);
            if !rests {
                continue;
            }
            for &body in bodies {
                let body = body as usize;
                state.energy.scheme_j -= setup.energy_of(state, body).0;
                state.bodies[body].velocity.fill(0.0);
                state.bodies[body].spin.fill(0.0);
                state.asleep[body] = true;
            }
        }
    }
}

//! What happens at an event.

use percuss_laws::Memory;

use super::{Event, Located, Phase};
use crate::ImpactEvent;
use crate::located::rigid_impact;
use crate::results::impacts::free_approach;

/// A rigid contact that rebounds slower than this share of its fastest approach is held closed: what is lost is the
/// square of it in energy.
const DEAD_BOUNCE: f64 = 1e-9;
/// So is one whose bounce would be this many times as high as the rounding of its gap.
const LOWEST_BOUNCE: f64 = 1e3;

impl Located<'_> {
    /// Close contacts that touch and approach, as at the start of a run.
    pub(super) fn settle(&mut self) {
        for contact in 0..self.contacts.len() {
            if self.contacts[contact].phase != Phase::Open
                || self.idle_events > super::MOST_IDLE_EVENTS
            {
                continue;
            }
            let element = &self.model.contacts[contact];
            let (d, rate) = element.indentation(&self.u, &self.v);
            if d < -self.noise(contact) || rate < 0.0 {
                continue;
            }
            let ground = self.model.base.at(self.t);
            self.find_element_forces();
            let pull = free_approach(
                self.model,
                contact,
                ground,
                &self.u,
                &self.v,
                &self.element_forces,
                &mut self.sample[2],
            );
            if rate > 0.0 || pull > 0.0 {
                self.happen(contact, Event::Onset, self.t);
            }
        }
    }

    /// Change a contact's phase at `time`; the state is that of the event.
    pub(super) fn happen(&mut self, contact: usize, event: Event, time: f64) {
        let element = self.model.contacts[contact];
        let (d, rate) = element.indentation(&self.u, &self.v);
        let latches = element.impact.latches();
        match event {
            Event::Onset if element.impact.is_rigid() => self.rigid_impact(time),
            Event::Onset => {
                let speed = rate.max(0.0);
                let ground = self.model.base.at(time);
                self.find_element_forces();
                let free = free_approach(
                    self.model,
                    contact,
                    ground,
                    &self.u,
                    &self.v,
                    &self.element_forces,
                    &mut self.sample[2],
                );
                let impact = ImpactEvent::begin(contact, &element, time, &self.u, &self.v, free);
                self.run.impacts.push(impact);
                let state = &mut self.contacts[contact];
                state.impact = Some(self.run.impacts.len() - 1);
                state.memory = Memory::at_onset(speed);
                state.phase = Phase::Pressing {
                    approaching: true,
                    loading: true,
                };
                self.shorten_step(0.02 * element.impact.time_scale_s(speed));
            }
            Event::Push => {
                let approaching = rate > 0.0;
                let loading = approaching && !latches;
                let state = &mut self.contacts[contact];
                state.phase = Phase::Pressing {
                    approaching,
                    loading,
                };
                let speed = state.memory.approach_speed_m_s;
                self.shorten_step(0.02 * element.impact.time_scale_s(speed));
            }
            Event::Turn => {
                let state = &mut self.contacts[contact];
                if latches {
                    state.memory.deepest_m = state.memory.deepest_m.max(d);
                }
                state.phase = Phase::Pressing {
                    approaching: false,
                    loading: false,
                };
            }
            Event::TurnBack => {
                self.contacts[contact].phase = Phase::Pressing {
                    approaching: true,
                    loading: !latches,
                };
            }
            Event::Reload => {
                self.contacts[contact].phase = Phase::Pressing {
                    approaching: true,
                    loading: true,
                };
            }
            Event::Release | Event::Leave => {
                let pressing = matches!(self.contacts[contact].phase, Phase::Pressing { .. });
                if let Some(index) = self.contacts[contact].impact.filter(|_| pressing) {
                    let impact = &mut self.run.impacts[index];
                    impact.rebound_speed_m_s = -rate;
                    impact.duration_s = time - impact.start_s;
                }
                let state = &mut self.contacts[contact];
                if event == Event::Release && d > 0.0 {
                    state.phase = Phase::Released;
                } else {
                    state.phase = Phase::Open;
                    state.impact = None;
                    state.memory = Memory::default();
                }
            }
            Event::LetGo => self.contacts[contact].phase = Phase::Open,
        }
    }

    /// The next contact step starts small when no other contact has made it so already.
    fn shorten_step(&mut self, step: f64) {
        let pressing = self
            .contacts
            .iter()
            .filter(|c| matches!(c.phase, Phase::Pressing { .. }))
            .count();
        self.next_step = if pressing > 1 {
            self.next_step.min(step)
        } else {
            step
        };
    }

    /// Turn the velocities of all rigid contacts that touch, and hold those whose bounce has died out.
    fn rigid_impact(&mut self, time: f64) {
        let touches = |located: &Self, c: usize| {
            let element = &located.model.contacts[c];
            let near = element.indentation(&located.u, &located.v).0 >= -16.0 * located.noise(c);
            element.impact.is_rigid() && (near || located.contacts[c].phase == Phase::Held)
        };
        let touching: Vec<usize> = (0..self.contacts.len())
            .filter(|&c| touches(self, c))
            .collect();
        let rates = |located: &Self| -> Vec<f64> {
            touching
                .iter()
                .map(|&c| located.model.contacts[c].pair.difference(&located.v))
                .collect()
        };
        let before = rates(self);
        let applied = |(&c, &rate): (&usize, &f64)| {
            if rate > 0.0 {
                self.model.contacts[c].impact.restitution()
            } else {
                0.0
            }
        };
        let restitution: Vec<f64> = touching.iter().zip(&before).map(applied).collect();
        let ground = self.model.base.at(time);
        self.find_element_forces();
        let began: Vec<Option<ImpactEvent>> = touching
            .iter()
            .zip(&before)
            .map(|(&c, &rate)| {
                let free = free_approach(
                    self.model,
                    c,
                    ground,
                    &self.u,
                    &self.v,
                    &self.element_forces,
                    &mut self.sample[2],
                );
                let element = &self.model.contacts[c];
                (rate > 0.0 && self.contacts[c].phase != Phase::Held)
                    .then(|| ImpactEvent::begin(c, element, time, &self.u, &self.v, free))
            })
            .collect();
        let impulses = rigid_impact::resolve(self.model, &touching, &restitution, &mut self.v);
        let after = rates(self);
        for (i, &c) in touching.iter().enumerate() {
            let lowest = LOWEST_BOUNCE * self.noise(c);
            let pull = free_approach(
                self.model,
                c,
                ground,
                &self.u,
                &self.v,
                &self.element_forces,
                &mut self.sample[2],
            );
            let state = &mut self.contacts[c];
            state.work += 0.5 * impulses[i] * (before[i] + after[i]);
            state.fastest = state.fastest.max(before[i]);
            if let Some(mut impact) = began[i] {
                impact.rebound_speed_m_s = -after[i];
                impact.duration_s = 0.0;
                impact.impulse_n_s = impulses[i];
                self.run.impacts.push(impact);
            }
            let dead = after[i].abs() <= DEAD_BOUNCE * state.fastest
                || after[i].powi(2) <= 2.0 * pull * lowest;
            state.phase = if dead { Phase::Held } else { Phase::Open };
        }
        self.hold_what_is_pressed(time);
    }

    /// Of the held contacts keep those the motion presses together; bring their pairs to one velocity.
    fn hold_what_is_pressed(&mut self, time: f64) {
        let ground = self.model.base.at(time);
        loop {
            let held: Vec<usize> = (0..self.contacts.len())
                .filter(|&c| self.contacts[c].phase == Phase::Held)
                .collect();
            self.flight.hold(self.model, &held);
            let (u, v, elements) = (&self.u, &self.v, &self.element_forces);
            self.model
                .acceleration(ground, u, v, &[], elements, &mut self.sample[2]);
            let reaction = |i: usize| self.flight.reaction_to(self.model, i, &self.sample[2]);
            let weakest = (0..held.len()).min_by(|&i, &j| reaction(i).total_cmp(&reaction(j)));
            match weakest.filter(|&i| reaction(i) <= 0.0) {
                Some(i) => self.contacts[held[i]].phase = Phase::Open,
                None => {
                    for _ in 0..50 {
                        for &c in &held {
                            let pair = self.model.contacts[c].pair;
                            let own = rigid_impact::coupling(&self.model.masses, pair, pair);
                            let impulse = pair.difference(&self.v) / own;
                            crate::located::flight::push_masses(
                                self.model,
                                pair,
                                impulse,
                                &mut self.v,
                            );
                        }
                    }
                    return;
                }
            }
        }
    }
}

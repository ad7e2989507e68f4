//! One step while a compliant contact pushes or a spring has a curved law.

use super::elements::plane_at;
use super::{Event, Layout, Located, MOST_IDLE_EVENTS, Phase, Pushing};
use crate::OscillatorError;
use crate::located::dop853::step_factor;
use crate::located::root;
use crate::system::base_motion::Stretch;

/// What ends a step early: an event of a contact, or the end of the branch of a spring with a law.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Happening {
    Contact(usize, Event),
    Element(usize, i8),
}

/// Error of a step in units of the largest displacement and velocity.
const TOLERANCE: f64 = 1e-13;

impl Located<'_> {
    /// Step to the first event or as far as the error allows; returns the time passed.
    pub(super) fn contact_step(
        &mut self,
        stretch: &Stretch<'_>,
        longest: f64,
    ) -> Result<f64, OscillatorError> {
        let n = self.model.masses();
        self.y.fill(0.0);
        self.y[..n].copy_from_slice(&self.u);
        self.y[n..2 * n].copy_from_slice(&self.v);
        let layout = Layout::of(self.model);
        for (element, state) in self.model.elements.iter().zip(&self.elements) {
            if let Some(place) = element.flowing {
                let at = layout.flowing + place;
                self.y[at..at + 2].copy_from_slice(&state.past.flowing());
            }
        }
        let step = self.accepted_step(stretch, longest)?;
        let (advance, event) = if self.idle_events > MOST_IDLE_EVENTS {
            (step, None)
        } else {
            self.first_event(stretch, step)
        };
        if advance > 0.0 {
            if advance < step {
                self.substep(stretch, advance);
                self.y_end.copy_from_slice(&self.y_at);
            }
            self.record_outputs(stretch, advance);
            self.raise_peaks(stretch, advance);
            self.take_over(n);
        }
        match event {
            Some(Happening::Contact(contact, event)) => {
                self.happen(contact, event, self.t + advance);
            }
            Some(Happening::Element(element, event)) => self.yield_at(element, event),
            None => {}
        }
        Ok(advance)
    }

    /// A step whose error is within tolerance; leaves its end in `y_end`.
    fn accepted_step(
        &mut self,
        stretch: &Stretch<'_>,
        longest: f64,
    ) -> Result<f64, OscillatorError> {
        let n = self.model.masses();
        let mut h = self.next_step.min(longest);
        loop {
            if h < 1e-3 * f64::EPSILON * self.t {
                return Err(OscillatorError::TooManySteps {
                    time_s: self.t,
                    steps: self.run.steps,
                });
            }
            let pushing = Pushing {
                model: self.model,
                contacts: &self.contacts,
                elements: &self.elements,
                flight: &self.flight,
                stretch,
            };
            let forces = &mut self.forces;
            let mut rhs = |t: f64, y: &[f64], dy: &mut [f64]| pushing.rhs(t, y, dy, forces);
            self.method
                .step(&mut rhs, self.t, &self.y, h, &mut self.y_end);
            let size = |range: std::ops::Range<usize>| {
                let both = self.y[range.clone()].iter().chain(&self.y_end[range]);
                both.fold(f64::MIN_POSITIVE, |m, x| m.max(x.abs()))
            };
            let (u, mut v) = (size(0..n), size(n..2 * n));
            if self.curved {
                // where the rate turns, its own size is no measure for dampers that have a kink there
                let peaks = &self.run.peaks.velocity_m_s;
                v = peaks.iter().copied().fold(v, f64::max);
            }
            let flowing = size(2 * n..2 * n + self.model.flowing).max(1.0);
            let scales = &mut self.slope[..2 * n + self.model.flowing];
            scales[..n].fill(TOLERANCE * u.max(v * h));
            scales[n..2 * n].fill(TOLERANCE * v);
            scales[2 * n..].fill(TOLERANCE * flowing);
            let error = self.method.error(h, scales);
            if error <= 1.0 {
                self.next_step = h * step_factor(error.max(1e-10));
                return Ok(h);
            }
            if error.is_nan() {
                return Err(OscillatorError::Diverged { time_s: self.t });
            }
            h *= step_factor(error).min(0.9);
        }
    }

    /// State after part of the step, in `y_at`.
    pub(super) fn substep(&mut self, stretch: &Stretch<'_>, tau: f64) {
        let pushing = Pushing {
            model: self.model,
            contacts: &self.contacts,
            elements: &self.elements,
            flight: &self.flight,
            stretch,
        };
        let forces = &mut self.forces;
        let mut rhs = |t: f64, y: &[f64], dy: &mut [f64]| pushing.rhs(t, y, dy, forces);
        self.method
            .step(&mut rhs, self.t, &self.y, tau, &mut self.y_at);
    }

    /// Value of a plane in indentation and rate of a contact.
    fn plane_at(&self, contact: usize, [a, b, c]: [f64; 3], y: &[f64]) -> f64 {
        let n = self.model.masses();
        let (d, rate) = self.model.contacts[contact].indentation(&y[..n], &y[n..2 * n]);
        a * d + b * rate + c
    }

    fn plane_after(
        &mut self,
        stretch: &Stretch<'_>,
        contact: usize,
        plane: [f64; 3],
        tau: f64,
    ) -> f64 {
        self.substep(stretch, tau);
        self.plane_at(contact, plane, &self.y_at)
    }

    /// Earliest event of the step, and when.
    fn first_event(&mut self, stretch: &Stretch<'_>, step: f64) -> (f64, Option<Happening>) {
        let mut first = (step, None);
        for contact in 0..self.contacts.len() {
            if self.contacts[contact].phase == Phase::Held {
                self.first_pull(stretch, contact, &mut first);
                continue;
            }
            for (event, plane) in self.watches(contact) {
                let start = self.plane_at(contact, plane, &self.y);
                let mut bracket = (
                    first.0,
                    self.plane_after_or_end(stretch, contact, plane, first.0, step),
                );
                if event == Event::Onset && bracket.1 <= 0.0 {
                    // the gap may have closed and opened again within the step
                    let rate = [0.0, 1.0, 0.0];
                    let (from, to) = (
                        self.plane_at(contact, rate, &self.y),
                        self.plane_at(contact, rate, &self.y_end),
                    );
                    if from > 0.0 && to < 0.0 {
                        let top = root::bracketed(0.0, from, step, to, |tau| {
                            self.plane_after(stretch, contact, rate, tau)
                        });
                        if top < first.0 {
                            bracket = (top, self.plane_after(stretch, contact, plane, top));
                        }
                    }
                }
                if bracket.1 > 0.0 {
                    let tau = if start < 0.0 {
                        root::bracketed(0.0, start, bracket.0, bracket.1, |tau| {
                            self.plane_after(stretch, contact, plane, tau)
                        })
                    } else {
                        0.0
                    };
                    first = (tau, Some(Happening::Contact(contact, event)));
                }
            }
        }
        for element in 0..self.elements.len() {
            self.first_end_of_branch(stretch, element, step, &mut first);
        }
        first
    }

    /// Where the branch of a spring with a law ends within the step. A plane that is below zero at both ends may have
    /// been above between them: that is looked for where it culminates.
    fn first_end_of_branch(
        &mut self,
        stretch: &Stretch<'_>,
        index: usize,
        step: f64,
        first: &mut (f64, Option<Happening>),
    ) {
        let element = self.model.elements[index];
        let layout = Layout::of(self.model);
        let noise = self.element_noise(index);
        for watch in element.law.watches(&self.elements[index].past) {
            let plane = watch.plane;
            let state = self.elements[index];
            let start = plane_at(&element, &state, plane, layout, &self.y)
                .min(-plane[0].abs() * noise - f64::MIN_POSITIVE);
            let after = |located: &mut Self, tau: f64| {
                located.substep(stretch, tau);
                plane_at(&element, &state, plane, layout, &located.y_at)
            };
            let mut bracket = if first.0 == step {
                let end = plane_at(&element, &state, plane, layout, &self.y_end);
                (step, end)
            } else {
                (first.0, after(self, first.0))
            };
            if bracket.1 <= 0.0 {
                let slope = |located: &mut Self, tau: f64| {
                    located.substep(stretch, tau);
                    located.plane_rate(stretch, index, plane, tau)
                };
                let (from, to) = (slope(self, 0.0), slope(self, bracket.0));
                if from > 0.0 && to < 0.0 {
                    let top = root::bracketed(0.0, from, bracket.0, to, |tau| slope(self, tau));
                    bracket = (top, after(self, top));
                }
            }
            if bracket.1 > 0.0 {
                let tau = root::bracketed(0.0, start, bracket.0, bracket.1, |tau| after(self, tau));
                *first = (tau, Some(Happening::Element(index, watch.event)));
            }
        }
    }

    /// Rate of a plane in elongation and rate of a spring with a law, in the state `y_at`.
    fn plane_rate(
        &mut self,
        stretch: &Stretch<'_>,
        index: usize,
        plane: [f64; 4],
        tau: f64,
    ) -> f64 {
        let n = self.model.masses();
        let pushing = Pushing {
            model: self.model,
            contacts: &self.contacts,
            elements: &self.elements,
            flight: &self.flight,
            stretch,
        };
        let time = self.t + tau;
        pushing.rhs(time, &self.y_at, &mut self.slope, &mut self.forces);
        let element = &self.model.elements[index];
        let flowing = element
            .flowing
            .map_or(0.0, |place| self.slope[2 * n + place]);
        plane[0] * element.pair.difference(&self.y_at[n..2 * n])
            + plane[1] * element.pair.difference(&self.slope[n..2 * n])
            + plane[3] * flowing
    }

    fn plane_after_or_end(
        &mut self,
        stretch: &Stretch<'_>,
        contact: usize,
        plane: [f64; 3],
        tau: f64,
        step: f64,
    ) -> f64 {
        if tau == step {
            self.plane_at(contact, plane, &self.y_end)
        } else {
            self.plane_after(stretch, contact, plane, tau)
        }
    }

    /// When the reaction of a held contact turns to a pull.
    fn first_pull(
        &mut self,
        stretch: &Stretch<'_>,
        contact: usize,
        first: &mut (f64, Option<Happening>),
    ) {
        let pull_after = |located: &mut Self, tau: f64| {
            located.substep(stretch, tau);
            let pushing = Pushing {
                model: located.model,
                contacts: &located.contacts,
                elements: &located.elements,
                flight: &located.flight,
                stretch,
            };
            pushing.rhs(
                located.t + tau,
                &located.y_at,
                &mut located.slope,
                &mut located.forces,
            );
            -located.forces[contact]
        };
        let (start, end) = (pull_after(self, 0.0), pull_after(self, first.0));
        if end > 0.0 {
            let tau = if start < 0.0 {
                root::bracketed(0.0, start, first.0, end, |tau| pull_after(self, tau))
            } else {
                0.0
            };
            *first = (tau, Some(Happening::Contact(contact, Event::LetGo)));
        }
    }

    fn record_outputs(&mut self, stretch: &Stretch<'_>, advance: f64) {
        let n = self.model.masses();
        for index in self.times_due(advance, self.t + advance >= self.duration) {
            let time = self.run.times_s[index];
            let tau = (time - self.t).clamp(0.0, advance);
            self.substep(stretch, tau);
            let pushing = Pushing {
                model: self.model,
                contacts: &self.contacts,
                elements: &self.elements,
                flight: &self.flight,
                stretch,
            };
            pushing.rhs(time, &self.y_at, &mut self.slope, &mut self.forces);
            let ground = stretch.at(time);
            let layout = Layout::of(self.model);
            for ((force, element), state) in self
                .element_forces
                .iter_mut()
                .zip(&self.model.elements)
                .zip(&self.elements)
            {
                *force = super::elements::force(element, state, layout, &self.y_at);
            }
            let acceleration = &mut self.sample[2];
            acceleration
                .iter_mut()
                .zip(&self.slope[n..2 * n])
                .for_each(|(a, relative)| *a = relative + ground);
            self.run.record(
                self.model,
                &self.y_at[..n],
                &self.y_at[n..2 * n],
                acceleration,
                &self.forces,
                &self.element_forces,
            );
        }
    }

    /// Make the end of the step the state.
    fn take_over(&mut self, n: usize) {
        self.u.copy_from_slice(&self.y_end[..n]);
        self.v.copy_from_slice(&self.y_end[n..2 * n]);
        let layout = Layout::of(self.model);
        self.damped += self.y_end[layout.damped];
        self.base += self.y_end[layout.damped + 1];
        for (c, state) in self.contacts.iter_mut().enumerate() {
            state.work += self.y_end[layout.contact_work + c];
            if let Some(index) = state.impact {
                self.run.impacts[index].impulse_n_s += self.y_end[layout.impulse + c];
            }
        }
        let elements = self.model.elements.iter().zip(&mut self.elements);
        for (index, (element, state)) in elements.enumerate() {
            state.work += self.y_end[layout.element_work + index];
            if let Some(place) = element.flowing {
                let at = layout.flowing + place;
                let z = [self.y_end[at], self.y_end[at + 1]];
                state.past.set_flowing(z);
            }
        }
    }
}

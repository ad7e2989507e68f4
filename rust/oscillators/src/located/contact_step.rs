//! One step while a compliant contact pushes.

use super::{Event, Located, MOST_IDLE_EVENTS, Phase, Pushing};
use crate::OscillatorError;
use crate::located::dop853::step_factor;
use crate::located::root;
use crate::system::base_motion::Stretch;

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
        if let Some((contact, event)) = event {
            self.happen(contact, event, self.t + advance);
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
            let (u, v) = (size(0..n), size(n..2 * n));
            let scales = &mut self.slope[..2 * n];
            scales[..n].fill(TOLERANCE * u.max(v * h));
            scales[n..].fill(TOLERANCE * v);
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
    fn first_event(&mut self, stretch: &Stretch<'_>, step: f64) -> (f64, Option<(usize, Event)>) {
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
                    first = (tau, Some((contact, event)));
                }
            }
        }
        first
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
        first: &mut (f64, Option<(usize, Event)>),
    ) {
        let pull_after = |located: &mut Self, tau: f64| {
            located.substep(stretch, tau);
            let pushing = Pushing {
                model: located.model,
                contacts: &located.contacts,
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
            *first = (tau, Some((contact, Event::LetGo)));
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
                flight: &self.flight,
                stretch,
            };
            pushing.rhs(time, &self.y_at, &mut self.slope, &mut self.forces);
            let ground = stretch.at(time);
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
            );
        }
    }

    /// Make the end of the step the state.
    fn take_over(&mut self, n: usize) {
        self.u.copy_from_slice(&self.y_end[..n]);
        self.v.copy_from_slice(&self.y_end[n..2 * n]);
        self.damped += self.y_end[2 * n];
        self.base += self.y_end[2 * n + 1];
        let count = self.contacts.len();
        for (c, state) in self.contacts.iter_mut().enumerate() {
            state.work += self.y_end[2 * n + 2 + c];
            if let Some(index) = state.impact {
                self.run.impacts[index].impulse_n_s += self.y_end[2 * n + 2 + count + c];
            }
        }
    }
}

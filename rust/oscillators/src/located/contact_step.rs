//! One step while a compliant contact pushes.

use super::{Event, Located, MOST_IDLE_EVENTS, Phase, Pushing};
use crate::OscillatorError;
use crate::base_motion::Stretch;
use crate::dop853::step_factor;
use crate::root;
use crate::run::raise;

/// Error of a step in units of the largest displacement and velocity.
const TOLERANCE: f64 = 1e-13;
/// Points of a step at which peaks are looked for.
const PEAK_POINTS: usize = 5;

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
    fn substep(&mut self, stretch: &Stretch<'_>, tau: f64) {
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

    /// Raise peaks from a few points of the step, on the quintic through its ends; forces and accelerations that
    /// culminate within are followed to their top.
    fn raise_peaks(&mut self, stretch: &Stretch<'_>, advance: f64) {
        let (n, count) = (self.model.masses(), self.contacts.len());
        let pushing = Pushing {
            model: self.model,
            contacts: &self.contacts,
            flight: &self.flight,
            stretch,
        };
        let mut slopes = [vec![0.0; self.y.len()], vec![0.0; self.y.len()]];
        pushing.rhs(self.t, &self.y, &mut slopes[0], &mut self.forces);
        pushing.rhs(
            self.t + advance,
            &self.y_end,
            &mut slopes[1],
            &mut self.forces,
        );
        let mut sizes = vec![[0.0; PEAK_POINTS]; count + n];
        for point in 0..PEAK_POINTS {
            let s = point as f64 / (PEAK_POINTS - 1) as f64;
            for i in 0..n {
                let (u, v) = quintic(
                    s,
                    advance,
                    [self.y[i], self.y[n + i], slopes[0][n + i]],
                    [self.y_end[i], self.y_end[n + i], slopes[1][n + i]],
                );
                self.y_at[i] = u;
                self.y_at[n + i] = v;
            }
            raise(&mut self.run.peaks.displacement_m, &self.y_at[..n]);
            raise(&mut self.run.peaks.velocity_m_s, &self.y_at[n..2 * n]);
            for (c, element) in self.model.contacts.iter().enumerate() {
                let (d, _) = element.indentation(&self.y_at[..n], &self.y_at[n..2 * n]);
                let smallest = &mut self.run.peaks.smallest_gap_m[c];
                *smallest = smallest.min(-d);
                if let Some(index) = self.contacts[c].impact {
                    let impact = &mut self.run.impacts[index];
                    impact.deepest_m = impact.deepest_m.max(d);
                }
            }
            self.note_sizes(stretch, s * advance);
            for (row, &size) in sizes.iter_mut().zip(&self.sizes) {
                row[point] = size;
            }
        }
        for (quantity, row) in sizes.iter().enumerate() {
            let best =
                (0..PEAK_POINTS).fold(0, |best, i| if row[i] > row[best] { i } else { best });
            let mut peak = row[best];
            let known = match quantity.checked_sub(count) {
                None => self.run.peaks.force_n[quantity],
                Some(mass) => self.run.peaks.acceleration_m_s2[mass],
            };
            let within = best > 0 && best < PEAK_POINTS - 1;
            let pushed = quantity < count && self.contacts[quantity].impact.is_some();
            if within && (pushed || peak > 0.99 * known) {
                let part = advance / (PEAK_POINTS - 1) as f64;
                let place = part * best as f64;
                let top = root::largest_between(place - part, place + part, |tau| {
                    self.substep(stretch, tau);
                    self.note_sizes(stretch, tau);
                    self.sizes[quantity]
                });
                peak = peak.max(top);
            }
            match quantity.checked_sub(count) {
                None => {
                    self.run.peaks.force_n[quantity] = known.max(peak);
                    if let Some(index) = self.contacts[quantity].impact {
                        let impact = &mut self.run.impacts[index];
                        impact.peak_force_n = impact.peak_force_n.max(peak);
                    }
                }
                Some(mass) => self.run.peaks.acceleration_m_s2[mass] = known.max(peak),
            }
        }
    }

    /// Note the sizes of the contact forces and, after those, of the absolute accelerations, in the state `y_at`.
    fn note_sizes(&mut self, stretch: &Stretch<'_>, tau: f64) {
        let n = self.model.masses();
        let time = self.t + tau;
        let pushing = Pushing {
            model: self.model,
            contacts: &self.contacts,
            flight: &self.flight,
            stretch,
        };
        pushing.rhs(time, &self.y_at, &mut self.slope, &mut self.forces);
        let ground = stretch.at(time);
        let accelerations = self.slope[n..2 * n].iter().map(|a| (a + ground).abs());
        let forces = self.forces.iter().map(|force| force.abs());
        for (size, value) in self.sizes.iter_mut().zip(forces.chain(accelerations)) {
            *size = value;
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

/// Value and rate at `s` in `[0, 1]` of the quintic with given value, rate and acceleration at both ends of a step.
fn quintic(s: f64, h: f64, start: [f64; 3], end: [f64; 3]) -> (f64, f64) {
    let (u0, v0, a0) = (start[0], start[1] * h, 0.5 * start[2] * h * h);
    let (u1, v1, a1) = (end[0], end[1] * h, end[2] * h * h);
    let (x, y, z) = (u1 - u0 - v0 - a0, v1 - v0 - 2.0 * a0, a1 - 2.0 * a0);
    let c3 = 10.0 * x - 4.0 * y + 0.5 * z;
    let c4 = -15.0 * x + 7.0 * y - z;
    let c5 = 6.0 * x - 3.0 * y + 0.5 * z;
    let (value, slope) = crate::polynomial::value_and_slope(&[u0, v0, a0, c3, c4, c5], s);
    (value, slope / h)
}

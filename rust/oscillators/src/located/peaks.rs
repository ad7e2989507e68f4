//! Peaks over one step of the contact method.
//!
//! Within a step nothing jumps, so each quantity is a smooth function of time, known at both ends. Where it may culminate
//! between them is told by the quartic through five points of the step; there the motion itself is followed to the top.

use super::{Located, Pushing};
use crate::system::base_motion::Stretch;
use crate::{located::polynomial, located::root};

/// Points of a step through which the quartics go.
const POINTS: usize = 5;
/// Distance from the quartic's top, in parts of the step, within which that of the motion is looked for. The quartics
/// are good to 1e-3 of the step, also where the law has a root of the indentation in it.
const NEAR: f64 = 0.05;
/// Share of a peak by which a quartic may understate it.
const DOUBT: f64 = 1e-4;

/// A quantity whose peak is kept.
#[derive(Debug, Clone, Copy)]
enum Quantity {
    Displacement(usize),
    Velocity(usize),
    Acceleration(usize),
    Indentation(usize),
    Force(usize),
    Drift(usize),
}

impl Located<'_> {
    /// Raise the peaks of the run, and of impacts under way, to those within the step up to `advance`.
    pub(super) fn raise_peaks(&mut self, stretch: &Stretch<'_>, advance: f64) {
        let masses = 0..self.model.masses();
        let contacts = 0..self.contacts.len();
        let quantities: Vec<Quantity> = masses
            .clone()
            .map(Quantity::Displacement)
            .chain(masses.clone().map(Quantity::Velocity))
            .chain(masses.map(Quantity::Acceleration))
            .chain(contacts.clone().map(Quantity::Indentation))
            .chain(contacts.map(Quantity::Force))
            .chain((0..self.elements.len()).map(Quantity::Drift))
            .collect();
        let values = self.sampled(stretch, advance, &quantities);
        for (&quantity, values) in quantities.iter().zip(values) {
            self.raise(quantity, values[0]);
            self.raise(quantity, values[POINTS - 1]);
            for sign in quantity.signs() {
                let quartic = quartic(values.map(|value| sign * value));
                let peak = self.peak(quantity);
                let enough = peak - DOUBT * peak.abs();
                let Some((place, _)) = polynomial::place_of_largest(&quartic, enough) else {
                    continue;
                };
                // nothing culminates where the quartic is largest at an end: the ends are known
                if place == 0.0 || place == 1.0 {
                    continue;
                }
                let (low, high) = ((place - NEAR).max(0.0), (place + NEAR).min(1.0));
                let top = root::largest_between(low * advance, high * advance, |tau| {
                    self.substep(stretch, tau);
                    sign * self.value(quantity, stretch, tau)
                });
                self.raise(quantity, sign * top);
            }
        }
    }

    /// The quantities at equal distances over the step, on the quintics through the states at its ends.
    fn sampled(
        &mut self,
        stretch: &Stretch<'_>,
        advance: f64,
        quantities: &[Quantity],
    ) -> Vec<[f64; POINTS]> {
        let n = self.model.masses();
        let mut slopes = [vec![0.0; self.y.len()], vec![0.0; self.y.len()]];
        let pushing = Pushing {
            model: self.model,
            contacts: &self.contacts,
            elements: &self.elements,
            flight: &self.flight,
            stretch,
        };
        pushing.rhs(self.t, &self.y, &mut slopes[0], &mut self.forces);
        let end = self.t + advance;
        pushing.rhs(end, &self.y_end, &mut slopes[1], &mut self.forces);
        let mut values = vec![[0.0; POINTS]; quantities.len()];
        for point in 0..POINTS {
            let s = point as f64 / (POINTS - 1) as f64;
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
            // flowing variables of springs with a law: the cubic through their values and rates
            for at in 2 * n..2 * n + self.model.flowing {
                let (z0, z1) = (self.y[at], self.y_end[at]);
                let (r0, r1) = (slopes[0][at] * advance, slopes[1][at] * advance);
                let (x, y) = (z1 - z0 - r0, r1 - r0);
                self.y_at[at] = z0 + s * (r0 + s * (3.0 * x - y + s * (y - 2.0 * x)));
            }
            self.push(stretch, s * advance);
            for (row, &quantity) in values.iter_mut().zip(quantities) {
                row[point] = self.read(quantity, stretch, s * advance);
            }
        }
        values
    }

    /// Forces and accelerations of the state `y_at`.
    fn push(&mut self, stretch: &Stretch<'_>, tau: f64) {
        let pushing = Pushing {
            model: self.model,
            contacts: &self.contacts,
            elements: &self.elements,
            flight: &self.flight,
            stretch,
        };
        let time = self.t + tau;
        pushing.rhs(time, &self.y_at, &mut self.slope, &mut self.forces);
    }

    /// A quantity of the state `y_at`.
    fn value(&mut self, quantity: Quantity, stretch: &Stretch<'_>, tau: f64) -> f64 {
        self.push(stretch, tau);
        self.read(quantity, stretch, tau)
    }

    /// A quantity of the state `y_at`, whose forces and accelerations are known.
    fn read(&self, quantity: Quantity, stretch: &Stretch<'_>, tau: f64) -> f64 {
        let n = self.model.masses();
        match quantity {
            Quantity::Displacement(i) => self.y_at[i],
            Quantity::Velocity(i) => self.y_at[n + i],
            Quantity::Acceleration(i) => self.slope[n + i] + stretch.at(self.t + tau),
            Quantity::Indentation(c) => {
                let element = &self.model.contacts[c];
                element.indentation(&self.y_at[..n], &self.y_at[n..2 * n]).0
            }
            Quantity::Force(c) => self.forces[c],
            Quantity::Drift(e) => self.model.elements[e].pair.difference(&self.y_at[..n]),
        }
    }

    /// What a quantity must exceed to matter: its peak so far, of the impact under way where there is one.
    fn peak(&self, quantity: Quantity) -> f64 {
        let impact = |c: usize| self.contacts[c].impact.map(|i| &self.run.impacts[i]);
        let peaks = &self.run.peaks;
        match quantity {
            Quantity::Displacement(i) => peaks.displacement_m[i],
            Quantity::Velocity(i) => peaks.velocity_m_s[i],
            Quantity::Acceleration(i) => peaks.acceleration_m_s2[i],
            Quantity::Indentation(c) => {
                impact(c).map_or(-peaks.smallest_gap_m[c], |impact| impact.deepest_m)
            }
            Quantity::Drift(e) => peaks.drift_m[e],
            Quantity::Force(c) => impact(c).map_or(peaks.force_n[c], |impact| impact.peak_force_n),
        }
    }

    /// Raise the peak of a quantity to a value of it.
    fn raise(&mut self, quantity: Quantity, value: f64) {
        let raise = |peak: &mut f64, size: f64| *peak = peak.max(size);
        let peaks = &mut self.run.peaks;
        match quantity {
            Quantity::Displacement(i) => raise(&mut peaks.displacement_m[i], value.abs()),
            Quantity::Velocity(i) => raise(&mut peaks.velocity_m_s[i], value.abs()),
            Quantity::Acceleration(i) => raise(&mut peaks.acceleration_m_s2[i], value.abs()),
            Quantity::Drift(e) => raise(&mut peaks.drift_m[e], value.abs()),
            Quantity::Indentation(c) => {
                let smallest = &mut peaks.smallest_gap_m[c];
                *smallest = smallest.min(-value);
                if let Some(index) = self.contacts[c].impact {
                    raise(&mut self.run.impacts[index].deepest_m, value);
                }
            }
            Quantity::Force(c) => {
                raise(&mut peaks.force_n[c], value.abs());
                if let Some(index) = self.contacts[c].impact {
                    raise(&mut self.run.impacts[index].peak_force_n, value.abs());
                }
            }
        }
    }
}

impl Quantity {
    /// Signs whose values count: both, but for the indentation, of which the deepest is asked.
    fn signs(self) -> &'static [f64] {
        match self {
            Self::Indentation(_) => &[1.0],
            _ => &[1.0, -1.0],
        }
    }
}

/// Coefficients over the unit interval of the quartic through five values at equal distances.
fn quartic(y: [f64; POINTS]) -> [f64; POINTS] {
    let [a, b, c, d, e] = y;
    [
        a,
        (-25.0 * a + 48.0 * b - 36.0 * c + 16.0 * d - 3.0 * e) / 3.0,
        (70.0 * a - 208.0 * b + 228.0 * c - 112.0 * d + 22.0 * e) / 3.0,
        (-80.0 * a + 288.0 * b - 384.0 * c + 224.0 * d - 48.0 * e) / 3.0,
        (32.0 * a - 128.0 * b + 192.0 * c - 128.0 * d + 32.0 * e) / 3.0,
    ]
}

/// Value and rate at `s` in `[0, 1]` of the quintic with given value, rate and acceleration at both ends of a step.
fn quintic(s: f64, h: f64, start: [f64; 3], end: [f64; 3]) -> (f64, f64) {
    let (u0, v0, a0) = (start[0], start[1] * h, 0.5 * start[2] * h * h);
    let (u1, v1, a1) = (end[0], end[1] * h, end[2] * h * h);
    let (x, y, z) = (u1 - u0 - v0 - a0, v1 - v0 - 2.0 * a0, a1 - 2.0 * a0);
    let c3 = 10.0 * x - 4.0 * y + 0.5 * z;
    let c4 = -15.0 * x + 7.0 * y - z;
    let c5 = 6.0 * x - 3.0 * y + 0.5 * z;
    let (value, slope) = polynomial::value_and_slope(&[u0, v0, a0, c3, c4, c5], s);
    (value, slope / h)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartic_goes_through_its_points() {
        let values = [0.3, -1.0, 2.5, 0.7, -0.2];
        let c = quartic(values);
        for (point, value) in values.into_iter().enumerate() {
            let s = point as f64 / (POINTS - 1) as f64;
            assert!((polynomial::value(&c, s) - value).abs() < 1e-13);
        }
    }
}

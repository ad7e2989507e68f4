//! Viscous damper whose force is a power of the rate.
//!
//! `F = c v0 |e'/v0|^a sign(e')`, `v0 = 1 m/s`, so that `c` has the unit of a linear damper (N s/m) and is the factor of
//! the literature's `F = c |v|^a` in SI units (Constantinou and Symans 1993). It is a damper of a system, not a spring
//! of the table.

use super::form::{Form, Hysteresis, Response, Restoring, Watch};
use super::past::{FLOWING, Past};
use crate::LawError;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Power {
    pub coefficient: f64,
    pub exponent: f64,
}

impl Hysteresis {
    /// A damper of a power of the rate.
    pub fn power_damper(coefficient: f64, exponent: f64) -> Result<Self, LawError> {
        if !(exponent > 0.0 && exponent.is_finite()) {
            return Err(LawError::SpringNumber {
                law: "power damper",
                number: "exponent",
                value: exponent,
                allowed: "above 0".to_owned(),
            });
        }
        Ok(Self {
            linear: 0.0,
            initial: 0.0,
            yield_elongation: f64::INFINITY,
            yield_force: f64::INFINITY,
            form: Form::Power(Power {
                coefficient,
                exponent,
            }),
        })
    }
}

/// Rate below which the slope of the force is that of a line to the origin, m/s.
const SLOWEST: f64 = 1e-12;

impl Restoring for Power {
    fn respond(&self, _: &Past, _: f64, rate: f64) -> Response {
        let force = self.coefficient * rate.signum() * rate.abs().powf(self.exponent);
        let speed = rate.abs().max(SLOWEST);
        Response {
            force,
            by_elongation: 0.0,
            by_rate: self.coefficient * self.exponent * speed.powf(self.exponent - 1.0),
        }
    }

    fn advance(&self, _: &mut Past, _: f64, _: f64) {}

    fn stored(&self, _: &Past, _: f64) -> f64 {
        0.0
    }

    fn enter(&self, past: &mut Past, _: f64, rate: f64) {
        past.branch = if rate == 0.0 { 0 } else { rate.signum() as i8 };
    }

    /// A power has no smooth continuation through zero; the kink is located so that steps begin there.
    fn continued_force(&self, past: &Past, _: [f64; FLOWING], e: f64, rate: f64) -> f64 {
        self.respond(past, e, rate).force
    }

    fn watches(&self, past: &Past) -> [Option<Watch>; 3] {
        turns(past.branch)
    }

    fn happen(&self, past: &mut Past, event: i8, _: f64) {
        past.branch = event;
    }
}

/// A branch that lasts as long as the rate keeps its sign; branch 0 is that of a spring which has not moved yet.
pub(super) fn turns(branch: i8) -> [Option<Watch>; 3] {
    let to = |sign: i8| {
        (branch != sign).then_some(Watch {
            event: sign,
            plane: [0.0, f64::from(sign), 0.0, 0.0],
        })
    };
    [to(1), to(-1), None]
}

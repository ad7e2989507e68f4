//! Steel by Giuffre, Menegotto and Pinto: curves between the reversal point and the hardening line.
//!
//! In units of yield elongation and force, from the reversal `(x_r, f_r)` towards the meeting `(x_0, f_0)` of the elastic
//! line through it with the hardening line: `f = f_r + (f_0 - f_r) f*`, `x* = (x - x_r) / (x_0 - x_r)`,
//! `f* = b x* + (1 - b) x* / (1 + |x*|^R)^(1/R)`, `R = R_0 - a_1 xi / (a_2 + xi)`, `xi` the distance from `x_0` to the
//! farthest reversal on that side (Menegotto and Pinto 1973; Filippou, Popov and Bertero 1983 without isotropic
//! hardening). Force is a function of the elongation between reversals, which are the only kinks. What unloading gives
//! back is taken as `F^2 / 2k`.

use super::form::{Form, Hysteresis, Response, Restoring, Watch};
use super::past::{FLOWING, Past};
use super::table::{HARDENING, HystereticLaw, NumberFacts, SpringFacts, YIELD_FORCE};

/// The law.
pub enum MenegottoPinto {}

impl HystereticLaw for MenegottoPinto {
    const FACTS: SpringFacts = SpringFacts {
        name: "menegotto-pinto",
        summary: "f* = b x* + (1 - b) x* / (1 + |x*|^R)^(1/R) from one reversal to the next: steel",
        citation: "Menegotto and Pinto (1973), IABSE Symposium, Lisbon; Filippou, Popov and Bertero (1983), EERC 83-19",
        numbers: &[
            YIELD_FORCE,
            HARDENING,
            NumberFacts {
                name: "roundness",
                default: Some(20.0),
                low: 1.0,
                high: f64::INFINITY,
                doc: "R_0: how sharply the virgin spring yields",
                ..HARDENING
            },
            NumberFacts {
                name: "roundness_loss",
                default: Some(18.5),
                high: f64::INFINITY,
                doc: "a_1: how much R falls with plastic excursions; below roundness",
                ..HARDENING
            },
            NumberFacts {
                name: "roundness_scale",
                default: Some(0.15),
                low_open: true,
                high: f64::INFINITY,
                doc: "a_2: excursion, in yield elongations, at which R has fallen by half of it",
                ..HARDENING
            },
        ],
    };

    fn bind(stiffness: f64, numbers: &[f64]) -> Hysteresis {
        let yield_force = numbers[0];
        let yield_elongation = yield_force / stiffness;
        Hysteresis {
            linear: 0.0,
            initial: stiffness,
            yield_elongation,
            yield_force,
            form: Form::MenegottoPinto(MenegottoPintoForm {
                yield_force,
                per_yield: 1.0 / yield_elongation,
                hardening: numbers[1],
                roundness: [numbers[2], numbers[3], numbers[4]],
            }),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct MenegottoPintoForm {
    yield_force: f64,
    per_yield: f64,
    hardening: f64,
    roundness: [f64; 3],
}

/// Numbers of the past: reversal, aim, farthest reversals on either side, place.
const REVERSAL: usize = 0;
const AIM: usize = 2;
const LARGEST: usize = 4;
const SMALLEST: usize = 5;
const PLACE: usize = 6;
/// Smallest exponent of the curve, below which it is no curve between two lines.
const LEAST_ROUNDNESS: f64 = 1.0;

impl MenegottoPintoForm {
    /// Force and slope at `x`, in units of yield force and elongation, on the branch of the past.
    fn curve(&self, past: &Past, x: f64) -> (f64, f64) {
        if past.branch == 0 {
            return (x, 1.0);
        }
        let [xr, fr] = [past.numbers[REVERSAL], past.numbers[REVERSAL + 1]];
        let [x0, f0] = [past.numbers[AIM], past.numbers[AIM + 1]];
        let farthest = past.numbers[if past.branch > 0 { LARGEST } else { SMALLEST }];
        let excursion = (farthest - x0).abs();
        let [r0, a1, a2] = self.roundness;
        let r = (r0 - a1 * excursion / (a2 + excursion)).max(LEAST_ROUNDNESS);
        let star = (x - xr) / (x0 - xr);
        let power = star.abs().powf(r);
        let root = (1.0 + power).powf(1.0 / r);
        let b = self.hardening;
        let force = star * (b + (1.0 - b) / root);
        let slope = b + (1.0 - b) / (root * (1.0 + power));
        (fr + (f0 - fr) * force, slope * (f0 - fr) / (x0 - xr))
    }

    /// Turn to another direction at the place of the past.
    fn turn(&self, past: &mut Past, way: i8, x: f64) {
        let sign = f64::from(way);
        let (force, _) = self.curve(past, x);
        if past.branch == 0 {
            // the virgin curve leads from the origin to the yield point
            past.numbers = [0.0, 0.0, sign, sign, 1.0, -1.0, x];
        } else {
            let b = self.hardening;
            let far = if way > 0 { SMALLEST } else { LARGEST };
            past.numbers[far] = if way > 0 {
                past.numbers[far].min(x)
            } else {
                past.numbers[far].max(x)
            };
            let aim = (sign * (1.0 - b) - force + x) / (1.0 - b);
            past.numbers[REVERSAL] = x;
            past.numbers[REVERSAL + 1] = force;
            past.numbers[AIM] = aim;
            past.numbers[AIM + 1] = sign + b * (aim - sign);
            past.numbers[PLACE] = x;
        }
        past.branch = way;
    }

    /// The past once the elongation has gone straight to `x`.
    fn towards(&self, past: &Past, x: f64) -> Past {
        let mut next = *past;
        let step = x - past.numbers[PLACE];
        let way = step.signum() as i8;
        if step != 0.0 && way != past.branch {
            self.turn(&mut next, way, past.numbers[PLACE]);
        }
        next
    }
}

impl Restoring for MenegottoPintoForm {
    fn respond(&self, past: &Past, e: f64, _: f64) -> Response {
        let x = e * self.per_yield;
        let (force, slope) = self.curve(&self.towards(past, x), x);
        Response {
            force: self.yield_force * force,
            by_elongation: self.yield_force * self.per_yield * slope,
            by_rate: 0.0,
        }
    }

    fn advance(&self, past: &mut Past, e: f64, _: f64) {
        let x = e * self.per_yield;
        *past = self.towards(past, x);
        past.numbers[PLACE] = x;
    }

    fn stored(&self, past: &Past, e: f64) -> f64 {
        let (force, _) = self.curve(past, e * self.per_yield);
        0.5 * self.yield_force / self.per_yield * force * force
    }

    fn enter(&self, past: &mut Past, e: f64, rate: f64) {
        let way = if rate == 0.0 { 0 } else { rate.signum() as i8 };
        if way != 0 && way != past.branch {
            self.turn(past, way, e * self.per_yield);
        }
    }

    fn continued_force(&self, past: &Past, _: [f64; FLOWING], e: f64, _: f64) -> f64 {
        self.yield_force * self.curve(past, e * self.per_yield).0
    }

    fn watches(&self, past: &Past) -> [Option<Watch>; 3] {
        super::power_damper::turns(past.branch)
    }

    fn happen(&self, past: &mut Past, event: i8, e: f64) {
        self.turn(past, event, e * self.per_yield);
    }
}

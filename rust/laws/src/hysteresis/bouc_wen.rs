//! Bouc-Wen spring, with loss of strength and stiffness by the energy it has absorbed.
//!
//! `F = a k e + (1 - a) F_y z`, `x = e / e_y`, `e_y = F_y / k`, and along the path
//! `dz/dx = (1 - nu |z|^n (gamma + beta sign(dx z))) / eta`, `nu = 1 + d_nu w`, `eta = 1 + d_eta w`,
//! `dw/dx = (1 - a) z` (Bouc 1967; Wen 1976; Baber and Wen 1981, energy in units of `F_y e_y`). With `beta + gamma = 1` the
//! force of the undegraded spring tends to the yield force on the hardening line. Kinks are where the rate or `z` turns
//! its sign. What unloading gives back is taken as `(1 - a) k z^2 e_y^2 / 2`.

use super::form::{Form, Hysteresis, Response, Restoring, Watch};
use super::past::{FLOWING, Past};
use super::table::{HARDENING, HystereticLaw, NumberFacts, SpringFacts, YIELD_FORCE};

/// The law.
pub enum BoucWen {}

const ZERO_OR_MORE: NumberFacts = NumberFacts {
    high: f64::INFINITY,
    ..HARDENING
};

impl HystereticLaw for BoucWen {
    const FACTS: SpringFacts = SpringFacts {
        name: "bouc-wen",
        summary: "F = a k e + (1 - a) F_y z, e_y z' = (e' - nu |z|^n (gamma e' + beta |e'| sign z)) / eta",
        citation: "Bouc (1967); Wen (1976), J. Eng. Mech. Div. 102, 249-263; Baber and Wen (1981), 107, 1069-1087",
        numbers: &[
            YIELD_FORCE,
            HARDENING,
            NumberFacts {
                name: "exponent",
                default: Some(1.0),
                low: 1.0,
                high: f64::INFINITY,
                doc: "n: how sharply the spring yields",
                ..HARDENING
            },
            NumberFacts {
                name: "beta",
                default: Some(0.5),
                doc: "shape of the loop: unloading is curved by beta - gamma",
                ..ZERO_OR_MORE
            },
            NumberFacts {
                name: "gamma",
                default: Some(0.5),
                low: f64::NEG_INFINITY,
                low_open: true,
                doc: "shape of the loop; beta + gamma = 1 keeps the yield force",
                ..ZERO_OR_MORE
            },
            NumberFacts {
                name: "strength_loss",
                doc: "growth of nu per absorbed energy of yield force times yield elongation",
                ..ZERO_OR_MORE
            },
            NumberFacts {
                name: "stiffness_loss",
                doc: "growth of eta per absorbed energy of yield force times yield elongation",
                ..ZERO_OR_MORE
            },
        ],
    };

    fn bind(stiffness: f64, numbers: &[f64]) -> Hysteresis {
        let [
            yield_force,
            hardening,
            exponent,
            beta,
            gamma,
            strength_loss,
            stiffness_loss,
        ] = numbers
        else {
            unreachable!("counted by the table")
        };
        let yield_elongation = yield_force / stiffness;
        Hysteresis {
            linear: hardening * stiffness,
            initial: stiffness,
            yield_elongation,
            yield_force: *yield_force,
            form: Form::BoucWen(BoucWenForm {
                strength: (1.0 - hardening) * yield_force,
                per_yield: 1.0 / yield_elongation,
                share: 1.0 - hardening,
                exponent: *exponent,
                beta: *beta,
                gamma: *gamma,
                strength_loss: *strength_loss,
                stiffness_loss: *stiffness_loss,
            }),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct BoucWenForm {
    strength: f64,
    per_yield: f64,
    share: f64,
    exponent: f64,
    beta: f64,
    gamma: f64,
    strength_loss: f64,
    stiffness_loss: f64,
}

/// Elongation of the past, after `z` and `w`.
const ELONGATION: usize = 2;
/// Longest substep of a fixed step, in yield elongations.
const SUBSTEP: f64 = 0.1;
/// Most substeps: a step of that many yield elongations is wrong whatever is done.
const MOST_SUBSTEPS: f64 = 4096.0;

impl BoucWenForm {
    /// `dz/dx` and `dw/dx` while the rate has the sign `way` and `z` the sign `side`.
    fn slope(&self, [z, w]: [f64; FLOWING], way: f64, side: f64) -> [f64; FLOWING] {
        let size = (side * z).max(0.0);
        let power = if self.exponent == 1.0 {
            side * z
        } else if self.exponent == 2.0 {
            z * z
        } else {
            size.powf(self.exponent)
        };
        let turn = self.gamma + self.beta * way * side;
        let slope =
            (1.0 - (1.0 + self.strength_loss * w) * power * turn) / (1.0 + self.stiffness_loss * w);
        [slope, self.share * z]
    }

    /// The flowing variables at the end of a straight path: fourth-order Runge-Kutta in the elongation.
    fn follow(&self, past: &Past, e: f64) -> [f64; FLOWING] {
        let x = (e - past.numbers[ELONGATION]) * self.per_yield;
        let mut z = past.flowing();
        if x == 0.0 {
            return z;
        }
        let substeps = (x.abs() / SUBSTEP).ceil().min(MOST_SUBSTEPS);
        let h = x / substeps;
        let way = x.signum();
        for _ in 0..substeps as u32 {
            let slope = |z: [f64; FLOWING]| self.slope(z, way, z[0].signum());
            let ahead = |k: [f64; FLOWING], h: f64| [z[0] + h * k[0], z[1] + h * k[1]];
            let k1 = slope(z);
            let k2 = slope(ahead(k1, 0.5 * h));
            let k3 = slope(ahead(k2, 0.5 * h));
            let k4 = slope(ahead(k3, h));
            let sum = |i: usize| (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i]) / 6.0;
            z = ahead([sum(0), sum(1)], h);
        }
        z
    }
}

impl Restoring for BoucWenForm {
    fn respond(&self, past: &Past, e: f64, _: f64) -> Response {
        let z = self.follow(past, e);
        let way = (e - past.numbers[ELONGATION]).signum();
        let [slope, _] = self.slope(z, way, z[0].signum());
        Response {
            force: self.strength * z[0],
            by_elongation: self.strength * self.per_yield * slope,
            by_rate: 0.0,
        }
    }

    fn advance(&self, past: &mut Past, e: f64, rate: f64) {
        self.take(past, e, rate);
    }

    fn take(&self, past: &mut Past, e: f64, _: f64) -> f64 {
        let z = self.follow(past, e);
        past.set_flowing(z);
        past.numbers[ELONGATION] = e;
        self.strength * z[0]
    }

    fn stored(&self, past: &Past, _: f64) -> f64 {
        0.5 * self.strength / self.per_yield * past.numbers[0].powi(2)
    }

    fn enter(&self, past: &mut Past, _: f64, rate: f64) {
        past.branch = if rate == 0.0 { 0 } else { rate.signum() as i8 };
        past.side = side_of(past.numbers[0], past.branch);
    }

    fn continued_force(&self, _: &Past, z: [f64; FLOWING], _: f64, _: f64) -> f64 {
        self.strength * z[0]
    }

    fn flow(&self, past: &Past, z: [f64; FLOWING], rate: f64) -> [f64; FLOWING] {
        let way = f64::from(past.branch);
        let slope = self.slope(z, way, f64::from(past.side));
        slope.map(|slope| slope * rate * self.per_yield)
    }

    /// The rate turns, or the flowing variable does.
    fn watches(&self, past: &Past) -> [Option<Watch>; 3] {
        let [forth, back, _] = super::power_damper::turns(past.branch);
        let side = Watch {
            event: CROSSING,
            plane: [0.0, 0.0, 0.0, -f64::from(past.side)],
        };
        [forth, back, Some(side)]
    }

    fn happen(&self, past: &mut Past, event: i8, _: f64) {
        if event == CROSSING {
            past.side = -past.side;
        } else {
            if past.branch == 0 {
                past.side = side_of(past.numbers[0], event);
            }
            past.branch = event;
        }
    }
}

/// The event of `z` turning its sign; the others are the sign of the rate.
const CROSSING: i8 = 2;

/// Sign of `z`; that of the rate where `z` is zero, as it will be next.
fn side_of(z: f64, branch: i8) -> i8 {
    if z == 0.0 { branch } else { z.signum() as i8 }
}

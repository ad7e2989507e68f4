//! Bilinear spring with kinematic hardening.
//!
//! Stiffness `k` up to the yield force, `a k` beyond; the elastic range of width `2 F_y / k` moves along with the plastic
//! elongation (Prager 1956). As a sum: `a k e` and a slider of stiffness `(1 - a) k` that slips at `(1 - a) F_y`.

use super::form::{Form, Hysteresis};
use super::slider::Slider;
use super::table::{HARDENING, HystereticLaw, SpringFacts, YIELD_FORCE};

/// The law.
pub enum Bilinear {}

impl HystereticLaw for Bilinear {
    const FACTS: SpringFacts = SpringFacts {
        name: "bilinear",
        summary: "F = a k e + (1 - a) k s, |s| <= F_y / k: kinematic hardening",
        citation: "Prager (1956), J. Appl. Mech. 23, 493-496",
        numbers: &[YIELD_FORCE, HARDENING],
    };

    fn bind(stiffness: f64, numbers: &[f64]) -> Hysteresis {
        let (yield_force, hardening) = (numbers[0], numbers[1]);
        let reach = yield_force / stiffness;
        Hysteresis {
            linear: hardening * stiffness,
            initial: stiffness,
            yield_elongation: reach,
            yield_force,
            form: Form::Slider(Slider {
                stiffness: (1.0 - hardening) * stiffness,
                reach,
            }),
        }
    }
}

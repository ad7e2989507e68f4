//! Linear spring whose drift and force are looked at like those of springs that yield.

use super::form::{Form, Hysteresis};
use super::table::{HystereticLaw, SpringFacts};

/// The law.
pub enum LinearSpring {}

impl HystereticLaw for LinearSpring {
    const FACTS: SpringFacts = SpringFacts {
        name: "linear",
        summary: "F = k e: never yields; gives the drift and force of a spring",
        citation: "Hooke (1678)",
        numbers: &[],
    };

    fn bind(stiffness: f64, _: &[f64]) -> Hysteresis {
        Hysteresis {
            linear: stiffness,
            initial: stiffness,
            yield_elongation: f64::INFINITY,
            yield_force: f64::INFINITY,
            form: Form::Nothing,
        }
    }
}

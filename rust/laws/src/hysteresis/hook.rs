//! Spring that acts in tension only, once a slack is used up. It remembers nothing.

use super::form::{Form, Hysteresis};
use super::one_sided::OneSided;
use super::table::{HystereticLaw, SLACK, SpringFacts};

/// The law.
pub enum Hook {}

impl HystereticLaw for Hook {
    const FACTS: SpringFacts = SpringFacts {
        name: "hook",
        summary: "F = k (e - g) for e > g, else 0: acts once the ends have parted by g",
        citation: "piecewise linear; as in Wilson (2002), Three-Dimensional Static and Dynamic Analysis of Structures",
        numbers: &[SLACK],
    };

    fn bind(stiffness: f64, numbers: &[f64]) -> Hysteresis {
        Hysteresis {
            linear: 0.0,
            initial: stiffness,
            yield_elongation: f64::INFINITY,
            yield_force: f64::INFINITY,
            form: Form::OneSided(OneSided {
                stiffness,
                slack: numbers[0],
                side: 1.0,
            }),
        }
    }
}

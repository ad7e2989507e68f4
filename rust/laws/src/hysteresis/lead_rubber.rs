//! Lead-rubber isolator in bilinear form.
//!
//! The rubber of stiffness `k_r` in parallel with a lead core that yields at the characteristic strength `Q`; the stiffness
//! of the spring is that of both before the core yields (Robinson 1982; Naeim and Kelly 1999).

use super::form::{Form, Hysteresis};
use super::slider::Slider;
use super::table::{HystereticLaw, NumberFacts, SpringFacts};

/// The law.
pub enum LeadRubber {}

impl HystereticLaw for LeadRubber {
    const FACTS: SpringFacts = SpringFacts {
        name: "lead-rubber",
        summary: "F = k_r e + (k - k_r) s, |(k - k_r) s| <= Q: lead-rubber isolator",
        citation: "Robinson (1982), Earthq. Eng. Struct. Dyn. 10, 593-604",
        numbers: &[
            NumberFacts {
                name: "strength",
                unit: "N",
                default: None,
                low: 0.0,
                low_open: true,
                high: f64::INFINITY,
                high_open: true,
                doc: "characteristic strength: force of the yielding lead core",
            },
            NumberFacts {
                name: "rubber_share",
                unit: "1",
                default: Some(0.1),
                low: 0.0,
                low_open: false,
                high: 1.0,
                high_open: true,
                doc: "stiffness of the rubber over that before the core yields",
            },
        ],
    };

    fn bind(stiffness: f64, numbers: &[f64]) -> Hysteresis {
        let (strength, linear) = (numbers[0], numbers[1] * stiffness);
        let core = stiffness - linear;
        let reach = strength / core;
        Hysteresis {
            linear,
            initial: stiffness,
            yield_elongation: reach,
            yield_force: stiffness * reach,
            form: Form::Slider(Slider {
                stiffness: core,
                reach,
            }),
        }
    }
}

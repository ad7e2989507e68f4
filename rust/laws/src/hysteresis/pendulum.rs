//! Friction pendulum: a slider on a concave surface.
//!
//! The weight `W` on a surface of radius `R` restores by `W e / R`, friction acts as in the flat isolator (Zayas, Low and
//! Mahin 1990). The stiffness of the spring is that of the sticking friction alone.

use super::form::{Form, Hysteresis};
use super::slider::Slider;
use super::table::{FRICTION, HystereticLaw, NumberFacts, SpringFacts, WEIGHT};

/// The law.
pub enum Pendulum {}

impl HystereticLaw for Pendulum {
    const FACTS: SpringFacts = SpringFacts {
        name: "pendulum",
        summary: "F = W e / R + k s, |k s| <= mu W: sliding isolator on a concave surface",
        citation: "Zayas, Low and Mahin (1990), Earthquake Spectra 6, 317-333",
        numbers: &[
            FRICTION,
            WEIGHT,
            NumberFacts {
                name: "radius",
                unit: "m",
                default: None,
                low: 0.0,
                low_open: true,
                high: f64::INFINITY,
                high_open: true,
                doc: "effective radius of the sliding surface",
            },
        ],
    };

    fn bind(stiffness: f64, numbers: &[f64]) -> Hysteresis {
        let (slip, linear) = (numbers[0] * numbers[1], numbers[1] / numbers[2]);
        let reach = slip / stiffness;
        Hysteresis {
            linear,
            initial: stiffness + linear,
            yield_elongation: reach,
            yield_force: slip + linear * reach,
            form: Form::Slider(Slider { stiffness, reach }),
        }
    }
}

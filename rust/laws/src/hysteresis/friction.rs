//! Flat sliding isolator: Coulomb friction behind a stiff elastic spring.
//!
//! It sticks with the stiffness of the spring up to the friction force `mu W` and slides at that force (Constantinou,
//! Mokha and Reinhorn 1990, with a constant coefficient of friction).

use super::form::{Form, Hysteresis};
use super::slider::Slider;
use super::table::{FRICTION, HystereticLaw, SpringFacts, WEIGHT};

/// The law.
pub enum Friction {}

impl HystereticLaw for Friction {
    const FACTS: SpringFacts = SpringFacts {
        name: "friction",
        summary: "F = k s, |k s| <= mu W: flat sliding isolator",
        citation: "Constantinou, Mokha and Reinhorn (1990), J. Struct. Eng. 116, 455-474",
        numbers: &[FRICTION, WEIGHT],
    };

    fn bind(stiffness: f64, numbers: &[f64]) -> Hysteresis {
        let yield_force = numbers[0] * numbers[1];
        let reach = yield_force / stiffness;
        Hysteresis {
            linear: 0.0,
            initial: stiffness,
            yield_elongation: reach,
            yield_force,
            form: Form::Slider(Slider { stiffness, reach }),
        }
    }
}

//! The numbers of a system that may be unknown, read and changed one by one.

use crate::{Model, OscillatorError};

/// A number of the system that may be unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parameter {
    /// Mass of one index, kg (the reduced masses of its contacts follow).
    Mass(usize),
    /// Linear stiffness of a spring, N/m (Rayleigh damping follows).
    SpringLinear(usize),
    /// Cubic stiffness of a spring, N/m^3.
    SpringCubic(usize),
    /// Coefficient of a damper, N s/m.
    Damper(usize),
    /// Stiffness of a contact.
    ContactStiffness(usize),
    /// Restitution of a contact.
    ContactRestitution(usize),
    /// Gap of a contact, m.
    ContactGap(usize),
}

impl Parameter {
    /// Name of what it is a number of, and the index.
    pub fn place(self) -> (&'static str, usize) {
        match self {
            Self::Mass(i) => ("mass", i),
            Self::SpringLinear(i) => ("spring stiffness", i),
            Self::SpringCubic(i) => ("cubic spring stiffness", i),
            Self::Damper(i) => ("damper", i),
            Self::ContactStiffness(i) => ("contact stiffness", i),
            Self::ContactRestitution(i) => ("contact restitution", i),
            Self::ContactGap(i) => ("contact gap", i),
        }
    }
}

impl Model {
    /// Value of a parameter; None where there is no such element.
    pub fn value(&self, parameter: Parameter) -> Option<f64> {
        match parameter {
            Parameter::Mass(i) => self.masses.get(i).copied(),
            Parameter::SpringLinear(i) => self.springs.get(i).map(|spring| spring.linear),
            Parameter::SpringCubic(i) => self.springs.get(i).map(|spring| spring.cubic),
            Parameter::Damper(i) => self.dampers.get(i).map(|damper| damper.1),
            Parameter::ContactStiffness(i) => self.contacts.get(i).map(|c| c.impact.stiffness()),
            Parameter::ContactRestitution(i) => {
                self.contacts.get(i).map(|c| c.impact.restitution())
            }
            Parameter::ContactGap(i) => self.contacts.get(i).map(|c| c.gap),
        }
    }

    /// Smallest and largest restitution the law of a contact takes.
    pub fn restitution_range(&self, contact: usize) -> (f64, f64) {
        (
            self.contacts[contact]
                .impact
                .law()
                .facts()
                .smallest_restitution,
            1.0,
        )
    }

    /// Change a parameter of an element there is. Masses and contacts refuse what no law can take; springs and
    /// dampers take any number, so that an estimate may pass through zero.
    pub fn set(&mut self, parameter: Parameter, value: f64) -> Result<(), OscillatorError> {
        match parameter {
            Parameter::SpringLinear(i) => self.springs[i].linear = value,
            Parameter::SpringCubic(i) => self.springs[i].cubic = value,
            Parameter::Damper(i) => self.dampers[i].1 = value,
            Parameter::ContactGap(i) => self.contacts[i].gap = value,
            Parameter::ContactStiffness(i) => {
                let impact = self.contacts[i].impact;
                self.bind(i, impact.restitution(), value, impact.reduced_mass_kg())?;
            }
            Parameter::ContactRestitution(i) => {
                let impact = self.contacts[i].impact;
                self.bind(i, value, impact.stiffness(), impact.reduced_mass_kg())?;
            }
            Parameter::Mass(mass) => {
                if !(value > 0.0 && value.is_finite()) {
                    let (what, index) = parameter.place();
                    return Err(OscillatorError::NotPositive { what, index, value });
                }
                self.masses[mass] = value;
                for i in 0..self.contacts.len() {
                    let contact = self.contacts[i];
                    if contact.pair.left == mass || contact.pair.right == mass {
                        let inverse = |at: usize| self.masses.get(at).map_or(0.0, |m| 1.0 / m);
                        let reduced =
                            1.0 / (inverse(contact.pair.left) + inverse(contact.pair.right));
                        let impact = contact.impact;
                        self.bind(i, impact.restitution(), impact.stiffness(), reduced)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn bind(
        &mut self,
        contact: usize,
        restitution: f64,
        stiffness: f64,
        reduced_mass_kg: f64,
    ) -> Result<(), OscillatorError> {
        let impact = &mut self.contacts[contact].impact;
        *impact = impact
            .with(restitution, stiffness, reduced_mass_kg)
            .map_err(|source| OscillatorError::Law { contact, source })?;
        Ok(())
    }
}

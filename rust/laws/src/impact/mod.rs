//! Impact laws: the force between two masses that collide, or the impulse.
//!
//! A law is one file: name and source, the damping that a restitution needs ([`ImpactLaw`]), force, gradient, stored
//! energy and where it lets go ([`Force`], which laws that differ in their damping only share). [`Law`] is the table;
//! [`Impact`] is a law with its numbers put in, what an integrator evaluates.

mod damping;
mod force;
mod indentation_relation;
mod latching;
mod memory;
#[macro_use]
mod table;

mod hertz;
mod hertz_damp;
mod hertz_damp_ye;
mod hunt_crossley;
mod jankowski;
mod kelvin_voigt;
mod kelvin_voigt_tension;
mod linear;
mod mahmoud_jankowski;
mod rigid;
mod ye;

pub use damping::Damping;
pub use force::Gradient;
pub use memory::{Memory, SLOWEST_APPROACH_M_S};
pub use table::{Law, LawFacts, SMALLEST_RESTITUTION};

use crate::LawError;
use force::{Force, ImpactLaw, Numbers, Scale, UNTIL_THE_MASSES_PART, three_halves};

/// A law bound to restitution, stiffness and the reduced mass of the colliding pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Impact {
    law: Law,
    damping: Damping,
    restitution: f64,
    reduced_mass_kg: f64,
    numbers: Numbers,
}

impl Impact {
    /// Bind a law. Stiffness in N/m to the law's exponent; a law that acts by impulse ignores it.
    pub fn new(
        law: Law,
        damping: Damping,
        restitution: f64,
        stiffness: f64,
        reduced_mass_kg: f64,
    ) -> Result<Self, LawError> {
        let facts = law.facts();
        if !(restitution >= facts.smallest_restitution && restitution <= 1.0) {
            return Err(LawError::Restitution {
                law: facts.name,
                restitution,
                smallest: facts.smallest_restitution,
            });
        }
        let by_impulse = with_law!(law, L => <L as ImpactLaw>::Force::BY_IMPULSE);
        if !(by_impulse || stiffness > 0.0 && stiffness.is_finite()) {
            return Err(LawError::Stiffness {
                law: facts.name,
                stiffness,
            });
        }
        if !(reduced_mass_kg > 0.0 && reduced_mass_kg.is_finite()) {
            return Err(LawError::ReducedMass { reduced_mass_kg });
        }
        let (number, _) = law.damping_number(damping, restitution);
        Ok(Self {
            law,
            damping,
            restitution,
            reduced_mass_kg,
            numbers: Numbers {
                exponent: facts.exponent,
                stiffness,
                coefficient: number * law.scale().factor(stiffness, reduced_mass_kg),
            },
        })
    }

    /// The same law with other numbers.
    pub fn with(
        &self,
        restitution: f64,
        stiffness: f64,
        reduced_mass_kg: f64,
    ) -> Result<Self, LawError> {
        Self::new(
            self.law,
            self.damping,
            restitution,
            stiffness,
            reduced_mass_kg,
        )
    }

    /// The law.
    pub fn law(&self) -> Law {
        self.law
    }

    /// Asked restitution.
    pub fn restitution(&self) -> f64 {
        self.restitution
    }

    /// Stiffness, N/m to the law's exponent.
    pub fn stiffness(&self) -> f64 {
        self.numbers.stiffness
    }

    /// Reduced mass of the pair, kg.
    pub fn reduced_mass_kg(&self) -> f64 {
        self.reduced_mass_kg
    }

    /// True for a law that acts by impulse.
    pub fn is_rigid(&self) -> bool {
        with_law!(self.law, L => <L as ImpactLaw>::Force::BY_IMPULSE)
    }

    /// True for the springs that unload on a path of their own from the deepest point.
    pub fn latches(&self) -> bool {
        with_law!(self.law, L => <L as ImpactLaw>::Force::LATCHES)
    }

    /// Time a contact that begins at this speed takes, up to a factor near 3, s.
    pub fn time_scale_s(&self, approach_speed_m_s: f64) -> f64 {
        let n = self.numbers.exponent;
        let speed = approach_speed_m_s.max(SLOWEST_APPROACH_M_S);
        (self.reduced_mass_kg * speed.powf(1.0 - n) / self.numbers.stiffness).powf(1.0 / (n + 1.0))
    }

    /// Force between the masses, N, positive when it pushes them apart; zero unless `d > 0`, and for the rigid law.
    #[inline]
    pub fn force(&self, d: f64, rate: f64, memory: &Memory) -> f64 {
        if d <= 0.0 {
            return 0.0;
        }
        let with = &self.numbers;
        with_law!(self.law, L => <L as ImpactLaw>::Force::force(with, d, rate, memory))
    }

    /// The branch of the force that acts now, continued smoothly past its ends: what an integrator that stops at
    /// the ends evaluates, so that a trial step beyond them meets no kink. `loading` is false once the approach
    /// has turned (and, for springs that latch, until the deepest point is reached again).
    #[inline]
    pub fn continued_force(&self, d: f64, rate: f64, memory: &Memory, loading: bool) -> f64 {
        let with = &self.numbers;
        with_law!(self.law, L => <L as ImpactLaw>::Force::continued_force(with, d, rate, memory, loading))
    }

    /// Partial derivatives of [`Impact::force`]; zero where the force is cut or the masses are apart.
    pub fn gradient(&self, d: f64, rate: f64, memory: &Memory) -> Gradient {
        if d <= 0.0 {
            return Gradient::default();
        }
        let with = &self.numbers;
        // First the derivatives with respect to d, d', k and c as the force takes them ...
        let (mut to, to_coefficient) =
            with_law!(self.law, L => <L as ImpactLaw>::Force::gradient(with, d, rate, memory));
        // ... then the chain through c(e, k, m).
        let (k, c) = (with.stiffness, with.coefficient);
        let (_, number_slope) = self.law.damping_number(self.damping, self.restitution);
        let scale = self.law.scale();
        to.restitution = to_coefficient * number_slope * scale.factor(k, self.reduced_mass_kg);
        match scale {
            Scale::Viscous => {
                to.stiffness += to_coefficient * 0.5 * c / k;
                to.reduced_mass = to_coefficient * 0.5 * c / self.reduced_mass_kg;
            }
            Scale::Dimensionless => {}
        }
        to
    }

    /// Coefficients `(a, b, c)` of the plane `a d + b d' + c` below which the law lets go while the masses still
    /// overlap: an integrator ends the contact where it falls through zero and takes it up again where it rises.
    /// For laws that act until the masses part it is `d` itself.
    pub fn push_plane(&self, memory: &Memory) -> [f64; 3] {
        with_law!(self.law, L => <L as ImpactLaw>::Force::push_plane(&self.numbers, memory))
    }

    /// Energy the contact's spring would give back from here, J.
    pub fn stored_energy(&self, d: f64, memory: &Memory) -> f64 {
        if d <= 0.0 {
            return 0.0;
        }
        let (with, n) = (&self.numbers, self.numbers.exponent);
        match with_law!(self.law, L => <L as ImpactLaw>::Force::stored(with, d, memory)) {
            Some((share, x)) => share * with.stiffness * x.powf(n + 1.0) / (n + 1.0),
            None => 0.0,
        }
    }

    /// Largest `dF/dd` at indentation `d` and rest, N/m: what limits an explicit step.
    pub fn tangent_stiffness(&self, d: f64) -> f64 {
        with_law!(self.law, L => <L as ImpactLaw>::Force::tangent_stiffness(&self.numbers, d))
    }

    /// Viscous coefficient that does not depend on the state, N s/m; zero for laws that have none.
    pub fn constant_damper(&self) -> f64 {
        with_law!(self.law, L => <L as ImpactLaw>::Force::constant_damper(&self.numbers))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn compliant() -> impl Strategy<Value = Law> {
        (0..Law::ALL.len() - 1).prop_map(|i| Law::ALL[i])
    }

    proptest! {
        /// Analytic derivatives against central differences; the step balances truncation and rounding at about 1e-9.
        #[test]
        fn gradient_matches_finite_differences(
            law in compliant(), nominal: bool, e in 0.05..0.98_f64, d in 1e-5..1e-3_f64, rate in -0.2..0.3_f64,
            v in 0.31..0.5_f64, turned: bool,
        ) {
            prop_assume!(rate.abs() > 1e-3);
            let damping = if nominal { Damping::Nominal } else { Damping::Exact };
            let (k, m) = (2e6, 2.7);
            let memory = Memory { approach_speed_m_s: v, deepest_m: if turned { 1.1e-3 } else { 0.0 } };
            let at = |e: f64, k: f64, m: f64, d: f64, rate: f64, memory: Memory| {
                Impact::new(law, damping, e, k, m).unwrap().force(d, rate, &memory)
            };
            let impact = Impact::new(law, damping, e, k, m).unwrap();
            let [a, b, c] = impact.push_plane(&memory);
            // away from the edge where the force is cut
            prop_assume!((a * d + b * rate + c).abs() > 2e-3 * ((a * d).abs() + (b * rate).abs() + c.abs()));
            let gradient = impact.gradient(d, rate, &memory);
            let h = 1e-5;
            let slope = |f: &dyn Fn(f64) -> f64, x: f64| {
                let step = h * x.abs();
                (8.0 * (f(x + step) - f(x - step)) - (f(x + 2.0 * step) - f(x - 2.0 * step))) / (12.0 * step)
            };
            let with = |memory: Memory| at(e, k, m, d, rate, memory);
            let size = 1e-9 * (k * d.powf(law.facts().exponent)
                + impact.force(d, rate, &memory).abs() + (impact.numbers.coefficient * rate).abs());
            let cases = [
                (gradient.indentation, slope(&|x| at(e, k, m, x, rate, memory), d), d),
                (gradient.rate, slope(&|x| at(e, k, m, d, x, memory), rate), rate),
                (gradient.stiffness, slope(&|x| at(e, x, m, d, rate, memory), k), k),
                (gradient.restitution, slope(&|x| at(x, k, m, d, rate, memory), e), e),
                (gradient.reduced_mass, slope(&|x| at(e, k, x, d, rate, memory), m), m),
                (gradient.approach_speed, slope(&|x| with(Memory { approach_speed_m_s: x, ..memory }), v), v),
            ];
            for (i, (exact, difference, x)) in cases.into_iter().enumerate() {
                let gap = (exact - difference).abs() * x.abs();
                prop_assert!(gap <= 1e-8 * (exact * x).abs() + 100.0 * size, "{law:?} {i}: {exact} {difference}");
            }
            if turned {
                let difference = slope(&|x| with(Memory { deepest_m: x, ..memory }), memory.deepest_m);
                prop_assert!((gradient.deepest - difference).abs() * d <= 1e-8 * (gradient.deepest * d).abs() + 100.0 * size);
            }
        }

        /// While the masses approach, every law pushes; those that cut their force never pull.
        #[test]
        fn laws_push(law in compliant(), e in 0.01..1.0_f64, d in 0.0..1e-2_f64, rate in -3.0..3.0_f64, v in 0.0..1.0_f64) {
            let impact = Impact::new(law, Damping::Exact, e, 1e6, 1.0).unwrap();
            let force = impact.force(d, rate, &Memory::at_onset(v));
            let may_pull = matches!(
                law,
                Law::KelvinVoigtTension | Law::Ye | Law::HertzDamp | Law::HertzDampYe | Law::HuntCrossley
            );
            prop_assert!(force >= 0.0 || (may_pull && rate < 0.0), "{:?} {}", law, force);
        }
    }

    #[test]
    fn elastic_limit_has_no_damping() {
        for law in Law::ALL {
            let (number, _) = law.damping_number(Damping::Exact, 1.0);
            let elastic = if matches!(law, Law::Linear | Law::Hertz | Law::Rigid) {
                1.0
            } else {
                0.0
            };
            assert_eq!(number, elastic, "{law:?}");
        }
    }

    #[test]
    fn bad_numbers_are_named() {
        let message = |e, k, m| {
            Impact::new(Law::Ye, Damping::Exact, e, k, m)
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            message(0.0, 1.0, 1.0),
            "restitution 0 cannot be delivered by the law `ye`: it must lie in 0.001 to 1"
        );
        assert!(
            message(1.2, 1.0, 1.0).contains("1.2") && message(f64::NAN, 1.0, 1.0).contains("NaN")
        );
        assert!(
            message(0.5, -1.0, 1.0).contains("stiffness -1")
                && message(0.5, 1.0, 0.0).contains("reduced mass 0")
        );
        assert!(Impact::new(Law::Rigid, Damping::Exact, 0.0, f64::NAN, 1.0).is_ok());
        assert!(
            Law::from_name("kv")
                .unwrap_err()
                .to_string()
                .contains("kelvin-voigt")
        );
    }
}

//! Linear springs (CL): kn = 2 E r*, ks = nu kn, km = beta r1 r2 ks.

use super::{Grain, PairLaw, Stiffness, equivalent_radius};

/// The law with its numbers.
#[derive(Clone, Copy, Debug)]
pub struct ClassicalLinear {
    double_young_pa: f64,
    ratio: f64,
    rolling: f64,
}

impl PairLaw for ClassicalLinear {
    const NAME: &'static str = "classical-linear";
    const POISSON_MUST: &'static str = "not be negative";
    const ENERGY_SHARE: f64 = 0.5;
    const STIFFENS: bool = false;

    fn takes_poisson(poisson: f64) -> bool {
        poisson >= 0.0
    }

    fn new(grain: &Grain) -> Self {
        Self {
            double_young_pa: 2.0 * grain.young_pa,
            ratio: grain.poisson,
            rolling: grain.rolling_stiffness,
        }
    }

    #[inline]
    fn factor(&self, r1_m: f64, r2_m: f64) -> f64 {
        equivalent_radius(r1_m, r2_m)
    }

    #[inline(always)]
    fn stiffness(&self, factor: f64, r1_m: f64, r2_m: f64, _overlap_m: f64) -> Stiffness {
        let normal = self.double_young_pa * factor;
        let shear = self.ratio * normal;
        Stiffness {
            normal_n_per_m: normal,
            normal_tangent_n_per_m: normal,
            shear_n_per_m: shear,
            rolling_n_m: self.rolling * r1_m * r2_m * shear,
        }
    }
}

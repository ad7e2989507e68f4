//! Hertz and Mindlin (HM): kn = 2 E sqrt(r* u) / (3 (1 - nu^2)), ks = 2 E sqrt(r* u) / ((1 + nu)(2 - nu)), km = beta.
//!
//! kn is the secant; the tangent is 3/2 of it.

use super::{Grain, PairLaw, Stiffness, equivalent_radius};

/// The law with its numbers.
#[derive(Clone, Copy, Debug)]
pub struct HertzMindlin {
    normal_pa: f64,
    shear_pa: f64,
    rolling_n_m: f64,
}

impl PairLaw for HertzMindlin {
    const NAME: &'static str = "hertz-mindlin";
    const POISSON_MUST: &'static str = "lie above -1 and not above 0.5";
    const ENERGY_SHARE: f64 = 0.4;
    const STIFFENS: bool = true;

    fn takes_poisson(poisson: f64) -> bool {
        poisson > -1.0 && poisson <= 0.5
    }

    fn new(grain: &Grain) -> Self {
        let (young, nu) = (grain.young_pa, grain.poisson);
        Self {
            normal_pa: 2.0 * young / (3.0 * (1.0 - nu * nu)),
            shear_pa: 2.0 * young / ((1.0 + nu) * (2.0 - nu)),
            rolling_n_m: grain.rolling_stiffness,
        }
    }

    #[inline]
    fn factor(&self, r1_m: f64, r2_m: f64) -> f64 {
        equivalent_radius(r1_m, r2_m)
    }

    #[inline(always)]
    fn stiffness(&self, factor: f64, _r1_m: f64, _r2_m: f64, overlap_m: f64) -> Stiffness {
        let root = (factor * overlap_m).sqrt();
        let normal = self.normal_pa * root;
        Stiffness {
            normal_n_per_m: normal,
            normal_tangent_n_per_m: 1.5 * normal,
            shear_n_per_m: self.shear_pa * root,
            rolling_n_m: self.rolling_n_m,
        }
    }
}

//! Toyoura sand as calibrated by Cheng et al. (2018), Tables 4 and 5: what tests and benchmarks run on.

use percuss_grains::Material;
use percuss_laws::grain::{Grain, GrainLaw, MomentLimit};

/// The material under one of the two laws, its density scaled for quasi-static tests.
pub fn material(law: GrainLaw) -> Material {
    let (young_pa, poisson, rolling_stiffness, rolling_friction, degrees) = match law {
        GrainLaw::ClassicalLinear => (0.545e9, 0.080, 0.564, 0.194, 30.203_f64),
        GrainLaw::HertzMindlin => (4.123e9, 0.064, 0.148, 0.202, 30.387_f64),
    };
    let friction = degrees.to_radians().tan();
    Material {
        law,
        grain: Grain {
            young_pa,
            poisson,
            rolling_stiffness,
            rolling_friction,
            friction,
        },
        moments: true,
        moment_limit: MomentLimit::Joint,
        rescaled: true,
        restitution: 1.0,
        density_kg_m3: 2650.0,
        density_scaling: 1000.0,
        gravity_m_s2: 0.0,
    }
}

//! How the smooth stepper integrates: its methods, and explicit Runge-Kutta methods by their coefficients.

use crate::error::RigidError;

/// How the smooth stepper integrates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Method {
    /// Adams' predictor and corrector of fourth order, one step for each step of the world, by the classical method
    /// wherever it has no smooth past to follow.
    Adams,
    /// The classical method of fourth order, one step for each step of the world.
    Rk4,
    /// Dormand and Prince's pair of orders five and four: as many steps within one of the world as the tolerance
    /// asks for. The tolerance is an error a step relative to 1 (m, m/s, rad/s) plus the value.
    DormandPrince {
        /// The tolerance.
        tolerance: f64,
    },
}

impl Method {
    /// Names of the methods.
    pub const NAMES: [&'static str; 3] = ["adams", "rk4", "dormand-prince"];

    /// The method of a name, with the tolerance if it takes one.
    pub fn from_name(name: &str, tolerance: f64) -> Option<Self> {
        match name {
            "adams" => Some(Self::Adams),
            "rk4" => Some(Self::Rk4),
            "dormand-prince" => Some(Self::DormandPrince { tolerance }),
            _ => None,
        }
    }

    pub(crate) fn check(&self) -> Result<(), RigidError> {
        match self {
            Self::DormandPrince { tolerance } if !(1e-14..1.0).contains(tolerance) => {
                Err(RigidError::Setting {
                    key: "accuracy",
                    value: *tolerance,
                    allowed: "from 1e-14 to below 1",
                })
            }
            Self::Adams | Self::Rk4 | Self::DormandPrince { .. } => Ok(()),
        }
    }

    pub(super) fn tableau(&self) -> &'static Tableau {
        match self {
            Self::Adams | Self::Rk4 => &RK4,
            Self::DormandPrince { .. } => &DORMAND_PRINCE,
        }
    }
}

/// Nodes, the rows of stages, the last of which is the result, and weights of the error, if there are any: the
/// first of them is that of stage 1, the last that of the derivative at the result.
pub(super) struct Tableau {
    pub nodes: &'static [f64],
    pub rows: &'static [&'static [f64]],
    pub error: &'static [f64],
}

const RK4: Tableau = Tableau {
    nodes: &[0.5, 0.5, 1.0, 1.0],
    rows: &[
        &[0.5],
        &[0.0, 0.5],
        &[0.0, 0.0, 1.0],
        &[1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0],
    ],
    error: &[],
};

const DORMAND_PRINCE: Tableau = Tableau {
    nodes: &[0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0],
    rows: &[
        &[0.2],
        &[3.0 / 40.0, 9.0 / 40.0],
        &[44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0],
        &[
            19372.0 / 6561.0,
            -25360.0 / 2187.0,
            64448.0 / 6561.0,
            -212.0 / 729.0,
        ],
        &[
            9017.0 / 3168.0,
            -355.0 / 33.0,
            46732.0 / 5247.0,
            49.0 / 176.0,
            -5103.0 / 18656.0,
        ],
        &[
            35.0 / 384.0,
            0.0,
            500.0 / 1113.0,
            125.0 / 192.0,
            -2187.0 / 6784.0,
            11.0 / 84.0,
        ],
    ],
    error: &[
        71.0 / 57600.0,
        0.0,
        -71.0 / 16695.0,
        71.0 / 1920.0,
        -17253.0 / 339200.0,
        22.0 / 525.0,
        -1.0 / 40.0,
    ],
};

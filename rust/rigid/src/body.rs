//! A body as the user describes it.

use crate::error::RigidError;
use crate::motion::Motion;
use percuss_geometry::{Contactor, MassProperties, Pose, Vec3};

/// Entries of an inertia matrix may differ across its diagonal by this share of the largest: rounding.
const SYMMETRIC: f64 = 1e-9;

/// Where a moving body's mass and inertia come from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mass {
    /// Mass, centre and inertia in the body's frame.
    Given(MassProperties),
    /// The body's contactors filled with this density [kg/m3].
    Density(f64),
    /// The body's contactors filled evenly so that they weigh this much [kg].
    Total(f64),
}

/// What moves a body.
#[derive(Debug, Clone, PartialEq)]
pub enum Role {
    /// Nothing.
    Static,
    /// A motion given in advance.
    Kinematic(Motion),
    /// Forces and impulses.
    Dynamic(Mass),
}

/// A rigid body.
#[derive(Debug, Clone, PartialEq)]
pub struct Body {
    /// Its name in messages and tables.
    pub name: String,
    /// What moves it.
    pub role: Role,
    /// Its frame at the start (or at birth).
    pub pose: Pose,
    /// Velocity of its centre of mass at the start [m/s].
    pub velocity_m_per_s: Vec3,
    /// Angular velocity at the start, in world axes [rad/s].
    pub angular_velocity_rad_per_s: Vec3,
    /// It is there from this time on [s].
    pub birth_s: f64,
    /// It is gone from this time on [s].
    pub removal_s: f64,
}

impl Body {
    fn new(name: &str, role: Role) -> Self {
        Self {
            name: name.into(),
            role,
            pose: Pose::identity(),
            velocity_m_per_s: Vec3::zeros(),
            angular_velocity_rad_per_s: Vec3::zeros(),
            birth_s: 0.0,
            removal_s: f64::INFINITY,
        }
    }

    /// A body that never moves.
    pub fn fixed(name: &str) -> Self {
        Self::new(name, Role::Static)
    }

    /// A body moved by forces and impulses.
    pub fn dynamic(name: &str, mass: Mass) -> Self {
        Self::new(name, Role::Dynamic(mass))
    }

    /// A body whose motion is given.
    pub fn kinematic(name: &str, motion: Motion) -> Self {
        Self::new(name, Role::Kinematic(motion))
    }

    /// The same body elsewhere.
    pub fn at(mut self, pose: Pose) -> Self {
        self.pose = pose;
        self
    }

    /// The same body with a velocity.
    pub fn moving(mut self, velocity_m_per_s: Vec3) -> Self {
        self.velocity_m_per_s = velocity_m_per_s;
        self
    }

    /// The same body with an angular velocity (world axes).
    pub fn spinning(mut self, angular_velocity_rad_per_s: Vec3) -> Self {
        self.angular_velocity_rad_per_s = angular_velocity_rad_per_s;
        self
    }

    /// The same body there only from `birth_s` to `removal_s`.
    pub fn between(mut self, birth_s: f64, removal_s: f64) -> Self {
        (self.birth_s, self.removal_s) = (birth_s, removal_s);
        self
    }
}

/// Inertia of a body as the stepper uses it: about the centre of mass, in the body's axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Inertia {
    pub mass_kg: f64,
    pub inertia: percuss_geometry::Mat3,
    pub inverse: percuss_geometry::Mat3,
    /// Centre of mass in the body's frame [m].
    pub centre_m: Vec3,
    /// All three principal moments alike: rotation needs no gyroscopic care.
    pub round: bool,
}

impl Inertia {
    /// Mass properties of a dynamic body with its own contactors, checked.
    pub fn new(body: &Body, mass: &Mass, own: &[&Contactor]) -> Result<Self, RigidError> {
        let sum = |density: f64| {
            own.iter().try_fold(MassProperties::zero(), |sum, c| {
                Ok::<_, RigidError>(sum.add(&c.shape.mass_properties(density)?.at(&c.pose)))
            })
        };
        let properties = match mass {
            Mass::Given(properties) => *properties,
            Mass::Density(density) => sum(*density)?,
            Mass::Total(total) => {
                let unit = sum(1.0)?;
                if unit.mass_kg > 0.0 {
                    unit.with_mass(*total)
                } else {
                    unit
                }
            }
        };
        let mass_kg = properties.mass_kg;
        if !(mass_kg > 0.0 && mass_kg.is_finite()) {
            return Err(RigidError::Mass {
                body: body.name.clone(),
                value: mass_kg,
            });
        }
        let inertia = properties.inertia_kg_m2;
        for [row, column] in [[0, 1], [0, 2], [1, 2]] {
            let values = [inertia[(row, column)], inertia[(column, row)]];
            if (values[0] - values[1]).abs() > SYMMETRIC * inertia.amax() {
                return Err(RigidError::Unsymmetric {
                    body: body.name.clone(),
                    place: [row, column],
                    values,
                });
            }
        }
        let (moments, _) = properties.principal();
        let definite = moments.iter().all(|m| m.is_finite()) && moments[0] > 0.0;
        // A real solid cannot have one moment above the sum of the others.
        if !definite || moments[2] > (moments[0] + moments[1]) * (1.0 + 1e-9) {
            return Err(RigidError::Inertia {
                body: body.name.clone(),
                moments: [moments[0], moments[1], moments[2]],
            });
        }
        let inverse = inertia.try_inverse().ok_or_else(|| RigidError::Inertia {
            body: body.name.clone(),
            moments: [moments[0], moments[1], moments[2]],
        })?;
        Ok(Self {
            mass_kg,
            inertia,
            inverse: (inverse + inverse.transpose()) * 0.5,
            centre_m: properties.centre_m,
            round: moments[2] - moments[0] <= 1e-14 * moments[2],
        })
    }
}

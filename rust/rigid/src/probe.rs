//! What is measured: material points, and contact forces by body or by pair of groups.

use crate::error::RigidError;
use crate::joints::Row;
use crate::scene::Scene;
use percuss_geometry::Vec3;

/// One thing to measure, at one rate.
#[derive(Debug, Clone, PartialEq)]
pub struct Probe {
    /// Name of its table.
    pub name: String,
    /// Rows are written every this many steps.
    pub every: u64,
    /// What is measured.
    pub kind: ProbeKind,
}

/// Kinds of probes.
#[derive(Debug, Clone, PartialEq)]
pub enum ProbeKind {
    /// A material point: position, rotation of its body, velocity, acceleration (nonsmooth stepper: mean since the
    /// last step).
    Point {
        /// Its body.
        body: usize,
        /// Its place in the body's frame [m].
        point_m: Vec3,
    },
    /// Resultant of all contact impulses on a body since the last row, as mean force and torque about its
    /// centre of mass.
    BodyContacts {
        /// The body.
        body: usize,
    },
    /// Contacts under one law: number, mean normal and friction force since the last row, dissipated energy.
    LawContacts {
        /// Index of the law.
        law: usize,
    },
    /// Coordinates of a joint with their rates, and its reaction on the second body: force, and torque about the
    /// origin of the joint's second frame, world axes.
    Joint {
        /// Index of the joint.
        joint: usize,
    },
}

impl Probe {
    /// A material point, measured at every step.
    pub fn point(name: &str, body: usize, point_m: Vec3) -> Self {
        Self::new(name, ProbeKind::Point { body, point_m })
    }

    /// A probe of any kind, read at every step.
    pub fn new(name: &str, kind: ProbeKind) -> Self {
        Self {
            name: name.into(),
            every: 1,
            kind,
        }
    }

    /// The same probe read every `every` steps.
    pub fn every(mut self, every: u64) -> Self {
        self.every = every;
        self
    }

    pub(crate) fn check(&self, scene: &Scene) -> Result<(), RigidError> {
        let what = || format!("probe {}", self.name);
        if self.every == 0 {
            return Err(RigidError::Setting {
                key: "every",
                value: 0.0,
                allowed: "at least 1",
            });
        }
        let bodies = scene.bodies.len();
        match &self.kind {
            ProbeKind::Point { body, .. } | ProbeKind::BodyContacts { body } if *body >= bodies => {
                Err(RigidError::NoBody {
                    what: what(),
                    body: *body,
                    bodies,
                })
            }
            ProbeKind::Point { point_m, .. } if !point_m.iter().all(|x| x.is_finite()) => {
                Err(RigidError::NotFinite { what: what() })
            }
            ProbeKind::LawContacts { law } if *law >= scene.laws.len() => Err(RigidError::NoLaw {
                what: what(),
                law: *law,
                laws: scene.laws.len(),
            }),
            ProbeKind::Joint { joint } if *joint >= scene.joints.len() => {
                Err(RigidError::NoJoint {
                    what: what(),
                    joint: *joint,
                    joints: scene.joints.len(),
                })
            }
            ProbeKind::Point { .. }
            | ProbeKind::BodyContacts { .. }
            | ProbeKind::LawContacts { .. }
            | ProbeKind::Joint { .. } => Ok(()),
        }
    }

    pub(crate) fn columns(&self, scene: &Scene) -> Vec<String> {
        let fixed: &[&str] = match self.kind {
            ProbeKind::Point { .. } => &[
                "time_s",
                "x_m",
                "y_m",
                "z_m",
                "qw",
                "qx",
                "qy",
                "qz",
                "vx_m_per_s",
                "vy_m_per_s",
                "vz_m_per_s",
                "wx_rad_per_s",
                "wy_rad_per_s",
                "wz_rad_per_s",
                "ax_m_per_s2",
                "ay_m_per_s2",
                "az_m_per_s2",
                "alphax_rad_per_s2",
                "alphay_rad_per_s2",
                "alphaz_rad_per_s2",
            ],
            ProbeKind::BodyContacts { .. } => &[
                "time_s", "fx_n", "fy_n", "fz_n", "tx_n_m", "ty_n_m", "tz_n_m", "contacts",
            ],
            ProbeKind::LawContacts { .. } => &[
                "time_s",
                "contacts",
                "normal_force_n",
                "friction_force_n",
                "impact_dissipation_j",
                "friction_dissipation_j",
            ],
            ProbeKind::Joint { joint } => {
                let mut columns = vec!["time_s".to_owned()];
                for (name, row) in scene.joints[joint].kind.coordinates() {
                    let unit = if matches!(row, Row::Angle(_)) {
                        "rad"
                    } else {
                        "m"
                    };
                    columns.push(format!("{name}_{unit}"));
                    columns.push(format!("{name}_rate_{unit}_per_s"));
                }
                let reaction = ["fx_n", "fy_n", "fz_n", "tx_n_m", "ty_n_m", "tz_n_m"];
                columns.extend(reaction.map(String::from));
                return columns;
            }
        };
        fixed.iter().map(|name| (*name).to_owned()).collect()
    }
}

//! Everything a simulation starts from: plain data, ids are indices.

use crate::body::Body;
use crate::bonds::Bond;
use crate::elements::Element;
use crate::error::RigidError;
use crate::joints::Joint;
use crate::law_table::ContactLaw;
use crate::load::Load;
use crate::probe::Probe;
use percuss_geometry::{Contactor, Pose, Shape, Vec3};

/// Standard gravity [m/s2].
pub(crate) const STANDARD_GRAVITY: f64 = 9.80665;

/// Bodies, what they can touch with, the laws between them, and what to measure.
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    /// The bodies.
    pub bodies: Vec<Body>,
    /// The contactors, each on a body, placed in the body's frame.
    pub contactors: Vec<Contactor>,
    /// The laws by pair of groups.
    pub laws: Vec<ContactLaw>,
    /// What joins bodies to each other and to the world.
    pub joints: Vec<Joint>,
    /// Faces that hold together until they break.
    pub bonds: Vec<Bond>,
    /// Springs, dampers, bushings and actuators.
    pub elements: Vec<Element>,
    /// Forces other than gravity and contact.
    pub loads: Vec<Load>,
    /// What to measure.
    pub probes: Vec<Probe>,
    /// Gravity [m/s2].
    pub gravity_m_per_s2: Vec3,
}

impl Default for Scene {
    fn default() -> Self {
        Self {
            bodies: Vec::new(),
            contactors: Vec::new(),
            laws: Vec::new(),
            joints: Vec::new(),
            bonds: Vec::new(),
            elements: Vec::new(),
            loads: Vec::new(),
            probes: Vec::new(),
            gravity_m_per_s2: Vec3::new(0.0, 0.0, -STANDARD_GRAVITY),
        }
    }
}

impl Scene {
    /// Adds a body and gives its index.
    pub fn add_body(&mut self, body: Body) -> usize {
        self.bodies.push(body);
        self.bodies.len() - 1
    }

    /// Adds a contactor to a body and gives its index.
    pub fn add_contactor(&mut self, body: usize, shape: Shape, pose: Pose, group: u16) -> usize {
        self.contactors.push(Contactor {
            body: body as u32,
            shape,
            pose,
            group,
        });
        self.contactors.len() - 1
    }

    /// Adds a law and gives its index.
    pub fn add_law(&mut self, law: ContactLaw) -> usize {
        self.laws.push(law);
        self.laws.len() - 1
    }

    /// Refuses what the smooth stepper cannot do.
    pub(crate) fn check_smooth(&self) -> Result<(), RigidError> {
        let refused = |what: String, instead| Err(RigidError::NotSmooth { what, instead });
        if !self.laws.is_empty() {
            return refused("contact laws".into(), "use the nonsmooth stepper");
        }
        if let Some(bond) = self.bonds.first() {
            let what = format!("bonds (bond {})", bond.name);
            return refused(what, "use the nonsmooth stepper");
        }
        for body in &self.bodies {
            if body.birth_s > 0.0 || body.removal_s < f64::INFINITY {
                let what = format!("births and removals (body {})", body.name);
                return refused(what, "use the nonsmooth stepper");
            }
        }
        for joint in &self.joints {
            if joint.limits.iter().any(|limit| limit.stiffness == 0.0) {
                let what = format!("hard limits (joint {})", joint.name);
                return refused(
                    what,
                    "give the limit a stiffness or use the nonsmooth stepper",
                );
            }
            if joint
                .friction
                .iter()
                .any(|friction| friction.per_reaction > 0.0)
            {
                let what = format!("friction by the reaction (joint {})", joint.name);
                return refused(what, "give a bound or use the nonsmooth stepper");
            }
            if joint
                .friction
                .iter()
                .any(|friction| friction.slip_rate == 0.0)
            {
                let what = format!("ideal dry friction (joint {})", joint.name);
                return refused(
                    what,
                    "give the friction a slip_rate or use the nonsmooth stepper",
                );
            }
        }
        Ok(())
    }

    /// Refuses bodies that come or go.
    fn check_stay(
        &self,
        bodies: &[Option<usize>; 2],
        what: impl Fn() -> String,
    ) -> Result<(), RigidError> {
        for body in bodies.iter().flatten().map(|&b| &self.bodies[b]) {
            if body.birth_s > 0.0 || body.removal_s < f64::INFINITY {
                return Err(RigidError::JoinedBirth {
                    what: what(),
                    body: body.name.clone(),
                });
            }
        }
        Ok(())
    }

    /// Refuses NaN, bodies that do not exist and times that do not fit.
    pub(crate) fn check(&self) -> Result<(), RigidError> {
        if !self.gravity_m_per_s2.iter().all(|x| x.is_finite()) {
            let what = "gravity_m_per_s2".into();
            return Err(RigidError::NotFinite { what });
        }
        for body in &self.bodies {
            let what = |key: &str| format!("{key} of body {}", body.name);
            body.pose.checked(&what("pose"))?;
            for (key, v) in [
                ("velocity", &body.velocity_m_per_s),
                ("angular velocity", &body.angular_velocity_rad_per_s),
            ] {
                if !v.iter().all(|x| x.is_finite()) {
                    return Err(RigidError::NotFinite { what: what(key) });
                }
            }
            if body.birth_s.is_nan() || body.removal_s.is_nan() || body.removal_s <= body.birth_s {
                return Err(RigidError::Setting {
                    key: "removal_s",
                    value: body.removal_s,
                    allowed: "later than birth_s",
                });
            }
        }
        for (index, c) in self.contactors.iter().enumerate() {
            if c.body as usize >= self.bodies.len() {
                return Err(RigidError::NoBody {
                    what: format!("contactor {index}"),
                    body: c.body as usize,
                    bodies: self.bodies.len(),
                });
            }
            c.pose.checked(&format!("pose of contactor {index}"))?;
        }
        for joint in &self.joints {
            joint.check(self.bodies.len())?;
            self.check_stay(&joint.bodies, || format!("joint {}", joint.name))?;
        }
        for bond in &self.bonds {
            bond.check(self)?;
        }
        for element in &self.elements {
            element.check(self.bodies.len())?;
            self.check_stay(&element.bodies, || format!("element {}", element.name))?;
        }
        for (index, load) in self.loads.iter().enumerate() {
            load.check(index, self.bodies.len())?;
        }
        for probe in &self.probes {
            probe.check(self)?;
        }
        Ok(())
    }
}

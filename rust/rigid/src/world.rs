//! A scene in motion.

use crate::articulation::Articulation;
use crate::body::{Inertia, Role};
use crate::contact::ActiveContact;
use crate::elements::Acting;
use crate::energy::{Energy, PairWork};
use crate::error::RigidError;
use crate::free_motion::BodyState;
use crate::joints::{Assembled, Linked, assemble};
use crate::law_table::LawTable;
use crate::recording::Gathered;
use crate::scene::Scene;
use crate::settings::{Settings, Stepper};
use crate::smooth::Smooth;
use crate::timing::Timing;
use percuss_geometry::{Contactor, Detector, Mat3, Pose, Vec3, Visibility};
use percuss_solvers::{Contact, InverseMass, Workspace};

/// How a step went.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepReport {
    /// Its number, from 0.
    pub step: u64,
    /// Time at its end [s].
    pub time_s: f64,
    /// Active contacts.
    pub contacts: usize,
    /// Sweeps of the solver.
    pub iterations: usize,
    /// Newton steps of the solver, each with a factorisation.
    pub factorisations: usize,
    /// Energy residual of the contact problem.
    pub residual: f64,
    /// The same by the measure of Siconos, for comparison: it depends on the units.
    pub residual_siconos: f64,
    /// Whether the residual is within the tolerance, and friction in joints agrees with the reactions it grows with.
    pub met: bool,
    /// Work of the contacts in this step [J]; negative: they took energy.
    pub contact_work_j: f64,
    /// Whether the contacts gave energy, beyond what the solver's tolerance explains.
    pub gained: bool,
    /// Deepest overlap at the middle of the step [m].
    pub overlap_m: f64,
    /// Largest overlap at the middle of the step, as a share of half the width of the thinner shape,
    /// measured along the normal.
    pub overlap_share: f64,
}

/// Bodies, their state, and everything a step needs; buffers are kept, so that steps do not allocate.
pub struct World {
    pub(crate) scene: Scene,
    pub(crate) settings: Settings,
    pub(crate) laws: LawTable,
    pub(crate) fixed: Vec<bool>,
    /// Mass of the dynamic bodies; none for static and kinematic ones.
    pub(crate) inertia: Vec<Option<Inertia>>,
    pub(crate) detector: Detector,
    pub(crate) next_event_s: f64,

    pub(crate) step: u64,
    pub(crate) present: Vec<bool>,
    pub(crate) states: Vec<BodyState>,
    /// Contacts of the last step.
    pub(crate) active: Vec<ActiveContact>,
    pub(crate) energy: Energy,
    pub(crate) pair_work: Vec<PairWork>,
    /// What each probe has gathered since its last row.
    pub(crate) gathered: Vec<Gathered>,

    pub(crate) assembled: Assembled,
    /// Joints and elements of the nonsmooth stepper, if the scene has any.
    pub(crate) articulation: Option<Box<Articulation>>,
    /// The joints at the start: their frames about the mass centres, and their rows.
    pub(crate) joints: Vec<Linked>,
    /// Reactions of joints in the last step of the nonsmooth stepper.
    pub(crate) reactions: Vec<[f64; 6]>,
    /// Present if the settings ask for the smooth stepper.
    pub(crate) smooth: Option<Box<Smooth>>,

    pub(crate) middle: Vec<Pose>,
    pub(crate) axes: Vec<Mat3>,
    /// Twists of the bodies, and of the world, which is the last.
    pub(crate) before: Vec<[f64; 6]>,
    pub(crate) after: Vec<[f64; 6]>,
    pub(crate) inverse_mass: Vec<InverseMass>,
    pub(crate) previous: Vec<ActiveContact>,
    pub(crate) contacts: Vec<Contact>,
    /// Between the velocity after the step and that of the contact problem, for each of `active`.
    pub(crate) shifts: Vec<[f64; 3]>,
    pub(crate) workspace: Workspace,
    pub(crate) impulses: Vec<[f64; 3]>,
    pub(crate) velocities: Vec<[f64; 3]>,

    /// Whether steps are timed.
    pub timed: bool,
    pub(crate) timing: Timing,
}

const IMMOVABLE: InverseMass = InverseMass {
    translation_per_kg: 0.0,
    rotation_per_kg_m2: [[0.0; 3]; 3],
};

impl World {
    /// The scene at rest at its start.
    ///
    /// # Errors
    /// Anything wrong with the scene or the settings, in one sentence.
    pub fn new(scene: Scene, settings: Settings) -> Result<Self, RigidError> {
        settings.check()?;
        scene.check()?;
        let count = scene.bodies.len();
        let smooth = matches!(settings.stepper, Stepper::Smooth(_));
        // The smooth stepper looks at no contact: contactors are for masses and pictures there.
        let touching: &[Contactor] = if smooth { &[] } else { &scene.contactors };
        if smooth {
            scene.check_smooth()?;
        }
        let laws = LawTable::new(&scene.laws, touching, settings.tolerance)?;
        let seen: Vec<(u16, u16)> = scene.laws.iter().map(|law| law.groups).collect();
        let mut inertia = Vec::with_capacity(count);
        let mut states = Vec::with_capacity(count);
        let mut fixed = Vec::with_capacity(count);
        for (index, body) in scene.bodies.iter().enumerate() {
            let own = match &body.role {
                Role::Dynamic(mass) => Some(Inertia::new(index, body, mass, &scene.contactors)?),
                Role::Kinematic(motion) => {
                    motion.check(&body.name)?;
                    None
                }
                Role::Static => None,
            };
            let centre = own.map_or(Vec3::zeros(), |i| i.centre_m);
            let (velocity, turning) = match &body.role {
                Role::Static => (Vec3::zeros(), Vec3::zeros()),
                Role::Kinematic(motion) => motion.velocity(0.0),
                Role::Dynamic(_) => (body.velocity_m_per_s, body.angular_velocity_rad_per_s),
            };
            states.push(BodyState {
                position: body.pose.point(&centre),
                rotation: body.pose.rotation,
                velocity,
                spin: body.pose.rotation.inverse() * turning,
            });
            fixed.push(own.is_none());
            inertia.push(own);
        }
        for (index, load) in scene.loads.iter().enumerate() {
            if inertia[load.body].is_none() {
                return Err(RigidError::NotDynamic {
                    what: format!("load {index}"),
                    body: scene.bodies[load.body].name.clone(),
                });
            }
        }
        let (mechanism, assembled) = assemble(&scene.joints, &inertia, &mut states)?;
        let mut articulation = None;
        let mut joints = mechanism.joints.clone();
        joints.sort_by_key(|linked| linked.joint);
        let smooth = match settings.stepper {
            Stepper::Nonsmooth => {
                articulation = Articulation::new(&scene, &settings, &inertia, &mechanism)?;
                None
            }
            Stepper::Smooth(method) => {
                let mut elements = Acting::elements(&scene.elements, &inertia, &mechanism.placed);
                elements.extend(
                    scene
                        .joints
                        .iter()
                        .flat_map(|joint| Acting::of_joint(joint, &inertia)),
                );
                Some(Box::new(Smooth::new(mechanism, elements, method)))
            }
        };
        // The detector places contactors in frames at the centres of mass.
        let placed = |contactor: &Contactor| {
            let body = contactor.body as usize;
            let centre = inertia[body].map_or(Vec3::zeros(), |i| i.centre_m);
            let mut contactor = contactor.clone();
            contactor.pose.position -= centre;
            contactor
        };
        let mut detector = Detector::new(
            touching.iter().map(placed).collect(),
            &fixed,
            Visibility::new(&seen)?,
            settings.contact_tolerance_m.max(settings.look_ahead_m),
        )?;
        for body in 0..count {
            detector.set_present(body as u32, false)?;
        }
        let mut world = Self {
            laws,
            fixed,
            inertia,
            detector,
            next_event_s: f64::NEG_INFINITY,
            step: 0,
            present: vec![false; count],
            assembled,
            articulation: articulation.map(Box::new),
            reactions: vec![[0.0; 6]; joints.len()],
            joints,
            smooth,
            middle: states.iter().map(BodyState::pose).collect(),
            axes: vec![Mat3::identity(); count],
            before: vec![[0.0; 6]; count + 1],
            after: vec![[0.0; 6]; count + 1],
            inverse_mass: vec![IMMOVABLE; count],
            states,
            active: Vec::new(),
            previous: Vec::new(),
            contacts: Vec::new(),
            shifts: Vec::new(),
            energy: Energy::default(),
            pair_work: vec![PairWork::default(); scene.laws.len()],
            gathered: vec![Gathered::default(); scene.probes.len()],
            workspace: Workspace::default(),
            impulses: Vec::new(),
            velocities: Vec::new(),
            timed: false,
            timing: Timing::default(),
            scene,
            settings,
        };
        world.admit()?;
        world.check_overlaps()?;
        world.check_mesh_sides()?;
        if let Some(mut smooth) = world.smooth.take() {
            world.start_smoothly(&mut smooth);
            world.energy.elastic_j = smooth.elastic_j();
            world.energy.brought_in_j += world.energy.elastic_j;
            world.smooth = Some(smooth);
        }
        if let Some(joints) = &world.articulation {
            world.energy.elastic_j = joints.elastic_j();
            world.energy.brought_in_j += world.energy.elastic_j;
        }
        Ok(world)
    }

    /// Lets bodies in and out whose time has come.
    pub(crate) fn admit(&mut self) -> Result<(), RigidError> {
        // Half a step of grace: a time that is a whole number of steps falls on its step whatever rounding.
        let now = self.time_s() + 0.5 * self.settings.dt_s;
        if now < self.next_event_s {
            return Ok(());
        }
        self.next_event_s = f64::INFINITY;
        for index in 0..self.present.len() {
            let body = &self.scene.bodies[index];
            for time in [body.birth_s, body.removal_s] {
                if time > now {
                    self.next_event_s = self.next_event_s.min(time);
                }
            }
            let there = (body.birth_s..body.removal_s).contains(&now);
            if there != self.present[index] {
                if let (true, Role::Kinematic(motion)) = (there, &body.role) {
                    let (velocity, turning) =
                        motion.velocity(self.step as f64 * self.settings.dt_s);
                    let state = &mut self.states[index];
                    state.velocity = velocity;
                    state.spin = state.rotation.inverse() * turning;
                }
                let (kinetic, potential) = self.energy_of(index);
                let share = if there { 1.0 } else { -1.0 };
                self.energy.brought_in_j += share * (kinetic + potential);
                self.energy.kinetic_j += share * kinetic;
                self.energy.potential_j += share * potential;
                self.present[index] = there;
                self.detector.set_present(index as u32, there)?;
            }
        }
        Ok(())
    }

    fn check_overlaps(&mut self) -> Result<(), RigidError> {
        self.detector.update(&self.middle)?;
        for manifold in self.detector.manifolds() {
            let range = manifold.points.start as usize..manifold.points.end as usize;
            for point in &self.detector.points()[range] {
                if point.gap < -self.settings.overlap_tolerance_m {
                    let name = |contactor: u32| {
                        let body = self.detector.contactors()[contactor as usize].body;
                        self.scene.bodies[body as usize].name.clone()
                    };
                    return Err(RigidError::Overlap {
                        bodies: [name(manifold.a), name(manifold.b)],
                        overlap_m: -point.gap,
                        allowed_m: self.settings.overlap_tolerance_m,
                    });
                }
            }
        }
        Ok(())
    }

    /// Kinetic and potential energy of one body.
    #[inline]
    pub(crate) fn energy_of(&self, index: usize) -> (f64, f64) {
        let Some(inertia) = &self.inertia[index] else {
            return (0.0, 0.0);
        };
        let state = &self.states[index];
        let turning = state.spin.dot(&(inertia.inertia * state.spin));
        let moving = inertia.mass_kg * state.velocity.norm_squared();
        let height = self.scene.gravity_m_per_s2.dot(&state.position);
        (0.5 * (moving + turning), -inertia.mass_kg * height)
    }

    /// Time now [s].
    pub fn time_s(&self) -> f64 {
        self.step as f64 * self.settings.dt_s
    }

    /// Steps taken since the start.
    pub fn steps(&self) -> u64 {
        self.step
    }

    /// The scene it started from.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// The settings it runs with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// State of a body: centre of mass, rotation, velocities.
    pub fn state(&self, body: usize) -> &BodyState {
        &self.states[body]
    }

    /// Place of a body's frame.
    pub fn pose(&self, body: usize) -> Pose {
        let state = &self.states[body];
        let centre = self.inertia[body].map_or(Vec3::zeros(), |i| i.centre_m);
        Pose {
            position: state.position - state.rotation * centre,
            rotation: state.rotation,
        }
    }

    /// Angular velocity of a body in world axes [rad/s].
    pub fn angular_velocity(&self, body: usize) -> Vec3 {
        self.states[body].rotation * self.states[body].spin
    }

    /// Velocity of a point given in the body's frame [m/s].
    pub fn point_velocity(&self, body: usize, point_m: &Vec3) -> Vec3 {
        let state = &self.states[body];
        let centre = self.inertia[body].map_or(Vec3::zeros(), |i| i.centre_m);
        state.velocity + state.rotation * state.spin.cross(&(point_m - centre))
    }

    /// Acceleration of a point given in the body's frame [m/s2] and angular acceleration [rad/s2], world axes;
    /// none with the nonsmooth stepper, whose velocities jump.
    pub fn point_acceleration(&self, body: usize, point_m: &Vec3) -> Option<(Vec3, Vec3)> {
        let a = &self.smooth.as_ref()?.accelerations[body];
        let turning = Vec3::new(a[3], a[4], a[5]);
        let state = &self.states[body];
        let centre = self.inertia[body].map_or(Vec3::zeros(), |i| i.centre_m);
        let arm = state.rotation * (point_m - centre);
        let w = state.rotation * state.spin;
        let along = Vec3::new(a[0], a[1], a[2]) + turning.cross(&arm) + w.cross(&w.cross(&arm));
        Some((along, turning))
    }

    /// Whether a body is there now.
    pub fn is_present(&self, body: usize) -> bool {
        self.present[body]
    }

    /// Mass of a body [kg]; none if it is not dynamic.
    pub fn mass_kg(&self, body: usize) -> Option<f64> {
        self.inertia[body].map(|i| i.mass_kg)
    }

    /// Sets the velocity of a body's centre of mass and its angular velocity in world axes. The change of
    /// energy is booked as brought in.
    pub fn set_velocity(&mut self, body: usize, velocity: Vec3, angular_velocity: Vec3) {
        let (kinetic, _) = self.energy_of(body);
        let state = &mut self.states[body];
        state.velocity = velocity;
        state.spin = state.rotation.inverse() * angular_velocity;
        if let Some(smooth) = &mut self.smooth {
            smooth.forget();
        }
        if let Some(joints) = &mut self.articulation {
            joints.loose = true;
        }
        if self.present[body] {
            let change = self.energy_of(body).0 - kinetic;
            self.energy.kinetic_j += change;
            self.energy.brought_in_j += change;
        }
    }

    /// How the scene went together at the start.
    pub fn assembled(&self) -> &Assembled {
        &self.assembled
    }

    /// The contacts of the last step, rising in (a, b).
    pub fn contacts(&self) -> &[ActiveContact] {
        &self.active
    }

    /// The energy account.
    pub fn energy(&self) -> &Energy {
        &self.energy
    }

    /// Dissipation and impulses by law, in the order of the scene's laws.
    pub fn pair_work(&self) -> &[PairWork] {
        &self.pair_work
    }

    /// Time spent in the parts of the steps, if `timed` is set.
    pub fn timing(&self) -> &Timing {
        &self.timing
    }
}

//! A scene in motion.

use crate::bonds::{BondMemory, BondPoint};
use crate::energy::{Energy, PairWork};
use crate::error::RigidError;
use crate::free_motion::BodyState;
use crate::joints::Assembled;
use crate::nonsmooth::{ActiveContact, Nonsmooth};
use crate::report::StepReport;
use crate::scene::Scene;
use crate::settings::{Settings, Stepper};
use crate::setup::Setup;
use crate::smooth::Smooth;
use crate::state::State;
use crate::timing::Timing;
use percuss_geometry::{Pose, Vec3};

/// A scene, its state, and what steps it.
pub struct World {
    pub(crate) setup: Setup,
    pub(crate) state: State,
    pub(crate) stepper: Moving,
}

/// What steps a scene, with its buffers.
pub(crate) enum Moving {
    Nonsmoothly(Box<Nonsmooth>),
    Smoothly(Box<Smooth>),
}

impl Moving {
    pub fn smooth(&self) -> Option<&Smooth> {
        match self {
            Self::Smoothly(smooth) => Some(smooth),
            Self::Nonsmoothly(_) => None,
        }
    }

    /// What one step hands to the next besides the state.
    pub fn carried(&self) -> Vec<f64> {
        match self {
            Self::Smoothly(smooth) => smooth.carried(),
            Self::Nonsmoothly(nonsmooth) => nonsmooth.carried(),
        }
    }

    /// Goes on from a state that was kept, with what was carried then.
    pub fn resume(&mut self, state: &State, carried: &[f64]) -> Result<(), RigidError> {
        match self {
            Self::Smoothly(smooth) => {
                smooth.carry(carried);
                Ok(())
            }
            Self::Nonsmoothly(nonsmooth) => nonsmooth.resume(state, carried),
        }
    }
}

impl World {
    /// The scene at rest at its start.
    ///
    /// # Errors
    /// Anything wrong with the scene or the settings, in one sentence.
    pub fn new(scene: Scene, settings: Settings) -> Result<Self, RigidError> {
        let (setup, mut state) = Setup::new(scene, settings)?;
        let stepper = match settings.stepper {
            Stepper::Nonsmooth => {
                let mut nonsmooth = Nonsmooth::new(&setup, &state)?;
                nonsmooth.start(&setup, &mut state)?;
                Moving::Nonsmoothly(Box::new(nonsmooth))
            }
            Stepper::Smooth(method) => {
                let mut smooth = Smooth::new(&setup, &state, method)?;
                smooth.begin(&setup, &mut state);
                Moving::Smoothly(Box::new(smooth))
            }
        };
        let world = Self {
            setup,
            state,
            stepper,
        };
        world.check_mesh_sides()?;
        Ok(world)
    }

    /// Takes one step.
    ///
    /// # Errors
    /// When the state leaves the finite numbers. A contact problem above its tolerance is no error: see
    /// [`StepReport::met`].
    pub fn step(&mut self) -> Result<StepReport, RigidError> {
        let (setup, state) = (&self.setup, &mut self.state);
        match &mut self.stepper {
            Moving::Nonsmoothly(nonsmooth) => nonsmooth.step(setup, state),
            Moving::Smoothly(smooth) => smooth.step(setup, state),
        }
    }

    /// Time now [s].
    pub fn time_s(&self) -> f64 {
        self.setup.time_s(&self.state)
    }

    /// Steps taken since the start.
    pub fn steps(&self) -> u64 {
        self.state.step
    }

    /// The scene it started from.
    pub fn scene(&self) -> &Scene {
        &self.setup.scene
    }

    /// The settings it runs with.
    pub fn settings(&self) -> &Settings {
        &self.setup.settings
    }

    /// State of a body: centre of mass, rotation, velocities.
    pub fn state(&self, body: usize) -> &BodyState {
        &self.state.bodies[body]
    }

    /// Place of a body's frame.
    pub fn pose(&self, body: usize) -> Pose {
        self.setup.pose(&self.state, body)
    }

    /// Angular velocity of a body in world axes [rad/s].
    pub fn angular_velocity(&self, body: usize) -> Vec3 {
        self.state.bodies[body].rotation * self.state.bodies[body].spin
    }

    /// Velocity of a point given in the body's frame [m/s].
    pub fn point_velocity(&self, body: usize, point_m: &Vec3) -> Vec3 {
        let state = &self.state.bodies[body];
        let centre = self.setup.centre_m(body);
        state.velocity + state.rotation * state.spin.cross(&(point_m - centre))
    }

    /// Acceleration of a point given in the body's frame [m/s2] and angular acceleration [rad/s2], world axes;
    /// none with the nonsmooth stepper, whose velocities jump.
    pub fn point_acceleration(&self, body: usize, point_m: &Vec3) -> Option<(Vec3, Vec3)> {
        let a = &self.stepper.smooth()?.accelerations[body];
        let turning = Vec3::new(a[3], a[4], a[5]);
        let state = &self.state.bodies[body];
        let centre = self.setup.centre_m(body);
        let arm = state.rotation * (point_m - centre);
        let w = state.rotation * state.spin;
        let along = Vec3::new(a[0], a[1], a[2]) + turning.cross(&arm) + w.cross(&w.cross(&arm));
        Some((along, turning))
    }

    /// Whether a body is there now.
    pub fn is_present(&self, body: usize) -> bool {
        self.state.present[body]
    }

    /// Mass of a body [kg]; none if it is not dynamic.
    pub fn mass_kg(&self, body: usize) -> Option<f64> {
        self.setup.inertia[body].map(|i| i.mass_kg)
    }

    /// Sets the velocity of a body's centre of mass and its angular velocity in world axes. The change of
    /// energy is booked as brought in.
    pub fn set_velocity(&mut self, body: usize, velocity: Vec3, angular_velocity: Vec3) {
        let (kinetic, _) = self.setup.energy_of(&self.state, body);
        let state = &mut self.state.bodies[body];
        state.velocity = velocity;
        state.spin = state.rotation.inverse() * angular_velocity;
        self.state.asleep[body] = false;
        self.state.quiet[body] = 0;
        match &mut self.stepper {
            Moving::Smoothly(smooth) => smooth.forget(),
            Moving::Nonsmoothly(nonsmooth) => nonsmooth.loosen(body, &mut self.state.bonds),
        }
        if self.state.present[body] {
            let change = self.setup.energy_of(&self.state, body).0 - kinetic;
            self.state.energy.kinetic_j += change;
            self.state.energy.brought_in_j += change;
        }
    }

    /// How the scene went together at the start.
    pub fn assembled(&self) -> &Assembled {
        &self.setup.assembled
    }

    /// The contacts of the last step, rising in (a, b).
    pub fn contacts(&self) -> &[ActiveContact] {
        &self.state.contacts
    }

    /// What the points of bonds remember: the bond of each, its area [m2], and its memory.
    pub fn bond_points(&self) -> impl Iterator<Item = (usize, f64, &BondMemory)> {
        let points: &[BondPoint] = match &self.stepper {
            Moving::Nonsmoothly(nonsmooth) => nonsmooth.bond_points(),
            Moving::Smoothly(_) => &[],
        };
        let each = points.iter().zip(&self.state.bonds);
        each.map(|(point, memory)| (point.bond as usize, point.area_m2, memory))
    }

    /// The energy account.
    pub fn energy(&self) -> &Energy {
        &self.state.energy
    }

    /// Dissipation and impulses by law, in the order of the scene's laws.
    pub fn pair_work(&self) -> &[PairWork] {
        &self.state.pair_work
    }

    /// Whether a body sleeps: see [`Settings::sleep_speed_m_per_s`].
    pub fn is_asleep(&self, body: usize) -> bool {
        self.state.asleep[body]
    }

    /// Times the parts of the steps from now on; those of the nonsmooth stepper.
    pub fn time_steps(&mut self) {
        if let Moving::Nonsmoothly(nonsmooth) = &mut self.stepper {
            nonsmooth.timed = true;
        }
    }

    /// Time spent in the parts of the steps since [`World::time_steps`].
    pub fn timing(&self) -> Timing {
        match &self.stepper {
            Moving::Nonsmoothly(nonsmooth) => nonsmooth.timing,
            Moving::Smoothly(_) => Timing::default(),
        }
    }
}

//! What does not change once a scene has been set up.

use crate::body::{Inertia, Role};
use crate::energy::PairWork;
use crate::error::RigidError;
use crate::free_motion::BodyState;
use crate::joints::{Assembled, Connected, Linked, assemble};
use crate::law_table::LawTable;
use crate::probing::Gathered;
use crate::scene::Scene;
use crate::settings::{Settings, Stepper};
use crate::state::State;
use percuss_geometry::{Contactor, Pose, Vec3};
use std::ops::Range;

/// A scene, its settings, and what follows from both.
pub(crate) struct Setup {
    pub scene: Scene,
    pub settings: Settings,
    pub laws: LawTable,
    /// Mass of the dynamic bodies; none for static and kinematic ones.
    pub inertia: Vec<Option<Inertia>>,
    /// What joints and elements connect.
    pub connected: Vec<Connected>,
    /// The joints at the start: their frames about the mass centres, and their rows. The world is the body after the last.
    pub joints: Vec<Linked>,
    pub assembled: Assembled,
}

impl Setup {
    /// The set-up of a scene, and its state at the start, with no body there yet.
    ///
    /// # Errors
    /// Anything wrong with the scene or the settings, in one sentence.
    pub fn new(scene: Scene, settings: Settings) -> Result<(Self, State), RigidError> {
        settings.check()?;
        scene.check()?;
        if matches!(settings.stepper, Stepper::Smooth(_)) {
            scene.check_smooth()?;
        }
        let laws = LawTable::new(&scene.laws, touching(&scene, &settings), settings.tolerance)?;
        let inertia = inertia(&scene)?;
        let mut bodies: Vec<BodyState> = (0..scene.bodies.len())
            .map(|body| at_start(&scene, &inertia, body))
            .collect();
        for (index, load) in scene.loads.iter().enumerate() {
            if inertia[load.body].is_none() {
                return Err(RigidError::NotDynamic {
                    what: format!("load {index}"),
                    body: scene.bodies[load.body].name.clone(),
                });
            }
        }
        let connected = Connected::parts(&scene, &inertia);
        let (joints, assembled) = put_together(&scene, &inertia, &connected, &mut bodies)?;
        let count = bodies.len();
        let state = State {
            present: vec![false; count],
            quiet: vec![0; count],
            asleep: vec![false; count],
            pair_work: vec![PairWork::default(); scene.laws.len()],
            gathered: vec![Gathered::default(); scene.probes.len()],
            reactions: vec![[0.0; 6]; joints.len()],
            bodies,
            ..State::default()
        };
        let setup = Self {
            scene,
            settings,
            laws,
            inertia,
            connected,
            joints,
            assembled,
        };
        Ok((setup, state))
    }

    /// Contactors that can touch: the smooth stepper looks at no contact, they are for masses and pictures there.
    pub fn touching(&self) -> &[Contactor] {
        touching(&self.scene, &self.settings)
    }

    /// Whether forces do not move a body.
    #[inline]
    pub fn is_fixed(&self, body: u32) -> bool {
        self.inertia[body as usize].is_none()
    }

    /// Centre of mass in the body's frame.
    pub fn centre_m(&self, body: usize) -> Vec3 {
        self.inertia[body].map_or(Vec3::zeros(), |i| i.centre_m)
    }

    /// Place of a body's frame.
    pub fn pose(&self, state: &State, body: usize) -> Pose {
        let state = &state.bodies[body];
        Pose {
            position: state.position - state.rotation * self.centre_m(body),
            rotation: state.rotation,
        }
    }

    /// Time at the state [s].
    pub fn time_s(&self, state: &State) -> f64 {
        state.step as f64 * self.settings.dt_s
    }

    /// When the step ends; the very number that the next one starts with.
    pub fn step_end_s(&self, state: &State) -> f64 {
        (state.step + 1) as f64 * self.settings.dt_s
    }

    /// Kinetic and potential energy of one body.
    #[inline]
    pub fn energy_of(&self, state: &State, index: usize) -> (f64, f64) {
        let Some(inertia) = &self.inertia[index] else {
            return (0.0, 0.0);
        };
        let state = &state.bodies[index];
        let turning = state.spin.dot(&(inertia.inertia * state.spin));
        let moving = inertia.mass_kg * state.velocity.norm_squared();
        let height = self.scene.gravity_m_per_s2.dot(&state.position);
        (0.5 * (moving + turning), -inertia.mass_kg * height)
    }

    /// Books the kinetic and potential energy of what is there.
    pub fn account_state(&self, state: &mut State) {
        let all = 0..state.bodies.len();
        self.book_energy(state, self.energy_of_some(state, all));
    }

    /// Kinetic and potential energy of some of the bodies, as far as they are there.
    pub fn energy_of_some(&self, state: &State, bodies: Range<usize>) -> (f64, f64) {
        let there = bodies.filter(|&body| state.present[body]);
        there.fold((0.0, 0.0), |(kinetic, potential), body| {
            let (k, p) = self.energy_of(state, body);
            (kinetic + k, potential + p)
        })
    }

    /// Books the kinetic and potential energy of all that is there.
    pub fn book_energy(&self, state: &mut State, (kinetic_j, potential_j): (f64, f64)) {
        (state.energy.kinetic_j, state.energy.potential_j) = (kinetic_j, potential_j);
    }

    /// The error of a state that left the finite numbers.
    pub fn diverged(&self, state: &State, body: usize) -> RigidError {
        RigidError::Diverged {
            step: state.step,
            time_s: self.time_s(state),
            body: self.scene.bodies[body].name.clone(),
        }
    }
}

fn touching<'a>(scene: &'a Scene, settings: &Settings) -> &'a [Contactor] {
    match settings.stepper {
        Stepper::Nonsmooth => &scene.contactors,
        Stepper::Smooth(_) => &[],
    }
}

/// Mass of the bodies that forces move.
fn inertia(scene: &Scene) -> Result<Vec<Option<Inertia>>, RigidError> {
    let mut own: Vec<Vec<&Contactor>> = vec![Vec::new(); scene.bodies.len()];
    for contactor in &scene.contactors {
        own[contactor.body as usize].push(contactor);
    }
    let one = |(body, own): (&crate::body::Body, Vec<&Contactor>)| match &body.role {
        Role::Dynamic(mass) => Ok(Some(Inertia::new(body, mass, &own)?)),
        Role::Kinematic(motion) => {
            motion.check(&body.name)?;
            Ok(None)
        }
        Role::Static => Ok(None),
    };
    scene.bodies.iter().zip(own).map(one).collect()
}

fn at_start(scene: &Scene, inertia: &[Option<Inertia>], index: usize) -> BodyState {
    let body = &scene.bodies[index];
    let centre = inertia[index].map_or(Vec3::zeros(), |i| i.centre_m);
    let (velocity, turning) = match &body.role {
        Role::Static => (Vec3::zeros(), Vec3::zeros()),
        Role::Kinematic(motion) => motion.velocity(0.0),
        Role::Dynamic(_) => (body.velocity_m_per_s, body.angular_velocity_rad_per_s),
    };
    BodyState {
        position: body.pose.point(&centre),
        rotation: body.pose.rotation,
        velocity,
        spin: body.pose.rotation.inverse() * turning,
    }
}

/// Brings every connected part onto its constraints.
fn put_together(
    scene: &Scene,
    inertia: &[Option<Inertia>],
    connected: &[Connected],
    bodies: &mut [BodyState],
) -> Result<(Vec<Linked>, Assembled), RigidError> {
    let mut joints = Vec::with_capacity(scene.joints.len());
    let mut whole = Assembled::default();
    for part in connected {
        let mut own = part.own(bodies);
        let (mechanism, assembled) =
            assemble(&part.own_joints(scene), &part.own(inertia), &mut own)?;
        for (&body, state) in part.bodies.iter().zip(own) {
            bodies[body] = state;
        }
        for linked in mechanism.joints {
            joints.push(Linked {
                joint: part.joints[linked.joint],
                bodies: linked
                    .bodies
                    .map(|body| part.bodies.get(body).copied().unwrap_or(bodies.len())),
                ..linked
            });
        }
        whole.moved_m = whole.moved_m.max(assembled.moved_m);
        whole.redundant.extend(assembled.redundant);
    }
    joints.sort_by_key(|linked| linked.joint);
    Ok((joints, whole))
}

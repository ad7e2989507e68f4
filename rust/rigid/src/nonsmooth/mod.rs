//! The nonsmooth stepper: one step of the Moreau-Jean scheme.

mod account;
mod bonds;
mod collect;
mod contact;
mod desk;
mod island;
mod islands;
mod joints;
mod look_ahead;
mod middle;
mod overlap;
mod passage;
mod rest;
mod solve;
mod stabilisation;
mod threads;

pub use contact::ActiveContact;
pub(crate) use look_ahead::LEFT as LEFT_ALONE;

use crate::body::Role;
use crate::bonds::{BondMemory, BondPoint};
use crate::error::RigidError;
use crate::report::StepReport;
use crate::setup::Setup;
use crate::state::State;
use crate::timing::{Stopwatch, Timing};
use bonds::Bonded;
use contact::Touch;
use island::Island;
use islands::Islands;
use joints::Articulation;
use middle::Middle;
use passage::Passages;
use percuss_geometry::{Contactor, Detector, Vec3, Visibility};
use rayon::ThreadPool;
use rayon::prelude::*;
use stabilisation::Clearing;
use std::sync::Arc;

/// Scenes of fewer contactors take one thread, whatever the settings: there is nothing to share out.
const SMALL: usize = 64;

/// What the nonsmooth stepper needs besides set-up and state: buffers, kept so that steps do not allocate, and what
/// follows from the state.
pub(crate) struct Nonsmooth {
    pool: Option<Arc<ThreadPool>>,
    detector: Detector,
    next_event_s: f64,
    /// Parts of the scene that joints and elements connect.
    parts: Vec<Articulation>,
    /// The part of each body that joints hold, and its number there.
    part_of: Vec<Option<(u32, u32)>>,
    middle: Middle,
    /// Twists before the contact problem is solved.
    free: Vec<[f64; 6]>,
    /// What changes of them while bonds give way; zero otherwise.
    changes: Vec<[f64; 6]>,
    touches: Vec<Touch>,
    /// Points of bonds, those that act in this step, and the bodies that touch by their bond alone, rising.
    bond_points: Vec<BondPoint>,
    bonded: Vec<Bonded>,
    bonded_pairs: Vec<[u32; 2]>,
    /// Velocities at which faces that did not move together part at the start of the step, world axes.
    partings: Vec<Vec3>,
    moved: Vec<[Option<u32>; 2]>,
    islands: Islands,
    problems: Vec<Island>,
    /// Which islands are to be solved.
    due: Vec<bool>,
    /// Which are solved in this step.
    awake: Vec<bool>,
    /// Points whose overlap may be cleared at the end of the step, and what they connect.
    clearings: Vec<Clearing>,
    clearing_islands: Islands,
    passages: Passages,
    pub timed: bool,
    pub timing: Timing,
}

impl Nonsmooth {
    /// A stepper of a scene that has been set up.
    ///
    /// # Errors
    /// Contactors or joints that cannot be, or threads that the machine does not give.
    pub fn new(setup: &Setup, state: &State) -> Result<Self, RigidError> {
        let settings = &setup.settings;
        let seen: Vec<(u16, u16)> = setup.scene.laws.iter().map(|law| law.groups).collect();
        // The detector places contactors in frames at the centres of mass.
        let placed = |contactor: &Contactor| {
            let mut contactor = contactor.clone();
            contactor.pose.position -= setup.centre_m(contactor.body as usize);
            contactor
        };
        let fixed: Vec<bool> = setup.inertia.iter().map(Option::is_none).collect();
        let mut detector = Detector::new(
            setup.touching().iter().map(placed).collect(),
            &fixed,
            Visibility::new(&seen)?,
            settings.contact_tolerance_m.max(settings.look_ahead_m),
        )?;
        for body in 0..fixed.len() {
            detector.set_present(body as u32, false)?;
        }
        let part = |part| Articulation::new(setup, state, part);
        let parts: Vec<Articulation> =
            setup.connected.iter().map(part).collect::<Result<_, _>>()?;
        let mut part_of = vec![None; fixed.len()];
        for (index, part) in (0..).zip(&parts) {
            for (body, own) in part.dynamic() {
                part_of[body] = Some((index, own as u32));
            }
        }
        Ok(Self {
            pool: if setup.touching().len() < SMALL {
                None
            } else {
                threads::pool(settings.threads)?
            },
            detector,
            next_event_s: f64::NEG_INFINITY,
            parts,
            part_of,
            middle: Middle::new(state),
            free: Vec::new(),
            changes: vec![[0.0; 6]; fixed.len()],
            touches: Vec::new(),
            bond_points: Vec::new(),
            bonded: Vec::new(),
            bonded_pairs: Vec::new(),
            partings: Vec::new(),
            moved: Vec::new(),
            islands: Islands::default(),
            problems: Vec::new(),
            due: Vec::new(),
            awake: Vec::new(),
            clearings: Vec::new(),
            clearing_islands: Islands::default(),
            passages: Passages::new(setup),
            timed: false,
            timing: Timing::default(),
        })
    }

    /// Lets the first bodies in; refuses overlaps at the start.
    pub fn start(&mut self, setup: &Setup, state: &mut State) -> Result<(), RigidError> {
        self.admit(setup, state)?;
        self.detector.update(&self.middle.poses)?;
        let allowed_m = setup.settings.overlap_tolerance_m;
        for manifold in self.detector.manifolds() {
            let range = manifold.points.start as usize..manifold.points.end as usize;
            for point in &self.detector.points()[range] {
                if point.gap < -allowed_m {
                    let name = |contactor: u32| {
                        let body = self.detector.contactors()[contactor as usize].body;
                        setup.scene.bodies[body as usize].name.clone()
                    };
                    return Err(RigidError::Overlap {
                        bodies: [name(manifold.a), name(manifold.b)],
                        overlap_m: -point.gap,
                        allowed_m,
                    });
                }
            }
        }
        self.find_bonds(setup, state)?;
        state.energy.elastic_j = self.elastic_j();
        state.energy.brought_in_j += state.energy.elastic_j;
        Ok(())
    }

    /// What one step hands to the next besides the state.
    pub fn carried(&self) -> Vec<f64> {
        self.parts.iter().flat_map(Articulation::carried).collect()
    }

    /// Goes on from a state that was kept, with what was carried then.
    pub fn resume(&mut self, state: &State, carried: &[f64]) -> Result<(), RigidError> {
        self.place(state);
        for (body, present) in state.present.iter().enumerate() {
            self.detector.set_present(body as u32, *present)?;
        }
        let mut carried = carried.iter().copied();
        for part in &mut self.parts {
            part.carry(&mut carried);
        }
        self.next_event_s = f64::NEG_INFINITY;
        Ok(())
    }

    /// Starts from places where bodies came to rest, with velocities still to be made to fit the joints; gives the
    /// elastic energy there.
    pub fn settle_on(&mut self, state: &State) -> f64 {
        self.place(state);
        for part in &mut self.parts {
            part.settle_on(&state.bodies);
        }
        self.elastic_j()
    }

    /// Velocities were set from outside.
    pub fn loosen(&mut self, body: usize, bonds: &mut [BondMemory]) {
        for (point, memory) in self.bond_points.iter().zip(bonds) {
            memory.together &= !point.bodies.contains(&(body as u32));
        }
        for part in &mut self.parts {
            part.loose |= part.bodies.binary_search(&body).is_ok();
        }
    }

    /// Finds the points of bonds, those of bodies that come later too.
    fn find_bonds(&mut self, setup: &Setup, state: &mut State) -> Result<(), RigidError> {
        let later = |(_, there): &(u32, &bool)| !**there;
        let absent: Vec<u32> = (0..)
            .zip(&state.present)
            .filter(later)
            .map(|(b, _)| b)
            .collect();
        let looks = !absent.is_empty() && !setup.scene.bonds.is_empty();
        if looks {
            for &body in &absent {
                self.detector.set_present(body, true)?;
            }
            self.detector.update(&self.middle.poses)?;
        }
        let points = crate::bonds::find(setup, &self.detector, &self.middle.poses)?;
        self.set_bond_points(&points, state);
        if looks {
            for &body in &absent {
                self.detector.set_present(body, false)?;
            }
            self.detector.update(&self.middle.poses)?;
        }
        Ok(())
    }

    /// Begins with these points of bonds, none of them damaged.
    pub fn set_bond_points(&mut self, points: &[BondPoint], state: &mut State) {
        self.bond_points = points.to_vec();
        state.bonds = vec![BondMemory::default(); points.len()];
    }

    /// The points of bonds.
    pub fn bond_points(&self) -> &[BondPoint] {
        &self.bond_points
    }

    /// Where bodies were when forces last acted.
    pub fn centre(&self, body: usize) -> Vec3 {
        self.middle.poses[body].position
    }

    fn place(&mut self, state: &State) {
        for (pose, body) in self.middle.poses.iter_mut().zip(&state.bodies) {
            *pose = body.pose();
        }
    }

    fn elastic_j(&self) -> f64 {
        // From zero: the sum of nothing is -0.
        let add = |sum: f64, part: &Articulation| sum + part.elastic_now_j;
        self.parts.iter().fold(0.0, add)
    }

    /// Takes one step, on the threads of the run.
    pub fn step(&mut self, setup: &Setup, state: &mut State) -> Result<StepReport, RigidError> {
        match self.pool.clone() {
            Some(pool) => threads::on(&pool, || self.take_step(setup, state)),
            None => self.take_step(setup, state),
        }
    }

    fn is_parallel(&self) -> bool {
        self.pool.is_some()
    }

    fn take_step(&mut self, setup: &Setup, state: &mut State) -> Result<StepReport, RigidError> {
        let mut watch = Stopwatch::start(self.timed);
        let parallel = self.is_parallel();
        self.admit(setup, state)?;
        for part in &mut self.parts {
            part.tighten(setup, state)?;
        }
        self.wake_loaded(setup, state);
        self.compare_bonded(state);
        self.passages.begin(state);
        self.middle.reach(setup, state, parallel);
        self.middle.push(setup, state, parallel);
        self.pull_bonds(setup, state);
        for part in &mut self.parts {
            part.hold_free(setup, state, &mut self.middle);
        }
        watch.lap(&mut self.timing.rest);
        self.detector.update_on(&self.middle.poses, parallel)?;
        watch.lap(&mut self.timing.detection);
        self.collect(setup, state);
        self.free_bonds();
        for part in &mut self.parts {
            part.bound(&setup.settings, &self.middle);
        }
        self.split(setup, state);
        watch.lap(&mut self.timing.assembly);
        let verdict = self.solve(setup, state)?;
        watch.lap(&mut self.timing.solve);
        let overlap = self.take(setup, state);
        let (work, gained) = self.account(setup, state);
        self.middle.account(setup, state);
        if let Some(body) = self.middle.leave(setup, state, parallel) {
            return Err(setup.diverged(state, body));
        }
        self.stabilise(setup, state)?;
        let end = setup.step_end_s(state);
        for index in 0..self.parts.len() {
            if !self.sleeps(state, index) {
                self.parts[index].close_joints(setup, state, end)?;
            }
        }
        if !self.parts.is_empty() {
            state.energy.elastic_j = self.elastic_j();
        }
        let overlap = overlap.deeper(self.passages.deepest(setup, state));
        self.rest(setup, state);
        self.account_state(setup, state);
        state.step += 1;
        watch.lap(&mut self.timing.rest);
        Ok(StepReport {
            step: state.step - 1,
            time_s: setup.time_s(state),
            contacts: state.contacts.len(),
            islands: self.islands.count(),
            iterations: verdict.iterations,
            factorisations: verdict.factorisations,
            residual: verdict.residual,
            residual_siconos: verdict.residual_siconos,
            met: verdict.met,
            contact_work_j: work,
            gained,
            overlap_m: overlap.depth_m,
            overlap_share: overlap.share,
        })
    }

    /// Books the kinetic and potential energy of what is there; many bodies are added up piece by piece.
    fn account_state(&self, setup: &Setup, state: &mut State) {
        let (count, piece) = (state.bodies.len(), threads::piece(state.bodies.len()));
        if count <= piece {
            return setup.account_state(state);
        }
        let one = |k: usize| setup.energy_of_some(state, k * piece..count.min((k + 1) * piece));
        let pieces = 0..count.div_ceil(piece);
        let parts: Vec<(f64, f64)> = if self.is_parallel() {
            pieces.into_par_iter().map(one).collect()
        } else {
            pieces.map(one).collect()
        };
        let sum = parts
            .iter()
            .fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
        setup.book_energy(state, sum);
    }

    /// Lets bodies in and out whose time has come.
    fn admit(&mut self, setup: &Setup, state: &mut State) -> Result<(), RigidError> {
        // Half a step of grace: a time that is a whole number of steps falls on its step whatever rounding.
        let now = setup.time_s(state) + 0.5 * setup.settings.dt_s;
        if now < self.next_event_s {
            return Ok(());
        }
        self.next_event_s = f64::INFINITY;
        for (index, body) in setup.scene.bodies.iter().enumerate() {
            for time in [body.birth_s, body.removal_s] {
                if time > now {
                    self.next_event_s = self.next_event_s.min(time);
                }
            }
            let there = (body.birth_s..body.removal_s).contains(&now);
            if there != state.present[index] {
                if let (true, Role::Kinematic(motion)) = (there, &body.role) {
                    let (velocity, turning) = motion.velocity(setup.time_s(state));
                    let state = &mut state.bodies[index];
                    state.velocity = velocity;
                    state.spin = state.rotation.inverse() * turning;
                }
                let (kinetic, potential) = setup.energy_of(state, index);
                let share = if there { 1.0 } else { -1.0 };
                state.energy.brought_in_j += share * (kinetic + potential);
                state.energy.kinetic_j += share * kinetic;
                state.energy.potential_j += share * potential;
                state.present[index] = there;
                self.detector.set_present(index as u32, there)?;
            }
        }
        Ok(())
    }
}

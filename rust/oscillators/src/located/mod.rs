//! The event-located integrator.
//!
//! Between contacts the motion is a Taylor polynomial ([`crate::located::flight`]), in closed form for a linear system and for
//! springs with a piecewise linear law between their kinks; while a compliant contact pushes or a spring has a curved law, the eighth-order method of Dormand and Prince with tight error control. Onset, turning,
//! release and re-contact, yielding and unloading are roots located to rounding, and the method never steps over one, so that its order is not
//! lost at the kinks of the laws. Rigid impacts are impulses; rigid contacts whose bounces have died out are held
//! closed until their reaction would pull.

pub(crate) mod dop853;
pub(crate) mod dop853_coefficients;
pub(crate) mod flight;
pub(crate) mod polynomial;
pub(crate) mod rigid_impact;
pub(crate) mod root;

mod contact_step;
mod elements;
mod events;
mod flight_step;
mod peaks;

use percuss_laws::{Memory, Past};

use crate::located::dop853::Dop853;
use crate::located::flight::Flight;
use crate::results::energy::EnergyAccount;
use crate::system::base_motion::Stretch;
use crate::{Model, OscillatorError, Run, Settings};

/// Steps after which a run is given up.
const MOST_STEPS: u64 = 200_000_000;
/// Events without progress in time after which a step is taken without looking for more: rounding plays with signs.
const MOST_IDLE_EVENTS: u32 = 40;

/// What a contact is doing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Phase {
    /// The masses are apart.
    Open,
    /// They still overlap but the law pushes no longer.
    Released,
    /// They push. `approaching`: the indentation grows; `loading`: which branch of the law acts.
    Pressing { approaching: bool, loading: bool },
    /// A rigid contact that stays closed.
    Held,
}

/// What can happen to a contact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Event {
    /// The masses meet.
    Onset,
    /// The masses part.
    Leave,
    /// The law stops pushing while they overlap.
    Release,
    /// The law pushes again while they overlap.
    Push,
    /// The approach turns to parting.
    Turn,
    /// The parting turns to approach.
    TurnBack,
    /// A latched spring is back at its deepest point.
    Reload,
    /// The reaction of a held contact would pull.
    LetGo,
}

/// One contact of a run.
#[derive(Debug, Clone, Copy)]
struct ContactState {
    phase: Phase,
    memory: Memory,
    /// Its impact under way in the list of the run.
    impact: Option<usize>,
    /// Largest approach speed so far: what slow bounces are measured against.
    fastest: f64,
    /// Work it has taken.
    work: f64,
}

/// One spring with a law, or nonlinear damper, of a run.
#[derive(Debug, Clone, Copy)]
struct ElementState {
    past: Past,
    /// Work it has taken.
    work: f64,
    stored_at_start: f64,
}

/// A run under way.
struct Located<'a> {
    model: &'a Model,
    duration: f64,
    t: f64,
    u: Vec<f64>,
    v: Vec<f64>,
    contacts: Vec<ContactState>,
    elements: Vec<ElementState>,
    flight: Flight,
    method: Dop853,
    /// Step the contact method would take next.
    next_step: f64,
    /// Whether a spring has a law that is not piecewise linear: the contact method then takes every step.
    curved: bool,
    idle_events: u32,
    damped: f64,
    base: f64,
    run: Run,
    /// Scratch: states of the contact method, a sampled state, forces.
    y: Vec<f64>,
    y_end: Vec<f64>,
    y_at: Vec<f64>,
    slope: Vec<f64>,
    sample: [Vec<f64>; 3],
    forces: Vec<f64>,
    /// Forces of springs with a law beside their linear parts, at the last state they were asked for.
    element_forces: Vec<f64>,
}

pub(crate) fn run(model: &Model, settings: &Settings) -> Result<Run, OscillatorError> {
    let (n, contacts) = (model.masses(), model.contacts());
    let size = Layout::of(model).size();
    let closed = ContactState {
        phase: Phase::Open,
        memory: Memory::default(),
        impact: None,
        fastest: 0.0,
        work: 0.0,
    };
    let mut located = Located {
        model,
        duration: settings.duration_s,
        t: 0.0,
        u: model.u0.clone(),
        v: model.v0.clone(),
        contacts: vec![closed; contacts],
        elements: elements::at_start(model),
        flight: Flight::new(model),
        method: Dop853::new(size),
        next_step: 0.0,
        curved: false,
        idle_events: 0,
        damped: 0.0,
        base: 0.0,
        run: Run::new(model, &settings.output_times_s),
        y: vec![0.0; size],
        y_end: vec![0.0; size],
        y_at: vec![0.0; size],
        slope: vec![0.0; size],
        sample: [vec![0.0; n], vec![0.0; n], vec![0.0; n]],
        forces: vec![0.0; contacts],
        element_forces: vec![0.0; model.elements()],
    };
    located.begin_elements();
    located.integrate()?;
    Ok(located.finish())
}

impl Located<'_> {
    fn integrate(&mut self) -> Result<(), OscillatorError> {
        while self.t < self.duration {
            self.run.steps += 1;
            if self.run.steps > MOST_STEPS {
                return Err(OscillatorError::TooManySteps {
                    time_s: self.t,
                    steps: self.run.steps,
                });
            }
            self.settle();
            let held: Vec<usize> = (0..self.contacts.len())
                .filter(|&c| self.contacts[c].phase == Phase::Held)
                .collect();
            self.flight.hold(self.model, &held);
            let pasts: Vec<Past> = self.elements.iter().map(|state| state.past).collect();
            self.flight.branch(self.model, &pasts);
            let base: &crate::BaseMotion = &self.model.base;
            let (stretch, until) = base.stretch(self.t);
            let longest = until.min(self.duration) - self.t;
            let pressing = self
                .contacts
                .iter()
                .any(|c| matches!(c.phase, Phase::Pressing { .. }));
            let advance = if pressing || self.curved {
                self.contact_step(&stretch, longest)?
            } else {
                self.flight_step(&stretch, longest)
            };
            // land on breakpoints exactly, so that the next stretch is the right one
            let before = self.t;
            self.t = if advance == longest {
                until.min(self.duration)
            } else {
                self.t + advance
            };
            self.idle_events = if self.t == before {
                self.idle_events + 1
            } else {
                0
            };
            if !self.u.iter().chain(&self.v).all(|x| x.is_finite()) {
                return Err(OscillatorError::Diverged { time_s: self.t });
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Run {
        let states = self.contacts.iter().zip(&self.model.contacts);
        let stored: Vec<f64> = states
            .map(|(state, element)| match state.phase {
                Phase::Pressing { .. } => element
                    .impact
                    .stored_energy(element.indentation(&self.u, &self.v).0, &state.memory),
                _ => 0.0,
            })
            .collect();
        let work: Vec<f64> = self.contacts.iter().map(|contact| contact.work).collect();
        let element_work: Vec<f64> = self.elements.iter().map(|element| element.work).collect();
        let element_stored = self.elements_stored();
        self.run.energy = EnergyAccount::close(
            self.model,
            self.damped,
            self.base,
            &work,
            &stored,
            &element_work,
            &element_stored,
            &self.u,
            &self.v,
        );
        self.find_element_forces();
        self.run
            .note_residuals(self.model, &self.u, &self.element_forces);
        self.run
    }

    /// Output times in `(t, t + advance]`, and the one at the start of the run.
    fn times_due(&self, advance: f64, to_end: bool) -> std::ops::Range<usize> {
        let first = self.run.recorded();
        let end = if to_end {
            f64::INFINITY
        } else {
            self.t + advance
        };
        let due = self.run.times_s[first..].partition_point(|&time| time <= end);
        first..first + due
    }

    /// Rounding of an indentation of this contact.
    fn noise(&self, contact: usize) -> f64 {
        let element = &self.model.contacts[contact];
        let at = |i: usize| self.u.get(i).map_or(0.0, |u| u.abs());
        4.0 * f64::EPSILON * (element.gap.abs() + at(element.pair.left) + at(element.pair.right))
            + f64::MIN_POSITIVE
    }

    /// What to watch of a contact: planes in indentation and rate that rise through zero when the event happens.
    fn watches(&self, contact: usize) -> impl Iterator<Item = (Event, [f64; 3])> + use<> {
        let state = &self.contacts[contact];
        let impact = &self.model.contacts[contact].impact;
        let plane = impact.push_plane(&state.memory);
        let ends_before_parting = plane != [1.0, 0.0, 0.0];
        let watches = match state.phase {
            Phase::Open => [
                Some((Event::Onset, [1.0, 0.0, -self.noise(contact)])),
                None,
                None,
            ],
            Phase::Released => [
                Some((Event::Leave, [-1.0, 0.0, 0.0])),
                Some((Event::Push, plane)),
                None,
            ],
            Phase::Pressing {
                approaching: true,
                loading,
            } => {
                let reload = (Event::Reload, [1.0, 0.0, -state.memory.deepest_m]);
                [
                    Some((Event::Turn, [0.0, -1.0, 0.0])),
                    (impact.latches() && !loading).then_some(reload),
                    None,
                ]
            }
            Phase::Pressing {
                approaching: false, ..
            } => {
                let release = (Event::Release, plane.map(|x| -x));
                [
                    Some((Event::TurnBack, [0.0, 1.0, 0.0])),
                    Some((Event::Leave, [-1.0, 0.0, 0.0])),
                    ends_before_parting.then_some(release),
                ]
            }
            Phase::Held => [None; 3],
        };
        watches.into_iter().flatten()
    }
}

/// Places in the state of the contact method: displacements, velocities, flowing variables of springs with a law (those
/// are what the error of a step is measured on), energy lost in dampers, put in by the base, the work and the impulse
/// of each contact, the work of each spring with a law.
#[derive(Debug, Clone, Copy)]
struct Layout {
    flowing: usize,
    damped: usize,
    contact_work: usize,
    impulse: usize,
    element_work: usize,
    end: usize,
}

impl Layout {
    fn of(model: &Model) -> Self {
        let flowing = 2 * model.masses();
        let damped = flowing + model.flowing;
        let contact_work = damped + 2;
        let impulse = contact_work + model.contacts();
        let element_work = impulse + model.contacts();
        Self {
            flowing,
            damped,
            contact_work,
            impulse,
            element_work,
            end: element_work + model.elements(),
        }
    }

    fn size(self) -> usize {
        self.end
    }
}

/// Forces and accelerations while contacts push.
struct Pushing<'a> {
    model: &'a Model,
    contacts: &'a [ContactState],
    elements: &'a [ElementState],
    flight: &'a Flight,
    stretch: &'a Stretch<'a>,
}

impl Pushing<'_> {
    fn rhs(&self, t: f64, y: &[f64], dy: &mut [f64], forces: &mut [f64]) {
        let n = self.model.masses();
        let (u, v) = (&y[..n], &y[n..2 * n]);
        let ground = self.stretch.at(t);
        for ((force, state), element) in forces
            .iter_mut()
            .zip(self.contacts)
            .zip(&self.model.contacts)
        {
            *force = match state.phase {
                Phase::Pressing { loading, .. } => {
                    let (d, rate) = element.indentation(u, v);
                    element
                        .impact
                        .continued_force(d, rate, &state.memory, loading)
                }
                _ => 0.0,
            };
        }
        let layout = Layout::of(self.model);
        dy[..n].copy_from_slice(v);
        // the work of an element has its force until the rate comes in
        for (index, (element, state)) in self.model.elements.iter().zip(self.elements).enumerate() {
            dy[layout.element_work + index] = elements::force(element, state, layout, y);
            elements::flow(element, state, layout, y, dy);
        }
        let (head, element_forces) = dy.split_at_mut(layout.element_work);
        let acceleration = &mut head[n..2 * n];
        self.model
            .acceleration(ground, u, v, forces, element_forces, acceleration);
        for (element, work) in self.model.elements.iter().zip(element_forces) {
            *work *= element.pair.difference(v);
        }
        if !self.flight.held().is_empty() {
            for (i, &contact) in self.flight.held().iter().enumerate() {
                forces[contact] = self.flight.reaction_to(self.model, i, &dy[n..2 * n]);
            }
            for &contact in self.flight.held() {
                let pair = self.model.contacts[contact].pair;
                crate::located::flight::push_masses(
                    self.model,
                    pair,
                    forces[contact],
                    &mut dy[n..2 * n],
                );
            }
        }
        dy[layout.damped] = self.model.damped_power(v);
        dy[layout.damped + 1] = self.model.base_power(ground, v);
        for (c, element) in self.model.contacts.iter().enumerate() {
            dy[layout.contact_work + c] = forces[c] * element.pair.difference(v);
            dy[layout.impulse + c] = forces[c];
        }
    }
}

//! What fixed-step schemes share: the loop, contacts, outputs, peaks and the energy account.
//!
//! A scheme advances a [`Walk`] by one step; the loop is compiled for each scheme and each small size. Output times off
//! the grid of steps are met by cubic interpolation. The account sums powers at the steps, so its closing error
//! is the scheme's error, of the order of the scheme in smooth motion.

pub(crate) mod central_difference;
pub(crate) mod condensed;
pub(crate) mod lanes;
pub(crate) mod moreau_jean;
pub(crate) mod newmark;
pub(crate) mod runge_kutta;

mod contacts;
mod elements;
mod newton;
mod tally;

use percuss_laws::Memory;

pub(crate) use contacts::{WalkContact, Watch};
pub(crate) use elements::WalkElement;
pub(crate) use newton::Newton;
pub(crate) use tally::{Tally, glide};

use crate::matrices::banded::Banded;
use crate::matrices::dense::Dense;
use crate::matrices::diagonal::Diagonal;
use crate::matrices::propagator::{Propagator, Vector};
use crate::results::energy::EnergyAccount;
use crate::results::impacts::ImpactEvent;
use crate::system::base_motion::Reader;
use crate::system::model::Pair;
use crate::{Model, OscillatorError, Run, Settings};

/// Steps between looks at whether the motion is still finite.
const LOOK_EVERY: u64 = 8192;

/// State and sums of a fixed-step run.
pub(crate) struct Walk<'a, P: Propagator> {
    pub model: &'a Model,
    pub propagator: P,
    pub dt: f64,
    pub index: u64,
    pub u: P::Vector,
    pub v: P::Vector,
    /// Relative acceleration.
    pub a: P::Vector,
    /// Base acceleration in the current state.
    pub ground: f64,
    pub reader: Reader<'a>,
    pub contacts: Vec<WalkContact>,
    /// `left^-1` times a unit push of each contact.
    pub columns: Vec<P::Vector>,
    /// Cubic springs with `left^-1` times their unit push.
    pub cubic: Vec<(Pair, f64, P::Vector)>,
    /// Springs with a law and nonlinear dampers, `left^-1` times their unit push, and their forces in the current state.
    pub elements: Vec<WalkElement>,
    pub element_columns: Vec<P::Vector>,
    pub element_forces: Vec<f64>,
    /// `left^-1 M 1`.
    pub ground_column: P::Vector,
    pub fault: Option<OscillatorError>,
    pub watches: Vec<Watch<P::Vector>>,
    impacts: Vec<ImpactEvent>,
    pub tally: Tally<P::Vector>,
    /// Scratch: absolute acceleration.
    absolute: P::Vector,
}

/// The matrices of a scheme, row by row.
pub(crate) struct Matrices {
    pub left: Vec<f64>,
    pub first: Vec<f64>,
    pub second: Vec<f64>,
}

/// A fixed-step scheme.
pub(crate) trait Scheme<P: Propagator>: Sized {
    /// Its name, for messages.
    const NAME: &'static str;

    /// Its constant matrices from stiffness, damping and the step.
    fn matrices(&self, model: &Model, stiffness: &[f64], damping: &[f64], dt: f64) -> Matrices;

    /// Make ready; displacement, velocity and acceleration of the walk are those of the start.
    fn begin(&mut self, walk: &mut Walk<'_, P>);

    /// Move the walk on by one step.
    fn advance(&mut self, walk: &mut Walk<'_, P>);

    /// Move the walk on to `stop`, or to the step before a contact closes. Steps without contact are nearly all of a
    /// run: here they go through a loop on local values, which the compiler keeps in registers.
    fn glide(&mut self, _walk: &mut Walk<'_, P>, _stop: u64) {}
}

/// A scheme not yet tied to a size.
pub(crate) trait AnySize {
    /// The scheme for systems of this kind of size.
    fn scheme<P: Propagator>(&self, n: usize) -> impl Scheme<P>;
}

/// Run a scheme in the version that suits the number of masses.
pub(crate) fn run(
    model: &Model,
    settings: &Settings,
    dt: f64,
    any: &impl AnySize,
) -> Result<Run, OscillatorError> {
    match model.masses() {
        2 if model.uncoupled() => walk(model, settings, dt, any.scheme::<Diagonal<2>>(2)),
        3 if model.uncoupled() => walk(model, settings, dt, any.scheme::<Diagonal<3>>(3)),
        1 => walk(model, settings, dt, any.scheme::<Diagonal<1>>(1)),
        2 => walk(model, settings, dt, any.scheme::<Dense<2>>(2)),
        3 => walk(model, settings, dt, any.scheme::<Dense<3>>(3)),
        4 => walk(model, settings, dt, any.scheme::<Dense<4>>(4)),
        n => walk(model, settings, dt, any.scheme::<Banded>(n)),
    }
}

fn walk<P: Propagator, S: Scheme<P>>(
    model: &Model,
    settings: &Settings,
    dt: f64,
    mut scheme: S,
) -> Result<Run, OscillatorError> {
    let mut walk = Walk::new(model, dt, &scheme)?;
    scheme.begin(&mut walk);
    let mut run = Run::new(model, &settings.output_times_s);
    let mut before = walk.snapshot();
    for stop in stops(settings, dt) {
        walk.advance_to(&mut scheme, stop.index)?;
        walk.look(&mut run, &mut before, stop);
    }
    run.steps = walk.index;
    walk.finish(&mut run);
    Ok(run)
}

/// A step of a run after which something is to be done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stop {
    pub index: u64,
    look: Look,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Look {
    /// Record the state.
    Here,
    /// Keep the state: an output time lies within the next step.
    Before,
    /// Record between the state kept and this one, at this share of the step.
    Between(f64),
    /// Nothing: the end of the run.
    End,
}

/// The stops of a run: its output times, then its end.
pub(crate) fn stops(settings: &Settings, dt: f64) -> Vec<Stop> {
    let mut stops = Vec::with_capacity(settings.output_times_s.len() + 1);
    // the allowances absorb the rounding of time over step
    for &time in &settings.output_times_s {
        let place = time / dt;
        let floor = (place + 1e-9 * (1.0 + place * 1e-3)).floor();
        let share = (place - floor).max(0.0);
        let index = floor as u64;
        let stop = |index: u64, look: Look| Stop { index, look };
        let passed = stops.last().is_some_and(|last: &Stop| last.index > index);
        if share < 1e-6 && !passed {
            stops.push(stop(index, Look::Here));
            continue;
        }
        if !passed {
            stops.push(stop(index, Look::Before));
        }
        stops.push(stop(index + 1, Look::Between(share)));
    }
    stops.push(Stop {
        index: (settings.duration_s / dt * (1.0 - 1e-12)).ceil() as u64,
        look: Look::End,
    });
    stops
}

/// Displacement, velocity, absolute acceleration, forces of contacts and of elements.
pub(crate) type Snapshot = [Vec<f64>; 5];

impl<'a, P: Propagator> Walk<'a, P> {
    pub(crate) fn new<S: Scheme<P>>(
        model: &'a Model,
        dt: f64,
        scheme: &S,
    ) -> Result<Self, OscillatorError> {
        let n = model.masses();
        let (stiffness, damping) = (model.stiffness_matrix(), model.damping_matrix());
        let Matrices {
            left,
            first,
            second,
        } = scheme.matrices(model, &stiffness, &damping, dt);
        let propagator =
            P::new(n, &left, &first, &second, &damping).ok_or(OscillatorError::Singular {
                integrator: S::NAME,
                step_s: dt,
            })?;
        let vector = |values: &[f64]| {
            let mut vector = P::zeros(n);
            vector.as_mut().copy_from_slice(values);
            vector
        };
        let push = |pair: Pair| {
            let mut column = P::zeros(n);
            pair.push_apart(1.0, column.as_mut());
            propagator.solve(&mut column);
            column
        };
        let columns = model
            .contacts
            .iter()
            .map(|contact| push(contact.pair))
            .collect();
        let nonlinear = model.springs.iter().filter(|spring| spring.cubic != 0.0);
        let cubic = nonlinear
            .map(|spring| (spring.pair, spring.cubic, push(spring.pair)))
            .collect();
        let mut ground_column = vector(&model.masses);
        propagator.solve(&mut ground_column);
        let contacts = model.contacts.iter().map(|contact| WalkContact {
            pair: contact.pair,
            gap: contact.gap,
            impact: contact.impact,
            force: 0.0,
            memory: Memory::default(),
            touching: false,
            work: 0.0,
            deepest: f64::NEG_INFINITY,
            peak_force: 0.0,
            before: contact.indentation(&model.u0, &model.v0).0,
            event: None,
            pushed: false,
        });
        let mut reader = model.base.reader();
        let ground = reader.at(0.0);
        let elements: Vec<WalkElement> = model
            .elements
            .iter()
            .map(|element| WalkElement::new(element, &model.u0, &model.v0))
            .collect();
        let element_columns = elements.iter().map(|element| push(element.pair)).collect();
        let element_forces: Vec<f64> = elements.iter().map(|element| element.force).collect();
        let mut a = P::zeros(n);
        let (u0, v0) = (&model.u0, &model.v0);
        model.acceleration(ground, u0, v0, &[], &element_forces, a.as_mut());
        Ok(Self {
            model,
            propagator,
            dt,
            index: 0,
            u: vector(&model.u0),
            v: vector(&model.v0),
            a,
            ground,
            reader,
            contacts: contacts.collect(),
            columns,
            cubic,
            elements,
            element_columns,
            element_forces,
            ground_column,
            fault: None,
            watches: model
                .contacts
                .iter()
                .map(|contact| Watch {
                    pick: P::Vector::pick(contact.pair),
                    gap: contact.gap,
                    nearest: f64::NEG_INFINITY,
                })
                .collect(),
            impacts: Vec::new(),
            tally: Tally::new::<P>(n),
            absolute: P::zeros(n),
        })
    }

    /// Time of the current state, s.
    #[inline(always)]
    pub fn time(&self) -> f64 {
        self.index as f64 * self.dt
    }

    pub(crate) fn advance_to<S: Scheme<P>>(
        &mut self,
        scheme: &mut S,
        target: u64,
    ) -> Result<(), OscillatorError> {
        while self.index < target {
            let stop = target.min(self.index + LOOK_EVERY);
            while self.index < stop {
                if self.contacts.iter().all(|contact| !contact.touching) {
                    scheme.glide(self, stop);
                    for contact in &mut self.contacts {
                        contact.before = contact.pair.difference(self.u.as_ref()) - contact.gap;
                    }
                }
                if self.index < stop {
                    scheme.advance(self);
                    self.account();
                }
            }
            if let Some(fault) = self.fault.take() {
                return Err(fault);
            }
            if !self
                .u
                .as_ref()
                .iter()
                .chain(self.v.as_ref())
                .all(|x| x.is_finite())
            {
                return Err(OscillatorError::Diverged {
                    time_s: self.time(),
                });
            }
        }
        Ok(())
    }

    /// Peaks and powers of the new state.
    fn account(&mut self) {
        if self.reader.is_fixed() {
            self.tally.add(&self.propagator, &self.u, &self.v, &self.a);
        } else {
            self.absolute.clone_from(&self.a);
            self.absolute
                .as_mut()
                .iter_mut()
                .for_each(|a| *a += self.ground);
            self.tally
                .add(&self.propagator, &self.u, &self.v, &self.absolute);
            self.tally.add_base(self.model, self.ground, &self.v);
        }
    }

    /// Do what a stop asks for; `before` is the state kept for output times between two steps.
    pub(crate) fn look(&self, run: &mut Run, before: &mut Snapshot, stop: Stop) {
        match stop.look {
            Look::Here => self.record(run),
            Look::Before => *before = self.snapshot(),
            Look::Between(share) => self.record_between(run, before, share),
            Look::End => {}
        }
    }

    fn absolute_acceleration(&self) -> Vec<f64> {
        self.a.as_ref().iter().map(|a| a + self.ground).collect()
    }

    fn forces(&self) -> Vec<f64> {
        self.contacts.iter().map(|contact| contact.force).collect()
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        [
            self.u.as_ref().to_vec(),
            self.v.as_ref().to_vec(),
            self.absolute_acceleration(),
            self.forces(),
            self.element_forces.clone(),
        ]
    }

    fn record(&self, run: &mut Run) {
        run.record(
            self.model,
            self.u.as_ref(),
            self.v.as_ref(),
            &self.absolute_acceleration(),
            &self.forces(),
            &self.element_forces,
        );
    }

    /// Record between the state before and the current one: cubic in displacement, linear in the rest.
    fn record_between(&self, run: &mut Run, before: &Snapshot, share: f64) {
        let after = self.snapshot();
        let mix = |part: usize| -> Vec<f64> {
            before[part]
                .iter()
                .zip(&after[part])
                .map(|(x, y)| x + share * (y - x))
                .collect()
        };
        let (s, dt) = (share, self.dt);
        let cubic = |i: usize| {
            let (u0, u1, v0, v1) = (
                before[0][i],
                after[0][i],
                before[1][i] * dt,
                after[1][i] * dt,
            );
            let (x, y) = (u1 - u0 - v0, v1 - v0);
            u0 + s * (v0 + s * (3.0 * x - y + s * (y - 2.0 * x)))
        };
        let u: Vec<f64> = (0..self.model.masses()).map(cubic).collect();
        run.record(self.model, &u, &mix(1), &mix(2), &mix(3), &mix(4));
    }

    pub(crate) fn finish(self, run: &mut Run) {
        // trapezoidal rule: the ends of the run count half
        let half = |power_start: f64, power_end: f64| 0.5 * (power_start - power_end);
        let (v0, v) = (&self.model.v0, self.v.as_ref());
        let ends = half(self.model.damped_power(v0), self.model.damped_power(v));
        let damped = self.dt * (self.propagator.damped_power(&self.tally.damped) + ends);
        let ground0 = self.model.base.at(0.0);
        let ends = half(
            self.model.base_power(ground0, v0),
            self.model.base_power(self.ground, v),
        );
        let base = self.dt * (self.tally.base + ends);
        let work: Vec<f64> = self.contacts.iter().map(|contact| contact.work).collect();
        let stored = |contact: &WalkContact| {
            let d = contact.pair.difference(self.u.as_ref()) - contact.gap;
            if contact.touching {
                contact.impact.stored_energy(d, &contact.memory)
            } else {
                0.0
            }
        };
        let stored: Vec<f64> = self.contacts.iter().map(stored).collect();
        let u = self.u.as_ref();
        let element_work: Vec<f64> = self.elements.iter().map(|element| element.work).collect();
        let element_stored: Vec<[f64; 2]> = self.elements.iter().map(WalkElement::stored).collect();
        run.energy = EnergyAccount::close(
            self.model,
            damped,
            base,
            &work,
            &stored,
            &element_work,
            &element_stored,
            u,
            v,
        );
        run.note_residuals(self.model, u, &self.element_forces);
        for (peak, element) in run.peaks.drift_m.iter_mut().zip(&self.elements) {
            *peak = element.peak_drift;
        }
        let starts = [&self.model.u0, v0];
        for (peak, (sums, start)) in [&mut run.peaks.displacement_m, &mut run.peaks.velocity_m_s]
            .into_iter()
            .zip(self.tally.peaks.iter().zip(starts))
        {
            peak.copy_from_slice(sums.as_ref());
            crate::results::run::raise(peak, start);
        }
        run.peaks
            .acceleration_m_s2
            .copy_from_slice(self.tally.peaks[2].as_ref());
        for (c, contact) in self.contacts.iter().enumerate() {
            run.peaks.force_n[c] = contact.peak_force;
            run.peaks.smallest_gap_m[c] = -contact.deepest.max(self.watches[c].nearest);
        }
        run.impacts = self.impacts;
    }
}

/// Refuse the rigid law where only forces are integrated.
pub(crate) fn refuse_rigid(model: &Model, integrator: &'static str) -> Result<(), OscillatorError> {
    match model
        .contacts
        .iter()
        .position(|contact| contact.impact.is_rigid())
    {
        Some(contact) => Err(OscillatorError::LawOfIntegrator {
            integrator,
            law: "rigid",
            contact,
            advice: "use event or moreau-jean",
        }),
        None => Ok(()),
    }
}

//! What fixed-step schemes share: the loop, contacts, outputs, peaks and the energy account.
//!
//! A scheme advances a [`Walk`] by one step; the loop is compiled for each scheme and each small size. Output times off
//! the grid of steps are met by cubic interpolation. The account sums powers at the steps, so its closing error
//! is the scheme's error, of the order of the scheme in smooth motion.

use percuss_laws::{Impact, Memory};

use crate::banded::Banded;
use crate::base_motion::Reader;
use crate::dense::Dense;
use crate::diagonal::Diagonal;
use crate::energy::EnergyAccount;
use crate::impacts::{ImpactEvent, free_approach};
use crate::model::Pair;
use crate::propagator::{Propagator, Vector};
use crate::{Model, OscillatorError, Run, Settings};

/// Steps between looks at whether the motion is still finite.
const LOOK_EVERY: u64 = 8192;

/// One contact of a walk.
#[derive(Debug, Clone)]
pub(crate) struct WalkContact {
    pub pair: Pair,
    pub gap: f64,
    pub impact: Impact,
    /// Force in the current state, N.
    pub force: f64,
    memory: Memory,
    touching: bool,
    work: f64,
    deepest: f64,
    peak_force: f64,
    /// Indentation a step ago.
    before: f64,
    event: Option<usize>,
    pushed: bool,
}

impl WalkContact {
    /// Force for a state that may or may not become the next one.
    #[inline(always)]
    pub fn trial_force(&self, d: f64, rate: f64) -> f64 {
        if d <= 0.0 {
            0.0
        } else {
            self.touching_force(d, rate)
        }
    }

    #[inline(never)]
    fn touching_force(&self, d: f64, rate: f64) -> f64 {
        let memory = if self.touching {
            self.memory
        } else {
            Memory::at_onset(rate)
        };
        self.impact.force(d, rate, &memory)
    }
}

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

/// What is needed to see whether a contact stays open.
pub(crate) struct Watch<V: Vector> {
    pick: V::Pick,
    gap: f64,
    /// The indentation nearest to closing so far.
    nearest: f64,
}

impl<V: Vector> Watch<V> {
    /// Whether the contact is open at these displacements; notes how near it came.
    #[inline(always)]
    pub fn stays_open(&mut self, u: &V) -> bool {
        let d = u.difference(&self.pick) - self.gap;
        let open = d <= 0.0;
        self.nearest = if open && d > self.nearest {
            d
        } else {
            self.nearest
        };
        open
    }
}

/// Call `self.glide_while(walk, stop, open)` with a test of whether all contacts stay open, in one version for each of
/// no contact, one and several; not at all where the base moves or springs are cubic, which take the plain way.
macro_rules! glide {
    ($scheme:ident, $walk:ident, $stop:ident) => {{
        if !$walk.reader.is_fixed() || !$walk.cubic.is_empty() {
            return;
        }
        let mut watches = std::mem::take(&mut $walk.watches);
        match watches.as_mut_slice() {
            [] => $scheme.glide_while($walk, $stop, |_| true),
            [watch] => $scheme.glide_while($walk, $stop, |u| watch.stays_open(u)),
            several => $scheme.glide_while($walk, $stop, |u| {
                several.iter_mut().all(|watch| watch.stays_open(u))
            }),
        }
        $walk.watches = watches;
    }};
}
pub(crate) use glide;

/// Sums and peaks over the steps of a run.
#[derive(Debug, Clone)]
pub(crate) struct Tally<V> {
    /// What the power lost in dampers is made of, one entry a mass.
    damped: V,
    base: f64,
    /// Of displacement, velocity and absolute acceleration.
    peaks: [V; 3],
}

impl<V: Vector> Tally<V> {
    pub fn new<P: Propagator<Vector = V>>(n: usize) -> Self {
        Self {
            damped: P::zeros(n),
            base: 0.0,
            peaks: [P::zeros(n), P::zeros(n), P::zeros(n)],
        }
    }

    /// Take in a state; `a` is the absolute acceleration.
    #[inline(always)]
    pub fn add<P: Propagator<Vector = V>>(&mut self, propagator: &P, u: &V, v: &V, a: &V) {
        propagator.add_damped(v, &mut self.damped);
        let [peak_u, peak_v, peak_a] = &mut self.peaks;
        raise(peak_u, u);
        raise(peak_v, v);
        raise(peak_a, a);
    }

    /// Take in the power of the base.
    #[inline(always)]
    pub fn add_base(&mut self, model: &Model, ground: f64, v: &V) {
        self.base += model.base_power(ground, v.as_ref());
    }

    /// Take in the tally of a stretch in which velocity and acceleration were counted in other units.
    pub fn merge(&mut self, mut other: Self, velocity_unit: f64, acceleration_unit: f64) {
        let scale = |x: &mut V, factor: f64| x.as_mut().iter_mut().for_each(|x| *x *= factor);
        scale(&mut other.damped, velocity_unit * velocity_unit);
        scale(&mut other.peaks[1], velocity_unit);
        scale(&mut other.peaks[2], acceleration_unit);
        self.base += other.base;
        for (sum, more) in self.damped.as_mut().iter_mut().zip(other.damped.as_ref()) {
            *sum += more;
        }
        for (peaks, others) in self.peaks.iter_mut().zip(&other.peaks) {
            raise(peaks, others);
        }
    }
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
    // the allowances absorb the rounding of time over step
    for &time in &settings.output_times_s {
        let place = time / dt;
        let floor = (place + 1e-9 * (1.0 + place * 1e-3)).floor();
        let share = (place - floor).max(0.0);
        let on_grid = share < 1e-6;
        let target = floor as u64;
        walk.advance_to(&mut scheme, target)?;
        if on_grid && walk.index == target {
            walk.record(&mut run);
            continue;
        }
        if walk.index == target {
            before = walk.snapshot();
            walk.advance_to(&mut scheme, target + 1)?;
        }
        walk.record_between(&mut run, &before, share);
    }
    let steps = (settings.duration_s / dt * (1.0 - 1e-12)).ceil() as u64;
    walk.advance_to(&mut scheme, steps)?;
    run.steps = walk.index;
    walk.finish(&mut run);
    Ok(run)
}

/// Displacement, velocity, absolute acceleration, forces.
type Snapshot = [Vec<f64>; 4];

impl<'a, P: Propagator> Walk<'a, P> {
    fn new<S: Scheme<P>>(model: &'a Model, dt: f64, scheme: &S) -> Result<Self, OscillatorError> {
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
        let mut a = P::zeros(n);
        model.acceleration(ground, &model.u0, &model.v0, &[], a.as_mut());
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

    fn advance_to<S: Scheme<P>>(
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

    /// Take a contact's force in the new state. `onset_rate` is the approach speed should it begin here.
    #[inline(always)]
    pub fn commit(&mut self, contact: usize, d: f64, rate: f64, onset_rate: f64, force: f64) {
        let state = &mut self.contacts[contact];
        state.deepest = state.deepest.max(d);
        if d > 0.0 || state.touching {
            self.commit_touching(contact, d, rate, onset_rate, force);
        } else {
            state.force = 0.0;
            state.before = d;
        }
    }

    #[inline(never)]
    fn commit_touching(&mut self, contact: usize, d: f64, rate: f64, onset_rate: f64, force: f64) {
        let (time, dt) = (self.time(), self.dt);
        let state = &mut self.contacts[contact];
        let crossing = time
            - dt * if d == state.before {
                0.0
            } else {
                (d / (d - state.before)).clamp(0.0, 1.0)
            };
        if !state.touching {
            state.touching = true;
            state.memory = Memory::at_onset(onset_rate.max(0.0));
            state.event = Some(self.impacts.len());
            let mut work = vec![0.0; self.model.masses()];
            let (u, v) = (self.u.as_ref(), self.v.as_ref());
            let free = free_approach(self.model, contact, self.ground, u, v, &mut work);
            let element = &self.model.contacts[contact];
            let mut event = ImpactEvent::begin(contact, element, crossing, u, v, free);
            event.approach_speed_m_s = onset_rate;
            self.impacts.push(event);
        }
        let state = &mut self.contacts[contact];
        state.force = force;
        state.work += force * rate * dt;
        state.peak_force = state.peak_force.max(force.abs());
        if state.impact.latches() {
            state.memory.deepest_m = state.memory.deepest_m.max(d);
        }
        if let Some(event) = state.event.map(|index| &mut self.impacts[index]) {
            event.impulse_n_s += force * dt;
            event.peak_force_n = event.peak_force_n.max(force.abs());
            event.deepest_m = event.deepest_m.max(d);
            if force != 0.0 {
                state.pushed = true;
            }
            if state.pushed && (force == 0.0 || d <= 0.0) {
                state.pushed = false;
                event.rebound_speed_m_s = -rate;
                event.duration_s = if d <= 0.0 { crossing } else { time } - event.start_s;
            }
        }
        if d <= 0.0 {
            state.touching = false;
            state.event = None;
        }
        state.before = d;
    }

    /// Take an impulse of a rigid contact.
    pub fn commit_impulse(
        &mut self,
        contact: usize,
        impulse: f64,
        before: f64,
        after: f64,
        time: f64,
    ) {
        let state = &mut self.contacts[contact];
        state.work += 0.5 * impulse * (before + after);
        let pressed_on = state.touching;
        state.touching = impulse > 0.0;
        if impulse > 0.0 && before > 0.0 && !pressed_on {
            let mut work = vec![0.0; self.model.masses()];
            let (u, v) = (self.u.as_ref(), self.v.as_ref());
            let free = free_approach(self.model, contact, self.ground, u, v, &mut work);
            let mut event =
                ImpactEvent::begin(contact, &self.model.contacts[contact], time, u, v, free);
            event.approach_speed_m_s = before;
            event.rebound_speed_m_s = -after;
            event.duration_s = 0.0;
            event.impulse_n_s = impulse;
            self.impacts.push(event);
        }
    }

    /// Note how far a rigid contact went.
    pub fn note_gap(&mut self, contact: usize, d: f64) {
        self.contacts[contact].deepest = self.contacts[contact].deepest.max(d);
    }

    fn absolute_acceleration(&self) -> Vec<f64> {
        self.a.as_ref().iter().map(|a| a + self.ground).collect()
    }

    fn forces(&self) -> Vec<f64> {
        self.contacts.iter().map(|contact| contact.force).collect()
    }

    fn snapshot(&self) -> Snapshot {
        [
            self.u.as_ref().to_vec(),
            self.v.as_ref().to_vec(),
            self.absolute_acceleration(),
            self.forces(),
        ]
    }

    fn record(&self, run: &mut Run) {
        run.record(
            self.model,
            self.u.as_ref(),
            self.v.as_ref(),
            &self.absolute_acceleration(),
            &self.forces(),
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
        run.record(self.model, &u, &mix(1), &mix(2), &mix(3));
    }

    fn finish(self, run: &mut Run) {
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
        run.energy =
            EnergyAccount::close(self.model, damped, base, &work, &stored, self.u.as_ref(), v);
        let starts = [&self.model.u0, v0];
        for (peak, (sums, start)) in [&mut run.peaks.displacement_m, &mut run.peaks.velocity_m_s]
            .into_iter()
            .zip(self.tally.peaks.iter().zip(starts))
        {
            peak.copy_from_slice(sums.as_ref());
            crate::run::raise(peak, start);
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

#[inline(always)]
fn raise<V: Vector>(peaks: &mut V, values: &V) {
    for (peak, value) in peaks.as_mut().iter_mut().zip(values.as_ref()) {
        let size = value.abs();
        *peak = if size > *peak { size } else { *peak };
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

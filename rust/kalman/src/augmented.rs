//! An oscillator system with some of its parameters in the state.
//!
//! State `(u, v, parameters)`; from sample to sample one or more steps of the classical Runge-Kutta method with the
//! input linear between its samples (Green et al., Eqs. 14-20), and the exact derivative of those very steps (Eqs.
//! 21-25) from the derivatives of springs, dampers and impact laws. What a contact remembers of its onset (approach
//! speed, deepest indentation) is held at the mean: the derivative does not reach through it.

use percuss_laws::Memory;
use percuss_oscillators::{Load, Model, OscillatorError, Parameter, Tangent};

use crate::{Dynamics, KalmanError};

/// A tracked parameter: all these numbers of the system have its value; with a ratio damper, none may have.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tracked {
    /// The numbers that follow it.
    pub numbers: Vec<Parameter>,
}

/// A damper `c = 2 ratio sqrt(k m)` that follows the spring and mass it is a ratio of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RatioDamper {
    /// Index of the damper.
    pub damper: usize,
    /// Index of the spring.
    pub spring: usize,
    /// Index of the mass.
    pub mass: usize,
    /// The ratio.
    pub ratio: f64,
    /// Index of the tracked parameter that is this ratio, if it is one.
    pub tracked: Option<usize>,
}

/// What a channel measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sensed {
    /// Displacement relative to the base, m.
    Displacement,
    /// Velocity relative to the base, m/s.
    Velocity,
    /// Absolute acceleration, m/s^2.
    Acceleration,
}

/// A channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sensor {
    /// What it measures.
    pub sensed: Sensed,
    /// Of which mass.
    pub mass: usize,
}

/// What drives the system, sample by sample; straight lines between samples.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Inputs {
    /// Time between samples, s.
    pub step_s: f64,
    /// Steps of the integrator from sample to sample.
    pub substeps: usize,
    /// Acceleration of the base, m/s^2; empty for a base at rest.
    pub base_m_s2: Vec<f64>,
    /// Forces on masses, N: mass and samples.
    pub forces_n: Vec<(usize, Vec<f64>)>,
}

/// See the module.
#[derive(Debug, Clone)]
pub struct Augmented<'a> {
    model: Model,
    tracked: &'a [Tracked],
    ratios: Vec<RatioDamper>,
    inputs: &'a Inputs,
    sensors: &'a [Sensor],
    /// Numbers of the system with a derivative, and how each depends on the tracked: (number, tracked, factor).
    numbers: Vec<Parameter>,
    chain: Vec<(usize, usize, f64)>,
    touching: Vec<Option<Memory>>,
    work: Work,
}

/// Room for a step: loads, the state of a stage and sums over the stages, with their derivatives.
#[derive(Debug, Clone, Default)]
struct Work {
    tangent: Tangent,
    forces: Vec<f64>,
    stage: Vec<f64>,
    stage_slope: Vec<f64>,
    rate: Vec<f64>,
    rate_slope: Vec<f64>,
    sum: Vec<f64>,
    sum_slope: Vec<f64>,
}

impl<'a> Augmented<'a> {
    /// Put some parameters of a system into its state.
    pub fn new(
        model: Model,
        tracked: &'a [Tracked],
        ratios: &[RatioDamper],
        inputs: &'a Inputs,
        sensors: &'a [Sensor],
    ) -> Result<Self, KalmanError> {
        check(&model, tracked, ratios, sensors)?;
        check_inputs(&model, inputs)?;
        let mut numbers: Vec<Parameter> = Vec::new();
        let mut chain = Vec::new();
        for (index, tracked) in tracked.iter().enumerate() {
            for &number in &tracked.numbers {
                chain.push((numbers.len(), index, 1.0));
                numbers.push(number);
            }
        }
        // ratio dampers only matter where what they follow is tracked
        let moves = |number: Parameter| numbers.contains(&number);
        let ratios: Vec<RatioDamper> = ratios
            .iter()
            .filter(|r| {
                r.tracked.is_some()
                    || moves(Parameter::SpringLinear(r.spring))
                    || moves(Parameter::Mass(r.mass))
            })
            .copied()
            .collect();
        numbers.extend(ratios.iter().map(|r| Parameter::Damper(r.damper)));
        let work = Work::new(model.masses(), tracked.len(), !inputs.forces_n.is_empty());
        Ok(Self {
            touching: vec![None; model.contacts()],
            model,
            tracked,
            ratios,
            inputs,
            sensors,
            numbers,
            chain,
            work,
        })
    }

    /// Give the system the parameters of a state. A restitution is held within what its law takes.
    pub(crate) fn set(&mut self, sample: usize, parameters: &[f64]) -> Result<(), KalmanError> {
        let fault = |source: OscillatorError| KalmanError::System { sample, source };
        for (tracked, &value) in self.tracked.iter().zip(parameters) {
            for &number in &tracked.numbers {
                let value = match number {
                    Parameter::ContactRestitution(contact) => {
                        let (low, high) = self.model.restitution_range(contact);
                        value.clamp(low, high)
                    }
                    _ => value,
                };
                self.model.set(number, value).map_err(fault)?;
            }
        }
        let direct = self.numbers.len() - self.ratios.len();
        self.chain.truncate(direct);
        for (at, ratio) in self.ratios.iter().enumerate() {
            let of = |number| self.model.value(number).unwrap_or(f64::NAN);
            let spring = Parameter::SpringLinear(ratio.spring);
            let mass = Parameter::Mass(ratio.mass);
            let (k, m) = (of(spring), of(mass));
            let share = ratio.tracked.map_or(ratio.ratio, |index| parameters[index]);
            let critical = 2.0 * (k * m).sqrt();
            for i in 0..direct {
                let (_, tracked, _) = self.chain[i];
                let follows = if self.numbers[i] == spring {
                    0.5 * share * critical / k
                } else if self.numbers[i] == mass {
                    0.5 * share * critical / m
                } else {
                    continue;
                };
                self.chain.push((direct + at, tracked, follows));
            }
            if let Some(tracked) = ratio.tracked {
                self.chain.push((direct + at, tracked, critical));
            }
            let damper = Parameter::Damper(ratio.damper);
            self.model.set(damper, share * critical).map_err(fault)?;
        }
        Ok(())
    }

    /// Load at a share of the way from sample `sample - 1` to `sample`; forces go into `forces`.
    fn load(&self, sample: usize, share: f64, forces: &mut [f64]) -> f64 {
        let between = |list: &[f64]| {
            if share == 1.0 {
                list[sample]
            } else {
                list[sample - 1] + share * (list[sample] - list[sample - 1])
            }
        };
        forces.fill(0.0);
        for (mass, list) in &self.inputs.forces_n {
            forces[*mass] += between(list);
        }
        if self.inputs.base_m_s2.is_empty() {
            0.0
        } else {
            between(&self.inputs.base_m_s2)
        }
    }

    /// Steps from sample to sample; with `slope`, its derivative by the state at the first, moving rows.
    pub(crate) fn walk(&mut self, sample: usize, moving: &mut [f64], slope: Option<&mut [f64]>) {
        match moving.len() {
            2 => self.walk_sized::<2>(sample, moving, slope),
            4 => self.walk_sized::<4>(sample, moving, slope),
            _ => self.walk_sized::<0>(sample, moving, slope),
        }
    }

    /// With the number of moving entries known in advance, or 0.
    fn walk_sized<const MOVING: usize>(
        &mut self,
        sample: usize,
        moving: &mut [f64],
        mut slope: Option<&mut [f64]>,
    ) {
        let both = if MOVING > 0 { MOVING } else { moving.len() };
        let moving = &mut moving[..both];
        let substeps = self.inputs.substeps;
        let h = self.inputs.step_s / substeps as f64;
        let mut work = std::mem::take(&mut self.work);
        if let Some(slope) = slope.as_deref_mut() {
            let states = moving.len() + self.tracked.len();
            slope.fill(0.0);
            slope.iter_mut().step_by(states + 1).for_each(|x| *x = 1.0);
        }
        for substep in 0..substeps {
            let share = |part: f64| {
                if substeps == 1 {
                    part
                } else {
                    (substep as f64 + part) / substeps as f64
                }
            };
            let (mut loaded, mut base_m_s2) = (-1.0, 0.0);
            // weights of Runge and Kutta: of the sum, of the rate that leads to the next stage, and where that lies
            work.stage[..both].copy_from_slice(moving);
            work.sum[..both].copy_from_slice(moving);
            if let Some(slope) = slope.as_deref() {
                work.stage_slope.copy_from_slice(slope);
                work.sum_slope.copy_from_slice(slope);
            }
            for (part, weight, next) in [
                (0.0, h / 6.0, 0.5 * h),
                (0.5, h / 3.0, 0.5 * h),
                (0.5, h / 3.0, h),
                (1.0, h / 6.0, 0.0),
            ] {
                // both stages in the middle have one load
                if part != loaded {
                    base_m_s2 = self.load(sample, share(part), &mut work.forces);
                    loaded = part;
                }
                self.rate::<MOVING>(base_m_s2, &mut work, slope.is_some());
                add(&mut work.sum[..both], weight, &work.rate[..both]);
                if next > 0.0 {
                    sum(&mut work.stage[..both], moving, next, &work.rate[..both]);
                }
                if let Some(slope) = slope.as_deref() {
                    add(&mut work.sum_slope, weight, &work.rate_slope);
                    if next > 0.0 {
                        sum(&mut work.stage_slope, slope, next, &work.rate_slope);
                    }
                }
            }
            moving.copy_from_slice(&work.sum[..both]);
            if let Some(slope) = slope.as_deref_mut() {
                slope.copy_from_slice(&work.sum_slope);
            }
            if !self.touching.is_empty() {
                let (u, v) = moving.split_at(self.model.masses());
                self.model.remember(u, v, &mut self.touching);
            }
        }
        self.work = work;
    }

    /// Rate of change of the stage, and its derivative by the state at the sample before.
    #[inline]
    fn rate<const MOVING: usize>(&self, base_m_s2: f64, work: &mut Work, sloped: bool) {
        let n = if MOVING > 0 {
            MOVING / 2
        } else {
            self.model.masses()
        };
        let load = Load {
            base_m_s2,
            forces_n: &work.forces,
        };
        let (u, v) = work.stage[..2 * n].split_at(n);
        let tangent = &mut work.tangent;
        if !sloped {
            self.model.motion_into(load, u, v, &self.touching, tangent);
        } else {
            self.model
                .tangent_into(load, u, v, &self.touching, &self.numbers, tangent);
            let states = 2 * n + self.tracked.len();
            let (su, sv) = work.stage_slope.split_at(n * states);
            let (ru, rv) = work.rate_slope.split_at_mut(n * states);
            ru.copy_from_slice(sv);
            rv.fill(0.0);
            for i in 0..n {
                let out = &mut rv[i * states..(i + 1) * states];
                for j in 0..n {
                    let (by_u, by_v) = (
                        tangent.by_displacement[i * n + j],
                        tangent.by_velocity[i * n + j],
                    );
                    let rows = su[j * states..].iter().zip(&sv[j * states..]);
                    for (out, (su, sv)) in out.iter_mut().zip(rows) {
                        *out += by_u * su + by_v * sv;
                    }
                }
                self.add_parameters(tangent, i, &mut out[2 * n..]);
            }
        }
        work.rate[..n].copy_from_slice(v);
        work.rate[n..2 * n].copy_from_slice(&tangent.acceleration[..n]);
    }

    /// Add the derivatives of a mass's acceleration by the tracked parameters.
    #[inline]
    fn add_parameters(&self, tangent: &Tangent, mass: usize, out: &mut [f64]) {
        let row = &tangent.by_parameter[mass * self.numbers.len()..];
        for &(number, tracked, factor) in &self.chain {
            out[tracked] += factor * row[number];
        }
    }

    /// What the channels read in a state whose parameters are set; with `slope`, the derivatives.
    pub(crate) fn read(
        &mut self,
        sample: usize,
        moving: &[f64],
        reading: &mut [f64],
        mut slope: Option<&mut [f64]>,
    ) {
        let n = self.model.masses();
        let states = 2 * n + self.tracked.len();
        let mut work = std::mem::take(&mut self.work);
        let base_m_s2 = self.load(sample, 1.0, &mut work.forces);
        let (u, v) = moving.split_at(n);
        if self
            .sensors
            .iter()
            .any(|sensor| sensor.sensed == Sensed::Acceleration)
        {
            let load = Load {
                base_m_s2,
                forces_n: &work.forces,
            };
            self.model
                .tangent_into(load, u, v, &self.touching, &self.numbers, &mut work.tangent);
        }
        if let Some(slope) = slope.as_deref_mut() {
            slope.fill(0.0);
        }
        for (channel, sensor) in self.sensors.iter().enumerate() {
            let mass = sensor.mass;
            let row = slope
                .as_deref_mut()
                .map(|slope| &mut slope[channel * states..(channel + 1) * states]);
            reading[channel] = match sensor.sensed {
                Sensed::Displacement => u[mass],
                Sensed::Velocity => v[mass],
                Sensed::Acceleration => work.tangent.acceleration[mass] + base_m_s2,
            };
            let Some(row) = row else { continue };
            match sensor.sensed {
                Sensed::Displacement => row[mass] = 1.0,
                Sensed::Velocity => row[n + mass] = 1.0,
                Sensed::Acceleration => {
                    let tangent = &work.tangent;
                    row[..n].copy_from_slice(&tangent.by_displacement[mass * n..(mass + 1) * n]);
                    row[n..2 * n].copy_from_slice(&tangent.by_velocity[mass * n..(mass + 1) * n]);
                    self.add_parameters(tangent, mass, &mut row[2 * n..]);
                }
            }
        }
        self.work = work;
    }

    /// Forget all contacts: the next sample is the first.
    pub(crate) fn restart(&mut self) {
        self.touching.fill(None);
    }
}

impl Dynamics for Augmented<'_> {
    fn states(&self) -> usize {
        self.moving() + self.tracked.len()
    }

    fn moving(&self) -> usize {
        2 * self.model.masses()
    }

    fn channels(&self) -> usize {
        self.sensors.len()
    }

    fn samples(&self) -> usize {
        let forces = self.inputs.forces_n.iter().map(|(_, list)| list.len());
        let base = Some(self.inputs.base_m_s2.len()).filter(|&length| length > 0);
        forces.chain(base).min().unwrap_or(usize::MAX)
    }

    fn advance(
        &mut self,
        sample: usize,
        state: &mut [f64],
        slope: &mut [f64],
    ) -> Result<(), KalmanError> {
        let (moving, parameters) = state.split_at_mut(2 * self.model.masses());
        self.set(sample, parameters)?;
        self.walk(sample, moving, Some(slope));
        Ok(())
    }

    fn observe(
        &mut self,
        sample: usize,
        state: &[f64],
        reading: &mut [f64],
        slope: &mut [f64],
    ) -> Result<(), KalmanError> {
        let (moving, parameters) = state.split_at(2 * self.model.masses());
        if sample == 0 {
            self.set(sample, parameters)?;
        }
        self.read(sample, moving, reading, Some(slope));
        Ok(())
    }
}

#[inline(always)]
fn add(out: &mut [f64], factor: f64, other: &[f64]) {
    for (out, other) in out.iter_mut().zip(other) {
        *out += factor * other;
    }
}

#[inline(always)]
fn sum(out: &mut [f64], base: &[f64], factor: f64, other: &[f64]) {
    for ((out, base), other) in out.iter_mut().zip(base).zip(other) {
        *out = base + factor * other;
    }
}

impl Work {
    fn new(masses: usize, tracked: usize, forced: bool) -> Self {
        let (both, states) = (2 * masses, 2 * masses + tracked);
        let room = |size: usize| vec![0.0; size];
        Self {
            tangent: Tangent::default(),
            forces: room(if forced { masses } else { 0 }),
            stage: room(both),
            stage_slope: room(both * states),
            rate: room(both),
            rate_slope: room(both * states),
            sum: room(both),
            sum_slope: room(both * states),
        }
    }
}

fn unknown(what: &'static str, index: usize) -> KalmanError {
    KalmanError::Unknown { what, index }
}

/// Refuses what names a part that the model does not have, and a model whose contacts have no derivatives.
fn check(
    model: &Model,
    tracked: &[Tracked],
    ratios: &[RatioDamper],
    sensors: &[Sensor],
) -> Result<(), KalmanError> {
    let numbers = tracked
        .iter()
        .flat_map(|tracked| tracked.numbers.iter().copied());
    let followed = ratios.iter().flat_map(|ratio| {
        [
            Parameter::Damper(ratio.damper),
            Parameter::SpringLinear(ratio.spring),
            Parameter::Mass(ratio.mass),
        ]
    });
    if let Some(place) = numbers
        .chain(followed)
        .find(|&place| model.value(place).is_none())
    {
        let (what, index) = place.place();
        return Err(unknown(what, index));
    }
    let mut asked = ratios.iter().filter_map(|ratio| ratio.tracked);
    if let Some(index) = asked.find(|&index| index >= tracked.len()) {
        return Err(unknown("tracked parameter", index));
    }
    if sensors.is_empty() {
        return Err(KalmanError::NoSensor);
    }
    if let Some(sensor) = sensors.iter().find(|sensor| sensor.mass >= model.masses()) {
        return Err(unknown("mass", sensor.mass));
    }
    if let Some(spring) = model.remembering_element() {
        return Err(KalmanError::Remembers { spring });
    }
    match model.rigid_contact() {
        Some(contact) => Err(KalmanError::Rigid { contact }),
        None => Ok(()),
    }
}

/// Refuses forces on masses that do not exist, steps that are none, and samples that are not finite.
fn check_inputs(model: &Model, inputs: &Inputs) -> Result<(), KalmanError> {
    let mut pushed = inputs.forces_n.iter().map(|(mass, _)| *mass);
    if let Some(mass) = pushed.find(|&mass| mass >= model.masses()) {
        return Err(unknown("mass", mass));
    }
    for (what, value) in [
        ("step", inputs.step_s),
        ("number of substeps", inputs.substeps as f64),
    ] {
        if !(value > 0.0 && value.is_finite()) {
            return Err(KalmanError::NotPositive {
                what,
                index: 0,
                value,
            });
        }
    }
    let lists = inputs.forces_n.iter().map(|(_, samples)| samples);
    let mut lists = lists.chain([&inputs.base_m_s2]);
    match lists.find_map(|samples| {
        let at = samples.iter().position(|x| !x.is_finite())?;
        Some((at, samples[at]))
    }) {
        Some((index, value)) => Err(KalmanError::NotFinite {
            what: "input",
            index,
            value,
        }),
        None => Ok(()),
    }
}

//! Central differences, as in most pounding studies.
//!
//! `(M/dt^2 + C/2dt) u_(n+1) = (2M/dt^2 - K) u_n - (M/dt^2 - C/2dt) u_(n-1) + f_n`. Contact forces are explicit: from
//! the indentation at `n` and its rate over the step before, `(d_n - d_(n-1)) / dt`. Stable below
//! `2 (sqrt(1 + z^2) - z) / omega`, `omega` the highest frequency with all contacts closed and `z` the damping ratio
//! of the contact's lagging damper; contacts whose stiffness grows are watched as they close.

use crate::fixed_step::{
    AnySize, Matrices, Scheme, Tally, Walk, glide, refuse_rigid, run as run_fixed,
};
use crate::matrices::propagator::{Propagator, Vector};
use crate::{Model, OscillatorError, Run, Settings};

const NAME: &str = "central-difference";

pub(crate) fn run(model: &Model, settings: &Settings, dt: f64) -> Result<Run, OscillatorError> {
    refuse_rigid(model, NAME)?;
    let limit_s = limit(model);
    if dt > limit_s {
        return Err(OscillatorError::Unstable {
            integrator: NAME,
            step_s: dt,
            limit_s,
            time_s: 0.0,
        });
    }
    run_fixed(
        model,
        settings,
        dt,
        &CentralDifference {
            open_frequency_squared: model.largest_frequency_squared(|_| 0.0),
        },
    )
}

/// Largest stable step, s.
fn limit(model: &Model) -> f64 {
    let impact = |contact: usize| &model.contacts[contact].impact;
    let omega = model
        .largest_frequency_squared(|contact| impact(contact).tangent_stiffness(0.0))
        .sqrt();
    let ratio = |contact: usize| {
        let (k, m) = (
            impact(contact).stiffness(),
            impact(contact).reduced_mass_kg(),
        );
        impact(contact).constant_damper() / (2.0 * (k * m).sqrt())
    };
    let z = (0..model.contacts()).map(ratio).fold(0.0, f64::max);
    2.0 * ((1.0 + z * z).sqrt() - z) / omega
}

struct CentralDifference {
    open_frequency_squared: f64,
}

impl AnySize for CentralDifference {
    fn scheme<P: Propagator>(&self, n: usize) -> impl Scheme<P> {
        Steps::<P> {
            before: P::zeros(n),
            next: P::zeros(n),
            per_step: 0.0,
            open_frequency_squared: self.open_frequency_squared,
        }
    }
}

struct Steps<P: Propagator> {
    before: P::Vector,
    next: P::Vector,
    per_step: f64,
    open_frequency_squared: f64,
}

impl<P: Propagator> Steps<P> {
    /// From `before` and the walk's displacement find `next`, velocity, acceleration and contact forces.
    #[inline(always)]
    fn look_ahead(&mut self, walk: &mut Walk<'_, P>) {
        walk.propagator.apply(&walk.u, &self.before, &mut self.next);
        if !walk.reader.is_fixed() {
            walk.ground = walk.reader.at(walk.time());
            add(&mut self.next, &walk.ground_column, -walk.ground);
        }
        for (pair, cubic, column) in &walk.cubic {
            let e = pair.difference(walk.u.as_ref());
            add(&mut self.next, column, cubic * e * e * e);
        }
        if !walk.elements.is_empty() && walk.index > 0 {
            walk.commit_elements_lagging();
        }
        for (column, &force) in walk.element_columns.iter().zip(&walk.element_forces) {
            add(&mut self.next, column, force);
        }
        for contact in 0..walk.contacts.len() {
            let state = &walk.contacts[contact];
            let d = state.pair.difference(walk.u.as_ref()) - state.gap;
            if d > 0.0 {
                self.push(walk, contact, d);
            }
        }
        let half = 0.5 * self.per_step;
        let square = self.per_step * self.per_step;
        let (u, v, a) = (walk.u.as_ref(), walk.v.as_mut(), walk.a.as_mut());
        for (i, (before, next)) in self
            .before
            .as_ref()
            .iter()
            .zip(self.next.as_ref())
            .enumerate()
        {
            v[i] = (next - before) * half;
            a[i] = (next - 2.0 * u[i] + before) * square;
        }
        for contact in 0..walk.contacts.len() {
            let state = &walk.contacts[contact];
            let d = state.pair.difference(walk.u.as_ref()) - state.gap;
            let rate = state.pair.difference(walk.v.as_ref());
            let lagging =
                (d - state.pair.difference(self.before.as_ref()) + state.gap) * self.per_step;
            let force = if d > 0.0 { state.force } else { 0.0 };
            walk.commit(contact, d, rate, lagging, force);
        }
    }

    #[inline(never)]
    fn push(&mut self, walk: &mut Walk<'_, P>, contact: usize, d: f64) {
        let state = &mut walk.contacts[contact];
        let lagging = (d - state.pair.difference(self.before.as_ref()) + state.gap) * self.per_step;
        state.force = state.trial_force(d, lagging);
        let stiffness = state.impact.tangent_stiffness(d) / state.impact.reduced_mass_kg();
        let limit_s = 2.0 / (self.open_frequency_squared + stiffness).sqrt();
        if state.impact.law().facts().exponent > 1.0 && walk.dt > limit_s && walk.fault.is_none() {
            let time_s = walk.index as f64 * walk.dt;
            walk.fault = Some(OscillatorError::Unstable {
                integrator: NAME,
                step_s: walk.dt,
                limit_s,
                time_s,
            });
        }
        add(&mut self.next, &walk.columns[contact], state.force);
    }
}

/// `x += factor y`.
#[inline(always)]
pub(crate) fn add<V: Vector>(x: &mut V, y: &V, factor: f64) {
    for (x, y) in x.as_mut().iter_mut().zip(y.as_ref()) {
        *x += factor * y;
    }
}

impl<P: Propagator> Scheme<P> for Steps<P> {
    const NAME: &'static str = NAME;

    fn matrices(&self, model: &Model, stiffness: &[f64], damping: &[f64], dt: f64) -> Matrices {
        let mass = diagonal(&model.masses, 1.0 / (dt * dt));
        let half = 0.5 / dt;
        let entry = |f: &dyn Fn(usize) -> f64| (0..mass.len()).map(f).collect();
        Matrices {
            left: entry(&|i| mass[i] + half * damping[i]),
            first: entry(&|i| 2.0 * mass[i] - stiffness[i]),
            second: entry(&|i| half * damping[i] - mass[i]),
        }
    }

    fn begin(&mut self, walk: &mut Walk<'_, P>) {
        let dt = walk.dt;
        self.per_step = 1.0 / dt;
        self.before = walk.u.clone();
        add(&mut self.before, &walk.v, -dt);
        add(&mut self.before, &walk.a, 0.5 * dt * dt);
        self.look_ahead(walk);
    }

    #[inline(always)]
    fn advance(&mut self, walk: &mut Walk<'_, P>) {
        std::mem::swap(&mut self.before, &mut walk.u);
        std::mem::swap(&mut walk.u, &mut self.next);
        walk.index += 1;
        self.look_ahead(walk);
    }

    fn glide(&mut self, walk: &mut Walk<'_, P>, stop: u64) {
        glide!(self, walk, stop);
    }
}

impl<P: Propagator> Steps<P> {
    #[inline(always)]
    fn glide_while(
        &mut self,
        walk: &mut Walk<'_, P>,
        stop: u64,
        mut open: impl FnMut(&P::Vector) -> bool,
    ) {
        let n = walk.model.masses();
        let (mut before, mut u, mut next) =
            (self.before.clone(), walk.u.clone(), self.next.clone());
        let (mut v, mut a) = (P::zeros(n), P::zeros(n));
        let mut tally = Tally::new::<P>(n);
        let mut index = walk.index;
        while index < stop && open(&next) {
            index += 1;
            before.clone_from(&u);
            u.clone_from(&next);
            walk.propagator.apply(&u, &before, &mut next);
            // in units of 1/(2 dt) and 1/dt^2, which are put in at the end
            let states = u.as_ref().iter().zip(before.as_ref()).zip(next.as_ref());
            let rates = v.as_mut().iter_mut().zip(a.as_mut());
            for (((u, before), next), (v, a)) in states.zip(rates) {
                *v = next - before;
                *a = (next - u) - (u - before);
            }
            tally.add(&walk.propagator, &u, &v, &a);
        }
        if index == walk.index {
            return;
        }
        let (half, square) = (0.5 * self.per_step, self.per_step * self.per_step);
        walk.tally.merge(tally, half, square);
        (walk.u, walk.v, walk.a) = (u, v, a);
        walk.v.as_mut().iter_mut().for_each(|v| *v *= half);
        walk.a.as_mut().iter_mut().for_each(|a| *a *= square);
        walk.index = index;
        (self.before, self.next) = (before, next);
    }
}

/// A diagonal matrix, row by row.
pub(crate) fn diagonal(values: &[f64], factor: f64) -> Vec<f64> {
    let n = values.len();
    let mut matrix = vec![0.0; n * n];
    for (i, value) in values.iter().enumerate() {
        matrix[i * n + i] = factor * value;
    }
    matrix
}

//! The classical fourth-order method of Runge and Kutta.
//!
//! Fourth order in smooth motion; across a contact's onset and release, which it steps over, second at best.

use crate::central_difference::{add, diagonal};
use crate::fixed_step::{AnySize, Matrices, Scheme, Walk, glide, refuse_rigid, run as run_fixed};
use crate::propagator::{Propagator, Vector};
use crate::{Model, OscillatorError, Run, Settings};

const NAME: &str = "rk4";

/// Reach of the stability region along both axes.
const REACH: f64 = 2.78;

pub(crate) fn run(model: &Model, settings: &Settings, dt: f64) -> Result<Run, OscillatorError> {
    refuse_rigid(model, NAME)?;
    let impact = |contact: usize| &model.contacts[contact].impact;
    let omega = model
        .largest_frequency_squared(|contact| impact(contact).tangent_stiffness(0.0))
        .sqrt();
    let overdamped = |contact: usize| {
        let (k, m) = (
            impact(contact).stiffness(),
            impact(contact).reduced_mass_kg(),
        );
        let z = impact(contact).constant_damper() / (2.0 * (k * m).sqrt());
        if z > 1.0 {
            z + (z * z - 1.0).sqrt()
        } else {
            1.0
        }
    };
    let faster = (0..model.contacts()).map(overdamped).fold(1.0, f64::max);
    let limit_s = REACH / (omega * faster);
    if dt > limit_s {
        return Err(OscillatorError::Unstable {
            integrator: NAME,
            step_s: dt,
            limit_s,
            time_s: 0.0,
        });
    }
    run_fixed(model, settings, dt, &RungeKutta)
}

struct RungeKutta;

impl AnySize for RungeKutta {
    fn scheme<P: Propagator>(&self, _: usize) -> impl Scheme<P> {
        Stages
    }
}

struct Stages;

/// Relative acceleration of a state, contacts as they would push there.
#[inline(always)]
fn acceleration<P: Propagator>(
    walk: &Walk<'_, P>,
    ground: f64,
    u: &P::Vector,
    v: &P::Vector,
) -> P::Vector {
    let mut a = u.clone();
    walk.propagator.apply(u, v, &mut a);
    a.as_mut().iter_mut().for_each(|a| *a -= ground);
    for (pair, cubic, column) in &walk.cubic {
        let e = pair.difference(u.as_ref());
        add(&mut a, column, cubic * e * e * e);
    }
    for (contact, column) in walk.contacts.iter().zip(&walk.columns) {
        let d = contact.pair.difference(u.as_ref()) - contact.gap;
        if d > 0.0 {
            add(
                &mut a,
                column,
                contact.trial_force(d, contact.pair.difference(v.as_ref())),
            );
        }
    }
    a
}

/// One step from a state and its acceleration. `slope` gives the acceleration at a share (0.5 or 1) of the step, or
/// nothing to break off.
#[inline(always)]
fn step<V: Vector>(
    dt: f64,
    u: &V,
    v: &V,
    a: &V,
    mut slope: impl FnMut(f64, &V, &V) -> Option<V>,
) -> Option<(V, V)> {
    let ahead = |velocity: &V, slope: &V, share: f64| {
        let (mut stage_u, mut stage_v) = (u.clone(), v.clone());
        add(&mut stage_u, velocity, share * dt);
        add(&mut stage_v, slope, share * dt);
        (stage_u, stage_v)
    };
    let (u1, v1) = ahead(v, a, 0.5);
    let a1 = slope(0.5, &u1, &v1)?;
    let (u2, v2) = ahead(&v1, &a1, 0.5);
    let a2 = slope(0.5, &u2, &v2)?;
    let (u3, v3) = ahead(&v2, &a2, 1.0);
    let a3 = slope(1.0, &u3, &v3)?;
    let (mut end_u, mut end_v) = (u.clone(), v.clone());
    let sixth = dt / 6.0;
    add(&mut end_u, v, dt);
    for (share, slope) in [(1.0, a), (2.0, &a1), (2.0, &a2), (1.0, &a3)] {
        add(&mut end_v, slope, share * sixth);
    }
    for slope in [a, &a1, &a2] {
        add(&mut end_u, slope, dt * sixth);
    }
    Some((end_u, end_v))
}

impl<P: Propagator> Scheme<P> for Stages {
    const NAME: &'static str = NAME;

    fn matrices(&self, model: &Model, stiffness: &[f64], damping: &[f64], _: f64) -> Matrices {
        Matrices {
            left: diagonal(&model.masses, 1.0),
            first: stiffness.iter().map(|k| -k).collect(),
            second: damping.iter().map(|c| -c).collect(),
        }
    }

    fn begin(&mut self, _: &mut Walk<'_, P>) {}

    fn advance(&mut self, walk: &mut Walk<'_, P>) {
        let dt = walk.dt;
        let (middle, end) = if walk.reader.is_fixed() {
            (0.0, 0.0)
        } else {
            (
                walk.reader.at(walk.time() + 0.5 * dt),
                walk.reader.at(walk.time() + dt),
            )
        };
        let slope = |share: f64, u: &P::Vector, v: &P::Vector| {
            Some(acceleration(
                walk,
                if share < 1.0 { middle } else { end },
                u,
                v,
            ))
        };
        let ended = step(dt, &walk.u, &walk.v, &walk.a, slope);
        let Some((u, v)) = ended else { return };
        walk.index += 1;
        walk.ground = end;
        (walk.u, walk.v) = (u.clone(), v.clone());
        for contact in 0..walk.contacts.len() {
            let state = &walk.contacts[contact];
            let d = state.pair.difference(u.as_ref()) - state.gap;
            let rate = state.pair.difference(v.as_ref());
            let force = state.trial_force(d, rate);
            walk.commit(contact, d, rate, rate, force);
        }
        walk.a = acceleration(walk, end, &u, &v);
    }

    fn glide(&mut self, walk: &mut Walk<'_, P>, stop: u64) {
        glide!(self, walk, stop);
    }
}

impl Stages {
    #[inline(always)]
    fn glide_while<P: Propagator>(
        &self,
        walk: &mut Walk<'_, P>,
        stop: u64,
        mut open: impl FnMut(&P::Vector) -> bool,
    ) {
        let (mut u, mut v, mut a) = (walk.u.clone(), walk.v.clone(), walk.a.clone());
        let mut tally = walk.tally.clone();
        let mut index = walk.index;
        while index < stop {
            let mut free = |_: f64, u: &P::Vector, v: &P::Vector| {
                let mut a = u.clone();
                walk.propagator.apply(u, v, &mut a);
                open(u).then_some(a)
            };
            let Some((end_u, end_v)) = step(walk.dt, &u, &v, &a, &mut free) else {
                break;
            };
            let Some(end_a) = free(1.0, &end_u, &end_v) else {
                break;
            };
            index += 1;
            (u, v, a) = (end_u, end_v, end_a);
            tally.add(&walk.propagator, &u, &v, &a);
        }
        (walk.index, walk.tally) = (index, tally);
        (walk.u, walk.v, walk.a) = (u, v, a);
    }
}

//! The classical fourth-order method of Runge and Kutta.
//!
//! Fourth order in smooth motion; across a contact's onset and release, which it steps over, second at best.

use crate::fixed_step::central_difference::{add, diagonal};
use crate::fixed_step::{AnySize, Matrices, Scheme, Walk, glide, refuse_rigid, run as run_fixed};
use crate::matrices::propagator::{Propagator, Vector};
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
    fn scheme<P: Propagator>(&self, n: usize) -> impl Scheme<P> {
        Stages::<P> {
            work: Some(Work {
                u: P::zeros(n),
                v: P::zeros(n),
                slopes: [P::zeros(n), P::zeros(n), P::zeros(n)],
            }),
        }
    }
}

struct Stages<P: Propagator> {
    /// There except while a step uses it.
    work: Option<Work<P::Vector>>,
}

/// State of a stage, in the end that of the step, and the accelerations of the stages after the first.
#[derive(Clone)]
struct Work<V> {
    u: V,
    v: V,
    slopes: [V; 3],
}

/// Relative acceleration of a state, contacts as they would push there.
fn acceleration<P: Propagator>(
    walk: &Walk<'_, P>,
    ground: f64,
    u: &P::Vector,
    v: &P::Vector,
    a: &mut P::Vector,
) {
    walk.propagator.apply(u, v, a);
    a.as_mut().iter_mut().for_each(|a| *a -= ground);
    for (pair, cubic, column) in &walk.cubic {
        let e = pair.difference(u.as_ref());
        add(a, column, cubic * e * e * e);
    }
    for (element, column) in walk.elements.iter().zip(&walk.element_columns) {
        let (e, rate) = (
            element.pair.difference(u.as_ref()),
            element.pair.difference(v.as_ref()),
        );
        add(a, column, element.trial_force(e, rate));
    }
    for (contact, column) in walk.contacts.iter().zip(&walk.columns) {
        let d = contact.pair.difference(u.as_ref()) - contact.gap;
        if d > 0.0 {
            add(
                a,
                column,
                contact.trial_force(d, contact.pair.difference(v.as_ref())),
            );
        }
    }
}

/// One step from a state and its acceleration; its end is left in `work`. `slope` writes the acceleration at a share
/// (0.5 or 1) of the step, or says no to break off.
#[inline(always)]
fn step<V: Vector>(
    dt: f64,
    u: &V,
    v: &V,
    a: &V,
    work: &mut Work<V>,
    mut slope: impl FnMut(f64, &V, &V, &mut V) -> bool,
) -> bool {
    let [a1, a2, a3] = &mut work.slopes;
    let half = 0.5 * dt;
    work.u.clone_from(u);
    add(&mut work.u, v, half);
    work.v.clone_from(v);
    add(&mut work.v, a, half);
    if !slope(0.5, &work.u, &work.v, a1) {
        return false;
    }
    // the velocity of a stage carries the displacement of the next
    work.u.clone_from(u);
    add(&mut work.u, &work.v, half);
    work.v.clone_from(v);
    add(&mut work.v, a1, half);
    if !slope(0.5, &work.u, &work.v, a2) {
        return false;
    }
    work.u.clone_from(u);
    add(&mut work.u, &work.v, dt);
    work.v.clone_from(v);
    add(&mut work.v, a2, dt);
    if !slope(1.0, &work.u, &work.v, a3) {
        return false;
    }
    let sixth = dt / 6.0;
    work.u.clone_from(u);
    add(&mut work.u, v, dt);
    work.v.clone_from(v);
    let slopes = a
        .as_ref()
        .iter()
        .zip(a1.as_ref())
        .zip(a2.as_ref())
        .zip(a3.as_ref());
    for ((((a, a1), a2), a3), (u, v)) in slopes.zip(work.u.as_mut().iter_mut().zip(work.v.as_mut()))
    {
        *u += dt * sixth * (a + a1 + a2);
        *v += sixth * (a + 2.0 * (a1 + a2) + a3);
    }
    true
}

impl<P: Propagator> Scheme<P> for Stages<P> {
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
        let mut work = self.work.take().expect("put back after each step");
        step(
            dt,
            &walk.u,
            &walk.v,
            &walk.a,
            &mut work,
            |share, u, v, a| {
                acceleration(walk, if share < 1.0 { middle } else { end }, u, v, a);
                true
            },
        );
        walk.u.clone_from(&work.u);
        walk.v.clone_from(&work.v);
        walk.index += 1;
        walk.ground = end;
        for contact in 0..walk.contacts.len() {
            let state = &walk.contacts[contact];
            let d = state.pair.difference(work.u.as_ref()) - state.gap;
            let rate = state.pair.difference(work.v.as_ref());
            let force = state.trial_force(d, rate);
            walk.commit(contact, d, rate, rate, force);
        }
        walk.commit_elements();
        acceleration(walk, end, &work.u, &work.v, &mut work.slopes[0]);
        walk.a.clone_from(&work.slopes[0]);
        self.work = Some(work);
    }

    fn glide(&mut self, walk: &mut Walk<'_, P>, stop: u64) {
        glide!(self, walk, stop);
    }
}

impl<P: Propagator> Stages<P> {
    #[inline(always)]
    fn glide_while(
        &mut self,
        walk: &mut Walk<'_, P>,
        stop: u64,
        mut open: impl FnMut(&P::Vector) -> bool,
    ) {
        let mut work = self.work.clone().expect("put back after each step");
        let (mut u, mut v, mut a) = (walk.u.clone(), walk.v.clone(), walk.a.clone());
        let mut tally = walk.tally.clone();
        let mut index = walk.index;
        while index < stop {
            let mut free = |u: &P::Vector, v: &P::Vector, a: &mut P::Vector| {
                walk.propagator.apply(u, v, a);
                open(u)
            };
            let done = step(walk.dt, &u, &v, &a, &mut work, |_, u, v, a| free(u, v, a));
            if !(done && free(&work.u, &work.v, &mut work.slopes[0])) {
                break;
            }
            index += 1;
            u.clone_from(&work.u);
            v.clone_from(&work.v);
            a.clone_from(&work.slopes[0]);
            tally.add(&walk.propagator, &u, &v, &a);
        }
        (walk.index, walk.tally) = (index, tally);
        (walk.u, walk.v, walk.a) = (u, v, a);
    }
}

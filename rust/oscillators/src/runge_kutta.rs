//! The classical fourth-order method of Runge and Kutta.
//!
//! Fourth order in smooth motion; across a contact's onset and release, which it steps over, second at best.

use crate::central_difference::{add, diagonal};
use crate::fixed_step::{AnySize, Matrices, Scheme, Walk, refuse_rigid, run as run_fixed};
use crate::propagator::Propagator;
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
            u: P::zeros(n),
            v: P::zeros(n),
            slopes: [P::zeros(n), P::zeros(n), P::zeros(n), P::zeros(n)],
        }
    }
}

/// A stage's displacement, velocity, and the accelerations of all stages.
struct Stages<P: Propagator> {
    u: P::Vector,
    v: P::Vector,
    slopes: [P::Vector; 4],
}

/// Relative acceleration of a state, contacts as they would push there.
#[inline(always)]
fn acceleration<P: Propagator>(
    walk: &Walk<'_, P>,
    ground: f64,
    u: &P::Vector,
    v: &P::Vector,
    out: &mut P::Vector,
) {
    walk.propagator.apply(u, v, out);
    out.as_mut().iter_mut().for_each(|a| *a -= ground);
    for (pair, cubic, column) in &walk.cubic {
        let e = pair.difference(u.as_ref());
        add(out, column, cubic * e * e * e);
    }
    for (contact, column) in walk.contacts.iter().zip(&walk.columns) {
        let d = contact.pair.difference(u.as_ref()) - contact.gap;
        if d > 0.0 {
            add(
                out,
                column,
                contact.trial_force(d, contact.pair.difference(v.as_ref())),
            );
        }
    }
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

    #[inline(always)]
    fn advance(&mut self, walk: &mut Walk<'_, P>) {
        let dt = walk.dt;
        let fixed = walk.reader.is_fixed();
        let (middle, end) = if fixed {
            (0.0, 0.0)
        } else {
            (
                walk.reader.at(walk.time() + 0.5 * dt),
                walk.reader.at(walk.time() + dt),
            )
        };
        let grounds = [walk.ground, middle, middle, end];
        let [k0, k1, k2, k3] = &mut self.slopes;
        acceleration(walk, grounds[0], &walk.u, &walk.v, k0);
        // stage velocities are v + weight * dt * (slope before); displacements follow from them
        let half = 0.5 * dt;
        self.u.clone_from(&walk.u);
        add(&mut self.u, &walk.v, half);
        self.v.clone_from(&walk.v);
        add(&mut self.v, k0, half);
        acceleration(walk, grounds[1], &self.u, &self.v, k1);
        self.u.clone_from(&walk.u);
        add(&mut self.u, &self.v, half);
        self.v.clone_from(&walk.v);
        add(&mut self.v, k1, half);
        acceleration(walk, grounds[2], &self.u, &self.v, k2);
        self.u.clone_from(&walk.u);
        add(&mut self.u, &self.v, dt);
        self.v.clone_from(&walk.v);
        add(&mut self.v, k2, dt);
        acceleration(walk, grounds[3], &self.u, &self.v, k3);

        let (u, v) = (walk.u.as_mut(), walk.v.as_mut());
        let slopes = [k0.as_ref(), k1.as_ref(), k2.as_ref(), k3.as_ref()];
        for i in 0..u.len() {
            let [a, b, c, d] = slopes.map(|slope| slope[i]);
            u[i] += dt * (v[i] + dt / 6.0 * (a + b + c));
            v[i] += dt / 6.0 * (a + 2.0 * (b + c) + d);
        }
        walk.index += 1;
        walk.ground = grounds[3];
        let (u, v) = (walk.u.clone(), walk.v.clone());
        for contact in 0..walk.contacts.len() {
            let state = &walk.contacts[contact];
            let d = state.pair.difference(u.as_ref()) - state.gap;
            let rate = state.pair.difference(v.as_ref());
            let force = state.trial_force(d, rate);
            walk.commit(contact, d, rate, rate, force);
        }
        acceleration(walk, walk.ground, &u, &v, k0);
        walk.a.clone_from(k0);
    }
}

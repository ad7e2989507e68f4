//! Newmark's method with average acceleration (beta 1/4, gamma 1/2): implicit, without damping of its own.
//!
//! `u_(n+1) = u_n + dt v_n + dt^2/4 (a_n + a_(n+1))`, `v_(n+1) = v_n + dt/2 (a_n + a_(n+1))`, equilibrium at the end of
//! the step. Contacts and cubic springs are solved for in the space of their forces ([`crate::fixed_step::condensed`]),
//! systems with springs that yield by Newton's method ([`crate::fixed_step::newton`]), the other way being there for steps
//! in which that fails.

use crate::fixed_step::central_difference::{add, diagonal};
use crate::fixed_step::condensed::{Condensed, balance};
use crate::fixed_step::lanes::Lanes;
use crate::fixed_step::{
    AnySize, Matrices, Newton, Scheme, Walk, glide, refuse_rigid, run as run_fixed, stops,
};
use crate::matrices::banded::Banded;
use crate::matrices::propagator::Propagator;
use crate::system::model::Pair;
use crate::{Model, OscillatorError, Run, Settings};

const NAME: &str = "newmark";

pub(crate) fn run(model: &Model, settings: &Settings, dt: f64) -> Result<Run, OscillatorError> {
    refuse_rigid(model, NAME)?;
    run_fixed(model, settings, dt, &Newmark)
}

/// Several alike systems together, see [`lanes`].
pub(crate) fn run_together(
    models: &[Model],
    settings: &Settings,
    dt: f64,
) -> Vec<Result<Run, OscillatorError>> {
    let n = models[0].masses();
    let begin = |model| {
        refuse_rigid(model, NAME)?;
        let mut scheme = steps::<Banded>(n);
        let mut walk = Walk::new(model, dt, &scheme)?;
        scheme.begin(&mut walk);
        Ok((scheme, walk))
    };
    let begun: Result<Vec<_>, OscillatorError> = models.iter().map(begin).collect();
    let Ok(begun) = begun else {
        // each says what is wrong with it
        return models.iter().map(|m| run(m, settings, dt)).collect();
    };
    let (mut schemes, mut walks): (Vec<_>, Vec<_>) = begun.into_iter().unzip();
    let mut lanes = Lanes::new(&walks, &schemes[0]);
    let mut runs: Vec<Run> = models
        .iter()
        .map(|model| Run::new(model, &settings.output_times_s))
        .collect();
    let mut faults = vec![None; models.len()];
    let mut before: Vec<_> = walks.iter().map(Walk::snapshot).collect();
    for stop in stops(settings, dt) {
        let mut from = walks.iter().map(|walk| walk.index).min().unwrap_or(0);
        while from < stop.index {
            // runs that have a contact closed go by themselves up to here
            from = stop.index.min(from + TOGETHER);
            lanes.glide(&mut walks, from);
            for ((walk, scheme), fault) in walks.iter_mut().zip(&mut schemes).zip(&mut faults) {
                if fault.is_none() {
                    *fault = walk.advance_to(scheme, from).err();
                }
                // one that has failed stands still from here on
                if fault.is_some() {
                    walk.index = walk.index.max(from);
                }
            }
        }
        lanes.give_back(&mut walks);
        for ((walk, run), before) in walks.iter().zip(&mut runs).zip(&mut before) {
            walk.look(run, before, stop);
        }
    }
    let finished = walks.into_iter().zip(runs).zip(faults);
    finished
        .map(|((walk, mut run), fault)| {
            run.steps = walk.index;
            walk.finish(&mut run);
            fault.map_or(Ok(run), Err)
        })
        .collect()
}

/// Steps that runs go together before those with a closed contact are waited for.
const TOGETHER: u64 = 16;

struct Newmark;

impl AnySize for Newmark {
    fn scheme<P: Propagator>(&self, n: usize) -> impl Scheme<P> {
        steps::<P>(n)
    }
}

fn steps<P: Propagator>(n: usize) -> Steps<P> {
    Steps {
        predicted: [P::zeros(n), P::zeros(n)],
        condensed: None,
        newton: None,
        forces: Vec::new(),
        free: Vec::new(),
    }
}

struct Steps<P: Propagator> {
    predicted: [P::Vector; 2],
    condensed: Option<Condensed>,
    /// For systems with springs that yield.
    newton: Option<Newton>,
    /// Forces of contacts, then of cubic springs, then of springs with a law, and their free relative accelerations.
    forces: Vec<f64>,
    free: Vec<f64>,
}

impl<P: Propagator> Scheme<P> for Steps<P> {
    const NAME: &'static str = NAME;

    fn matrices(&self, model: &Model, stiffness: &[f64], damping: &[f64], dt: f64) -> Matrices {
        let mass = diagonal(&model.masses, 1.0);
        let left = (0..mass.len())
            .map(|i| mass[i] + 0.5 * dt * damping[i] + 0.25 * dt * dt * stiffness[i])
            .collect();
        Matrices {
            left,
            first: stiffness.iter().map(|k| -k).collect(),
            second: damping.iter().map(|c| -c).collect(),
        }
    }

    fn begin(&mut self, walk: &mut Walk<'_, P>) {
        let pairs: Vec<Pair> = walk
            .contacts
            .iter()
            .map(|c| c.pair)
            .chain(walk.cubic.iter().map(|(pair, ..)| *pair))
            .chain(walk.elements.iter().map(|element| element.pair))
            .collect();
        let columns: Vec<P::Vector> = walk
            .columns
            .iter()
            .cloned()
            .chain(walk.cubic.iter().map(|(.., column)| column.clone()))
            .chain(walk.element_columns.iter().cloned())
            .collect();
        self.forces = vec![0.0; pairs.len()];
        self.free = vec![0.0; pairs.len()];
        self.condensed = Some(Condensed::new(&pairs, &columns));
        if !walk.elements.is_empty() {
            let model = walk.model;
            let (stiffness, damping) = (model.stiffness_matrix(), model.damping_matrix());
            let left = Scheme::<P>::matrices(self, model, &stiffness, &damping, walk.dt).left;
            self.newton = Some(Newton::new(model, &left));
        }
    }

    #[inline(always)]
    fn advance(&mut self, walk: &mut Walk<'_, P>) {
        let (half, quarter) = (0.5 * walk.dt, 0.25 * walk.dt * walk.dt);
        let [u, v] = &mut self.predicted;
        u.clone_from(&walk.u);
        add(u, &walk.v, walk.dt);
        add(u, &walk.a, quarter);
        v.clone_from(&walk.v);
        add(v, &walk.a, half);
        walk.index += 1;
        if !walk.reader.is_fixed() {
            walk.ground = walk.reader.at(walk.time());
        }
        let solved = self.newton.as_mut().is_some_and(|newton| {
            let mut a = std::mem::replace(&mut walk.a, P::zeros(0));
            let predicted = [u.as_ref(), v.as_ref()];
            let solved = newton.solve(walk, predicted, [quarter, half], a.as_mut());
            walk.a = a;
            self.forces[..walk.contacts.len()].copy_from_slice(&newton.contact_forces);
            solved
        });
        if !solved {
            self.sweep(walk);
        }
        let [u, v] = &self.predicted;
        walk.u.clone_from(u);
        add(&mut walk.u, &walk.a, quarter);
        walk.v.clone_from(v);
        add(&mut walk.v, &walk.a, half);
        for contact in 0..walk.contacts.len() {
            let state = &walk.contacts[contact];
            let d = state.pair.difference(walk.u.as_ref()) - state.gap;
            let rate = state.pair.difference(walk.v.as_ref());
            walk.commit(contact, d, rate, rate, self.forces[contact]);
        }
        walk.commit_elements();
    }

    fn glide(&mut self, walk: &mut Walk<'_, P>, stop: u64) {
        glide!(self, walk, stop);
    }
}

impl<P: Propagator> Steps<P> {
    /// Accelerations at the end of the step, forces by sweeps over the elements that carry them.
    #[inline(always)]
    fn sweep(&mut self, walk: &mut Walk<'_, P>) {
        let (half, quarter) = (0.5 * walk.dt, 0.25 * walk.dt * walk.dt);
        let [u, v] = &self.predicted;
        walk.propagator.apply(u, v, &mut walk.a);
        if !walk.reader.is_fixed() {
            add(&mut walk.a, &walk.ground_column, -walk.ground);
        }
        let count = walk.contacts.len();
        let springs = count + walk.cubic.len();
        let mut any = !walk.cubic.is_empty() || !walk.elements.is_empty();
        for (contact, free) in walk.contacts.iter().zip(&mut self.free) {
            *free = contact.pair.difference(walk.a.as_ref());
            any |= contact.pair.difference(u.as_ref()) - contact.gap + quarter * *free > 0.0;
        }
        if any {
            for ((pair, ..), free) in walk.cubic.iter().zip(&mut self.free[count..]) {
                *free = pair.difference(walk.a.as_ref());
            }
            for (element, free) in walk.elements.iter().zip(&mut self.free[springs..]) {
                *free = element.pair.difference(walk.a.as_ref());
            }
            let condensed = self.condensed.as_ref().expect("made at the beginning");
            condensed.solve(&self.free, &mut self.forces, |e, x, w| {
                if e < count {
                    let contact = &walk.contacts[e];
                    let d = contact.pair.difference(u.as_ref()) - contact.gap;
                    let rate = contact.pair.difference(v.as_ref());
                    balance(x, w, |x| {
                        contact.trial_force(d + quarter * x, rate + half * x)
                    })
                } else if e >= springs {
                    let element = &walk.elements[e - springs];
                    let elongation = element.pair.difference(u.as_ref());
                    let rate = element.pair.difference(v.as_ref());
                    balance(x, w, |x| {
                        element.trial_force(elongation + quarter * x, rate + half * x)
                    })
                } else {
                    let (pair, cubic, _) = &walk.cubic[e - count];
                    let elongation = pair.difference(u.as_ref());
                    balance(x, w, |x| cubic * (elongation + quarter * x).powi(3))
                }
            });
            let columns = walk
                .columns
                .iter()
                .chain(walk.cubic.iter().map(|(.., column)| column))
                .chain(&walk.element_columns);
            for (column, &force) in columns.zip(&self.forces) {
                add(&mut walk.a, column, force);
            }
        } else {
            self.forces.fill(0.0);
        }
    }

    #[inline(always)]
    fn glide_while(
        &mut self,
        walk: &mut Walk<'_, P>,
        stop: u64,
        mut open: impl FnMut(&P::Vector) -> bool,
    ) {
        let (dt, half, quarter) = (walk.dt, 0.5 * walk.dt, 0.25 * walk.dt * walk.dt);
        let (mut u, mut v, mut a) = (walk.u.clone(), walk.v.clone(), walk.a.clone());
        let (mut next_u, mut next_v, mut next_a) = (u.clone(), v.clone(), a.clone());
        let mut tally = walk.tally.clone();
        let mut index = walk.index;
        while index < stop {
            next_u.clone_from(&u);
            add(&mut next_u, &v, dt);
            add(&mut next_u, &a, quarter);
            next_v.clone_from(&v);
            add(&mut next_v, &a, half);
            walk.propagator.apply(&next_u, &next_v, &mut next_a);
            add(&mut next_u, &next_a, quarter);
            add(&mut next_v, &next_a, half);
            if !open(&next_u) {
                break;
            }
            index += 1;
            u.clone_from(&next_u);
            v.clone_from(&next_v);
            a.clone_from(&next_a);
            tally.add(&walk.propagator, &u, &v, &a);
        }
        (walk.index, walk.tally) = (index, tally);
        (walk.u, walk.v, walk.a) = (u, v, a);
    }
}

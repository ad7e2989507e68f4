//! Moreau-Jean time stepping for rigid contacts.
//!
//! Velocities and impulses over a step: `(M + dt theta C + dt^2 theta^2 K) (v+ - v) = -dt (K u + C v + dt theta K v) - dt M 1 a +
//! B' p`, contacts whose gap closes by the middle of the step active, `0 <= p`, `r+ + e r <= 0`, complementary
//! (Jean 1999). Impacts need no locating; their instants are known to a step.

use crate::fixed_step::central_difference::{add, diagonal};
use crate::fixed_step::condensed::{Condensed, balance};
use crate::fixed_step::{AnySize, Matrices, Scheme, Walk, run as run_fixed};
use crate::matrices::propagator::Propagator;
use crate::system::model::Pair;
use crate::{Model, OscillatorError, Run, Settings};

const NAME: &str = "moreau-jean";

pub(crate) fn run(
    model: &Model,
    settings: &Settings,
    dt: f64,
    theta: f64,
) -> Result<Run, OscillatorError> {
    if !(0.5..=1.0).contains(&theta) {
        return Err(OscillatorError::Theta { theta });
    }
    if let Some(contact) = model
        .contacts
        .iter()
        .position(|contact| !contact.impact.is_rigid())
    {
        return Err(OscillatorError::LawOfIntegrator {
            integrator: NAME,
            law: model.contacts[contact].impact.law().name(),
            contact,
            advice: "it takes the rigid law only",
        });
    }
    run_fixed(model, settings, dt, &MoreauJean { theta })
}

struct MoreauJean {
    theta: f64,
}

impl AnySize for MoreauJean {
    fn scheme<P: Propagator>(&self, n: usize) -> impl Scheme<P> {
        Steps::<P> {
            theta: self.theta,
            change: P::zeros(n),
            condensed: None,
            impulses: Vec::new(),
            free: Vec::new(),
            before: Vec::new(),
            active: Vec::new(),
        }
    }
}

struct Steps<P: Propagator> {
    theta: f64,
    change: P::Vector,
    condensed: Option<Condensed>,
    impulses: Vec<f64>,
    free: Vec<f64>,
    before: Vec<f64>,
    active: Vec<bool>,
}

impl<P: Propagator> Scheme<P> for Steps<P> {
    const NAME: &'static str = NAME;

    fn matrices(&self, model: &Model, stiffness: &[f64], damping: &[f64], dt: f64) -> Matrices {
        let mass = diagonal(&model.masses, 1.0);
        let weight = dt * self.theta;
        let entry = |f: &dyn Fn(usize) -> f64| (0..mass.len()).map(f).collect();
        Matrices {
            left: entry(&|i| mass[i] + weight * damping[i] + weight * weight * stiffness[i]),
            first: entry(&|i| -dt * stiffness[i]),
            second: entry(&|i| -dt * (damping[i] + weight * stiffness[i])),
        }
    }

    fn begin(&mut self, walk: &mut Walk<'_, P>) {
        let contacts = walk.contacts.iter().map(|contact| contact.pair);
        let elements = walk.elements.iter().map(|element| element.pair);
        let pairs: Vec<Pair> = contacts.chain(elements).collect();
        let columns: Vec<P::Vector> = walk
            .columns
            .iter()
            .chain(&walk.element_columns)
            .cloned()
            .collect();
        self.condensed = Some(Condensed::new(&pairs, &columns));
        self.impulses = vec![0.0; pairs.len()];
        self.free = vec![0.0; pairs.len()];
        self.before = vec![0.0; pairs.len()];
        self.active = vec![false; pairs.len()];
    }

    #[inline(always)]
    fn advance(&mut self, walk: &mut Walk<'_, P>) {
        let (dt, theta) = (walk.dt, self.theta);
        walk.propagator.apply(&walk.u, &walk.v, &mut self.change);
        for (pair, cubic, column) in &walk.cubic {
            let middle =
                pair.difference(walk.u.as_ref()) + dt * theta * pair.difference(walk.v.as_ref());
            add(&mut self.change, column, dt * cubic * middle.powi(3));
        }
        if !walk.reader.is_fixed() {
            let start = walk.ground;
            walk.ground = walk.reader.at(walk.time() + dt);
            let mean = (1.0 - theta) * start + theta * walk.ground;
            add(&mut self.change, &walk.ground_column, -dt * mean);
        }
        let mut any = !walk.elements.is_empty();
        let count = walk.contacts.len();
        for (element, free) in walk.elements.iter().zip(&mut self.free[count..]) {
            *free = element.pair.difference(self.change.as_ref());
        }
        for (c, contact) in walk.contacts.iter().enumerate() {
            let rate = contact.pair.difference(walk.v.as_ref());
            let d = contact.pair.difference(walk.u.as_ref()) - contact.gap;
            self.before[c] = rate;
            self.free[c] = rate + contact.pair.difference(self.change.as_ref());
            self.active[c] = d + 0.5 * dt * rate >= 0.0;
            any |= self.active[c];
        }
        self.impulses.fill(0.0);
        if any {
            let (active, before) = (&self.active, &self.before);
            let condensed = self.condensed.as_ref().expect("made at the beginning");
            condensed.solve(&self.free, &mut self.impulses, |c, rate, own| {
                if c >= count {
                    // impulse of the force between its values at both ends of the step
                    let element = &walk.elements[c - count];
                    let start = element.pair.difference(walk.v.as_ref());
                    let before = (1.0 - theta) * walk.element_forces[c - count];
                    return balance(rate, own, |change| {
                        let e = element.elongation + dt * (start + theta * change);
                        dt * (theta * element.trial_force(e, start + change) + before)
                    });
                }
                let wanted = -walk.contacts[c].impact.restitution() * before[c].max(0.0);
                if active[c] {
                    ((rate - wanted) / own).max(0.0)
                } else {
                    0.0
                }
            });
            let columns = walk.columns.iter().chain(&walk.element_columns);
            for (column, &impulse) in columns.zip(&self.impulses) {
                add(&mut self.change, column, impulse);
            }
        }
        // u+ = u + dt (v + theta change)
        add(&mut walk.u, &walk.v, dt);
        add(&mut walk.u, &self.change, dt * theta);
        add(&mut walk.v, &self.change, 1.0);
        walk.index += 1;
        let time = walk.time();
        for c in 0..walk.contacts.len() {
            let contact = &walk.contacts[c];
            let after = contact.pair.difference(walk.v.as_ref());
            let d = contact.pair.difference(walk.u.as_ref()) - contact.gap;
            walk.note_gap(c, d);
            walk.commit_impulse(c, self.impulses[c], self.before[c], after, time);
        }
        walk.commit_elements();
        // accelerations of the motion between impulses
        let (u, v) = (walk.u.as_ref(), walk.v.as_ref());
        let forces = &walk.element_forces;
        walk.model
            .acceleration(walk.ground, u, v, &[], forces, walk.a.as_mut());
    }
}

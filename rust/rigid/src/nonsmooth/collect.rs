//! From the detector's points to the contacts of the problem, each with last step's impulse to start from.

use super::Nonsmooth;
use super::bonds::is_bonded;
use super::contact::{
    ActiveContact, Couple, Matcher, Touch, Work, couple_jacobians, jacobians, relative,
};
use super::look_ahead::Approach;
use super::middle::Middle;
use super::threads::share;
use crate::law_table::ContactLaw;
use crate::setup::Setup;
use crate::state::State;
use percuss_geometry::{ContactPoint, Detector, Manifold, Vec3};
use percuss_laws::contact::ImpactLaw;
use rayon::prelude::*;

/// Relative velocities below this share of the velocities they are the difference of are rounding.
const ROUNDING: f64 = 1e-14;

impl Nonsmooth {
    /// Finds the contacts of the step.
    pub(super) fn collect(&mut self, setup: &Setup, state: &State) {
        let parallel = self.is_parallel();
        let Self {
            bonded_pairs,
            detector,
            middle,
            touches,
            ..
        } = self;
        // Bodies that a bond holds touch by it alone.
        let bonded = |manifold: &Manifold| {
            !bonded_pairs.is_empty() && {
                let bodies = [manifold.a, manifold.b];
                let bodies = bodies.map(|c| detector.contactors()[c as usize].body);
                is_bonded(bonded_pairs, bodies)
            }
        };
        // Contacts of some manifolds into the places of their points; how many there are.
        let collect = |manifolds: &[Manifold], places: &mut [Touch]| {
            let mut count = 0;
            let Some(first) = manifolds.first() else {
                return count;
            };
            let mut matcher = Matcher::from(&state.contacts, first.a, first.b);
            for manifold in manifolds.iter().filter(|manifold| !bonded(manifold)) {
                let known = matcher.of_pair(&state.contacts, manifold.a, manifold.b);
                let pair = Pair::new(setup, detector, manifold);
                let range = manifold.points.start as usize..manifold.points.end as usize;
                for point in &detector.points()[range] {
                    let place = &mut places[count];
                    count += usize::from(pair.touch(setup, middle, known, point, place));
                }
            }
            count
        };
        touches.resize_with(detector.points().len(), Touch::default);
        let manifolds = detector.manifolds();
        let mut rest = &mut touches[..];
        let pieces: Vec<_> = manifolds
            .chunks(share(manifolds.len(), parallel))
            .map(|manifolds| {
                let points = |manifold: &Manifold| manifold.points.len();
                let (own, others) =
                    std::mem::take(&mut rest).split_at_mut(manifolds.iter().map(points).sum());
                rest = others;
                (manifolds, own)
            })
            .collect();
        let one = |(manifolds, places): (&[Manifold], &mut [Touch])| {
            (places.len(), collect(manifolds, places))
        };
        let counts: Vec<(usize, usize)> = if parallel {
            pieces.into_par_iter().map(one).collect()
        } else {
            pieces.into_iter().map(one).collect()
        };
        // Places left empty by points that are no contacts are closed.
        let (mut from, mut to) = (0, 0);
        for (places, count) in counts {
            if from != to {
                touches.copy_within(from..from + count, to);
            }
            from += places;
            to += count;
        }
        touches.truncate(to);
    }
}

/// Two contactors that touch.
struct Pair<'a> {
    a: u32,
    b: u32,
    bodies: [u32; 2],
    /// Those of them that forces move.
    moving: [Option<u32>; 2],
    index: usize,
    law: &'a ContactLaw,
}

impl<'a> Pair<'a> {
    fn new(setup: &'a Setup, detector: &Detector, manifold: &Manifold) -> Self {
        let contactors = [manifold.a, manifold.b].map(|c| &detector.contactors()[c as usize]);
        let bodies = contactors.map(|contactor| contactor.body);
        let index = setup.laws.law(contactors[0].group, contactors[1].group);
        Self {
            a: manifold.a,
            b: manifold.b,
            bodies,
            moving: bodies.map(|body| (!setup.is_fixed(body)).then_some(body)),
            index,
            law: &setup.scene.laws[index],
        }
    }

    /// Writes the contact at a point into its `place`, if it is one of this step; `known` are those of the pair in the last step.
    #[inline(always)]
    fn touch(
        &self,
        setup: &Setup,
        middle: &Middle,
        known: &[ActiveContact],
        point: &ContactPoint,
        place: &mut Touch,
    ) -> bool {
        let (law, bodies) = (self.law, &self.bodies);
        let arms = bodies.map(|body| point.position - middle.poses[body as usize].position);
        let jacobians = jacobians(&point.normal, &arms);
        let before = relative(&jacobians, bodies, &middle.before);
        let free = relative(&jacobians, bodies, &middle.after);
        let start = known.iter().find(|c| c.feature == point.feature);
        let mut shift = law.impact.shift(&before, law.restitution);
        let approach = Approach {
            gap_m: point.gap,
            before: before[0],
            free: free[0],
            stays: start.is_some_and(|c| c.gap_m <= setup.settings.contact_tolerance_m),
            restitution: law.restitution,
        };
        match approach.shift(&setup.settings, shift[0]) {
            Some(normal) => shift[0] = normal,
            None => return false,
        }
        let mut free_velocity = std::array::from_fn(|k| free[k] + shift[k]);
        // Bodies that move together: what is left of q is rounding, which no solver can satisfy to
        // a relative tolerance.
        let noise: f64 = (0..2)
            .map(|side| speed_bound(&middle.after[bodies[side] as usize], &arms[side]))
            .sum();
        if free_velocity
            .iter()
            .all(|x: &f64| x.abs() <= ROUNDING * noise)
        {
            free_velocity = [0.0; 3];
        }
        let contact = ActiveContact {
            a: self.a,
            b: self.b,
            feature: point.feature,
            bodies: *bodies,
            law: self.index as u32,
            position: point.position,
            normal: point.normal,
            gap_m: point.gap,
            impulse_n_s: Vec3::zeros(),
            couple_n_m_s: Vec3::zeros(),
            velocity_before_m_per_s: before,
            velocity_after_m_per_s: [0.0; 3],
        };
        let impulse = start.map_or([0.0; 3], |c| contact.local(&c.impulse_n_s));
        let couple = law.has_couple().then(|| {
            let couple = start.map_or([0.0; 3], |c| contact.local(&c.couple_n_m_s));
            self.couple(middle, &point.normal, couple)
        });
        *place = Touch {
            contact,
            moving: self.moving,
            friction: law.friction,
            shift,
            free_velocity,
            impulse,
            velocity: [0.0; 3],
            couple,
            known: start.is_some(),
            work: Work::default(),
        };
        true
    }

    /// The couple of a contact. It is solved for in shares of the largest: the rows of the spin carry the coefficients.
    fn couple(&self, middle: &Middle, normal: &Vec3, start: [f64; 3]) -> Couple {
        let scale = self.law.couple_scale();
        let jacobians = couple_jacobians(normal, &scale);
        let mut free_velocity = relative(&jacobians, &self.bodies, &middle.after);
        if self.law.impact == ImpactLaw::Fremond {
            let before = relative(&jacobians, &self.bodies, &middle.before);
            free_velocity = std::array::from_fn(|k| free_velocity[k] + before[k]);
        }
        let share = |k: usize| match scale[k] > 0.0 {
            true => start[k] / scale[k],
            false => 0.0,
        };
        Couple {
            scale,
            free_velocity,
            impulse: std::array::from_fn(share),
        }
    }
}

/// No point at `arm` is faster.
#[inline]
fn speed_bound(twist: &[f64; 6], arm: &Vec3) -> f64 {
    let [x, y, z, turning @ ..] = twist.map(f64::abs);
    (x + y + z) + (turning[0] + turning[1] + turning[2]) * arm.abs().sum()
}

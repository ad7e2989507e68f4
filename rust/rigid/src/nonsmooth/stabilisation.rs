//! Position stabilisation: pushes overlapping bodies apart without giving them energy.
//!
//! Velocity-level contact keeps whatever overlap an impact leaves, up to h |u_N|. Here the gaps at the end of
//! the step, g = g_M + theta h u_N, are cleared by the smallest displacement in the metric of the mass matrix:
//! 0 <= g + W_N r ⟂ r >= 0, the contact problem without friction in metres, of all points that the detector sees: open
//! ones may be closed, no more. Velocities are left alone. Moving bodies up costs potential energy; the displacement is
//! scaled down so that this never exceeds what the contacts of its island dissipated in the same step, so mechanical energy does not
//! rise, and an overlap at rest stays.
//!
//! With `stabilise` every overlap is cleared; steps that look ahead clear those that are deep, and move no point
//! by more than half of what they see: else a bar pushed out of one hole passes through the wall of the next.

use super::Nonsmooth;
use super::bonds::is_bonded;
use super::contact::{Block, dot, jacobians, relative, relative_velocity};
use super::desk;
use super::island::Island;
use super::look_ahead::works_off;
use crate::error::RigidError;
use crate::setup::Setup;
use crate::state::State;
use percuss_geometry::{Quat, Vec3};
use percuss_solvers::{BlockKind, Contact, Settings};
use rayon::prelude::*;

/// Sweeps are few, and are not stopped by the residual, in which the gaps of heavy bodies hide the overlap of light
/// ones: what is missed now is cleared in the next step.
const SETTINGS: Settings = Settings {
    tolerance: 1e-8,
    max_iterations: 20,
    max_factorisations: 0,
};

/// A point that may be cleared.
#[derive(Clone, Copy)]
pub(super) struct Clearing {
    block: Block,
    /// Deeper than what is left alone, and not worked off by its own velocity.
    deep: bool,
}

impl Nonsmooth {
    /// Clears overlaps as far as what the contacts of each island dissipated pays for.
    pub(super) fn stabilise(&mut self, setup: &Setup, state: &mut State) -> Result<(), RigidError> {
        let left_m = setup.settings.overlap_left_m();
        if left_m == f64::INFINITY {
            return Ok(());
        }
        self.find_gaps(setup, left_m);
        if !self.clearings.iter().any(|clearing| clearing.deep) {
            return Ok(());
        }
        let mut dissipated = vec![0.0; state.bodies.len()];
        let mut book = |bodies: &[Option<u32>; 2], work_j: f64| {
            if let Some(body) = bodies.iter().flatten().next() {
                dissipated[*body as usize] -= work_j;
            }
        };
        for touch in &self.touches {
            book(&touch.moving, touch.work.total_j());
        }
        for bound in self.parts.iter().flat_map(|part| &part.active) {
            book(&bound.block.contact.bodies, bound.work_j);
        }
        // From here on the islands are those of all points in reach.
        self.moved.clear();
        let moved = self.clearings.iter().map(|c| c.block.contact.bodies);
        self.moved.extend(moved);
        let mut islands = std::mem::take(&mut self.clearing_islands);
        islands.split(state.bodies.len(), &self.moved, &self.parts);
        if self.problems.len() < islands.count() {
            self.problems.resize_with(islands.count(), Island::default);
        }
        self.middle.after.fill([0.0; 6]);
        self.due.clear();
        for island in 0..islands.count() {
            let deep = |&point: &u32| self.clearings[point as usize].deep;
            self.due.push(islands.contacts.of(island).iter().any(deep));
        }
        self.clear_due(setup, &islands);
        for island in (0..islands.count()).filter(|&island| self.due[island]) {
            self.problems[island].verdict()?;
            // The twists are free again: they hold the displacements now.
            self.problems[island].scatter(islands.bodies.of(island), &mut self.middle.after);
            for &part in islands.parts.of(island) {
                self.parts[part as usize].hold_still(&mut self.middle.after);
            }
            let bodies = islands.bodies.of(island);
            let budget_j: f64 = bodies.iter().map(|&b| dissipated[b as usize]).sum();
            let points = islands.contacts.of(island);
            let farthest = self.farthest(points);
            displace(
                setup,
                state,
                &self.middle.after,
                bodies,
                budget_j.max(0.0),
                farthest,
            );
        }
        self.clearing_islands = islands;
        Ok(())
    }

    /// Solves the problems of the gaps of the islands that are due.
    fn clear_due(&mut self, setup: &Setup, islands: &super::Islands) {
        let parallel = self.is_parallel();
        let Self {
            problems,
            due,
            clearings,
            parts,
            part_of,
            middle,
            ..
        } = self;
        let held = |body: u32| {
            let (part, own) = part_of[body as usize]?;
            Some((&parts[part as usize], own as usize))
        };
        let one = |island: usize, problem: &mut Island| {
            if due[island] {
                let points = islands.contacts.of(island).iter();
                desk::lend(|desk| {
                    problem.stand(islands.bodies.of(island), middle, desk);
                    for &point in points {
                        problem.lay(&clearings[point as usize].block, &islands.local, desk);
                    }
                    problem.clear(setup.settings.solver, &SETTINGS, &held, desk);
                });
            }
        };
        let problems = &mut problems[..due.len()];
        if parallel {
            let each = problems.par_iter_mut().enumerate();
            each.for_each(|(island, problem)| one(island, problem));
        } else {
            for (island, problem) in problems.iter_mut().enumerate() {
                one(island, problem);
            }
        }
    }

    /// The gaps at the end of the step, of all points in reach: an open one may be closed, no more.
    fn find_gaps(&mut self, setup: &Setup, left_m: f64) {
        let settings = &setup.settings;
        let reach = settings.theta * settings.dt_s;
        self.clearings.clear();
        for manifold in self.detector.manifolds() {
            let bodies =
                [manifold.a, manifold.b].map(|c| self.detector.contactors()[c as usize].body);
            if is_bonded(&self.bonded_pairs, bodies) {
                continue;
            }
            let range = manifold.points.start as usize..manifold.points.end as usize;
            for point in &self.detector.points()[range] {
                let arm = |body: u32| point.position - self.middle.poses[body as usize].position;
                let jacobians = jacobians(&point.normal, &bodies.map(arm));
                let gap = point.gap + reach * relative(&jacobians, &bodies, &self.middle.after)[0];
                let before = relative(&jacobians, &bodies, &self.middle.before)[0];
                let beyond = gap + left_m;
                let deep = beyond < 0.0 && !works_off(settings, before, beyond);
                let way = if deep {
                    gap + 0.5 * left_m
                } else {
                    gap.max(0.0)
                };
                let contact = Contact {
                    bodies: bodies.map(|body| (!setup.is_fixed(body)).then_some(body)),
                    jacobians,
                    free_velocity: [way, 0.0, 0.0],
                    friction: 0.0,
                    kind: BlockKind::Contact,
                };
                let block = Block::new(contact, [0.0; 3]);
                self.clearings.push(Clearing { block, deep });
            }
        }
    }

    /// Largest displacement of these points.
    fn farthest(&self, points: &[u32]) -> f64 {
        let mut most = 0.0_f64;
        for &point in points {
            let contact = &self.clearings[point as usize].block.contact;
            for (side, body) in contact.bodies.iter().enumerate() {
                if let Some(body) = body {
                    let moved = &self.middle.after[*body as usize];
                    let d = relative_velocity(&contact.jacobians[side], moved);
                    most = most.max(dot(&d, &d));
                }
            }
        }
        most.sqrt()
    }
}

/// Moves the bodies of an island, as far as `budget_j` pays for.
fn displace(
    setup: &Setup,
    state: &mut State,
    displacements: &[[f64; 6]],
    bodies: &[u32],
    budget_j: f64,
    farthest_m: f64,
) {
    let mut rise = 0.0;
    for &body in bodies {
        if let Some(inertia) = &setup.inertia[body as usize] {
            let d = &displacements[body as usize];
            let d = Vec3::new(d[0], d[1], d[2]);
            rise -= inertia.mass_kg * setup.scene.gravity_m_per_s2.dot(&d);
        }
    }
    let mut share = if rise > budget_j {
        budget_j / rise
    } else {
        1.0
    };
    if setup.settings.look_ahead_m > 0.0 {
        share = share.min(0.5 * setup.settings.look_ahead_m / farthest_m);
    }
    for &body in bodies {
        let d = &displacements[body as usize];
        if setup.is_fixed(body) || *d == [0.0; 6] {
            continue;
        }
        let state = &mut state.bodies[body as usize];
        state.position += Vec3::new(d[0], d[1], d[2]) * share;
        let half = Vec3::new(d[3], d[4], d[5]) * (0.5 * share);
        let turn = nalgebra::Quaternion::new(1.0, half.x, half.y, half.z);
        state.rotation = Quat::new_normalize(turn * state.rotation.as_ref());
    }
    state.energy.stabilisation_work_j += share * rise;
}

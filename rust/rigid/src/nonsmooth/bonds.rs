//! Bonds in a step: the pull that moves their cone, their blocks of the contact problem, and what the step makes of
//! their damage. See `bonds/mod.rs` for the law.

use super::Nonsmooth;
use super::contact::{Block, dot, jacobians, relative, relative_velocity};
use super::island::trace;
use crate::body::Role;
use crate::bonds::BondMemory;
use crate::setup::Setup;
use crate::state::State;
use percuss_solvers::{BlockKind, Contact, response};

/// On the edge of the cone to this share: the solver puts impulses there exactly, but for rounding.
const EDGE: f64 = 1e-9;
/// A brittle point moves if it is faster than this many solver tolerances of the free velocities of its island, in the
/// norm of the residual: what holds moves as fast as that by what the solver leaves, wherever in the island it does.
const MARGIN: f64 = 30.0;

/// A point of a bond in the step at hand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bonded {
    /// Its index.
    pub point: usize,
    pub block: Block,
    /// Impulse that pulled the faces together beforehand [N s].
    pull_n_s: f64,
    before: [f64; 3],
    /// Between the velocity after the step and that of the contact problem.
    shift: [f64; 3],
    /// Size of the free velocities of its island, `Island::free_size`.
    pub free_size: f64,
    /// Work of its impulse in the step [J].
    pub work_j: f64,
}

/// Whether two bodies are among the pairs, which rise, that touch by their bond alone.
pub(super) fn is_bonded(pairs: &[[u32; 2]], [a, b]: [u32; 2]) -> bool {
    pairs.binary_search(&[a.min(b), a.max(b)]).is_ok()
}

impl Nonsmooth {
    /// Finds the points that act in this step, and pulls their bodies together.
    pub(super) fn pull_bonds(&mut self, setup: &Setup, state: &State) {
        self.bonded.clear();
        self.bonded_pairs.clear();
        for (point, memory) in self.bond_points.iter().zip(&state.bonds) {
            let there = point.bodies.iter().all(|&b| state.present[b as usize]);
            if there && !memory.is_broken() {
                let [a, b] = point.bodies;
                self.bonded_pairs.push([a.min(b), a.max(b)]);
            }
        }
        self.bonded_pairs.sort_unstable();
        self.bonded_pairs.dedup();
        for (index, memory) in state.bonds.iter().enumerate() {
            let bodies = self.bond_points[index].bodies;
            if is_bonded(&self.bonded_pairs, bodies)
                && let Some(bonded) = self.bonded(setup, index, memory)
            {
                let contact = &bonded.block.contact;
                for (body, jacobian) in contact.bodies.iter().zip(&contact.jacobians) {
                    let Some(body) = body else { continue };
                    let given = response(&self.middle.masses[*body as usize], jacobian);
                    let after = &mut self.middle.after[*body as usize];
                    for k in 0..6 {
                        after[k] -= bonded.pull_n_s * given[0][k];
                    }
                }
                self.bonded.push(bonded);
            }
        }
    }

    /// A point in this step; none for a broken one that is open.
    fn bonded(&self, setup: &Setup, index: usize, memory: &BondMemory) -> Option<Bonded> {
        let point = &self.bond_points[index];
        let h = setup.settings.dt_s;
        let [a, b] = point.bodies.map(|body| body as usize);
        let end = |side: usize, body: usize| {
            self.middle.poses[body].position + self.middle.axes[body] * point.arms[side]
        };
        let ends = [end(0, a), end(1, b)];
        let normal = self.middle.axes[a] * point.normal;
        let gap = (ends[1] - ends[0]).dot(&normal);
        if memory.is_broken() && gap > setup.settings.contact_tolerance_m {
            return None;
        }
        let position = (ends[0] + ends[1]) * 0.5;
        let arm = |body: usize| position - self.middle.poses[body].position;
        let jacobians = jacobians(&normal, &[arm(a), arm(b)]);
        let law = &setup.scene.bonds[point.bond as usize].law;
        let (pull, friction) = if memory.is_broken() {
            (0.0, setup.scene.laws[point.law as usize].friction)
        } else {
            let pull = memory.strength() * law.tension_pa * point.area_m2 * h;
            (pull, law.shear_pa / law.tension_pa)
        };
        let contact = Contact {
            bodies: point
                .bodies
                .map(|body| (!setup.is_fixed(body)).then_some(body)),
            jacobians,
            free_velocity: [0.0; 3],
            friction,
            kind: BlockKind::Contact,
        };
        let start = [
            memory.normal_force_n * h + pull,
            memory.first_shear_n * h,
            memory.second_shear_n * h,
        ];
        // Faces that hold move together over the step as a whole, as joints do: velocities before it, seen in
        // the axes of its middle, differ by how the bodies turn. Faces that open stop for good.
        let before = relative(&jacobians, &point.bodies, &self.middle.before);
        let theta = setup.settings.theta;
        let held = memory.pace == 0.0 && !memory.is_broken();
        Some(Bonded {
            point: index,
            block: Block::new(contact, start),
            pull_n_s: pull,
            shift: if held {
                before.map(|u| u * (1.0 - theta) / theta)
            } else {
                [0.0; 3]
            },
            before,
            free_size: 0.0,
            work_j: 0.0,
        })
    }

    /// Velocities that the bonds would have without their impulses, once all other forces have acted.
    pub(super) fn free_bonds(&mut self) {
        for bonded in &mut self.bonded {
            let bodies = &self.bond_points[bonded.point].bodies;
            let contact = &mut bonded.block.contact;
            let free = relative(&contact.jacobians, bodies, &self.middle.after);
            contact.free_velocity = std::array::from_fn(|k| free[k] + bonded.shift[k]);
        }
    }

    /// Books the works of the bonds and lets damage grow.
    pub(super) fn account_bonds(&mut self, setup: &Setup, state: &mut State) {
        let h = setup.settings.dt_s;
        for memory in &mut state.bonds {
            *memory = BondMemory {
                pace: 0.0,
                normal_force_n: 0.0,
                first_shear_n: 0.0,
                second_shear_n: 0.0,
                ..*memory
            };
        }
        for bonded in &mut self.bonded {
            let point = &self.bond_points[bonded.point];
            let law = &setup.scene.bonds[point.bond as usize].law;
            let memory = &mut state.bonds[bonded.point];
            let (whole, pull) = (bonded.block.impulse, bonded.pull_n_s);
            // Not that of the solver, which leaves out what joints hold fast.
            let jacobians = &bonded.block.contact.jacobians;
            let after = relative(jacobians, &point.bodies, &self.middle.after);
            let mean: [f64; 3] = std::array::from_fn(|k| 0.5 * (bonded.before[k] + after[k]));
            let own = [whole[0] - pull, whole[1], whole[2]];
            bonded.work_j = dot(&own, &mean);
            memory.normal_force_n = own[0] / h;
            (memory.first_shear_n, memory.second_shear_n) = (own[1] / h, own[2] / h);
            let slides =
                whole[1].hypot(whole[2]) >= (1.0 - EDGE) * bonded.block.contact.friction * whole[0];
            let gives = whole[0] <= EDGE * pull || slides;
            let (fracture, friction) = if gives || memory.is_broken() {
                let sheared = -(whole[1] * mean[1] + whole[2] * mean[2]);
                // What pressure adds to the shear is friction.
                let share = if whole[0] > pull {
                    pull / whole[0]
                } else {
                    1.0
                };
                (pull * mean[0] + share * sheared, (1.0 - share) * sheared)
            } else {
                // What holds spends nothing: it moves by what the solver leaves.
                (0.0, 0.0)
            };
            state.energy.fracture_dissipation_j += fracture;
            state.energy.friction_dissipation_j += friction;
            state.energy.impact_dissipation_j -= bonded.work_j + fracture + friction;
            for (side, &body) in point.bodies.iter().enumerate() {
                let body = body as usize;
                if matches!(setup.scene.bodies[body].role, Role::Kinematic(_)) {
                    let (before, after) = (&self.middle.before[body], &self.middle.after[body]);
                    let twist: [f64; 6] = std::array::from_fn(|k| 0.5 * (before[k] + after[k]));
                    let jacobian = &bonded.block.contact.jacobians[side];
                    let velocity = relative_velocity(jacobian, &twist);
                    state.energy.motion_work_j -= dot(&own, &velocity);
                }
            }
            if gives && !memory.is_broken() {
                let size = trace(&bonded.block.contact, &self.middle.masses).sqrt();
                let noise = MARGIN * setup.settings.tolerance * bonded.free_size * size;
                let moved: [f64; 3] = std::array::from_fn(|k| after[k] + bonded.shift[k]);
                let moves = dot(&moved, &moved).sqrt() > noise;
                memory.grow(law.critical_m(), h, &mean, &after, moves);
            }
        }
    }
}

impl BondMemory {
    /// Damage of a step in which the point is at the edge of its cone.
    fn grow(
        &mut self,
        critical_m: Option<[f64; 2]>,
        h: f64,
        mean: &[f64; 3],
        after: &[f64; 3],
        moves: bool,
    ) {
        let opening = h * mean[0].max(0.0);
        let slide = h * mean[1].hypot(mean[2]);
        self.opening_m += opening;
        self.slide_m += slide;
        match critical_m {
            Some([open, slid]) => {
                let step = (opening / open).hypot(slide / slid);
                // at the pace of the end of the step
                let rate =
                    (h * after[0].max(0.0) / open).hypot(h * after[1].hypot(after[2]) / slid);
                self.damage = (self.damage + step).min(1.0);
                self.pace = rate;
            }
            None if moves => self.damage = 1.0,
            None => {}
        }
    }
}

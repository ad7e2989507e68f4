//! Bonds in a step: the pull that moves their cone, their blocks of the contact problem, and what the step makes of
//! their damage. See `bonds/mod.rs` for the law.

use super::Nonsmooth;
use super::contact::{Block, couple_jacobians, dot, jacobians, relative, relative_velocity};
use super::island::trace;
use super::middle::Middle;
use crate::body::Role;
use crate::bonds::{BondMemory, BondPoint};
use crate::free_motion::BodyState;
use crate::setup::Setup;
use crate::state::State;
use percuss_geometry::Vec3;
use percuss_solvers::{BlockKind, Contact, response};

/// On the edge of the cone to this share: the solver puts impulses there exactly, but for rounding.
const EDGE: f64 = 1e-9;
/// A brittle point moves if it is faster than this many solver tolerances of the free velocities of its island, in the
/// norm of the residual: what holds moves as fast as that by what the solver leaves, wherever in the island it does.
const MARGIN: f64 = 30.0;
/// A point is torn if its free velocity is so many times what its strength changes in a step: it gives in any case.
const TORN: f64 = 10.0;
/// The strength in a step is that of the damage it brings to this share of the fracture energy.
const SOFTENED: f64 = 3e-3;

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

impl Bonded {
    /// Relative velocity after the step, and its mean over the step. Not that of the solver, which leaves out what joints
    /// hold fast.
    fn velocities(&self, point: &BondPoint, middle: &Middle) -> ([f64; 3], [f64; 3]) {
        let jacobians = &self.block.contact.jacobians;
        let after = relative(jacobians, &point.bodies, &middle.after);
        let mean = std::array::from_fn(|k| 0.5 * (self.before[k] + after[k]));
        (after, mean)
    }

    /// Starts a torn point from the edge of its cone: beside such velocities the strength may be less than what the
    /// solver's tolerance is relative to, and then an impulse within the cone would pass for a solution, undamaged faces
    /// moving apart.
    fn tear(&mut self, middle: &Middle) {
        let Block { contact, impulse } = &mut self.block;
        let q = &contact.free_velocity;
        let held = TORN * self.pull_n_s * trace(contact, &middle.masses);
        let along = q[1].hypot(q[2]);
        if q[0] > held {
            *impulse = [0.0; 3];
        } else if along > held * contact.friction {
            let share = -contact.friction * impulse[0].max(0.0) / along;
            *impulse = [impulse[0].max(0.0), share * q[1], share * q[2]];
        }
    }

    /// Whether it is at the edge of its cone.
    fn gives(&self) -> bool {
        let whole = &self.block.impulse;
        let most = (1.0 - EDGE) * self.block.contact.friction * whole[0];
        whole[0] <= EDGE * self.pull_n_s || whole[1].hypot(whole[2]) >= most
    }
}

/// How far faces open and slide in a step at a velocity [m].
fn ways(h: f64, velocity: &[f64; 3]) -> [f64; 2] {
    [h * velocity[0].max(0.0), h * velocity[1].hypot(velocity[2])]
}

/// What that adds to the damage.
fn growth([open, slid]: [f64; 2], [opening, slide]: [f64; 2]) -> f64 {
    (opening / open).hypot(slide / slid)
}

/// Whether two bodies are among the pairs, which rise, that touch by their bond alone.
pub(super) fn is_bonded(pairs: &[[u32; 2]], [a, b]: [u32; 2]) -> bool {
    pairs.binary_search(&[a.min(b), a.max(b)]).is_ok()
}

impl Nonsmooth {
    /// Finds how fast faces part that have not moved together before: bodies with velocities of their own, or those that
    /// stand on what begins to move. The first step stops this, as an impact would.
    pub(super) fn compare_bonded(&mut self, state: &State) {
        self.partings.clear();
        let settled = |memory: &BondMemory| memory.together || memory.is_broken();
        if state.bonds.iter().all(settled) {
            return;
        }
        let velocity = |body: u32, arm: &Vec3| {
            let body = body as usize;
            let BodyState {
                rotation,
                velocity,
                spin,
                ..
            } = &state.bodies[body];
            velocity + rotation * spin.cross(arm)
        };
        let parting = |(point, memory): (&BondPoint, &BondMemory)| {
            let [a, b] = point.bodies;
            match settled(memory) {
                true => Vec3::zeros(),
                false => velocity(b, &point.arms[1]) - velocity(a, &point.arms[0]),
            }
        };
        let points = self.bond_points.iter().zip(&state.bonds);
        self.partings.extend(points.map(parting));
    }

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
        if point.bodies.iter().all(|&body| setup.is_fixed(body)) {
            return None; // thrown bodies, held while the others come to rest
        }
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
            let pull = memory.strength(memory.pace) * law.tension_pa * point.area_m2 * h;
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
        let parting = self.partings.get(index).map_or([0.0; 3], |velocity| {
            let [x, y, z] = (*velocity).into();
            relative_velocity(&jacobians[1], &[x, y, z, 0.0, 0.0, 0.0])
        });
        Some(Bonded {
            point: index,
            block: Block::new(contact, start),
            pull_n_s: pull,
            shift: if held {
                std::array::from_fn(|k| (before[k] - parting[k]) * (1.0 - theta) / theta)
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
            bonded.tear(&self.middle);
        }
    }

    /// Whether the strength that bonds of an island had in its solution is that of the damage it brings, the mean of the
    /// step; if not, the island is made ready for another solution with the strength that would have been.
    ///
    /// Otherwise faces that part by more than the critical opening in a step take the strength at its start along all the
    /// way, many times their fracture energy.
    pub(super) fn soften(&mut self, setup: &Setup, state: &State, island: usize) -> bool {
        let mut softer = false;
        for at in 0..self.islands.contacts.of(island).len() {
            let Some((index, change_n_s)) = self.softening(setup, state, island, at) else {
                continue;
            };
            let bonded = &mut self.bonded[index];
            let contact = &bonded.block.contact;
            for (body, jacobian) in contact.bodies.iter().zip(&contact.jacobians) {
                let Some(body) = body else { continue };
                let given = response(&self.middle.masses[*body as usize], jacobian);
                for k in 0..6 {
                    self.changes[*body as usize][k] -= change_n_s * given[0][k];
                }
            }
            bonded.pull_n_s += change_n_s;
            let start = &mut bonded.block.impulse;
            start[0] = (start[0] + change_n_s).max(0.0);
            softer = true;
        }
        if softer {
            self.change_free(island);
        }
        softer
    }

    /// Whether all its bonds had the strength of the damage that they take.
    pub(super) fn is_softened(&self, setup: &Setup, state: &State, island: usize) -> bool {
        (0..self.islands.contacts.of(island).len())
            .all(|at| self.softening(setup, state, island, at).is_none())
    }

    /// Of a contact of an island that is a bond: its place among those that act, and by how much the impulse of its strength
    /// has to change; none where it need not.
    fn softening(
        &self,
        setup: &Setup,
        state: &State,
        island: usize,
        at: usize,
    ) -> Option<(usize, f64)> {
        let index = self.islands.contacts.of(island)[at] as usize;
        let index = index.checked_sub(self.touches.len())?;
        let bonded = &self.bonded[index];
        let point = &self.bond_points[bonded.point];
        let memory = &state.bonds[bonded.point];
        let law = &setup.scene.bonds[point.bond as usize].law;
        let critical_m = law.critical_m().filter(|_| !memory.is_broken())?;
        if !bonded.gives() {
            return None;
        }
        let h = setup.settings.dt_s;
        let growth = growth(
            critical_m,
            ways(h, &bonded.velocities(point, &self.middle).1),
        );
        let full = law.tension_pa * point.area_m2 * h;
        let change = memory.strength(growth) * full - bonded.pull_n_s;
        (change.abs() * growth.max(1.0) > SOFTENED * full).then_some((index, change))
    }

    /// Adds the changes to the velocities of an island before its contact problem, which begins anew from there.
    fn change_free(&mut self, island: usize) {
        let bodies = self.islands.bodies.of(island);
        let parts = self.islands.parts.of(island);
        for &body in bodies {
            for k in 0..6 {
                let change = &mut self.changes[body as usize][k];
                let free = &mut self.free[body as usize][k];
                (*change, *free) = (*free, *free + *change);
            }
        }
        for &part in parts {
            self.parts[part as usize].hold_again(&mut self.free);
        }
        // From what they were to how much they changed, joints included.
        for &body in bodies {
            for k in 0..6 {
                let change = &mut self.changes[body as usize][k];
                *change = self.free[body as usize][k] - *change;
            }
        }
        let add = |velocity: &mut [f64; 3], change: [f64; 3]| {
            for k in 0..3 {
                velocity[k] += change[k];
            }
        };
        for &index in self.islands.contacts.of(island) {
            let Some(touch) = self.touches.get_mut(index as usize) else {
                let bonded = &mut self.bonded[index as usize - self.touches.len()];
                let bodies = &self.bond_points[bonded.point].bodies;
                let contact = &mut bonded.block.contact;
                let change = relative(&contact.jacobians, bodies, &self.changes);
                add(&mut contact.free_velocity, change);
                bonded.tear(&self.middle);
                continue;
            };
            let bodies = &touch.contact.bodies;
            let change = relative(&touch.jacobians(&self.middle.poses), bodies, &self.changes);
            if let Some(couple) = &mut touch.couple {
                let jacobians = couple_jacobians(&touch.contact.normal, &couple.scale);
                add(
                    &mut couple.free_velocity,
                    relative(&jacobians, bodies, &self.changes),
                );
            }
            add(&mut touch.free_velocity, change);
        }
        for &part in parts {
            for bound in &mut self.parts[part as usize].active {
                let contact = &mut bound.block.contact;
                for (body, jacobian) in contact.bodies.iter().zip(&contact.jacobians) {
                    let Some(body) = body else { continue };
                    let change = relative_velocity(jacobian, &self.changes[*body as usize]);
                    add(&mut contact.free_velocity, change);
                }
            }
        }
        for &body in self.islands.bodies.of(island) {
            self.changes[body as usize] = [0.0; 6];
        }
        self.start_over(island);
    }

    /// Share of the work of shear that is spent on fracture; what pressure adds is friction. It is one for all points of two
    /// bodies that slide, as what each of them bears of the pressure is not determined.
    fn fracture_shares(&self, state: &State) -> Vec<f64> {
        let bodies = |bonded: &Bonded| self.bond_points[bonded.point].bodies;
        let mut shares = Vec::with_capacity(self.bonded.len());
        for own in self.bonded.chunk_by(|a, b| bodies(a) == bodies(b)) {
            let (mut whole, mut pull) = (0.0, 0.0);
            for bonded in own {
                let normal = bonded.block.impulse[0];
                let opens = normal <= EDGE * bonded.pull_n_s;
                if bonded.gives() && !opens && !state.bonds[bonded.point].is_broken() {
                    whole += normal;
                    pull += bonded.pull_n_s;
                }
            }
            let share = if whole > pull { pull / whole } else { 1.0 };
            shares.extend(std::iter::repeat_n(share, own.len()));
        }
        shares
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
                together: false,
                ..*memory
            };
        }
        let shares = self.fracture_shares(state);
        for (bonded, share) in self.bonded.iter_mut().zip(shares) {
            let point = &self.bond_points[bonded.point];
            let law = &setup.scene.bonds[point.bond as usize].law;
            let memory = &mut state.bonds[bonded.point];
            let (whole, pull) = (bonded.block.impulse, bonded.pull_n_s);
            let (after, mean) = bonded.velocities(point, &self.middle);
            let gives = bonded.gives();
            let own = [whole[0] - pull, whole[1], whole[2]];
            bonded.work_j = dot(&own, &mean);
            memory.normal_force_n = own[0] / h;
            (memory.first_shear_n, memory.second_shear_n) = (own[1] / h, own[2] / h);
            let (fracture, friction) = if gives || memory.is_broken() {
                let sheared = -(whole[1] * mean[1] + whole[2] * mean[2]);
                let share = if memory.is_broken() { 0.0 } else { share };
                // Less than nothing is what the solver leaves.
                let fracture = (pull * mean[0] + share * sheared).max(0.0);
                (fracture, (1.0 - share) * sheared)
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
            memory.together = memory.pace == 0.0;
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
        let [opening, slide] = ways(h, mean);
        self.opening_m += opening;
        self.slide_m += slide;
        match critical_m {
            Some(critical_m) => {
                self.damage = (self.damage + growth(critical_m, [opening, slide])).min(1.0);
                // at the pace of the end of the step
                self.pace = growth(critical_m, ways(h, after));
            }
            None if moves => self.damage = 1.0,
            None => {}
        }
    }
}

//! Contacts as sweeps without W see them: four at once, none of which moves a body of another, with all that a sweep reads of them
//! in one place, and nothing that follows from the rest, because sweeps of many contacts wait for memory.
//!
//! A contact at a point is known by its axes and by the arms from the centres of its two bodies to that point:
//! u = q + N (v_B + w_B x r_B - v_A - w_A x r_A). Its impulse p in world axes gives B the velocity p/m and the spin I^-1 (r_B x p), A the
//! opposite. A couple turns bodies only: u = q + N (w_B - w_A).

use crate::assembly::{Contact, InverseMass, Jacobian};
use crate::block_matrix::{Block, Lanes, Vector3};
use crate::cone;
use crate::couple;
use crate::four::{
    Four, Fours, Stored, Task, WIDTH, Wide, cross, dot, gathered, minus, on_registers, plus, read,
    scattered, times,
};
use crate::four_contacts::{self, Contacts};
use crate::problem::{self, BlockKind};

/// Rounding in the arms that the rows of a contact tell, as a share of the longest.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// What the contacts of a batch have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Class {
    pub(crate) kind: BlockKind,
    /// Its impulses turn bodies without moving them.
    pub(crate) turns: bool,
}

impl Class {
    /// Number of classes.
    pub(crate) const COUNT: usize = 6;

    pub(crate) fn of(contact: &Contact) -> Self {
        let mut sides = contact.bodies.iter().zip(&contact.jacobians);
        let moves = |j: &Jacobian| j.iter().any(|row| row[..3] != [0.0; 3]);
        Self {
            kind: contact.kind,
            turns: !sides.any(|(body, j)| body.is_some() && moves(j)),
        }
    }

    /// Its number.
    pub(crate) fn index(self) -> usize {
        2 * self.kind as usize + usize::from(self.turns)
    }
}

/// Where a batch is: its first contact, and how many there are.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Batch {
    pub(crate) class: Class,
    pub(crate) first: u32,
    pub(crate) count: u32,
}

/// Velocity and spin of a body, in a line of a cache.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C, align(64))]
pub(crate) struct Motion {
    velocity: Lanes,
    spin: Lanes,
}

impl Motion {
    /// Extrapolated beyond `new` by `beta` times the way from here.
    #[inline(always)]
    pub(crate) fn beyond(&self, new: &Self, beta: f64) -> Self {
        let beyond = |old: Lanes, new: &Lanes| old.each(new, |old, new| new + beta * (new - old));
        Self {
            velocity: beyond(self.velocity, &new.velocity),
            spin: beyond(self.spin, &new.spin),
        }
    }
}

/// M^-1 of a body: the inverse inertia on the diagonal and 1/m; then what is beside the diagonal.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C, align(64))]
pub(crate) struct Inertia([[f64; 4]; 2]);

impl From<&InverseMass> for Inertia {
    fn from(mass: &InverseMass) -> Self {
        let [[xx, xy, xz], [_, yy, yz], [_, _, zz]] = mass.rotation_per_kg_m2;
        Self([[xx, yy, zz, mass.translation_per_kg], [xy, xz, yz, 0.0]])
    }
}

/// Those of four bodies.
struct Inertias<W: Wide> {
    inverse_mass: Four<W>,
    diagonal: Fours<W>,
    beside: Fours<W>,
}

impl<W: Wide> Inertias<W> {
    #[inline(always)]
    fn of(with: W, bodies: &[u32; WIDTH], first: usize, inertias: &[Inertia]) -> Self {
        let [a, b, c, d] = *bodies;
        let at = |body: u32| &inertias[body as usize - first].0;
        let (a, b, c, d) = (at(a), at(b), at(c), at(d));
        let [xx, yy, zz, inverse_mass] = gathered(with, [&a[0], &b[0], &c[0], &d[0]]);
        let [xy, xz, yz, _] = gathered(with, [&a[1], &b[1], &c[1], &d[1]]);
        Self {
            inverse_mass,
            diagonal: [xx, yy, zz],
            beside: [xy, xz, yz],
        }
    }

    /// I^-1 x
    #[inline(always)]
    fn turned(&self, x: &Fours<W>) -> Fours<W> {
        let ([xx, yy, zz], [xy, xz, yz]) = (self.diagonal, self.beside);
        [
            dot(&[xx, xy, xz], x),
            dot(&[xy, yy, yz], x),
            dot(&[xz, yz, zz], x),
        ]
    }

    /// The products of three vectors with I^-1 in between: NN, NT, NS, TT, TS, SS.
    #[inline(always)]
    fn block(&self, [n, t, s]: [&Fours<W>; 3]) -> [Four<W>; 6] {
        let (turned_t, turned_s) = (self.turned(t), self.turned(s));
        [
            dot(n, &self.turned(n)),
            dot(n, &turned_t),
            dot(n, &turned_s),
            dot(t, &turned_t),
            dot(t, &turned_s),
            dot(s, &turned_s),
        ]
    }
}

/// One block plus another, by NN, NT, NS, TT, TS, SS.
#[inline(always)]
fn add<W: Wide>(a: &[Four<W>; 6], b: &[Four<W>; 6]) -> [Four<W>; 6] {
    [
        a[0] + b[0],
        a[1] + b[1],
        a[2] + b[2],
        a[3] + b[3],
        a[4] + b[4],
        a[5] + b[5],
    ]
}

/// A batch.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C, align(64))]
pub(crate) struct Swept {
    /// N: normal, first and second tangent; where couples, times their coefficients.
    axes: [[Stored; 3]; 3],
    /// From the centres of A and B to the point.
    arms: [[Stored; 3]; 2],
    q: [Stored; 3],
    /// W_ii: NN, NT, NS, TT, TS, SS.
    matrix: [Stored; 6],
    stiffening: Stored,
    mu: Stored,
    /// Places of A and B.
    bodies: [[u32; WIDTH]; 2],
    /// Places of the contacts before, whose normal impulses bound couples.
    before: [u32; WIDTH],
    pub(crate) batch: Batch,
}

impl Swept {
    /// A batch whose contacts are at rest until they are put in, between bodies that are still.
    pub(crate) fn new(batch: Batch, still: u32) -> Self {
        let one = Stored([1.0; WIDTH]);
        let mut swept = Self {
            mu: one,
            bodies: [[still; WIDTH]; 2],
            batch,
            ..Self::default()
        };
        swept.q[0] = one;
        for diagonal in [0, 3, 5] {
            swept.matrix[diagonal] = one;
        }
        swept
    }

    /// Take contact `k` of another batch of this class in.
    #[inline(always)]
    pub(crate) fn copy(&mut self, from: &Self, k: usize) {
        let lane = self.batch.count as usize;
        let copy = |to: &mut [Stored], from: &[Stored]| {
            for (to, from) in to.iter_mut().zip(from) {
                to.0[lane] = from.0[k];
            }
        };
        copy(self.axes.as_flattened_mut(), from.axes.as_flattened());
        copy(self.arms.as_flattened_mut(), from.arms.as_flattened());
        copy(&mut self.q, &from.q);
        copy(&mut self.matrix, &from.matrix);
        self.stiffening.0[lane] = from.stiffening.0[k];
        self.mu.0[lane] = from.mu.0[k];
        for (to, from) in self.bodies.iter_mut().zip(&from.bodies) {
            to[lane] = from[k];
        }
        self.before[lane] = from.before[k];
        self.batch.count += 1;
    }

    /// Places of the bodies of contact `k`.
    #[inline(always)]
    pub(crate) fn places(&self, k: usize) -> [u32; 2] {
        self.bodies.map(|places| places[k])
    }

    /// Put contact `k` of bodies at these places in; false where it is not of this form.
    #[inline]
    pub(crate) fn put(
        &mut self,
        k: usize,
        contact: &Contact,
        bodies: [u32; 2],
        before: u32,
    ) -> bool {
        if Class::of(contact) != self.batch.class {
            return false;
        }
        if let [Some(a), Some(b)] = contact.bodies
            && a == b
        {
            return false;
        }
        let turns = self.batch.class.turns;
        let at = if turns { 3 } else { 0 };
        let mut axes: Option<[Vector3; 3]> = None;
        for (side, sign) in [-1.0, 1.0].into_iter().enumerate() {
            if contact.bodies[side].is_none() {
                continue;
            }
            let j = &contact.jacobians[side];
            let (mut own, mut turning) = ([[0.0; 3]; 3], [[0.0; 3]; 3]);
            for ((own, turning), row) in own.iter_mut().zip(&mut turning).zip(j) {
                for c in 0..3 {
                    own[c] = sign * row[at + c];
                    turning[c] = sign * row[3 + c];
                }
            }
            if axes.is_some_and(|axes| axes != own) {
                return false;
            }
            axes = Some(own);
            if turns {
                continue;
            }
            let Some(arm) = arm(&own, &turning) else {
                return false;
            };
            for (to, x) in self.arms[side].iter_mut().zip(arm) {
                to.0[k] = x;
            }
        }
        for (row, own) in self.axes.iter_mut().zip(axes.unwrap_or_default()) {
            for (to, x) in row.iter_mut().zip(own) {
                to.0[k] = x;
            }
        }
        for (to, x) in self.q.iter_mut().zip(contact.free_velocity) {
            to.0[k] = x;
        }
        self.mu.0[k] = contact.friction;
        self.bodies[0][k] = bodies[0];
        self.bodies[1][k] = bodies[1];
        self.before[k] = before;
        true
    }

    /// W_ii of all of them, from the inertia of their bodies.
    pub(crate) fn prepare(&mut self, inertias: &[Inertia]) {
        struct Summing<'a>(&'a mut Swept, &'a [Inertia]);
        impl Task for Summing<'_> {
            type Output = ();

            #[inline(always)]
            fn run<W: Wide>(self, with: W) {
                self.0.sum_up(with, self.1);
            }
        }
        on_registers(Summing(self, inertias));
    }

    #[inline(always)]
    fn sum_up<W: Wide>(&mut self, with: W, inertias: &[Inertia]) {
        let [n, t, s] = &self.axes;
        let (n, t, s) = (read(with, n), read(with, t), read(with, s));
        let sum = if self.batch.class.turns {
            let a = Inertias::of(with, &self.bodies[0], 0, inertias);
            let b = Inertias::of(with, &self.bodies[1], 0, inertias);
            add(&a.block([&n, &t, &s]), &b.block([&n, &t, &s]))
        } else {
            let a = self.moving(with, 0, [&n, &t, &s], inertias);
            let b = self.moving(with, 1, [&n, &t, &s], inertias);
            add(&a, &b)
        };
        let numbers = [
            sum[0].numbers(),
            sum[1].numbers(),
            sum[2].numbers(),
            sum[3].numbers(),
            sum[4].numbers(),
            sum[5].numbers(),
        ];
        for k in 0..self.batch.count as usize {
            for entry in 0..6 {
                self.matrix[entry].0[k] = numbers[entry][k];
            }
            let block = self.block(k);
            self.stiffening.0[k] = problem::stiffening(&block, trace(&block));
        }
    }

    /// The share of the bodies of one side.
    #[inline(always)]
    fn moving<W: Wide>(
        &self,
        with: W,
        side: usize,
        [n, t, s]: [&Fours<W>; 3],
        inertias: &[Inertia],
    ) -> [Four<W>; 6] {
        let inertia = Inertias::of(with, &self.bodies[side], 0, inertias);
        let arm = read(with, &self.arms[side]);
        let turning = inertia.block([&cross(&arm, n), &cross(&arm, t), &cross(&arm, s)]);
        let m = inertia.inverse_mass;
        let pushing = [
            m * dot(n, n),
            m * dot(n, t),
            m * dot(n, s),
            m * dot(t, t),
            m * dot(t, s),
            m * dot(s, s),
        ];
        add(&pushing, &turning)
    }

    /// W_ii of one.
    pub(crate) fn block(&self, k: usize) -> Block {
        four_contacts::block(|entry| self.matrix[entry].0[k])
    }

    /// trace(W_ii)
    #[inline(always)]
    pub(crate) fn trace<W: Wide>(&self, with: W) -> Four<W> {
        self.matrix[0].read(with) + self.matrix[3].read(with) + self.matrix[5].read(with)
    }

    /// Their velocities, V from that of the body at `first` on.
    #[inline(always)]
    pub(crate) fn velocity<W: Wide>(&self, with: W, v: &[Motion], first: usize) -> Fours<W> {
        let (a, b) = (self.motions(0, v, first), self.motions(1, v, first));
        let (spin_a, spin_b) = (spins(with, a), spins(with, b));
        let relative = if self.batch.class.turns {
            minus(&spin_b, &spin_a)
        } else {
            let turning_a = cross(&spin_a, &read(with, &self.arms[0]));
            let turning_b = cross(&spin_b, &read(with, &self.arms[1]));
            let moving = minus(&velocities(with, b), &velocities(with, a));
            plus(&moving, &minus(&turning_b, &turning_a))
        };
        let [n, t, s] = &self.axes;
        let along = [
            dot(&read(with, n), &relative),
            dot(&read(with, t), &relative),
            dot(&read(with, s), &relative),
        ];
        plus(&read(with, &self.q), &along)
    }

    /// The velocity of one of them.
    #[inline(always)]
    pub(crate) fn velocity_of(&self, k: usize, v: &[Motion]) -> Vector3 {
        let [a, b] = [
            &v[self.bodies[0][k] as usize],
            &v[self.bodies[1][k] as usize],
        ];
        let arm = |side: usize| -> Vector3 {
            let [x, y, z] = &self.arms[side];
            [x.0[k], y.0[k], z.0[k]]
        };
        let mut relative = [0.0; 3];
        if self.batch.class.turns {
            for (c, relative) in relative.iter_mut().enumerate() {
                *relative = b.spin[c] - a.spin[c];
            }
        } else {
            let of_a = problem::cross(&a.spin, &arm(0));
            let of_b = problem::cross(&b.spin, &arm(1));
            for (c, relative) in relative.iter_mut().enumerate() {
                *relative = (b.velocity[c] - a.velocity[c]) + (of_b[c] - of_a[c]);
            }
        }
        let mut u = [0.0; 3];
        for ((u, axis), q) in u.iter_mut().zip(&self.axes).zip(&self.q) {
            let [x, y, z] = axis;
            *u = q.0[k] + (x.0[k] * relative[0] + y.0[k] * relative[1] + z.0[k] * relative[2]);
        }
        u
    }

    /// The bodies of one side.
    #[inline(always)]
    fn motions<'a>(&self, side: usize, v: &'a [Motion], first: usize) -> [&'a Motion; WIDTH] {
        let [a, b, c, d] = self.bodies[side];
        [
            &v[a as usize - first],
            &v[b as usize - first],
            &v[c as usize - first],
            &v[d as usize - first],
        ]
    }

    /// Bring nearer what is read of their bodies.
    #[inline(always)]
    pub(crate) fn fetch_bodies<W: Wide>(
        &self,
        with: W,
        v: &[Motion],
        (inertias, first): (&[Inertia], usize),
    ) {
        for side in self.bodies {
            for body in side {
                let place = body as usize - first;
                with.fetch(&v[place..=place]);
                with.fetch(&inertias[place..=place]);
            }
        }
    }

    /// V += M^-1 J^T r
    #[inline(always)]
    pub(crate) fn scatter<W: Wide>(
        &self,
        with: W,
        r: &Fours<W>,
        v: &mut [Motion],
        (inertias, first): (&[Inertia], usize),
    ) {
        let [n, t, s] = &self.axes;
        let (normal, first_tangent) = (times(r[0], &read(with, n)), times(r[1], &read(with, t)));
        let push = plus(&plus(&normal, &first_tangent), &times(r[2], &read(with, s)));
        let pull = [-push[0], -push[1], -push[2]];
        self.push(with, 0, &pull, v, (inertias, first));
        self.push(with, 1, &push, v, (inertias, first));
    }

    /// The bodies of one side are given these impulses, in world axes.
    #[inline(always)]
    fn push<W: Wide>(
        &self,
        with: W,
        side: usize,
        push: &Fours<W>,
        v: &mut [Motion],
        (inertias, first): (&[Inertia], usize),
    ) {
        let bodies = &self.bodies[side];
        let inertia = Inertias::of(with, bodies, first, inertias);
        if self.batch.class.turns {
            let turned = scattered(&inertia.turned(push));
            for k in 0..WIDTH {
                let body = &mut v[bodies[k] as usize - first];
                body.spin = sum(with, &body.spin, turned[k]);
            }
            return;
        }
        let moved = scattered(&times(inertia.inverse_mass, push));
        let turned = scattered(&inertia.turned(&cross(&read(with, &self.arms[side]), push)));
        for k in 0..WIDTH {
            let body = &mut v[bodies[k] as usize - first];
            body.velocity = sum(with, &body.velocity, moved[k]);
            body.spin = sum(with, &body.spin, turned[k]);
        }
    }

    /// Answer contacts that have the impulses `old`, and move their bodies: the new impulses, and by how much they differ, if they do.
    #[inline(always)]
    pub(crate) fn step<W: Wide>(
        &self,
        with: W,
        old: &Fours<W>,
        v: &mut [Motion],
        (inertias, first): (&[Inertia], usize),
        bound: impl Fn(u32) -> f64,
    ) -> (Fours<W>, Option<Fours<W>>) {
        let zero = Four::all(with, 0.0);
        let u = self.velocity(with, v, first);
        let new = self.answer(with, old, &u, bound);
        let change = minus(&new, old);
        let still = change[0].equals(zero) & change[1].equals(zero) & change[2].equals(zero);
        if !(!still).any() {
            return (new, None);
        }
        self.scatter(with, &change, v, (inertias, first));
        (new, Some(change))
    }

    /// The new impulses with all others held; `bound` is the normal impulse of the contact at a place.
    #[inline(always)]
    pub(crate) fn answer<W: Wide>(
        &self,
        with: W,
        r: &Fours<W>,
        u: &Fours<W>,
        bound: impl Fn(u32) -> f64,
    ) -> Fours<W> {
        if self.batch.class.kind == BlockKind::Contact {
            return Contacts::new(with, &self.matrix, &self.stiffening, &self.mu).answer(r, u);
        }
        let mut radii = self.mu.0;
        if self.batch.class.kind == BlockKind::Couple {
            for k in 0..self.batch.count as usize {
                radii[k] = bound(self.before[k]);
            }
        }
        self.answer_in_balls(with, &radii, r, u)
    }

    /// Those of blocks in balls.
    #[inline(never)]
    fn answer_in_balls<W: Wide>(
        &self,
        with: W,
        radii: &[f64; WIDTH],
        r: &Fours<W>,
        u: &Fours<W>,
    ) -> Fours<W> {
        let numbers = |x: &Fours<W>| [x[0].numbers(), x[1].numbers(), x[2].numbers()];
        let (r, u) = (numbers(r), numbers(u));
        let mut found = r;
        for k in 0..self.batch.count as usize {
            let block = self.block(k);
            let inverse = problem::inverse(&block, trace(&block));
            let of = |x: &[[f64; WIDTH]; 3]| [x[0][k], x[1][k], x[2][k]];
            let one = couple::solve(&block, &inverse, &of(&r), &of(&u), radii[k]);
            for (found, one) in found.iter_mut().zip(one) {
                found[k] = one;
            }
        }
        found.map(|found| Four::of(with, found))
    }
}

/// Spins of four bodies.
#[inline(always)]
fn spins<W: Wide>(with: W, [a, b, c, d]: [&Motion; WIDTH]) -> Fours<W> {
    let rows = [a.spin.four(), b.spin.four(), c.spin.four(), d.spin.four()];
    let [x, y, z, _] = gathered(with, rows);
    [x, y, z]
}

/// Their velocities.
#[inline(always)]
fn velocities<W: Wide>(with: W, [a, b, c, d]: [&Motion; WIDTH]) -> Fours<W> {
    let (a, b, c, d) = (&a.velocity, &b.velocity, &c.velocity, &d.velocity);
    let [x, y, z, _] = gathered(with, [a.four(), b.four(), c.four(), d.four()]);
    [x, y, z]
}

/// One vector plus another.
#[inline(always)]
fn sum<W: Wide>(with: W, x: &Lanes, y: Four<W>) -> Lanes {
    Lanes::of_four((Four::of(with, *x.four()) + y).numbers())
}

fn trace(block: &Block) -> f64 {
    block[0][0] + block[1][1] + block[2][2]
}

/// The arm r of a point whose rows have these axes d and turn the body by r x d; none where no point does.
fn arm(axes: &[Vector3; 3], turning: &[Vector3; 3]) -> Option<Vector3> {
    // The sum over three axes at right angles of d x (r x d) is 2 r.
    let mut arm = [0.0; 3];
    for (d, turn) in axes.iter().zip(turning) {
        let part = problem::cross(d, turn);
        for (arm, part) in arm.iter_mut().zip(part) {
            *arm += 0.5 * part;
        }
    }
    let limit = ROUNDING * cone::dot(&arm, &arm).sqrt();
    let fits = axes.iter().zip(turning).all(|(d, turn)| {
        let own = problem::cross(&arm, d);
        own.iter()
            .zip(turn)
            .all(|(own, turn)| (own - turn).abs() <= limit)
    });
    fits.then_some(arm)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::four::Plain;
    use proptest::prelude::*;

    proptest! {
        /// The arm is found from rows at any place, for axes that are at right angles; not from rows of no point.
        #[test]
        fn rows_tell_their_arm(place in prop::array::uniform3(-1e3..1e3_f64), angle in 0.0..6.3_f64) {
            let (sin, cos) = angle.sin_cos();
            let axes = [[cos, sin, 0.0], [-sin, cos, 0.0], [0.0, 0.0, 1.0]];
            let mut turning = axes.map(|d| problem::cross(&place, &d));
            let found = arm(&axes, &turning).unwrap();
            let size = cone::dot(&place, &place).sqrt();
            prop_assert!(found.iter().zip(place).all(|(x, y)| (x - y).abs() <= 1e-14 * size));
            turning[1][0] += 1e-9 * size;
            prop_assert!(arm(&axes, &turning).is_none());
        }

        /// One velocity is to the bit that of four at once.
        #[test]
        fn one_velocity_is_that_of_four(
            numbers in prop::collection::vec(-1.0..1.0_f64, 40),
            turns in any::<bool>(),
        ) {
            let mut numbers = numbers.into_iter();
            let mut vector = || -> Vector3 { std::array::from_fn(|_| numbers.next().unwrap()) };
            let (class, axes) = (Class { turns, ..Class::default() }, [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]);
            let mut swept = Swept::new(Batch { class, first: 0, count: 1 }, 2);
            let arms = [vector(), vector()];
            let rows = |sign: f64, arm: &Vector3| {
                axes.map(|d| {
                    let turn = if turns { d } else { problem::cross(arm, &d) };
                    let push = if turns { [0.0; 3] } else { d };
                    [push[0], push[1], push[2], turn[0], turn[1], turn[2]].map(|x| sign * x)
                })
            };
            let contact = Contact {
                bodies: [Some(0), Some(1)],
                jacobians: [rows(-1.0, &arms[0]), rows(1.0, &arms[1])],
                free_velocity: vector(),
                friction: 0.5,
                kind: BlockKind::Contact,
            };
            prop_assert!(swept.put(0, &contact, [0, 1], 0));
            let mut motion = || Motion { velocity: vector().into(), spin: vector().into() };
            let v = [motion(), motion(), Motion::default()];
            let four = swept.velocity(Plain, &v, 0);
            let one = swept.velocity_of(0, &v);
            for k in 0..3 {
                prop_assert_eq!(one[k].to_bits(), four[k].numbers()[0].to_bits());
            }
        }
    }
}

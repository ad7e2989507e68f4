//! Four contacts at once, each with all others held: the rules of `one_contact`, without branches.
//!
//! Contacts that slip are given Newton steps from their last directions; where sweeps have settled, the first step is the last one. The
//! few that a few steps do not lead to the wanted root are left to `one_contact`.

use crate::block_matrix::{Block, Lanes};
use crate::four::{Four, Fours, Holds, Stored, WIDTH, Wide, dot};
use crate::one_contact::{self, LAST_STEP};
use crate::problem;

/// Newton steps taken of all of them before one is left to `one_contact`.
const STEPS: usize = 4;

/// What is asked of each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Contacts<W: Wide> {
    with: W,
    /// W_ii: NN, NT, NS, TT, TS, SS.
    matrix: [Four<W>; 6],
    /// What is added to its diagonal before it is inverted.
    stiffening: Four<W>,
    /// Coefficient of friction.
    mu: Four<W>,
}

impl<W: Wide> Contacts<W> {
    #[inline(always)]
    pub(crate) fn new(with: W, matrix: &[Stored; 6], stiffening: &Stored, mu: &Stored) -> Self {
        let [nn, nt, ns, tt, ts, ss] = matrix;
        Self {
            with,
            matrix: [
                nn.read(with),
                nt.read(with),
                ns.read(with),
                tt.read(with),
                ts.read(with),
                ss.read(with),
            ],
            stiffening: stiffening.read(with),
            mu: mu.read(with),
        }
    }

    /// W_ii x
    #[inline(always)]
    fn product(&self, x: &Fours<W>) -> Fours<W> {
        let [nn, nt, ns, tt, ts, ss] = self.matrix;
        [
            dot(&[nn, nt, ns], x),
            dot(&[nt, tt, ts], x),
            dot(&[ns, ts, ss], x),
        ]
    }

    /// W_ii^-1 x
    #[inline(always)]
    fn divided(&self, x: &Fours<W>) -> Fours<W> {
        let ([nn, nt, ns, tt, ts, ss], more) = (self.matrix, self.stiffening);
        let (nn, tt, ss) = (nn + more, tt + more, ss + more);
        let n = [tt * ss - ts * ts, ts * ns - nt * ss, nt * ts - tt * ns];
        let t = [n[1], nn * ss - ns * ns, nt * ns - nn * ts];
        let s = [n[2], t[2], nn * tt - nt * nt];
        let scale = Four::all(self.with, 1.0) / dot(&[nn, nt, ns], &n);
        [scale * dot(&n, x), scale * dot(&t, x), scale * dot(&s, x)]
    }

    /// mu A_NT d
    #[inline(always)]
    fn coupling(&self, d: [Four<W>; 2]) -> Four<W> {
        let [_, nt, ns, ..] = self.matrix;
        self.mu * plane_dot([nt, ns], d)
    }

    /// mu A_TT d
    #[inline(always)]
    fn resistance(&self, d: [Four<W>; 2]) -> [Four<W>; 2] {
        let [.., tt, ts, ss] = self.matrix;
        [
            self.mu * plane_dot([tt, ts], d),
            self.mu * plane_dot([ts, ss], d),
        ]
    }

    /// A_NN - mu A_NT d, times the length: positive for every admissible direction.
    #[inline(always)]
    fn denominator(&self, d: [Four<W>; 2], length: Four<W>) -> Four<W> {
        self.matrix[0] * length - self.coupling(d)
    }

    /// The new impulses of contacts that have impulses `r` and velocities `u` now.
    #[inline(always)]
    pub(crate) fn answer(&self, r: &Fours<W>, u: &Fours<W>) -> Fours<W> {
        let (mu, zero) = (self.mu, Four::all(self.with, 0.0));
        let own = self.product(r);
        let free = [u[0] - own[0], u[1] - own[1], u[2] - own[2]];
        let step = self.divided(u);
        let stick = [r[0] - step[0], r[1] - step[1], r[2] - step[2]];
        let limit = mu * stick[0];
        let inside = zero.at_most(stick[0])
            & (stick[1] * stick[1] + stick[2] * stick[2]).at_most(limit * limit);
        let open = zero.at_most(free[0]);
        let smooth = mu.equals(zero);
        let mut slipping = !(open | inside);
        let mut found = stick;
        if slipping.any() {
            if smooth.any() {
                let [nn, nt, ns, ..] = self.matrix;
                let normal = u[0] - (nt * r[1] + ns * r[2]);
                let pushed = r[0] - normal / nn;
                let pushed = pushed.below(zero).choose(zero, pushed);
                found = smooth.choose_vector(&[pushed, zero, zero], &found);
                slipping = slipping & !smooth;
            }
            let (slid, arrived) = self.slip(slipping, &free, r, &stick);
            found = arrived.choose_vector(&slid, &found);
            let lost = slipping & !arrived;
            if lost.any() {
                found = self.one_by_one(lost.bits(), (&free, r, u), &found);
            }
        }
        open.choose_vector(&[zero; 3], &found)
    }

    /// The slip equation of `one_contact`, by Newton from the last direction, or from that which sticking asks for: the impulses of those
    /// that slip, and where a step was the last one.
    #[inline(always)]
    fn slip(
        &self,
        slipping: Holds<W>,
        free: &Fours<W>,
        r: &Fours<W>,
        stick: &Fours<W>,
    ) -> (Fours<W>, Holds<W>) {
        let with = self.with;
        let (mu, zero, one) = (self.mu, Four::all(with, 0.0), Four::all(with, 1.0));
        let [_, nt, ns, ..] = self.matrix;
        let none = r[1].equals(zero) & r[2].equals(zero);
        let mut d = [none.choose(-stick[1], -r[1]), none.choose(-stick[2], -r[2])];
        let length = (d[0] * d[0] + d[1] * d[1]).sqrt();
        let sliding = [free[1], free[2]];
        let (mut found, mut done) = ([zero; 3], !slipping);
        for _ in 0..STEPS {
            let across = [-d[1], d[0]];
            let resisted = self.resistance(d);
            let drag = [resisted[0] - length * nt, resisted[1] - length * ns];
            let turning = plane_dot(across, self.resistance(across));
            let (b_across, b_along) = (plane_dot(across, sliding), plane_dot(d, sliding));
            let along = self.denominator(d, length) * b_along + free[0] * plane_dot(d, drag);
            let off = self.denominator(d, length) * b_across + free[0] * plane_dot(across, drag);
            let slope = (free[0] * turning - self.coupling(across) * b_across) - along;
            let (mut step, stable) = (-off / slope, slope.below(zero));
            let square = step * step;
            let last = stable & square.below(Four::all(with, LAST_STEP * LAST_STEP));
            // 1 / sqrt(1 + square) to rounding, for steps that are the last.
            let cubic = Four::all(with, 0.375) - square * Four::all(with, 0.3125);
            let mut scale = one - square * (Four::all(with, 0.5) - square * cubic);
            if (!(last | done)).any() {
                let way = off.below(zero).choose(-one, one);
                let short = one.below(step).choose(one, step);
                let short = step.below(-one).choose(-one, short);
                step = stable.choose(short, way);
                scale = last.choose(scale, one / (one + step * step).sqrt());
            }
            d = [scale * (d[0] - step * d[1]), scale * (d[1] + step * d[0])];
            let after = self.denominator(d, length);
            // A contact is told nothing by the others: it stays with its own last step.
            let arrived = last & zero.at_most(along) & zero.below(after) & !done;
            let push = free[0] / after;
            let friction = mu * push;
            let slid = [-push * length, friction * d[0], friction * d[1]];
            found = arrived.choose_vector(&slid, &found);
            done = done | arrived;
            if !(!done).any() {
                break;
            }
        }
        (found, done & slipping)
    }

    /// Those that are lost, by themselves.
    #[cold]
    #[inline(never)]
    fn one_by_one(
        &self,
        lost: u32,
        (free, r, u): (&Fours<W>, &Fours<W>, &Fours<W>),
        found: &Fours<W>,
    ) -> Fours<W> {
        let numbers = |x: &Fours<W>| [x[0].numbers(), x[1].numbers(), x[2].numbers()];
        let matrix = self.matrix.map(Four::numbers);
        let mut found = numbers(found);
        for k in (0..WIDTH).filter(|k| lost >> k & 1 == 1) {
            let block = block(|m| matrix[m][k]);
            let trace = block[0][0] + block[1][1] + block[2][2];
            let contact = one_contact::Contact {
                matrix: block.map(Lanes::from),
                inverse: problem::inverse(&block, trace).map(Lanes::from),
                mu: self.mu.numbers()[k],
                rho: 1.0 / trace,
            };
            let of = |x: &Fours<W>| Lanes::from(numbers(x).map(|x| x[k]));
            let one = one_contact::slip(&contact, &of(free), &of(r), &of(u));
            for (found, one) in found.iter_mut().zip(one) {
                found[k] = one;
            }
        }
        found.map(|found| Four::of(self.with, found))
    }
}

#[inline(always)]
fn plane_dot<W: Wide>(x: [Four<W>; 2], y: [Four<W>; 2]) -> Four<W> {
    x[0] * y[0] + x[1] * y[1]
}

/// The symmetric block of entries NN, NT, NS, TT, TS, SS.
pub(crate) fn block(entry: impl Fn(usize) -> f64) -> Block {
    let [nn, nt, ns, tt, ts, ss] = [0, 1, 2, 3, 4, 5].map(entry);
    [[nn, nt, ns], [nt, tt, ts], [ns, ts, ss]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_matrix::{Vector3, product};
    use crate::cone;
    use crate::four::{Plain, Task, on_registers};
    use proptest::prelude::*;

    /// W_ii, free velocity, impulse now, coefficient of friction.
    type One = (Block, Vector3, Vector3, f64);

    /// W_ii = L L^T + 1/4; some without friction, some that open.
    fn contact() -> impl Strategy<Value = One> {
        let vector = || prop::array::uniform3(-1.0..1.0_f64);
        (
            [vector(), vector(), vector()],
            vector(),
            vector(),
            -0.2..1.5_f64,
        )
            .prop_map(|(l, b, r, mu)| {
                let block: Block = std::array::from_fn(|i| {
                    std::array::from_fn(|j| {
                        cone::dot(&l[i], &l[j]) + if i == j { 0.25 } else { 0.0 }
                    })
                });
                (block, b, [r[0].abs(), r[1], r[2]], mu.max(0.0))
            })
    }

    struct Answer<'a>(&'a [One]);

    impl Task for Answer<'_> {
        type Output = [[f64; WIDTH]; 3];

        #[inline(always)]
        fn run<W: Wide>(self, with: W) -> Self::Output {
            let of = |number: &dyn Fn(&One) -> f64| {
                let mut found = Stored::default();
                for (found, contact) in found.0.iter_mut().zip(self.0) {
                    *found = number(contact);
                }
                found
            };
            let entries = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)];
            let matrix = entries.map(|(k, l)| of(&|contact| contact.0[k][l]));
            let contacts =
                Contacts::new(with, &matrix, &Stored::default(), &of(&|contact| contact.3));
            let vector = |of_contact: &dyn Fn(&One) -> Vector3| {
                [0, 1, 2].map(|k| of(&|contact| of_contact(contact)[k]).read(with))
            };
            let r = vector(&|contact| contact.2);
            let u = vector(&|(block, b, r, _)| {
                let own = product(block, r);
                [b[0] + own[0], b[1] + own[1], b[2] + own[2]]
            });
            contacts.answer(&r, &u).map(Four::numbers)
        }
    }

    proptest! {
        /// Four at once obey the law as one does, whatever the others do: opened, stuck, slipping, without friction; the bits are those of
        /// plain numbers, and of any other places among four.
        #[test]
        fn four_at_once_are_four_by_themselves(mut contacts in prop::collection::vec(contact(), WIDTH)) {
            // Solved again from their own answers, as sweeps do.
            for _ in 0..5 {
                let found = on_registers(Answer(&contacts));
                let plain = Answer(&contacts).run(Plain);
                let bits = |x: [[f64; WIDTH]; 3]| x.map(|x| x.map(f64::to_bits));
                prop_assert_eq!(bits(found), bits(plain));
                let mut turned = contacts.clone();
                turned.rotate_left(1);
                let turned = on_registers(Answer(&turned));
                for k in 0..WIDTH {
                    for c in 0..3 {
                        prop_assert_eq!(turned[c][k].to_bits(), found[c][(k + 1) % WIDTH].to_bits());
                    }
                }
                for (k, contact) in contacts.iter_mut().enumerate() {
                    contact.2 = [found[0][k], found[1][k], found[2][k]];
                }
            }
            for (block, b, r, mu) in &contacts {
                let own = product(block, r);
                let u = [b[0] + own[0], b[1] + own[1], b[2] + own[2]];
                let rho = 1.0 / (block[0][0] + block[1][1] + block[2][2]);
                let f = cone::natural_map(r, &u, *mu, rho);
                prop_assert!(cone::dot(&f, &f).sqrt() <= 1e-12, "{r:?} {u:?} {mu}: {f:?}");
            }
        }
    }
}

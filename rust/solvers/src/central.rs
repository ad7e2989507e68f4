//! One block on the curve of `interior`: its law as a point of two second-order cones, and that law's derivatives.
//!
//! Every block is a pair x, y in L = { |tail| <= head }, a head and a tail of three, with x o y = t E (1, 0, 0, 0), where
//! x o y = (x . y, x_head y_tail + y_head x_tail) is the Jordan product. At t = 0 that is the law of
//!
//! - a contact, with x = (mu r_N; 0, r_T) and y = (u_N / mu + |u_T|; 0, u_T),
//! - a couple or a bounded block, with x = (radius; s) and y = (k; w): w = -k s / radius, and k = 0 inside the ball.
//!
//! The k of a ball is no velocity but a multiplier, and is eliminated: for every block what is left are three rows
//! for the change of its impulse, as many as W has.

use crate::block_matrix::{Block, Vector3, product};
use crate::cone::dot;

/// A vector in the space of the cone: its head, then its tail.
pub(crate) type Lorentz = [f64; 4];

/// Tail of x or y.
fn tail(x: &Lorentz) -> Vector3 {
    [x[1], x[2], x[3]]
}

fn join(head: f64, tail: Vector3) -> Lorentz {
    [head, tail[0], tail[1], tail[2]]
}

/// x . y
pub(crate) fn inner(x: &Lorentz, y: &Lorentz) -> f64 {
    x[0] * y[0] + dot(&tail(x), &tail(y))
}

/// x o y
pub(crate) fn jordan(x: &Lorentz, y: &Lorentz) -> Lorentz {
    let across: Vector3 = std::array::from_fn(|k| x[0] * y[k + 1] + y[0] * x[k + 1]);
    join(inner(x, y), across)
}

/// The longest step from x along `change` inside the cone.
pub(crate) fn reach(x: &Lorentz, change: &Lorentz) -> f64 {
    let form = |x: &Lorentz, y: &Lorentz| x[0] * y[0] - dot(&tail(x), &tail(y));
    let (a, b, c) = (form(change, change), form(x, change), form(x, x).max(0.0));
    let mut least = if change[0] < 0.0 {
        -x[0] / change[0]
    } else {
        f64::INFINITY
    };
    // a s^2 + 2 b s + c = 0, without cancellation.
    let square = b * b - a * c;
    if square >= 0.0 {
        let sum = -(b + square.sqrt().copysign(b));
        for step in [sum / a, c / sum] {
            if step > 0.0 && step.is_finite() {
                least = least.min(step);
            }
        }
    }
    least
}

/// The law of a block near one point.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Central {
    Contact {
        /// Coefficient by which normal components are scaled: that of friction, where there is any.
        lever: f64,
        /// One, or zero without friction: then there are no tangential impulses, and those velocities do not matter.
        slides: f64,
        /// Length and direction of u_T, rounded, and the rounding's share in the length.
        slip: (f64, [f64; 2], f64),
    },
    Ball,
}

impl Central {
    /// A contact with coefficient `mu` that has velocities `y`, whose square is rounded by `wide`.
    pub(crate) fn contact(mu: f64, y: &Lorentz, wide: f64) -> Self {
        let slides = f64::from(mu > 0.0);
        let wide = slides * wide;
        let length = (y[2] * y[2] + y[3] * y[3] + wide).sqrt();
        let slip = if length > 0.0 {
            (length, [y[2] / length, y[3] / length], wide / length)
        } else {
            (0.0, [0.0; 2], 0.0)
        };
        Self::Contact {
            lever: lever(mu),
            slides,
            slip,
        }
    }

    /// By how much y misses the velocities u.
    pub(crate) fn gap(&self, y: &Lorentz, u: &Vector3) -> Lorentz {
        match *self {
            Self::Contact {
                lever,
                slides,
                slip,
            } => [
                u[0] / lever + slip.0 - y[0],
                0.0,
                slides * u[1] - y[2],
                slides * u[2] - y[3],
            ],
            Self::Ball => [0.0, u[0] - y[1], u[1] - y[2], u[2] - y[3]],
        }
    }

    /// The velocities that make up a gap.
    pub(crate) fn velocity(&self, gap: &Lorentz) -> Vector3 {
        match self {
            Self::Contact { lever, .. } => [lever * gap[0], gap[2], gap[3]],
            Self::Ball => tail(gap),
        }
    }

    /// The change of y with ln t that is no change of u.
    pub(crate) fn rounding(&self) -> f64 {
        match self {
            Self::Contact { slip, .. } => slip.2,
            Self::Ball => 0.0,
        }
    }

    /// Derivatives of the three rows with respect to r, u and the radius.
    pub(crate) fn derivatives(&self, x: &Lorentz, y: &Lorentz) -> (Block, Block, Vector3) {
        match self {
            Self::Contact { lever, slides, .. } => {
                let scaled = |block: Block, by: [f64; 3]| -> Block {
                    std::array::from_fn(|k| block[k].map(|entry| entry * by[k]))
                };
                let a = scaled(arrow(y), [*lever, 1.0, 1.0]);
                let b = scaled(self.turn(x), [1.0 / lever, *slides, *slides]);
                (a, b, [0.0; 3])
            }
            Self::Ball => {
                let (s, w, radius) = (tail(x), tail(y), x[0]);
                let mut a = outer(&s, &w, -1.0 / radius);
                for (k, column) in a.iter_mut().enumerate() {
                    column[k] += y[0];
                }
                let bound = std::array::from_fn(|k| w[k] - s[k] * y[0] / radius);
                (a, self.turn(x), bound)
            }
        }
    }

    /// Derivatives of the three rows with respect to the velocities in y.
    fn turn(&self, x: &Lorentz) -> Block {
        match self {
            Self::Contact { slip, .. } => {
                let mut b = arrow(x);
                for k in 0..2 {
                    for (b, x) in b[k + 1].iter_mut().zip([x[0], x[2], x[3]]) {
                        *b += x * slip.1[k];
                    }
                }
                b
            }
            Self::Ball => {
                let s = tail(x);
                let mut b = outer(&s, &s, -1.0 / x[0]);
                for (k, column) in b.iter_mut().enumerate() {
                    column[k] += x[0];
                }
                b
            }
        }
    }

    /// The three rows' right side for a change of x o y by `change` and of y by `gap` beyond that of u.
    pub(crate) fn reduce(&self, x: &Lorentz, change: &Lorentz, gap: &Lorentz) -> Vector3 {
        let (rows, gap) = match self {
            Self::Contact { .. } => ([change[0], change[2], change[3]], [gap[0], gap[2], gap[3]]),
            Self::Ball => (
                std::array::from_fn(|k| change[k + 1] - x[k + 1] * change[0] / x[0]),
                tail(gap),
            ),
        };
        let turned = product(&self.turn(x), &gap);
        std::array::from_fn(|k| rows[k] - turned[k])
    }

    /// The changes of x and y that belong to those of the impulse, the velocity and the radius.
    pub(crate) fn recover(
        &self,
        (x, y): (&Lorentz, &Lorentz),
        (change, gap): (&Lorentz, &Lorentz),
        (r, u, radius): (&Vector3, &Vector3, f64),
    ) -> (Lorentz, Lorentz) {
        match *self {
            Self::Contact {
                lever,
                slides,
                slip: (_, d, _),
            } => {
                let along = [slides * u[1] + gap[2], slides * u[2] + gap[3]];
                let head = u[0] / lever + gap[0] + d[0] * along[0] + d[1] * along[1];
                (
                    [lever * r[0], 0.0, r[1], r[2]],
                    [head, 0.0, along[0], along[1]],
                )
            }
            Self::Ball => {
                let w: Vector3 = std::array::from_fn(|k| u[k] + gap[k + 1]);
                let across = dot(&tail(x), &w) + dot(&tail(y), r);
                let head = (change[0] - y[0] * radius - across) / x[0];
                (join(radius, *r), join(head, w))
            }
        }
    }
}

/// Coefficient by which normal components are scaled: that of friction, where there is any.
pub(crate) fn lever(mu: f64) -> f64 {
    if mu > 0.0 { mu } else { 1.0 }
}

/// The matrix of x o y as a function of y, for tails in a plane.
fn arrow(x: &Lorentz) -> Block {
    [[x[0], x[2], x[3]], [x[2], x[0], 0.0], [x[3], 0.0, x[0]]]
}

/// a b^T times a factor, by columns.
fn outer(a: &Vector3, b: &Vector3, factor: f64) -> Block {
    b.map(|b| a.map(|a| factor * a * b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A vector inside the cone.
    fn inside() -> impl Strategy<Value = Lorentz> {
        (prop::array::uniform3(-1.0..1.0_f64), 0.01..1.0_f64)
            .prop_map(|(tail, margin)| join(dot(&tail, &tail).sqrt() + margin, tail))
    }

    proptest! {
        #[test]
        fn the_longest_step_ends_on_the_cone(x in inside(), change in prop::array::uniform4(-1.0..1.0_f64)) {
            let step = reach(&x, &change);
            let margin = |share: f64| {
                let end: Lorentz = std::array::from_fn(|k| x[k] + share * step * change[k]);
                end[0] - dot(&tail(&end), &tail(&end)).sqrt()
            };
            if step.is_finite() {
                prop_assert!(margin(1.0).abs() < 1e-9 * (1.0 + step) && margin(0.99) > 0.0);
            } else {
                prop_assert!(change[0] >= dot(&tail(&change), &tail(&change)).sqrt() - 1e-9);
            }
        }

        /// Impulses that solve the three rows give x and y that change x o y as asked for, to first order.
        #[test]
        fn rows_are_the_derivatives_of_the_law(
            x in inside(), y in inside(), r in prop::array::uniform3(-1.0..1.0_f64), u in prop::array::uniform3(-1.0..1.0_f64),
            radius in -1.0..1.0_f64, gap in prop::array::uniform4(-1.0..1.0_f64), head in -1.0..1.0_f64, mu in 0.0..2.0_f64,
            ball in any::<bool>(),
        ) {
            let (mut x, mut y, mut gap) = (x, y, gap);
            let law = if ball {
                gap[0] = 0.0;
                Central::Ball
            } else {
                for plane in [&mut x, &mut y, &mut gap] {
                    plane[1] = 0.0;
                }
                Central::contact(mu, &y, 0.1)
            };
            let (a, b, bound) = law.derivatives(&x, &y);
            let [by_r, by_u] = [product(&a, &r), product(&b, &u)];
            let rest = law.reduce(&x, &[0.0; 4], &gap);
            let rows: Vector3 = std::array::from_fn(|k| by_r[k] + by_u[k] + bound[k] * radius - rest[k]);
            let change = if ball {
                join(head, std::array::from_fn(|k| rows[k] + x[k + 1] * head / x[0]))
            } else {
                [rows[0], 0.0, rows[1], rows[2]]
            };
            let (dx, dy) = law.recover((&x, &y), (&change, &gap), (&r, &u, radius));
            let (first, second) = (jordan(&x, &dy), jordan(&dx, &y));
            for k in 0..4 {
                prop_assert!((first[k] + second[k] - change[k]).abs() < 1e-10 / x[0], "{k}: {change:?}");
            }
        }
    }
}

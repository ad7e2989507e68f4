//! The scalar functions that joints are made of: value, Jacobian, and what is left of the second derivative.
//!
//! With frames a and b, d from the origin of a to that of b, e an axis of a and f one of b:
//!
//! ```text
//! slide          e . d        J = [-e, -((r_a + d) x e) | e, r_b x e]
//! perpendicular  e . f        J = [0, -(f x e) | 0, f x e]
//! length         |d|          J = [-u, -(r_a x u) | u, r_b x u],  u = d / |d|
//! angle          the Cardan angles of R_a^T R_b = R_x(alpha) R_y(beta) R_z(gamma): with k_1 = x_a,
//!                k_2 = z_b x x_a / cos beta, k_3 = z_b the relative angular velocity is the sum of rate_i k_i,
//!                and J = [0, -k_i* | 0, k_i*] with the dual basis k*
//! ```
//!
//! The second derivative is J v' + bias.

use super::frames::{Linkage, Side};
use percuss_geometry::Vec3;

/// A scalar function of the two frames of a joint. Axes count 0, 1, 2 for x, y, z.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Row {
    /// Place of b's origin along an axis of a [m].
    Slide(usize),
    /// Cosine between an axis of a and one of b.
    Perpendicular(usize, usize),
    /// Distance of the origins [m].
    Length,
    /// Cardan angle about x of a, about y between, or about z of b [rad].
    Angle(usize),
}

/// A row's derivatives at a state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowValue {
    /// By the velocity of the mass centre and the angular velocity (world axes) of a and b.
    pub jacobian: [[f64; 6]; 2],
    /// Second time derivative while all accelerations are zero.
    pub bias: f64,
}

impl RowValue {
    /// Rate of the row when the bodies move with these twists.
    #[inline]
    pub fn rate(&self, twists: [&[f64; 6]; 2]) -> f64 {
        let one = |side: usize| -> f64 {
            let (j, v) = (&self.jacobian[side], twists[side]);
            (j[0] * v[0] + j[1] * v[1]) + (j[2] * v[2] + j[3] * v[3]) + (j[4] * v[4] + j[5] * v[5])
        };
        one(0) + one(1)
    }
}

impl Row {
    /// How far `value` is from `target`; for angles the short way round.
    #[inline]
    pub fn difference(self, value: f64, target: f64) -> f64 {
        let difference = value - target;
        match self {
            Self::Angle(_) if difference.abs() > std::f64::consts::PI => {
                let turns = (difference / std::f64::consts::TAU).round();
                difference - turns * std::f64::consts::TAU
            }
            _ => difference,
        }
    }

    /// Whether it is a function of the rotations alone.
    pub fn turns(self) -> bool {
        matches!(self, Self::Perpendicular(..) | Self::Angle(_))
    }

    /// What it is called in messages.
    pub fn name(self) -> String {
        const AXES: [&str; 3] = ["x", "y", "z"];
        match self {
            Self::Slide(i) => format!("slide along {}", AXES[i]),
            Self::Perpendicular(i, j) => format!("{} of a across {} of b", AXES[i], AXES[j]),
            Self::Length => "length".into(),
            Self::Angle(i) => format!("angle about {}", AXES[i]),
        }
    }
}

impl Linkage {
    /// Value of a row [m, rad, or none].
    #[inline]
    pub fn value(&self, row: Row) -> f64 {
        let [a, b] = &self.sides;
        let cosine = |i: usize, j: usize| a.axes.column(i).dot(&b.axes.column(j));
        match row {
            Row::Slide(i) => a.axes.column(i).dot(&self.offset),
            Row::Perpendicular(i, j) => cosine(i, j),
            Row::Length => self.offset.norm(),
            Row::Angle(0) => (-cosine(1, 2)).atan2(cosine(2, 2)),
            Row::Angle(1) => cosine(0, 2).atan2(cosine(0, 0).hypot(cosine(0, 1))),
            Row::Angle(_) => (-cosine(0, 1)).atan2(cosine(0, 0)),
        }
    }

    /// Jacobian and bias of a row.
    #[inline]
    pub fn row(&self, row: Row) -> RowValue {
        self.arrow(row).value()
    }

    /// The same as vectors.
    #[inline(always)]
    pub(super) fn arrow(&self, row: Row) -> Arrow {
        let [a, b] = &self.sides;
        match row {
            Row::Slide(i) => {
                let e: Vec3 = a.axes.column(i).into();
                Arrow {
                    along: e,
                    about: [e.cross(&(a.arm + self.offset)), b.arm.cross(&e)],
                    bias: e.dot(&self.bend_on_a),
                }
            }
            Row::Perpendicular(i, j) => {
                let (e, f): (Vec3, Vec3) = (a.axes.column(i).into(), b.axes.column(j).into());
                // n' . w of n = f x e and the relative w, with n' = (w_b x f) x e + f x (w_a x e) multiplied out.
                let relative = b.turning - a.turning;
                let bias = b.turning.dot(&e) * relative.dot(&f)
                    - a.turning.dot(&f) * relative.dot(&e)
                    - relative.norm_squared() * e.dot(&f);
                Arrow::turning(f.cross(&e), bias)
            }
            Row::Length => {
                let length = self.offset.norm();
                // Origins that coincide have no line: no force along it, which a slack tether does not need.
                let per_length = if length > 0.0 { 1.0 / length } else { 0.0 };
                let u = self.offset * per_length;
                let rate = u.dot(&self.drift);
                Arrow {
                    along: u,
                    about: [u.cross(&a.arm), b.arm.cross(&u)],
                    bias: u.dot(&self.bend)
                        + (self.drift.norm_squared() - rate * rate) * per_length,
                }
            }
            Row::Angle(i) => angle(i, a, b),
        }
    }
}

/// A row's derivatives as vectors: what it is by the velocity of b, and less so by that of a; by the two angular
/// velocities; and its bias.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrow {
    pub along: Vec3,
    pub about: [Vec3; 2],
    bias: f64,
}

impl Arrow {
    /// A row of the relative angular velocity alone.
    #[inline(always)]
    fn turning(n: Vec3, bias: f64) -> Self {
        Self {
            along: Vec3::zeros(),
            about: [-n, n],
            bias,
        }
    }

    #[inline(always)]
    pub fn value(&self) -> RowValue {
        let [a, b] = &self.about;
        RowValue {
            jacobian: [joined(&-self.along, a), joined(&self.along, b)],
            bias: self.bias,
        }
    }
}

fn angle(i: usize, a: &Side, b: &Side) -> Arrow {
    let (k1, k3): (Vec3, Vec3) = (a.axes.column(0).into(), b.axes.column(2).into());
    let across = k3.cross(&k1);
    let cosine = across.norm();
    let k2 = across / cosine;
    let dual = [k2.cross(&k3) / cosine, k2, k1.cross(&k2) / cosine];
    let relative = b.turning - a.turning;
    let rates = dual.map(|k| k.dot(&relative));
    let turning = a.turning.cross(&k1) * rates[0]
        + (a.turning + k1 * rates[0]).cross(&k2) * rates[1]
        + b.turning.cross(&k3) * rates[2];
    Arrow::turning(dual[i], -dual[i].dot(&turning))
}

#[inline(always)]
pub(super) fn joined(first: &Vec3, second: &Vec3) -> [f64; 6] {
    [first.x, first.y, first.z, second.x, second.y, second.z]
}

#[cfg(test)]
mod tests {
    use super::super::{JointKind, Linkage, Placed};
    use super::*;
    use percuss_geometry::{Pose, Quat};
    use proptest::prelude::*;

    fn vector(size: f64) -> impl Strategy<Value = Vec3> {
        prop::array::uniform3(-size..size).prop_map(Vec3::from)
    }

    /// A body at time t: at rest it is turned by `turn`; it moves with constant accelerations.
    #[derive(Debug, Clone)]
    struct Moving {
        centre: Vec3,
        turn: Vec3,
        velocity: Vec3,
        acceleration: Vec3,
        turning: Vec3,
    }

    impl Moving {
        fn at(&self, t: f64) -> Placed {
            // The angular velocity is constant in world axes: its acceleration is zero.
            let rotation =
                Quat::from_scaled_axis(self.turning * t) * Quat::from_scaled_axis(self.turn);
            Placed {
                centre: self.centre + self.velocity * t + self.acceleration * (0.5 * t * t),
                axes: rotation.to_rotation_matrix().into_inner(),
                velocity: self.velocity + self.acceleration * t,
                turning: self.turning,
            }
        }
    }

    fn moving() -> impl Strategy<Value = Moving> {
        (
            vector(1.0),
            vector(0.5),
            vector(1.0),
            vector(1.0),
            vector(1.0),
        )
            .prop_map(|(centre, turn, velocity, acceleration, turning)| Moving {
                centre,
                turn,
                velocity,
                acceleration,
                turning,
            })
    }

    proptest! {
        /// J v and J v' + bias are the first and second derivative of the value along any motion.
        #[test]
        fn derivatives_are_those_of_the_value(a in moving(), b in moving(), arms in [vector(1.0), vector(1.0)]) {
            let frames = [Pose::new(arms[0], Vec3::new(0.1, 0.2, -0.1)), Pose::new(arms[1], Vec3::zeros())];
            let at = |t: f64| Linkage::of(&frames, [&a.at(t), &b.at(t)]);
            let (now, d) = (at(0.0), 1e-3);
            prop_assume!(now.offset.norm() > 0.3);
            prop_assume!(now.value(Row::Angle(1)).cos() > 0.3);
            let every = JointKind::TABLE.iter().flat_map(|(_, kind)| {
                kind.held().iter().copied().chain(kind.coordinates().iter().map(|(_, row)| *row))
            });
            for row in every {
                let value = now.row(row);
                let twist = |m: &Moving| joined(&m.velocity, &m.turning);
                let rate = value.rate([&twist(&a), &twist(&b)]);
                let none = Vec3::zeros();
                let second = value.rate([&joined(&a.acceleration, &none), &joined(&b.acceleration, &none)])
                    + value.bias;
                let y = [-2.0, -1.0, 0.0, 1.0, 2.0].map(|k| row.difference(at(k * d).value(row), now.value(row)));
                let first = (y[0] - 8.0 * y[1] + 8.0 * y[3] - y[4]) / (12.0 * d);
                let curved = (-y[0] + 16.0 * y[1] - 30.0 * y[2] + 16.0 * y[3] - y[4]) / (12.0 * d * d);
                prop_assert!((rate - first).abs() < 1e-7 * (1.0 + rate.abs()), "{row:?} {rate} {first}");
                prop_assert!((second - curved).abs() < 1e-5 * (1.0 + second.abs()), "{row:?} {second} {curved}");
            }
        }
    }

    #[test]
    fn angles_are_cardans() {
        let turns = [0.3, -0.4, 0.5];
        let [x, y, z] = std::array::from_fn(|k| Quat::from_scaled_axis(Vec3::ith(k, turns[k])));
        let b = Placed {
            axes: (x * y * z).to_rotation_matrix().into_inner(),
            ..Placed::WORLD
        };
        let linkage = Linkage::of(&[Pose::identity(), Pose::identity()], [&Placed::WORLD, &b]);
        for (axis, turn) in turns.into_iter().enumerate() {
            assert!((linkage.value(Row::Angle(axis)) - turn).abs() < 1e-15);
        }
    }
}

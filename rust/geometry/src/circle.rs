//! The point of a circle nearest to, or farthest from, a straight line.
//!
//! Circle: centre c, unit normal m, radius R, points q(e) = c + R e with e in its plane. Line:
//! point p, unit direction a. With P = I - a a^T and u the in-plane direction of a, s = |a_u|,
//!   |P (q - p)|^2 = |P(c-p)|^2 + 2 R g.e + R^2 (1 - s^2 (e.u)^2),    g = in-plane part of P(c-p).
//! The nearest point has e.u and e.v of sign opposite to g, the farthest of the same sign; in that
//! quadrant the derivative, divided by cos sin, grows steadily, so its root is the only one, and
//! safeguarded Newton finds it to rounding. Needed by pins in holes and by rims on round sides.

use crate::pose::{Vec3, reject, tangents};

/// Which extreme of the distance is asked for.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Extreme {
    Nearest,
    Farthest,
}

/// A circle in space.
pub(crate) struct Circle {
    pub centre: Vec3,
    pub normal: Vec3,
    pub radius: f64,
}

impl Circle {
    /// The unit direction from the centre to the extreme point, for the line through `point`
    /// along the unit vector `direction`. Where every direction is as good, an arbitrary one.
    pub fn towards_line(&self, point: &Vec3, direction: &Vec3, extreme: Extreme) -> Vec3 {
        let offset = reject(&(self.centre - point), direction);
        let slope = reject(direction, &self.normal);
        let s2 = slope.norm_squared();
        let sign = if extreme == Extreme::Nearest {
            -1.0
        } else {
            1.0
        };
        if s2 < 1e-24 {
            let g = reject(&offset, &self.normal);
            return (g * sign)
                .try_normalize(1e-14 * self.radius)
                .unwrap_or_else(|| tangents(&self.normal).0);
        }
        let u = slope / s2.sqrt();
        let v = self.normal.cross(&u);
        let (gu, gv) = (offset.dot(&u), offset.dot(&v));
        let (c, s) = quadrant_root(gu.abs(), gv.abs(), -sign * self.radius * s2);
        u * (sign * c).copysign(sign * gu) + v * (sign * s).copysign(sign * gv)
    }
}

/// Root (c, s) on the quarter circle of gu s - gv c + k s c = 0, gu, gv >= 0: the place where the
/// expression turns from negative to positive.
fn quadrant_root(gu: f64, gv: f64, k: f64) -> (f64, f64) {
    let unit = |c: f64, s: f64| {
        let norm = c.hypot(s);
        if norm > 0.0 {
            (c / norm, s / norm)
        } else if k >= 0.0 {
            (1.0, 0.0)
        } else {
            (0.0, 1.0)
        }
    };
    // Exact for a coaxial circle (k = 0), and on the right side of the root for large k.
    let (mut c, mut s) = unit(gu + k.max(0.0), gv + (-k).max(0.0));
    let (mut low, mut high) = ((1.0, 0.0), (0.0, 1.0));
    for _ in 0..60 {
        let f = gu * s - gv * c + k * s * c;
        if f < 0.0 {
            low = (c, s)
        } else {
            high = (c, s)
        }
        let slope = gu * c + gv * s + k * (c * c - s * s);
        let step = -f / slope;
        let next = unit(c - s * step, s + c * step);
        let inside = |x: (f64, f64)| low.0 * x.1 >= low.1 * x.0 && x.0 * high.1 >= x.1 * high.0;
        let accepted =
            slope > 0.0 && step.is_finite() && next.0 >= 0.0 && next.1 >= 0.0 && inside(next);
        let moved = if accepted {
            next
        } else {
            unit(low.0 + high.0, low.1 + high.1)
        };
        let change = (moved.0 - c).abs() + (moved.1 - s).abs();
        (c, s) = moved;
        if change < 1e-15 {
            break;
        }
    }
    (c, s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn distance(q: &Vec3, p: &Vec3, a: &Vec3) -> f64 {
        reject(&(q - p), a).norm()
    }

    proptest! {
        #[test]
        fn no_sampled_point_is_more_extreme(
            p in prop::array::uniform3(-2.0..2.0f64), a in prop::array::uniform3(-1.0..1.0f64),
            flat in 0.0..1.0f64, radius in 0.01..2.0f64,
        ) {
            let a = (Vec3::from(a).component_mul(&Vec3::new(flat, flat, 1.0))).try_normalize(1e-3);
            prop_assume!(a.is_some());
            let (a, p) = (a.unwrap(), Vec3::from(p));
            let circle = Circle { centre: Vec3::new(0.1, 0.2, 0.3), normal: Vec3::z(), radius };
            let reach = |e: Vec3| distance(&(circle.centre + e * radius), &p, &a);
            let near = reach(circle.towards_line(&p, &a, Extreme::Nearest));
            let far = reach(circle.towards_line(&p, &a, Extreme::Farthest));
            for i in 0..2000 {
                let t = i as f64 * std::f64::consts::TAU / 2000.0;
                let d = reach(Vec3::new(t.cos(), t.sin(), 0.0));
                prop_assert!(near <= d + 1e-12 && d <= far + 1e-12, "{near} {d} {far}");
            }
        }
    }
}

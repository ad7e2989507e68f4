//! The active contacts of a step: from contact points to Jacobians, and from step to step by identity.
//!
//! The normal points from A to B, u = (velocity of B minus velocity of A) at the contact point in the frame
//! (normal, tangent 1, tangent 2), and the impulse P acts on B, -P on A.

use percuss_geometry::{ContactPoint, Vec3, tangents};
use percuss_solvers::Jacobian;

/// A contact that took part in the last step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ActiveContact {
    /// Contactor A, from which the normal points.
    pub a: u32,
    /// Contactor B > A.
    pub b: u32,
    /// Which features of the two meet; (a, b, feature) is the contact's identity.
    pub feature: u32,
    /// Bodies of A and B.
    pub bodies: [u32; 2],
    /// Index of its law.
    pub law: u32,
    /// Place [m].
    pub position: Vec3,
    /// Unit normal from A to B.
    pub normal: Vec3,
    /// Gap at the middle of the step [m].
    pub gap_m: f64,
    /// Impulse of the step on B, in world axes [N s].
    pub impulse_n_s: Vec3,
    /// Couple impulse of the step on B by rolling and twisting friction, in world axes [N m s].
    pub couple_n_m_s: Vec3,
    /// Relative velocity before the step (normal, tangents) [m/s].
    pub velocity_before_m_per_s: [f64; 3],
    /// Relative velocity after the step (normal, tangents) [m/s].
    pub velocity_after_m_per_s: [f64; 3],
}

impl ActiveContact {
    /// The two tangents of the contact's frame.
    pub fn tangents(&self) -> (Vec3, Vec3) {
        tangents(&self.normal)
    }

    /// A world vector in the contact's frame.
    #[inline]
    pub fn local(&self, v: &Vec3) -> [f64; 3] {
        let (t, s) = self.tangents();
        [self.normal.dot(v), t.dot(v), s.dot(v)]
    }

    /// A vector of the contact's frame in world axes.
    #[inline]
    pub fn world(&self, v: &[f64; 3]) -> Vec3 {
        let (t, s) = self.tangents();
        self.normal * v[0] + t * v[1] + s * v[2]
    }
}

/// Rows of u = J (velocity, angular velocity) at a lever arm, in the frame of `point`, times `sign`.
#[inline]
pub(crate) fn jacobian(point: &ContactPoint, arm: &Vec3, sign: f64) -> Jacobian {
    let (t, s) = tangents(&point.normal);
    [point.normal, t, s].map(|d| {
        let turn = arm.cross(&d) * sign;
        let d = d * sign;
        [d.x, d.y, d.z, turn.x, turn.y, turn.z]
    })
}

/// Rows of the relative spin about the normal and the tangents, times `scale` (twisting, rolling) and `sign`.
#[inline]
pub(crate) fn spin_jacobian(normal: &Vec3, scale: &[f64; 3], sign: f64) -> Jacobian {
    let (t, s) = tangents(normal);
    let rows = [*normal, t, s];
    std::array::from_fn(|k| {
        let turn = rows[k] * (sign * scale[k]);
        [0.0, 0.0, 0.0, turn.x, turn.y, turn.z]
    })
}

/// J v.
#[inline]
pub(crate) fn relative_velocity(jacobian: &Jacobian, twist: &[f64; 6]) -> [f64; 3] {
    jacobian.map(|row| {
        (row[0] * twist[0] + row[1] * twist[1] + row[2] * twist[2])
            + (row[3] * twist[3] + row[4] * twist[4] + row[5] * twist[5])
    })
}

/// Finds last step's contact of the same identity; both lists rise in (a, b), so one walk serves a step.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Matcher {
    start: usize,
}

impl Matcher {
    /// Last step's contacts between contactors `a` and `b`.
    pub fn of_pair<'a>(
        &mut self,
        previous: &'a [ActiveContact],
        a: u32,
        b: u32,
    ) -> &'a [ActiveContact] {
        while self.start < previous.len()
            && (previous[self.start].a, previous[self.start].b) < (a, b)
        {
            self.start += 1;
        }
        let rest = &previous[self.start..];
        let length = rest.iter().take_while(|c| (c.a, c.b) == (a, b)).count();
        &rest[..length]
    }
}

//! The active contacts of a step: from contact points to Jacobians, and from step to step by identity.
//!
//! The normal points from A to B, u = (velocity of B minus velocity of A) at the contact point in the frame
//! (normal, tangent 1, tangent 2), and the impulse P acts on B, -P on A.

use crate::stored::stored;
use percuss_geometry::{Pose, Vec3, tangents};
use percuss_solvers::{BlockKind, Contact, Jacobian};

/// A contact that took part in the last step.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
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

stored!(ActiveContact {
    a,
    b,
    feature,
    bodies,
    law,
    position,
    normal,
    gap_m,
    impulse_n_s,
    couple_n_m_s,
    velocity_before_m_per_s,
    velocity_after_m_per_s
});

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

/// Rows of u = J (velocity, angular velocity) of A and of B at their lever arms, in the frame of `normal`.
// Always inlined, as what reads them is: numbers written one by one and read in pairs wait for all writes before them.
#[inline(always)]
pub(crate) fn jacobians(normal: &Vec3, arms: &[Vec3; 2]) -> [Jacobian; 2] {
    let (t, s) = tangents(normal);
    let of = |arm: &Vec3, sign: f64| {
        let row = |d: &Vec3| {
            let turn = arm.cross(d) * sign;
            let d = d * sign;
            [d.x, d.y, d.z, turn.x, turn.y, turn.z]
        };
        [row(normal), row(&t), row(&s)]
    };
    [of(&arms[0], -1.0), of(&arms[1], 1.0)]
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
#[inline(always)]
pub(crate) fn relative_velocity(jacobian: &Jacobian, twist: &[f64; 6]) -> [f64; 3] {
    let of = |row: &[f64; 6]| {
        (row[0] * twist[0] + row[1] * twist[1] + row[2] * twist[2])
            + (row[3] * twist[3] + row[4] * twist[4] + row[5] * twist[5])
    };
    [of(&jacobian[0]), of(&jacobian[1]), of(&jacobian[2])]
}

/// Finds last step's contact of the same identity; both lists rise in (a, b), so one walk serves a step.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Matcher {
    start: usize,
}

impl Matcher {
    /// One that begins with the pair (a, b).
    pub fn from(previous: &[ActiveContact], a: u32, b: u32) -> Self {
        Self {
            start: previous.partition_point(|c| (c.a, c.b) < (a, b)),
        }
    }

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

/// A block of the contact problem, its bodies by their indices in the scene, and what the solver makes of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block {
    pub contact: Contact,
    pub impulse: [f64; 3],
}

impl Block {
    /// A block that is solved from the impulse `start`.
    pub fn new(contact: Contact, start: [f64; 3]) -> Self {
        Self {
            contact,
            impulse: start,
        }
    }
}

/// The couple of a contact: a block of its own, whose rows follow from the contact.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Couple {
    /// Largest couple about the normal and the tangents, over the normal force [m].
    pub scale: [f64; 3],
    pub free_velocity: [f64; 3],
    pub impulse: [f64; 3],
}

/// What the impulses of a contact did in a step.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Work {
    /// Work along the normal and of friction [J].
    pub normal_j: f64,
    pub friction_j: f64,
    /// Magnitude of the friction impulse [N s].
    pub friction_n_s: f64,
}

impl Work {
    /// All of it [J].
    pub fn total_j(&self) -> f64 {
        self.normal_j + self.friction_j
    }
}

/// A contact of the step at hand, and what the contact problem has of it. Its Jacobians follow from its place: to compute
/// them where they are needed is cheaper than to keep them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Touch {
    pub contact: ActiveContact,
    /// Those of its bodies that forces move.
    pub moving: [Option<u32>; 2],
    pub friction: f64,
    /// Between the velocity after the step and that of the contact problem.
    pub shift: [f64; 3],
    pub free_velocity: [f64; 3],
    pub impulse: [f64; 3],
    pub velocity: [f64; 3],
    pub couple: Option<Couple>,
    /// Whether it is the same contact as one of the last step.
    pub known: bool,
    pub work: Work,
}

impl Touch {
    /// Its Jacobians at the places of the bodies.
    #[inline(always)]
    pub fn jacobians(&self, poses: &[Pose]) -> [Jacobian; 2] {
        let contact = &self.contact;
        let arm = |body: u32| contact.position - poses[body as usize].position;
        jacobians(&contact.normal, &contact.bodies.map(arm))
    }

    /// Its block of the contact problem.
    #[inline(always)]
    pub fn block(&self, poses: &[Pose]) -> Contact {
        Contact {
            bodies: self.moving,
            jacobians: self.jacobians(poses),
            free_velocity: self.free_velocity,
            friction: self.friction,
            kind: BlockKind::Contact,
        }
    }

    /// The block of its couple, which follows.
    pub fn couple_block(&self) -> Option<Contact> {
        let couple = self.couple.as_ref()?;
        Some(Contact {
            bodies: self.moving,
            jacobians: couple_jacobians(&self.contact.normal, &couple.scale),
            free_velocity: couple.free_velocity,
            friction: 0.0,
            kind: BlockKind::Couple,
        })
    }

    /// What was found for it in the last step.
    #[inline(always)]
    pub fn found(&self) -> Found {
        Found {
            impulse: self.impulse,
            velocity: self.velocity,
        }
    }

    /// Takes what a solver found for it.
    pub fn take(&mut self, found: Found) {
        (self.impulse, self.velocity) = (found.impulse, found.velocity);
    }
}

/// What a solver found for a contact.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found {
    pub impulse: [f64; 3],
    pub velocity: [f64; 3],
}

/// Rows of the relative spin of B to A.
pub(crate) fn couple_jacobians(normal: &Vec3, scale: &[f64; 3]) -> [Jacobian; 2] {
    [-1.0, 1.0].map(|sign| spin_jacobian(normal, scale, sign))
}

/// Relative velocity of two bodies by the Jacobians of a contact.
#[inline(always)]
pub(crate) fn relative(
    jacobians: &[Jacobian; 2],
    bodies: &[u32; 2],
    twists: &[[f64; 6]],
) -> [f64; 3] {
    let u = relative_velocity(&jacobians[0], &twists[bodies[0] as usize]);
    let w = relative_velocity(&jacobians[1], &twists[bodies[1] as usize]);
    [u[0] + w[0], u[1] + w[1], u[2] + w[2]]
}

#[inline]
pub(crate) fn dot(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

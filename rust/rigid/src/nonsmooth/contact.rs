//! The active contacts of a step: from contact points to Jacobians, and from step to step by identity.
//!
//! The normal points from A to B, u = (velocity of B minus velocity of A) at the contact point in the frame
//! (normal, tangent 1, tangent 2), and the impulse P acts on B, -P on A.

use crate::stored::stored;
use percuss_geometry::{ContactPoint, Vec3, tangents};
use percuss_solvers::{BlockKind, Contact, Jacobian};

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
    pub velocity: [f64; 3],
}

impl Block {
    /// A block that is solved from the impulse `start`.
    pub fn new(contact: Contact, start: [f64; 3]) -> Self {
        Self {
            contact,
            impulse: start,
            velocity: [0.0; 3],
        }
    }

    /// Takes the next impulse and velocity.
    pub fn take(&mut self, solved: &mut impl Iterator<Item = ([f64; 3], [f64; 3])>) {
        if let Some((impulse, velocity)) = solved.next() {
            (self.impulse, self.velocity) = (impulse, velocity);
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

/// A contact of the step at hand with its blocks of the contact problem.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Touch {
    pub contact: ActiveContact,
    /// Between the velocity after the step and that of the contact problem.
    pub shift: [f64; 3],
    pub block: Block,
    pub couple: Option<Couple>,
    /// Whether it is the same contact as one of the last step.
    pub known: bool,
    /// Work of its impulses in the step [J].
    pub work_j: f64,
}

impl Touch {
    /// The block of its couple.
    pub fn couple_block(&self) -> Option<Block> {
        let couple = self.couple.as_ref()?;
        let jacobians = couple_jacobians(&self.contact.normal, &couple.scale);
        let contact = Contact {
            bodies: self.block.contact.bodies,
            jacobians,
            free_velocity: couple.free_velocity,
            friction: 0.0,
            kind: BlockKind::Couple,
        };
        Some(Block::new(contact, couple.impulse))
    }

    /// All its blocks, in the order in which the solver wants them.
    pub fn blocks(&self) -> [Option<Block>; 2] {
        [Some(self.block), self.couple_block()]
    }

    /// Takes impulses and velocities of its blocks, in that order.
    pub fn take(&mut self, solved: &mut impl Iterator<Item = ([f64; 3], [f64; 3])>) {
        self.block.take(solved);
        if let Some(couple) = &mut self.couple
            && let Some((impulse, _)) = solved.next()
        {
            couple.impulse = impulse;
        }
    }
}

/// Rows of the relative spin of B to A.
pub(crate) fn couple_jacobians(normal: &Vec3, scale: &[f64; 3]) -> [Jacobian; 2] {
    [-1.0, 1.0].map(|sign| spin_jacobian(normal, scale, sign))
}

/// Relative velocity of two bodies by the Jacobians of a contact.
#[inline]
pub(crate) fn relative(
    jacobians: &[Jacobian; 2],
    bodies: &[u32; 2],
    twists: &[[f64; 6]],
) -> [f64; 3] {
    let [u, w]: [[f64; 3]; 2] = std::array::from_fn(|side| {
        relative_velocity(&jacobians[side], &twists[bodies[side] as usize])
    });
    std::array::from_fn(|k| u[k] + w[k])
}

#[inline]
pub(crate) fn dot(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

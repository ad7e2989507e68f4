//! Which law holds between which two collision groups.

use crate::error::RigidError;
use percuss_geometry::{Contactor, GeometryError, Visibility};
use percuss_laws::contact::ImpactLaw;

/// Largest coefficient of friction: a friction angle of 89.99 degrees. Far above it the residual, which weighs the normal
/// velocity against mu times the sliding velocity, no longer sees that bodies sink.
pub const MOST_FRICTION: f64 = 1e4;
/// Largest product of friction and tolerance, by the same token: the share of the sliding velocity at which bodies may sink.
pub const MOST_FRICTION_BY_TOLERANCE: f64 = 0.1;
/// Largest coefficient of rolling and twisting friction [m].
pub const MOST_ROLLING_M: f64 = 1e6;

/// The law of every contact between two collision groups; groups without a law do not see each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContactLaw {
    /// The two groups, in any order; they may be the same.
    pub groups: (u16, u16),
    /// How impacts are answered.
    pub impact: ImpactLaw,
    /// Coefficient of restitution e, 0 to 1.
    pub restitution: f64,
    /// Coefficient of friction mu, 0 to [`MOST_FRICTION`].
    pub friction: f64,
    /// Coefficient of rolling friction [m], at least 0: the largest couple about a tangent over the normal force.
    pub rolling_m: f64,
    /// Coefficient of twisting friction [m], at least 0: the largest couple about the normal over the normal force.
    pub twisting_m: f64,
}

impl ContactLaw {
    /// Newton's impact law with Coulomb friction.
    pub fn new(groups: (u16, u16), restitution: f64, friction: f64) -> Self {
        Self {
            groups,
            impact: ImpactLaw::Newton,
            restitution,
            friction,
            rolling_m: 0.0,
            twisting_m: 0.0,
        }
    }

    /// The same with rolling and twisting friction, by their coefficients in metres.
    pub fn with_couple(self, rolling_m: f64, twisting_m: f64) -> Self {
        Self {
            rolling_m,
            twisting_m,
            ..self
        }
    }

    /// The largest couple about the normal and the tangents, over the normal force.
    pub(crate) fn couple_scale(&self) -> [f64; 3] {
        [self.twisting_m, self.rolling_m, self.rolling_m]
    }

    /// Whether contacts pass couples.
    pub(crate) fn has_couple(&self) -> bool {
        self.rolling_m > 0.0 || self.twisting_m > 0.0
    }

    /// Fremond's impact law.
    pub fn fremond(groups: (u16, u16), restitution: f64, friction: f64) -> Self {
        Self {
            impact: ImpactLaw::Fremond,
            ..Self::new(groups, restitution, friction)
        }
    }
}

/// Law by pair of groups, looked up once a manifold.
#[derive(Debug, Clone, Default)]
pub(crate) struct LawTable {
    groups: usize,
    entry: Vec<u16>,
}

const NONE: u16 = u16::MAX;

impl LawTable {
    /// The table of these laws, checked against the groups in use and the tolerance of the contact solver.
    pub fn new(
        laws: &[ContactLaw],
        contactors: &[Contactor],
        tolerance: f64,
    ) -> Result<Self, RigidError> {
        if laws.len() >= usize::from(NONE) {
            return Err(RigidError::TooMany {
                what: "laws",
                count: laws.len(),
                limit: usize::from(NONE) - 1,
            });
        }
        let largest = laws.iter().map(|l| l.groups.0.max(l.groups.1)).max();
        let groups = largest.map_or(0, |g| usize::from(g) + 1);
        if let Some(group) = largest.filter(|&g| g > Visibility::LARGEST_GROUP) {
            let limit = Visibility::LARGEST_GROUP;
            return Err(GeometryError::Group { group, limit }.into());
        }
        let mut used = vec![false; usize::from(u16::MAX) + 1];
        for c in contactors {
            used[usize::from(c.group)] = true;
        }
        let mut entry = vec![NONE; groups * groups];
        for (index, law) in laws.iter().enumerate() {
            let (a, b) = (usize::from(law.groups.0), usize::from(law.groups.1));
            for (key, value, allowed) in [
                ("restitution", law.restitution, 0.0..=1.0),
                ("friction", law.friction, 0.0..=MOST_FRICTION),
                ("rolling_m", law.rolling_m, 0.0..=MOST_ROLLING_M),
                ("twisting_m", law.twisting_m, 0.0..=MOST_ROLLING_M),
            ] {
                if !allowed.contains(&value) {
                    return Err(RigidError::Law {
                        groups: law.groups,
                        key,
                        value,
                        most: *allowed.end(),
                    });
                }
            }
            if law.friction * tolerance > MOST_FRICTION_BY_TOLERANCE {
                return Err(RigidError::FrictionByTolerance {
                    friction: law.friction,
                    tolerance,
                });
            }
            if entry[a * groups + b] != NONE {
                return Err(RigidError::TwoLaws { groups: law.groups });
            }
            for group in [law.groups.0, law.groups.1] {
                if !used[usize::from(group)] {
                    return Err(RigidError::UnreachableGroup {
                        groups: law.groups,
                        group,
                    });
                }
            }
            entry[a * groups + b] = index as u16;
            entry[b * groups + a] = index as u16;
        }
        let table = Self { groups, entry };
        let known: Vec<bool> = (0..groups)
            .map(|group| (0..groups).any(|other| table.find(group, other).is_some()))
            .collect();
        for (index, c) in contactors.iter().enumerate() {
            if known.get(usize::from(c.group)) != Some(&true) {
                return Err(RigidError::MissingLaw {
                    contactor: index,
                    group: c.group,
                });
            }
        }
        Ok(table)
    }

    /// Index of the law between two groups, if they see each other.
    pub fn find(&self, a: usize, b: usize) -> Option<usize> {
        if a.max(b) >= self.groups {
            return None;
        }
        let entry = self.entry[a * self.groups + b];
        (entry != NONE).then_some(usize::from(entry))
    }

    /// Index of the law between two groups that see each other.
    #[inline]
    pub fn law(&self, a: u16, b: u16) -> usize {
        usize::from(self.entry[usize::from(a) * self.groups + usize::from(b)])
    }
}

//! Which collision groups see each other.

use crate::error::GeometryError;

/// A symmetric table of group pairs that may touch; all others are invisible to each other.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Visibility {
    groups: usize,
    seen: Vec<bool>,
}

impl Visibility {
    /// The largest group number; the table is square.
    pub const LARGEST_GROUP: u16 = 1023;

    /// The table in which exactly the given pairs see each other (a group may see itself).
    pub fn new(pairs: &[(u16, u16)]) -> Result<Self, GeometryError> {
        let largest = pairs.iter().map(|p| p.0.max(p.1)).max().unwrap_or(0);
        if largest > Self::LARGEST_GROUP {
            return Err(GeometryError::Group {
                group: largest,
                limit: Self::LARGEST_GROUP,
            });
        }
        let groups = usize::from(largest) + 1;
        let mut seen = vec![false; groups * groups];
        for &(a, b) in pairs {
            let (a, b) = (usize::from(a), usize::from(b));
            seen[a * groups + b] = true;
            seen[b * groups + a] = true;
        }
        Ok(Self { groups, seen })
    }

    /// Whether groups `a` and `b` see each other.
    #[inline]
    pub fn sees(&self, a: u16, b: u16) -> bool {
        let (a, b) = (usize::from(a), usize::from(b));
        a < self.groups && b < self.groups && self.seen[a * self.groups + b]
    }
}

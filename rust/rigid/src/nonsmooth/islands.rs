//! Islands: bodies that contacts and joints connect. Each is a contact problem of its own, with its own residual,
//! iterations and verdict, so that what a solver makes of one, to the bit, does not depend on what else there is.

use super::joints::Articulation;
use crate::union::Union;

/// Lists of numbers, one for each island, in one piece of memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lists {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    /// The list of an island.
    pub fn of(&self, island: usize) -> &[u32] {
        &self.items[self.starts[island] as usize..self.starts[island + 1] as usize]
    }

    /// Sorts what `island_of` gives for the numbers below `count` into `islands` lists, each rising.
    fn fill(&mut self, islands: usize, count: usize, island_of: impl Fn(usize) -> u32) {
        self.starts.clear();
        self.starts.resize(islands + 2, 0);
        for item in 0..count {
            let island = island_of(item);
            if island != NONE {
                self.starts[island as usize + 2] += 1;
            }
        }
        for island in 0..islands {
            self.starts[island + 2] += self.starts[island + 1];
        }
        self.items.clear();
        self.items.resize(self.starts[islands + 1] as usize, 0);
        for item in 0..count {
            let island = island_of(item);
            if island != NONE {
                let place = &mut self.starts[island as usize + 1];
                self.items[*place as usize] = item as u32;
                *place += 1;
            }
        }
    }
}

const NONE: u32 = u32::MAX;

/// The islands of a step, in the order of their first bodies.
#[derive(Debug, Clone, Default)]
pub(crate) struct Islands {
    union: Union,
    /// Island of each body; none for bodies that nothing touches and no joint holds.
    of: Vec<u32>,
    /// Place of each contact among those of its island, in blocks: `Nonsmooth::split` counts those of couples.
    pub rank: Vec<u32>,
    /// Number of each body within its island.
    pub local: Vec<u32>,
    pub bodies: Lists,
    /// Contacts of each island.
    pub contacts: Lists,
    /// Parts that joints connect of each island.
    pub parts: Lists,
    count: usize,
}

impl Islands {
    /// Splits a scene by its contacts, given as the bodies they move, and its joints.
    pub fn split(&mut self, bodies: usize, contacts: &[[Option<u32>; 2]], parts: &[Articulation]) {
        self.union.reset(bodies);
        self.of.clear();
        self.of.resize(bodies, NONE);
        // Anything but NONE marks a body that belongs to some island.
        let mut last = [None; 2];
        for moved in contacts {
            // The contacts of two bodies follow each other.
            if *moved == last {
                continue;
            }
            last = *moved;
            for body in moved.iter().flatten() {
                self.of[*body as usize] = 0;
            }
            if let [Some(a), Some(b)] = moved {
                self.union.join(*a, *b);
            }
        }
        for part in parts {
            let mut first = None;
            for (body, _) in part.dynamic() {
                self.of[body] = 0;
                self.union
                    .join(*first.get_or_insert(body as u32), body as u32);
            }
        }
        self.count = 0;
        for body in 0..bodies {
            if self.of[body] == NONE {
                continue;
            }
            // The root is the smallest of its set, so that it has its number already.
            let root = self.union.root(body as u32) as usize;
            if root == body {
                self.of[body] = self.count as u32;
                self.count += 1;
            } else {
                self.of[body] = self.of[root];
            }
        }
        let of = &self.of;
        self.bodies.fill(self.count, bodies, |body| of[body]);
        self.local.clear();
        self.local.resize(bodies, NONE);
        for island in 0..self.count {
            for (local, &body) in (0..).zip(self.bodies.of(island)) {
                self.local[body as usize] = local;
            }
        }
        let first = |moved: &[Option<u32>; 2]| moved.iter().flatten().next().copied();
        let island_of = |contact: usize| first(&contacts[contact]).map_or(NONE, |b| of[b as usize]);
        self.contacts.fill(self.count, contacts.len(), island_of);
        self.rank.clear();
        self.rank.resize(contacts.len(), NONE);
        for island in 0..self.count {
            for (rank, &contact) in (0..).zip(self.contacts.of(island)) {
                self.rank[contact as usize] = rank;
            }
        }
        let island_of = |part: usize| parts[part].dynamic().next().map_or(NONE, |(b, _)| of[b]);
        self.parts.fill(self.count, parts.len(), island_of);
    }

    /// The island of a body that belongs to one.
    pub fn of(&self, body: u32) -> usize {
        self.of[body as usize] as usize
    }

    /// The island of bodies that a contact moves; none where it moves nothing.
    pub fn of_moved(&self, moved: &[Option<u32>; 2]) -> Option<usize> {
        let first = moved.iter().flatten().next();
        first.map(|&body| self.of(body))
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contacts_connect_and_the_ground_does_not() {
        let mut islands = Islands::default();
        let contacts = [
            [None, Some(4)],
            [Some(1), Some(3)],
            [None, Some(1)],
            [Some(3), Some(5)],
            [Some(4), None],
        ];
        islands.split(7, &contacts, &[]);
        assert_eq!(islands.count(), 2);
        assert_eq!(islands.bodies.of(0), [1, 3, 5]);
        assert_eq!(islands.bodies.of(1), [4]);
        assert_eq!(islands.contacts.of(0), [1, 2, 3]);
        assert_eq!(islands.contacts.of(1), [0, 4]);
        assert_eq!(islands.local[5], 2);
    }
}

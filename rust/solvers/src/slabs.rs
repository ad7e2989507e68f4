//! Large problems cut into slabs that can be swept side by side, by the same cuts whatever the number of threads.
//!
//! Bodies are numbered by levels: how many contacts lead from one end of the pile to them (breadth first, from a body as far
//! from the others as can be, as Cuthill and McKee 1969 begin). A contact joins bodies of one level or of two that follow
//! each other. Levels next to each other make a slab, and a contact belongs to that of its lower body, so that it moves
//! bodies of its own slab and of the next only: slabs 0, 2, 4, ... share no body, nor do 1, 3, 5, ... A sweep is those,
//! then these. Bodies are stored slab after slab, each with a place of its own for all that cannot move.

use crate::assembly::Contact;
use std::ops::Range;

/// Contacts from which on a problem is cut: below, one sweep is over before a second core has begun.
pub(crate) const LARGE: usize = 4_000;
/// Least contacts of a slab, and about the most slabs: enough for some tens of cores.
const SLAB: usize = 500;
const SLABS: usize = 128;

/// Where bodies and contacts are; storage is kept from cut to cut.
#[derive(Debug, Clone, Default)]
pub(crate) struct Slabs {
    /// Slab and place of each body; a body without contacts has none.
    pub(crate) slab: Vec<u32>,
    pub(crate) place: Vec<u32>,
    /// First place of each slab, and the end of the last. Its last place is that of what cannot move.
    pub(crate) bodies: Vec<usize>,
    /// First contact of each slab in the order of the sweeps, and the end of the last: filled by who orders them.
    pub(crate) contacts: Vec<usize>,
    level: Vec<u32>,
    starts: Vec<u32>,
    others: Vec<u32>,
    queue: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Slabs {
    /// Number of slabs.
    pub(crate) fn count(&self) -> usize {
        self.bodies.len() - 1
    }

    /// Places of the bodies that contacts of slab k move.
    pub(crate) fn reach(&self, k: usize) -> Range<usize> {
        self.bodies[k]..self.bodies[(k + 2).min(self.count())]
    }

    /// The slab of a contact.
    pub(crate) fn of(&self, contact: &Contact) -> u32 {
        let slab = |body: &Option<u32>| body.map(|body| self.slab[body as usize]);
        contact.bodies.iter().filter_map(slab).min().unwrap_or(0)
    }

    /// The place of a side of a contact in slab k.
    pub(crate) fn place(&self, k: u32, body: Option<u32>) -> u32 {
        match body {
            Some(body) => self.place[body as usize],
            None => self.bodies[k as usize + 1] as u32 - 1,
        }
    }

    /// Cut the problem of so many bodies. All bodies of contacts exist.
    pub(crate) fn cut(&mut self, bodies: usize, contacts: &[Contact]) {
        self.slab.clear();
        if contacts.len() < LARGE {
            self.slab.resize(bodies, 0);
            self.bodies.clear();
            self.bodies.extend([0, bodies + 1]);
            self.place.clear();
            self.place.extend(0..bodies as u32);
            return;
        }
        self.link(bodies, contacts);
        let levels = self.number(bodies);
        // Contacts of each level, and from them its slab.
        let mut counts = vec![0_usize; levels + 1];
        for contact in contacts {
            let level = |body: &Option<u32>| body.map(|body| self.level[body as usize]);
            if let Some(level) = contact.bodies.iter().filter_map(level).min() {
                counts[level as usize] += 1;
            }
        }
        let least = SLAB.max(contacts.len() / SLABS);
        let (mut slab, mut filled) = (0, 0);
        let slabs: Vec<u32> = counts
            .iter()
            .map(|count| {
                if filled >= least {
                    (slab, filled) = (slab + 1, 0);
                }
                filled += count;
                slab
            })
            .collect();
        self.slab
            .extend(self.level.iter().map(|&level| match level {
                NONE => 0,
                level => slabs[level as usize],
            }));
        self.arrange(slab as usize + 1);
    }

    /// Lists of the bodies that share a contact with each.
    fn link(&mut self, bodies: usize, contacts: &[Contact]) {
        let pairs = || {
            contacts.iter().filter_map(|contact| match contact.bodies {
                [Some(a), Some(b)] if a != b => Some([(a, b), (b, a)]),
                _ => None,
            })
        };
        self.starts.clear();
        self.starts.resize(bodies + 1, 0);
        for (body, _) in pairs().flatten() {
            self.starts[body as usize + 1] += 1;
        }
        for body in 0..bodies {
            self.starts[body + 1] += self.starts[body];
        }
        let mut next = self.starts.clone();
        self.others.clear();
        self.others.resize(self.starts[bodies] as usize, 0);
        for (body, other) in pairs().flatten() {
            let place = &mut next[body as usize];
            self.others[*place as usize] = other;
            *place += 1;
        }
    }

    /// Levels of all bodies, each connected part after the one before; their number.
    fn number(&mut self, bodies: usize) -> usize {
        self.level.clear();
        self.level.resize(bodies, NONE);
        let mut levels = 0;
        for body in 0..bodies as u32 {
            if self.level[body as usize] == NONE {
                // From anywhere to the far end; then from there.
                self.spread(body, levels);
                let far = *self.queue.last().expect("it holds the body");
                for &body in &self.queue {
                    self.level[body as usize] = NONE;
                }
                levels = self.spread(far, levels);
            }
        }
        levels as usize
    }

    /// Breadth first from one body at level `first`; the level after the last.
    fn spread(&mut self, body: u32, first: u32) -> u32 {
        self.queue.clear();
        self.queue.push(body);
        self.level[body as usize] = first;
        let mut head = 0;
        let mut last = first;
        while head < self.queue.len() {
            let body = self.queue[head] as usize;
            head += 1;
            last = self.level[body];
            for at in self.starts[body]..self.starts[body + 1] {
                let other = self.others[at as usize];
                if self.level[other as usize] == NONE {
                    self.level[other as usize] = last + 1;
                    self.queue.push(other);
                }
            }
        }
        last + 1
    }

    /// Places of the bodies, slab after slab.
    fn arrange(&mut self, slabs: usize) {
        self.bodies.clear();
        self.bodies.resize(slabs + 1, 0);
        for &slab in &self.slab {
            self.bodies[slab as usize + 1] += 1;
        }
        for slab in 0..slabs {
            self.bodies[slab + 1] += self.bodies[slab] + 1;
        }
        let mut next = self.bodies.clone();
        self.place.clear();
        self.place.extend(self.slab.iter().map(|&slab| {
            next[slab as usize] += 1;
            next[slab as usize] as u32 - 1
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::BlockKind;

    fn contact(a: u32, b: Option<u32>) -> Contact {
        Contact {
            bodies: [b, Some(a)],
            jacobians: [[[0.0; 6]; 3]; 2],
            free_velocity: [0.0; 3],
            friction: 0.0,
            kind: BlockKind::Contact,
        }
    }

    /// A plate of bodies numbered without order, each touching the next in both directions and some the ground; and a
    /// second plate apart.
    #[test]
    fn contacts_reach_no_further_than_the_next_slab() {
        let (wide, long) = (12_usize, 150);
        let bodies = 2 * wide * long;
        let name = |k: usize| ((k * 2891) % bodies) as u32;
        let mut contacts = Vec::new();
        for k in 0..bodies {
            let (row, column) = (k / wide % long, k % wide);
            if column + 1 < wide {
                contacts.push(contact(name(k), Some(name(k + 1))));
            }
            if row + 1 < long {
                contacts.push(contact(name(k), Some(name(k + wide))));
            }
            if k % 3 == 0 {
                contacts.push(contact(name(k), None));
            }
        }
        let mut slabs = Slabs::default();
        slabs.cut(bodies, &contacts);
        assert!(slabs.count() >= 8, "{}", slabs.count());
        let mut places = slabs.place.clone();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), bodies, "a place for each");
        for contact in &contacts {
            let slab = slabs.of(contact);
            let reach = slabs.reach(slab as usize);
            for body in contact.bodies {
                assert!(reach.contains(&(slabs.place(slab, body) as usize)));
                if body.is_none() {
                    let place = slabs.place(slab, body);
                    assert!(!slabs.place.contains(&place), "its own place");
                }
            }
        }
        // Slabs that are swept at once share no body.
        for k in 2..slabs.count() {
            assert!(slabs.reach(k - 2).end <= slabs.reach(k).start);
        }
    }

    /// One body that touches all others: nothing to cut, and nothing lost.
    #[test]
    fn a_hub_leaves_few_slabs() {
        let contacts: Vec<_> = (1..5000).map(|k| contact(k, Some(0))).collect();
        let mut slabs = Slabs::default();
        slabs.cut(5000, &contacts);
        assert!(slabs.count() <= 3);
        for contact in &contacts {
            let slab = slabs.of(contact);
            let reach = slabs.reach(slab as usize);
            let inside = |body| reach.contains(&(slabs.place(slab, body) as usize));
            assert!(contact.bodies.into_iter().all(inside));
        }
    }
}

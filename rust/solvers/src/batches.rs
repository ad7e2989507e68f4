//! Contacts in batches of four that can be answered at once, because no two of a batch move the same body.
//!
//! A contact comes after all those before it in the order of the sweeps that move one of its bodies, in the first batch that
//! has room. So a sweep over the batches leads to what one over the contacts in their order leads to, to the bit.

use crate::assembly::Contact;
use crate::four::WIDTH;
use crate::swept::{Batch, Class};

/// A contact in the order of the sweeps: its slab, its rank among those of its pair of bodies, and its index.
pub(crate) type Entry = (u32, u32, u32);

/// Order the contacts of a slab by batches, the first of which begins at `first`; `place` is that of a body among so many.
pub(crate) fn pack(
    contacts: &[Contact],
    entries: &mut [Entry],
    first: usize,
    (places, place): (usize, impl Fn(u32) -> usize),
) -> Vec<Batch> {
    let mut packer = Packer::default();
    packer.begin(places);
    let choose = |&(_, _, index): &Entry| {
        let contact = &contacts[index as usize];
        let moving = contact.bodies.into_iter().flatten().map(&place);
        packer.put(Class::of(contact), moving)
    };
    let chosen: Vec<u32> = entries.iter().map(choose).collect();
    let mut batches = packer.batches;
    let mut at = first as u32;
    for batch in &mut batches {
        batch.first = at;
        at += batch.count;
    }
    let mut next: Vec<u32> = batches.iter().map(|batch| batch.first).collect();
    let before = entries.to_vec();
    for (entry, batch) in before.into_iter().zip(chosen) {
        let place = &mut next[batch as usize];
        entries[*place as usize - first] = entry;
        *place += 1;
    }
    batches
}

/// Puts one contact after the other into batches.
#[derive(Debug, Clone, Default)]
pub(crate) struct Packer {
    pub(crate) batches: Vec<Batch>,
    /// For each class, the first batch from here on that may have room.
    room: Vec<[u32; Class::COUNT]>,
    /// The first batch that a contact of each body may be in.
    free: Vec<u32>,
}

impl Packer {
    /// Begin anew, with so many bodies.
    pub(crate) fn begin(&mut self, bodies: usize) {
        self.batches.clear();
        self.room.clear();
        self.room.push([0; Class::COUNT]);
        self.free.clear();
        self.free.resize(bodies, 0);
    }

    /// The batch of the next contact, which moves these bodies.
    pub(crate) fn put(&mut self, class: Class, moving: impl Iterator<Item = usize> + Clone) -> u32 {
        let Self {
            batches,
            room,
            free,
        } = self;
        let least = moving.clone().map(|body| free[body]).max().unwrap_or(0);
        let batch = find(room, class.index(), least);
        if batch as usize == batches.len() {
            batches.push(Batch {
                class,
                first: 0,
                count: 0,
            });
            // Others have no room in it.
            room[batch as usize] = [batch + 1; Class::COUNT];
            room[batch as usize][class.index()] = batch;
            room.push([batch + 1; Class::COUNT]);
        }
        let count = &mut batches[batch as usize].count;
        *count += 1;
        if *count == WIDTH as u32 {
            room[batch as usize][class.index()] = batch + 1;
        }
        for body in moving {
            free[body] = batch + 1;
        }
        batch
    }
}

/// The first batch from `least` on that has room, or the next new one.
fn find(room: &mut [[u32; Class::COUNT]], class: usize, least: u32) -> u32 {
    let mut at = least;
    while room[at as usize][class] != at {
        let next = room[at as usize][class];
        // The way is halved for who comes next.
        let after = room[next as usize][class];
        room[at as usize][class] = after;
        at = next;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::BlockKind;
    use proptest::prelude::*;

    proptest! {
        /// No two contacts of a batch move the same body, all are of one class, every contact is in one batch, and those that move
        /// a body come in the order that was given.
        #[test]
        fn batches_keep_the_order_of_each_body(
            pairs in prop::collection::vec((0..12_u32, 0..13_u32, any::<bool>()), 1..80),
        ) {
            let contacts: Vec<Contact> = pairs
                .iter()
                .map(|&(a, b, couple)| Contact {
                    bodies: [Some(a), (b < 12 && b != a).then_some(b)],
                    jacobians: [[[1.0; 6]; 3]; 2],
                    free_velocity: [0.0; 3],
                    friction: 0.5,
                    kind: if couple { BlockKind::Couple } else { BlockKind::Contact },
                })
                .collect();
            let mut entries: Vec<Entry> = (0..contacts.len() as u32).map(|k| (0, 0, k)).collect();
            let batches = pack(&contacts, &mut entries, 100, (12, |body| body as usize));
            let mut last = [None; 12];
            let mut seen = vec![false; contacts.len()];
            let mut at = 100;
            for batch in &batches {
                prop_assert_eq!(batch.first, at);
                prop_assert!((1..=WIDTH as u32).contains(&batch.count));
                at += batch.count;
                let own = &entries[batch.first as usize - 100..][..batch.count as usize];
                let mut moved = Vec::new();
                for &(_, _, index) in own {
                    let contact = &contacts[index as usize];
                    prop_assert!(Class::of(contact) == batch.class);
                    prop_assert!(!std::mem::replace(&mut seen[index as usize], true));
                    for body in contact.bodies.into_iter().flatten() {
                        prop_assert!(!moved.contains(&body));
                        moved.push(body);
                        prop_assert!(last[body as usize] < Some(index));
                        last[body as usize] = Some(index);
                    }
                }
            }
            prop_assert!(seen.iter().all(|seen| *seen));
        }
    }
}

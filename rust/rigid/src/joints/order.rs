//! The order of joints in a mechanism, and which of them meet in a body; linear in joints of bounded number a body.

use super::Linked;

/// Two joints (or one) and the sides by which they hold the same moving body.
#[derive(Debug, Clone, Copy)]
pub(super) struct Coupling {
    pub joints: [usize; 2],
    pub sides: [usize; 2],
}

/// The joints that hold each moving body, by their indices.
pub(super) fn joints_of(holds: &[[Option<usize>; 2]], bodies: usize) -> Vec<Vec<usize>> {
    let mut joints_of = vec![Vec::new(); bodies];
    for (index, held) in holds.iter().enumerate() {
        for body in held.iter().flatten() {
            joints_of[*body].push(index);
        }
    }
    joints_of
}

/// Joints so ordered that those on the same body come close together (Cuthill and McKee 1969).
pub(super) fn narrow_order(holds: &[[Option<usize>; 2]], joints_of: &[Vec<usize>]) -> Vec<usize> {
    let near = |p: usize| {
        let on = holds[p].iter().flatten().flat_map(|body| &joints_of[*body]);
        let mut near: Vec<usize> = on.copied().filter(|&q| q != p).collect();
        near.sort_unstable();
        near.dedup();
        near
    };
    let degrees: Vec<usize> = (0..holds.len()).map(|p| near(p).len()).collect();
    let mut starts: Vec<usize> = (0..holds.len()).collect();
    starts.sort_by_key(|&p| (degrees[p], p));
    let mut order: Vec<usize> = Vec::with_capacity(holds.len());
    let mut known = vec![false; holds.len()];
    for start in starts {
        if known[start] {
            continue;
        }
        known[start] = true;
        let mut next = order.len();
        order.push(start);
        while next < order.len() {
            let mut near = near(order[next]);
            near.retain(|&q| !known[q]);
            near.sort_by_key(|&q| (degrees[q], q));
            for q in near {
                known[q] = true;
                order.push(q);
            }
            next += 1;
        }
    }
    order
}

/// Which joints share a moving body, and for the envelope of each its first column and number of rows.
pub(super) fn couplings(
    linked: &[Linked],
    holds: &[[Option<usize>; 2]],
    joints_of: &[Vec<usize>],
) -> (Vec<Coupling>, Vec<(usize, usize)>) {
    let mut place = vec![0; linked.len()];
    for (p, one) in linked.iter().enumerate() {
        place[one.joint] = p;
    }
    let mut couplings = Vec::new();
    let mut sizes = Vec::with_capacity(linked.len());
    for (p, one) in linked.iter().enumerate() {
        let mut least = one.first;
        let own = &holds[one.joint];
        let on = own.iter().flatten().flat_map(|body| &joints_of[*body]);
        let mut others: Vec<usize> = on.map(|&q| place[q]).filter(|&q| q <= p).collect();
        others.sort_unstable();
        others.dedup();
        for q in others {
            let other = &linked[q];
            for (side, held) in own.iter().enumerate() {
                for (other_side, other_held) in holds[other.joint].iter().enumerate() {
                    if held.is_some() && held == other_held {
                        couplings.push(Coupling {
                            joints: [p, q],
                            sides: [side, other_side],
                        });
                        least = least.min(other.first);
                    }
                }
            }
        }
        sizes.push((least, one.held.len()));
    }
    (couplings, sizes)
}

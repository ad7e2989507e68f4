//! Every contact there is, one after another, pairs first, then walls: what measures and the stable step look at.

use nalgebra::Vector3;
use percuss_laws::grain::{PairLaw, Stiffness};

use crate::contact::Contact;
use crate::neighbours::image_shift;
use crate::walls::{side, wall_factor};
use crate::world::World;

/// A contact as it is now. A wall has no second grain; its branch ends at the wall.
pub(crate) struct Touching<'a> {
    pub grains: (usize, Option<usize>),
    pub branch: Vector3<f64>,
    pub distance: f64,
    pub overlap: f64,
    pub stiffness: Stiffness,
    /// None where forces have not been computed yet.
    pub contact: Option<&'a Contact>,
}

pub(crate) fn for_each_touching<'a, L: PairLaw>(
    world: &'a World,
    law: &L,
    mut see: impl FnMut(Touching<'a>),
) {
    let n = world.bodies.len();
    for i in 0..n {
        for p in world.pairs.starts[i]..world.pairs.starts[i + 1] {
            let pair = &world.pairs.list[p];
            let j = pair.other as usize;
            let (a, b) = (&world.bodies[i], &world.bodies[j]);
            let branch = b.position - a.position + image_shift(pair.image as usize, &world.cell);
            let distance = branch.norm();
            let overlap = a.radius + b.radius - distance;
            if overlap > 0.0 {
                see(Touching {
                    grains: (i, Some(j)),
                    branch,
                    distance,
                    overlap,
                    stiffness: law.stiffness(world.pairs.factors[p], a.radius, b.radius, overlap),
                    contact: pair.touching.then(|| &world.pairs.contacts[p]),
                });
            }
        }
    }
    let Some(walls) = &world.walls else {
        return;
    };
    for (i, body) in world.bodies.iter().enumerate() {
        for number in 0..6 {
            let (normal, distance) = side(number, &body.position, &world.cell);
            let overlap = body.radius - distance;
            if overlap > 0.0 {
                let factor = wall_factor(law, body.radius);
                see(Touching {
                    grains: (i, None),
                    branch: normal * distance,
                    distance,
                    overlap,
                    stiffness: law.stiffness(factor, body.radius, body.radius, overlap),
                    contact: walls.contacts[i][number].as_ref(),
                });
            }
        }
    }
}

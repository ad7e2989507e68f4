//! A packing as it is to be drawn: where grains are, how far they turned, what contacts bear.

use nalgebra::Vector3;
use percuss_laws::grain::PairLaw;
use percuss_laws::with_grain_law;

use crate::touching::for_each_touching;
use crate::world::World;

/// A contact to be drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrawnContact {
    /// The grain it is at.
    pub grain: usize,
    /// The other grain; None: a wall.
    pub other: Option<usize>,
    /// From the centre of the grain to the contact, m.
    pub arm_m: Vector3<f64>,
    /// Force on the other, N.
    pub force_n: Vector3<f64>,
}

/// The state of a packing.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Edges of the cell, m.
    pub cell_m: Vector3<f64>,
    /// Centres, m.
    pub positions_m: Vec<Vector3<f64>>,
    /// Integral of each spin, rad.
    pub turned_rad: Vec<Vector3<f64>>,
    /// Contacts that bear something.
    pub contacts: Vec<DrawnContact>,
}

/// The present state of a world that follows turns.
pub fn frame(world: &World) -> Frame {
    let grain = &world.material.grain;
    with_grain_law!(world.material.law, grain, law => with(world, law))
}

fn with<L: PairLaw>(world: &World, law: L) -> Frame {
    let mut contacts = Vec::new();
    for_each_touching(world, &law, |touching| {
        let Some(contact) = touching.contact else {
            return;
        };
        let (i, other) = touching.grains;
        let normal = touching.branch / touching.distance;
        // The middle of the overlap; a wall is where the branch ends.
        let reach = match other {
            Some(_) => world.bodies[i].radius - 0.5 * touching.overlap,
            None => touching.distance,
        };
        contacts.push(DrawnContact {
            grain: i,
            other,
            arm_m: normal * reach,
            force_n: normal * (touching.stiffness.normal_n_per_m * touching.overlap)
                + contact.shear_n,
        });
    });
    Frame {
        cell_m: world.cell,
        positions_m: world.bodies.iter().map(|b| b.position).collect(),
        turned_rad: world.turned.clone(),
        contacts,
    }
}

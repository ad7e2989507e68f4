//! Six rigid walls around the grains: planes at 0 and at the edge of the cell along each axis.
//!
//! A wall is a plane of the grains' own material: its contact with a grain has the equivalent radius of the grain, and
//! the grain's radius for moments. The upper wall of an axis moves, at the rate that the servo sets; none turns.

use nalgebra::Vector3;
use percuss_laws::grain::PairLaw;

use crate::contact::{Contact, Limits, Touch, react};
use crate::world::World;

/// Contacts of every grain with lower and upper walls of x, y and z, and what they add up to.
#[derive(Clone, Debug)]
pub(crate) struct Walls {
    /// None where a grain does not touch.
    pub contacts: Vec<[Option<Contact>; 6]>,
    /// Normal force on the lower and the upper wall of each axis, N.
    pub force_n: [[f64; 2]; 3],
}

impl Walls {
    pub fn new(grains: usize) -> Self {
        Self {
            contacts: vec![[None; 6]; grains],
            force_n: [[0.0; 2]; 3],
        }
    }
}

/// Outward normal of a side, and the distance of a place from its wall.
pub(crate) fn side(
    number: usize,
    place: &Vector3<f64>,
    cell: &Vector3<f64>,
) -> (Vector3<f64>, f64) {
    let axis = number / 2;
    let mut normal = Vector3::zeros();
    if number.is_multiple_of(2) {
        normal[axis] = -1.0;
        (normal, place[axis])
    } else {
        normal[axis] = 1.0;
        (normal, cell[axis] - place[axis])
    }
}

/// What a law keeps of the radii of a grain and a plane: the equivalent radius is that of the grain.
pub(crate) fn wall_factor<L: PairLaw>(law: &L, radius_m: f64) -> f64 {
    law.factor(2.0 * radius_m, 2.0 * radius_m)
}

/// Forces of the walls, and of gravity, on every grain.
pub(crate) fn press<L: PairLaw, const MOMENTS: bool, const RESCALED: bool>(
    world: &mut World,
    law: &L,
    limits: &Limits,
) {
    let Some(walls) = &mut world.walls else {
        return;
    };
    walls.force_n = [[0.0; 2]; 3];
    let gravity = world.material.gravity_m_s2;
    for (i, body) in world.bodies.iter().enumerate() {
        world.loads[i].force.z -= gravity / world.inverse_mass[i];
        world.boundary_j -= gravity / world.inverse_mass[i] * body.velocity.z * limits.dt_s;
        for number in 0..6 {
            let (normal, distance) = side(number, &body.position, &world.cell);
            let contact = &mut walls.contacts[i][number];
            if distance >= body.radius {
                *contact = None;
                continue;
            }
            let (axis, upper) = (number / 2, number % 2);
            let mut velocity = -body.velocity;
            velocity[axis] += upper as f64 * world.rates[axis] * world.cell[axis];
            let slip = velocity - body.spin.cross(&normal) * body.radius;
            let touch = Touch {
                normal,
                overlap_m: body.radius - distance,
                slip_m_s: slip - normal * normal.dot(&slip),
                approach_m_s: -normal.dot(&velocity),
                spins_rad_s: [body.spin, Vector3::zeros()],
                radii_m: [body.radius; 2],
            };
            let is_new = contact.is_none();
            let found = react::<L, MOMENTS, RESCALED>(
                law,
                limits,
                wall_factor(law, body.radius),
                contact.get_or_insert_default(),
                is_new,
                &touch,
                || 1.0 / world.inverse_mass[i],
            );
            world.loads[i].force -= found.force_n;
            world.loads[i].torque += found.torques_n_m[0];
            walls.force_n[axis][upper] += found.normal_n;
            world.totals.count(&found);
            world.lost += found.lost;
        }
    }
}

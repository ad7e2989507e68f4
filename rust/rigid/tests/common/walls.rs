//! Walls of blocks: the rockfall wall of Gupta et al. (2023) without its connectors, a plain brick wall, and piles.

use super::{add_box, ground};
use percuss_rigid::*;

/// Four courses of five blocks 1.56 x 0.76 x 0.80 m of 1800 kg with 40 mm gaps, staggered by half a pitch, hit
/// by a cube of 1.1 m and 2600 kg at 20 m/s.
pub fn brick_wall() -> Scene {
    let mut scene = ground(Pose::identity());
    for row in 0..4 {
        for k in 0..5 {
            let shift = if row % 2 == 1 { 0.4 } else { -0.4 };
            let y = (f64::from(k) - 2.0) * 1.6 + shift;
            let pose = Pose::translation(0.0, y, 0.4 + 0.8 * f64::from(row));
            add_box(&mut scene, [0.76, 1.56, 0.8], 1800.0, pose);
        }
    }
    let pose = Pose::translation(-0.38 - 0.55 - 0.01, 0.0, 1.7);
    let projectile = add_box(&mut scene, [1.1; 3], 2600.0, pose);
    scene.bodies[projectile].velocity_m_per_s = Vec3::new(20.0, 0.0, 0.0);
    scene.add_law(ContactLaw::new((0, 1), 0.15, 0.4));
    scene.add_law(ContactLaw::new((1, 1), 0.15, 0.4));
    scene
}

const RADIUS: f64 = 0.38;
const HEIGHT: f64 = 0.8;
const PITCH: f64 = 0.8;

/// Prism of height `HEIGHT` from a box of `length` x 2 `RADIUS` between y = 0 and `length`, with `ends` half
/// cylinders: mass properties in the frame at the middle of the box, of total mass `mass`.
fn block_mass(length: f64, ends: u32, mass: f64) -> MassProperties {
    let core = Shape::cuboid(2.0 * RADIUS, length, HEIGHT).unwrap();
    let mut area = 2.0 * RADIUS * length;
    let half_disk = 0.5 * std::f64::consts::PI * RADIUS * RADIUS;
    area += f64::from(ends) * half_disk;
    let density = mass / (area * HEIGHT);
    let mut sum = core.mass_properties(density).unwrap();
    // A half disk about its own centre: 4 R / (3 pi) from the flat side.
    let offset = 4.0 * RADIUS / (3.0 * std::f64::consts::PI);
    let m = density * half_disk * HEIGHT;
    let along = m * RADIUS * RADIUS / 4.0 - m * offset * offset;
    let across = m * RADIUS * RADIUS / 4.0;
    let up = m * HEIGHT * HEIGHT / 12.0;
    for k in 0..ends {
        let side = if k == 0 { -1.0 } else { 1.0 };
        sum = sum.add(&MassProperties {
            mass_kg: m,
            centre_m: Vec3::new(0.0, side * (0.5 * length + offset), 0.0),
            inertia_kg_m2: Mat3::from_diagonal(&Vec3::new(along + up, across + up, along + across)),
        });
    }
    sum
}

/// The wall of 38 blocks and 4 half-blocks with round ends on twenty axes 0.80 m apart, in a zig-zag of
/// `angle_deg`, hit by a 2600 kg box at 20 m/s. Blocks touch each other and the ground by their end cylinders;
/// the projectile sees the whole block.
pub fn block_wall(angle_deg: f64) -> Scene {
    let mut axes = vec![(0.0, 0.0)];
    for k in 0..19 {
        let angle = angle_deg.to_radians() * if k % 2 == 0 { 1.0 } else { -1.0 };
        let (x, y) = axes[k];
        axes.push((x + PITCH * angle.sin(), y + PITCH * angle.cos()));
    }
    let middle = 0.5 * (axes[0].1 + axes[19].1);
    for axis in &mut axes {
        axis.1 -= middle;
    }
    // Groups: 0 core, 1 end, 2 projectile, 3 ground.
    let mut scene = Scene::default();
    let base = scene.add_body(Body::fixed("ground"));
    scene.add_contactor(base, Shape::half_space(), Pose::identity(), 3);
    let end = Shape::cylinder(RADIUS, HEIGHT).unwrap();
    let full = block_mass(PITCH, 2, 1800.0);
    let half = block_mass(0.5 * PITCH, 1, 900.0);
    for row in 0..4 {
        let z = HEIGHT * (f64::from(row) + 0.5);
        let odd = row % 2 == 1;
        for k in (usize::from(odd)..19 - usize::from(odd)).step_by(2) {
            let ((ax, ay), (bx, by)) = (axes[k], axes[k + 1]);
            let yaw = (-(bx - ax)).atan2(by - ay);
            let pose = Pose::new(
                Vec3::new(0.5 * (ax + bx), 0.5 * (ay + by), z),
                Vec3::new(0.0, 0.0, yaw),
            );
            let name = format!("block {row} {k}");
            let body = scene.add_body(Body::dynamic(&name, Mass::Given(full)).at(pose));
            for y in [-0.5 * PITCH, 0.5 * PITCH] {
                scene.add_contactor(body, end.clone(), Pose::translation(0.0, y, 0.0), 1);
            }
            let core = Shape::cuboid(2.0 * RADIUS, PITCH, HEIGHT).unwrap();
            scene.add_contactor(body, core, Pose::identity(), 0);
        }
        if odd {
            for (k, next) in [(0, 1), (19, 18)] {
                let ((ax, ay), (bx, by)) = (axes[k], axes[next]);
                let yaw = (-(bx - ax)).atan2(by - ay);
                // The frame is at the middle of the half core, a quarter pitch from the axis.
                let share = 0.25;
                let pose = Pose::new(
                    Vec3::new(ax + share * (bx - ax), ay + share * (by - ay), z),
                    Vec3::new(0.0, 0.0, yaw),
                );
                let name = format!("half {row} {k}");
                let body = scene.add_body(Body::dynamic(&name, Mass::Given(half)).at(pose));
                let on_axis = Pose::translation(0.0, -0.25 * PITCH, 0.0);
                scene.add_contactor(body, end.clone(), on_axis, 1);
                let core = Shape::cuboid(2.0 * RADIUS, 0.5 * PITCH, HEIGHT).unwrap();
                scene.add_contactor(body, core, Pose::identity(), 0);
            }
        }
    }
    let face = axes[8..12]
        .iter()
        .map(|a| a.0)
        .fold(f64::INFINITY, f64::min)
        - RADIUS;
    let pose = Pose::translation(face - 0.55 - 0.005, 0.0, 1.7);
    let projectile = scene.add_body(
        Body::dynamic("projectile", Mass::Total(2600.0))
            .at(pose)
            .moving(Vec3::new(20.0, 0.0, 0.0)),
    );
    let cube = Shape::cuboid(1.1, 1.1, 1.1).unwrap();
    scene.add_contactor(projectile, cube, Pose::identity(), 2);
    scene.add_law(ContactLaw::new((1, 3), 0.15, 0.45));
    scene.add_law(ContactLaw::new((1, 1), 0.15, 0.4));
    scene.add_law(ContactLaw::new((0, 2), 0.15, 0.4));
    scene.add_law(ContactLaw::new((1, 2), 0.15, 0.4));
    scene
}

/// `columns` x `columns` towers of `high` cubes at rest.
pub fn pile(columns: u32, high: u32) -> Scene {
    let mut scene = ground(Pose::identity());
    for i in 0..columns {
        for j in 0..columns {
            for k in 0..high {
                let pose =
                    Pose::translation(1.5 * f64::from(i), 1.5 * f64::from(j), 0.5 + f64::from(k));
                add_box(&mut scene, [1.0; 3], 100.0, pose);
            }
        }
    }
    scene.add_law(ContactLaw::new((0, 1), 0.0, 0.5));
    scene.add_law(ContactLaw::new((1, 1), 0.0, 0.5));
    scene
}

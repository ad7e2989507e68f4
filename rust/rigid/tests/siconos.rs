//! Scenes also run with Siconos 4.4.0 (tests/golden/siconos).

use crate::common::*;
use percuss_rigid::*;

/// Rows of a stored table, without its header.
fn stored(name: &str) -> Vec<Vec<f64>> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/siconos");
    let text = std::fs::read_to_string(format!("{folder}/{name}.csv")).unwrap();
    let rows = text.lines().skip(1);
    rows.map(|row| row.split(',').map(|x| x.parse().unwrap()).collect())
        .collect()
}

/// Steps to each stored instant and hands over the row.
fn compare(mut world: World, rows: &[Vec<f64>], check: impl Fn(&World, &[f64])) {
    assert!(rows.len() > 5);
    for row in rows {
        while world.time_s() < row[0] - 0.5 * world.settings().dt_s {
            advance(&mut world, 1);
        }
        check(&world, row);
    }
}

#[test]
fn a_sphere_dropped() {
    for (name, dt) in [("a_sphere_drop_h1e-3", 1e-3), ("a_sphere_drop_h1e-4", 1e-4)] {
        let mut scene = ground(Pose::identity());
        add_sphere(&mut scene, 0.5, 1.0, Vec3::new(0.0, 0.0, 1.5));
        scene.add_law(ContactLaw::new((0, 1), 0.5, 0.3));
        let world = World::new(scene, Settings::with_step(dt)).unwrap();
        compare(world, &stored(name), |world, row| {
            // A bounce may fall one step earlier or later, at up to 4.4 m/s.
            let off = (world.state(1).position.z - row[1]).abs();
            assert!(off < 10.0 * dt, "t {}: {off:e}", row[0]);
        });
    }
}

/// The block of b and c.
fn block(plane: Pose) -> Scene {
    let mut scene = ground(plane);
    let pose = plane.compose(&Pose::translation(0.0, 0.0, 0.2));
    add_box(&mut scene, [1.0, 1.0, 0.4], 1000.0, pose);
    scene.add_law(ContactLaw::new((0, 1), 0.0, 0.3));
    scene
}

#[test]
fn a_block_sliding_to_rest() {
    let mut scene = block(Pose::identity());
    scene.bodies[1].velocity_m_per_s.x = 3.0;
    let world = World::new(scene, Settings::with_step(2.5e-4)).unwrap();
    compare(world, &stored("b_block_slide_h2.5e-4"), |world, row| {
        let state = world.state(1);
        assert!((state.position.x - row[2]).abs() < 1e-3, "t {}", row[0]);
        assert!((state.velocity.x - row[9]).abs() < 5e-3, "t {}", row[0]);
    });
}

#[test]
fn a_block_held_on_an_incline() {
    let slope = Pose::new(Vec3::zeros(), Vec3::new(0.0, 10_f64.to_radians(), 0.0));
    let world = World::new(block(slope), Settings::with_step(1e-3)).unwrap();
    compare(world, &stored("c_incline_10deg"), |world, row| {
        let place = Vec3::new(row[2], row[3], row[4]);
        assert!(
            (world.state(1).position - place).norm() < 5e-5,
            "t {}",
            row[0]
        );
        assert!(world.state(1).velocity.norm() < 1e-8);
    });
}

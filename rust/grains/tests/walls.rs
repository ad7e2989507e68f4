//! Grains between rigid walls, and contact damping: restitution, weight, servo.

use crate::common::material;
use nalgebra::Vector3;
use percuss_grains::{
    Axis, Compaction, Damping, GrainError, Loading, Material, Packing, Servo, Test, World, load,
    make_packing,
};
use percuss_laws::grain::GrainLaw;

const LAWS: [GrainLaw; 2] = [GrainLaw::ClassicalLinear, GrainLaw::HertzMindlin];

fn still(world: &mut World) {
    world.damp(Damping(0.0));
    world.drive(Servo {
        axes: [Axis::Rate(0.0); 3],
        most_per_s: 1.0,
    });
}

/// Two grains of different size, head on, and one against a wall: speeds after over before, at slow and fast approach.
#[test]
fn a_collision_has_its_restitution() {
    for law in LAWS {
        for restitution in [1.0, 0.8, 0.4, 0.1] {
            for speed in [0.02, 0.5] {
                let soft = Material {
                    restitution,
                    density_scaling: 1.0,
                    ..material(law)
                };
                let grains = Packing {
                    cell_m: Vector3::repeat(0.05),
                    positions_m: vec![
                        Vector3::new(0.02, 0.02, 0.02),
                        Vector3::new(0.0255 + 1e-9, 0.02, 0.02),
                    ],
                    radii_m: vec![0.003, 0.0025],
                    walls: false,
                };
                let mut world = World::new(&grains, soft, 0.01).unwrap();
                still(&mut world);
                world.set_velocities(&[
                    Vector3::new(speed, 0.0, 0.0),
                    Vector3::new(-speed, 0.0, 0.0),
                ]);
                collide(&mut world);
                let after = world.velocities_m_s();
                let found = (after[1].x - after[0].x) / (2.0 * speed);
                // The step cuts the collision into some hundred pieces: errors of the first order in it.
                assert!(
                    (found - restitution).abs() < 0.01,
                    "{law:?} {restitution}: {found}"
                );

                let wall = Packing {
                    positions_m: vec![
                        Vector3::new(0.003 + 1e-9, 0.02, 0.02),
                        Vector3::new(0.03, 0.03, 0.03),
                    ],
                    walls: true,
                    ..grains
                };
                let mut world = World::new(&wall, soft, 0.01).unwrap();
                still(&mut world);
                world.set_velocities(&[Vector3::new(-speed, 0.0, 0.0), Vector3::zeros()]);
                collide(&mut world);
                let found = world.velocities_m_s()[0].x / speed;
                assert!(
                    (found - restitution).abs() < 0.01,
                    "{law:?} wall {restitution}: {found}"
                );
            }
        }
    }
}

fn collide(world: &mut World) {
    while world.contacts() == 0 {
        world.step().unwrap();
    }
    while world.contacts() > 0 {
        world.step().unwrap();
    }
}

/// Grains let fall into a box: at rest the floor bears their weight, the lid nothing, and opposite sides the same.
#[test]
fn the_floor_bears_the_weight() {
    let grains = make_packing(
        &Compaction {
            walls: true,
            void_ratio: 0.9,
            ..Compaction::toyoura(200, 3)
        },
        &mut || true,
    )
    .unwrap()
    .packing;
    let mut heavy = Material {
        density_scaling: 1.0,
        gravity_m_s2: 9.81,
        restitution: 0.3,
        ..material(GrainLaw::ClassicalLinear)
    };
    heavy.grain.young_pa = 1e6;
    heavy.grain.friction = 0.0;
    heavy.moments = false;
    let mut world = World::new(&grains, heavy, 0.8).unwrap();
    still(&mut world);
    world.damp(Damping(0.5));
    for _ in 0..400 {
        world.run(100).unwrap();
        if world.unbalanced() < 1e-5 {
            break;
        }
    }
    assert!(world.unbalanced() < 1e-5, "{}", world.unbalanced());
    let weight = 9.81 * 2650.0 * grains.solid_m3();
    let [x, y, z] = world.wall_forces_n().unwrap();
    // The sides are smooth, so that the floor alone bears.
    assert!(
        (z[0] / weight - 1.0).abs() < 1e-3 && z[1] == 0.0,
        "{z:?} of {weight}"
    );
    for side in [x, y] {
        assert!((side[0] - side[1]).abs() < 1e-3 * weight, "{side:?}");
    }
}

#[test]
fn walls_keep_their_stress_and_strain() {
    let grains = make_packing(
        &Compaction {
            walls: true,
            void_ratio: 0.9,
            ..Compaction::toyoura(300, 4)
        },
        &mut || true,
    )
    .unwrap()
    .packing;
    assert!((grains.void_ratio() - 0.9).abs() < 0.002);
    for law in LAWS {
        let strains = vec![0.002, 0.006];
        let done = load(
            &grains,
            material(law),
            &Loading::at(2e5),
            &Test::Drained(strains.clone()),
            &mut |_| true,
        )
        .unwrap();
        for (row, strain) in done.rows[1..].iter().zip(&strains) {
            assert!(row.at_rest && (row.strain[2] - strain).abs() < 1e-12);
            let s = row.measured.stress_pa;
            for k in 0..2 {
                assert!((s[(k, k)] / 2e5 - 1.0).abs() < 2e-3, "{law:?} {s}");
            }
            assert!(s[(2, 2)] > 2.2e5);
        }
        let e = done.rows.last().unwrap().measured.energy;
        let spent =
            e.elastic_j + e.kinetic_j + e.sliding_j + e.rolling_j + e.damping_j + e.stiffening_j;
        assert!((spent / e.boundary_j - 1.0).abs() < 0.02, "{law:?} {e:?}");
    }
}

#[test]
fn gravity_needs_walls() {
    let grains = make_packing(&Compaction::toyoura(200, 1), &mut || true)
        .unwrap()
        .packing;
    let falling = Material {
        gravity_m_s2: 9.81,
        ..material(GrainLaw::HertzMindlin)
    };
    let refused = World::new(&grains, falling, 0.8).unwrap_err();
    assert!(matches!(refused, GrainError::Range { .. }), "{refused}");
}

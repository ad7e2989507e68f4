//! Sliding with closed forms.

mod common;

use common::*;
use percuss_rigid::*;

#[test]
fn a_sliding_block_stops_where_it_should() {
    let mut scene = ground(Pose::identity());
    let block = add_box(
        &mut scene,
        [1.0, 1.0, 0.4],
        1000.0,
        Pose::translation(0.0, 0.0, 0.2),
    );
    scene.bodies[block].velocity_m_per_s = Vec3::new(3.0, 0.0, 0.0);
    scene.add_law(ContactLaw::new((0, 1), 0.0, 0.3));
    let mut world = World::new(scene, precise(1e-3)).unwrap();
    advance(&mut world, 1500);
    let state = world.state(block);
    let exact = 9.0 / (2.0 * 0.3 * G);
    assert!((exact - 1.52957).abs() < 1e-5);
    assert!(
        (state.position.x - exact).abs() < 1e-4,
        "{} against {exact}",
        state.position.x
    );
    assert!(state.velocity.norm() < 1e-9, "{}", state.velocity);
    assert!(state.position.y.abs() < 1e-9);
    assert!((state.position.z - 0.2).abs() < 1e-8);
    assert!(closing(&world) < 1e-12, "{:e}", closing(&world));
    // All of the block's energy goes into friction.
    assert!((world.energy().friction_dissipation_j - 4500.0).abs() < 1e-6);
}

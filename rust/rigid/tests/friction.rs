//! Sliding with closed forms.

use crate::common::*;
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

/// A block 1 x 1 x 0.4 m of 1000 kg on a plane that descends at `slope` towards `azimuth`, turned by `yaw` on it.
fn incline(slope: f64, azimuth: f64, yaw: f64, friction: f64) -> (World, Vec3, Vec3) {
    let axis = Vec3::new(-azimuth.sin(), azimuth.cos(), 0.0);
    let plane = Pose::new(Vec3::zeros(), axis * slope);
    let normal = plane.rotation * Vec3::z();
    let down = plane.rotation * Vec3::new(azimuth.cos(), azimuth.sin(), 0.0);
    let mut scene = ground(plane);
    let turned = Pose::new(Vec3::new(0.0, 0.0, 0.2), Vec3::new(0.0, 0.0, yaw));
    add_box(&mut scene, [1.0, 1.0, 0.4], 1000.0, plane.compose(&turned));
    scene.add_law(ContactLaw::new((0, 1), 0.0, friction));
    (World::new(scene, precise(1e-3)).unwrap(), normal, down)
}

#[test]
fn a_block_on_an_incline_stays_or_slides_as_coulomb_says_in_every_direction() {
    let mu = 0.3;
    for degrees in [10.0_f64, 18.0, 25.0, 40.0] {
        let slope = degrees.to_radians();
        let acceleration = (G * (slope.sin() - mu * slope.cos())).max(0.0);
        for k in 0..8 {
            let azimuth = f64::from(k) * std::f64::consts::FRAC_PI_4;
            let (mut world, normal, down) = incline(slope, azimuth, azimuth, mu);
            let start = world.state(1).position;
            advance(&mut world, 1000);
            let way = world.state(1).position - start;
            let exact = 0.5 * acceleration;
            if exact == 0.0 {
                assert!(way.norm() < 1e-8, "{degrees} deg: moved {}", way.norm());
            } else {
                let off = (way.dot(&down) / exact - 1.0).abs();
                assert!(
                    off < 1e-3,
                    "{degrees} deg, azimuth {azimuth}: off by {off:e}"
                );
                assert!((way - down * way.dot(&down)).norm() < 1e-6 * exact);
                for c in world
                    .contacts()
                    .iter()
                    .filter(|c| c.impulse_n_s.norm() > 0.0)
                {
                    let p = c.local(&c.impulse_n_s);
                    let ratio = p[1].hypot(p[2]) / p[0];
                    assert!((ratio - mu).abs() < 1e-8, "ratio {ratio}");
                    assert!((c.normal.dot(&normal).abs() - 1.0).abs() < 1e-9);
                }
            }
            assert!(closing(&world) < 1e-12, "{:e}", closing(&world));
        }
    }
}

#[test]
fn on_a_slope_at_the_friction_angle_a_block_launched_sideways_ends_at_half_its_speed() {
    // Friction takes from the speed what gravity adds along the slope, so speed + downhill velocity is constant.
    let mu: f64 = 0.3;
    let (mut world, _, down) = incline(mu.atan(), 0.0, 0.3, mu);
    let sideways = Vec3::y();
    world.set_velocity(1, sideways * 2.0, Vec3::zeros());
    for _ in 0..40 {
        advance(&mut world, 50);
        let v = world.state(1).velocity;
        let kept = v.norm() + v.dot(&down);
        assert!((kept - 2.0).abs() < 2e-3, "t {}: {kept}", world.time_s());
    }
    advance(&mut world, 2000);
    let v = world.state(1).velocity;
    assert!((v.dot(&down) - 1.0).abs() < 5e-3, "{v}");
    assert!(v.dot(&sideways).abs() < 0.02);
}

#[test]
fn a_belt_carries_a_block_up_to_its_speed() {
    let (speed, mu) = (1.5, 0.4);
    let mut scene = Scene::default();
    let belt = scene.add_body(Body::kinematic(
        "belt",
        Motion::Constant {
            velocity_m_per_s: Vec3::new(speed, 0.0, 0.0),
            angular_velocity_rad_per_s: Vec3::zeros(),
        },
    ));
    scene.add_contactor(belt, Shape::half_space(), Pose::identity(), 0);
    let block = add_box(
        &mut scene,
        [0.5, 0.5, 0.1],
        20.0,
        Pose::translation(0.0, 0.0, 0.05),
    );
    scene.add_law(ContactLaw::new((0, 1), 0.0, mu));
    let mut world = World::new(scene, precise(1e-3)).unwrap();
    advance(&mut world, 200);
    let v = world.state(block).velocity.x;
    assert!((v - mu * G * 0.2).abs() < 1e-8, "{v}");
    advance(&mut world, 400);
    assert!((world.state(block).velocity.x - speed).abs() < 1e-8);
    // The belt pays for the block's kinetic energy and as much again for friction.
    let e = world.energy();
    let kinetic = 0.5 * 20.0 * speed * speed;
    // Within the last partial step of sliding.
    assert!(
        (e.motion_work_j - 2.0 * kinetic).abs() < 0.05,
        "{}",
        e.motion_work_j
    );
    assert!((e.friction_dissipation_j - kinetic).abs() < 0.05);
    assert!(closing(&world) < 1e-12, "{:e}", closing(&world));
}

#[test]
fn a_push_moves_a_block_by_what_friction_leaves() {
    let mut scene = ground(Pose::identity());
    let block = add_box(
        &mut scene,
        [0.5, 0.5, 0.1],
        20.0,
        Pose::translation(0.0, 0.0, 0.05),
    );
    scene.add_law(ContactLaw::new((0, 1), 0.0, 0.4));
    let push = 100.0;
    scene.loads.push(Load {
        times_s: vec![0.0, 0.1, 0.1001],
        factors: vec![1.0, 1.0, 0.0],
        ..Load::force(block, Vec3::zeros(), Vec3::new(push, 0.0, 0.0))
    });
    let mut world = World::new(scene, precise(1e-4)).unwrap();
    advance(&mut world, 1000);
    let exact = (push / 20.0 - 0.4 * G) * 0.1;
    assert!((world.state(block).velocity.x - exact).abs() < 1e-8);
    advance(&mut world, 1000);
    assert!(world.state(block).velocity.norm() < 1e-8);
    let e = world.energy();
    assert!((e.external_work_j - e.friction_dissipation_j).abs() < 1e-6);
    assert!(closing(&world) < 1e-12, "{:e}", closing(&world));
}

#[test]
fn a_shaken_table_moves_as_told_and_carries_what_friction_holds() {
    // 3 m/s2 at most, below 0.4 g: the block stays on its place on the table.
    let (amplitude, frequency) = (3.0 / (4.0 * std::f64::consts::PI).powi(2), 2.0);
    let motion = Motion::Harmonic {
        amplitude_m: Vec3::new(amplitude, 0.0, 0.0),
        frequency_hz: frequency,
        phase_rad: std::f64::consts::FRAC_PI_2,
    };
    let times_s: Vec<f64> = (0..=1000).map(|k| f64::from(k) * 1e-3).collect();
    let sampled = Motion::Sampled {
        twists: times_s
            .iter()
            .map(|t| {
                let v = motion.velocity(*t).0;
                [v.x, v.y, v.z, 0.0, 0.0, 0.0]
            })
            .collect(),
        times_s,
    };
    let run = |motion: Motion| {
        let mut scene = Scene::default();
        let table = scene.add_body(Body::kinematic("table", motion));
        scene.add_contactor(table, Shape::half_space(), Pose::identity(), 0);
        let pose = Pose::translation(0.0, 0.0, 0.1);
        add_box(&mut scene, [0.5, 0.5, 0.2], 20.0, pose);
        scene.add_law(ContactLaw::new((0, 1), 0.0, 0.4));
        let mut world = World::new(scene, precise(1e-3)).unwrap();
        advance(&mut world, 250);
        assert!(closing(&world) < 1e-12, "{:e}", closing(&world));
        (world.pose(0).position.x, world.pose(1).position.x)
    };
    let (table, block) = run(motion);
    // Half a period: from one end to the other, by the trapezoidal rule.
    assert!((table + 2.0 * amplitude).abs() < 1e-6, "{table}");
    assert!((block - table).abs() < 1e-8, "{block} on {table}");
    // The same motion from a table, whose instants are rounded.
    let again = run(sampled);
    assert!((again.0 - table).abs() < 1e-12 && (again.1 - block).abs() < 1e-12);
}

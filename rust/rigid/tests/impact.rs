//! Impacts with closed forms.

use crate::common::*;
use percuss_rigid::*;

/// A sphere of 1 kg and radius 0.5 m released 1 m above the ground.
fn drop(dt: f64, restitution: f64) -> World {
    let mut scene = ground(Pose::identity());
    add_sphere(&mut scene, 0.5, 1.0, Vec3::new(0.0, 0.0, 1.5));
    scene.add_law(ContactLaw::new((0, 1), restitution, 0.3));
    World::new(scene, Settings::with_step(dt)).unwrap()
}

/// Times of the first impacts and heights of the peaks after them.
fn bounces(dt: f64, restitution: f64, count: usize) -> (Vec<f64>, Vec<f64>) {
    let mut world = drop(dt, restitution);
    let (mut times, mut peaks) = (Vec::new(), Vec::new());
    let mut last = 0.0;
    while times.len() < count + 1 {
        advance(&mut world, 1);
        let state = world.state(1);
        if last < 0.0 && state.velocity.z > 0.0 {
            times.push(world.time_s());
            peaks.push(0.0);
        }
        last = state.velocity.z;
        if let Some(peak) = peaks.last_mut() {
            *peak = f64::max(*peak, state.position.z - 0.5);
        }
    }
    times.pop();
    peaks.pop();
    (times, peaks)
}

#[test]
fn a_bouncing_sphere_keeps_time_and_height_to_first_order() {
    let fall = (2.0 / G).sqrt();
    let exact = |e: f64, k: usize| {
        let times = (1..=k).map(|i| 2.0 * fall * e.powi(i as i32)).sum::<f64>() + fall;
        (times, e.powi(2 * (k as i32 + 1)))
    };
    let worst = |dt: f64| {
        let (times, peaks) = bounces(dt, 0.5, 4);
        let mut worst = (0.0_f64, 0.0_f64);
        for k in 0..4 {
            let (time, peak) = exact(0.5, k);
            worst.0 = worst.0.max((times[k] - time).abs());
            worst.1 = worst.1.max((peaks[k] - peak).abs());
        }
        worst
    };
    // An impact falls within a step: each costs up to a step of time and dt times the speed of height.
    for dt in [1e-3, 1e-4, 1e-5] {
        let (time, height) = worst(dt);
        assert!(time < 4.0 * dt, "dt {dt}: times off by {time}");
        assert!(height < 10.0 * dt, "dt {dt}: heights off by {height}");
    }
}

#[test]
fn the_energy_account_of_a_bouncing_sphere_closes_to_rounding() {
    let mut world = drop(1e-3, 0.7);
    advance(&mut world, 3000);
    assert!(closing(&world) < 1e-13, "{:e}", closing(&world));
    assert_eq!(world.energy().gain_steps, 0);
    assert!(world.energy().impact_dissipation_j > 9.0);
}

/// Spheres of 1 kg and radius 0.5 m in a row without gravity, the first arriving at 1 m/s.
fn cradle(count: usize, gap: f64, restitution: f64) -> World {
    let mut scene = Scene {
        gravity_m_per_s2: Vec3::zeros(),
        ..Scene::default()
    };
    for k in 0..count {
        let lead = if k == 0 { 0.25e-3 } else { 0.0 };
        let x = k as f64 * (1.0 + gap) - lead;
        add_sphere(&mut scene, 0.5, 1.0, Vec3::new(x, 0.0, 0.0));
    }
    scene.bodies[0].velocity_m_per_s = Vec3::x();
    scene.add_law(ContactLaw::new((1, 1), restitution, 0.0));
    World::new(scene, precise(1e-3)).unwrap()
}

#[test]
fn touching_spheres_share_the_blow_as_the_impact_law_says() {
    // All contacts are struck at once: u1+ = v, the second stays closed, so P1 = 4/3, P2 = 2/3.
    let mut world = cradle(3, 0.0, 1.0);
    advance(&mut world, 5);
    for (k, exact) in [-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0].into_iter().enumerate() {
        let v = world.state(k).velocity.x;
        assert!((v - exact).abs() < 1e-9, "sphere {k}: {v} against {exact}");
    }
    assert!((world.energy().kinetic_j - 0.5).abs() < 1e-9);
}

#[test]
fn spheres_apart_pass_the_blow_on() {
    let mut world = cradle(5, 0.01, 1.0);
    advance(&mut world, 200);
    for k in 0..5 {
        let v = world.state(k).velocity.x;
        let exact = if k == 4 { 1.0 } else { 0.0 };
        assert!((v - exact).abs() < 1e-9, "sphere {k}: {v}");
    }
    // Without restitution they go on together.
    let mut world = cradle(5, 0.0, 0.0);
    advance(&mut world, 50);
    for k in 0..5 {
        assert!((world.state(k).velocity.x - 0.2).abs() < 1e-9);
    }
}

#[test]
fn a_sphere_in_a_corner_comes_back_along_its_way() {
    let mut scene = Scene {
        gravity_m_per_s2: Vec3::zeros(),
        ..Scene::default()
    };
    for (k, turn) in [
        Vec3::zeros(),
        Vec3::new(0.0, std::f64::consts::FRAC_PI_2, 0.0),
        Vec3::new(-std::f64::consts::FRAC_PI_2, 0.0, 0.0),
    ]
    .into_iter()
    .enumerate()
    {
        let wall =
            scene.add_body(Body::fixed(&format!("wall {k}")).at(Pose::new(Vec3::zeros(), turn)));
        scene.add_contactor(wall, Shape::half_space(), Pose::identity(), 0);
    }
    let sphere = add_sphere(&mut scene, 0.5, 2.0, Vec3::repeat(0.6));
    let speed = Vec3::new(-1.0, -1.0, -1.0);
    scene.bodies[sphere].velocity_m_per_s = speed;
    scene.add_law(ContactLaw::new((0, 1), 0.5, 0.0));
    let mut world = World::new(scene, precise(1e-3)).unwrap();
    advance(&mut world, 150);
    let v = world.state(sphere).velocity;
    assert!((v + speed * 0.5).norm() < 1e-9, "{v}");
    assert!((world.energy().impact_dissipation_j - 0.75 * 3.0).abs() < 1e-9);
}

/// A rod at 45 degrees that meets the ground with its lower end: pressing it shut turns its sliding round.
fn leaning_rod(law: ContactLaw) -> Scene {
    let mut scene = ground(Pose::identity());
    scene.gravity_m_per_s2 = Vec3::zeros();
    let (length, radius) = (1.0, 0.01);
    let reach = 0.5 * length * std::f64::consts::FRAC_1_SQRT_2;
    // The axis from (-, -, below) to (+, +, above): lower end towards -x.
    let turn = Vec3::new(0.0, std::f64::consts::FRAC_PI_4, 0.0);
    let pose = Pose::new(Vec3::new(0.0, 0.0, reach + radius + 1e-3), turn);
    let rod = scene.add_body(Body::dynamic("rod", Mass::Total(1.0)).at(pose));
    scene.add_contactor(
        rod,
        Shape::capsule(radius, length).unwrap(),
        Pose::identity(),
        1,
    );
    // Sliding towards +x, which the impulse on the end at -x turns round.
    scene.bodies[rod].velocity_m_per_s = Vec3::new(0.55, 0.0, -1.0);
    scene.add_law(law);
    scene
}

#[test]
fn newtons_law_with_friction_can_gain_energy_and_says_so_while_fremonds_cannot() {
    let rod = leaning_rod(ContactLaw::new((0, 1), 0.9, 1.0));
    let mut newton = World::new(rod, precise(1e-3)).unwrap();
    let start = newton.energy().kinetic_j;
    advance(&mut newton, 10);
    let e = newton.energy();
    assert!(
        e.kinetic_j > 1.01 * start,
        "{} against {start}",
        e.kinetic_j
    );
    assert_eq!(e.gain_steps, 1);
    assert!((e.contact_gain_j - (e.kinetic_j - start)).abs() < 1e-12);
    assert!(closing(&newton) < 1e-13);

    let rod = leaning_rod(ContactLaw::fremond((0, 1), 0.9, 1.0));
    let mut fremond = World::new(rod, precise(1e-3)).unwrap();
    advance(&mut fremond, 10);
    let e = fremond.energy();
    assert!(e.kinetic_j < start && e.gain_steps == 0);
    assert!(closing(&fremond) < 1e-13);
}

/// What one island gains is not set off against what another loses in the same step.
#[test]
fn a_gain_shows_whatever_else_is_lost_in_its_step() {
    let gain = |beside: bool| {
        let mut scene = leaning_rod(ContactLaw::new((0, 1), 0.9, 1.0));
        if beside {
            let block = Pose::translation(5.0, 0.0, 0.101);
            let block = add_box(&mut scene, [0.5, 0.5, 0.2], 1000.0, block);
            scene.contactors[block].group = 2;
            scene.bodies[block].velocity_m_per_s.z = -1.0;
            scene.add_law(ContactLaw::new((0, 2), 0.0, 0.3));
        }
        let mut world = World::new(scene, precise(1e-3)).unwrap();
        advance(&mut world, 10);
        let e = world.energy();
        assert!(!beside || e.kinetic_j < 5.0, "the block has stopped");
        (e.gain_steps, e.contact_gain_j.to_bits())
    };
    let alone = gain(false);
    assert_eq!(alone.0, 1);
    assert_eq!(gain(true), alone);
}

#[test]
fn stabilisation_clears_overlap_without_raising_the_energy() {
    let depth = |stabilise: bool| {
        let mut scene = ground(Pose::identity());
        let block = add_box(
            &mut scene,
            [1.0, 1.0, 0.4],
            1000.0,
            Pose::new(Vec3::new(0.0, 0.0, 1.0), Vec3::new(0.1, 0.05, 0.0)),
        );
        scene.bodies[block].velocity_m_per_s = Vec3::new(0.3, 0.0, -10.0);
        scene.add_law(ContactLaw::new((0, 1), 0.0, 0.3));
        let settings = Settings {
            stabilise,
            ..Settings::with_step(1e-3)
        };
        let mut world = World::new(scene, settings).unwrap();
        let mut energy = world.energy().mechanical_j();
        for _ in 0..2000 {
            world.step().unwrap();
            let now = world.energy().mechanical_j();
            assert!(now <= energy + 1e-6, "gained {}", now - energy);
            energy = now;
        }
        assert!(closing(&world) < 1e-12, "{:e}", closing(&world));
        world.state(block).position.z - 0.2
    };
    let (without, with) = (depth(false), depth(true));
    assert!(without < -1e-4, "nothing to clear: {without:e}");
    assert!(with > 0.02 * without, "left {with:e} of {without:e}");
}

#[test]
fn other_theta_close_their_account_with_the_term_of_the_scheme() {
    for theta in [0.6, 1.0] {
        let mut scene = ground(Pose::identity());
        add_sphere(&mut scene, 0.5, 1.0, Vec3::new(0.0, 0.0, 1.5));
        scene.add_law(ContactLaw::new((0, 1), 0.5, 0.3));
        let settings = Settings {
            theta,
            ..Settings::with_step(1e-3)
        };
        let mut world = World::new(scene, settings).unwrap();
        advance(&mut world, 400);
        // In free fall the scheme takes (theta - 1/2) m g^2 h^2 a step.
        let fall = -(theta - 0.5) * (G * 1e-3).powi(2) * 400.0;
        assert!((world.energy().scheme_j - fall).abs() < 1e-12);
        advance(&mut world, 1600);
        assert!(closing(&world) < 1e-13, "{:e}", closing(&world));
        assert!((world.state(1).position.z - 0.5).abs() < 0.02);
    }
}

/// At 100 m/s a ball of 10 cm moves by its diameter in a step of 1 ms, and no contact sees the ground that it leaps through.
#[test]
fn a_leap_through_a_mesh_is_an_overlap() {
    let deepest = |height: f64, speed: f64, x: f64, dt_s: f64| {
        let mut scene = Scene::default();
        let ground = scene.add_body(Body::fixed("ground"));
        let sheet = Shape::height_field(5, 5, [1.0, 1.0], &[0.0; 25]).unwrap();
        scene.add_contactor(ground, sheet, Pose::translation(-2.0, -2.0, 0.0), 0);
        let ball = add_sphere(&mut scene, 0.05, 1.0, Vec3::new(x, 0.1, height));
        // in front, so that the sheet is not taken for one that faces the wrong way
        add_sphere(&mut scene, 0.05, 1.0, Vec3::new(-1.0, -1.0, 1.0));
        scene.bodies[ball].velocity_m_per_s.z = speed;
        scene.add_law(ContactLaw::new((0, 1), 0.0, 0.3));
        let mut world = World::new(scene, Settings::with_step(dt_s)).unwrap();
        let recording = world.run(0.03, &Record::default()).unwrap();
        assert_eq!(
            world.pose(ball).position.z < 0.0,
            speed < 0.0 && dt_s > 1e-4
        );
        recording.deepest_overlap_share
    };
    assert!(deepest(1.003, -100.0, 0.0, 1e-3) > 1.0);
    assert!(deepest(1.003, -100.0, 0.0, 1e-4) < 0.5, "shorter steps");
    assert!(deepest(-1.003, 100.0, 0.0, 1e-3) < 0.5, "from below");
    assert_eq!(deepest(1.003, -100.0, 3.0, 1e-3), 0.0, "beside");
}

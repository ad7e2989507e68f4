//! Islands: what lies elsewhere changes nothing, nor does the number of threads.

use percuss_rigid::*;

/// A tower of `blocks` boxes at x, each a little off the one below, from which it gets its name.
fn tower(scene: &mut Scene, x: f64, blocks: usize, group: u16) -> Vec<usize> {
    (0..blocks)
        .map(|k| {
            let at = Pose::translation(x + 0.02 * (k % 3) as f64, 0.0, 0.5 + k as f64);
            let name = format!("tower {x} {k}");
            let body = scene.add_body(Body::dynamic(&name, Mass::Total(100.0)).at(at));
            let shape = Shape::cuboid(1.0, 1.0, 1.0).unwrap();
            scene.add_contactor(body, shape, Pose::identity(), group);
            body
        })
        .collect()
}

fn ground() -> Scene {
    let mut scene = Scene::default();
    let ground = scene.add_body(Body::fixed("ground"));
    scene.add_contactor(ground, Shape::half_space(), Pose::identity(), 0);
    scene.add_law(ContactLaw::new((0, 1), 0.0, 0.5));
    scene.add_law(ContactLaw::new((1, 1), 0.0, 0.5));
    scene
}

/// A ball that falls on a tower, and a pendulum that swings into it.
fn busy(scene: &mut Scene, x: f64) -> Vec<usize> {
    let mut bodies = tower(scene, x, 4, 1);
    let ball = Body::dynamic("ball", Mass::Total(30.0)).at(Pose::translation(x + 0.3, 0.1, 5.0));
    let ball = scene.add_body(ball.moving(Vec3::new(0.0, 0.0, -3.0)));
    scene.add_contactor(ball, Shape::sphere(0.4).unwrap(), Pose::identity(), 1);
    let bob = Body::dynamic("bob", Mass::Total(50.0)).at(Pose::translation(x - 2.5, 0.0, 3.4));
    let bob = scene.add_body(bob.moving(Vec3::new(4.0, 0.0, 0.0)));
    scene.add_contactor(bob, Shape::sphere(0.5).unwrap(), Pose::identity(), 1);
    scene.joints.push(Joint::new(
        &format!("hinge {x}"),
        JointKind::Revolute,
        [None, Some(bob)],
        [Vec3::new(x - 2.5, 0.0, 7.0), Vec3::new(0.0, 0.0, 3.6)]
            .map(|p| Pose::new(p, Vec3::new(std::f64::consts::FRAC_PI_2, 0.0, 0.0))),
    ));
    bodies.extend([ball, bob]);
    bodies
}

fn same_bits(a: &World, of: &[usize], b: &World, there: &[usize]) {
    for (&body, &other) in of.iter().zip(there) {
        assert_eq!(a.state(body), b.state(other), "body {body}");
    }
}

#[test]
fn a_tower_stands_as_well_beside_heavy_blocks_as_alone() {
    for heavy in [None, Some(1.0), Some(1e3), Some(1e6)] {
        let mut scene = ground();
        let bodies = tower(&mut scene, 0.0, 6, 1);
        for k in 0..if heavy.is_some() { 50 } else { 0 } {
            let mass = Mass::Total(heavy.unwrap());
            let at = Pose::translation(110.0 + 2.0 * f64::from(k), 0.0, 0.5);
            let body = scene.add_body(Body::dynamic(&format!("far {k}"), mass).at(at));
            let shape = Shape::cuboid(1.0, 1.0, 1.0).unwrap();
            scene.add_contactor(body, shape, Pose::identity(), 1);
        }
        let mut world = World::new(scene, Settings::with_step(2e-3)).unwrap();
        let recording = world.run(1.0, &Record::default()).unwrap();
        let sunk = bodies.iter().zip(0..);
        let sunk = sunk.map(|(&b, k)| (world.pose(b).position.z - 0.5 - f64::from(k)).abs());
        let sunk = sunk.fold(0.0, f64::max);
        assert!(sunk < 1e-7, "{heavy:?}: off by {sunk:e} m");
        assert_eq!(recording.unmet_steps, 0);
    }
}

#[test]
fn a_scene_alone_and_beside_another_has_the_same_bits() {
    let settings = Settings {
        look_ahead_m: 0.01,
        ..Settings::with_step(2e-3)
    };
    for settings in [Settings::with_step(2e-3), settings] {
        let mut scene = ground();
        let alone = busy(&mut scene, 0.0);
        let mut one = World::new(scene, settings).unwrap();
        let mut scene = ground();
        tower(&mut scene, 40.0, 3, 1);
        busy(&mut scene, -30.0);
        let beside = busy(&mut scene, 0.0);
        busy(&mut scene, 90.0);
        let mut two = World::new(scene, settings).unwrap();
        for _ in 0..600 {
            one.step().unwrap();
            two.step().unwrap();
        }
        same_bits(&one, &alone, &two, &beside);
        assert_eq!(one.reaction(0), two.reaction(1));
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let run = |threads: usize, look_ahead_m: f64| {
        let mut scene = ground();
        for k in 0..12 {
            busy(&mut scene, 12.0 * f64::from(k));
        }
        // Points that are no contacts yet, and contacts with couples.
        scene.laws[1] = scene.laws[1].with_couple(look_ahead_m, 0.5 * look_ahead_m);
        let settings = Settings {
            threads,
            stabilise: look_ahead_m == 0.0,
            look_ahead_m,
            ..Settings::with_step(2e-3)
        };
        let mut world = World::new(scene, settings).unwrap();
        for _ in 0..300 {
            world.step().unwrap();
        }
        world.snapshot().to_bytes()
    };
    for look_ahead_m in [0.0, 0.01] {
        let one = run(1, look_ahead_m);
        for threads in [2, 3, 0] {
            assert!(run(threads, look_ahead_m) == one, "{threads} threads");
        }
    }
}

#[test]
fn loose_blocks_are_islands() {
    let mut scene = ground();
    for k in 0..5 {
        tower(&mut scene, 3.0 * f64::from(k), 1 + k as usize, 1);
    }
    let mut world = World::new(scene, Settings::with_step(2e-3)).unwrap();
    let report = world.step().unwrap();
    assert_eq!(report.islands, 5);
    assert!(report.met);
}

fn asleep(speed: f64) -> Settings {
    Settings {
        sleep_speed_m_per_s: speed,
        sleep_steps: 20,
        ..Settings::with_step(2e-3)
    }
}

#[test]
fn a_tower_at_rest_sleeps_and_its_account_goes_on() {
    let mut scene = ground();
    let bodies = tower(&mut scene, 0.0, 5, 1);
    let mut world = World::new(scene, asleep(1e-4)).unwrap();
    for _ in 0..200 {
        world.step().unwrap();
    }
    assert!(bodies.iter().all(|&body| world.is_asleep(body)));
    let places: Vec<Vec3> = bodies.iter().map(|&b| world.state(b).position).collect();
    let recording = world.run(1.0, &Record::default()).unwrap();
    for (&body, place) in bodies.iter().zip(&places) {
        assert_eq!(world.state(body).position, *place);
        assert_eq!(world.state(body).velocity, Vec3::zeros());
    }
    assert_eq!(recording.unmet_steps, 0);
    let held: f64 = world
        .contacts()
        .iter()
        .filter(|c| c.bodies[0] == 0)
        .map(|c| c.impulse_n_s.z)
        .sum();
    let weight = 5.0 * 100.0 * 9.80665 * 2e-3;
    assert!(
        (held / weight - 1.0).abs() < 1e-5,
        "the ground bears {held} of {weight} N s"
    );
    assert!(world.energy().closing_error_j().abs() < 1e-9);
}

#[test]
fn what_touches_loads_or_leaves_a_sleeping_island_wakes_it() {
    let shape = || Shape::sphere(0.3).unwrap();
    // a ball that falls on it
    let mut scene = ground();
    let bodies = tower(&mut scene, 0.0, 3, 1);
    let far = tower(&mut scene, 50.0, 3, 1);
    let ball = Body::dynamic("ball", Mass::Total(50.0)).at(Pose::translation(0.2, 0.0, 9.0));
    let ball = scene.add_body(ball);
    scene.add_contactor(ball, shape(), Pose::identity(), 1);
    let mut world = World::new(scene, asleep(1e-4)).unwrap();
    let mut woken = None;
    for step in 0..700 {
        let slept = world.is_asleep(bodies[0]);
        world.step().unwrap();
        let touched = world
            .contacts()
            .iter()
            .any(|c| c.bodies.contains(&(ball as u32)));
        if touched && woken.is_none() {
            assert!(slept, "it slept before");
            assert!(
                bodies.iter().all(|&b| !world.is_asleep(b)),
                "awake in the step of the touch"
            );
            woken = Some(step);
        }
    }
    assert!(woken.is_some());
    assert!(
        far.iter().all(|&b| world.is_asleep(b)),
        "what is far sleeps on"
    );

    // a load that sets in, and a support that goes away
    for removed in [false, true] {
        let mut scene = ground();
        let bodies = tower(&mut scene, 0.0, 3, 1);
        if removed {
            scene.bodies[bodies[0]].removal_s = 1.0;
        } else {
            let mut load = Load::force(bodies[2], Vec3::zeros(), Vec3::new(900.0, 0.0, 0.0));
            (load.times_s, load.factors) = (vec![1.0, 1.001], vec![0.0, 1.0]);
            scene.loads.push(load);
        }
        let mut world = World::new(scene, asleep(1e-4)).unwrap();
        world.run(0.999, &Record::default()).unwrap();
        assert!(world.is_asleep(bodies[2]));
        let before = world.pose(bodies[2]).position;
        world.run(0.5, &Record::default()).unwrap();
        assert!((world.pose(bodies[2]).position - before).norm() > 0.05);
    }
}

#[test]
fn sleep_is_kept_by_snapshots() {
    let mut scene = ground();
    let bodies = tower(&mut scene, 0.0, 3, 1);
    let mut world = World::new(scene.clone(), asleep(1e-4)).unwrap();
    world.run(0.5, &Record::default()).unwrap();
    assert!(world.is_asleep(bodies[1]));
    let kept = Snapshot::from_bytes(&world.snapshot().to_bytes()).unwrap();
    let mut other = World::new(scene, asleep(1e-4)).unwrap();
    other.restore(&kept).unwrap();
    assert!(other.is_asleep(bodies[1]));
    world.set_velocity(bodies[2], Vec3::new(0.5, 0.0, 0.0), Vec3::zeros());
    other.set_velocity(bodies[2], Vec3::new(0.5, 0.0, 0.0), Vec3::zeros());
    for _ in 0..100 {
        world.step().unwrap();
        other.step().unwrap();
    }
    assert!(!world.is_asleep(bodies[2]) || world.pose(bodies[2]).position.x > 0.05);
    assert_eq!(world.snapshot(), other.snapshot());
}

/// What a step leaves adds up from step to step; large walls that sweeps do not bring to rest, long ones and tall ones, are brought so
/// far below the tolerance by Newton that the steps after cost nothing.
#[test]
fn walls_at_rest_cost_no_sweeps() {
    for (columns, rows) in [(50, 20), (100, 20), (30, 60)] {
        let mut scene = ground();
        let shape = Shape::cuboid(2.0, 1.0, 1.0).unwrap();
        for k in 0..columns * rows {
            let (row, column) = (f64::from(k / columns), f64::from(k % columns));
            let place = Pose::translation(2.0 * column + row % 2.0, 0.0, row + 0.5);
            let body = scene.add_body(Body::dynamic("brick", Mass::Total(2000.0)).at(place));
            scene.add_contactor(body, shape.clone(), Pose::identity(), 1);
        }
        let mut world = World::new(scene, Settings::with_step(2e-3)).unwrap();
        assert!(world.step().unwrap().met, "{columns} x {rows}");
        for _ in 0..10 {
            let report = world.step().unwrap();
            assert!(report.met && report.overlap_m < 1e-9, "{report:?}");
            assert_eq!((report.iterations, report.factorisations), (0, 0));
        }
    }
}

/// Slow is not at rest: what has begun to slide, and a pendulum at the end of its swing, sleep at no step size.
#[test]
fn what_forces_accelerate_does_not_sleep() {
    let settings = |dt_s: f64| Settings {
        sleep_speed_m_per_s: 0.01,
        sleep_steps: 20,
        ..Settings::with_step(dt_s)
    };
    let angle = 10_f64.to_radians();
    for dt_s in [1e-3, 1e-4, 1e-5] {
        let mut scene = ground();
        scene.gravity_m_per_s2 = Vec3::new(angle.sin(), 0.0, -angle.cos()) * 9.81;
        let bodies = tower(&mut scene, 0.0, 1, 1);
        for law in &mut scene.laws {
            law.friction = 0.17;
        }
        let start = scene.bodies[bodies[0]].pose.position;
        let mut world = World::new(scene, settings(dt_s)).unwrap();
        world.run(0.1, &Record::default()).unwrap();
        let path = world.pose(bodies[0]).position - start;
        let exact = 0.5 * 9.81 * (angle.sin() - 0.17 * angle.cos()) * 0.1 * 0.1;
        assert!(
            (path.x / exact - 1.0).abs() < 0.02,
            "{dt_s} {path:?} {exact}"
        );
    }
    let mut scene = Scene::default();
    let bob = Body::dynamic("bob", Mass::Total(1.0)).at(Pose::translation(1.0, 0.0, 0.0));
    let bob = scene.add_body(bob);
    scene.add_contactor(bob, Shape::sphere(0.1).unwrap(), Pose::identity(), 0);
    scene.add_law(ContactLaw::new((0, 0), 0.0, 0.5));
    let frames = [Vec3::zeros(), Vec3::new(-1.0, 0.0, 0.0)].map(|p| Pose::new(p, Vec3::zeros()));
    let ends = [None, Some(bob)];
    scene
        .joints
        .push(Joint::new("pin", JointKind::Spherical, ends, frames));
    let mut world = World::new(scene, settings(1e-5)).unwrap();
    world.run(0.1, &Record::default()).unwrap();
    assert!(world.pose(bob).position.z < -0.04, "{:?}", world.pose(bob));
}

//! Bonds against closed forms: strength, energy, peel, envelope; irreversible, and never giving energy.

use percuss_rigid::*;

const SIGMA: f64 = 2e4;
const TAU: f64 = 3e4;
const MASS: f64 = 50.0;
const AREA: f64 = 0.4 * 0.5;

/// A box of 0.4 x 0.5 x 0.2 m bonded onto a fixed one, no gravity.
fn glued(law: BondLaw) -> (Scene, usize) {
    let mut scene = Scene {
        gravity_m_per_s2: Vec3::zeros(),
        ..Scene::default()
    };
    let below = scene.add_body(Body::fixed("below"));
    let shape = || Shape::cuboid(0.4, 0.5, 0.2).unwrap();
    scene.add_contactor(below, shape(), Pose::translation(0.0, 0.0, -0.1), 0);
    let above = Body::dynamic("above", Mass::Total(MASS)).at(Pose::translation(0.0, 0.0, 0.1));
    let above = scene.add_body(above);
    scene.add_contactor(above, shape(), Pose::identity(), 1);
    scene.add_law(ContactLaw::new((0, 1), 0.0, 0.4));
    scene.add_law(ContactLaw::new((1, 1), 0.0, 0.4));
    scene.bonds.push(Bond {
        name: "glue".into(),
        between: Between::Bodies([below, above]),
        law,
        refinement: 1,
    });
    (scene, above)
}

fn broken(world: &World) -> usize {
    world
        .bond_points()
        .filter(|(_, _, memory)| memory.is_broken())
        .count()
}

/// Whether the glue breaks under a force at its own plane.
fn breaks(law: BondLaw, force: Vec3) -> bool {
    let (scene, above) = glued(law);
    breaks_in(scene, above, force)
}

fn breaks_in(mut scene: Scene, above: usize, force: Vec3) -> bool {
    let start = scene.bodies[above].pose.position;
    let point = Vec3::new(0.0, 0.0, -0.1);
    scene.loads.push(Load::force(above, point, force));
    let mut world = World::new(scene, Settings::with_step(1e-3)).unwrap();
    let recording = world.run(0.1, &Record::default()).unwrap();
    assert_eq!(recording.unmet_steps, 0);
    let moved = world.pose(above).position - start;
    let broken = broken(&world);
    assert!(
        broken == 0 || broken == world.bond_points().count(),
        "all or none: {broken}"
    );
    assert_eq!(
        moved.norm() > 1e-6,
        broken > 0,
        "it moves where it is broken: {moved:?}"
    );
    broken > 0
}

#[test]
fn strength_in_tension_and_shear() {
    let law = BondLaw::brittle(SIGMA, TAU);
    for (direction, strength) in [(Vec3::z(), SIGMA), (Vec3::x(), TAU), (-Vec3::y(), TAU)] {
        assert!(!breaks(law, direction * (0.99 * strength * AREA)));
        assert!(breaks(law, direction * (1.01 * strength * AREA)));
    }
    assert!(
        !breaks(law, Vec3::z() * (-100.0 * SIGMA * AREA)),
        "pressing never breaks it"
    );
}

/// Nothing depends on how the whole scene is turned, the fixed body included.
#[test]
fn strength_does_not_depend_on_the_axes() {
    let law = BondLaw::brittle(SIGMA, TAU);
    for turn in [
        Vec3::new(0.35, 0.0, 0.0),
        Vec3::new(0.0, -1.6, 0.0),
        Vec3::new(1.3, -0.4, 2.1),
    ] {
        let turn = Quat::from_scaled_axis(turn);
        for (direction, strength) in [(Vec3::z(), SIGMA), (Vec3::x(), TAU), (-Vec3::y(), TAU)] {
            for (share, expected) in [(0.99, false), (1.01, true)] {
                let (mut scene, above) = glued(law);
                for body in &mut scene.bodies {
                    let position = turn * body.pose.position + Vec3::new(3.0, -2.0, 1.0);
                    body.pose = Pose {
                        position,
                        rotation: turn,
                    };
                }
                let force = turn * direction * (share * strength * AREA);
                assert_eq!(breaks_in(scene, above, force), expected, "{turn:?} {share}");
            }
        }
    }
}

/// t / tau = 1 - n / sigma, n the tension; pressure adds to the shear it bears.
#[test]
fn the_envelope_is_straight() {
    let law = BondLaw::brittle(SIGMA, TAU);
    for share in [-1.5, -0.5, 0.25, 0.5, 0.75] {
        let force = |scale: f64| {
            let shear = scale * (1.0 - share) * TAU * AREA;
            Vec3::new(0.6 * shear, 0.8 * shear, share * SIGMA * AREA)
        };
        assert!(!breaks(law, force(0.98)), "{share}");
        assert!(breaks(law, force(1.02)), "{share}");
    }
}

const G_I: f64 = 8.0;
const G_II: f64 = 12.0;

fn tough() -> BondLaw {
    BondLaw::tough(SIGMA, TAU, G_I, G_II)
}

/// Throws the upper box along a direction, and lets it go until all is decided.
fn thrown(direction: Vec3, speed: f64, dt_s: f64) -> World {
    let (mut scene, above) = glued(tough());
    scene.laws[0].friction = 0.0;
    scene.bodies[above].velocity_m_per_s = direction * speed;
    let mut world = World::new(scene, Settings::with_step(dt_s)).unwrap();
    let record = Record {
        contacts_every: 100,
        ..Record::default()
    };
    let recording = world.run(0.02, &record).unwrap();
    let damage = recording.bonds.column("damage").unwrap();
    let points = world.bond_points().count();
    assert_eq!(recording.bonds.rows() % points, 0);
    let last = &damage[damage.len() - points..];
    assert!(
        world
            .bond_points()
            .zip(last)
            .all(|((_, _, m), d)| m.damage == *d)
    );
    world
}

#[test]
fn fracture_takes_its_energy_and_no_more() {
    for (direction, energy) in [(Vec3::z(), G_I), (Vec3::x(), G_II), (Vec3::y(), G_II)] {
        let limit = (2.0 * energy * AREA / MASS).sqrt();
        for share in [0.9, 1.1, 2.0] {
            let speed = share * limit;
            // The shear force acts below the centre of mass: what turns the box is not what is asked here.
            let world = if direction == Vec3::z() {
                thrown(direction, speed, 1e-5)
            } else {
                sheared(direction, speed, 1e-5)
            };
            let e = world.energy();
            let brought = 0.5 * MASS * speed * speed;
            let taken = if share < 1.0 { brought } else { energy * AREA };
            let off = e.fracture_dissipation_j / taken - 1.0;
            assert!(off.abs() < 0.01, "{direction:?} {share}: off by {off:e}");
            assert_eq!(broken(&world) > 0, share > 1.0);
            assert!(e.closing_error_j().abs() < 1e-9 * brought);
            assert_eq!(e.gain_steps, 0);
        }
    }
}

/// The same in pure shear: the mass centre lies in the plane of the glue, so that nothing turns the box.
fn sheared(direction: Vec3, speed: f64, dt_s: f64) -> World {
    sheared_under(0.0, direction, speed, dt_s)
}

/// The same under a pressing force [N].
fn sheared_under(pressing: f64, direction: Vec3, speed: f64, dt_s: f64) -> World {
    let (mut scene, above) = glued(tough());
    scene.laws[0].friction = 0.0;
    scene.bodies[above].velocity_m_per_s = direction * speed;
    scene.bodies[above].role = Role::Dynamic(Mass::Given(MassProperties {
        mass_kg: MASS,
        centre_m: Vec3::new(0.0, 0.0, -0.1),
        inertia_kg_m2: Mat3::identity(),
    }));
    let load = Load::force(above, Vec3::new(0.0, 0.0, -0.1), Vec3::z() * -pressing);
    scene.loads.push(load);
    let mut world = World::new(scene, Settings::with_step(dt_s)).unwrap();
    world.run(0.02, &Record::default()).unwrap();
    world
}

/// What presses rubs by tau / sigma until the bond is broken, beside the fracture energy.
#[test]
fn sheared_under_pressure_it_takes_its_energy_and_rubs_besides() {
    for pressing in [500.0, 2e4] {
        let rubbed = TAU / SIGMA * pressing * 2.0 * G_II / TAU;
        let speed = (3.0 * (G_II * AREA + rubbed) / MASS).sqrt();
        let world = sheared_under(pressing, Vec3::y(), speed, 5e-6);
        let e = world.energy();
        let [fracture, friction] = [
            e.fracture_dissipation_j / (G_II * AREA),
            e.friction_dissipation_j / rubbed,
        ];
        assert!((fracture - 1.0).abs() < 0.01, "{pressing}: {fracture}");
        assert!((friction - 1.0).abs() < 0.01, "{pressing}: {friction}");
        assert_eq!(broken(&world), world.bond_points().count());
    }
}

/// Torn off a body so heavy that the strength is nothing beside what the solver's tolerance is relative to. At an angle to the
/// face a bond takes G_I times the share of opening in the growth of damage: what opens passes no shear.
#[test]
fn what_is_torn_off_breaks_at_any_mass_and_angle() {
    let (speed, time_s) = (0.05, 0.03);
    for mass in [1e7, 1e9] {
        for degrees in [90.0_f64, 60.0, 20.0, 2.0, 0.0] {
            let (mut scene, above) = glued(tough());
            scene.laws[0].friction = 0.0;
            // In the plane of the glue, so that nothing turns it.
            scene.bodies[0].role = Role::Dynamic(Mass::Given(MassProperties {
                mass_kg: mass,
                centre_m: Vec3::zeros(),
                inertia_kg_m2: Mat3::identity() * mass,
            }));
            let (z, x) = degrees.to_radians().sin_cos();
            scene.bodies[above].role = Role::Kinematic(Motion::Constant {
                velocity_m_per_s: Vec3::new(x, 0.0, z) * speed,
                angular_velocity_rad_per_s: Vec3::zeros(),
            });
            let mut world = World::new(scene, Settings::with_step(1e-5)).unwrap();
            let recording = world.run(time_s, &Record::default()).unwrap();
            assert_eq!(recording.unmet_steps, 0);
            let (open, slid) = (z * SIGMA / (2.0 * G_I), x * TAU / (2.0 * G_II));
            let exact = if degrees == 0.0 {
                G_II
            } else {
                G_I * open / open.hypot(slid)
            };
            let spent = world.energy().fracture_dissipation_j / AREA;
            let case = format!("{mass} kg, {degrees} degrees: {spent} {exact}");
            assert!((spent / exact - 1.0).abs() < 0.01, "{case}");
            assert_eq!(broken(&world), world.bond_points().count(), "{case}");
        }
    }
}

/// The speed that is left, sqrt(v^2 - 2 G A / m), to at least first order in the step.
#[test]
fn the_speed_left_converges() {
    let speed = 0.4;
    let exact = (speed * speed - 2.0 * G_I * AREA / MASS).sqrt();
    let error = |dt_s: f64| {
        let world = thrown(Vec3::z(), speed, dt_s);
        (world.state(1).velocity.z - exact).abs()
    };
    let errors = [4e-5, 2e-5, 1e-5, 5e-6].map(error);
    assert!(errors[3] < 1e-3 * exact, "{errors:?}");
    assert!(errors[3] < errors[0] / 6.0, "three halvings: {errors:?}");
}

/// A plate falls until it is stopped at its rim; what is bonded below it comes off beyond a height.
#[test]
fn a_falling_pair_breaks_beyond_the_computed_height() {
    let g = 9.80665;
    let (critical, weight) = (2.0 * G_I / SIGMA, MASS * g);
    let strength = SIGMA * AREA;
    let work = (strength - weight).powi(2) * critical / (2.0 * strength);
    let height = work / weight;
    for (share, comes_off) in [(0.95, false), (1.05, true)] {
        let drop = share * height;
        let mut scene = Scene::default();
        let ledges = scene.add_body(Body::fixed("ledges"));
        for side in [-1.0, 1.0] {
            let ledge = Shape::cuboid(0.2, 1.0, 0.2).unwrap();
            scene.add_contactor(ledges, ledge, Pose::translation(0.6 * side, 0.0, -0.1), 0);
        }
        let plate = Body::dynamic("plate", Mass::Total(300.0));
        let plate = scene.add_body(plate.at(Pose::translation(0.0, 0.0, 0.1 + drop)));
        let shape = Shape::cuboid(1.4, 1.0, 0.2).unwrap();
        scene.add_contactor(plate, shape, Pose::identity(), 1);
        let hung = Body::dynamic("hung", Mass::Total(MASS));
        let hung = scene.add_body(hung.at(Pose::translation(0.0, 0.0, -0.1 + drop)));
        let shape = Shape::cuboid(0.4, 0.5, 0.2).unwrap();
        scene.add_contactor(hung, shape, Pose::identity(), 2);
        scene.add_law(ContactLaw::new((0, 1), 0.0, 0.3));
        scene.add_law(ContactLaw::new((1, 2), 0.0, 0.3));
        scene.bonds.push(Bond {
            name: "glue".into(),
            between: Between::Groups((1, 2)),
            law: tough(),
            refinement: 1,
        });
        let mut world = World::new(scene, Settings::with_step(2e-5)).unwrap();
        world
            .run(
                0.1,
                &Record {
                    energy_every: 100,
                    ..Record::default()
                },
            )
            .unwrap();
        assert_eq!(
            world.pose(hung).position.z < -0.11,
            comes_off,
            "{share} of {height} m"
        );
        assert!(world.energy().closing_error_j().abs() < 1e-9 * 300.0);
    }
}

/// A plate hinged at one edge is turned off its bed: the moment at each angle, and the work of all, are known.
#[test]
fn peeling_a_plate_takes_the_known_moment_and_energy() {
    let (length, width) = (0.4, 0.5);
    let critical = 2.0 * G_I / SIGMA;
    let (mut scene, above) = glued(tough());
    scene.bonds[0].refinement = 3;
    let turn = Vec3::new(std::f64::consts::FRAC_PI_2, 0.0, 0.0);
    let frames =
        [Vec3::new(-0.2, 0.0, 0.0), Vec3::new(-0.2, 0.0, -0.1)].map(|p| Pose::new(p, turn));
    let rate = 1.0;
    let hinge = Joint::new("hinge", JointKind::Revolute, [None, Some(above)], frames);
    scene
        .joints
        .push(hinge.imposing("angle", Target::Velocity(Signal::Constant(rate))));
    scene.bodies[above].angular_velocity_rad_per_s = Vec3::new(0.0, -rate, 0.0);
    scene.bodies[above].velocity_m_per_s = Vec3::new(-0.1, 0.0, 0.2) * rate;
    let dt_s = 1e-5;
    let mut world = World::new(scene, Settings::with_step(dt_s)).unwrap();
    let mut work = 0.0;
    // whole plate in the softening zone up to an angle of critical / length
    while world.time_s() < 3.0 * critical / length / rate {
        world.step().unwrap();
        let angle = rate * (world.time_s() - 0.5 * dt_s);
        let reach = length.min(critical / angle);
        let exact =
            width * SIGMA * (reach * reach / 2.0 - angle * reach.powi(3) / (3.0 * critical));
        let moment = world.reaction(0)[4].abs();
        work += moment * rate * dt_s;
        if angle < 0.8 * critical / length {
            assert!(
                (moment / exact - 1.0).abs() < 0.01,
                "{angle}: {moment} {exact}"
            );
        }
    }
    while world.time_s() < 0.06 {
        world.step().unwrap();
        work += world.reaction(0)[4].abs() * rate * dt_s;
    }
    // The points on the hinge itself stay.
    let gone = world
        .bond_points()
        .filter(|(_, _, memory)| memory.is_broken());
    let area: f64 = gone.map(|(_, area, _)| area).sum();
    assert!(area > 0.95 * length * width, "{area}");
    let energy = G_I * area;
    let spent = world.energy().fracture_dissipation_j;
    assert!((spent / energy - 1.0).abs() < 0.01, "{spent} {energy}");
    assert!((work / energy - 1.0).abs() < 0.01, "{work} {energy}");
}

/// A wall of bonded bricks that falls: damage only grows, nothing is gained, a state goes on to the same bits.
fn falling() -> Scene {
    let mut scene = Scene::default();
    let ground = scene.add_body(Body::fixed("ground"));
    scene.add_contactor(ground, Shape::half_space(), Pose::identity(), 0);
    let tilt = Vec3::new(0.15, 0.1, 0.0);
    let frame = Pose::new(Vec3::new(0.0, 0.0, 0.6), tilt);
    for row in 0..3 {
        for k in 0..3 {
            let local = Pose::translation(0.4 * f64::from(k), 0.0, 0.2 * f64::from(row));
            let name = format!("brick {row} {k}");
            let body =
                scene.add_body(Body::dynamic(&name, Mass::Total(20.0)).at(frame.compose(&local)));
            let shape = Shape::cuboid(0.4, 0.2, 0.2).unwrap();
            scene.add_contactor(body, shape, Pose::identity(), 1);
        }
    }
    scene.add_law(ContactLaw::new((0, 1), 0.0, 0.5));
    scene.add_law(ContactLaw::new((1, 1), 0.0, 0.5));
    scene.bonds.push(Bond {
        name: "mortar".into(),
        between: Between::Groups((1, 1)),
        law: BondLaw::tough(4e4, 6e4, 20.0, 30.0),
        refinement: 1,
    });
    scene
}

#[test]
fn what_breaks_stays_broken_and_gains_nothing() {
    let settings = Settings {
        tolerance: 1e-8,
        ..Settings::with_step(2e-4)
    };
    let mut world = World::new(falling(), settings).unwrap();
    let start = world.energy().mechanical_j();
    let damages =
        |world: &World| -> Vec<f64> { world.bond_points().map(|(_, _, m)| m.damage).collect() };
    let mut last = damages(&world);
    let mut spent = 0.0;
    let mut middle = None;
    for step in 0..4000 {
        world.step().unwrap();
        let now = damages(&world);
        assert!(now.iter().zip(&last).all(|(now, last)| now >= last));
        last = now;
        let e = *world.energy();
        assert!(e.mechanical_j() <= start * (1.0 + 1e-9), "{e:?}");
        assert!(e.fracture_dissipation_j >= spent, "{e:?}");
        spent = e.fracture_dissipation_j;
        if step == 2000 {
            middle = Some(world.snapshot());
        }
    }
    let e = world.energy();
    assert!(e.closing_error_j().abs() < 1e-9 * start, "{e:?}");
    assert!(spent > 0.0, "something broke: {e:?}");
    let mut other = World::new(falling(), settings).unwrap();
    other
        .restore(&Snapshot::from_bytes(&middle.unwrap().to_bytes()).unwrap())
        .unwrap();
    for _ in 2001..4000 {
        other.step().unwrap();
    }
    assert!(world.snapshot() == other.snapshot());
}

/// Two bonded boxes that tumble freely stay together.
#[test]
fn a_bonded_pair_tumbles_as_one() {
    let (mut scene, above) = glued(BondLaw::brittle(1e6, 1e6));
    scene.bodies[0].role = Role::Dynamic(Mass::Total(80.0));
    scene.bodies[0].angular_velocity_rad_per_s = Vec3::new(1.0, 2.0, -0.5);
    let spin = scene.bodies[0].angular_velocity_rad_per_s;
    scene.bodies[above].angular_velocity_rad_per_s = spin;
    // the mass centre of the fixed box's contactor lies at z = -0.1
    scene.bodies[above].velocity_m_per_s = spin.cross(&Vec3::new(0.0, 0.0, 0.2));
    let mut world = World::new(scene, Settings::with_step(1e-3)).unwrap();
    let kinetic = world.energy().kinetic_j;
    let apart = |world: &World| {
        let [a, b] = [
            world.pose(0).point(&Vec3::zeros()),
            world.pose(above).point(&Vec3::new(0.0, 0.0, -0.1)),
        ];
        (a - b).norm()
    };
    world.run(2.0, &Record::default()).unwrap();
    assert!(apart(&world) < 1e-4, "{:e}", apart(&world));
    assert_eq!(broken(&world), 0);
    assert!((world.energy().kinetic_j / kinetic - 1.0).abs() < 1e-3);
}

#[test]
fn bonds_that_cannot_be_are_refused() {
    let refusal = |change: fn(&mut Scene)| {
        let (mut scene, _) = glued(tough());
        change(&mut scene);
        World::new(scene, Settings::with_step(1e-3))
            .map(|_| ())
            .unwrap_err()
            .to_string()
    };
    for (change, words) in [
        (
            (|s| s.bonds[0].law.tension_pa = 0.0) as fn(&mut Scene),
            "tension_pa is 0",
        ),
        (|s| s.bonds[0].law.shear_j_per_m2 = 0.0, "> 0 exactly where"),
        (|s| s.bonds[0].refinement = 0, "refinement is 0"),
        (|s| s.bodies[1].pose.position.z += 0.1, "nothing to bond"),
        (
            |s| s.bodies[1].role = Role::Static,
            "both bodies are fixed or move as given",
        ),
        (
            |s| s.bonds.push(s.bonds[0].clone()),
            "one of them has to go",
        ),
    ] {
        let said = refusal(change);
        assert!(said.contains(words), "{said}");
    }
}

/// Limit load of a face pulled off its centre line by e: it turns about its edge, F (h/2 + e) = sigma A h/2.
#[test]
fn an_eccentric_pull_breaks_it_at_the_limit_load() {
    let law = BondLaw::brittle(SIGMA, TAU);
    for (refinement, solver) in [
        (1, Solver::Auto),
        (2, Solver::Auto),
        (3, Solver::Auto),
        (2, Solver::Nsgs),
        (2, Solver::Newton),
    ] {
        for (eccentricity, height) in [
            (Vec3::new(0.1, 0.0, 0.0), 0.4),
            (Vec3::new(1.2, 0.0, 0.0), 0.4),
            (Vec3::new(0.0, 0.6, 0.0), 0.5),
        ] {
            let limit = SIGMA * AREA * (height / 2.0) / (height / 2.0 + eccentricity.norm());
            for (share, expected) in [(0.97, false), (1.01, true)] {
                let (mut scene, above) = glued(law);
                scene.bonds[0].refinement = refinement;
                let force = Vec3::new(0.0, 0.0, share * limit);
                scene.loads.push(Load::force(above, eccentricity, force));
                let settings = Settings {
                    solver,
                    ..Settings::with_step(1e-3)
                };
                let mut world = World::new(scene, settings).unwrap();
                world.run(0.1, &Record::default()).unwrap();
                let case = format!("{refinement} {solver:?} {eccentricity:?} {share}");
                assert_eq!(broken(&world) > 0, expected, "{case}");
            }
        }
    }
}

/// A bond that is nowhere near its strength spends no energy, however strong it is.
#[test]
fn what_holds_spends_no_energy() {
    for strength in [1e6, 1e7, 1e8] {
        let (mut scene, above) = glued(BondLaw::tough(strength, strength, G_I, G_II));
        let force = Vec3::new(300.0, 0.0, -490.0);
        scene.loads.push(Load::force(above, Vec3::zeros(), force));
        let mut world = World::new(scene, Settings::with_step(1e-3)).unwrap();
        world.run(0.5, &Record::default()).unwrap();
        assert_eq!(world.energy().fracture_dissipation_j, 0.0, "{strength}");
        let impact = world.energy().impact_dissipation_j;
        assert!(impact.abs() < 1e-2, "{strength} {impact}");
    }
}

/// A box hung on glue that does not bear it: it lies on the floor once the scene has settled, and the glue is broken.
#[test]
fn what_breaks_while_a_scene_settles_is_broken() {
    for law in [
        BondLaw::brittle(1e3, 1e3),
        BondLaw::tough(1e3, 1e3, 5.0, 5.0),
    ] {
        let (mut scene, above) = glued(law);
        scene.gravity_m_per_s2 = Vec3::new(0.0, 0.0, 9.80665);
        let floor = scene.add_body(Body::fixed("floor"));
        let half_space = Pose {
            position: Vec3::new(0.0, 0.0, 0.4),
            rotation: Quat::from_scaled_axis(Vec3::new(std::f64::consts::PI, 0.0, 0.0)),
        };
        scene.add_contactor(floor, Shape::half_space(), half_space, 2);
        scene.add_law(ContactLaw::new((1, 2), 0.0, 0.4));
        let mut world = World::new(scene, Settings::with_step(1e-3)).unwrap();
        assert!(world.settle(&Settle::default()).unwrap().at_rest);
        assert!(world.pose(above).position.z > 0.2);
        assert_eq!(broken(&world), world.bond_points().count());
        world.set_velocity(above, Vec3::new(0.0, 0.0, -1.0), Vec3::zeros());
        world.run(0.01, &Record::default()).unwrap();
        assert!((world.state(above).velocity.z + 0.9).abs() < 0.01);
    }
}

/// Thrown bodies wait while the others settle, the bonds between them too.
#[test]
fn a_thrown_pair_is_still_bonded_after_settling() {
    let pair = |between: fn(usize, usize) -> Between| {
        let mut scene = Scene::default();
        let ground = scene.add_body(Body::fixed("ground"));
        scene.add_contactor(ground, Shape::half_space(), Pose::identity(), 0);
        let shape = || Shape::cuboid(0.4, 0.4, 0.2).unwrap();
        let mut add = |name: &str, x: f64, z: f64| {
            let body = Body::dynamic(name, Mass::Total(MASS)).at(Pose::translation(x, 0.0, z));
            let body = scene.add_body(body);
            scene.add_contactor(body, shape(), Pose::identity(), 1);
            body
        };
        let (low, high) = (add("low", 0.0, 2.0), add("high", 0.0, 2.2));
        add("resting", 5.0, 0.101);
        scene.add_law(ContactLaw::new((0, 1), 0.0, 0.4));
        scene.add_law(ContactLaw::new((1, 1), 0.0, 0.4));
        for body in [low, high] {
            scene.bodies[body].velocity_m_per_s.x = 3.0;
        }
        scene.bonds.push(Bond {
            name: "glue".into(),
            between: between(low, high),
            law: BondLaw::brittle(1e6, 1e6),
            refinement: 1,
        });
        (scene, [low, high])
    };
    for between in [
        (|a, b| Between::Bodies([a, b])) as fn(usize, usize) -> Between,
        |_, _| Between::Groups((1, 1)),
    ] {
        let (scene, [low, high]) = pair(between);
        let mut world = World::new(scene, Settings::with_step(1e-3)).unwrap();
        assert!(world.settle(&Settle::default()).unwrap().at_rest);
        world.run(0.1, &Record::default()).unwrap();
        let apart = world.pose(high).position - world.pose(low).position;
        assert!((apart - Vec3::new(0.0, 0.0, 0.2)).norm() < 1e-9, "{apart}");
        assert_eq!(broken(&world), 0);
        assert!(world.bond_points().count() > 0);
    }
}

/// A box on a table that begins to shake at full speed moves with it from the first step on, and nothing rings. So does one
/// whose velocity was set.
#[test]
fn what_stands_on_a_moving_table_moves_with_it() {
    let (amplitude, frequency, dt_s) = (0.01, 2.0, 1e-3);
    for law in [
        BondLaw::brittle(1e6, 1e6),
        BondLaw::tough(1e6, 1e6, 5.0, 5.0),
    ] {
        let (mut scene, above) = glued(law);
        scene.bodies[0].role = Role::Kinematic(Motion::Harmonic {
            amplitude_m: Vec3::new(0.6, 0.0, 0.8) * amplitude,
            frequency_hz: frequency,
            phase_rad: 0.0,
        });
        let settings = Settings {
            tolerance: 1e-10,
            ..Settings::with_step(dt_s)
        };
        let mut world = World::new(scene, settings).unwrap();
        for step in 0..200 {
            if step == 100 {
                world.set_velocity(above, Vec3::new(0.1, 0.0, -0.1), Vec3::zeros());
            }
            world.step().unwrap();
            let table = world.state(0).velocity;
            let apart = world.state(above).velocity - table;
            assert!(
                apart.norm() < 1e-6 * (1.0 + table.norm()),
                "{step}: {apart}"
            );
            let force: f64 = world.bond_points().map(|(_, _, m)| m.normal_force_n).sum();
            let omega = std::f64::consts::TAU * frequency;
            let along = -0.8 * amplitude * omega * omega * (omega * world.time_s()).sin();
            if step != 0 && step != 100 {
                // a mean of the step, so that it is off by half a step
                let off = MASS * amplitude * omega.powi(3) * dt_s;
                assert!(
                    (force - MASS * along).abs() < off,
                    "{step}: {force} {along}"
                );
            }
        }
        assert_eq!(broken(&world), 0);
        assert!(world.energy().closing_error_j().abs() < 1e-9);
        assert!(world.energy().impact_dissipation_j > 0.0);
    }
}

/// Faces that part by many times the critical opening in one step take their fracture energy and no more: pulled, thrown, and
/// on a hinge, whose reaction must agree.
#[test]
fn fracture_takes_its_energy_however_long_the_step() {
    let critical = 2.0 * G_I / SIGMA;
    for share in [0.01, 0.3, 1.0, 3.0, 100.0] {
        for (direction, energy) in [(Vec3::z(), G_I), (Vec3::new(0.6, 0.8, 0.0), G_II)] {
            let (mut scene, above) = glued(tough());
            scene.laws[0].friction = 0.0;
            scene.bodies[0].role = Role::Dynamic(Mass::Given(MassProperties {
                mass_kg: 1e7,
                centre_m: Vec3::zeros(),
                inertia_kg_m2: Mat3::identity() * 1e7,
            }));
            scene.bodies[above].role = Role::Kinematic(Motion::Constant {
                velocity_m_per_s: direction,
                angular_velocity_rad_per_s: Vec3::zeros(),
            });
            let dt_s = share * critical;
            let mut world = World::new(scene, Settings::with_step(dt_s)).unwrap();
            let time_s = (4.0 * critical).max(3.0 * dt_s);
            world.run(time_s, &Record::default()).unwrap();
            let spent = world.energy().fracture_dissipation_j / AREA;
            assert!((spent / energy - 1.0).abs() < 0.01, "{share}: {spent}");
            let work = world.energy().motion_work_j / AREA;
            assert!((work / energy - 1.0).abs() < 0.01, "{share}: {work}");
        }
    }
    let speed = 2.0;
    let exact = (speed * speed - 2.0 * G_I * AREA / MASS).sqrt();
    for dt_s in [1e-4, 5e-4, 2e-3] {
        let (mut scene, above) = glued(tough());
        scene.bodies[above].velocity_m_per_s.z = speed;
        let mut world = World::new(scene, Settings::with_step(dt_s)).unwrap();
        world.run(0.01, &Record::default()).unwrap();
        let left = world.state(above).velocity.z;
        assert!((left / exact - 1.0).abs() < 1e-3, "{dt_s}: {left} {exact}");
    }
    for dt_s in [1e-4, 1e-3, 5e-3] {
        let (mut scene, above) = glued(tough());
        let turn = Vec3::new(std::f64::consts::FRAC_PI_2, 0.0, 0.0);
        let frames =
            [Vec3::new(-0.2, 0.0, 0.0), Vec3::new(-0.2, 0.0, -0.1)].map(|p| Pose::new(p, turn));
        let hinge = Joint::new("hinge", JointKind::Revolute, [None, Some(above)], frames);
        let target = Target::Velocity(Signal::Constant(1.0));
        scene.joints.push(hinge.imposing("angle", target));
        scene.bodies[above].angular_velocity_rad_per_s = Vec3::new(0.0, -1.0, 0.0);
        scene.bodies[above].velocity_m_per_s = Vec3::new(-0.1, 0.0, 0.2);
        let mut world = World::new(scene, Settings::with_step(dt_s)).unwrap();
        let mut work = 0.0;
        while world.time_s() < 0.1 {
            world.step().unwrap();
            work += world.reaction(0)[4].abs() * dt_s;
        }
        let gone = world.bond_points().filter(|(_, _, m)| m.is_broken());
        let energy = G_I * gone.map(|(_, area, _)| area).sum::<f64>();
        let spent = world.energy().fracture_dissipation_j;
        let case = format!("{dt_s}: {spent} {work} {energy}");
        assert!((spent / energy - 1.0).abs() < 0.01, "{case}");
        assert!((work / energy - 1.0).abs() < 0.01, "{case}");
    }
}

/// Bodies that come together later are bonded as they come, and so is one that comes to a fixed body; one that comes to a body
/// which may have moved by then is not.
#[test]
fn what_comes_together_is_bonded() {
    let (mut scene, above) = glued(BondLaw::brittle(SIGMA, TAU));
    scene.gravity_m_per_s2 = Vec3::new(0.0, 0.0, 9.80665);
    scene.bodies[above].birth_s = 0.05;
    let mut world = World::new(scene.clone(), Settings::with_step(1e-3)).unwrap();
    world.run(0.2, &Record::default()).unwrap();
    assert!((world.pose(above).position.z - 0.1).abs() < 1e-9);

    scene.bodies[0].role = Role::Dynamic(Mass::Total(MASS));
    let refused = World::new(scene.clone(), Settings::with_step(1e-3));
    assert!(refused.is_err_and(|fault| fault.to_string().contains("nothing to bond")));

    scene.bodies[0].birth_s = 0.05;
    let push = Vec3::new(0.0, 0.0, 0.5 * SIGMA * AREA);
    scene.loads.push(Load::force(above, Vec3::zeros(), push));
    let mut world = World::new(scene, Settings::with_step(1e-3)).unwrap();
    world.run(0.2, &Record::default()).unwrap();
    let apart = world.pose(above).position - world.pose(0).position;
    assert!((apart - Vec3::new(0.0, 0.0, 0.1)).norm() < 1e-7, "{apart}");
    assert!(world.state(0).velocity.z > 0.15 * 9.80665);
}

/// Contact points on the rim of a round face bound a square in it: a bond of that area would be a third too weak.
#[test]
fn round_faces_are_not_bonded() {
    for (shape, name) in [
        (Shape::cylinder(0.2, 0.2).unwrap(), "cylinder"),
        (Shape::cone(0.2, 0.2).unwrap(), "cone"),
        (Shape::ring(0.1, 0.2, 0.2).unwrap(), "ring"),
    ] {
        let (mut scene, _) = glued(tough());
        scene.contactors[1].shape = shape;
        let refusal = World::new(scene, Settings::with_step(1e-3)).err().unwrap();
        let expected = format!("bond glue: body above touches by the round face of a {name}, only");
        assert!(refusal.to_string().starts_with(&expected), "{refusal}");
    }
}

/// Contacts foreseen across a gap are none yet: what is apart is not glued.
#[test]
fn faces_apart_are_not_bonded_however_far_the_steps_look_ahead() {
    let bonded = |gap: f64, tilt: f64| {
        let (mut scene, above) = glued(tough());
        let lowest = 0.1 * tilt.cos() + 0.25 * tilt.sin();
        scene.bodies[above].pose = Pose::new(Vec3::new(0.0, 0.0, gap + lowest), Vec3::x() * tilt);
        let settings = Settings {
            look_ahead_m: 0.01,
            ..Settings::with_step(1e-3)
        };
        World::new(scene, settings).is_ok()
    };
    assert!(bonded(0.0, 0.0));
    assert!(!bonded(1e-3, 0.0), "one above the other");
    assert!(!bonded(0.0, 0.01), "touching by an edge");
}

/// The damage of one bond is not taken for that of another with as many points.
#[test]
fn a_state_of_other_bonds_is_refused() {
    let row = |glued: [usize; 2]| {
        let mut scene = Scene::default();
        for k in 0..3 {
            let at = Pose::translation(0.0, 0.0, 0.2 * f64::from(k));
            let body = scene.add_body(Body::dynamic(&format!("box {k}"), Mass::Total(1.0)).at(at));
            scene.add_contactor(
                body,
                Shape::cuboid(0.2, 0.2, 0.2).unwrap(),
                Pose::identity(),
                0,
            );
        }
        scene.add_law(ContactLaw::new((0, 0), 0.0, 0.4));
        scene.bonds.push(Bond {
            name: "glue".into(),
            between: Between::Bodies(glued),
            law: tough(),
            refinement: 1,
        });
        World::new(scene, Settings::with_step(1e-3)).unwrap()
    };
    let state = row([0, 1]).snapshot();
    row([0, 1]).restore(&state).unwrap();
    let refusal = row([1, 2]).restore(&state).unwrap_err().to_string();
    assert!(
        refusal.contains("other contactors, laws, joints or bonds"),
        "{refusal}"
    );
}

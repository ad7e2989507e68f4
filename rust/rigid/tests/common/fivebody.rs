//! Five bodies on two shaken feet: the application of Batou and Soize (2013, section 1.4), with numbers of our own.

use percuss_rigid::*;
use std::path::Path;

/// The observed point, in the frame of the fifth body.
pub const OBSERVED: [f64; 3] = [0.3, 0.1, 0.6];

fn cylinder(mass: f64, radius: f64, height: f64) -> Mat3 {
    let across = mass * (3.0 * radius * radius + height * height) / 12.0;
    Mat3::from_diagonal(&Vec3::new(across, across, 0.5 * mass * radius * radius))
}

/// A foot's motion: a pulse of fourth order contact with rest.
pub fn pulse(amplitude: f64, period: f64, start: f64) -> Target {
    let text = format!(
        "{amplitude} * sin(pi * (t - {start}) / {period})^4 * step(t - {start}) * step({start} + {period} - t)"
    );
    Target::Position(Signal::Formula(Formula::new(&text).unwrap()))
}

/// The system; frames of all bodies are the world's at the start.
pub fn scene(mass_5: f64, centre_5: Vec3, inertia_5: Mat3, lift_1: f64, along: [f64; 3]) -> Scene {
    let mut scene = Scene {
        gravity_m_per_s2: Vec3::new(0.0, 0.0, -9.81),
        ..Scene::default()
    };
    let mut add = |name: &str, mass_kg: f64, centre_m: Vec3, inertia_kg_m2: Mat3| {
        scene.add_body(Body::dynamic(
            name,
            Mass::Given(MassProperties {
                mass_kg,
                centre_m,
                inertia_kg_m2,
            }),
        ))
    };
    let feet = [-0.4, 0.4].map(|x| {
        add(
            "foot",
            2.0,
            Vec3::new(x, 0.0, 0.1),
            cylinder(2.0, 0.05, 0.2),
        )
    });
    let legs = [-0.4, 0.4].map(|x| {
        add(
            "leg",
            3.0,
            Vec3::new(x, 0.0, 0.35),
            cylinder(3.0, 0.05, 0.25),
        )
    });
    let table = add("table", mass_5, centre_5, inertia_5);
    let quarter = std::f64::consts::FRAC_PI_2;
    let at = |x: f64, z: f64, turn: Vec3| [Pose::new(Vec3::new(x, 0.0, z), turn); 2];
    scene.joints.push(
        Joint::new(
            "slide",
            JointKind::Prismatic,
            [None, Some(feet[0])],
            at(-0.4, 0.1, Vec3::zeros()),
        )
        .imposing("slide", pulse(lift_1, 0.012, 0.0)),
    );
    // The plane across y; x of its frame points up.
    let upright = Quat::from_matrix(&Mat3::from_columns(&[Vec3::z(), Vec3::x(), Vec3::y()]));
    scene.joints.push(
        Joint::new(
            "plane",
            JointKind::Planar,
            [None, Some(feet[1])],
            at(0.4, 0.1, upright.scaled_axis()),
        )
        .imposing("slide_x", pulse(0.004, 0.012, 0.006))
        .imposing("angle", Target::Value(0.0)),
    );
    for side in 0..2 {
        let x = [-0.4, 0.4][side];
        scene.elements.push(Element {
            name: "bushing".into(),
            bodies: [Some(feet[side]), Some(legs[side])],
            frames: at(x, 0.225, Vec3::zeros()),
            effort: Effort::Bushing {
                stiffness: [along[0], along[1], along[2], 4e3, 4e3, 4e3],
                damping: [200.0, 200.0, 500.0, 4.0, 4.0, 4.0],
                preload: [0.0; 6],
            },
        });
        scene.joints.push(Joint::new(
            "hinge",
            JointKind::Revolute,
            [Some(legs[side]), Some(table)],
            at(x, 0.5, Vec3::new(-quarter, 0.0, 0.0)),
        ));
    }
    scene
}

/// The nominal system.
pub fn nominal() -> Scene {
    let [a, b, c]: [f64; 3] = [1.0, 0.4, 0.1];
    let moments = Vec3::new(b * b + c * c, a * a + c * c, a * a + b * b) * (20.0 / 12.0);
    let inertia = Mat3::from_diagonal(&moments);
    scene(
        20.0,
        Vec3::new(0.0, 0.0, 0.55),
        inertia,
        0.004,
        [4e5, 4e5, 1e6],
    )
}

/// The system out of its plane of symmetry (fivebody_perturbed.json).
pub fn perturbed() -> Scene {
    let inertia = Mat3::new(0.31, 0.012, -0.02, 0.012, 1.61, 0.008, -0.02, 0.008, 1.85);
    let centre = Vec3::new(0.06, -0.035, 0.556);
    scene(21.4, centre, inertia, 0.0042, [3.9e5, 4.1e5, 1.05e6])
}

/// Settings of the smooth stepper.
pub fn settings(dt_s: f64, method: Method) -> Settings {
    Settings {
        stepper: Stepper::Smooth(method),
        ..Settings::with_step(dt_s)
    }
}

/// Acceleration and angular acceleration of the observed point every .1 ms, `each` steps.
pub fn observed(scene: Scene, dt_s: f64, method: Method, each: usize) -> Vec<[f64; 6]> {
    let table = scene.bodies.len() - 1;
    let mut world = World::new(scene, settings(dt_s, method)).unwrap();
    let row = |world: &World| {
        let (a, b) = world.point_acceleration(table, &OBSERVED.into()).unwrap();
        [a.x, a.y, a.z, b.x, b.y, b.z]
    };
    let mut rows = vec![row(&world)];
    for _ in 0..300 {
        for _ in 0..each {
            world.step().unwrap();
        }
        rows.push(row(&world));
    }
    rows
}

/// A table of six columns after the time.
pub fn golden(name: &str) -> Vec<[f64; 6]> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/golden/multibody")
        .join(name);
    let text = std::fs::read_to_string(path).unwrap();
    let rows = text.lines().filter(|line| !line.starts_with(['#', 't']));
    rows.map(|line| {
        let numbers: Vec<f64> = line.split(',').map(|x| x.parse().unwrap()).collect();
        std::array::from_fn(|k| numbers[k + 1])
    })
    .collect()
}

/// Largest difference of two tables.
pub fn apart(a: &[[f64; 6]], b: &[[f64; 6]]) -> f64 {
    assert_eq!(a.len(), b.len());
    let both = a.iter().flatten().zip(b.iter().flatten());
    both.map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
}

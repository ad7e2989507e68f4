//! Scenes of many bodies: what islands, threads and sleep are worth, and how set-up grows.
//!
//! `cargo bench -p percuss-rigid --bench islands` prints tables of ratios, each of two times measured in turn in this very
//! run. With a word as argument (together, threads, rest, setup) only that part.

use percuss_rigid::*;
use std::time::Instant;

const SIDE: f64 = 1.0;

fn ground(restitution: f64, friction: f64) -> Scene {
    let mut scene = Scene::default();
    let ground = scene.add_body(Body::fixed("ground"));
    scene.add_contactor(ground, Shape::half_space(), Pose::identity(), 0);
    scene.add_law(ContactLaw::new((0, 1), restitution, friction));
    scene.add_law(ContactLaw::new((1, 1), restitution, friction));
    scene
}

fn add_box(scene: &mut Scene, size: [f64; 3], at: [f64; 3]) {
    let mass = Mass::Total(1000.0 * size[0] * size[1] * size[2]);
    let place = Pose::translation(at[0], at[1], at[2]);
    let body = scene.add_body(Body::dynamic("box", mass).at(place));
    let shape = Shape::cuboid(size[0], size[1], size[2]).expect("a box");
    scene.add_contactor(body, shape, Pose::identity(), 1);
}

/// Towers of boxes, `columns` x `columns` of them.
pub fn towers(columns: usize, height: usize) -> Scene {
    let mut scene = ground(0.0, 0.5);
    for k in 0..columns * columns {
        let (x, y) = ((k % columns) as f64 * 3.0, (k / columns) as f64 * 3.0);
        for row in 0..height {
            add_box(&mut scene, [SIDE; 3], [x, y, (row as f64 + 0.5) * SIDE]);
        }
    }
    scene
}

/// A wall of bricks in running bond.
pub fn wall(length: usize, height: usize) -> Scene {
    let mut scene = ground(0.0, 0.5);
    for row in 0..height {
        let shift = if row % 2 == 1 { 0.5 } else { 0.0 };
        for k in 0..length {
            let at = [(k as f64 + shift) * 2.0, 0.0, row as f64 + 0.5];
            add_box(&mut scene, [2.0, 1.0, 1.0], at);
        }
    }
    scene
}

fn settings(threads: usize) -> Settings {
    Settings {
        threads,
        ..Settings::with_step(2e-3)
    }
}

/// Wall-clock time of a step [s], the least of some rounds, with contacts and the worst of what is left.
struct Timed {
    step_s: f64,
    contacts: usize,
    islands: usize,
    overlap_m: f64,
    residual: f64,
    unmet: usize,
    /// Sweeps of the worst island, and factorisations, in all steps together.
    sweeps: usize,
    factorisations: usize,
}

fn time(world: &mut World, steps: usize, rounds: usize) -> Timed {
    let mut found = Timed {
        step_s: f64::INFINITY,
        contacts: 0,
        islands: 0,
        overlap_m: 0.0,
        residual: 0.0,
        unmet: 0,
        sweeps: 0,
        factorisations: 0,
    };
    for _ in 0..rounds {
        let start = Instant::now();
        for _ in 0..steps {
            let report = world.step().expect("finite");
            (found.contacts, found.islands) = (report.contacts, report.islands);
            found.overlap_m = found.overlap_m.max(report.overlap_m);
            found.residual = found.residual.max(report.residual);
            found.unmet += usize::from(!report.met);
            found.sweeps += report.iterations;
            found.factorisations += report.factorisations;
        }
        let step_s = start.elapsed().as_secs_f64() / steps as f64;
        found.step_s = found.step_s.min(step_s);
    }
    found
}

fn world(scene: Scene, settings: Settings) -> World {
    World::new(scene, settings).expect("a good scene")
}

/// A tower and loose blocks, together and apart.
fn together() {
    println!("\na tower of 20 boxes and 4000 loose ones: together against the sum of both apart");
    let mut tower = towers(1, 20);
    let mut loose = ground(0.0, 0.5);
    for k in 0..4000 {
        let at = [
            100.0 + 2.0 * f64::from(k % 64),
            2.0 * f64::from(k / 64),
            0.5,
        ];
        add_box(&mut loose, [SIDE; 3], at);
        add_box(&mut tower, [SIDE; 3], at);
    }
    let both = time(&mut world(tower, settings(1)), 50, 3);
    let one = time(&mut world(towers(1, 20), settings(1)), 50, 3);
    let other = time(&mut world(loose, settings(1)), 50, 3);
    println!(
        "  together {:.3} ms, apart {:.3} + {:.3} ms: ratio {:.2}",
        both.step_s * 1e3,
        one.step_s * 1e3,
        other.step_s * 1e3,
        both.step_s / (one.step_s + other.step_s)
    );
}

/// One thread and two, on towers and on a wall.
fn threads() {
    println!("\none thread and two: ms a step, steps of 2 ms, tolerance 1e-6");
    println!(
        "{:<26} {:>9} {:>8} {:>9} {:>9} {:>6}",
        "", "contacts", "islands", "one", "two", "ratio"
    );
    let scenes: [(&str, Scene, usize); 5] = [
        ("100 towers of 10", towers(10, 10), 50),
        ("256 towers of 10", towers(16, 10), 20),
        ("2500 towers of 10", towers(50, 10), 4),
        ("wall 50 x 20", wall(50, 20), 10),
        ("wall 250 x 20", wall(250, 20), 4),
    ];
    for (name, scene, steps) in scenes {
        let [one, two] = [1, 2].map(|threads| {
            let mut world = world(scene.clone(), settings(threads));
            // the first steps find the impulses that hold the scene
            time(&mut world, 3, 1);
            time(&mut world, steps, 3)
        });
        println!(
            "{name:<26} {:>9} {:>8} {:>9.3} {:>9.3} {:>6.2}",
            one.contacts,
            one.islands,
            one.step_s * 1e3,
            two.step_s * 1e3,
            one.step_s / two.step_s
        );
    }
}

/// What a scene at rest costs, and what is left of it.
fn rest() {
    println!("\nat rest, steps of 2 ms, tolerance 1e-6, two threads: awake and asleep");
    println!(
        "{:<20} {:>9} {:>9} {:>9} {:>9} {:>9} {:>10} {:>10} {:>6} {:>7} {:>7}",
        "",
        "contacts",
        "first",
        "awake",
        "asleep",
        "ratio",
        "overlap",
        "residual",
        "unmet",
        "sweeps",
        "factors"
    );
    for (name, scene) in [
        ("100 towers of 10", towers(10, 10)),
        ("wall 50 x 20", wall(50, 20)),
    ] {
        let mut awake = world(scene.clone(), settings(2));
        let first = time(&mut awake, 1, 1);
        let awake = time(&mut awake, 50, 4);
        let sleeping = Settings {
            sleep_speed_m_per_s: 1e-4,
            ..settings(2)
        };
        let mut asleep = world(scene, sleeping);
        time(&mut asleep, 100, 1);
        let asleep = time(&mut asleep, 50, 3);
        println!(
            "{name:<20} {:>9} {:>9.1} {:>9.3} {:>9.3} {:>9.1} {:>10.1e} {:>10.1e} {:>6} {:>7} {:>7}",
            awake.contacts,
            first.step_s * 1e3,
            awake.step_s * 1e3,
            asleep.step_s * 1e3,
            awake.step_s / asleep.step_s,
            awake.overlap_m,
            awake.residual,
            awake.unmet,
            awake.sweeps,
            awake.factorisations
        );
    }
}

/// Set-up against bodies.
fn setup() {
    println!("\nset-up: microseconds a body, with and without a joint on each");
    for jointed in [false, true] {
        for columns in [10, 32, 100, 200] {
            let mut scene = towers(columns, 1);
            let bodies = scene.bodies.len() - 1;
            for body in 1..=bodies {
                if jointed {
                    let at = scene.bodies[body].pose;
                    let frames = [at, Pose::identity()];
                    let kind = JointKind::Revolute;
                    scene
                        .joints
                        .push(Joint::new("hinge", kind, [None, Some(body)], frames));
                }
            }
            let start = Instant::now();
            let world = world(scene, settings(1));
            let took = start.elapsed().as_secs_f64();
            drop(world);
            println!(
                "  {bodies:>6} bodies, jointed {jointed:<5} {:>8.2}",
                took * 1e6 / bodies as f64
            );
        }
    }
}

fn main() {
    let only = std::env::args().nth(1).filter(|arg| !arg.starts_with('-'));
    let parts: [(&str, fn()); 4] = [
        ("together", together),
        ("threads", threads),
        ("rest", rest),
        ("setup", setup),
    ];
    for (name, part) in parts {
        if only.as_ref().is_none_or(|only| name == only) {
            part();
        }
    }
}

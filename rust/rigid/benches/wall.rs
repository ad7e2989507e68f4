//! Walls of blocks hit by a projectile: time of a step by part, and how cost grows with contacts.
//!
//! `cargo bench -p percuss-rigid` prints tables; one thread, CPU time, the least of some repeats. The time of a
//! part is its share of the wall-clock time, applied to the CPU time: other programs then slow all parts alike.

#[path = "../tests/common/mod.rs"]
mod common;

use common::walls::{block_wall, brick_wall, pile};
use percuss_rigid::*;
use std::time::Instant;

/// What Siconos made of the first steps of a wall.
struct Siconos {
    steps: usize,
    cpu_s: f64,
    contacts: f64,
    sweeps: f64,
    /// Residuals, median and 99 %, in our norm and in its own.
    residuals: [[f64; 2]; 2],
}

impl Siconos {
    /// Runs `tests/bench/siconos_walls.py` for at most `steps` steps and PERCUSS_SICONOS_S seconds (15 by default),
    /// with the interpreter PERCUSS_SICONOS_PYTHON (that of Debian by default). None where it is not installed.
    fn run(wall: &str, steps: usize) -> Option<Self> {
        let setting = |name, default: &str| std::env::var(name).unwrap_or_else(|_| default.into());
        let done =
            std::process::Command::new(setting("PERCUSS_SICONOS_PYTHON", "/usr/bin/python3"))
                .arg(concat!(
                    env!("CARGO_MANIFEST_DIR"),
                    "/../../tests/bench/siconos_walls.py"
                ))
                .args([
                    wall,
                    &steps.to_string(),
                    &setting("PERCUSS_SICONOS_S", "15"),
                ])
                .env("OMP_NUM_THREADS", "1")
                .output();
        let told = match done {
            Ok(done) if done.status.success() => String::from_utf8_lossy(&done.stdout).into_owned(),
            Ok(done) => {
                let words = String::from_utf8_lossy(&done.stderr).into_owned();
                println!(
                    "    skipped: {}",
                    words.lines().last().unwrap_or("Siconos failed")
                );
                return None;
            }
            Err(fault) => {
                println!("    skipped: no interpreter for Siconos ({fault})");
                return None;
            }
        };
        let rest = |key: &str| told.split(&format!("\"{key}\": ")).nth(1);
        let number = |key: &str| rest(key)?.split([',', '}']).next()?.parse::<f64>().ok();
        let quantiles = |key: &str| -> Option<[f64; 2]> {
            let mut numbers = rest(key)?.strip_prefix('[')?.split(", ");
            Some([numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?])
        };
        Some(Self {
            steps: number("steps")? as usize,
            cpu_s: number("cpu_s")?,
            contacts: number("contacts")?,
            sweeps: number("sweeps")?,
            residuals: [quantiles("energy")?, quantiles("residual")?],
        })
    }
}

/// The same steps here and there, in turn.
fn side_by_side(name: &str, wall: &str, scene: &Scene, steps: usize) {
    let Some(peer) = Siconos::run(wall, steps) else {
        return;
    };
    println!(
        "    Siconos: {} steps, {:.2} s, {:.0} contacts, {:.0} sweeps a step; residual, median and 99 %: {:.1e} {:.1e}, its own {:.1e} {:.1e}",
        peer.steps,
        peer.cpu_s,
        peer.contacts,
        peer.sweeps,
        peer.residuals[0][0],
        peer.residuals[0][1],
        peer.residuals[1][0],
        peer.residuals[1][1],
    );
    // The third is the fair one: the median of its residuals bounds every one of ours that is met. At the last even
    // its own measure, which is not the one we stop by, is no larger.
    for tolerance in [1e-4, 1e-5, peer.residuals[0][0], 1e-6, 4e-7] {
        let settings = Settings {
            tolerance,
            ..Settings::with_step(2.5e-4)
        };
        let name = format!("{name}, {tolerance:.1e}");
        let (time, residuals) = run(&name, scene.clone(), settings, peer.steps, 2);
        let no_larger = |norm: usize| (0..2).all(|k| residuals[norm][k] <= peer.residuals[norm][k]);
        println!(
            "    {:.0} x; residual, median and 99 %: {:.1e} {:.1e}{}, its own {:.1e} {:.1e}{}",
            peer.cpu_s / time,
            residuals[0][0],
            residuals[0][1],
            if no_larger(0) { " (no larger)" } else { "" },
            residuals[1][0],
            residuals[1][1],
            if no_larger(1) { " (no larger)" } else { "" },
        );
    }
}

/// CPU time of this thread [s]; wall-clock time where the system does not tell.
fn cpu_s(start: &Instant) -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|s| s.split(' ').next().and_then(|x| x.parse::<f64>().ok()));
    nanoseconds.map_or_else(|| start.elapsed().as_secs_f64(), |x| x * 1e-9)
}

fn run(
    name: &str,
    scene: Scene,
    settings: Settings,
    steps: usize,
    repeats: usize,
) -> (f64, [[f64; 2]; 2]) {
    let mut best = f64::INFINITY;
    let mut bounds = [[0.0; 2]; 2];
    let mut line = String::new();
    for _ in 0..repeats {
        let mut world = World::new(scene.clone(), settings).expect("a good scene");
        world.time_steps();
        let (mut residuals, mut theirs) = (vec![], vec![]);
        let (mut contacts, mut most, mut sweeps, mut newton, mut unmet) = (0, 0, 0, 0, 0);
        let start = Instant::now();
        let cpu = cpu_s(&start);
        for _ in 0..steps {
            let report = world.step().expect("finite");
            contacts += report.contacts;
            most = most.max(report.contacts);
            sweeps += report.iterations;
            newton += report.factorisations;
            unmet += usize::from(!report.met);
            residuals.push(report.residual);
            theirs.push(report.residual_siconos);
        }
        let wall = start.elapsed().as_secs_f64();
        let total = cpu_s(&start) - cpu;
        if total < best {
            best = total;
            residuals.sort_by(f64::total_cmp);
            theirs.sort_by(f64::total_cmp);
            bounds = [&residuals, &theirs].map(|r| [r[steps / 2], r[steps * 99 / 100]]);
            let t = world.timing();
            let share = total / wall * 1e3 / steps as f64;
            let ms = |d: std::time::Duration| d.as_secs_f64() * share;
            line = format!(
                "{name:<28} {:>8.3} {:>8.4} {:>8.4} {:>8.4} {:>8.4} {:>8.1} {most:>6} {:>7.1} {newton:>6} {:>9.1e} {:>9.1e} {:>9.1e} {:>9.1e} {unmet:>6} {:>9.1e}",
                total * 1e3 / steps as f64,
                ms(t.detection),
                ms(t.assembly),
                ms(t.solve),
                ms(t.rest),
                contacts as f64 / steps as f64,
                sweeps as f64 / steps as f64,
                residuals[steps / 2],
                residuals[steps - 1],
                theirs[steps / 2],
                theirs[steps - 1],
                common::closing(&world),
            );
        }
    }
    println!("{line}   {best:.2} s");
    (best, bounds)
}

fn main() {
    println!(
        "{:<28} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>6} {:>7} {:>6} {:>9} {:>9} {:>9} {:>9} {:>6} {:>9}   total",
        "ms per step",
        "all",
        "detect",
        "assemble",
        "solve",
        "rest",
        "contacts",
        "most",
        "sweeps",
        "newton",
        "res. med",
        "res. max",
        "sic. med",
        "sic. max",
        "unmet",
        "closing"
    );
    let settings = |tolerance| Settings {
        tolerance,
        ..Settings::with_step(2.5e-4)
    };
    // `cargo bench -p percuss-rigid -- siconos`: one of bricks, blocks, siconos, growth.
    let only = std::env::args().nth(1).filter(|arg| !arg.starts_with('-'));
    let wanted = |what: &str| {
        only.as_ref()
            .is_none_or(|only| what.contains(only.as_str()))
    };
    for tolerance in [1e-5, 1e-6, 1e-8].into_iter().filter(|_| wanted("bricks")) {
        let name = format!("5 x 4 wall, {tolerance:e}");
        run(&name, brick_wall(), settings(tolerance), 2000, 2);
    }
    for tolerance in [1e-4, 1e-5, 1e-6].into_iter().filter(|_| wanted("blocks")) {
        let name = format!("42-block wall, {tolerance:e}");
        run(&name, block_wall(29.5), settings(tolerance), 4000, 2);
    }
    if wanted("siconos") {
        println!("\nside by side with Siconos, its NSGS to 1e-4");
        side_by_side("5 x 4 wall", "bricks", &brick_wall(), 2000);
        side_by_side("42-block wall", "blocks", &block_wall(29.5), 4000);
    }
    if !wanted("growth") {
        return;
    }
    println!("\ncost against contacts: columns of 5 cubes at rest, 20 sweeps a step");
    println!(
        "{:>9} {:>9} {:>9} {:>12} {:>9} {:>9}",
        "bodies", "contacts", "ms", "us/contact", "detect", "solve"
    );
    for columns in [3, 6, 12, 18, 25] {
        let settings = Settings {
            tolerance: 1e-14,
            max_iterations: 20,
            max_factorisations: 0,
            ..Settings::with_step(1e-3)
        };
        let mut world = World::new(pile(columns, 5), settings).expect("a good scene");
        world.step().expect("finite");
        world.time_steps();
        let repeats = 200_000 / (columns * columns * 5);
        let start = Instant::now();
        let cpu = cpu_s(&start);
        let mut contacts = 0;
        for _ in 0..repeats {
            contacts = world.step().expect("finite").contacts;
        }
        let best = (cpu_s(&start) - cpu) / f64::from(repeats);
        let wall = start.elapsed().as_secs_f64();
        let share = |part: std::time::Duration| 100.0 * part.as_secs_f64() / wall;
        println!(
            "{:>9} {contacts:>9} {:>9.3} {:>12.3} {:>8.0}% {:>8.0}%",
            world.scene().bodies.len() - 1,
            best * 1e3,
            best * 1e6 / contacts as f64,
            share(world.timing().detection),
            share(world.timing().solve),
        );
    }
}

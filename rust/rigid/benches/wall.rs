//! Walls of blocks hit by a projectile: time of a step by part, and how cost grows with contacts.
//!
//! `cargo bench -p percuss-rigid` prints tables; one thread, CPU time, the least of some repeats. The time of a
//! part is its share of the wall-clock time, applied to the CPU time: other programs then slow all parts alike.

#[path = "../tests/common/mod.rs"]
mod common;

use common::walls::{block_wall, brick_wall, pile};
use percuss_rigid::*;
use std::time::Instant;

/// CPU seconds of Siconos 4.4.0 (one Newton iteration, NSGS to 1e-4 by its own measure) for the block wall.
const SICONOS_BLOCK_WALL_S: f64 = 175.0;

/// CPU time of this thread [s]; wall-clock time where the system does not tell.
fn cpu_s(start: &Instant) -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|s| s.split(' ').next().and_then(|x| x.parse::<f64>().ok()));
    nanoseconds.map_or_else(|| start.elapsed().as_secs_f64(), |x| x * 1e-9)
}

fn run(name: &str, scene: Scene, settings: Settings, steps: usize, repeats: usize) -> f64 {
    let mut best = f64::INFINITY;
    let mut line = String::new();
    for _ in 0..repeats {
        let mut world = World::new(scene.clone(), settings).expect("a good scene");
        world.timed = true;
        let mut residuals = Vec::with_capacity(steps);
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
        }
        let wall = start.elapsed().as_secs_f64();
        let total = cpu_s(&start) - cpu;
        if total < best {
            best = total;
            residuals.sort_by(f64::total_cmp);
            let t = world.timing();
            let share = total / wall * 1e3 / steps as f64;
            let ms = |d: std::time::Duration| d.as_secs_f64() * share;
            line = format!(
                "{name:<28} {:>8.3} {:>8.4} {:>8.4} {:>8.4} {:>8.4} {:>8.1} {most:>6} {:>7.1} {newton:>6} {:>9.1e} {:>9.1e} {unmet:>6} {:>9.1e}",
                total * 1e3 / steps as f64,
                ms(t.detection),
                ms(t.assembly),
                ms(t.solve),
                ms(t.rest),
                contacts as f64 / steps as f64,
                sweeps as f64 / steps as f64,
                residuals[steps / 2],
                residuals[steps - 1],
                common::closing(&world),
            );
        }
    }
    println!("{line}   {best:.2} s");
    best
}

fn main() {
    println!(
        "{:<28} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>6} {:>7} {:>6} {:>9} {:>9} {:>6} {:>9}   total",
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
        "unmet",
        "closing"
    );
    let settings = |tolerance| Settings {
        tolerance,
        ..Settings::with_step(2.5e-4)
    };
    let only = std::env::args().nth(1).filter(|arg| !arg.starts_with('-'));
    let wanted = |what: &str| {
        only.as_ref()
            .is_none_or(|only| what.contains(only.as_str()))
    };
    for tolerance in [1e-5, 1e-8].into_iter().filter(|_| wanted("bricks")) {
        let name = format!("5 x 4 wall, {tolerance:e}");
        run(&name, brick_wall(), settings(tolerance), 2000, 2);
    }
    for tolerance in [1e-4, 1e-5, 1e-6].into_iter().filter(|_| wanted("blocks")) {
        let name = format!("42-block wall, {tolerance:e}");
        let time = run(&name, block_wall(29.5), settings(tolerance), 4000, 2);
        println!(
            "    Siconos took {SICONOS_BLOCK_WALL_S} s: {:.0} x",
            SICONOS_BLOCK_WALL_S / time
        );
    }
    if !wanted("growth") {
        return;
    }
    println!("\ncost against contacts: columns of 5 cubes at rest, 20 sweeps a step");
    println!(
        "{:>9} {:>9} {:>9} {:>12}",
        "bodies", "contacts", "ms", "us/contact"
    );
    for columns in [5, 10, 20, 40] {
        let settings = Settings {
            tolerance: 1e-14,
            max_iterations: 20,
            max_factorisations: 0,
            ..Settings::with_step(1e-3)
        };
        let mut world = World::new(pile(columns, 5), settings).expect("a good scene");
        world.step().expect("finite");
        let repeats = 200_000 / (columns * columns * 5);
        let start = Instant::now();
        let cpu = cpu_s(&start);
        let mut contacts = 0;
        for _ in 0..repeats {
            contacts = world.step().expect("finite").contacts;
        }
        let best = (cpu_s(&start) - cpu) / f64::from(repeats);
        println!(
            "{:>9} {contacts:>9} {:>9.3} {:>12.3}",
            world.scene().bodies.len() - 1,
            best * 1e3,
            best * 1e6 / contacts as f64
        );
    }
}

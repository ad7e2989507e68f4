//! Cost of a sweep, of an assembly and of every solver on generated walls: `cargo bench -p percuss-solvers`.
//!
//! One thread; every time is the least of many short repeats, because other programs disturb only upwards.

#[path = "../tests/problems/mod.rs"]
mod problems;

use percuss_solvers::{Assembly, Problem, Settings, Solver, Workspace};
use problems::{Scene, tower, wall};
use std::time::Instant;

/// Least seconds of several calls.
fn least(repeats: usize, mut call: impl FnMut()) -> f64 {
    (0..repeats)
        .map(|_| {
            let start = Instant::now();
            call();
            start.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min)
}

/// Seconds of one sweep from the difference of two numbers of sweeps.
fn sweep_seconds(solver: Solver, problem: &Problem, from: usize, to: usize) -> f64 {
    let mut r = vec![[0.0; 3]; problem.contacts()];
    let mut u = r.clone();
    let mut workspace = Workspace::default();
    let mut seconds = |sweeps: usize| {
        let settings = Settings {
            tolerance: 1e-300,
            max_iterations: sweeps,
            max_factorisations: 0,
        };
        least(300_000 / problem.contacts(), || {
            r.fill([0.0; 3]);
            solver
                .solve(problem, &settings, &mut r, &mut u, &mut workspace)
                .unwrap();
        })
    };
    (seconds(to) - seconds(from)) / (to - from) as f64
}

fn report(name: &str, scene: &Scene) {
    let problem = scene.problem();
    let contacts = problem.contacts();
    let blocks = problem.matrix().stored_blocks() as f64 / contacts as f64;
    println!(
        "\n{name}: {} bodies, {contacts} contacts, {blocks:.1} blocks of W a row",
        scene.masses.len()
    );
    let (mut assembly, mut assembled) = (Assembly::default(), Problem::default());
    let assemble = least(200, || {
        assembly
            .assemble(&scene.masses, &scene.contacts, &mut assembled)
            .unwrap()
    });
    // Residuals are computed every tenth time, by accelerated sweeps from the 31st on always.
    let [nsgs, accelerated, watched] = [
        (Solver::Nsgs, 10, 60),
        (Solver::Accelerated, 10, 30),
        (Solver::Accelerated, 30, 60),
    ]
    .map(|(solver, from, to)| sweep_seconds(solver, &problem, from, to));
    let each = 1e9 / contacts as f64;
    println!(
        "  assembly             {:7.1} ns a contact = {:.1} sweeps",
        each * assemble,
        assemble / nsgs
    );
    for (name, seconds) in [
        ("sweep of nsgs", nsgs),
        ("sweep of accelerated", accelerated),
        ("the same, residual included", watched),
    ] {
        println!("  {name:32} {:7.1} ns a contact", each * seconds);
    }
    println!(
        "  solver        tolerance  sweeps  factors        ms    energy     plain  velocity   siconos"
    );
    for tolerance in [1e-4, 1e-8] {
        for (name, solver) in Solver::TABLE {
            let settings = Settings {
                tolerance,
                max_iterations: 2_000,
                max_factorisations: 300,
            };
            let mut r = vec![[0.0; 3]; contacts];
            let mut u = r.clone();
            let mut workspace = Workspace::default();
            let mut last = None;
            let seconds = least(5, || {
                r.fill([0.0; 3]);
                last = Some(
                    solver
                        .solve(&problem, &settings, &mut r, &mut u, &mut workspace)
                        .unwrap(),
                );
            });
            let last = last.expect("solved at least once");
            let e = last.residuals;
            println!(
                "  {name:12} {tolerance:10.0e} {:7} {:8} {:9.3} {:9.1e} {:9.1e} {:9.1e} {:9.1e}{}",
                last.iterations,
                last.factorisations,
                1e3 * seconds,
                e.energy,
                e.plain,
                e.velocity,
                e.siconos,
                if last.converged { "" } else { "  not met" }
            );
        }
    }
}

fn main() {
    report("wall of 40 blocks", &wall(4, 10, false, 0.0));
    report("wall of 40 blocks, hit", &wall(4, 10, false, 5.0));
    report("wall of 40 blocks with bars, hit", &wall(4, 10, true, 5.0));
    report("tower of 20 cubes, sheared", &tower(20, 0.5, 1e-4));
}

//! Sweeps without W on walls of a thousand to a million contacts: cost of a contact in a sweep, on one thread and on two.
//! `cargo bench -p percuss-solvers --bench large`
//!
//! Every time is the least of some, taken in turns, because other programs disturb only upwards; ratios are of one run. The
//! cost on one thread is told in its own time on a core too, where Linux tells it: on a busy machine the clock on the wall
//! runs for all, and two threads wait for each other.

#[path = "../tests/problems/mod.rs"]
mod problems;

use percuss_solvers::{Bodies, Settings, Solver, Workspace};
use problems::{Scene, wall};
use std::time::Instant;

const SWEEPS: [usize; 2] = [10, 40];

/// Seconds that this thread has been on a core.
fn core_seconds() -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let ns = told
        .split_whitespace()
        .next()
        .and_then(|ns| ns.parse().ok());
    1e-9 * ns.unwrap_or(f64::NAN)
}

/// Seconds of a solve with the fewer sweeps, and with the more; by the clock, and of the first thread on its core.
fn seconds(scene: &Scene, pool: &rayon::ThreadPool, workspace: &mut Workspace) -> [[f64; 2]; 2] {
    let bodies = Bodies {
        masses: &scene.masses,
        contacts: &scene.contacts,
        joined: None,
    };
    let mut u = vec![[0.0; 3]; scene.contacts.len()];
    SWEEPS.map(|max_iterations| {
        let settings = Settings {
            tolerance: 1e-300,
            max_iterations,
            max_factorisations: 0,
        };
        let mut r = vec![[0.0; 3]; scene.contacts.len()];
        pool.install(|| {
            let (start, core) = (Instant::now(), core_seconds());
            Solver::sweep_bodies(&bodies, &settings, &mut r, &mut u, workspace).unwrap();
            [start.elapsed().as_secs_f64(), core_seconds() - core]
        })
    })
}

fn main() {
    let pools = [1, 2].map(|threads| {
        let builder = rayon::ThreadPoolBuilder::new().num_threads(threads);
        builder.build().unwrap()
    });
    println!(
        "contacts   ns a contact and sweep: one thread on its core, by the clock, two threads, ratio   \
         before the first sweep, in sweeps: one thread, two   cost over the least so far"
    );
    let mut least: f64 = f64::INFINITY;
    for (rows, columns, repeats) in [(10, 27, 200), (10, 253, 60), (20, 1250, 8), (50, 5000, 2)] {
        let scene = wall(rows, columns, false, 0.0);
        let mut workspace = Workspace::default();
        let mut best = [[[f64::INFINITY, 0.0]; 2]; 2];
        for _ in 0..repeats {
            for (best, pool) in best.iter_mut().zip(&pools) {
                let found = seconds(&scene, pool, &mut workspace);
                for (best, [clock, core]) in best.iter_mut().zip(found) {
                    // Time on the core is counted by ticks: in the mean, not the least.
                    *best = [best[0].min(clock), best[1] + core / repeats as f64];
                }
            }
        }
        let each = 1e9 / scene.contacts.len() as f64;
        // A sweep, and what comes before the first.
        let parts = |[few, many]: [[f64; 2]; 2], clock: usize| {
            let sweep = (many[clock] - few[clock]) / (SWEEPS[1] - SWEEPS[0]) as f64;
            (sweep, few[clock] - SWEEPS[0] as f64 * sweep)
        };
        let (core, one, two) = (parts(best[0], 1), parts(best[0], 0), parts(best[1], 0));
        least = least.min(core.0 * each);
        println!(
            "{:8}   {:6.1}   {:6.1}   {:6.1}   {:4.2}      {:5.1}   {:5.1}      {:.2}",
            scene.contacts.len(),
            core.0 * each,
            one.0 * each,
            two.0 * each,
            one.0 / two.0,
            one.1 / one.0,
            two.1 / two.0,
            core.0 * each / least
        );
    }
}

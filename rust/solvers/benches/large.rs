//! Sweeps without W on walls of a thousand to a million contacts: cost of a contact in a sweep, on one thread and on two.
//! `cargo bench -p percuss-solvers --bench large`
//!
//! Walls of one height are compared, because a taller one costs more however small it is: more of its contacts still slip after
//! these sweeps. Every time is the least of some, taken in turns and by the clock, because other programs disturb only upwards; ratios are
//! of one run.

#[path = "../tests/problems/mod.rs"]
mod problems;

use percuss_solvers::{Bodies, Settings, Solver, Workspace};
use problems::{Scene, wall};
use std::time::Instant;

const SWEEPS: [usize; 2] = [10, 40];

/// Seconds of a solve with the fewer sweeps, and with the more.
fn seconds(scene: &Scene, pool: &rayon::ThreadPool, workspace: &mut Workspace) -> [f64; 2] {
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
            let start = Instant::now();
            Solver::sweep_bodies(&bodies, &settings, &mut r, &mut u, workspace).unwrap();
            start.elapsed().as_secs_f64()
        })
    })
}

fn main() {
    let pools = [1, 2].map(|threads| {
        let builder = rayon::ThreadPoolBuilder::new().num_threads(threads);
        builder.build().unwrap()
    });
    println!(
        "contacts   ns a contact and sweep: one thread, two, ratio   \
         before the first sweep, in sweeps: one thread, two   cost over the least so far"
    );
    let mut least: f64 = f64::INFINITY;
    let ten_rows = [(10, 27, 200), (10, 253, 60), (10, 2500, 8), (10, 25_000, 4)];
    let fifty_rows = [(50, 54, 60), (50, 5000, 4)];
    for (rows, columns, repeats) in ten_rows.into_iter().chain(fifty_rows) {
        let scene = wall(rows, columns, false, 0.0);
        let mut workspace = Workspace::default();
        let mut best = [[f64::INFINITY; 2]; 2];
        for _ in 0..repeats {
            for (best, pool) in best.iter_mut().zip(&pools) {
                let found = seconds(&scene, pool, &mut workspace);
                for (best, found) in best.iter_mut().zip(found) {
                    *best = best.min(found);
                }
            }
        }
        let each = 1e9 / scene.contacts.len() as f64;
        // A sweep, and what comes before the first.
        let parts = |[few, many]: [f64; 2]| {
            let sweep = (many - few) / (SWEEPS[1] - SWEEPS[0]) as f64;
            (sweep, few - SWEEPS[0] as f64 * sweep)
        };
        let [one, two] = best.map(parts);
        if (rows, columns) == (50, 54) {
            println!("the same, of fifty rows:");
            least = f64::INFINITY;
        }
        least = least.min(one.0 * each);
        println!(
            "{:8}   {:6.1}   {:6.1}   {:4.2}      {:5.1}   {:5.1}      {:.2}",
            scene.contacts.len(),
            one.0 * each,
            two.0 * each,
            one.0 / two.0,
            one.1 / one.0,
            two.1 / two.0,
            one.0 * each / least
        );
    }
}

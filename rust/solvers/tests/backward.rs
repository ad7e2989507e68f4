//! What is said of impulses that are no solution: that they are one of a problem so near.

use crate::problems::{Scene, mixed_pile, pile, single};
use percuss_solvers::{BackwardError, Problem, Residuals, Settings, Solver, Vector3, Workspace};
use proptest::prelude::*;

/// Impulses after some sweeps, and their residuals.
fn sweep(problem: &Problem, r: &mut [Vector3], sweeps: usize) -> Residuals {
    let settings = Settings {
        tolerance: 1e-300,
        max_iterations: sweeps,
        max_factorisations: 0,
    };
    let mut u = r.to_vec();
    let workspace = &mut Workspace::default();
    let report = Solver::Nsgs.solve(problem, &settings, r, &mut u, workspace);
    report.unwrap().residuals
}

/// The energy residual in the problem whose free velocities are changed as told.
fn residual_of_the_changed(scene: &Scene, problem: &Problem, backward: &BackwardError) -> f64 {
    let q = problem.free_velocity().iter().zip(&backward.change);
    let q = q
        .map(|(q, change)| std::array::from_fn(|k| q[k] + change[k]))
        .collect();
    let (matrix, friction) = (problem.matrix().clone(), problem.friction().to_vec());
    let kinds = scene.contacts.iter().map(|contact| contact.kind).collect();
    let changed = Problem::with_kinds(matrix, q, friction, kinds).unwrap();
    sweep(&changed, &mut backward.impulses.clone(), 0).energy
}

#[test]
fn a_block_that_is_not_held_is_one_that_falls_no_more() {
    // Falling at 1 m/s with half of the impulse that stops it: 0.5 m/s are left, and half of them is the step's.
    let one = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let problem = single(one, [-1.0, 0.0, 0.0], 0.5);
    let backward = problem.backward_error(&[[0.5, 0.0, 0.0]]);
    // rho = 1/3: the step adds 0.5 / 3 to the impulse, which stops q = -2/3.
    assert!((backward.impulses[0][0] - 2.0 / 3.0).abs() < 1e-15);
    assert!((backward.change[0][0] - 1.0 / 3.0).abs() < 1e-15);
    assert!((backward.relative - 1.0 / 3.0).abs() < 1e-15);
    // What is a solution needs no change.
    let backward = problem.backward_error(&[[1.0, 0.0, 0.0]]);
    assert_eq!(backward.change, [[0.0; 3]]);
    assert_eq!(backward.relative, 0.0);
}

proptest! {
    /// After however few sweeps, and for blocks of every kind, the impulses solve the changed problem to rounding.
    #[test]
    fn the_changed_problem_is_solved(
        seed in 1_u64..u64::MAX, bodies in 1_usize..8, contacts in 1_usize..24, mu in 0.0..0.9_f64, sweeps in 0_usize..40,
    ) {
        let scene = mixed_pile(seed, bodies, contacts, [mu, 1.5 * mu + 0.01]);
        let problem = scene.problem();
        let mut r = vec![[0.0; 3]; problem.contacts()];
        sweep(&problem, &mut r, sweeps);
        let backward = problem.backward_error(&r);
        let left = residual_of_the_changed(&scene, &problem, &backward);
        prop_assert!(left <= 1e-9, "{left} of {}", backward.relative);
    }

    /// The change is no larger than the residual says: |u' - u| <= (1 + mu) |F| / rho, and |W F| has at most the trace.
    #[test]
    fn the_change_is_of_the_size_of_the_residual(
        seed in 1_u64..u64::MAX, bodies in 1_usize..8, contacts in 1_usize..24, mu in 0.0..0.9_f64, sweeps in 0_usize..40,
    ) {
        let problem = pile(seed, bodies, contacts, [mu, mu + 0.01]).problem();
        let mut r = vec![[0.0; 3]; problem.contacts()];
        let residual = sweep(&problem, &mut r, sweeps).energy;
        let backward = problem.backward_error(&r);
        let bound = (1.0 + 3.0 * (mu + 0.01) + problem.contacts() as f64) * residual + 1e-12;
        prop_assert!(backward.relative <= bound, "{} above {bound}", backward.relative);
    }
}

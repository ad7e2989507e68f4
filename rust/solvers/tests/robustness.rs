//! Empty, singular, redundant, stiff and broken problems.

use crate::problems::{Scene, pile, single, solve, tower, wall};
use percuss_solvers::{BlockMatrix, Error, Problem, Residuals, Settings, Solver, Workspace};

#[test]
fn empty_problem_is_solved() {
    for (name, solver) in Solver::TABLE {
        let (r, u, report) = solve(solver, &Scene::default().problem(), 1e-8);
        assert!(report.converged && r.is_empty() && u.is_empty(), "{name}");
        assert_eq!((report.iterations, report.factorisations), (0, 0), "{name}");
    }
}

#[test]
fn nothing_moves_nothing_pushes() {
    let problem = single([1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0], [0.0; 3], 0.5);
    for (name, solver) in Solver::TABLE {
        let mut r = [[3.0, 1.0, 0.0]];
        let mut u = [[9.0; 3]];
        let report = solver
            .solve(
                &problem,
                &Settings::default(),
                &mut r,
                &mut u,
                &mut Workspace::default(),
            )
            .unwrap();
        assert!(report.converged, "{name}");
        assert_eq!(
            (r, u),
            ([[0.0; 3]], [[0.0; 3]]),
            "{name}: also from a warm start"
        );
    }
}

#[test]
fn walls_are_solved_to_1e_8_by_all_but_plain_sweeps() {
    for (bars, speed) in [(false, 0.0), (false, 5.0), (true, 5.0)] {
        let problem = wall(4, 6, bars, speed).problem();
        for solver in [
            Solver::Accelerated,
            Solver::Apgd,
            Solver::Auto,
            Solver::Newton,
        ] {
            let (_, _, report) = solve(solver, &problem, 1e-8);
            assert!(report.converged, "{solver:?} {bars} {speed}: {report:?}");
        }
    }
}

#[test]
fn acceleration_saves_more_than_half_of_the_sweeps() {
    let problem = wall(4, 6, false, 0.0).problem();
    let sweeps = |solver| solve(solver, &problem, 1e-6).2.iterations;
    assert!(2 * sweeps(Solver::Accelerated) < sweeps(Solver::Nsgs));
}

#[test]
fn newton_solves_the_tower_on_which_sweeps_stall() {
    // Twenty cubes, four corners each: half of all impulses are redundant.
    let problem = tower(20, 0.5, 0.0).problem();
    let (_, _, sweeps) = solve(Solver::Nsgs, &problem, 1e-8);
    assert!(!sweeps.converged && sweeps.iterations == Settings::default().max_iterations);
    assert!(
        sweeps.residuals.energy > 1e-8 && sweeps.residuals.energy < 1.0,
        "reported as it is: {sweeps:?}"
    );
    for solver in [Solver::Newton, Solver::Auto] {
        let (r, _, report) = solve(solver, &problem, 1e-8);
        assert!(
            report.converged && report.factorisations < 100,
            "{solver:?}: {report:?}"
        );
        // The lowest four corners carry the momentum of all: 20 cubes of 2 kg falling for a quarter millisecond.
        let carried: f64 = r[..4].iter().map(|r| r[0]).sum();
        assert!(
            (carried - 40.0 * 9.80665 * 2.5e-4).abs() < 1e-6 * carried,
            "{carried}"
        );
    }
}

/// Piles on which sweeps and Newton end at residuals from 1e-6 to 3e-4: on the way to their solutions, interior points
/// turn back up to twenty times.
#[test]
fn interior_points_solve_the_jammed_piles_on_which_newton_fails() {
    let mut newton_fails = 0;
    for (seed, bodies, contacts, friction) in [
        (2609344402855950393, 7, 29, 0.5359582079337889),
        (8506827245042715, 6, 29, 0.5409391190930413),
        (8009595915559052, 4, 23, 0.5417375331076885),
        (823138747612887, 6, 24, 0.5303264949774663),
        (94828881257073, 4, 30, 0.4317086975247886),
        (3867861755547756, 7, 26, 0.5135080005618036),
        (7484026204299662, 3, 15, 0.5774742332631325),
        (17725666275347917477, 3, 19, 0.5958160400390625),
        (5690365061113486185, 6, 31, 0.5817993164062499),
        (3514152778565965363, 3, 14, 0.4611968994140625),
        (14764884154540325579, 7, 18, 0.5423492431640625),
    ] {
        let friction = [friction, 1.5 * friction + 0.01];
        let problem = pile(seed, bodies, contacts, friction).problem();
        let (_, _, newton) = solve(Solver::Newton, &problem, 1e-9);
        newton_fails += usize::from(!newton.converged);
        for solver in [Solver::Interior, Solver::Auto] {
            let (_, _, report) = solve(solver, &problem, 1e-9);
            assert!(report.converged, "{solver:?} {seed}: {report:?}");
        }
    }
    assert!(newton_fails >= 4, "else this shows nothing: {newton_fails}");
}

#[test]
fn contacts_without_friction_are_solved_inside_too() {
    for friction in [[0.0, 0.0], [0.0, 1e-9], [0.0, 0.3]] {
        let problem = pile(11, 8, 24, friction).problem();
        let (_, expected, _) = solve(Solver::Newton, &problem, 1e-10);
        let (_, u, report) = solve(Solver::Interior, &problem, 1e-9);
        assert!(report.converged, "{friction:?}: {report:?}");
        for (u, expected) in u.as_flattened().iter().zip(expected.as_flattened()) {
            assert!((u - expected).abs() < 1e-6, "{friction:?}");
        }
    }
}

#[test]
fn duplicated_contacts_change_nothing() {
    let scene = pile(3, 6, 12, [0.3, 0.5]);
    let mut doubled = scene.clone();
    doubled.contacts.extend_from_slice(&scene.contacts);
    let (_, u, _) = solve(Solver::Auto, &scene.problem(), 1e-10);
    for solver in [Solver::Accelerated, Solver::Newton, Solver::Auto] {
        let (_, twice, report) = solve(solver, &doubled.problem(), 1e-10);
        assert!(report.converged, "{solver:?}: {report:?}");
        for i in 0..u.len() {
            for k in 0..3 {
                assert!(
                    (u[i][k] - twice[i][k]).abs() < 1e-7
                        && (u[i][k] - twice[i + u.len()][k]).abs() < 1e-7
                );
            }
        }
    }
}

#[test]
fn a_warm_start_at_the_solution_takes_no_sweep() {
    let problem = wall(4, 6, true, 5.0).problem();
    let (r, u, _) = solve(Solver::Auto, &problem, 1e-8);
    for (name, solver) in Solver::TABLE {
        let (mut again_r, mut again_u) = (r.clone(), vec![[0.0; 3]; u.len()]);
        let settings = Settings {
            tolerance: 1e-8,
            ..Settings::default()
        };
        let report = solver
            .solve(
                &problem,
                &settings,
                &mut again_r,
                &mut again_u,
                &mut Workspace::default(),
            )
            .unwrap();
        assert_eq!((report.iterations, report.factorisations), (0, 0), "{name}");
        assert_eq!((&again_r, &again_u), (&r, &u), "{name}");
    }
}

#[test]
fn the_report_tells_the_residual_of_what_is_returned() {
    let problem = tower(10, 0.5, 1e-4).problem();
    for (name, solver) in Solver::TABLE {
        let settings = Settings {
            tolerance: 1e-12,
            max_iterations: 30,
            max_factorisations: 3,
        };
        let mut r = vec![[0.0; 3]; problem.contacts()];
        let mut u = r.clone();
        let report = solver
            .solve(
                &problem,
                &settings,
                &mut r,
                &mut u,
                &mut Workspace::default(),
            )
            .unwrap();
        assert!(
            !report.converged && report.iterations <= 30 && report.factorisations <= 3,
            "{name}: {report:?}"
        );
        assert_eq!(report.residuals, Residuals::new(&problem, &r, &u), "{name}");
    }
}

#[test]
fn bad_numbers_are_refused_by_name() {
    let w = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let build = |w: [f64; 9], q: [f64; 3], mu: f64| {
        Problem::new(
            BlockMatrix::from_block_rows(&[0, 1], &[0], &[w])?,
            vec![q],
            vec![mu],
        )
    };
    let message = |result: Result<Problem, Error>| result.expect_err("refused").to_string();
    let mut nan = w;
    nan[4] = f64::NAN;
    assert_eq!(
        message(build(nan, [0.0; 3], 0.1)),
        "W of contact 0 is NaN; every number must be finite"
    );
    assert_eq!(
        message(build(w, [0.0, f64::INFINITY, 0.0], 0.1)),
        "q of contact 0 is inf; every number must be finite"
    );
    assert_eq!(
        message(build(w, [0.0; 3], -0.1)),
        "friction coefficient of contact 0 is -0.1; it must be at least 0"
    );
    assert!(message(build([0.0; 9], [0.0; 3], 0.1)).contains("has trace 0e0; it must be positive"));
    let lengths = Problem::new(
        BlockMatrix::from_block_rows(&[0, 1], &[0], &[w]).unwrap(),
        vec![],
        vec![0.1],
    );
    assert_eq!(
        message(lengths),
        "q has 0 entries; the problem has 1 contacts"
    );
    let problem = build(w, [-1.0, 0.0, 0.0], 0.1).unwrap();
    let mut r = [[f64::NAN, 0.0, 0.0]];
    let mut u = [[0.0; 3]];
    let refused = Solver::Auto.solve(
        &problem,
        &Settings::default(),
        &mut r,
        &mut u,
        &mut Workspace::default(),
    );
    assert_eq!(
        refused.expect_err("refused").to_string(),
        "r of contact 0 is NaN; every number must be finite"
    );
    let settings = Settings {
        tolerance: 0.0,
        ..Settings::default()
    };
    let refused = Solver::Auto.solve(
        &problem,
        &settings,
        &mut u.clone(),
        &mut u,
        &mut Workspace::default(),
    );
    assert_eq!(refused, Err(Error::Tolerance(0.0)));
    let message = Solver::from_name("gauss").expect_err("refused").to_string();
    assert_eq!(
        message,
        "solver \"gauss\" is unknown; the solvers are accelerated, apgd, auto, interior, newton, nsgs"
    );
}

#[test]
fn badly_laid_out_matrices_are_refused() {
    for (starts, columns, blocks) in [
        (vec![], vec![], 0),
        (vec![1, 1], vec![], 0),
        (vec![0, 2, 1], vec![0], 1),
        (vec![0, 1], vec![0], 2),
        (vec![0, 1], vec![1], 1),
        (vec![0, 2, 2], vec![1, 0], 2),
    ] {
        let blocks = vec![[1.0; 9]; blocks];
        assert!(
            BlockMatrix::from_block_rows(&starts, &columns, &blocks).is_err(),
            "{starts:?} {columns:?}"
        );
    }
}

//! Rolling and twisting friction and friction with a given bound in the contact problem, on random piles.

use crate::problems::{Scene, mixed_pile, pile, single, solve, solve_within};
use percuss_solvers::{
    Assembly, BlockKind, BlockMatrix, Bodies, Error, Problem, Settings, Solver, Vector3, Workspace,
};
use proptest::prelude::*;

/// The pile with a couple after every contact.
fn with_couples(mut scene: Scene, twisting_m: f64, rolling_m: f64) -> Scene {
    scene.add_couples(twisting_m, rolling_m, || true);
    scene
}

fn norm(x: &[Vector3]) -> f64 {
    x.as_flattened().iter().map(|x| x * x).sum::<f64>().sqrt()
}

const SETTINGS: Settings = Settings {
    tolerance: 1e-6,
    max_iterations: 2_000,
    max_factorisations: 2_000,
};

proptest! {
    /// Cones and balls, no approach, friction and couples against the motion, and no energy given.
    #[test]
    fn blocks_of_every_kind_obey_their_law(
        seed in 1_u64..u64::MAX, bodies in 1_usize..8, contacts in 0_usize..24, mu in 0.0..0.6_f64,
    ) {
        let scene = mixed_pile(seed, bodies, contacts, [mu, 1.5 * mu + 0.01]);
        let problem = scene.problem();
        for (name, solver) in Solver::TABLE {
            let mut r = vec![[0.0; 3]; problem.contacts()];
            let mut u = r.clone();
            let report = solver.solve(&problem, &SETTINGS, &mut r, &mut u, &mut Workspace::default()).unwrap();
            // No method is proved to arrive; of 100 000 piles `auto` left one above 1e-6, at 2e-6.
            prop_assert!(solver != Solver::Auto || report.residuals.energy <= 1e-5, "{report:?}");
            if report.residuals.energy > 1e-4 {
                continue;
            }
            let error = 1e3 * report.residuals.energy.max(1e-6);
            let (impulse, speed) = (error * norm(&r), error * norm(problem.free_velocity()));
            let mut work = 0.0;
            for (i, block) in scene.contacts.iter().enumerate() {
                let dot = |from: usize| (from..3).map(|k| r[i][k] * u[i][k]).sum::<f64>();
                work += dot(0);
                // Of a contact the tangents are a disk, of all others the three components a ball.
                let (first, radius) = match block.kind {
                    BlockKind::Contact => (1, block.friction * r[i][0]),
                    BlockKind::Couple => (0, r[i - 1][0]),
                    BlockKind::Bounded => (0, block.friction),
                };
                let [length, slip] = [&r[i], &u[i]].map(|x| x[first..].iter().map(|x| x * x).sum::<f64>().sqrt());
                prop_assert!(length <= radius + impulse, "{name} {i} {:?}: {length} above {radius}", block.kind);
                prop_assert!(
                    (dot(first) + radius * slip).abs() <= impulse * slip + speed * (radius + length + impulse),
                    "{name} {i} {:?} opposes: {:?} {:?}", block.kind, r[i], u[i]
                );
                if block.kind == BlockKind::Contact {
                    prop_assert!(r[i][0] >= -impulse && u[i][0] >= -speed, "{name} {i}: {:?} {:?}", r[i], u[i]);
                    prop_assert!(r[i][0] * u[i][0] <= impulse * norm(problem.free_velocity()), "{name} {i}");
                }
            }
            prop_assert!(work <= impulse * norm(problem.free_velocity()), "{name}: blocks dissipate: {work}");
        }
    }

    #[test]
    fn sweeps_without_w_find_couples_too(seed in 1_u64..u64::MAX) {
        let scene = with_couples(pile(seed, 4, 6, [0.2, 0.3]), 0.02, 0.03);
        let mut r = vec![[0.0; 3]; scene.contacts.len()];
        let mut u = r.clone();
        let bodies = Bodies { masses: &scene.masses, contacts: &scene.contacts, joined: None };
        let found = Solver::sweep_bodies(&bodies, &SETTINGS, &mut r, &mut u, &mut Workspace::default()).unwrap();
        prop_assume!(found.converged);
        let report = Solver::Accelerated
            .solve(&scene.problem(), &SETTINGS, &mut r, &mut u, &mut Workspace::default())
            .unwrap();
        // What one form found the other takes for its own, up to rounding.
        prop_assert!(report.iterations <= 1 && report.converged, "{report:?}");
    }
}

/// Piles on which sweeps and, on most, Newton end at residuals from 6e-8 to 5e-4.
#[test]
fn interior_points_solve_the_jammed_piles_on_which_newton_fails() {
    let mut newton_fails = 0;
    for (seed, bodies, contacts, friction) in [
        (921163959749975169, 10, 24, 0.5530662320352147),
        (836513180006550785, 8, 31, 0.5425635342457262),
        (728815505749093761, 4, 20, 0.5096950777031999),
        (95043710359248305, 7, 25, 0.5345192802503971),
        (590386125294764033, 3, 28, 0.5288783052069349),
        (738948193447518465, 5, 30, 0.5353968469525534),
    ] {
        let problem =
            mixed_pile(seed, bodies, contacts, [friction, 1.5 * friction + 0.01]).problem();
        let settings = Settings {
            tolerance: 1e-9,
            max_factorisations: 1_000,
            ..Settings::default()
        };
        let (_, _, newton) = solve_within(Solver::Newton, &problem, &settings);
        let (_, _, interior) = solve(Solver::Interior, &problem, 1e-9);
        newton_fails += usize::from(!newton.converged);
        assert!(interior.converged, "{seed}: {interior:?}");
    }
    assert!(newton_fails >= 3, "else this shows nothing: {newton_fails}");
}

/// Alone, too: one in some three hundred piles is all that interior points lose.
#[test]
fn interior_points_alone_solve_nearly_all_piles() {
    let solved = (0..300)
        .filter(|&seed| {
            let friction = 0.002 * seed as f64;
            let scene = mixed_pile(
                seed + 1,
                1 + seed as usize % 9,
                seed as usize % 29,
                [friction, 1.5 * friction],
            );
            solve(Solver::Interior, &scene.problem(), 1e-8).2.converged
        })
        .count();
    assert!(solved >= 299, "{solved} of 300");
}

#[test]
fn without_coefficients_couples_change_nothing() {
    let scene = pile(3, 5, 8, [0.3, 0.3]);
    let (_, expected, _) = solve(Solver::Accelerated, &scene.problem(), 1e-9);
    // Coefficients too small to matter: exact zeros would leave W without a diagonal.
    let problem = with_couples(scene, 1e-12, 1e-12).problem();
    let (_, u, _) = solve(Solver::Accelerated, &problem, 1e-9);
    for (expected, u) in expected.iter().zip(u.iter().step_by(2)) {
        for k in 0..3 {
            assert!((expected[k] - u[k]).abs() < 1e-6);
        }
    }
}

#[test]
fn refusals_name_the_block() {
    let scene = with_couples(pile(3, 5, 8, [0.3, 0.3]), 0.1, 0.1);
    let orphans = &scene.contacts[1..];
    let told = Assembly::default()
        .assemble(&scene.masses, orphans, &mut Problem::default())
        .unwrap_err();
    assert_eq!(told, Error::CoupleAlone { contact: 0 });
    let one = single(
        [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        [-1.0, 0.0, 0.0],
        0.1,
    );
    let matrix: BlockMatrix = one.matrix().clone();
    let told = Problem::with_kinds(matrix, vec![[0.0; 3]], vec![0.1], vec![]).unwrap_err();
    assert!(told.to_string().contains("kinds has 0 entries"), "{told}");
}

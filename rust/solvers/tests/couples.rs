//! Rolling and twisting friction in the contact problem: the law of the couples, on random piles.

mod problems;

use percuss_solvers::{
    Assembly, BlockKind, BlockMatrix, BodyForm, Contact, Error, Problem, Settings, Solver, Vector3,
    Workspace,
};
use problems::{Scene, pile, single};
use proptest::prelude::*;

/// The pile with a couple after every contact.
fn with_couples(mut scene: Scene, twisting_m: f64, rolling_m: f64) -> Scene {
    let scale = [twisting_m, rolling_m, rolling_m];
    let couple = |contact: &Contact| {
        // The first three columns of a contact's rows are its directions.
        let jacobians = contact.jacobians.map(|rows| {
            std::array::from_fn(|k| {
                let [x, y, z] = [rows[k][0], rows[k][1], rows[k][2]].map(|x| x * scale[k]);
                [0.0, 0.0, 0.0, x, y, z]
            })
        });
        let mut free_velocity = [0.0; 3];
        for (body, rows) in contact.bodies.iter().zip(&jacobians) {
            if let Some(body) = body {
                let v = &scene.velocities[*body as usize];
                for k in 0..3 {
                    let row: &[f64; 6] = &rows[k];
                    free_velocity[k] += row.iter().zip(v).map(|(j, v)| j * v).sum::<f64>();
                }
            }
        }
        Contact {
            jacobians,
            free_velocity,
            kind: BlockKind::Couple,
            ..*contact
        }
    };
    scene.contacts = scene
        .contacts
        .iter()
        .flat_map(|contact| [*contact, couple(contact)])
        .collect();
    scene
}

fn norm(x: &[Vector3]) -> f64 {
    x.as_flattened().iter().map(|x| x * x).sum::<f64>().sqrt()
}

const SETTINGS: Settings = Settings {
    tolerance: 1e-6,
    max_iterations: 2_000,
    max_factorisations: 500,
};

proptest! {
    #[test]
    fn couples_stay_in_their_ball_and_oppose_the_spin(
        seed in 1_u64..u64::MAX, bodies in 1_usize..8, contacts in 1_usize..16, mu in 0.0..0.5_f64,
        twisting in 0.001..0.1_f64, rolling in 0.001..0.1_f64,
    ) {
        let mut scene = pile(seed, bodies, contacts, [mu, mu + 0.1]);
        // Spins, so that couples have something to stop.
        for (k, v) in scene.velocities.iter_mut().enumerate() {
            v[3..].copy_from_slice(&[0.7, -0.4 * k as f64, 1.3]);
        }
        let scene = with_couples(scene, twisting, rolling);
        let problem = scene.problem();
        for (_, solver) in Solver::TABLE {
            let mut r = vec![[0.0; 3]; problem.contacts()];
            let mut u = r.clone();
            let report = solver.solve(&problem, &SETTINGS, &mut r, &mut u, &mut Workspace::default()).unwrap();
            // No method is proved to arrive; the last resort of `auto` has always come this far.
            prop_assert!(solver != Solver::Auto || report.residuals.energy <= 1e-5, "{report:?}");
            if report.residuals.energy > 1e-4 {
                continue;
            }
            let error = 1e3 * report.residuals.energy.max(1e-6);
            let (impulse, speed) = (error * norm(&r), error * norm(problem.free_velocity()));
            let mut work = 0.0;
            for i in (0..r.len()).step_by(2) {
                let (s, w) = (&r[i + 1], &u[i + 1]);
                let [length, spin] = [s, w].map(|x| norm(&[*x]));
                prop_assert!(length <= r[i][0] + impulse, "{s:?} under {}", r[i][0]);
                let along: f64 = s.iter().zip(w).map(|(s, w)| s * w).sum();
                prop_assert!((along + r[i][0] * spin).abs() <= impulse * spin + speed * (length + impulse), "{s:?} {w:?}");
                work += along + r[i].iter().zip(&u[i]).map(|(r, u)| r * u).sum::<f64>();
            }
            prop_assert!(work <= impulse * norm(problem.free_velocity()), "contacts dissipate: {work}");
        }
    }

    #[test]
    fn sweeps_without_w_find_couples_too(seed in 1_u64..u64::MAX) {
        let scene = with_couples(pile(seed, 4, 6, [0.2, 0.3]), 0.02, 0.03);
        let mut r = vec![[0.0; 3]; scene.contacts.len()];
        let mut u = r.clone();
        let found = BodyForm::default().solve(&scene.masses, &scene.contacts, &SETTINGS, &mut r, &mut u).unwrap();
        prop_assume!(found.converged);
        let report = Solver::Accelerated
            .solve(&scene.problem(), &SETTINGS, &mut r, &mut u, &mut Workspace::default())
            .unwrap();
        // What one form found the other takes for its own, up to rounding.
        prop_assert!(report.iterations <= 1 && report.converged, "{report:?}");
    }
}

#[test]
fn without_coefficients_couples_change_nothing() {
    let scene = pile(3, 5, 8, [0.3, 0.3]);
    let (_, expected, _) = problems::solve(Solver::Accelerated, &scene.problem(), 1e-9);
    // Coefficients too small to matter: exact zeros would leave W without a diagonal.
    let problem = with_couples(scene, 1e-12, 1e-12).problem();
    let (_, u, _) = problems::solve(Solver::Accelerated, &problem, 1e-9);
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

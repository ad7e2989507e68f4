//! What is said of the existence of solutions: proofs for what can be solved, a bound for what cannot.

use crate::problems::{Scene, pile, single, solve, tower, wall};
use percuss_solvers::{BlockMatrix, Existence, Problem, Residuals, Solver};
use proptest::prelude::*;

/// A block of 1 kg that walls close in on from both sides at `speed`, beside one that lies on the ground.
fn squeezed(speed: f64, mu: f64) -> Problem {
    let one = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    // The second normal and first tangent point the other way.
    let turned = [-1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 1.0];
    let matrix = BlockMatrix::from_block_rows(
        &[0, 2, 4, 5],
        &[0, 1, 0, 1, 2],
        &[one, turned, turned, one, one],
    )
    .unwrap();
    let q = vec![[-speed, 0.0, 0.0], [-speed, 0.0, 0.0], [-0.1, 0.3, 0.0]];
    Problem::new(matrix, q, vec![mu; 3]).unwrap()
}

#[test]
fn a_block_between_closing_walls_has_no_solution_and_no_residual_below_the_bound() {
    for (speed, mu) in [(1.0, 0.5), (0.01, 0.0), (3.0, 0.9)] {
        let problem = squeezed(speed, mu);
        let Existence::Refuted { residual } = problem.existence() else {
            panic!("{:?}", problem.existence());
        };
        // l = (1, 1, 0): 2 v over the roots of 2 (1 + mu^2) trace and of the energy of q, trace = 3.
        let energy = (2.0 * speed * speed + 0.1) / 3.0;
        let exact = 2.0 * speed / (2.0 * (1.0 + mu * mu) * 3.0 * energy).sqrt();
        assert!((residual / exact - 1.0).abs() < 1e-4, "{residual} {exact}");
        for (name, solver) in Solver::TABLE {
            let (_, _, report) = solve(solver, &problem, 1e-8);
            // Where both walls are met alike the bound is reached; impulses grow to 1e8 there, and velocities lose digits.
            assert!(
                !report.converged && report.residuals.energy >= residual * (1.0 - 1e-5),
                "{name}: {report:?}, {residual}"
            );
        }
    }
}

#[test]
fn impulses_beside_which_the_free_velocity_is_lost_are_no_solution() {
    let problem = squeezed(1.0, 0.5);
    // 1e18 + (-1e18) - 1, summed from the left or from the right: none or -1.
    let u = [[0.0; 3], [0.0; 3], [0.0, 0.25, 0.0]];
    for (size, told) in [(1e18, true), (1e3, false)] {
        let r = [[size, 0.0, 0.0], [size, 0.0, 0.0], [0.1, -0.05, 0.0]];
        let found = Residuals::new(&problem, &r, &u);
        for residual in [found.energy, found.plain, found.velocity] {
            assert_eq!(residual > 0.1, told, "{found:?}");
            assert!(told || residual < 1e-9, "{found:?}");
        }
    }
}

#[test]
fn walls_that_part_again_leave_a_solution() {
    assert!(matches!(
        squeezed(-0.2, 0.5).existence(),
        Existence::Proven { .. }
    ));
    let still = single([1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0], [0.0; 3], 0.5);
    assert!(matches!(still.existence(), Existence::Proven { .. }));
    assert!(matches!(
        Scene::default().problem().existence(),
        Existence::Proven { .. }
    ));
}

#[test]
fn walls_and_towers_have_solutions() {
    for scene in [
        wall(4, 6, false, 5.0),
        wall(4, 6, true, 5.0),
        tower(8, 0.5, 0.1),
    ] {
        let existence = scene.problem().existence();
        assert!(
            matches!(existence, Existence::Proven { margin } if margin > 0.0),
            "{existence:?}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// What is solved was not impossible.
    #[test]
    fn piles_that_are_solved_are_not_refuted(seed in any::<u64>()) {
        let problem = pile(seed, 6, 12, [0.1, 0.9]).problem();
        let (_, _, report) = solve(Solver::Auto, &problem, 1e-8);
        if report.converged {
            let existence = problem.existence();
            prop_assert!(!matches!(existence, Existence::Refuted { .. }), "{:?}", existence);
        }
    }
}

/// Two contacts that a push along one's tangent couples one way more than the other: W_01 differs from its transpose by `off`.
fn lopsided(off: f64, q: [f64; 3]) -> Problem {
    let two = [2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0];
    let one = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let pushed = [1.0, 2.0 * off, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let blocks = [two, pushed, one, two];
    let matrix = BlockMatrix::from_block_rows(&[0, 2, 4], &[0, 1, 0, 1], &blocks).unwrap();
    Problem::new(matrix, vec![q, [-1.0, 0.0, 0.0]], vec![0.5; 2]).unwrap()
}

#[test]
fn of_a_matrix_that_is_not_symmetric_its_symmetric_part_is_judged() {
    let existence = |off| lopsided(off, [-1.0, 0.3, 0.0]).existence();
    for off in [0.0, 1e-12] {
        assert!(matches!(existence(off), Existence::Proven { .. }));
    }
    let Existence::Nearby { margin, asymmetry } = existence(1e-3) else {
        panic!("{:?}", existence(1e-3));
    };
    assert!(
        margin > 0.0 && (asymmetry / 1e-3 - 1.0).abs() < 1e-12,
        "{margin} {asymmetry}"
    );
}

#[test]
fn a_block_that_is_stored_on_one_side_only_counts_as_asymmetry() {
    let one = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let slight = one.map(|x| 0.25 * x);
    let matrix = BlockMatrix::from_block_rows(&[0, 2, 3], &[0, 1, 1], &[one, slight, one]).unwrap();
    let problem = Problem::new(matrix, vec![[-1.0, 0.0, 0.0]; 2], vec![0.3; 2]).unwrap();
    assert!(
        matches!(problem.existence(), Existence::Nearby { asymmetry, .. } if asymmetry == 0.25),
        "{:?}",
        problem.existence()
    );
}

#[test]
fn walls_that_close_in_are_refuted_however_the_rest_of_the_matrix_is_off() {
    // The block on the ground is pushed by an impulse at the first wall, and not the other way round: l = (1, 1, 0) still moves nothing.
    let one = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let turned = [-1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 1.0];
    let pushed = [0.1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    let matrix = BlockMatrix::from_block_rows(
        &[0, 2, 4, 6],
        &[0, 1, 0, 1, 0, 2],
        &[one, turned, turned, one, pushed, one],
    )
    .unwrap();
    let q = vec![[-1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [-0.1, 0.3, 0.0]];
    let problem = Problem::new(matrix, q, vec![0.5; 3]).unwrap();
    let Existence::Refuted { residual } = problem.existence() else {
        panic!("{:?}", problem.existence());
    };
    let exact = 2.0 / (2.0 * 1.25 * 3.0 * (2.1 / 3.0_f64)).sqrt();
    assert!((residual / exact - 1.0).abs() < 1e-4, "{residual} {exact}");
}

/// Three contacts without friction, coupled along their normals alone.
fn frictionless(w: [[f64; 3]; 3], tangents: [[f64; 2]; 3], q: [f64; 3]) -> Problem {
    let mut blocks = w.map(|row| row.map(|x| [x, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]));
    for k in 0..3 {
        (blocks[k][k][4], blocks[k][k][8]) = (tangents[k][0], tangents[k][1]);
    }
    let columns = [0, 1, 2, 0, 1, 2, 0, 1, 2];
    let matrix = BlockMatrix::from_block_rows(&[0, 3, 6, 9], &columns, blocks.as_flattened());
    let q = q.map(|x| [x, 0.0, 0.0]).to_vec();
    Problem::new(matrix.unwrap(), q, vec![0.0; 3]).unwrap()
}

/// Three frictionless contacts whose W, symmetric but with an eigenvalue of -7.3, has impulses that open all of them; by trying
/// every set of closed contacts, none solves the problem.
#[test]
fn what_has_negative_eigenvalues_is_not_proven_to_have_a_solution() {
    let w = [[0.07, -8.02, 0.16], [-8.02, 1.45, 0.51], [0.16, 0.51, 0.01]];
    let problem = frictionless(w, [[0.0; 2]; 3], [0.4, -0.1, 0.0]);
    assert_eq!(problem.existence(), Existence::Open);
}

/// Another such W, along which impulses grow beyond all numbers: no bound of the residual follows from them.
#[test]
fn a_bound_that_is_no_number_refutes_nothing() {
    let w = [
        [1.75463574, -0.04687762, 0.48142393],
        [-0.04687762, 0.83685592, -0.06055559],
        [0.48142393, -0.06055559, 0.00137777],
    ];
    let tangents = [[0.0; 2], [0.0; 2], [0.000688885; 2]];
    let problem = frictionless(w, tangents, [-0.40425253, -1.48187226, -2.40613114]);
    assert_eq!(problem.existence(), Existence::Open);
}

//! Contacts at bodies that joints connect, and friction with a given bound.

use crate::problems::pile;
use percuss_solvers::{
    Assembly, BlockKind, Contact, InverseMass, Joined, Problem, Settings, Solver, Span, Workspace,
    response,
};
use proptest::prelude::*;

/// y = D^-1/2 L^-1 (G M^-1 J^T) for one row G between two bodies, which is a scalar matter.
fn joined(
    masses: &[InverseMass],
    contacts: &[Contact],
    row: &[[f64; 6]; 2],
    of: [u32; 2],
) -> Joined {
    let given =
        |side: usize| response(&masses[of[side] as usize], &[row[side], [0.0; 6], [0.0; 6]])[0];
    let dot = |a: &[f64; 6], b: &[f64; 6]| (0..6).map(|k| a[k] * b[k]).sum::<f64>();
    let given = [given(0), given(1)];
    let own = dot(&row[0], &given[0]) + dot(&row[1], &given[1]);
    let mut joined = Joined {
        groups: (0..masses.len() as u32).collect(),
        blocked: vec![false; contacts.len()],
        ..Joined::default()
    };
    joined.groups[of[1] as usize] = of[0];
    for contact in contacts {
        let mut y = [0.0; 3];
        let mut touches = false;
        for (body, jacobian) in contact.bodies.iter().zip(&contact.jacobians) {
            for side in 0..2 {
                if *body == Some(of[side]) {
                    touches = true;
                    for k in 0..3 {
                        y[k] += dot(&jacobian[k], &given[side]) / own.sqrt();
                    }
                }
            }
        }
        let start = joined.columns.len() as u32;
        let span = touches.then_some(Span {
            group: of[0],
            first: 0,
            start,
            end: start + 1,
        });
        joined.columns.extend(touches.then_some(y));
        joined.spans.push([span, None]);
    }
    joined
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// W with a joint is W of very stiff coupling: the impulse of the joint eliminated by hand gives the same.
    #[test]
    fn w_of_joined_bodies_is_that_with_the_joint_eliminated(
        seed in 1_u64..u64::MAX, row in prop::array::uniform2(prop::array::uniform6(-1.0..1.0_f64)),
    ) {
        let mut scene = pile(seed, 5, 8, [0.3, 0.3]);
        let of = [0_u32, 1];
        let plain = scene.problem();
        let joined = joined(&scene.masses, &scene.contacts, &row, of);
        let mut problem = Problem::default();
        Assembly::default()
            .assemble_joined(&scene.masses, &scene.contacts, Some(&joined), &mut problem)
            .unwrap();
        // u = W r + q with r anything, against bodies whose joint answers the impulses.
        let impulses: Vec<[f64; 3]> = (0..scene.contacts.len())
            .map(|i| [1.0 + i as f64, 0.3 - i as f64, 0.2]).collect();
        let mut twists = vec![[0.0; 6]; scene.masses.len()];
        percuss_solvers::apply_impulses(&scene.masses, &scene.contacts, &impulses, &mut twists);
        let dot = |a: &[f64; 6], b: &[f64; 6]| (0..6).map(|k| a[k] * b[k]).sum::<f64>();
        let given: Vec<[f64; 6]> = (0..2)
            .map(|s| response(&scene.masses[s], &[row[s], [0.0; 6], [0.0; 6]])[0]).collect();
        let own = dot(&row[0], &given[0]) + dot(&row[1], &given[1]);
        let rate = dot(&row[0], &twists[0]) + dot(&row[1], &twists[1]);
        for s in 0..2 {
            for k in 0..6 {
                twists[s][k] -= given[s][k] * rate / own;
            }
        }
        // A solver with no iterations left only reports u.
        let settings = Settings { max_iterations: 0, max_factorisations: 0, ..Settings::default() };
        let mut r = impulses.clone();
        let mut u = vec![[0.0; 3]; r.len()];
        Solver::Nsgs.solve(&problem, &settings, &mut r, &mut u, &mut Workspace::default()).unwrap();
        prop_assert!(plain.contacts() == problem.contacts() && r == impulses);
        for (i, contact) in scene.contacts.iter_mut().enumerate() {
            for k in 0..3 {
                let mut exact = contact.free_velocity[k];
                for (body, jacobian) in contact.bodies.iter().zip(&contact.jacobians) {
                    if let Some(body) = body {
                        exact += dot(&jacobian[k], &twists[*body as usize]);
                    }
                }
                let scale = 1.0 + exact.abs();
                prop_assert!((u[i][k] - exact).abs() < 1e-9 * scale, "{} {exact}", u[i][k]);
            }
        }
    }

    /// Bounded blocks hold up to their bound and slip against the motion beyond.
    #[test]
    fn bounded_friction_holds_or_opposes(q in -2.0..2.0_f64, bound in 0.0..3.0_f64, mass in 0.1..5.0_f64) {
        let masses = [InverseMass { translation_per_kg: 1.0 / mass, rotation_per_kg_m2: [[0.0; 3]; 3] }];
        let mut jacobian = [[0.0; 6]; 3];
        jacobian[0][0] = 1.0;
        let contacts = [Contact {
            bodies: [Some(0), None],
            jacobians: [jacobian, [[0.0; 6]; 3]],
            free_velocity: [q, 0.0, 0.0],
            friction: bound,
            kind: BlockKind::Bounded,
        }];
        let mut problem = Problem::default();
        Assembly::default().assemble(&masses, &contacts, &mut problem).unwrap();
        let exact = (-mass * q).clamp(-bound, bound);
        for (name, solver) in Solver::TABLE {
            let settings = Settings { tolerance: 1e-10, ..Settings::default() };
            let (mut r, mut u) = ([[0.0; 3]], [[0.0; 3]]);
            let report = solver.solve(&problem, &settings, &mut r, &mut u, &mut Workspace::default()).unwrap();
            prop_assert!(report.converged, "{name}");
            prop_assert!((r[0][0] - exact).abs() < 1e-8 * (1.0 + mass), "{name}: {} {exact}", r[0][0]);
        }
    }
}

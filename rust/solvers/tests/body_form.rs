//! Sweeps without W solve the same problem as sweeps with it.

use crate::problems;
use percuss_solvers::{
    Assembly, BlockKind, Bodies, Contact, InverseMass, Problem, Residuals, Settings, Solver,
    Workspace,
};
use proptest::prelude::*;

const BODIES: usize = 6;

fn contact() -> impl Strategy<Value = Contact> {
    let jacobian = prop::array::uniform3(prop::array::uniform6(-1.0..1.0_f64));
    (
        (0..BODIES as u32, 0..BODIES as u32 + 1),
        prop::array::uniform2(jacobian),
        prop::array::uniform3(-1.0..0.5_f64),
        0.0..1.0_f64,
    )
        .prop_map(|((a, b), jacobians, free_velocity, friction)| Contact {
            // The last one stands for the ground.
            bodies: [Some(a), (b < BODIES as u32).then_some(b)],
            jacobians,
            free_velocity,
            friction,
            kind: BlockKind::Contact,
        })
}

fn bodies() -> Vec<InverseMass> {
    let mass = |k: usize| {
        let x = 0.1 + k as f64;
        InverseMass {
            translation_per_kg: 1.0 / x,
            rotation_per_kg_m2: [[2.0 / x, 0.3, 0.0], [0.3, 3.0, 0.1], [0.0, 0.1, 1.0 + x]],
        }
    };
    (0..BODIES).map(mass).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn both_forms_agree(contacts in prop::collection::vec(contact(), 1..8)) {
        let bodies = bodies();
        let settings = Settings { tolerance: 1e-9, max_iterations: 5000, max_factorisations: 0 };
        let mut problem = Problem::default();
        Assembly::default().assemble(&bodies, &contacts, &mut problem).unwrap();
        let (mut r, mut u) = (vec![[0.0; 3]; contacts.len()], vec![[0.0; 3]; contacts.len()]);
        let with = Solver::Accelerated
            .solve(&problem, &settings, &mut r, &mut u, &mut Workspace::default())
            .unwrap();
        let (mut workspace, scene) = (Workspace::default(), Bodies { masses: &bodies, contacts: &contacts, joined: None });
        let (mut s, mut w) = (vec![[0.0; 3]; contacts.len()], vec![[0.0; 3]; contacts.len()]);
        let without = Solver::sweep_bodies(&scene, &settings, &mut s, &mut w, &mut workspace).unwrap();
        // Its residual is that of the problem with W.
        let judged = Residuals::new(&problem, &s, &w);
        prop_assert!((judged.energy - without.residuals.energy).abs() <= 1e-12);
        // It gives up only where two looks at its progress found too little of it; a step then turns to W.
        if with.converged {
            prop_assert!(without.converged || without.iterations >= 400, "{without:?}");
        }
        // A solution is where it stays.
        if without.converged {
            let again = Solver::sweep_bodies(&scene, &settings, &mut s, &mut w, &mut workspace).unwrap();
            prop_assert_eq!(again.iterations, 0);
        }
    }
}

#[test]
fn a_body_that_does_not_exist_is_refused() {
    let contact = Contact {
        bodies: [Some(3), None],
        jacobians: [[[0.0; 6]; 3]; 2],
        free_velocity: [0.0; 3],
        friction: 0.0,
        kind: BlockKind::Contact,
    };
    let scene = Bodies {
        masses: &bodies()[..2],
        contacts: &[contact],
        joined: None,
    };
    let (settings, mut workspace) = (Settings::default(), Workspace::default());
    let [mut r, mut u] = [[[0.0; 3]]; 2];
    let swept = Solver::sweep_bodies(&scene, &settings, &mut r, &mut u, &mut workspace);
    let solved = Solver::Auto.solve_bodies(&scene, &settings, &mut r, &mut u, &mut workspace);
    for error in [swept.unwrap_err(), solved.unwrap_err()] {
        assert_eq!(
            error.to_string(),
            "body 3 of contact 0 does not exist; there are 2"
        );
    }
}

/// Problems that are cut into slabs: any number of threads gives the bits of one, and what they find is a solution.
#[test]
fn threads_change_no_bit() {
    let mut scene = problems::wall(10, 130, true, 5.0);
    scene.add_couples(0.01, 0.02, || true);
    let contacts = scene.contacts.len();
    assert!(contacts > 4000);
    let bodies = Bodies {
        masses: &scene.masses,
        contacts: &scene.contacts,
        joined: None,
    };
    let settings = Settings {
        tolerance: 1e-6,
        max_iterations: 2000,
        max_factorisations: 0,
    };
    let solve = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let [mut r, mut u] = [vec![[0.0; 3]; contacts], vec![[0.0; 3]; contacts]];
        let report = pool.build().unwrap().install(|| {
            Solver::sweep_bodies(
                &bodies,
                &settings,
                &mut r,
                &mut u,
                &mut Workspace::default(),
            )
            .unwrap()
        });
        (report, r, u)
    };
    let (report, r, u) = solve(1);
    assert!(report.iterations > 50);
    for threads in [2, 3, 8] {
        assert!(solve(threads) == (report, r.clone(), u.clone()));
    }
    let mut problem = Problem::default();
    Assembly::default()
        .assemble(&scene.masses, &scene.contacts, &mut problem)
        .unwrap();
    let judged = Residuals::new(&problem, &r, &u);
    assert!((judged.energy - report.residuals.energy).abs() <= 1e-10);
    assert!(judged.energy < 1e-2, "{judged:?}");
}

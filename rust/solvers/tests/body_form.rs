//! Sweeps without W solve the same problem as sweeps with it.

use crate::problems;
use percuss_solvers::{
    Assembly, BlockKind, Bodies, Contact, InverseMass, Jacobian, Problem, Residuals, Settings,
    Solver, Workspace, apply_impulses,
};
use proptest::prelude::*;

const BODIES: usize = 6;

fn contact() -> impl Strategy<Value = Contact> {
    let vector = || prop::array::uniform3(-1.0..1.0_f64);
    (
        (0..BODIES as u32, 0..BODIES as u32 + 1),
        (any::<u64>(), [vector(), vector()]),
        prop::array::uniform3(-1.0..0.5_f64),
        // Some without friction.
        (0.0..1.0_f64).prop_map(|friction| (friction - 0.1).max(0.0)),
    )
        .prop_map(|((a, b), (seed, arms), free_velocity, friction)| Contact {
            // The last one stands for the ground.
            bodies: [Some(a), (b < BODIES as u32).then_some(b)],
            jacobians: problems::at_arms(problems::Random::new(seed).unit(), arms),
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

/// The law of Coulomb is met by each contact after sweeps with couples among contacts of many kinds, packed in batches: by the
/// residual of the problem with W, and by the velocities of the other solver.
#[test]
fn couples_are_swept_among_contacts() {
    let mut scene = problems::wall(4, 6, true, 2.0);
    let mut turn = 0;
    scene.add_couples(0.02, 0.03, || {
        turn += 1;
        turn % 3 == 0
    });
    let bodies = Bodies {
        masses: &scene.masses,
        contacts: &scene.contacts,
        joined: None,
    };
    let settings = Settings {
        tolerance: 1e-9,
        max_iterations: 20_000,
        max_factorisations: 0,
    };
    let count = scene.contacts.len();
    let [mut r, mut u, mut s, mut w] = [0; 4].map(|_| vec![[0.0; 3]; count]);
    let mut workspace = Workspace::default();
    let swept = Solver::sweep_bodies(&bodies, &settings, &mut r, &mut u, &mut workspace).unwrap();
    let problem = scene.problem();
    let judged = Residuals::new(&problem, &r, &u);
    assert!((judged.energy - swept.residuals.energy).abs() <= 1e-12);
    assert!(swept.residuals.energy < 1e-6, "{swept:?}");
    let with = Solver::Accelerated.solve(&problem, &settings, &mut s, &mut w, &mut workspace);
    assert!(with.unwrap().residuals.energy < 1e-6);
    for (u, w) in u.iter().flatten().zip(w.iter().flatten()) {
        assert!((u - w).abs() < 1e-5, "{u} {w}");
    }
}

/// Rows that move both bodies in one direction are none that can be swept without W: they are swept with it, to the bit.
#[test]
fn rows_of_another_form_are_swept_with_w() {
    let row = |k: usize| std::array::from_fn(|c| ((3 * k + 7 * c) as f64).sin());
    let jacobian: Jacobian = std::array::from_fn(row);
    let contact = |kind| Contact {
        bodies: [Some(0), Some(1)],
        jacobians: [jacobian, jacobian],
        free_velocity: [-1.0, 0.5, 0.2],
        friction: 0.4,
        kind,
    };
    let contacts = [BlockKind::Contact, BlockKind::Bounded].map(contact);
    let bodies = bodies();
    let scene = Bodies {
        masses: &bodies,
        contacts: &contacts,
        joined: None,
    };
    let settings = Settings {
        tolerance: 1e-10,
        max_iterations: 500,
        max_factorisations: 0,
    };
    let mut workspace = Workspace::default();
    let [mut r, mut u, mut s, mut w] = [[[0.0; 3]; 2]; 4];
    let swept = Solver::sweep_bodies(&scene, &settings, &mut r, &mut u, &mut workspace);
    let accelerated = Solver::Accelerated;
    let solved = accelerated.solve_bodies(&scene, &settings, &mut s, &mut w, &mut workspace);
    assert_eq!(swept, solved);
    assert!(swept.unwrap().converged);
    assert_eq!((r, u), (s, w));
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

/// What a large problem was cut into is kept for the next one, and used only where the contacts are the same: storage that
/// has seen others, and one that was refused, gives the bits of fresh storage.
#[test]
fn kept_cuts_change_no_bit() {
    let settings = Settings {
        tolerance: 1e-6,
        max_iterations: 40,
        max_factorisations: 0,
    };
    let solve = |masses: &[InverseMass], contacts: &[Contact], workspace: &mut Workspace| {
        let bodies = Bodies {
            masses,
            contacts,
            joined: None,
        };
        let [mut r, mut u] = [0, 1].map(|_| vec![[0.0; 3]; contacts.len()]);
        let swept = Solver::sweep_bodies(&bodies, &settings, &mut r, &mut u, workspace);
        swept.map(|_| (r, u)).map_err(|fault| fault.to_string())
    };
    let scene = problems::wall(10, 130, true, 5.0);
    let mut faster = scene.contacts.clone();
    faster.iter_mut().for_each(|c| c.free_velocity[0] *= 1.5);
    // As many contacts, two of them between other bodies.
    let mut others = scene.contacts.clone();
    let last = others.len() - 1;
    let bodies = [others[0].bodies, others[last].bodies];
    (others[0].bodies, others[last].bodies) = (bodies[1], bodies[0]);
    let mut bad = scene.contacts.clone();
    bad[7].free_velocity[0] = f64::NAN;
    let mut kept = Workspace::default();
    for contacts in [
        &scene.contacts,
        &faster,
        &bad,
        &faster,
        &others,
        &scene.contacts,
    ] {
        let fresh = solve(&scene.masses, contacts, &mut Workspace::default());
        let again = solve(&scene.masses, contacts, &mut kept);
        assert!(fresh.is_ok() != std::ptr::eq(contacts, &bad));
        assert!(fresh == again);
    }
}

/// Impulses of many contacts, which all threads work out, move bodies by the bits of those of few.
#[test]
fn impulses_of_many_contacts_move_bodies_like_those_of_few() {
    let scene = problems::wall(10, 130, true, 5.0);
    let contacts = &scene.contacts;
    assert!(contacts.len() > 4000);
    let impulse = |k: usize| match k % 5 {
        0 => [0.0; 3],
        _ => [1.0 + (k as f64).sin(), (k as f64).cos(), 0.1],
    };
    let r: Vec<[f64; 3]> = (0..contacts.len()).map(impulse).collect();
    let mut whole = vec![[0.5; 6]; scene.masses.len()];
    let mut parts = whole.clone();
    apply_impulses(&scene.masses, contacts, &r, &mut whole);
    for (contacts, r) in contacts.chunks(100).zip(r.chunks(100)) {
        apply_impulses(&scene.masses, contacts, r, &mut parts);
    }
    assert!(whole == parts && whole != vec![[0.5; 6]; scene.masses.len()]);
}

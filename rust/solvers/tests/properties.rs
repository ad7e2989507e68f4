//! What holds for every solution of every problem, checked on random piles.

use crate::problems::{Scene, pile, solve, solve_within};
use percuss_solvers::{Assembly, Problem, Settings, Solver, Vector3, Workspace, apply_impulses};
use proptest::prelude::*;

fn norm(x: &[Vector3]) -> f64 {
    x.as_flattened().iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn difference(x: &[Vector3], y: &[Vector3]) -> f64 {
    let gap: Vec<Vector3> = x
        .iter()
        .zip(y)
        .map(|(x, y)| std::array::from_fn(|k| x[k] - y[k]))
        .collect();
    norm(&gap)
}

/// A random pile by its recipe, which is what a failing case prints.
#[derive(Debug, Clone)]
struct Recipe {
    seed: u64,
    bodies: usize,
    contacts: usize,
    friction: f64,
}

impl Recipe {
    fn scene(&self) -> Scene {
        pile(
            self.seed,
            self.bodies,
            self.contacts,
            [self.friction, 1.5 * self.friction + 0.01],
        )
    }
}

/// Bodies from 0.1 to 100 kg and up to three contacts a body, so that W is often singular.
fn piles() -> impl Strategy<Value = Recipe> {
    recipes(0.6)
}

/// Coulomb friction has one solution in velocity only while it is weak; how weak depends on the pile: twenty contacts of two
/// bodies with coefficients of 0.05 to 0.08 had two (seed 8736196134084616391), 3e-4 |q| apart.
fn slippery_piles() -> impl Strategy<Value = Recipe> {
    recipes(0.02)
}

fn recipes(friction: f64) -> impl Strategy<Value = Recipe> {
    (1_u64..u64::MAX, 1_usize..12, 0_usize..32, 0.0..friction).prop_map(
        |(seed, bodies, contacts, friction)| Recipe {
            seed,
            bodies,
            contacts,
            friction,
        },
    )
}

/// Where bits are compared: what differs does so from the first iterations on, and need not arrive.
const SHORT: Settings = Settings {
    tolerance: 1e-6,
    max_iterations: 300,
    max_factorisations: 100,
};

proptest! {
    #[test]
    fn impulses_obey_the_law(recipe in piles()) {
        let problem = recipe.scene().problem();
        let (r, u, report) = solve(Solver::Auto, &problem, 1e-9);
        // No method is proved to arrive; of 40 000 piles all but two were solved to 1e-9, the worst to 6e-9.
        prop_assert!(report.residuals.energy <= 1e-7, "{report:?}");
        // The residual bounds each of these up to a small factor.
        let error = 100.0 * report.residuals.energy.max(1e-9);
        let (speed, impulse_scale) = (norm(problem.free_velocity()), error * norm(&r));
        // Light bodies err by more in velocity than the energy norm shows; that norm is told beside it.
        let velocity_scale = speed * error.max(10.0 * report.residuals.velocity);
        for ((r, u), mu) in r.iter().zip(&u).zip(problem.friction()) {
            prop_assert!(r[0] >= -impulse_scale && r[1].hypot(r[2]) <= mu * r[0] + impulse_scale, "cone {r:?}");
            prop_assert!(u[0] >= -velocity_scale, "no approach {u:?}");
            prop_assert!(r[0] * u[0] <= impulse_scale * norm(problem.free_velocity()), "complementary {r:?} {u:?}");
            let slip = u[1].hypot(u[2]);
            if slip > 100.0 * velocity_scale {
                let (along, limit) = (r[1] * u[1] + r[2] * u[2], mu * r[0] * slip);
                prop_assert!((along + limit).abs() <= 100.0 * impulse_scale * slip, "friction opposes slip");
            }
        }
    }

    #[test]
    fn energy_never_grows(recipe in piles()) {
        // q = H v without restitution: the kinetic energy changes by r . (u + q) / 2.
        let problem = recipe.scene().problem();
        let (r, u, _) = solve(Solver::Auto, &problem, 1e-9);
        let (mut work, mut change) = (0.0, 0.0);
        for i in 0..r.len() {
            for k in 0..3 {
                work += r[i][k] * u[i][k];
                change += 0.5 * r[i][k] * (u[i][k] + problem.free_velocity()[i][k]);
            }
        }
        let scale = 1e-8 * norm(&r) * norm(problem.free_velocity());
        prop_assert!(work <= scale, "contacts dissipate: {work}");
        prop_assert!(change <= scale, "kinetic energy: {change}");
    }

    #[test]
    fn applied_impulses_give_the_velocities_found(recipe in piles()) {
        let scene = recipe.scene();
        let (r, u, _) = solve(Solver::Auto, &scene.problem(), 1e-6);
        let mut velocities = scene.velocities.clone();
        apply_impulses(&scene.masses, &scene.contacts, &r, &mut velocities);
        // Rounding of sums of a few dozen terms of this size; the lightest body has 1/m = 10 and 1/I near 1000.
        let scale = 1e-13 * (norm(scene.problem().free_velocity()) + 1e3 * norm(&r));
        for (contact, u) in scene.contacts.iter().zip(&u) {
            for k in 0..3 {
                let mut expected = 0.0;
                for (body, jacobian) in contact.bodies.iter().zip(&contact.jacobians) {
                    if let Some(body) = body {
                        let velocity = &velocities[*body as usize];
                        expected += jacobian[k].iter().zip(velocity).map(|(j, v)| j * v).sum::<f64>();
                    }
                }
                prop_assert!((u[k] - expected).abs() <= scale, "{} {expected}", u[k]);
            }
        }
    }

    #[test]
    fn units_do_not_matter(recipe in piles(), mass in -20_i32..20, length in -20_i32..20, time in -20_i32..20) {
        // Powers of two scale without rounding, so every iteration must be the same to the bit.
        let [mass, length, time] = [mass, length, time].map(|power| 2.0_f64.powi(power));
        let speed = length / time;
        let scene = recipe.scene();
        let mut scaled = scene.clone();
        for body in &mut scaled.masses {
            body.translation_per_kg /= mass;
            body.rotation_per_kg_m2 = body.rotation_per_kg_m2.map(|row| row.map(|x| x / (mass * length * length)));
        }
        for contact in &mut scaled.contacts {
            contact.free_velocity = contact.free_velocity.map(|x| x * speed);
            for row in contact.jacobians.as_flattened_mut() {
                for arm in &mut row[3..] {
                    *arm *= length;
                }
            }
        }
        for (name, solver) in Solver::TABLE {
            let (r, u, report) = solve_within(solver, &scene.problem(), &SHORT);
            let (r2, u2, report2) = solve_within(solver, &scaled.problem(), &SHORT);
            prop_assert_eq!(report.iterations, report2.iterations, "{}", name);
            prop_assert_eq!(report.factorisations, report2.factorisations, "{}", name);
            prop_assert_eq!(report.residuals.energy, report2.residuals.energy, "{}", name);
            for i in 0..r.len() {
                prop_assert_eq!(u2[i], u[i].map(|x| x * speed), "{}", name);
                prop_assert_eq!(r2[i], r[i].map(|x| x * mass * speed), "{}", name);
            }
        }
    }

    #[test]
    fn numbering_does_not_matter(recipe in slippery_piles(), shift in 1_usize..30) {
        let scene = recipe.scene();
        let count = scene.contacts.len();
        prop_assume!(count > 1);
        let mut renumbered = scene.clone();
        renumbered.contacts.rotate_left(shift % count);
        renumbered.contacts.swap(0, count / 2);
        let (_, u, first) = solve(Solver::Auto, &scene.problem(), 1e-10);
        let (_, mut other, second) = solve(Solver::Auto, &renumbered.problem(), 1e-10);
        prop_assert!(first.converged && second.converged, "{first:?} {second:?}");
        other.swap(0, count / 2);
        other.rotate_right(shift % count);
        let allowed = 1e-5 * norm(scene.problem().free_velocity());
        prop_assert!(difference(&u, &other) <= allowed, "{}", difference(&u, &other));
    }

    #[test]
    fn solvers_agree_in_velocity(recipe in slippery_piles()) {
        let problem = recipe.scene().problem();
        let (_, reference, report) = solve(Solver::Newton, &problem, 1e-10);
        prop_assert!(report.converged, "{report:?}");
        for (name, solver) in Solver::TABLE {
            let (_, u, report) = solve(solver, &problem, 1e-8);
            // Masses differ a thousandfold, and so may the condition; another solution would be off by |q|.
            let allowed = 1e5 * report.residuals.energy.max(1e-10) * norm(problem.free_velocity());
            prop_assert!(difference(&u, &reference) <= allowed, "{name}: {} {report:?}", difference(&u, &reference));
        }
    }

    #[test]
    fn the_same_bits_whatever_the_workspace_held(first in piles(), second in piles()) {
        let (mut assembly, mut problem, mut workspace) =
            (Assembly::default(), Problem::default(), Workspace::default());
        for scene in [first.scene(), second.scene()] {
            assembly.assemble(&scene.masses, &scene.contacts, &mut problem).unwrap();
            for (name, solver) in Solver::TABLE {
                let mut r = vec![[0.0; 3]; problem.contacts()];
                let mut u = r.clone();
                let report = solver.solve(&problem, &SHORT, &mut r, &mut u, &mut workspace).unwrap();
                prop_assert_eq!((r, u, report), solve_within(solver, &scene.problem(), &SHORT), "{}", name);
            }
        }
    }
}

//! Results do not depend on how the system is written down: mirrored, renumbered, in other units, on more threads.

use crate::common::{every, frames, hertz_stiffness};
use percuss_laws::{Damping, Law};
use percuss_oscillators::{
    BaseMotion, Contact, Damper, Integrator, Node, Rayleigh, Record, Spring, System, simulate,
    simulate_many,
};

/// Three buildings of two storeys in a row on a rough record, four contacts.
fn row(law: Law, stiffness: f64) -> System {
    let storeys = |first: usize, k: f64| {
        [
            [Node::Mass(first), Node::Base],
            [Node::Mass(first + 1), Node::Mass(first)],
        ]
        .map(|nodes| Spring {
            nodes,
            linear_n_per_m: k,
            cubic_n_per_m3: 0.0,
            law: None,
        })
    };
    let contact = |left: usize, right: usize| Contact {
        left: Node::Mass(left),
        right: Node::Mass(right),
        gap_m: 0.01,
        law,
        damping: Damping::Exact,
        restitution: 0.65,
        stiffness,
    };
    let times: Vec<f64> = (0..400).map(|i| 0.01 * f64::from(i)).collect();
    let shaking = |t: f64| 6.0 * (9.0 * t).sin() * (1.7 * t + 0.3).cos() + 2.0 * (31.0 * t).sin();
    let values = times.iter().map(|&t| shaking(t)).collect();
    System {
        masses_kg: vec![1000.0, 900.0, 1500.0, 1400.0, 800.0, 700.0],
        springs: [storeys(0, 1.5e5), storeys(2, 6e5), storeys(4, 2.5e5)].concat(),
        dampers: vec![Damper {
            nodes: [Node::Mass(1), Node::Mass(0)],
            viscous_n_s_per_m: 300.0,
            exponent: 1.0,
        }],
        rayleigh: Rayleigh {
            mass_per_s: 0.3,
            stiffness_s: 1e-3,
        },
        contacts: vec![contact(0, 2), contact(1, 3), contact(2, 4), contact(3, 5)],
        initial_displacement_m: vec![0.0; 6],
        initial_velocity_m_s: vec![0.0; 6],
        base: BaseMotion::Record(Record::new(times, values).unwrap()),
    }
}

/// Event against Runge-Kutta with small steps: an independent method for many masses, contacts and a record.
#[test]
fn many_masses_agree_with_small_steps() {
    let system = row(Law::MahmoudJankowski, 2e7);
    let exact = simulate(&system, &every(0.02, 1.5, Integrator::Event)).unwrap();
    let error = |step_s: f64| {
        let run = simulate(
            &system,
            &every(0.02, 1.5, Integrator::RungeKutta { step_s }),
        )
        .unwrap();
        exact
            .displacement_m
            .iter()
            .zip(&run.displacement_m)
            .map(|(x, y)| (x - y).abs())
            .fold(0.0, f64::max)
    };
    let (coarse, fine) = (error(1e-5), error(1e-6));
    println!(
        "{} impacts; rk4 differs by {coarse:.1e} m at 10 us, {fine:.1e} m at 1 us",
        exact.impacts.len()
    );
    assert!(exact.impacts.len() > 10 && fine < 5e-6 && fine < 0.2 * coarse);
    // without contact the method is of fourth order and agrees to rounding
    let mut apart = row(Law::MahmoudJankowski, 2e7);
    apart.contacts.clear();
    let exact = simulate(&apart, &every(0.02, 3.0, Integrator::Event)).unwrap();
    let run = simulate(
        &apart,
        &every(0.02, 3.0, Integrator::RungeKutta { step_s: 1e-4 }),
    )
    .unwrap();
    let gap = exact
        .displacement_m
        .iter()
        .zip(&run.displacement_m)
        .map(|(x, y)| (x - y).abs())
        .fold(0.0, f64::max);
    assert!(gap < 1e-10, "{gap}");
}

#[test]
fn mirror_image() {
    for law in [Law::KelvinVoigt, Law::Rigid, Law::Jankowski, Law::Linear] {
        let stiffness = if law == Law::Jankowski {
            hertz_stiffness(500.0)
        } else {
            2e6
        };
        let system = frames(law, Damping::Exact, 0.5, stiffness);
        let mut mirrored = system.clone();
        mirrored
            .initial_displacement_m
            .iter_mut()
            .for_each(|u| *u = -*u);
        let contact = &mut mirrored.contacts[0];
        std::mem::swap(&mut contact.left, &mut contact.right);
        let settings = every(0.01, 12.0, Integrator::Event);
        let (a, b) = (
            simulate(&system, &settings).unwrap(),
            simulate(&mirrored, &settings).unwrap(),
        );
        assert_eq!(a.impacts.len(), b.impacts.len());
        for (x, y) in a.displacement_m.iter().zip(&b.displacement_m) {
            assert!((x + y).abs() < 1e-12, "{law:?}: {x} {y}");
        }
    }
}

#[test]
fn renumbered_masses() {
    let system = row(Law::Ye, 2e7);
    let place = [3, 0, 5, 1, 4, 2];
    let moved = |node: Node| match node {
        Node::Base => Node::Base,
        Node::Mass(i) => Node::Mass(place[i]),
    };
    let mut other = system.clone();
    for (&to, &mass) in place.iter().zip(&system.masses_kg) {
        other.masses_kg[to] = mass;
    }
    other
        .springs
        .iter_mut()
        .for_each(|spring| spring.nodes = spring.nodes.map(moved));
    other
        .dampers
        .iter_mut()
        .for_each(|damper| damper.nodes = damper.nodes.map(moved));
    for contact in &mut other.contacts {
        (contact.left, contact.right) = (moved(contact.left), moved(contact.right));
    }
    for integrator in [Integrator::Event, Integrator::Newmark { step_s: 1e-4 }] {
        let settings = every(0.02, 1.0, integrator);
        let (a, b) = (
            simulate(&system, &settings).unwrap(),
            simulate(&other, &settings).unwrap(),
        );
        for row in 0..51 {
            for (i, &to) in place.iter().enumerate() {
                let gap = a.displacement_m[6 * row + i] - b.displacement_m[6 * row + to];
                assert!(gap.abs() < 1e-9, "{integrator:?} row {row} mass {i}: {gap}");
            }
        }
    }
}

/// Lengths in mm and masses in t, so that forces stay in N: the same motion a thousand times as large in numbers.
#[test]
fn other_units() {
    let system = frames(Law::KelvinVoigt, Damping::Exact, 0.4, 2e6);
    let mut other = system.clone();
    let thousandth = |x: &mut f64| *x /= 1e3;
    other.masses_kg.iter_mut().for_each(thousandth);
    other
        .springs
        .iter_mut()
        .for_each(|spring| spring.linear_n_per_m /= 1e3);
    other
        .dampers
        .iter_mut()
        .for_each(|damper| damper.viscous_n_s_per_m /= 1e3);
    other.contacts[0].stiffness /= 1e3;
    other.contacts[0].gap_m *= 1e3;
    other
        .initial_displacement_m
        .iter_mut()
        .for_each(|u| *u *= 1e3);
    let settings = every(0.05, 12.0, Integrator::Event);
    let (a, b) = (
        simulate(&system, &settings).unwrap(),
        simulate(&other, &settings).unwrap(),
    );
    for (x, y) in a.displacement_m.iter().zip(&b.displacement_m) {
        assert!((x * 1e3 - y).abs() < 1e-9, "{x} {y}");
    }
    assert!((a.energy.contact_j[0] * 1e3 / b.energy.contact_j[0] - 1.0).abs() < 1e-9);
}

/// The same bits on one thread and on four.
#[test]
fn batch_is_the_same_at_any_thread_count() {
    let systems: Vec<System> = (0..300)
        .map(|i| {
            frames(
                Law::ALL[i % 10],
                Damping::Exact,
                0.3 + 0.002 * i as f64,
                1e6,
            )
        })
        .collect();
    let settings = every(0.5, 3.0, Integrator::Event);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| simulate_many(&systems, &settings, || true))
    };
    let (one, four) = (on(1), on(4));
    assert_eq!(one.len(), 300);
    // compared as text, every digit of it: impacts under way at the end hold NaN, which equals nothing
    let text = |runs: &[Result<
        percuss_oscillators::Run,
        percuss_oscillators::OscillatorError,
    >]| format!("{runs:?}");
    assert!(
        text(&one) == text(&four),
        "results depend on the number of threads"
    );
    let mut asked = 0;
    let stopped = simulate_many(&systems, &settings, || {
        asked += 1;
        asked < 2
    });
    assert!(stopped.len() < 300 && text(&stopped) == text(&one[..stopped.len()]));
}

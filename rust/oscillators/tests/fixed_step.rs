//! The fixed-step integrators: order of convergence, the known error of central differences, refusals.

use crate::common::{every, frames, hertz_stiffness};
use percuss_laws::{Damping, Law};
use percuss_oscillators::{
    BaseMotion, Harmonic, Integrator, Node, OscillatorError, Rayleigh, Run, Spring, System,
    simulate,
};

fn schemes(step_s: f64) -> [Integrator; 4] {
    [
        Integrator::CentralDifference { step_s },
        Integrator::Newmark { step_s },
        Integrator::RungeKutta { step_s },
        Integrator::MoreauJean { step_s, theta: 0.5 },
    ]
}

fn largest_difference(a: &Run, b: &Run) -> f64 {
    a.displacement_m
        .iter()
        .zip(&b.displacement_m)
        .map(|(x, y)| (x - y).abs())
        .fold(0.0, f64::max)
}

/// Three storeys with cubic springs and Rayleigh damping on a shaking base, no contact.
fn smooth_system() -> System {
    let nodes = [
        [Node::Mass(0), Node::Base],
        [Node::Mass(1), Node::Mass(0)],
        [Node::Mass(2), Node::Mass(1)],
    ];
    System {
        masses_kg: vec![3.0, 2.0, 1.5],
        springs: nodes
            .map(|nodes| Spring {
                nodes,
                linear_n_per_m: 400.0,
                cubic_n_per_m3: 3e4,
                law: None,
            })
            .to_vec(),
        rayleigh: Rayleigh {
            mass_per_s: 0.1,
            stiffness_s: 2e-3,
        },
        initial_displacement_m: vec![0.02, 0.05, 0.06],
        initial_velocity_m_s: vec![0.0, -0.3, 0.2],
        base: BaseMotion::Harmonics(vec![Harmonic {
            amplitude_m_s2: 2.0,
            frequency_hz: 1.3,
            phase_rad: 0.3,
            start_s: 0.0,
            end_s: f64::INFINITY,
        }]),
        ..System::default()
    }
}

#[test]
fn observed_order_in_smooth_motion() {
    let system = smooth_system();
    let exact = simulate(&system, &every(0.1, 2.0, Integrator::Event)).unwrap();
    for (coarse, fine, order) in schemes(2e-3)
        .into_iter()
        .zip(schemes(1e-3))
        .zip([2.0, 2.0, 4.0, 2.0])
        .map(|((coarse, fine), order)| (coarse, fine, order))
    {
        let error = |integrator| {
            largest_difference(
                &simulate(&system, &every(0.1, 2.0, integrator)).unwrap(),
                &exact,
            )
        };
        let (large, small) = (error(coarse), error(fine));
        let observed = (large / small).log2();
        println!(
            "{}: error {large:.2e} -> {small:.2e} m, observed order {observed:.2}",
            coarse.name()
        );
        assert!(
            (observed - order).abs() < 0.15,
            "{}: order {observed}",
            coarse.name()
        );
    }
}

/// With impacts the schemes step over onset and release: order about 1 in general, but they converge.
#[test]
fn observed_order_through_an_impact() {
    for (law, schemes) in [
        (Law::MahmoudJankowski, [0, 1, 2].as_slice()),
        (Law::Rigid, [3].as_slice()),
    ] {
        let system = frames(law, Damping::Exact, 0.5, 2e5);
        let exact = simulate(&system, &every(0.1, 1.0, Integrator::Event)).unwrap();
        for &scheme in schemes {
            let error = |step: f64| {
                let run = simulate(&system, &every(0.1, 1.0, self::schemes(step)[scheme])).unwrap();
                largest_difference(&run, &exact)
            };
            // errors at single steps jump with where the onset falls between two; a mean over steps shows the order
            let mean = |step: f64| {
                (0..32)
                    .map(|i| error(step * (1.0 + 0.017 * f64::from(i))))
                    .sum::<f64>()
                    / 32.0
            };
            let (large, small) = (mean(1e-4), mean(1e-5));
            let observed = (large / small).log10();
            println!(
                "{law:?} {}: mean error {large:.2e} -> {small:.2e} m, observed order {observed:.2}",
                self::schemes(1.0)[scheme].name()
            );
            assert!(observed > 0.8, "{law:?} {scheme}: order {observed}");
        }
    }
}

/// Central differences at 1 ms, the step of the measurement, are 3.2 mm off over 12 s (scatter of impacts missed).
#[test]
fn central_difference_has_its_known_error() {
    let system = frames(Law::KelvinVoigt, Damping::Nominal, 0.5, 2e6);
    let exact = simulate(&system, &every(0.02, 12.0, Integrator::Event)).unwrap();
    let run = simulate(
        &system,
        &every(0.02, 12.0, Integrator::CentralDifference { step_s: 1e-3 }),
    )
    .unwrap();
    let error = largest_difference(&run, &exact);
    println!("central difference at 1 ms: {:.3} mm", error * 1e3);
    assert!((error - 3.152e-3).abs() < 1e-6, "{error}");
}

#[test]
fn unstable_steps_are_refused_with_the_limit() {
    let refuse = |law, stiffness, integrator| {
        simulate(
            &frames(law, Damping::Nominal, 0.5, stiffness),
            &every(0.5, 12.0, integrator),
        )
        .unwrap_err()
    };
    // 20 000 N/mm: omega 2707 rad/s with the contact closed, damping ratio 0.2155 lagging
    let refusal = refuse(
        Law::KelvinVoigt,
        2e7,
        Integrator::CentralDifference { step_s: 1e-3 },
    );
    let OscillatorError::Unstable {
        limit_s, time_s, ..
    } = refusal
    else {
        panic!("{refusal}")
    };
    assert!(
        (limit_s - 5.96e-4).abs() < 1e-6 && time_s == 0.0,
        "{refusal}"
    );
    // a Hertz contact stiffens as it closes: refused when it does, 0.32 s into the run
    let refusal = refuse(
        Law::Jankowski,
        hertz_stiffness(5e4),
        Integrator::CentralDifference { step_s: 1e-3 },
    );
    let OscillatorError::Unstable { time_s, .. } = refusal else {
        panic!("{refusal}")
    };
    assert!((time_s - 0.319).abs() < 2e-3, "{refusal}");
    assert!(matches!(
        refuse(
            Law::KelvinVoigt,
            2e7,
            Integrator::RungeKutta { step_s: 2e-3 }
        ),
        OscillatorError::Unstable { .. }
    ));
}

/// Just below the limit a closed contact stays bounded; the limit is not a guess.
#[test]
fn the_limit_is_sharp() {
    let mut system = frames(Law::KelvinVoigtTension, Damping::Exact, 0.5, 2e6);
    // press the frames together for good
    system.contacts[0].gap_m = 0.0;
    system.initial_displacement_m = vec![0.0, 0.0];
    system.base = BaseMotion::Fixed;
    system.springs.push(Spring {
        nodes: [Node::Mass(0), Node::Base],
        linear_n_per_m: 0.0,
        cubic_n_per_m3: 0.0,
        law: None,
    });
    let OscillatorError::Unstable { limit_s, .. } = simulate(
        &system,
        &every(1.0, 1.0, Integrator::CentralDifference { step_s: 0.1 }),
    )
    .unwrap_err() else {
        panic!("a step of 0.1 s must be refused")
    };
    let omega = f64::sqrt(2e6 / (6.0239 * 4.9871 / (6.0239 + 4.9871)));
    let ratio = 2f64.ln() / (std::f64::consts::PI.powi(2) + 2f64.ln().powi(2)).sqrt();
    let expected = 2.0 * ((1.0 + ratio * ratio).sqrt() - ratio) / omega;
    assert!(
        (limit_s / expected - 1.0).abs() < 1e-4,
        "{limit_s} {expected}"
    );
}

#[test]
fn laws_that_do_not_fit_are_refused() {
    let refuse = |law, integrator| {
        simulate(
            &frames(law, Damping::Exact, 0.5, 2e6),
            &every(0.5, 1.0, integrator),
        )
        .unwrap_err()
        .to_string()
    };
    assert!(refuse(Law::Rigid, schemes(1e-4)[0]).contains("use event or moreau-jean"));
    assert!(refuse(Law::Ye, schemes(1e-4)[3]).contains("rigid law only"));
}

/// Small systems use matrices of fixed size, large ones banded: the same numbers, up to rounding.
#[test]
fn small_and_large_systems_agree() {
    let small = frames(Law::KelvinVoigt, Damping::Exact, 0.6, 2e5);
    let mut large = small.clone();
    large.masses_kg.extend([1.0, 2.0, 3.0]);
    large.initial_displacement_m.extend([0.0; 3]);
    large.initial_velocity_m_s.extend([0.0; 3]);
    for scheme in &schemes(1e-4)[..3] {
        let a = simulate(&small, &every(0.01, 2.0, *scheme)).unwrap();
        let b = simulate(&large, &every(0.01, 2.0, *scheme)).unwrap();
        for (mass, row) in (0..2).flat_map(|mass| (0..201).map(move |row| (mass, row))) {
            let gap = a.displacement_m[2 * row + mass] - b.displacement_m[5 * row + mass];
            assert!(gap.abs() < 1e-10, "{scheme:?} row {row}: {gap}");
        }
    }
}

/// Outputs off the grid of steps lie on the cubic through its ends.
#[test]
fn outputs_need_not_fall_on_steps() {
    let system = smooth_system();
    let exact = simulate(&system, &every(0.0037, 1.0, Integrator::Event)).unwrap();
    let run = simulate(
        &system,
        &every(0.0037, 1.0, Integrator::RungeKutta { step_s: 1e-3 }),
    )
    .unwrap();
    assert!(largest_difference(&run, &exact) < 1e-9);
}

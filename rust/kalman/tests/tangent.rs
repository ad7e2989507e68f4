//! The derivative of a step against complex steps (an independent right-hand side) and central differences (every
//! compliant impact law, masses and damping ratios included).

use nalgebra::Complex;
use percuss_kalman::{Augmented, Dynamics, Inputs, RatioDamper, Sensed, Sensor, Tracked};
use percuss_laws::{Damping, Law};
use percuss_oscillators::{Contact, Damper, Model, Node, Parameter, Spring, System};

type C = Complex<f64>;

const STEP_S: f64 = 0.01;

fn to_base(i: usize) -> [Node; 2] {
    [Node::Mass(i), Node::Base]
}

/// Eqs. 36-37 of Green et al. with a cubic term, in motion relative to the base.
fn two_storeys() -> System {
    let spring = |nodes, linear_n_per_m, cubic_n_per_m3| Spring {
        nodes,
        linear_n_per_m,
        cubic_n_per_m3,
        law: None,
    };
    let between = [Node::Mass(1), Node::Mass(0)];
    let damper = |nodes, viscous_n_s_per_m| Damper {
        nodes,
        viscous_n_s_per_m,
        exponent: 1.0,
    };
    System {
        masses_kg: vec![1.5, 1.2],
        springs: vec![
            spring(to_base(0), 1500.0, 4e4),
            spring(between, 1400.0, 3e4),
        ],
        dampers: vec![damper(to_base(0), 10.0), damper(between, 8.0)],
        initial_displacement_m: vec![0.0; 2],
        initial_velocity_m_s: vec![0.0; 2],
        ..System::default()
    }
}

fn storey_rate(x: &[C], base: f64, force: f64) -> Vec<C> {
    let (m1, m2) = (1.5, 1.2);
    let (u1, u2, v1, v2) = (x[0], x[1], x[2], x[3]);
    let (k1, k2, c1, c2, q1) = (x[4], x[5], x[6], x[7], x[8]);
    let lower = k1 * u1 + c1 * v1 + q1 * u1 * u1 * u1;
    let drift = u2 - u1;
    let upper = k2 * drift + c2 * (v2 - v1) + drift * drift * drift * 3e4;
    let mut rate = vec![C::from(0.0); x.len()];
    rate[0] = v1;
    rate[1] = v2;
    rate[2] = (upper - lower) / m1 - base;
    rate[3] = -(upper - force) / m2 - base;
    rate
}

fn storey_step(x: &[C], base: [f64; 2], force: [f64; 2]) -> Vec<C> {
    let mid = |pair: [f64; 2]| 0.5 * (pair[0] + pair[1]);
    let along = |k: &[C], h: f64| -> Vec<C> { x.iter().zip(k).map(|(x, k)| x + k * h).collect() };
    let k1 = storey_rate(x, base[0], force[0]);
    let k2 = storey_rate(&along(&k1, 0.5 * STEP_S), mid(base), mid(force));
    let k3 = storey_rate(&along(&k2, 0.5 * STEP_S), mid(base), mid(force));
    let k4 = storey_rate(&along(&k3, STEP_S), base[1], force[1]);
    (0..x.len())
        .map(|i| x[i] + (k1[i] + k2[i] * 2.0 + k3[i] * 2.0 + k4[i]) * (STEP_S / 6.0))
        .collect()
}

fn one(number: Parameter) -> Tracked {
    Tracked {
        numbers: vec![number],
    }
}

#[test]
fn step_matches_complex_steps_to_rounding() {
    let tracked = [
        one(Parameter::SpringLinear(0)),
        one(Parameter::SpringLinear(1)),
        one(Parameter::Damper(0)),
        one(Parameter::Damper(1)),
        one(Parameter::SpringCubic(0)),
    ];
    let (base, force) = ([0.7, -1.1], [0.4, 0.9]);
    let inputs = Inputs {
        step_s: STEP_S,
        substeps: 1,
        base_m_s2: base.to_vec(),
        forces_n: vec![(1, force.to_vec())],
    };
    let sensor = |sensed, mass| Sensor { sensed, mass };
    let sensors = [
        sensor(Sensed::Acceleration, 0),
        sensor(Sensed::Acceleration, 1),
    ];
    let model = Model::new(&two_storeys()).unwrap();
    let mut dynamics = Augmented::new(model, &tracked, &[], &inputs, &sensors).unwrap();
    let start = [0.03, -0.02, 0.2, 0.5, 1510.0, 1390.0, 9.0, 8.5, 4.1e4];
    let mut state = start;
    let mut slope = [0.0; 4 * 9];
    dynamics.advance(1, &mut state, &mut slope).unwrap();
    let (mut reading, mut row) = ([0.0; 2], [0.0; 18]);
    dynamics.observe(1, &state, &mut reading, &mut row).unwrap();
    let tiny = 1e-150;
    for j in 0..9 {
        let shifted = |from: &[f64]| -> Vec<C> {
            let mut x: Vec<C> = from.iter().map(|&x| C::from(x)).collect();
            x[j].im = tiny;
            x
        };
        let end = storey_step(&shifted(&start), base, force);
        for i in 0..4 {
            let exact = end[i].im / tiny;
            // rounding of about forty operations on terms that partly cancel
            let scale = exact.abs() + 1e-3 / start[j].abs();
            assert!((slope[i * 9 + j] - exact).abs() < 1e-12 * scale, "{i} {j}");
            assert!((state[i] - end[i].re).abs() < 1e-14);
        }
        let rate = storey_rate(&shifted(&state), base[1], force[1]);
        for i in 0..2 {
            let exact = rate[2 + i].im / tiny;
            assert!((row[i * 9 + j] - exact).abs() < 1e-12 * (exact.abs() + 1.0));
            assert!((reading[i] - (rate[2 + i].re + base[1])).abs() < 1e-11);
        }
    }
}

/// Two frames in contact, mid-collision; shared parameters and a ratio damper tracked through its spring and mass.
#[test]
fn step_matches_differences_for_every_compliant_law() {
    for law in Law::ALL.into_iter().filter(|law| *law != Law::Rigid) {
        let spring = |i, linear_n_per_m| Spring {
            nodes: to_base(i),
            linear_n_per_m,
            cubic_n_per_m3: 0.0,
            law: None,
        };
        let stiffness = 3e4;
        let system = System {
            masses_kg: vec![6.0, 5.0],
            springs: vec![spring(0, 288.0), spring(1, 330.0)],
            dampers: vec![Damper {
                nodes: to_base(0),
                viscous_n_s_per_m: 1.0,
                exponent: 1.0,
            }],
            contacts: vec![Contact {
                left: Node::Mass(0),
                right: Node::Mass(1),
                gap_m: 0.01,
                law,
                damping: Damping::Exact,
                restitution: 0.6,
                stiffness,
            }],
            initial_displacement_m: vec![0.0; 2],
            initial_velocity_m_s: vec![0.0; 2],
            ..System::default()
        };
        let tracked = [
            one(Parameter::Mass(0)),
            one(Parameter::SpringLinear(0)),
            Tracked::default(),
            one(Parameter::ContactStiffness(0)),
            one(Parameter::ContactRestitution(0)),
            one(Parameter::ContactGap(0)),
        ];
        let ratio = RatioDamper {
            damper: 0,
            spring: 0,
            mass: 0,
            ratio: 0.02,
            tracked: Some(2),
        };
        let inputs = Inputs {
            step_s: 4e-4,
            substeps: 1,
            ..Inputs::default()
        };
        let model = Model::new(&system).unwrap();
        let start = [
            0.0115, 0.0005, 0.3, -0.1, 6.0, 288.0, 0.02, stiffness, 0.6, 0.01,
        ];
        let advance = |state: &[f64]| {
            let (mut state, mut slope) = (state.to_vec(), vec![0.0; 40]);
            let sensors = [Sensor {
                sensed: Sensed::Displacement,
                mass: 0,
            }];
            let fresh = Augmented::new(model.clone(), &tracked, &[ratio], &inputs, &sensors);
            let mut dynamics = fresh.unwrap();
            dynamics.advance(1, &mut state, &mut slope).unwrap();
            (state, slope)
        };
        let slope = advance(&start).1;
        for j in 0..10 {
            let h = 1e-5 * start[j].abs();
            let moved = |by: f64| {
                let mut state = start;
                state[j] += by;
                advance(&state).0
            };
            let (plus, minus) = (moved(h), moved(-h));
            for i in 0..4 {
                // displacements change by 1e-4 of velocities in such a step; differences are good to about 1e-9
                let size = if i < 2 { 1e-4 } else { 1.0 };
                let difference = (plus[i] - minus[i]) / (2.0 * h);
                let scale = difference.abs() + 0.3 * size / start[j].abs();
                assert!(
                    (slope[i * 10 + j] - difference).abs() < 1e-7 * scale,
                    "{law:?} {i} {j}: {} {difference}",
                    slope[i * 10 + j]
                );
            }
        }
    }
}

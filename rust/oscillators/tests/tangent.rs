//! Derivatives of the right-hand side against central differences.

use crate::common::frames;
use percuss_laws::{Damping, Law, Memory};
use percuss_oscillators::{Load, Model, Parameter, System};

#[test]
fn derivatives_match_differences() {
    let memory = [Some(Memory {
        approach_speed_m_s: 0.3,
        deepest_m: 0.0,
    })];
    for law in Law::ALL.into_iter().filter(|law| *law != Law::Rigid) {
        let mut system = frames(law, Damping::Exact, 0.5, 2e6);
        system.springs[1].cubic_n_per_m3 = 4e4;
        system.rayleigh.mass_per_s = 0.2;
        system.rayleigh.stiffness_s = 1e-3;
        let load = Load {
            base_m_s2: 0.7,
            forces_n: &[1.3, -0.4],
        };
        let (u, v) = ([0.0235, 0.0002], [0.2, -0.05]);
        let parameters = [
            Parameter::Mass(0),
            Parameter::Mass(1),
            Parameter::SpringLinear(0),
            Parameter::SpringCubic(1),
            Parameter::Damper(1),
            Parameter::ContactStiffness(0),
            Parameter::ContactRestitution(0),
            Parameter::ContactGap(0),
        ];
        let tangent = Model::new(&system)
            .unwrap()
            .tangent(load, &u, &v, &memory, &parameters);
        let at = |system: &System, u: &[f64], v: &[f64]| {
            Model::new(system)
                .unwrap()
                .tangent(load, u, v, &memory, &[])
                .acceleration
        };
        let check = |exact: &dyn Fn(usize) -> f64,
                     size: f64,
                     value: &dyn Fn(f64) -> Vec<f64>,
                     what: &str| {
            let h = 1e-5 * size;
            let (plus, minus) = (value(h), value(-h));
            for i in 0..2 {
                let difference = (plus[i] - minus[i]) / (2.0 * h);
                let scale = (tangent.acceleration[i] / size).abs();
                assert!(
                    (exact(i) - difference).abs() < 1e-7 * scale + 1e-6 * difference.abs(),
                    "{law:?} {what} {i}: {} {difference}",
                    exact(i)
                );
            }
        };
        for j in 0..2 {
            let shifted = |x: [f64; 2], h: f64| {
                let mut x = x;
                x[j] += h;
                x
            };
            check(
                &|i| tangent.by_displacement[2 * i + j],
                5e-4,
                &|h| at(&system, &shifted(u, h), &v),
                "u",
            );
            check(
                &|i| tangent.by_velocity[2 * i + j],
                0.2,
                &|h| at(&system, &u, &shifted(v, h)),
                "v",
            );
        }
        for (p, parameter) in parameters.iter().enumerate() {
            let size = match parameter {
                Parameter::Mass(i) => system.masses_kg[*i],
                Parameter::SpringLinear(i) => system.springs[*i].linear_n_per_m,
                Parameter::SpringCubic(i) => system.springs[*i].cubic_n_per_m3,
                Parameter::Damper(i) => system.dampers[*i].viscous_n_s_per_m,
                Parameter::ContactStiffness(i) => system.contacts[*i].stiffness,
                Parameter::ContactRestitution(i) => system.contacts[*i].restitution,
                Parameter::ContactGap(_) => 3e-4,
            };
            let changed = |h: f64| {
                let mut system = system.clone();
                system.initial_displacement_m = vec![-1.0, 0.0];
                match *parameter {
                    Parameter::Mass(i) => system.masses_kg[i] += h,
                    Parameter::SpringLinear(i) => system.springs[i].linear_n_per_m += h,
                    Parameter::SpringCubic(i) => system.springs[i].cubic_n_per_m3 += h,
                    Parameter::Damper(i) => system.dampers[i].viscous_n_s_per_m += h,
                    Parameter::ContactStiffness(i) => system.contacts[i].stiffness += h,
                    Parameter::ContactRestitution(i) => system.contacts[i].restitution += h,
                    Parameter::ContactGap(i) => system.contacts[i].gap_m += h,
                }
                at(&system, &u, &v)
            };
            check(
                &|i| tangent.by_parameter[8 * i + p],
                size,
                &changed,
                &format!("{parameter:?}"),
            );
        }
    }
}

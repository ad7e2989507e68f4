//! The two frames of Polycarpou, Papaloizou and Kyriakides, and the stored references.

use percuss_laws::{Damping, Law};
use percuss_oscillators::{Contact, Damper, Integrator, Node, Settings, Spring, System};

/// Table 1 of the paper, gap 23 mm, first frame released from -40 mm. Stiffness in SI.
pub fn frames(law: Law, damping: Damping, restitution: f64, stiffness: f64) -> System {
    let (masses, springs, ratios) = ([6.0239, 4.9871], [287.91, 330.278], [0.006, 0.0046]);
    let to_base = |i: usize| [Node::Mass(i), Node::Base];
    System {
        masses_kg: masses.to_vec(),
        springs: (0..2)
            .map(|i| Spring {
                nodes: to_base(i),
                linear_n_per_m: springs[i],
                cubic_n_per_m3: 0.0,
                law: None,
            })
            .collect(),
        dampers: (0..2)
            .map(|i| Damper {
                nodes: to_base(i),
                viscous_n_s_per_m: 2.0 * ratios[i] * f64::sqrt(springs[i] * masses[i]),
                exponent: 1.0,
            })
            .collect(),
        contacts: vec![Contact {
            left: Node::Mass(0),
            right: Node::Mass(1),
            gap_m: 0.023,
            law,
            damping,
            restitution,
            stiffness,
        }],
        initial_displacement_m: vec![-0.04, 0.0],
        initial_velocity_m_s: vec![0.0, 0.0],
        ..System::default()
    }
}

/// N/mm^1.5 in N/m^1.5.
pub fn hertz_stiffness(n_per_mm: f64) -> f64 {
    n_per_mm * 1e3_f64.powf(1.5)
}

/// Output every `interval` over `duration`.
pub fn every(interval: f64, duration: f64, integrator: Integrator) -> Settings {
    let count = (duration / interval).round() as usize;
    Settings {
        duration_s: duration,
        output_times_s: (0..=count)
            .map(|i| (i as f64 * interval).min(duration))
            .collect(),
        integrator,
    }
}

/// A stored table: rows of numbers after the header; text columns become NaN.
pub fn golden(name: &str) -> Vec<Vec<f64>> {
    golden_text(name)
        .lines()
        .skip(1)
        .map(|line| {
            line.split(',')
                .map(|field| field.parse().unwrap_or(f64::NAN))
                .collect()
        })
        .collect()
}

/// A stored table as text.
pub fn golden_text(name: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/pounding");
    std::fs::read_to_string(path.join(name))
        .expect("the stored references are part of the repository")
}

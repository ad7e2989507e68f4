//! The Kummer-Beta law against quadrature over eigenvalues (tests/golden/bodies/kummer_beta_scalar.csv: made with scipy,
//! three nested integrals, upper bound g I, both exponents -5), over eigenvalues and rotations (kummer_beta_general.csv,
//! made by the script beside it, upper bound diag(g)), and the properties every draw must have.

use percuss_bodies::{BodyError, Bounds, KummerBeta, Method, Symmetric, inertia};
use proptest::prelude::*;

const ONE: Symmetric = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0];

fn law(mean: Symmetric, upper: Symmetric, lower_exponent: f64, upper_exponent: f64) -> KummerBeta {
    let bounds = Bounds {
        lower: [0.0; 6],
        upper,
        mean,
    };
    KummerBeta::new(&bounds, lower_exponent, upper_exponent).unwrap()
}

fn key(i: u32) -> [f64; 6] {
    [f64::from(i), 0.5, 0.25, 0.125, 0.75, 0.0]
}

const SCALAR: &str = include_str!("../../../tests/golden/bodies/kummer_beta_scalar.csv");
const GENERAL: &str = include_str!("../../../tests/golden/bodies/kummer_beta_general.csv");

/// The rows of a table by the names of its columns.
fn table(text: &str) -> Vec<std::collections::BTreeMap<String, f64>> {
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let names: Vec<String> = lines.next().unwrap().split(',').map(String::from).collect();
    lines
        .map(|line| {
            names
                .iter()
                .cloned()
                .zip(line.split(',').map(|cell| cell.parse().unwrap()))
                .collect()
        })
        .collect()
}

#[test]
fn multipliers_and_statistics_are_those_of_the_table() {
    for row in table(SCALAR) {
        let g = row["g"];
        let found = law(ONE, ONE.map(|one| g * one), -5.0, -5.0);
        for mu in found.multipliers() {
            // The table's own error at g = 9 is 3e-7 (its last column).
            let allowed =
                1e-8_f64.max(3.0 * row["quad_n60_minus_n30"].abs()) * row["mu"].abs().max(1.0);
            assert!(
                (mu - row["mu"]).abs() < allowed,
                "g = {g}: {mu} against {}",
                row["mu"]
            );
        }
        assert_ne!(found.method(), Method::Metropolis);
        statistics(&found, &row, draws());
    }
}

/// `make fuzz`, which asks for many cases of property tests, draws ten times as often.
fn draws() -> u32 {
    let asked = std::env::var("PROPTEST_CASES").ok();
    if asked.is_some_and(|count| count.parse().is_ok_and(|count: u32| count >= 1000)) {
        200_000
    } else {
        20_000
    }
}

/// Means, deviations and eigenvalues within four standard errors.
fn statistics(found: &KummerBeta, row: &std::collections::BTreeMap<String, f64>, count: u32) {
    let n = f64::from(count);
    let draws: Vec<Symmetric> = (0..count).map(|i| found.draw(7, key(i))).collect();
    let near = |name: &str, values: &dyn Fn(&Symmetric) -> f64, mean: f64, sd: f64| {
        let all: Vec<f64> = draws.iter().map(values).collect();
        let average = all.iter().sum::<f64>() / n;
        assert!(
            (average - mean).abs() < 4.0 * sd / n.sqrt(),
            "{name} of g = {}: {average} against {mean}",
            row["g"]
        );
        let second = all.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
        let fourth = all.iter().map(|v| (v - mean).powi(4)).sum::<f64>() / n;
        let error = ((fourth - second * second) / n).sqrt();
        assert!(
            (second - sd * sd).abs() < 4.0 * error + 1e-9,
            "sd of {name}: {} against {sd}",
            second.sqrt()
        );
    };
    near("G11", &|z| z[0], 1.0, row["sd_G11"]);
    near("G33", &|z| z[2], 1.0, row["sd_G11"]);
    near("G12", &|z| z[3], 0.0, row["sd_G12"]);
    near("G23", &|z| z[5], 0.0, row["sd_G12"]);
    for (place, name) in ["l1", "l2", "l3"].iter().enumerate() {
        let value = |z: &Symmetric| eigenvalues(*z)[place];
        near(
            name,
            &value,
            row[&format!("E_{name}")],
            row[&format!("sd_{name}")],
        );
    }
}

/// Eigenvalues in rising order (Smith, 1961).
fn eigenvalues([xx, yy, zz, xy, xz, yz]: Symmetric) -> [f64; 3] {
    let q = (xx + yy + zz) / 3.0;
    let (a, b, c) = (xx - q, yy - q, zz - q);
    let p = ((a * a + b * b + c * c + 2.0 * (xy * xy + xz * xz + yz * yz)) / 6.0).sqrt();
    let det = a * (b * c - yz * yz) - xy * (xy * c - yz * xz) + xz * (xy * yz - b * xz);
    let angle = (det / (2.0 * p.powi(3))).clamp(-1.0, 1.0).acos() / 3.0;
    let third = 2.0 * std::f64::consts::FRAC_PI_3;
    let at = |k: f64| q + 2.0 * p * (angle + k * third).cos();
    let (largest, smallest) = (at(0.0), at(1.0));
    [smallest, 3.0 * q - largest - smallest, largest]
}

#[test]
fn two_is_the_matrix_beta() {
    let found = law(ONE, ONE.map(|one| 2.0 * one), -5.0, -5.0);
    assert!(found.multipliers().iter().all(|mu| mu.abs() < 1e-12));
    assert_eq!((found.method(), found.kept()), (Method::Beta, 1.0));
}

/// Where the bounds differ by axis: multipliers to what the table is good for, deviations within four standard errors.
#[test]
fn anisotropic_multipliers_and_deviations_are_those_of_the_table() {
    for row in table(GENERAL) {
        let g = ["g1", "g2", "g3"].map(|name| row[name]);
        let upper = [g[0], g[1], g[2], 0.0, 0.0, 0.0];
        let found = law(ONE, upper, row["lower_exponent"], row["upper_exponent"]);
        let multipliers = found.multiplier();
        for (mu, name) in multipliers.iter().zip(["mu1", "mu2", "mu3"]) {
            let off = (mu - row[name]).abs() / row[name].abs().max(1.0);
            let allowed = 1e-8_f64.max(row["fewer_nodes_mu"]);
            assert!(off < allowed, "{g:?}: {mu} against {}", row[name]);
        }
        let n = f64::from(draws());
        let drawn: Vec<Symmetric> = (0..draws()).map(|i| found.draw(9, key(i))).collect();
        for (i, name) in ["11", "22", "33", "12", "13", "23"].iter().enumerate() {
            let square = |z: &Symmetric| (z[i] - ONE[i]).powi(2);
            let second = drawn.iter().map(square).sum::<f64>() / n;
            let fourth = drawn.iter().map(|z| square(z).powi(2)).sum::<f64>() / n;
            let sd = row[&format!("sd_G{name}")];
            let error = ((fourth - second * second) / n).sqrt();
            assert!(
                (second - sd * sd).abs() < 4.0 * error,
                "{g:?} {name}: {second}"
            );
        }
    }
}

/// Different envelopes and the random walk draw from one law.
#[test]
fn anisotropic_bounds_keep_their_mean() {
    for (upper, exponents) in [
        ([2.0, 3.0, 5.0], (-5.0, -5.0)),
        ([1.5, 3.0, 9.0], (-5.0, -5.0)),
        ([1.3, 2.0, 6.0], (-3.0, -0.5)),
    ] {
        let [x, y, z] = upper;
        let found = law(ONE, [x, y, z, 0.0, 0.0, 0.0], exponents.0, exponents.1);
        // The random walk costs a hundred times as much as a draw by rejection.
        let count = if found.method() == Method::Metropolis {
            2000
        } else {
            20_000
        };
        let n = f64::from(count);
        let draws: Vec<Symmetric> = (0..count).map(|i| found.draw(3, key(i))).collect();
        for i in 0..6 {
            let mean = draws.iter().map(|g| g[i]).sum::<f64>() / n;
            let sd = (draws.iter().map(|g| (g[i] - mean).powi(2)).sum::<f64>() / n).sqrt();
            assert!(
                (mean - ONE[i]).abs() < 4.0 * sd / n.sqrt(),
                "{upper:?} {i}: {mean} ({:?})",
                found.method()
            );
        }
    }
}

#[test]
fn a_draw_is_a_function_of_seed_and_key() {
    let found = law(ONE, ONE.map(|one| 3.0 * one), -5.0, -5.0);
    assert_eq!(found.draw(1, key(4)), found.draw(1, key(4)));
    assert_ne!(found.draw(1, key(4)), found.draw(2, key(4)));
    assert_ne!(found.draw(1, key(4)), found.draw(1, key(5)));
}

#[test]
fn tensors_out_of_order_are_refused() {
    let bounds = Bounds {
        lower: [0.0; 6],
        upper: [3.0, 0.9, 3.0, 0.0, 0.0, 0.0],
        mean: ONE,
    };
    let fault = KummerBeta::new(&bounds, -5.0, -5.0).unwrap_err();
    assert!(
        fault
            .to_string()
            .starts_with("upper - mean has the eigenvalue -1.0"),
        "{fault}"
    );
    let bounds = Bounds {
        upper: [3.0, 3.0, 3.0, 0.0, 0.0, 0.0],
        ..bounds
    };
    assert!(matches!(
        KummerBeta::new(&bounds, 1.0, -5.0),
        Err(BodyError::Value {
            key: "lower_exponent",
            ..
        })
    ));
    assert!(matches!(
        KummerBeta::new(&bounds, -5.0, f64::NAN),
        Err(BodyError::Value { .. })
    ));
    let bounds = Bounds {
        mean: [f64::NAN; 6],
        ..bounds
    };
    assert!(KummerBeta::new(&bounds, -5.0, -5.0).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: (ProptestConfig::default().cases / 10).clamp(20, 200), ..ProptestConfig::default() })]

    /// Any mean, bounds and exponents: every draw lies between the bounds and its inertia belongs to a body.
    #[test]
    fn every_inertia_is_that_of_a_body(
        half in prop::array::uniform3(0.05..2.0_f64),
        turn in prop::array::uniform3(-0.4..0.4_f64),
        ratio in prop::array::uniform3(1.2..20.0_f64),
        share in 0.0..0.8_f64,
        exponents in (-8.0..0.5_f64, -8.0..0.5_f64),
        mass in 1e-3..1e4_f64,
    ) {
        let [a, b, c] = half.map(|h| h * h);
        let [p, q, r] = turn;
        // Off the diagonal small enough to stay positive definite.
        let mean = [a, b, c, p * (a * b).sqrt(), q * (a * c).sqrt(), r * (b * c).sqrt()];
        let lower = mean.map(|z| share * z);
        let room: Symmetric = [ratio[0] * a, ratio[1] * b, ratio[2] * c, 0.0, 0.0, 0.0];
        let upper = [0, 1, 2, 3, 4, 5].map(|i| mean[i] + 0.5 * room[i]);
        let found = KummerBeta::new(&Bounds { lower, upper, mean }, exponents.0, exponents.1).unwrap();
        for i in 0..50 {
            let z = found.draw(1, key(i));
            let [low, _, _] = eigenvalues(std::array::from_fn(|k| z[k] - lower[k]));
            let [gap, _, _] = eigenvalues(std::array::from_fn(|k| upper[k] - z[k]));
            let size = upper[0] + upper[1] + upper[2];
            prop_assert!(low > -1e-13 * size && gap > -1e-13 * size, "{low} {gap}");
            let [j1, j2, j3] = eigenvalues(inertia(mass, z));
            prop_assert!(j1 > 0.0 && j3 <= (j1 + j2) * (1.0 + 1e-12), "{j1} {j2} {j3}");
        }
    }
}

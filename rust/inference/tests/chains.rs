//! Contracts of the chains: bits, and the distribution they have.

use std::sync::atomic::AtomicBool;

use percuss_chaos::{Expansion, Family};
use percuss_inference::{
    CommonError, Datum, Form, Forward, InferenceError, Input, Length, Parameter, Posterior, Prior,
    PriorShape, Start, Support, advance,
};
use proptest::prelude::*;

fn normal(mean: f64, std: f64) -> Parameter {
    let peak = -(std * (2.0 * std::f64::consts::PI).sqrt()).ln();
    Parameter {
        support: Support::Everywhere,
        origin: mean,
        scale: std,
        prior: Prior::new(PriorShape::Normal { mean, std }, mean, peak),
    }
}

/// y = 2 x0 - x1 with priors N(1, 1) and N(0, 2), measured as 0.5 with variance 0.3.
fn line() -> Posterior {
    line_measured(&[0.5], None)
}

/// The same with other data, and with an error of the line itself.
fn line_measured(observed: &[f64], error: Option<CommonError>) -> Posterior {
    let expansion = Expansion::new(
        &[Family::Hermite; 2],
        vec![1, 0, 0, 1],
        vec![0, 2],
        vec![0, 1],
        vec![2.0, -1.0],
    );
    let input = |column| Input {
        column,
        form: Form::Linear,
        centre: 0.0,
        factor: 1.0,
    };
    let forward = Forward {
        expansion: expansion.expect("an expansion"),
        inputs: vec![input(0), input(1)],
        error,
    };
    let data = observed.iter().map(|observed| Datum {
        forward: 0,
        output: 0,
        observed: *observed,
        variance: 0.3,
        unknown: None,
    });
    Posterior::new(
        vec![normal(1.0, 1.0), normal(0.0, 2.0)],
        vec![forward],
        data.collect(),
    )
    .expect("a posterior")
}

#[test]
fn data_of_an_output_share_the_error_of_the_line() {
    let error = CommonError {
        covariance: vec![0.2],
        scales: vec![1.0, 4.0],
        shares: vec![0.9, 0.1],
    };
    // Two residuals of covariance 0.3 I + scale 0.2, against one datum without a common error.
    let normal = |r: [f64; 2], s: f64| {
        let (own, shared) = (0.3 + s, s);
        let determinant = own * own - shared * shared;
        let square = (own * (r[0] * r[0] + r[1] * r[1]) - 2.0 * shared * r[0] * r[1]) / determinant;
        (-0.5 * square).exp() / (2.0 * std::f64::consts::PI * determinant.sqrt())
    };
    let (shared, plain) = (line_measured(&[0.5, 1.1], Some(error)), line());
    for z in [[0.0, 0.0], [0.4, -1.0], [-2.0, 3.0]] {
        let y = 2.0 * (1.0 + z[0]) - 2.0 * z[1];
        let r = [0.5 - y, 1.1 - y];
        let one = -0.5 * (r[0] * r[0] / 0.3 + (0.6 * std::f64::consts::PI).ln());
        let both = (0.9 * normal(r, 0.2) + 0.1 * normal(r, 0.8)).ln();
        let found = shared.log_density(&z).expect("a density")[0];
        let prior = plain.log_density(&z).expect("a density")[0] - one;
        assert!((found - prior - both).abs() < 1e-11);
    }
}

#[test]
fn chains_have_the_moments_of_the_closed_form() {
    let posterior = line();
    let chains = 64;
    let positions = vec![0.0; 2 * chains];
    let log_density = posterior.log_density(&positions).expect("densities");
    let start = Start {
        positions: &positions,
        log_density: &log_density,
    };
    let length = Length {
        draws: 4000,
        thin: 4,
    };
    let factor = [0.8, 0.0, 0.5, 0.6];
    let block = advance(
        &posterior,
        start,
        &factor,
        length,
        7,
        &AtomicBool::new(false),
    )
    .expect("a block");
    // Precision diag(1, 1/4) + a a^T / 0.3 with a = (2, -1); its inverse by hand.
    let (p, q, r) = (1.0 + 4.0 / 0.3, -2.0 / 0.3, 0.25 + 1.0 / 0.3);
    let determinant = p * r - q * q;
    let (u, v) = (1.0 + 1.0 / 0.3, -0.5 / 0.3);
    let mean = [(r * u - q * v) / determinant, (p * v - q * u) / determinant];
    let variance = [r / determinant, p / determinant];
    let kept: Vec<[f64; 2]> = block
        .positions
        .chunks_exact(2 * length.draws)
        .flat_map(|chain| chain[200..].chunks_exact(2))
        .map(|z| [1.0 + z[0], 2.0 * z[1]])
        .collect();
    for k in 0..2 {
        let count = kept.len() as f64;
        let found = kept.iter().map(|x| x[k]).sum::<f64>() / count;
        let spread = kept.iter().map(|x| (x[k] - found).powi(2)).sum::<f64>() / count;
        // A quarter of a million draws, worth some 40 000: the mean is known to 0.005 standard deviations.
        assert!(
            (found - mean[k]).abs() < 0.02 * variance[k].sqrt(),
            "{found} {}",
            mean[k]
        );
        assert!(
            (spread / variance[k] - 1.0).abs() < 0.03,
            "{spread} {}",
            variance[k]
        );
    }
}

#[test]
fn stopping_is_told() {
    let posterior = line();
    let start = Start {
        positions: &[0.0, 0.0],
        log_density: &[-1.0],
    };
    let length = Length { draws: 1, thin: 1 };
    let found = advance(
        &posterior,
        start,
        &[1.0; 4],
        length,
        0,
        &AtomicBool::new(true),
    );
    assert_eq!(found, Err(InferenceError::Interrupted));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_chain_does_not_see_threads_nor_other_chains(
        z in prop::collection::vec(-3.0..3.0f64, 2..60),
        key in any::<u64>(),
        threads in 1usize..5,
    ) {
        let posterior = line();
        let chains = z.len() / 2;
        let z = &z[..2 * chains];
        let length = Length { draws: 5, thin: 3 };
        let factor = [0.7, 0.0, 0.2, 0.9];
        let run = |threads: usize, chains: usize| {
            let log_density = posterior.log_density(&z[..2 * chains]).expect("densities");
            let start = Start { positions: &z[..2 * chains], log_density: &log_density };
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| advance(&posterior, start, &factor, length, key, &AtomicBool::new(false)))
                .expect("a block")
        };
        let (one, other, alone) = (run(1, chains), run(threads, chains), run(1, 1));
        prop_assert_eq!(&one, &other);
        prop_assert_eq!(&alone.positions[..], &one.positions[..alone.positions.len()]);
        // What is kept beside a draw is its density.
        prop_assert_eq!(posterior.log_density(&one.positions).expect("densities"), one.log_density);
    }
}

//! Linear dynamics: the filter against the textbook one with whole matrices, the smoother against the joint Gaussian of
//! a short record, and the covariance over a million steps.

use nalgebra::{Cholesky, DMatrix, DVector};
use percuss_kalman::{
    Augmented, Dynamics, Filtered, Inputs, KalmanError, Sensed, Sensor, Settings, Tracked, filter,
    smooth,
};
use percuss_oscillators::{Damper, Model, Node, Parameter, Spring, System};
use proptest::prelude::*;

/// `x' = A x + B p`, p constant, `z = C (x, p)`.
struct Linear {
    step: DMatrix<f64>,
    read: DMatrix<f64>,
}

impl Dynamics for Linear {
    fn states(&self) -> usize {
        self.step.ncols()
    }
    fn moving(&self) -> usize {
        self.step.nrows()
    }
    fn channels(&self) -> usize {
        self.read.nrows()
    }
    fn advance(&mut self, _: usize, x: &mut [f64], slope: &mut [f64]) -> Result<(), KalmanError> {
        let next = &self.step * DVector::from_column_slice(x);
        x[..next.len()].copy_from_slice(next.as_slice());
        slope.copy_from_slice(self.step.transpose().as_slice());
        Ok(())
    }
    fn observe(
        &mut self,
        _: usize,
        x: &[f64],
        reading: &mut [f64],
        slope: &mut [f64],
    ) -> Result<(), KalmanError> {
        reading.copy_from_slice((&self.read * DVector::from_column_slice(x)).as_slice());
        slope.copy_from_slice(self.read.transpose().as_slice());
        Ok(())
    }
}

fn example(angle: f64, decay: f64, push: f64) -> Linear {
    let (s, c) = angle.sin_cos();
    Linear {
        step: DMatrix::from_row_slice(
            2,
            4,
            &[
                decay * c,
                decay * s,
                push,
                0.0,
                -decay * s,
                decay * c,
                0.1,
                push,
            ],
        ),
        read: DMatrix::from_row_slice(2, 4, &[1.0, 0.0, 0.0, 0.0, 0.3, -1.0, 0.0, 0.5]),
    }
}

fn settings(keep: bool) -> Settings {
    let variances = [1e-2, 2e-2, 0.5, 0.8];
    Settings {
        mean: vec![0.1, -0.2, 1.0, 2.0],
        covariance: DMatrix::from_diagonal(&DVector::from_row_slice(&variances))
            .as_slice()
            .to_vec(),
        drift: vec![0.0, 1e-2],
        noise: vec![1e-3, 4e-3],
        use_first: false,
        keep,
    }
}

fn data(samples: usize) -> Vec<f64> {
    (0..2 * samples)
        .map(|i| (0.37 * i as f64).sin() + 0.2 * (1.9 * i as f64).cos())
        .collect()
}

/// Mean, covariance and log-likelihood by the equations as they stand in books, all channels at once.
fn textbook(
    linear: &Linear,
    settings: &Settings,
    data: &[f64],
) -> (DVector<f64>, DMatrix<f64>, f64) {
    let n = 4;
    let mut f = DMatrix::identity(n, n);
    f.view_mut((0, 0), (2, 4)).copy_from(&linear.step);
    let h = &linear.read;
    let r = DMatrix::from_diagonal(&DVector::from_column_slice(&settings.noise));
    let mut m = DVector::from_column_slice(&settings.mean);
    let mut p = DMatrix::from_row_slice(n, n, &settings.covariance);
    let mut log = 0.0;
    for z in data.chunks_exact(2).skip(1) {
        let mut q = DMatrix::zeros(n, n);
        q[(3, 3)] = (settings.drift[1] * m[3]).powi(2);
        m = &f * m;
        p = &f * p * f.transpose() + q;
        let s = h * &p * h.transpose() + &r;
        let inverse = s.clone().try_inverse().unwrap();
        let k = &p * h.transpose() * &inverse;
        let nu = DVector::from_column_slice(z) - h * &m;
        log -= 0.5 * ((nu.transpose() * inverse * &nu)[0] + s.determinant().ln());
        log -= (std::f64::consts::TAU).ln();
        m += &k * nu;
        p = (DMatrix::identity(n, n) - k * h) * p;
    }
    (m, p, log)
}

fn last(filtered: &Filtered) -> &[f64] {
    &filtered.mean[filtered.mean.len() - filtered.states..]
}

#[test]
fn filter_is_the_textbook_one() {
    let mut linear = example(0.3, 0.98, 0.05);
    let (settings, data) = (settings(false), data(500));
    let found = filter(&mut linear, &settings, &data).unwrap();
    let (m, p, log) = textbook(&linear, &settings, &data);
    for i in 0..4 {
        assert!((last(&found)[i] - m[i]).abs() < 1e-10);
        for j in 0..4 {
            assert!((found.covariance[4 * i + j] - p[(i, j)]).abs() < 1e-10);
        }
    }
    assert!((found.log_likelihood - log).abs() < 1e-10 * log.abs());
    assert_eq!((found.used, found.skipped), (998, 0));
}

#[test]
fn measurements_that_are_missing_are_left_out_and_counted() {
    let (settings, mut data) = (settings(false), data(60));
    for gone in [21, 40, 41] {
        data[gone] = f64::NAN;
    }
    let found = filter(&mut example(0.3, 0.98, 0.05), &settings, &data).unwrap();
    assert_eq!((found.used, found.skipped), (2 * 59 - 3, 3));
    assert!(found.innovation[21].is_nan() && !found.innovation[20].is_nan());
    // a channel of boundless noise says as little as one that is missing
    let mut deaf = Settings {
        noise: vec![1e-3, 1e30],
        ..settings.clone()
    };
    let full = self::data(60);
    let without = filter(&mut example(0.3, 0.98, 0.05), &deaf, &full).unwrap();
    let mut masked = full.clone();
    masked
        .iter_mut()
        .skip(1)
        .step_by(2)
        .for_each(|z| *z = f64::NAN);
    deaf.noise[1] = 1.0;
    let skipped = filter(&mut example(0.3, 0.98, 0.05), &deaf, &masked).unwrap();
    for (a, b) in last(&without).iter().zip(last(&skipped)) {
        assert!((a - b).abs() < 1e-12);
    }
}

/// All states of a record of six samples are one Gaussian vector: the smoother must give its conditional means.
#[test]
fn smoother_is_the_joint_gaussian() {
    let samples = 6;
    let mut linear = example(0.3, 0.98, 0.05);
    let mut settings = settings(true);
    settings.drift = vec![0.0, 0.0];
    let data = data(samples);
    let smoothed = smooth(&filter(&mut linear, &settings, &data).unwrap()).unwrap();
    // without process noise the start is all that is unknown: x_i = F^i x_0
    let mut f = DMatrix::identity(4, 4);
    f.view_mut((0, 0), (2, 4)).copy_from(&linear.step);
    let prior = DMatrix::from_row_slice(4, 4, &settings.covariance)
        .try_inverse()
        .unwrap();
    let weight = DMatrix::from_diagonal(&DVector::from_column_slice(&settings.noise))
        .try_inverse()
        .unwrap();
    let start = DVector::from_column_slice(&settings.mean);
    let (mut precision, mut right) = (prior.clone(), &prior * &start);
    let mut power = DMatrix::identity(4, 4);
    for z in data.chunks_exact(2).skip(1) {
        power = &f * power;
        let h = &linear.read * &power;
        precision += h.transpose() * &weight * &h;
        right += h.transpose() * &weight * DVector::from_column_slice(z);
    }
    let covariance = precision.try_inverse().unwrap();
    let mut mean = &covariance * right;
    let mut power = DMatrix::identity(4, 4);
    for sample in 0..samples {
        let own = &power * &covariance * power.transpose();
        for i in 0..4 {
            assert!((smoothed.mean[4 * sample + i] - mean[i]).abs() < 1e-9);
            assert!((smoothed.std[4 * sample + i] - own[(i, i)].sqrt()).abs() < 1e-9);
        }
        mean = &f * mean;
        power = &f * power;
    }
}

#[test]
fn refuses_what_cannot_be() {
    let run = |change: fn(&mut Settings), data: &[f64]| {
        let mut settings = settings(false);
        change(&mut settings);
        filter(&mut example(0.3, 0.98, 0.05), &settings, data)
            .unwrap_err()
            .to_string()
    };
    let data = data(4);
    let said = run(|s| s.noise[1] = 0.0, &data);
    assert_eq!(
        said,
        "noise variance 1 is 0: it must be positive and finite"
    );
    let said = run(|s| s.drift[0] = -1.0, &data);
    assert_eq!(
        said,
        "drift 0 is -1: it must be zero or positive, and finite"
    );
    let said = run(|s| s.mean.truncate(1), &data);
    assert_eq!(said, "start mean has 1 values where 4 are needed");
    let said = run(|_| (), &[0.0, 1.0, f64::INFINITY, 0.0]);
    assert_eq!(said, "data 2 is inf: it must be finite");
}

fn positive(covariance: &[f64], n: usize) -> bool {
    let matrix = DMatrix::from_row_slice(n, n, covariance);
    let scale: Vec<f64> = (0..n).map(|i| matrix[(i, i)].sqrt()).collect();
    let correlation = DMatrix::from_fn(n, n, |i, j| matrix[(i, j)] / (scale[i] * scale[j]));
    matrix == matrix.transpose() && Cholesky::new(correlation).is_some()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3))]
    /// A Duffing oscillator with three tracked parameters, a million steps in a hundred legs: symmetric to the bit and
    /// positive definite at the end of each.
    #[test]
    fn covariance_stays_positive_over_a_million_steps(
        k in 5.0..20.0_f64, c in 0.02..0.5_f64, log_noise in -7.0..-2.0_f64, log_drift in -6.0..-2.0_f64, accelerometer: bool,
    ) {
        let nodes = [Node::Mass(0), Node::Base];
        let system = System {
            masses_kg: vec![1.0],
            springs: vec![Spring { nodes, linear_n_per_m: k, cubic_n_per_m3: 50.0, law: None }],
            dampers: vec![Damper { nodes, viscous_n_s_per_m: c, exponent: 1.0 }],
            initial_displacement_m: vec![0.0],
            initial_velocity_m_s: vec![0.0],
            ..System::default()
        };
        let tracked = [Parameter::SpringLinear(0), Parameter::Damper(0), Parameter::SpringCubic(0)]
            .map(|number| Tracked { numbers: vec![number] });
        let leg = 10_000;
        let force: Vec<f64> = (0..=leg).map(|i| (0.031 * i as f64).sin() + (0.77 * i as f64).cos()).collect();
        let inputs = Inputs { step_s: 0.01, substeps: 1, base_m_s2: vec![], forces_n: vec![(0, force)] };
        let sensed = if accelerometer { Sensed::Acceleration } else { Sensed::Displacement };
        let sensors = [Sensor { sensed, mass: 0 }];
        let model = Model::new(&system).unwrap();
        let mut dynamics = Augmented::new(model, &tracked, &[], &inputs, &sensors).unwrap();
        let mut settings = Settings {
            mean: vec![0.0, 0.0, k, c, 50.0],
            covariance: DMatrix::from_diagonal(&DVector::from_row_slice(&[1e-6, 1e-6, 9.0, 0.01, 100.0])).as_slice().to_vec(),
            drift: vec![10_f64.powf(log_drift); 3],
            noise: vec![10_f64.powf(log_noise)],
            use_first: false,
            keep: false,
        };
        let noise = settings.noise[0].sqrt();
        // what the model itself gives, with noise of a fixed pattern: the covariance is what is tested
        let quiet = percuss_kalman::respond(&dynamics, &[0.0; 2], &[k, c, 50.0], leg + 1).unwrap();
        let data: Vec<f64> = quiet.iter().enumerate().map(|(i, y)| y + noise * (2.3 * (i * i % 1009) as f64).sin()).collect();
        for _ in 0..100 {
            let found = filter(&mut dynamics, &settings, &data).unwrap();
            prop_assert!(positive(&found.covariance, 5));
            settings.covariance = found.covariance;
            // each leg starts at rest again, with what was learnt of the parameters
            settings.mean[2..].copy_from_slice(&found.mean[found.mean.len() - 3..]);
        }
    }
}

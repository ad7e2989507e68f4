//! Functions with known answers, shared by tests and benchmarks.
#![allow(dead_code)] // benchmarks use a part of it

use percuss_chaos::{Design, Expansion, Family};

/// A function of canonical variables on a fixed design.
pub struct Problem {
    pub name: &'static str,
    pub families: Vec<Family>,
    pub function: fn(&[f64]) -> f64,
    pub points: Vec<f64>,
}

impl Problem {
    pub fn values(&self) -> Vec<f64> {
        self.points
            .chunks_exact(self.families.len())
            .map(self.function)
            .collect()
    }

    pub fn design(&self) -> Design {
        Design::new(&self.families, &self.points, &self.values(), 1).expect("a clean design")
    }
}

/// SplitMix64: enough for fresh points.
pub struct Stream(pub u64);

impl Stream {
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn canonical(&mut self, family: &Family) -> f64 {
        match family {
            Family::Hermite => {
                let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
                radius * (std::f64::consts::TAU * self.uniform()).cos()
            }
            Family::Laguerre { .. } => -(1.0 - self.uniform()).ln(),
            _ => 2.0 * self.uniform() - 1.0,
        }
    }

    pub fn points(&mut self, families: &[Family], count: usize) -> Vec<f64> {
        (0..count)
            .flat_map(|_| {
                families
                    .iter()
                    .map(|family| self.canonical(family))
                    .collect::<Vec<_>>()
            })
            .collect()
    }
}

/// Mean square error at fresh points over the variance of the function there.
pub fn validation_error(problem: &Problem, expansion: &Expansion, count: usize) -> f64 {
    let points = Stream(20_240_611).points(&problem.families, count);
    let predicted = expansion.predict(&points).expect("values");
    let exact: Vec<f64> = points
        .chunks_exact(problem.families.len())
        .map(problem.function)
        .collect();
    let mean = exact.iter().sum::<f64>() / count as f64;
    let variance: f64 = exact.iter().map(|y| (y - mean).powi(2)).sum();
    exact
        .iter()
        .zip(&predicted)
        .map(|(y, p)| (y - p).powi(2))
        .sum::<f64>()
        / variance
}

/// The columns u1.. of a reference table, as points of [-1, 1]^d.
pub fn reference(name: &str, dimension: usize) -> Vec<f64> {
    let path = format!(
        "{}/../../tests/golden/chaos/{name}.csv",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    text.lines()
        .skip(1)
        .flat_map(|line| {
            line.split(',')
                .take(dimension)
                .map(|u| 2.0 * u.parse::<f64>().expect("a number") - 1.0)
                .collect::<Vec<_>>()
        })
        .collect()
}

/// Ishigami and Homma (1990), a = 7, b = 0.1.
pub fn ishigami(x: &[f64]) -> f64 {
    use std::f64::consts::PI;
    let [x, y, z] = [x[0] * PI, x[1] * PI, x[2] * PI];
    x.sin() + 7.0 * y.sin().powi(2) + 0.1 * z.powi(4) * x.sin()
}

/// Sobol g-function with a = (0, 1, 4.5, 9, 99).
pub fn g_function(x: &[f64]) -> f64 {
    let a = [0.0, 1.0, 4.5, 9.0, 99.0];
    x.iter()
        .zip(a)
        .map(|(x, a)| ((2.0 * x).abs() + a) / (1.0 + a))
        .product()
}

/// Flow through a borehole (Morris, Mitchell and Ylvisaker, 1993) with its usual normal and lognormal radii; the other
/// inputs normal with the standard deviation of their usual uniform ranges. Eight standard normal variables.
pub fn borehole(z: &[f64]) -> f64 {
    use std::f64::consts::TAU;
    let uniform =
        |z: f64, low: f64, high: f64| 0.5 * (low + high) + z * (high - low) / 12f64.sqrt();
    let radius_well = 0.10 + 0.016_181_2 * z[0];
    let radius = (7.71 + 1.0056 * z[1]).exp();
    let transmissivity_upper = uniform(z[2], 63_070.0, 115_600.0);
    let head_upper = uniform(z[3], 990.0, 1110.0);
    let transmissivity_lower = uniform(z[4], 63.1, 116.0);
    let head_lower = uniform(z[5], 700.0, 820.0);
    let length = uniform(z[6], 1120.0, 1680.0);
    let conductivity = uniform(z[7], 9855.0, 12_045.0);
    let ratio = (radius / radius_well).ln();
    TAU * transmissivity_upper * (head_upper - head_lower)
        / (ratio
            * (1.0
                + 2.0 * length * transmissivity_upper
                    / (ratio * radius_well * radius_well * conductivity)
                + transmissivity_upper / transmissivity_lower))
}

/// A response with kinks: a block slides only once the impact overcomes friction and stops at a wall.
pub fn kink(x: &[f64]) -> f64 {
    let drive = 1.0 + 0.5 * x[0] + 0.3 * x[1] - 0.4 * x[2];
    let slide = (drive * drive - 0.8 - 0.3 * x[2] + 0.2 * x[3]).max(0.0);
    slide.min(1.2 + 0.4 * x[4]) + 0.1 * x[1] * x[3]
}

/// Uniform points through the quantile of each family (Hermite by a rational approximation is not needed: only
/// uniform and normal are used here).
pub fn problems() -> Vec<Problem> {
    let normal = [Family::Hermite; 8];
    vec![
        Problem {
            name: "ishigami",
            families: vec![Family::Legendre; 3],
            function: ishigami,
            points: reference("ishigami", 3),
        },
        Problem {
            name: "g-function",
            families: vec![Family::Legendre; 5],
            function: g_function,
            points: reference("gfunction", 5),
        },
        Problem {
            name: "kink",
            families: vec![Family::Legendre; 5],
            function: kink,
            points: reference("gfunction", 5),
        },
        Problem {
            name: "borehole",
            families: normal.to_vec(),
            function: borehole,
            points: Stream(3).points(&normal, 300),
        },
    ]
}

/// 24 outputs like displacements of a wall (four points, three instants, two energies): 5 parameters, kinks where
/// blocks start to slide, stop or lose contact, so that errors are 1e-2 to 1e-1 as published for such a wall.
pub fn displacements(count: usize) -> (Vec<Family>, Vec<f64>, Vec<f64>) {
    let families = vec![Family::Legendre; 5];
    let mut points = reference("gfunction", 5);
    points.truncate(5 * count);
    let mut values = vec![];
    for x in points.chunks_exact(5) {
        for output in 0..24 {
            let share = output as f64 / 24.0;
            let shifted: Vec<f64> = (0..5).map(|k| x[(k + output) % 5]).collect();
            let smooth = (1.3 * x[0] + share * x[1]).sin() + (0.5 * x[2] * x[3]).exp();
            let rocking = (x[0] * x[3] - 0.6 * x[4] + 0.4 * share).max(0.0);
            values.push(0.4 * smooth + (0.3 + share) * kink(&shifted) + rocking);
        }
    }
    (families, points, values)
}

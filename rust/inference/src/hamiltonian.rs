//! Hamiltonian Monte Carlo (Duane et al., 1987; Neal, 2011) on many chains that take trajectories of the same length, so
//! that they go side by side: with z = F q, momenta r ~ N(0, I), and leapfrog steps of length e,
//!
//! ```text
//! r += e/2 F^T g(z),   z += e F r,   r += e/2 F^T g(z),   g the gradient of the log density
//! ```
//!
//! a trajectory is accepted by what it changes log p(z) - r^2 / 2. Their numbers of steps are drawn from 1 to 2 n - 1, one
//! for all chains of a draw: no period of the posterior is hit every time (Hoffman, Radul and Sountsov, 2021, who keep the
//! chains in step as well).
//!
//! Random numbers: ChaCha8, key from the caller, one stream a chain and one for the lengths. The draws of a chain depend on
//! key, number, start and trajectories, on nothing else.

use std::sync::atomic::{AtomicBool, Ordering};

use percuss_chaos::LANES;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, Exp1, StandardNormal, StandardUniform};
use rayon::prelude::*;

use crate::error::{InferenceError, Result, check_length};
use crate::metropolis::Start;
use crate::posterior::{Memory, Posterior, Slopes, side_by_side};

/// A trajectory that loses more of its log density than this has left the posterior (Betancourt, 2017, section 6.2).
const DIVERGED: f64 = 1000.0;
/// Longest mean length.
const MOST_STEPS: usize = 1 << 20;

/// Trajectories: F (parameters x parameters, row by row), the length of a leapfrog step, their mean number.
#[derive(Debug, Clone, Copy)]
pub struct Trajectories<'a> {
    /// Root of the covariance that the posterior about has.
    pub factor: &'a [f64],
    /// Length of a step, above zero.
    pub step: f64,
    /// Mean number of steps, at least 1.
    pub steps: usize,
}

/// What chains went through; the last draw is where they are.
#[derive(Debug, Clone, PartialEq)]
pub struct Glided {
    /// chains x draws x parameters
    pub positions: Vec<f64>,
    /// chains x draws
    pub log_density: Vec<f64>,
    /// Sum of the probabilities of acceptance of each chain.
    pub acceptance: Vec<f64>,
    /// Trajectories of each chain that diverged.
    pub divergent: Vec<u64>,
    /// Gradients that each chain took.
    pub gradients: u64,
}

/// Advance all chains by `draws` trajectories each.
pub fn glide(
    posterior: &Posterior,
    start: Start<'_>,
    along: Trajectories<'_>,
    draws: usize,
    key: u64,
    stop: &AtomicBool,
) -> Result<Glided> {
    let (dimension, chains) = (posterior.dimension(), start.log_density.len());
    check_length("positions", start.positions.len(), chains * dimension)?;
    check_length("factor", along.factor.len(), dimension * dimension)?;
    for (key, value, good, allowed) in [
        ("chains", chains as f64, chains > 0, "at least 1"),
        ("draws", draws as f64, draws > 0, "at least 1"),
        (
            "steps",
            along.steps as f64,
            (1..=MOST_STEPS).contains(&along.steps),
            "1 to 1048576",
        ),
        (
            "step",
            along.step,
            along.step > 0.0 && along.step.is_finite(),
            "above 0 and finite",
        ),
    ] {
        if !good {
            return Err(InferenceError::Value {
                key,
                value,
                allowed,
            });
        }
    }
    let lengths = lengths(along.steps, draws, key);
    let mut block = Glided {
        positions: vec![0.0; chains * draws * dimension],
        log_density: vec![0.0; chains * draws],
        acceptance: vec![0.0; chains],
        divergent: vec![0; chains],
        gradients: 1 + lengths.iter().map(|length| *length as u64).sum::<u64>(),
    };
    block
        .positions
        .par_chunks_mut(LANES * draws * dimension)
        .zip(block.log_density.par_chunks_mut(LANES * draws))
        .zip(block.acceptance.par_chunks_mut(LANES))
        .zip(block.divergent.par_chunks_mut(LANES))
        .zip(start.positions.par_chunks(LANES * dimension))
        .zip(start.log_density.par_chunks(LANES))
        .enumerate()
        .try_for_each(
            |(group, (((((positions, log_density), acceptance), divergent), from), at))| {
                let mut lanes = Lanes::new(posterior, along, from, at.len(), key, group * LANES);
                for (draw, length) in lengths.iter().enumerate() {
                    if stop.load(Ordering::Relaxed) {
                        return Err(InferenceError::Interrupted);
                    }
                    lanes.travel(*length, acceptance, divergent);
                    for i in 0..at.len() {
                        let row = i * draws + draw;
                        log_density[row] = lanes.log_density[i];
                        for (k, z) in lanes.positions.iter().enumerate() {
                            positions[row * dimension + k] = z[i];
                        }
                    }
                }
                Ok(())
            },
        )?;
    Ok(block)
}

/// Number of steps of each draw, the same for all chains; two draws in a row have 2 n steps together, so that what a
/// number of draws costs is known.
fn lengths(steps: usize, draws: usize, key: u64) -> Vec<usize> {
    let mut stream = ChaCha8Rng::seed_from_u64(key);
    stream.set_stream(u64::MAX);
    let mut length = steps;
    (0..draws)
        .map(|draw| {
            length = if draw % 2 == 0 {
                let share: f64 = StandardUniform.sample(&mut stream);
                1 + (share * (2 * steps - 1) as f64) as usize
            } else {
                2 * steps - length
            };
            length
        })
        .collect()
}

/// Chains side by side.
struct Lanes<'a> {
    posterior: &'a Posterior,
    along: Trajectories<'a>,
    streams: Vec<ChaCha8Rng>,
    positions: Vec<[f64; LANES]>,
    log_density: [f64; LANES],
    gradient: Vec<[f64; LANES]>,
    momenta: Vec<[f64; LANES]>,
    proposals: Vec<[f64; LANES]>,
    proposed_gradient: Vec<[f64; LANES]>,
    memory: Memory<LANES>,
    slopes: Slopes<LANES>,
}

impl<'a> Lanes<'a> {
    fn new(
        posterior: &'a Posterior,
        along: Trajectories<'a>,
        from: &[f64],
        count: usize,
        key: u64,
        first: usize,
    ) -> Self {
        let dimension = posterior.dimension();
        let zero = vec![[0.0; LANES]; dimension];
        let mut positions = zero.clone();
        side_by_side(from, dimension, &mut positions);
        let streams = (first..first + count).map(|chain| {
            let mut stream = ChaCha8Rng::seed_from_u64(key);
            stream.set_stream(chain as u64);
            stream
        });
        let (mut memory, mut slopes, mut gradient) =
            (posterior.memory(), posterior.slopes(), zero.clone());
        Self {
            posterior,
            along,
            streams: streams.collect(),
            log_density: posterior.at_with_gradient(
                &positions,
                &mut memory,
                &mut slopes,
                &mut gradient,
            ),
            proposals: positions.clone(),
            positions,
            momenta: zero.clone(),
            proposed_gradient: zero,
            gradient,
            memory,
            slopes,
        }
    }

    /// r += step F^T g
    fn kick(&mut self, step: f64) {
        let rows = self.along.factor.chunks_exact(self.momenta.len());
        for (row, slope) in rows.zip(&self.proposed_gradient) {
            for (f, momentum) in row.iter().zip(&mut self.momenta) {
                for i in 0..LANES {
                    momentum[i] += step * f * slope[i];
                }
            }
        }
    }

    /// z += step F r
    fn drift(&mut self) {
        let rows = self.along.factor.chunks_exact(self.momenta.len());
        for (row, position) in rows.zip(&mut self.proposals) {
            for (f, momentum) in row.iter().zip(&self.momenta) {
                for i in 0..LANES {
                    position[i] += self.along.step * f * momentum[i];
                }
            }
        }
    }

    fn kinetic(&self) -> [f64; LANES] {
        let mut sum = [0.0; LANES];
        for momentum in &self.momenta {
            for i in 0..LANES {
                sum[i] += 0.5 * momentum[i] * momentum[i];
            }
        }
        sum
    }

    /// One trajectory for each chain, taken or not.
    fn travel(&mut self, length: usize, acceptance: &mut [f64], divergent: &mut [u64]) {
        let mut hurdles = [0.0; LANES];
        for (i, stream) in self.streams.iter_mut().enumerate() {
            for momentum in &mut self.momenta {
                momentum[i] = StandardNormal.sample(stream);
            }
            // The logarithm of a uniform number.
            let exponential: f64 = Exp1.sample(stream);
            hurdles[i] = -exponential;
        }
        let before = self.kinetic();
        self.proposals.clone_from(&self.positions);
        self.proposed_gradient.clone_from(&self.gradient);
        let mut found = self.log_density;
        self.kick(0.5 * self.along.step);
        for left in (0..length).rev() {
            self.drift();
            found = self.posterior.at_with_gradient(
                &self.proposals,
                &mut self.memory,
                &mut self.slopes,
                &mut self.proposed_gradient,
            );
            self.kick(if left > 0 { 1.0 } else { 0.5 } * self.along.step);
        }
        let after = self.kinetic();
        for i in 0..acceptance.len() {
            let change = (found[i] - after[i]) - (self.log_density[i] - before[i]);
            // Written so that NaN is a divergence, and passes no hurdle.
            if change > -DIVERGED {
                acceptance[i] += change.exp().min(1.0);
            } else {
                divergent[i] += 1;
            }
            if change > hurdles[i] {
                self.log_density[i] = found[i];
                for k in 0..self.positions.len() {
                    self.positions[k][i] = self.proposals[k][i];
                    self.gradient[k][i] = self.proposed_gradient[k][i];
                }
            }
        }
    }
}

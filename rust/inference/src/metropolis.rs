//! Random-walk Metropolis with Gaussian proposals of one covariance for all chains (Haario, Saksman, Tamminen, 2001, with
//! the covariance learnt elsewhere and fixed here).
//!
//! Random numbers: ChaCha8, key from the caller, one stream a chain. The draws of a chain depend on key, number, start
//! and proposals, on nothing else.

use std::sync::atomic::{AtomicBool, Ordering};

use percuss_chaos::LANES;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, Exp1, StandardNormal};
use rayon::prelude::*;

use crate::error::{InferenceError, Result, check_length};
use crate::posterior::{Posterior, side_by_side};

/// Where chains start: unbounded positions (chains x parameters) and log density there (chains).
#[derive(Debug, Clone, Copy)]
pub struct Start<'a> {
    /// Chain by chain.
    pub positions: &'a [f64],
    /// One a chain.
    pub log_density: &'a [f64],
}

/// How far to go: `draws` states are kept, one every `thin` steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Length {
    /// States kept of each chain.
    pub draws: usize,
    /// Steps from one to the next.
    pub thin: usize,
}

/// What chains went through; the last draw is where they are.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// chains x draws x parameters
    pub positions: Vec<f64>,
    /// chains x draws
    pub log_density: Vec<f64>,
    /// Proposals each chain accepted, of draws * thin.
    pub accepted: Vec<u64>,
}

/// Advance all chains with proposals N(0, F F^T), F = `factor` (parameters x parameters, row by row).
pub fn advance(
    posterior: &Posterior,
    start: Start<'_>,
    factor: &[f64],
    length: Length,
    key: u64,
    stop: &AtomicBool,
) -> Result<Block> {
    let (dimension, chains) = (posterior.dimension(), start.log_density.len());
    check_length("positions", start.positions.len(), chains * dimension)?;
    check_length("factor", factor.len(), dimension * dimension)?;
    for (key, value) in [
        ("chains", chains),
        ("draws", length.draws),
        ("thin", length.thin),
    ] {
        if value == 0 {
            return Err(InferenceError::Value {
                key,
                value: 0.0,
                allowed: "at least 1",
            });
        }
    }
    let mut block = Block {
        positions: vec![0.0; chains * length.draws * dimension],
        log_density: vec![0.0; chains * length.draws],
        accepted: vec![0; chains],
    };
    block
        .positions
        .par_chunks_mut(LANES * length.draws * dimension)
        .zip(block.log_density.par_chunks_mut(LANES * length.draws))
        .zip(block.accepted.par_chunks_mut(LANES))
        .zip(start.positions.par_chunks(LANES * dimension))
        .zip(start.log_density.par_chunks(LANES))
        .enumerate()
        .try_for_each(
            |(group, ((((positions, log_density), accepted), from), at))| {
                let mut lanes = Lanes::new(posterior, factor, from, at, key, group * LANES);
                for draw in 0..length.draws {
                    if stop.load(Ordering::Relaxed) {
                        return Err(InferenceError::Interrupted);
                    }
                    for _ in 0..length.thin {
                        lanes.step(accepted);
                    }
                    for i in 0..accepted.len() {
                        let row = i * length.draws + draw;
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

/// Chains side by side.
struct Lanes<'a> {
    posterior: &'a Posterior,
    factor: &'a [f64],
    streams: Vec<ChaCha8Rng>,
    positions: Vec<[f64; LANES]>,
    log_density: [f64; LANES],
    normals: Vec<[f64; LANES]>,
    proposals: Vec<[f64; LANES]>,
    memory: crate::posterior::Memory<LANES>,
}

impl<'a> Lanes<'a> {
    fn new(
        posterior: &'a Posterior,
        factor: &'a [f64],
        from: &[f64],
        at: &[f64],
        key: u64,
        first: usize,
    ) -> Self {
        let dimension = posterior.dimension();
        let mut positions = vec![[0.0; LANES]; dimension];
        side_by_side(from, dimension, &mut positions);
        let streams = (first..first + at.len()).map(|chain| {
            let mut stream = ChaCha8Rng::seed_from_u64(key);
            stream.set_stream(chain as u64);
            stream
        });
        Self {
            posterior,
            factor,
            streams: streams.collect(),
            log_density: std::array::from_fn(|i| at[if i < at.len() { i } else { 0 }]),
            normals: vec![[0.0; LANES]; dimension],
            proposals: positions.clone(),
            positions,
            memory: posterior.memory(),
        }
    }

    /// One proposal for each chain, taken or not.
    fn step(&mut self, accepted: &mut [u64]) {
        let mut hurdles = [0.0; LANES];
        for (i, stream) in self.streams.iter_mut().enumerate() {
            for normal in &mut self.normals {
                normal[i] = StandardNormal.sample(stream);
            }
            // The logarithm of a uniform number.
            let exponential: f64 = Exp1.sample(stream);
            hurdles[i] = -exponential;
        }
        let rows = self.factor.chunks_exact(self.normals.len());
        for ((proposal, position), row) in self.proposals.iter_mut().zip(&self.positions).zip(rows)
        {
            *proposal = *position;
            for (f, normal) in row.iter().zip(&self.normals) {
                for i in 0..LANES {
                    proposal[i] += f * normal[i];
                }
            }
        }
        let found = self.posterior.at(&self.proposals, &mut self.memory);
        for (i, accepted) in accepted.iter_mut().enumerate() {
            // Where both are minus infinity the difference is NaN, which passes no hurdle.
            if found[i] - self.log_density[i] > hurdles[i] {
                *accepted += 1;
                self.log_density[i] = found[i];
                for (position, proposal) in self.positions.iter_mut().zip(&self.proposals) {
                    position[i] = proposal[i];
                }
            }
        }
    }
}

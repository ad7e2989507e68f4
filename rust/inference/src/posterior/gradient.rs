//! The log density with its gradient, in the unbounded space.

use percuss_chaos::{Adjoint, LANES};
use rayon::prelude::*;

use super::{Form, Input, Memory, Posterior, possible, side_by_side};
use crate::error::{Result, check_length};

/// Working memory for the gradient at L points, beside `Memory`.
pub(crate) struct Slopes<const L: usize> {
    x: Vec<[f64; L]>,
    variables: Vec<[f64; L]>,
    /// For each forward model the way back, and the derivatives with respect to its outputs.
    outputs: Vec<(Adjoint<L>, Vec<[f64; L]>)>,
}

impl Input {
    /// Derivative of `place`.
    fn slope<const L: usize>(&self, x: &[f64; L]) -> [f64; L] {
        match self.form {
            Form::Linear => [self.factor; L],
            Form::Logarithmic => x.map(|x| if x > 1e-300 { self.factor / x } else { 0.0 }),
        }
    }
}

impl Posterior {
    pub(crate) fn slopes<const L: usize>(&self) -> Slopes<L> {
        let widest = self.forwards.iter().map(|forward| forward.inputs.len());
        let of = |forward: &super::Forward| {
            let outputs = forward.expansion.outputs();
            (forward.expansion.adjoint(), vec![[0.0; L]; outputs])
        };
        Slopes {
            x: vec![[0.0; L]; self.dimension()],
            variables: vec![[0.0; L]; widest.max().unwrap_or(0)],
            outputs: self.forwards.iter().map(of).collect(),
        }
    }

    /// Log density as `at` gives it; its gradient replaces `gradient`, and is of no use where the density is zero.
    pub(crate) fn at_with_gradient<const L: usize>(
        &self,
        z: &[[f64; L]],
        memory: &mut Memory<L>,
        slopes: &mut Slopes<L>,
        gradient: &mut [[f64; L]],
    ) -> [f64; L] {
        let prior = self.log_prior(z, memory);
        let mut likelihood = [0.0; L];
        slopes.x.fill([0.0; L]);
        let models = self.forwards.iter().zip(&self.data);
        let rooms = memory.outputs.iter_mut().zip(&mut slopes.outputs);
        for ((forward, data), ((scratch, values, room), (adjoint, to_values))) in models.zip(rooms)
        {
            let count = forward.inputs.len();
            let variables = &mut memory.variables[..count];
            for (variable, input) in variables.iter_mut().zip(&forward.inputs) {
                *variable = input.place(&memory.x[input.column]);
            }
            let expansion = &forward.expansion;
            expansion.evaluate_with_slopes(variables, scratch, values);
            let found = data.at_with_gradient(&memory.x, values, room, to_values, &mut slopes.x);
            let to_variables = &mut slopes.variables[..count];
            expansion.pull_back(to_values, scratch, adjoint, to_variables);
            for (input, slope) in forward.inputs.iter().zip(to_variables) {
                let chain = input.slope(&memory.x[input.column]);
                for i in 0..L {
                    slopes.x[input.column][i] += slope[i] * chain[i];
                }
            }
            for i in 0..L {
                likelihood[i] += found[i];
            }
        }
        for (k, parameter) in self.parameters.iter().enumerate() {
            for i in 0..L {
                let (stretch, jacobian) = parameter.slope(z[k][i]);
                let slope = slopes.x[k][i] + parameter.prior.slope(memory.x[k][i]);
                gradient[k][i] = slope * stretch + jacobian;
            }
        }
        std::array::from_fn(|i| possible(likelihood[i]) + possible(prior[i]))
    }

    /// Log density (points) and its gradient (points x parameters) at many points of the unbounded space.
    pub fn log_density_with_gradient(&self, z: &[f64]) -> Result<(Vec<f64>, Vec<f64>)> {
        let dimension = self.dimension();
        let rows = z.len() / dimension;
        check_length("points", z.len(), rows * dimension)?;
        let (mut found, mut gradient) = (vec![0.0; rows], vec![0.0; z.len()]);
        found
            .par_chunks_mut(LANES)
            .zip(gradient.par_chunks_mut(LANES * dimension))
            .zip(z.par_chunks(LANES * dimension))
            .for_each(|((found, gradient), z)| {
                let mut lanes = vec![[0.0; LANES]; dimension];
                let mut slopes = lanes.clone();
                side_by_side(z, dimension, &mut lanes);
                let (mut memory, mut room) = (self.memory(), self.slopes());
                let at = self.at_with_gradient(&lanes, &mut memory, &mut room, &mut slopes);
                found.copy_from_slice(&at[..found.len()]);
                for (at, entry) in gradient.iter_mut().enumerate() {
                    *entry = slopes[at % dimension][at / dimension];
                }
            });
        Ok((found, gradient))
    }
}

//! Derivatives of one weighted sum of all outputs, from the sum back to the variables (reverse accumulation; Griewank and
//! Walther, 2008). Their cost is about that of the values, whatever the number of variables; the gradients of every output
//! by themselves, as `predict_with_gradient` gives them, cost as many times that as there are variables.

use pulp::{Arch, NullaryFnOnce};

use super::{Kernel, Scratch};

/// Working memory of the way back for L points.
#[derive(Debug, Clone)]
pub struct Adjoint<const L: usize> {
    values: Vec<[f64; L]>,
    table: Vec<[f64; L]>,
}

impl Kernel {
    pub(crate) fn adjoint<const L: usize>(&self) -> Adjoint<L> {
        Adjoint {
            values: vec![[0.0; L]; self.value_nodes + 1],
            table: vec![[0.0; L]; self.slopes],
        }
    }

    /// All outputs at L points side by side, with what `pull_back` needs left in `scratch`.
    pub(crate) fn evaluate_with_slopes<const L: usize>(
        &self,
        points: &[[f64; L]],
        scratch: &mut Scratch<L>,
        values: &mut [[f64; L]],
    ) {
        Arch::new().dispatch(WithSlopes {
            kernel: self,
            points,
            scratch,
            values,
        });
    }

    /// Gradient of sum_j weights[j] output_j at the points of the last `evaluate_with_slopes`.
    pub(crate) fn pull_back<const L: usize>(
        &self,
        weights: &[[f64; L]],
        scratch: &Scratch<L>,
        adjoint: &mut Adjoint<L>,
        gradient: &mut [[f64; L]],
    ) {
        Arch::new().dispatch(PullBack {
            kernel: self,
            weights,
            scratch,
            adjoint,
            gradient,
        });
    }

    #[inline(always)]
    fn back<const L: usize>(
        &self,
        weights: &[[f64; L]],
        scratch: &Scratch<L>,
        adjoint: &mut Adjoint<L>,
        gradient: &mut [[f64; L]],
    ) {
        let (values, slopes) = scratch.table.split_at(self.slopes);
        adjoint.values.fill([0.0; L]);
        adjoint.table.fill([0.0; L]);
        let mut start = 0;
        for (weight, &end) in weights.iter().zip(&self.outputs.ends) {
            for &(coefficient, value) in &self.outputs.entries[start..end] {
                let into = &mut adjoint.values[value as usize];
                for i in 0..L {
                    into[i] += coefficient * weight[i];
                }
            }
            start = end;
        }
        for (at, node) in self.nodes[..self.value_nodes].iter().enumerate().rev() {
            let own = adjoint.values[at + 1];
            let (parent, factor) = (node.parent as usize, node.factor as usize);
            let into = &mut adjoint.values[parent];
            for i in 0..L {
                into[i] += own[i] * values[factor][i];
            }
            let into = &mut adjoint.table[factor];
            for i in 0..L {
                into[i] += own[i] * scratch.values[parent][i];
            }
        }
        for ((sum, recurrence), &begin) in
            gradient.iter_mut().zip(&self.recurrences).zip(&self.begins)
        {
            *sum = [0.0; L];
            for entry in begin..=begin + recurrence.degree() {
                for i in 0..L {
                    sum[i] += adjoint.table[entry][i] * slopes[entry][i];
                }
            }
        }
    }
}

// Types and not closures, so that the bodies are compiled for the instructions the dispatch has found.

struct WithSlopes<'a, const L: usize> {
    kernel: &'a Kernel,
    points: &'a [[f64; L]],
    scratch: &'a mut Scratch<L>,
    values: &'a mut [[f64; L]],
}

impl<const L: usize> NullaryFnOnce for WithSlopes<'_, L> {
    type Output = ();
    #[inline(always)]
    fn call(self) {
        let Self {
            kernel,
            points,
            scratch,
            values,
        } = self;
        kernel.fill(|k| points[k], scratch, true, kernel.value_nodes);
        kernel
            .outputs
            .evaluate(&scratch.values, |row, value| values[row] = value);
    }
}

struct PullBack<'a, const L: usize> {
    kernel: &'a Kernel,
    weights: &'a [[f64; L]],
    scratch: &'a Scratch<L>,
    adjoint: &'a mut Adjoint<L>,
    gradient: &'a mut [[f64; L]],
}

impl<const L: usize> NullaryFnOnce for PullBack<'_, L> {
    type Output = ();
    #[inline(always)]
    fn call(self) {
        self.kernel
            .back(self.weights, self.scratch, self.adjoint, self.gradient);
    }
}

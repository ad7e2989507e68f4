//! The log density that is sampled: priors, transforms, expansions and Gaussian data at several points side by side.

mod gradient;

use percuss_chaos::{Expansion, LANES, Scratch};
use rayon::prelude::*;

pub(crate) use self::gradient::Slopes;
use crate::error::{InferenceError, Result, check_length, check_place};
use crate::likelihood::{Class, CommonError, Data, Room};
use crate::parameter::Parameter;

/// How a parameter becomes a canonical variable of an expansion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// (x - centre) factor
    Linear,
    /// log(x / centre) factor
    Logarithmic,
}

/// Where a canonical variable comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Input {
    /// Number of the parameter.
    pub column: usize,
    /// The map.
    pub form: Form,
    /// Its centre.
    pub centre: f64,
    /// Its factor.
    pub factor: f64,
}

impl Input {
    fn place<const L: usize>(&self, x: &[f64; L]) -> [f64; L] {
        match self.form {
            Form::Linear => x.map(|x| (x - self.centre) * self.factor),
            Form::Logarithmic => x.map(|x| (x.max(1e-300) / self.centre).ln() * self.factor),
        }
    }
}

/// A forward model: an expansion and where its variables come from.
#[derive(Debug, Clone)]
pub struct Forward {
    /// All outputs of the model.
    pub expansion: Expansion,
    /// One for each variable of the expansion.
    pub inputs: Vec<Input>,
    /// Its own error, where that is common to all data of an output.
    pub error: Option<CommonError>,
}

/// A measured value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Datum {
    /// Number of the forward model it is compared with.
    pub forward: usize,
    /// Number of the output of that model.
    pub output: usize,
    /// The value.
    pub observed: f64,
    /// All that is known of its variance.
    pub variance: f64,
    /// Number of the parameter whose square adds to the variance.
    pub unknown: Option<usize>,
}

/// A posterior up to its evidence.
#[derive(Debug, Clone)]
pub struct Posterior {
    parameters: Vec<Parameter>,
    forwards: Vec<Forward>,
    /// Of each forward model.
    data: Vec<Data>,
    /// What the log Jacobian has in common at all points.
    jacobian_constant: f64,
}

/// Working memory for L points.
pub(crate) struct Memory<const L: usize> {
    x: Vec<[f64; L]>,
    variables: Vec<[f64; L]>,
    /// For each forward model its working memory, its outputs, and working memory for its data.
    outputs: Vec<(Scratch<L>, Vec<[f64; L]>, Room<L>)>,
}

impl Posterior {
    /// Check that all parts fit together.
    pub fn new(
        parameters: Vec<Parameter>,
        forwards: Vec<Forward>,
        data: Vec<Datum>,
    ) -> Result<Self> {
        let count = parameters.len();
        for (key, list_is_empty) in [("parameters", count == 0), ("data", data.is_empty())] {
            if list_is_empty {
                return Err(InferenceError::Value {
                    key,
                    value: 0.0,
                    allowed: "at least one",
                });
            }
        }
        for parameter in &parameters {
            check_value("origin", parameter.origin, true, "finite")?;
            check_value(
                "scale",
                parameter.scale,
                parameter.scale > 0.0,
                "above 0 and finite",
            )?;
        }
        for forward in &forwards {
            check_length(
                "inputs",
                forward.inputs.len(),
                forward.expansion.dimension(),
            )?;
            for input in &forward.inputs {
                check_place("input", input.column, count)?;
            }
            if let Some(error) = &forward.error {
                error.check(forward.expansion.outputs())?;
            }
        }
        for datum in &data {
            check_place("forward model", datum.forward, forwards.len())?;
            let outputs = forwards[datum.forward].expansion.outputs();
            check_place("output", datum.output, outputs)?;
            check_value("observed", datum.observed, true, "finite")?;
            check_value(
                "variance",
                datum.variance,
                datum.variance > 0.0 || (datum.variance == 0.0 && datum.unknown.is_some()),
                "above 0 and finite; 0 where a standard deviation is inferred",
            )?;
            if let Some(column) = datum.unknown {
                check_place("unknown", column, count)?;
            }
        }
        let gathered = gather(&forwards, &data);
        let jacobian_constant = parameters.iter().map(|p| p.scale.ln()).sum();
        Ok(Self {
            parameters,
            forwards,
            data: gathered,
            jacobian_constant,
        })
    }

    /// Number of parameters.
    pub fn dimension(&self) -> usize {
        self.parameters.len()
    }

    pub(crate) fn memory<const L: usize>(&self) -> Memory<L> {
        let widest = self.forwards.iter().map(|forward| forward.inputs.len());
        Memory {
            x: vec![[0.0; L]; self.dimension()],
            variables: vec![[0.0; L]; widest.max().unwrap_or(0)],
            outputs: self
                .forwards
                .iter()
                .zip(&self.data)
                .map(|(forward, data)| {
                    let expansion = &forward.expansion;
                    let values = vec![[0.0; L]; expansion.outputs()];
                    (expansion.scratch(), values, data.room())
                })
                .collect(),
        }
    }

    /// Log density of the prior with that of the transform at L points, whose parameters go into `memory.x`.
    fn log_prior<const L: usize>(&self, z: &[[f64; L]], memory: &mut Memory<L>) -> [f64; L] {
        let mut prior = [self.jacobian_constant; L];
        let mut products = [1.0; L];
        for (k, parameter) in self.parameters.iter().enumerate() {
            memory.x[k] = parameter.place(&z[k], &mut prior, &mut products);
            parameter.prior.add(&memory.x[k], &mut prior);
        }
        std::array::from_fn(|i| prior[i] - 2.0 * products[i].ln())
    }

    /// Log density at L points side by side, `z[k][i]` parameter k of point i; minus infinity where prior or likelihood
    /// are not numbers.
    pub(crate) fn at<const L: usize>(&self, z: &[[f64; L]], memory: &mut Memory<L>) -> [f64; L] {
        let prior = self.log_prior(z, memory);
        let mut likelihood = [0.0; L];
        let models = self.forwards.iter().zip(&self.data);
        for ((forward, data), (scratch, values, room)) in models.zip(&mut memory.outputs) {
            let variables = &mut memory.variables[..forward.inputs.len()];
            for (variable, input) in variables.iter_mut().zip(&forward.inputs) {
                *variable = input.place(&memory.x[input.column]);
            }
            forward.expansion.evaluate(variables, scratch, values);
            let found = data.at(&memory.x, values, room);
            for i in 0..L {
                likelihood[i] += found[i];
            }
        }
        std::array::from_fn(|i| possible(likelihood[i]) + possible(prior[i]))
    }

    /// Log density at many points (points x parameters) of the unbounded space.
    pub fn log_density(&self, z: &[f64]) -> Result<Vec<f64>> {
        let dimension = self.dimension();
        let rows = z.len() / dimension;
        check_length("points", z.len(), rows * dimension)?;
        let mut found = vec![0.0; rows];
        found
            .par_chunks_mut(LANES)
            .zip(z.par_chunks(LANES * dimension))
            .for_each_init(
                || (self.memory::<LANES>(), vec![[0.0; LANES]; dimension]),
                |(memory, lanes), (found, z)| {
                    side_by_side(z, dimension, lanes);
                    found.copy_from_slice(&self.at(lanes, memory)[..found.len()]);
                },
            );
        Ok(found)
    }
}

/// The data of each forward model, those of one output and one variance put together.
fn gather(forwards: &[Forward], data: &[Datum]) -> Vec<Data> {
    let of = |(number, forward): (usize, &Forward)| {
        let mut alike: Vec<(Datum, Vec<f64>)> = Vec::new();
        for datum in data.iter().filter(|datum| datum.forward == number) {
            let same = |other: &Datum| {
                other.output == datum.output
                    && other.variance == datum.variance
                    && other.unknown == datum.unknown
            };
            match alike.iter_mut().find(|(other, _)| same(other)) {
                Some((_, observed)) => observed.push(datum.observed),
                None => alike.push((*datum, vec![datum.observed])),
            }
        }
        let classes = alike.iter().map(|(datum, observed)| {
            Class::of(datum.output, datum.variance, datum.unknown, observed)
        });
        let outputs = forward.expansion.outputs();
        Data::new(classes.collect(), forward.error.as_ref(), outputs)
    };
    forwards.iter().enumerate().map(of).collect()
}

/// Put points (at most L rows) side by side; lanes that are left over repeat the first point.
pub(crate) fn side_by_side<const L: usize>(rows: &[f64], dimension: usize, lanes: &mut [[f64; L]]) {
    let count = rows.len() / dimension;
    for (k, lane) in lanes.iter_mut().enumerate() {
        *lane = std::array::from_fn(|i| rows[if i < count { i } else { 0 } * dimension + k]);
    }
}

/// Minus infinity in place of NaN and of plus infinity.
fn possible(log: f64) -> f64 {
    if log < f64::INFINITY {
        log
    } else {
        f64::NEG_INFINITY
    }
}

fn check_value(key: &'static str, value: f64, good: bool, allowed: &'static str) -> Result<()> {
    if value.is_finite() && good {
        Ok(())
    } else {
        Err(InferenceError::Value {
            key,
            value,
            allowed,
        })
    }
}

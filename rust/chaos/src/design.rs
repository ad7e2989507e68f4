//! The data of a regression: points in canonical variables, families, outputs; checked once, here.
//!
//! Equal points are merged into one point with their mean output and their number as weight. Least squares does
//! not notice, but leave-one-out does: with a twin left in the design, leaving one out would leave nothing out.

use std::collections::BTreeMap;

use crate::error::{ChaosError, Result};
use crate::family::Family;

/// A checked design with its outputs.
#[derive(Debug, Clone, PartialEq)]
pub struct Design {
    families: Vec<Family>,
    outputs: usize,
    /// Distinct points, row by row.
    points: Vec<f64>,
    /// Mean outputs at the distinct points, row by row.
    values: Vec<f64>,
    /// How many rows each distinct point stands for.
    weights: Vec<f64>,
    /// The distinct point of every row given.
    place: Vec<usize>,
}

impl Design {
    /// Check and take `points` (rows x parameters, canonical) and `values` (rows x outputs), both row by row.
    pub fn new(
        families: &[Family],
        points: &[f64],
        values: &[f64],
        outputs: usize,
    ) -> Result<Self> {
        let dimension = families.len();
        if dimension == 0 || outputs == 0 {
            let key = if dimension == 0 {
                "parameters"
            } else {
                "outputs"
            };
            return Err(ChaosError::Option {
                key,
                value: "0".to_owned(),
                allowed: "at least one",
            });
        }
        let rows = points.len() / dimension;
        if points.len() != rows * dimension {
            return Err(ChaosError::Shape {
                what: "design",
                found: points.len(),
                expected: rows * dimension,
            });
        }
        if values.len() != rows * outputs {
            return Err(ChaosError::Shape {
                what: "outputs",
                found: values.len(),
                expected: rows * outputs,
            });
        }
        for (row, point) in points.chunks_exact(dimension).enumerate() {
            for (parameter, (&value, family)) in point.iter().zip(families).enumerate() {
                if !value.is_finite() {
                    return Err(ChaosError::NotFinite {
                        what: "design",
                        row,
                        column: parameter,
                        value,
                    });
                }
                if !family.supports(value) {
                    return Err(ChaosError::OutsideSupport {
                        row,
                        parameter,
                        value,
                        support: family.support(),
                        family: family.name(),
                    });
                }
            }
        }
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            let (row, column, value) = (at / outputs, at % outputs, values[at]);
            return Err(ChaosError::NotFinite {
                what: "output",
                row,
                column,
                value,
            });
        }

        let mut seen: BTreeMap<Vec<u64>, usize> = BTreeMap::new();
        let mut design = Self {
            families: families.to_vec(),
            outputs,
            points: Vec::with_capacity(points.len()),
            values: Vec::with_capacity(values.len()),
            weights: Vec::with_capacity(rows),
            place: Vec::with_capacity(rows),
        };
        for (point, value) in points
            .chunks_exact(dimension)
            .zip(values.chunks_exact(outputs))
        {
            // Adding +0.0 makes the two zeros one.
            let key: Vec<u64> = point.iter().map(|x| (x + 0.0).to_bits()).collect();
            let next = seen.len();
            let place = *seen.entry(key).or_insert(next);
            if place == next {
                design.points.extend_from_slice(point);
                design.values.extend_from_slice(value);
                design.weights.push(1.0);
            } else {
                let weight = design.weights[place] + 1.0;
                design.weights[place] = weight;
                let means = &mut design.values[place * outputs..(place + 1) * outputs];
                for (mean, y) in means.iter_mut().zip(value) {
                    *mean += (y - *mean) / weight;
                }
            }
            design.place.push(place);
        }
        Ok(design)
    }

    /// The distinct points taken `counts` times each; those with count 0 are left out.
    pub fn resampled(&self, counts: &[u32]) -> Self {
        let mut design = Self {
            families: self.families.clone(),
            outputs: self.outputs,
            points: Vec::new(),
            values: Vec::new(),
            weights: Vec::new(),
            place: Vec::new(),
        };
        for (point, &count) in counts.iter().enumerate().filter(|&(_, &count)| count > 0) {
            design.place.push(design.weights.len());
            design.points.extend_from_slice(self.point(point));
            design
                .values
                .extend_from_slice(&self.values[point * self.outputs..(point + 1) * self.outputs]);
            design.weights.push(self.weights[point] * f64::from(count));
        }
        design
    }

    /// One family per parameter.
    pub fn families(&self) -> &[Family] {
        &self.families
    }

    /// Number of parameters.
    pub fn dimension(&self) -> usize {
        self.families.len()
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// Number of distinct points.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether there is no point at all.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// Rows given that repeat an earlier point.
    pub fn duplicates(&self) -> usize {
        self.place.len() - self.weights.len()
    }

    /// The distinct point each row given went to.
    pub fn places(&self) -> &[usize] {
        &self.place
    }

    /// Coordinates of a distinct point.
    pub fn point(&self, point: usize) -> &[f64] {
        let dimension = self.dimension();
        &self.points[point * dimension..(point + 1) * dimension]
    }

    /// Distinct points, row by row.
    pub fn points(&self) -> &[f64] {
        &self.points
    }

    /// Mean outputs at the distinct points, row by row.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Number of rows each distinct point stands for.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// One output at all distinct points.
    pub fn output(&self, output: usize) -> Vec<f64> {
        self.values
            .iter()
            .skip(output)
            .step_by(self.outputs)
            .copied()
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twins_are_merged_with_weight_and_mean() {
        let points = [0.5, 0.0, -0.5, 0.1, 0.5, -0.0];
        let design = Design::new(&[Family::Legendre; 2], &points, &[1.0, 5.0, 2.0], 1).unwrap();
        assert_eq!((design.len(), design.duplicates()), (2, 1));
        assert_eq!(design.values(), [1.5, 5.0]);
        assert_eq!(design.weights(), [2.0, 1.0]);
        assert_eq!(design.places(), [0, 1, 0]);
    }

    #[test]
    fn bad_values_are_named_by_row_and_column() {
        let families = [Family::Legendre, Family::Laguerre { alpha: 0.0 }];
        let message = |points: &[f64], values: &[f64]| {
            Design::new(&families, points, values, 1)
                .unwrap_err()
                .to_string()
        };
        assert!(message(&[0.0, 1.0, 0.0, f64::NAN], &[1.0, 2.0]).contains("row 1, column 1"));
        assert!(message(&[0.0, 1.0, 0.0, -2.0], &[1.0, 2.0]).contains("[0, inf)"));
        assert!(message(&[0.0, 1.0, 1.5, 2.0], &[1.0, 2.0]).contains("row 1, parameter 0: 1.5"));
        assert!(
            message(&[0.0, 1.0, 0.5, 2.0], &[1.0, f64::INFINITY])
                .contains("output is inf in row 1")
        );
        assert!(message(&[0.0, 1.0, 0.5, 2.0], &[1.0]).contains("holds 1 values, expected 2"));
    }
}

//! Forces of an implicit step, found in the space of the elements that carry them.
//!
//! In a step the relative acceleration (or velocity) of an element is what it would be without forces, less `W f`, with
//! a constant `W` that is symmetric and positive. Contacts and cubic springs push back harder the more they are
//! compressed, so each force alone is a root in a known bracket, and sweeps over the elements converge.

use crate::matrices::propagator::Vector;
use crate::system::model::Pair;

/// Sweeps after which the forces are taken as they are.
const SWEEPS: usize = 500;

/// Coupling of elements through the constant matrix of a step.
#[derive(Debug, Clone)]
pub(crate) struct Condensed {
    size: usize,
    coupling: Vec<f64>,
}

impl Condensed {
    /// From the elements' pairs and the columns `left^-1 (push apart by one)`.
    pub fn new<V: Vector>(pairs: &[Pair], columns: &[V]) -> Self {
        let size = pairs.len();
        let entry = |at: usize| -pairs[at / size].difference(columns[at % size].as_ref());
        Self {
            size,
            coupling: (0..size * size).map(entry).collect(),
        }
    }

    /// Find forces with `forces[e] = law(e, free[e] - (W forces)[e], W_ee)`, where `law` answers for one element
    /// alone: its force when the others are held, from its motion without its own force.
    pub fn solve(
        &self,
        free: &[f64],
        forces: &mut [f64],
        mut law: impl FnMut(usize, f64, f64) -> f64,
    ) {
        for _ in 0..SWEEPS {
            let (mut moved, mut largest) = (0.0_f64, 0.0_f64);
            for e in 0..self.size {
                let row = &self.coupling[e * self.size..(e + 1) * self.size];
                let others: f64 = row
                    .iter()
                    .zip(forces.iter())
                    .map(|(w, f)| w * f)
                    .sum::<f64>()
                    - row[e] * forces[e];
                let force = law(e, free[e] - others, row[e]);
                moved = moved.max((force - forces[e]).abs());
                largest = largest.max(force.abs());
                forces[e] = force;
            }
            if moved <= 1e-14 * largest {
                break;
            }
        }
    }
}

/// Force `f` with `f = push(x - w f)` for a `push` that does not fall as its argument rises.
pub(crate) fn balance(x: f64, w: f64, mut push: impl FnMut(f64) -> f64) -> f64 {
    let unresisted = push(x);
    if unresisted == 0.0 {
        return 0.0;
    }
    let mut excess = |f: f64| f - push(x - w * f);
    let (at_zero, at_full) = (-unresisted, excess(unresisted));
    if at_full == 0.0 || at_zero.signum() == at_full.signum() {
        return unresisted;
    }
    crate::located::root::bracketed(0.0, at_zero, unresisted, at_full, excess)
}

//! Simultaneous impacts of rigid contacts.
//!
//! All contacts that touch at one instant are solved together: impulses `p >= 0` and closing speeds after the impact
//! `r+ <= -e r-`, complementary (Newton's law in Moreau's form). Projected Gauss-Seidel on `r+ = r- - W p`,
//! `W = B M^-1 B'`, converges for the few contacts that can touch at once.

use crate::system::model::{Model, Pair};

/// Sweeps after which the impulses are taken as they are.
const SWEEPS: usize = 20_000;

/// Entry of `B M^-1 B'` for two pairs.
pub(crate) fn coupling(masses: &[f64], a: Pair, b: Pair) -> f64 {
    let inverse = |i: usize| masses.get(i).map_or(0.0, |m| 1.0 / m);
    let mut sum = 0.0;
    for (i, sign_a) in [(a.left, 1.0), (a.right, -1.0)] {
        for (j, sign_b) in [(b.left, 1.0), (b.right, -1.0)] {
            if i == j {
                sum += sign_a * sign_b * inverse(i);
            }
        }
    }
    sum
}

/// Turn the velocities of touching contacts. `restitution` holds, for each touching contact, the one that applies.
/// Returns the impulses, N s.
pub(crate) fn resolve(
    model: &Model,
    touching: &[usize],
    restitution: &[f64],
    v: &mut [f64],
) -> Vec<f64> {
    let before: Vec<f64> = touching
        .iter()
        .map(|&c| model.contacts[c].pair.difference(v))
        .collect();
    let mut impulses = vec![0.0; touching.len()];
    let mut speed = before.clone();
    for _ in 0..SWEEPS {
        let mut moved = 0.0_f64;
        for (i, &contact) in touching.iter().enumerate() {
            let pair = model.contacts[contact].pair;
            let wanted = -restitution[i] * before[i];
            let own = coupling(&model.masses, pair, pair);
            let next = (impulses[i] + (speed[i] - wanted) / own).max(0.0);
            let change = next - impulses[i];
            if change == 0.0 {
                continue;
            }
            impulses[i] = next;
            for (j, &other) in touching.iter().enumerate() {
                speed[j] -= coupling(&model.masses, model.contacts[other].pair, pair) * change;
            }
            moved = moved.max((change / next.max(f64::MIN_POSITIVE)).abs());
        }
        if moved < 1e-15 {
            break;
        }
    }
    for (&contact, &impulse) in touching.iter().zip(&impulses) {
        let pair = model.contacts[contact].pair;
        for (i, sign) in [(pair.left, -1.0), (pair.right, 1.0)] {
            if let Some(v) = v.get_mut(i) {
                *v += sign * impulse / model.masses[i];
            }
        }
    }
    impulses
}

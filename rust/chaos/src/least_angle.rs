//! Hybrid least-angle regression: the order of entry by LAR, the coefficients by least squares at each step.
//!
//! Efron, Hastie, Johnstone and Tibshirani (2004); Blatman and Sudret (2011) for chaos expansions. The residual moves
//! along the direction u equiangular to the active columns until another candidate ties. With Psi = Q R,
//! u is Q z / |z| where R^T z = signs: a new column appends one number to z, so u is updated in O(N), and the only
//! product with the candidates is the one that finds the next tie.

use crate::basis::Basis;
use crate::least_squares::Growing;
use crate::path::{Path, Start, longest, patience};
use crate::screening::Screen;
use crate::vector::add_scaled;

/// The path over one candidate set.
pub(crate) fn least_angle(basis: &Basis, members: &[u32], start: &Start) -> Path {
    let mut growing = Growing::new(basis);
    let mut path = Path::new(&growing, start);
    let mut screen = Screen::new(basis, members, &start.correlations);
    let (most, patience) = (longest(basis.rows(), members.len()), patience(basis.rows()));

    let mut fitted = start.residual.clone();
    let mut moving = start.residual.clone();
    let mut column = vec![0.0; basis.stride()];
    let mut direction = vec![0.0; basis.stride()];
    let mut z: Vec<f64> = vec![];
    // Q z, and |z|^2.
    let mut combination = vec![0.0; basis.stride()];
    let mut square = 0.0;

    let mut next = screen.strongest(&moving);
    let mut level = next.map_or(0.0, |first| first.value);
    while let Some(turn) = next {
        screen.exclude(turn.place);
        let term = members[turn.place];
        basis.column(term as usize, &mut column);
        if growing.push(&column) {
            let scale = basis.scale(term as usize);
            let (above, diagonal) = growing.last_column().split_at(growing.count() - 1);
            let known: f64 = above[1..].iter().zip(&z).map(|(r, z)| r * z).sum();
            let entry = (turn.sign - scale * known) / (scale * diagonal[0]);
            z.push(entry);
            add_scaled(&mut combination, entry, growing.last_direction());
            square += entry * entry;
            growing.reduce(&mut fitted);
            path.record(term, growing.loo(&fitted, start.total));
            if path.entered.len() == most || path.is_past(patience) {
                break;
            }
        }
        if square == 0.0 {
            next = screen.strongest(&moving);
            continue;
        }
        let slope = 1.0 / square.sqrt();
        for (u, t) in direction.iter_mut().zip(&combination) {
            *u = slope * t;
        }
        next = screen.first_to_tie(&moving, &direction, level, slope);
        if let Some(tied) = next {
            add_scaled(&mut moving, -tied.value, &direction);
            level -= tied.value * slope;
            screen.travelled(tied.value);
        }
    }
    path
}

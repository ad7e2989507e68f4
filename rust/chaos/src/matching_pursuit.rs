//! Orthogonal matching pursuit: always the term most correlated with the residual of least squares.
//!
//! Pati, Rezaiifar and Krishnaprasad (1993). Greedier than least-angle regression: good on strongly sparse responses.

use crate::basis::Basis;
use crate::least_squares::Growing;
use crate::path::{Path, Start, longest, patience};
use crate::screening::Screen;

/// The path over one candidate set.
pub(crate) fn matching_pursuit(basis: &Basis, members: &[u32], start: &Start) -> Path {
    let mut growing = Growing::new(basis);
    let mut path = Path::new(&growing, start);
    let mut screen = Screen::new(basis, members, &start.correlations);
    let (most, patience) = (longest(basis.rows(), members.len()), patience(basis.rows()));
    let mut residual = start.residual.clone();
    let mut column = vec![0.0; basis.stride()];
    while let Some(turn) = screen.strongest(&residual) {
        screen.exclude(turn.place);
        let term = members[turn.place];
        basis.column(term as usize, &mut column);
        if growing.push(&column) {
            screen.travelled(growing.reduce(&mut residual).abs());
            path.record(term, growing.loo(&residual, start.total));
            if path.entered.len() == most || path.is_past(patience) {
                break;
            }
        }
    }
    path
}

//! Orthogonal matching pursuit: always the term most correlated with the residual of least squares.
//!
//! Pati, Rezaiifar and Krishnaprasad (1993). It follows smooth, strongly sparse responses further than least-angle
//! regression and is the worse of the two where the response has kinks.

use crate::basis::Basis;
use crate::least_squares::{Growing, LooError};
use crate::path::{Start, Walk};
use crate::screening::{Drift, Next, Screen};

/// A matching pursuit on its way.
#[derive(Clone)]
pub(crate) struct MatchingPursuit<'a> {
    basis: &'a Basis,
    total: f64,
    growing: Growing,
    screen: Screen<'a>,
    turn: Option<Next>,
    residual: Vec<f64>,
    drift: Vec<Drift>,
    column: Vec<f64>,
}

impl<'a> MatchingPursuit<'a> {
    /// Before the first term; candidates are those kept.
    pub(crate) fn new(basis: &'a Basis, start: &Start, keep: &[bool]) -> Self {
        Self {
            basis,
            total: start.total,
            growing: Growing::new(basis),
            screen: Screen::new(basis, &start.correlations, keep),
            turn: None,
            residual: start.residual.clone(),
            drift: vec![],
            column: vec![0.0; basis.stride()],
        }
    }
}

impl Walk for MatchingPursuit<'_> {
    const GREED: f64 = 2.0;

    /// Half of the points: later, leave-one-out falls for ever, down to interpolation.
    fn longest(points: usize) -> usize {
        points / 2
    }

    fn patience(points: usize) -> usize {
        points / 20
    }

    /// Ten times the points: with more, the best of so many candidates fits by chance.
    fn widest(points: usize) -> usize {
        10 * points
    }

    fn next(&mut self) -> Option<u32> {
        self.turn = self.screen.strongest(&self.residual, &self.drift);
        self.turn.map(|turn| self.screen.term(turn.place))
    }

    fn enter(&mut self) -> Option<LooError> {
        let turn = self.turn.take()?;
        let term = self.screen.term(turn.place) as usize;
        self.screen.exclude(turn.place);
        self.basis.column(term, &mut self.column);
        if !self.growing.push(&self.column) {
            return None;
        }
        let part = self.growing.reduce(&mut self.residual).abs();
        self.screen.travelled(part);
        // Parts are orthogonal: since epoch e the residual has moved by the root of the sum of their squares.
        for epoch in &mut self.drift {
            epoch.rest = epoch.rest.hypot(part);
        }
        self.drift.push(Drift {
            lead: 0.0,
            rest: part,
        });
        Some(self.growing.loo(&self.residual, self.total))
    }

    fn restrict(&mut self, keep: &[bool]) {
        let term = self.turn.map(|turn| self.screen.term(turn.place));
        self.screen.restrict(keep);
        self.turn = self.turn.zip(term).and_then(|(turn, term)| {
            Some(Next {
                place: self.screen.place(term)?,
                ..turn
            })
        });
    }
}

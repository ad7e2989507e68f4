//! Hybrid least-angle regression: the order of entry by LAR, the coefficients by least squares at each step.
//!
//! Efron, Hastie, Johnstone and Tibshirani (2004); Blatman and Sudret (2011) for chaos expansions. The residual moves
//! along the direction u equiangular to the active columns until another candidate ties. With Psi = Q R,
//! u is Q z / |z| where R^T z = signs: a new column appends one number to z, so u is updated in O(N), and the only
//! product with the candidates is the one that finds the next tie.

use crate::basis::Basis;
use crate::least_squares::{Growing, LooError};
use crate::path::{Start, Walk};
use crate::screening::{Drift, Motion, Next, Screen};
use crate::vector::add_scaled;

/// A least-angle regression on its way.
#[derive(Clone)]
pub(crate) struct LeastAngle<'a> {
    basis: &'a Basis,
    total: f64,
    growing: Growing,
    screen: Screen<'a>,
    turn: Option<Next>,
    /// Residual of least squares, and the one least-angle regression moves.
    fitted: Vec<f64>,
    moving: Vec<f64>,
    level: f64,
    z: Vec<f64>,
    square: f64,
    /// Q z, and the same at length one.
    combination: Vec<f64>,
    direction: Vec<f64>,
    /// Sum of step / |z| so far: a direction q_k that entered at h_k has lost z_k (h - h_k) by now.
    h: f64,
    entries: Vec<f64>,
    epochs: Vec<Epoch>,
    column: Vec<f64>,
}

/// A moment of the path: terms in, |z|, and h.
#[derive(Clone, Copy)]
struct Epoch {
    terms: usize,
    length: f64,
    h: f64,
}

impl<'a> LeastAngle<'a> {
    /// Before the first term; candidates are those kept.
    pub(crate) fn new(basis: &'a Basis, start: &Start, keep: &[bool]) -> Self {
        Self {
            basis,
            total: start.total,
            growing: Growing::new(basis),
            screen: Screen::new(basis, &start.correlations, keep),
            turn: None,
            fitted: start.residual.clone(),
            moving: start.residual.clone(),
            level: 0.0,
            z: vec![],
            square: 0.0,
            combination: vec![0.0; basis.stride()],
            direction: vec![0.0; basis.stride()],
            h: 0.0,
            entries: vec![],
            epochs: vec![Epoch {
                terms: 0,
                length: 0.0,
                h: 0.0,
            }],
            column: vec![0.0; basis.stride()],
        }
    }
}

impl Walk for LeastAngle<'_> {
    const GREED: f64 = 0.2;

    /// Two terms for three points: beyond, what is left of the leave-one-out residuals is small by chance, and the
    /// correction does not make up for it (the circuit of Ben-Ari and Steinberg, 2007, at 60 points: 59 terms, corrected
    /// error 2e-6, at fresh points 6e-4; 31 terms have 4e-5).
    fn longest(points: usize) -> usize {
        2 * points / 3
    }

    /// A tenth of the points, as UQLab; half of it loses terms of smooth responses that come late.
    fn patience(points: usize) -> usize {
        points / 10
    }

    fn widest(_points: usize) -> usize {
        usize::MAX
    }

    fn next(&mut self) -> Option<u32> {
        self.turn = if self.square == 0.0 {
            let first = self.screen.strongest(&self.moving, &[]);
            self.level = first.map_or(0.0, |first| first.value);
            first
        } else {
            let slope = 1.0 / self.square.sqrt();
            let motion = Motion {
                residual: &self.moving,
                direction: &self.direction,
                level: self.level,
                slope,
            };
            let (epochs, z, entries, h) = (&self.epochs, &self.z, &self.entries, self.h);
            self.screen
                .first_to_tie(motion, epochs.len(), |step, drift| {
                    drifts(epochs, z, entries, h + step * slope, drift);
                })
        };
        self.turn.map(|turn| self.screen.term(turn.place))
    }

    fn enter(&mut self) -> Option<LooError> {
        let turn = self.turn.take()?;
        let term = self.screen.term(turn.place) as usize;
        self.screen.exclude(turn.place);
        if self.square > 0.0 {
            let length = self.square.sqrt();
            self.epochs.push(Epoch {
                terms: self.z.len(),
                length,
                h: self.h,
            });
            add_scaled(&mut self.moving, -turn.value, &self.direction);
            self.level -= turn.value / length;
            self.h += turn.value / length;
            self.screen.travelled(turn.value);
        }
        self.basis.column(term, &mut self.column);
        if !self.growing.push(&self.column) {
            return None;
        }
        let scale = self.basis.scale(term);
        let (above, diagonal) = self
            .growing
            .last_column()
            .split_at(self.growing.count() - 1);
        let known: f64 = above[1..].iter().zip(&self.z).map(|(r, z)| r * z).sum();
        let entry = (turn.sign - scale * known) / (scale * diagonal[0]);
        self.z.push(entry);
        self.entries.push(self.h);
        self.square += entry * entry;
        add_scaled(&mut self.combination, entry, self.growing.last_direction());
        let slope = 1.0 / self.square.sqrt();
        for (u, t) in self.direction.iter_mut().zip(&self.combination) {
            *u = slope * t;
        }
        self.growing.reduce(&mut self.fitted);
        Some(self.growing.loo(&self.fitted, self.total))
    }

    fn restrict(&mut self, keep: &[bool]) {
        // The term on its turn is in every set that goes on with it, but its place changes.
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

/// How far the residual has moved since each epoch.
fn drifts(epochs: &[Epoch], z: &[f64], entries: &[f64], h: f64, drift: &mut Vec<Drift>) {
    drift.clear();
    drift.resize(epochs.len(), Drift::default());
    let mut square = 0.0;
    let mut first = z.len();
    for (epoch, drift) in epochs.iter().zip(drift).rev() {
        while first > epoch.terms {
            first -= 1;
            let lost = z[first] * (h - entries[first]);
            square += lost * lost;
        }
        *drift = Drift {
            lead: epoch.length * (h - epoch.h),
            rest: square.sqrt(),
        };
    }
}

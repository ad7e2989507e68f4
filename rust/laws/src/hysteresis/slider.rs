//! An elastic spring in series with a slider: the plastic part of bilinear springs and isolators.
//!
//! `F = k s`, `s = e - p`, `|s| <= reach`: the plastic elongation `p` stands still on the elastic branch and follows the
//! elongation while the slider slips. Return mapping is exact for any path that does not turn within the step.

use super::form::{Response, Restoring, Watch};
use super::past::{FLOWING, Past};

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Slider {
    pub stiffness: f64,
    pub reach: f64,
}

/// Plastic elongation among the numbers of the past.
const PLASTIC: usize = 0;

impl Slider {
    /// Elastic elongation, on the branch of the past.
    fn elastic(&self, past: &Past, e: f64) -> f64 {
        match past.branch {
            0 => (e - past.numbers[PLASTIC]).clamp(-self.reach, self.reach),
            branch => f64::from(branch) * self.reach,
        }
    }
}

impl Restoring for Slider {
    #[inline]
    fn respond(&self, past: &Past, e: f64, _: f64) -> Response {
        let free = e - past.numbers[PLASTIC];
        let elastic = free.clamp(-self.reach, self.reach);
        Response {
            force: self.stiffness * elastic,
            by_elongation: if free == elastic { self.stiffness } else { 0.0 },
            by_rate: 0.0,
        }
    }

    #[inline]
    fn advance(&self, past: &mut Past, e: f64, _: f64) {
        let plastic = &mut past.numbers[PLASTIC];
        *plastic = plastic.clamp(e - self.reach, e + self.reach);
    }

    #[inline]
    fn take(&self, past: &mut Past, e: f64, _: f64) -> f64 {
        let elastic = (e - past.numbers[PLASTIC]).clamp(-self.reach, self.reach);
        past.numbers[PLASTIC] = e - elastic;
        self.stiffness * elastic
    }

    fn stored(&self, past: &Past, e: f64) -> f64 {
        0.5 * self.stiffness * self.elastic(past, e).powi(2)
    }

    fn line(&self, past: &Past) -> Option<(f64, f64)> {
        Some(match past.branch {
            0 => (self.stiffness, -self.stiffness * past.numbers[PLASTIC]),
            branch => (0.0, f64::from(branch) * self.stiffness * self.reach),
        })
    }

    fn enter(&self, past: &mut Past, e: f64, rate: f64) {
        let free = e - past.numbers[PLASTIC];
        let slips = free.abs() >= self.reach && free * rate > 0.0;
        past.branch = if slips { free.signum() as i8 } else { 0 };
    }

    fn continued_force(&self, past: &Past, _: [f64; FLOWING], e: f64, _: f64) -> f64 {
        match past.branch {
            0 => self.stiffness * (e - past.numbers[PLASTIC]),
            branch => f64::from(branch) * self.stiffness * self.reach,
        }
    }

    /// The elastic branch ends at either yield point, a slipping one where the rate turns.
    fn watches(&self, past: &Past) -> [Option<Watch>; 3] {
        let (p, reach) = (past.numbers[PLASTIC], self.reach);
        match past.branch {
            0 => [
                Some(Watch {
                    event: 1,
                    plane: [1.0, 0.0, -(p + reach), 0.0],
                }),
                Some(Watch {
                    event: -1,
                    plane: [-1.0, 0.0, p - reach, 0.0],
                }),
                None,
            ],
            branch => [
                Some(Watch {
                    event: 0,
                    plane: [0.0, -f64::from(branch), 0.0, 0.0],
                }),
                None,
                None,
            ],
        }
    }

    fn happen(&self, past: &mut Past, event: i8, e: f64) {
        if event == 0 {
            past.numbers[PLASTIC] = e - f64::from(past.branch) * self.reach;
        }
        past.branch = event;
    }
}

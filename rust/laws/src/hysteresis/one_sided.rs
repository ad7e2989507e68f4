//! A linear spring that acts beyond a slack, on one side only.

use super::form::{Response, Restoring, Watch};
use super::past::{FLOWING, Past};

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct OneSided {
    pub stiffness: f64,
    pub slack: f64,
    /// 1: acts in tension; -1: in compression.
    pub side: f64,
}

impl OneSided {
    fn taut(&self, e: f64) -> f64 {
        self.side * e - self.slack
    }
}

impl Restoring for OneSided {
    #[inline]
    fn respond(&self, _: &Past, e: f64, _: f64) -> Response {
        let taut = self.taut(e);
        let slope = if taut > 0.0 { self.stiffness } else { 0.0 };
        Response {
            force: self.side * slope * taut,
            by_elongation: slope,
            by_rate: 0.0,
        }
    }

    fn advance(&self, _: &mut Past, _: f64, _: f64) {}

    fn stored(&self, _: &Past, e: f64) -> f64 {
        0.5 * self.stiffness * self.taut(e).max(0.0).powi(2)
    }

    fn line(&self, past: &Past) -> Option<(f64, f64)> {
        Some(match past.branch {
            0 => (0.0, 0.0),
            _ => (self.stiffness, -self.side * self.stiffness * self.slack),
        })
    }

    fn enter(&self, past: &mut Past, e: f64, _: f64) {
        past.branch = i8::from(self.taut(e) > 0.0);
    }

    fn continued_force(&self, past: &Past, _: [f64; FLOWING], e: f64, _: f64) -> f64 {
        match past.branch {
            0 => 0.0,
            _ => self.side * self.stiffness * self.taut(e),
        }
    }

    fn watches(&self, past: &Past) -> [Option<Watch>; 3] {
        let sign = if past.branch == 0 { 1.0 } else { -1.0 };
        let watch = Watch {
            event: 1 - past.branch,
            plane: [sign * self.side, 0.0, -sign * self.slack, 0.0],
        };
        [Some(watch), None, None]
    }

    fn happen(&self, past: &mut Past, event: i8, _: f64) {
        past.branch = event;
    }
}

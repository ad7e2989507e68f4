//! What an instrument makes of a history: its range clips, its resolution rounds, its rate samples.

use crate::OscillatorError;

/// An instrument.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sensor {
    /// Largest size it can read, in the unit of what it reads; infinity for no limit.
    pub range: f64,
    /// Smallest difference it can tell; zero for no limit.
    pub resolution: f64,
    /// Time between samples, s.
    pub interval_s: f64,
}

/// What the instrument read.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Values, clipped and rounded.
    pub values: Vec<f64>,
    /// How many were clipped.
    pub saturated: usize,
}

impl Sensor {
    /// Check the numbers.
    pub fn new(range: f64, resolution: f64, interval_s: f64) -> Result<Self, OscillatorError> {
        let allowed = [
            ("range", range, range > 0.0),
            (
                "resolution",
                resolution,
                resolution >= 0.0 && resolution.is_finite(),
            ),
            (
                "interval",
                interval_s,
                interval_s > 0.0 && interval_s.is_finite(),
            ),
        ];
        match allowed.into_iter().find(|(_, _, fine)| !fine) {
            Some((what, value, _)) => Err(OscillatorError::Sensor { what, value }),
            None => Ok(Self {
                range,
                resolution,
                interval_s,
            }),
        }
    }

    /// The instants at which it samples a run: use them as output times.
    pub fn times(&self, duration_s: f64) -> Vec<f64> {
        // the small allowance keeps the last sample when the duration is a multiple of the interval up to rounding
        let count = (duration_s / self.interval_s * (1.0 + 1e-12)).floor() as usize;
        (0..=count)
            .map(|i| (i as f64 * self.interval_s).min(duration_s))
            .collect()
    }

    /// Read a history sampled at [`Sensor::times`].
    pub fn read(&self, history: impl IntoIterator<Item = f64>) -> Reading {
        let mut saturated = 0;
        let one = |value: f64| {
            saturated += usize::from(value.abs() > self.range);
            let clipped = value.clamp(-self.range, self.range);
            if self.resolution > 0.0 {
                (clipped / self.resolution).round() * self.resolution
            } else {
                clipped
            }
        };
        let values = history.into_iter().map(one).collect();
        Reading { values, saturated }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clips_rounds_and_counts() {
        let sensor = Sensor::new(3.0, 0.5, 0.001).unwrap();
        let reading = sensor.read([1.2, -7.0, 2.9, 3.0]);
        assert_eq!(
            (reading.values, reading.saturated),
            (vec![1.0, -3.0, 3.0, 3.0], 1)
        );
        assert_eq!(sensor.times(0.003).len(), 4);
        assert_eq!(
            Sensor::new(0.0, 0.0, 1.0).unwrap_err().to_string(),
            "sensor range 0 must be positive"
        );
    }
}

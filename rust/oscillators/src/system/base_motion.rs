//! Acceleration of the base: a record with straight lines between its samples, or a sum of sines.

use std::f64::consts::{FRAC_PI_2, TAU};

use crate::{OscillatorError, Record};

/// `amplitude sin(2 pi frequency (t - start) + phase)` from `start` to `end`, zero outside. A window of half a period
/// is a half-sine pulse.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Harmonic {
    /// Amplitude, m/s^2.
    pub amplitude_m_s2: f64,
    /// Frequency, Hz.
    pub frequency_hz: f64,
    /// Phase at the start, rad.
    pub phase_rad: f64,
    /// Start, s.
    pub start_s: f64,
    /// End, s; infinity for one that goes on.
    pub end_s: f64,
}

/// Acceleration of the base, m/s^2.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum BaseMotion {
    /// At rest.
    #[default]
    Fixed,
    /// A record, linear between its samples, zero outside.
    Record(Record),
    /// A sum of sines.
    Harmonics(Vec<Harmonic>),
}

/// A stretch of time in which the base acceleration is smooth.
#[derive(Debug, Clone)]
pub(crate) enum Stretch<'a> {
    Zero,
    Line { from: f64, value: f64, slope: f64 },
    Waves { waves: &'a [Harmonic], from: f64 },
}

impl Harmonic {
    fn acts_at(&self, t: f64) -> bool {
        t >= self.start_s && t < self.end_s
    }

    fn angle(&self, t: f64) -> f64 {
        TAU * self.frequency_hz * (t - self.start_s) + self.phase_rad
    }
}

impl BaseMotion {
    /// Check the numbers.
    pub(crate) fn check(&self) -> Result<(), OscillatorError> {
        let Self::Harmonics(waves) = self else {
            return Ok(());
        };
        for (index, wave) in waves.iter().enumerate() {
            let Harmonic {
                amplitude_m_s2,
                frequency_hz,
                phase_rad,
                start_s,
                end_s,
            } = *wave;
            for (what, value) in [
                ("harmonic amplitude", amplitude_m_s2),
                ("harmonic frequency", frequency_hz),
                ("harmonic phase", phase_rad),
                ("harmonic start", start_s),
            ] {
                if !value.is_finite() {
                    return Err(OscillatorError::NotFinite { what, index, value });
                }
            }
            if end_s.is_nan() || end_s < start_s {
                return Err(OscillatorError::HarmonicWindow {
                    index,
                    start_s,
                    end_s,
                });
            }
        }
        Ok(())
    }

    /// Acceleration at a time, m/s^2.
    pub fn at(&self, t: f64) -> f64 {
        self.stretch(t).0.at(t)
    }

    /// The smooth stretch that begins at or contains `t`, and when it ends.
    pub(crate) fn stretch(&self, t: f64) -> (Stretch<'_>, f64) {
        match self {
            Self::Fixed => (Stretch::Zero, f64::INFINITY),
            Self::Record(record) => record.stretch(record.times_s().partition_point(|&x| x <= t)),
            Self::Harmonics(waves) => {
                let edges = waves.iter().flat_map(|wave| [wave.start_s, wave.end_s]);
                let until = edges.filter(|&edge| edge > t).fold(f64::INFINITY, f64::min);
                (Stretch::Waves { waves, from: t }, until)
            }
        }
    }

    /// A reader for times that never go back, which does not search the record anew each time.
    pub(crate) fn reader(&self) -> Reader<'_> {
        Reader {
            base: self,
            stretch: Stretch::Zero,
            until: f64::NEG_INFINITY,
            next: 0,
        }
    }
}

impl Record {
    /// The stretch before sample `next`.
    fn stretch(&self, next: usize) -> (Stretch<'static>, f64) {
        let (times, values) = (self.times_s(), self.accelerations_m_s2());
        if next == 0 {
            return (Stretch::Zero, times[0]);
        }
        if next == times.len() {
            return (Stretch::Zero, f64::INFINITY);
        }
        let (from, value) = (times[next - 1], values[next - 1]);
        let slope = (values[next] - value) / (times[next] - from);
        (Stretch::Line { from, value, slope }, times[next])
    }
}

impl Stretch<'_> {
    /// Acceleration at a time of the stretch.
    pub fn at(&self, t: f64) -> f64 {
        match self {
            Self::Zero => 0.0,
            Self::Line { from, value, slope } => value + slope * (t - from),
            Self::Waves { waves, from } => {
                let acting = waves.iter().filter(|wave| wave.acts_at(*from));
                acting
                    .map(|wave| wave.amplitude_m_s2 * wave.angle(t).sin())
                    .sum()
            }
        }
    }

    /// Taylor coefficients at a time of the stretch.
    pub fn taylor(&self, t: f64, out: &mut [f64]) {
        out.fill(0.0);
        match self {
            Self::Zero => {}
            Self::Line { slope, .. } => {
                out[0] = self.at(t);
                out[1] = *slope;
            }
            Self::Waves { waves, from } => {
                for wave in waves.iter().filter(|wave| wave.acts_at(*from)) {
                    let (angle, omega) = (wave.angle(t), TAU * wave.frequency_hz);
                    let mut factor = wave.amplitude_m_s2;
                    for (k, c) in out.iter_mut().enumerate() {
                        *c += factor * (angle + FRAC_PI_2 * (k % 4) as f64).sin();
                        factor *= omega / (k + 1) as f64;
                    }
                }
            }
        }
    }
}

/// See [`BaseMotion::reader`].
#[derive(Debug, Clone)]
pub(crate) struct Reader<'a> {
    base: &'a BaseMotion,
    stretch: Stretch<'a>,
    until: f64,
    /// First sample of a record after the last time asked.
    next: usize,
}

impl Reader<'_> {
    /// True when there is no motion to read.
    #[inline(always)]
    pub fn is_fixed(&self) -> bool {
        matches!(self.base, BaseMotion::Fixed)
    }

    /// Acceleration at `t`, which must not be before the last time asked by more than a step.
    #[inline]
    pub fn at(&mut self, t: f64) -> f64 {
        if t >= self.until {
            self.turn_to(t);
        }
        // the usual case, without a call
        if let Stretch::Line { from, value, slope } = self.stretch {
            return value + slope * (t - from);
        }
        self.stretch.at(t)
    }

    /// Take up the stretch that holds `t`.
    fn turn_to(&mut self, t: f64) {
        (self.stretch, self.until) = match self.base {
            BaseMotion::Record(record) => {
                let times = record.times_s();
                while self.next < times.len() && times[self.next] <= t {
                    self.next += 1;
                }
                record.stretch(self.next)
            }
            base => base.stretch(t),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taylor_coefficients_continue_the_motion() {
        let wave = |amplitude_m_s2, frequency_hz, start_s, end_s| Harmonic {
            amplitude_m_s2,
            frequency_hz,
            phase_rad: 0.4,
            start_s,
            end_s,
        };
        let record = Record::new(vec![0.0, 0.5, 2.0], vec![1.0, -2.0, 4.0]).unwrap();
        let waves = vec![wave(2.0, 0.7, 0.0, f64::INFINITY), wave(1.0, 2.0, 0.2, 0.9)];
        for base in [BaseMotion::Record(record), BaseMotion::Harmonics(waves)] {
            for t in [0.1, 0.3, 0.6] {
                let mut c = [0.0; 25];
                base.stretch(t).0.taylor(t, &mut c);
                let tau = 0.09_f64;
                let series: f64 = c.iter().rev().fold(0.0, |sum, c| sum * tau + c);
                assert!((series - base.at(t + tau)).abs() < 1e-13);
            }
        }
    }
}

//! Recorded base motion: samples of acceleration.

use crate::OscillatorError;

/// Acceleration samples at increasing times.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    times_s: Vec<f64>,
    accelerations_m_s2: Vec<f64>,
}

impl Record {
    /// A record from its samples: at least two, all finite, times increasing.
    pub fn new(times_s: Vec<f64>, accelerations_m_s2: Vec<f64>) -> Result<Self, OscillatorError> {
        let found = accelerations_m_s2.len();
        if found != times_s.len() || found < 2 {
            return Err(OscillatorError::RecordCount {
                found,
                expected: times_s.len().max(2),
            });
        }
        for (sample, (&time, &value)) in times_s.iter().zip(&accelerations_m_s2).enumerate() {
            if let Some(&value) = [time, value].iter().find(|x| !x.is_finite()) {
                return Err(OscillatorError::RecordSample { sample, value });
            }
        }
        if let Some(at) = times_s.windows(2).position(|pair| pair[1] <= pair[0]) {
            let (before_s, time_s) = (times_s[at], times_s[at + 1]);
            return Err(OscillatorError::RecordTime {
                sample: at + 1,
                time_s,
                before_s,
            });
        }
        Ok(Self {
            times_s,
            accelerations_m_s2,
        })
    }

    /// Times, s.
    pub fn times_s(&self) -> &[f64] {
        &self.times_s
    }

    /// Accelerations, m/s^2.
    pub fn accelerations_m_s2(&self) -> &[f64] {
        &self.accelerations_m_s2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_named() {
        let fault = |times: &[f64], values: &[f64]| {
            Record::new(times.to_vec(), values.to_vec())
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            fault(&[0.0, 0.0], &[1.0, 2.0]),
            "record sample 1: time 0 s does not come after 0 s"
        );
        assert_eq!(
            fault(&[0.0], &[1.0]),
            "record holds 1 samples where 2 are needed"
        );
        assert!(fault(&[0.0, 1.0], &[0.0, f64::NAN]).contains("sample 1"));
    }
}

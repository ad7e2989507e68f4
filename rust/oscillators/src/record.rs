//! Recorded base motion: samples of acceleration, read from CSV or from the PEER AT2 format.

use crate::OscillatorError;

/// Standard acceleration of gravity, m/s^2.
pub const STANDARD_GRAVITY_M_S2: f64 = 9.80665;

/// Unit of the accelerations in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccelerationUnit {
    /// m/s^2.
    MetrePerSecondSquared,
    /// Multiples of standard gravity.
    Gravity,
}

impl AccelerationUnit {
    fn in_m_s2(self) -> f64 {
        match self {
            Self::MetrePerSecondSquared => 1.0,
            Self::Gravity => STANDARD_GRAVITY_M_S2,
        }
    }
}

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

    /// Read CSV: time in s and acceleration in the first two columns; one header line is allowed, and lines that are
    /// empty or start with `#` are skipped.
    pub fn from_csv(text: &str, unit: AccelerationUnit) -> Result<Self, OscillatorError> {
        let (mut times, mut values) = (Vec::new(), Vec::new());
        let mut header_allowed = true;
        for (index, line) in text.lines().enumerate() {
            let line_text = line.trim();
            if line_text.is_empty() || line_text.starts_with('#') {
                continue;
            }
            let mut fields = line_text.split(',').map(str::trim);
            let (first, second) = (fields.next().unwrap_or(""), fields.next().unwrap_or(""));
            if std::mem::take(&mut header_allowed)
                && first.parse::<f64>().is_err()
                && !first.is_empty()
            {
                continue;
            }
            times.push(number(first, index)?);
            values.push(number(second, index)? * unit.in_m_s2());
        }
        Self::new(times, values)
    }

    /// Read the PEER AT2 format: four header lines, the last with `NPTS=` and `DT=`, then values in g.
    pub fn from_at2(text: &str) -> Result<Self, OscillatorError> {
        let header = text.lines().nth(3).unwrap_or("").to_uppercase();
        let field = |key: &str| -> Result<&str, OscillatorError> {
            let missing = || OscillatorError::RecordHeader {
                reason: format!(
                    "line 4 of an AT2 file must give {key}=, but reads `{}`",
                    header.trim()
                ),
            };
            let after = header.split_once(key).ok_or_else(missing)?.1.trim_start();
            let after = after.strip_prefix('=').ok_or_else(missing)?.trim_start();
            Ok(after.split([',', ' ', '\t', 'S']).next().unwrap_or(""))
        };
        let count_text = field("NPTS")?;
        let count: usize = count_text
            .parse()
            .map_err(|_| OscillatorError::RecordValue {
                line: 4,
                text: count_text.to_owned(),
            })?;
        let step_s = number(field("DT")?, 3)?;
        let mut values = Vec::with_capacity(count.min(10_000_000));
        for (index, line) in text.lines().enumerate().skip(4) {
            for field in line.split_whitespace() {
                values.push(number(field, index)? * STANDARD_GRAVITY_M_S2);
            }
        }
        if values.len() != count {
            return Err(OscillatorError::RecordCount {
                found: values.len(),
                expected: count,
            });
        }
        Self::new((0..count).map(|i| i as f64 * step_s).collect(), values)
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

fn number(text: &str, line_index: usize) -> Result<f64, OscillatorError> {
    let value = text.parse::<f64>().ok().filter(|x| x.is_finite());
    value.ok_or_else(|| OscillatorError::RecordValue {
        line: line_index + 1,
        text: text.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT2: &str = "PEER NGA STRONG MOTION DATABASE RECORD\nSomewhere, 1979, 230\nACCELERATION TIME SERIES IN UNITS OF G\nNPTS=   6, DT=   .0050 SEC,\n  .1E-01  .2E-01 -.3E-01\n  0.0 1.0E-02 .5\n";

    #[test]
    fn at2_is_read() {
        let record = Record::from_at2(AT2).unwrap();
        assert_eq!(record.times_s()[5], 0.025);
        assert_eq!(
            record.accelerations_m_s2()[2],
            -0.03 * STANDARD_GRAVITY_M_S2
        );
    }

    #[test]
    fn at2_faults_are_named() {
        let fault = |text: &str| Record::from_at2(text).unwrap_err().to_string();
        assert_eq!(
            fault(&AT2.replace("NPTS=   6", "NPTS=   7")),
            "record holds 6 samples where 7 are needed"
        );
        assert_eq!(
            fault(&AT2.replace("1.0E-02", "NaN")),
            "record line 6: `NaN` is not a finite number"
        );
        assert!(fault(&AT2.replace("DT=", "")).contains("must give DT="));
    }

    #[test]
    fn csv_is_read_and_faults_are_named() {
        let read = |text: &str| Record::from_csv(text, AccelerationUnit::MetrePerSecondSquared);
        assert_eq!(
            read("t_s,a_m_s2\n0,1\n\n# note\n0.5,-2\n")
                .unwrap()
                .accelerations_m_s2(),
            [1.0, -2.0]
        );
        assert_eq!(
            Record::from_csv("0,1\n1,0\n", AccelerationUnit::Gravity)
                .unwrap()
                .accelerations_m_s2()[0],
            9.80665
        );
        let fault = |text: &str| read(text).unwrap_err().to_string();
        assert_eq!(
            fault("t,a\n0,1\n1,nan\n"),
            "record line 3: `nan` is not a finite number"
        );
        assert_eq!(
            fault("0,1\n0,2\n"),
            "record sample 1: time 0 s does not come after 0 s"
        );
        assert_eq!(fault("0,1\n"), "record holds 1 samples where 2 are needed");
    }
}

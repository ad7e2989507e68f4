//! Instants at which a run is looked at.

use crate::OscillatorError;

/// Most instants of one run.
pub const MOST_SAMPLES: f64 = 1e8;

/// Every multiple of an interval up to a duration, s: output times of a run.
pub fn sample_times(interval_s: f64, duration_s: f64) -> Result<Vec<f64>, OscillatorError> {
    // the small allowance keeps the last sample when the duration is a multiple of the interval up to rounding
    let count = (duration_s / interval_s * (1.0 + 1e-12)).floor();
    // written so that NaN is refused as well
    if !(interval_s > 0.0 && (0.0..=MOST_SAMPLES).contains(&count)) {
        return Err(OscillatorError::Sampling {
            interval_s,
            duration_s,
        });
    }
    Ok((0..=count as usize)
        .map(|i| (i as f64 * interval_s).min(duration_s))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_multiple_is_there_and_absurd_intervals_are_refused() {
        assert_eq!(sample_times(0.001, 0.003).unwrap().len(), 4);
        assert_eq!(sample_times(0.1, 0.3).unwrap(), [0.0, 0.1, 0.2, 0.3]);
        for interval_s in [0.0, -1.0, 1e-300, f64::NAN] {
            let refusal = sample_times(interval_s, 1.0).unwrap_err().to_string();
            let sentence = "must be positive and give at most 1e8 samples over 1 s";
            assert_eq!(
                refusal,
                format!("sampling interval {interval_s:?} s: {sentence}")
            );
        }
    }
}

//! Motions given in advance: the velocity of a kinematic body as a function of time.
//!
//! The stepper moves the body by the trapezoidal rule, exact for the piecewise linear [`Motion::Sampled`] when
//! its nodes fall on steps.

use crate::error::RigidError;
use percuss_geometry::Vec3;

/// Velocity and angular velocity, in world axes, over time.
#[derive(Debug, Clone, PartialEq)]
pub enum Motion {
    /// The same all the time.
    Constant {
        /// Velocity of the body's frame [m/s].
        velocity_m_per_s: Vec3,
        /// Angular velocity [rad/s].
        angular_velocity_rad_per_s: Vec3,
    },
    /// The displacement amplitude * sin(2 pi f t + phase), relative to its value at t = 0.
    Harmonic {
        /// Amplitude of the displacement [m].
        amplitude_m: Vec3,
        /// Frequency [Hz].
        frequency_hz: f64,
        /// Phase at t = 0 [rad].
        phase_rad: f64,
    },
    /// Linear between given instants, held before the first and after the last.
    Sampled {
        /// Rising instants [s].
        times_s: Vec<f64>,
        /// Velocity [m/s] and angular velocity [rad/s] at each.
        twists: Vec<[f64; 6]>,
    },
}

impl Motion {
    /// Velocity and angular velocity at time `t`.
    pub fn velocity(&self, t: f64) -> (Vec3, Vec3) {
        match self {
            Self::Constant {
                velocity_m_per_s,
                angular_velocity_rad_per_s,
            } => (*velocity_m_per_s, *angular_velocity_rad_per_s),
            Self::Harmonic {
                amplitude_m,
                frequency_hz,
                phase_rad,
            } => {
                let rate = std::f64::consts::TAU * frequency_hz;
                (
                    amplitude_m * (rate * (rate * t + phase_rad).cos()),
                    Vec3::zeros(),
                )
            }
            Self::Sampled { times_s, twists } => {
                let at = |k: usize| interpolate(times_s, t, |i| twists[i][k]);
                (
                    Vec3::new(at(0), at(1), at(2)),
                    Vec3::new(at(3), at(4), at(5)),
                )
            }
        }
    }

    /// Acceleration and angular acceleration at time `t`.
    pub fn acceleration(&self, t: f64) -> (Vec3, Vec3) {
        match self {
            Self::Constant { .. } => (Vec3::zeros(), Vec3::zeros()),
            Self::Harmonic {
                amplitude_m,
                frequency_hz,
                phase_rad,
            } => {
                let rate = std::f64::consts::TAU * frequency_hz;
                let along = amplitude_m * (-rate * rate * (rate * t + phase_rad).sin());
                (along, Vec3::zeros())
            }
            Self::Sampled { times_s, twists } => {
                let next = times_s.partition_point(|&x| x <= t);
                if next == 0 || next == times_s.len() {
                    return (Vec3::zeros(), Vec3::zeros());
                }
                let span = times_s[next] - times_s[next - 1];
                let slope = |k: usize| (twists[next][k] - twists[next - 1][k]) / span;
                (
                    Vec3::new(slope(0), slope(1), slope(2)),
                    Vec3::new(slope(3), slope(4), slope(5)),
                )
            }
        }
    }

    pub(crate) fn check(&self, body: &str) -> Result<(), RigidError> {
        let finite = match self {
            Self::Constant {
                velocity_m_per_s: v,
                angular_velocity_rad_per_s: w,
            } => v.iter().chain(w.iter()).all(|x| x.is_finite()),
            Self::Harmonic {
                amplitude_m,
                frequency_hz,
                phase_rad,
            } => {
                amplitude_m.iter().all(|x| x.is_finite())
                    && frequency_hz.is_finite()
                    && phase_rad.is_finite()
            }
            Self::Sampled { times_s, twists } => {
                check_times(&format!("motion of body {body}"), times_s, twists.len())?;
                twists.iter().flatten().all(|x| x.is_finite())
            }
        };
        if finite {
            Ok(())
        } else {
            Err(RigidError::NotFinite {
                what: format!("motion of body {body}"),
            })
        }
    }
}

/// Refuses instants that do not rise or do not match the values.
pub(crate) fn check_times(what: &str, times_s: &[f64], values: usize) -> Result<(), RigidError> {
    let rising = times_s.windows(2).all(|w| w[0] < w[1]) && times_s.iter().all(|t| t.is_finite());
    if times_s.is_empty() || times_s.len() != values || !rising {
        return Err(RigidError::Times {
            what: what.into(),
            times: times_s.len(),
            values,
        });
    }
    Ok(())
}

/// Linear interpolation, held at both ends.
pub(crate) fn interpolate(times_s: &[f64], t: f64, value: impl Fn(usize) -> f64) -> f64 {
    let next = times_s.partition_point(|&x| x <= t);
    if next == 0 {
        value(0)
    } else if next == times_s.len() {
        value(next - 1)
    } else {
        let (t0, t1) = (times_s[next - 1], times_s[next]);
        let share = (t - t0) / (t1 - t0);
        value(next - 1) + share * (value(next) - value(next - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_linear_between_and_held_outside() {
        let (times, values) = ([1.0, 2.0, 4.0], [10.0, 20.0, 0.0]);
        for (t, exact) in [
            (0.0, 10.0),
            (1.0, 10.0),
            (1.5, 15.0),
            (3.0, 10.0),
            (9.0, 0.0),
        ] {
            assert_eq!(interpolate(&times, t, |i| values[i]), exact);
        }
    }
}

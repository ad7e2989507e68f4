//! One damped oscillator under an acceleration of its base that is linear in time, stepped without error.
//!
//! `u'' + 2 z w u' + w^2 u = -(a + s t)`: over a step the solution is a power series whose coefficients follow from the
//! equation one after the other. With steps of at most a tenth of the period twenty terms are exact to rounding, for any
//! damping and without the cancellation that closed forms in sines suffer from at long periods. The recurrence from
//! sample to sample is that of Nigam and Jennings (1969).

/// Terms of the series: (0.2 pi)^20 / 20! = 4e-23.
const TERMS: usize = 20;
/// Steps per period, at least.
const STEPS_PER_PERIOD: f64 = 10.0;

/// Displacement and velocity relative to the base.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct State {
    pub(crate) u: f64,
    pub(crate) v: f64,
}

/// Natural frequency and damping ratio.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Oscillator {
    omega: f64,
    damping: f64,
}

/// What the peak of is sought.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Response {
    Displacement,
    Velocity,
    Acceleration,
}

/// Power series of `u` over one step.
struct Series([f64; TERMS]);

impl Series {
    /// Value of the `order`-th derivative.
    fn derivative(&self, order: usize, t: f64) -> f64 {
        let mut sum = 0.0;
        for k in (order..TERMS).rev() {
            let falling: f64 = (0..order).map(|j| (k - j) as f64).product();
            sum = sum * t + falling * self.0[k];
        }
        sum
    }
}

impl Oscillator {
    pub(crate) fn new(period_s: f64, damping: f64) -> Self {
        Self {
            omega: std::f64::consts::TAU / period_s,
            damping,
        }
    }

    /// Equal parts into which a step must be cut.
    pub(crate) fn parts(&self, step_s: f64) -> usize {
        let share = step_s * self.omega / std::f64::consts::TAU;
        ((STEPS_PER_PERIOD * share).ceil() as usize).max(1)
    }

    /// Coefficients of the series from a state, with base acceleration `a + slope t`.
    fn series(&self, start: State, a: f64, slope: f64) -> Series {
        let mut c = [0.0; TERMS];
        (c[0], c[1]) = (start.u, start.v);
        let (twice, square) = (2.0 * self.damping * self.omega, self.omega * self.omega);
        for k in 0..TERMS - 2 {
            let load = match k {
                0 => a,
                1 => slope,
                _ => 0.0,
            };
            let n = k as f64;
            let pull = twice * (n + 1.0) * c[k + 1] + square * c[k];
            c[k + 2] = -(load + pull) / ((n + 1.0) * (n + 2.0));
        }
        Series(c)
    }

    /// The recurrence over a step of this length: rows for u and v, columns for u, v, a and slope at its start.
    pub(crate) fn recurrence(&self, step_s: f64) -> [[f64; 4]; 2] {
        let mut rows = [[0.0; 4]; 2];
        for column in 0..4 {
            let unit = |i: usize| f64::from(u8::from(i == column));
            let start = State {
                u: unit(0),
                v: unit(1),
            };
            let series = self.series(start, unit(2), unit(3));
            for (row, order) in rows.iter_mut().zip([0, 1]) {
                row[column] = series.derivative(order, step_s);
            }
        }
        rows
    }

    /// Responses and their rates at a state: relative displacement and velocity, absolute acceleration.
    #[inline]
    pub(crate) fn responses(&self, at: State, a: f64) -> [(f64, f64); 3] {
        let (twice, square) = (2.0 * self.damping * self.omega, self.omega * self.omega);
        let absolute = -(twice * at.v + square * at.u);
        let relative = absolute - a;
        let rate = -(twice * relative + square * at.v);
        [(at.u, at.v), (at.v, relative), (absolute, rate)]
    }

    /// Largest size of a response inside a step where its rate changes sign.
    pub(crate) fn peak(&self, of: Response, start: State, a: f64, slope: f64, step_s: f64) -> f64 {
        let series = self.series(start, a, slope);
        let (twice, square) = (2.0 * self.damping * self.omega, self.omega * self.omega);
        // The `order`-th derivative of the response.
        let value = |order: usize, t: f64| match of {
            Response::Displacement => series.derivative(order, t),
            Response::Velocity => series.derivative(order + 1, t),
            Response::Acceleration => {
                -(twice * series.derivative(order + 1, t) + square * series.derivative(order, t))
            }
        };
        let (mut low, mut high) = (0.0, step_s);
        let rising = value(1, 0.0) > 0.0;
        let mut t = 0.5 * step_s;
        // Newton, kept inside the bracket; the value at an extremum is exact to the square of the error of its place.
        for _ in 0..50 {
            let rate = value(1, t);
            if (rate > 0.0) == rising {
                low = t;
            } else {
                high = t;
            }
            let newton = t - rate / value(2, t);
            let next = if newton > low && newton < high {
                newton
            } else {
                0.5 * (low + high)
            };
            if (next - t).abs() <= 1e-7 * step_s {
                break;
            }
            t = next;
        }
        value(0, t).abs()
    }
}

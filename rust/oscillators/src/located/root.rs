//! Root of a continuous function in a bracket, to rounding.

/// Brent's method on `[a, b]` where `fa` and `fb` differ in sign; returns the end of the final bracket on `b`'s side
/// of the sign change, so that the event has happened at the returned place.
pub(crate) fn bracketed(
    mut a: f64,
    mut fa: f64,
    mut b: f64,
    mut fb: f64,
    mut f: impl FnMut(f64) -> f64,
) -> f64 {
    let happened_sign = fb.signum();
    // c is the other end of the bracket; b the best estimate.
    let (mut c, mut fc) = (a, fa);
    let (mut step, mut before) = (b - a, b - a);
    for _ in 0..200 {
        if fb.signum() == fc.signum() {
            (c, fc) = (a, fa);
            step = b - a;
            before = step;
        }
        if fc.abs() < fb.abs() {
            (a, fa) = (b, fb);
            (b, fb) = (c, fc);
            (c, fc) = (a, fa);
        }
        let tolerance = f64::EPSILON * b.abs() + f64::MIN_POSITIVE;
        let half = 0.5 * (c - b);
        if half.abs() <= tolerance || fb == 0.0 {
            break;
        }
        if before.abs() >= tolerance && fa.abs() > fb.abs() {
            let s = fb / fa;
            let (mut p, mut q);
            if a == c {
                p = 2.0 * half * s;
                q = 1.0 - s;
            } else {
                let (r, t) = (fb / fc, fa / fc);
                p = s * (2.0 * half * t * (t - r) - (b - a) * (r - 1.0));
                q = (t - 1.0) * (r - 1.0) * (s - 1.0);
            }
            if p > 0.0 {
                q = -q;
            } else {
                p = -p;
            }
            if 2.0 * p < (3.0 * half * q - (tolerance * q).abs()).min((before * q).abs()) {
                before = step;
                step = p / q;
            } else {
                step = half;
                before = half;
            }
        } else {
            step = half;
            before = half;
        }
        (a, fa) = (b, fb);
        b += if step.abs() > tolerance {
            step
        } else {
            tolerance.copysign(half)
        };
        fb = f(b);
    }
    if fb == 0.0 || fb.signum() == happened_sign {
        b
    } else {
        c
    }
}

/// Largest value of a function with one top between `low` and `high`: parabolas through three points that close in
/// on it. Good to about 1e-12 of the value for a function whose top is as wide as the interval.
pub(crate) fn largest_between(low: f64, high: f64, mut f: impl FnMut(f64) -> f64) -> f64 {
    let (mut x, mut half) = (0.5 * (low + high), 0.5 * (high - low));
    let mut best = f64::NEG_INFINITY;
    for pass in 0..3 {
        let [a, b, c] = [f(x - half), f(x), f(x + half)];
        let bend = a - 2.0 * b + c;
        let shift = if bend < 0.0 {
            (0.5 * (a - c) / bend).clamp(-1.0, 1.0)
        } else {
            0.0
        };
        best = best.max(a).max(b).max(c);
        // The parabola of the whole interval may overshoot a top that is none.
        if pass > 0 && bend < 0.0 && shift.abs() < 1.0 {
            best = best.max(b - 0.125 * (a - c).powi(2) / bend);
        }
        x = (x + shift * half).clamp(low, high);
        half *= 1.0 / 12.0;
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_roots_to_rounding() {
        let root = bracketed(0.0, -2.0, 2.0, 2.0, |x| x * x - 2.0);
        assert!((root - 2.0_f64.sqrt()).abs() < 1e-15);
        let triple = bracketed(-1.0, -8.0, 2.5, 3.375, |x: f64| (x - 1.0).powi(3));
        assert!((triple - 1.0).abs() < 1e-5);
    }
}

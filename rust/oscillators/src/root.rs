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

/// Largest value of `f` near `place`, where it is `best` and no smaller than at `place - part` and `place + part`: by
/// golden section until the value no longer changes.
pub(crate) fn largest_near(place: f64, part: f64, best: f64, mut f: impl FnMut(f64) -> f64) -> f64 {
    const GOLDEN: f64 = 0.381_966_011_250_105_2;
    let (mut low, mut high) = (place - part, place + part);
    let (mut x, mut fx) = (place, best);
    for _ in 0..40 {
        let right = high - x > x - low;
        let y = if right {
            x + GOLDEN * (high - x)
        } else {
            x - GOLDEN * (x - low)
        };
        let fy = f(y);
        let settled = (fy - fx).abs() <= 1e-14 * fx.abs();
        match (fy > fx, right) {
            (true, true) => low = x,
            (true, false) => high = x,
            (false, true) => high = y,
            (false, false) => low = y,
        }
        if fy > fx {
            (x, fx) = (y, fy);
        }
        if settled {
            break;
        }
    }
    fx
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

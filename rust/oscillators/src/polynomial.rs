//! Polynomials on the unit interval: values, first rise through zero, largest size.
//!
//! A free flight is a Taylor polynomial, so the first moment a gap closes is the first root of a polynomial. Bounds on
//! its derivatives over a subinterval decide there; where they do not, the subinterval is halved. No root is missed,
//! however close to another.

/// Value and first derivative at `s`.
pub(crate) fn value_and_slope(c: &[f64], s: f64) -> (f64, f64) {
    c.iter().rev().fold((0.0, 0.0), |(value, slope), &c| {
        (value * s + c, slope * s + value)
    })
}

/// Value at `s`.
pub(crate) fn value(c: &[f64], s: f64) -> f64 {
    c.iter().rev().fold(0.0, |value, &c| value * s + c)
}

/// Bound of the second derivative's size on `[0, s]`.
fn curvature_bound(c: &[f64], s: f64) -> f64 {
    let terms = c.iter().enumerate().skip(2).rev();
    terms.fold(0.0, |sum, (k, c)| sum * s + (k * (k - 1)) as f64 * c.abs())
}

/// First `s` in `(0, 1]` where the polynomial rises from negative to zero or more.
pub(crate) fn first_rise(c: &[f64]) -> Option<f64> {
    let reach: f64 = c.iter().skip(1).map(|c| c.abs()).sum();
    if c[0] + reach < 0.0 {
        None
    } else {
        rise_between(c, 0.0, 1.0)
    }
}

fn rise_between(c: &[f64], a: f64, b: f64) -> Option<f64> {
    let (middle, radius) = (0.5 * (a + b), 0.5 * (b - a));
    let (value_there, slope) = value_and_slope(c, middle);
    let bend = curvature_bound(c, b) * radius;
    if value_there + (slope.abs() + 0.5 * bend) * radius < 0.0 {
        return None;
    }
    let monotone = slope.abs() > bend;
    if monotone && slope < 0.0 {
        return None;
    }
    if monotone || radius < 1e-15 {
        let (at_a, at_b) = (value(c, a), value(c, b));
        return (at_a < 0.0 && at_b >= 0.0)
            .then(|| crate::root::bracketed(a, at_a, b, at_b, |s| value(c, s)));
    }
    rise_between(c, a, middle).or_else(|| rise_between(c, middle, b))
}

/// Largest value on `[0, 1]`, if it exceeds `known`; else `known`. Searches between eight samples, so features
/// shorter than an eighth of the interval may be met short of their top: the interval is one Taylor step, on which
/// the polynomial turns at most a few times.
pub(crate) fn largest(c: &[f64], known: f64) -> f64 {
    let reach: f64 = c.iter().skip(1).map(|c| c.abs()).sum();
    if c[0] + reach <= known {
        return known;
    }
    const PARTS: usize = 8;
    let mut best = known.max(c[0]);
    let mut before = value_and_slope(c, 0.0);
    for part in 1..=PARTS {
        let (s0, s1) = ((part - 1) as f64 / PARTS as f64, part as f64 / PARTS as f64);
        let here = value_and_slope(c, s1);
        best = best.max(here.0);
        if before.1 > 0.0 && here.1 < 0.0 {
            let top = crate::root::bracketed(s0, before.1, s1, here.1, |s| value_and_slope(c, s).1);
            best = best.max(value(c, top));
        }
        before = here;
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Coefficients of `scale prod (s - root)`.
    fn from_roots(roots: &[f64], scale: f64) -> Vec<f64> {
        roots.iter().fold(vec![scale], |c, root| {
            let mut next = vec![0.0; c.len() + 1];
            for (k, c) in c.iter().enumerate() {
                next[k + 1] += c;
                next[k] -= root * c;
            }
            next
        })
    }

    proptest! {
        #[test]
        fn first_rise_is_the_first_root(mut roots in prop::collection::vec(0.02..0.98_f64, 1..6)) {
            roots.sort_by(f64::total_cmp);
            prop_assume!(roots.windows(2).all(|pair| pair[1] - pair[0] > 1e-4));
            let sign = if roots.len() % 2 == 1 { 1.0 } else { -1.0 };
            let rise = first_rise(&from_roots(&roots, sign)).unwrap();
            prop_assert!((rise - roots[0]).abs() < 1e-8, "{rise} {roots:?}");
        }
    }

    #[test]
    fn touch_without_crossing_is_none() {
        assert_eq!(first_rise(&[-0.25 - 1e-12, 1.0, -1.0]), None);
        assert!(first_rise(&[-0.25 + 1e-12, 1.0, -1.0]).is_some());
    }

    #[test]
    fn largest_value_is_found() {
        assert!((largest(&[0.0, 1.0, -1.0], 0.0) - 0.25).abs() < 1e-15);
        assert_eq!(largest(&[0.0, 1.0, -1.0], 3.0), 3.0);
    }
}

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
            .then(|| crate::located::root::bracketed(a, at_a, b, at_b, |s| value(c, s)));
    }
    rise_between(c, a, middle).or_else(|| rise_between(c, middle, b))
}

/// Largest value on `[0, 1]`, if it exceeds `known`; else `known`. Bounds on the derivatives decide where it may lie, so
/// that no top is missed, however narrow.
pub(crate) fn largest(c: &[f64], known: f64) -> f64 {
    place_of_largest(c, known).map_or(known, |(_, value)| value)
}

/// Where on `[0, 1]` the largest value lies, and that value, if it exceeds `known`.
pub(crate) fn place_of_largest(c: &[f64], known: f64) -> Option<(f64, f64)> {
    let reach: f64 = c.iter().skip(1).map(|c| c.abs()).sum();
    if c[0] + reach <= known {
        return None;
    }
    let mut best = (f64::NAN, known);
    for s in [0.0, 1.0] {
        raise(&mut best, s, value(c, s));
    }
    top_between(c, 0.0, 1.0, &mut best);
    (best.1 > known).then_some(best)
}

fn raise(best: &mut (f64, f64), s: f64, value: f64) {
    if value > best.1 {
        *best = (s, value);
    }
}

/// Raise `best` to the tops within `[a, b]`, whose ends are known: nothing where the slope cannot change its sign, the
/// values cannot reach `best`, or the polynomial is convex; the root of the slope where it is concave; else its halves.
fn top_between(c: &[f64], a: f64, b: f64, best: &mut (f64, f64)) {
    let (middle, radius) = (0.5 * (a + b), 0.5 * (b - a));
    let (value_there, slope) = value_and_slope(c, middle);
    raise(best, middle, value_there);
    let bend = bend(c, middle);
    let change_of_bend = bend_rate_bound(c, b) * radius;
    let turn = (bend.abs() + change_of_bend) * radius;
    let reach = value_there + (slope.abs() + 0.5 * turn) * radius;
    if slope.abs() > turn || reach <= best.1 || bend > change_of_bend || radius < 1e-12 {
        return;
    }
    if bend < -change_of_bend {
        let slope_at = |s: f64| value_and_slope(c, s).1;
        let (from, to) = (slope_at(a), slope_at(b));
        if from > 0.0 && to < 0.0 {
            let top = crate::located::root::bracketed(a, from, b, to, slope_at);
            raise(best, top, value(c, top));
        }
        return;
    }
    top_between(c, a, middle, best);
    top_between(c, middle, b, best);
}

/// Second derivative at `s`.
fn bend(c: &[f64], s: f64) -> f64 {
    let terms = c.iter().enumerate().skip(2).rev();
    terms.fold(0.0, |sum, (k, c)| sum * s + (k * (k - 1)) as f64 * c)
}

/// Bound of the third derivative's size on `[0, s]`.
fn bend_rate_bound(c: &[f64], s: f64) -> f64 {
    let terms = c.iter().enumerate().skip(3).rev();
    terms.fold(0.0, |sum, (k, c)| {
        sum * s + (k * (k - 1) * (k - 2)) as f64 * c.abs()
    })
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

    proptest! {
        /// No sample lies above the largest value, and it is taken where it is said to be.
        #[test]
        fn nothing_lies_above_the_largest_value(c in prop::collection::vec(-1.0..1.0_f64, 1..9)) {
            let (place, top) = place_of_largest(&c, f64::NEG_INFINITY).unwrap();
            prop_assert_eq!(value(&c, place), top);
            for i in 0..=2000 {
                prop_assert!(value(&c, f64::from(i) / 2000.0) <= top + 1e-15, "{c:?}");
            }
        }
    }

    #[test]
    fn narrow_and_flat_tops_are_found() {
        // two tops of one height, a fiftieth of the interval apart
        let slope = from_roots(&[0.40, 0.41, 0.42], -1.0);
        let c: Vec<f64> = std::iter::once(0.0)
            .chain(slope.iter().enumerate().map(|(k, c)| c / (k + 1) as f64))
            .collect();
        let (place, _) = place_of_largest(&c, f64::NEG_INFINITY).unwrap();
        assert!((place - 0.41).abs() < 0.01 + 1e-4, "{place}");
        assert!((place - 0.41).abs() > 0.01 - 1e-4, "{place}");
        let mut term = 1.0;
        let cosine: Vec<f64> = (0..=24)
            .map(|k| {
                let c = [1.0, 0.0, -1.0, 0.0][k % 4] * term;
                term *= 2.0 / (k + 1) as f64;
                c
            })
            .collect();
        assert_eq!(largest(&cosine, 0.5), 1.0);
        assert_eq!(largest(&cosine, 1.0), 1.0);
    }

    #[test]
    fn largest_value_is_found() {
        assert!((largest(&[0.0, 1.0, -1.0], 0.0) - 0.25).abs() < 1e-15);
        assert_eq!(largest(&[0.0, 1.0, -1.0], 3.0), 3.0);
    }
}

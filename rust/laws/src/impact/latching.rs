//! Springs that unload from their deepest point on a steeper path: the partially latching spring of Walton and Braun
//! (1986), of any exponent. `share` is the part of the stored energy that is given back.

use super::{Gradient, Numbers};

/// Indentation that the spring's loading curve would need for the force at `d`, given the deepest point so far.
#[inline]
pub(super) fn equivalent_indentation(share: f64, d: f64, deepest: f64) -> f64 {
    if d >= deepest {
        d
    } else {
        ((d - residual_indentation(share, deepest)) / share).max(0.0)
    }
}

/// The same on the branch that acts now, past its ends.
#[inline]
pub(super) fn continued(share: f64, d: f64, deepest: f64, loading: bool) -> f64 {
    if loading {
        d
    } else {
        (d - residual_indentation(share, deepest)) / share
    }
}

/// Indentation at which the unloading spring lets go.
#[inline]
pub(super) fn residual_indentation(share: f64, deepest: f64) -> f64 {
    (1.0 - share) * deepest
}

/// Coefficients of the plane `a d + b d' + c` below which the spring lets go.
pub(super) fn push_plane(with: &Numbers, deepest: f64) -> [f64; 3] {
    [1.0, 0.0, -residual_indentation(with.coefficient, deepest)]
}

/// The share of the stored energy that is given back, and the indentation it is stored at.
pub(super) fn stored(with: &Numbers, d: f64, deepest: f64) -> (f64, f64) {
    let share = with.coefficient;
    (share, equivalent_indentation(share, d, deepest))
}

/// Partial derivatives of `k x^n`, `x` the equivalent indentation; the second value is with respect to the share.
pub(super) fn gradient(with: &Numbers, d: f64, deepest: f64) -> (Gradient, f64) {
    let (n, k, share) = (with.exponent, with.stiffness, with.coefficient);
    let x = equivalent_indentation(share, d, deepest);
    let slope = k * n * x.powf(n - 1.0) * f64::from(u8::from(x > 0.0));
    let mut gradient = Gradient {
        indentation: slope,
        stiffness: x.powf(n),
        ..Gradient::default()
    };
    if d >= deepest {
        return (gradient, 0.0);
    }
    gradient.indentation = slope * (1.0 / share);
    gradient.deepest = slope * (share - 1.0) / share;
    (gradient, slope * (deepest - x) / share)
}

//! The relation between damping ratio and restitution of a linear oscillator that is damped on its way in.
//!
//! Start `m d'' + c d' + k d = 0` from `d = 0` with speed `v`, damping ratio `z`. The deepest point stores the share
//! `exp(-2 h(z))` of the kinetic energy, `h(z) = z acos(z) / sqrt(1 - z^2)` (continued past `z = 1` by acosh).
//! - damped while approaching only (Mahmoud-Jankowski, and Jankowski after the change of variable `y = d^(5/4)`,
//!   which turns his equation into this one with `z = 2 xi / sqrt 5`): `e = exp(-h(z))`;
//! - damped throughout, force cut at zero (Komodromos): `e = exp(-2 h(z))`.
//!
//! `h` grows from 0 without bound and is concave, so any restitution in (0, 1] has one damping ratio.

/// `acos(z) / sqrt(1 - z^2)` and its derivative, for `z >= 0`, through 1 without a seam.
fn arc_over_chord(z: f64) -> (f64, f64) {
    let x = z - 1.0;
    if x.abs() < 0.1 {
        // From (1 - z^2) g' = z g - 1: g = sum g_n x^n with g_n = -n / (2n + 1) g_(n-1).
        let (mut value, mut slope, mut term, mut power) = (1.0, 0.0, 1.0, 1.0);
        for n in 1..=18 {
            let n = f64::from(n);
            term *= -n / (2.0 * n + 1.0);
            slope += n * term * power;
            power *= x;
            value += term * power;
        }
        (value, slope)
    } else {
        let w = 1.0 - z * z;
        let value = if w > 0.0 {
            z.acos() / w.sqrt()
        } else {
            z.acosh() / (-w).sqrt()
        };
        (value, (z * value - 1.0) / w)
    }
}

/// `h(z)` and `h'(z)`.
pub(crate) fn decay(z: f64) -> (f64, f64) {
    let (g, g_slope) = arc_over_chord(z);
    (z * g, g + z * g_slope)
}

/// The `z` with `h(z) = decay_wanted`, for `decay_wanted >= 0`.
pub(crate) fn ratio_of_decay(decay_wanted: f64) -> f64 {
    // h is concave with h'(0) = pi/2, so this start is below the root and Newton climbs to it without overshoot.
    let mut z = decay_wanted * std::f64::consts::FRAC_2_PI;
    for _ in 0..60 {
        let (value, slope) = decay(z);
        let step = (decay_wanted - value) / slope;
        z += step;
        if step.abs() <= 1e-16 * z {
            break;
        }
    }
    z
}

/// Damping ratio that gives `e = exp(-times h(z))`, and its derivative with respect to `e`.
pub(crate) fn ratio_of_restitution(restitution: f64, times: f64) -> (f64, f64) {
    let z = ratio_of_decay(-restitution.ln() / times);
    let (_, slope) = decay(z);
    (z, -1.0 / (times * restitution * slope))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverse_undoes_the_relation() {
        for i in 0..=2000 {
            let z = 0.005 * f64::from(i);
            let back = ratio_of_decay(decay(z).0);
            assert!(
                (back - z).abs() <= 2e-14 * (1.0 + z),
                "{z} came back as {back}"
            );
        }
    }

    #[test]
    fn series_meets_closed_form() {
        for z in [0.9_f64, 1.1] {
            let inside = arc_over_chord(z + (1.0 - z) * 1e-9).0;
            let outside = arc_over_chord(z - (1.0 - z) * 1e-9).0;
            assert!((inside - outside).abs() < 1e-9);
        }
    }
}

//! Modified Bessel functions as an average over angles needs them.

/// log I0(z) - z, and I1(z) / I0(z) with its ratio to z, for z >= 0: the series below 20, the asymptotic one above
/// (Abramowitz and Stegun, 9.6.10 and 9.7.1), each exact to about 1e-14.
pub(crate) fn log_i0_and_ratio(z: f64) -> (f64, f64, f64) {
    if z < 20.0 {
        let quarter = 0.25 * z * z;
        let (mut term, mut zero, mut one, mut k) = (1.0, 1.0, 1.0, 1.0);
        while term > 1e-17 * zero {
            term *= quarter / (k * k);
            zero += term;
            one += term / (k + 1.0);
            k += 1.0;
        }
        let over_z = 0.5 * one / zero;
        (zero.ln() - z, z * over_z, over_z)
    } else {
        let (mut zero, mut one, mut a, mut b) = (1.0, 1.0, 1.0, 1.0);
        for k in 1..30 {
            let odd = f64::from(2 * k - 1);
            let next = a * odd * odd / (8.0 * z * f64::from(k));
            // The series turns before it diverges.
            if next.abs() > a.abs() || next.abs() < 1e-17 {
                break;
            }
            a = next;
            b *= (odd * odd - 4.0) / (8.0 * z * f64::from(k));
            zero += a;
            one += b;
        }
        let ratio = one / zero;
        (
            zero.ln() - 0.5 * (2.0 * std::f64::consts::PI * z).ln(),
            ratio,
            ratio / z,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabulated_values() {
        // Scaled functions exp(-z) I0(z) and exp(-z) I1(z) (scipy.special.i0e, i1e, 1.17).
        for (z, i0e, i1e) in [
            (0.5, 0.645_035_270_449_15, 0.156_420_803_184_871_73),
            (10.0, 0.127_833_337_163_428_6, 0.121_262_681_384_455_5),
            (19.999, 0.089_782_586_060_965_36, 0.087_508_323_480_178_47),
            (20.001, 0.089_778_037_881_554_97, 0.087_504_121_037_357_2),
            (300.0, 0.023_042_558_415_085_46, 0.023_004_122_040_268_95),
        ] {
            let (log, ratio, over_z) = log_i0_and_ratio(z);
            assert!((log.exp() / i0e - 1.0).abs() < 1e-12, "{z}");
            assert!((ratio / (i1e / i0e) - 1.0).abs() < 1e-12, "{z}");
            assert!((over_z * z - ratio).abs() < 1e-15);
        }
        assert_eq!(log_i0_and_ratio(0.0), (0.0, 0.0, 0.5));
    }
}

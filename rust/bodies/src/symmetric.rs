//! Symmetric 3 x 3 tensors by their six components xx, yy, zz, xy, xz, yz.

use nalgebra::Matrix3;

/// Components xx, yy, zz, xy, xz, yz.
pub type Symmetric = [f64; 6];

/// The whole matrix.
pub(crate) fn matrix([xx, yy, zz, xy, xz, yz]: Symmetric) -> Matrix3<f64> {
    Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz)
}

/// The identity less a tensor.
pub(crate) fn from_one([xx, yy, zz, xy, xz, yz]: Symmetric) -> Symmetric {
    [1.0 - xx, 1.0 - yy, 1.0 - zz, -xy, -xz, -yz]
}

/// Lower factor L of S = L L': l11, l22, l33, l21, l31, l32; none unless S is positive definite.
pub(crate) fn cholesky([xx, yy, zz, xy, xz, yz]: Symmetric) -> Option<Symmetric> {
    let positive = |square: f64| (square > 0.0).then(|| square.sqrt());
    let l11 = positive(xx)?;
    let (l21, l31) = (xy / l11, xz / l11);
    let l22 = positive(yy - l21 * l21)?;
    let l32 = (yz - l21 * l31) / l22;
    let l33 = positive(zz - l31 * l31 - l32 * l32)?;
    Some([l11, l22, l33, l21, l31, l32])
}

/// log det; none unless S is positive definite.
pub(crate) fn log_det(s: Symmetric) -> Option<f64> {
    let [l11, l22, l33, ..] = cholesky(s)?;
    Some(2.0 * (l11 * l22 * l33).ln())
}

/// K S K'.
pub(crate) fn congruent(k: &[[f64; 3]; 3], [xx, yy, zz, xy, xz, yz]: Symmetric) -> Symmetric {
    let s = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]];
    let dot = |u: &[f64; 3], v: &[f64; 3]| u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
    let ks = k.map(|row| [dot(&row, &s[0]), dot(&row, &s[1]), dot(&row, &s[2])]);
    let entry = |i: usize, j: usize| dot(&ks[i], &k[j]);
    [
        entry(0, 0),
        entry(1, 1),
        entry(2, 2),
        entry(0, 1),
        entry(0, 2),
        entry(1, 2),
    ]
}

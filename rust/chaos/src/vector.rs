//! Inner products and updates of columns padded with zeros to whole blocks of eight.
//!
//! Eight fixed partial sums, combined in one fixed order: the compiler may use any vector width it finds and the
//! bits stay the same.

/// Block length; columns are padded to a multiple of it.
pub(crate) const BLOCK: usize = 8;

/// `rows` rounded up to whole blocks.
pub(crate) fn padded(rows: usize) -> usize {
    rows.div_ceil(BLOCK) * BLOCK
}

fn combine(s: [f64; BLOCK]) -> f64 {
    ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]))
}

/// a . b
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; BLOCK];
    for (x, y) in a.as_chunks::<BLOCK>().0.iter().zip(b.as_chunks::<BLOCK>().0) {
        for i in 0..BLOCK {
            sums[i] += x[i] * y[i];
        }
    }
    combine(sums)
}

/// (a . c, b . c), reading c once.
pub(crate) fn dot_pair(a: &[f64], b: &[f64], c: &[f64]) -> (f64, f64) {
    let mut first = [0.0; BLOCK];
    let mut second = [0.0; BLOCK];
    let blocks = a.as_chunks::<BLOCK>().0.iter().zip(b.as_chunks::<BLOCK>().0).zip(c.as_chunks::<BLOCK>().0);
    for ((x, y), z) in blocks {
        for i in 0..BLOCK {
            first[i] += x[i] * z[i];
            second[i] += y[i] * z[i];
        }
    }
    (combine(first), combine(second))
}

/// y += factor x
pub(crate) fn add_scaled(y: &mut [f64], factor: f64, x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += factor * x;
    }
}

/// out = a b, element by element
pub(crate) fn product(out: &mut [f64], a: &[f64], b: &[f64]) {
    for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
        *out = a * b;
    }
}

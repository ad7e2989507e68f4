//! Inner products and updates of columns padded with zeros to whole blocks.
//!
//! A fixed number of partial sums combined in one fixed order, products and sums never fused: the widest vector
//! instructions of the machine are used where there are any, and the bits are the same with or without them.

use pulp::{Arch, NullaryFnOnce};

/// Block length; columns are padded to a multiple of it.
pub(crate) const BLOCK: usize = 16;

/// `rows` rounded up to whole blocks.
pub(crate) fn padded(rows: usize) -> usize {
    rows.div_ceil(BLOCK) * BLOCK
}

// Each kernel is a type and not a closure: only an `inline(always)` body is sure to be compiled for the
// instructions the dispatch has found.

#[inline(always)]
fn combine(mut sums: [f64; BLOCK]) -> f64 {
    let mut half = BLOCK / 2;
    while half > 0 {
        for i in 0..half {
            sums[i] += sums[i + half];
        }
        half /= 2;
    }
    sums[0]
}

struct Dot<'a>(&'a [f64], &'a [f64]);

impl NullaryFnOnce for Dot<'_> {
    type Output = f64;
    #[inline(always)]
    fn call(self) -> f64 {
        let mut sums = [0.0; BLOCK];
        for (x, y) in self
            .0
            .as_chunks::<BLOCK>()
            .0
            .iter()
            .zip(self.1.as_chunks::<BLOCK>().0)
        {
            for i in 0..BLOCK {
                sums[i] += x[i] * y[i];
            }
        }
        combine(sums)
    }
}

struct DotPair<'a>(&'a [f64], &'a [f64], &'a [f64]);

impl NullaryFnOnce for DotPair<'_> {
    type Output = (f64, f64);
    #[inline(always)]
    fn call(self) -> (f64, f64) {
        let mut first = [0.0; BLOCK];
        let mut second = [0.0; BLOCK];
        let pairs = self
            .0
            .as_chunks::<BLOCK>()
            .0
            .iter()
            .zip(self.1.as_chunks::<BLOCK>().0);
        for ((x, y), z) in pairs.zip(self.2.as_chunks::<BLOCK>().0) {
            for i in 0..BLOCK {
                first[i] += x[i] * z[i];
            }
            for i in 0..BLOCK {
                second[i] += y[i] * z[i];
            }
        }
        (combine(first), combine(second))
    }
}

struct AddScaled<'a>(&'a mut [f64], f64, &'a [f64]);

impl NullaryFnOnce for AddScaled<'_> {
    type Output = ();
    #[inline(always)]
    fn call(self) {
        for (y, x) in self.0.iter_mut().zip(self.2) {
            *y += self.1 * x;
        }
    }
}

struct Product<'a>(&'a mut [f64], &'a [f64], &'a [f64]);

impl NullaryFnOnce for Product<'_> {
    type Output = ();
    #[inline(always)]
    fn call(self) {
        for ((out, a), b) in self.0.iter_mut().zip(self.1).zip(self.2) {
            *out = a * b;
        }
    }
}

/// Directions taken out of a column together: so many can stay in registers beside it.
pub(crate) const TOGETHER: usize = 4;

struct Project<'a>(&'a mut [f64], &'a [f64]);

impl NullaryFnOnce for Project<'_> {
    type Output = [f64; TOGETHER];
    #[inline(always)]
    fn call(self) -> [f64; TOGETHER] {
        let column = self.0.as_chunks_mut::<BLOCK>().0;
        let directions = self.1.as_chunks::<BLOCK>().0;
        let (first, rest) = directions.split_at(column.len());
        let (second, rest) = rest.split_at(column.len());
        let (third, fourth) = rest.split_at(column.len());
        let mut sums = [[0.0; BLOCK]; TOGETHER];
        for ((((x, a), b), c), d) in column.iter().zip(first).zip(second).zip(third).zip(fourth) {
            for i in 0..BLOCK {
                sums[0][i] += x[i] * a[i];
            }
            for i in 0..BLOCK {
                sums[1][i] += x[i] * b[i];
            }
            for i in 0..BLOCK {
                sums[2][i] += x[i] * c[i];
            }
            for i in 0..BLOCK {
                sums[3][i] += x[i] * d[i];
            }
        }
        let parts = sums.map(combine);
        for ((((x, a), b), c), d) in column
            .iter_mut()
            .zip(first)
            .zip(second)
            .zip(third)
            .zip(fourth)
        {
            for i in 0..BLOCK {
                x[i] -= (parts[0] * a[i] + parts[1] * b[i]) + (parts[2] * c[i] + parts[3] * d[i]);
            }
        }
        parts
    }
}

/// Take the parts along orthonormal directions, one after the other in `directions`, out of a column; the parts.
pub(crate) fn project(column: &mut [f64], directions: &[f64]) -> [f64; TOGETHER] {
    Arch::new().dispatch(Project(column, directions))
}

/// a . b
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    Arch::new().dispatch(Dot(a, b))
}

/// (a . c, b . c), reading c once.
pub(crate) fn dot_pair(a: &[f64], b: &[f64], c: &[f64]) -> (f64, f64) {
    Arch::new().dispatch(DotPair(a, b, c))
}

/// y += factor x
pub(crate) fn add_scaled(y: &mut [f64], factor: f64, x: &[f64]) {
    Arch::new().dispatch(AddScaled(y, factor, x));
}

/// out = a b, element by element
pub(crate) fn product(out: &mut [f64], a: &[f64], b: &[f64]) {
    Arch::new().dispatch(Product(out, a, b));
}

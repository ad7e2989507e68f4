//! Four numbers, one of each of four contacts: what sweeps without W compute with.
//!
//! All operations are number by number, so that what one contact gets does not depend on the other three, and on vector registers
//! ([`Vector`]) the bits are those of plain numbers ([`Plain`]). Written for the registers, because what the compiler makes of arrays of
//! four is slower than one contact at a time.

use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

/// How many contacts are answered at once.
pub(crate) const WIDTH: usize = 4;

/// Four numbers in memory.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C, align(32))]
pub(crate) struct Stored(pub(crate) [f64; WIDTH]);

/// How four numbers are computed with.
pub(crate) trait Wide: Copy + std::fmt::Debug {
    /// Four numbers, or for each of four whether something holds.
    type Numbers: Copy + std::fmt::Debug;

    fn read(self, x: [f64; WIDTH]) -> Self::Numbers;
    fn write(self, x: Self::Numbers) -> [f64; WIDTH];
    fn add(self, x: Self::Numbers, y: Self::Numbers) -> Self::Numbers;
    fn subtract(self, x: Self::Numbers, y: Self::Numbers) -> Self::Numbers;
    fn multiply(self, x: Self::Numbers, y: Self::Numbers) -> Self::Numbers;
    fn divide(self, x: Self::Numbers, y: Self::Numbers) -> Self::Numbers;
    fn root(self, x: Self::Numbers) -> Self::Numbers;
    fn below(self, x: Self::Numbers, y: Self::Numbers) -> Self::Numbers;
    fn at_most(self, x: Self::Numbers, y: Self::Numbers) -> Self::Numbers;
    fn equal(self, x: Self::Numbers, y: Self::Numbers) -> Self::Numbers;
    fn and(self, x: Self::Numbers, y: Self::Numbers) -> Self::Numbers;
    fn or(self, x: Self::Numbers, y: Self::Numbers) -> Self::Numbers;
    fn exclusive_or(self, x: Self::Numbers, y: Self::Numbers) -> Self::Numbers;
    /// `yes` where something holds, else `no`.
    fn choose(self, holds: Self::Numbers, yes: Self::Numbers, no: Self::Numbers) -> Self::Numbers;
    /// For which of the four something holds, as bits.
    fn bits(self, holds: Self::Numbers) -> u32;
    /// Rows become columns.
    fn transpose(self, rows: [Self::Numbers; WIDTH]) -> [Self::Numbers; WIDTH];
    /// Bring what will be read soon nearer to the processor, if it is far.
    fn fetch<T>(self, soon: &[T]);
}

/// Any processor.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plain;

/// Of each pair of numbers what `f` makes of it.
#[inline(always)]
fn each(x: [f64; WIDTH], y: [f64; WIDTH], f: impl Fn(f64, f64) -> f64) -> [f64; WIDTH] {
    [f(x[0], y[0]), f(x[1], y[1]), f(x[2], y[2]), f(x[3], y[3])]
}

/// All bits set, or none.
#[inline(always)]
fn told(yes: bool) -> f64 {
    f64::from_bits(if yes { u64::MAX } else { 0 })
}

impl Wide for Plain {
    type Numbers = [f64; WIDTH];

    #[inline(always)]
    fn read(self, x: [f64; WIDTH]) -> Self::Numbers {
        x
    }

    #[inline(always)]
    fn write(self, x: Self::Numbers) -> [f64; WIDTH] {
        x
    }

    #[inline(always)]
    fn add(self, x: Self::Numbers, y: Self::Numbers) -> Self::Numbers {
        each(x, y, |x, y| x + y)
    }

    #[inline(always)]
    fn subtract(self, x: Self::Numbers, y: Self::Numbers) -> Self::Numbers {
        each(x, y, |x, y| x - y)
    }

    #[inline(always)]
    fn multiply(self, x: Self::Numbers, y: Self::Numbers) -> Self::Numbers {
        each(x, y, |x, y| x * y)
    }

    #[inline(always)]
    fn divide(self, x: Self::Numbers, y: Self::Numbers) -> Self::Numbers {
        each(x, y, |x, y| x / y)
    }

    #[inline(always)]
    fn root(self, x: Self::Numbers) -> Self::Numbers {
        each(x, x, |x, _| x.sqrt())
    }

    #[inline(always)]
    fn below(self, x: Self::Numbers, y: Self::Numbers) -> Self::Numbers {
        each(x, y, |x, y| told(x < y))
    }

    #[inline(always)]
    fn at_most(self, x: Self::Numbers, y: Self::Numbers) -> Self::Numbers {
        each(x, y, |x, y| told(x <= y))
    }

    #[inline(always)]
    fn equal(self, x: Self::Numbers, y: Self::Numbers) -> Self::Numbers {
        each(x, y, |x, y| told(x == y))
    }

    #[inline(always)]
    fn and(self, x: Self::Numbers, y: Self::Numbers) -> Self::Numbers {
        each(x, y, |x, y| f64::from_bits(x.to_bits() & y.to_bits()))
    }

    #[inline(always)]
    fn or(self, x: Self::Numbers, y: Self::Numbers) -> Self::Numbers {
        each(x, y, |x, y| f64::from_bits(x.to_bits() | y.to_bits()))
    }

    #[inline(always)]
    fn exclusive_or(self, x: Self::Numbers, y: Self::Numbers) -> Self::Numbers {
        each(x, y, |x, y| f64::from_bits(x.to_bits() ^ y.to_bits()))
    }

    #[inline(always)]
    fn choose(self, holds: Self::Numbers, yes: Self::Numbers, no: Self::Numbers) -> Self::Numbers {
        let one = |k: usize| {
            if holds[k].to_bits() == 0 {
                no[k]
            } else {
                yes[k]
            }
        };
        [one(0), one(1), one(2), one(3)]
    }

    #[inline(always)]
    fn bits(self, holds: Self::Numbers) -> u32 {
        let one = |k: usize| u32::from(holds[k].to_bits() != 0) << k;
        one(0) | one(1) | one(2) | one(3)
    }

    #[inline(always)]
    fn transpose(self, [a, b, c, d]: [Self::Numbers; WIDTH]) -> [Self::Numbers; WIDTH] {
        let column = |k: usize| [a[k], b[k], c[k], d[k]];
        [column(0), column(1), column(2), column(3)]
    }

    #[inline(always)]
    fn fetch<T>(self, _: &[T]) {}
}

/// Bytes that come from memory together.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// Registers of four numbers.
#[cfg(target_arch = "x86_64")]
pub(crate) use pulp::x86::V3 as Vector;

#[cfg(target_arch = "x86_64")]
impl Wide for Vector {
    type Numbers = std::arch::x86_64::__m256d;

    #[inline(always)]
    fn read(self, x: [f64; WIDTH]) -> Self::Numbers {
        pulp::bytemuck::cast(x)
    }

    #[inline(always)]
    fn write(self, x: Self::Numbers) -> [f64; WIDTH] {
        pulp::bytemuck::cast(x)
    }

    #[inline(always)]
    fn add(self, x: Self::Numbers, y: Self::Numbers) -> Self::Numbers {
        self.avx._mm256_add_pd(x, y)
    }

    #[inline(always)]
    fn subtract(self, x: Self::Numbers, y: Self::Numbers) -> Self::Numbers {
        self.avx._mm256_sub_pd(x, y)
    }

    #[inline(always)]
    fn multiply(self, x: Self::Numbers, y: Self::Numbers) -> Self::Numbers {
        self.avx._mm256_mul_pd(x, y)
    }

    #[inline(always)]
    fn divide(self, x: Self::Numbers, y: Self::Numbers) -> Self::Numbers {
        self.avx._mm256_div_pd(x, y)
    }

    #[inline(always)]
    fn root(self, x: Self::Numbers) -> Self::Numbers {
        self.avx._mm256_sqrt_pd(x)
    }

    #[inline(always)]
    fn below(self, x: Self::Numbers, y: Self::Numbers) -> Self::Numbers {
        use std::arch::x86_64::_CMP_LT_OQ;
        self.avx._mm256_cmp_pd::<_CMP_LT_OQ>(x, y)
    }

    #[inline(always)]
    fn at_most(self, x: Self::Numbers, y: Self::Numbers) -> Self::Numbers {
        use std::arch::x86_64::_CMP_LE_OQ;
        self.avx._mm256_cmp_pd::<_CMP_LE_OQ>(x, y)
    }

    #[inline(always)]
    fn equal(self, x: Self::Numbers, y: Self::Numbers) -> Self::Numbers {
        use std::arch::x86_64::_CMP_EQ_OQ;
        self.avx._mm256_cmp_pd::<_CMP_EQ_OQ>(x, y)
    }

    #[inline(always)]
    fn and(self, x: Self::Numbers, y: Self::Numbers) -> Self::Numbers {
        self.avx._mm256_and_pd(x, y)
    }

    #[inline(always)]
    fn or(self, x: Self::Numbers, y: Self::Numbers) -> Self::Numbers {
        self.avx._mm256_or_pd(x, y)
    }

    #[inline(always)]
    fn exclusive_or(self, x: Self::Numbers, y: Self::Numbers) -> Self::Numbers {
        self.avx._mm256_xor_pd(x, y)
    }

    #[inline(always)]
    fn choose(self, holds: Self::Numbers, yes: Self::Numbers, no: Self::Numbers) -> Self::Numbers {
        self.avx._mm256_blendv_pd(no, yes, holds)
    }

    #[inline(always)]
    fn bits(self, holds: Self::Numbers) -> u32 {
        self.avx._mm256_movemask_pd(holds).cast_unsigned()
    }

    #[inline(always)]
    fn transpose(self, [a, b, c, d]: [Self::Numbers; WIDTH]) -> [Self::Numbers; WIDTH] {
        let avx = self.avx;
        let [even_ab, odd_ab] = [avx._mm256_unpacklo_pd(a, b), avx._mm256_unpackhi_pd(a, b)];
        let [even_cd, odd_cd] = [avx._mm256_unpacklo_pd(c, d), avx._mm256_unpackhi_pd(c, d)];
        [
            avx._mm256_permute2f128_pd::<0x20>(even_ab, even_cd),
            avx._mm256_permute2f128_pd::<0x20>(odd_ab, odd_cd),
            avx._mm256_permute2f128_pd::<0x31>(even_ab, even_cd),
            avx._mm256_permute2f128_pd::<0x31>(odd_ab, odd_cd),
        ]
    }

    #[inline(always)]
    fn fetch<T>(self, soon: &[T]) {
        use std::arch::x86_64::_MM_HINT_T0;
        let first = soon.as_ptr().cast::<i8>();
        for line in (0..size_of_val(soon)).step_by(LINE) {
            self.sse
                ._mm_prefetch::<_MM_HINT_T0>(first.wrapping_add(line));
        }
    }
}

/// Work on four numbers at a time.
pub(crate) trait Task {
    /// What comes of it.
    type Output;

    /// To be inlined, like all that it calls: what is not is not compiled for the registers.
    fn run<W: Wide>(self, with: W) -> Self::Output;
}

/// Do it on the registers of the processor at hand.
#[inline(always)]
pub(crate) fn on_registers<T: Task>(task: T) -> T::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(vector) = Vector::try_new() {
        struct On<T>(Vector, T);
        impl<T: Task> pulp::NullaryFnOnce for On<T> {
            type Output = T::Output;

            #[inline(always)]
            fn call(self) -> Self::Output {
                self.1.run(self.0)
            }
        }
        return vector.vectorize(On(vector, task));
    }
    task.run(Plain)
}

/// One number of each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Four<W: Wide> {
    numbers: W::Numbers,
    with: W,
}

/// For each, whether something holds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Holds<W: Wide>(Four<W>);

/// A vector of each.
pub(crate) type Fours<W> = [Four<W>; 3];

impl Stored {
    #[inline(always)]
    pub(crate) fn read<W: Wide>(&self, with: W) -> Four<W> {
        Four::of(with, self.0)
    }
}

/// A vector of each, from memory.
#[inline(always)]
pub(crate) fn read<W: Wide>(with: W, x: &[Stored; 3]) -> Fours<W> {
    [x[0].read(with), x[1].read(with), x[2].read(with)]
}

impl<W: Wide> Four<W> {
    #[inline(always)]
    pub(crate) fn of(with: W, numbers: [f64; WIDTH]) -> Self {
        let numbers = with.read(numbers);
        Self { numbers, with }
    }

    /// The same number of each.
    #[inline(always)]
    pub(crate) fn all(with: W, x: f64) -> Self {
        Self::of(with, [x; WIDTH])
    }

    #[inline(always)]
    pub(crate) fn numbers(self) -> [f64; WIDTH] {
        self.with.write(self.numbers)
    }

    #[inline(always)]
    fn made(self, numbers: W::Numbers) -> Self {
        Self { numbers, ..self }
    }

    #[inline(always)]
    pub(crate) fn sqrt(self) -> Self {
        self.made(self.with.root(self.numbers))
    }

    #[inline(always)]
    pub(crate) fn below(self, other: Self) -> Holds<W> {
        Holds(self.made(self.with.below(self.numbers, other.numbers)))
    }

    #[inline(always)]
    pub(crate) fn at_most(self, other: Self) -> Holds<W> {
        Holds(self.made(self.with.at_most(self.numbers, other.numbers)))
    }

    #[inline(always)]
    pub(crate) fn equals(self, other: Self) -> Holds<W> {
        Holds(self.made(self.with.equal(self.numbers, other.numbers)))
    }

    /// Sum of the four, always in the same order.
    #[inline(always)]
    pub(crate) fn sum(self) -> f64 {
        let [a, b, c, d] = self.numbers();
        (a + b) + (c + d)
    }
}

macro_rules! by_number {
    ($operation:ident, $name:ident, $wide:ident) => {
        impl<W: Wide> $operation for Four<W> {
            type Output = Self;

            #[inline(always)]
            fn $name(self, other: Self) -> Self {
                self.made(self.with.$wide(self.numbers, other.numbers))
            }
        }
    };
}

by_number!(Add, add, add);
by_number!(Sub, sub, subtract);
by_number!(Mul, mul, multiply);
by_number!(Div, div, divide);

impl<W: Wide> Neg for Four<W> {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        let signs = self.with.read([-0.0; WIDTH]);
        self.made(self.with.exclusive_or(self.numbers, signs))
    }
}

impl<W: Wide> Holds<W> {
    /// `yes` where it holds, else `no`.
    #[inline(always)]
    pub(crate) fn choose(self, yes: Four<W>, no: Four<W>) -> Four<W> {
        let Self(Four { numbers, with }) = self;
        yes.made(with.choose(numbers, yes.numbers, no.numbers))
    }

    /// The same of vectors.
    #[inline(always)]
    pub(crate) fn choose_vector(self, yes: &Fours<W>, no: &Fours<W>) -> Fours<W> {
        [
            self.choose(yes[0], no[0]),
            self.choose(yes[1], no[1]),
            self.choose(yes[2], no[2]),
        ]
    }

    /// For which it holds, as bits.
    #[inline(always)]
    pub(crate) fn bits(self) -> u32 {
        self.0.with.bits(self.0.numbers)
    }

    /// Whether it holds for one of them.
    #[inline(always)]
    pub(crate) fn any(self) -> bool {
        self.bits() != 0
    }
}

impl<W: Wide> BitAnd for Holds<W> {
    type Output = Self;

    #[inline(always)]
    fn bitand(self, Self(other): Self) -> Self {
        let Self(own) = self;
        Self(own.made(own.with.and(own.numbers, other.numbers)))
    }
}

impl<W: Wide> BitOr for Holds<W> {
    type Output = Self;

    #[inline(always)]
    fn bitor(self, Self(other): Self) -> Self {
        let Self(own) = self;
        Self(own.made(own.with.or(own.numbers, other.numbers)))
    }
}

impl<W: Wide> Not for Holds<W> {
    type Output = Self;

    #[inline(always)]
    fn not(self) -> Self {
        let Self(own) = self;
        let all = own.with.read([told(true); WIDTH]);
        Self(own.made(own.with.exclusive_or(own.numbers, all)))
    }
}

#[inline(always)]
pub(crate) fn plus<W: Wide>(a: &Fours<W>, b: &Fours<W>) -> Fours<W> {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

#[inline(always)]
pub(crate) fn minus<W: Wide>(a: &Fours<W>, b: &Fours<W>) -> Fours<W> {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[inline(always)]
pub(crate) fn times<W: Wide>(a: Four<W>, b: &Fours<W>) -> Fours<W> {
    [a * b[0], a * b[1], a * b[2]]
}

#[inline(always)]
pub(crate) fn dot<W: Wide>(a: &Fours<W>, b: &Fours<W>) -> Four<W> {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline(always)]
pub(crate) fn cross<W: Wide>(a: &Fours<W>, b: &Fours<W>) -> Fours<W> {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// Four vectors of four numbers, number by number.
#[inline(always)]
pub(crate) fn gathered<W: Wide>(with: W, rows: [&[f64; WIDTH]; WIDTH]) -> [Four<W>; WIDTH] {
    let [a, b, c, d] = rows;
    let [a, b, c, d] = with.transpose([with.read(*a), with.read(*b), with.read(*c), with.read(*d)]);
    [
        Four { numbers: a, with },
        Four { numbers: b, with },
        Four { numbers: c, with },
        Four { numbers: d, with },
    ]
}

/// The vector of each, with a zero after it.
#[inline(always)]
pub(crate) fn scattered<W: Wide>(x: &Fours<W>) -> [Four<W>; WIDTH] {
    let with = x[0].with;
    let zero = with.read([0.0; WIDTH]);
    let [a, b, c, d] = with.transpose([x[0].numbers, x[1].numbers, x[2].numbers, zero]);
    [
        Four { numbers: a, with },
        Four { numbers: b, with },
        Four { numbers: c, with },
        Four { numbers: d, with },
    ]
}

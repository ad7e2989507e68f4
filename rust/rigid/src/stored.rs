//! Numbers to bytes and back, bit for bit: what a struct keeps is the one list of fields given to [`stored`].

use crate::error::RigidError;
use percuss_geometry::{Quat, Vec3};

/// Eight little-endian bytes at a time.
pub(crate) struct Words<'a>(&'a [u8]);

impl<'a> Words<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub fn left(&self) -> usize {
        self.0.len().div_ceil(8)
    }

    fn next(&mut self) -> Result<u64, RigidError> {
        let (word, rest) = self.0.split_first_chunk::<8>().ok_or_else(damaged)?;
        self.0 = rest;
        Ok(u64::from_le_bytes(*word))
    }
}

pub(crate) fn damaged() -> RigidError {
    RigidError::Snapshot("the bytes are no complete snapshot".into())
}

/// What can be written and read back.
pub(crate) trait Stored: Sized {
    fn write(&self, out: &mut Vec<u8>);
    fn read(words: &mut Words) -> Result<Self, RigidError>;
}

/// Writes and reads a struct field by field; one that is left out does not compile.
macro_rules! stored {
    ($kind:ident { $($field:ident),* $(,)? }) => {
        impl $crate::stored::Stored for $kind {
            fn write(&self, out: &mut Vec<u8>) {
                $(self.$field.write(out);)*
            }

            fn read(words: &mut $crate::stored::Words) -> Result<Self, $crate::error::RigidError> {
                Ok(Self { $($field: $crate::stored::Stored::read(words)?),* })
            }
        }
    };
}
pub(crate) use stored;

/// The same for a struct of numbers, which tables name by its fields; what comes after `and` is not in tables.
macro_rules! numbered {
    ($kind:ident, $count:literal { $($field:ident),* $(,)? } and { $($other:ident),* }) => {
        $crate::stored::stored!($kind { $($field,)* $($other),* });

        impl $kind {
            /// Names of the numbers in tables.
            pub const NAMES: [&'static str; $count] = [$(stringify!($field)),*];

            /// The numbers, in the order of their names.
            pub fn numbers(&self) -> [f64; $count] {
                [$(self.$field),*]
            }
        }
    };
}
pub(crate) use numbered;

impl Stored for u64 {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }

    fn read(words: &mut Words) -> Result<Self, RigidError> {
        words.next()
    }
}

impl Stored for u32 {
    fn write(&self, out: &mut Vec<u8>) {
        u64::from(*self).write(out);
    }

    fn read(words: &mut Words) -> Result<Self, RigidError> {
        u32::try_from(words.next()?).map_err(|_| damaged())
    }
}

impl Stored for bool {
    fn write(&self, out: &mut Vec<u8>) {
        u64::from(*self).write(out);
    }

    fn read(words: &mut Words) -> Result<Self, RigidError> {
        match words.next()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(damaged()),
        }
    }
}

impl Stored for f64 {
    fn write(&self, out: &mut Vec<u8>) {
        self.to_bits().write(out);
    }

    fn read(words: &mut Words) -> Result<Self, RigidError> {
        let number = f64::from_bits(words.next()?);
        if number.is_finite() {
            return Ok(number);
        }
        let what = "it holds a number that is not finite";
        Err(RigidError::Snapshot(what.into()))
    }
}

impl<T: Stored, const N: usize> Stored for [T; N] {
    fn write(&self, out: &mut Vec<u8>) {
        self.iter().for_each(|item| item.write(out));
    }

    fn read(words: &mut Words) -> Result<Self, RigidError> {
        let mut items = Vec::with_capacity(N);
        for _ in 0..N {
            items.push(T::read(words)?);
        }
        items.try_into().map_err(|_| damaged())
    }
}

impl Stored for Vec3 {
    fn write(&self, out: &mut Vec<u8>) {
        self.iter().for_each(|x| x.write(out));
    }

    fn read(words: &mut Words) -> Result<Self, RigidError> {
        Ok(Self::from(<[f64; 3]>::read(words)?))
    }
}

impl Stored for Quat {
    fn write(&self, out: &mut Vec<u8>) {
        [self.w, self.i, self.j, self.k].write(out);
    }

    fn read(words: &mut Words) -> Result<Self, RigidError> {
        let [w, i, j, k] = Stored::read(words)?;
        Ok(Self::new_unchecked(nalgebra::Quaternion::new(w, i, j, k)))
    }
}

impl<T: Stored> Stored for Vec<T> {
    fn write(&self, out: &mut Vec<u8>) {
        (self.len() as u64).write(out);
        self.iter().for_each(|item| item.write(out));
    }

    fn read(words: &mut Words) -> Result<Self, RigidError> {
        let count = words.next()?;
        // every item takes a word at least: no count can ask for more memory than there are bytes
        if count > words.left() as u64 {
            return Err(damaged());
        }
        (0..count).map(|_| T::read(words)).collect()
    }
}

/// A number of which infinity says that something is to begin anew.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Carried(pub f64);

impl Stored for Carried {
    fn write(&self, out: &mut Vec<u8>) {
        self.0.to_bits().write(out);
    }

    fn read(words: &mut Words) -> Result<Self, RigidError> {
        let number = f64::from_bits(words.next()?);
        if number.is_nan() {
            let what = "it holds a number that is not finite";
            return Err(RigidError::Snapshot(what.into()));
        }
        Ok(Self(number))
    }
}

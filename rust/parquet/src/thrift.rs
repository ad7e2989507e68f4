//! The compact protocol of Apache Thrift, as far as footers and page headers of Parquet need it.

use crate::error::ParquetError;

const SHORT: ParquetError = ParquetError::Damaged("a header ends early");
const STOP: u8 = 0;
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
/// Type of 16-bit numbers; those of 32 and 64 bits follow.
const I16: u8 = 4;
const I32: u8 = 5;
const I64: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
/// Type of structs.
const STRUCT: u8 = 12;
/// Structs within structs that are followed.
const DEEPEST: usize = 16;

/// Reads one value after the other.
pub struct Reader<'a> {
    data: &'a [u8],
    at: usize,
}

/// What is known of a field before its value is read.
pub struct Field {
    /// Its number in the struct.
    pub id: i16,
    kind: u8,
}

impl<'a> Reader<'a> {
    /// From the first of these bytes on.
    pub fn new(data: &'a [u8]) -> Self {
        Self { data, at: 0 }
    }

    /// How many bytes were read.
    pub fn position(&self) -> usize {
        self.at
    }

    fn byte(&mut self) -> Result<u8, ParquetError> {
        let byte = *self.data.get(self.at).ok_or(SHORT)?;
        self.at += 1;
        Ok(byte)
    }

    /// A number of up to 64 bits, seven at a time.
    pub fn varint(&mut self) -> Result<u64, ParquetError> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(ParquetError::Damaged("a number has too many digits"))
    }

    fn zigzag(&mut self) -> Result<i64, ParquetError> {
        let value = self.varint()?;
        Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    fn some(&mut self, count: u64) -> Result<&'a [u8], ParquetError> {
        let count = usize::try_from(count).map_err(|_| SHORT)?;
        let end = self.at.checked_add(count).ok_or(SHORT)?;
        let part = self.data.get(self.at..end).ok_or(SHORT)?;
        self.at = end;
        Ok(part)
    }

    /// Calls `take` for each field of a struct; it reads the value, or says that it has not, and then it is passed over.
    pub fn fields(
        &mut self,
        mut take: impl FnMut(&mut Self, &Field) -> Result<bool, ParquetError>,
    ) -> Result<(), ParquetError> {
        let mut id: i16 = 0;
        loop {
            let head = self.byte()?;
            let kind = head & 0x0f;
            if head == STOP {
                return Ok(());
            }
            id = match head >> 4 {
                0 => i16::try_from(self.zigzag()?).map_err(|_| SHORT)?,
                step => id.checked_add(i16::from(step)).ok_or(SHORT)?,
            };
            let field = Field { id, kind };
            if !take(self, &field)? {
                self.pass(kind, DEEPEST)?;
            }
        }
    }

    /// The value of a field that is a whole number.
    pub fn number(&mut self, field: &Field) -> Result<i64, ParquetError> {
        match field.kind {
            I16 | I32 | I64 => self.zigzag(),
            _ => Err(ParquetError::Damaged("a number is something else")),
        }
    }

    /// The value of a field that cannot be negative.
    pub fn size(&mut self, field: &Field) -> Result<usize, ParquetError> {
        usize::try_from(self.number(field)?)
            .map_err(|_| ParquetError::Damaged("a size is negative"))
    }

    /// The value of a field that is text or bytes.
    pub fn bytes(&mut self, field: &Field) -> Result<&'a [u8], ParquetError> {
        if field.kind != BINARY {
            return Err(ParquetError::Damaged("a text is something else"));
        }
        let length = self.varint()?;
        self.some(length)
    }

    /// How many structs follow in a field that is a list of them.
    pub fn structs(&mut self, field: &Field) -> Result<usize, ParquetError> {
        if field.kind != LIST {
            return Err(ParquetError::Damaged("a list is something else"));
        }
        self.struct_list()
    }

    /// How many structs follow in a list of them.
    pub fn struct_list(&mut self) -> Result<usize, ParquetError> {
        match self.list()? {
            (STRUCT, count) => Ok(count),
            _ => Err(ParquetError::Damaged("a list holds something else")),
        }
    }

    fn list(&mut self) -> Result<(u8, usize), ParquetError> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => usize::try_from(self.varint()?).map_err(|_| SHORT)?,
            few => usize::from(few),
        };
        // Each item takes a byte at least.
        if count > self.data.len() - self.at {
            return Err(SHORT);
        }
        Ok((head & 0x0f, count))
    }

    /// The bytes of a field's value, as they are.
    pub fn raw(&mut self, field: &Field) -> Result<&'a [u8], ParquetError> {
        let start = self.at;
        self.pass(field.kind, DEEPEST)?;
        Ok(&self.data[start..self.at])
    }

    fn pass(&mut self, kind: u8, deepest: usize) -> Result<(), ParquetError> {
        let deepest = deepest
            .checked_sub(1)
            .ok_or(ParquetError::Damaged("headers are nested too deep"))?;
        match kind {
            TRUE | FALSE => {} // the type is the value
            BYTE => drop(self.byte()?),
            I16 | I32 | I64 => drop(self.varint()?),
            DOUBLE => drop(self.some(8)?),
            BINARY => {
                let length = self.varint()?;
                self.some(length)?;
            }
            LIST | SET => {
                let (item, count) = self.list()?;
                for _ in 0..count {
                    match item {
                        TRUE | FALSE => drop(self.byte()?),
                        _ => self.pass(item, deepest)?,
                    }
                }
            }
            MAP => return Err(ParquetError::Other("a map in a header")),
            STRUCT => loop {
                let head = self.byte()?;
                if head == STOP {
                    break;
                }
                if head >> 4 == 0 {
                    self.varint()?;
                }
                self.pass(head & 0x0f, deepest)?;
            },
            _ => return Err(ParquetError::Damaged("a type of a header is unknown")),
        }
        Ok(())
    }
}

/// Writes one value after the other.
#[derive(Default)]
pub struct Writer {
    /// What was written.
    pub data: Vec<u8>,
}

impl Writer {
    fn varint(&mut self, mut value: u64) {
        while value > 0x7f {
            self.data.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.data.push(value as u8);
    }

    /// Begin a field with a value of its own form; `step`: its number after the one before it.
    fn field(&mut self, step: u8, kind: u8) {
        self.data.push(step << 4 | kind);
    }

    /// A field that is a 32-bit number.
    pub fn i32(&mut self, step: u8, value: usize) {
        self.field(step, I32);
        self.varint((value as u64) << 1);
    }

    /// A field that is a 64-bit number.
    pub fn i64(&mut self, step: u8, value: usize) {
        self.field(step, I64);
        self.varint((value as u64) << 1);
    }

    /// A field that is a struct; its fields follow, and [`Self::stop`].
    pub fn begin(&mut self, step: u8) {
        self.field(step, STRUCT);
    }

    /// The end of a struct.
    pub fn stop(&mut self) {
        self.data.push(STOP);
    }

    /// A field that is a list of structs, which follow, each with [`Self::stop`].
    pub fn structs(&mut self, step: u8, count: usize) {
        self.list(step, STRUCT, count);
    }

    /// A field that is a list of 32-bit numbers.
    pub fn numbers(&mut self, step: u8, values: &[usize]) {
        self.list(step, I32, values.len());
        for value in values {
            self.varint((*value as u64) << 1);
        }
    }

    /// A field that is a list of texts.
    pub fn texts(&mut self, step: u8, values: &[&[u8]]) {
        self.list(step, BINARY, values.len());
        for value in values {
            self.varint(value.len() as u64);
            self.data.extend_from_slice(value);
        }
    }

    /// A field that is a list, with the bytes of a list that was read.
    pub fn raw_list(&mut self, step: u8, bytes: &[u8]) {
        self.field(step, LIST);
        self.data.extend_from_slice(bytes);
    }

    fn list(&mut self, step: u8, kind: u8, count: usize) {
        self.field(step, LIST);
        if count < 15 {
            self.data.push((count as u8) << 4 | kind);
        } else {
            self.data.push(0xf0 | kind);
            self.varint(count as u64);
        }
    }
}

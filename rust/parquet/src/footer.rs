//! What the footer of a Parquet file says: columns, and where their pages are.

use crate::digest::OWN_DIGEST;
use crate::error::ParquetError;
use crate::thrift::Reader;

const MAGIC: &[u8] = b"PAR1";
const STRANGE_ENDS: ParquetError = ParquetError::Damaged("its ends are not those of one");
/// How the values of a column are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// A fixed number of bytes each.
    Fixed(usize),
    /// Four bytes with the length, and as many bytes.
    Text,
    /// Something that is not merged, of so many bytes each in memory.
    Other(usize),
}

/// A column without columns below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf<'a> {
    /// Names from the top down: those of the footer, as a long one may stand above many columns.
    pub path: Vec<&'a [u8]>,
    /// Number of its type.
    pub kind: usize,
    /// How its values are stored.
    pub stored: Stored,
    /// Largest definition level: how many steps of its path may be missing.
    pub most_defined: u8,
    /// Largest repetition level: how many steps of its path are lists.
    pub most_repeated: u8,
}

/// Where the values of a column are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chunk {
    /// Number of the type of the values.
    pub kind: usize,
    /// Number of the compression.
    pub codec: usize,
    /// How many there are, missing ones as well.
    pub values: usize,
    /// Bytes of its pages.
    pub compressed: usize,
    /// Where its data pages begin.
    pub data: usize,
    /// Where its dictionary is.
    pub dictionary: Option<usize>,
}

/// A key and its value.
pub type Pair<'a> = (&'a [u8], &'a [u8]);

/// What a file says of itself.
pub struct Footer<'a> {
    /// The list of the columns, as it is stored.
    pub schema: &'a [u8],
    /// The list of keys and values beside it, as it is stored.
    pub keys: Option<&'a [u8]>,
    /// How many rows there are.
    pub rows: usize,
    /// For each group of rows how many there are, and each column's values.
    pub groups: Vec<(usize, Vec<Chunk>)>,
}

/// Bytes at the end of a file that say how long the footer before them is.
pub const TAIL: usize = 8;

/// Where the footer of a file of `length` bytes begins, by its last bytes.
pub fn footer_start(length: usize, tail: &[u8]) -> Result<usize, ParquetError> {
    match tail {
        [a, b, c, d, magic @ ..] if magic == MAGIC => (length - TAIL)
            .checked_sub(u32::from_le_bytes([*a, *b, *c, *d]) as usize)
            .ok_or(ParquetError::Damaged("its footer is longer than the file")),
        _ => Err(STRANGE_ENDS),
    }
}

impl<'a> Footer<'a> {
    /// Of the bytes of a file.
    pub fn of(file: &'a [u8]) -> Result<Self, ParquetError> {
        let end = file.len().saturating_sub(TAIL);
        let start = footer_start(file.len(), &file[end..])?;
        if !file.starts_with(MAGIC) {
            return Err(STRANGE_ENDS);
        }
        Self::read(&file[start..end])
    }

    /// Of the bytes of the footer alone.
    pub fn read(footer: &'a [u8]) -> Result<Self, ParquetError> {
        let mut reader = Reader::new(footer);
        let (mut schema, mut keys, mut rows, mut groups) = (None, None, None, Vec::new());
        reader.fields(|reader, field| {
            match field.id {
                2 => schema = Some(reader.raw(field)?),
                3 => rows = Some(reader.size(field)?),
                4 => {
                    for _ in 0..reader.structs(field)? {
                        groups.push(group(reader)?);
                    }
                }
                5 => keys = Some(reader.raw(field)?),
                8 | 9 => return Err(ParquetError::Other("encryption")),
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        match (schema, rows) {
            (Some(schema), Some(rows)) => Ok(Self {
                schema,
                keys,
                rows,
                groups,
            }),
            _ => Err(ParquetError::Damaged("its footer names no columns")),
        }
    }

    /// The columns without columns below them, in order.
    pub fn leaves(&self) -> Result<Vec<Leaf<'a>>, ParquetError> {
        let elements = elements(self.schema)?;
        let mut leaves = Vec::new();
        let mut next = 1;
        let top = elements
            .first()
            .ok_or(ParquetError::Damaged("it has no columns"))?;
        for _ in 0..top.children {
            next = below(&elements, next, &mut Vec::new(), (0, 0), &mut leaves)?;
        }
        if next == elements.len() {
            Ok(leaves)
        } else {
            Err(ParquetError::Damaged("its columns are not one tree"))
        }
    }

    /// Keys and values beside the columns, without the digest of the file.
    pub fn said(&self) -> Result<Vec<Pair<'a>>, ParquetError> {
        let Some(raw) = self.keys else {
            return Ok(Vec::new());
        };
        let mut pairs = Vec::new();
        each_struct(raw, |reader| {
            let (mut key, mut value) = (&[][..], &[][..]);
            reader.fields(|reader, field| {
                match field.id {
                    1 => key = reader.bytes(field)?,
                    2 => value = reader.bytes(field)?,
                    _ => return Ok(false),
                }
                Ok(true)
            })?;
            if key != OWN_DIGEST {
                pairs.push((key, value));
            }
            Ok(())
        })?;
        Ok(pairs)
    }
}

fn group(reader: &mut Reader) -> Result<(usize, Vec<Chunk>), ParquetError> {
    let (mut rows, mut chunks) = (None, Vec::new());
    reader.fields(|reader, field| {
        match field.id {
            1 => {
                for _ in 0..reader.structs(field)? {
                    chunks.push(chunk(reader)?);
                }
            }
            3 => rows = Some(reader.size(field)?),
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok((
        rows.ok_or(ParquetError::Damaged("a group has no number of rows"))?,
        chunks,
    ))
}

fn chunk(reader: &mut Reader) -> Result<Chunk, ParquetError> {
    let mut chunk = Chunk::default();
    let mut is_there = false;
    reader.fields(|reader, field| {
        match field.id {
            1 => return Err(ParquetError::Other("columns in other files")),
            3 => {
                is_there = true;
                reader.fields(|reader, field| {
                    match field.id {
                        1 => chunk.kind = reader.size(field)?,
                        4 => chunk.codec = reader.size(field)?,
                        5 => chunk.values = reader.size(field)?,
                        7 => chunk.compressed = reader.size(field)?,
                        9 => chunk.data = reader.size(field)?,
                        11 => chunk.dictionary = Some(reader.size(field)?),
                        _ => return Ok(false),
                    }
                    Ok(true)
                })?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    if is_there {
        Ok(chunk)
    } else {
        Err(ParquetError::Damaged("a column has no metadata"))
    }
}

struct Element<'a> {
    name: &'a [u8],
    kind: Option<usize>,
    length: usize,
    repetition: usize,
    children: usize,
}

fn elements(raw: &[u8]) -> Result<Vec<Element<'_>>, ParquetError> {
    let mut elements = Vec::new();
    each_struct(raw, |reader| {
        let mut element = Element {
            name: &[],
            kind: None,
            length: 0,
            repetition: 0,
            children: 0,
        };
        reader.fields(|reader, field| {
            match field.id {
                1 => element.kind = Some(reader.size(field)?),
                2 => element.length = reader.size(field)?,
                3 => element.repetition = reader.size(field)?,
                4 => element.name = reader.bytes(field)?,
                5 => element.children = reader.size(field)?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        elements.push(element);
        Ok(())
    })?;
    Ok(elements)
}

/// Calls `take` for each struct of a list as it is stored.
fn each_struct<'a>(
    raw: &'a [u8],
    mut take: impl FnMut(&mut Reader<'a>) -> Result<(), ParquetError>,
) -> Result<(), ParquetError> {
    let mut reader = Reader::new(raw);
    for _ in 0..reader.struct_list()? {
        take(&mut reader)?;
    }
    Ok(())
}

/// Adds the leaves of the element at `at` and below it; where the element after them is.
fn below<'a>(
    elements: &[Element<'a>],
    at: usize,
    path: &mut Vec<&'a [u8]>,
    (mut defined, mut repeated): (u8, u8),
    leaves: &mut Vec<Leaf<'a>>,
) -> Result<usize, ParquetError> {
    let element = elements
        .get(at)
        .ok_or(ParquetError::Damaged("columns are missing"))?;
    if path.len() > 16 {
        return Err(ParquetError::Other("columns nested deeper than 16"));
    }
    // Required, optional, repeated.
    defined += u8::from(element.repetition > 0);
    repeated += u8::from(element.repetition > 1);
    path.push(element.name);
    let mut next = at + 1;
    if let (Some(kind), 0) = (element.kind, element.children) {
        let stored = match kind {
            1 | 4 => Stored::Fixed(4),
            2 | 5 => Stored::Fixed(8),
            6 => Stored::Text,
            7 => Stored::Other(element.length),
            _ => Stored::Other(16),
        };
        leaves.push(Leaf {
            path: path.clone(),
            kind,
            stored,
            most_defined: defined,
            most_repeated: repeated,
        });
    } else {
        for _ in 0..element.children {
            next = below(elements, next, path, (defined, repeated), leaves)?;
        }
    }
    path.pop();
    Ok(next)
}

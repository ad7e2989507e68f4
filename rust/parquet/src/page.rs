//! Pages: the values of a column, one after the other.

use ruzstd::decoding::FrameDecoder;

use crate::error::ParquetError;
use crate::footer::{Chunk, Leaf, Stored};
use crate::levels::{decode, width_of};
use crate::thrift::Reader;

const SHORT: ParquetError = ParquetError::Damaged("a page ends early");
const PLAIN: usize = 0;
const DICTIONARY: [usize; 2] = [2, 8];
const RUNS: usize = 3;
const UNCOMPRESSED: usize = 0;
const ZSTD: usize = 6;

/// The values of a column, of all files so far.
#[derive(Default)]
pub struct Column {
    /// Repetition levels, where there are any.
    pub repeated: Vec<u8>,
    /// Definition levels, where there are any.
    pub defined: Vec<u8>,
    /// Values that are there, in plain encoding.
    pub values: Vec<u8>,
    /// How many there are, missing ones as well.
    pub count: usize,
    /// The last data page and the last dictionary.
    seen: [Seen; 2],
}

/// A small page as it was stored and what it unpacked to. From commit to commit half of the columns hold the same, and
/// unpacking takes longer than all else.
#[derive(Default)]
struct Seen {
    stored: Vec<u8>,
    page: Vec<u8>,
}

impl Seen {
    const LARGEST: usize = 4096;

    fn keep(&mut self, stored: &[u8], page: &[u8]) {
        if stored.len().max(page.len()) <= Self::LARGEST {
            self.stored.clear();
            self.stored.extend_from_slice(stored);
            self.page.clear();
            self.page.extend_from_slice(page);
        }
    }
}

/// What is used again from page to page.
pub struct Tools {
    decoder: FrameDecoder,
    page: Vec<u8>,
    dictionary: Vec<u8>,
    places: Vec<(usize, usize)>,
    numbers: Vec<u32>,
    /// Bytes that may still be taken.
    pub left: usize,
    /// Bytes that might be taken in all.
    pub largest: usize,
}

impl Tools {
    /// For tables of at most so many bytes.
    pub fn new(largest: usize) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(largest as u64);
        Self {
            decoder,
            page: Vec::new(),
            dictionary: Vec::new(),
            places: Vec::new(),
            numbers: Vec::new(),
            left: largest,
            largest,
        }
    }

    /// Take so many of the bytes that are left.
    pub fn take(&mut self, bytes: usize) -> Result<(), ParquetError> {
        self.left = self
            .left
            .checked_sub(bytes)
            .ok_or(ParquetError::TooLarge(self.largest))?;
        Ok(())
    }
}

/// What a page says before its values.
#[derive(Default)]
pub struct Header {
    kind: usize,
    /// Bytes of the page, unpacked.
    pub uncompressed: usize,
    /// Bytes of the page in the file.
    pub compressed: usize,
    /// How many values it has, missing ones as well.
    pub values: usize,
    encoding: usize,
    level_encodings: [usize; 2],
}

/// The header that comes next.
pub fn header(reader: &mut Reader) -> Result<Header, ParquetError> {
    let mut header = Header {
        level_encodings: [RUNS; 2],
        ..Header::default()
    };
    reader.fields(|reader, field| {
        match field.id {
            1 => header.kind = reader.size(field)?,
            2 => header.uncompressed = reader.size(field)?,
            3 => header.compressed = reader.size(field)?,
            5 | 7 | 8 => reader.fields(|reader, field| {
                match field.id {
                    1 => header.values = reader.size(field)?,
                    2 => header.encoding = reader.size(field)?,
                    // Of a dictionary page the third field says whether it is sorted.
                    3 | 4 if header.kind == 0 => {
                        header.level_encodings[field.id as usize - 3] = reader.size(field)?;
                    }
                    _ => return Ok(false),
                }
                Ok(true)
            })?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(header)
}

/// Adds the values of a chunk of a file to a column.
pub fn read_chunk(
    file: &[u8],
    chunk: &Chunk,
    leaf: &Leaf,
    column: &mut Column,
    tools: &mut Tools,
) -> Result<(), ParquetError> {
    if chunk.kind != leaf.kind {
        return Err(ParquetError::Damaged(
            "a column is of another type than it says",
        ));
    }
    let start = chunk
        .dictionary
        .map_or(chunk.data, |place| place.min(chunk.data));
    let end = start.checked_add(chunk.compressed).ok_or(SHORT)?;
    let mut rest = file.get(start..end).ok_or(SHORT)?;
    let wanted = column.count.checked_add(chunk.values).ok_or(SHORT)?;
    tools.places.clear();
    while column.count < wanted {
        let mut reader = Reader::new(rest);
        let header = header(&mut reader)?;
        let body = &rest[reader.position()..];
        let stored = body.get(..header.compressed).ok_or(SHORT)?;
        rest = &body[header.compressed..];
        let seen = &mut column.seen[usize::from(header.kind == 2)];
        unpack(stored, &header, chunk.codec, seen, tools)?;
        match header.kind {
            0 if header.values <= wanted - column.count => data_page(&header, leaf, column, tools)?,
            2 => dictionary_page(&header, leaf, tools)?,
            3 => return Err(ParquetError::Other("pages of version 2")),
            0 => return Err(ParquetError::Damaged("a page has too many values")),
            _ => return Err(ParquetError::Other("pages of an unknown kind")),
        }
    }
    Ok(())
}

fn unpack(
    stored: &[u8],
    header: &Header,
    codec: usize,
    seen: &mut Seen,
    tools: &mut Tools,
) -> Result<(), ParquetError> {
    tools.take(header.uncompressed)?;
    tools.page.clear();
    match codec {
        UNCOMPRESSED => tools.page.extend_from_slice(stored),
        ZSTD if stored == seen.stored => tools.page.extend_from_slice(&seen.page),
        ZSTD => {
            tools.page.resize(header.uncompressed, 0);
            let written = tools
                .decoder
                .decode_all(stored, &mut tools.page)
                .map_err(|_| ParquetError::Damaged("a page cannot be unpacked"))?;
            tools.page.truncate(written);
            seen.keep(stored, &tools.page);
        }
        _ => return Err(ParquetError::Other("a compression other than zstd")),
    }
    if tools.page.len() == header.uncompressed {
        Ok(())
    } else {
        Err(ParquetError::Damaged("a page is not as long as it says"))
    }
}

fn dictionary_page(header: &Header, leaf: &Leaf, tools: &mut Tools) -> Result<(), ParquetError> {
    if header.encoding != PLAIN && header.encoding != DICTIONARY[0] {
        return Err(ParquetError::Other("an unknown encoding of a dictionary"));
    }
    std::mem::swap(&mut tools.dictionary, &mut tools.page);
    tools.places.clear();
    let mut at = 0;
    for _ in 0..header.values {
        let length = plain_length(&tools.dictionary, at, leaf.stored)?;
        tools.places.push((at, length));
        at += length;
    }
    Ok(())
}

/// Bytes of the value that begins here, with those of its length.
fn plain_length(data: &[u8], at: usize, stored: Stored) -> Result<usize, ParquetError> {
    let length = match stored {
        Stored::Fixed(bytes) => bytes,
        Stored::Text => {
            let head = data.get(at..at + 4).ok_or(SHORT)?;
            4 + u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize
        }
        Stored::Other(_) => return Err(ParquetError::Other("a type other than numbers and text")),
    };
    if length <= data.len() - at {
        Ok(length)
    } else {
        Err(SHORT)
    }
}

fn data_page(
    header: &Header,
    leaf: &Leaf,
    column: &mut Column,
    tools: &mut Tools,
) -> Result<(), ParquetError> {
    if header.level_encodings != [RUNS; 2] {
        return Err(ParquetError::Other("levels in an unknown encoding"));
    }
    // Levels of missing values and places in the dictionary take next to nothing in a file.
    tools.take(header.values.saturating_mul(2))?;
    let page = std::mem::take(&mut tools.page);
    let mut rest = &page[..];
    let mut present = header.values;
    if leaf.most_repeated > 0 {
        rest = levels(
            rest,
            header.values,
            leaf.most_repeated,
            &mut column.repeated,
            tools,
        )?;
    }
    if leaf.most_defined > 0 {
        let before = column.defined.len();
        rest = levels(
            rest,
            header.values,
            leaf.most_defined,
            &mut column.defined,
            tools,
        )?;
        present = column.defined[before..]
            .iter()
            .filter(|level| **level == leaf.most_defined)
            .count();
    }
    if header.encoding == PLAIN {
        let mut at = 0;
        for _ in 0..present {
            at += plain_length(rest, at, leaf.stored)?;
        }
        column.values.extend_from_slice(&rest[..at]);
    } else if DICTIONARY.contains(&header.encoding) {
        by_dictionary(rest, present, column, tools)?;
    } else {
        return Err(ParquetError::Other(
            "an encoding other than plain and by dictionary",
        ));
    }
    column.count += header.values;
    tools.page = page;
    Ok(())
}

fn levels<'a>(
    data: &'a [u8],
    count: usize,
    most: u8,
    into: &mut Vec<u8>,
    tools: &mut Tools,
) -> Result<&'a [u8], ParquetError> {
    let head = data.get(..4).ok_or(SHORT)?;
    let end = 4 + u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
    let stored = data.get(4..end).ok_or(SHORT)?;
    tools.numbers.clear();
    decode(stored, width_of(most), count, &mut tools.numbers)?;
    if tools.numbers.iter().any(|level| *level > u32::from(most)) {
        return Err(ParquetError::Damaged("a level is too high"));
    }
    into.extend(tools.numbers.iter().map(|level| *level as u8));
    Ok(&data[end..])
}

fn by_dictionary(
    data: &[u8],
    count: usize,
    column: &mut Column,
    tools: &mut Tools,
) -> Result<(), ParquetError> {
    if count == 0 {
        return Ok(());
    }
    let (width, runs) = data.split_first().ok_or(SHORT)?;
    tools.numbers.clear();
    decode(runs, u32::from(*width), count, &mut tools.numbers)?;
    let mut bytes: usize = 0;
    for number in &tools.numbers {
        let (_, length) = *tools
            .places
            .get(*number as usize)
            .ok_or(ParquetError::Damaged("a value is not in the dictionary"))?;
        bytes = bytes.saturating_add(length);
    }
    tools.take(bytes)?;
    for number in &tools.numbers {
        let (at, length) = tools.places[*number as usize];
        column
            .values
            .extend_from_slice(&tools.dictionary[at..at + length]);
    }
    Ok(())
}

//! What a table takes in memory, as its file says: nothing is unpacked.

use std::io::{Read, Seek, SeekFrom};

use crate::error::{ParquetError, UNREADABLE};
use crate::footer::{Chunk, Footer, Stored, TAIL, footer_start};
use crate::page::{Header, header};
use crate::thrift::Reader;

/// Bytes a reader keeps for each text beside its letters.
const VIEW: usize = 16;
/// Bytes that are read to find a header of a page; more if it does not end in them.
const HEADER: usize = 4096;
const LARGEST_HEADER: usize = 16 * 1024 * 1024;

/// Bytes that the table of a file takes in memory at most, texts of a dictionary counted once. Footer and headers of pages are believed only where
/// they agree with the file's length; a reader that unpacks a page into what its header says takes no more than this.
pub fn size_in_memory(file: &mut (impl Read + Seek)) -> Result<u64, ParquetError> {
    let length = file.seek(SeekFrom::End(0)).map_err(|_| UNREADABLE)?;
    let length = usize::try_from(length).map_err(|_| UNREADABLE)?;
    let end = length.saturating_sub(TAIL);
    let start = footer_start(length, &part(file, end, TAIL)?)?;
    let footer = part(file, start, end - start)?;
    let footer = Footer::read(&footer)?;
    let leaves = footer.leaves()?;
    let mut total = footer.rows as u64;
    let mut stored: usize = 0;
    for (rows, chunks) in &footer.groups {
        if chunks.len() != leaves.len() {
            return Err(ParquetError::Damaged("a group lacks a column"));
        }
        total = total.saturating_add(*rows as u64);
        for (chunk, leaf) in chunks.iter().zip(&leaves) {
            stored = stored.saturating_add(chunk.compressed);
            if stored > length {
                return Err(ParquetError::Damaged(
                    "its columns are longer than the file",
                ));
            }
            let (values, unpacked) = pages(file, chunk)?;
            let values = values.max(chunk.values);
            let bytes = match leaf.stored {
                Stored::Fixed(bytes) | Stored::Other(bytes) => values.saturating_mul(bytes.max(1)),
                Stored::Text => values.saturating_mul(VIEW).saturating_add(unpacked),
            };
            total = total.saturating_add(bytes.max(unpacked) as u64);
        }
    }
    Ok(total)
}

/// How many values the pages of a column have, and how many bytes they unpack to.
fn pages(file: &mut (impl Read + Seek), chunk: &Chunk) -> Result<(usize, usize), ParquetError> {
    let start = chunk
        .dictionary
        .filter(|place| *place > 0)
        .map_or(chunk.data, |place| place.min(chunk.data));
    let end = start.saturating_add(chunk.compressed);
    let (mut at, mut values, mut unpacked) = (start, 0usize, 0usize);
    while at < end {
        let (page, length) = page_at(file, at, end)?;
        values = values.saturating_add(page.values);
        unpacked = unpacked.saturating_add(page.uncompressed);
        at = at.saturating_add(length).saturating_add(page.compressed);
    }
    Ok((values, unpacked))
}

/// The header of the page that begins here, and how long it is.
fn page_at(
    file: &mut (impl Read + Seek),
    at: usize,
    end: usize,
) -> Result<(Header, usize), ParquetError> {
    let mut length = HEADER;
    loop {
        let data = part(file, at, length.min(end - at))?;
        let mut reader = Reader::new(&data);
        match header(&mut reader) {
            Ok(page) => return Ok((page, reader.position())),
            Err(fault) if length >= (end - at).min(LARGEST_HEADER) => return Err(fault),
            Err(_) => length *= 64,
        }
    }
}

fn part(file: &mut (impl Read + Seek), at: usize, length: usize) -> Result<Vec<u8>, ParquetError> {
    file.seek(SeekFrom::Start(at as u64))
        .map_err(|_| UNREADABLE)?;
    let mut data = Vec::new();
    file.take(length as u64)
        .read_to_end(&mut data)
        .map_err(|_| UNREADABLE)?;
    Ok(data)
}

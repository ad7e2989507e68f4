//! Runs of small numbers: how Parquet stores levels and places in a dictionary.

use crate::error::ParquetError;
use crate::thrift::Reader;

const SHORT: ParquetError = ParquetError::Damaged("a page ends early");

/// Bits that a number up to this one takes.
pub fn width_of(most: u8) -> u32 {
    u8::BITS - most.leading_zeros()
}

/// Adds `count` numbers of `width` bits each that are stored as runs and groups of eight.
pub fn decode(
    data: &[u8],
    width: u32,
    count: usize,
    into: &mut Vec<u32>,
) -> Result<(), ParquetError> {
    if width > 32 {
        return Err(ParquetError::Damaged("numbers of more than 32 bits"));
    }
    let wanted = into.len() + count;
    let bytes = width.div_ceil(8) as usize;
    let mut rest = data;
    while into.len() < wanted {
        let mut reader = Reader::new(rest);
        let head = reader.varint()?;
        rest = &rest[reader.position()..];
        let length = usize::try_from(head >> 1).map_err(|_| SHORT)?;
        let left = wanted - into.len();
        if length == 0 {
            return Err(ParquetError::Damaged("an empty run"));
        }
        if head & 1 == 0 {
            let stored = rest.get(..bytes).ok_or(SHORT)?;
            let mut value = [0; 4];
            value[..bytes].copy_from_slice(stored);
            into.resize(into.len() + length.min(left), u32::from_le_bytes(value));
            rest = &rest[bytes..];
        } else {
            // The last group may be cut short with the numbers that are needed.
            let whole = length.checked_mul(width as usize).ok_or(SHORT)?;
            let packed = &rest[..whole.min(rest.len())];
            let taken = length.saturating_mul(8).min(left);
            if packed.len() * 8 < taken * width as usize {
                return Err(SHORT);
            }
            into.extend((0..taken).map(|index| bits(packed, index * width as usize, width)));
            rest = &rest[packed.len()..];
        }
    }
    Ok(())
}

fn bits(packed: &[u8], first: usize, width: u32) -> u32 {
    let mut value: u64 = 0;
    for (index, byte) in packed[first / 8..].iter().take(5).enumerate() {
        value |= u64::from(*byte) << (8 * index);
    }
    ((value >> (first % 8)) & ((1 << width) - 1)) as u32
}

/// Levels, of at most eight bits each, as runs.
pub fn encode(levels: &[u8], into: &mut Vec<u8>) {
    for run in levels.chunk_by(|a, b| a == b) {
        let mut head = (run.len() as u64) << 1;
        while head > 0x7f {
            into.push((head & 0x7f) as u8 | 0x80);
            head >>= 7;
        }
        into.push(head as u8);
        into.push(run[0]);
    }
}

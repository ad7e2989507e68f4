//! Files that carry the SHA-256 of their own bytes, and how one is read.
//!
//! The digest stands in the key-value metadata of the footer, under `percuss.sha256`; while it is computed its 64 digits
//! stand as zeros.

use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::error::{ParquetError, UNREADABLE};

/// The key under which a file carries its own digest, which is another in each.
pub const OWN_DIGEST: &[u8] = b"percuss.sha256";
/// What follows the key in Thrift's compact protocol: binary of 64 bytes.
const SIXTY_FOUR_BYTES: &[u8] = &[0x18, 64];
const DIGITS: usize = 64;

/// Reads a regular file of at most `largest` bytes into `data`, which match the digest it carries. No link is followed, and
/// no device waited for.
pub fn read_checked(path: &Path, largest: usize, data: &mut Vec<u8>) -> Result<(), ParquetError> {
    let mut file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(path)
        .map_err(|_| UNREADABLE)?;
    let facts = file.metadata().map_err(|_| UNREADABLE)?;
    if !facts.is_file() {
        return Err(UNREADABLE);
    }
    let too_large = ParquetError::TooLarge(largest);
    let size = usize::try_from(facts.len()).map_err(|_| too_large.clone())?;
    if size > largest {
        return Err(too_large);
    }
    data.clear();
    // One more than there are, so that the end shows without growing.
    data.reserve(size + 1);
    // It may grow while it is read.
    file.by_ref()
        .take(largest as u64 + 1)
        .read_to_end(data)
        .map_err(|_| UNREADABLE)?;
    if data.len() > largest {
        return Err(too_large);
    }
    if matches(data) {
        Ok(())
    } else {
        Err(ParquetError::Damaged(
            "its bytes do not match the digest it carries",
        ))
    }
}

/// Whether the bytes of a file match the digest it carries.
pub fn matches(data: &[u8]) -> bool {
    // The last mark is the right one: the key-value list is the last part of a file that can hold text of ours.
    let Some(mark) = data
        .windows(OWN_DIGEST.len())
        .rposition(|part| part == OWN_DIGEST)
    else {
        return false;
    };
    let Some((digits, rest)) = data[mark + OWN_DIGEST.len()..]
        .strip_prefix(SIXTY_FOUR_BYTES)
        .and_then(|after| after.split_at_checked(DIGITS))
    else {
        return false;
    };
    let before = data.len() - rest.len() - DIGITS;
    let mut state = Sha256::new();
    state.update(&data[..before]);
    state.update([b'0'; DIGITS]);
    state.update(rest);
    let digest = state.finalize();
    digest
        .iter()
        .zip(digits.chunks_exact(2))
        .all(|(byte, two)| {
            two[0] == HEXADECIMAL[usize::from(byte >> 4)]
                && two[1] == HEXADECIMAL[usize::from(byte & 15)]
        })
}

const HEXADECIMAL: &[u8; 16] = b"0123456789abcdef";

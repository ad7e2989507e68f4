//! Files put together by hand, byte for byte: what comes out is known, and what a file claims and does not have is refused.

use std::fs;
use std::io::Cursor;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use percuss_parquet::{ParquetError, merge, merge_files, size_in_memory};
use sha2::{Digest, Sha256};

const LARGEST: usize = 1 << 20;
const MARK: &[u8] = b"percuss.sha256";

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value > 0x7f {
        bytes.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// A number as a field: the byte that says which and of what type, then twice the number.
fn number(head: u8, value: u64) -> Vec<u8> {
    [vec![head], varint(value << 1)].concat()
}

fn text(head: u8, value: &[u8]) -> Vec<u8> {
    [vec![head], varint(value.len() as u64), value.to_vec()].concat()
}

fn list(head: u8, kind: u8, items: &[Vec<u8>]) -> Vec<u8> {
    let count = if items.len() < 15 {
        vec![(items.len() as u8) << 4 | kind]
    } else {
        [vec![0xf0 | kind], varint(items.len() as u64)].concat()
    };
    [vec![head], count, items.concat()].concat()
}

/// The top of the columns, with so many below it.
fn top(children: u64) -> Vec<u8> {
    [text(0x48, b"schema"), number(0x15, children), vec![0]].concat()
}

/// A column of 64-bit numbers, of which none is missing (0) or some may be (1).
fn column(name: &[u8], repetition: u64) -> Vec<u8> {
    [
        number(0x15, 2),
        number(0x25, repetition),
        text(0x18, name),
        vec![0],
    ]
    .concat()
}

/// A page of so many values, with what it unpacks to.
fn page(values: u64, unpacked: u64, stored: &[u8]) -> Vec<u8> {
    [
        number(0x15, 0),
        number(0x15, unpacked),
        number(0x15, stored.len() as u64),
        vec![0x2c],
        number(0x15, values),
        number(0x15, 0),
        number(0x15, 3),
        number(0x15, 3),
        vec![0, 0],
        stored.to_vec(),
    ]
    .concat()
}

/// A file of one column `y` with one page.
struct File {
    repetition: u64,
    codec: u64,
    rows: u64,
    values: u64,
    page: Vec<u8>,
    digest: bool,
}

impl File {
    fn bytes(&self) -> Vec<u8> {
        let length = self.page.len() as u64;
        let chunk = [
            number(0x26, 4),
            vec![0x1c],
            number(0x15, 2),
            list(0x19, 5, &[varint(0), varint(3 << 1)]),
            list(0x19, 8, &[[varint(1), b"y".to_vec()].concat()]),
            number(0x15, self.codec),
            number(0x16, self.values),
            number(0x16, length),
            number(0x16, length),
            number(0x26, 4),
            vec![0, 0],
        ]
        .concat();
        let group = [
            list(0x19, 12, &[chunk]),
            number(0x16, length),
            number(0x16, self.rows),
            vec![0],
        ]
        .concat();
        let keys = if self.digest {
            let pair = [text(0x18, MARK), text(0x18, &[b'0'; 64]), vec![0]].concat();
            list(0x19, 12, &[pair])
        } else {
            Vec::new()
        };
        let footer = [
            number(0x15, 1),
            list(0x19, 12, &[top(1), column(b"y", self.repetition)]),
            number(0x16, self.rows),
            list(0x19, 12, &[group]),
            keys,
            vec![0],
        ]
        .concat();
        let mut bytes = whole(&self.page, &footer);
        if self.digest {
            let digest: String = Sha256::digest(&bytes)
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect();
            let place = bytes.windows(64).position(|part| part == [b'0'; 64]);
            let place = place.expect("the zeros of the digest");
            bytes[place..place + 64].copy_from_slice(digest.as_bytes());
        }
        bytes
    }
}

fn whole(pages: &[u8], footer: &[u8]) -> Vec<u8> {
    let length = (footer.len() as u32).to_le_bytes();
    [b"PAR1", pages, footer, &length, b"PAR1"].concat()
}

fn numbers(values: &[i64]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

fn plain(values: &[i64]) -> File {
    let (count, stored) = (values.len() as u64, numbers(values));
    File {
        repetition: 0,
        codec: 0,
        rows: count,
        values: count,
        page: page(count, stored.len() as u64, &stored),
        digest: false,
    }
}

/// Values of which some are missing, as levels in the encoding of runs and the values that are there.
fn gappy(count: u64, levels: &[u8], values: &[i64]) -> File {
    let length = (levels.len() as u32).to_le_bytes();
    let stored = [&length[..], levels, &numbers(values)].concat();
    File {
        repetition: 1,
        rows: count,
        values: count,
        page: page(count, stored.len() as u64, &stored),
        ..plain(&[])
    }
}

/// One frame of zstd that is stored as it is (RFC 8878, 3.1.1.2.2), of less than 256 bytes.
fn frame(content: &[u8]) -> Vec<u8> {
    let block = ((content.len() as u32) << 3 | 1).to_le_bytes();
    let head = [0x28, 0xb5, 0x2f, 0xfd, 0x20, content.len() as u8];
    [&head[..], &block[..3], content].concat()
}

fn packed(values: &[i64]) -> File {
    let content = numbers(values);
    File {
        codec: 6,
        page: page(values.len() as u64, content.len() as u64, &frame(&content)),
        ..plain(values)
    }
}

fn signed(file: File) -> Vec<u8> {
    File {
        digest: true,
        ..file
    }
    .bytes()
}

#[test]
fn rows_follow_each_other() {
    let one = plain(&[1, -2]).bytes();
    let other = plain(&[i64::MAX]).bytes();
    assert_eq!(merge(&[&one], LARGEST), Ok(one.clone()));
    assert_eq!(
        merge(&[&one, &other, &one], LARGEST),
        Ok(plain(&[1, -2, i64::MAX, 1, -2]).bytes())
    );
}

#[test]
fn compressed_pages_come_out_plain_also_where_one_is_like_the_one_before() {
    let (one, other) = (packed(&[7, 8]).bytes(), packed(&[7, 9]).bytes());
    assert_eq!(
        merge(&[&one, &one, &other, &one], LARGEST),
        Ok(plain(&[7, 8, 7, 8, 7, 9, 7, 8]).bytes())
    );
}

#[test]
fn missing_values_stay_missing() {
    // 5, none, 6 as bits of one group of eight, and none, 7.
    let one = gappy(3, &[3, 0b101], &[5, 6]).bytes();
    let other = gappy(2, &[3, 0b10], &[7]).bytes();
    let runs = [2, 1, 2, 0, 2, 1, 2, 0, 2, 1];
    assert_eq!(
        merge(&[&one, &other], LARGEST),
        Ok(gappy(5, &runs, &[5, 6, 7]).bytes())
    );
}

#[test]
fn other_columns_are_refused_by_number() {
    let (one, other) = (plain(&[1]).bytes(), gappy(1, &[2, 1], &[1]).bytes());
    assert_eq!(
        merge(&[&one, &one, &other], LARGEST),
        Err(ParquetError::Schema(2))
    );
}

#[test]
fn what_is_claimed_and_not_there_is_refused_before_it_takes_memory() {
    let too_large = Err(ParquetError::TooLarge(LARGEST));
    // A page of a few bytes that says it unpacks to a tebibyte.
    let bomb = File {
        page: page(2, 1 << 40, &frame(&[0; 16])),
        ..packed(&[1, 2])
    };
    assert_eq!(merge(&[&bomb.bytes()], LARGEST), too_large);
    assert!(size_in_memory(&mut Cursor::new(bomb.bytes())).is_ok_and(|size| size >= 1 << 40));
    // Billions of values, all missing: one run.
    let missing = gappy(1 << 40, &[varint(1 << 41), vec![0]].concat(), &[]);
    assert_eq!(merge(&[&missing.bytes()], LARGEST), too_large);
    assert!(size_in_memory(&mut Cursor::new(missing.bytes())).is_ok_and(|size| size >= 1 << 40));
    // More values than bytes, more rows than values, and more values in the page than in the column.
    for (rows, values, in_page) in [(9, 9, 9), (9, 2, 2), (2, 2, 9), (u64::MAX >> 2, 2, 2)] {
        let file = File {
            rows,
            values,
            page: page(in_page, 16, &numbers(&[1, 2])),
            ..plain(&[])
        };
        let said = merge(&[&file.bytes()], LARGEST);
        assert!(
            matches!(said, Err(ParquetError::Damaged(_))),
            "{rows} {values} {in_page}: {said:?}"
        );
    }
    // Altogether, too: each file for itself is small enough.
    let honest = plain(&[1, 2]).bytes();
    assert!(merge(&[&honest], 1000).is_ok());
    assert_eq!(
        merge(&[&honest[..]; 100], 1000),
        Err(ParquetError::TooLarge(1000))
    );
}

#[test]
fn a_long_name_above_many_columns_is_kept_once() {
    let (name, count) = (vec![b'n'; 1 << 20], 100_000);
    let group = [text(0x48, &name), number(0x15, count), vec![0]].concat();
    let mut schema = vec![top(1), group];
    schema.extend((0..count).map(|_| column(b"y", 0)));
    let footer = [
        number(0x15, 1),
        list(0x19, 12, &schema),
        number(0x16, 0),
        list(0x19, 12, &[]),
        vec![0],
    ]
    .concat();
    let file = whole(&[], &footer);
    // Names for each column would be a hundred gigabytes.
    assert_eq!(size_in_memory(&mut Cursor::new(&file)), Ok(0));
    assert_eq!(
        merge(&[&file], LARGEST),
        Err(ParquetError::TooLarge(LARGEST))
    );
}

#[test]
fn no_cut_and_no_changed_byte_is_a_panic() {
    let files = [
        signed(packed(&[7, 8])),
        gappy(3, &[3, 0b101], &[5, 6]).bytes(),
    ];
    for file in files {
        let look = |data: &[u8]| {
            let _ = size_in_memory(&mut Cursor::new(data));
            merge(&[data], LARGEST)
        };
        for end in 0..file.len() {
            assert!(look(&file[..end]).is_err(), "cut at {end}");
        }
        for place in 0..file.len() {
            let mut changed = file.clone();
            for byte in 0..=255 {
                changed[place] = byte;
                let _ = look(&changed);
            }
        }
    }
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("percuss-parquet-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).expect("a folder of our own");
        Self(path)
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, bytes).expect("a file is written");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn files_are_read_that_match_their_digest_and_no_others() {
    let folder = Folder::new("digests");
    let (one, other) = (signed(plain(&[1])), signed(plain(&[2, 3])));
    let paths = [folder.file("1", &one), folder.file("2", &other)];
    let merged = merge_files(&paths, LARGEST, LARGEST);
    assert!(merged.is_ok());
    assert_eq!(merged, merge(&[&one, &other], LARGEST));

    // Whichever byte is changed, and wherever a file ends.
    for place in 0..other.len() {
        let mut changed = other.clone();
        changed[place] ^= 1;
        folder.file("2", &changed);
        let said = merge_files(&paths, LARGEST, LARGEST);
        assert!(
            matches!(said, Err(ParquetError::Damaged(_))),
            "{place}: {said:?}"
        );
        folder.file("2", &other[..place]);
        assert!(merge_files(&paths, LARGEST, LARGEST).is_err(), "{place}");
    }
    folder.file("2", &plain(&[2, 3]).bytes());
    assert!(merge_files(&paths, LARGEST, LARGEST).is_err());
    folder.file("2", &other);
    assert!(merge_files(&paths, LARGEST, LARGEST).is_ok());
    assert_eq!(
        merge_files(&paths, other.len() - 1, LARGEST),
        Err(ParquetError::TooLarge(other.len() - 1))
    );

    // No link, no folder, nothing that is missing.
    let link = folder.0.join("link");
    symlink(&paths[0], &link).expect("a link");
    for strange in [link, folder.0.clone(), folder.0.join("missing")] {
        assert!(merge_files(&[paths[0].clone(), strange], LARGEST, LARGEST).is_err());
    }
    assert!(merge_files(&[], LARGEST, LARGEST).is_err());
}

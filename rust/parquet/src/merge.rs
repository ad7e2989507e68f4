//! The rows of several files as one file.

use std::path::PathBuf;

use crate::digest::read_checked;
use crate::error::ParquetError;
use crate::footer::{Footer, Leaf, Pair};
use crate::levels::encode;
use crate::page::{Column, Tools, read_chunk};
use crate::thrift::Writer;

const NONE: ParquetError = ParquetError::Damaged("there is none");

/// The rows of several files of the same columns, in order, as one file without compression. What takes more than
/// `largest` bytes is refused.
pub fn merge(files: &[&[u8]], largest: usize) -> Result<Vec<u8>, ParquetError> {
    let first = files.first().ok_or(NONE)?;
    let mut merger = Merger::new(first, largest)?;
    for file in files {
        merger.add(file)?;
    }
    Ok(merger.written())
}

/// The same of files on the disk, each of at most `largest_file` bytes that match the digest it carries. They are read one
/// after the other, and only the first is kept.
pub fn merge_files(
    paths: &[PathBuf],
    largest_file: usize,
    largest: usize,
) -> Result<Vec<u8>, ParquetError> {
    let (head, rest) = paths.split_first().ok_or(NONE)?;
    let mut first = Vec::new();
    read_checked(head, largest_file, &mut first)?;
    let mut merger = Merger::new(&first, largest)?;
    merger.add(&first)?;
    let mut file = Vec::new();
    for path in rest {
        read_checked(path, largest_file, &mut file)?;
        merger.add(&file)?;
    }
    Ok(merger.written())
}

/// Files put together so far, all of the columns of the first.
struct Merger<'a> {
    first: Footer<'a>,
    leaves: Vec<Leaf<'a>>,
    said: Vec<Pair<'a>>,
    columns: Vec<Column>,
    tools: Tools,
    rows: usize,
    files: usize,
}

impl<'a> Merger<'a> {
    /// For files of the columns of this one, which is not added yet.
    fn new(first: &'a [u8], largest: usize) -> Result<Self, ParquetError> {
        let first = Footer::of(first)?;
        let (leaves, said) = (first.leaves()?, first.said()?);
        let mut tools = Tools::new(largest);
        // A name above many columns is written for each of them.
        for leaf in &leaves {
            tools.take(leaf.path.iter().map(|name| name.len()).sum())?;
        }
        let columns = leaves.iter().map(|_| Column::default()).collect();
        Ok(Self {
            first,
            leaves,
            said,
            columns,
            tools,
            rows: 0,
            files: 0,
        })
    }

    /// Add the rows of a file.
    fn add(&mut self, file: &[u8]) -> Result<(), ParquetError> {
        let footer = Footer::of(file)?;
        if footer.schema != self.first.schema || footer.said()? != self.said {
            return Err(ParquetError::Schema(self.files));
        }
        let counted: Option<usize> = footer
            .groups
            .iter()
            .try_fold(0usize, |sum, (rows, _)| sum.checked_add(*rows));
        if counted != Some(footer.rows) {
            return Err(ParquetError::Damaged(
                "its groups do not have the rows it says",
            ));
        }
        for (group_rows, chunks) in &footer.groups {
            if chunks.len() != self.leaves.len() {
                return Err(ParquetError::Damaged("a group lacks a column"));
            }
            for ((chunk, leaf), column) in chunks.iter().zip(&self.leaves).zip(&mut self.columns) {
                let before = (column.count, column.repeated.len());
                read_chunk(file, chunk, leaf, column, &mut self.tools)?;
                // A row begins where nothing is repeated.
                let rows = match leaf.most_repeated {
                    0 => column.count - before.0,
                    _ => column.repeated[before.1..]
                        .iter()
                        .filter(|level| **level == 0)
                        .count(),
                };
                if rows != *group_rows {
                    return Err(ParquetError::Damaged(
                        "a column does not have the rows of its group",
                    ));
                }
            }
        }
        self.rows += footer.rows;
        self.files += 1;
        Ok(())
    }

    /// All that was added as one file.
    fn written(&self) -> Vec<u8> {
        written(&self.first, &self.leaves, &self.columns, self.rows)
    }
}

fn written(first: &Footer, leaves: &[Leaf], columns: &[Column], rows: usize) -> Vec<u8> {
    let mut data = b"PAR1".to_vec();
    let mut footer = Writer::default();
    footer.i32(1, 1);
    footer.raw_list(1, first.schema);
    footer.i64(1, rows);
    footer.structs(1, 1);
    footer.structs(1, leaves.len());
    let mut total = 0;
    for (leaf, column) in leaves.iter().zip(columns) {
        let start = data.len();
        write_page(&mut data, leaf, column);
        let bytes = data.len() - start;
        total += bytes;
        footer.i64(2, start);
        footer.begin(1);
        footer.i32(1, leaf.kind);
        footer.numbers(1, &[0, 3]);
        footer.texts(1, &leaf.path);
        footer.i32(1, 0);
        footer.i64(1, column.count);
        footer.i64(1, bytes);
        footer.i64(1, bytes);
        footer.i64(2, start);
        footer.stop();
        footer.stop();
    }
    footer.i64(1, total);
    footer.i64(1, rows);
    footer.stop();
    if let Some(keys) = first.keys {
        footer.raw_list(1, keys);
    }
    footer.stop();
    let length = footer.data.len() as u32;
    data.append(&mut footer.data);
    data.extend_from_slice(&length.to_le_bytes());
    data.extend_from_slice(b"PAR1");
    data
}

fn write_page(data: &mut Vec<u8>, leaf: &Leaf, column: &Column) {
    let mut levels = Vec::new();
    for (most, stored) in [
        (leaf.most_repeated, &column.repeated),
        (leaf.most_defined, &column.defined),
    ] {
        if most > 0 {
            let start = levels.len();
            levels.extend_from_slice(&[0; 4]);
            encode(stored, &mut levels);
            let length = (levels.len() - start - 4) as u32;
            levels[start..start + 4].copy_from_slice(&length.to_le_bytes());
        }
    }
    let bytes = levels.len() + column.values.len();
    let mut header = Writer::default();
    header.i32(1, 0);
    header.i32(1, bytes);
    header.i32(1, bytes);
    header.begin(2);
    header.i32(1, column.count);
    header.i32(1, 0);
    header.i32(1, 3);
    header.i32(1, 3);
    header.stop();
    header.stop();
    data.append(&mut header.data);
    data.extend_from_slice(&levels);
    data.extend_from_slice(&column.values);
}

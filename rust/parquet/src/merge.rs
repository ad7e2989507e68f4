//! The rows of several files as one file.

use crate::error::ParquetError;
use crate::footer::{Footer, Leaf};
use crate::levels::encode;
use crate::page::{Column, Tools, read_chunk};
use crate::thrift::Writer;

/// The rows of several files of the same columns, in order, as one file without compression. What takes more than
/// `largest` bytes is refused.
pub fn merge(files: &[&[u8]], largest: usize) -> Result<Vec<u8>, ParquetError> {
    let first = files
        .first()
        .ok_or(ParquetError::Damaged("there is none"))?;
    let first = Footer::of(first)?;
    let (leaves, said) = (first.leaves()?, first.said()?);
    let mut columns: Vec<Column> = leaves.iter().map(|_| Column::default()).collect();
    let mut tools = Tools::new(largest);
    let mut rows: usize = 0;
    for (index, file) in files.iter().enumerate() {
        let footer = Footer::of(file)?;
        if footer.schema != first.schema || footer.said()? != said {
            return Err(ParquetError::Schema(index));
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
            if chunks.len() != leaves.len() {
                return Err(ParquetError::Damaged("a group lacks a column"));
            }
            for ((chunk, leaf), column) in chunks.iter().zip(&leaves).zip(&mut columns) {
                let before = (column.count, column.repeated.len());
                read_chunk(file, chunk, leaf, column, &mut tools)?;
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
        rows += footer.rows;
    }
    Ok(written(&first, &leaves, &columns, rows))
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
        let path: Vec<&[u8]> = leaf.path.iter().map(Vec::as_slice).collect();
        footer.texts(1, &path);
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

//! Columns of numbers with names: what a run leaves.

/// A named column.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Column {
    /// Name with unit.
    pub name: String,
    /// One value a row.
    pub values: Vec<f64>,
}

/// Columns of equal length.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// What the table is about.
    pub name: String,
    /// Its columns.
    pub columns: Vec<Column>,
}

impl Table {
    pub(crate) fn new<T: AsRef<str>>(name: &str, columns: &[T]) -> Self {
        let column = |name: &T| Column {
            name: name.as_ref().into(),
            values: Vec::new(),
        };
        Self {
            name: name.into(),
            columns: columns.iter().map(column).collect(),
        }
    }

    pub(crate) fn push(&mut self, row: &[f64]) {
        debug_assert_eq!(row.len(), self.columns.len());
        for (column, value) in self.columns.iter_mut().zip(row) {
            column.values.push(*value);
        }
    }

    /// The values of the column of that name.
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        let column = self.columns.iter().find(|c| c.name == name)?;
        Some(&column.values)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |c| c.values.len())
    }
}

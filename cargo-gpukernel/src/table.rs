//! Tables of text with aligned columns.

use std::fmt;

/// Rows of cells: printed with the first column to the left and the others to the right.
#[derive(Debug)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table of these columns.
    pub(crate) fn new<const N: usize>(titles: [&str; N]) -> Self {
        Self { rows: vec![titles.map(str::to_owned).to_vec()] }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Whether there are no rows but the titles.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.len() == 1
    }
}

/// A number of bytes for people.
pub(crate) fn bytes(count: u64) -> String {
    match count {
        0..1_000 => format!("{count} B"),
        1_000..1_000_000 => format!("{:.1} kB", count as f64 / 1e3),
        _ => format!("{:.1} MB", count as f64 / 1e6),
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |column: usize| {
            self.rows
                .iter()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or(0)
        };
        for (number, row) in self.rows.iter().enumerate() {
            if number > 0 {
                writeln!(f)?;
            }
            for (column, cell) in row.iter().enumerate() {
                let width = width(column);
                match column {
                    0 => write!(f, "{cell:<width$}")?,
                    _ => write!(f, "  {cell:>width$}")?,
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_readable() {
        assert_eq!([999, 1_500, 59_990_000].map(bytes), ["999 B", "1.5 kB", "60.0 MB"]);
    }

    #[test]
    fn columns_line_up() {
        let mut table = Table::new(["step", "ms"]);
        table.row(["compile".to_owned(), "1234.5".to_owned()]);
        table.row(["µ".to_owned(), "1".to_owned()]);
        assert_eq!(table.to_string(), "step         ms\ncompile  1234.5\nµ             1");
    }
}

//! Tables of text with aligned columns.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

/// A table with these titles, without lines. The columns from `numbers` on, counted from 0, are aligned to the right.
pub(crate) fn table<const N: usize>(titles: [&str; N], numbers: usize) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(titles);
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if index >= numbers {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// A number of bytes for people.
pub(crate) fn bytes(count: u64) -> String {
    match count {
        0..1_000 => format!("{count} B"),
        1_000..1_000_000 => format!("{:.1} kB", count as f64 / 1e3),
        _ => format!("{:.1} MB", count as f64 / 1e6),
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
    fn text_is_aligned_to_the_left_and_numbers_to_the_right() {
        let mut table = table(["step", "ms"], 1);
        table.add_row(["compile", "1234.5"]).add_row(["  µ", "1"]);
        assert_eq!(table.trim_fmt(), "step         ms\ncompile  1234.5\n  µ           1");
    }
}

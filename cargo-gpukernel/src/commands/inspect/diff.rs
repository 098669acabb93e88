//! Two versions of a kernel's code side by side: numbers, and the differences of the machine code.

use gpukernel_build::{CodeLine, Inspection, MemorySpace};
use similar::{Algorithm, ChangeTag, DiffOp, capture_diff_slices, group_diff_ops};

use crate::table::table;

/// How many lines without a change are shown around changes.
const AROUND: usize = 3;

/// The comparison as text; `names` say which is which.
pub(super) fn text(this: &Inspection, other: &Inspection, names: [&str; 2]) -> String {
    let mut text = format!("{}\n\n", numbers(this, other, names));
    let (before, after) = (opcodes(other), opcodes(this));
    let operations = capture_diff_slices(Algorithm::Patience, &before, &after);
    let groups = group_diff_ops(operations, AROUND);
    if groups.is_empty() {
        return text + "the machine code consists of the same operations\n";
    }
    text += &format!("--- {}\n+++ {}\n", names[1], names[0]);
    let codes = [code(other), code(this)];
    for group in groups {
        text += &hunk(&group, &codes, &before, &after);
    }
    text
}

fn hunk(group: &[DiffOp], codes: &[Vec<&CodeLine>; 2], before: &[String], after: &[String]) -> String {
    let (Some(first), Some(last)) = (group.first(), group.last()) else { return String::new() };
    let range = |old: bool| match old {
        true => (first.old_range().start + 1, last.old_range().end - first.old_range().start),
        false => (first.new_range().start + 1, last.new_range().end - first.new_range().start),
    };
    let ((old, olds), (new, news)) = (range(true), range(false));
    let mut text = format!("@@ -{old},{olds} +{new},{news} @@\n");
    for change in group.iter().flat_map(|operation| operation.iter_changes(before, after)) {
        let (sign, line) = match change.tag() {
            ChangeTag::Delete => ('-', change.old_index().and_then(|index| codes[0].get(index))),
            ChangeTag::Insert => ('+', change.new_index().and_then(|index| codes[1].get(index))),
            ChangeTag::Equal => (' ', change.new_index().and_then(|index| codes[1].get(index))),
        };
        text += &format!("{sign}{}\n", line.map_or("", |line| &line.text));
    }
    text
}

fn code(inspection: &Inspection) -> Vec<&CodeLine> {
    inspection.sass.iter().filter(|line| !line.is_label).collect()
}

/// Operations without registers, which differ for no reason.
fn opcodes(inspection: &Inspection) -> Vec<String> {
    let opcode = |line: &&CodeLine| {
        let word = line.text.split_whitespace().find(|word| !word.starts_with('@'));
        word.unwrap_or_default().to_owned()
    };
    code(inspection).iter().map(opcode).collect()
}

fn numbers(this: &Inspection, other: &Inspection, names: [&str; 2]) -> String {
    let mut table = table(["", names[0], names[1]], 1);
    let mut row = |name: &str, of: &dyn Fn(&Inspection) -> Option<u32>| {
        let cell = |inspection| of(inspection).map_or_else(|| "?".to_owned(), |number| number.to_string());
        table.add_row([name.to_owned(), cell(this), cell(other)]);
    };
    row("registers", &|it| it.resources.map(|it| it.registers));
    row("bytes of stack", &|it| it.resources.map(|it| it.stack_bytes));
    row("bytes of spills", &|it| it.resources.map(|it| it.spill_store_bytes + it.spill_load_bytes));
    row("bytes of shared memory", &|it| it.resources.map(|it| it.shared_bytes));
    row("% of warps resident", &|it| it.occupancy.as_ref().map(|it| it.percent()));
    row("places that can panic", &|it| Some(it.panics.len() as u32));
    row("instructions", &|it| Some(count(it, |_| true)));
    row("… in loops", &|it| Some(count(it, |line| line.in_a_loop)));
    row("… for 64-bit floats", &|it| Some(it.counts.f64));
    row("… for 64-bit integers", &|it| Some(it.counts.i64));
    for (name, space) in [
        ("global accesses", MemorySpace::Global),
        ("shared accesses", MemorySpace::Shared),
        ("local accesses", MemorySpace::Local),
    ] {
        row(name, &|it| {
            Some(count(it, |line| line.access.as_ref().is_some_and(|access| access.space == space)))
        });
    }
    row("branches", &|it| {
        Some(count(it, |line| line.text.split_whitespace().any(|word| word.starts_with("BRA"))))
    });
    table.trim_fmt()
}

fn count(inspection: &Inspection, is: impl Fn(&CodeLine) -> bool) -> u32 {
    code(inspection).into_iter().filter(|line| is(line)).count() as u32
}

//! PTX goes in, the same comes out with `red` for every `atom` whose result nothing reads.
//!
//! LLVM 22 writes `atom` for each `atomicrmw`, and ptxas 13 mostly makes a reduction (`REDG`) of one whose result register is
//! unused, but not behind code that has atomics of its own, such as the record of a panic: there `ATOMG … RZ` was left, which waits
//! for a value that nobody wants. PTX defines `red` as `atom` without the result (PTX ISA, "Parallel Synchronization and
//! Communication Instructions: red"), with the same address spaces, scopes and types; it has no acquire order, no `exch` and no
//! `cas`.
//!
//! It works on the text because it covers inline assembly (operations of system scope, packed 16-bit numbers) and what clang made
//! of CUDA C as well. Relies on: LLVM numbers the virtual registers of each function anew, and names each once where it is set.

use std::{borrow::Cow, collections::HashMap};

/// The operations of `red`.
const OPERATIONS: [&str; 8] = ["add", "and", "or", "xor", "min", "max", "inc", "dec"];

/// Replaces them in a whole file.
pub(super) fn drop_unused_results(ptx: &str) -> String {
    let mut out = String::with_capacity(ptx.len());
    let mut rest = ptx;
    // Registers are local to a function: its body ends at a brace in the first column.
    while let Some(end) = rest.find("\n}\n") {
        let (function, after) = rest.split_at(end);
        of_function(function, &mut out);
        out.push_str("\n}\n");
        rest = &after["\n}\n".len()..];
    }
    out.push_str(rest);
    out
}

fn of_function(text: &str, out: &mut String) {
    let candidates: Vec<_> = text.lines().filter_map(Change::parse).collect();
    let mut uses: HashMap<&str, usize> = candidates.iter().map(|change| (change.result, 0)).collect();
    if !uses.is_empty() {
        for register in registers(text) {
            if let Some(count) = uses.get_mut(register) {
                *count += 1;
            }
        }
    }
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            out.push('\n');
        }
        let reduced = Change::parse(line)
            .filter(|change| uses.get(change.result) == Some(&1))
            .map_or(Cow::Borrowed(line), |change| Cow::Owned(change.reduction()));
        out.push_str(&reduced);
    }
}

/// Every `%name` in a text.
fn registers(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('%').map(|(start, _)| {
        let name = &text[start + 1..];
        let length = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len());
        &text[start..start + 1 + length]
    })
}

/// `atom.global.add.u32 %r1, [%rd1], 7;`
struct Change<'a> {
    indent: &'a str,
    /// `.global.add.u32`
    suffixes: &'a str,
    /// `%r1`
    result: &'a str,
    /// `[%rd1], 7;` and what stands behind it.
    operands: &'a str,
}

impl<'a> Change<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let instruction = line.trim_start();
        let (suffixes, operands) = instruction.strip_prefix("atom")?.split_once(char::is_whitespace)?;
        let (result, operands) = operands.trim_start().split_once(',')?;
        let is_plain =
            result.strip_prefix('%').is_some_and(|name| name.chars().all(|c| c.is_ascii_alphanumeric()));
        let mut parts = suffixes.split('.');
        // `red` has relaxed and release order; what is acquired is acquired by the value that is read.
        let is_ordered = suffixes.contains(".acq");
        let fits = is_plain && !is_ordered && parts.any(|part| OPERATIONS.contains(&part));
        fits.then(|| Self {
            indent: &line[..line.len() - instruction.len()],
            suffixes,
            result,
            operands: operands.trim_start(),
        })
    }

    fn reduction(&self) -> String {
        format!("{}red{} \t{}", self.indent, self.suffixes, self.operands)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(body: &str) -> String {
        format!(".visible .entry k(\n)\n{{\n\t.reg .b32 \t%r<9>;\n{body}\n}}\n\n")
    }

    fn reduced(body: &str, expected: &str) {
        assert_eq!(drop_unused_results(&function(body)), function(expected));
    }

    #[test]
    fn unused_results_are_dropped() {
        reduced("\tatom.global.add.u32 \t%r2, [%rd2], 1;", "\tred.global.add.u32 \t[%rd2], 1;");
        reduced("\tatom.shared.inc.u32 %r2, [%rd2+4], %r1;", "\tred.shared.inc.u32 \t[%rd2+4], %r1;");
        reduced(
            "atom.relaxed.sys.global.max.s64 %rd1, [%rd2], %rd3;",
            "red.relaxed.sys.global.max.s64 \t[%rd2], %rd3;",
        );
        reduced("\tatom.add.noftz.f16x2 \t%r2, [%rd2], %r1;", "\tred.add.noftz.f16x2 \t[%rd2], %r1;");
    }

    #[test]
    fn used_results_stay() {
        for body in [
            "\tatom.global.add.u32 \t%r2, [%rd2], 1;\n\tst.global.b32 \t[%rd1], %r2;",
            "\tadd.s32 \t%r3, %r2, 1;\n\tatom.global.add.u32 \t%r2, [%rd2], 1;",
            // Its own operand.
            "\tatom.global.add.u32 \t%r2, [%rd2], %r2;",
            "\tatom.global.exch.b32 \t%r2, [%rd2], 1;",
            "\tatom.global.cas.b32 \t%r2, [%rd2], 1, 2;",
            "\tatom.acquire.gpu.global.add.u32 \t%r2, [%rd2], 1;",
            "\tatom.acq_rel.gpu.global.add.u32 \t%r2, [%rd2], 1;",
        ] {
            reduced(body, body);
        }
    }

    /// `%r1` is not read where `%r12` is.
    #[test]
    fn registers_are_told_apart_by_their_whole_names() {
        reduced(
            "\tatom.global.add.u32 \t%r1, [%rd2], %r12;\n\tmov.b32 \t%r3, %r12;",
            "\tred.global.add.u32 \t[%rd2], %r12;\n\tmov.b32 \t%r3, %r12;",
        );
    }

    /// The registers of each function are its own.
    #[test]
    fn functions_are_looked_at_one_by_one() {
        let change = function("\tatom.global.add.u32 \t%r2, [%rd2], 1;");
        let other = function("\tmov.b32 \t%r2, 1;\n\tst.global.b32 \t[%rd1], %r2;");
        let both = drop_unused_results(&format!("{change}{other}"));
        assert_eq!(both, format!("{}{other}", function("\tred.global.add.u32 \t[%rd2], 1;")));
    }

    #[test]
    fn the_rest_of_the_text_stays_byte_for_byte() {
        for text in ["", "\n", ".version 8.8\n", "\n}\n", "a\n}\nb", "a\n}\n\n}\n"] {
            assert_eq!(drop_unused_results(text), text);
        }
    }
}

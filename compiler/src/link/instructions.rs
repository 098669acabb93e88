//! PTX as LLVM wrote it goes in, the same comes out with other instructions where ptxas makes something wrong or slow of LLVM's:
//!
//! - [`reductions`]: atomics whose result nothing reads
//! - [`votes`]: operations of some lanes of a warp whose result nothing reads, and `match.all`
//! - [`packed_sums`]: two sums of 16 bits at once
//! - [`narrow`]: minima, maxima, differences and negatives of 16 bits
//! - [`negatives`]: those of which minima and maxima are taken, and absolute values
//! - [`products`]: of two numbers of 32 bits that are widened first
//! - [`comparisons`]: of two numbers of 32 bits that are widened first
//! - [`reinterpretations`]: booleans that are converted, then taken for bits of another type
//!
//! It works on the text because nothing comes after it: it covers inline assembly, what clang made of CUDA C, and what LLVM only makes
//! while it chooses instructions. Relies on: LLVM writes an instruction per line, and numbers the virtual registers of each function anew. A
//! register may be set in several places, for different purposes.

mod comparisons;
mod narrow;
pub(super) mod negatives;
mod packed_sums;
mod products;
mod reductions;
mod reinterpretations;
mod small;
mod votes;

use std::collections::HashMap;

/// What to write for an instruction, if it is to be another one.
type Rule = fn(&Instruction<'_>, &Function<'_>) -> Option<String>;

/// The rules, by what the names of their instructions start with.
const RULES: [(&str, Rule); 18] = [
    ("atom.", reductions::without_result),
    ("vote.sync.", votes::rewritten),
    ("match.", votes::rewritten),
    ("redux.sync.", votes::rewritten),
    ("elect.sync", votes::rewritten),
    ("add.s16x2", packed_sums::one_by_one),
    ("add.u16x2", packed_sums::one_by_one),
    ("min.", narrow::in_32_bits),
    ("max.", narrow::in_32_bits),
    ("sub.s16", narrow::in_32_bits),
    ("neg.s16", narrow::in_32_bits),
    ("neg.s32", negatives::of_extremes),
    ("abs.s", negatives::absolute),
    ("mul.lo.s64", products::wide),
    ("mad.lo.s64", products::wide),
    ("setp.", comparisons::in_32_bits),
    ("cvt.", reinterpretations::in_conversion),
    ("st.", reinterpretations::in_store),
];

/// The registers that the rules declare for what they write, without numbers behind the names.
const OUR_REGISTERS: [&str; 17] = [
    "%a",
    "%b",
    "%c",
    "%d",
    "%alike",
    "%all",
    "%both",
    "%high",
    "%low",
    "%narrow",
    "%negative",
    "%none",
    "%other",
    "%pair",
    "%same",
    "%unread",
    "%wide",
];

fn is_ours(register: &str) -> bool {
    OUR_REGISTERS.contains(&register.trim_end_matches(|c: char| c.is_ascii_digit()))
}

/// Replaces them in a whole file.
pub(super) fn rewrite(ptx: &str) -> String {
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
    let lines: Vec<_> = text.split('\n').map(|line| (line, Instruction::of(line))).collect();
    let function = Function::of(text, lines.iter().filter_map(|(_, instruction)| instruction.as_ref()));
    for (index, (line, instruction)) in lines.iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        let rewritten = instruction.as_ref().and_then(|instruction| {
            Some(format!("{}{}", instruction.indent, instruction.rule?(instruction, &function)?))
        });
        out.push_str(rewritten.as_deref().unwrap_or(line));
    }
}

/// `atom.global.add.u32 %r1, [%rd1], 7;`
struct Instruction<'a> {
    indent: &'a str,
    /// `atom.global.add.u32`
    name: &'a str,
    /// `%r1`, `[%rd1]`, `7`
    operands: Vec<&'a str>,
    /// The rule that is for it.
    rule: Option<Rule>,
}

impl<'a> Instruction<'a> {
    /// The instruction of a line, if a rule is for it or asks about it.
    fn of(line: &'a str) -> Option<Self> {
        let text = line.trim_start();
        let (name, _) = text.split_once(char::is_whitespace)?;
        let rule = RULES.iter().find(|(start, _)| name.starts_with(start)).map(|(_, rule)| *rule);
        let is_asked_about = ["selp.", "mov.b", "and.b64", "ld."].iter().any(|start| name.starts_with(start));
        if rule.is_none() && !is_asked_about {
            return None;
        }
        let (_, behind) = text.split_once(';')?;
        // Several in a line: somebody's inline assembly.
        if !behind.trim().is_empty() && !behind.trim_start().starts_with("//") {
            return None;
        }
        let indent = &line[..line.len() - text.len()];
        let operands = operands(line);
        // Somebody's inline assembly may have registers of our names.
        let rule = rule.filter(|_| !registers(text).any(is_ours));
        Some(Self { indent, name, operands, rule })
    }

    /// The registers that it sets: `%r1`, or both of `%r1|%p1`.
    fn results(&self) -> impl Iterator<Item = &'a str> {
        self.operands[0].split('|').filter(|name| is_register(name))
    }
}

fn is_register(operand: &str) -> bool {
    operand
        .strip_prefix('%')
        .is_some_and(|name| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric()))
}

/// What the rules ask about the function around an instruction.
struct Function<'a> {
    /// The instructions that set a register, as far as [`Instruction::of`] knows them.
    set_by: HashMap<&'a str, Vec<&'a Instruction<'a>>>,
    /// For each of these registers, the first words of the lines that name it, once for each time.
    named_by: HashMap<&'a str, Vec<&'a str>>,
    /// For each of these registers, how many lines set it, or may.
    lines_that_set: HashMap<&'a str, usize>,
}

impl<'a> Function<'a> {
    fn of(text: &'a str, instructions: impl Iterator<Item = &'a Instruction<'a>>) -> Self {
        let mut set_by: HashMap<_, Vec<_>> = HashMap::new();
        let mut named_by: HashMap<_, Vec<_>> = HashMap::new();
        let mut lines_that_set = HashMap::new();
        for instruction in instructions {
            for result in instruction.results() {
                set_by.entry(result).or_default().push(instruction);
                named_by.insert(result, Vec::new());
                lines_that_set.insert(result, 0);
            }
        }
        for line in text.split('\n') {
            let name = line.split_whitespace().next().unwrap_or_default();
            for register in registers(line) {
                if let Some(names) = named_by.get_mut(register) {
                    names.push(name);
                }
            }
            for register in registers(may_set(line)) {
                if let Some(lines) = lines_that_set.get_mut(register) {
                    *lines += 1;
                }
            }
        }
        Self { set_by, named_by, lines_that_set }
    }

    /// The instruction that sets a register, if that is the only one.
    fn only_set_by(&self, register: &str) -> Option<&'a Instruction<'a>> {
        match self.set_by.get(register)?[..] {
            [instruction] if self.lines_that_set.get(register) == Some(&1) => Some(instruction),
            _ => None,
        }
    }

    /// Whether nothing reads what an instruction sets, which it says itself if it has `_` for a result.
    fn ignores(&self, instruction: &Instruction<'_>) -> bool {
        instruction.results().all(|result| self.named_by.get(result).is_some_and(|names| names.len() == 1))
    }
}

/// The part of a line that names all registers which it may set: the first operand, or the whole line if that is not one instruction.
fn may_set(line: &str) -> &str {
    let text = line.trim();
    let is_one =
        text.strip_suffix(';').is_some_and(|text| !text.contains(';')) && !text.starts_with(['@', '{']);
    if !is_one {
        return text;
    }
    let operands = text.split_once(char::is_whitespace).map_or("", |(_, operands)| operands.trim_start());
    let end = operands.find(if operands.starts_with('{') { '}' } else { ',' });
    end.map_or(operands, |end| &operands[..end])
}

/// The operands of the instruction in a line.
fn operands(line: &str) -> Vec<&str> {
    let text = line.trim_start().split_once(char::is_whitespace).map_or("", |(_, operands)| operands);
    let text = text.split_once(';').map_or(text, |(operands, _)| operands);
    text.split(',').map(str::trim).collect()
}

/// Every `%name` in a text.
fn registers(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('%').map(|(start, _)| {
        let name = &text[start + 1..];
        let length = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len());
        &text[start..start + 1 + length]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(body: &str) -> String {
        format!(".visible .entry k(\n)\n{{\n\t.reg .b32 \t%r<9>;\n{body}\n}}\n\n")
    }

    /// That a function with a body becomes one with the other.
    pub(super) fn becomes(body: &str, expected: &str) {
        assert_eq!(rewrite(&function(body)), function(expected));
    }

    /// That bodies stay as they are.
    pub(super) fn stay(bodies: &[&str]) {
        bodies.iter().for_each(|body| becomes(body, body));
    }

    /// `%r1` is not read where `%r12` is.
    #[test]
    fn registers_are_told_apart_by_their_whole_names() {
        becomes(
            "\tatom.global.add.u32 \t%r1, [%rd2], %r12;\n\tmov.b32 \t%r3, %r12;",
            "\tred.global.add.u32 \t[%rd2], %r12;\n\tmov.b32 \t%r3, %r12;",
        );
    }

    /// What a rule writes would mean another register.
    #[test]
    fn registers_of_inline_assembly_may_have_our_names() {
        stay(&[
            "\tmin.u16 \t%narrow, %rs4, 255;",
            "\tmax.s16 \t%rs3, %a, %rs2;",
            "\tatom.global.add.u32 \t%r2, [%pair], 1;",
            "\tcvt.rn.f64.u32 \t%rd2, %same0;",
        ]);
        assert!(OUR_REGISTERS.iter().all(|register| is_register(register)));
    }

    /// Each register that a rule declares is in the list.
    #[test]
    fn the_list_of_our_registers_is_whole() {
        let sources = [
            include_str!("instructions/comparisons.rs"),
            include_str!("instructions/narrow.rs"),
            include_str!("instructions/negatives.rs"),
            include_str!("instructions/packed_sums.rs"),
            include_str!("instructions/products.rs"),
            include_str!("instructions/reductions.rs"),
            include_str!("instructions/reinterpretations.rs"),
            include_str!("instructions/votes.rs"),
        ];
        for source in sources {
            for declaration in source.split("{ .reg .").skip(1) {
                let declared = declaration.split(';').next().unwrap_or_default();
                for register in registers(declared) {
                    assert!(is_ours(register) || register == "%x", "{register}");
                }
            }
        }
    }

    /// The registers of each function are its own.
    #[test]
    fn functions_are_looked_at_one_by_one() {
        let change = function("\tatom.global.add.u32 \t%r2, [%rd2], 1;");
        let other = function("\tmov.b32 \t%r2, 1;\n\tst.global.b32 \t[%rd1], %r2;");
        let both = rewrite(&format!("{change}{other}"));
        assert_eq!(both, format!("{}{other}", function("\tred.global.add.u32 \t[%rd2], 1;")));
    }

    #[test]
    fn the_rest_of_the_text_stays_byte_for_byte() {
        for text in ["", "\n", ".version 8.8\n", "\n}\n", "a\n}\nb", "a\n}\n\n}\n"] {
            assert_eq!(rewrite(text), text);
        }
        stay(&[
            "\tatom.global.add.u32 \t%r2, [%rd2], 1; exit;",
            "atom.",
            "\tatom.global.add.u32",
            "\tmatch.any",
        ]);
    }
}

//! Booleans that are converted and then taken for bits of another type: ptxas must not see both.
//!
//! Where a boolean (`selp.b32 %r1, 1, 0, %p1`) goes through several conversions, ptxas 13 leaves out all but the last: the numbers
//! 0 and 1 are the same in every type. It does not see where a conversion reads the bits of a float as an integer, or the other way
//! around. `u64::from((b as u32 as f32).to_bits())`, which is
//!
//! ```text
//! selp.b32 %r1, 1, 0, %p1;    cvt.rn.f32.u32 %r2, %r1;    cvt.u64.u32 %rd1, %r2;
//! ```
//!
//! becomes 1 (`SEL R6, RZ, 0x1, P0`), and so does `f64::from(f32::from_bits(b as u32))`. A store of fewer bits than the register has
//! counts as a conversion. (sm_75 to sm_120, from a certain number of loops in the module on; random program 40157.)
//!
//! A permutation of bytes that leaves each where it is hides from the second conversion what the first one was.

use std::collections::HashSet;

use super::{Function, Instruction};

/// A conversion that reads bits of another kind than they were made as.
pub(super) fn in_conversion(conversion: &Instruction<'_>, function: &Function<'_>) -> Option<String> {
    let [result, source] = conversion.operands[..] else { return None };
    let (_, from) = types(conversion)?;
    let bits = match from.kind {
        Kind::Integer => function.float_in(source)?,
        Kind::Float if function.is_boolean(source) => from.bits,
        Kind::Float => return None,
    };
    let (hidden, same) = hide(source, bits, 0)?;
    Some(format!("{{ {hidden} {} {result}, {same}; }}", conversion.name))
}

/// A store of the lower bits of a float.
pub(super) fn in_store(store: &Instruction<'_>, function: &Function<'_>) -> Option<String> {
    let (address, values) = store.operands.split_first()?;
    let stored = Type::of(store.name.rsplit('.').next()?)?.bits;
    let mut hidden = String::new();
    let mut operands = vec![(*address).to_owned()];
    for (index, value) in values.iter().enumerate() {
        let register = value.trim_matches(['{', '}', ' ']);
        let hide = function
            .float_in(register)
            .filter(|bits| *bits > stored)
            .and_then(|bits| hide(register, bits, index));
        operands.push(match hide {
            Some((instructions, same)) => {
                hidden += &instructions;
                hidden.push(' ');
                value.replace(register, &same)
            }
            None => (*value).to_owned(),
        });
    }
    (!hidden.is_empty()).then(|| format!("{{ {hidden}{} {}; }}", store.name, operands.join(", ")))
}

/// Instructions that copy a register to another one of as many bits, and the name of that one.
fn hide(register: &str, bits: u32, index: usize) -> Option<(String, String)> {
    let same = format!("%same{index}");
    let instructions = match bits {
        16 => format!(
            "{{ .reg .b32 %both; .reg .b16 %none; mov.b32 %both, {{{register}, {register}}}; \
             prmt.b32 %both, %both, 0, 0x3210; mov.b32 {{{same}, %none}}, %both; }}"
        ),
        32 => format!("prmt.b32 {same}, {register}, 0, 0x3210;"),
        64 => format!(
            "{{ .reg .b32 %low, %high; mov.b64 {{%low, %high}}, {register}; prmt.b32 %low, %low, 0, 0x3210; \
             prmt.b32 %high, %high, 0, 0x3210; mov.b64 {same}, {{%low, %high}}; }}"
        ),
        _ => return None,
    };
    Some((format!(".reg .b{bits} {same}; {instructions}"), same))
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Integer,
    Float,
}

#[derive(Clone, Copy)]
struct Type {
    kind: Kind,
    bits: u32,
}

impl Type {
    /// Of `u32`, `b8`, `bf16`. There are others, such as `f16x2`, which no boolean is converted to.
    fn of(name: &str) -> Option<Self> {
        let start = name.find(|c: char| c.is_ascii_digit())?;
        let (kind, bits) = name.split_at(start);
        let kind = match kind {
            "s" | "u" | "b" => Kind::Integer,
            "f" | "bf" => Kind::Float,
            _ => return None,
        };
        Some(Self { kind, bits: bits.parse().ok()? })
    }
}

/// What a conversion makes, and of what: `cvt.rn.f32.u32`.
fn types(instruction: &Instruction<'_>) -> Option<(Type, Type)> {
    let mut parts = instruction.name.strip_prefix("cvt.")?.rsplit('.');
    let from = Type::of(parts.next()?)?;
    Some((Type::of(parts.next()?)?, from))
}

impl Function<'_> {
    /// How many bits the float has that a register may hold because a conversion made it.
    fn float_in(&self, register: &str) -> Option<u32> {
        let made = self.made_by(register, |_| false);
        let floats = made
            .iter()
            .filter_map(|instruction| Some(types(instruction)?.0))
            .filter(|to| to.kind == Kind::Float);
        floats.map(|float| float.bits).max()
    }

    /// Whether a register may hold 0 or 1 for a predicate.
    fn is_boolean(&self, register: &str) -> bool {
        let made = self.made_by(register, |instruction| {
            types(instruction).is_some_and(|(to, _)| to.kind == Kind::Integer)
        });
        made.iter().any(|choice| {
            let [_, yes, no, _] = choice.operands[..] else { return false };
            choice.name.starts_with("selp.")
                && matches!((bits(yes), bits(no)), (Some(1), Some(0)) | (Some(0), Some(1)))
        })
    }

    /// The instructions that made what is in a register, not counting copies and what is looked through.
    fn made_by(
        &self,
        register: &str,
        look_through: impl Fn(&Instruction<'_>) -> bool,
    ) -> Vec<&Instruction<'_>> {
        let mut seen = HashSet::from([register]);
        let mut left = vec![register];
        let mut made = Vec::new();
        while let Some(register) = left.pop() {
            for instruction in self.set_by.get(register).into_iter().flatten() {
                match instruction.operands[..] {
                    [_, source] if instruction.name.starts_with("mov.") || look_through(instruction) => {
                        if seen.insert(source) {
                            left.push(source);
                        }
                    }
                    _ => made.push(*instruction),
                }
            }
        }
        made
    }
}

/// `1`, `0x00000001`, `0f00000001`
fn bits(constant: &str) -> Option<u64> {
    match constant.get(..2) {
        Some("0x" | "0f" | "0d") => u64::from_str_radix(&constant[2..], 16).ok(),
        _ => constant.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use crate::link::instructions::tests::{becomes, stay};

    const BOOLEAN: &str = "\tselp.b32 \t%r1, 1, 0, %p1;\n";
    const HIDDEN: &str = "\t{ .reg .b32 %same0; prmt.b32 %same0, %r2, 0, 0x3210;";

    #[test]
    fn floats_are_hidden_from_conversions_of_integers() {
        for (made, read) in [
            ("cvt.rn.f32.u32 \t%r2, %r1;", "cvt.u64.u32 %rd1"),
            ("cvt.rn.f32.s32 \t%r2, %r1;", "cvt.s64.s32 %rd1"),
            ("cvt.rn.f32.u16 \t%r2, %rs1;", "cvt.u16.u32 %rs2"),
            ("cvt.rn.f32.u32 \t%r2, %r1;", "cvt.rn.f32.u32 %r3"),
            ("cvt.f32.f16 \t%r2, %rs1;", "cvt.u64.u32 %rd1"),
            ("cvt.rn.f32.u32 \t%r9, %r1;\n\tmov.b32 \t%r2, %r9;", "cvt.u64.u32 %rd1"),
        ] {
            let (name, result) = read.split_once(' ').unwrap();
            becomes(
                &format!("{BOOLEAN}\t{made}\n\t{name} \t{result}, %r2;"),
                &format!("{BOOLEAN}\t{made}\n{HIDDEN} {name} {result}, %same0; }}"),
            );
        }
        becomes(
            "\tcvt.rn.f16.u16 \t%rs2, %rs1;\n\tcvt.u64.u16 \t%rd1, %rs2;",
            "\tcvt.rn.f16.u16 \t%rs2, %rs1;\n\t{ .reg .b16 %same0; { .reg .b32 %both; .reg .b16 %none; \
             mov.b32 %both, {%rs2, %rs2}; prmt.b32 %both, %both, 0, 0x3210; mov.b32 {%same0, %none}, %both; } \
             cvt.u64.u16 %rd1, %same0; }",
        );
        becomes(
            "\tcvt.rn.f64.u32 \t%rd2, %r1;\n\tcvt.u32.u64 \t%r3, %rd2;",
            "\tcvt.rn.f64.u32 \t%rd2, %r1;\n\t{ .reg .b64 %same0; { .reg .b32 %low, %high; mov.b64 {%low, %high}, %rd2; \
             prmt.b32 %low, %low, 0, 0x3210; prmt.b32 %high, %high, 0, 0x3210; mov.b64 %same0, {%low, %high}; } \
             cvt.u32.u64 %r3, %same0; }",
        );
    }

    #[test]
    fn booleans_are_hidden_from_conversions_of_floats() {
        for choice in ["1, 0", "0, 1", "0x00000001, 0x00000000", "0f00000001, 0f00000000"] {
            let choice = format!("\tselp.b32 \t%r2, {choice}, %p1;\n");
            becomes(
                &format!("{choice}\tcvt.f64.f32 \t%rd1, %r2;"),
                &format!("{choice}{HIDDEN} cvt.f64.f32 %rd1, %same0; }}"),
            );
        }
        let converted = "\tselp.b16 \t%rs1, 1, 0, %p1;\n\tcvt.u32.u16 \t%r2, %rs1;\n";
        becomes(
            &format!("{converted}\tcvt.rzi.u32.f32 \t%r3, %r2;"),
            &format!("{converted}{HIDDEN} cvt.rzi.u32.f32 %r3, %same0; }}"),
        );
    }

    #[test]
    fn floats_are_hidden_from_stores_of_fewer_bits() {
        let float = format!("{BOOLEAN}\tcvt.rn.f32.u32 \t%r2, %r1;\n");
        becomes(
            &format!("{float}\tst.global.b8 \t[%rd1+4], %r2;"),
            &format!("{float}{HIDDEN} st.global.b8 [%rd1+4], %same0; }}"),
        );
        becomes(
            &format!("{float}\tst.v2.b16 \t[%rd1], {{%r2, %r2}};"),
            &format!(
                "{float}{HIDDEN} .reg .b32 %same1; prmt.b32 %same1, %r2, 0, 0x3210; \
                 st.v2.b16 [%rd1], {{%same0, %same1}}; }}"
            ),
        );
        stay(&[
            &format!("{float}\tst.global.b32 \t[%rd1], %r2;"),
            &format!("{float}\tst.global.b8 \t[%rd1], %r1;"),
        ]);
    }

    /// Random program 59743: a number was taken for a boolean because its register held one elsewhere.
    #[test]
    fn registers_that_are_set_twice_keep_both_values() {
        stay(&[&format!(
            "\tcvt.u32.u64 \t%r1, %rd4;\n\tcvt.rn.f32.u32 \t%r2, %r1;\n{BOOLEAN}\tst.b32 \t[%rd1], %r1;"
        )]);
    }

    #[test]
    fn numbers_that_are_converted_as_what_they_are_stay() {
        stay(&[
            &format!(
                "{BOOLEAN}\tcvt.u64.u32 \t%rd1, %r1;\n\tcvt.rn.f64.u64 \t%rd2, %rd1;\n\tcvt.rn.f32.f64 \t%r2, %rd2;"
            ),
            "\tld.b32 \t%r1, [%rd1];\n\tcvt.f64.f32 \t%rd2, %r1;\n\tcvt.u16.u32 \t%rs1, %r1;",
            "\tselp.b32 \t%r1, 3, 0, %p1;\n\tcvt.f64.f32 \t%rd1, %r1;",
            "\tmov.b32 \t%r1, %r2;\n\tmov.b32 \t%r2, %r1;\n\tcvt.f64.f32 \t%rd1, %r1;",
            "\tcvt.rn.f16x2.f32 \t%r1, %r2, %r3;\n\tcvt.u64.u32 \t%rd1, %r1;",
            "\tcvta.global.u64 \t%rd1, %rd2;\n\tcvt.u32.u64 \t%r1, %rd1;",
        ]);
    }
}

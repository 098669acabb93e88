//! Numbers of 64 bits that are less than 2³².
//!
//! It relies on what the names say: a register that nothing else sets holds less behind `cvt.u64.u32`, behind a load of 32 bits without a sign, and
//! behind `and.b64` with a number that is less.

use super::{Function, Instruction};

/// The second and the third operand of an instruction, in 32 bits.
pub(super) struct Narrowed<'a> {
    /// What narrows them, to registers `%a` and `%b`. It takes no instruction of a GPU.
    pub(super) before: String,
    pub(super) a: &'a str,
    pub(super) b: &'a str,
}

impl<'a> Narrowed<'a> {
    /// None if one of them may be larger.
    pub(super) fn of(instruction: &Instruction<'a>, function: &Function<'_>) -> Option<Self> {
        let (first, second) = (instruction.operands.get(1)?, instruction.operands.get(2)?);
        if !function.is_small(first) || !function.is_small(second) {
            return None;
        }
        let mut before = String::new();
        let mut narrow = |operand: &'a str, to: &'static str| {
            if !operand.starts_with('%') {
                return operand;
            }
            before += &format!("cvt.u32.u64 {to}, {operand}; ");
            to
        };
        let (a, b) = (narrow(first, "%a"), narrow(second, "%b"));
        Some(Self { before, a, b })
    }
}

impl Function<'_> {
    /// Whether an operand of 64 bits is less than 2³².
    fn is_small(&self, operand: &str) -> bool {
        let is_number = |operand: &str| operand.parse::<u32>().is_ok();
        match operand.strip_prefix('%') {
            None => is_number(operand),
            Some(_) => self.only_set_by(operand).is_some_and(|set| match set.name {
                "cvt.u64.u32" => true,
                load if load.starts_with("ld.") => load.ends_with(".b32") || load.ends_with(".u32"),
                "and.b64" => set.operands[1..].iter().any(|operand| is_number(operand)),
                _ => false,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::link::instructions::tests::{becomes, stay};

    const WIDENED: &str = "\tcvt.u64.u32 \t%rd1, %r1;\n\tcvt.u64.u32 \t%rd2, %r2;\n";

    /// In one of several places, by whatever instruction.
    #[test]
    fn registers_that_something_else_sets_are_of_64_bits() {
        for other in [
            "add.s64 \t%rd1, %rd5, 1;",
            "ld.global.v2.b64 \t{%rd6, %rd1}, [%rd5];",
            "mov.b64 \t%rd1, %rd5;",
            "{ .reg .b32 %x; mov.b64 %rd1, %rd5; }",
            "mov.b64 %rd5, 1; mov.b64 %rd1, %rd5;",
            "setp.eq.b32 \t%p1, %r1, 0; @%p1 mov.b64 %rd1, %rd5;",
            "@%p1 mov.b64 \t%rd1, %rd5;",
        ] {
            stay(&[&format!("{WIDENED}\t{other}\n\tmul.lo.s64 \t%rd3, %rd1, %rd2;")]);
        }
    }

    #[test]
    fn what_has_no_high_bits_is_narrowed_too() {
        let load = |kind: &str| format!("\tld.param.{kind} \t%rd1, [k_param_0+8];\n");
        let square = "\tmul.lo.s64 \t%rd3, %rd1, 12;";
        let wide = "\t{ .reg .b32 %a, %b; cvt.u32.u64 %a, %rd1; mul.wide.u32 %rd3, %a, 12; }";
        becomes(&format!("{}{square}", load("b32")), &format!("{}{wide}", load("b32")));
        stay(&[&format!("{}{square}", load("b64")), &format!("{}{square}", load("s32"))]);
        let low = "\tand.b64 \t%rd1, %rd2, 4294967168;\n";
        let high = "\tand.b64 \t%rd1, %rd2, 4294967296;\n";
        becomes(&format!("{low}{square}"), &format!("{low}{wide}"));
        stay(&[&format!("{high}{square}"), &format!("\tand.b64 \t%rd1, %rd2, -8;\n{square}")]);
    }
}

//! After the optimiser: negations of 16 bits and absolute values become PTX that ptxas gets right.
//!
//! Most of it could wait for [`instructions`](super::instructions), which say what ptxas makes of the plain ones: LLVM forms some of them
//! while it chooses instructions. But kernels that become LTO-IR are never PTX here.

use crate::llvm::{Module, Opcode, Value};

use super::instructions::negatives::absolute_value;

/// LLVM would make the short negation of what computes the same in its own terms.
const NEGATE: &str =
    "{ .reg .b32 %wide; cvt.u32.u16 %wide, $1; neg.s32 %wide, %wide; cvt.u16.u32 $0, %wide; }";

/// Both numbers of a pair in one register.
const NEGATE_PAIR: &str = "{ .reg .b16 %low, %high; .reg .b32 %a, %b; mov.b32 {%low, %high}, $1; \
                           cvt.u32.u16 %a, %low; neg.s32 %a, %a; cvt.u16.u32 %low, %a; \
                           cvt.u32.u16 %b, %high; neg.s32 %b, %b; cvt.u16.u32 %high, %b; mov.b32 $0, {%low, %high}; }";
const ABSOLUTE_PAIR: &str = "{ .reg .b16 %low, %high; .reg .b32 %wide, %negative; mov.b32 {%low, %high}, $1; \
                             cvt.s32.s16 %wide, %low; not.b32 %negative, %wide; add.s32 %negative, %negative, 1; \
                             max.s32 %wide, %wide, %negative; cvt.u16.u32 %low, %wide; \
                             cvt.s32.s16 %wide, %high; not.b32 %negative, %wide; add.s32 %negative, %negative, 1; \
                             max.s32 %wide, %wide, %negative; cvt.u16.u32 %high, %wide; mov.b32 $0, {%low, %high}; }";

/// Replaces them everywhere in the module.
pub(super) fn write_out(module: &Module<'_>) {
    for function in module.functions() {
        for instruction in function.instructions() {
            if let Some((negation, operand)) = negation(instruction)
                && let Some((text, constraints)) = in_ptx(negation, &instruction.type_name())
            {
                module.replace_by_ptx(instruction, &text, constraints, &[operand]);
            }
        }
    }
}

#[derive(Clone, Copy)]
enum Negation {
    Negative,
    Absolute,
}

/// What to write for a type, and the constraints of its registers; nothing where ptxas gets the plain instruction right.
fn in_ptx(negation: Negation, type_name: &str) -> Option<(String, &'static str)> {
    let absolute = |bits, constraints| Some((absolute_value(bits, "$0", "$1")?, constraints));
    match (negation, type_name) {
        (Negation::Negative, "i16") => Some((NEGATE.to_owned(), "=h,h")),
        (Negation::Negative, "<2 x i16>") => Some((NEGATE_PAIR.to_owned(), "=r,r")),
        (Negation::Absolute, "<2 x i16>") => Some((ABSOLUTE_PAIR.to_owned(), "=r,r")),
        (Negation::Absolute, "i16") => absolute(16, "=h,h"),
        (Negation::Absolute, "i32") => absolute(32, "=r,r"),
        (Negation::Absolute, "i64") => absolute(64, "=l,l"),
        _ => None,
    }
}

/// What an instruction negates.
fn negation(instruction: Value<'_>) -> Option<(Negation, Value<'_>)> {
    let operand = |index| instruction.operands().nth(index);
    match instruction.opcode() {
        Opcode::SUBTRACT if operand(0)?.is_zero() => Some((Negation::Negative, operand(1)?)),
        Opcode::CALL if instruction.called()?.name().starts_with("llvm.abs.") => {
            Some((Negation::Absolute, operand(0)?))
        }
        _ => None,
    }
}

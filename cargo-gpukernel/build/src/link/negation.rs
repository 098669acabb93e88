//! After the optimiser: negations of 16 bits are computed in 32, and absolute values of 32 and 64 bits as the larger of a number and its
//! negative. Both work around ptxas, which forgets that the smallest number is its own negative.
//!
//! ptxas takes the negative of a 16-bit number for one that needs no sign extension. That of -32768 is itself, and came out as 32768
//! when it was converted to 64 bits (ptxas 13 for sm_90, as `neg.s16` and as `sub.s16` from 0; found by comparing random programs with
//! the CPU). From the number without its sign, the lower half of the result is the same, and ptxas gets it right. It is given as PTX,
//! because LLVM would make the short negation of it.
//!
//! ptxas takes the result of `abs.s32` and `abs.s64` for one that is not negative: `x.wrapping_abs() < 0` was always false, and
//! `x.saturating_add(x.unsigned_abs() as i64)` wrong for the smallest `x` (ptxas 13 for sm_90; random program 2008). PTX does not say
//! what `abs` is there (PTX ISA, "Integer Arithmetic Instructions: abs"), LLVM emits it for `llvm.abs` all the same. Of `max`
//! ptxas believes nothing. The negative in it is `!x + 1`, because of what ptxas forgets of others
//! ([`extremes`](super::instructions)).

use crate::llvm::{Module, Opcode, Value};

const NEGATE: &str =
    "{ .reg .b32 %wide; cvt.u32.u16 %wide, $1; neg.s32 %wide, %wide; cvt.u16.u32 $0, %wide; }";
const ABSOLUTE: &str = "{ .reg .b32 %wide, %negative; cvt.s32.s16 %wide, $1; not.b32 %negative, %wide; \
                        add.s32 %negative, %negative, 1; max.s32 %wide, %wide, %negative; cvt.u16.u32 $0, %wide; }";

const ABSOLUTE_32: &str = "{ .reg .b32 %negative; not.b32 %negative, $1; add.s32 %negative, %negative, 1; max.s32 $0, $1, %negative; }";
const ABSOLUTE_64: &str = "{ .reg .b64 %negative; neg.s64 %negative, $1; max.s64 $0, $1, %negative; }";

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
                module.replace_by_ptx(instruction, text, constraints, &[operand]);
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
fn in_ptx(negation: Negation, type_name: &str) -> Option<(&'static str, &'static str)> {
    match (negation, type_name) {
        (Negation::Negative, "i16") => Some((NEGATE, "=h,h")),
        (Negation::Absolute, "i16") => Some((ABSOLUTE, "=h,h")),
        (Negation::Negative, "<2 x i16>") => Some((NEGATE_PAIR, "=r,r")),
        (Negation::Absolute, "<2 x i16>") => Some((ABSOLUTE_PAIR, "=r,r")),
        (Negation::Absolute, "i32") => Some((ABSOLUTE_32, "=r,r")),
        (Negation::Absolute, "i64") => Some((ABSOLUTE_64, "=l,l")),
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

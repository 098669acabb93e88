//! After the optimiser: negations of 16 bits are computed in 32.
//!
//! ptxas takes the negative of a 16-bit number for one that needs no sign extension. That of -32768 is itself, and came out as 32768
//! when it was converted to 64 bits (ptxas 13 for sm_90, as `neg.s16` and as `sub.s16` from 0; found by comparing random programs with
//! the CPU). From the number without its sign, the lower half of the result is the same, and ptxas gets it right. It is given as PTX,
//! because LLVM would make the short negation of it.

use crate::llvm::{Module, Opcode, Value};

const NEGATE: &str =
    "{ .reg .b32 %wide; cvt.u32.u16 %wide, $1; neg.s32 %wide, %wide; cvt.u16.u32 $0, %wide; }";
const ABSOLUTE: &str = "{ .reg .b32 %wide; .reg .b16 %negative; cvt.u32.u16 %wide, $1; neg.s32 %wide, %wide; \
                        cvt.u16.u32 %negative, %wide; max.s16 $0, $1, %negative; }";

/// Both numbers of a pair in one register.
const NEGATE_PAIR: &str = "{ .reg .b16 %low, %high; .reg .b32 %a, %b; mov.b32 {%low, %high}, $1; \
                           cvt.u32.u16 %a, %low; neg.s32 %a, %a; cvt.u16.u32 %low, %a; \
                           cvt.u32.u16 %b, %high; neg.s32 %b, %b; cvt.u16.u32 %high, %b; mov.b32 $0, {%low, %high}; }";
const ABSOLUTE_PAIR: &str = "{ .reg .b16 %low, %high, %negative; .reg .b32 %wide; mov.b32 {%low, %high}, $1; \
                             cvt.u32.u16 %wide, %low; neg.s32 %wide, %wide; cvt.u16.u32 %negative, %wide; max.s16 %low, %low, %negative; \
                             cvt.u32.u16 %wide, %high; neg.s32 %wide, %wide; cvt.u16.u32 %negative, %wide; max.s16 %high, %high, %negative; \
                             mov.b32 $0, {%low, %high}; }";

/// Replaces them everywhere in the module.
pub(super) fn write_out(module: &Module<'_>) {
    for function in module.functions() {
        for instruction in function.instructions() {
            let is_pair = instruction.type_name() == "<2 x i16>";
            if !is_pair && instruction.type_name() != "i16" {
                continue;
            }
            if let Some((negation, operand)) = short_negation(instruction) {
                let (text, constraints) = match (negation, is_pair) {
                    (Negation::Negative, false) => (NEGATE, "=h,h"),
                    (Negation::Absolute, false) => (ABSOLUTE, "=h,h"),
                    (Negation::Negative, true) => (NEGATE_PAIR, "=r,r"),
                    (Negation::Absolute, true) => (ABSOLUTE_PAIR, "=r,r"),
                };
                module.replace_by_ptx(instruction, text, constraints, &[operand]);
            }
        }
    }
}

enum Negation {
    Negative,
    Absolute,
}

/// What an instruction on short numbers negates.
fn short_negation(instruction: Value<'_>) -> Option<(Negation, Value<'_>)> {
    let operand = |index| instruction.operands().nth(index);
    match instruction.opcode()? {
        Opcode::Subtract if operand(0)?.is_zero() => Some((Negation::Negative, operand(1)?)),
        Opcode::Call if instruction.called()?.name().starts_with("llvm.abs.") => {
            Some((Negation::Absolute, operand(0)?))
        }
        _ => None,
    }
}

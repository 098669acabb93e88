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

/// Replaces them everywhere in the module.
pub(super) fn write_out(module: &Module<'_>) {
    for function in module.functions() {
        for instruction in function.instructions() {
            if let Some((text, operand)) = short_negation(instruction) {
                module.replace_by_ptx(instruction, text, "=h,h", &[operand]);
            }
        }
    }
}

fn short_negation(instruction: Value<'_>) -> Option<(&'static str, Value<'_>)> {
    let operand = |index| instruction.operands().nth(index);
    if instruction.type_name() != "i16" {
        return None;
    }
    match instruction.opcode()? {
        Opcode::Subtract if operand(0)?.constant_number() == Some(0) => Some((NEGATE, operand(1)?)),
        Opcode::Call if instruction.called()?.name() == "llvm.abs.i16" => Some((ABSOLUTE, operand(0)?)),
        _ => None,
    }
}

//! After the optimiser: negations of 16 bits become subtractions that ptxas gets right.
//!
//! ptxas takes `neg.s16` for a number that needs no sign extension afterwards. The negative of -32768 is itself, and came out as
//! 32768 when it was converted to 64 bits (ptxas 13.0 and 13.3 for sm_90; found by comparing random programs with the CPU). nvcc never
//! emits it, because C computes with `int`. A subtraction from 0 is right, but LLVM would make a negation of it, so it is given as PTX.

use crate::llvm::{Module, Opcode, Value};

const NEGATE: &str = "sub.s16 $0, 0, $1;";
const ABSOLUTE: &str = "{ .reg .b16 %negative; sub.s16 %negative, 0, $1; max.s16 $0, $1, %negative; }";

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

//! Before the optimiser: loops that choose elements of a small array are to be unrolled.
//!
//! Registers have no addresses: an array of a thread is in registers if all of its indices are constants, and else in local memory, which is
//! as far away as global memory. A loop with a constant number of rounds has constant indices once it is unrolled, and a table of
//! constants becomes operands of instructions. LLVM's limit is one for CPUs, where an array is in the cache: it left the 64
//! rounds of SHA-256 with 544 bytes of local memory, three times as slow as nvcc's code, which unrolls them.
//!
//! It relies on nothing about the program: unrolling changes no result. Loops with barriers and operations of warps are left alone, because
//! which of those may be unrolled is not known yet ([`rolled_loops`](super::rolled_loops)).

use std::collections::HashSet;

use super::{natural_loops::NaturalLoop, operations::Operations};
use crate::llvm::{Block, Module};

/// The largest array, in bytes: half of the registers that a thread can have.
const MOST_BYTES: usize = 512;
/// How many instructions the rounds of a loop may have together. The rounds of SHA-256 have 2000.
const MOST_INSTRUCTIONS: u64 = 4096;

/// Asks to unroll the loops that choose elements of small arrays.
pub(super) fn unroll_loops(module: &Module<'_>, is_kernel: impl Fn(&str) -> bool) {
    let operations = Operations::of(module, &is_kernel);
    for function in module.functions() {
        for whole in NaturalLoop::all_of(function) {
            if is_short(&whole)
                && chooses_elements(module, &whole)
                && !whole.instructions().any(|call| operations.include(call))
            {
                Block::ask_to_unroll_fully(&whole.last);
            }
        }
    }
}

fn is_short(whole: &NaturalLoop<'_>) -> bool {
    let size = whole.instructions().filter(|instruction| instruction.takes_an_instruction()).count();
    whole.constant_rounds().is_some_and(|rounds| rounds.saturating_mul(size as u64) <= MOST_INSTRUCTIONS)
}

/// Whether a variable of the loop decides on the element of a small array.
fn chooses_elements(module: &Module<'_>, whole: &NaturalLoop<'_>) -> bool {
    let variables = whole.first().instructions().into_iter().filter(|value| value.incoming().is_some());
    let mut varying: HashSet<_> = variables.collect();
    for instruction in whole.instructions() {
        if instruction.only_computes() && instruction.operands().any(|operand| varying.contains(&operand)) {
            if module.bytes_around(instruction).is_some_and(|bytes| bytes <= MOST_BYTES) {
                return true;
            }
            varying.insert(instruction);
        }
    }
    false
}

//! After address spaces were inferred: what is atomic on a thread's own variable need not be.
//!
//! PTX has atomic operations on global and shared memory alone. Of loads, stores and changes LLVM 22 makes plain ones where it sees a
//! local variable, but not of compare-and-exchange, which ptxas refuses ("State space incorrect for instruction 'atom'"). A mutex of a
//! library for the CPU is such a variable.

use crate::llvm::{Module, Opcode};

/// An address that is known to be one of local memory.
const LOCAL: &str = "ptr addrspace(5)";

/// Does so everywhere in the module.
pub(super) fn make_plain(module: &Module<'_>) {
    for function in module.functions() {
        for instruction in function.instructions() {
            if instruction.opcode() == Opcode::COMPARE_EXCHANGE
                && instruction.operands().next().is_some_and(|address| address.type_name() == LOCAL)
            {
                module.replace_by_plain_exchange(instruction);
            }
        }
    }
}

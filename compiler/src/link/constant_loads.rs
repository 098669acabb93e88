//! After the optimiser: loads of memory that nobody writes during a launch are marked.
//!
//! They become `ld.global.nc` (`__ldg`), which ptxas may move over stores and batch. LLVM finds them itself where the address is at most six steps from the parameter:
//! of 34 unrolled rounds that go down the rows of a matrix, 25 were plain loads. And it knows nothing of memory inside of an array or struct of parameters.
//!
//! It relies on what rustc and gpu-std say: a parameter of an entry that is `noalias readonly` is memory that no thread writes during the
//! launch, and so is what gpu-std passes through [`READ_ONLY`].

use std::collections::HashSet;

use super::global_addresses::READ_ONLY;
use crate::llvm::{Module, Opcode, Value};

/// Marks the loads in kernels, `is_kernel` says which functions are.
pub(super) fn mark(module: &Module<'_>, is_kernel: impl Fn(&str) -> bool) {
    for function in module.functions().into_iter().filter(|function| is_kernel(&function.name())) {
        let read_only = function.parameters_with(&["noalias", "readonly"]);
        for load in function.instructions() {
            if let Some(address) = load.plainly_loaded_from()
                && roots(address).all(|root| {
                    read_only.contains(&root)
                        || root.called().is_some_and(|called| called.name() == READ_ONLY)
                })
            {
                load.mark_as_invariant();
            }
        }
    }
}

/// What an address is computed from.
fn roots<'c>(address: Value<'c>) -> impl Iterator<Item = Value<'c>> {
    let (mut roots, mut to_do, mut seen) = (Vec::new(), vec![address], HashSet::new());
    while let Some(address) = to_do.pop() {
        if !seen.insert(address) {
            continue;
        }
        match address.opcode() {
            Opcode::GET_ELEMENT_POINTER | Opcode::ADDRESS_SPACE_CAST => {
                to_do.extend(address.operands().next())
            }
            Opcode::PHI => to_do.extend(address.operands()),
            Opcode::SELECT => to_do.extend(address.operands().skip(1)),
            _ => roots.push(address),
        }
    }
    roots.into_iter()
}

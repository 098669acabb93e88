//! Before the optimiser: functions that go through parts of a row are inlined into the kernel that has the row.
//!
//! Which threads have a row, and how many elements of it each of them keeps in registers, are constants of a kernel. To a function of its own, such as a closure
//! that two reductions call, they are numbers of any size: what it gets is in local memory, and each element of it chosen by a branch. LLVM inlines small functions
//! unasked, and large ones that are called once.

use std::collections::{HashMap, HashSet};

use super::prelude;
use crate::llvm::{Module, Position, Value};

/// The mark, until there is less to inline.
const INLINED: &str = "gpukernel-inlined";

/// Marks the functions that call [`prelude::INLINE_CALLERS`], and all that call these, except kernels and those that must not be inlined.
pub(super) fn inline_callers<'c>(module: &Module<'c>, kernels: &HashSet<Value<'c>>) {
    let Some(mark) = module.function(prelude::INLINE_CALLERS).filter(|mark| mark.is_used()) else { return };
    let mut callers = HashMap::<_, Vec<_>>::new();
    for function in module.functions() {
        for callee in function.instructions().into_iter().filter_map(Value::called) {
            callers.entry(callee).or_default().push(function);
        }
    }
    let (mut seen, mut to_do) = (HashSet::from([mark]), vec![mark]);
    while let Some(callee) = to_do.pop() {
        for &caller in callers.get(&callee).into_iter().flatten() {
            if !kernels.contains(&caller)
                && !caller.has_attribute(Position::Function, "noinline")
                && seen.insert(caller)
            {
                caller.add_text_attribute(INLINED, "");
                to_do.push(caller);
            }
        }
    }
}

/// Has the marked functions inlined, each when what it calls is simplified: as it is written, each call of an adaptor is a dozen functions, and each of these would be
/// copied wherever the function is called.
pub(super) fn inline_marked(module: &Module<'_>) {
    for function in module.functions() {
        if function.text_attribute(INLINED).is_some() {
            function.add_attribute("alwaysinline");
        }
    }
}

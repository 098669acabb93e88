//! After the optimiser: the calls that stand for panics become code that records where they are.
//!
//! There is one such piece of code in each function, to which all its panics branch. It says which kernel it is in: in an
//! entry that is known; other functions ask a shared variable that the kernels write which reach them.

use std::collections::{BTreeSet, HashMap};

use gpukernel_abi::symbol;

use super::PANIC_AT;
use crate::{
    link::{call_graph::CallGraph, entries::Entry, prelude, sinking},
    llvm::{Context, Linkage, LlvmError, Module, TargetMachine, Value},
};

/// What gpu-std calls for the number of the kernel.
const KERNEL: &str = "__gpukernel_kernel";

/// Functions of the prelude: the record without a message, and the kernel's number written and read.
const PLACE: &str = "__gpukernel_panic_place";
const ENTER: &str = "__gpukernel_kernel_enter";
const ENTERED: &str = "__gpukernel_kernel_entered";

/// Whether a global is one that the runtime looks for.
pub(in crate::link) fn is_of_the_runtime(global: Value<'_>) -> bool {
    [symbol::PANIC_RECORD, symbol::OUTPUT].contains(&global.name().as_str())
}

/// The calls in one function that are replaced.
#[derive(Default)]
struct Calls<'c> {
    panics: Vec<Value<'c>>,
    kernel: Vec<Value<'c>>,
}

/// Replaces the calls.
pub(in crate::link) fn record<'c>(
    context: &'c Context,
    module: &Module<'c>,
    entries: &[Entry<'c>],
    exports: &[Value<'c>],
    machine: &TargetMachine,
) -> Result<(), LlvmError> {
    let calls = find(module);
    if !calls.is_empty() {
        replace(context, module, entries, exports, calls)?;
        module.run_passes("always-inline,function(simplifycfg),globaldce", machine)?;
        // `simplifycfg` joins checks that follow one another in one branch, and chooses among their locations before it. That, and the
        // address of a location, are computed where the branch leads instead.
        for function in module.functions() {
            if let Some(location) = Module::joined_addresses(function) {
                module.split_ways_to(function, location);
                sinking::sink_in(function);
            }
        }
    }
    // The runtime makes a record, or a buffer, where there is such a variable.
    for name in [symbol::PANIC_RECORD, symbol::OUTPUT] {
        if let Some(variable) = module.global(name).filter(|variable| !variable.is_used()) {
            variable.delete_global();
        }
    }
    Ok(())
}

fn replace<'c>(
    context: &'c Context,
    module: &Module<'c>,
    entries: &[Entry<'c>],
    exports: &[Value<'c>],
    calls: Vec<(Value<'c>, Calls<'c>)>,
) -> Result<(), LlvmError> {
    prelude::link_panics(context, module)?;
    let [Some(place), Some(enter), Some(entered)] = [PLACE, ENTER, ENTERED].map(|name| module.function(name))
    else {
        return Ok(());
    };
    let numbers: HashMap<_, _> = (0..).zip(entries).map(|(number, entry)| (entry.function, number)).collect();
    let functions: Vec<_> = entries.iter().map(|entry| entry.function).collect();
    let reached = CallGraph::of(functions.iter().copied(), exports).reached_by(&functions);
    let mut entering = BTreeSet::new();
    for (function, calls) in calls {
        let own_number = numbers.get(&function).copied();
        if own_number.is_none() {
            entering.extend(reached.get(&function).into_iter().flatten().copied());
        }
        let number = |before| match own_number {
            Some(number) => module.number(number),
            None => module.insert_call(before, entered, None, None),
        };
        for call in calls.kernel {
            if let Some(number) = number(call) {
                call.replace_by(number);
            }
            call.erase();
        }
        let Some(panic) = module.join_noreturn_calls(function, &calls.panics) else { continue };
        let (location, number) = (panic.operands().next(), number(panic));
        module.insert_call(panic, place, location, number);
        panic.erase();
    }
    for index in entering {
        if let Some(first) = entries[index].function.instructions().first() {
            module.insert_call(*first, enter, None, module.number(index as u32));
        }
    }
    if let Some(record) = module.global(symbol::PANIC_RECORD) {
        record.set_linkage(Linkage::External);
    }
    Ok(())
}

fn find<'c>(module: &Module<'c>) -> Vec<(Value<'c>, Calls<'c>)> {
    let panic_at = module.function(PANIC_AT).filter(|function| function.is_used());
    let kernel = module.function(KERNEL).filter(|function| function.is_used());
    if panic_at.is_none() && kernel.is_none() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for function in module.functions() {
        let mut calls = Calls::default();
        for call in function.instructions() {
            let called = call.called();
            if called.is_none() {
                continue;
            } else if called == panic_at {
                calls.panics.push(call);
            } else if called == kernel {
                calls.kernel.push(call);
            }
        }
        if !(calls.panics.is_empty() && calls.kernel.is_empty()) {
            found.push((function, calls));
        }
    }
    found
}

//! What differs between architectures is settled when code for one is emitted.
//!
//! The module is optimised once, for the lowest architecture. Two things wait:
//!
//! - `__gpukernel_arch()` reads a constant that gets its value here, and the branches that it decides fall away;
//! - functions of the prelude with the attribute `"gpukernel-needs"="sm_80"` stay out of line until here, where they are
//!   inlined, or refused if a kernel still calls one that the architecture does not have. Those that every architecture has are
//!   inlined before the optimiser, as all others: to it a call is dear, so that it would not unroll loops over fragments.

use gpukernel_image::{Arch, Kernel};

use super::{LinkError, address_spaces, call_graph::CallGraph, optimise::COMBINE};
use crate::llvm::{Linkage, Module, TargetMachine, Value};

/// The constant that holds the architecture as a number: 90 for `sm_90`.
const NUMBER: &str = "gpukernel.arch";
const NEEDS: &str = "gpukernel-needs";

/// Lets go of the functions that the lowest architecture has, so that they are inlined as any other of the prelude.
pub(super) fn release_available(module: &Module<'_>, lowest: Arch) {
    for function in module.functions() {
        let needs = function.text_attribute(NEEDS).and_then(|needs| needs.parse::<Arch>().ok());
        if needs.is_some_and(|needed| needed <= lowest) {
            function.remove_attribute("noinline");
            function.remove_text_attribute(NEEDS);
            function.add_attribute("alwaysinline");
        }
    }
}

/// Whether a function stays out of line until code for one architecture is emitted.
pub(super) fn waits(function: Value<'_>) -> bool {
    function.text_attribute(NEEDS).is_some()
}

/// Gives the constant with the architecture its value, and drops the branches that it decides against.
pub(super) fn set_number(module: &Module<'_>, arch: Arch, machine: &TargetMachine) -> Result<(), LinkError> {
    let Some(number) = module.global(NUMBER) else { return Ok(()) };
    let (major, minor) = arch.compute_capability();
    number.set_number(u32::from(major) * 10 + u32::from(minor));
    number.set_linkage(Linkage::Internal);
    Ok(module.run_passes(&format!("function(sccp,{COMBINE},simplifycfg),globaldce"), machine)?)
}

/// Inlines the functions that `arch` has, and refuses kernels that still need others.
pub(super) fn inline_available(
    module: &Module<'_>,
    arch: Arch,
    kernels: &[Kernel],
    machine: &TargetMachine,
) -> Result<(), LinkError> {
    let special: Vec<_> = module
        .functions()
        .into_iter()
        .filter_map(|function| Some((function, function.text_attribute(NEEDS)?)))
        .collect();
    if special.is_empty() {
        return Ok(());
    }
    for (function, needs) in special {
        let needed: Arch = needs.parse().map_err(|_| LinkError::Description { symbol: function.name() })?;
        if needed > arch && function.is_used() {
            return Err(too_old(module, function, needed, arch, kernels));
        }
        function.remove_attribute("noinline");
        function.add_attribute("alwaysinline");
    }
    // What was passed to them and returned by them through memory becomes registers, and generic pointers special ones.
    module.run_passes("always-inline,function(sroa<modify-cfg>)", machine)?;
    address_spaces::infer(module, machine)?;
    module.run_passes(&format!("function({COMBINE},early-cse<>,simplifycfg),globaldce"), machine)?;
    Ok(())
}

/// Names the kernels that use what an architecture does not have, and the exported functions, by the names that they have in C.
fn too_old(
    module: &Module<'_>,
    function: Value<'_>,
    needed: Arch,
    arch: Arch,
    kernels: &[Kernel],
) -> LinkError {
    // Nothing else can be seen from outside.
    let entries: Vec<_> = module
        .functions()
        .into_iter()
        .filter(|function| !function.is_declaration() && !function.is_local())
        .collect();
    let reached = CallGraph::of(entries.iter().copied(), &[]).needed_by(&entries);
    let reaching = reached.get(&function).map(Vec::as_slice).unwrap_or_default();
    let mut users: Vec<_> = reaching
        .iter()
        .map(|&index| {
            let symbol = entries[index].name();
            let kernel = kernels.iter().find(|kernel| kernel.symbol == symbol);
            kernel.map_or(symbol, |kernel| kernel.name.clone())
        })
        .collect();
    users.sort();
    LinkError::ArchTooOld {
        operation: function.name().trim_start_matches("__gpukernel_").to_owned(),
        kernels: users,
        needed,
        arch,
    }
}

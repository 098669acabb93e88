//! Graphs on the CPU: a launch does the steps in the order in which they were recorded.

use std::ptr;

use super::{CpuDevice, CpuStream, memory::copy_rows};
use crate::{
    Result,
    backend::{BackendGraph, OfDevice},
    graph::{Operation, Plan},
    observed,
    prepared::Lists,
};

/// A graph, of which nothing needs to be known besides its steps.
pub(crate) struct CpuGraph;

impl BackendGraph for CpuGraph {
    type Device = CpuDevice;

    unsafe fn launch(&mut self, stream: &CpuStream, plan: &Plan<CpuDevice>) -> Result<()> {
        // SAFETY: as the caller promises.
        unsafe { run(stream, plan) }
    }

    fn upload(&mut self, _: &CpuStream) -> Result<()> {
        Ok(())
    }

    unsafe fn update(&mut self, _: usize, _: &Operation<CpuDevice>, _: &Plan<CpuDevice>) -> Result<bool> {
        Ok(true)
    }
}

/// Does the steps.
///
/// # Safety
/// As [`BackendGraph::launch`].
unsafe fn run(stream: &CpuStream, plan: &Plan<CpuDevice>) -> Result<()> {
    for step in &plan.steps {
        match &step.operation {
            Operation::Empty => {}
            Operation::Launch(launch) => {
                if let Some(prepared) = launch.prepared(&mut Lists::new()) {
                    // SAFETY: the launch was checked when it was recorded; the memory is the graph's, as the caller promises.
                    unsafe {
                        observed::launch(launch.code(), stream, launch.function(), &prepared, launch.at)?;
                    }
                }
            }
            Operation::Copy { to: (to, to_rows), from: (from, from_rows) } => {
                let from = ptr::with_exposed_provenance::<u8>(from.address());
                let to = ptr::with_exposed_provenance_mut(to.address());
                // SAFETY: both are rows of the graph's memory, the second ones borrowed for writing when the copy was recorded, so that none is on both
                // sides.
                unsafe { copy_rows(from, *from_rows, to, *to_rows) };
            }
            Operation::Upload { to, rows, from } => {
                let to = ptr::with_exposed_provenance_mut(*to);
                // SAFETY: as above.
                unsafe { copy_rows(from.as_ptr().cast(), rows.packed(), to, *rows) };
            }
            Operation::Fill { to, pattern, count } => {
                // SAFETY: it is a piece of the graph's memory with as much room, aligned as its elements are.
                unsafe { pattern.fill(*to, *count) };
            }
            Operation::Call(code) => stream.device().call(&**code),
            Operation::Conditional(conditional) => {
                let number = ptr::with_exposed_provenance::<u32>(conditional.condition);
                // SAFETY: it is a piece of the graph's memory.
                while unsafe { number.read() } != 0 {
                    // SAFETY: as the caller promises.
                    unsafe { run(stream, &conditional.body)? };
                    if !conditional.is_loop {
                        break;
                    }
                }
            }
        }
    }
    Ok(())
}

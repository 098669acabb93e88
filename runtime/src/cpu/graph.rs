//! Graphs on the CPU: a launch does the steps in the order in which they were recorded.

use std::{ptr, sync::Arc};

use smallvec::SmallVec;

use super::{
    CpuDevice, CpuModule, CpuStream, at_work, errors::ModuleId, grid::Grid, memory, module::ModuleState,
    queue::Queue,
};
use crate::{
    Result,
    backend::{BackendGraph, OfDevice},
    graph::{Launch, Operation, Plan, When},
    memory::Allocation,
    observed,
    prepared::Lists,
};

/// A graph.
pub(crate) struct CpuGraph {
    /// Shared with launches that are queued, which an update leaves as they are.
    steps: Arc<[Operation<CpuDevice>]>,
    /// Its last launch, which comes after those before.
    last: Option<(Arc<Queue>, u64)>,
}

impl CpuGraph {
    pub(super) fn new(plan: &Plan<CpuDevice>) -> Self {
        Self { steps: steps(plan), last: None }
    }
}

fn steps(plan: &Plan<CpuDevice>) -> Arc<[Operation<CpuDevice>]> {
    plan.steps.iter().map(|step| step.operation.clone()).collect()
}

impl Drop for CpuGraph {
    /// Waits for its work, as on a GPU. Its own end does not need that: a callback that has the last of it does not wait for itself.
    fn drop(&mut self) {
        if let Some((queue, work)) = self.last.take()
            && !at_work::is_here()
        {
            queue.wait_for(work);
        }
    }
}

impl BackendGraph for CpuGraph {
    type Device = CpuDevice;

    unsafe fn launch(&mut self, stream: &CpuStream, plan: &Plan<CpuDevice>) -> Result<()> {
        if !observed::is_unobserved() {
            for launch in plan.launches() {
                if let Some(prepared) = launch.prepared(&mut Lists::new()) {
                    observed::note(launch.code(), launch.function(), &prepared, launch.at)?;
                }
            }
        }
        let (mut uses, used) = (SmallVec::new(), plan.allocations.iter().copied());
        // SAFETY: the caller promises that the memory is there.
        unsafe { Allocation::add_uses(&mut uses, used, stream.device(), &|| "a graph".to_owned())? };
        let state = |code: &CpuModule| (code.id(), code.state());
        let (steps, modules) =
            (Arc::clone(&self.steps), plan.code.iter().map(|code| state(code.module())).collect());
        let run = Run { modules };
        if let Some((queue, work)) = &self.last {
            // As on a GPU, also where no memory orders them.
            stream.comes_after_work(queue, *work)?;
        }
        // SAFETY: as the caller promises; all memory is the graph's, and ordered until this is done.
        let number = memory::ordered(stream, &uses, move || unsafe {
            run.steps(steps.iter());
        })?;
        self.last = Some((Arc::clone(stream.queue()), number));
        Ok(())
    }

    fn upload(&mut self, _: &CpuStream) -> Result<()> {
        Ok(())
    }

    unsafe fn update(&mut self, _: usize, _: &Operation<CpuDevice>, plan: &Plan<CpuDevice>) -> Result<bool> {
        self.steps = steps(plan);
        Ok(true)
    }
}

/// A launch of a graph.
struct Run {
    /// The modules of its kernels, as they were when it was queued.
    modules: SmallVec<[(ModuleId, ModuleState); 2]>,
}

impl Run {
    /// Does the steps; false if a kernel failed, after which the others are done all the same.
    ///
    /// # Safety
    /// As [`BackendGraph::launch`].
    unsafe fn steps<'s>(&self, steps: impl Iterator<Item = &'s Operation<CpuDevice>>) -> bool {
        let mut is_well = true;
        for step in steps {
            // SAFETY: as the caller promises.
            is_well &= unsafe { self.step(step) };
        }
        is_well
    }

    /// # Safety
    /// As [`steps`](Self::steps).
    unsafe fn step(&self, step: &Operation<CpuDevice>) -> bool {
        match step {
            Operation::Empty => {}
            // SAFETY: as the caller promises.
            Operation::Launch(launch) => return unsafe { self.launch(launch) },
            Operation::Copy { to: (to, to_rows), from: (from, from_rows) } => {
                let from = ptr::with_exposed_provenance::<u8>(from.address());
                let to = ptr::with_exposed_provenance_mut(to.address());
                // SAFETY: both are rows of the graph's memory, the second ones borrowed for writing when the copy was recorded, so that none is on both
                // sides.
                unsafe { memory::copy_rows(from, *from_rows, to, *to_rows) };
            }
            Operation::Upload { to, rows, from } => {
                let to = ptr::with_exposed_provenance_mut(*to);
                // SAFETY: as above.
                unsafe { memory::copy_rows(from.as_ptr().cast(), rows.packed(), to, *rows) };
            }
            Operation::Fill { to, pattern, count } => {
                // SAFETY: it is a piece of the graph's memory with as much room, aligned as its elements are.
                unsafe { pattern.fill(*to, *count) };
            }
            Operation::Call(code) => CpuDevice::get().call(&**code),
            Operation::Conditional(conditional) => {
                let number = ptr::with_exposed_provenance::<u32>(conditional.condition);
                // SAFETY: it is a piece of the graph's memory.
                while let Some(part) = conditional.part(unsafe { number.read() }) {
                    // SAFETY: as the caller promises.
                    let is_well = unsafe { self.steps(part.steps.iter().map(|step| &step.operation)) };
                    // A loop whose kernel failed might have no end, and each round another error.
                    if !is_well || conditional.when != When::While {
                        return is_well;
                    }
                }
            }
        }
        true
    }

    /// # Safety
    /// As [`steps`](Self::steps).
    unsafe fn launch(&self, launch: &Launch<CpuDevice>) -> bool {
        let mut lists = Lists::new();
        let Some(prepared) = launch.prepared(&mut lists) else { return true };
        let id = launch.code().id();
        let module = self.modules.iter().find(|(known, _)| *known == id);
        // Checked when it was recorded, with the code of the plan.
        let (Some((_, module)), Ok(grid)) = (module, Grid::of(&prepared)) else { return true };
        // SAFETY: the memory is the graph's, as the caller promises.
        unsafe { module.run(&grid, launch.at) }
    }
}

//! What others see of a launch: a profiler its range, and `cargo gpukernel` the report of the process.

use std::panic::Location;

use crate::{
    Result,
    backend::{Backend, BackendModule, StreamOf},
    launch::record,
    nvtx,
    prepared::PreparedLaunch,
    rare::RARE,
    report,
};

/// Whether launches have no observers, which is how nearly all programs run: then they cost two loads.
#[inline]
pub(crate) fn is_unobserved() -> bool {
    let is_observed =
        RARE.process_is_observed.get_or_init(|| report::of_process().is_some() || nvtx::has_profiler());
    !*is_observed && !record::is_on_somewhere()
}

/// Queues a launch of the line `at`.
///
/// # Safety
/// As [`BackendModule::launch`].
#[inline]
pub(crate) unsafe fn launch<M: BackendModule>(
    code: &M,
    stream: &StreamOf<M>,
    function: &M::Function,
    launch: &PreparedLaunch<'_, M::Device>,
    at: &'static Location<'static>,
) -> Result<()> {
    match is_unobserved() {
        // SAFETY: as the caller promises.
        true => unsafe { code.launch(stream, function, launch, at) },
        // SAFETY: as above.
        false => unsafe { observed(code, stream, function, launch, at) },
    }
}

#[cold]
unsafe fn observed<M: BackendModule>(
    code: &M,
    stream: &StreamOf<M>,
    function: &M::Function,
    launch: &PreparedLaunch<'_, M::Device>,
    at: &'static Location<'static>,
) -> Result<()> {
    note(code, function, launch, at)?;
    let _range = nvtx::launch(launch.program.name());
    // SAFETY: as the caller promises.
    unsafe { code.launch(stream, function, launch, at) }
}

/// Tells of a launch that is about to be queued.
pub(crate) fn note<M: BackendModule>(
    code: &M,
    function: &M::Function,
    launch: &PreparedLaunch<'_, M::Device>,
    at: &'static Location<'static>,
) -> Result<()> {
    record::note(code, function, launch)?;
    if let Some(report) = report::of_process() {
        report.launch(launch.program.name(), code.device().id(), launch.shape, at);
    }
    Ok(())
}

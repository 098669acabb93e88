//! What others see of a launch: a profiler its range, and `cargo gpukernel` the report of the process.

use std::panic::Location;

use crate::{
    Result,
    backend::{Backend, BackendModule, StreamOf},
    launch::record,
    nvtx,
    prepared::PreparedLaunch,
    report,
};

/// Queues a launch, or runs it.
///
/// # Safety
/// As [`BackendModule::launch`].
#[track_caller]
pub(crate) unsafe fn launch<M: BackendModule>(
    code: &M,
    stream: &StreamOf<M>,
    function: &M::Function,
    launch: &PreparedLaunch<'_, M::Device>,
) -> Result<()> {
    record::note(code, function, launch)?;
    let _range = nvtx::launch(launch.program.name());
    let Some(report) = report::of_process() else {
        // SAFETY: as the caller promises.
        return unsafe { code.launch(stream, function, launch) };
    };
    let device = || code.device().id();
    report.launch(launch.program.name(), device(), launch.shape, Location::caller());
    // SAFETY: as the caller promises.
    let result = unsafe { code.launch(stream, function, launch) };
    // What happens on a GPU is known later, and not of which launch it is.
    if M::Device::ENDS_IN_LAUNCH
        && let Err(error) = &result
    {
        report.error(error, device(), Some(Location::caller()));
    }
    result
}

//! Records of launches: which kernels a piece of code launches, and what they take of a multiprocessor.

use std::{cell::RefCell, sync::atomic::Ordering};

use gpu_std::Dim3;

use crate::{Result, backend::BackendModule, prepared::PreparedLaunch, rare::RARE};

/// A launch that [`record_launches`] saw.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LaunchRecord {
    /// The kernel: its path without the crate, or the name of a foreign one.
    pub kernel: String,
    /// Blocks along x, y and z.
    pub grid_dim: [u32; 3],
    /// Threads per block along x, y and z.
    pub block_dim: [u32; 3],
    /// Bytes of shared memory per block that the launch added.
    pub dynamic_shared_bytes: u32,
    /// What the kernel takes of a GPU; `None` on the CPU.
    pub attributes: Option<KernelAttributes>,
}

/// What a kernel takes of a GPU (`cudaFuncAttributes`): of a launch ([`record_launches`]), or with blocks of a size
/// ([`Module::attributes`](crate::Module::attributes)).
#[doc(alias = "cudaFuncAttributes", alias = "cudaFuncGetAttributes", alias = "cuFuncGetAttribute")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelAttributes {
    /// Registers per thread (`numRegs`).
    pub registers: u32,
    /// Bytes of local memory per thread: spilled registers, and arrays that are not in registers (`localSizeBytes`).
    pub local_bytes: u32,
    /// Bytes of shared memory per block, without what the launch adds (`sharedSizeBytes`).
    pub shared_bytes: u32,
    /// Maximum number of threads per block that its registers and its contract leave room for (`maxThreadsPerBlock`).
    pub max_threads_per_block: u32,
    /// Blocks that a multiprocessor runs at once (`cudaOccupancyMaxActiveBlocksPerMultiprocessor`).
    pub blocks_per_multiprocessor: u32,
    /// The warps that these are, and those that a multiprocessor has room for.
    pub(crate) warps: [u32; 2],
}

impl KernelAttributes {
    /// The share of a multiprocessor's warps that these blocks are, from 0 to 1: its occupancy.
    #[doc(alias = "cudaOccupancyMaxActiveBlocksPerMultiprocessor")]
    pub fn occupancy(&self) -> f64 {
        let [resident, max] = self.warps.map(f64::from);
        resident / max.max(1.0)
    }
}

thread_local! {
    static RECORDS: RefCell<Option<Vec<LaunchRecord>>> = const { RefCell::new(None) };
}

/// Runs `code`, and returns its result with the launches that it made on this thread, in order. Of calls in each other, the inner one has
/// the launches of its code.
///
/// ```
/// let ((), launches) = gpukernel::record_launches(|| ());
/// assert!(launches.is_empty());
/// ```
pub fn record_launches<R>(code: impl FnOnce() -> R) -> (R, Vec<LaunchRecord>) {
    /// Puts back what an outer call has, also if the code panics.
    struct Outer(Option<Vec<LaunchRecord>>);
    impl Drop for Outer {
        fn drop(&mut self) {
            let outer = self.0.take();
            RECORDS.with(|records| records.replace(outer));
            RARE.records.fetch_sub(1, Ordering::Relaxed);
        }
    }
    RARE.records.fetch_add(1, Ordering::Relaxed);
    let _outer = Outer(RECORDS.with(|records| records.replace(Some(Vec::new()))));
    let result = code();
    let records = RECORDS.with(|records| records.replace(None));
    (result, records.unwrap_or_default())
}

/// Whether any thread records; this one knows for itself.
#[inline]
pub(crate) fn is_on_somewhere() -> bool {
    RARE.records.load(Ordering::Relaxed) != 0
}

/// Whether somebody records on this thread.
fn is_on() -> bool {
    RECORDS.with(|records| records.borrow().is_some())
}

/// Notes a launch, if somebody records.
pub(crate) fn note<M: BackendModule>(
    code: &M,
    function: &M::Function,
    launch: &PreparedLaunch<'_, M::Device>,
) -> Result<()> {
    if !is_on() {
        return Ok(());
    }
    let record = LaunchRecord {
        kernel: launch.program.name().to_owned(),
        grid_dim: axes(launch.shape.grid),
        block_dim: axes(launch.shape.block),
        dynamic_shared_bytes: launch.shared.dynamic_bytes,
        attributes: code.attributes(function, launch.shape.block_threads(), launch.shared.dynamic_bytes)?,
    };
    RECORDS.with(|records| records.borrow_mut().as_mut().map(|records| records.push(record)));
    Ok(())
}

fn axes(dim: Dim3) -> [u32; 3] {
    [dim.x, dim.y, dim.z]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outer_record_goes_on_after_an_inner_one_that_panicked() {
        let ((), outer) = record_launches(|| {
            let inner = std::panic::catch_unwind(|| record_launches(|| panic!("in the code")));
            assert!(inner.is_err());
            assert!(RECORDS.with(|records| records.borrow().is_some()));
        });
        assert!(outer.is_empty());
        assert!(RECORDS.with(|records| records.borrow().is_none()));
    }
}

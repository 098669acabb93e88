//! Memory of a GPU that another library, or another process, frees.

use std::{any::Any, sync::Arc};

use cudarc::driver::sys::CUdeviceptr;

use super::{CudaDevice, CudaMemory, CudaStream};
use crate::memory::Allocation;

/// What frees memory when it is dropped.
pub(crate) type Owner = Box<dyn Any + Send + Sync>;

/// Who frees memory.
pub(crate) struct Foreign {
    /// Where the memory is free of work once what is queued there is done.
    stream: Arc<CudaStream>,
    /// `None` for memory that is borrowed: who borrowed it orders work.
    owner: Option<Owner>,
}

impl Foreign {
    pub(crate) fn new(stream: &Arc<CudaStream>, owner: Option<Owner>) -> Self {
        Self { stream: Arc::clone(stream), owner }
    }

    pub(super) fn stream(&self) -> &Arc<CudaStream> {
        &self.stream
    }

    /// The owner, if it is of this type.
    pub(super) fn owner<T: Any>(&self) -> Option<&T> {
        self.owner.as_ref()?.downcast_ref()
    }

    pub(super) fn has_owner(&self) -> bool {
        self.owner.is_some()
    }

    #[cfg(any(feature = "cudarc", feature = "cust"))]
    pub(crate) fn into_owner(self) -> Option<Owner> {
        self.owner
    }
}

impl CudaDevice {
    /// Memory of somebody else, to be used after what is queued on the stream of `foreign` by now.
    ///
    /// # Safety
    /// At the address are that many bytes of this device until the owner is dropped and what is queued on the stream by then is done. Without an owner they
    /// are there until the caller has called [`CudaMemory::order_before`] for the stream, and until what is queued there by then is done.
    pub(crate) unsafe fn foreign_memory(
        &'static self,
        address: CUdeviceptr,
        bytes: usize,
        foreign: Foreign,
    ) -> Allocation {
        let memory = Arc::new(CudaMemory::of_foreign(self, address, foreign));
        // SAFETY: as the caller promises.
        unsafe { Allocation::new::<Self>(address as usize, bytes, memory) }
    }
}

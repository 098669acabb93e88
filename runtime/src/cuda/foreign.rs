//! Memory of a GPU that another library, or another process, frees.

use std::{any::Any, ffi::c_int, sync::Arc};

use cudarc::driver::sys::{self, CUdeviceptr, CUpointer_attribute, CUresult};

use super::{CudaDevice, CudaMemory, CudaStream};
use crate::{
    Result,
    memory::{Allocation, Owner},
};

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

    pub(super) fn into_owner(self) -> Option<Owner> {
        self.owner
    }
}

impl CudaDevice {
    /// The number of the GPU whose memory an address is of; `None` if the driver knows no memory there.
    pub(crate) fn gpu_of(&'static self, address: usize) -> Result<Option<usize>> {
        self.bind()?;
        let attribute = CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL;
        let mut ordinal: c_int = -1;
        // SAFETY: the pointer is to a live integer, as the attribute asks for; of the address, the driver says whether it knows it.
        let result = unsafe {
            sys::cuPointerGetAttribute((&raw mut ordinal).cast(), attribute, address as CUdeviceptr)
        };
        if result == CUresult::CUDA_ERROR_INVALID_VALUE {
            return Ok(None);
        }
        self.check("cuPointerGetAttribute", result)?;
        // -2 for memory of the host that no GPU owns.
        Ok(usize::try_from(ordinal).ok())
    }

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

//! Memory and events of other processes (`cuIpc…`).

use std::{ffi::c_char, ptr, sync::Arc};

use cudarc::driver::sys::{
    self, CUdeviceptr, CUevent, CUevent_flags as Flags, CUipcEventHandle, CUipcMem_flags, CUipcMemHandle,
    CUresult,
};

use super::{
    CudaDevice, CudaEvent, CudaMemory, CudaStream, Foreign, allocate::allocated, memory::Source, replay,
};
use crate::{Result, buffer::Fill, memory::Allocation};

/// Whole blocks of the driver: of a smaller allocation, others could open its neighbours, too (CUDA C++ Programming Guide, "Interprocess Communication").
const BLOCK_BYTES: usize = 2 << 20;

/// Memory that other processes can open, which is not from the pool.
struct Exportable {
    device: &'static CudaDevice,
    address: CUdeviceptr,
}

impl Drop for Exportable {
    fn drop(&mut self) {
        // The driver waits for no work that uses it. If this fails, the context is lost, and with it the memory.
        if self.device.wait().is_ok() {
            // SAFETY: nobody refers to it any more.
            let _ = unsafe { sys::cuMemFree_v2(self.address) };
        }
    }
}

/// Memory of another process, closed when this is dropped.
pub(crate) struct Opened {
    device: &'static CudaDevice,
    address: CUdeviceptr,
}

impl Drop for Opened {
    fn drop(&mut self) {
        if self.device.bind().is_ok() {
            // SAFETY: it was opened, and who has this has waited for the work that uses it.
            let _ = unsafe { sys::cuIpcCloseMemHandle(self.address) };
        }
    }
}

impl CudaDevice {
    /// Allocates zeroed memory that other processes can open.
    pub(crate) fn allocate_exportable(&'static self, bytes: usize) -> Result<Allocation> {
        replay::refuse("an allocation")?;
        self.bind()?;
        let failed = |result| self.allocation_failed("cuMemAlloc", result, bytes);
        let whole = bytes
            .checked_next_multiple_of(BLOCK_BYTES)
            .ok_or_else(|| failed(CUresult::CUDA_ERROR_OUT_OF_MEMORY))?;
        let address = self.of_driver(whole, || {
            let mut address: CUdeviceptr = 0;
            // SAFETY: the pointer is to a live integer, and a context is current.
            allocated(unsafe { sys::cuMemAlloc_v2(&mut address, whole) }, address)
        })?;
        let (address, stream) = (address.map_err(failed)?, self.default());
        // What frees it from here on.
        let owner = Foreign::new(stream, Some(Box::new(Exportable { device: self, address })));
        self.owned(stream, address, bytes, Source::Foreign(owner), Fill::Zero)
    }

    /// Opens memory of another process.
    ///
    /// # Safety
    /// It is there until this is dropped.
    pub(crate) unsafe fn open_memory(&'static self, bytes: [u8; 64]) -> Result<Opened> {
        self.bind()?;
        let handle = CUipcMemHandle { reserved: bytes.map(|byte| c_char::from_ne_bytes([byte])) };
        let flags = CUipcMem_flags::CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS as u32;
        let mut address: CUdeviceptr = 0;
        // SAFETY: the pointer is to a live integer, and a context is current; of the handle the caller promises that it is one.
        let result = unsafe { sys::cuIpcOpenMemHandle_v2(&mut address, handle, flags) };
        self.check("cuIpcOpenMemHandle", result)?;
        Ok(Opened { device: self, address })
    }
}

impl Opened {
    /// As an allocation, whose work is waited for before this is dropped.
    ///
    /// # Safety
    /// There are as many bytes. The allocation ends before this, and [`CudaMemory::wait_for_all`] comes between.
    pub(crate) unsafe fn allocation(&self, bytes: usize) -> Allocation {
        let stream = self.device.default();
        // SAFETY: as the caller promises.
        unsafe { self.device.foreign_memory(self.address, bytes, Foreign::new(stream, None)) }
    }
}

impl CudaMemory {
    /// Waits for all work that uses the memory.
    pub(crate) fn wait_for_all(&self) -> Result<()> {
        let stream = self.gpu().default();
        self.order_before(stream)?;
        stream.wait_for_all()
    }

    /// The handle that opens the memory in another process; `None` if it is not exportable.
    pub(crate) fn handle(&self) -> Result<Option<[u8; 64]>> {
        let Some(exportable) = self.foreign().and_then(Foreign::owner::<Exportable>) else { return Ok(None) };
        let device = exportable.device;
        device.bind()?;
        let mut handle = CUipcMemHandle { reserved: [0; 64] };
        // SAFETY: the pointer is to a live handle, and the address is that of an allocation.
        let result = unsafe { sys::cuIpcGetMemHandle(&mut handle, exportable.address) };
        device.check("cuIpcGetMemHandle", result)?;
        Ok(Some(handle.reserved.map(|char| char.to_ne_bytes()[0])))
    }
}

impl CudaEvent {
    /// Records an event that other processes can open.
    pub(crate) fn record_exportable(stream: &Arc<CudaStream>) -> Result<Self> {
        replay::refuse("an event")?;
        Self::record_with(stream, Flags::CU_EVENT_DISABLE_TIMING as u32 | Flags::CU_EVENT_INTERPROCESS as u32)
    }

    /// The handle that opens the event in another process.
    pub(crate) fn handle(&self) -> Result<[u8; 64]> {
        self.device().bind()?;
        let mut handle = CUipcEventHandle { reserved: [0; 64] };
        // SAFETY: the pointer is to a live handle, and the event is alive.
        let result = unsafe { sys::cuIpcGetEventHandle(&mut handle, self.raw()) };
        self.device().check("cuIpcGetEventHandle", result)?;
        Ok(handle.reserved.map(|char| char.to_ne_bytes()[0]))
    }

    /// An event of another process.
    ///
    /// # Safety
    /// It is one, and is there as long as this.
    pub(crate) unsafe fn open(device: &'static CudaDevice, bytes: [u8; 64]) -> Result<Self> {
        device.bind()?;
        let handle = CUipcEventHandle { reserved: bytes.map(|byte| c_char::from_ne_bytes([byte])) };
        let mut raw: CUevent = ptr::null_mut();
        // SAFETY: the pointer is to a live handle, and a context is current; of the handle the caller promises that it is one.
        let result = unsafe { sys::cuIpcOpenEventHandle(&mut raw, handle) };
        device.check("cuIpcOpenEventHandle", result)?;
        Ok(Self::of(device, raw))
    }
}

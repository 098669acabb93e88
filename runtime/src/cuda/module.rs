//! Modules on a GPU: loading code, looking up functions, launching them.

use std::{
    ffi::{CStr, CString, c_int, c_uint, c_void},
    mem::MaybeUninit,
    ptr,
    sync::{Arc, RwLockReadGuard},
};

use cudarc::driver::sys::{
    self, CUdeviceptr, CUfunction, CUfunction_attribute as FunctionAttribute, CUjit_option as JitOption,
    CUmodule, CUresult,
};
use gpu_std::{DeviceCopy, Dim3};
use gpukernel_image::Manifest;

use super::{CudaDevice, CudaStream, driver, reports::Reports};
use crate::{Error, Result, output::Output};

/// The maximum number of bytes of the driver's compiler log. Its messages about one module are rarely longer.
const LOG_BYTES: usize = 16 << 10;

/// Code that the driver has loaded, unloaded when dropped.
pub(crate) struct CudaModule {
    device: &'static CudaDevice,
    raw: CUmodule,
    /// The reports of its kernels, if they have any.
    reports: Option<Arc<Reports>>,
}

// SAFETY: a module is a handle that any thread may use.
unsafe impl Send for CudaModule {}
// SAFETY: as above.
unsafe impl Sync for CudaModule {}

/// A kernel in a loaded module, valid as long as the module is.
#[derive(Clone, Copy)]
pub(crate) struct Function {
    raw: CUfunction,
    /// Maximum number of threads per block, given its registers and contract.
    pub(crate) max_threads: u32,
}

// SAFETY: a function is a handle that any thread may use.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

impl CudaModule {
    /// Loads PTX, a cubin or a fatbin. `what` describes it in errors.
    pub(crate) fn load(device: &'static CudaDevice, code: &[u8], what: &dyn Fn() -> String) -> Result<Self> {
        device.bind()?;
        // The driver takes no length: PTX must end in a NUL, and machine code be aligned like the ELF file it is.
        let mut aligned = vec![0_u128; code.len() / size_of::<u128>() + 1];
        bytemuck::cast_slice_mut(&mut aligned)[..code.len()].copy_from_slice(code);

        let mut log = vec![0_u8; LOG_BYTES];
        let mut options = [JitOption::CU_JIT_ERROR_LOG_BUFFER, JitOption::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
        let mut values: [*mut c_void; 2] = [log.as_mut_ptr().cast(), ptr::without_provenance_mut(log.len())];
        let mut raw: CUmodule = ptr::null_mut();
        // SAFETY: the code is aligned and NUL-terminated; options and values are as many as said, of the types that the
        // options have, and alive during the call, as is the buffer of the log.
        let result = unsafe {
            sys::cuModuleLoadDataEx(
                &mut raw,
                aligned.as_ptr().cast(),
                options.len() as c_uint,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        if let Err(source) = driver::check(result) {
            if driver::is_sticky(&source) {
                return Err(device.error("cuModuleLoadDataEx", source));
            }
            let log =
                CStr::from_bytes_until_nul(&log).unwrap_or_default().to_string_lossy().trim_end().to_owned();
            return Err(Error::Load { device: device.describe(), what: what(), source, log });
        }
        Ok(Self { device, raw, reports: None })
    }

    /// Sets up reports of an image's kernels to the host; their output goes to `output`.
    pub(crate) fn listen(&mut self, manifest: &Manifest, output: &Output) -> Result<()> {
        self.reports = Reports::new(self, manifest, output)?;
        if let Some(reports) = &self.reports {
            self.device.inbox().add(reports);
        }
        Ok(())
    }

    /// The lock to hold while a launch of a kernel of this module is queued.
    pub(crate) fn launching(&self) -> Option<RwLockReadGuard<'_, ()>> {
        self.reports.as_ref()?.launching()
    }

    /// The address of a variable of this size; `None` if the module has none of this name.
    pub(super) fn variable(&self, name: &str, bytes: usize) -> Result<Option<CUdeviceptr>> {
        let Ok(name) = CString::new(name) else { return Ok(None) };
        self.device.bind()?;
        let (mut address, mut found) = (0, 0);
        // SAFETY: the module is loaded, the name ends in a NUL, and the pointers are to live numbers.
        match unsafe { sys::cuModuleGetGlobal_v2(&mut address, &mut found, self.raw, name.as_ptr()) } {
            CUresult::CUDA_ERROR_NOT_FOUND => Ok(None),
            result => {
                self.device.check("cuModuleGetGlobal", result).map(|()| (found == bytes).then_some(address))
            }
        }
    }

    /// Writes a variable when all work of the device is done; false if the module has none of this name and size.
    ///
    /// # Safety
    /// The variable is of this type, and nothing that reads it is queued meanwhile.
    pub(crate) unsafe fn set_variable<T: DeviceCopy>(&self, name: &str, value: &T) -> Result<bool> {
        let Some(address) = self.variable(name, size_of::<T>())? else { return Ok(false) };
        self.device.synchronize()?;
        // SAFETY: the variable has that many bytes, as has the value, which the driver has copied when it returns.
        let result = unsafe { sys::cuMemcpyHtoD_v2(address, ptr::from_ref(value).cast(), size_of::<T>()) };
        self.device.check("cuMemcpyHtoD", result)?;
        Ok(true)
    }

    /// The value of a variable; `None` if the module has none of this name and size.
    ///
    /// # Safety
    /// The variable is of this type.
    pub(crate) unsafe fn variable_value<T: DeviceCopy>(&self, name: &str) -> Result<Option<T>> {
        let Some(address) = self.variable(name, size_of::<T>())? else { return Ok(None) };
        let mut value = MaybeUninit::<T>::uninit();
        // SAFETY: the variable has that many bytes, as has the place for them.
        let result = unsafe { sys::cuMemcpyDtoH_v2(value.as_mut_ptr().cast(), address, size_of::<T>()) };
        self.device.check("cuMemcpyDtoH", result)?;
        // SAFETY: it was just written, with a value of this type.
        Ok(Some(unsafe { value.assume_init() }))
    }

    pub(crate) fn device(&self) -> &'static CudaDevice {
        self.device
    }

    /// The kernel of this name; `None` if the module has none.
    pub(crate) fn function(&self, name: &str) -> Result<Option<Function>> {
        let Ok(name) = CString::new(name) else { return Ok(None) };
        self.device.bind()?;
        let mut raw: CUfunction = ptr::null_mut();
        // SAFETY: the module is loaded, the name ends in a NUL, and the pointer is to a live handle.
        match unsafe { sys::cuModuleGetFunction(&mut raw, self.raw, name.as_ptr()) } {
            CUresult::CUDA_ERROR_NOT_FOUND => return Ok(None),
            result => self.device.check("cuModuleGetFunction", result)?,
        }
        let mut max_threads: c_int = 0;
        let attribute = FunctionAttribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
        // SAFETY: the function is of a loaded module, and the pointer is to a live integer.
        let result = unsafe { sys::cuFuncGetAttribute(&mut max_threads, attribute, raw) };
        self.device.check("cuFuncGetAttribute", result)?;
        Ok(Some(Function { raw, max_threads: u32::try_from(max_threads).unwrap_or(0) }))
    }
}

impl Drop for CudaModule {
    fn drop(&mut self) {
        // Its kernels may still run, and the driver is not documented to wait for them.
        if self.device.wait().is_ok() {
            if let Some(reports) = &self.reports {
                self.device.inbox().remove(reports, self.device);
            }
            // SAFETY: nobody uses the module any more. A drop cannot return the error.
            let _ = unsafe { sys::cuModuleUnload(self.raw) };
        }
    }
}

impl Function {
    /// Allows the kernel `bytes` of dynamic shared memory; the driver requires this above 48 KiB.
    pub(crate) fn allow_shared(self, device: &CudaDevice, bytes: u32) -> Result<()> {
        device.bind()?;
        let attribute = FunctionAttribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        let bytes = c_int::try_from(bytes).unwrap_or(c_int::MAX);
        // SAFETY: the function is of a loaded module.
        device.check("cuFuncSetAttribute", unsafe { sys::cuFuncSetAttribute(self.raw, attribute, bytes) })
    }

    /// Allows the kernel all shared memory of a block that its static shared memory leaves as dynamic shared memory. The limit is the
    /// same for every launch, so that concurrent launches do not lower it for each other. Returns the bytes of static shared memory: its
    /// arrays, and a word of the linker's.
    pub(crate) fn allow_all_shared(self, device: &CudaDevice, block_bytes: usize) -> Result<usize> {
        device.bind()?;
        let mut own: c_int = 0;
        let attribute = FunctionAttribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES;
        // SAFETY: the function is of a loaded module, and the pointer is to a live integer.
        let result = unsafe { sys::cuFuncGetAttribute(&mut own, attribute, self.raw) };
        device.check("cuFuncGetAttribute", result)?;
        let own = usize::try_from(own).unwrap_or(0);
        self.allow_shared(device, u32::try_from(block_bytes.saturating_sub(own)).unwrap_or(u32::MAX))?;
        Ok(own)
    }

    /// The maximum number of resident blocks of this size on all multiprocessors together.
    pub(crate) fn max_resident_blocks(
        self,
        device: &CudaDevice,
        block: Dim3,
        shared_bytes: u32,
    ) -> Result<u64> {
        device.bind()?;
        let threads = c_int::try_from(block.count()).unwrap_or(c_int::MAX);
        let mut blocks: c_int = 0;
        // SAFETY: the function is of a loaded module, and the pointer is to a live integer.
        let result = unsafe {
            sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &mut blocks,
                self.raw,
                threads,
                shared_bytes as usize,
            )
        };
        device.check("cuOccupancyMaxActiveBlocksPerMultiprocessor", result)?;
        Ok(u64::try_from(blocks).unwrap_or(0) * u64::from(device.limits().multiprocessors))
    }

    /// Queues a launch, `cooperative` if the kernel has a grid-wide barrier.
    ///
    /// # Safety
    /// The module is loaded. There is one pointer per parameter of the kernel, to a value of its size and alignment. What the
    /// kernel does with the values is sound, and memory that they point to is ordered on the stream.
    pub(crate) unsafe fn launch(
        self,
        stream: &CudaStream,
        grid: Dim3,
        block: Dim3,
        shared_bytes: u32,
        cooperative: bool,
        parameters: impl Iterator<Item = *const u8>,
    ) -> Result<()> {
        // The driver only reads, although the parameter is a mutable pointer.
        let mut parameters: Vec<*mut c_void> = parameters.map(|value| value.cast_mut().cast()).collect();
        let parameters = parameters.as_mut_ptr();
        let (raw, stream_raw) = (self.raw, stream.raw());
        if cooperative {
            // SAFETY: as the caller promises; the driver copies the values before it returns.
            let result = unsafe {
                sys::cuLaunchCooperativeKernel(
                    raw,
                    grid.x,
                    grid.y,
                    grid.z,
                    block.x,
                    block.y,
                    block.z,
                    shared_bytes,
                    stream_raw,
                    parameters,
                )
            };
            return stream.device().check("cuLaunchCooperativeKernel", result);
        }
        // SAFETY: as above.
        let result = unsafe {
            sys::cuLaunchKernel(
                raw,
                grid.x,
                grid.y,
                grid.z,
                block.x,
                block.y,
                block.z,
                shared_bytes,
                stream_raw,
                parameters,
                ptr::null_mut(),
            )
        };
        stream.device().check("cuLaunchKernel", result)
    }
}

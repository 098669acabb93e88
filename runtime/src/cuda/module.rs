//! Modules on a GPU: loading code, looking up functions, launching them.

use std::{
    collections::HashSet,
    ffi::{CStr, CString, c_uint, c_void},
    iter,
    mem::MaybeUninit,
    panic::Location,
    ptr,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

use cudarc::driver::sys::{self, CUdeviceptr, CUfunction, CUjit_option as JitOption, CUmodule, CUresult};
use gpu_std::{Constant, DeviceCopy};
use gpukernel_image::Manifest;
use smallvec::SmallVec;

use super::{CudaDevice, CudaStream, driver, function::Function, memory, replay, reports::Reports};
use crate::{
    Error, KernelAttributes, Result,
    backend::{Backend, BackendModule, BlockThreads, OfDevice},
    output::Output,
    prepared::PreparedLaunch,
};

/// The maximum number of bytes of the driver's compiler log. Its messages about one module are rarely longer.
const LOG_BYTES: usize = 16 << 10;

/// Code that the driver has loaded, unloaded when dropped.
pub(crate) struct CudaModule {
    device: &'static CudaDevice,
    raw: CUmodule,
    /// The reports of its kernels, if they have any.
    reports: Option<Arc<Reports>>,
    /// The symbols of kernels that begin by waiting for the grids before them.
    waiting: HashSet<String>,
    /// Held for reading while a launch is queued, for writing while a variable is used by the host.
    variables: RwLock<()>,
    /// Whether the host can use any.
    has_variables: bool,
}

// SAFETY: a module is a handle that any thread may use.
unsafe impl Send for CudaModule {}
// SAFETY: as above.
unsafe impl Sync for CudaModule {}

impl CudaModule {
    /// Loads PTX, a cubin or a fatbin. `what` describes it in errors.
    pub(super) fn load(device: &'static CudaDevice, code: &[u8], what: &dyn Fn() -> String) -> Result<Self> {
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
        Ok(Self {
            device,
            raw,
            reports: None,
            waiting: HashSet::new(),
            variables: RwLock::default(),
            has_variables: true,
        })
    }

    pub(crate) fn raw(&self) -> CUmodule {
        self.raw
    }

    pub(super) fn device(&self) -> &'static CudaDevice {
        self.device
    }

    /// Lets these kernels be started before the grids before them have ended, for which they wait.
    pub(super) fn start_early(&mut self, symbols: impl Iterator<Item = String>) {
        self.waiting.extend(symbols);
    }

    /// Takes over what is known of an image's code: sets up reports of its kernels to the host; their output goes to `output`.
    pub(super) fn listen(&mut self, manifest: &Manifest, output: &Output) -> Result<()> {
        self.has_variables = !manifest.constants.is_empty();
        self.reports = Reports::new(self, manifest, output)?;
        if let Some(reports) = &self.reports {
            self.device.inbox().add(reports);
        }
        Ok(())
    }

    /// Address and size of a variable; `None` if the module has none of this name.
    fn find_variable(&self, name: &str) -> Result<Option<(CUdeviceptr, usize)>> {
        let Ok(name) = CString::new(name) else { return Ok(None) };
        self.device.bind()?;
        let (mut address, mut bytes) = (0, 0);
        // SAFETY: the module is loaded, the name ends in a NUL, and the pointers are to live numbers.
        match unsafe { sys::cuModuleGetGlobal_v2(&mut address, &mut bytes, self.raw, name.as_ptr()) } {
            CUresult::CUDA_ERROR_NOT_FOUND => Ok(None),
            result => self.device.check("cuModuleGetGlobal", result).map(|()| Some((address, bytes))),
        }
    }

    /// The address of a variable; `None` if the module has none of this name and size.
    pub(super) fn address_of(&self, name: &str, bytes: usize) -> Result<Option<CUdeviceptr>> {
        let found = self.find_variable(name)?;
        Ok(found.and_then(|(address, found)| (found == bytes).then_some(address)))
    }

    /// The address of a variable of a pointer that the runtime sets; `None` if the code has none, as its manifest says.
    pub(super) fn address_to_set(&self, name: &str, manifest: &Manifest) -> Result<Option<CUdeviceptr>> {
        let has_it = manifest.variables.iter().any(|variable| variable == name);
        if has_it { self.address_of(name, size_of::<u64>()) } else { Ok(None) }
    }

    fn prints(&self) -> bool {
        self.reports.as_ref().is_some_and(|reports| reports.prints())
    }

    /// Where the device has a word whose lowest bit is set once a kernel has panicked; `None` if none can.
    pub(super) fn mark_of_panics(&self) -> Option<CUdeviceptr> {
        self.reports.as_ref()?.mark_of_panics()
    }

    /// The lock to hold last.
    pub(super) fn launching(&self) -> Option<RwLockReadGuard<'_, ()>> {
        self.reports.as_ref().and_then(|reports| reports.launching())
    }

    /// The lock to hold first while a launch is queued, if anybody takes it for writing.
    #[inline]
    pub(super) fn hold_variables(&self) -> Option<RwLockReadGuard<'_, ()>> {
        self.has_variables.then(|| self.variables.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn lock_variables(&self) -> RwLockWriteGuard<'_, ()> {
        self.variables.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes a variable when all work of the device is done; false if the module has none of this name and size.
    ///
    /// # Safety
    /// The bytes are a value of the variable's type.
    unsafe fn write<T: DeviceCopy>(&self, name: &str, value: &T) -> Result<bool> {
        let _nothing_is_queued = self.lock_variables();
        let Some(address) = self.address_of(name, size_of::<T>())? else { return Ok(false) };
        self.device.synchronize()?;
        // SAFETY: the variable has that many bytes, as has the value, which the driver has copied when it returns.
        let result = unsafe { sys::cuMemcpyHtoD_v2(address, ptr::from_ref(value).cast(), size_of::<T>()) };
        self.device.check("cuMemcpyHtoD", result)?;
        // The copy may still run on the context's default stream, for which launches on non-blocking streams do not wait.
        self.device.wait()?;
        Ok(true)
    }

    /// The value of a variable; `None` if the module has none of this name and size.
    ///
    /// # Safety
    /// The variable holds a value of this type, and nothing writes it meanwhile.
    unsafe fn read<T: DeviceCopy>(&self, name: &str) -> Result<Option<T>> {
        let Some(address) = self.address_of(name, size_of::<T>())? else { return Ok(None) };
        let mut value = MaybeUninit::<T>::uninit();
        // SAFETY: the variable has that many bytes, as has the place for them.
        let result = unsafe { sys::cuMemcpyDtoH_v2(value.as_mut_ptr().cast(), address, size_of::<T>()) };
        self.device.check("cuMemcpyDtoH", result)?;
        // SAFETY: it was just written, with a value of this type.
        Ok(Some(unsafe { value.assume_init() }))
    }
}

/// What is held while kernels of modules are launched.
pub(super) struct LaunchLocks<'m> {
    _output: SmallVec<[RwLockReadGuard<'m, ()>; 4]>,
    _variables: SmallVec<[RwLockReadGuard<'m, ()>; 4]>,
}

impl<'m> LaunchLocks<'m> {
    /// Takes the locks that there are.
    #[inline]
    pub(super) fn of(modules: impl Iterator<Item = &'m CudaModule> + Clone) -> Option<Self> {
        let has_locks = |module: &CudaModule| module.has_variables || module.prints();
        modules.clone().any(has_locks).then(|| Self::take(modules))
    }

    #[cold]
    fn take(modules: impl Iterator<Item = &'m CudaModule> + Clone) -> Self {
        // In the order of a single launch: who sets a variable waits for output meanwhile.
        let _variables = modules.clone().filter_map(CudaModule::hold_variables).collect();
        let _output = modules.filter_map(CudaModule::launching).collect();
        Self { _output, _variables }
    }
}

impl OfDevice for Arc<CudaModule> {
    type Device = CudaDevice;

    fn device(&self) -> &'static CudaDevice {
        self.device
    }
}

impl BackendModule for Arc<CudaModule> {
    type Function = Function;

    fn function(&self, symbol: &str) -> Result<Option<Function>> {
        let Ok(name) = CString::new(symbol) else { return Ok(None) };
        self.device.bind()?;
        let mut raw: CUfunction = ptr::null_mut();
        // SAFETY: the module is loaded, the name ends in a NUL, and the pointer is to a live handle.
        match unsafe { sys::cuModuleGetFunction(&mut raw, self.raw, name.as_ptr()) } {
            CUresult::CUDA_ERROR_NOT_FOUND => Ok(None),
            result => {
                self.device.check("cuModuleGetFunction", result)?;
                let waits = self.waiting.contains(symbol);
                // SAFETY: the function is of this module, which is loaded.
                unsafe { Function::new(self.device, raw, waits) }.map(Some)
            }
        }
    }

    fn threads(&self, function: &Function) -> BlockThreads {
        function.threads
    }

    fn attributes(
        &self,
        function: &Function,
        block_threads: u32,
        dynamic_shared_bytes: u32,
    ) -> Result<Option<KernelAttributes>> {
        function.attributes(self.device, block_threads, dynamic_shared_bytes).map(Some)
    }

    fn make_room(&self, function: &Function, launch: &PreparedLaunch<'_, CudaDevice>) -> Result<()> {
        function.make_room(self.device, launch)
    }

    unsafe fn launch(
        &self,
        stream: &Arc<CudaStream>,
        function: &Function,
        launch: &PreparedLaunch<'_, CudaDevice>,
        _: &'static Location<'static>,
    ) -> Result<()> {
        function.make_room(self.device, launch)?;
        let _locks = LaunchLocks::of(iter::once(&**self));
        memory::ordered_launch(stream, launch.memory, |stream| {
            // SAFETY: as the caller promises; the module is loaded, and the memory is ordered.
            unsafe { function.enqueue(stream, launch) }
        })?;
        replay::hold(self);
        Ok(())
    }

    unsafe fn set_constant<T: DeviceCopy>(
        &self,
        _: &'static Constant<T>,
        symbol: &str,
        value: T,
    ) -> Result<bool> {
        // SAFETY: as the caller promises.
        unsafe { self.write(symbol, &value) }
    }

    unsafe fn constant<T: DeviceCopy>(&self, _: &'static Constant<T>, symbol: &str) -> Result<Option<T>> {
        let _not_set_meanwhile = self.hold_variables();
        // SAFETY: what is there is of this type: the declared value or a set one. Kernels only read it.
        unsafe { self.read(symbol) }
    }

    fn variable_bytes(&self, name: &str) -> Result<Option<usize>> {
        Ok(self.find_variable(name)?.map(|(_, bytes)| bytes))
    }

    unsafe fn set_variable<T: DeviceCopy>(&self, name: &str, value: &T) -> Result<bool> {
        // SAFETY: as the caller promises.
        unsafe { self.write(name, value) }
    }

    unsafe fn variable<T: DeviceCopy>(&self, name: &str) -> Result<Option<T>> {
        // Kernels may write it.
        let _nothing_is_queued = self.lock_variables();
        self.device.synchronize()?;
        // SAFETY: as the caller promises; no kernel of the module runs.
        unsafe { self.read(name) }
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

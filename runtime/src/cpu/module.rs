//! Modules of the CPU device: their code is in the program, so that only what the host sets is kept.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use gpu_std::{Constant, DeviceCopy, host::ModuleTable};

use super::{CpuDevice, CpuStream, grid};
use crate::{
    Device, Error, KernelAttributes, Result,
    backend::{Backend, BackendModule, BlockThreads, ImageCode, OfDevice},
    output::Output,
    prepared::{PreparedLaunch, Program},
};

/// What kernels of a module see.
pub(crate) struct CpuModule {
    /// Constants that were set, and functions of CUDA C.
    table: RwLock<Arc<ModuleTable>>,
    output: Output,
}

impl CpuModule {
    pub(super) fn new(code: &ImageCode<'_>) -> Self {
        // SAFETY: the functions have the signatures that the kernels declare.
        let table = unsafe { ModuleTable::new(code.functions) };
        Self { table: RwLock::new(Arc::new(table)), output: code.output.clone() }
    }

    fn table(&self) -> RwLockReadGuard<'_, Arc<ModuleTable>> {
        self.table.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The error of everything that needs a GPU.
pub(super) fn needs_a_gpu(what: String) -> Error {
    Error::NeedsGpu { what, device: Device::cpu().to_string() }
}

fn foreign_variable(name: &str) -> Error {
    needs_a_gpu(format!("the variable `{name}` of code made elsewhere"))
}

impl OfDevice for CpuModule {
    type Device = CpuDevice;

    fn device(&self) -> &'static CpuDevice {
        CpuDevice::get()
    }
}

impl BackendModule for CpuModule {
    /// The function is in the description of the kernel.
    type Function = ();

    fn function(&self, _: &str) -> Result<Option<()>> {
        Ok(Some(()))
    }

    fn threads(&self, (): &()) -> BlockThreads {
        BlockThreads { max: self.device().limits().max_threads_per_block, usual: BlockThreads::USUAL }
    }

    /// It has no multiprocessors.
    fn attributes(&self, (): &(), _: u32, _: u32) -> Result<Option<KernelAttributes>> {
        Ok(None)
    }

    fn make_room(&self, (): &(), _: &PreparedLaunch<'_, CpuDevice>) -> Result<()> {
        Ok(())
    }

    unsafe fn launch(&self, _: &CpuStream, (): &(), launch: &PreparedLaunch<'_, CpuDevice>) -> Result<()> {
        let Program::Kernel(kernel, args) = *launch.program else {
            return Err(needs_a_gpu(launch.program.doing()));
        };
        // A copy of the pointer: a kernel may set constants of its own module for later launches.
        let table = Arc::clone(&self.table());
        let Self { output, .. } = self;
        // SAFETY: as the caller promises. All memory is the CPU's, and the shape keeps to the contract.
        unsafe { grid::launch(kernel, args, launch, &table, output) }
    }

    unsafe fn set_constant<T: DeviceCopy>(
        &self,
        constant: &'static Constant<T>,
        _: &str,
        value: T,
    ) -> Result<bool> {
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        Arc::make_mut(&mut table).set(constant, value);
        Ok(true)
    }

    unsafe fn constant<T: DeviceCopy>(&self, constant: &'static Constant<T>, _: &str) -> Result<Option<T>> {
        Ok(Some(self.table().get(constant).unwrap_or_else(|| constant.initial())))
    }

    fn variable_bytes(&self, name: &str) -> Result<Option<usize>> {
        Err(foreign_variable(name))
    }

    unsafe fn set_variable<T: DeviceCopy>(&self, name: &str, _: &T) -> Result<bool> {
        Err(foreign_variable(name))
    }

    unsafe fn variable<T: DeviceCopy>(&self, name: &str) -> Result<Option<T>> {
        Err(foreign_variable(name))
    }
}

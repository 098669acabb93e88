//! Modules of the CPU device: their code is in the program, so that only what the host sets is kept.

use std::{
    panic::Location,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard},
};

use gpu_std::{
    Constant, DeviceCopy,
    host::{ModuleTable, PackedArgs},
};

use super::{CpuDevice, CpuStream, errors::ModuleId, grid::Grid, memory};
use crate::{
    Device, Error, KernelAttributes, Result,
    backend::{Backend, BackendModule, BlockThreads, ImageCode, OfDevice},
    output::Output,
    prepared::PreparedLaunch,
    report,
};

/// What kernels of a module see.
pub(crate) struct CpuModule {
    id: ModuleId,
    /// Constants that were set, and functions of CUDA C.
    table: RwLock<Arc<ModuleTable>>,
    output: Output,
}

impl CpuModule {
    pub(super) fn new(code: &ImageCode<'_>) -> Self {
        // SAFETY: the functions have the signatures that the kernels declare.
        let table = unsafe { ModuleTable::new(code.functions) };
        Self { id: ModuleId::new(), table: RwLock::new(Arc::new(table)), output: code.output.clone() }
    }

    /// What kernels see that are launched now: a copy of the pointer, because constants may be set for later launches.
    pub(super) fn state(&self) -> ModuleState {
        ModuleState { id: self.id, table: Arc::clone(&self.table()), output: self.output.clone() }
    }

    pub(super) fn id(&self) -> ModuleId {
        self.id
    }

    fn table(&self) -> RwLockReadGuard<'_, Arc<ModuleTable>> {
        self.table.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What kernels of a module see, at the time of a launch.
#[derive(Clone)]
pub(super) struct ModuleState {
    id: ModuleId,
    table: Arc<ModuleTable>,
    output: Output,
}

impl ModuleState {
    /// Runs a kernel of the module that was launched there. Whoever waits for the device next gets its error. False if there is one.
    ///
    /// # Safety
    /// As [`Grid::run`].
    pub(super) unsafe fn run(&self, grid: &Grid<'_>, at: &'static Location<'static>) -> bool {
        // SAFETY: as the caller promises.
        let Err(error) = (unsafe { grid.run(&self.table, &self.output) }) else { return true };
        let device = CpuDevice::get();
        if let Some(report) = report::of_process() {
            report.error(&error, device.id(), Some(at));
        }
        device.errors().put_of_kernel(self.id, error);
        false
    }
}

/// Arguments whose memory is lent to a launch until it is done.
struct Lent(PackedArgs);

// SAFETY: values may be sent, and the memory that pointers point to is the launch's on whatever thread it runs.
unsafe impl Send for Lent {}

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
        let max = self.device().limits().max_threads_per_block;
        BlockThreads { max, usual: BlockThreads::USUAL }
    }

    /// It has no multiprocessors.
    fn attributes(&self, (): &(), _: u32, _: u32) -> Result<Option<KernelAttributes>> {
        Ok(None)
    }

    fn make_room(&self, (): &(), launch: &PreparedLaunch<'_, CpuDevice>) -> Result<()> {
        Grid::of(launch).map(drop)
    }

    unsafe fn launch(
        &self,
        stream: &CpuStream,
        (): &(),
        launch: &PreparedLaunch<'_, CpuDevice>,
        at: &'static Location<'static>,
    ) -> Result<()> {
        let grid = Grid::of(launch)?;
        let (args, state) = (Lent(grid.args.clone()), self.state());
        let Grid { kernel, shape, shared, cooperative, .. } = grid;
        memory::ordered(stream, launch.memory, move || {
            // The whole of it, not only what is not sent.
            let Lent(args) = &{ args };
            let grid = Grid { kernel, args, shape, shared, cooperative };
            // SAFETY: as the caller promises. All memory is the CPU's, there and ordered until this is done, and the shape keeps to the contract.
            unsafe { state.run(&grid, at) };
        })
        .map(drop)
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

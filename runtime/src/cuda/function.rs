//! Kernels of modules on a GPU, and their launches.

use std::{
    ffi::{c_int, c_void},
    ptr,
};

use cudarc::driver::sys::{
    self, CUDA_KERNEL_NODE_PARAMS, CUfunction, CUfunction_attribute as FunctionAttribute, CUlaunchAttribute,
    CUlaunchAttributeID, CUlaunchAttributeValue, CUlaunchConfig,
};
use gpukernel_abi::limits;
use gpukernel_image::Arch;

use super::{CudaDevice, CudaStream, driver, replay};
use crate::{
    Error, KernelAttributes, Result,
    backend::{Backend, BlockThreads},
    prepared::PreparedLaunch,
};

/// What the driver may put between the static and the dynamic shared memory of a block, to align the latter.
const SHARED_PADDING_BYTES: usize = 128;

const WARP: u32 = 32;

/// The first CUDA version whose driver captures launches that start early (edges with data, CUDA Toolkit 12.3 Release Notes).
const CAPTURES_EARLY_STARTS: (u32, u32) = (12, 3);

/// A kernel in a loaded module, valid as long as the module is.
#[derive(Clone, Copy)]
pub(crate) struct Function {
    raw: CUfunction,
    pub(super) threads: BlockThreads,
    /// Shared memory besides the dynamic: its arrays, and a word of the linker's.
    static_shared_bytes: usize,
    /// Whether it begins by waiting for the grids before it, so that it may be started before they have ended.
    waits: bool,
}

// SAFETY: a function is a handle that any thread may use.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

impl Function {
    /// # Safety
    /// The function is of a module that is loaded on the device, and waits if `waits` says so.
    pub(super) unsafe fn new(device: &CudaDevice, raw: CUfunction, waits: bool) -> Result<Self> {
        let threads = BlockThreads { max: 0, usual: BlockThreads::USUAL };
        let mut function = Self { raw, threads, static_shared_bytes: 0, waits };
        function.static_shared_bytes =
            function.attribute(device, FunctionAttribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)? as usize;
        function.threads.max =
            function.attribute(device, FunctionAttribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?;
        function.threads.usual = function.usual_threads(device)?;
        Ok(function)
    }

    /// The block that fills a multiprocessor best: the usual one, unless another has an eighth more warps there.
    fn usual_threads(self, device: &CudaDevice) -> Result<u32> {
        const OTHERS: [u32; 6] = [128, 512, 192, 384, 64, 1024];
        let (mut best, mut most) = (BlockThreads::USUAL, 0);
        for block in [BlockThreads::USUAL].into_iter().chain(OTHERS) {
            if block <= self.threads.max {
                let there = self.resident_blocks(device, block, 0)? * block;
                if there > most + most / 8 {
                    (best, most) = (block, there);
                }
            }
        }
        Ok(best)
    }

    fn attribute(self, device: &CudaDevice, attribute: FunctionAttribute) -> Result<u32> {
        let mut value: c_int = 0;
        // SAFETY: the function is of a loaded module, and the pointer is to a live integer.
        let result = unsafe { sys::cuFuncGetAttribute(&mut value, attribute, self.raw) };
        device.check("cuFuncGetAttribute", result).map(|()| u32::try_from(value).unwrap_or(0))
    }

    /// What the kernel takes of a multiprocessor in blocks of so many threads.
    pub(super) fn attributes(
        self,
        device: &'static CudaDevice,
        block_threads: u32,
        dynamic_shared_bytes: u32,
    ) -> Result<KernelAttributes> {
        let blocks = match self.allows_shared(device, dynamic_shared_bytes)? {
            true => self.resident_blocks(device, block_threads, dynamic_shared_bytes)?,
            false => 0,
        };
        let max_warps = device.limits().max_threads_per_multiprocessor / WARP;
        Ok(KernelAttributes {
            registers: self.attribute(device, FunctionAttribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
            local_bytes: self.attribute(device, FunctionAttribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
            shared_bytes: u32::try_from(self.static_shared_bytes).unwrap_or(u32::MAX),
            max_threads_per_block: self.threads.max,
            blocks_per_multiprocessor: blocks,
            warps: [blocks * block_threads.div_ceil(WARP), max_warps],
        })
    }

    /// Makes room for a launch: of clusters, of shared memory, and of all blocks at once if they wait for each other.
    #[inline]
    pub(super) fn make_room(
        &self,
        device: &'static CudaDevice,
        launch: &PreparedLaunch<'_, CudaDevice>,
    ) -> Result<()> {
        let has_clusters = launch.program.contract().cluster[0] != 0;
        match has_clusters || launch.shared.dynamic_bytes > 0 || launch.cooperative {
            true => self.make_more_room(device, launch),
            false => Ok(()),
        }
    }

    #[inline(never)]
    fn make_more_room(
        &self,
        device: &'static CudaDevice,
        launch: &PreparedLaunch<'_, CudaDevice>,
    ) -> Result<()> {
        let kernel = || launch.program.name().to_owned();
        let has_clusters = launch.program.contract().cluster[0] != 0;
        if has_clusters && device.compute_capability() < Arch::new(9, 0) {
            return Err(Error::NoClusters { kernel: kernel(), device: device.describe() });
        }
        if !self.allows_shared(device, launch.shared.dynamic_bytes)? {
            return Err(launch.shared_too_large(device, self.static_shared_bytes));
        }
        if launch.cooperative {
            let allowed = self.max_resident_blocks(device, launch)?;
            let asked = launch.shape.grid.count();
            if asked > allowed.into() {
                let (kernel, device) = (kernel(), device.describe());
                return Err(Error::GridNotResident { kernel, asked, allowed, device });
            }
        }
        Ok(())
    }

    /// Lets blocks have so many bytes of dynamic shared memory, if these are more than any kernel may have; false if the device has less.
    fn allows_shared(self, device: &'static CudaDevice, dynamic_bytes: u32) -> Result<bool> {
        let (asked, allowed) =
            (self.static_shared_bytes + dynamic_bytes as usize, device.limits().max_shared_bytes_per_block);
        if dynamic_bytes == 0 || asked + SHARED_PADDING_BYTES <= limits::SHARED_BYTES {
            return Ok(true);
        }
        if asked > allowed {
            return Ok(false);
        }
        // All that is left, the same for every launch, so that concurrent launches do not lower it for each other.
        self.allow_dynamic_shared(device, allowed - self.static_shared_bytes)?;
        Ok(true)
    }

    fn allow_dynamic_shared(self, device: &CudaDevice, bytes: usize) -> Result<()> {
        device.bind()?;
        let attribute = FunctionAttribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        let bytes = c_int::try_from(bytes).unwrap_or(c_int::MAX);
        // SAFETY: the function is of a loaded module.
        device.check("cuFuncSetAttribute", unsafe { sys::cuFuncSetAttribute(self.raw, attribute, bytes) })
    }

    /// The maximum number of resident blocks on all multiprocessors together.
    fn max_resident_blocks(
        self,
        device: &CudaDevice,
        launch: &PreparedLaunch<'_, CudaDevice>,
    ) -> Result<u64> {
        let blocks =
            self.resident_blocks(device, launch.shape.block_threads(), launch.shared.dynamic_bytes)?;
        Ok(u64::from(blocks) * u64::from(device.limits().multiprocessors))
    }

    /// The maximum number of resident blocks on a multiprocessor.
    fn resident_blocks(self, device: &CudaDevice, threads: u32, dynamic_shared_bytes: u32) -> Result<u32> {
        device.bind()?;
        let threads = c_int::try_from(threads).unwrap_or(c_int::MAX);
        let shared_bytes = dynamic_shared_bytes as usize;
        let mut blocks: c_int = 0;
        // SAFETY: the function is of a loaded module, and the pointer is to a live integer.
        let result = unsafe {
            sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, self.raw, threads, shared_bytes)
        };
        device.check("cuOccupancyMaxActiveBlocksPerMultiprocessor", result)?;
        Ok(u32::try_from(blocks).unwrap_or(0))
    }

    /// A launch as a node of a graph. It has pointers to what the launch points to.
    pub(super) fn node_parameters(self, launch: &PreparedLaunch<'_, CudaDevice>) -> CUDA_KERNEL_NODE_PARAMS {
        let (grid, block) = (launch.shape.grid, launch.shape.block);
        CUDA_KERNEL_NODE_PARAMS {
            func: self.raw,
            gridDimX: grid.x,
            gridDimY: grid.y,
            gridDimZ: grid.z,
            blockDimX: block.x,
            blockDimY: block.y,
            blockDimZ: block.z,
            sharedMemBytes: launch.shared.dynamic_bytes,
            kernelParams: parameters(launch),
            extra: ptr::null_mut(),
            kern: ptr::null_mut(),
            ctx: ptr::null_mut(),
        }
    }

    /// Queues a launch.
    ///
    /// # Safety
    /// The module is loaded. There is one pointer per parameter of the kernel, to a value of its size and alignment. What the
    /// kernel does with the values is sound, and memory that they point to is ordered on the stream.
    #[inline]
    pub(super) unsafe fn enqueue(
        &self,
        stream: &CudaStream,
        launch: &PreparedLaunch<'_, CudaDevice>,
    ) -> Result<()> {
        if launch.cooperative {
            // SAFETY: as the caller promises.
            return unsafe { self.enqueue_cooperative(stream, launch) };
        }
        let (grid, block) = (launch.shape.grid, launch.shape.block);
        let (mut bytes, mut in_a_row);
        // In a row, which saves the list of where they are. As many bytes as the entry takes: parameters are laid out as here.
        let (parameters, extra) = match launch.packed() {
            Some(packed) => {
                bytes = packed.len();
                in_a_row = [
                    ptr::without_provenance_mut(sys::CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT as usize),
                    packed.as_ptr().cast_mut().cast(),
                    ptr::without_provenance_mut(sys::CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT as usize),
                    (&raw mut bytes).cast(),
                    ptr::null_mut::<c_void>(),
                ];
                (ptr::null_mut(), in_a_row.as_mut_ptr())
            }
            None => (parameters(launch), ptr::null_mut()),
        };
        if self.waits && (!replay::is_recording() || driver::is_at_least(CAPTURES_EARLY_STARTS)) {
            // SAFETY: as the caller promises.
            return unsafe { self.enqueue_early(stream, launch, parameters, extra) };
        }
        // SAFETY: as above.
        stream.launch("cuLaunchKernel", |stream| unsafe {
            sys::cuLaunchKernel(
                self.raw,
                grid.x,
                grid.y,
                grid.z,
                block.x,
                block.y,
                block.z,
                launch.shared.dynamic_bytes,
                stream,
                parameters,
                extra,
            )
        })
    }
}

impl Function {
    /// Queues a launch of a grid whose blocks wait for each other.
    ///
    /// # Safety
    /// As [`enqueue`](Self::enqueue).
    #[inline(never)]
    unsafe fn enqueue_cooperative(
        &self,
        stream: &CudaStream,
        launch: &PreparedLaunch<'_, CudaDevice>,
    ) -> Result<()> {
        let (grid, block) = (launch.shape.grid, launch.shape.block);
        // SAFETY: as the caller promises; the driver copies the values before it returns.
        stream.launch("cuLaunchCooperativeKernel", |stream| unsafe {
            sys::cuLaunchCooperativeKernel(
                self.raw,
                grid.x,
                grid.y,
                grid.z,
                block.x,
                block.y,
                block.z,
                launch.shared.dynamic_bytes,
                stream,
                parameters(launch),
            )
        })
    }

    /// Queues a launch that the device may start before the grid before it has ended, for which the kernel waits (programmatic dependent launch).
    ///
    /// # Safety
    /// As [`enqueue`](Self::enqueue), and the kernel waits. The values are in one of both forms.
    #[inline(never)]
    unsafe fn enqueue_early(
        &self,
        stream: &CudaStream,
        launch: &PreparedLaunch<'_, CudaDevice>,
        parameters: *mut *mut c_void,
        extra: *mut *mut c_void,
    ) -> Result<()> {
        let (grid, block) = (launch.shape.grid, launch.shape.block);
        let mut attribute = CUlaunchAttribute {
            id: CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
            pad: [0; 4],
            value: CUlaunchAttributeValue { programmaticStreamSerializationAllowed: 1 },
        };
        let attributes = &raw mut attribute;
        stream.launch("cuLaunchKernelEx", |stream| {
            let config = CUlaunchConfig {
                gridDimX: grid.x,
                gridDimY: grid.y,
                gridDimZ: grid.z,
                blockDimX: block.x,
                blockDimY: block.y,
                blockDimZ: block.z,
                sharedMemBytes: launch.shared.dynamic_bytes,
                hStream: stream,
                attrs: attributes,
                numAttrs: 1,
            };
            // SAFETY: as the caller promises; the driver copies the values, and the attribute, before it returns.
            unsafe { sys::cuLaunchKernelEx(&config, self.raw, parameters, extra) }
        })
    }
}

/// Where the values of the parameters lie. The driver only reads, although its types are of pointers for writing.
fn parameters(launch: &PreparedLaunch<'_, CudaDevice>) -> *mut *mut c_void {
    launch.parameters.as_ptr().cast_mut().cast()
}

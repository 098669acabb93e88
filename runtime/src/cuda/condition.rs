//! Conditions of graphs: a kernel of our own gives a conditional node the value that a number in memory has, and ends a loop whose kernels panicked.
//!
//! Kernels of users know nothing of it. `cudaGraphSetConditional` is a function of the driver, as `vprintf` is: ptxas knows its name, and nothing needs to be
//! linked (it stays undefined in machine code that nvlink 13.0 made with libcudadevrt).

use std::{
    ffi::c_void,
    iter, ptr,
    sync::{Mutex, PoisonError},
};

use cudarc::driver::sys::{self, CUDA_KERNEL_NODE_PARAMS, CUdeviceptr, CUfunction, CUgraphConditionalHandle};

use super::{CudaDevice, CudaModule, driver};
use crate::Result;

/// The first CUDA version whose conditional nodes may contain copies.
const NEEDED: (u32, u32) = (12, 4);

/// The first one whose conditional nodes have several parts.
pub(super) const NEEDED_FOR_PARTS: (u32, u32) = (12, 8);

/// Without a number, or without a mark of panics (both zero), it is as if that one let the loop go on.
const CODE: &str = "
.version 6.3
.target sm_75
.address_size 64

.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);

.visible .entry gpukernel_set_condition(.param .u64 handle, .param .u64 number, .param .u64 mark)
{
    .reg .pred %p<4>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [handle];
    ld.param.u64 %rd2, [number];
    ld.param.u64 %rd3, [mark];
    setp.ne.u64 %p1, %rd2, 0;
    setp.ne.u64 %p2, %rd3, 0;
    mov.u32 %r1, 1;
    mov.u32 %r2, 0;
    @%p1 ld.u32 %r1, [%rd2];
    @%p2 ld.volatile.u32 %r2, [%rd3];
    and.b32 %r2, %r2, 1;
    setp.ne.u32 %p2, %r1, 0;
    setp.eq.and.u32 %p2, %r2, 0, %p2;
    not.pred %p1, %p1;
    and.pred %p3, %p1, %p2;
    @%p3 ret;
    selp.u32 %r3, %r1, 0, %p2;
    {
        .param .b64 handle_of_call;
        .param .b32 value;
        st.param.b64 [handle_of_call], %rd1;
        st.param.b32 [value], %r3;
        call.uni cudaGraphSetConditional, (handle_of_call, value);
    }
    ret;
}
";

/// The kernel on a device, once it was needed. It is never unloaded.
// The handle is one that any thread may use, as those of other functions.
#[derive(Default)]
pub(super) struct SetCondition(Mutex<Option<(CudaModule, CUfunction)>>);

impl SetCondition {
    pub(super) fn function(&self, device: &'static CudaDevice) -> Result<CUfunction> {
        let mut loaded = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, function)) = &*loaded {
            return Ok(*function);
        }
        driver::require_version(NEEDED)?;
        let module = CudaModule::load(device, CODE.as_bytes(), &|| "the code for conditions".to_owned())?;
        let mut function: CUfunction = ptr::null_mut();
        // SAFETY: the module is loaded, the name ends in a NUL, and the pointer is to a live handle.
        let found = unsafe {
            sys::cuModuleGetFunction(&mut function, module.raw(), c"gpukernel_set_condition".as_ptr())
        };
        device.check("cuModuleGetFunction", found)?;
        *loaded = Some((module, function));
        Ok(function)
    }
}

/// A launch of the kernel: what it is given.
pub(super) struct SetNode {
    function: CUfunction,
    handle: CUgraphConditionalHandle,
    number: CUdeviceptr,
    mark: CUdeviceptr,
}

impl SetNode {
    /// Before a conditional node: the number decides.
    pub(super) fn first(function: CUfunction, handle: CUgraphConditionalHandle, number: usize) -> Self {
        Self { function, handle, number: number as CUdeviceptr, mark: 0 }
    }

    /// One after another at the end of each round of a loop: the number decides, unless one of these marks says that a kernel has panicked.
    pub(super) fn last(&self, marks: impl Iterator<Item = CUdeviceptr>) -> impl Iterator<Item = Self> {
        let mut marks = marks.fuse();
        let first = Self { mark: marks.next().unwrap_or(0), ..*self };
        let rest = marks.map(|mark| Self { number: 0, mark, ..*self });
        iter::once(first).chain(rest)
    }

    /// Where the values of its parameters lie.
    pub(super) fn values(&self) -> [*mut c_void; 3] {
        [
            ptr::from_ref(&self.handle).cast_mut().cast(),
            ptr::from_ref(&self.number).cast_mut().cast(),
            ptr::from_ref(&self.mark).cast_mut().cast(),
        ]
    }

    pub(super) fn parameters(&self, values: &mut [*mut c_void; 3]) -> CUDA_KERNEL_NODE_PARAMS {
        CUDA_KERNEL_NODE_PARAMS {
            func: self.function,
            gridDimX: 1,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: 1,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: 0,
            kernelParams: values.as_mut_ptr(),
            extra: ptr::null_mut(),
            kern: ptr::null_mut(),
            ctx: ptr::null_mut(),
        }
    }
}

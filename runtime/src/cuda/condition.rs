//! Conditions of graphs: a kernel of our own gives a conditional node the value that a number in memory has.
//!
//! Kernels of users know nothing of it. `cudaGraphSetConditional` is a function of the driver, as `vprintf` is: ptxas knows its name, and nothing needs to be
//! linked (it stays undefined in machine code that nvlink 13.0 made with libcudadevrt).

use std::{
    ffi::c_void,
    ptr,
    sync::{Mutex, PoisonError},
};

use cudarc::driver::sys::{self, CUDA_KERNEL_NODE_PARAMS, CUfunction, CUgraphConditionalHandle};

use super::{CudaDevice, CudaModule, driver};
use crate::Result;

/// The first CUDA version whose conditional nodes may contain copies.
const NEEDED: (u32, u32) = (12, 4);

const CODE: &str = "
.version 6.3
.target sm_75
.address_size 64

.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);

.visible .entry gpukernel_set_condition(.param .u64 handle, .param .u64 number)
{
    .reg .pred %p<2>;
    .reg .b32 %r<3>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [handle];
    ld.param.u64 %rd2, [number];
    cvta.to.global.u64 %rd3, %rd2;
    ld.global.u32 %r1, [%rd3];
    setp.ne.u32 %p1, %r1, 0;
    selp.u32 %r2, 1, 0, %p1;
    {
        .param .b64 handle_of_call;
        .param .b32 value;
        st.param.b64 [handle_of_call], %rd1;
        st.param.b32 [value], %r2;
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
    fn function(&self, device: &'static CudaDevice) -> Result<CUfunction> {
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

/// A launch of the kernel.
pub(super) struct SetNode {
    function: CUfunction,
    pub(super) handle: CUgraphConditionalHandle,
    number: u64,
}

impl SetNode {
    pub(super) fn new(
        device: &'static CudaDevice,
        handle: CUgraphConditionalHandle,
        number: usize,
    ) -> Result<Self> {
        Ok(Self { function: device.set_condition().function(device)?, handle, number: number as u64 })
    }

    /// Where the values of its parameters lie.
    pub(super) fn values(&self) -> [*mut c_void; 2] {
        [ptr::from_ref(&self.handle).cast_mut().cast(), ptr::from_ref(&self.number).cast_mut().cast()]
    }

    pub(super) fn parameters(&self, values: &mut [*mut c_void; 2]) -> CUDA_KERNEL_NODE_PARAMS {
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

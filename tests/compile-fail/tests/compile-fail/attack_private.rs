//! A kernel is launched by those who can name it.

#![allow(unused)]

use gpukernel::{Buffer, Module, Result, for_each};

mod kernels {
    use gpu_std::prelude::*;

    #[kernel]
    fn internal(scratch: PerThread<f32>) {}

    pub mod inner {
        use gpu_std::prelude::*;

        #[kernel]
        pub(super) fn hidden(scratch: PerThread<f32>) {}
    }
}

/// Launches a private kernel.
fn private(module: &Module, mut x: Buffer<f32>) -> Result<()> {
    module.launch(kernels::internal, for_each(4), (&mut x,))
}

/// Launches a kernel that is visible one module up, not two.
fn hidden(module: &Module, mut x: Buffer<f32>) -> Result<()> {
    module.launch(kernels::inner::hidden, for_each(4), (&mut x,))
}

/// Names the type behind a private kernel.
fn handle(module: &Module, mut x: Buffer<f32>) -> Result<()> {
    module.launch(|| kernels::__gpukernel_internal, for_each(4), (&mut x,))
}

fn main() {}

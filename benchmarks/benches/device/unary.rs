//! Algorithms that read one buffer and write another.

use bytemuck::Zeroable;
use gpu_std::prelude::DeviceCopy;
use gpukernel::{Buffer, RawArg};
use gpukernel_algorithms::Algorithms;
use gpukernel_bench::{Bench, Compare, Result};

use super::{
    comparison::{CUB, Limit, OURS, compare},
    cub::{Cub, Workspace},
    output::Written,
};

type Function<T, U> = unsafe extern "C" fn(Workspace, *const T, *mut U, i64) -> i32;

/// An algorithm from `x` to so many elements that are written.
pub(super) struct Unary<'a, T: DeviceCopy> {
    /// The name of CUB's function in `cuda/device.cu`.
    pub(super) function: &'a str,
    pub(super) x: &'a Buffer<T>,
    pub(super) written: usize,
    pub(super) tolerance: f64,
    pub(super) limit: Limit,
}

impl<T: DeviceCopy> Unary<'_, T> {
    /// Measures ours beside CUB's.
    pub(super) fn measure<U: DeviceCopy + Zeroable + Compare>(
        self,
        bench: &mut Bench<'_>,
        algorithms: &Algorithms,
        ours: impl Fn(&Buffer<T>, &mut Buffer<U>) -> gpukernel_algorithms::Result<()>,
    ) -> Result {
        let Self { function, x, written, tolerance, limit } = self;
        // SAFETY: the type of the functions of one input and one output.
        let mut cub = unsafe { Cub::<Function<T, U>>::load(algorithms.stream(), function)? };
        let mut of_cub = Written::new(algorithms.device(), written, written)?;
        let mut of_ours = Written::new(algorithms.device(), written, written)?;
        let (from, len) = (x.as_ptr(), x.len() as i64);
        let bytes = x.len() * size_of::<T>() + written * size_of::<U>();
        compare(bench, x.len(), bytes, limit)
            .tolerance(tolerance)
            .provider(CUB, &mut of_cub, |out| {
                let to = out.elements.as_mut_ptr();
                let args = vec![RawArg::slice(x), RawArg::slice_mut(&mut out.elements)];
                // SAFETY: `x` has as many elements, and `out` as many as are written.
                unsafe { cub.queue(args, |function, workspace| function(workspace, from, to, len)) }
            })
            .provider(OURS, &mut of_ours, |out| ours(x, &mut out.elements))
            .run()
    }
}

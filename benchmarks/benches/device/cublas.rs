//! Transposes and products of matrices, beside those of cuBLAS.

use std::{ffi::c_void, ptr};

use cudarc::cublas::{
    result,
    sys::{self, cublasHandle_t, cublasOperation_t},
};
use gpukernel::{Buffer, RawArg, Stream};
use gpukernel_bench::{Bench, Result, bench};

use super::{
    comparison::{Limit, OURS, compare_with},
    input::uniform,
    on_gpu,
};

const CUBLAS: &str = "cuBLAS";

/// A handle of cuBLAS, which queues on a stream.
struct Blas {
    handle: cublasHandle_t,
    stream: Stream,
}

impl Blas {
    /// None where cuBLAS is not in the path of the loader: then the row is skipped.
    fn new(bench: &mut Bench<'_>, stream: &Stream) -> Result<Option<Self>> {
        // SAFETY: the library is NVIDIA's, whose initialisers have no preconditions.
        if !unsafe { sys::is_culib_present() } {
            bench.skip("libcublas is not in the path of the loader (`LD_LIBRARY_PATH`)");
            return Ok(None);
        }
        // With the context of the stream's GPU.
        // SAFETY: it uses no memory of ours.
        let handle = unsafe { stream.queue(&[], |_| result::create_handle())? }?;
        Ok(Some(Self { handle, stream: stream.clone() }))
    }

    /// Queues what `call` does.
    ///
    /// # Safety
    /// `call` calls functions of cuBLAS as they ask for, and `args` are all memory that they use.
    unsafe fn queue(
        &self,
        args: &[RawArg<'_>],
        call: impl Fn(cublasHandle_t) -> std::result::Result<(), result::CublasError>,
    ) -> Result {
        let work = |stream: *mut c_void| {
            // SAFETY: both are alive.
            unsafe { result::set_stream(self.handle, stream.cast())? };
            call(self.handle)
        };
        // SAFETY: as the caller promises.
        Ok(unsafe { self.stream.queue(args, work)? }?)
    }
}

impl Drop for Blas {
    fn drop(&mut self) {
        // SAFETY: it is used no more. If this fails, the context is lost, and with it the handle.
        let _ = unsafe { result::destroy_handle(self.handle) };
    }
}

/// Why products may take longer than cuBLAS's.
const LARGER_TILES: &str = "1.2 of 128 rows: tiles of 64 x 64 elements, whose loads take as many instructions as a third of the products";

/// A square matrix.
#[bench(rows = [1024, 8192, 16_384])]
fn transpose_f32(bench: &mut Bench<'_>, rows: usize) -> Result {
    on_gpu(bench, |bench, algorithms| {
        let Some(blas) = Blas::new(bench, algorithms.stream())? else { return Ok(()) };
        let device = algorithms.device();
        let elements = rows * rows;
        let x = uniform(algorithms, -1.0_f32..1.0, elements)?;
        let (mut theirs, mut ours) = (device.zeroed(elements)?, device.zeroed(elements)?);
        compare_with(CUBLAS, bench, elements, 8 * elements, Some(Limit::Within))
            .expect_like(CUBLAS)
            .provider(CUBLAS, &mut theirs, |to: &mut Buffer<f32>| {
                let (from, out, n) = (x.as_ptr(), to.as_mut_ptr(), rows as i64);
                let args = [RawArg::slice(&x), RawArg::slice_mut(to)];
                let (transposed, as_it_is) = (cublasOperation_t::CUBLAS_OP_T, cublasOperation_t::CUBLAS_OP_N);
                // SAFETY: both have `n` rows and columns.
                unsafe {
                    blas.queue(&args, |handle| {
                        sys::cublasSgeam_64(
                            handle,
                            transposed,
                            as_it_is,
                            n,
                            n,
                            &1.0,
                            from,
                            n,
                            &0.0,
                            ptr::null(),
                            n,
                            out,
                            n,
                        )
                        .result()
                    })
                }
            })
            .provider(OURS, &mut ours, |to| algorithms.transpose(&x, rows, rows, to))
            .run()
    })
}

/// Products of square matrices, of which there are as many as have 2²⁴ elements.
#[bench(rows = [4, 8, 16, 32, 64, 128])]
fn matmul_f32(bench: &mut Bench<'_>, rows: usize) -> Result {
    products(bench, [rows; 3], (1 << 24) / (rows * rows))
}

/// A thousand products of 2 x 4 and 4 x 5.
#[bench]
fn matmul_2_4_5_f32(bench: &mut Bench<'_>) -> Result {
    products(bench, [2, 4, 5], 1000)
}

/// Products of `[rows, inner]` and `[inner, columns]`. Row by row, `c = a * b` is column by column `cᵀ = bᵀ * aᵀ`, as cuBLAS has it.
fn products(bench: &mut Bench<'_>, [rows, inner, columns]: [usize; 3], count: usize) -> Result {
    on_gpu(bench, |bench, algorithms| {
        let Some(blas) = Blas::new(bench, algorithms.stream())? else { return Ok(()) };
        let device = algorithms.device();
        let [of_a, of_b, of_c] = [rows * inner, inner * columns, rows * columns];
        let a = uniform(algorithms, -1.0_f32..1.0, count * of_a)?;
        let b = uniform(algorithms, -1.0_f32..1.0, count * of_b)?;
        let (mut theirs, mut ours) = (device.zeroed(count * of_c)?, device.zeroed(count * of_c)?);
        let bytes = 4 * count * (of_a + of_b + of_c);
        let limit = if rows < 128 { Limit::Within } else { Limit::Unless(LARGER_TILES) };
        compare_with(CUBLAS, bench, count * of_c, bytes, Some(limit))
            .flops(2 * count * rows * inner * columns)
            .tolerance(1e-5)
            .expect_like(CUBLAS)
            .provider(CUBLAS, &mut theirs, |c: &mut Buffer<f32>| {
                let (left, right, to) = (b.as_ptr(), a.as_ptr(), c.as_mut_ptr());
                let args = [RawArg::slice(&a), RawArg::slice(&b), RawArg::slice_mut(c)];
                let [m, n, k] = [columns, rows, inner].map(|extent| extent as i32);
                let strides = [of_b, of_a, of_c].map(|len| len as i64);
                let as_it_is = cublasOperation_t::CUBLAS_OP_N;
                // SAFETY: there are `count` matrices of these extents.
                unsafe {
                    blas.queue(&args, |handle| {
                        result::sgemm_strided_batched(
                            handle,
                            as_it_is,
                            as_it_is,
                            m,
                            n,
                            k,
                            &1.0,
                            left,
                            m,
                            strides[0],
                            right,
                            k,
                            strides[1],
                            &0.0,
                            to,
                            m,
                            strides[2],
                            count as i32,
                        )
                    })
                }
            })
            .provider(OURS, &mut ours, |c| algorithms.matmul(&a, &b, [rows, inner, columns], c))
            .run()
    })
}

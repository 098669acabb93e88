//! How many kernels pipelines are, and what memory they need besides their results. In a program of its own: others allocate meanwhile.

use gpukernel::{Device, Module, record_launches};
use gpukernel_array::{Array, ArrayPipeline, Result};
use gpukernel_pipeline_tests::on_every_device;
use pipeline_test_kernels::{
    cosines, differences, five_steps, fives, layer_norm, running_sum, softmax, sum, variance,
};

/// Elements of each input.
const LEN: usize = 1 << 20;
const COLUMNS: usize = 1 << 10;

/// A counter, each allocation rounded up to what allocations are.
const FEW_BYTES: u64 = 4096;

/// Checks the number of launches of a call, and that it allocates its result, of so many bytes, and nothing else.
#[track_caller]
fn check<R>(
    device: &Device,
    kernels: usize,
    result_bytes: usize,
    call: impl Fn() -> Result<R>,
) -> Result<()> {
    // What blocks leave to each other is in memory that the module keeps.
    call()?;
    device.reset_peak_memory();
    let before = device.memory_info().buffer_bytes;
    let (result, launches) = record_launches(call);
    let result = result?;
    assert_eq!(launches.len(), kernels, "{device}: {launches:?}");
    let allocated = device.memory_info().peak_buffer_bytes - before;
    assert!(
        (result_bytes as u64..=result_bytes as u64 + FEW_BYTES).contains(&allocated),
        "{device}: {allocated} bytes for a result of {result_bytes}: {launches:?}"
    );
    drop(result);
    Ok(())
}

#[test]
fn pipelines_are_one_kernel_or_two_and_have_no_intermediate_arrays() {
    on_every_device(|device: &Device, module: &Module| {
        let [x, y] = [Array::ones(device, LEN)?, Array::ones(device, LEN)?];
        let rows = Array::ones(device, (LEN / COLUMNS, COLUMNS))?;
        let (scale, offset) = (Array::ones(device, COLUMNS)?, Array::ones(device, COLUMNS)?);
        let (doubles, bytes) = (Array::<f64, _>::ones(device, LEN)?, Array::<u8, _>::ones(device, LEN)?);
        let of_f32 = size_of::<f32>();
        check(device, 1, of_f32, || five_steps::call(module, (&x, &y, 0.5_f32)))?;
        check(device, 1, of_f32, || sum::call(module, &x))?;
        check(device, 1, size_of::<f64>(), || variance::call(module, &doubles))?;
        check(device, 1, (LEN - 1) * of_f32, || differences::call(module, &x))?;
        check(device, 1, LEN * of_f32, || softmax::call(module, &rows))?;
        check(device, 1, LEN * of_f32, || layer_norm::call(module, (&rows, &scale, &offset)))?;
        check(device, 1, LEN / COLUMNS * of_f32, || cosines::call(module, (&rows, &rows)))?;
        // These count or combine first, and write then.
        check(device, 2, LEN * of_f32, || running_sum::call(module, &x))?;
        check(device, 2, 5 * LEN, || fives::call(module, &bytes))
    });
}

//! More than 2³¹ and 2³² elements: numbers that 32 bits do not count.
//!
//! On GPUs with enough free memory: for 2³¹ bytes the CPU device takes minutes, because kernels of tests are unoptimised there.

use gpukernel::Device;
use gpukernel_array::{Array, Array1, ArrayPipeline, Result};
use gpukernel_pipeline_tests::on_every_gpu_alone;
use pipeline_test_kernels::{Five, five_of, from_limit, larger, numbered_sums, sum_of_bytes};

/// Whether a device has so many bytes, besides some for others.
fn has_room(device: &Device, bytes: usize) -> bool {
    device.memory_info().free_bytes > bytes as u64 + (1 << 30)
}

/// Bytes from 1 on in parts that begin at no power of two, and their sum.
fn bytes(device: &Device, len: usize) -> Result<(Array1<u8>, u64)> {
    const PART: usize = 100_000_007;
    let (mut bytes, mut sum) = (Array::zeros(device, len)?, 0);
    for (byte, start) in (1_u8..).zip((0..len).step_by(PART)) {
        let end = len.min(start + PART);
        bytes.as_mut_slice()[start..end].fill(byte)?;
        sum += u64::from(byte) * (end - start) as u64;
    }
    Ok((bytes, sum))
}

mod needs_a_gpu {
    use super::*;

    #[test]
    #[ignore = "needs a GPU"]
    fn sums_and_reductions() {
        const LEN: usize = (1 << 32) + 4099;
        on_every_gpu_alone(|device, module| {
            if !has_room(device, LEN) {
                return Ok(());
            }
            let (mut x, sum) = bytes(device, LEN)?;
            assert_eq!(sum_of_bytes::call(module, &x)?.to_scalar()?, sum);
            for place in [0, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, LEN - 1] {
                x.as_mut_slice()[place..=place].fill(255)?;
                assert_eq!(larger::call(module, &x)?.to_scalar()?, 255, "{place}");
                x.as_mut_slice()[place..=place].fill(0)?;
                assert!(larger::call(module, &x)?.to_scalar()? < 255, "{place}");
            }
            Ok(())
        });
    }

    #[test]
    #[ignore = "needs a GPU"]
    fn filters_that_leave_few() {
        const LEN: usize = (1 << 31) + 4099;
        on_every_gpu_alone(|device, module| {
            // There is room for all to be left.
            if !has_room(device, LEN * (1 + size_of::<u64>())) {
                return Ok(());
            }
            let (mut x, _) = bytes(device, LEN)?;
            let mut expected = Vec::new();
            for (byte, place) in (200..).zip([5, 1 << 30, (1 << 31) - 1, 1 << 31, LEN - 2, LEN - 1]) {
                x.as_mut_slice()[place..=place].fill(byte)?;
                expected.push((place as u64) << 8 | u64::from(byte));
            }
            let mut found = from_limit::call(module, (&x, 200))?;
            assert_eq!((found.capacity(), found.to_vec()?), (LEN, expected));
            from_limit::call_into(module, (&x, 255), &mut found)?;
            assert!(found.is_empty()?);
            Ok(())
        });
    }

    /// More than the blocks of a launch along an axis, of which each goes through a row.
    #[test]
    #[ignore = "needs a GPU"]
    fn rows() {
        const ROWS: usize = (1 << 31) + 4099;
        on_every_gpu_alone(|device, module| {
            if !has_room(device, 3 * ROWS) {
                return Ok(());
            }
            let (x, _) = bytes(device, ROWS)?;
            let x = x.into_shape((ROWS, 1))?;
            let found = numbered_sums::call(module, &x)?;
            for start in [0, (1 << 27) - 500, (1 << 31) - 500, ROWS - 1000] {
                let (x, found) = (&x.as_slice()[start..start + 1000], &found.as_slice()[start..start + 1000]);
                let expected = (start..).zip(x.to_vec()?).map(|(row, byte)| [(row % 251) as u8, byte]);
                assert!(found.to_vec()?.into_iter().eq(expected), "{start}");
            }
            Ok(())
        });
    }

    /// More than the threads of a launch, of which each has an element.
    #[test]
    #[ignore = "needs a GPU"]
    fn elements_of_a_thread_each() {
        const LEN: usize = (1 << 32) + 4099;
        on_every_gpu_alone(|device, module| {
            if !has_room(device, LEN * size_of::<Five>()) {
                return Ok(());
            }
            let found = five_of::call(module, (LEN as u64,))?;
            for start in [0, (1 << 31) - 500, (1 << 32) - 500, LEN - 1000] {
                let number =
                    |Five(bytes): Five| bytes.iter().rev().fold(0, |n, byte| n << 8 | usize::from(*byte));
                let found = found.as_slice()[start..start + 1000].to_vec()?;
                assert!(found.into_iter().map(number).eq(start..start + 1000), "{start}");
            }
            Ok(())
        });
    }
}

//! More than 2³¹ and 2³² elements: numbers that 32 bits do not count.
//!
//! Elements are bytes of a pattern that comes again and again. Its length is a prime number, so that elements which are 2³¹ or 2³² apart differ, and all of a result
//! are compared with few that are computed on the host.
//!
//! On the CPU device, functions of contiguous arrays and copies take seconds. Functions of strided arrays take a minute, because kernels of tests are unoptimised
//! there: they run on GPUs. Devices with too little free memory are left out.

use array_test_kernels::{cores::normalise_by_warps, maximum, mixed};
use gpukernel::{Device, DeviceSlice};
use gpukernel_array::{Array, Array2, ArrayFunction, CoreFunction, Error, Result};
use gpukernel_array_tests::{on_every_device_alone, on_every_gpu_alone};
use ndarray::{Axis, s};

const ROWS: usize = 32_777;
/// One more than the length of a pattern: each row begins one element later in the pattern than the one before it.
const COLUMNS: usize = PATTERN + 1;
const PATTERN: usize = 65_521;

/// Whether a device has so many bytes, besides some for others.
fn has_room(device: &Device, bytes: usize) -> bool {
    device.memory_info().free_bytes > bytes as u64 + (1 << 30)
}

/// Bytes that look random, twice: from each place of the first half on there is a whole pattern.
fn twice<const LEN: usize>() -> Vec<u8> {
    let byte = |i: usize| ((i % LEN) as u32).wrapping_mul(0x9e37_79b9) >> 24;
    (0..2 * LEN).map(|i| byte(i) as u8).collect()
}

/// Fills memory with a pattern, by copies of what is there already.
fn repeat(pattern: &[u8], memory: &mut DeviceSlice<u8>) -> Result<()> {
    let mut len = pattern.len();
    memory[..len].copy_from(pattern)?;
    while len < memory.len() {
        let (from, to) = memory.split_at_mut(len);
        let more = len.min(to.len());
        to[..more].copy_from_device(&from[..more])?;
        len += more;
    }
    Ok(())
}

/// A matrix of more than 2³¹ elements, of which row `i` begins at place `i` of the pattern.
fn matrix(device: &Device, pattern: &[u8]) -> Result<Array2<u8>> {
    let mut matrix = Array::zeros(device, (ROWS, COLUMNS))?;
    repeat(&pattern[..PATTERN], matrix.as_mut_slice())?;
    Ok(matrix)
}

/// Compares parts of so many elements, which follow each other, with what `expected` says of each. The last one may be shorter.
fn compare<'e>(found: &DeviceSlice<u8>, len: usize, expected: impl Fn(usize) -> &'e [u8]) -> Result<()> {
    let mut part = vec![0; len];
    for (i, start) in (0..found.len()).step_by(len).enumerate() {
        let len = len.min(found.len() - start);
        found[start..start + len].copy_to(&mut part[..len])?;
        assert!(part[..len] == expected(i)[..len], "elements {start} to {}", start + len);
    }
    Ok(())
}

#[test]
fn contiguous_elements() {
    const PATTERN: usize = 1_048_573;
    let pattern = twice::<PATTERN>();
    let expected: Vec<u8> = pattern.iter().map(|&x| mixed(x, 0x5a)).collect();
    on_every_device_alone(|device, module| {
        // The CPU device takes 4 s for each 2³⁰.
        let len = if device.is_gpu() && has_room(device, 2 << 32) { 1 << 32 } else { 1 << 31 } + 4099;
        if !has_room(device, 2 * len) {
            return Ok(());
        }
        let mut x = Array::zeros(device, len)?;
        repeat(&pattern[..PATTERN], x.as_mut_slice())?;
        let found = mixed::apply(module, (&x, 0x5a))?;
        compare(found.as_slice(), PATTERN, |_| &expected)
    });
}

#[test]
fn copies_of_strided_arrays() {
    let pattern = twice::<PATTERN>();
    on_every_device_alone(|device, _| {
        if !has_room(device, 2 * ROWS * COLUMNS) {
            return Ok(());
        }
        let (x, mut found) = (matrix(device, &pattern)?, Array::zeros(device, (ROWS, COLUMNS))?);
        found.slice_mut(s![..;-1, ..])?.assign(&x)?;
        compare(found.as_slice(), COLUMNS, |row| &pattern[ROWS - 1 - row..])?;
        found.assign(x.slice(s![7, ..])?)?;
        compare(found.as_slice(), COLUMNS, |_| &pattern[7..])
    });
}

mod needs_a_gpu {
    use super::*;

    #[test]
    #[ignore = "needs a GPU"]
    fn transposed_and_broadcast_arrays() {
        const SECOND: [u8; 3] = [0, 0x5a, 0xff];
        let pattern = twice::<PATTERN>();
        let expected = SECOND.map(|b| pattern.iter().map(|&a| mixed(a, b)).collect::<Vec<u8>>());
        on_every_gpu_alone(|device, module| {
            if !has_room(device, 2 * ROWS * COLUMNS) {
                return Ok(());
            }
            // As the rows, the columns of the matrix begin one element later than the one before.
            let x = matrix(device, &pattern)?;
            let column = Array::from_shape_fn(device, (COLUMNS, 1), |(row, _)| SECOND[row % 3])?;
            let found = mixed::apply(module, (x.t(), &column))?;
            assert_eq!(found.shape(), [COLUMNS, ROWS]);
            compare(found.as_slice(), ROWS, |row| &expected[row % 3][row % PATTERN..])
        });
    }

    /// Elements behind 2³² others, which are left out.
    #[test]
    #[ignore = "needs a GPU"]
    fn every_second_element() {
        let pattern = twice::<PATTERN>();
        let mut expected = vec![0; 2 * pattern.len()];
        for (i, to) in expected.iter_mut().skip(1).step_by(2).enumerate() {
            *to = mixed(pattern[2 * i % PATTERN], 0x5a);
        }
        on_every_gpu_alone(|device, module| {
            // Of so many columns that row `i` begins at place `2 · i`.
            let (rows, columns) = (2 * ROWS, PATTERN + 2);
            if !has_room(device, 2 * rows * columns) {
                return Ok(());
            }
            let (mut x, mut found) =
                (Array::zeros(device, (rows, columns))?, Array::zeros(device, (rows, columns))?);
            repeat(&pattern[..PATTERN], x.as_mut_slice())?;
            let odd = s![..;-1, 1..;2];
            mixed::apply_into(module, (x.slice(s![.., ..columns - 1;2])?, 0x5a), found.slice_mut(odd)?)?;
            compare(found.as_slice(), columns, |row| &expected[2 * (rows - 1 - row)..])
        });
    }

    /// Kernels index less than 2³¹ elements along an axis.
    #[test]
    #[ignore = "needs a GPU"]
    fn reductions_of_more_than_2_31_elements_along_an_axis() {
        const LEN: usize = (1 << 31) + 4099;
        on_every_gpu_alone(|device, module| {
            if !has_room(device, 2 * LEN * size_of::<i32>()) {
                return Ok(());
            }
            let mut x = Array::<i32, _>::zeros(device, LEN)?;
            for (i, place) in [0, (1 << 30) - 1, 1 << 30, 1 << 31, LEN - 1].into_iter().enumerate() {
                x.as_mut_slice()[place..=place].fill(1 << i)?;
                let sum = (2 << i) - 1;
                assert_eq!(x.sum()?.to_scalar()?, sum, "with {place}");
                // Far from each other.
                assert_eq!(x.slice(s![..;-1])?.sum()?.to_scalar()?, sum, "with {place}");
            }
            assert_eq!(maximum::reduce(module, &x, Axis(0))?.to_vec()?, [16]);
            assert!(matches!(maximum::accumulate(module, &x, Axis(0)), Err(Error::Runtime(_))));
            Ok(())
        });
    }

    /// More than there are threads in a launch.
    #[test]
    #[ignore = "needs a GPU"]
    fn reductions_and_accumulations_of_more_than_2_32_rows() {
        const PATTERN: usize = 1_048_573;
        const SHAPE: (usize, usize, usize) = ((1 << 16) + 1, 1 << 16, 2);
        const LEN: usize = SHAPE.0 * SHAPE.1;
        let pattern = twice::<PATTERN>();
        let second = |i: usize| mixed(pattern[2 * i % PATTERN], pattern[(2 * i + 1) % PATTERN]);
        let reduced: Vec<u8> = (0..PATTERN).map(second).collect();
        let accumulated: Vec<u8> =
            reduced.iter().enumerate().flat_map(|(i, &second)| [pattern[2 * i % PATTERN], second]).collect();
        on_every_gpu_alone(|device, module| {
            if !has_room(device, 4 * LEN) {
                return Ok(());
            }
            let mut x = Array::zeros(device, SHAPE)?;
            repeat(&pattern[..PATTERN], x.as_mut_slice())?;
            let found = mixed::reduce(module, &x, Axis(2))?;
            compare(found.as_slice(), PATTERN, |_| &reduced)?;
            drop(found);
            let found = mixed::accumulate(module, &x, Axis(2))?;
            compare(found.as_slice(), 2 * PATTERN, |_| &accumulated)
        });
    }

    /// The warps have more threads than a launch.
    #[test]
    #[ignore = "needs a GPU"]
    fn core_calls_of_a_warp_each() {
        const LEN: usize = (1 << 27) + 4099;
        on_every_gpu_alone(|device, module| {
            if !has_room(device, 2 * LEN * size_of::<f32>()) {
                return Ok(());
            }
            let mut x = Array::full(device, (LEN, 1), 2.0_f32)?;
            let places = [0, (1 << 26) - 1, 1 << 26, (1 << 27) - 1, 1 << 27, LEN - 1];
            for place in places {
                x.as_mut_slice()[place..=place].fill(-3.0)?;
            }
            let found = normalise_by_warps::apply(module, (&x,))?.to_vec()?;
            assert!(
                found.into_iter().enumerate().all(|(i, x)| x == if places.contains(&i) { -1.0 } else { 1.0 })
            );
            Ok(())
        });
    }
}

//! `Out`, `Compact` and `Scan`.

use gpu_std::half::f16;
use gpukernel_array::{Array, ArrayPipeline, ForeignArray};
use gpukernel_pipeline_tests::on_every_device;
use pipeline_test_kernels::*;
use proptest::{prelude::*, test_runner::TestRunner};

use crate::{noise, with_each_length};

#[test]
fn adaptors_are_those_of_iterators() {
    on_every_device(|device, module| {
        with_each_length(
            device,
            |i| noise(i) as f32,
            |x, host| {
                let expected: Vec<f32> = host.windows(2).map(|pair| pair[1] - pair[0]).collect();
                assert_eq!(differences::call(module, (&x,))?.to_vec()?, expected);
                let indices: Vec<u32> = (0..host.len()).map(|i| noise(i) % (host.len() as u32 + 3)).collect();
                let gathered = gather::call(module, (&x, &Array::from_vec(device, &indices)?))?;
                let expected: Vec<f32> =
                    indices.iter().map(|i| host.get(*i as usize).copied().unwrap_or(0.0)).collect();
                assert_eq!(gathered.to_vec()?, expected);
                Ok(())
            },
        )?;
        with_each_length(
            device,
            |i| (noise(i) % 100) as i32,
            |x, host| {
                for n in [1, 2, 7, 300] {
                    let expected: Vec<i32> = host.windows(n).map(|window| window.iter().sum()).collect();
                    assert_eq!(window_sums::call(module, (&x, n as u32))?.to_vec()?, expected);
                }
                Ok(())
            },
        )?;
        with_each_length(
            device,
            |i| noise(i) as u16,
            |x, host| {
                for n in [1, 3, 64, usize::from(u16::MAX)] {
                    let expected: Vec<[u16; 2]> =
                        host.chunks(n).map(|chunk| [chunk[chunk.len() - 1], chunk[0]]).collect();
                    assert_eq!(chunk_ends::call(module, (&x, n as u32))?.to_vec()?, expected);
                }
                Ok(())
            },
        )?;
        with_each_length(
            device,
            |i| noise(i) as u8,
            |x, host| {
                // Shorter, and then longer, than the other.
                for len in [host.len() / 2, host.len() + 5] {
                    let other = Array::from_shape_fn(device, len, |i| i as f64)?;
                    let pairs = host.iter().zip(0..len);
                    let expected: Vec<f32> = pairs.map(|(a, b)| f32::from(*a) * b as f32 * 0.5).collect();
                    assert_eq!(mixed::call(module, (&x, &other, 0.5_f32))?.to_vec()?, expected);
                }
                Ok(())
            },
        )?;
        assert_eq!(numbers::call(module, (-3_i32, 4_i32))?.to_vec()?, (-3..4).collect::<Vec<i32>>());
        assert_eq!(numbers::call(module, (4_i32, -3_i32))?.to_vec()?, [0_i32; 0]);
        let most = u64::MAX;
        assert_eq!(numbers::call(module, (most - 2, most))?.to_vec()?, [most - 2, most - 1]);
        Ok(())
    });
}

#[test]
fn any_parts_of_any_arrays() {
    on_every_device(|device, module| {
        let mut runner = TestRunner::new_with_rng(
            ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() },
            proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
        );
        let bound = prop_oneof![0..5_u32, 0..3000_u32, Just(u32::MAX)];
        let cases = (0..3000_usize, bound.clone(), 1..9_u32, bound);
        let ran = runner.run(&cases, |(len, skip, step, take)| {
            let host: Vec<u32> = (0..len).map(noise).collect();
            let expected: Vec<u64> = host
                .iter()
                .skip(skip as usize)
                .step_by(step as usize)
                .rev()
                .take(take as usize)
                .enumerate()
                .map(|(i, v)| (i as u64) << 32 | u64::from(*v))
                .collect();
            let found = Array::from_vec(device, &host)
                .and_then(|x| parts::call(module, (&x, skip, step, take))?.to_vec());
            prop_assert_eq!(found.map_err(|error| TestCaseError::fail(error.to_string()))?, expected);
            Ok(())
        });
        ran.unwrap_or_else(|error| panic!("{error}"));
        Ok(())
    });
}

#[test]
fn filters_leave_items_in_their_order() {
    on_every_device(|device, module| {
        // Some, none, and all.
        for limit in [500, 0, 1001] {
            with_each_length(
                device,
                |i| if noise(i) % 1000 < limit { 1.0 } else { -1.0_f32 },
                |x, host| {
                    let expected: Vec<u32> =
                        (0..host.len() as u32).filter(|i| host[*i as usize] > 0.0).collect();
                    let found = positives::call(module, (&x,))?;
                    assert_eq!((found.len()?, found.capacity()), (expected.len(), host.len()));
                    assert_eq!(found.is_empty()?, expected.is_empty());
                    assert_eq!(found.to_vec()?, expected);
                    assert_eq!(found.view()?.to_vec()?, expected);
                    assert_eq!(found.to_array()?.to_vec()?, expected);
                    Ok(())
                },
            )?;
        }
        with_each_length(
            device,
            |i| noise(i) as u8 & 3,
            |x, host| {
                let expected: Vec<Five> = host.iter().filter(|v| **v != 0).map(|v| Five([*v; 5])).collect();
                let mut found = fives::call(module, (&x,))?;
                assert_eq!(found.to_vec()?, expected);
                // Once more, to the same memory.
                fives::call_into(module, (&x,), &mut found)?;
                assert_eq!(found.to_vec()?, expected);
                Ok(())
            },
        )
    });
}

#[test]
fn scans_combine_in_order() {
    on_every_device(|device, module| {
        with_each_length(
            device,
            |i| i64::from(noise(i)),
            |x, host| {
                let mut sum = 0;
                let expected: Vec<i64> = host
                    .iter()
                    .map(|v| {
                        sum += v;
                        sum
                    })
                    .collect();
                assert_eq!(running_sum::call(module, (&x,))?.to_vec()?, expected);
                Ok(())
            },
        )?;
        with_each_length(
            device,
            |i| noise(i) as u8,
            |x, host| {
                let mut sum = 0;
                let expected: Vec<u64> = host
                    .iter()
                    .map(|v| {
                        sum += u64::from(*v);
                        2 * (sum - u64::from(*v))
                    })
                    .collect();
                assert_eq!(offsets::call(module, (&x,))?.to_vec()?, expected);
                Ok(())
            },
        )?;
        with_each_length(
            device,
            |i| [noise(2 * i) % 65_521, noise(2 * i + 1) % 65_521],
            |x, host| {
                let mut so_far = [1_u64, 0];
                let expected: Vec<[u32; 2]> = host
                    .iter()
                    .map(|[c, d]| {
                        let [a, b] = so_far;
                        so_far = [a * u64::from(*c) % 65_521, (b * u64::from(*c) + u64::from(*d)) % 65_521];
                        so_far.map(|v| v as u32)
                    })
                    .collect();
                assert_eq!(composed::call(module, (&x,))?.to_vec()?, expected);
                Ok(())
            },
        )
    });
}

#[test]
fn results_are_written_to_memory_that_there_is() {
    on_every_device(|device, module| {
        let x = Array::from_vec(device, vec![1.0_f32, 3.0, 6.0])?;
        let mut out = Array::from_vec(device, vec![9.0_f32; 2])?;
        differences::call_into(module, &x, &mut out)?;
        assert_eq!(out.to_vec()?, [2.0, 3.0]);
        let mut total = Array::full(device, ndarray::Ix0(), 7.0_f32)?;
        sum::call_into(module, &x, &mut total)?;
        assert_eq!(total.to_scalar()?, 10.0);
        let mut running = Array::zeros(device, 3)?;
        running_sum::call_into(module, &x, &mut running)?;
        assert_eq!(running.to_vec()?, [1.0_f32, 4.0, 10.0]);
        let _ = f16::ZERO;
        Ok(())
    });
}

/// Of each kind of result. Not held back on a GPU, as functions of arrays are not.
#[test]
fn pipelines_on_streams_are_queued_there() {
    on_every_device(|device, module| {
        let host: Vec<f32> = (0..5000).map(|i| noise(i) as f32 - 9.0).collect();
        let x = Array::from_vec(device, &host)?;
        let stream = device.stream()?;
        let is_held = !device.is_gpu();
        let held = is_held.then(|| stream.hold()).transpose()?;
        let on_stream = &module.on(&stream);
        let above = count_above::call(on_stream, (&x, 100.0))?;
        let differences = differences::call(on_stream, (&x,))?;
        let mut found = positives::call(on_stream, (&x,))?;
        positives::call_into(on_stream, (&x,), &mut found)?;
        let sums = running_sum::call(on_stream, (&x,))?;
        assert!(!is_held || !stream.is_done()?, "nothing waited");
        assert_eq!(count_above::call(module, (&x, 1e30))?.to_scalar()?, 0);
        assert!(!is_held || !stream.is_done()?, "nothing waited");
        drop(held);
        assert_eq!(above.to_scalar()?, host.iter().filter(|&&x| x > 100.0).count());
        let expected: Vec<f32> = host.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!(differences.to_vec()?, expected);
        assert_eq!(found.len()?, host.iter().filter(|&&x| x > 0.0).count());
        assert_eq!(sums.to_vec()?[0], host[0]);
        Ok(())
    });
}

#[test]
fn arrays_of_other_libraries_are_arguments() {
    on_every_device(|device, module| {
        let host: Vec<f32> = (0..6).map(|i| i as f32).collect();
        let foreign = |strides: (usize, usize)| {
            let mut buffer = device.upload(&host)?;
            let start = buffer.as_mut_ptr();
            // SAFETY: the buffer has six elements, and stays where it is until it is dropped.
            unsafe { ForeignArray::from_raw(&device.default_stream(), start, (2, 3), strides, buffer) }
        };
        let (x, column_major) = (foreign((3, 1))?, foreign((1, 2))?);
        assert_eq!(sum::call(module, &x)?.to_scalar()?, 15.0);
        assert_eq!(rmse::call(module, (&x, x.view()))?.to_scalar()?, 0.0);
        assert_eq!(softmax::call(module, (foreign((3, 1))?,))?.shape(), [2, 3]);
        let error = sum::call(module, &column_major).err().map(|error| error.to_string());
        assert!(error.is_some_and(|error| error.contains("has the strides [1, 2]")));
        Ok(())
    });
}

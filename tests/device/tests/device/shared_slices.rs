//! Shared arrays whose length the launch gives, arrays beyond 48 KiB, contracts about both, and arrays of a thread's own.

use gpukernel::{Device, Error, LaunchConfig, Module, Result, for_each};
use gpukernel_device_test_kernels::shared_slices::{
    ask_shared, bounded_shared, four_arrays, in_clusters, large_arrays, length_without_bytes,
    local_histogram, local_matrix, local_stack, read_shared, reverse_any_block, smooth, whole_48_kib,
    whole_48_kib_too, wide_elements,
};
use gpukernel_device_tests::{on_every_device, on_the_cpu};

#[test]
fn the_length_may_be_that_of_any_block() {
    let xs: Vec<u32> = (0..1000).collect();
    on_every_device(|device, module| {
        let x = device.upload(&xs)?;
        for threads in [1, 10, 50, 100, 250, 1000] {
            let mut y = device.zeroed::<u32>(xs.len())?;
            module.launch(
                reverse_any_block,
                LaunchConfig::new(1000 / threads, threads),
                (&x, threads, &mut y),
            )?;
            let expected: Vec<u32> =
                xs.chunks(threads).flat_map(|block| block.iter().rev().copied()).collect();
            assert_eq!(y.to_vec()?, expected, "{threads} threads");
        }
        Ok(())
    });
}

#[test]
fn several_arrays_of_several_types_do_not_overlap() {
    on_every_device(|device, module| {
        for (bytes, wide, words) in
            [(1, 1, 1), (3, 5, 7), (33, 1, 100), (0, 64, 0), (5, 0, 2), (255, 300, 999)]
        {
            let mut out = device.filled(2, [-1.0; 4])?;
            module.launch(four_arrays, LaunchConfig::new(2, 32), (bytes, wide, words, &mut out))?;
            let expected: [f64; 4] = [
                (1..=bytes).map(|byte| byte as f64).sum(),
                (0..wide).map(|i| i as f64 + 0.5).sum(),
                (100..105).map(f64::from).sum(),
                (0..words).map(|i| 1000.0 + i as f64).sum(),
            ];
            assert_eq!(out.to_vec()?, [expected; 2], "{bytes}, {wide}, {words}");
        }
        Ok(())
    });
}

#[test]
fn arrays_change_places() {
    let expected = |rounds, len: usize| {
        let mut front: Vec<f32> = (0..len).map(|i| i as f32).collect();
        for _ in 0..rounds {
            front = (0..len).map(|i| front[i.saturating_sub(1)] + front[(i + 1).min(len - 1)]).collect();
        }
        front
    };
    on_every_device(|device, module| {
        for (rounds, len, threads) in [(0, 8, 8), (1, 8, 4), (2, 100, 32), (7, 33, 64)] {
            let mut out = device.zeroed::<f32>(len)?;
            module.launch(smooth, LaunchConfig::new(1, threads), (rounds, len, len, &mut out))?;
            assert_eq!(out.to_vec()?, expected(rounds, len), "{rounds} rounds of {len}");
        }
        Ok(())
    });
}

#[test]
fn every_element_belongs_to_one_thread_of_the_block() {
    on_every_device(|device, module| {
        for (len, threads) in [(0, 4), (1, 64), (100, 7), (100, 100), (1024, 256)] {
            let mut out = device.filled(3, [9; 2])?;
            module.launch(ask_shared, LaunchConfig::new(3, threads), (len, &mut out))?;
            assert_eq!(out.to_vec()?, [[len as u32; 2]; 3], "{len} elements, {threads} threads");
        }
        Ok(())
    });
}

#[test]
fn elements_are_aligned_behind_others() {
    on_every_device(|device, module| {
        for bytes in [1, 2, 15, 16, 17, 129] {
            let mut out = device.zeroed::<u64>(20)?;
            module.launch(wide_elements, LaunchConfig::new(2, 8), (bytes, 5, &mut out))?;
            assert!(out.to_vec()?.into_iter().eq((0..20).map(|i| i % 5 + 8)), "{bytes} bytes first");
        }
        Ok(())
    });
}

/// 80 KiB, and what the launch adds: more than any GPU has without asking for it.
#[test]
fn arrays_beyond_48_kib() {
    on_every_device(|device, module| {
        if device.limits().max_shared_bytes_per_block < 96 << 10 {
            return Ok(());
        }
        for more in [1, 1000, 8000] {
            let mut out = device.zeroed::<u32>(1024)?;
            module.launch(large_arrays, LaunchConfig::new(4, 256), (more, &mut out))?;
            let expected =
                (0..1024).map(|i| 16383 - i as u32 + u32::from(i as u8) + u32::from(3 * (i % more) as u16));
            assert!(out.to_vec()?.into_iter().eq(expected), "{more} more");
        }
        Ok(())
    });
}

/// A panic in a function that two kernels call finds out which of them it was by a word of shared memory.
#[test]
fn panics_beside_arrays_of_exactly_48_kib() {
    on_every_device(|device, module| {
        let mut out = device.zeroed::<u32>(256)?;
        module.launch(whole_48_kib, LaunchConfig::new(1, 256), (12287, &mut out))?;
        assert_eq!(out.to_vec()?, [5 * 12287; 256]);
        module.launch(whole_48_kib_too, LaunchConfig::new(1, 256), (12286, &mut out))?;
        assert_eq!(out.to_vec()?, [5 * 12286; 256]);
        let error = module
            .launch(whole_48_kib, LaunchConfig::new(1, 1), (12288, &mut out))
            .and_then(|()| device.synchronize());
        assert!(error.unwrap_err().to_string().contains("whole_48_kib"));
        Ok(())
    });
}

#[test]
fn as_much_as_a_block_can_have() {
    on_every_device(|device, module| {
        let most = device.limits().max_shared_bytes_per_block / 4;
        let mut out = device.zeroed::<u32>(1)?;
        for len in [12 << 10, (12 << 10) + 1, most] {
            module.launch(read_shared, LaunchConfig::new(1, 128), (len, len - 1, &mut out))?;
            assert_eq!(out.to_vec()?, [7 * (len as u32 - 1)]);
        }
        let error =
            module.launch(read_shared, LaunchConfig::new(1, 128), (most + 1, 0, &mut out)).unwrap_err();
        let Error::SharedTooLarge { asked_bytes, allowed_bytes, .. } = &error else { panic!("{error}") };
        assert_eq!((*asked_bytes, *allowed_bytes), (4 * most + 4, 4 * most));
        for absurd in [1 << 30, 1 << 40, usize::MAX / 4, usize::MAX] {
            let error =
                module.launch(read_shared, LaunchConfig::new(1, 128), (absurd, 0, &mut out)).unwrap_err();
            assert!(matches!(error, Error::SharedTooLarge { .. }), "{error}");
        }
        assert_eq!(out.to_vec()?, [7 * (most as u32 - 1)], "nothing ran");
        let blocks = |bytes| {
            let attributes = module.attributes_with_shared(read_shared, 128, bytes)?;
            Ok::<_, Error>(attributes.map(|attributes| attributes.blocks_per_multiprocessor))
        };
        let found = [blocks(0)?, blocks(4 * most)?, blocks(4 * most + 4)?, blocks(usize::MAX)?];
        if let Some(without) = found[0] {
            assert!(without > 1 && found[1..] == [Some(1), Some(0), Some(0)], "{found:?}");
        }
        assert_eq!(found[0].is_some(), device.is_gpu());
        Ok(())
    });
}

#[test]
fn no_more_than_the_contract_allows() {
    on_every_device(|device, module| {
        let mut out = device.zeroed::<u32>(4)?;
        module.launch(bounded_shared, for_each(4), (224, &mut out))?;
        assert_eq!(out.to_vec()?, [226; 4]);
        let error = module.launch(bounded_shared, for_each(4), (225, &mut out)).unwrap_err();
        assert!(
            matches!(error, Error::SharedTooLarge { asked_bytes: 1028, allowed_bytes: 1024, .. }),
            "{error}"
        );
        assert!(error.to_string().contains("its contract (`shared_bytes`) allows 1024 per block"), "{error}");
        Ok(())
    });
}

/// On the CPU alone: on a GPU a panic may end the context.
#[test]
fn indices_beyond_the_length_of_the_launch_are_panics() {
    on_the_cpu(|device, module| {
        let mut out = device.zeroed::<u32>(1)?;
        let error = module
            .launch(read_shared, LaunchConfig::new(1, 8), (10, 10, &mut out))
            .and_then(|()| device.synchronize())
            .unwrap_err();
        let Error::KernelPanicked { message, .. } = &error else { panic!("{error}") };
        assert!(message.contains("the len is 10 but the index is 10"), "{message}");
        Ok(())
    });
}

fn launch_in_clusters(device: &Device, module: &Module, blocks: usize) -> Result<Vec<u32>> {
    let mut out = device.zeroed::<u32>(blocks * 32)?;
    module.launch(in_clusters, LaunchConfig::new(blocks, 32), (&mut out,))?;
    out.to_vec()
}

#[test]
fn grids_are_whole_clusters() {
    on_every_device(|device, module| {
        let error = launch_in_clusters(device, module, 3).unwrap_err();
        assert!(
            matches!(error, Error::BrokenClusters { blocks: [3, 1, 1], cluster: [2, 1, 1], .. }),
            "{error}"
        );
        assert!(error.to_string().contains("`cluster = (2, 1, 1)`; use multiples of that"), "{error}");
        Ok(())
    });
    on_the_cpu(|device, module| {
        assert!(launch_in_clusters(device, module, 4)?.into_iter().eq((0..128).map(|i| i / 32)));
        let mut out = device.zeroed::<u32>(70)?;
        module.launch(in_clusters, for_each(70), (&mut out,))?;
        assert!(out.to_vec()?.into_iter().eq((0..70).map(|i| i / 32)));
        Ok(())
    });
}

#[test]
fn arrays_of_a_thread_are_indexed_with_values() {
    let xs: Vec<u32> = (0..500).map(|i| i * i % 97).collect();
    let mut expected = [0; 8];
    xs.iter().for_each(|x| expected[*x as usize % 8] += 1);
    on_every_device(|device, module| {
        let x = device.upload(&xs)?;
        let mut out = device.filled(70, [0_u32; 8])?;
        module.launch(local_histogram, for_each(70), (&x, &mut out))?;
        assert_eq!(out.to_vec()?, [expected; 70]);
        Ok(())
    });
}

#[test]
fn arrays_of_a_thread_are_its_own() {
    on_every_device(|device, module| {
        for depth in [0, 1, 13, 64] {
            let mut out = device.zeroed::<u64>(200)?;
            module.launch(local_stack, for_each(200), (depth, &mut out))?;
            let expected = (0..200_u64)
                .map(|i| (0..depth as u64).rev().fold(0_u64, |sum, k| sum * 3 % 1_000_003 + i * k));
            assert!(out.to_vec()?.into_iter().eq(expected), "depth {depth}");
        }
        Ok(())
    });
}

#[test]
fn small_matrices_of_a_thread() {
    let matrices: Vec<[f32; 9]> =
        (0..50).map(|i| [0, 1, 2, 3, 4, 5, 6, 7, 8].map(|k| ((i + k) % 5) as f32)).collect();
    on_every_device(|device, module| {
        let x = device.upload(&matrices)?;
        let mut out = device.filled(50, [[0.0; 3]; 3])?;
        module.launch(local_matrix, for_each(50), (&x, &mut out))?;
        for (square, x) in out.to_vec()?.iter().zip(&matrices) {
            for (row, found) in square.iter().enumerate() {
                for (column, found) in found.iter().enumerate() {
                    let expected: f32 = (0..3).map(|k| x[row * 3 + k] * x[k * 3 + column]).sum();
                    assert_eq!(*found, expected);
                }
            }
        }
        Ok(())
    });
}

/// Lengths travel in 32 bits, and elements without bytes need no memory that could be too little.
#[test]
fn arrays_without_bytes_are_not_longer_than_kernels_count() {
    on_every_device(|device, module| {
        let mut out = device.zeroed::<usize>(1)?;
        for len in [0, 7, u32::MAX as usize] {
            module.launch(length_without_bytes, LaunchConfig::new(1, 1), (&mut out, len))?;
            assert_eq!(out.to_vec()?, [len]);
        }
        for len in [u32::MAX as usize + 1, (1 << 32) + 7, usize::MAX] {
            let error =
                module.launch(length_without_bytes, LaunchConfig::new(1, 1), (&mut out, len)).unwrap_err();
            assert!(
                matches!(error, Error::SharedTooLong { asked, allowed: u32::MAX, .. } if asked == len),
                "{error}"
            );
        }
        Ok(())
    });
}

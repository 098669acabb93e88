//! Outputs that each thread owns a part of: every element is written once, whatever the grid.

use gpukernel::{Error, LaunchConfig, for_each, for_each_2d};
use gpukernel_device_test_kernels::outputs::{
    add_index, add_place, add_place_in_blocks, bounded, count_units, exact, largest_tiles,
    largest_tiles_of_a_slice, owned_by_warps, saxpy, split, sums_of_warps, visits_of_blocks, write_index,
};
use gpukernel_device_tests::on_every_device;

#[test]
fn saxpy_is_exact_on_small_integers() {
    let xs: Vec<f32> = (0..10_000).map(|i| i as f32).collect();
    let ys = vec![1.0_f32; xs.len()];
    let expected: Vec<f32> = xs.iter().map(|x| 2.0 * x + 1.0).collect();
    on_every_device(|device, module| {
        let x = device.upload(&xs)?;
        let mut y = device.upload(&ys)?;
        module.launch(saxpy, for_each(y.len()), (2.0, &x, &mut y))?;
        assert_eq!(y.to_vec()?, expected);
        Ok(())
    });
}

#[test]
fn memory_without_values_is_written_by_kernels() {
    on_every_device(|device, module| {
        for len in [0, 1, 1000] {
            let mut values = device.uninit(len)?;
            module.launch(write_index, for_each(len), (&mut values,))?;
            // SAFETY: the kernel has written each.
            let values = unsafe { values.assume_init() };
            let expected: Vec<[u32; 2]> = (0..len as u32).map(|i| [i, !i]).collect();
            assert_eq!(values.to_vec()?, expected);
        }
        Ok(())
    });
}

#[test]
fn every_element_belongs_to_one_thread() {
    on_every_device(|device, module| {
        for len in [1, 63, 1000, 65_537] {
            let expected: Vec<u64> = (0..len as u64).map(|i| 1 + i).collect();
            let shapes: [LaunchConfig; 4] = [
                for_each(len),
                LaunchConfig::new(1, 1),
                LaunchConfig::new(3, 37),
                LaunchConfig::new(100, 1024),
            ];
            for shape in shapes {
                let mut values = device.zeroed::<u64>(len)?;
                module.launch(add_index, shape, (&mut values,))?;
                assert_eq!(values.to_vec()?, expected, "{len} elements, {shape:?}");
            }
        }
        Ok(())
    });
}

#[test]
fn every_element_belongs_to_one_warp() {
    on_every_device(|device, module| {
        // Blocks of whole warps, of parts of one, along three axes; more warps than elements, and fewer.
        for (blocks, threads) in
            [((3, 1, 1), (64, 1, 1)), ((2, 1, 1), (40, 1, 1)), ((2, 2, 3), (7, 5, 3)), ((5, 1, 1), (1, 1, 1))]
        {
            for len in [1, 7, 100] {
                let mut values = device.filled(len, [0; 3])?;
                module.launch(owned_by_warps, LaunchConfig::new(blocks, threads), (&mut values,))?;
                let warps =
                    (blocks.0 * blocks.1 * blocks.2) * (threads.0 * threads.1 * threads.2).div_ceil(32);
                let expected: Vec<[u32; 3]> =
                    (0..len).map(|i| [(i % warps) as u32, 1 + u32::from(i < warps), 1]).collect();
                assert_eq!(values.to_vec()?, expected, "{len} elements, {blocks:?} blocks of {threads:?}");
            }
        }
        Ok(())
    });
}

#[test]
fn a_warp_writes_one_result() {
    on_every_device(|device, module| {
        for threads in [32_usize, 96, 70, 5] {
            let warps = threads.div_ceil(32);
            let mut sums = device.zeroed::<u32>(4 * warps)?;
            module.launch(sums_of_warps, LaunchConfig::new(4, threads), (&mut sums,))?;
            let of = |i: usize| (i % warps * 32..threads.min(i % warps * 32 + 32)).sum::<usize>() as u32;
            assert_eq!(sums.to_vec()?, (0..4 * warps).map(of).collect::<Vec<_>>(), "{threads} threads");
        }
        Ok(())
    });
}

#[test]
fn the_threads_of_a_block_visit_each_index_once() {
    on_every_device(|device, module| {
        for threads in [1, 33, 256] {
            for len in [1, 32, 257, 1000] {
                let mut visits = device.zeroed::<u32>(3 * len)?;
                module.launch(visits_of_blocks, LaunchConfig::new(3, threads), (len, &mut visits))?;
                assert_eq!(visits.to_vec()?, vec![1; 3 * len], "{len} indices, {threads} threads");
            }
        }
        Ok(())
    });
}

#[test]
fn every_place_belongs_to_one_thread() {
    on_every_device(|device, module| {
        for (rows, columns) in [(1, 1), (1, 77), (77, 1), (45, 67), (128, 128)] {
            let expected: Vec<[u32; 2]> = (0..rows as u32)
                .flat_map(|row| (0..columns as u32).map(move |column| [1 + row, 1 + column]))
                .collect();
            let shapes: [LaunchConfig; 4] = [
                for_each_2d(rows, columns),
                LaunchConfig::new((1, 1), (1, 1)),
                LaunchConfig::new((2, 3), (13, 5)),
                LaunchConfig::new((8, 8), (32, 8)),
            ];
            for shape in shapes {
                let mut values = device.filled(rows * columns, [0; 2])?;
                module.launch(add_place, shape, (values.view_2d_mut(columns)?,))?;
                assert!(values.to_vec()? == expected, "{rows} x {columns}, {shape:?}");
            }
            let mut values = device.filled(rows * columns, [0; 2])?;
            let places = for_each_2d(rows, columns);
            module.launch(add_place_in_blocks, places, (values.view_2d_mut(columns)?,))?;
            assert!(values.to_vec()? == expected, "{rows} x {columns}, blocks by contract");
        }
        Ok(())
    });
}

#[test]
fn outputs_of_one_launch_may_differ_in_length() {
    let xs: Vec<i32> = (-500..500).collect();
    on_every_device(|device, module| {
        let x = device.upload(&xs)?;
        let mut negative = device.zeroed::<u8>(xs.len())?;
        let mut doubled = device.zeroed::<i64>(700)?;
        module.launch(split, LaunchConfig::new(3, 50), (&x, &mut negative, &mut doubled))?;
        assert!(negative.to_vec()?.iter().zip(&xs).all(|(&negative, &x)| (negative == 1) == (x < 0)));
        assert!(doubled.to_vec()?.iter().zip(&xs).all(|(&doubled, &x)| doubled == 2 * i64::from(x)));
        Ok(())
    });
}

/// `saxpy` of a part leaves the rest alone.
#[test]
fn a_part_of_a_buffer() {
    on_every_device(|device, module| {
        let x = device.upload(&[1.0_f32, 2.0, 3.0, 4.0, 5.0])?;
        let mut y = device.zeroed::<f32>(5)?;
        module.launch(saxpy, for_each(2), (10.0, &x[3..], &mut y[1..3]))?;
        assert_eq!(y.to_vec()?, [0.0, 40.0, 50.0, 0.0, 0.0]);
        Ok(())
    });
}

#[test]
fn nothing_runs_for_empty_grids_and_buffers() {
    on_every_device(|device, module| {
        let x = device.upload::<f32>(&[])?;
        let mut y = device.zeroed::<f32>(0)?;
        assert!(y.is_empty() && y.to_vec()?.is_empty());
        module.launch(saxpy, for_each(0), (1.0, &x, &mut y))?;
        module.launch(saxpy, LaunchConfig::new(4, 64), (1.0, &x, &mut y))?;

        let mut untouched = device.filled(3, 7_u64)?;
        module.launch(add_index, for_each(0), (&mut untouched,))?;
        module.launch(add_index, LaunchConfig::new(0, 64), (&mut untouched,))?;
        module.launch(add_index, LaunchConfig::new(64, 0), (&mut untouched,))?;
        assert_eq!(untouched.to_vec()?, [7; 3]);

        let mut rows = device.filled(0, [0_u32; 2])?;
        module.launch(add_place, for_each_2d(0, 0), (rows.view_2d_mut(0)?,))?;
        module.launch(add_place, LaunchConfig::new((2, 2), (8, 8)), (rows.view_2d_mut(5)?,))?;
        Ok(())
    });
}

#[test]
fn computed_blocks_keep_the_contract() {
    on_every_device(|device, module| {
        let mut threads = device.zeroed::<u32>(1000)?;
        module.launch(bounded, for_each(1000), (&mut threads,))?;
        assert_eq!(threads.to_vec()?, vec![64; 1000]);
        module.launch(exact, for_each(1000), (&mut threads,))?;
        assert_eq!(threads.to_vec()?, vec![128; 1000]);
        Ok(())
    });
}

/// Places of tiles are products that do not wrap: no two blocks own an element, whatever the extents of a tile.
#[test]
fn the_largest_tiles_belong_to_one_block() {
    on_every_device(|device, module| {
        let mut counts = device.zeroed::<u32>(3 * 2)?;
        module.launch(largest_tiles, LaunchConfig::new((5, 4, 3), (3, 1)), (counts.view_2d_mut(3)?,))?;
        assert_eq!(counts.to_vec()?, [101, 101, 101, 1, 1, 1]);
        let mut counts = device.zeroed::<u32>(5)?;
        module.launch(largest_tiles_of_a_slice, LaunchConfig::new(7, 3), (&mut counts,))?;
        assert_eq!(counts.to_vec()?, [1, 1, 1, 0, 0]);
        Ok(())
    });
}

#[test]
fn elements_without_bytes_are_counted() {
    on_every_device(|device, module| {
        let mut counts = device.zeroed::<u64>(2)?;
        let (mut units, mut others) = (device.filled(1000, ())?, device.filled(isize::MAX as usize, ())?);
        let far = others.view_strided_mut(5, isize::MAX as usize - 10)?;
        assert_eq!(far.len(), 2);
        module.launch(count_units, LaunchConfig::new(2, 16), (10, &mut units, far, &mut counts))?;
        assert_eq!(counts.to_vec()?, [990, 3]);
        for len in [isize::MAX as usize + 1, usize::MAX] {
            let error = device.filled(len, ()).unwrap_err();
            assert!(matches!(error, Error::TooManyElements { asked } if asked == len), "{error}");
        }
        Ok(())
    });
}

#[test]
fn views_of_elements_without_bytes_have_limits() {
    on_every_device(|device, _| {
        let mut units = device.filled(isize::MAX as usize, ())?;
        assert!(matches!(units.view_2d(1), Err(Error::TooManyRows { .. })));
        assert!(matches!(units.view_2d(0), Err(Error::NotRows { .. })));
        assert!(matches!(units.view_3d(1 << 32, 1 << 32), Err(Error::NotLayers { .. })));
        assert!(matches!(units.view_3d(0, usize::MAX), Err(Error::NotLayers { .. })));
        assert!(units.view_strided(usize::MAX, 1).is_err() && units.view_strided(0, 0).is_err());
        assert_eq!(units.view_strided_mut(0, usize::MAX)?.len(), 1);
        // 2⁶³ - 1 has divisors of which both rows and columns are below 2³².
        assert!(matches!(units.view_2d(7 * 7 * 127 * 649_657), Err(Error::TooManyRows { .. })));
        let most = i32::MAX as usize;
        let units = device.filled(most * most, ())?;
        let rows = units.view_2d(most)?;
        assert_eq!((rows.rows(), rows.columns()), (most, most));
        let last = rows.part(most - 1.., most - 1..)?;
        assert_eq!((last.rows(), last.columns()), (1, 1));
        Ok(())
    });
}

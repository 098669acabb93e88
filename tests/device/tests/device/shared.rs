//! Shared arrays and the barrier of the block.

use gpukernel::{LaunchConfig, for_each, for_each_2d};
use gpukernel_device_test_kernels::shared::{
    TILE, pass_left, reverse_blocks, rotate, rounds, small_from_the_start, sum_blocks, transpose, two_arrays,
    valid_from_the_start,
};
use gpukernel_device_tests::on_every_device;

#[test]
fn transposes_through_padded_tiles() {
    on_every_device(|device, module| {
        for (rows, columns) in [(TILE, TILE), (64, 128), (1, 1), (33, 65), (100, 7)] {
            let matrix: Vec<f32> = (0..rows * columns).map(|i| i as f32).collect();
            let input = device.upload(&matrix)?;
            let mut output = device.zeroed::<f32>(rows * columns)?;
            // The output has `columns` rows of `rows` elements.
            module.launch(transpose, for_each_2d(columns, rows), (&input, output.view_2d_mut(rows)?))?;
            let found = output.to_vec()?;
            for (i, element) in found.into_iter().enumerate() {
                let (row, column) = (i % rows, i / rows);
                assert_eq!(element, matrix[row * columns + column], "{rows} x {columns} at {row}, {column}");
            }
        }
        Ok(())
    });
}

#[test]
fn reverses_each_block() {
    let xs: Vec<u32> = (0..1024).collect();
    on_every_device(|device, module| {
        let x = device.upload(&xs)?;
        let mut y = device.zeroed::<u32>(xs.len())?;
        module.launch(reverse_blocks, for_each(xs.len()), (&x, &mut y))?;
        let expected: Vec<u32> = xs.chunks(256).flat_map(|block| block.iter().rev().copied()).collect();
        assert_eq!(y.to_vec()?, expected);
        Ok(())
    });
}

#[test]
fn reduces_each_block() {
    let xs: Vec<f64> = (0..5000).map(f64::from).collect();
    let expected: Vec<f64> = xs.chunks(256).map(|block| block.iter().sum()).collect();
    on_every_device(|device, module| {
        let x = device.upload(&xs)?;
        let mut sums = device.zeroed::<f64>(expected.len())?;
        module.launch(sum_blocks, LaunchConfig::new(expected.len(), 256), (&x, &mut sums))?;
        assert_eq!(sums.to_vec()?, expected);
        Ok(())
    });
}

#[test]
fn threads_may_own_several_elements_of_an_array() {
    on_every_device(|device, module| {
        let mut out = device.zeroed::<u32>(200)?;
        module.launch(rotate, LaunchConfig::new(1, 64), (77, &mut out))?;
        assert!(out.to_vec()?.into_iter().eq((0..200).map(|i| (i + 77) % 200)));
        Ok(())
    });
}

#[test]
fn two_arrays_through_one_barrier() {
    on_every_device(|device, module| {
        let mut out = device.zeroed::<u64>(96)?;
        module.launch(two_arrays, LaunchConfig::new(3, 32), (&mut out,))?;
        assert!(out.to_vec()?.into_iter().eq((0..96).map(|i| 1031 - i % 32)));
        Ok(())
    });
}

#[test]
fn the_barrier_orders_device_memory() {
    on_every_device(|device, module| {
        let mut slots = device.filled(512, u32::MAX)?;
        let mut out = device.zeroed::<u32>(512)?;
        module.launch(pass_left, LaunchConfig::new(4, 128), (&mut slots, &mut out))?;
        assert!(out.to_vec()?.into_iter().eq((0..512).map(|i| (i % 128 + 1) % 128)));
        Ok(())
    });
}

#[test]
fn arrays_are_used_again_in_a_loop() {
    on_every_device(|device, module| {
        for count in [0, 1, 2, 63, 130] {
            let mut out = device.zeroed::<u32>(128)?;
            module.launch(rounds, LaunchConfig::new(2, 64), (count, &mut out))?;
            let sum: u32 = (0..count).sum();
            assert!(out.to_vec()?.into_iter().eq((0..128).map(|i| (i + count) % 64 + sum)), "{count} rounds");
        }
        Ok(())
    });
}

/// Shared memory starts with any bytes, of which most are no `bool`, no `char` and no variant.
/// The derive macro took a type for one of which any bytes are a value, because its fields are such.
#[test]
fn elements_that_keep_a_promise_are_zero_from_the_start() {
    on_every_device(|device, module| {
        // Leaves bytes behind.
        let xs = device.upload(&vec![u32::MAX; 1 << 14])?;
        let mut ys = device.zeroed::<u32>(1 << 14)?;
        module.launch(reverse_blocks, for_each(1 << 14), (&xs, &mut ys))?;
        let mut found = device.filled(8 * 40, 1_u32)?;
        module.launch(small_from_the_start, LaunchConfig::new(8, 40), (&mut found, 33))?;
        assert_eq!(found.to_vec()?, vec![0; 8 * 40]);
        Ok(())
    });
}

#[test]
fn elements_are_valid_from_the_start() {
    const LETTERS: usize = 77;
    for threads in [1, 40, 96, 256] {
        let write: Vec<bool> = (0..300).map(|i| i * i % 7 < 3).collect();
        let written = |n: usize| write[..n].iter().filter(|write| **write).count() as u32;
        // Which thread writes a mark is told by its place, row by row.
        let marks = (0..3 * 50).filter(|i| write[i % 50]);
        let marks: u32 = marks.map(|i| if i % threads % 2 == 0 { 1 } else { 100 }).sum();
        let letters = written(LETTERS);
        let expected =
            [written(300), marks, letters + 1000 * (LETTERS as u32 - letters), written(40.min(threads))];
        on_every_device(|device, module| {
            let write = device.upload(&write)?;
            // Leaves bytes behind.
            let xs = device.upload(&vec![u32::MAX; 1 << 14])?;
            let mut ys = device.zeroed::<u32>(1 << 14)?;
            module.launch(reverse_blocks, for_each(1 << 14), (&xs, &mut ys))?;
            let mut counts = device.zeroed::<[u32; 4]>(8 * threads)?;
            let grid = LaunchConfig::new(8, threads);
            module.launch(valid_from_the_start, grid, (&write, LETTERS, &mut counts))?;
            assert_eq!(counts.to_vec()?, vec![expected; 8 * threads]);
            Ok(())
        });
    }
}

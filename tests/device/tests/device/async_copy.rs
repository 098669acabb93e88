//! Asynchronous copies into shared memory.

use gpukernel::LaunchConfig;
use gpukernel_device_test_kernels::async_copy::{
    LARGE, LEN, PART, TILE, bulk_after_some_left, bulk_and_by_hand, bulk_column_sums, bulk_dropped, bulk_f32,
    bulk_from_argument, bulk_from_local, bulk_large, bulk_of_what_was_written, bulk_rounds, bulk_tile,
    bulk_triples, bulk_u8, bulk_u16, bulk_u64, bulk_u128, copy_both, copy_f32, copy_from_constant,
    copy_from_local, copy_from_shared, copy_tile, copy_triples, copy_u8, copy_u16, copy_u64, copy_u128,
    drop_and_go_on, pipeline_of_1, pipeline_of_2, pipeline_of_3, pipeline_of_4, pipeline_of_5,
    some_leave_early, sum_tile_rows,
};
use gpukernel_device_tests::{on_every_device, on_every_device_that_lets_threads_end};

/// Copies from every place that matters for alignment, with sources longer and shorter than the array.
macro_rules! copies {
    ($($(#[$doc:meta])* $test:ident: $kernel:ident, $t:ty, $element:expr;)*) => {$(
        $(#[$doc])*
        #[test]
        fn $test() {
            let element: fn(usize) -> $t = $element;
            on_every_device(|device, module| {
                for len in [0, 1, 7, 50, LEN - 1, LEN, LEN + 40] {
                    let xs: Vec<$t> = (0..len).map(element).collect();
                    let x = device.upload(&xs)?;
                    for first in [0, 1, 2, 3, 4, 8, 17, len / 2, len] {
                        // So that what is not written shows.
                        let mut out = device.filled(LEN, element(77))?;
                        module.launch($kernel, LaunchConfig::new(1, 64), (first, &x, &mut out))?;
                        let copied = xs.iter().skip(first).copied();
                        let expected = copied.chain(std::iter::repeat(<$t>::default())).take(LEN);
                        assert!(
                            out.to_vec()?.into_iter().eq(expected),
                            "{len} elements from {first} on"
                        );
                    }
                }
                Ok(())
            });
        }
    )*};
}

copies! {
    bytes_are_copied: copy_u8, u8, |i| (i * 7 + 1) as u8;
    elements_of_two_bytes_are_copied: copy_u16, u16, |i| (i * 777 + 1) as u16;
    elements_of_four_bytes_are_copied: copy_f32, f32, |i| i as f32 + 0.5;
    elements_of_eight_bytes_are_copied: copy_u64, u64, |i| (i as u64 + 1) << 33 | 5;
    elements_of_sixteen_bytes_are_copied: copy_u128, u128, |i| (i as u128 + 1) << 99 | 3;
    /// A piece of 16 bytes begins and ends inside of an element.
    elements_that_straddle_pieces_are_copied: copy_triples, [f32; 3], |i| [i as f32, 0.5, -1.0 - i as f32];
    bytes_are_copied_in_bulk: bulk_u8, u8, |i| (i * 7 + 1) as u8;
    elements_of_two_bytes_are_copied_in_bulk: bulk_u16, u16, |i| (i * 777 + 1) as u16;
    elements_of_four_bytes_are_copied_in_bulk: bulk_f32, f32, |i| i as f32 + 0.5;
    elements_of_eight_bytes_are_copied_in_bulk: bulk_u64, u64, |i| (i as u64 + 1) << 33 | 5;
    elements_of_sixteen_bytes_are_copied_in_bulk: bulk_u128, u128, |i| (i as u128 + 1) << 99 | 3;
    elements_that_straddle_pieces_are_copied_in_bulk: bulk_triples, [f32; 3], |i| [i as f32, 0.5, -1.0 - i as f32];
}

/// Copies tiles from inside of matrices and from their edges.
macro_rules! tiles {
    ($($test:ident: $kernel:ident;)*) => {$(
        #[test]
        fn $test() {
            let [tile_rows, tile_columns, _] = TILE;
            on_every_device(|device, module| {
                // Rows that are multiples of 16, 8, 4 and 2 bytes.
                for (rows, columns) in [(40, 96), (30, 52), (13, 46), (25, 41), (3, 5), (1, 1)] {
                    let xs: Vec<u16> = (0..rows * columns).map(|i| i as u16 + 1).collect();
                    let x = device.upload(&xs)?;
                    for place in [[0, 0], [1, 8], [5, 3], [rows - 1, columns - 1], [rows, 0], [0, columns]] {
                        let mut out = device.filled(tile_rows * tile_columns, u16::MAX)?;
                        module.launch($kernel, LaunchConfig::new(1, (32, 2)), (place, x.view_2d(columns)?, &mut out))?;
                        for (i, found) in out.to_vec()?.into_iter().enumerate() {
                            let (row, column) = (place[0] + i / tile_columns, place[1] + i % tile_columns);
                            let inside = row < rows && column < columns;
                            let expected = if inside { xs[row * columns + column] } else { 0 };
                            assert_eq!(found, expected, "{rows} x {columns} from {place:?}, ({row}, {column})");
                        }
                    }
                }
                Ok(())
            });
        }
    )*};
}

tiles! {
    tiles_inside_and_at_the_edges_are_copied: copy_tile;
    tiles_inside_and_at_the_edges_are_copied_in_bulk: bulk_tile;
}

#[test]
fn the_next_tile_is_copied_in_bulk_while_one_is_read() {
    on_every_device(|device, module| {
        // The last tile is whole, partial in whole pieces, and partial within a piece; fewer rows than the tile has, and more.
        for (rows, columns) in [(16, 320), (16, 32), (10, 52), (40, 35), (1, 1)] {
            let xs: Vec<u32> = (0..rows * columns).map(|i| (i * i) as u32).collect();
            let x = device.upload(&xs)?;
            let mut sums = device.filled(columns, u32::MAX)?;
            module.launch(bulk_column_sums, LaunchConfig::new(1, 32), (x.view_2d(columns)?, &mut sums))?;
            for (column, found) in sums.to_vec()?.into_iter().enumerate() {
                let expected = (0..rows.min(16)).map(|row| xs[row * columns + column]).sum::<u32>();
                assert_eq!(found, expected, "{rows} x {columns}, column {column}");
            }
        }
        Ok(())
    });
}

#[test]
fn blocks_copy_large_arrays_in_bulk() {
    on_every_device(|device, module| {
        for blocks in [1, 2, 9] {
            let xs: Vec<u32> =
                (0..(blocks * LARGE - 5) as u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
            let x = device.upload(&xs)?;
            let mut sums = device.zeroed::<u64>(blocks)?;
            module.launch(bulk_large, LaunchConfig::new(blocks, 128), (&x, &mut sums))?;
            let weigh = |part: &[u32]| part.iter().zip(1..).map(|(&x, i)| u64::from(x) * i).sum::<u64>();
            let expected: Vec<u64> = xs.chunks(LARGE).map(weigh).collect();
            assert_eq!(sums.to_vec()?, expected, "{blocks} blocks");
        }
        Ok(())
    });
}

/// The engine has a way of its own to memory.
#[test]
fn what_a_thread_has_written_is_copied_in_bulk() {
    on_every_device(|device, module| {
        let mut mine = device.filled(32, [7_u32; 64])?;
        let mut wrong = device.zeroed::<u32>(64)?;
        module.launch(bulk_of_what_was_written, LaunchConfig::new(1, 32), (50, &mut mine, &mut wrong))?;
        assert_eq!(wrong.to_vec()?, [0; 64]);
        assert!(mine.to_vec()?[31].into_iter().eq((0..64).map(|i| 49_000 + i)));
        Ok(())
    });
}

#[test]
fn threads_that_ended_are_not_missed_by_a_copy_in_bulk() {
    on_every_device_that_lets_threads_end(|device, module| {
        let x = device.upload(&(0..16).collect::<Vec<u32>>())?;
        let mut out = device.filled(96, u32::MAX)?;
        module.launch(bulk_after_some_left, LaunchConfig::new(1, 96), (&x, &mut out))?;
        assert!(out.to_vec()?.into_iter().eq((0..96).map(|i| if i < 32 { i % 16 } else { u32::MAX })));
        Ok(())
    });
}

#[test]
fn an_argument_is_copied_in_bulk() {
    on_every_device(|device, module| {
        let mut out = device.filled(64, u32::MAX)?;
        let x: [u32; 40] = std::array::from_fn(|i| 5 * i as u32 + 1);
        module.launch(bulk_from_argument, LaunchConfig::new(1, 32), (x, &mut out))?;
        assert!(out.to_vec()?.into_iter().eq((0..64).map(|i| if i < 40 { 5 * i + 1 } else { 0 })));
        Ok(())
    });
}

#[test]
fn rows_of_a_tile_are_slices() {
    on_every_device(|device, module| {
        let x = device.upload(&(0..128).collect::<Vec<u32>>())?;
        let mut out = device.zeroed(5)?;
        module.launch(sum_tile_rows, LaunchConfig::new(1, 32), (x.view_2d(32)?, &mut out))?;
        assert_eq!(out.to_vec()?, [496, 1520, 2544, 3568, u32::MAX]);
        Ok(())
    });
}

/// The hardware copies from global memory only: elsewhere the threads load.
#[test]
fn a_source_in_local_memory_is_copied() {
    on_every_device(|device, module| {
        let mut out = device.filled(64, u32::MAX)?;
        module.launch(copy_from_local, LaunchConfig::new(1, 32), (9, &mut out))?;
        assert!(out.to_vec()?.into_iter().eq((0..64).map(|i| if i < 50 { 9 * i } else { 0 })));
        Ok(())
    });
}

#[test]
fn a_source_in_shared_memory_is_copied() {
    on_every_device(|device, module| {
        let x = device.upload(&(100..164).collect::<Vec<u32>>())?;
        let mut out = device.filled(64, u32::MAX)?;
        module.launch(copy_from_shared, LaunchConfig::new(1, 32), (&x, &mut out))?;
        assert!(out.to_vec()?.into_iter().eq((0..64).map(|i| if i < 61 { 103 + i } else { 0 })));
        Ok(())
    });
}

#[test]
fn a_constant_is_copied() {
    on_every_device(|device, module| {
        let mut out = device.filled(8, u32::MAX)?;
        module.launch(copy_from_constant, LaunchConfig::new(1, 32), (&mut out,))?;
        assert_eq!(out.to_vec()?, [11, 22, 33, 44, 55, 0, 0, 0]);
        Ok(())
    });
}

#[test]
fn two_arrays_arrive_together() {
    on_every_device(|device, module| {
        let x = device.upload(&(0..64).collect::<Vec<u32>>())?;
        let y = device.upload(&(0..64).map(|i| i << 32).collect::<Vec<u64>>())?;
        let mut out = device.zeroed(64)?;
        module.launch(copy_both, LaunchConfig::new(1, 32), (&x, &y, &mut out))?;
        assert!(out.to_vec()?.into_iter().eq((0..64).map(|i| i << 32 | i)));
        Ok(())
    });
}

#[test]
fn a_copy_may_be_given_up() {
    on_every_device(|device, module| {
        let x = device.upload(&(0..64).collect::<Vec<u32>>())?;
        let mut out = device.zeroed(64)?;
        module.launch(drop_and_go_on, LaunchConfig::new(1, 32), (&x, &mut out))?;
        assert!(out.to_vec()?.into_iter().eq((0..64).rev()));
        Ok(())
    });
}

#[test]
fn a_copy_in_bulk_may_be_given_up() {
    on_every_device(|device, module| {
        let x = device.upload(&(0..64).collect::<Vec<u32>>())?;
        let mut out = device.zeroed(64)?;
        module.launch(bulk_dropped, LaunchConfig::new(1, 32), (&x, &mut out))?;
        assert!(out.to_vec()?.into_iter().eq(0..64));
        Ok(())
    });
}

#[test]
fn a_source_in_local_memory_is_copied_by_hand_instead_of_in_bulk() {
    on_every_device(|device, module| {
        let mut out = device.filled(64, u32::MAX)?;
        module.launch(bulk_from_local, LaunchConfig::new(1, 32), (9, &mut out))?;
        assert!(out.to_vec()?.into_iter().eq((0..64).map(|i| if i < 50 { 9 * i } else { 0 })));
        Ok(())
    });
}

#[test]
fn threads_that_ended_copy_nothing() {
    on_every_device_that_lets_threads_end(|device, module| {
        let x = device.upload(&(0..16).collect::<Vec<u32>>())?;
        let mut out = device.filled(96, u32::MAX)?;
        module.launch(some_leave_early, LaunchConfig::new(1, 96), (&x, &mut out))?;
        assert!(out.to_vec()?.into_iter().eq((0..96).map(|i| if i < 32 { i % 16 } else { u32::MAX })));
        Ok(())
    });
}

macro_rules! pipelines {
    ($($test:ident: $kernel:ident;)*) => {$(
        #[test]
        fn $test() {
            on_every_device(|device, module| {
                for len in [0, 1, PART, PART + 1, 2 * PART, 5 * PART - 3, 33 * PART + 16] {
                    let xs: Vec<u32> = (0..len as u32).map(|i| i % 1000 + 1).collect();
                    let x = device.upload(&xs)?;
                    let mut out = device.zeroed::<u64>(1)?;
                    module.launch($kernel, LaunchConfig::new(1, 32), (&x, &mut out))?;
                    let weighted = xs.iter().enumerate().map(|(i, &x)| u64::from(x) * (i / PART + 1) as u64);
                    assert_eq!(out.to_vec()?[0], weighted.sum::<u64>(), "{len} elements");
                }
                Ok(())
            });
        }
    )*};
}

pipelines! {
    one_stage_on_its_way: pipeline_of_1;
    two_stages_on_their_way: pipeline_of_2;
    three_stages_on_their_way: pipeline_of_3;
    copies_in_bulk_one_after_another_and_two_at_once: bulk_rounds;
    copies_in_bulk_and_by_threads_by_turns: bulk_and_by_hand;
    four_stages_on_their_way: pipeline_of_4;
    more_stages_on_their_way_than_the_hardware_waits_for_one_by_one: pipeline_of_5;
}

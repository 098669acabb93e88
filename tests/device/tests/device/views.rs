//! Parameters with a shape: every element is written once whatever the grid, nothing around a part is touched, and places outside
//! of a view are none.

use gpukernel::{Error, LaunchConfig, for_each, for_each_2d, for_each_3d, for_each_tile_2d};
use gpukernel_device_test_kernels::views::{
    add_place_3d, add_place_3d_in_blocks, add_row_and_column, ask_3d, ask_strided, block_maxima,
    copy_strided, extents, neighbours, neighbours_3d, read_2d, read_3d, read_strided, reverse_tiles,
    row_heads, row_sums, sum_strided, transpose_tiles, transpose_views, visit_per_block, visit_tiles,
    visit_tiles_2d,
};
use gpukernel_device_tests::{on_every_device, on_the_cpu};

/// Grids that fit nothing, everything, and half of it.
fn shapes_3d(layers: usize, rows: usize, columns: usize) -> [LaunchConfig; 4] {
    [
        for_each_3d(layers, rows, columns),
        LaunchConfig::new((1, 1, 1), (1, 1, 1)),
        LaunchConfig::new((2, 1, 2), (3, 2, 1)),
        LaunchConfig::new((4, 3, 2), (8, 4, 2)),
    ]
}

#[test]
fn every_place_of_a_volume_belongs_to_one_thread() {
    on_every_device(|device, module| {
        for (layers, rows, columns) in [(1, 1, 1), (1, 1, 77), (9, 1, 3), (1, 17, 5), (5, 7, 11)] {
            let expected: Vec<[u32; 3]> = (0..layers as u32 * rows as u32 * columns as u32)
                .map(|i| [i / (rows * columns) as u32, i / columns as u32 % rows as u32, i % columns as u32])
                .map(|place| place.map(|place| place + 1))
                .collect();
            for shape in shapes_3d(layers, rows, columns) {
                let mut values = device.filled(layers * rows * columns, [0; 3])?;
                module.launch(add_place_3d, shape, (values.view_3d_mut(rows, columns)?,))?;
                assert!(values.to_vec()? == expected, "{layers} x {rows} x {columns}, {shape:?}");
            }
            let mut values = device.filled(layers * rows * columns, [0; 3])?;
            let places = for_each_3d(layers, rows, columns);
            module.launch(add_place_3d_in_blocks, places, (values.view_3d_mut(rows, columns)?,))?;
            assert!(values.to_vec()? == expected, "{layers} x {rows} x {columns}, blocks by contract");
        }
        Ok(())
    });
}

#[test]
fn a_place_of_a_volume_is_given_to_its_thread_alone() {
    on_every_device(|device, module| {
        for shape in shapes_3d(3, 4, 5) {
            let mut values = device.zeroed::<u32>(60)?;
            module.launch(ask_3d, shape, (values.view_3d_mut(4, 5)?,))?;
            assert_eq!(values.to_vec()?, [1; 60], "{shape:?}");
        }
        Ok(())
    });
}

#[test]
fn a_part_of_a_volume_leaves_the_rest_alone() {
    on_every_device(|device, module| {
        let mut values = device.filled(6 * 7 * 8, [0_u32; 3])?;
        let part = values.view_3d_mut(7, 8)?.part(1..4, 2.., ..=4)?;
        assert_eq!((part.layers(), part.rows(), part.columns()), (3, 5, 5));
        module.launch(add_place_3d, for_each_3d(3, 5, 5), (part,))?;
        for (i, value) in values.to_vec()?.into_iter().enumerate() {
            let (layer, row, column) = (i / 56, i / 8 % 7, i % 8);
            let inside = (1..4).contains(&layer) && row >= 2 && column <= 4;
            let expected =
                if inside { [layer, row - 1, column + 1].map(|place| place as u32) } else { [0; 3] };
            assert_eq!(value, expected, "({layer}, {row}, {column})");
        }
        Ok(())
    });
}

#[test]
fn one_layer_of_a_volume_is_a_matrix() {
    on_every_device(|device, module| {
        let mut values = device.zeroed::<u32>(3 * 4 * 5)?;
        let layer = values.view_3d_mut(4, 5)?.layer(1)?;
        module.launch(add_row_and_column, for_each_2d(4, 5), (layer,))?;
        let expected: Vec<u32> =
            (0..60).map(|i| if i / 20 == 1 { i / 5 % 4 * 1000 + i % 5 } else { 0 }).collect();
        assert_eq!(values.to_vec()?, expected);
        Ok(())
    });
}

#[test]
fn volumes_are_read_by_place() {
    let (layers, rows, columns) = (4, 5, 6);
    let volume: Vec<u32> = (0..layers * rows * columns).map(|i| (i * i) as u32 % 101).collect();
    let at = |layer: isize, row: isize, column: isize| {
        let inside = (0..layers as isize).contains(&layer)
            && (0..rows as isize).contains(&row)
            && (0..columns as isize).contains(&column);
        if inside { volume[(layer as usize * rows + row as usize) * columns + column as usize] } else { 0 }
    };
    let mut expected = Vec::new();
    for layer in 0..layers as isize {
        for row in 0..rows as isize {
            for column in 0..columns as isize {
                expected.push(
                    at(layer - 1, row, column)
                        + at(layer + 1, row, column)
                        + at(layer, row - 1, column)
                        + at(layer, row + 1, column)
                        + at(layer, row, column - 1)
                        + at(layer, row, column + 1),
                );
            }
        }
    }
    on_every_device(|device, module| {
        let from = device.upload(&volume)?;
        let mut to = device.zeroed::<u32>(volume.len())?;
        let args = (from.view_3d(rows, columns)?, to.view_3d_mut(rows, columns)?);
        module.launch(neighbours, for_each_3d(layers, rows, columns), args)?;
        assert_eq!(to.to_vec()?, expected);
        Ok(())
    });
}

#[test]
fn rows_of_a_volume_are_slices() {
    let volume: Vec<u32> = (0..3 * 4 * 5).collect();
    on_every_device(|device, module| {
        let from = device.upload(&volume)?;
        let mut to = device.filled(2 * 3, [9; 2])?;
        let part = from.view_3d(4, 5)?.part(1.., 1..4, 2..)?;
        module.launch(row_heads, for_each_2d(2, 3), (part, to.view_2d_mut(3)?))?;
        assert_eq!(to.to_vec()?, [[27, 3], [32, 3], [37, 3], [47, 3], [52, 3], [57, 3]]);
        Ok(())
    });
}

#[test]
fn matrices_are_read_by_place() {
    on_every_device(|device, module| {
        for (rows, columns) in [(1, 1), (3, 50), (50, 3), (33, 65)] {
            let matrix: Vec<u32> = (0..rows as u32 * columns as u32).collect();
            let from = device.upload(&matrix)?;
            let mut to = device.zeroed::<u32>(matrix.len())?;
            let args = (from.view_2d(columns)?, to.view_2d_mut(rows)?);
            module.launch(transpose_views, for_each_2d(columns, rows), args)?;
            let expected = (0..rows * columns).map(|i| matrix[i % rows * columns + i / rows]);
            assert!(to.to_vec()?.into_iter().eq(expected), "{rows} x {columns}");
        }
        Ok(())
    });
}

#[test]
fn parts_of_matrices_are_read_and_written_in_place() {
    let matrix: Vec<u32> = (0..20 * 30).collect();
    on_every_device(|device, module| {
        let from = device.upload(&matrix)?;
        let mut to = device.zeroed::<u32>(25 * 25)?;
        // Rows 2 to 12 and columns 5 to 25 of one, transposed into rows 3 to 23 and columns 7 to 17 of the other.
        let part = from.view_2d(30)?.part(2..12, 5..25)?;
        assert_eq!((part.rows(), part.columns(), part.pitch()), (10, 20, 30));
        let target = to.view_2d_mut(25)?.part(3..23, 7..17)?;
        module.launch(transpose_views, LaunchConfig::new((2, 2), (4, 3)), (part, target))?;
        for (i, value) in to.to_vec()?.into_iter().enumerate() {
            let (row, column) = (i / 25, i % 25);
            let inside = (3..23).contains(&row) && (7..17).contains(&column);
            let expected = if inside { matrix[(2 + column - 7) * 30 + 5 + row - 3] } else { 0 };
            assert_eq!(value, expected, "({row}, {column})");
        }
        Ok(())
    });
}

#[test]
fn a_part_of_a_part_counts_from_its_own_start() {
    on_every_device(|device, module| {
        let mut values = device.zeroed::<u32>(9 * 9)?;
        let part = values.view_2d_mut(9)?.part(2..8, 1..8)?.part(1..3, 3..)?;
        assert_eq!((part.rows(), part.columns(), part.pitch()), (2, 4, 9));
        module.launch(add_row_and_column, for_each_2d(2, 4), (part,))?;
        let found = values.to_vec()?;
        assert_eq!(found[3 * 9 + 4..3 * 9 + 8], [0, 1, 2, 3]);
        assert_eq!(found[4 * 9 + 4..4 * 9 + 8], [1000, 1001, 1002, 1003]);
        assert_eq!(found.iter().filter(|value| **value != 0).count(), 7);
        Ok(())
    });
}

#[test]
fn both_halves_of_a_matrix_are_outputs_of_one_launch() {
    on_every_device(|device, module| {
        let mut values = device.upload(&(0..48).collect::<Vec<u32>>())?;
        let (left, right) = values.view_2d_mut(8)?.split_columns(3)?;
        assert_eq!((left.columns(), right.columns()), (3, 5));
        module.launch(add_row_and_column, for_each_2d(6, 3), (left,))?;
        let (top, bottom) = right.split_rows(2)?;
        assert_eq!((top.rows(), bottom.rows()), (2, 4));
        module.launch(add_row_and_column, for_each_2d(2, 5), (top,))?;
        module.launch(add_row_and_column, for_each_2d(4, 5), (bottom,))?;
        for (i, value) in values.to_vec()?.into_iter().enumerate() {
            let (row, column) = (i / 8, i % 8);
            let (row, column) = match column {
                0..3 => (row, column),
                _ if row < 2 => (row, column - 3),
                _ => (row - 2, column - 3),
            };
            assert_eq!(value as usize, i + 1000 * row + column, "element {i}");
        }
        Ok(())
    });
}

#[test]
fn rows_of_a_matrix_are_slices() {
    let matrix: Vec<f64> = (0..7 * 9).map(f64::from).collect();
    on_every_device(|device, module| {
        let from = device.upload(&matrix)?;
        let mut sums = device.zeroed::<f64>(8)?;
        module.launch(row_sums, for_each(8), (from.view_2d(9)?, &mut sums))?;
        let mut expected: Vec<f64> = matrix.chunks(9).map(|row| row.iter().sum()).collect();
        expected.push(-1.0); // There is no eighth row.
        assert_eq!(sums.to_vec()?, expected);

        let mut sums = device.zeroed::<f64>(2)?;
        module.launch(row_sums, for_each(2), (from.view_2d(9)?.part(5.., 1..3)?, &mut sums))?;
        assert_eq!(sums.to_vec()?, [46.0 + 47.0, 55.0 + 56.0]);
        // Rows without columns are there, and empty.
        module.launch(row_sums, for_each(2), (from.view_2d(9)?.part(5.., 9..)?, &mut sums))?;
        assert_eq!(sums.to_vec()?, [0.0, 0.0]);
        Ok(())
    });
}

#[test]
fn strided_elements_are_copied_and_those_between_left_alone() {
    let numbers: Vec<i64> = (0..100).map(|i| 10 * i).collect();
    on_every_device(|device, module| {
        let from = device.upload(&numbers)?;
        for (first, step, to_first, to_step) in [(0, 1, 0, 1), (3, 7, 1, 2), (99, 1, 0, 5), (50, 25, 2, 9)] {
            let view = from.view_strided(first, step)?;
            let mut to = device.filled(view.len() * to_step + to_first, -1_i64)?;
            let target = to.view_strided_mut(to_first, to_step)?;
            assert_eq!((target.len(), target.step()), (view.len(), to_step));
            module.launch(copy_strided, LaunchConfig::new(2, 3), (view, target))?;
            for (i, value) in to.to_vec()?.into_iter().enumerate() {
                let expected = match i.checked_sub(to_first) {
                    Some(i) if i % to_step == 0 => numbers[first + i / to_step * step] + (i / to_step) as i64,
                    _ => -1,
                };
                assert_eq!(value, expected, "{first}, {step}, {to_first}, {to_step}: element {i}");
            }
        }
        Ok(())
    });
}

#[test]
fn a_strided_element_is_given_to_its_thread_alone() {
    on_every_device(|device, module| {
        for grid in [LaunchConfig::new(1, 1), LaunchConfig::new(2, 3), LaunchConfig::new(5, 64)] {
            let mut values = device.zeroed::<u8>(40)?;
            module.launch(ask_strided, grid, (values.view_strided_mut(1, 4)?,))?;
            assert!(values.to_vec()?.into_iter().eq((0..40).map(|i| if i % 4 == 1 { 2 } else { 0 })));
        }
        Ok(())
    });
}

#[test]
fn columns_of_a_matrix_are_strided_views() {
    let matrix: Vec<u32> = (0..6 * 5).collect();
    on_every_device(|device, module| {
        let from = device.upload(&matrix)?;
        let mut sum = device.zeroed::<u32>(1)?;
        for column in 0..5 {
            module.launch(sum_strided, for_each(1), (from.view_2d(5)?.column(column)?, &mut sum))?;
            assert_eq!(sum.to_vec()?, [(0..6).map(|row| row * 5 + column as u32).sum::<u32>()]);
        }
        let mut bytes = device.zeroed::<u8>(12)?;
        module.launch(ask_strided, for_each(4), (bytes.view_2d_mut(3)?.column(2)?,))?;
        assert_eq!(bytes.to_vec()?, [0, 0, 2, 0, 0, 2, 0, 0, 2, 0, 0, 2]);
        Ok(())
    });
}

#[test]
fn each_block_writes_one_result() {
    let xs: Vec<u32> = (0..1000).map(|i| i * 7919 % 1009).collect();
    let expected: Vec<u32> = xs.chunks(64).map(|part| part.iter().copied().max().unwrap_or(0)).collect();
    on_every_device(|device, module| {
        let x = device.upload(&xs)?;
        let mut maxima = device.zeroed::<u32>(16)?;
        module.launch(block_maxima, LaunchConfig::new(16, 64), (&x, &mut maxima))?;
        assert_eq!(maxima.to_vec()?, expected);
        Ok(())
    });
}

#[test]
fn every_result_of_blocks_belongs_to_one_thread() {
    on_every_device(|device, module| {
        for len in [1, 6, 23, 100] {
            let grids: [LaunchConfig; 4] = [
                LaunchConfig::new(1, 1),
                LaunchConfig::new(len, 64),
                LaunchConfig::new((3, 2, 2), (4, 2, 2)),
                LaunchConfig::new((1, 200), (1, 3)),
            ];
            for grid in grids {
                let mut counts = device.zeroed::<u32>(len)?;
                module.launch(visit_per_block, grid, (&mut counts,))?;
                assert!(counts.to_vec()?.into_iter().eq((0..len as u32).map(|i| 101 + i)), "{len}, {grid:?}");
            }
        }
        Ok(())
    });
}

#[test]
fn every_element_of_every_tile_belongs_to_one_thread() {
    on_every_device(|device, module| {
        for len in [1, 23, 24, 25, 240, 1000] {
            let grids = [
                LaunchConfig::new(1, 1),
                LaunchConfig::new(5, 7),
                LaunchConfig::new(50, 32),
                LaunchConfig::new((2, 2, 2), (2, 3, 2)),
            ];
            for grid in grids {
                let mut values = device.filled(len, [0_u32; 2])?;
                module.launch(visit_tiles, grid, (&mut values,))?;
                let expected = (0..len as u32).map(|i| [1001 + i % 24, i / 24 * 24]);
                assert!(values.to_vec()?.into_iter().eq(expected), "{len} elements, {grid:?}");
            }
        }
        Ok(())
    });
}

#[test]
fn barriers_stand_in_the_loop_over_tiles() {
    on_every_device(|device, module| {
        for len in [1, 31, 32, 33, 1000] {
            let xs: Vec<u32> = (0..len).collect();
            let x = device.upload(&xs)?;
            let expected: Vec<u32> = xs.chunks(32).flat_map(|tile| tile.iter().rev().copied()).collect();
            for blocks in [1, 3, 40] {
                let mut y = device.zeroed::<u32>(xs.len())?;
                module.launch(reverse_tiles, LaunchConfig::new(blocks, 32), (&x, &mut y))?;
                assert_eq!(y.to_vec()?, expected, "{len} elements, {blocks} blocks");
            }
        }
        Ok(())
    });
}

#[test]
fn every_place_of_every_tile_belongs_to_one_thread() {
    on_every_device(|device, module| {
        for (rows, columns) in [(1, 1), (6, 10), (7, 11), (40, 3), (3, 40), (30, 50)] {
            let grids = [
                LaunchConfig::new((1, 1), (1, 1)),
                LaunchConfig::new((2, 3), (3, 2)),
                LaunchConfig::new((5, 5), (10, 6)),
                LaunchConfig::new((1, 2, 2), (4, 2, 2)),
            ];
            for grid in grids {
                let mut values = device.filled(rows * columns, [0_u32; 3])?;
                module.launch(visit_tiles_2d, grid, (values.view_2d_mut(columns)?,))?;
                let expected = (0..rows * columns).map(|i| [101, (i / columns) as u32, (i % columns) as u32]);
                assert!(values.to_vec()?.into_iter().eq(expected), "{rows} x {columns}, {grid:?}");
            }
        }
        Ok(())
    });
}

#[test]
fn tiles_of_a_part_leave_the_rest_alone() {
    on_every_device(|device, module| {
        let mut values = device.filled(20 * 20, [0_u32; 3])?;
        let part = values.view_2d_mut(20)?.part(1..14, 2..19)?;
        module.launch(visit_tiles_2d, LaunchConfig::new((2, 2), (5, 5)), (part,))?;
        for (i, value) in values.to_vec()?.into_iter().enumerate() {
            let (row, column) = (i / 20, i % 20);
            let inside = (1..14).contains(&row) && (2..19).contains(&column);
            let expected = if inside { [101, row as u32 - 1, column as u32 - 2] } else { [0; 3] };
            assert_eq!(value, expected, "({row}, {column})");
        }
        Ok(())
    });
}

#[test]
fn transposes_tile_by_tile() {
    on_every_device(|device, module| {
        for (rows, columns) in [(16, 16), (1, 1), (17, 33), (64, 48), (5, 100)] {
            let matrix: Vec<f32> = (0..rows * columns).map(|i| i as f32).collect();
            let from = device.upload(&matrix)?;
            for grid in [
                LaunchConfig::new((1, 1), (16, 4)),
                LaunchConfig::new((7, 7), (16, 4)),
                for_each_tile_2d((columns, rows), (16, 16)),
            ] {
                let mut to = device.zeroed::<f32>(matrix.len())?;
                module.launch(transpose_tiles, grid, (from.view_2d(columns)?, to.view_2d_mut(rows)?))?;
                let expected = (0..matrix.len()).map(|i| matrix[i % rows * columns + i / rows]);
                assert!(to.to_vec()?.into_iter().eq(expected), "{rows} x {columns}, {grid:?}");
            }
        }
        Ok(())
    });
}

#[test]
fn kernels_see_the_extents_that_the_host_bound() {
    on_every_device(|device, module| {
        let bytes = device.zeroed::<u8>(120)?;
        let mut out = device.filled(1, [0_u64; 6])?;
        let args = (bytes.view_2d(12)?, bytes.view_3d(5, 6)?, bytes.view_strided(10, 20)?, &mut *out);
        module.launch(extents, for_each(1), args)?;
        assert_eq!(out.to_vec()?, [[10, 12, 4, 5, 6, 6]]);
        let none = device.zeroed::<u8>(0)?;
        let args = (none.view_2d(3)?, none.view_3d(2, 0)?, none.view_strided(0, 7)?, &mut *out);
        module.launch(extents, for_each(1), args)?;
        assert_eq!(out.to_vec()?, [[0, 3, 0, 2, 0, 0]]);
        Ok(())
    });
}

#[test]
fn nothing_is_written_to_empty_views() {
    on_every_device(|device, module| {
        let mut values = device.filled(0, [0_u32; 3])?;
        module.launch(add_place_3d, LaunchConfig::new(2, 2), (values.view_3d_mut(3, 4)?,))?;
        module.launch(visit_tiles_2d, LaunchConfig::new((2, 2), (2, 2)), (values.view_2d_mut(0)?,))?;
        let mut some = device.filled(12, [5_u32; 3])?;
        let part = some.view_2d_mut(4)?.part(3.., ..)?;
        module.launch(visit_tiles_2d, LaunchConfig::new((2, 2), (2, 2)), (part,))?;
        let part = some.view_3d_mut(3, 4)?.part(.., .., 4..)?;
        module.launch(add_place_3d, LaunchConfig::new(2, 2), (part,))?;
        assert_eq!(some.to_vec()?, [[5; 3]; 12]);
        Ok(())
    });
}

/// What a kernel reads outside of a view is a panic with the place, on the CPU: on a GPU it would end the other tests' context.
#[test]
fn places_outside_of_views_are_panics() {
    on_the_cpu(|device, module| {
        let numbers = device.upload(&(0..60).collect::<Vec<u32>>())?;
        let mut out = device.zeroed::<u32>(1)?;
        let message = |launched: gpukernel::Result<()>| match launched.and_then(|()| device.synchronize()) {
            Err(Error::KernelPanicked { message, .. }) => message,
            other => panic!("{other:?}"),
        };
        // The element exists in the buffer, but not in the view.
        let part = numbers.view_2d(10)?.part(1..3, 2..6)?;
        let outside = message(module.launch(read_2d, for_each(1), (part, [0, 4], &mut out)));
        assert_eq!(outside, "(0, 4) is outside of a view of 2 rows and 4 columns");
        module.launch(read_2d, for_each(1), (part, [1, 3], &mut out))?;
        assert_eq!(out.to_vec()?, [25]);

        let volume = numbers.view_3d(4, 5)?;
        let outside = message(module.launch(read_3d, for_each(1), (volume, [0, 4, 0], &mut out)));
        assert_eq!(outside, "(0, 4, 0) is outside of a view of 3 layers of 4 rows and 5 columns");
        let huge = message(module.launch(read_3d, for_each(1), (volume, [1 << 32, 0, 0], &mut out)));
        assert!(huge.starts_with("(4294967296, 0, 0) is outside"), "{huge}");

        let outside =
            message(module.launch(read_strided, for_each(1), (numbers.view_strided(1, 20)?, 3, &mut out)));
        assert_eq!(outside, "index 3 is outside of a strided view of 3 elements");
        Ok(())
    });
}

/// Addresses of neighbours are computed from one another, in whole volumes and in parts, which have other distances between rows and layers.
#[test]
fn neighbours_in_volumes_are_where_they_are() {
    const EXTENTS: [usize; 3] = [6, 7, 9];
    let numbers: Vec<u32> =
        (0..EXTENTS.iter().product::<usize>() as u32).map(|i| i.wrapping_mul(0x9e37_79b9) >> 12).collect();
    on_every_device(|device, module| {
        let memory = device.upload(&numbers)?;
        let whole = memory.view_3d(EXTENTS[1], EXTENTS[2])?;
        for first in [[0; 3], [1, 2, 3], [2, 0, 1], [4, 5, 7]] {
            let [layers, rows, columns] = [0, 1, 2].map(|axis| EXTENTS[axis] - first[axis]);
            let at = |k: usize, j: usize, i: usize| {
                numbers[((k + first[0]) * EXTENTS[1] + j + first[1]) * EXTENTS[2] + i + first[2]]
            };
            let sum = |k: usize, j: usize, i: usize| {
                if k == 0 || k + 1 >= layers || j == 0 || j + 1 >= rows || i == 0 || i + 1 >= columns {
                    return 0;
                }
                let around =
                    at(k - 1, j, i) + 3 * at(k + 1, j, i) + 5 * at(k, j - 1, i) + 7 * at(k, j + 1, i);
                let beside = 11 * at(k, j, i - 1) + 13 * at(k, j, i + 1) + 17 * at(k - 1, j + 1, i - 1);
                let far = if i > columns / 2 {
                    23 * at(k, j, columns - i) + 29 * at(k - 1, rows - j, i)
                } else {
                    0
                };
                around + beside + 19 * at(k, j, i) + far
            };
            let places = (0..layers * rows * columns)
                .map(|place| (place / columns / rows, place / columns % rows, place % columns));
            let expected: Vec<_> = places.map(|(k, j, i)| sum(k, j, i)).collect();
            let part = whole.part(first[0].., first[1].., first[2]..)?;
            for shape in shapes_3d(layers, rows, columns) {
                let mut sums = device.zeroed::<u32>(layers * rows * columns)?;
                module.launch(neighbours_3d, shape, (part, sums.view_3d_mut(rows, columns)?))?;
                assert_eq!(sums.to_vec()?, expected, "{first:?}, {shape:?}");
            }
        }
        Ok(())
    });
}

#[test]
fn parts_that_are_not_there_are_errors() {
    on_every_device(|device, _| {
        let mut numbers = device.zeroed::<u32>(60)?;
        let message = |error: Error| {
            assert!(matches!(error, Error::OutsideOfView { .. }), "{error}");
            error.to_string()
        };
        let rows = numbers.view_2d(10)?;
        assert_eq!(
            message(rows.part(2..7, ..3).unwrap_err()),
            "rows 2..7, columns ..3 is not inside of 6 rows of 10 columns; ask for less, or bind other extents"
        );
        message(rows.part(.., 4..=10).unwrap_err());
        #[allow(clippy::reversed_empty_ranges)]
        message(rows.part(3..2, ..).unwrap_err());
        message(rows.part(..=usize::MAX, ..).unwrap_err());
        message(rows.column(10).unwrap_err());
        message(numbers.view_2d_mut(10)?.split_rows(7).unwrap_err());
        message(numbers.view_2d_mut(10)?.split_columns(11).unwrap_err());
        message(numbers.view_3d(3, 4)?.part(..6, .., ..).unwrap_err());
        message(numbers.view_3d(3, 4)?.layer(5).unwrap_err());
        message(numbers.view_strided(61, 1).unwrap_err());
        assert!(numbers.view_strided(60, 1)?.is_empty());
        assert!(matches!(numbers.view_strided_mut(0, 0), Err(Error::ZeroStep)));
        let error = numbers.view_3d_mut(7, 3).unwrap_err();
        assert_eq!(error.to_string(), "60 elements are not whole layers of 7 rows of 3 columns");
        assert!(matches!(numbers.view_3d(0, 3), Err(Error::NotLayers { .. })));
        assert!(matches!(numbers.view_3d(usize::MAX, 2), Err(Error::NotLayers { .. })));
        assert!(matches!(numbers.view_2d(7), Err(Error::NotRows { len: 60, columns: 7 })));
        Ok(())
    });
}

/// Nothing is allocated for elements without size, so that there can be 2³¹ of them and more.
#[test]
fn extents_beyond_31_bits_are_errors() {
    on_every_device(|device, _| {
        let many = device.filled(1 << 40, ())?;
        assert!(matches!(
            many.view_2d(1 << 4),
            Err(Error::TooManyRows { rows: 0x10_0000_0000, columns: 16 })
        ));
        assert!(matches!(many.view_2d(1 << 36), Err(Error::TooManyRows { rows: 16, .. })));
        assert!(matches!(many.view_2d(1 << 9), Err(Error::TooManyRows { rows: 0x8000_0000, .. })));
        assert!(many.view_2d(1 << 10).is_ok());
        assert!(matches!(many.view_3d(1 << 20, 1 << 4), Err(Error::TooManyRows { .. })));
        Ok(())
    });
}

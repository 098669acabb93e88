//! Arrays of parameters, structs of parameters, and loops over several outputs.

use gpukernel::{Error, LaunchConfig, Result, for_each, for_each_2d, for_each_3d};
use gpukernel_device_test_kernels::param_arrays::{
    WAYS, count, look_up, nested, read_all_kinds, stream_and_relax, swap, write_lines, write_planes,
};
use gpukernel_device_tests::{on_every_device, on_the_cpu};

#[test]
fn a_lattice_with_nine_velocities() {
    let (rows, columns) = (13, 37);
    let solid: Vec<u8> = (0..rows * columns).map(|i| u8::from(i % 7 == 0)).collect();
    let parts: [Vec<f32>; 9] =
        std::array::from_fn(|part| (0..rows * columns).map(|i| ((i * 9 + part) % 64) as f32).collect());
    let rate = 0.5;
    let expected: [Vec<f32>; 9] = std::array::from_fn(|part| {
        let moved = |i: usize, part: usize| {
            let [down, right] = WAYS[part];
            let wrap = |at: usize, by: i32, extent: usize| (at + extent).wrapping_sub(by as usize) % extent;
            parts[part][wrap(i / columns, down, rows) * columns + wrap(i % columns, right, columns)]
        };
        let relaxed = |i: usize| {
            let mean = (0..9).map(|part| moved(i, part)).sum::<f32>() / 9.0;
            let rate = if solid[i] == 0 { rate } else { 0.0 };
            moved(i, part) + rate * (mean - moved(i, part))
        };
        (0..rows * columns).map(relaxed).collect()
    });
    on_every_device(|device, module| {
        let solid = device.upload(&solid)?;
        let from = device.upload(&parts.concat())?;
        let mut to = device.zeroed::<f32>(9 * rows * columns)?;
        for shape in [for_each_2d(rows, columns), LaunchConfig::new((2, 3), (8, 2))] {
            to.fill(0.0)?;
            let lattice = (solid.view_2d(columns)?, from.view_3d(rows, columns)?.into_layers()?);
            let outputs = to.view_3d_mut(rows, columns)?.into_layers()?;
            module.launch(stream_and_relax, shape, (rate, lattice, outputs))?;
            for (found, expected) in to.chunks(rows * columns).zip(&expected) {
                for (found, expected) in found.to_vec()?.iter().zip(expected) {
                    // The device may contract a product and a sum.
                    assert!((found - expected).abs() <= 1e-5 * expected.abs(), "{found} for {expected}");
                }
            }
        }
        Ok(())
    });
}

#[test]
fn an_index_that_is_not_known_finds_its_element() {
    on_every_device(|device, module| {
        let which: Vec<u32> = (0..100).map(|i| i * 7 % 4).collect();
        let tables: [Vec<u32>; 4] =
            std::array::from_fn(|table| (0..100).map(|i| (table as u32) * 1000 + i).collect());
        let expected: Vec<u32> = (0..100).map(|i| tables[which[i] as usize][i]).collect();
        let which = device.upload(&which)?;
        let [a, b, c, d] = tables.each_ref().map(|table| device.upload(table));
        let tables = [a?, b?, c?, d?];
        let (mut once, mut ten_times) = (device.filled(100, 5)?, device.zeroed(100)?);
        let outputs = [&mut *once, &mut *ten_times];
        module.launch(look_up, for_each(100), (&which, tables.each_ref().map(|table| &**table), outputs))?;
        assert!(once.to_vec()?.iter().zip(&expected).all(|(found, expected)| *found == expected + 5));
        assert!(ten_times.to_vec()?.iter().zip(&expected).all(|(found, expected)| *found == 10 * expected));
        // The same memory twice, for reading.
        let twice = [&*tables[0]; 4];
        module.launch(look_up, for_each(100), (&which, twice, [&mut once, &mut ten_times]))?;
        Ok(())
    });
}

#[test]
fn every_kind_of_input() {
    on_every_device(|device, module| {
        let values: Vec<u32> = (0..100).collect();
        let memory = device.upload(&values)?;
        let mut to = device.zeroed::<[u32; 8]>(5)?;
        let lines = [&memory[..5], &memory[10..15]];
        let columns = [memory.view_strided(0, 3)?, memory.view_strided(1, 4)?];
        let planes = [memory.view_2d(10)?, memory[50..].view_2d(5)?];
        let volumes = [memory.view_3d(5, 2)?, memory[20..].view_3d(10, 4)?];
        module.launch(read_all_kinds, for_each(5), (lines, [], columns, planes, volumes, &mut to))?;
        let expected: Vec<_> = (0..5)
            .map(|i| [i, 10 + i, 3 * i, 1 + 4 * i, 10 * i, 50 + 5 * i, 2 * i + 1, 21 + 4 * i])
            .collect();
        assert_eq!(to.to_vec()?, expected);
        Ok(())
    });
}

#[test]
fn every_kind_of_output_along_one_axis() {
    on_every_device(|device, module| {
        for blocks in [1, 3] {
            let mut memory = device.zeroed::<u32>(2 * (300 + 50 + 9 + 7 + 250))?;
            let [elements, columns, of_warps, of_blocks, tiles] =
                memory.split_into_mut([600, 100, 18, 14, 500]);
            let (a, b) = columns.split_at_mut(50);
            module.launch(
                write_lines,
                LaunchConfig::new(blocks, 64),
                (
                    elements.split_into_mut([300; 2]),
                    [a.view_strided_mut(0, 1)?, b.view_strided_mut(0, 1)?],
                    of_warps.split_into_mut([9; 2]),
                    of_blocks.split_into_mut([7; 2]),
                    tiles.split_into_mut([250; 2]),
                    [],
                ),
            )?;
            let lens = [300, 300, 50, 50, 9, 9, 7, 7, 250, 250];
            let expected: Vec<u32> = lens
                .iter()
                .zip(0..)
                .flat_map(|(len, number)| (0..*len).map(move |i| number * 1000 + i))
                .collect();
            assert_eq!(memory.to_vec()?, expected);
        }
        Ok(())
    });
}

#[test]
fn every_kind_of_output_along_two_axes_and_three() {
    on_every_device(|device, module| {
        let mut memory = device.zeroed::<u32>(2 * (6 * 10 + 2 * 3 * 5 + 9 * 11))?;
        let [a, b, c, d, e, f] = memory.split_into_mut([60, 60, 30, 30, 99, 99]);
        let planes = [a.view_2d_mut(10)?, b.view_2d_mut(10)?];
        let volumes = [c.view_3d_mut(3, 5)?, d.view_3d_mut(3, 5)?];
        let tiles = [e.view_2d_mut(11)?, f.view_2d_mut(11)?];
        module.launch(write_planes, for_each_3d(2, 4, 5), (planes, volumes, tiles))?;
        let plane = |rows: u32, columns: u32| {
            (0..rows).flat_map(move |row| (0..columns).map(move |column| row * 100 + column))
        };
        let both =
            |values: Vec<u32>| [values.clone(), values.iter().map(|value| 10_000 + value).collect()].concat();
        let volume = (0..2).flat_map(|layer| plane(3, 5).map(move |place| layer * 1000 + place));
        let expected =
            [both(plane(6, 10).collect()), both(volume.collect()), both(plane(9, 11).collect())].concat();
        assert_eq!(memory.to_vec()?, expected);
        Ok(())
    });
}

#[test]
fn memory_that_all_threads_access() {
    on_every_device(|device, module| {
        let (mut fours, mut twos) = (device.zeroed::<u32>(4)?, device.zeroed::<u32>(2)?);
        let (mut one, mut two) = (device.zeroed::<u32>(1)?, device.zeroed::<u32>(2)?);
        let args = ([&mut *fours, &mut *twos], [&mut *one, &mut *two]);
        module.launch(count, LaunchConfig::new(4, 32), args)?;
        assert_eq!((fours.to_vec()?, twos.to_vec()?), (vec![32; 4], vec![128; 2]));
        assert_eq!((one.to_vec()?, two.to_vec()?), (vec![5], vec![6, 7]));

        let values = |from: u32| (from..from + 64).collect::<Vec<_>>();
        let mut memory = [device.upload(&values(0))?, device.upload(&values(100))?];
        let from = [device.upload(&values(200))?, device.upload(&values(300))?];
        let mut to = [device.zeroed(64)?, device.zeroed(64)?];
        let args = (
            memory.each_mut().map(|memory| &mut **memory),
            from.each_ref().map(|from| &**from),
            to.each_mut().map(|to| &mut **to),
        );
        // SAFETY: all have 64 elements, as the grid has threads.
        unsafe { module.launch_unsafe(swap, LaunchConfig::new(2, 32), args)? };
        assert_eq!((memory[0].to_vec()?, memory[1].to_vec()?), (values(100), values(0)));
        assert_eq!((to[0].to_vec()?, to[1].to_vec()?), (values(200), values(300)));
        Ok(())
    });
}

#[test]
fn structs_in_structs() {
    on_every_device(|device, module| {
        let x = device.upload(&[1.0_f32, 2.0, 3.0])?;
        let mut last = device.upload(&[0.25_f32, 0.5, 0.75])?;
        let mut out = device.zeroed::<f64>(3)?;
        // 1 + 2 + 3 + 4 + (5 + 6 + 7) + (0 + 1 + 2 + 3) is 34.
        let given = (2.0, 2, [&*x, &*x, &*x], (3, 4), (&mut *last, [5, 6, 7], 4), []);
        module.launch(nested::<f32, 3>, for_each(3), (1, given, &mut out))?;
        assert_eq!(out.to_vec()?, [40.25, 46.5, 52.75]);

        let x = device.upload(&[10_i16, -10])?;
        let mut last = device.upload(&[7_i16, 8])?;
        let given = (0.5, 2, [&*x], (3, 4), (&mut *last, [5, 6, 7], 4), []);
        module.launch(nested::<i16, 1>, for_each(2), (1, given, &mut out[..2]))?;
        assert_eq!(out.to_vec()?[..2], [46.0, 37.0]);
        Ok(())
    });
}

/// On the CPU alone: on a GPU a panic ends the context of the other tests.
#[test]
fn outputs_of_different_extents_are_panics() {
    on_the_cpu(|device, module| {
        let message = |launched: Result<()>| match launched.and_then(|()| device.synchronize()) {
            Err(Error::KernelPanicked { message, .. }) => message,
            other => panic!("{other:?}"),
        };
        let mut memory = device.zeroed::<u32>(24)?;
        let [a, b] = memory.split_into_mut([12; 2]);
        let planes = [a.view_2d_mut(4)?, b.view_2d_mut(6)?];
        let mut others = [device.zeroed(1)?, device.zeroed(1)?, device.zeroed(1)?, device.zeroed(1)?];
        let [c, d, e, f] = &mut others;
        let volumes = [c.view_3d_mut(1, 1)?, d.view_3d_mut(1, 1)?];
        let tiles = [e.view_2d_mut(1)?, f.view_2d_mut(1)?];
        let result = module.launch(write_planes, for_each_2d(3, 4), (planes, volumes, tiles));
        assert_eq!(
            message(result),
            "zip of outputs of 1 x 3 x 4 and 1 x 2 x 6 elements (layers x rows x columns): all have the same extents"
        );
        Ok(())
    });
}

//! Indices and grid-stride loops.

use gpukernel::{Error, Extents, LaunchConfig, for_each};
use gpukernel_device_test_kernels::indices::{Place, in_steps, record_places, visit, visit_2d, visit_3d};
use gpukernel_device_tests::{on_every_device, on_the_cpu};

/// What every thread of a grid should see, in the order of their numbers.
fn places(blocks: [usize; 3], block: [usize; 3]) -> Vec<Place> {
    let extent = |axis: usize| blocks[axis] * block[axis];
    let mut places = Vec::new();
    for z in 0..extent(2) {
        for y in 0..extent(1) {
            for x in 0..extent(0) {
                let global = [x, y, z];
                let narrow = |value: fn(usize, usize) -> usize| {
                    [0, 1, 2].map(|axis| value(global[axis], block[axis]) as u32)
                };
                let thread = narrow(|global, block| global % block);
                let dim = block.map(|extent| extent as u32);
                places.push(Place {
                    thread,
                    block: narrow(|global, block| global / block),
                    block_dim: dim,
                    grid_dim: blocks.map(|extent| extent as u32),
                    global,
                    thread_rank: thread[0] + dim[0] * (thread[1] + dim[1] * thread[2]),
                    global_rank: places.len(),
                    threads: (0..3).map(extent).product(),
                });
            }
        }
    }
    places
}

fn check_places(blocks: impl Into<Extents>, block: impl Into<Extents>) {
    let (blocks, block) = (blocks.into(), block.into());
    let grid = LaunchConfig::new(blocks, block);
    let expected = places(blocks.axes(), block.axes());
    on_every_device(|device, module| {
        let mut found = device.filled(expected.len(), Place::default())?;
        module.launch(record_places, grid, (&mut found,))?;
        assert!(found.to_vec()? == expected, "{grid:?}");
        Ok(())
    });
}

#[test]
fn one_axis() {
    check_places(1, 1);
    check_places(3, 32);
    check_places(5, 33);
    check_places(2, 1024);
}

#[test]
fn two_axes() {
    check_places((2, 3), (8, 4));
    check_places((1, 7), (1, 5));
    check_places((3, 1), (31, 33));
}

#[test]
fn three_axes() {
    check_places((2, 3, 4), (4, 3, 2));
    check_places((1, 1, 3), (1, 1, 64));
    check_places((3, 2, 1), (7, 5, 3));
}

#[test]
fn axes_of_blocks_and_threads_differ() {
    check_places(4, (4, 4, 4));
    check_places((2, 2, 2), 16);
}

/// Fewer threads than elements, more, and as many; grids that divide nothing evenly.
const ODD_GRIDS: [(usize, usize); 5] = [(1, 1), (1, 33), (7, 3), (13, 97), (64, 256)];

#[test]
fn grid_stride_takes_every_index_once() {
    on_every_device(|device, module| {
        for len in [1, 31, 1000, 4099] {
            for (blocks, threads) in ODD_GRIDS {
                let mut visits = device.zeroed::<u32>(len)?;
                module.launch(visit, LaunchConfig::new(blocks, threads), (&mut visits,))?;
                assert_eq!(visits.to_vec()?, vec![1; len], "{len} elements, {blocks} blocks of {threads}");
            }
        }
        Ok(())
    });
}

#[test]
fn grid_stride_takes_every_place_of_a_matrix_once() {
    on_every_device(|device, module| {
        for (rows, columns) in [(1, 1), (1, 100), (100, 1), (37, 53)] {
            for grid in [
                LaunchConfig::new((1, 1), (1, 1)),
                LaunchConfig::new((2, 3), (5, 7)),
                LaunchConfig::new((9, 9), (32, 8)),
            ] {
                let mut visits = device.zeroed::<u32>(rows * columns)?;
                module.launch(visit_2d, grid, (rows, columns, &mut visits))?;
                assert_eq!(visits.to_vec()?, vec![1; rows * columns], "{rows} x {columns}, {grid:?}");
            }
        }
        Ok(())
    });
}

#[test]
fn grid_stride_takes_every_place_of_a_volume_once() {
    on_every_device(|device, module| {
        let (layers, rows, columns) = (5, 11, 23);
        let volume = layers * rows * columns;
        for grid in [
            LaunchConfig::new((1, 1, 1), (1, 1, 1)),
            LaunchConfig::new((2, 1, 3), (3, 5, 2)),
            LaunchConfig::new((4, 4, 4), (8, 4, 2)),
        ] {
            let mut visits = device.zeroed::<u32>(volume)?;
            module.launch(visit_3d, grid, (layers, rows, columns, &mut visits))?;
            assert_eq!(visits.to_vec()?, vec![1; volume], "{grid:?}");
        }
        Ok(())
    });
}

#[test]
fn computed_grids_reach_every_element() {
    on_every_device(|device, module| {
        for len in [1, 255, 256, 257, 100_000] {
            let mut visits = device.zeroed::<u32>(len)?;
            module.launch(visit, for_each(len), (&mut visits,))?;
            assert_eq!(visits.to_vec()?, vec![1; len], "{len} elements");
        }
        Ok(())
    });
}

/// Positions are numbers of 32 bits, signed ones too. On the CPU alone: on a GPU a panic ends the context of the other tests.
#[test]
fn loops_over_more_than_31_bits_panic() {
    on_the_cpu(|device, module| {
        let mut visits = device.zeroed::<u32>(1)?;
        let mut visit = |rows, columns| {
            module.launch(visit_2d, LaunchConfig::new((1, 1), (1, 1)), (rows, columns, &mut visits))?;
            device.synchronize()
        };
        let most = i32::MAX as usize;
        for (rows, columns) in [(most, 0), (0, most)] {
            visit(rows, columns)?;
        }
        for (rows, columns) in [(most + 1, 0), (0, most + 1), (usize::MAX, usize::MAX)] {
            let error = visit(rows, columns).expect_err("it counts further");
            assert!(matches!(error, Error::KernelPanicked { .. }), "{error}");
        }
        Ok(())
    });
}

/// Loops with steps end where their range does, and those that only look like it where their count does.
#[test]
fn ranges_with_steps_end_where_they_do() {
    on_every_device(|device, module| {
        for len in [0, 1, 6, 7, 8, 63, 64, 65, 500] {
            for step in [1, 5, 64, 1000, u32::MAX] {
                let x: Vec<u32> = (0..len).map(|i| i * 2_654_435 + 17).collect();
                let mut sums = device.zeroed::<[u32; 4]>(100)?;
                let upper = len / 2;
                module.launch(
                    in_steps,
                    LaunchConfig::new(2, 64),
                    (step, upper, &device.upload(&x)?, &mut sums),
                )?;
                let sum = |from: usize, step: u32| {
                    let places = (from..x.len()).step_by(step as usize);
                    places.fold(0_u32, |sum, i| sum.wrapping_add(x[i].wrapping_mul(i as u32 + 1)))
                };
                let expected = (0..100).map(|me| {
                    let counted = if me as u32 >= upper { sum(me, 4) } else { 0 };
                    [sum(me, 7), sum(me, step), sum(0, step), counted]
                });
                assert_eq!(sums.to_vec()?, expected.collect::<Vec<_>>(), "{len} in steps of {step}");
            }
        }
        Ok(())
    });
}

//! The parameters of elementwise kernels, used by hand.

use gpukernel::{
    LaunchConfig,
    OrScalar::{Memory, Scalar},
    for_each,
};
use gpukernel_array::{Array, ArrayFunction};
use gpukernel_array_tests::on_every_device;
use ndarray::Axis;

#[test]
fn rows_and_parts() {
    use array_test_kernels::by_hand::{double, running_sums, sums};
    on_every_device(|device, module| {
        let x = device.upload(&(0..24).collect::<Vec<i32>>())?;
        let mut out = device.filled(24, -1)?;
        // Every second column, in the opposite order, of the transposed matrix.
        let from = x.view_nd(5, &[3, 4], &[-2, 6])?;
        module.launch(double, for_each(12), (Memory(from), out.view_nd_mut(23, &[3, 4], &[-8, -2])?))?;
        let mut expected = vec![-1; 24];
        for row in 0..3 {
            for column in 0..4 {
                expected[23 - 8 * row - 2 * column] = 2 * (5 - 2 * row + 6 * column) as i32;
            }
        }
        assert_eq!(out.to_vec()?, expected);
        let mut parts = device.filled(6, 0)?;
        let rows = x.view_nd(0, &[2, 12], &[12, 1])?;
        module.launch(sums, for_each(6), (Memory(rows), parts.view_nd_mut(0, &[2, 3], &[3, 1])?))?;
        assert_eq!(parts.to_vec()?, [6, 22, 38, 54, 70, 86]);
        let mut running = device.filled(8, 0)?;
        let rows = x.view_nd(0, &[2, 4], &[12, 3])?;
        // A grid of another size than the rows.
        module.launch(
            running_sums,
            for_each(1),
            (Memory(rows), running.view_nd_mut(0, &[2, 4], &[1, 2])?),
        )?;
        assert_eq!(running.to_vec()?, [0, 12, 3, 27, 9, 45, 18, 66]);
        module.launch(running_sums, for_each(1), (Scalar(5), running.view_nd_mut(0, &[2, 4], &[1, 2])?))?;
        assert_eq!(running.to_vec()?, [5, 5, 10, 10, 15, 15, 20, 20]);
        Ok(())
    });
}

/// A thread goes through a row one element after another, whatever it loads at once.
#[test]
fn functions_that_are_not_associative_are_called_in_order() {
    use array_test_kernels::{
        by_hand::{differences, running_differences},
        mixed,
    };
    on_every_device(|device, module| {
        for columns in [1, 3, 4, 8, 11, 64] {
            let host: Vec<i32> = (0..5 * columns as i32).map(|i| i * i % 101).collect();
            let x = device.upload(&host)?;
            let strides = [columns as isize, 1];
            let rows = || x.view_nd(0, &[5, columns], &strides);
            let (mut last, mut all) = (device.filled(5, -1)?, device.filled(5 * columns, -1)?);
            module.launch(
                differences,
                for_each(5),
                (Memory(rows()?), last.view_nd_mut(0, &[5, 1], &[1, 1])?),
            )?;
            module.launch(
                running_differences,
                for_each(5),
                (Memory(rows()?), all.view_nd_mut(0, &[5, columns], &strides)?),
            )?;
            let mut expected = host;
            for row in expected.chunks_mut(columns) {
                for i in 1..columns {
                    row[i] -= row[i - 1];
                }
            }
            assert_eq!(all.to_vec()?, expected);
            assert!(last.to_vec()?.iter().eq(expected.chunks(columns).map(|row| &row[columns - 1])));
        }
        // As do functions of arrays along columns, of which there are not too few.
        let x = Array::from_shape_fn(device, (30, 100), |(i, j)| (i * 37 + j * 11) as u8)?;
        let mut expected = x.to_ndarray()?;
        expected.accumulate_axis_inplace(Axis(0), |before, x| *x = mixed(*before, *x));
        assert_eq!(mixed::accumulate(module, &x, Axis(0))?.to_ndarray()?, expected);
        assert_eq!(mixed::reduce(module, &x, Axis(0))?.to_ndarray()?, expected.row(29));
        Ok(())
    });
}

/// The rows and columns of tiles, and the rows of strips.
fn orders() -> impl Iterator<Item = (usize, Option<usize>)> {
    let tiles = [(1, 1), (8, 32), (16, 16), (4, 1), (1, 4), (128, 128)];
    let strips = [2, 3, 5, 18, 19, 255];
    tiles.map(|(rows, columns)| (rows, Some(columns))).into_iter().chain(strips.map(|rows| (rows, None)))
}

/// Whatever threads call, each element is one thread's: none is left out, and none is written by two.
#[test]
fn methods_and_inputs_divide_elements_alike() {
    use array_test_kernels::by_hand::by_turns;
    let (rows, columns) = (19, 37);
    on_every_device(|device, module| {
        let x = device.upload(&(0..(rows * columns) as i32).collect::<Vec<_>>())?;
        for threads in [1, 2, 3, 7, 64, 100, rows * columns, 1000] {
            for (of_rows, of_columns) in orders() {
                let mut out = device.filled(rows * columns, -1)?;
                let view = out.view_nd_mut(0, &[rows, columns], &[columns as isize, 1])?;
                let args = (
                    Memory(x.view_nd(0, &[rows, columns], &[columns as isize, 1])?),
                    Memory(x.view_nd(0, &[rows, columns], &[columns as isize, 1])?),
                    match of_columns {
                        Some(of_columns) => view.in_tiles(of_rows, of_columns),
                        None => view.in_strips(of_rows),
                    },
                );
                module.launch(by_turns, LaunchConfig::new(threads, 1), args)?;
                assert_eq!(out.to_vec()?, x.to_vec()?, "{threads} threads, {of_rows} rows by {of_columns:?}");
            }
        }
        Ok(())
    });
}

/// The view of a plane, which `view_nd_mut` returned.
macro_rules! plane_mut {
    ($view:expr) => {
        $view.as_plane().expect("it has two axes at most")
    };
}

#[test]
fn planes_of_any_strides_and_orders() {
    use array_test_kernels::by_hand::{double_plane, plane_by_turns};
    let (rows, columns) = (19, 37);
    on_every_device(|device, module| {
        let x = device.upload(&(0..24).collect::<Vec<i32>>())?;
        for (shape, strides) in [
            (&[3, 4][..], &[-8, -2][..]),
            (&[3, 4], &[-1, -3]),
            (&[4, 3], &[-2, -8]),
            (&[7], &[-3]),
            (&[], &[]),
            (&[0, 4], &[-4, -1]),
            (&[2, 1], &[-23, isize::MAX / 64]),
        ] {
            // From the last element backwards, of the first ones forwards.
            let forward: Vec<isize> = strides.iter().map(|stride| -stride).collect();
            for threads in [1, 5, 100] {
                let mut out = device.filled(24, -1)?;
                let from = x.view_nd(0, shape, &forward)?.as_plane().expect("it has two axes at most");
                let to = plane_mut!(out.view_nd_mut(23, shape, strides)?);
                module.launch(double_plane, for_each(threads), (Memory(from), to))?;
                let mut expected = vec![-1; 24];
                let mut visit = |offset: isize| expected[(23 - offset) as usize] = 2 * offset as i32;
                match (shape, &forward[..]) {
                    (&[rows, columns], &[along_column, along_row]) => (0..rows as isize)
                        .flat_map(|row| (0..columns as isize).map(move |column| (row, column)))
                        .for_each(|(row, column)| visit(row * along_column + column * along_row)),
                    (&[len], &[step]) => (0..len as isize).for_each(|i| visit(i * step)),
                    _ => visit(0),
                }
                assert_eq!(out.to_vec()?, expected, "{shape:?} {strides:?}");
            }
        }
        let x = device.upload(&(0..(rows * columns) as i32).collect::<Vec<_>>())?;
        for threads in [1, 2, 3, 7, 64, 100, rows * columns, 1000] {
            for (of_rows, of_columns) in orders() {
                let mut out = device.filled(rows * columns, -1)?;
                let strides = [columns as isize, 1];
                let from = || x.view_nd(0, &[rows, columns], &strides).map(|view| view.as_plane());
                let [a, b] = [from()?, from()?].map(|view| view.expect("it has two axes"));
                let to = out.view_nd_mut(0, &[rows, columns], &strides)?;
                let to = plane_mut!(match of_columns {
                    Some(of_columns) => to.in_tiles(of_rows, of_columns),
                    None => to.in_strips(of_rows),
                });
                module.launch(plane_by_turns, LaunchConfig::new(threads, 1), (a, Memory(b), to))?;
                assert_eq!(out.to_vec()?, x.to_vec()?, "{threads} threads, {of_rows} rows by {of_columns:?}");
            }
        }
        let mut out = device.filled(6, -1)?;
        let to = plane_mut!(out.view_nd_mut(0, &[2, 3], &[3, 1])?);
        module.launch(double_plane, for_each(6), (Scalar(4), to))?;
        assert_eq!(out.to_vec()?, [8; 6]);
        Ok(())
    });
}

#[test]
fn shapes_of_planes_are_required_by_launches() {
    use array_test_kernels::by_hand::{double_plane_of_shape, scale_plane_of_shape};
    on_every_device(|device, module| {
        let (x, mut out) = (device.upload(&[1, 2, 3, 4, 5, 6])?, device.zeroed(6)?);
        let mut launch = |shape: [usize; 2], strides: [isize; 2]| {
            let from = Memory(x.view_nd(0, &shape, &strides)?.as_plane().expect("it has two axes"));
            let to = plane_mut!(out.view_nd_mut(0, &[2, 3], &[3, 1])?);
            module.launch(double_plane_of_shape, for_each(6), (from, to))
        };
        launch([2, 3], [1, 2])?;
        let error = launch([3, 2], [2, 1]).expect_err("shapes differ").to_string();
        assert!(
            error.ends_with("x.is_scalar() = false, x.shape() = [3, 2], out.shape() = [2, 3]"),
            "{error}"
        );
        assert_eq!(out.to_vec()?, [2, 6, 10, 4, 8, 12]);
        let mut launch = |shape: [usize; 2], strides: [isize; 2]| {
            let from = x.view_nd(0, &shape, &strides)?.as_plane().expect("it has two axes");
            let to = plane_mut!(out.view_nd_mut(0, &[2, 3], &[3, 1])?);
            module.launch(scale_plane_of_shape, for_each(6), (from, 3, to))
        };
        launch([2, 3], [1, 2])?;
        let error = launch([3, 2], [2, 1]).expect_err("shapes differ").to_string();
        assert!(error.ends_with("x.shape() = [3, 2], out.shape() = [2, 3]"), "{error}");
        assert_eq!(out.to_vec()?, [3, 9, 15, 6, 12, 18]);
        Ok(())
    });
}

#[test]
fn shapes_are_required_by_launches() {
    use array_test_kernels::by_hand::double_of_shape;
    on_every_device(|device, module| {
        let (x, mut out) = (device.upload(&[1, 2, 3, 4, 5, 6])?, device.zeroed(6)?);
        let out = &mut out;
        let memory = Memory(x.view_nd(0, &[2, 3], &[3, 1])?);
        module.launch(double_of_shape, for_each(6), (memory, out.view_nd_mut(0, &[2, 3], &[1, 2])?))?;
        assert_eq!(out.to_vec()?, [2, 8, 4, 10, 6, 12]);
        // Outer axes of one element are none.
        let memory = Memory(x.view_nd(0, &[2, 3], &[3, 1])?);
        module.launch(double_of_shape, for_each(6), (memory, out.view_nd_mut(0, &[1, 2, 3], &[0, 3, 1])?))?;
        assert_eq!(out.to_vec()?, [2, 4, 6, 8, 10, 12]);
        let memory = Memory(x.view_nd(0, &[3, 2], &[2, 1])?);
        let error =
            module.launch(double_of_shape, for_each(6), (memory, out.view_nd_mut(0, &[2, 3], &[3, 1])?));
        let error = error.expect_err("shapes differ").to_string();
        assert!(
            error.ends_with("x.is_scalar() = false, x.shape() = [3, 2], out.shape() = [2, 3]"),
            "{error}"
        );
        let scalar = (Scalar(1), out.view_nd_mut(0, &[], &[])?);
        let error = module.launch(double_of_shape, for_each(6), scalar).expect_err("no array").to_string();
        assert!(error.ends_with("x.is_scalar() = true, x.shape() = [], out.shape() = []"), "{error}");
        Ok(())
    });
}

#[test]
fn chunks_of_every_length_and_alignment() {
    use array_test_kernels::by_hand::copy_chunks;
    on_every_device(|device, module| {
        let x = device.upload(&(0..100).collect::<Vec<i32>>())?;
        for (from, to, len) in
            (0..5).flat_map(|from| (0..5).flat_map(move |to| (0..20).map(move |len| (from, to, len))))
        {
            let blocks = [[1, 1], [2, 1], [1, 3]].map(|[blocks, threads]| LaunchConfig::new(blocks, threads));
            for config in [for_each(1), for_each(100)].into_iter().chain(blocks) {
                let mut out = device.filled(30, -1)?;
                module.launch(copy_chunks, config, (Memory(&x[from..from + len]), &mut out[to..to + len]))?;
                let mut expected = vec![-1; 30];
                (0..len).for_each(|i| expected[to + i] = (from + i) as i32);
                assert_eq!(out.to_vec()?, expected);
            }
        }
        Ok(())
    });
}

//! Views in graphs: copies of rows with a distance between them.

use gpukernel::{Device, Error, GraphPinned, Result};
use gpukernel_device_tests::on_every_device;

/// So many numbers from `first` on.
fn numbers(first: u32, len: usize) -> Vec<u32> {
    (first..).take(len).collect()
}

/// Parts of matrices of several sizes, empty ones among them, also in a clone and in a part that depends on a condition.
#[test]
fn parts_of_matrices_are_copied_as_by_a_stream() {
    const EXTENTS: [(usize, usize); 4] = [(5, 7), (1, 9), (6, 1), (64, 100)];
    on_every_device(|device, _| {
        let stream = device.stream()?;
        for (rows, columns) in EXTENTS {
            let parts = [(0..rows, 0..columns), (rows / 2..rows, 0..1), (0..rows, columns / 2..columns)];
            let empty = [(1..1, 0..columns), (0..rows, columns..columns), (0..0, 0..0)];
            for (at_rows, at_columns) in parts.into_iter().chain(empty) {
                let (height, width) = (at_rows.len(), at_columns.len());
                let (from, before) =
                    (device.upload(&numbers(0, rows * columns))?, numbers(1 << 20, 200 * 120));
                // To the middle of a larger one.
                let to_part = (3..3 + height, 11..11 + width);
                let mut expected = device.upload(&before)?;
                let mut whole = expected.view_2d_mut(120)?.part(to_part.0.clone(), to_part.1.clone())?;
                let source = from.view_2d(columns)?.part(at_rows.clone(), at_columns.clone())?;
                stream.copy_view(&source, &mut whole)?;
                let expected = expected.to_vec()?;
                let memory = (&from, device.upload(&before)?);
                let mut graph = stream.capture(memory, |capture, (from, to)| {
                    let source = from.view_2d(columns)?.part(at_rows.clone(), at_columns.clone())?;
                    let mut whole = to.view_2d_mut(120)?.part(to_part.0.clone(), to_part.1.clone())?;
                    capture.copy_view(&source, &mut whole)
                })?;
                let mut clone = graph.clone_with((&from, device.upload(&before)?))?;
                clone.launch()?;
                assert_eq!(graph.memory().1.to_vec()?, before);
                graph.launch()?;
                for graph in [graph, clone] {
                    assert_eq!(graph.into_memory().1.to_vec()?, expected, "{at_rows:?} {at_columns:?}");
                }
            }
        }
        Ok(())
    });
}

#[test]
fn volumes_and_strided_views_are_copied() {
    on_every_device(|device, _| {
        let volume = device.upload(&numbers(0, 4 * 5 * 6))?;
        let memory = (&volume, [24, 4, 20, 20].map(|len| device.zeroed::<u32>(len)));
        let (volume, [part, column, every_sixth, matrix]) = memory;
        let memory = (volume, [part?, column?, every_sixth?, matrix?]);
        let stream = device.stream()?;
        let mut graph =
            stream.capture(memory, |capture, (volume, [part, column, every_sixth, matrix])| {
                let inner = volume.view_3d(5, 6)?.part(1..3, 2..5, 1..5)?;
                capture.copy_view(&inner, &mut part.view_3d_mut(3, 4)?)?;
                // As functions that have a stream do it.
                let stream: &gpukernel::Stream = capture;
                stream.copy_view(&part.view_2d(6)?.column(5)?, &mut column.view_2d_mut(4)?)?;
                capture.copy_view(&volume.view_strided(2, 6)?, &mut every_sixth.view_strided_mut(0, 1)?)?;
                // A vector of elements in a row to one of elements that are rows.
                capture.copy_view(&volume.view_strided(100, 1)?, &mut matrix.view_strided_mut(0, 1)?)?;
                capture.copy_view(&column.view_2d(4)?, &mut matrix.view_2d_mut(5)?.column(3)?)
            })?;
        graph.launch()?;
        let (_, [part, column, every_sixth, matrix]) = graph.memory();
        let part = part.to_vec()?;
        let inside = (1..3).flat_map(|z| (2..5).flat_map(move |y| (1..5).map(move |x| (z * 5 + y) * 6 + x)));
        assert!(part.iter().copied().eq(inside));
        let column = column.to_vec()?;
        assert!(column.iter().eq(part.iter().skip(5).step_by(6)));
        assert!(every_sixth.to_vec()?.into_iter().eq((2..120).step_by(6)));
        let mut expected = numbers(100, 20);
        (0..4).for_each(|row| expected[row * 5 + 3] = column[row]);
        assert_eq!(matrix.to_vec()?, expected);
        Ok(())
    });
}

/// What is between the rows stays as it is, also when two copies write columns of the same rows.
#[test]
fn columns_of_one_matrix_are_written_by_copies_of_two_branches() {
    on_every_device(|device, _| {
        let memory = (device.upload(&numbers(0, 300))?, device.filled(500, 7_u32)?, device.zeroed(500)?);
        let mut graph = device.stream()?.capture(memory, |capture, (from, matrix, copy)| {
            let (left, right) = matrix.view_2d_mut(5)?.part(.., 1..4)?.split_columns(1)?;
            let other = capture.fork()?;
            let (mut left, mut right) = (left, right);
            capture.copy_view(&from.view_2d(3)?.part(.., ..1)?, &mut left)?;
            other.copy_view(&from.view_2d(3)?.part(.., 1..)?, &mut right)?;
            // After both, whatever the branch.
            capture.after(())?.copy(matrix, copy)
        })?;
        for _ in 0..3 {
            graph.launch()?;
        }
        let expected: Vec<u32> = (0..100).flat_map(|row| [7, 3 * row, 3 * row + 1, 3 * row + 2, 7]).collect();
        assert_eq!(graph.memory().1.to_vec()?, expected);
        assert_eq!(graph.memory().2.to_vec()?, expected);
        Ok(())
    });
}

/// From the host at the time of the capture, and from and to pinned memory at that of each launch.
#[test]
fn views_are_copied_from_and_to_the_host() {
    on_every_device(|device, _| {
        let pinned = || device.pinned::<u32>(4).map(GraphPinned::from);
        let memory = || -> Result<_> { Ok((pinned()?, device.zeroed::<u32>(12)?, pinned()?)) };
        let mut host = [1, 2, 3, 4];
        let mut graph = device.stream()?.capture(memory()?, |capture, (input, x, mut output)| {
            capture.copy_view_to_device(&host, &mut x.view_2d_mut(3)?.column(0)?)?;
            capture.copy_view_from_pinned(&input, &mut x.view_2d_mut(3)?.column(2)?)?;
            capture.copy_view_from_pinned(input.slice(..0), &mut x.view_2d_mut(3)?.part(1..1, ..)?)?;
            let block = x.view_2d(3)?.part(1..3, 1..)?;
            capture.copy_view_to_pinned(&block, &mut output)
        })?;
        host.fill(0);
        let mut clone = graph.clone_with(memory()?)?;
        graph.memory_mut().0.write()?.copy_from_slice(&[10, 20, 30, 40]);
        clone.memory_mut().0.write()?.copy_from_slice(&[50, 60, 70, 80]);
        graph.launch()?;
        clone.launch()?;
        assert_eq!(graph.memory().1.to_vec()?, [1, 0, 10, 2, 0, 20, 3, 0, 30, 4, 0, 40]);
        assert_eq!(graph.memory().2.read()?, [0, 20, 0, 30]);
        assert_eq!(clone.memory().2.read()?, [0, 60, 0, 70]);
        graph.memory_mut().0.write()?[1] = 21;
        graph.launch()?;
        assert_eq!(graph.memory().2.read()?, [0, 21, 0, 30]);
        Ok(())
    });
}

#[test]
fn views_in_parts_that_depend_on_a_condition() {
    on_every_device(|device, _| {
        let memory = (device.upload(&[1_u32])?, device.upload(&numbers(0, 12))?, device.zeroed::<u32>(4)?);
        let graph = device.stream()?.capture(memory, |capture, (flag, x, y)| {
            let condition = capture.condition(flag)?;
            capture.if_nonzero(condition, |body| {
                body.copy_view(&x.view_2d(3)?.column(1)?, &mut y.view_strided_mut(0, 1)?)?;
                body.fill(&mut y[..1], 9)
            })
        });
        let mut graph = match graph {
            Err(Error::DriverTooOld { .. }) => return Ok(()),
            graph => graph?,
        };
        graph.launch()?;
        assert_eq!(graph.memory().2.to_vec()?, [9, 4, 7, 10]);
        let memory = (device.upload(&[1_u32])?, device.upload(&numbers(100, 12))?, device.zeroed::<u32>(4)?);
        let mut clone = graph.clone_with(memory)?;
        clone.launch()?;
        assert_eq!(clone.memory().2.to_vec()?, [9, 104, 107, 110]);
        // Not, if it is zero.
        clone.memory_mut().0.fill(0)?;
        clone.memory_mut().2.fill(0)?;
        clone.launch()?;
        assert_eq!(clone.memory().2.to_vec()?, [0; 4]);
        Ok(())
    });
}

#[test]
fn views_that_cannot_be_copied_are_errors() {
    on_every_device(|device, _| {
        let outside = device.zeroed::<u32>(12)?;
        let (stream, cpu) = (device.stream()?, Device::cpu());
        let memory = (device.zeroed::<u32>(12)?, GraphPinned::from(device.pinned::<u32>(12)?));
        stream.capture(memory, |capture, (x, mut pinned)| {
            let wrong = capture.copy_view(&outside.view_2d(3)?, &mut x.view_2d_mut(3)?);
            assert!(matches!(wrong, Err(Error::NotInGraph { .. })), "{wrong:?}");
            let wrong = capture.copy_view_to_pinned(&outside.view_2d(3)?, &mut pinned);
            assert!(matches!(wrong, Err(Error::NotInGraph { .. })), "{wrong:?}");
            let (left, right) = x.split_at_mut(6);
            let wrong = capture.copy_view(&left.view_2d(3)?, &mut right.view_2d_mut(2)?);
            assert!(matches!(wrong, Err(Error::ShapeMismatch { .. })), "{wrong:?}");
            let wrong = capture.copy_view_to_pinned(&left.view_2d(3)?, &mut pinned);
            assert!(matches!(wrong, Err(Error::LengthMismatch { from_len: 6, to_len: 12 })), "{wrong:?}");
            let wrong = capture.copy_view_from_pinned(pinned.slice(..5), &mut right.view_2d_mut(2)?);
            assert!(matches!(wrong, Err(Error::LengthMismatch { from_len: 5, to_len: 6 })), "{wrong:?}");
            let wrong = capture.copy_view_to_device(&[1; 5], &mut right.view_2d_mut(2)?);
            assert!(matches!(wrong, Err(Error::LengthMismatch { from_len: 5, to_len: 6 })), "{wrong:?}");
            let wrong = capture.copy_view_to_host(&left.view_2d(3)?, &mut [0; 6]);
            assert!(matches!(wrong, Err(Error::NotCapturable { .. })), "{wrong:?}");
            Ok(())
        })?;
        if device.is_gpu() {
            let memory = (cpu.zeroed::<u32>(12)?, device.zeroed::<u32>(12)?);
            let wrong = stream
                .capture(memory, |capture, (x, y)| capture.copy_view(&x.view_2d(3)?, &mut y.view_2d_mut(3)?));
            assert!(matches!(wrong, Err(Error::WrongDevice { .. })), "{wrong:?}");
        }
        Ok(())
    });
}

mod needs_a_gpu {
    use gpukernel_device_tests::on_every_gpu;

    /// Rows of more bytes, and further apart, than a pitch may be.
    #[test]
    #[ignore = "needs a GPU"]
    fn rows_of_two_gibibytes_are_filled_and_copied() {
        const COLUMNS: usize = (1 << 30) + (1 << 19);
        on_every_gpu(|device| {
            if device.memory_info().free_bytes < 5 * (COLUMNS as u64) * 2 {
                return Ok(());
            }
            let stream = device.stream()?;
            let memory = (device.zeroed::<u16>(2 * COLUMNS)?, device.zeroed::<u16>(2 * COLUMNS)?);
            let mut graph = stream.capture(memory, |capture, (x, y)| {
                capture.fill(x, 7)?;
                capture.copy_to_device(&[1, 2, 3], &mut x[COLUMNS - 1..COLUMNS + 2])?;
                // All but the first column: row by row.
                let from = x.view_2d(COLUMNS)?.part(.., 1..)?;
                capture.copy_view(&from, &mut y.view_2d_mut(COLUMNS)?.part(.., 1..)?)
            })?;
            graph.launch()?;
            let (mut x, y) = graph.into_memory();
            assert_eq!(y[..3].to_vec()?, [0, 7, 7]);
            assert_eq!(y[COLUMNS - 2..COLUMNS + 3].to_vec()?, [7, 1, 0, 3, 7]);
            assert_eq!(y[2 * COLUMNS - 3..].to_vec()?, [7; 3]);
            // A single row, of a stream and of a graph.
            let row = y.view_2d(COLUMNS)?.part(..1, 1..)?;
            stream.copy_view(&row, &mut x.view_2d_mut(COLUMNS)?.part(1.., 1..)?)?;
            assert_eq!(x[COLUMNS - 1..COLUMNS + 3].to_vec()?, [1, 2, 7, 7]);
            assert_eq!(x[2 * COLUMNS - 3..].to_vec()?, [7, 7, 1]);
            let mut graph = stream.capture((&y, &mut x), |capture, (y, x)| {
                capture.copy_view(
                    &y.view_2d(COLUMNS)?.part(1.., ..)?,
                    &mut x.view_2d_mut(COLUMNS)?.part(..1, ..)?,
                )?;
                capture.copy(&y[..COLUMNS], &mut x[COLUMNS..])
            })?;
            graph.launch()?;
            drop(graph);
            assert_eq!(x[..4].to_vec()?, [0, 3, 7, 7]);
            assert_eq!(x[COLUMNS - 3..COLUMNS + 2].to_vec()?, [7, 7, 7, 0, 7]);
            assert_eq!(x[2 * COLUMNS - 3..].to_vec()?, [7, 7, 1]);
            Ok(())
        });
    }
}

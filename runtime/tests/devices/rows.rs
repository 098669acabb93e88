//! Copies of views, and fills.

use bytemuck::Zeroable;
use gpu_std::DeviceCopy;
use gpukernel::{Device, Error, Result};
use proptest::prelude::*;

use crate::common::on_every_device;

fn numbers(len: usize) -> Vec<u32> {
    (0..len as u32).collect()
}

#[test]
fn parts_of_matrices_are_copied_to_and_from_the_host() {
    on_every_device(|device| {
        let mut matrix = device.upload(&numbers(6 * 8))?;
        let part = matrix.view_2d(8)?.part(1..4, 2..7)?;
        let expected: Vec<u32> = (1..4).flat_map(|row| (2..7).map(move |column| row * 8 + column)).collect();
        assert_eq!(part.to_vec()?, expected);
        let mut host = vec![0; 15];
        part.copy_to(&mut host)?;
        assert_eq!(host, expected);

        matrix.view_2d_mut(8)?.part(1..4, 2..7)?.copy_from(&[9; 15])?;
        let inside = |i: usize| (1..4).contains(&(i / 8)) && (2..7).contains(&(i % 8));
        let after = matrix.to_vec()?;
        assert!(after.iter().enumerate().all(|(i, x)| *x == if inside(i) { 9 } else { i as u32 }));
        Ok(())
    });
}

#[test]
fn parts_are_copied_in_a_scope() {
    on_every_device(|device| {
        let stream = device.stream()?;
        let mut matrix = stream.upload(&numbers(6 * 8))?;
        let (mut part, ones) = (device.pinned::<u32>(15)?, vec![1; 6]);
        let [mut column, mut short] = [vec![0; 6], vec![0; 14]];
        stream.scope(|scope| {
            scope.copy_view_to_host(&matrix.view_2d(8)?.part(1..4, 2..7)?, &mut part)?;
            // After what reads it, and before what reads it later.
            scope.copy_view_to_device(&ones, &mut matrix.view_2d_mut(8)?.part(.., 3..4)?)?;
            scope.copy_view_to_host(&matrix.view_2d(8)?.column(3)?, &mut column)?;
            for result in [
                scope.copy_view_to_host(&matrix.view_2d(8)?.part(1..4, 2..7)?, &mut short),
                scope.copy_view_to_device(&ones, &mut matrix.view_2d_mut(8)?.part(1..4, 2..7)?),
            ] {
                assert!(matches!(result, Err(Error::LengthMismatch { .. })), "{result:?}");
            }
            Ok(())
        })?;
        let expected: Vec<u32> = (1..4).flat_map(|row| (2..7).map(move |column| row * 8 + column)).collect();
        assert_eq!((&part[..], column), (&expected[..], vec![1; 6]));
        let after = matrix.to_vec()?;
        assert!(after.iter().enumerate().all(|(i, x)| *x == if i % 8 == 3 { 1 } else { i as u32 }));
        Ok(())
    });
}

#[test]
fn columns_are_strided_and_fit_vectors() {
    on_every_device(|device| {
        let mut matrix = device.upload(&numbers(12))?;
        assert_eq!(matrix.view_2d(4)?.column(1)?.to_vec()?, [1, 5, 9]);
        let vector = device.upload(&[70, 80, 90])?;
        // A vector in a row to one with a step, and back.
        matrix.view_2d_mut(4)?.column(2)?.copy_from_device(&vector.view_strided(0, 1)?)?;
        assert_eq!(matrix.to_vec()?, [0, 1, 70, 3, 4, 5, 80, 7, 8, 9, 90, 11]);
        let mut back = device.zeroed::<u32>(3)?;
        device.stream()?.copy_view(&matrix.view_2d(4)?.column(2)?, &mut back.view_2d_mut(3)?)?;
        assert_eq!(back.to_vec()?, [70, 80, 90]);
        Ok(())
    });
}

#[test]
fn volumes_are_copied_between_streams_in_order() {
    on_every_device(|device| {
        let [first, second] = [device.stream()?, device.stream()?];
        let large = first.upload(&numbers(4 * 5 * 6))?;
        let mut small = second.zeroed::<u32>(2 * 3 * 4)?;
        let part = large.view_3d(5, 6)?.part(1..3, 2..5, 1..5)?;
        second.copy_view(&part, &mut small.view_3d_mut(3, 4)?)?;
        let mut host = vec![0; 24];
        first.copy_view_to_host(&small.view_3d(3, 4)?, &mut host)?;
        let expected: Vec<u32> = (1..3)
            .flat_map(|layer| {
                (2..5).flat_map(move |row| (1..5).map(move |column| (layer * 5 + row) * 6 + column))
            })
            .collect();
        assert_eq!(host, expected);
        second.copy_view_to_device(&numbers(24), &mut small.view_3d_mut(3, 4)?)?;
        assert_eq!(small.to_vec()?, numbers(24));
        Ok(())
    });
}

#[test]
fn other_extents_and_devices_are_refused() {
    on_every_device(|device| {
        let (a, mut b) = (device.zeroed::<u32>(12)?, device.zeroed::<u32>(12)?);
        let error = b.view_2d_mut(4)?.copy_from_device(&a.view_2d(3)?).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a copy from 1 x 4 x 3 to 1 x 3 x 4: both must have the same layers, rows and columns"
        );
        assert!(matches!(error, Error::ShapeMismatch { from: [1, 4, 3], to: [1, 3, 4] }));
        assert!(matches!(b.view_2d_mut(4)?.copy_from(&[0; 11]), Err(Error::LengthMismatch { .. })));
        assert!(matches!(a.view_2d(4)?.copy_to(&mut [0; 13]), Err(Error::LengthMismatch { .. })));
        let captured = device
            .stream()?
            .capture(&mut b, |capture, b| capture.copy_view(&a.view_2d(3)?, &mut b.view_2d_mut(3)?));
        assert!(matches!(captured, Err(Error::NotInGraph { .. })));
        for other in gpukernel::devices()?.iter().filter(|other| *other != device) {
            let stream = other.stream()?;
            let wrong = stream.copy_view(&a.view_2d(3)?, &mut b.view_2d_mut(3)?);
            assert!(matches!(wrong, Err(Error::WrongDevice { .. })));
            let theirs = other.zeroed::<u32>(12)?;
            assert!(matches!(
                b.view_2d_mut(3)?.copy_from_device(&theirs.view_2d(3)?),
                Err(Error::WrongDevice { .. })
            ));
        }
        // Nothing is copied anywhere.
        assert!(a.view_2d(3)?.part(1..1, ..)?.to_vec()?.is_empty());
        b.view_2d_mut(3)?.part(.., 2..2)?.copy_from(&[])?;
        b.view_strided_mut(12, 5)?.copy_from(&[])?;
        b.view_strided_mut(12, 5)?.copy_from_device(&a.view_strided(12, 1)?)
    });
}

/// Against the same on the host.
fn random_part(
    device: &Device,
    extents: [usize; 3],
    from: [usize; 3],
    size: [usize; 3],
    seed: u32,
) -> Result<()> {
    let [layers, rows, columns] = extents;
    let mut host: Vec<u32> =
        (0..(layers * rows * columns) as u32).map(|i| i.wrapping_mul(seed | 1)).collect();
    let mut buffer = device.upload(&host)?;
    let at = |layer: usize, row: usize, column: usize| (layer * rows + row) * columns + column;
    let places: Vec<usize> = (0..size[0])
        .flat_map(|layer| {
            (0..size[1]).flat_map(move |row| (0..size[2]).map(move |column| (layer, row, column)))
        })
        .map(|(layer, row, column)| at(from[0] + layer, from[1] + row, from[2] + column))
        .collect();
    let ranges = [0, 1, 2].map(|axis| from[axis]..from[axis] + size[axis]);
    let [l, r, c] = ranges;
    let expected: Vec<u32> = places.iter().map(|place| host[*place]).collect();
    let part = buffer.view_3d(rows, columns)?.part(l.clone(), r.clone(), c.clone())?;
    assert_eq!(part.to_vec()?, expected);
    let mut copy = device.zeroed::<u32>(expected.len())?;
    if !expected.is_empty() {
        copy.view_3d_mut(size[1], size[2])?.copy_from_device(&part)?;
        assert_eq!(copy.to_vec()?, expected);
    }
    let new: Vec<u32> = expected.iter().map(|x| !x).collect();
    buffer.view_3d_mut(rows, columns)?.part(l, r, c)?.copy_from(&new)?;
    places.iter().zip(&new).for_each(|(place, x)| host[*place] = *x);
    assert_eq!(buffer.to_vec()?, host);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn random_parts_of_volumes(
        extents in [1..5_usize, 1..6_usize, 1..9_usize],
        from in [0..100_usize, 0..100_usize, 0..100_usize],
        size in [0..100_usize, 0..100_usize, 0..100_usize],
        seed: u32,
    ) {
        let from = [0, 1, 2].map(|axis| from[axis] % extents[axis]);
        let size = [0, 1, 2].map(|axis| size[axis] % (extents[axis] - from[axis] + 1));
        on_every_device(|device| random_part(device, extents, from, size, seed));
    }
}

fn fills<T: DeviceCopy + Zeroable + PartialEq + std::fmt::Debug>(device: &Device, value: T) -> Result<()> {
    for (len, range) in [(1, 0..1), (5, 1..4), (1000, 7..993), (10_000, 0..10_000), (3, 2..2)] {
        let zero = device.zeroed::<T>(len)?;
        let mut buffer = device.zeroed::<T>(len)?;
        buffer[range.clone()].fill(value)?;
        let (after, before) = (buffer.to_vec()?, zero.to_vec()?);
        for (i, x) in after.iter().enumerate() {
            assert_eq!(*x, if range.contains(&i) { value } else { before[i] }, "{i} of {len}");
        }
        assert_eq!(device.filled(len, value)?.to_vec()?, vec![value; len]);
    }
    Ok(())
}

#[test]
fn fills_of_every_kind_of_element() {
    on_every_device(|device| {
        fills(device, 0xa5_u8)?;
        fills(device, -3_i8)?;
        fills(device, true)?;
        fills(device, 0xbeef_u16)?;
        fills(device, -2_i16)?;
        fills(device, 0xdead_beef_u32)?;
        fills(device, -1_i32)?;
        fills(device, 1.5_f32)?;
        fills(device, 0xdead_beef_0bad_f00d_u64)?;
        fills(device, u64::MAX)?;
        fills(device, 1.5_f64)?;
        fills(device, -0.0_f64)?;
        fills(device, [1_u8, 2, 3])?;
        fills(device, u128::MAX - 1)
    });
}

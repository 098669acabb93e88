//! More than 2³¹ elements: on GPUs with enough free memory, because they take the CPU device minutes. What is counted is tested with few elements
//! elsewhere.

use gpukernel_algorithms::Sum;
use gpukernel_algorithms_tests::{numbers, on_every_device};

const LEN: usize = (1 << 31) + 4099;

/// Whether a device is a GPU that has so many bytes for each of the elements.
fn has_room(device: &gpukernel::Device, bytes: u64) -> bool {
    device.is_gpu() && device.memory_info().free_bytes > bytes * LEN as u64 + (1 << 30)
}

#[test]
fn numbers_behind_2_31_others_are_counted_and_selected() {
    on_every_device(|device, algorithms| {
        if !has_room(device, 3) {
            return Ok(());
        }
        let (mut x, mut flags) = (device.zeroed::<u8>(LEN)?, device.filled(LEN, false)?);
        let places = [5, (1 << 31) - 1, 1 << 31, LEN - 1];
        for (number, place) in (1..).zip(places) {
            x[place..=place].fill(number)?;
            flags[place..=place].fill(true)?;
        }
        let mut counts = device.zeroed(5)?;
        algorithms.histogram(&x, 0..5, &mut counts)?;
        assert_eq!(counts.to_vec()?, [LEN as u64 - 4, 1, 1, 1, 1]);
        let (mut chosen, mut rest) = (device.filled(4, 9)?, device.filled(LEN - 4, 9)?);
        assert_eq!(algorithms.partition(&x, &flags, &mut chosen, &mut rest)?, 4);
        assert_eq!(chosen.to_vec()?, [1, 2, 3, 4]);
        algorithms.histogram(&rest, 0..1, &mut counts[..1])?;
        assert_eq!(counts[..1].to_vec()?, [LEN as u64 - 4]);
        Ok(())
    });
}

#[test]
fn more_than_2_31_numbers_are_reduced_scanned_and_sorted() {
    on_every_device(|device, algorithms| {
        if !has_room(device, 17) {
            return Ok(());
        }
        let x = device.filled(LEN, 1_u32)?;
        assert_eq!(algorithms.reduce(&x, Sum)?, LEN as u32);
        let mut y = device.zeroed::<u32>(LEN)?;
        algorithms.inclusive_scan(&x, Sum, &mut y)?;
        let end = LEN - 10_000;
        assert!(y[end..].to_vec()?.into_iter().eq((end..LEN).map(|i| i as u32 + 1)));
        // From the largest to the smallest, so that each key goes to the other end.
        assert_eq!(algorithms.arg_max(&y)?, Some(LEN - 1));
        algorithms.sort_descending(&mut y)?;
        let sorted = |first: usize| (0..10_000).map(move |i| (LEN - first - i) as u32);
        for first in [0, (1 << 30) - 5000, (1 << 31) - 6000, end] {
            assert!(y[first..first + 10_000].to_vec()?.into_iter().eq(sorted(first)), "{first}");
        }
        Ok(())
    });
}

/// Of which a GPU with enough shared memory makes larger tiles.
#[test]
fn millions_of_keys_are_sorted() {
    on_every_device(|device, algorithms| {
        if !device.is_gpu() {
            return Ok(());
        }
        let mut expected: Vec<u64> = numbers(5_000_001).collect();
        let mut keys = device.upload(&expected)?;
        let mut narrow = device.upload(&expected.iter().map(|key| *key as i32).collect::<Vec<_>>())?;
        algorithms.sort(&mut keys)?;
        algorithms.sort_descending(&mut narrow)?;
        let mut narrow_expected: Vec<_> = expected.iter().map(|key| *key as i32).collect();
        narrow_expected.sort_by(|a, b| b.cmp(a));
        assert!(narrow.to_vec()? == narrow_expected);
        expected.sort();
        assert!(keys.to_vec()? == expected);

        let keys: Vec<u32> = numbers((1 << 26) + 4099).map(|key| (key % 977) as u32).collect();
        let mut positions = device.zeroed(keys.len())?;
        algorithms.argsort(&device.upload(&keys)?, &mut positions)?;
        let place = |&position: &u32| (keys[position as usize], position);
        // Each position is there once, and of equal keys the first comes first.
        assert!(positions.to_vec()?.windows(2).all(|pair| place(&pair[0]) < place(&pair[1])));
        Ok(())
    });
}

/// More than a launch has threads for.
#[test]
fn needles_behind_2_32_others_are_searched() {
    on_every_device(|device, algorithms| {
        let (len, first) = ((1 << 32) + 5, 1 << 32);
        if !has_room(device, 25) {
            return Ok(());
        }
        let mut needles = device.zeroed::<u32>(len)?;
        needles[first..].fill(7)?;
        // Positions behind 2³² do not fit into a number with a word.
        assert_eq!(algorithms.arg_max(&needles)?, Some(first));
        assert_eq!(algorithms.arg_min(&needles)?, Some(0));
        assert_eq!(algorithms.arg_max(&needles[..first])?, Some(0));
        assert_eq!(algorithms.arg_max(&needles[2..first + 1])?, Some(first - 2));
        let mut positions = device.filled(len, u64::MAX)?;
        algorithms.lower_bound(&device.upload(&[3, 7, 9])?, &needles, &mut positions)?;
        assert_eq!(positions[..10].to_vec()?, [0; 10]);
        assert_eq!(positions[first - 5..].to_vec()?, [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]);
        Ok(())
    });
}

/// Of more tiles than a launch has blocks.
#[test]
fn long_matrices_are_transposed() {
    const ROWS: usize = LEN / 2;
    on_every_device(|device, algorithms| {
        if !has_room(device, 3) {
            return Ok(());
        }
        let (mut x, mut y) = (device.zeroed::<u8>(2 * ROWS)?, device.zeroed::<u8>(2 * ROWS)?);
        let places = [(0, 1), (1 << 28, 0), ((1 << 29) + 77, 1), (ROWS - 1, 0), (ROWS - 1, 1)];
        for (number, (row, column)) in (1..).zip(places) {
            x[2 * row + column..][..1].fill(number)?;
        }
        algorithms.transpose(&x, ROWS, 2, &mut y)?;
        for (number, (row, column)) in (1..).zip(places) {
            assert_eq!(y[column * ROWS + row..][..1].to_vec()?, [number], "{row} {column}");
        }
        let mut counts = device.zeroed(6)?;
        algorithms.histogram(&y, 0..6, &mut counts)?;
        assert_eq!(counts.to_vec()?, [2 * ROWS as u64 - 5, 1, 1, 1, 1, 1]);
        // And back.
        let mut z = device.zeroed::<u8>(2 * ROWS)?;
        algorithms.transpose(&y, 2, ROWS, &mut z)?;
        for (number, (row, column)) in (1..).zip(places) {
            assert_eq!(z[2 * row + column..][..1].to_vec()?, [number], "{row} {column}");
        }
        Ok(())
    });
}

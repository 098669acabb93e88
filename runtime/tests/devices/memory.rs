//! Buffers and slices on every device.

use crate::common::on_every_device;
use bytemuck::Zeroable;
use gpu_std::DeviceCopy;
use gpukernel::{Buffer, Device, DeviceSlice, Error};

#[derive(Clone, Copy, Debug, PartialEq, DeviceCopy, Zeroable)]
#[repr(C)]
struct Padded {
    small: u8,
    large: u64,
}

#[test]
fn round_trips_of_every_kind_of_element() {
    on_every_device(|device| {
        let padded = [Padded { small: 1, large: 2 }, Padded { small: 3, large: u64::MAX }];
        assert_eq!(device.upload(&padded)?.to_vec()?, padded);
        assert_eq!(device.zeroed::<Padded>(2)?.to_vec()?, [Padded { small: 0, large: 0 }; 2]);
        assert_eq!(device.filled(3, true)?.to_vec()?, [true; 3]);
        assert_eq!(device.upload(&['x', 'é'])?.to_vec()?, ['x', 'é']);
        assert_eq!(device.upload(&[[1_u16, 2, 3]; 5])?.to_vec()?, [[1, 2, 3]; 5]);
        assert_eq!(device.upload(&[u128::MAX])?.to_vec()?, [u128::MAX]);
        Ok(())
    });
}

#[test]
fn what_was_copied_comes_back_unless_something_fails() {
    on_every_device(|device| {
        let mut numbers = [1, 2, 3];
        let len = device.round_trip(&mut numbers, |x| {
            x[1..].copy_from(&[5, 6])?;
            Ok(x.len())
        })?;
        assert_eq!((len, numbers), (3, [1, 5, 6]));
        let failed = device.round_trip(&mut numbers, |x| {
            x.fill(9)?;
            x.copy_from(&[1])
        });
        assert!(matches!(failed, Err(Error::LengthMismatch { .. })), "{failed:?}");
        assert_eq!(numbers, [1, 5, 6]);
        device.round_trip(&mut numbers[..0], |x| x.fill(7))?;
        assert_eq!(numbers, [1, 5, 6]);
        Ok(())
    });
}

/// std fills zeros that are aligned further than the memory of `malloc`, page by page.
#[test]
#[cfg(target_os = "linux")]
fn zeros_of_the_cpu_take_no_memory_until_they_are_used() {
    use crate::again::{again, is_inner, succeeded};

    const LEN: usize = 1 << 30;
    // Without other tests, which have memory, too.
    if !is_inner() {
        return succeeded(&again(&[]));
    }
    let resident = || {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().strip_suffix("kB").unwrap().trim().parse::<usize>().unwrap() * 1024
    };
    let before = resident();
    let mut zeros = Device::cpu().zeroed::<u8>(LEN).unwrap();
    let after = resident();
    assert!(after < before + LEN / 4, "{before} bytes became {after}");
    zeros[LEN - 2..].copy_from(&[1, 2]).unwrap();
    assert_eq!(zeros[LEN - 4..].to_vec().unwrap(), [0, 0, 1, 2]);
}

#[test]
fn buffers_are_aligned_to_256_bytes() {
    on_every_device(|device| {
        for len in [1, 7, 300, 5000, 1 << 20] {
            let (zeros, values) = (device.zeroed::<u8>(len)?, device.filled(len, 7_u8)?);
            assert_eq!((zeros.as_ptr().addr() % 256, values.as_ptr().addr() % 256), (0, 0), "{len}");
            assert_eq!((zeros.to_vec()?, values.to_vec()?), (vec![0; len], vec![7; len]));
        }
        Ok(())
    });
}

#[test]
fn empty_buffers_and_elements_without_bytes_are_legal() {
    on_every_device(|device| {
        let mut empty = device.upload::<f64>(&[])?;
        assert!(empty.is_empty() && empty.to_vec()?.is_empty());
        empty.copy_from(&[])?;
        empty.copy_to(&mut [])?;
        empty.fill(1.0)?;
        assert!(empty[..].is_empty());
        assert_eq!((empty.view_2d_mut(0)?.rows(), empty.view_2d_mut(7)?.rows()), (0, 0));
        assert_eq!(device.zeroed::<u8>(0)?.len(), 0);
        assert_eq!(device.filled(0, 1)?.len(), 0);

        let units = device.upload(&[(); 5])?;
        assert_eq!((units.len(), units.to_vec()?), (5, vec![(); 5]));
        assert_eq!(units.owner(), None);
        Ok(())
    });
}

#[test]
fn empty_parts_of_full_buffers() {
    on_every_device(|device| {
        let mut buffer = device.upload(&[1, 2, 3])?;
        for at in 0..=3 {
            assert!(buffer[at..at].to_vec()?.is_empty());
        }
        let (all, none) = buffer.split_at_mut(3);
        assert_eq!((all.len(), none.len()), (3, 0));
        none.copy_from(&[])?;
        Ok(())
    });
}

#[test]
fn every_kind_of_range() {
    on_every_device(|device| {
        let buffer = device.upload(&[0, 1, 2, 3, 4])?;
        assert_eq!(buffer[1..3].to_vec()?, [1, 2]);
        assert_eq!(buffer[1..=3].to_vec()?, [1, 2, 3]);
        assert_eq!(buffer[..2].to_vec()?, [0, 1]);
        assert_eq!(buffer[..=2].to_vec()?, [0, 1, 2]);
        assert_eq!(buffer[3..].to_vec()?, [3, 4]);
        assert_eq!(buffer[..].to_vec()?, [0, 1, 2, 3, 4]);
        assert_eq!(buffer[1..4][1..].to_vec()?, [2, 3]);
        assert!(buffer.get(3..6).is_none() && buffer.get(..=usize::MAX).is_none());
        Ok(())
    });
}

#[test]
#[should_panic(expected = "range 2..7 of a device slice of 3 elements")]
fn a_range_beyond_the_end_panics_like_that_of_a_slice() {
    let buffer = Device::cpu().upload(&[1, 2, 3]).unwrap();
    let _ = &buffer[2..7];
}

#[test]
#[should_panic(expected = "split at 4 of a device slice of 3 elements")]
fn a_split_beyond_the_end_panics_like_that_of_a_slice() {
    let mut buffer = Device::cpu().upload(&[1, 2, 3]).unwrap();
    buffer.split_at_mut(4);
}

/// A slice behind `&mut` must not be exchanged for another: the buffer would then free what it does not own.
#[test]
fn slices_have_no_size_to_swap() {
    assert_eq!(size_of_val::<DeviceSlice<u64>>(&Device::cpu().upload(&[1_u64, 2]).unwrap()), 0);
    assert_eq!(size_of::<&DeviceSlice<u64>>(), 2 * size_of::<usize>());
}

#[test]
fn fills_of_odd_lengths() {
    on_every_device(|device| {
        for len in [1, 4095, 4096, 4097, 8192, 10_001] {
            let mut buffer = device.zeroed::<u16>(len + 2)?;
            buffer[1..=len].fill(7)?;
            let found = buffer.to_vec()?;
            assert!(found[0] == 0 && found[len + 1] == 0 && found[1..=len].iter().all(|&x| x == 7), "{len}");
        }
        Ok(())
    });
}

#[test]
fn sizes_that_overflow_are_out_of_memory() {
    on_every_device(|device| {
        for len in [usize::MAX, usize::MAX / 8, 1 << 58] {
            let Err(Error::OutOfMemory { asked_bytes, .. }) = device.filled(len, 0_u64) else {
                panic!("{len} elements")
            };
            assert_eq!(asked_bytes, u64::try_from(len as u128 * 8).unwrap_or(u64::MAX));
        }
        Ok(())
    });
}

#[test]
fn buffers_are_used_and_dropped_on_other_threads() {
    on_every_device(|device| {
        let made: Vec<Buffer<usize>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|i| scope.spawn(move || device.filled(1000, i))).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().expect("it does not panic"))
                .collect::<Result<_, _>>()
        })?;
        std::thread::scope(|scope| {
            for (i, buffer) in made.into_iter().enumerate() {
                scope.spawn(move || assert_eq!(buffer.to_vec().unwrap(), vec![i; 1000]));
            }
        });
        Ok(())
    });
}

#[test]
fn memory_of_two_gpus_is_not_mixed() {
    let gpus: Vec<_> = gpukernel::devices().unwrap().into_iter().filter(Device::is_gpu).collect();
    if let [first, second, ..] = &gpus[..] {
        let from = first.upload(&[1, 2]).unwrap();
        let mut to = second.zeroed::<i32>(2).unwrap();
        assert!(matches!(to.copy_from_device(&from), Err(Error::WrongDevice { .. })));
        assert!(matches!(
            second.default_stream().copy_to_host(&from, &mut [0; 2]),
            Err(Error::WrongDevice { .. })
        ));
        assert_eq!(to.to_vec().unwrap(), [0, 0]);
    }
}

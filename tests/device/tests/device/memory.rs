//! Buffers: copies in every direction, parts of buffers, and what they refuse.

use gpukernel::Error;
use gpukernel_device_tests::on_every_device;

#[test]
fn what_goes_up_comes_down() {
    let elements: Vec<u64> = (0..100_000).map(|i| i * i).collect();
    on_every_device(|device, _| {
        assert_eq!(device.upload(&elements)?.to_vec()?, elements);
        assert_eq!(device.filled(1000, 1.5_f64)?.to_vec()?, [1.5; 1000]);
        assert_eq!(device.zeroed::<i16>(3)?.to_vec()?, [0; 3]);
        Ok(())
    });
}

#[test]
fn parts_of_buffers() {
    on_every_device(|device, _| {
        let mut buffer = device.upload(&[1, 2, 3, 4, 5, 6])?;
        assert_eq!(buffer[2..4].to_vec()?, [3, 4]);
        buffer[..2].copy_from(&[10, 20])?;
        let (left, right) = buffer.split_at_mut(3);
        left.copy_from_device(right)?;
        assert_eq!(buffer.to_vec()?, [4, 5, 6, 4, 5, 6]);
        buffer[1..5].fill(0)?;
        assert_eq!(buffer.to_vec()?, [4, 0, 0, 0, 0, 6]);
        Ok(())
    });
}

#[test]
fn copies_of_different_lengths_are_refused() {
    on_every_device(|device, _| {
        let mut buffer = device.upload(&[1, 2, 3])?;
        let error = buffer.copy_from(&[1, 2]).unwrap_err();
        assert!(matches!(error, Error::LengthMismatch { from_len: 2, to_len: 3 }), "{error}");
        let error = buffer.copy_to(&mut [0; 4]).unwrap_err();
        assert!(matches!(error, Error::LengthMismatch { from_len: 3, to_len: 4 }), "{error}");
        Ok(())
    });
}

#[test]
fn rows_must_be_whole() {
    on_every_device(|device, _| {
        let mut buffer = device.zeroed::<u8>(10)?;
        assert_eq!(buffer.view_2d_mut(5)?.rows(), 2);
        for columns in [0, 3, 11] {
            let error = buffer.view_2d_mut(columns).unwrap_err();
            assert!(matches!(error, Error::NotRows { len: 10, .. }), "{error}");
        }
        Ok(())
    });
}

/// More than any device has; nothing is left behind, and the device goes on.
#[test]
fn out_of_memory_is_an_error() {
    on_every_device(|device, _| {
        for len in [1 << 50, usize::MAX / 8] {
            let error = device.zeroed::<u8>(len).unwrap_err();
            assert!(matches!(error, Error::OutOfMemory { .. }), "{error}");
            assert!(error.to_string().contains(&len.to_string()), "{error}");
        }
        let error = device.zeroed::<u64>(usize::MAX).unwrap_err();
        assert!(matches!(error, Error::OutOfMemory { .. }), "{error}");
        assert_eq!(device.upload(&[1, 2])?.to_vec()?, [1, 2]);
        Ok(())
    });
}

#[test]
fn many_buffers_come_and_go() {
    on_every_device(|device, _| {
        for round in 0..50_u32 {
            let buffers =
                (0..10).map(|i| device.filled(1 << 16, round + i)).collect::<Result<Vec<_>, _>>()?;
            for (i, buffer) in buffers.iter().enumerate() {
                assert_eq!(buffer[65_535..].to_vec()?, [round + i as u32]);
            }
        }
        Ok(())
    });
}

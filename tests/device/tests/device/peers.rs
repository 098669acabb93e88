//! Copies between devices: every pair of those that there are, the CPU among them.

use gpukernel::{Error, for_each};
use gpukernel_device_test_kernels::outputs::add_index;
use gpukernel_device_tests::{KERNELS, on_every_device};

const LEN: usize = 100_000;

#[test]
fn memory_goes_from_each_device_to_each() {
    on_every_device(|here, module| {
        for there in gpukernel::devices()? {
            let other_module = there.load(&KERNELS)?;
            if here.can_access_peer(&there)? {
                here.enable_peer_access(&there)?;
                here.enable_peer_access(&there)?;
                there.enable_peer_access(here)?;
            } else {
                let error = here.enable_peer_access(&there);
                assert!(matches!(error, Err(Error::NoPeerAccess { .. })), "{error:?}");
            }
            for stream in [here.stream()?, there.stream()?, here.default_stream()] {
                let (mut a, mut b) = (here.zeroed::<u64>(LEN)?, there.zeroed::<u64>(LEN)?);
                // Kernels on both sides, on other streams than the copies.
                for _ in 0..5 {
                    module.launch(add_index, for_each(LEN), (&mut a,))?;
                    stream.copy_peer(&a, &mut b)?;
                    other_module.launch(add_index, for_each(LEN), (&mut b,))?;
                    stream.copy_peer(&b, &mut a)?;
                }
                assert!(a.to_vec()?.into_iter().eq((0..LEN as u64).map(|i| 10 * (1 + i))), "{here} {there}");
                // A part of it, and memory that is gone while it is copied.
                stream.copy_peer(&here.filled(10, 7_u64)?, &mut b[5..15])?;
                assert_eq!(b[4..16].to_vec()?, [[50].as_slice(), &[7; 10], &[160]].concat());
            }
        }
        Ok(())
    });
}

#[test]
fn copies_between_devices_check_lengths_and_captures() {
    on_every_device(|here, _| {
        for there in gpukernel::devices()? {
            let (a, mut b) = (here.zeroed::<u64>(2)?, there.zeroed::<u64>(3)?);
            let stream = there.stream()?;
            let result = stream.copy_peer(&a, &mut b);
            assert!(matches!(result, Err(Error::LengthMismatch { .. })), "{result:?}");
            let result = stream.capture((), |capture, ()| capture.copy_peer(&a, &mut b[..2]));
            assert!(matches!(result, Err(Error::NotCapturable { .. })), "{result:?}");
        }
        Ok(())
    });
}

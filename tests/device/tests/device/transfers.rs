//! Copies between host and device that run beside other work, from pinned and other memory of the host.

use gpukernel::{Device, Error, PinnedOptions, Result, for_each};
use gpukernel_device_test_kernels::outputs::saxpy;
use gpukernel_device_tests::on_every_device;

const LEN: usize = 1 << 16;

#[test]
fn pinned_memory_is_a_slice() {
    on_every_device(|device, _| {
        for options in [
            PinnedOptions::new(),
            PinnedOptions::new().portable(),
            PinnedOptions::new().write_combined(),
            PinnedOptions::new().portable().write_combined(),
        ] {
            let mut numbers = device.pinned_with::<u32>(LEN, options)?;
            assert!(numbers.iter().all(|number| *number == 0));
            numbers.iter_mut().zip(0..).for_each(|(number, index)| *number = index);
            let buffer = device.upload(&numbers)?;
            numbers.fill(7);
            buffer.copy_to(&mut numbers)?;
            assert!(numbers.iter().copied().eq(0..LEN as u32), "{options:?}");
        }
        Ok(())
    });
}

#[test]
fn pinned_memory_may_have_no_bytes() {
    on_every_device(|device, _| {
        assert!(device.pinned::<u64>(0)?.is_empty());
        assert_eq!(device.pinned::<[u64; 0]>(5)?.len(), 5);
        device.pin::<u64, _>(&mut [], |elements| {
            assert!(elements.is_empty());
            Ok(())
        })
    });
}

#[test]
fn more_pinned_memory_than_there_is_is_an_error() {
    on_every_device(|device, _| {
        for len in [1_usize << 50, usize::MAX / 8, usize::MAX] {
            let result = device.pinned::<u64>(len);
            assert!(matches!(result, Err(Error::OutOfMemory { .. })), "{len}: {result:?}");
        }
        Ok(())
    });
}

/// What `code` gets is the same memory, and what it returns is returned.
#[test]
fn memory_is_pinned_in_place() {
    on_every_device(|device, _| {
        let mut numbers: Vec<u64> = (0..LEN as u64).collect();
        let start = numbers.as_ptr();
        let buffer = device.pin(&mut numbers, |pinned| {
            assert_eq!(pinned.as_ptr(), start);
            let buffer = device.upload(pinned)?;
            pinned.fill(0);
            Ok(buffer)
        })?;
        // A part of it, again and again: it is not pinned any more.
        for _ in 0..3 {
            device.pin(&mut numbers[10..], |pinned| buffer[10..].copy_to(pinned))?;
        }
        assert!(numbers[10..].iter().copied().eq(10..LEN as u64));
        let failed: Result<()> = device.pin(&mut numbers, |_| Err(Error::CaptureEnded));
        assert!(matches!(failed, Err(Error::CaptureEnded)), "{failed:?}");
        device.pin(&mut numbers, |_| Ok(()))
    });
}

/// Chunks are copied on one stream, computed on another, and copied back on a third.
#[test]
fn copies_in_a_scope_are_over_at_its_end() {
    const CHUNKS: usize = 8;
    on_every_device(|device, module| {
        let [up, work, down] = [device.stream()?, device.stream()?, device.stream()?];
        let ones = device.filled(LEN, 1.0_f32)?;
        let chunks = || (0..CHUNKS).map(|_| device.zeroed::<f32>(LEN)).collect::<Result<Vec<_>>>();
        let run = |input: &[f32], output: &mut [f32]| {
            let mut chunks = chunks()?;
            down.scope(|down| {
                up.scope(|up| {
                    let parts = input.chunks(LEN).zip(output.chunks_mut(LEN)).zip(&mut chunks);
                    for ((from, to), chunk) in parts {
                        up.copy_to_device(from, chunk)?;
                        work.launch(module, saxpy, for_each(LEN), (1.0, &ones, chunk))?;
                        down.copy_to_host(chunk, to)?;
                    }
                    Ok(())
                })
            })
        };
        let expected = || (0..CHUNKS * LEN).map(|i| i as f32 + 1.0);
        let mut input = device.pinned::<f32>(CHUNKS * LEN)?;
        let mut output = device.pinned::<f32>(CHUNKS * LEN)?;
        input.iter_mut().zip(0..).for_each(|(x, i)| *x = i as f32);
        run(&input, &mut output)?;
        assert!(output.iter().copied().eq(expected()));
        // And with memory that is not pinned.
        let mut output = vec![0.0; CHUNKS * LEN];
        let input: Vec<f32> = input.iter().copied().collect();
        run(&input, &mut output)?;
        assert!(output.iter().copied().eq(expected()));
        Ok(())
    });
}

#[test]
fn a_scope_waits_also_if_its_code_fails_or_panics() {
    on_every_device(|device, _| {
        let stream = device.stream()?;
        let buffer = device.filled(1 << 20, 5_u32)?;
        let mut output = device.pinned::<u32>(1 << 20)?;
        let failed: Result<()> = stream.scope(|scope| {
            scope.copy_to_host(&buffer, &mut output)?;
            Err(Error::CaptureEnded)
        });
        assert!(matches!(failed, Err(Error::CaptureEnded)), "{failed:?}");
        assert!(output.iter().all(|number| *number == 5));
        output.fill(0);
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            stream.scope(|scope| {
                scope.copy_to_host(&buffer, &mut output)?;
                if true {
                    panic!("as the test wants");
                }
                Ok(())
            })
        }));
        assert!(panicked.is_err());
        assert!(output.iter().all(|number| *number == 5));
        Ok(())
    });
}

#[test]
fn scopes_check_lengths_devices_and_captures() {
    on_every_device(|device, _| {
        let (stream, cpu) = (device.stream()?, Device::cpu());
        let (mut buffer, mut host) = (device.zeroed::<u32>(3)?, vec![0_u32; 2]);
        let result = stream.scope(|scope| scope.copy_to_host(&buffer, &mut host));
        assert!(matches!(result, Err(Error::LengthMismatch { from_len: 3, to_len: 2 })), "{result:?}");
        let result = stream.scope(|scope| scope.copy_to_device(&host, &mut buffer));
        assert!(matches!(result, Err(Error::LengthMismatch { from_len: 2, to_len: 3 })), "{result:?}");
        if device.is_gpu() {
            let elsewhere = cpu.zeroed::<u32>(2)?;
            let result = stream.scope(|scope| scope.copy_to_host(&elsewhere, &mut host));
            assert!(matches!(result, Err(Error::WrongDevice { .. })), "{result:?}");
        }
        let captured = stream.capture((), |capture, ()| capture.scope(|_| Ok(())));
        assert!(matches!(captured, Err(Error::NotCapturable { .. })), "{captured:?}");
        Ok(())
    });
}

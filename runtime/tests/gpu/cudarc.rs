//! Work of cudarc and of this crate on the same memory.

use std::{
    mem,
    sync::{Arc, PoisonError},
};

use cudarc::{
    driver::{CudaStream, DeviceRepr, LaunchConfig, PushKernelArg},
    nvrtc::Ptx,
};
use gpukernel::{Buffer, Device, DeviceSlice, Error, ForeignModule, Result, Stream};

use crate::{LEN, ONE_AT_A_TIME, on_every_gpu, slow_copy};

fn read<T: DeviceRepr + Clone + Default>(
    stream: &Arc<CudaStream>,
    memory: &cudarc::driver::CudaSlice<T>,
) -> Vec<T> {
    stream.clone_dtoh(memory).expect("the GPU is there")
}

mod needs_a_gpu {
    use super::*;

    #[test]
    #[ignore = "needs a GPU"]
    fn cudarc_waits_for_our_work_on_lent_memory() {
        on_every_gpu(|device, module| {
            let [first, second] = [device.stream()?, device.stream()?];
            let (ones, mut to) = (device.filled(LEN, 1_u32)?, device.zeroed(LEN)?);
            slow_copy(module, &first, &ones, &mut to)?;
            let found = second.lend_to_cudarc(|scope| {
                Ok::<_, Error>(scope.stream().clone_dtoh(&scope.read(&to)?).expect("the GPU is there"))
            })??;
            assert!(found.iter().all(|&value| value == 1));

            // On a stream of cudarc's own, too.
            let own = device.to_cudarc()?.new_stream().expect("there is room");
            slow_copy(module, &first, &ones, &mut to)?;
            first.lend_to_cudarc(|scope| {
                own.memset_zeros(&mut scope.write(&mut to)?).expect("the GPU is there");
                Ok::<_, Error>(())
            })??;
            assert!(to.to_vec()?.iter().all(|&value| value == 0));
            Ok(())
        });
    }

    #[test]
    #[ignore = "needs a GPU"]
    fn our_work_waits_for_cudarc_on_lent_memory() {
        on_every_gpu(|device, _| {
            let [first, second] = [device.stream()?, device.stream()?];
            let (mut lent, mut copy) = (device.filled(LEN, 1_u32)?, device.filled(LEN, 2_u32)?);
            device.synchronize()?;
            let held = first.hold()?;
            first.lend_to_cudarc(|scope| {
                scope.stream().memset_zeros(&mut scope.write(&mut lent)?).expect("the GPU is there");
                Ok::<_, Error>(())
            })??;
            second.copy(&lent, &mut copy)?;
            assert!(!second.is_done()?, "it waits for what cudarc queued on a stream that is held back");
            // What would get the memory if it were free.
            drop(lent);
            let other = second.filled(LEN, 3_u32)?;
            held.release();
            assert!(copy.to_vec()?.iter().all(|&value| value == 0));
            assert!(other.to_vec()?.iter().all(|&value| value == 3));
            Ok(())
        });
    }

    #[test]
    #[ignore = "needs a GPU"]
    #[expect(clippy::forget_non_drop, reason = "that nothing relies on a drop is what is tested")]
    fn lent_views_may_be_forgotten_while_cudarc_uses_them() {
        on_every_gpu(|device, _| {
            let [first, second] = [device.stream()?, device.stream()?];
            let (ones, mut lent) = (device.filled(LEN, 1_u32)?, device.filled(LEN, 2_u32)?);
            let mut copy = device.filled(LEN, 3_u32)?;
            device.synchronize()?;
            let held = first.hold()?;
            first.lend_to_cudarc(|scope| {
                let (from, mut to) = (scope.read(&ones)?, scope.write(&mut lent)?);
                scope.stream().memcpy_dtod(&from, &mut to).expect("both are as long");
                mem::forget(from);
                mem::forget(to);
                Ok::<_, Error>(())
            })??;
            second.copy(&lent, &mut copy)?;
            assert!(!second.is_done()?, "it waits for what cudarc queued on a stream that is held back");
            // What would get the memory if it were free.
            drop((ones, lent));
            let others = [second.filled(LEN, 4_u32)?, second.filled(LEN, 4_u32)?];
            held.release();
            assert!(copy.to_vec()?.iter().all(|&value| value == 1));
            for other in others {
                assert!(other.to_vec()?.iter().all(|&value| value == 4));
            }
            Ok(())
        });
    }

    #[test]
    #[ignore = "needs a GPU"]
    fn cudarc_launches_a_kernel_of_an_image_on_lent_memory() {
        on_every_gpu(|device, module| {
            let code = device.code_of(&crate::image(|_| ()))?;
            assert!(code.cubin().is_none() && code.symbol("gpu::nothing").is_none());
            let ptx = Ptx::from_src(code.ptx().expect("the image has PTX alone"));
            let loaded = device.to_cudarc()?.load_module(ptx).expect("it is the code of an image");
            let add = loaded.load_function(code.symbol("gpu::add").expect("it is there"));
            let add = add.expect("it is there");

            let (first, second) = (device.stream()?, device.stream()?);
            let (sevens, mut y) = (device.filled(LEN, 7_u32)?, device.zeroed::<u32>(LEN)?);
            slow_copy(module, &first, &sevens, &mut y)?;
            second.lend_to_cudarc(|scope| {
                let (by, len, mut y) = (3_u32, LEN as u64, scope.write(&mut y)?);
                let config = LaunchConfig::for_num_elems(LEN as u32);
                // SAFETY: the arguments are those of the kernel: a number, and a slice as address and length.
                let launched = unsafe {
                    scope.stream().launch_builder(&add).arg(&by).arg(&mut y).arg(&len).launch(config)
                };
                launched.expect("the GPU is there");
                Ok::<_, Error>(())
            })??;
            assert!(y.to_vec()?.iter().all(|&value| value == 10));
            Ok(())
        });
    }

    #[test]
    #[ignore = "needs a GPU"]
    fn memory_changes_its_owner_after_the_work_that_uses_it() {
        on_every_gpu(|device, module| {
            let own = device.to_cudarc()?.new_stream().expect("there is room");
            let (stream, theirs) = (device.stream()?, Stream::from_cudarc(&own)?);
            let mut slice = own.clone_htod(&vec![1_u32; LEN]).expect("there is room");
            own.synchronize().expect("the GPU is there");

            let held = theirs.hold()?;
            own.memset_zeros(&mut slice).expect("the GPU is there");
            let buffer = Buffer::from_cudarc(slice)?;
            let mut copy = device.filled(LEN, 2_u32)?;
            stream.copy(&buffer, &mut copy)?;
            assert!(!stream.is_done()?, "it waits for what cudarc queued on a stream that is held back");
            held.release();
            assert!(copy.to_vec()?.iter().all(|&value| value == 0));

            // And back, after ours; the same for memory that was never cudarc's.
            for mut buffer in [buffer, device.zeroed(LEN)?] {
                let threes = device.filled(LEN, 3_u32)?;
                slow_copy(module, &stream, &threes, &mut buffer)?;
                let slice = buffer.into_cudarc()?;
                assert!(read(&own, &slice).iter().all(|&value| value == 3));
            }
            let memory = device.memory_info();
            for _ in 0..1000 {
                let slice = device.zeroed::<u32>(LEN)?.into_cudarc()?;
                drop(Buffer::from_cudarc(slice)?);
            }
            device.synchronize()?;
            let after = device.memory_info();
            assert_eq!(after.buffers, memory.buffers);
            assert!(after.free_bytes + (1 << 20) > memory.free_bytes, "{memory:?} {after:?}");
            Ok(())
        });
    }

    #[test]
    #[ignore = "needs a GPU"]
    fn borrowed_memory_of_cudarc_is_ordered_both_ways() {
        on_every_gpu(|device, module: &ForeignModule| {
            let own = device.to_cudarc()?.new_stream().expect("there is room");
            let other = device.to_cudarc()?.new_stream().expect("there is room");
            let stream = device.stream()?;
            let mut slice = own.clone_htod(&vec![1_u32; LEN]).expect("there is room");
            let (fours, mut sink) = (device.filled(LEN, 4_u32)?, device.zeroed::<u32>(LEN)?);
            // Some ten milliseconds.
            slow_copy(module, &stream, &fours, &mut sink)?;
            DeviceSlice::with_cudarc_mut(slice.as_view_mut(), |elements| stream.copy(&sink, elements))?;
            assert!(read(&other, &slice).iter().all(|&value| value == 4));
            own.memset_zeros(&mut slice).expect("the GPU is there");
            let found = DeviceSlice::with_cudarc(slice.as_view(), |elements| elements.to_vec())?;
            assert!(found.iter().all(|&value| value == 0));
            Ok(())
        });
    }

    #[test]
    #[ignore = "needs a GPU"]
    fn a_stream_is_there_as_long_as_cudarc_has_it() {
        let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let run = || -> Result<()> {
            let device = Device::gpu(0)?;
            let theirs = device.stream()?.to_cudarc()?;
            for _ in 0..100 {
                drop(device.stream()?.to_cudarc()?);
            }
            let numbers = theirs.clone_htod(&[1_u32, 2, 3]).expect("the stream is there");
            assert_eq!(read(&theirs, &numbers), [1, 2, 3]);
            let legacy = Stream::from_cudarc(&device.to_cudarc()?.default_stream())?;
            assert_eq!(legacy.upload(&[4_u32, 5])?.to_vec()?, [4, 5]);
            Ok(())
        };
        run().unwrap_or_else(|error| panic!("{error}"));
    }
}

//! A kernel in Rust that breaks a GPU's context, in a process of its own: nothing works there afterwards, also not on the process's other GPUs. That each call of
//! the runtime says so is tested with kernels in PTX, in `runtime/tests/context_lost.rs`.

#[path = "../../../runtime/tests/common/again.rs"]
mod again;

use again::on_every_gpu_apart;
use gpukernel::{Device, Error, LaunchConfig, for_each};
use gpukernel_device_test_kernels::{outputs::saxpy, strays::write_to};
use gpukernel_device_tests::KERNELS;

const LEN: usize = 1000;

/// Skipped by name where there is no GPU: `cargo gpukernel test` and bundles run them where there is one.
mod needs_a_gpu {
    use super::*;

    #[test]
    #[ignore = "needs a GPU"]
    fn an_illegal_address_in_an_unsafe_kernel_loses_the_context() {
        on_every_gpu_apart(|device| {
            let (stream, module) = (device.stream()?, device.load(&KERNELS)?);
            let (ones, mut y) = (device.filled(LEN, 1.0_f32)?, device.zeroed::<f32>(LEN)?);
            let mut target = device.zeroed::<u32>(1)?;
            let mut graph = stream.capture((&ones, device.zeroed::<f32>(LEN)?), |capture, (ones, y)| {
                capture.launch(&module, saxpy, for_each(LEN), (1.0, ones, y)).map(drop)
            })?;
            let config = LaunchConfig::new(1, 32);
            // All of it works first, the kernel too where it is told the truth.
            module.launch(saxpy, for_each(LEN), (1.0, &ones, &mut y))?;
            graph.launch()?;
            let address = target.as_mut_ptr() as usize;
            // SAFETY: the buffer has the element, and nobody else uses it.
            unsafe { module.launch_unsafe(write_to, config, (address, 7))? };
            device.synchronize()?;
            assert_eq!((target.to_vec()?, y.to_vec()?), (vec![7], vec![1.0; LEN]));

            // SAFETY: it is not. The GPU reports it, and that is what this test is about.
            let launched = unsafe { stream.launch_unsafe(&module, write_to, config, (16, 7)) };
            assert!(launched.is_ok(), "{launched:?}");
            let error = device.synchronize().expect_err("nothing is at this address");
            println!("{error}");
            assert!(error.to_string().contains("CUDA_ERROR_ILLEGAL_ADDRESS"), "{error}");
            let later = [
                Err(error),
                device.synchronize(),
                stream.synchronize(),
                module.launch(saxpy, for_each(LEN), (1.0, &ones, &mut y)),
                // SAFETY: nothing is launched any more.
                unsafe { stream.launch_unsafe(&module, write_to, config, (address, 8)) },
                graph.launch(),
                stream.fill(&mut y, 2.0),
                y.to_vec().map(drop),
                device.zeroed::<u32>(1).map(drop),
                device.stream().map(drop),
                device.load(&KERNELS).map(drop),
            ];
            for (index, result) in later.into_iter().enumerate() {
                assert!(matches!(result, Err(Error::ContextLost { .. })), "call {index}: {result:?}");
            }
            // What was the GPU's is dropped without it, and the CPU is as it was.
            drop(graph);
            drop((ones, y, target, stream, module));
            let cpu = Device::cpu();
            let (ones, mut y) = (cpu.filled(LEN, 1.0_f32)?, cpu.zeroed::<f32>(LEN)?);
            cpu.load(&KERNELS)?.launch(saxpy, for_each(LEN), (2.0, &ones, &mut y))?;
            assert_eq!(y.to_vec()?, [2.0; LEN]);
            Ok(())
        });
    }

    /// The same kernel, as a node of a graph: whoever waits for the graph's stream is told.
    #[test]
    #[ignore = "needs a GPU"]
    fn an_illegal_address_in_a_graph_loses_the_context() {
        on_every_gpu_apart(|device| {
            let (stream, module) = (device.stream()?, device.load(&KERNELS)?);
            let mut graph = stream.capture(device.zeroed::<u32>(LEN)?, |capture, numbers| {
                // SAFETY: it is not, as above.
                unsafe { capture.launch_unsafe(&module, write_to, LaunchConfig::new(1, 1), (16, 7))? };
                capture.fill(numbers, 1).map(drop)
            })?;
            graph.launch()?;
            for result in [stream.synchronize(), graph.launch(), graph.memory().to_vec().map(drop)] {
                assert!(matches!(result, Err(Error::ContextLost { .. })), "{result:?}");
            }
            Ok(())
        });
    }
}

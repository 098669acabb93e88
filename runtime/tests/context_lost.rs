//! Kernels that break a GPU's context, in a process of their own: nothing works there afterwards.

mod common;
#[path = "common/ptx.rs"]
mod ptx;

use common::on_every_gpu;
use gpukernel::{Device, Error, LaunchConfig, RawArg};

/// Skipped by name where there is no GPU: `cargo gpukernel test` and bundles run them where there is one.
mod needs_a_gpu {
    use super::*;

    #[test]
    #[ignore = "needs a GPU"]
    fn a_lost_context_says_so_from_then_on() {
        on_every_gpu(|device| {
            // SAFETY: it is PTX, which the driver compiles and so checks.
            let module = unsafe { device.load_foreign(ptx::KERNELS.as_bytes()) }?;
            let (buffer, stream) = (device.upload(&[1, 2, 3])?, device.stream()?);
            let mut graph = stream.capture(device.zeroed::<u32>(3)?, |capture, numbers| {
                capture.fill(numbers, 1)?;
                // SAFETY: it is not: the address is no memory of this process. The GPU reports it, and that is what this test is about.
                unsafe {
                    let args = [RawArg::value(16_u64)];
                    capture.launch_foreign(&module, "stray", LaunchConfig::new(1, 1), 0, &args)?;
                }
                capture.callback(|| ())
            })?;
            graph.upload()?;
            let launched = graph.launch();
            assert!(launched.is_ok(), "{launched:?}");
            let error = device.synchronize().unwrap_err();
            assert!(matches!(error, Error::ContextLost { .. }), "{error}");
            println!("{error}");
            for error in [
                graph.launch().unwrap_err(),
                graph.memory().to_vec().map(drop).unwrap_err(),
                buffer.to_vec().map(drop).unwrap_err(),
                device.upload(&[1]).map(drop).unwrap_err(),
                device.stream().map(drop).unwrap_err(),
            ] {
                assert!(matches!(error, Error::ContextLost { .. }), "{error}");
            }
            // The graph has not ended, nor will it: what it uses of the host is left to it.
            drop(graph);
            Ok(())
        });
        assert_eq!(Device::cpu().upload(&[1]).unwrap().to_vec().unwrap(), [1]);
    }
}

//! Kernels that break a GPU's context, each in a process of its own: nothing works there afterwards, also not on the process's other GPUs.

#[path = "common/again.rs"]
mod again;
#[path = "common/lost.rs"]
mod lost;
#[path = "common/ptx.rs"]
mod ptx;
#[path = "common/unpark.rs"]
mod unpark;

use again::on_every_gpu_apart;
use gpukernel::{Buffer, Error, ForeignModule, Graph, LaunchConfig, RawArg, Result, Stream};

/// A graph whose kernel writes to an address that is no memory of this process, and which therefore never comes to its last node.
fn stray(module: &ForeignModule, stream: &Stream) -> Result<Graph<Buffer<u32>>> {
    let mut graph = stream.capture(stream.zeroed::<u32>(3)?, |capture, numbers| {
        capture.fill(numbers, 1)?;
        let args = [RawArg::value(16_u64)];
        // SAFETY: it is not. The GPU reports it, and that is what these tests are about.
        unsafe { capture.launch_foreign(module, "stray", LaunchConfig::new(1, 1), 0, &args)? };
        capture.callback(|| ()).map(drop)
    })?;
    graph.upload()?;
    Ok(graph)
}

/// Skipped by name where there is no GPU: `cargo gpukernel test` and bundles run them where there is one.
mod needs_a_gpu {
    use super::*;

    #[test]
    #[ignore = "needs a GPU"]
    fn a_lost_context_says_so_from_then_on() {
        on_every_gpu_apart(|device| {
            let lose = |module: &ForeignModule| {
                let mut graph = stray(module, &device.default_stream()).expect("nothing is lost yet");
                let launched = graph.launch();
                assert!(launched.is_ok(), "{launched:?}");
                println!("{}", device.synchronize().expect_err("the kernel has strayed"));
                let error = graph.launch().expect_err("the context is lost");
                assert!(matches!(error, Error::ContextLost { .. }), "{error}");
                // The graph has not ended, nor will it: what it uses of the host is left to it.
                drop(graph);
            };
            lost::every_call_fails(device, lose, |error| matches!(error, Error::ContextLost { .. }))
        });
    }

    #[test]
    #[ignore = "needs a GPU"]
    fn who_awaits_work_is_woken_when_the_context_is_lost() {
        on_every_gpu_apart(|device| {
            let mut graph = stray(&lost::load(device)?, &device.stream()?)?;
            lost::who_awaits_is_woken(device, |stream| graph.launch_on(stream), || ())
        });
    }
}

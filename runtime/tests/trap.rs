//! A kernel that traps, as a panic on a GPU does, in a process of its own.

#[path = "common/again.rs"]
mod again;
#[path = "common/ptx.rs"]
mod ptx;

use again::on_every_gpu_apart;
use gpukernel::{Error, LaunchConfig};

/// Skipped by name where there is no GPU: `cargo gpukernel test` and bundles run them where there is one.
mod needs_a_gpu {
    use super::*;

    #[test]
    #[ignore = "needs a GPU"]
    fn a_trap_loses_the_context() {
        on_every_gpu_apart(|device| {
            // SAFETY: it is PTX, which the driver compiles and so checks.
            let module = unsafe { device.load_foreign(ptx::KERNELS.as_bytes()) }?;
            // SAFETY: the kernel has no parameters and touches no memory.
            unsafe { module.launch("trap_now", LaunchConfig::new(1, 1), 0, &[])? };
            let error = device.default_stream().synchronize().unwrap_err();
            assert!(matches!(error, Error::ContextLost { .. }), "{error}");
            println!("{error}");
            Ok(())
        });
    }
}

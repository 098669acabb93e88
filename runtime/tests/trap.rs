//! A kernel that traps, as a panic on a GPU does, in a process of its own.

mod common;
#[path = "common/ptx.rs"]
mod ptx;

use common::on_every_device;
use gpukernel::{Error, Grid};

#[test]
fn a_trap_loses_the_context() {
    on_every_device(|device| {
        if !device.is_gpu() {
            return Ok(());
        }
        let module = device.load_foreign(ptx::KERNELS.as_bytes())?;
        // SAFETY: the kernel has no parameters and touches no memory.
        unsafe { module.launch("trap_now", Grid::new(1, 1), 0, &[])? };
        let error = device.default_stream().synchronize().unwrap_err();
        assert!(matches!(error, Error::ContextLost { .. }), "{error}");
        println!("{error}");
        Ok(())
    });
}

//! The first fifty random programs, for GPUs and for the CPU. How they are compared with a hundred thousand others is in `README.md`.

use gpukernel::Image;

/// A release build of all of them.
pub static RELEASE: Image = gpukernel::image!("release");

/// A dev build: with checks for overflow, and with messages of panics.
pub static DEV: Image = gpukernel::image!("dev");

program_reference::kernels! {
    /// The programs on the host in a release build: optimised, and without checks for overflow.
    Optimised of random_programs
}

program_reference::kernels! {
    /// The programs on the host in a dev build that is optimised.
    Checked of random_programs_checked
}

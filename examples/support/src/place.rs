//! The option `--device`.

use clap::ValueEnum;
use gpukernel::{Device, Result};

/// Where to compute, as an option of a program.
///
/// ```
/// use clap::Parser;
/// use example_support::On;
///
/// #[derive(Parser)]
/// struct Args {
///     /// Where to compute
///     #[arg(long, value_enum, default_value_t = On::Best)]
///     device: On,
/// }
///
/// let args = Args::parse_from(["program", "--device", "cpu"]);
/// assert!(!args.device.device()?.is_gpu());
/// # Ok::<(), gpukernel::Error>(())
/// ```
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum On {
    /// The CPU
    Cpu,
    /// The first GPU
    Gpu,
    /// A GPU if there is one, else the CPU
    Best,
}

impl On {
    /// Returns the device.
    ///
    /// # Errors
    /// As [`Device::gpu`] and [`Device::best`].
    pub fn device(self) -> Result<Device> {
        match self {
            Self::Cpu => Ok(Device::cpu()),
            Self::Gpu => Device::gpu(0),
            Self::Best => Device::best(),
        }
    }
}

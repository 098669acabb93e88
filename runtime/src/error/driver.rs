//! What the driver says, as errors tell it.

use std::fmt;

/// What the driver says about a call that it refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverError {
    /// The number of the error in `cuda.h`.
    pub code: u32,
    /// Its name there, such as `CUDA_ERROR_NO_DEVICE`.
    pub name: &'static str,
    /// The driver's description.
    pub text: &'static str,
}

impl fmt::Display for DriverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}): {}", self.name, self.code, self.text)
    }
}

impl std::error::Error for DriverError {}

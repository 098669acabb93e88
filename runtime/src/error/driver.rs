//! Errors of the driver (`CUresult`).

use std::fmt;

/// An error of the CUDA driver (`CUresult`).
#[doc(alias = "CUresult", alias = "cuGetErrorName", alias = "cuGetErrorString")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverError {
    /// The error code in `cuda.h`.
    pub code: u32,
    /// The name in `cuda.h`, such as `CUDA_ERROR_NO_DEVICE`.
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

//! The parts of a kernel besides its code: launch contract, parameters, constants, and the signature that the host compares.

pub(crate) mod constant;
pub mod contract;
pub mod device_copy;
pub(crate) mod device_fn;
pub mod param;
pub mod signature;

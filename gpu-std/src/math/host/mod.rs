//! What neither std nor `libm` has, on the host.

pub(super) mod bessel;
pub(super) mod elementary;
pub(super) mod error_function;
pub(super) mod rounding;

//! Functions for the host that neither std nor `libm` has.

pub(super) mod bessel;
pub(super) mod elementary;
pub(super) mod error_function;
pub(super) mod rounding;

//! Launch kernels.

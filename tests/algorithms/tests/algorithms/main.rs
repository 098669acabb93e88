//! Device-wide algorithms against std, on every device.

mod reduce;
mod scan;
mod select;
mod sort;

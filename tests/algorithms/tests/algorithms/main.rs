//! Device-wide algorithms against std, on every device.

mod by_key;
mod matrix;
mod reduce;
mod scan;
mod search;
mod select;
mod sort;
mod user_numbers;

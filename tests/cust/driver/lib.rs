//! The driver of the runtime's tests, with what cust calls beside it.

#![allow(non_snake_case)]

#[path = "../../../runtime/tests/driver/driver.rs"]
mod driver;

use std::ffi::{c_int, c_uint};

#[unsafe(no_mangle)]
pub extern "C" fn cuDevicePrimaryCtxSetFlags_v2(_device: c_int, _flags: c_uint) -> c_int {
    0
}

//! An auditor of the dynamic linker (rtld-audit(7)), by which it finds no driver: neither in `LD_LIBRARY_PATH` nor where this machine has one.

use std::{
    ffi::{CStr, c_char, c_uint},
    ptr,
};

/// What glibc calls first, with the version of the interface, which is accepted.
#[unsafe(no_mangle)]
pub extern "C" fn la_version(version: c_uint) -> c_uint {
    version
}

/// Where a library is looked for: null if not there. That is asked with its name, and with each path that it may have.
///
/// # Safety
/// glibc calls it with a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn la_objsearch(name: *const c_char, _: *mut usize, _: c_uint) -> *const c_char {
    let text = unsafe { CStr::from_ptr(name) }.to_string_lossy();
    if text.contains("libcuda") || text.contains("libnvcuda") { ptr::null() } else { name }
}

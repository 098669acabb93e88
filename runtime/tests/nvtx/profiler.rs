//! A profiler for the test of NVTX ranges: a library that writes each call to the file that RANGES names. Written after `nvtxTypes.h` of NVTX 3
//! alone, so that it does not share mistakes with the runtime.

use std::{
    ffi::{CStr, c_char, c_int, c_uint, c_void},
    fs::OpenOptions,
    io::Write,
};

#[repr(C)]
struct Attributes {
    version: u16,
    size: u16,
    category: u32,
    color_type: i32,
    color: u32,
    payload_type: i32,
    reserved0: i32,
    payload: u64,
    message_type: i32,
    message: *const c_char,
}

#[repr(C)]
struct Callbacks {
    struct_size: usize,
    get_module_function_table:
        unsafe extern "C" fn(c_int, *mut *mut *mut *const c_void, *mut c_uint) -> c_int,
}

#[repr(C)]
struct Version {
    struct_size: usize,
    version: u32,
}

fn write(line: &str) {
    let file = std::env::var_os("RANGES").expect("the test sets it");
    let mut file = OpenOptions::new().create(true).append(true).open(file).expect("it can be written");
    writeln!(file, "{line}").expect("it can be written");
}

/// Domains are told apart by their names, and the default domain is null.
fn name_of(domain: *mut c_void) -> String {
    match domain.is_null() {
        true => "default".to_owned(),
        false => unsafe { CStr::from_ptr(domain.cast()) }.to_string_lossy().into_owned(),
    }
}

unsafe extern "C" fn create(name: *const c_char) -> *mut c_void {
    unsafe { CStr::from_ptr(name) }.to_owned().into_raw().cast()
}

unsafe extern "C" fn push(domain: *mut c_void, attributes: *const Attributes) -> c_int {
    let attributes = unsafe { &*attributes };
    assert_eq!((attributes.version, attributes.size, attributes.message_type), (3, 48, 1));
    let message = unsafe { CStr::from_ptr(attributes.message) }.to_string_lossy();
    write(&format!("push {} {message}", name_of(domain)));
    0
}

unsafe extern "C" fn pop(domain: *mut c_void) -> c_int {
    write(&format!("pop {}", name_of(domain)));
    0
}

/// What NVTX calls. `REFUSE` has it fail.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn InitializeInjectionNvtx2(
    export_table: unsafe extern "C" fn(u32) -> *const c_void,
) -> c_int {
    if std::env::var_os("REFUSE").is_some() {
        return 0;
    }
    unsafe {
        let version = export_table(3).cast::<Version>();
        assert_eq!(((*version).version, (*version).struct_size), (3, 24));
        assert!(export_table(2).is_null() && export_table(99).is_null());
        let callbacks = &*export_table(1).cast::<Callbacks>();
        assert_eq!(callbacks.struct_size, 16);
        // NVTX_CB_MODULE_CORE to NVTX_CB_MODULE_SYNC, with as many functions as each has and one that is none.
        for (module, functions) in [(1, 16), (2, 9), (3, 15), (4, 7), (5, 16), (6, 7)] {
            let (mut table, mut size) = (std::ptr::null_mut(), 0);
            assert_eq!((callbacks.get_module_function_table)(module, &mut table, &mut size), 1);
            assert_eq!(size, functions, "module {module}");
            if module == 5 {
                **table.add(11) = create as *const c_void;
                **table.add(4) = push as *const c_void;
                **table.add(5) = pop as *const c_void;
            }
        }
    }
    1
}

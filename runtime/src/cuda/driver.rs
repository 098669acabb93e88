//! The driver: loading, minimum version, error codes.

use std::{
    ffi::{CStr, c_char, c_int},
    ptr,
    sync::OnceLock,
};

use cudarc::driver::sys::{self, CUresult};

use crate::{DriverError, Error, Result};

/// The minimum CUDA version of the driver: older compilers do not support the PTX that `gpukernel-build` writes, and are not
/// tested.
const MIN_CUDA: (u32, u32) = (12, 0);

/// The result of loading the driver.
#[derive(Clone)]
enum State {
    /// Of this CUDA version.
    Ready((u32, u32)),
    Missing,
    TooOld((u32, u32)),
    Failed {
        call: &'static str,
        source: DriverError,
    },
}

/// Whether there is a driver. Without one, no other function of it may be called: `cudarc` would panic.
pub(super) enum Presence {
    Ready,
    /// No driver, or a driver without GPUs.
    NoGpu,
}

/// Loads and initialises the driver, once per process.
///
/// # Errors
/// If there is a driver that does not work.
pub(super) fn probe() -> Result<Presence> {
    match state() {
        State::Ready(_) => Ok(Presence::Ready),
        State::Missing => Ok(Presence::NoGpu),
        State::Failed { source, .. } if sees_no_gpu(&source) => Ok(Presence::NoGpu),
        State::TooOld(found) => Err(Error::DriverTooOld { found, needed: MIN_CUDA }),
        State::Failed { call, source } => Err(failed(call, source)),
    }
}

/// Loads and initialises the driver for a caller that needs it.
///
/// # Errors
/// If there is no driver, or it does not work. A driver without GPUs is not an error.
pub(super) fn require(asked: &dyn Fn() -> String) -> Result<()> {
    match state() {
        State::Missing => Err(Error::NoDriver { asked: asked() }),
        _ => probe().map(drop),
    }
}

/// # Errors
/// [`Error::DriverTooOld`] if the driver is of a CUDA version before this.
pub(super) fn require_version(needed: (u32, u32)) -> Result<()> {
    match state() {
        State::Ready(found) if found < needed => Err(Error::DriverTooOld { found, needed }),
        _ => Ok(()),
    }
}

/// Whether the driver is of this CUDA version or later.
pub(super) fn is_at_least(version: (u32, u32)) -> bool {
    matches!(state(), State::Ready(found) if found >= version)
}

fn failed(call: &'static str, source: DriverError) -> Error {
    Error::Driver { device: "the driver".to_owned(), call, source }
}

/// Whether the driver works but has no GPUs: `CUDA_VISIBLE_DEVICES` may hide them.
fn sees_no_gpu(error: &DriverError) -> bool {
    [CUresult::CUDA_ERROR_NO_DEVICE, CUresult::CUDA_ERROR_STUB_LIBRARY]
        .iter()
        .any(|&code| code as u32 == error.code)
}

fn state() -> State {
    static STATE: OnceLock<State> = OnceLock::new();
    STATE.get_or_init(initialise).clone()
}

/// Loads the driver's library by the name that it gives itself, before cudarc asks for `libcuda.so`: the first name counts, and cuda-gdb 13.0
/// recognises it by no other. False if what has that name is another library, of whose functions cudarc would miss the first.
fn load_by_own_name() -> bool {
    // SAFETY: loading the driver's library runs its initialisers, which have no preconditions.
    let Ok(library) = (unsafe { libloading::Library::new("libcuda.so.1") }) else { return true };
    // SAFETY: it is not called.
    let is_driver = unsafe { library.get::<unsafe extern "C" fn()>(b"cuInit\0") }.is_ok();
    // Unloaded, it would lose its name.
    std::mem::forget(library);
    is_driver
}

fn initialise() -> State {
    if cfg!(target_os = "linux") && !load_by_own_name() {
        return State::Missing;
    }
    // SAFETY: loading the driver's library runs its initialisers, which have no preconditions.
    if !unsafe { sys::is_culib_present() } {
        return State::Missing;
    }
    // SAFETY: the library is there. This is the call that must come first.
    if let Err(source) = check(unsafe { sys::cuInit(0) }) {
        return State::Failed { call: "cuInit", source };
    }
    let mut version: c_int = 0;
    // SAFETY: the pointer is to a live integer.
    if let Err(source) = check(unsafe { sys::cuDriverGetVersion(&mut version) }) {
        return State::Failed { call: "cuDriverGetVersion", source };
    }
    // 12040 is CUDA 12.4.
    let version = version.unsigned_abs();
    let found = (version / 1000, version % 1000 / 10);
    if found < MIN_CUDA { State::TooOld(found) } else { State::Ready(found) }
}

/// Converts the result of a driver call, with name and description of an error.
pub(super) fn check(result: CUresult) -> Result<(), DriverError> {
    if result == CUresult::CUDA_SUCCESS {
        return Ok(());
    }
    // SAFETY: the pointer is to a live pointer. An answer came from the driver, so its library is there.
    let name = describe(|text| unsafe { sys::cuGetErrorName(result, text) });
    // SAFETY: as above.
    let text = describe(|text| unsafe { sys::cuGetErrorString(result, text) });
    Err(DriverError {
        code: result as u32,
        name: name.unwrap_or("an error without a name"),
        text: text.unwrap_or("the driver does not describe it"),
    })
}

/// Success if the driver has this function: of those that came after the minimum version.
pub(super) fn has(function: &str) -> CUresult {
    // SAFETY: the library is there, since a device of it is; a function is asked for, and not called.
    match unsafe { sys::culib().get::<unsafe extern "C" fn()>(function.as_bytes()) } {
        Ok(_) => CUresult::CUDA_SUCCESS,
        Err(_) => CUresult::CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND,
    }
}

/// Converts the result of a call that is of no device.
#[cfg(feature = "cust")]
pub(crate) fn checked_by_driver(call: &'static str, result: CUresult) -> Result<()> {
    check(result).map_err(|source| failed(call, source))
}

fn describe(call: impl FnOnce(*mut *const c_char) -> CUresult) -> Option<&'static str> {
    let mut text = ptr::null();
    if call(&mut text) != CUresult::CUDA_SUCCESS || text.is_null() {
        return None;
    }
    // SAFETY: the driver succeeded, so the pointer is to a NUL-terminated string of its own, which stays as long as the
    // library, which is never unloaded.
    unsafe { CStr::from_ptr(text) }.to_str().ok()
}

/// Whether an error is sticky, so that the context is lost (CUDA Driver API, "Data types used by CUDA driver": "the context cannot be
/// used, so it must be destroyed", or "the process must be terminated").
pub(super) fn is_sticky(error: &DriverError) -> bool {
    const STICKY: [CUresult; 14] = [
        CUresult::CUDA_ERROR_ECC_UNCORRECTABLE,
        CUresult::CUDA_ERROR_NVLINK_UNCORRECTABLE,
        CUresult::CUDA_ERROR_ILLEGAL_ADDRESS,
        CUresult::CUDA_ERROR_LAUNCH_TIMEOUT,
        CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED,
        CUresult::CUDA_ERROR_ASSERT,
        CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR,
        CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION,
        CUresult::CUDA_ERROR_MISALIGNED_ADDRESS,
        CUresult::CUDA_ERROR_INVALID_ADDRESS_SPACE,
        CUresult::CUDA_ERROR_INVALID_PC,
        CUresult::CUDA_ERROR_LAUNCH_FAILED,
        CUresult::CUDA_ERROR_TENSOR_MEMORY_LEAK,
        CUresult::CUDA_ERROR_EXTERNAL_DEVICE,
    ];
    STICKY.iter().any(|&sticky| sticky as u32 == error.code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_driver_is_normal() {
        match state() {
            State::Missing => {
                assert!(matches!(probe(), Ok(Presence::NoGpu)));
                let error = require(&|| "gpu:0".to_owned()).unwrap_err();
                assert!(
                    error.to_string().starts_with("gpu:0 was asked for, but there is no NVIDIA driver"),
                    "{error}"
                );
            }
            State::Ready(_) => assert!(matches!(probe(), Ok(Presence::Ready))),
            State::TooOld(_) => assert!(require(&String::new).is_err()),
            State::Failed { source, .. } => {
                assert_eq!(require(&String::new).is_ok(), sees_no_gpu(&source));
            }
        }
    }

    #[test]
    fn illegal_addresses_are_sticky_and_lack_of_memory_is_not() {
        let error = |code: CUresult| DriverError { code: code as u32, name: "", text: "" };
        assert!(is_sticky(&error(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS)));
        assert!(!is_sticky(&error(CUresult::CUDA_ERROR_OUT_OF_MEMORY)));
    }
}

//! NVIDIA's management library (NVML), which drivers bring: clocks, and why they are low. Seven functions of it, loaded at run time; the crates
//! that wrap all of it take longer to compile than the rest of this one.

use std::{
    ffi::{CStr, CString, c_char, c_int, c_uint, c_ulonglong, c_void},
    sync::OnceLock,
};

use libloading::Library;

/// `NVML_SUCCESS`
const SUCCESS: c_int = 0;
/// `NVML_CLOCK_SM` and `NVML_CLOCK_MEM`
const SM: c_int = 1;
const MEMORY: c_int = 2;

/// `nvmlDevice_t`
type Handle = *mut c_void;

/// The functions, with the types of `nvml.h`.
struct Functions {
    driver_version: unsafe extern "C" fn(*mut c_char, c_uint) -> c_int,
    by_pci_bus_id: unsafe extern "C" fn(*const c_char, *mut Handle) -> c_int,
    clock: unsafe extern "C" fn(Handle, c_int, *mut c_uint) -> c_int,
    max_clock: unsafe extern "C" fn(Handle, c_int, *mut c_uint) -> c_int,
    clock_reasons: unsafe extern "C" fn(Handle, *mut c_ulonglong) -> c_int,
    power_limit: unsafe extern "C" fn(Handle, *mut c_uint) -> c_int,
    /// Where the functions are.
    _library: Library,
}

/// The library, if there is one and it works.
fn functions() -> Option<&'static Functions> {
    static FUNCTIONS: OnceLock<Option<Functions>> = OnceLock::new();
    FUNCTIONS.get_or_init(load).as_ref()
}

fn load() -> Option<Functions> {
    let name = if cfg!(windows) { "nvml.dll" } else { "libnvidia-ml.so.1" };
    // SAFETY: loading the driver's library runs its initialisers, which have no preconditions.
    let library = unsafe { Library::new(name) }.ok()?;
    // SAFETY: the types are those of `nvml.h`, which have not changed since NVML 5; the library stays loaded with the functions.
    unsafe {
        let init: unsafe extern "C" fn() -> c_int = *library.get(b"nvmlInit_v2\0").ok()?;
        // Never shut down: the process may use it to its end.
        (init() == SUCCESS).then_some(())?;
        Some(Functions {
            driver_version: *library.get(b"nvmlSystemGetDriverVersion\0").ok()?,
            by_pci_bus_id: *library.get(b"nvmlDeviceGetHandleByPciBusId_v2\0").ok()?,
            clock: *library.get(b"nvmlDeviceGetClockInfo\0").ok()?,
            max_clock: *library.get(b"nvmlDeviceGetMaxClockInfo\0").ok()?,
            clock_reasons: *library.get(b"nvmlDeviceGetCurrentClocksThrottleReasons\0").ok()?,
            power_limit: *library.get(b"nvmlDeviceGetEnforcedPowerLimit\0").ok()?,
            _library: library,
        })
    }
}

/// The driver's version, such as `580.65.06`.
pub(crate) fn driver_version() -> Option<String> {
    let mut text = [0_u8; 96];
    // SAFETY: the library writes at most that many bytes, the last of them a NUL.
    let result = unsafe { (functions()?.driver_version)(text.as_mut_ptr().cast(), text.len() as c_uint) };
    let text = CStr::from_bytes_until_nul(&text).ok()?;
    (result == SUCCESS).then(|| text.to_string_lossy().into_owned())
}

/// A GPU.
#[derive(Clone, Copy)]
pub(crate) struct Gpu {
    functions: &'static Functions,
    handle: Handle,
}

impl Gpu {
    /// The GPU at this place on the PCI bus.
    pub(crate) fn at(pci_bus_id: &str) -> Option<Self> {
        let (functions, id) = (functions()?, CString::new(pci_bus_id).ok()?);
        let mut handle = std::ptr::null_mut();
        // SAFETY: the text ends in a NUL, and the pointer is to a live handle.
        let result = unsafe { (functions.by_pci_bus_id)(id.as_ptr(), &mut handle) };
        (result == SUCCESS).then_some(Self { functions, handle })
    }

    /// The multiprocessors' clock in MHz.
    pub(crate) fn sm_mhz(self) -> Option<u32> {
        self.number(|value| {
            // SAFETY: the handle is the library's, and the pointer is to a live number; so below.
            unsafe { (self.functions.clock)(self.handle, SM, value) }
        })
    }

    /// The memory's clock in MHz.
    pub(crate) fn memory_mhz(self) -> Option<u32> {
        // SAFETY: as above.
        self.number(|value| unsafe { (self.functions.clock)(self.handle, MEMORY, value) })
    }

    /// What the multiprocessors' clock is at most, in MHz.
    pub(crate) fn max_sm_mhz(self) -> Option<u32> {
        // SAFETY: as above.
        self.number(|value| unsafe { (self.functions.max_clock)(self.handle, SM, value) })
    }

    /// The power limit in watts.
    pub(crate) fn power_limit_w(self) -> Option<f64> {
        // SAFETY: as above.
        let milliwatts = self.number(|value| unsafe { (self.functions.power_limit)(self.handle, value) })?;
        Some(f64::from(milliwatts) / 1e3)
    }

    /// Why the clocks are not higher now: bits of `nvmlClocksThrottleReasons`.
    pub(crate) fn clock_reasons(self) -> Option<u64> {
        let mut value = 0;
        // SAFETY: as above.
        let result = unsafe { (self.functions.clock_reasons)(self.handle, &mut value) };
        (result == SUCCESS).then_some(value)
    }

    fn number(self, get: impl FnOnce(*mut c_uint) -> c_int) -> Option<u32> {
        let mut value = 0;
        (get(&mut value) == SUCCESS).then_some(value)
    }
}

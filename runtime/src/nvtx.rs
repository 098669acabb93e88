//! Ranges for profilers (NVTX): each launch is one, named by its kernel, and programs add their own.
//!
//! NVTX version 3 has no library to link with. A profiler sets `NVTX_INJECTION64_PATH` to the path of a library of its own; the program loads it and
//! calls its `InitializeInjectionNvtx2`, which stores functions in tables of the program (NVIDIA/NVTX, `nvtxInit.h` and `nvtxTypes.h`). Without
//! that variable a range is the test of a word.

use std::{
    ffi::{CString, OsStr, c_char, c_int, c_uint, c_void},
    fmt,
    marker::PhantomData,
    mem, ptr,
    sync::{
        OnceLock,
        atomic::{AtomicPtr, Ordering},
    },
};

/// The environment variable by which profilers name their library.
const VARIABLE: &str = "NVTX_INJECTION64_PATH";

/// The domain of launches, which profilers show and filter by.
const DOMAIN: &str = "gpukernel";

/// A range on the timeline of the calling thread, which ends when this is dropped (`nvtxRangePush`, `nvtxRangePop`).
///
/// Made by [`range`].
#[must_use = "the range ends when this is dropped"]
pub struct Range {
    pushed: Option<(&'static Profiler, Domain)>,
    /// Ranges are of the thread that begins them.
    of_thread: PhantomData<*const ()>,
}

/// Begins a range on the timeline that a profiler draws (Nsight Systems, Nsight Compute), in NVTX's default domain. It costs a test if no profiler
/// is attached.
///
/// ```
/// let _range = gpukernel::nvtx::range("simulation step");
/// // … launches, copies: until the end of the block
/// ```
#[doc(alias = "nvtxRangePush", alias = "nvtxRangePop", alias = "nvtx3::scoped_range")]
pub fn range(name: &str) -> Range {
    Range::begin(name, |_| Domain(ptr::null_mut()))
}

/// Whether there is a profiler, so that ranges cost more than a test.
pub(crate) fn has_profiler() -> bool {
    Profiler::of_process().is_some()
}

/// The range of a launch.
pub(crate) fn launch(kernel: &str) -> Range {
    Range::begin(kernel, |profiler| profiler.domain)
}

impl Range {
    #[inline]
    fn begin(name: &str, domain: impl FnOnce(&Profiler) -> Domain) -> Self {
        let pushed = Profiler::of_process().map(|profiler| {
            let domain = domain(profiler);
            profiler.push(domain, name);
            (profiler, domain)
        });
        Self { pushed, of_thread: PhantomData }
    }
}

impl Drop for Range {
    fn drop(&mut self) {
        if let Some((profiler, domain)) = self.pushed {
            profiler.pop(domain);
        }
    }
}

impl fmt::Debug for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Range").field("has_profiler", &self.pushed.is_some()).finish()
    }
}

/// A `nvtxDomainHandle_t`; null is the default domain.
#[derive(Clone, Copy)]
struct Domain(*mut c_void);

type Create = unsafe extern "C" fn(name: *const c_char) -> *mut c_void;
type Push = unsafe extern "C" fn(domain: *mut c_void, attributes: *const EventAttributes) -> c_int;
type Pop = unsafe extern "C" fn(domain: *mut c_void) -> c_int;

/// What the profiler's library stored.
struct Profiler {
    push: Push,
    pop: Pop,
    domain: Domain,
}

// SAFETY: NVTX's functions may be called by all threads, with domains that any thread made.
unsafe impl Send for Profiler {}
// SAFETY: as above.
unsafe impl Sync for Profiler {}

/// `nvtxEventAttributes_v2`, of 48 bytes.
#[repr(C)]
struct EventAttributes {
    version: u16,
    size: u16,
    category: u32,
    color_type: i32,
    color: u32,
    payload_type: i32,
    reserved: i32,
    payload: u64,
    message_type: i32,
    message: *const c_char,
}

/// `NVTX_VERSION`.
const VERSION: u16 = 3;
/// `NVTX_MESSAGE_TYPE_ASCII`, which profilers take as UTF-8.
const ASCII: i32 = 1;

impl Profiler {
    #[inline]
    fn of_process() -> Option<&'static Self> {
        static PROFILER: OnceLock<Option<Profiler>> = OnceLock::new();
        PROFILER.get_or_init(|| std::env::var_os(VARIABLE).as_deref().and_then(Self::load)).as_ref()
    }

    /// Loads the profiler's library. If that fails, the profiler sees no ranges, as with NVIDIA's own headers.
    #[cold]
    fn load(path: &OsStr) -> Option<Self> {
        // SAFETY: whoever sets the variable wants the initialisers of this library to run.
        let library = unsafe { libloading::Library::new(path) }.ok()?;
        // SAFETY: the type of `InitializeInjectionNvtx2` in every version of NVTX.
        let initialise = unsafe { library.get::<Initialise>(b"InitializeInjectionNvtx2\0") }.ok()?;
        // SAFETY: as above; the tables live as long as the process.
        if unsafe { initialise(export_table) } == 0 {
            return None;
        }
        // Its functions are called until the process ends.
        mem::forget(library);
        let function =
            |id: usize| Some(CORE2[id].load(Ordering::Acquire)).filter(|function| !function.is_null());
        let (create, push, pop) =
            (function(DOMAIN_CREATE), function(DOMAIN_RANGE_PUSH)?, function(DOMAIN_RANGE_POP)?);
        // SAFETY: the library stored functions of these types under these numbers.
        let (create, push, pop) = unsafe {
            (
                create.map(|create| mem::transmute::<*mut c_void, Create>(create)),
                mem::transmute::<*mut c_void, Push>(push),
                mem::transmute::<*mut c_void, Pop>(pop),
            )
        };
        let name = CString::new(DOMAIN).unwrap_or_default();
        // SAFETY: the name is a C string that lives until the call returns, and the library copies it.
        let domain = create.map_or(ptr::null_mut(), |create| unsafe { create(name.as_ptr()) });
        Some(Self { push, pop, domain: Domain(domain) })
    }

    fn push(&self, domain: Domain, name: &str) {
        // What follows a NUL is left out.
        let name = CString::new(name.split('\0').next().unwrap_or_default()).unwrap_or_default();
        let attributes = EventAttributes {
            version: VERSION,
            size: size_of::<EventAttributes>() as u16,
            category: 0,
            color_type: 0,
            color: 0,
            payload_type: 0,
            reserved: 0,
            payload: 0,
            message_type: ASCII,
            message: name.as_ptr(),
        };
        // SAFETY: the function is NVTX's; attributes and name live until it returns, and it copies them.
        unsafe { (self.push)(domain.0, &attributes) };
    }

    fn pop(&self, domain: Domain) {
        // SAFETY: the function is NVTX's, and the range was pushed on this thread.
        unsafe { (self.pop)(domain.0) };
    }
}

/// `NvtxGetExportTableFunc_t`.
type GetExportTable = unsafe extern "C" fn(id: u32) -> *const c_void;
/// `NvtxInitializeInjectionNvtxFunc_t`.
type Initialise = unsafe extern "C" fn(GetExportTable) -> c_int;

/// Where the library stores a function.
type Slot = AtomicPtr<c_void>;

const fn empty() -> Slot {
    AtomicPtr::new(ptr::null_mut())
}

/// The tables of functions by module, without the first entry and the last, which are null: as many as NVTX has.
static CORE: [Slot; 16] = [const { empty() }; 16];
static CUDA: [Slot; 9] = [const { empty() }; 9];
static OPENCL: [Slot; 15] = [const { empty() }; 15];
static CUDART: [Slot; 7] = [const { empty() }; 7];
static CORE2: [Slot; 16] = [const { empty() }; 16];
static SYNC: [Slot; 7] = [const { empty() }; 7];

/// `NVTX_CBID_CORE2_DomainRangePushEx`.
const DOMAIN_RANGE_PUSH: usize = 4;
/// `NVTX_CBID_CORE2_DomainRangePop`.
const DOMAIN_RANGE_POP: usize = 5;
/// `NVTX_CBID_CORE2_DomainCreateA`.
const DOMAIN_CREATE: usize = 11;

/// `NvtxExportTableCallbacks`.
#[repr(C)]
struct Callbacks {
    struct_size: usize,
    get_module_function_table: unsafe extern "C" fn(c_int, *mut *const *const Slot, *mut c_uint) -> c_int,
}

/// `NvtxExportTableVersionInfo`.
#[repr(C)]
struct VersionInfo {
    struct_size: usize,
    version: u32,
    reserved: u32,
    set_injection_version: unsafe extern "C" fn(u32),
}

static CALLBACKS: Callbacks =
    Callbacks { struct_size: size_of::<Callbacks>(), get_module_function_table: function_table };

static VERSION_INFO: VersionInfo = VersionInfo {
    struct_size: size_of::<VersionInfo>(),
    version: VERSION as u32,
    reserved: 0,
    set_injection_version: ignore_version,
};

unsafe extern "C" fn ignore_version(_: u32) {}

/// Gives the profiler's library the tables that it knows by these numbers (`NvtxExportTableID`).
unsafe extern "C" fn export_table(id: u32) -> *const c_void {
    match id {
        1 => (&raw const CALLBACKS).cast(),
        3 => (&raw const VERSION_INFO).cast(),
        _ => ptr::null(),
    }
}

/// Pointers to the slots of a module, as the library wants them; null at both ends.
struct Table(Vec<*const Slot>);

// SAFETY: the slots are static.
unsafe impl Send for Table {}
// SAFETY: as above.
unsafe impl Sync for Table {}

/// Gives the library the slots of a module (`NvtxCallbackModule`); 0 if there is no such module.
unsafe extern "C" fn function_table(
    module: c_int,
    table: *mut *const *const Slot,
    size: *mut c_uint,
) -> c_int {
    static TABLES: [OnceLock<Table>; 6] = [const { OnceLock::new() }; 6];
    let modules: [&'static [Slot]; 6] = [&CORE, &CUDA, &OPENCL, &CUDART, &CORE2, &SYNC];
    let Some(index) = usize::try_from(module).ok().and_then(|module| module.checked_sub(1)) else { return 0 };
    let (Some(slots), Some(made)) = (modules.get(index), TABLES.get(index)) else { return 0 };
    let made = made.get_or_init(|| {
        let slots = slots
            .iter()
            .enumerate()
            .map(|(id, slot)| if id == 0 { ptr::null() } else { ptr::from_ref(slot) });
        Table(slots.chain([ptr::null()]).collect())
    });
    // SAFETY: the library passes the addresses of two variables of its own; either may be null.
    unsafe {
        if !table.is_null() {
            *table = made.0.as_ptr();
        }
        if !size.is_null() {
            *size = slots.len() as c_uint;
        }
    }
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_are_those_of_nvtx_3() {
        assert_eq!(size_of::<EventAttributes>(), 48);
        assert_eq!(mem::offset_of!(EventAttributes, payload), 24);
        assert_eq!(mem::offset_of!(EventAttributes, message), 40);
        assert_eq!((size_of::<Callbacks>(), size_of::<VersionInfo>()), (16, 24));
    }

    #[test]
    fn modules_that_nvtx_does_not_have_have_no_table() {
        let (mut table, mut size) = (ptr::null(), 7);
        for module in [-1, 0, 7, i32::MAX] {
            // SAFETY: both are live variables.
            assert_eq!(unsafe { function_table(module, &mut table, &mut size) }, 0, "{module}");
        }
        assert!(table.is_null() && size == 7);
        // SAFETY: as above.
        assert_eq!(unsafe { function_table(5, &mut table, &mut size) }, 1);
        assert!(!table.is_null() && size == 16);
        // SAFETY: there are so many entries and one more.
        let ends = unsafe { (*table, *table.add(1), *table.add(16)) };
        assert!(ends.0.is_null() && !ends.1.is_null() && ends.2.is_null());
    }

    #[test]
    fn without_a_profiler_a_range_is_nothing() {
        if std::env::var_os(VARIABLE).is_none() {
            assert!(range("a\0b").pushed.is_none());
        }
    }
}

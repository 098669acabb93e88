//! A driver without a GPU: `libcuda.so.1` as the runtime sees it, whose memory is the program's, whose copies, fills and calls of the host are done at
//! once, also those of graphs, and whose kernels do nothing. It finds wrong handles, and fails where a test asks for it.
//!
//! `FAKE_DEVICES`: how many there are. `FAKE_VERSION`: as `cuDriverGetVersion` returns it. `FAKE_FAULT`: `cuLaunchKernel@3=700` for the error 700 at the
//! third call of that function; with `!` behind it, at every call of any function from then on, as of a GPU that is gone, or of nearly any if the error is one
//! that loses a context. `FAKE_MEMORY`: bytes of each device. `FAKE_KEPT`: those of them that the default pool keeps until it is trimmed. `FAKE_NO_MANAGED`: the host must not use managed memory while kernels run. `FAKE_LATE`: events are
//! never done when somebody asks, and callbacks are called on a thread of the driver's own; `FAKE_BUSY`: as late, and callbacks are called when the context is
//! lost. `FAKE_OCCUPANCY`: `256=1,128=3` for the blocks of so many threads that a multiprocessor has room for, in place of 2048 threads. `FAKE_MAX_THREADS`: of a
//! block of each kernel. A callback that calls the driver ends the process.

#![allow(non_snake_case, clippy::missing_safety_doc, clippy::undocumented_unsafe_blocks)]

use std::{
    alloc::{Layout, alloc, dealloc},
    collections::BTreeMap,
    env,
    ffi::{CStr, c_char, c_int, c_uint, c_ulonglong, c_void},
    ops::RangeInclusive,
    ptr,
    sync::{
        Mutex, OnceLock, PoisonError,
        atomic::{AtomicI32, AtomicU64, AtomicUsize, Ordering},
    },
};

const INVALID_VALUE: c_int = 1;
const OUT_OF_MEMORY: c_int = 2;
const NO_DEVICE: c_int = 100;
const INVALID_DEVICE: c_int = 101;
const INVALID_HANDLE: c_int = 400;
const NOT_FOUND: c_int = 500;
const NOT_READY: c_int = 600;
/// Errors of kernels that lose a context: from `CUDA_ERROR_ILLEGAL_ADDRESS` to `CUDA_ERROR_LAUNCH_FAILED`.
const LOSSES: RangeInclusive<c_int> = 700..=719;

type Handle = *mut c_void;

/// What a handle or an address is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Device(c_int),
    Host,
    /// Of a device, whose context has to be current.
    Stream(c_int),
    Event,
    /// Of a device, whose context has to be current.
    Module(c_int),
    Graph,
    Executable,
    Pool,
}

/// Everything that is alive, by its address.
static ALIVE: Mutex<BTreeMap<usize, (Kind, usize)>> = Mutex::new(BTreeMap::new());
/// What another process opens something with.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct IpcHandle([u64; 8]);

/// The stream that each event was recorded on last.
static RECORDED: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());
/// Which stream was made to wait for which.
static WAITS: Mutex<Vec<(usize, usize)>> = Mutex::new(Vec::new());
/// The stream of each `cuMemFreeAsync`.
static FREES: Mutex<Vec<usize>> = Mutex::new(Vec::new());
/// Memory of another process that is open.
static OPENED: AtomicI32 = AtomicI32::new(0);
/// Set once a fault is there to stay.
static LOST: AtomicI32 = AtomicI32::new(0);
/// What streams call that are busy.
static CALLBACKS: Mutex<Vec<Callback>> = Mutex::new(Vec::new());
/// Calls of the function with the fault.
static CALLS: AtomicU64 = AtomicU64::new(0);

/// What a graph, or an executable one, does, in the order in which it was added.
static WORK: Mutex<BTreeMap<usize, Vec<Work>>> = Mutex::new(BTreeMap::new());

#[derive(Clone, Copy)]
enum Work {
    Copy(Copy3d),
    Fill(Fill),
    Call { code: unsafe extern "C" fn(Handle), data: usize },
}

/// `CUDA_MEMCPY3D`: a place, twice, and an extent.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Copy3d {
    from: Place3d,
    to: Place3d,
    width: usize,
    height: usize,
    depth: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Place3d {
    start: [usize; 4],
    memory_type: c_uint,
    host: usize,
    device: u64,
    array: usize,
    reserved: usize,
    pitch: usize,
    rows: usize,
}

impl Copy3d {
    /// Makes the copy; whether it can, with memory that is there on the sides that are `known`.
    unsafe fn make(self, known: impl Fn(Place3d) -> bool) -> bool {
        let rows = (0..self.depth).flat_map(|layer| (0..self.height).map(move |row| (layer, row)));
        let is_long = self.from.pitch.min(self.to.pitch) >= self.width;
        let mut copied = rows.map(|(layer, row)| {
            let [from, to] = [self.from, self.to].map(|place| {
                let start = place.address() + ((layer * place.rows + row) * place.pitch) as u64;
                (!known(place) || is_there(start, self.width)).then_some(start)
            });
            let (Some(from), Some(to)) = (from, to) else { return false };
            unsafe { copy_bytes(to, from, self.width) };
            true
        });
        is_long && copied.all(|is_there| is_there)
    }
}

impl Place3d {
    /// The address, as its type says: the host's or the device's.
    fn address(self) -> u64 {
        assert_eq!(self.start, [0; 4]);
        match self.memory_type {
            1 => self.host as u64,
            2 => self.device,
            other => panic!("no type of memory: {other}"),
        }
    }
}

/// `CUDA_MEMSET_NODE_PARAMS`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Fill {
    to: u64,
    pitch: usize,
    value: c_uint,
    element_bytes: c_uint,
    width: usize,
    height: usize,
}

/// `CUDA_HOST_NODE_PARAMS`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct HostCall {
    code: unsafe extern "C" fn(Handle),
    data: Handle,
}

/// `CUlaunchConfig`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct LaunchConfig {
    extents: [c_uint; 7],
    stream: Handle,
    attributes: *const LaunchAttribute,
    count: c_uint,
}

/// `CUlaunchAttribute`.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
pub struct LaunchAttribute {
    id: c_uint,
    padding: [u8; 4],
    value: [c_int; 16],
}

/// `CUgraphNodeParams`, of a conditional node.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct NodeParameters {
    kind: c_uint,
    reserved: [c_int; 3],
    handle: u64,
    condition: c_uint,
    size: c_uint,
    graphs: *const Handle,
    context: Handle,
}

fn work() -> std::sync::MutexGuard<'static, BTreeMap<usize, Vec<Work>>> {
    WORK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds to what a graph does.
fn add(graph: Handle, added: Option<Work>, node: *mut Handle) -> c_int {
    if !is(graph, Kind::Graph) {
        return INVALID_HANDLE;
    }
    work().entry(graph.addr()).or_default().extend(added);
    unsafe { give(node, graph) }
}

thread_local! {
    static CURRENT: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    static IN_CALLBACK: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Calls a function of the host that must not call the driver.
fn call_back(code: impl FnOnce()) {
    IN_CALLBACK.set(true);
    code();
    IN_CALLBACK.set(false);
}

/// Whether events are not done when somebody asks.
fn is_late() -> bool {
    is_busy() || env::var_os("FAKE_LATE").is_some()
}

struct Fault {
    function: String,
    call: u64,
    code: c_int,
    stays: bool,
}

type CallbackCode = unsafe extern "C" fn(Handle, c_int, Handle);

/// What a stream calls, by addresses.
struct Callback {
    stream: usize,
    code: CallbackCode,
    data: usize,
}

impl Callback {
    fn call(&self) {
        let [stream, data] = [self.stream, self.data].map(ptr::with_exposed_provenance_mut);
        call_back(|| unsafe { (self.code)(stream, LOST.load(Ordering::Relaxed), data) });
    }
}

/// Whether work is not done yet.
fn is_busy() -> bool {
    env::var_os("FAKE_BUSY").is_some() && LOST.load(Ordering::Relaxed) == 0
}

/// Loses the context, whose streams come to their callbacks, on a thread of the driver.
fn lose(code: c_int) {
    LOST.store(code, Ordering::Relaxed);
    let callbacks = std::mem::take(&mut *CALLBACKS.lock().unwrap_or_else(PoisonError::into_inner));
    std::thread::spawn(move || callbacks.iter().for_each(Callback::call));
}

fn number(variable: &str, usual: u64) -> u64 {
    env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// How the calls begin that are answered in a lost context: they queue nothing there, and of such calls it is not documented.
const ANSWERED: [&str; 15] = [
    "cuCtxGetCurrent",
    "cuCtxGetStreamPriorityRange",
    "cuCtxSetCurrent",
    "cuDevice",
    "cuFunc",
    "cuGraphAdd",
    "cuGraphCreate",
    "cuGraphExecKernelNodeSetParams",
    "cuGraphInstantiate",
    "cuIpcGet",
    "cuMemAdvise",
    "cuMemHost",
    "cuModuleGet",
    "cuOccupancy",
    "cuPointerGetAttribute",
];

/// The error that a call of this function returns.
fn fault(function: &str) -> c_int {
    static FAULT: OnceLock<Option<Fault>> = OnceLock::new();
    let fault = FAULT.get_or_init(|| {
        let text = env::var("FAKE_FAULT").ok()?;
        let (text, stays) = text.strip_suffix('!').map_or((&*text, false), |text| (text, true));
        let (function, rest) = text.split_once('@')?;
        let (call, code) = rest.split_once('=')?;
        Some(Fault { function: function.to_owned(), call: call.parse().ok()?, code: code.parse().ok()?, stays })
    });
    let lost = LOST.load(Ordering::Relaxed);
    match fault {
        Some(fault) if lost == 0 && fault.function == function => {
            if CALLS.fetch_add(1, Ordering::Relaxed) + 1 != fault.call {
                return 0;
            }
            if fault.stays {
                lose(fault.code);
            }
            fault.code
        }
        // Names of errors are no matter of a context.
        Some(_) if function.starts_with("cuGetError") => 0,
        // A GPU that is gone answers nothing.
        Some(_) if LOSSES.contains(&lost) && ANSWERED.iter().any(|start| function.starts_with(start)) => 0,
        _ => lost,
    }
}

fn alive() -> std::sync::MutexGuard<'static, BTreeMap<usize, (Kind, usize)>> {
    ALIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes.max(1), 4096).expect("it is not absurd")
}

/// What the default pool keeps.
fn kept() -> &'static AtomicUsize {
    static KEPT: OnceLock<AtomicUsize> = OnceLock::new();
    KEPT.get_or_init(|| AtomicUsize::new(number("FAKE_KEPT", 0) as usize))
}

fn free_bytes() -> usize {
    let device = current_device();
    let used: usize =
        alive().values().filter(|(kind, _)| *kind == Kind::Device(device)).map(|(_, bytes)| bytes).sum();
    (number("FAKE_MEMORY", 1 << 30) as usize).saturating_sub(used + kept().load(Ordering::Relaxed))
}

fn current_device() -> c_int {
    CURRENT.get() as c_int - 1
}

/// Allocates memory of a kind; its address.
fn make(kind: Kind, bytes: usize) -> Result<usize, c_int> {
    if matches!(kind, Kind::Device(_)) && bytes > free_bytes() {
        return Err(OUT_OF_MEMORY);
    }
    let start = unsafe { alloc(layout(bytes)) }.expose_provenance();
    alive().insert(start, (kind, bytes));
    Ok(start)
}

/// Frees what `make` made.
fn end(start: usize, kind: impl Fn(Kind) -> bool) -> c_int {
    let Some((found, bytes)) = alive().remove(&start) else { return INVALID_VALUE };
    assert!(kind(found), "a {found:?} is freed as something else");
    unsafe { dealloc(ptr::with_exposed_provenance_mut(start), layout(bytes)) };
    0
}

/// Whether these bytes are in memory of the device.
fn is_there(start: u64, bytes: usize) -> bool {
    let start = start as usize;
    alive().range(..=start).next_back().is_some_and(|(from, (kind, len))| {
        matches!(kind, Kind::Device(_) | Kind::Host) && start + bytes <= from + len
    })
}

/// Whether it is a stream of the current context: null and 1 are its legacy default stream, and 2 is its per-thread one.
fn is_stream(handle: Handle) -> bool {
    handle.addr() <= 2 || is(handle, Kind::Stream(current_device()))
}

fn is(handle: Handle, kind: Kind) -> bool {
    alive().get(&handle.addr()).is_some_and(|(found, _)| *found == kind)
}

/// # Safety
/// The pointer is to a live value.
unsafe fn give<T>(to: *mut T, value: T) -> c_int {
    unsafe { to.write(value) };
    0
}

fn handle(made: Result<usize, c_int>, to: *mut Handle) -> c_int {
    match made {
        Ok(start) => unsafe { give(to, ptr::with_exposed_provenance_mut(start)) },
        Err(code) => code,
    }
}

/// Copies bytes, of which some are a device's.
unsafe fn copy_bytes(to: u64, from: u64, bytes: usize) {
    unsafe {
        ptr::copy(
            ptr::with_exposed_provenance::<u8>(from as usize),
            ptr::with_exposed_provenance_mut::<u8>(to as usize),
            bytes,
        );
    }
}

macro_rules! driver {
    ($(fn $name:ident($($arg:ident: $type:ty),* $(,)?) $body:block)*) => { $(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $type),*) -> c_int {
            assert!(!IN_CALLBACK.get(), "{} is called in a callback", stringify!($name));
            call_before(stringify!($name));
            match fault(stringify!($name)) {
                0 => $body,
                code => code,
            }
        }
    )* };
}

/// The number of things that are alive, other than streams: for tests of leaks.
#[unsafe(no_mangle)]
pub extern "C" fn fake_alive() -> usize {
    alive().values().filter(|(kind, _)| !matches!(kind, Kind::Stream(_))).count() + OPENED.load(Ordering::Relaxed) as usize
}

type Hook = extern "C" fn(Handle);

/// What the next call of a function begins with.
static BEFORE: Mutex<Option<(&'static CStr, Hook, usize)>> = Mutex::new(None);

fn before() -> std::sync::MutexGuard<'static, Option<(&'static CStr, Hook, usize)>> {
    BEFORE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lets the next call of a function begin with something else, or none (null): for tests of what other threads do meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fake_before(function: *const c_char, hook: Hook, data: Handle) {
    let function = if function.is_null() { None } else { Some(unsafe { CStr::from_ptr(function) }) };
    *before() = function.map(|function| (function, hook, data.expose_provenance()));
}

fn call_before(function: &str) {
    let hook = before().take_if(|(found, ..)| found.to_str() == Ok(function));
    if let Some((_, hook, data)) = hook {
        hook(ptr::with_exposed_provenance_mut(data));
    }
}

/// How often a stream, or the host (0), was made to wait for another one, or for all (`usize::MAX`): for tests of the order of work.
#[unsafe(no_mangle)]
pub extern "C" fn fake_waits(stream: usize, other: usize) -> usize {
    let waits = WAITS.lock().unwrap_or_else(PoisonError::into_inner);
    waits.iter().filter(|wait| **wait == (stream, other)).count()
}

/// How often memory was freed in the order of a stream: for tests of the order of work.
#[unsafe(no_mangle)]
pub extern "C" fn fake_frees(stream: usize) -> usize {
    FREES.lock().unwrap_or_else(PoisonError::into_inner).iter().filter(|found| **found == stream).count()
}

driver! {
    fn cuInit(_flags: c_uint) { if number("FAKE_DEVICES", 1) == 0 { NO_DEVICE } else { 0 } }
    fn cuDriverGetVersion(version: *mut c_int) { unsafe { give(version, number("FAKE_VERSION", 13000) as c_int) } }
    fn cuDeviceGetCount(count: *mut c_int) { unsafe { give(count, number("FAKE_DEVICES", 1) as c_int) } }
    fn cuDeviceGet(device: *mut c_int, ordinal: c_int) {
        if ordinal as u64 >= number("FAKE_DEVICES", 1) { return INVALID_DEVICE }
        unsafe { give(device, ordinal) }
    }
    fn cuDeviceGetName(name: *mut c_char, len: c_int, device: c_int) {
        let text = format!("simulated GPU {device}\0");
        assert!(text.len() <= len as usize);
        unsafe { ptr::copy_nonoverlapping(text.as_ptr().cast(), name, text.len()) };
        0
    }
    fn cuDeviceGetPCIBusId(_id: *mut c_char, _len: c_int, _device: c_int) { INVALID_DEVICE }
    fn cuDeviceGetAttribute(value: *mut c_int, attribute: c_int, _device: c_int) {
        // By the numbers of `CUdevice_attribute`.
        let found = match attribute {
            1 => 1024,                 // threads per block
            2 | 3 => 1024,             // along x and y
            4 => 64,                   // along z
            5 => i32::MAX,             // blocks along x
            6 | 7 => 65535,            // along y and z
            16 => 132,                 // multiprocessors
            38 => 50 << 20,            // the cache
            39 => 2048,                // threads of a multiprocessor
            75 => 9,                   // compute capability
            76 => 0,
            97 => 227 << 10,           // shared memory of a block
            89 => i32::from(env::var_os("FAKE_NO_MANAGED").is_none()),
            115 => 1,                  // memory pools
            _ => 1,
        };
        unsafe { give(value, found) }
    }
    fn cuDeviceTotalMem_v2(bytes: *mut usize, _device: c_int) { unsafe { give(bytes, number("FAKE_MEMORY", 1 << 30) as usize) } }
    fn cuDevicePrimaryCtxRetain(context: *mut Handle, device: c_int) {
        unsafe { give(context, ptr::without_provenance_mut(device as usize + 1)) }
    }
    fn cuDevicePrimaryCtxRelease_v2(_device: c_int) { 0 }
    fn cuCtxDestroy_v2(_context: Handle) { 0 }
    fn cuCtxSetCurrent(context: Handle) { CURRENT.set(context.addr()); 0 }
    fn cuCtxGetCurrent(context: *mut Handle) { unsafe { give(context, ptr::without_provenance_mut(CURRENT.get())) } }
    fn cuCtxGetDevice(device: *mut c_int) { if CURRENT.get() == 0 { INVALID_DEVICE } else { unsafe { give(device, current_device()) } } }
    fn cuStreamGetCtx(stream: Handle, context: *mut Handle) {
        if !is_stream(stream) { return INVALID_HANDLE }
        unsafe { give(context, ptr::without_provenance_mut(CURRENT.get())) }
    }
    fn cuCtxSynchronize() {
        WAITS.lock().unwrap_or_else(PoisonError::into_inner).push((0, usize::MAX));
        0
    }
    fn cuDeviceGetDefaultMemPool(pool: *mut Handle, _device: c_int) { unsafe { give(pool, ptr::without_provenance_mut(8)) } }
    fn cuMemPoolSetAttribute(_pool: Handle, _attribute: c_int, _value: *mut c_void) { 0 }
    fn cuMemPoolGetAttribute(pool: Handle, attribute: c_int, value: *mut u64) {
        // Reserved; of which none is used.
        let bytes = if (pool.addr(), attribute) == (8, 5) { kept().load(Ordering::Relaxed) } else { 0 };
        unsafe { give(value, bytes as u64) }
    }
    fn cuMemPoolCreate(pool: *mut Handle, _properties: *const c_void) { handle(make(Kind::Pool, 1), pool) }
    fn cuMemPoolDestroy(pool: Handle) { end(pool.addr(), |kind| kind == Kind::Pool) }
    fn cuMemAllocFromPoolAsync(address: *mut u64, bytes: usize, pool: Handle, stream: Handle) {
        if !is(stream, Kind::Stream(current_device())) || !is(pool, Kind::Pool) { return INVALID_HANDLE }
        match make(Kind::Device(current_device()), bytes) { Ok(start) => unsafe { give(address, start as u64) }, Err(code) => code }
    }
    fn cuMemPoolTrimTo(pool: Handle, keep: usize) {
        if pool.addr() == 8 { kept().fetch_min(keep, Ordering::Relaxed); }
        0
    }
    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) {
        unsafe { give(free, free_bytes()); give(total, number("FAKE_MEMORY", 1 << 30) as usize) }
    }

    fn cuMemAlloc_v2(address: *mut u64, bytes: usize) {
        match make(Kind::Device(current_device()), bytes) { Ok(start) => unsafe { give(address, start as u64) }, Err(code) => code }
    }
    fn cuMemAllocAsync(address: *mut u64, bytes: usize, stream: Handle) {
        if !is_stream(stream) { return INVALID_HANDLE }
        match make(Kind::Device(current_device()), bytes) { Ok(start) => unsafe { give(address, start as u64) }, Err(code) => code }
    }
    fn cuMemFree_v2(address: u64) { end(address as usize, |kind| matches!(kind, Kind::Device(_))) }
    fn cuMemFreeAsync(address: u64, stream: Handle) {
        if !is_stream(stream) { return INVALID_HANDLE }
        FREES.lock().unwrap_or_else(PoisonError::into_inner).push(stream.addr());
        end(address as usize, |kind| matches!(kind, Kind::Device(_)))
    }
    fn cuMemHostAlloc(start: *mut Handle, bytes: usize, _flags: c_uint) { handle(make(Kind::Host, bytes), start) }
    fn cuMemFreeHost(start: Handle) { end(start.addr(), |kind| kind == Kind::Host) }
    fn cuMemHostGetDevicePointer_v2(address: *mut u64, start: Handle, _flags: c_uint) { unsafe { give(address, start.addr() as u64) } }
    fn cuMemAllocManaged(address: *mut u64, bytes: usize, _flags: c_uint) {
        match make(Kind::Device(current_device()), bytes) { Ok(start) => unsafe { give(address, start as u64) }, Err(code) => code }
    }
    fn cuMemAdvise_v2(address: u64, bytes: usize, _advice: c_int, _place: u64) { if is_there(address, bytes) { 0 } else { INVALID_VALUE } }
    fn cuMemPrefetchAsync_v2(address: u64, bytes: usize, _place: u64, _flags: c_uint, stream: Handle) {
        if !is(stream, Kind::Stream(current_device())) { return INVALID_HANDLE }
        if is_there(address, bytes) { 0 } else { INVALID_VALUE }
    }
    fn cuMemHostRegister_v2(_start: Handle, _bytes: usize, _flags: c_uint) { 0 }
    fn cuMemHostUnregister(_start: Handle) { 0 }

    fn cuMemcpyDtoHAsync_v2(to: Handle, from: u64, bytes: usize, stream: Handle) {
        if !is_stream(stream) { return INVALID_HANDLE }
        if !is_there(from, bytes) { return INVALID_VALUE }
        unsafe { copy_bytes(to.expose_provenance() as u64, from, bytes) };
        0
    }
    fn cuMemcpyHtoDAsync_v2(to: u64, from: *const c_void, bytes: usize, stream: Handle) {
        if !is_stream(stream) { return INVALID_HANDLE }
        if !is_there(to, bytes) { return INVALID_VALUE }
        unsafe { copy_bytes(to, from.expose_provenance() as u64, bytes) };
        0
    }
    fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: Handle) {
        if !is_stream(stream) { return INVALID_HANDLE }
        if !is_there(to, bytes) || !is_there(from, bytes) { return INVALID_VALUE }
        unsafe { copy_bytes(to, from, bytes) };
        0
    }
    fn cuDeviceCanAccessPeer(can: *mut c_int, device: c_int, peer: c_int) { unsafe { give(can, c_int::from(device + peer != 3)) } }
    fn cuCtxEnablePeerAccess(_peer: Handle, _flags: c_uint) { 0 }
    fn cuMemPoolSetAccess(_pool: Handle, _access: *const c_void, _count: usize) { 0 }
    fn cuMemcpyPeerAsync(to: u64, _to_context: Handle, from: u64, _from_context: Handle, bytes: usize, stream: Handle) {
        if !is_stream(stream) { return INVALID_HANDLE }
        if !is_there(to, bytes) || !is_there(from, bytes) { return INVALID_VALUE }
        unsafe { copy_bytes(to, from, bytes) };
        0
    }
    fn cuMemcpyDtoH_v2(to: Handle, from: u64, bytes: usize) {
        if !is_there(from, bytes) { return INVALID_VALUE }
        unsafe { copy_bytes(to.expose_provenance() as u64, from, bytes) };
        0
    }
    fn cuMemcpyHtoD_v2(to: u64, from: *const c_void, bytes: usize) {
        if !is_there(to, bytes) { return INVALID_VALUE }
        unsafe { copy_bytes(to, from.expose_provenance() as u64, bytes) };
        0
    }
    fn cuMemsetD8Async(to: u64, value: u8, bytes: usize, _stream: Handle) {
        if !is_there(to, bytes) { return INVALID_VALUE }
        unsafe { ptr::with_exposed_provenance_mut::<u8>(to as usize).write_bytes(value, bytes) };
        0
    }
    fn cuMemsetD16Async(to: u64, value: u16, count: usize, _stream: Handle) {
        if !is_there(to, 2 * count) { return INVALID_VALUE }
        let to = ptr::with_exposed_provenance_mut::<u16>(to as usize);
        (0..count).for_each(|index| unsafe { to.add(index).write(value) });
        0
    }
    fn cuMemsetD32Async(to: u64, value: c_uint, count: usize, _stream: Handle) {
        if !is_there(to, 4 * count) { return INVALID_VALUE }
        let to = ptr::with_exposed_provenance_mut::<c_uint>(to as usize);
        (0..count).for_each(|index| unsafe { to.add(index).write(value) });
        0
    }
    fn cuMemcpy3DAsync_v2(copy: *const Copy3d, stream: Handle) {
        if !is(stream, Kind::Stream(current_device())) { return INVALID_HANDLE }
        if unsafe { copy.read().make(|place| place.memory_type == 2) } { 0 } else { INVALID_VALUE }
    }
    fn cuMemsetD32_v2(to: u64, value: c_uint, count: usize) {
        if !is_there(to, 4 * count) { return INVALID_VALUE }
        let to = ptr::with_exposed_provenance_mut::<c_uint>(to as usize);
        (0..count).for_each(|index| unsafe { to.add(index).write(value) });
        0
    }

    fn cuStreamCreateWithPriority(stream: *mut Handle, _flags: c_uint, _priority: c_int) { handle(make(Kind::Stream(current_device()), 1), stream) }
    fn cuStreamCreate(stream: *mut Handle, _flags: c_uint) { handle(make(Kind::Stream(current_device()), 1), stream) }
    fn cuCtxGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) { unsafe { give(least, 0); give(greatest, -5) } }
    fn cuStreamQuery(stream: Handle) {
        if !is_stream(stream) { INVALID_HANDLE } else if is_busy() { NOT_READY } else { 0 }
    }
    fn cuStreamAddCallback(stream: Handle, code: CallbackCode, data: Handle, _flags: c_uint) {
        if !is_stream(stream) { return INVALID_HANDLE }
        let call = Callback { stream: stream.expose_provenance(), code, data: data.expose_provenance() };
        if is_busy() {
            CALLBACKS.lock().unwrap_or_else(PoisonError::into_inner).push(call);
        } else if is_late() {
            std::thread::spawn(move || call.call());
        } else {
            call.call();
        }
        0
    }
    fn cuStreamDestroy_v2(stream: Handle) { end(stream.addr(), |kind| matches!(kind, Kind::Stream(_))) }
    fn cuStreamSynchronize(stream: Handle) {
        if !is_stream(stream) { return INVALID_HANDLE }
        // The host waits.
        WAITS.lock().unwrap_or_else(PoisonError::into_inner).push((0, stream.addr()));
        0
    }
    fn cuStreamWaitEvent(stream: Handle, event: Handle, _flags: c_uint) {
        if !is_stream(stream) || !is(event, Kind::Event) { return INVALID_HANDLE }
        // One that was not recorded is waited for in vain.
        if let Some(other) = RECORDED.lock().unwrap_or_else(PoisonError::into_inner).get(&event.addr()) {
            WAITS.lock().unwrap_or_else(PoisonError::into_inner).push((stream.addr(), *other));
        }
        0
    }
    fn cuStreamWaitValue32_v2(stream: Handle, _address: u64, _value: c_uint, _flags: c_uint) {
        if is_stream(stream) { 0 } else { INVALID_HANDLE }
    }
    fn cuStreamBeginCapture_v2(stream: Handle, _mode: c_int) { if is_stream(stream) { 0 } else { INVALID_HANDLE } }
    fn cuStreamEndCapture(stream: Handle, graph: *mut Handle) {
        if !is_stream(stream) { return INVALID_HANDLE }
        handle(make(Kind::Graph, 1), graph)
    }
    fn cuEventCreate(event: *mut Handle, _flags: c_uint) { handle(make(Kind::Event, 1), event) }
    fn cuEventDestroy_v2(event: Handle) {
        RECORDED.lock().unwrap_or_else(PoisonError::into_inner).remove(&event.addr());
        end(event.addr(), |kind| kind == Kind::Event)
    }
    fn cuEventRecord(event: Handle, stream: Handle) {
        if !is_stream(stream) || !is(event, Kind::Event) { return INVALID_HANDLE }
        RECORDED.lock().unwrap_or_else(PoisonError::into_inner).insert(event.addr(), stream.addr());
        0
    }
    fn cuEventQuery(event: Handle) {
        if !is(event, Kind::Event) { INVALID_HANDLE } else if is_late() { NOT_READY } else { 0 }
    }
    fn cuEventSynchronize(event: Handle) { if is(event, Kind::Event) { 0 } else { INVALID_HANDLE } }

    // Handles are addresses: of one process.
    fn cuIpcGetMemHandle(handle: *mut IpcHandle, address: u64) {
        if !is_there(address, 1) { return INVALID_VALUE }
        unsafe { give(handle, IpcHandle([address; 8])) }
    }
    fn cuPointerGetAttribute(value: *mut c_int, attribute: c_int, address: u64) {
        assert_eq!(attribute, 9, "the ordinal of the device");
        let found = alive().range(..=address as usize).next_back().map(|(start, kind)| (*start, *kind));
        match found {
            Some((start, (Kind::Device(device), bytes))) if (address as usize) < start + bytes => unsafe { give(value, device) },
            Some((start, (Kind::Host, bytes))) if (address as usize) < start + bytes => unsafe { give(value, -2) },
            _ => INVALID_VALUE,
        }
    }
    fn cuIpcOpenMemHandle_v2(address: *mut u64, handle: IpcHandle, _flags: c_uint) {
        if !is_there(handle.0[7], 1) { return INVALID_VALUE }
        OPENED.fetch_add(1, Ordering::Relaxed);
        unsafe { give(address, handle.0[0]) }
    }
    fn cuIpcCloseMemHandle(_address: u64) {
        if OPENED.fetch_sub(1, Ordering::Relaxed) > 0 { 0 } else { INVALID_VALUE }
    }
    fn cuIpcGetEventHandle(handle: *mut IpcHandle, event: Handle) {
        if !is(event, Kind::Event) { return INVALID_HANDLE }
        unsafe { give(handle, IpcHandle([event.addr() as u64; 8])) }
    }
    fn cuIpcOpenEventHandle(event: *mut Handle, handle: IpcHandle) {
        if !is(ptr::without_provenance_mut(handle.0[7] as usize), Kind::Event) { return INVALID_HANDLE }
        self::handle(make(Kind::Event, 1), event)
    }

    fn cuModuleLoadDataEx(module: *mut Handle, _code: *const c_void, _count: c_uint, _options: *mut c_int, _values: *mut *mut c_void) {
        handle(make(Kind::Module(current_device()), 1), module)
    }
    fn cuModuleUnload(module: Handle) { end(module.addr(), |kind| kind == Kind::Module(current_device())) }
    fn cuModuleGetFunction(function: *mut Handle, module: Handle, _name: *const c_char) {
        if !is(module, Kind::Module(current_device())) { return INVALID_HANDLE }
        unsafe { give(function, module) }
    }
    fn cuModuleGetGlobal_v2(_address: *mut u64, _bytes: *mut usize, _module: Handle, _name: *const c_char) { NOT_FOUND }
    fn cuFuncGetAttribute(value: *mut c_int, attribute: c_int, _function: Handle) {
        // The maximum number of threads, shared bytes, registers.
        let max_threads = number("FAKE_MAX_THREADS", 1024) as c_int;
        unsafe { give(value, [max_threads, 0, 0, 0, 32].get(attribute as usize).copied().unwrap_or(0)) }
    }
    fn cuFuncSetAttribute(_function: Handle, _attribute: c_int, _value: c_int) { 0 }
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks: *mut c_int, _function: Handle, threads: c_int, _shared: usize) {
        let found = env::var("FAKE_OCCUPANCY").map(|list| {
            let mut pairs = list.split(',').filter_map(|pair| pair.split_once('='));
            let blocks = pairs.find(|(size, _)| size.parse() == Ok(threads)).and_then(|(_, blocks)| blocks.parse().ok());
            blocks.unwrap_or(0)
        });
        unsafe { give(blocks, found.unwrap_or(2048 / threads.max(1))) }
    }
    fn cuLaunchKernel(
        function: Handle, _gx: c_uint, _gy: c_uint, _gz: c_uint, _bx: c_uint, _by: c_uint, _bz: c_uint, _shared: c_uint, stream: Handle,
        _parameters: *mut *mut c_void, _extra: *mut *mut c_void,
    ) {
        if is(function, Kind::Module(current_device())) && is_stream(stream) { 0 } else { INVALID_HANDLE }
    }

    fn cuLaunchKernelEx(config: *const LaunchConfig, function: Handle, _parameters: *mut *mut c_void, _extra: *mut *mut c_void) {
        let LaunchConfig { stream, attributes, count, .. } = unsafe { config.read() };
        assert_eq!(count, 1);
        // That the kernel may start before the one before it has ended.
        let LaunchAttribute { id, value, .. } = unsafe { attributes.read() };
        assert_eq!((id, value[0]), (6, 1));
        if is(function, Kind::Module(current_device())) && is(stream, Kind::Stream(current_device())) { 0 } else { INVALID_HANDLE }
    }

    fn cuGraphCreate(graph: *mut Handle, _flags: c_uint) { handle(make(Kind::Graph, 1), graph) }
    fn cuGraphDestroy(graph: Handle) {
        work().remove(&graph.addr());
        end(graph.addr(), |kind| kind == Kind::Graph)
    }
    fn cuGraphAddKernelNode_v2(node: *mut Handle, graph: Handle, _after: *const Handle, _count: usize, _parameters: *const c_void) {
        add(graph, None, node)
    }
    fn cuGraphAddEmptyNode(node: *mut Handle, graph: Handle, _after: *const Handle, _count: usize) { add(graph, None, node) }
    fn cuGraphAddMemcpyNode(node: *mut Handle, graph: Handle, _after: *const Handle, _count: usize, copy: *const Copy3d, _context: Handle) {
        let copy = unsafe { copy.read() };
        add(graph, Some(Work::Copy(copy)), node)
    }
    fn cuGraphAddMemsetNode(node: *mut Handle, graph: Handle, _after: *const Handle, _count: usize, fill: *const Fill, _context: Handle) {
        let fill = unsafe { fill.read() };
        assert!(matches!(fill.element_bytes, 1 | 2 | 4) && fill.width > 0 && fill.height == 1);
        add(graph, Some(Work::Fill(fill)), node)
    }
    fn cuGraphAddHostNode(node: *mut Handle, graph: Handle, _after: *const Handle, _count: usize, call: *const HostCall) {
        let HostCall { code, data } = unsafe { call.read() };
        add(graph, Some(Work::Call { code, data: data.expose_provenance() }), node)
    }
    fn cuGraphConditionalHandleCreate(handle: *mut u64, graph: Handle, _context: Handle, _value: c_uint, _flags: c_uint) {
        if is(graph, Kind::Graph) { unsafe { give(handle, 77) } } else { INVALID_HANDLE }
    }
    fn cuGraphAddNode_v2(
        node: *mut Handle, graph: Handle, _after: *const Handle, _data: *const c_void, count: usize, parameters: *mut NodeParameters,
    ) {
        let NodeParameters { kind, handle, size, .. } = unsafe { parameters.read() };
        assert_eq!((kind, handle, count), (13, 77, 1), "only conditional nodes are added so");
        assert!(size > 0, "it has a part");
        // What is in it is done once, and of several parts each: kernels do nothing here, and so leave conditions as they are.
        unsafe { (*parameters).graphs = vec![graph; size as usize].leak().as_ptr() };
        add(graph, None, node)
    }
    fn cuGraphInstantiateWithFlags(executable: *mut Handle, graph: Handle, _flags: c_ulonglong) {
        if !is(graph, Kind::Graph) { return INVALID_HANDLE }
        let made = make(Kind::Executable, 1);
        if let Ok(start) = made {
            let done = work().get(&graph.addr()).cloned().unwrap_or_default();
            work().insert(start, done);
        }
        handle(made, executable)
    }
    fn cuGraphGetNodes(graph: Handle, _nodes: *mut Handle, count: *mut usize) {
        if is(graph, Kind::Graph) { unsafe { give(count, 1) } } else { INVALID_HANDLE }
    }
    fn cuGraphExecDestroy(executable: Handle) {
        work().remove(&executable.addr());
        end(executable.addr(), |kind| kind == Kind::Executable)
    }
    fn cuGraphLaunch(executable: Handle, stream: Handle) {
        if !is(executable, Kind::Executable) || !is_stream(stream) { return INVALID_HANDLE }
        let todo = work().get(&executable.addr()).cloned().unwrap_or_default();
        for work in todo {
            match work {
                // Memory of the host is pinned, too.
                Work::Copy(copy) => if !unsafe { copy.make(|_| true) } { return INVALID_VALUE },
                Work::Fill(Fill { to, value, element_bytes, width, .. }) => {
                    let bytes = element_bytes as usize;
                    if !is_there(to, width * bytes) || to % bytes as u64 != 0 { return INVALID_VALUE }
                    for element in 0..width {
                        let to = to + (element * bytes) as u64;
                        unsafe { copy_bytes(to, value.to_le_bytes().as_ptr().expose_provenance() as u64, bytes) };
                    }
                }
                Work::Call { code, data } => call_back(|| unsafe { code(ptr::with_exposed_provenance_mut(data)) }),
            }
        }
        0
    }
    fn cuGraphUpload(executable: Handle, _stream: Handle) { if is(executable, Kind::Executable) { 0 } else { INVALID_HANDLE } }
    fn cuGraphExecKernelNodeSetParams_v2(executable: Handle, _node: Handle, _parameters: *const c_void) {
        if is(executable, Kind::Executable) { 0 } else { INVALID_HANDLE }
    }

    fn cuGetErrorName(code: c_int, text: *mut *const c_char) {
        let name: &CStr = match code {
            1 => c"CUDA_ERROR_INVALID_VALUE",
            2 => c"CUDA_ERROR_OUT_OF_MEMORY",
            46 => c"CUDA_ERROR_DEVICE_UNAVAILABLE",
            100 => c"CUDA_ERROR_NO_DEVICE",
            400 => c"CUDA_ERROR_INVALID_HANDLE",
            700 => c"CUDA_ERROR_ILLEGAL_ADDRESS",
            719 => c"CUDA_ERROR_LAUNCH_FAILED",
            _ => c"an error of the test",
        };
        unsafe { give(text, name.as_ptr()) }
    }
    fn cuGetErrorString(_code: c_int, text: *mut *const c_char) { unsafe { give(text, c"a test simulates it".as_ptr()) } }
}

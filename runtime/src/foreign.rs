//! PTX, cubins and fatbins made elsewhere: loading them, and launching what they hold with raw arguments.

use std::{fmt, marker::PhantomData, mem::MaybeUninit, panic::Location, sync::Arc};

use gpu_std::{DeviceCopy, host::Access};
use smallvec::{SmallVec, smallvec};

use crate::{
    Device, DeviceSlice, Error, Extents, KernelAttributes, LaunchConfig, Result, Stream,
    backend::{Any, Backend, BackendModule, ForeignModules, OfDevice, each},
    graph::Use,
    loaded::{Entry, Loaded},
    memory::AllocationId,
    observed,
    prepared::{Lists, PreparedLaunch, Program, Request},
    replay,
};

/// Code that another compiler made, loaded on a GPU.
///
/// ```no_run
/// use gpukernel::{Device, LaunchConfig, RawArg};
///
/// let device = Device::gpu(0)?;
/// let code = std::fs::read("scale.ptx").expect("nvcc -ptx scale.cu");
/// // SAFETY: nvcc wrote it.
/// let module = unsafe { device.load_foreign(&code)? };
/// let mut numbers = device.upload(&[1.0_f32, 2.0, 3.0])?;
/// let count = numbers.len() as u32;
/// // SAFETY: it is `__global__ void scale(float *numbers, unsigned count, float by)`.
/// unsafe {
///     let args = [RawArg::slice_mut(&mut numbers), RawArg::value(count), RawArg::value(2.0_f32)];
///     module.launch("scale", LaunchConfig::new(1, 32), 0, &args)?;
/// }
/// assert_eq!(numbers.to_vec()?, [2.0, 4.0, 6.0]);
/// # Ok::<(), gpukernel::Error>(())
/// ```
#[derive(Clone)]
pub struct ForeignModule {
    device: Device,
    code: Any<ForeignModules>,
}

impl ForeignModule {
    pub(crate) fn load(device: &Device, code: &[u8]) -> Result<Self> {
        let kind = kind(code).map_err(|reason| Error::ForeignCode { reason })?;
        let code = each!(&device.backend, device => load(*device, code, kind))?;
        Ok(Self { device: device.clone(), code })
    }

    pub(crate) fn code(&self) -> &Any<ForeignModules> {
        &self.code
    }

    /// The device it is loaded on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// What a kernel takes of a GPU in blocks of `block_dim` threads, without dynamic shared memory, as [`Module::attributes`](crate::Module::attributes).
    ///
    /// ```no_run
    /// # let device = gpukernel::Device::gpu(0)?;
    /// # let code = [];
    /// // SAFETY: nvcc wrote it.
    /// let module = unsafe { device.load_foreign(&code)? };
    /// if let Some(attributes) = module.attributes("scale", 256)? {
    ///     println!("{} registers, {} bytes of local memory", attributes.registers, attributes.local_bytes);
    /// }
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoSuchKernel`], or what the driver says.
    #[doc(alias = "cuFuncGetAttribute", alias = "cuOccupancyMaxActiveBlocksPerMultiprocessor")]
    pub fn attributes(&self, name: &str, block_dim: impl Into<Extents>) -> Result<Option<KernelAttributes>> {
        self.attributes_with_shared(name, block_dim, 0)
    }

    /// What a kernel takes in blocks with so many bytes of dynamic shared memory, as
    /// [`Module::attributes_with_shared`](crate::Module::attributes_with_shared).
    ///
    /// ```no_run
    /// # let device = gpukernel::Device::gpu(0)?;
    /// # let code = [];
    /// // SAFETY: nvcc wrote it.
    /// let module = unsafe { device.load_foreign(&code)? };
    /// let attributes = module.attributes_with_shared("scale", 256, 96 << 10)?;
    /// println!("{:?} blocks at once", attributes.map(|attributes| attributes.blocks_per_multiprocessor));
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`attributes`](Self::attributes).
    #[doc(alias = "cuOccupancyMaxActiveBlocksPerMultiprocessor")]
    pub fn attributes_with_shared(
        &self,
        name: &str,
        block_dim: impl Into<Extents>,
        shared_bytes: usize,
    ) -> Result<Option<KernelAttributes>> {
        let (threads, shared_bytes) =
            (block_dim.into().threads(), u32::try_from(shared_bytes).unwrap_or(u32::MAX));
        each!(&self.code, loaded => {
            loaded.code.attributes(&entry(loaded, name)?.function, threads, shared_bytes)
        })
    }

    /// Launches the kernel of this name on the device's default stream, with so many bytes of dynamic shared memory.
    ///
    /// # Errors
    /// [`Error::NoSuchKernel`] if it is not there (C++ names are mangled, unless `extern "C"`), an error for a grid or block
    /// beyond the limits, [`Error::WrongDevice`], or what the driver says.
    ///
    /// # Safety
    /// The arguments are as many as the kernel's parameters and have their sizes and alignments. The kernel uses memory only
    /// as the arguments say: it reads [`RawArg::slice`]s, reads and writes [`RawArg::slice_mut`]s, leaves valid values
    /// there, and stays inside of them.
    #[track_caller]
    pub unsafe fn launch(
        &self,
        name: &str,
        config: LaunchConfig,
        shared_bytes: u32,
        args: &[RawArg<'_>],
    ) -> Result<()> {
        // SAFETY: as the caller promises.
        unsafe { self.launch_on(None, name, config, shared_bytes, args) }
    }

    /// [`launch`](Self::launch) on a stream or the default stream.
    ///
    /// # Safety
    /// As there.
    #[track_caller]
    pub(crate) unsafe fn launch_on(
        &self,
        stream: Option<&Stream>,
        name: &str,
        config: LaunchConfig,
        shared_bytes: u32,
        args: &[RawArg<'_>],
    ) -> Result<()> {
        replay::refuse_unsafe("a launch of code made elsewhere")?;
        let program = Program::Foreign { name, args, shared_bytes };
        each!(&self.code, loaded => {
            // SAFETY: as the caller promises.
            unsafe { launch(loaded, stream, program, config) }
        })
    }

    /// Sets a `__device__` or `__constant__` variable for subsequent launches (`cudaMemcpyToSymbol`). Waits for all work of the device.
    ///
    /// ```no_run
    /// # let device = gpukernel::Device::gpu(0)?;
    /// # let code = [];
    /// // SAFETY: nvcc wrote it.
    /// let module = unsafe { device.load_foreign(&code)? };
    /// // SAFETY: `extern "C" __constant__ float weights[4];`
    /// unsafe { module.set_variable("weights", [0.25_f32, 0.5, 0.75, 1.0])? };
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoSuchVariable`] if it is not there (C++ names are mangled, unless `extern "C"`), [`Error::VariableSize`] if it has another
    /// size than `T`, else as [`Device::synchronize`].
    ///
    /// # Safety
    /// The bytes of `value` are a value of the variable's type: code has no types to compare, only sizes.
    #[doc(alias = "cudaMemcpyToSymbol", alias = "cuModuleGetGlobal", alias = "cudaGetSymbolAddress")]
    pub unsafe fn set_variable<T: DeviceCopy>(&self, name: &str, value: T) -> Result<()> {
        self.check_variable::<T>(name)?;
        let set = each!(&self.code, loaded => {
            // SAFETY: as the caller promises.
            unsafe { loaded.code.set_variable(name, &value)? }
        });
        if set { Ok(()) } else { Err(no_such_variable(name)) }
    }

    /// Returns the value of a `__device__` or `__constant__` variable (`cudaMemcpyFromSymbol`). Waits for all work of the device.
    ///
    /// ```no_run
    /// # let device = gpukernel::Device::gpu(0)?;
    /// # let code = [];
    /// // SAFETY: nvcc wrote it.
    /// let module = unsafe { device.load_foreign(&code)? };
    /// // SAFETY: `extern "C" __device__ unsigned found;`
    /// let found = unsafe { module.variable::<u32>("found")? };
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`set_variable`](Self::set_variable).
    ///
    /// # Safety
    /// The bytes of the variable are a value of `T`.
    #[doc(alias = "cudaMemcpyFromSymbol")]
    pub unsafe fn variable<T: DeviceCopy>(&self, name: &str) -> Result<T> {
        self.check_variable::<T>(name)?;
        let value = each!(&self.code, loaded => {
            // SAFETY: as the caller promises.
            unsafe { loaded.code.variable(name)? }
        });
        value.ok_or_else(|| no_such_variable(name))
    }

    fn check_variable<T>(&self, name: &str) -> Result<()> {
        let found_bytes = each!(&self.code, loaded => loaded.code.variable_bytes(name)?)
            .ok_or_else(|| no_such_variable(name))?;
        let asked_bytes = size_of::<T>();
        if found_bytes == asked_bytes {
            return Ok(());
        }
        let asked = std::any::type_name::<T>();
        Err(Error::VariableSize { variable: name.to_owned(), found_bytes, asked, asked_bytes })
    }
}

fn no_such_variable(name: &str) -> Error {
    Error::NoSuchVariable { variable: name.to_owned() }
}

/// Loads foreign code on a device.
fn load<B: Backend>(device: &'static B, code: &[u8], kind: &str) -> Result<Any<ForeignModules>> {
    device.load_foreign(code, kind).map(|code| B::wrap(Arc::new(Loaded::new(code))))
}

/// The kernel of this name.
///
/// # Errors
/// [`Error::NoSuchKernel`], or what the driver says.
pub(crate) fn entry<'l, B: Backend>(loaded: &'l Loaded<B, String>, name: &str) -> Result<&'l Entry<B>> {
    loaded.entry(name, || {
        let function = loaded.code.function(name)?.ok_or_else(|| Error::NoSuchKernel {
            kernel: name.to_owned(),
            crate_name: "(foreign code)".to_owned(),
            available: Vec::new(),
        })?;
        Ok(Entry { function, cooperative: false })
    })
}

/// # Safety
/// As for [`ForeignModule::launch`].
#[track_caller]
unsafe fn launch<B: Backend>(
    loaded: &Loaded<B, String>,
    stream: Option<&Stream>,
    program: Program<'_>,
    config: LaunchConfig,
) -> Result<()> {
    let (code, device, at) = (&loaded.code, loaded.device(), Location::caller());
    let stream = Stream::or_default(stream, device, &|| program.doing())?;
    let Entry { function, cooperative } = entry(loaded, program.name())?;
    let threads = code.threads(function);
    let request = Request { device, program: &program, config: &config, threads, cooperative: *cooperative };
    // SAFETY: as the caller promises.
    let launch =
        |launch: &PreparedLaunch<'_, B>| unsafe { observed::launch(code, stream, function, launch, at) };
    // SAFETY: the arguments hold borrows that last as long as this call.
    unsafe { PreparedLaunch::check(&request, &mut Lists::new(), launch).map(drop) }
}

/// What the code is. The driver is not told how long it is and finds its end by its contents, so that these must lie inside.
fn kind(code: &[u8]) -> Result<&'static str, String> {
    let cut_off = |what: &str, needed_bytes: u64| match needed_bytes > code.len() as u64 {
        true => {
            Err(format!("{what} of at least {needed_bytes} bytes is cut off: {} bytes are there", code.len()))
        }
        false => Ok(()),
    };
    match code {
        [0x7f, b'E', b'L', b'F', ..] => {
            cut_off("a cubin", elf_bytes(code).ok_or("it begins like a cubin, but is none")?)?;
            Ok("a foreign cubin")
        }
        // The magic number of `fatbinary.h`. Its version, 16 bits, and the size of this header come next, then that of the rest.
        [0x50, 0xed, 0x55, 0xba, ..] => {
            cut_off("a fatbin", 16)?;
            let header_bytes = number(code, 6, 2).unwrap_or(u64::MAX);
            let rest_bytes = number(code, 8, 8).unwrap_or(u64::MAX);
            cut_off("a fatbin", header_bytes.saturating_add(rest_bytes))?;
            Ok("a foreign fatbin")
        }
        text if text.windows(8).any(|word| word == b".version") => Ok("foreign PTX"),
        _ => Err(format!("its {} bytes are neither PTX nor a cubin nor a fatbin", code.len())),
    }
}

/// Where the last header, segment or section of a 64-bit ELF file ends (ELF-64 Object File Format, version 1.5); `None` if it is
/// something else, or its headers themselves lie outside.
fn elf_bytes(code: &[u8]) -> Option<u64> {
    const HEADER_BYTES: u64 = 64;
    const NO_BITS: u64 = 8;
    // 64 bits, little endian.
    if code.get(4..6)? != [2, 1] {
        return None;
    }
    let mut end = HEADER_BYTES;
    let mut table = |start: usize, entry: usize, size: u64, find: &dyn Fn(u64) -> Option<u64>| {
        let (first, bytes, count) =
            (number(code, start, 8)?, number(code, entry, 2)?, number(code, entry + 2, 2)?);
        if count > 0 && bytes != size {
            return None;
        }
        for index in 0..count {
            let header = first.checked_add(index * bytes)?;
            end = end.max(header.checked_add(bytes)?).max(find(header)?);
        }
        Some(())
    };
    let field = |header: u64, at: u64, bytes: usize| number(code, usize::try_from(header + at).ok()?, bytes);
    // Segments: offset and size in the file.
    table(32, 54, 56, &|header| field(header, 8, 8)?.checked_add(field(header, 32, 8)?))?;
    // Sections: those without bytes in the file have a size, too.
    table(40, 58, 64, &|header| match field(header, 4, 4)? {
        NO_BITS => Some(0),
        _ => field(header, 24, 8)?.checked_add(field(header, 32, 8)?),
    })?;
    Some(end)
}

/// A number of so many bytes, little endian.
fn number(code: &[u8], at: usize, bytes: usize) -> Option<u64> {
    let bytes = code.get(at..at.checked_add(bytes)?)?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

impl fmt::Debug for ForeignModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ForeignModule").field("device", &self.device).finish_non_exhaustive()
    }
}

/// An argument of a kernel made elsewhere: a value, or the address of memory.
///
/// A clone is the same argument, for example of several launches.
#[derive(Clone, Debug)]
pub struct RawArg<'a> {
    /// In units that are aligned as parameters can be; maybe uninitialised, because values have padding.
    bytes: SmallVec<[MaybeUninit<u128>; 4]>,
    memory: Option<Use>,
    borrow: PhantomData<&'a mut ()>,
}

impl<'a> RawArg<'a> {
    /// A number or struct, passed by value.
    pub fn value<T: DeviceCopy>(value: T) -> Self {
        let units = size_of::<T>().div_ceil(size_of::<u128>()).max(1);
        let mut bytes: SmallVec<[_; 4]> = smallvec![MaybeUninit::<u128>::zeroed(); units];
        // SAFETY: there are enough bytes; they need not be aligned.
        unsafe { bytes.as_mut_ptr().cast::<T>().write_unaligned(value) };
        Self { bytes, memory: None, borrow: PhantomData }
    }

    /// The address of elements that the kernel reads.
    pub fn slice<T: DeviceCopy>(slice: &'a DeviceSlice<T>) -> Self {
        Self::address(slice, Access::Read)
    }

    /// The address of elements that the kernel reads and writes.
    pub fn slice_mut<T: DeviceCopy>(slice: &'a mut DeviceSlice<T>) -> Self {
        Self::address(slice, Access::Write)
    }

    fn address<T: DeviceCopy>(slice: &DeviceSlice<T>, access: Access) -> Self {
        let memory = slice.used().map(|_| Use::of(slice, access));
        Self { memory, ..Self::value(slice.address()) }
    }

    /// The memory that it is the address of, and what the kernel does to it.
    pub(crate) fn memory(&self) -> Option<(AllocationId, Access)> {
        self.memory.map(|used| (used.allocation, used.access))
    }

    /// The same, with the part of it.
    pub(crate) fn used(&self) -> Option<Use> {
        self.memory
    }

    /// The argument without its borrow.
    ///
    /// # Safety
    /// It is used as long as its memory is there and may be used so.
    pub(crate) unsafe fn detached(&self) -> RawArg<'static> {
        RawArg { bytes: self.bytes.clone(), memory: self.memory, borrow: PhantomData }
    }

    /// The argument with other memory, which `find` says, in the place of its own.
    pub(crate) fn moved(
        &self,
        find: &mut dyn FnMut(Use) -> Result<(*mut u8, AllocationId)>,
    ) -> Result<RawArg<'static>> {
        // SAFETY: it has the memory of the result of `find`, or none.
        let arg = unsafe { self.detached() };
        let Some(used) = self.memory else { return Ok(arg) };
        let (address, allocation) = find(used)?;
        let mut moved = RawArg::value(address.expose_provenance());
        moved.memory = Some(used.at(address.addr(), allocation));
        Ok(moved)
    }

    /// Where the value lies.
    pub(crate) fn pointer(&self) -> *const u8 {
        self.bytes.as_ptr().cast()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ELF file with one section of so many bytes after its headers.
    fn elf(section_bytes: u64) -> Vec<u8> {
        let mut code = vec![0_u8; 64 + 64];
        code[..6].copy_from_slice(b"\x7fELF\x02\x01");
        code[40] = 64;
        code[58] = 64;
        code[60] = 1;
        code[64 + 4] = 1;
        code[64 + 24] = 128;
        code[64 + 32..64 + 40].copy_from_slice(&section_bytes.to_le_bytes());
        code.resize(128 + usize::try_from(section_bytes).unwrap_or(0), 7);
        code
    }

    #[test]
    fn code_must_hold_all_that_it_says_it_has() {
        assert_eq!(kind(&elf(5)), Ok("a foreign cubin"));
        assert_eq!(kind(b"// PTX\n.version 8.0"), Ok("foreign PTX"));
        let whole = elf(5);
        for len in 4..whole.len() {
            assert!(kind(&whole[..len]).is_err(), "{len} bytes");
        }
        let mut fatbin = vec![0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0, 3, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3];
        assert_eq!(kind(&fatbin), Ok("a foreign fatbin"));
        fatbin.pop();
        assert!(kind(&fatbin).is_err());
        for len in 4..fatbin.len() {
            assert!(kind(&fatbin[..len]).is_err(), "{len} bytes");
        }
    }

    #[test]
    fn clones_of_arguments_are_the_same() {
        let buffer = Device::cpu().upload(&[1, 2, 3]).unwrap();
        for arg in [RawArg::value([7_u64; 20]), RawArg::value(()), RawArg::slice(&buffer[1..])] {
            let clone = arg.clone();
            assert_eq!(clone.memory(), arg.memory());
            let words = |arg: &RawArg<'_>| {
                // SAFETY: `value` zeroes what it does not write, and these values have no padding.
                arg.bytes.iter().map(|unit| unsafe { unit.assume_init() }).collect::<Vec<_>>()
            };
            assert_eq!(words(&clone), words(&arg));
            assert_ne!(clone.pointer(), arg.pointer());
        }
    }

    #[test]
    fn absurd_sizes_are_cut_off() {
        let mut code = elf(5);
        for (at, bytes) in [(64 + 24, 8), (64 + 32, 8), (40, 8), (58, 2), (60, 2)] {
            let mut changed = code.clone();
            changed[at..at + bytes].fill(0xff);
            assert!(kind(&changed).is_err(), "at {at}");
        }
        code[5] = 2;
        assert!(kind(&code).is_err(), "big endian");
        let endless = [&[0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0][..], &[0xff; 8]].concat();
        assert!(kind(&endless).is_err());
    }
}

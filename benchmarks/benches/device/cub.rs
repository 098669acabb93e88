//! Functions of `cuda/device.cu`, which call algorithms of CUB.

use std::{ffi::c_void, io::Write, ptr};

use gpukernel::{Buffer, RawArg, Stream};
use gpukernel_bench::Result;
use libloading::Library;
use tempfile::NamedTempFile;

static LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/device.so"));

/// Where an algorithm works: the first parameter of each function, as there.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Workspace {
    /// Null if the function is to say how many bytes it needs.
    memory: *mut c_void,
    bytes: *mut usize,
    stream: *mut c_void,
}

/// A function, and the memory that it works in, which is allocated in the first call.
pub(super) struct Cub<F> {
    function: F,
    memory: Option<Buffer<u8>>,
    stream: Stream,
    _library: Library,
    /// A library has to be a file to be loaded.
    _file: NamedTempFile,
}

impl<F: Copy> Cub<F> {
    /// Loads the function of this name, which works on a stream of a GPU.
    ///
    /// # Safety
    /// `F` is its type.
    pub(super) unsafe fn load(stream: &Stream, name: &str) -> Result<Self> {
        let mut file = NamedTempFile::new()?;
        file.write_all(LIBRARY)?;
        // SAFETY: the build script made it with nvcc; it does nothing when it is loaded but register its kernels.
        let library = unsafe { Library::new(file.path())? };
        // SAFETY: as the caller promises.
        let function = unsafe { *library.get::<F>(name.as_bytes())? };
        Ok(Self { function, memory: None, stream: stream.clone(), _library: library, _file: file })
    }

    /// Queues what the function does in `call`.
    ///
    /// # Safety
    /// `call` calls it with what its parameters are in `cuda/device.cu`, and returns what it returns. `args` are the memory that they point to.
    pub(super) unsafe fn queue<'a>(
        &'a mut self,
        mut args: Vec<RawArg<'a>>,
        call: impl Fn(F, Workspace) -> i32,
    ) -> Result {
        let Self { function, memory, stream, .. } = self;
        let memory = match memory {
            Some(memory) => memory,
            None => {
                let mut bytes = 0;
                let ask = |stream| {
                    call(*function, Workspace { memory: ptr::null_mut(), bytes: &raw mut bytes, stream })
                };
                // SAFETY: without memory to work in, it queues nothing.
                ok(unsafe { stream.queue(&[], ask)? })?;
                memory.insert(stream.zeroed(bytes)?)
            }
        };
        let (to, mut bytes) = (memory.as_mut_ptr().cast(), memory.len());
        args.push(RawArg::slice_mut(memory));
        let work = |stream| call(*function, Workspace { memory: to, bytes: &raw mut bytes, stream });
        // SAFETY: it queues its work on the stream, with memory of which the caller promises that it is all.
        ok(unsafe { stream.queue(&args, work)? })
    }
}

/// What a function's result says.
fn ok(code: i32) -> Result {
    match code {
        0 => Ok(()),
        code => Err(format!("the library returned the error {code} of CUDA's runtime").into()),
    }
}

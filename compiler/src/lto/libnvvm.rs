//! NVIDIA's libnvvm, loaded at run time: NVVM IR goes in, LTO-IR comes out.

use std::{
    ffi::{CStr, CString, c_char, c_int, c_void},
    path::{Path, PathBuf},
    ptr,
};

use gpukernel_image::Arch;
use libloading::Library;

use super::Untranslatable;
use crate::isolated::{self, Outcome, Work};

/// Kernels cannot be made LTO-IR.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LtoError {
    /// They use what NVVM IR does not have.
    #[error(
        "these kernels cannot be optimised together with LTO-IR, because {0}: link the functions through nvcc or clang instead"
    )]
    Untranslatable(#[from] Untranslatable),
    /// libnvvm cannot be loaded.
    #[error("cannot load libnvvm from {}: {reason}\nIt belongs to CUDA's compiler; `cargo gpukernel setup --force` gets it again", path.display())]
    Load {
        /// The library.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// No process can be started to run it in.
    #[error("cannot start a process to run libnvvm in: {0}")]
    NoProcess(std::io::Error),
    /// libnvvm refuses.
    #[error(
        "libnvvm does not compile the kernels for {arch}, and functions of CUDA C as LTO-IR need that: link them through nvcc or clang instead\n{log}"
    )]
    Rejected {
        /// The architecture.
        arch: Arch,
        /// What it said.
        log: String,
    },
}

/// The functions of the library that are used here, with the types of nvvm.h.
struct Nvvm {
    create: unsafe extern "C" fn(*mut RawProgram) -> c_int,
    destroy: unsafe extern "C" fn(*mut RawProgram) -> c_int,
    add_module: unsafe extern "C" fn(RawProgram, *const c_char, usize, *const c_char) -> c_int,
    compile: unsafe extern "C" fn(RawProgram, c_int, *const *const c_char) -> c_int,
    result: Text,
    log: Text,
    /// Keeps the code mapped.
    _library: Library,
}

type RawProgram = *mut c_void;

/// What a program tells: how long it is, then its bytes.
struct Text {
    size: unsafe extern "C" fn(RawProgram, *mut usize) -> c_int,
    bytes: unsafe extern "C" fn(RawProgram, *mut c_char) -> c_int,
}

impl Nvvm {
    fn load(path: &Path) -> Result<Self, libloading::Error> {
        // SAFETY: NVIDIA's library, whose functions have these types in every version; the pointers stay with it.
        unsafe {
            let library = Library::new(path)?;
            Ok(Self {
                create: *library.get(b"nvvmCreateProgram")?,
                destroy: *library.get(b"nvvmDestroyProgram")?,
                add_module: *library.get(b"nvvmAddModuleToProgram")?,
                compile: *library.get(b"nvvmCompileProgram")?,
                result: Text {
                    size: *library.get(b"nvvmGetCompiledResultSize")?,
                    bytes: *library.get(b"nvvmGetCompiledResult")?,
                },
                log: Text {
                    size: *library.get(b"nvvmGetProgramLogSize")?,
                    bytes: *library.get(b"nvvmGetProgramLog")?,
                },
                _library: library,
            })
        }
    }
}

/// A program being compiled, destroyed when dropped.
struct Program<'n> {
    nvvm: &'n Nvvm,
    raw: RawProgram,
}

impl<'n> Program<'n> {
    fn new(nvvm: &'n Nvvm) -> Option<Self> {
        let mut raw = ptr::null_mut();
        // SAFETY: a place for the handle.
        (unsafe { (nvvm.create)(&mut raw) } == 0).then_some(Self { nvvm, raw })
    }

    /// Whether it compiles this module with these options.
    fn compile(&self, ir: &str, options: &[CString]) -> bool {
        let options: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        // SAFETY: a live program; the text is as long as said and copied, and the options are as many, and end in a NUL each.
        unsafe {
            (self.nvvm.add_module)(self.raw, ir.as_ptr().cast(), ir.len(), c"kernels".as_ptr()) == 0
                && (self.nvvm.compile)(self.raw, options.len() as c_int, options.as_ptr()) == 0
        }
    }

    fn read(&self, text: &Text) -> Vec<u8> {
        let mut size = 0;
        // SAFETY: a live program, which writes as many bytes as it says.
        unsafe {
            (text.size)(self.raw, &mut size);
            let mut bytes = vec![0_u8; size];
            (text.bytes)(self.raw, bytes.as_mut_ptr().cast());
            bytes
        }
    }
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        // SAFETY: created, and not used any more.
        unsafe { (self.nvvm.destroy)(&mut self.raw) };
    }
}

/// Compiles NVVM IR to LTO-IR, in a child process.
pub(super) fn compile(library: &Path, ir: &str, arch: Arch) -> Result<Vec<u8>, LtoError> {
    let here = || compile_here(library, ir, arch);
    match isolated::run(false, || here().map_or(Work::Failed, Work::Done)) {
        Ok(Outcome::Done(lto_ir)) => Ok(lto_ir),
        Ok(Outcome::Failed) => isolated::in_process(here),
        Ok(Outcome::Died(death)) => {
            let log = format!("It ended with {}\n{}", death.status, death.said).trim().to_owned();
            Err(LtoError::Rejected { arch, log })
        }
        Err(error) => Err(LtoError::NoProcess(error)),
    }
}

/// Does so in this process.
fn compile_here(library: &Path, ir: &str, arch: Arch) -> Result<Vec<u8>, LtoError> {
    let unusable = |reason: String| LtoError::Load { path: library.to_owned(), reason };
    let nvvm = Nvvm::load(library).map_err(|error| unusable(error.to_string()))?;
    let program = Program::new(&nvvm).ok_or_else(|| unusable("it creates no program".to_owned()))?;
    let (major, minor) = arch.compute_capability();
    let options = [format!("-arch=compute_{major}{minor}"), "-gen-lto".to_owned()];
    if program.compile(ir, &options.map(|option| CString::new(option).unwrap_or_default())) {
        return Ok(program.read(&nvvm.result));
    }
    let log = program.read(&nvvm.log);
    let log = CStr::from_bytes_until_nul(&log).unwrap_or_default().to_string_lossy().trim().to_owned();
    Err(LtoError::Rejected { arch, log })
}

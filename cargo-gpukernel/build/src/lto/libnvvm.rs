//! NVIDIA's libnvvm, loaded at run time: NVVM IR goes in, LTO-IR comes out.

use std::{
    ffi::{CStr, CString, c_char, c_int, c_void},
    path::{Path, PathBuf},
    ptr,
};

use gpukernel_image::Arch;
use libloading::Library;

use super::Untranslatable;

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

type Program = *mut c_void;

/// Compiles NVVM IR to LTO-IR.
pub(crate) fn compile(library: &Path, ir: &str, arch: Arch) -> Result<Vec<u8>, LtoError> {
    let failed =
        |error: libloading::Error| LtoError::Load { path: library.to_owned(), reason: error.to_string() };
    let (major, minor) = arch.compute_capability();
    let options = [format!("-arch=compute_{major}{minor}"), "-gen-lto".to_owned()];
    let options: Vec<CString> = options.into_iter().filter_map(|option| CString::new(option).ok()).collect();
    let pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
    // SAFETY: NVIDIA's library, whose functions have these types in every version (nvvm.h). The program is destroyed before the library is
    // closed; texts and buffers are as long as said, and alive during the calls.
    unsafe {
        let nvvm = Library::new(library).map_err(failed)?;
        let create =
            nvvm.get::<unsafe extern "C" fn(*mut Program) -> c_int>(b"nvvmCreateProgram").map_err(failed)?;
        let destroy =
            nvvm.get::<unsafe extern "C" fn(*mut Program) -> c_int>(b"nvvmDestroyProgram").map_err(failed)?;
        let add = nvvm
            .get::<unsafe extern "C" fn(Program, *const c_char, usize, *const c_char) -> c_int>(
                b"nvvmAddModuleToProgram",
            )
            .map_err(failed)?;
        let run = nvvm
            .get::<unsafe extern "C" fn(Program, c_int, *const *const c_char) -> c_int>(b"nvvmCompileProgram")
            .map_err(failed)?;
        let get = |name: &[u8]| nvvm.get::<unsafe extern "C" fn(Program, *mut c_char) -> c_int>(name);
        let size = |name: &[u8]| nvvm.get::<unsafe extern "C" fn(Program, *mut usize) -> c_int>(name);
        let (result, result_size) = (
            get(b"nvvmGetCompiledResult").map_err(failed)?,
            size(b"nvvmGetCompiledResultSize").map_err(failed)?,
        );
        let (log, log_size) =
            (get(b"nvvmGetProgramLog").map_err(failed)?, size(b"nvvmGetProgramLogSize").map_err(failed)?);

        let mut program: Program = ptr::null_mut();
        let mut status = create(&mut program);
        if status == 0 {
            status = add(program, ir.as_ptr().cast(), ir.len(), c"kernels".as_ptr());
        }
        if status == 0 {
            status = run(program, pointers.len() as c_int, pointers.as_ptr());
        }
        let mut length = 0;
        let outcome = if status == 0 {
            result_size(program, &mut length);
            let mut bytes = vec![0_u8; length];
            result(program, bytes.as_mut_ptr().cast());
            Ok(bytes)
        } else {
            log_size(program, &mut length);
            let mut bytes = vec![0_u8; length + 1];
            log(program, bytes.as_mut_ptr().cast());
            let text =
                CStr::from_bytes_until_nul(&bytes).unwrap_or_default().to_string_lossy().trim().to_owned();
            Err(LtoError::Rejected { arch, log: text })
        };
        destroy(&mut program);
        outcome
    }
}

//! Safe wrappers over the part of LLVM's C API that linking needs. The `unsafe` of the crate is here, in `isolated`, which starts
//! processes, and, for NVIDIA's library, in `lto::libnvvm`.
//!
//! Lifetimes: an [`Llvm`] is loaded once and stays; a [`Context`] owns all that is made in it; a [`Module`] borrows its
//! context; a [`Value`] (global, function, instruction, constant) borrows its module's context. A value that was
//! deleted must not be used again: the deleting methods take it by value, and callers collect before they delete.

mod arithmetic;
mod attribute;
mod block;
mod build;
mod comparison;
mod counter;
#[cfg(test)]
mod declarations;
mod flow;
mod library;
mod module;
mod opcode;
mod place;
mod signature;
mod target;
#[cfg(test)]
pub(crate) mod testing;
mod value;
mod versions;

use std::{
    cell::RefCell,
    ffi::{CStr, CString, c_char, c_void},
    path::PathBuf,
};

use crate::isolated;
pub(crate) use arithmetic::Arithmetic;
pub(crate) use attribute::Position;
pub(crate) use block::Block;
use build::Builder;
pub(crate) use comparison::Comparison;
pub(crate) use library::Llvm;
pub(crate) use module::{Buffer, Module};
pub(crate) use opcode::Opcode;
pub(crate) use place::Place;
pub(crate) use target::TargetMachine;
pub(crate) use value::{CopyPart, Linkage, Value};

/// The triple of everything we link.
pub(crate) const TRIPLE: &CStr = c"nvptx64-nvidia-cuda";

/// LLVM could not be loaded or refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LlvmError {
    /// The shared library cannot be loaded.
    #[error("cannot load LLVM from {}: {reason}\nIt belongs to the device rustc; reinstall that toolchain, or run `cargo gpukernel setup --force`", path.display())]
    Load {
        /// The library.
        path: PathBuf,
        /// What the dynamic linker said.
        reason: String,
    },
    /// A function is missing in it.
    #[error("{} has no function `{name}`: it is not a libLLVM that gpukernel can use (LLVM 22 and later work)", path.display())]
    Symbol {
        /// The library.
        path: PathBuf,
        /// The function.
        name: &'static str,
    },
    /// It is of another major version than the device rustc.
    #[error("{} is LLVM {found}, but the device rustc was built with LLVM {expected}: bitcode of one cannot be read by the other\nReinstall that toolchain, or run `cargo gpukernel setup --force`", path.display())]
    Version {
        /// The library.
        path: PathBuf,
        /// Major version of the device rustc's LLVM.
        expected: u32,
        /// Version of the library.
        found: String,
    },
    /// This process already uses another one.
    #[error("this process already uses LLVM from {}, it cannot load {} too", loaded.display(), wanted.display())]
    Another {
        /// The library in use.
        loaded: PathBuf,
        /// The library asked for.
        wanted: PathBuf,
    },
    /// Passes, LLVM's or the linker's, left invalid code.
    #[error("the passes `{passes}` left invalid code: {reason}")]
    Invalid {
        /// The passes.
        passes: String,
        /// What is wrong with it.
        reason: String,
    },
    /// No process can be started to run it in.
    #[error("cannot start a process to run LLVM in: {0}")]
    NoProcess(std::io::Error),
    /// An operation failed.
    #[error("LLVM could not {what}: {reason}")]
    Failed {
        /// What was asked of it.
        what: String,
        /// What it said.
        reason: String,
    },
}

/// A context: everything made in it is freed with it.
pub(crate) struct Context {
    llvm: &'static Llvm,
    raw: *mut library::LLVMContext,
    /// What LLVM reported as errors; boxed because LLVM keeps the address.
    messages: Box<RefCell<Vec<String>>>,
}

impl Context {
    pub(crate) fn new(llvm: &'static Llvm) -> Self {
        let messages = Box::new(RefCell::new(Vec::new()));
        // SAFETY: the handler gets the address of the box's content, which lives as long as the context.
        let raw = unsafe {
            if isolated::is_child() {
                // A crash then ends with the names of the pass and the function, for `link::crash`.
                (llvm.LLVMEnablePrettyStackTrace)();
            }
            let raw = (llvm.LLVMContextCreate)();
            let collector = std::ptr::from_ref(&*messages).cast_mut().cast();
            (llvm.LLVMContextSetDiagnosticHandler)(raw, Some(collect_error), collector);
            raw
        };
        // `collect_error` gets no table of functions: the only one there is.
        Self { llvm, raw, messages }
    }

    /// The error of an operation that failed: what LLVM reported since the last one, or `reason`.
    fn failed(&self, what: impl Into<String>, reason: Option<String>) -> LlvmError {
        let mut reasons = self.messages.take();
        reasons.extend(reason.filter(|text| !text.is_empty()));
        if reasons.is_empty() {
            reasons.push("it gave no reason".into());
        }
        LlvmError::Failed { what: what.into(), reason: reasons.join("; ") }
    }

    /// Text that LLVM allocated, freed here.
    fn take_message(&self, message: *mut c_char) -> Option<String> {
        if message.is_null() {
            return None;
        }
        // SAFETY: a NUL-terminated text that LLVM allocated for us to dispose of.
        unsafe {
            let text = CStr::from_ptr(message).to_string_lossy().into_owned();
            (self.llvm.LLVMDisposeMessage)(message);
            Some(text)
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: modules and values borrow the context, so nothing of it is in use any more.
        unsafe { (self.llvm.LLVMContextDispose)(self.raw) };
    }
}

extern "C" fn collect_error(diagnostic: *mut library::LLVMDiagnostic, collector: *mut c_void) {
    const ERROR: i32 = 0;
    let Some(llvm) = library::loaded() else { return };
    // SAFETY: LLVM calls this with a live diagnostic and the collector that `Context::new` registered, on the thread that
    // uses the context.
    unsafe {
        if (llvm.LLVMGetDiagInfoSeverity)(diagnostic) != ERROR {
            return;
        }
        let message = (llvm.LLVMGetDiagInfoDescription)(diagnostic);
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        (llvm.LLVMDisposeMessage)(message);
        (*collector.cast::<RefCell<Vec<String>>>()).borrow_mut().push(text);
    }
}

/// A name for LLVM. Names of ours and of rustc hold no NUL; what follows one is cut off.
fn c_string(text: &str) -> CString {
    let end = text.find('\0').unwrap_or(text.len());
    CString::new(&text[..end]).unwrap_or_default()
}

//! Places in the source: where functions are declared, and where instructions come from, through inlining.

use std::ffi::{c_char, c_uint};

use super::{
    Value,
    library::{LLVMMetadata, Llvm},
};

/// A line of a source file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Place {
    /// The folder that the compiler ran in.
    pub(crate) directory: String,
    /// The file as the compiler was given it.
    pub(crate) file: String,
    pub(crate) line: u32,
    /// From 1; 0 if it is not known.
    pub(crate) column: u32,
}

impl Value<'_> {
    /// Where a function is declared, if its module has that.
    pub(crate) fn declared_at(self) -> Option<Place> {
        let llvm = self.context.llvm;
        // SAFETY: a live function; a subprogram is a scope.
        unsafe {
            let subprogram = (llvm.LLVMGetSubprogram)(self.raw);
            if subprogram.is_null() {
                return None;
            }
            let line = (llvm.LLVMDISubprogramGetLine)(subprogram);
            let (directory, file) = file_of(llvm, subprogram)?;
            Some(Place { directory, file, line, column: 0 })
        }
    }

    /// Where an instruction comes from: the place itself, then the place that this was inlined at, and so on, outermost last.
    pub(crate) fn places(self) -> Vec<Place> {
        let llvm = self.context.llvm;
        let mut places = Vec::new();
        // SAFETY: a live instruction; a location has a scope, and may be inlined at another location.
        unsafe {
            let mut location = (llvm.LLVMInstructionGetDebugLoc)(self.raw);
            while !location.is_null() {
                if let Some((directory, file)) = file_of(llvm, (llvm.LLVMDILocationGetScope)(location)) {
                    let line = (llvm.LLVMDILocationGetLine)(location);
                    let column = (llvm.LLVMDILocationGetColumn)(location);
                    places.push(Place { directory, file, line, column });
                }
                location = (llvm.LLVMDILocationGetInlinedAt)(location);
            }
        }
        places
    }

    /// Says of an instruction of a function with a place that it comes from this line of the function's file.
    pub(crate) fn set_line(self, function: Value<'_>, line: u32) {
        let llvm = self.context.llvm;
        // SAFETY: a live function and one of its instructions; the location is of their context.
        unsafe {
            let scope = (llvm.LLVMGetSubprogram)(function.raw);
            if !scope.is_null() {
                let location = (llvm.LLVMDIBuilderCreateDebugLocation)(
                    self.context.raw,
                    line,
                    0,
                    scope,
                    std::ptr::null_mut(),
                );
                (llvm.LLVMInstructionSetDebugLoc)(self.raw, location);
            }
        }
    }
}

/// The folder and the file of a scope.
///
/// # Safety
/// `scope` is null or a live scope.
unsafe fn file_of(llvm: &Llvm, scope: *mut LLVMMetadata) -> Option<(String, String)> {
    if scope.is_null() {
        return None;
    }
    // SAFETY: a live scope; the texts belong to its file.
    unsafe {
        let file = (llvm.LLVMDIScopeGetFile)(scope);
        if file.is_null() {
            return None;
        }
        let text = |get: unsafe extern "C" fn(*mut LLVMMetadata, *mut c_uint) -> *const c_char| {
            let mut length = 0;
            let start: *const u8 = get(file, &mut length).cast();
            match start.is_null() {
                true => String::new(),
                false => {
                    String::from_utf8_lossy(std::slice::from_raw_parts(start, length as usize)).into_owned()
                }
            }
        };
        Some((text(llvm.LLVMDIFileGetDirectory), text(llvm.LLVMDIFileGetFilename)))
    }
}

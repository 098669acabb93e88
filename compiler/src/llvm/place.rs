//! Places in the source: where functions are declared.

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
            Some(Place { directory, file, line })
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

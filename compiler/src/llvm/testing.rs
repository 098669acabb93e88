//! What unit tests of passes need.

use super::Llvm;
use crate::toolchain::{FindOptions, Toolchain};

/// The LLVM of the device rustc.
pub(crate) fn llvm() -> &'static Llvm {
    let rustc = Toolchain::find(&FindOptions::new(".")).unwrap().rustc;
    let major = u32::try_from(rustc.llvm_version.major).unwrap();
    Llvm::load(&rustc.libllvm.path, &rustc.libllvm.dependencies, major).unwrap()
}

//! Step 7: a·b+c may become one instruction with one rounding, as nvcc does by default (`-fmad=true`) and Rust does not.
//! Worth 13 % on Mandelbrot and n-body; `fp-contract = "off"` turns it off.

use crate::llvm::Module;

/// Allows it for every floating-point instruction of the module.
pub(super) fn allow(module: &Module<'_>) {
    for function in module.functions() {
        for instruction in function.instructions() {
            instruction.allow_contraction();
        }
    }
}

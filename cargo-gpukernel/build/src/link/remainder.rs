//! Step 5: remainders of floats become exact ones.
//!
//! PTX has no such instruction. LLVM's NVPTX target computes `x - trunc(x / y) * y`, which is off by far for large quotients
//! and for `y` infinite; Rust's `%` is exact, and so is libdevice's `fmod`, which nvcc uses.

use crate::llvm::Module;

/// Replaces every `frem` on single and double precision numbers by a call of libdevice.
pub(super) fn make_exact(module: &Module<'_>) {
    for function in module.functions() {
        for instruction in
            function.instructions().into_iter().filter(|instruction| instruction.is_float_remainder())
        {
            let name = match instruction.type_name().as_str() {
                "float" => "__nv_fmodf",
                "double" => "__nv_fmod",
                _ => continue,
            };
            module.replace_by_call(instruction, name);
        }
    }
}

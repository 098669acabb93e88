//! Operations that NVPTX has no instruction for, and that LLVM would get wrong or refuse, become calls of libraries.
//!
//! - Remainders of floats: LLVM computes `x - trunc(x / y) * y`, which is off by far for large quotients. Rust's `%` is exact, and
//!   so is libdevice's `fmod`, which nvcc uses.
//! - Conversions between floats and 128-bit integers: LLVM wants to call a function by name, which NVPTX does not support, and
//!   ends the process. The functions are those of `compiler_builtins`, which saturate as Rust's `as` does.

use crate::llvm::{Module, Opcode, Value};

/// Replaces them everywhere in the module.
pub(super) fn call_libraries(module: &Module<'_>) {
    for function in module.functions() {
        for instruction in function.instructions() {
            if let Some(name) = library_function(instruction) {
                module.replace_by_call(instruction, name);
            }
        }
    }
}

/// Erases `compiler_fence`, which NVPTX has no code for and does not need any: nothing interrupts a thread that would see its memory in
/// between. Has to come after the optimiser, which must not move accesses across it.
pub(super) fn drop_compiler_fences(module: &Module<'_>) {
    for function in module.functions() {
        let fences =
            function.instructions().into_iter().filter(|instruction| instruction.is_compiler_fence());
        fences.for_each(Value::erase);
    }
}

fn library_function(instruction: Value<'_>) -> Option<&'static str> {
    let from = || instruction.operands().next().map(|operand| operand.type_name()).unwrap_or_default();
    let to = instruction.type_name();
    let operation = match instruction.opcode() {
        Opcode::FLOAT_REMAINDER => {
            return match to.as_str() {
                "float" => Some("__nv_fmodf"),
                "double" => Some("__nv_fmod"),
                _ => None,
            };
        }
        Opcode::UNSIGNED_TO_FLOAT => "uitofp",
        Opcode::SIGNED_TO_FLOAT => "sitofp",
        Opcode::FLOAT_TO_UNSIGNED => "fptoui",
        Opcode::FLOAT_TO_SIGNED => "fptosi",
        Opcode::CALL => match instruction.called()?.name() {
            name if name.starts_with("llvm.fptoui.sat.i128.") => "fptoui",
            name if name.starts_with("llvm.fptosi.sat.i128.") => "fptosi",
            _ => return None,
        },
        _ => return None,
    };
    Some(match (operation, from().as_str(), to.as_str()) {
        ("uitofp", "i128", "float") => "__floatuntisf",
        ("uitofp", "i128", "double") => "__floatuntidf",
        ("sitofp", "i128", "float") => "__floattisf",
        ("sitofp", "i128", "double") => "__floattidf",
        ("fptoui", "float", "i128") => "__fixunssfti",
        ("fptoui", "double", "i128") => "__fixunsdfti",
        ("fptosi", "float", "i128") => "__fixsfti",
        ("fptosi", "double", "i128") => "__fixdfti",
        _ => return None,
    })
}

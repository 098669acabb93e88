//! Target machines: code generation for one architecture.

use super::{Buffer, Context, Llvm, LlvmError, Module, TRIPLE, c_string, library::LLVMTargetMachine};
use crate::isolated;

/// Generates code for one architecture.
pub(crate) struct TargetMachine {
    llvm: &'static Llvm,
    pub(super) raw: *mut LLVMTargetMachine,
}

impl TargetMachine {
    /// A machine for `cpu`, such as `sm_90`, with the PTX version that LLVM takes for it by default: the lowest that has it,
    /// so that the oldest driver can read the result. PTX 7.8 has sm_90, but its copy engine only 8.0.
    pub(crate) fn new(context: &Context, cpu: &str) -> Result<Self, LlvmError> {
        const AGGRESSIVE: i32 = 3;
        const DEFAULT_RELOCATION: i32 = 0;
        const DEFAULT_CODE_MODEL: i32 = 0;
        let llvm = context.llvm;
        let name = c_string(cpu);
        let features = if cpu == "sm_90" { c"+ptx80" } else { c"" };
        let (mut target, mut message) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: the texts are copied; the target is a static of LLVM.
        let raw = unsafe {
            if (llvm.LLVMGetTargetFromTriple)(TRIPLE.as_ptr(), &mut target, &mut message) != 0 {
                let message = context.take_message(message);
                return Err(context.failed("find its NVPTX target", message));
            }
            (llvm.LLVMCreateTargetMachine)(
                target,
                TRIPLE.as_ptr(),
                name.as_ptr(),
                features.as_ptr(),
                AGGRESSIVE,
                DEFAULT_RELOCATION,
                DEFAULT_CODE_MODEL,
            )
        };
        if raw.is_null() {
            return Err(context.failed(format!("generate code for {cpu}"), None));
        }
        Ok(Self { llvm, raw })
    }

    /// The PTX of a module. Code generation changes the module: it is of no further use but to be freed.
    pub(crate) fn emit_ptx(&self, module: &mut Module<'_>) -> Result<String, LlvmError> {
        const ASSEMBLY: i32 = 0;
        let context = module.context;
        isolated::entering("code generation");
        let (mut message, mut buffer) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: machine and module are live; buffer and message are ours to free.
        let failed = unsafe {
            let emit = self.llvm.LLVMTargetMachineEmitToMemoryBuffer;
            emit(self.raw, module.raw, ASSEMBLY, &mut message, &mut buffer)
        };
        let message = context.take_message(message);
        if failed != 0 {
            return Err(context.failed("generate PTX", message));
        }
        let bytes = Buffer { context, raw: buffer }.to_vec();
        String::from_utf8(bytes).map_err(|_| context.failed("generate PTX", Some("it is not UTF-8".into())))
    }
}

impl Drop for TargetMachine {
    fn drop(&mut self) {
        // SAFETY: owned.
        unsafe { (self.llvm.LLVMDisposeTargetMachine)(self.raw) };
    }
}

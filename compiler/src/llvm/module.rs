//! Modules: parsing, linking, walking and printing them.

use std::ffi::{CStr, c_char};

use super::{
    Context, Linkage, LlvmError, Opcode, TRIPLE, TargetMachine, Value, c_string,
    library::{LLVMMemoryBuffer, LLVMModule, LLVMTargetMachine, LLVMValue},
};
use crate::isolated;

/// One module, freed when dropped.
pub(crate) struct Module<'c> {
    pub(super) context: &'c Context,
    pub(super) raw: *mut LLVMModule,
}

impl<'c> Module<'c> {
    /// Reads bitcode; `name` is for messages.
    pub(crate) fn from_bitcode(context: &'c Context, bitcode: &[u8], name: &str) -> Result<Self, LlvmError> {
        let buffer = Buffer::copy(context, bitcode, name);
        let mut raw = std::ptr::null_mut();
        // SAFETY: the buffer outlives the call, which reads the whole module and keeps nothing of it.
        let failed = unsafe { (context.llvm.LLVMParseBitcodeInContext2)(context.raw, buffer.raw, &mut raw) };
        if failed != 0 {
            return Err(context.failed(format!("read the bitcode {name}"), None));
        }
        Ok(Self { context, raw })
    }

    /// Reads the symbols of bitcode, and each body when it is first needed; `name` is for messages.
    pub(crate) fn from_bitcode_lazily(
        context: &'c Context,
        bitcode: &[u8],
        name: &str,
    ) -> Result<Self, LlvmError> {
        let buffer = Buffer::copy(context, bitcode, name);
        let mut raw = std::ptr::null_mut();
        // SAFETY: if the call succeeds it takes the buffer over, so that ours must not free it.
        let failed =
            unsafe { (context.llvm.LLVMGetBitcodeModuleInContext2)(context.raw, buffer.raw, &mut raw) };
        if failed != 0 {
            return Err(context.failed(format!("read the bitcode {name}"), None));
        }
        std::mem::forget(buffer);
        Ok(Self { context, raw })
    }

    /// Parses textual IR; `name` is for messages.
    pub(crate) fn from_text(context: &'c Context, text: &str, name: &str) -> Result<Self, LlvmError> {
        let buffer = Buffer::copy(context, text.as_bytes(), name);
        let (mut raw, mut message) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: the call takes the buffer over, so that ours must not free it.
        let failed = unsafe {
            let parse = context.llvm.LLVMParseIRInContext;
            parse(context.raw, std::mem::ManuallyDrop::new(buffer).raw, &mut raw, &mut message)
        };
        let message = context.take_message(message);
        if failed != 0 {
            return Err(context.failed(format!("parse {name}"), message));
        }
        Ok(Self { context, raw })
    }

    /// Moves everything of `other` into this module.
    pub(crate) fn link(&self, other: Module<'c>, name: &str) -> Result<(), LlvmError> {
        let other = std::mem::ManuallyDrop::new(other);
        // SAFETY: both modules are of one context (by lifetime and construction); the call takes `other` over, also when it fails.
        if unsafe { (self.context.llvm.LLVMLinkModules2)(self.raw, other.raw) } != 0 {
            return Err(self.context.failed(format!("link {name}"), None));
        }
        Ok(())
    }

    /// Moves from `library` what this module needs and does not have, and what that needs.
    pub(crate) fn link_needed(&self, library: Module<'c>, name: &str) -> Result<(), LlvmError> {
        for value in library.functions().into_iter().chain(library.globals()) {
            // What is local moves only with what needs it as it is, and keeps apart from others of its name: rustc numbers
            // tables and constants in each module from 0.
            if !value.is_declaration() && !value.is_local() && !value.name().starts_with("llvm.") {
                value.set_linkage(Linkage::OnDemand);
            }
        }
        self.link(library, name)
    }

    /// Gives the module the target and the data layout of `like`.
    pub(crate) fn set_target_like(&self, like: &Module<'_>) {
        let llvm = self.context.llvm;
        // SAFETY: the layout's text belongs to `like` and is copied.
        unsafe {
            (llvm.LLVMSetTarget)(self.raw, TRIPLE.as_ptr());
            (llvm.LLVMSetDataLayout)(self.raw, (llvm.LLVMGetDataLayoutStr)(like.raw));
        }
    }

    /// Removes all debug info.
    pub(crate) fn strip_debug_info(&self) {
        // SAFETY: a live module.
        unsafe { (self.context.llvm.LLVMStripModuleDebugInfo)(self.raw) };
    }

    /// Sets a module flag to an integer, unless a linked module has set it.
    pub(crate) fn set_flag(&self, name: &str, value: u32) {
        const OVERRIDE: i32 = 3;
        let llvm = self.context.llvm;
        // SAFETY: looks a name up in a live module.
        if !unsafe { (llvm.LLVMGetModuleFlag)(self.raw, name.as_ptr().cast(), name.len()) }.is_null() {
            return;
        }
        // SAFETY: the flag's name is copied; the constant is of this context.
        unsafe {
            let constant =
                (llvm.LLVMConstInt)((llvm.LLVMInt32TypeInContext)(self.context.raw), value.into(), 0);
            let value = (llvm.LLVMValueAsMetadata)(constant);
            (llvm.LLVMAddModuleFlag)(self.raw, OVERRIDE, name.as_ptr().cast(), name.len(), value);
        }
    }

    /// Runs passes, named as for `opt -passes=`.
    pub(crate) fn run_passes(&self, passes: &str, machine: &TargetMachine) -> Result<(), LlvmError> {
        self.run(passes, machine.raw, true)
    }

    /// Runs passes, and unrolls or peels no loop.
    pub(crate) fn run_passes_without_unrolling(
        &self,
        passes: &str,
        machine: &TargetMachine,
    ) -> Result<(), LlvmError> {
        self.run(passes, machine.raw, false)
    }

    /// Runs passes as for a machine that nothing is known of, a GPU or not.
    pub(crate) fn run_passes_for_any_machine(&self, passes: &str) -> Result<(), LlvmError> {
        self.run(passes, std::ptr::null_mut(), true)
    }

    fn run(&self, passes: &str, machine: *mut LLVMTargetMachine, unrolling: bool) -> Result<(), LlvmError> {
        let llvm = self.context.llvm;
        let text = c_string(passes);
        isolated::entering(passes);
        // SAFETY: module, machine and options live through the call; an error is ours to free.
        let message = unsafe {
            let options = (llvm.LLVMCreatePassBuilderOptions)();
            (llvm.LLVMPassBuilderOptionsSetVerifyEach)(options, isolated::diagnoses().into());
            (llvm.LLVMPassBuilderOptionsSetLoopUnrolling)(options, unrolling.into());
            let error = (llvm.LLVMRunPasses)(self.raw, text.as_ptr(), machine, options);
            (llvm.LLVMDisposePassBuilderOptions)(options);
            if error.is_null() {
                None
            } else {
                let message = (llvm.LLVMGetErrorMessage)(error);
                let text = CStr::from_ptr(message).to_string_lossy().into_owned();
                (llvm.LLVMDisposeErrorMessage)(message);
                Some(text)
            }
        };
        match message {
            Some(_) => Err(self.context.failed(format!("run {passes}"), message)),
            // At once: later passes would crash, and elsewhere.
            None => self.verify(passes),
        }
    }

    /// Checks that the module is well formed after these passes, ours or LLVM's.
    pub(crate) fn verify(&self, passes: &str) -> Result<(), LlvmError> {
        const RETURN_STATUS: i32 = 2;
        let mut message = std::ptr::null_mut();
        // SAFETY: the message, if any, is ours to free.
        let broken = unsafe { (self.context.llvm.LLVMVerifyModule)(self.raw, RETURN_STATUS, &mut message) };
        let reason = self.context.take_message(message).unwrap_or_default().trim().to_owned();
        if broken == 0 { Ok(()) } else { Err(LlvmError::Invalid { passes: passes.into(), reason }) }
    }

    /// The module as textual IR.
    pub(crate) fn to_text(&self) -> String {
        // SAFETY: a live module; the text is ours to free.
        let text = unsafe { (self.context.llvm.LLVMPrintModuleToString)(self.raw) };
        self.context.take_message(text).unwrap_or_default()
    }

    /// The module as bitcode.
    pub(crate) fn to_bitcode(&self) -> Vec<u8> {
        // SAFETY: a live module; the buffer is ours to free.
        let raw = unsafe { (self.context.llvm.LLVMWriteBitcodeToMemoryBuffer)(self.raw) };
        Buffer { context: self.context, raw }.to_vec()
    }

    /// All global variables.
    pub(crate) fn globals(&self) -> Vec<Value<'c>> {
        let llvm = self.context.llvm;
        self.list(llvm.LLVMGetFirstGlobal, llvm.LLVMGetNextGlobal)
    }

    /// All functions, declared ones too.
    pub(crate) fn functions(&self) -> Vec<Value<'c>> {
        let llvm = self.context.llvm;
        self.list(llvm.LLVMGetFirstFunction, llvm.LLVMGetNextFunction)
    }

    /// Collected at once, so that callers may delete while they walk.
    fn list(
        &self,
        first: unsafe extern "C" fn(*mut LLVMModule) -> *mut LLVMValue,
        next: unsafe extern "C" fn(*mut LLVMValue) -> *mut LLVMValue,
    ) -> Vec<Value<'c>> {
        // SAFETY: walks LLVM's list of a live module; nothing changes it meanwhile.
        let mut raw = unsafe { first(self.raw) };
        std::iter::from_fn(|| {
            let value = Value::new(self.context, raw)?;
            // SAFETY: as above.
            raw = unsafe { next(raw) };
            Some(value)
        })
        .collect()
    }

    /// The function of this name.
    pub(crate) fn function(&self, name: &str) -> Option<Value<'c>> {
        let name = c_string(name);
        // SAFETY: looks a name up in a live module.
        Value::new(self.context, unsafe { (self.context.llvm.LLVMGetNamedFunction)(self.raw, name.as_ptr()) })
    }

    /// The global variable of this name.
    pub(crate) fn global(&self, name: &str) -> Option<Value<'c>> {
        let name = c_string(name);
        // SAFETY: looks a name up in a live module.
        Value::new(self.context, unsafe { (self.context.llvm.LLVMGetNamedGlobal)(self.raw, name.as_ptr()) })
    }

    /// A new global variable in shared memory, of the type and alignment of `like`, a declaration if that is one. Its bits are
    /// arbitrary when a block starts: nothing initialises shared memory.
    pub(crate) fn add_shared_global(&self, name: &str, like: Value<'c>) -> Option<Value<'c>> {
        const SHARED: u32 = 3;
        let llvm = self.context.llvm;
        let name = c_string(name);
        // SAFETY: a live module and a live global of its context. Externally initialised, so that LLVM does not take a
        // read of what this thread has not written for undefined.
        unsafe {
            let value_type = (llvm.LLVMGlobalGetValueType)(like.raw);
            let raw = (llvm.LLVMAddGlobalInAddressSpace)(self.raw, value_type, name.as_ptr(), SHARED);
            if !like.is_declaration() {
                (llvm.LLVMSetInitializer)(raw, (llvm.LLVMGetUndef)(value_type));
                (llvm.LLVMSetExternallyInitialized)(raw, 1);
            }
            (llvm.LLVMSetAlignment)(raw, (llvm.LLVMGetAlignment)(like.raw));
            Value::new(self.context, raw)
        }
    }

    /// A new global variable in constant memory, of the type, value and alignment of `like`. The host may change it.
    pub(crate) fn add_constant_global(&self, name: &str, like: Value<'c>) -> Option<Value<'c>> {
        const CONSTANT: u32 = 4;
        let llvm = self.context.llvm;
        let name = c_string(name);
        // SAFETY: a live module and a live global of its context, whose initialiser has the type of the new one.
        unsafe {
            let value_type = (llvm.LLVMGlobalGetValueType)(like.raw);
            let raw = (llvm.LLVMAddGlobalInAddressSpace)(self.raw, value_type, name.as_ptr(), CONSTANT);
            (llvm.LLVMSetInitializer)(raw, (llvm.LLVMGetInitializer)(like.raw));
            (llvm.LLVMSetExternallyInitialized)(raw, 1);
            (llvm.LLVMSetAlignment)(raw, (llvm.LLVMGetAlignment)(like.raw));
            Value::new(self.context, raw)
        }
    }

    /// Size and alignment in bytes of a global variable.
    pub(crate) fn global_layout(&self, global: Value<'c>) -> (usize, usize) {
        let llvm = self.context.llvm;
        // SAFETY: a live global of this module.
        unsafe {
            let layout = (llvm.LLVMGetModuleDataLayout)(self.raw);
            let size = (llvm.LLVMABISizeOfType)(layout, (llvm.LLVMGlobalGetValueType)(global.raw));
            (size as usize, (llvm.LLVMGetAlignment)(global.raw) as usize)
        }
    }

    /// How many bytes the local variable or the constant has in which an instruction computes an address; none for other instructions.
    pub(crate) fn bytes_around(&self, address: Value<'c>) -> Option<usize> {
        let llvm = self.context.llvm;
        // SAFETY: live values, asked for their kinds first; an address computation has its base as first operand.
        unsafe {
            let is_computed = |value| !(llvm.LLVMIsAGetElementPtrInst)(value).is_null();
            let mut base = address.raw;
            while is_computed(base) {
                base = (llvm.LLVMGetOperand)(base, 0);
            }
            let is_constant =
                !(llvm.LLVMIsAGlobalVariable)(base).is_null() && (llvm.LLVMIsGlobalConstant)(base) != 0;
            let whole = match () {
                () if !is_computed(address.raw) => return None,
                () if !(llvm.LLVMIsAAllocaInst)(base).is_null() => (llvm.LLVMGetAllocatedType)(base),
                () if is_constant => (llvm.LLVMGlobalGetValueType)(base),
                () => return None,
            };
            Some((llvm.LLVMABISizeOfType)((llvm.LLVMGetModuleDataLayout)(self.raw), whole) as usize)
        }
    }

    /// The size of the elements that an instruction computes an address in.
    pub(crate) fn element_bytes(&self, address: Value<'c>) -> u64 {
        let llvm = self.context.llvm;
        // SAFETY: a live instruction that computes an address, as the caller found.
        unsafe {
            let element = (llvm.LLVMGetGEPSourceElementType)(address.raw);
            (llvm.LLVMABISizeOfType)((llvm.LLVMGetModuleDataLayout)(self.raw), element)
        }
    }

    /// How far from its base an instruction computes an address, in bytes, if that is known.
    pub(crate) fn constant_offset(&self, address: Value<'c>) -> Option<u64> {
        let [_, index] = address.operands_of(Opcode::GET_ELEMENT_POINTER)?;
        index.constant_number()?.checked_mul(self.element_bytes(address))
    }

    /// Where in an array the element is that an instruction takes out of it, in bytes.
    pub(crate) fn element_offset(&self, extracted: Value<'c>) -> Option<u64> {
        const ARRAY: i32 = 11;
        let llvm = self.context.llvm;
        let [array] = extracted.operands_of(Opcode::EXTRACT_VALUE)?;
        // SAFETY: a live `extractvalue`, which has so many indices; elements of arrays are as far apart as they are large.
        unsafe {
            let is_of_array = (llvm.LLVMGetTypeKind)((llvm.LLVMTypeOf)(array.raw)) == ARRAY
                && (llvm.LLVMGetNumIndices)(extracted.raw) == 1;
            let layout = (llvm.LLVMGetModuleDataLayout)(self.raw);
            let bytes = (llvm.LLVMABISizeOfType)(layout, (llvm.LLVMTypeOf)(extracted.raw));
            is_of_array.then(|| u64::from(*(llvm.LLVMGetIndices)(extracted.raw)) * bytes)
        }
    }

    /// Size and alignment in bytes of a local variable of a known size.
    pub(crate) fn variable_layout(&self, variable: Value<'c>) -> Option<(u64, u64)> {
        let llvm = self.context.llvm;
        let [count] = variable.operands_of(Opcode::LOCAL_VARIABLE)?;
        // SAFETY: a live `alloca`, as was asked.
        let (bytes, align) = unsafe {
            let layout = (llvm.LLVMGetModuleDataLayout)(self.raw);
            let bytes = (llvm.LLVMABISizeOfType)(layout, (llvm.LLVMGetAllocatedType)(variable.raw));
            (bytes, (llvm.LLVMGetAlignment)(variable.raw).into())
        };
        Some((count.constant_number()?.checked_mul(bytes)?, align))
    }

    /// Size and alignment in bytes of each parameter of a function, as a launch passes them.
    pub(crate) fn parameter_layouts(&self, function: Value<'c>) -> Vec<(usize, usize)> {
        let llvm = self.context.llvm;
        // SAFETY: parameters of a live function; a `byval` attribute holds the type that is passed in place of the pointer.
        unsafe {
            let layout = (llvm.LLVMGetModuleDataLayout)(self.raw);
            let byval = self.context.attribute_kind("byval");
            (0..(llvm.LLVMCountParams)(function.raw))
                .map(|index| {
                    let attribute = (llvm.LLVMGetEnumAttributeAtIndex)(function.raw, index + 1, byval);
                    let passed = if attribute.is_null() {
                        (llvm.LLVMTypeOf)((llvm.LLVMGetParam)(function.raw, index))
                    } else {
                        (llvm.LLVMGetTypeAttributeValue)(attribute)
                    };
                    let size = (llvm.LLVMABISizeOfType)(layout, passed);
                    (size as usize, (llvm.LLVMABIAlignmentOfType)(layout, passed) as usize)
                })
                .collect()
        }
    }
}

impl Drop for Module<'_> {
    fn drop(&mut self) {
        // SAFETY: owned, and not handed to a call that takes modules over (those forget it).
        unsafe { (self.context.llvm.LLVMDisposeModule)(self.raw) };
    }
}

/// Bytes owned by LLVM.
pub(crate) struct Buffer<'c> {
    pub(super) context: &'c Context,
    pub(super) raw: *mut LLVMMemoryBuffer,
}

impl<'c> Buffer<'c> {
    fn copy(context: &'c Context, bytes: &[u8], name: &str) -> Self {
        let name = c_string(name);
        // SAFETY: LLVM copies the bytes and the name, and adds the NUL that its text parser wants.
        let raw = unsafe {
            let start: *const c_char = bytes.as_ptr().cast();
            (context.llvm.LLVMCreateMemoryBufferWithMemoryRangeCopy)(start, bytes.len(), name.as_ptr())
        };
        Self { context, raw }
    }

    /// A copy of the bytes.
    pub(crate) fn to_vec(&self) -> Vec<u8> {
        // SAFETY: the buffer is live and `size` bytes long.
        unsafe {
            let start: *const u8 = (self.context.llvm.LLVMGetBufferStart)(self.raw).cast();
            std::slice::from_raw_parts(start, (self.context.llvm.LLVMGetBufferSize)(self.raw)).to_vec()
        }
    }
}

impl Drop for Buffer<'_> {
    fn drop(&mut self) {
        // SAFETY: owned, and not handed to a call that takes buffers over (those forget it).
        unsafe { (self.context.llvm.LLVMDisposeMemoryBuffer)(self.raw) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::testing::llvm;

    /// A library with a function that returns what its private table holds. Every one has its table under the same name.
    fn library(function: &str, value: u32) -> String {
        format!(
            "@vtable.0 = private constant i32 {value}\n\
             define i32 @{function}() {{ %v = load i32, ptr @vtable.0\n ret i32 %v }}\n\
             define i32 @unneeded_{function}() {{ ret i32 {value} }}\n"
        )
    }

    #[test]
    fn private_tables_of_one_name_do_not_merge() {
        let context = Context::new(llvm());
        let caller = "declare i32 @one()\ndeclare i32 @two()\n\
                      define i32 @sum() { %a = call i32 @one()\n %b = call i32 @two()\n %c = add i32 %a, %b\n ret i32 %c }";
        let module = Module::from_text(&context, caller, "caller").unwrap();
        for (name, value) in [("one", 11), ("two", 22)] {
            let bitcode = Module::from_text(&context, &library(name, value), name).unwrap().to_bitcode();
            let library = Module::from_bitcode_lazily(&context, &bitcode, name).unwrap();
            module.link_needed(library, name).unwrap();
        }
        module.verify("the test").unwrap();
        let text = module.to_text();
        assert!(
            text.contains("private constant i32 11") && text.contains("private constant i32 22"),
            "{text}"
        );
        assert!(!text.contains("unneeded"), "{text}");
    }

    #[test]
    fn what_llvm_refuses_is_an_error_with_its_words() {
        let context = Context::new(llvm());
        let error = Module::from_text(&context, "define i32 @f() { ret i64 0 }", "nonsense").err().unwrap();
        assert!(error.to_string().starts_with("LLVM could not parse nonsense: "), "{error}");
        let error = Module::from_bitcode(&context, b"BC\xC0\xDEgarbage!", "garbage").err().unwrap();
        assert!(error.to_string().starts_with("LLVM could not read the bitcode garbage: "), "{error}");
    }
}

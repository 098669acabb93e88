//! What functions take and return, and a way from a function as it is declared to one that is defined with other types of the
//! same layout: compilers differ in the types by which they pass a struct.

use std::fmt;

use super::{
    Builder, Context, Module, Value,
    library::{LLVMType, LLVMValue},
};

/// What a function takes and returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Signature {
    returns: Option<Passed>,
    takes: Vec<Passed>,
}

/// One value.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Passed {
    class: Class,
    bytes: u64,
    align: u32,
}

/// How a struct is aligned that is returned: its type here does not tell.
const UNKNOWN: u32 = 0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Integer,
    Float,
    Pointer,
    Struct,
}

impl fmt::Display for Passed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.class {
            Class::Integer => write!(f, "i{}", self.bytes * 8),
            Class::Float => write!(f, "f{}", self.bytes * 8),
            Class::Pointer => f.write_str("pointer"),
            Class::Struct if self.align == UNKNOWN => write!(f, "{} bytes", self.bytes),
            Class::Struct => write!(f, "{} bytes aligned to {}", self.bytes, self.align),
        }
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let takes: Vec<_> = self.takes.iter().map(Passed::to_string).collect();
        write!(f, "({})", takes.join(", "))?;
        self.returns.as_ref().map_or(Ok(()), |returns| write!(f, " -> {returns}"))
    }
}

impl<'c> Module<'c> {
    /// What a function takes and returns.
    pub(crate) fn signature(&self, function: Value<'c>) -> Signature {
        let llvm = self.context.llvm;
        // SAFETY: a live function of this module.
        unsafe {
            let returned = (llvm.LLVMGetReturnType)((llvm.LLVMGlobalGetValueType)(function.raw));
            let void = (llvm.LLVMVoidTypeInContext)(self.context.raw);
            Signature {
                returns: (returned != void).then(|| Passed { align: UNKNOWN, ..self.passed(returned) }),
                takes: (0..function.parameter_count())
                    .map(|index| {
                        let by_value = by_value(self.context, function.raw, index);
                        let direct = || (llvm.LLVMTypeOf)((llvm.LLVMGetParam)(function.raw, index));
                        let align = by_value_align(self.context, function.raw, index);
                        let passed = self.passed(by_value.unwrap_or_else(direct));
                        // A struct is aligned as the attribute says; its type here may be one of bytes.
                        Passed { align: align.unwrap_or(passed.align), ..passed }
                    })
                    .collect(),
            }
        }
    }

    /// # Safety
    /// The type is of this module's context.
    unsafe fn passed(&self, ty: *mut LLVMType) -> Passed {
        let llvm = self.context.llvm;
        // SAFETY: as the caller promises.
        unsafe {
            let layout = (llvm.LLVMGetModuleDataLayout)(self.raw);
            // llvm-c/Core.h, `LLVMTypeKind`.
            let class = match (llvm.LLVMGetTypeKind)(ty) {
                1..=3 | 18 => Class::Float,
                8 => Class::Integer,
                12 => Class::Pointer,
                _ => Class::Struct,
            };
            let align = (llvm.LLVMABIAlignmentOfType)(layout, ty);
            Passed { class, bytes: (llvm.LLVMABISizeOfType)(layout, ty), align }
        }
    }

    /// Whether two functions have the same type to LLVM, so that a call of one can be one of the other.
    pub(crate) fn same_type(&self, a: Value<'c>, b: Value<'c>) -> bool {
        let llvm = self.context.llvm;
        // SAFETY: live functions of one context, where equal types are one.
        unsafe { (llvm.LLVMGlobalGetValueType)(a.raw) == (llvm.LLVMGlobalGetValueType)(b.raw) }
    }

    /// Gives a declared function a body that calls another one of the same [`Signature`].
    pub(crate) fn forward(&self, declared: Value<'c>, defined: Value<'c>) {
        let llvm = self.context.llvm;
        // SAFETY: both are live functions of this module with as many parameters; what differs in type is passed through memory that is
        // large and aligned enough for both.
        unsafe {
            let block = (llvm.LLVMAppendBasicBlockInContext)(self.context.raw, declared.raw, c"".as_ptr());
            let builder = Builder::new(self.context);
            (llvm.LLVMPositionBuilderAtEnd)(builder.raw, block);
            let mut arguments: Vec<_> = (0..defined.parameter_count())
                .map(|index| {
                    let value = (llvm.LLVMGetParam)(declared.raw, index);
                    let wanted = (llvm.LLVMTypeOf)((llvm.LLVMGetParam)(defined.raw, index));
                    let here = by_value(self.context, declared.raw, index);
                    match (here, by_value(self.context, defined.raw, index)) {
                        (None, Some(there)) => self.stored(&builder, value, there),
                        (Some(_), None) => (llvm.LLVMBuildLoad2)(builder.raw, wanted, value, c"".as_ptr()),
                        (None, None) => self.as_type(&builder, value, wanted),
                        (Some(_), Some(_)) => value,
                    }
                })
                .collect();
            let call = builder.call(defined.raw, &mut arguments);
            for index in 0..defined.parameter_count() {
                for name in ["byval", "align"] {
                    let kind = self.context.attribute_kind(name);
                    let attribute = (llvm.LLVMGetEnumAttributeAtIndex)(defined.raw, index + 1, kind);
                    if !attribute.is_null() {
                        (llvm.LLVMAddCallSiteAttribute)(call, index + 1, attribute);
                    }
                }
            }
            let returned = (llvm.LLVMGetReturnType)((llvm.LLVMGlobalGetValueType)(declared.raw));
            if returned == (llvm.LLVMVoidTypeInContext)(self.context.raw) {
                (llvm.LLVMBuildRetVoid)(builder.raw);
            } else {
                (llvm.LLVMBuildRet)(builder.raw, self.as_type(&builder, call, returned));
            }
        }
    }

    /// The bits of a value as one of another type of its size.
    ///
    /// # Safety
    /// The builder stands in a block; value and type are of its context.
    unsafe fn as_type(
        &self,
        builder: &Builder<'c>,
        value: *mut LLVMValue,
        wanted: *mut LLVMType,
    ) -> *mut LLVMValue {
        let llvm = self.context.llvm;
        // SAFETY: as the caller promises.
        unsafe {
            if (llvm.LLVMTypeOf)(value) == wanted {
                return value;
            }
            let memory = self.stored(builder, value, wanted);
            (llvm.LLVMBuildLoad2)(builder.raw, wanted, memory, c"".as_ptr())
        }
    }

    /// A value in new memory that is good for values of another type of its size, too.
    ///
    /// # Safety
    /// As for [`as_type`](Self::as_type).
    unsafe fn stored(
        &self,
        builder: &Builder<'c>,
        value: *mut LLVMValue,
        other: *mut LLVMType,
    ) -> *mut LLVMValue {
        const MOST: u32 = 16;
        let llvm = self.context.llvm;
        // SAFETY: as the caller promises.
        unsafe {
            let memory = (llvm.LLVMBuildAlloca)(builder.raw, other, c"".as_ptr());
            (llvm.LLVMSetAlignment)(memory, MOST);
            (llvm.LLVMBuildStore)(builder.raw, value, memory);
            memory
        }
    }
}

/// The type that is passed in place of the pointer, if a parameter is a copy in memory.
///
/// # Safety
/// The function is live and has this parameter.
unsafe fn by_value(context: &Context, function: *mut LLVMValue, index: u32) -> Option<*mut LLVMType> {
    let llvm = context.llvm;
    // SAFETY: as the caller promises.
    unsafe {
        let kind = context.attribute_kind("byval");
        let attribute = (llvm.LLVMGetEnumAttributeAtIndex)(function, index + 1, kind);
        (!attribute.is_null()).then(|| (llvm.LLVMGetTypeAttributeValue)(attribute))
    }
}

/// How such a copy is aligned, if the function says so.
///
/// # Safety
/// As for [`by_value`].
unsafe fn by_value_align(context: &Context, function: *mut LLVMValue, index: u32) -> Option<u32> {
    let llvm = context.llvm;
    // SAFETY: as the caller promises.
    unsafe {
        by_value(context, function, index)?;
        let attribute =
            (llvm.LLVMGetEnumAttributeAtIndex)(function, index + 1, context.attribute_kind("align"));
        (!attribute.is_null()).then(|| (llvm.LLVMGetEnumAttributeValue)(attribute) as u32)
    }
}

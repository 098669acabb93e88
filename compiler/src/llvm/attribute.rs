//! Attributes: what is said of functions, of calls and of what they return.

use std::ffi::c_uint;

use super::{Context, Value};

/// What an attribute belongs to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Position {
    /// The value that a function or call returns.
    Return,
    /// The function itself.
    Function,
    /// A parameter, counted from zero.
    Parameter(u32),
}

impl Position {
    pub(super) fn index(self) -> c_uint {
        match self {
            Self::Return => 0,
            Self::Function => c_uint::MAX,
            Self::Parameter(index) => 1 + index,
        }
    }
}

impl Context {
    /// LLVM's number for an attribute.
    pub(super) fn attribute_kind(&self, name: &str) -> c_uint {
        // SAFETY: reads `len` bytes of the name.
        unsafe { (self.llvm.LLVMGetEnumAttributeKindForName)(name.as_ptr().cast(), name.len()) }
    }
}

impl Value<'_> {
    /// Adds an attribute without a value, such as `alwaysinline`.
    pub(crate) fn add_attribute(self, name: &str) {
        let llvm = self.context.llvm;
        // SAFETY: an attribute of this context on a live function.
        unsafe {
            let attribute =
                (llvm.LLVMCreateEnumAttribute)(self.context.raw, self.context.attribute_kind(name), 0);
            (llvm.LLVMAddAttributeAtIndex)(self.raw, Position::Function.index(), attribute);
        }
    }

    /// Adds an attribute that is a pair of texts, such as `"nvvm.maxntid"="256"`.
    pub(crate) fn add_text_attribute(self, key: &str, value: &str) {
        let llvm = self.context.llvm;
        // SAFETY: both texts are copied.
        unsafe {
            let attribute = (llvm.LLVMCreateStringAttribute)(
                self.context.raw,
                key.as_ptr().cast(),
                key.len() as c_uint,
                value.as_ptr().cast(),
                value.len() as c_uint,
            );
            (llvm.LLVMAddAttributeAtIndex)(self.raw, Position::Function.index(), attribute);
        }
    }

    /// Whether a function has an attribute.
    pub(crate) fn has_attribute(self, position: Position, name: &str) -> bool {
        let llvm = self.context.llvm;
        let kind = self.context.attribute_kind(name);
        // SAFETY: a live function.
        unsafe { !(llvm.LLVMGetEnumAttributeAtIndex)(self.raw, position.index(), kind).is_null() }
    }

    /// The parameters of a function that have all of these attributes.
    pub(crate) fn parameters_with(self, attributes: &[&str]) -> Vec<Self> {
        let has_all =
            |index: &u32| attributes.iter().all(|name| self.has_attribute(Position::Parameter(*index), name));
        // SAFETY: a live function; the index is below the count.
        let parameter = |index| unsafe { (self.context.llvm.LLVMGetParam)(self.raw, index) };
        let indices = (0..self.parameter_count()).filter(has_all);
        indices.filter_map(|index| Self::new(self.context, parameter(index))).collect()
    }

    /// The value of an attribute that is a pair of texts, if the function has it.
    pub(crate) fn text_attribute(self, key: &str) -> Option<String> {
        let llvm = self.context.llvm;
        let position = Position::Function.index();
        // SAFETY: a live function; the key is read only; the value belongs to the context and is `len` bytes long.
        unsafe {
            let attribute = (llvm.LLVMGetStringAttributeAtIndex)(
                self.raw,
                position,
                key.as_ptr().cast(),
                key.len() as c_uint,
            );
            if attribute.is_null() {
                return None;
            }
            let mut len = 0;
            let start: *const u8 = (llvm.LLVMGetStringAttributeValue)(attribute, &mut len).cast();
            Some(String::from_utf8_lossy(std::slice::from_raw_parts(start, len as usize)).into_owned())
        }
    }

    /// How many bytes the last parameter of a function points to, where that is known.
    pub(crate) fn last_parameter_bytes(self) -> Option<u64> {
        let llvm = self.context.llvm;
        let kind = self.context.attribute_kind("dereferenceable");
        // SAFETY: a live function; its last parameter has as number their count, because 0 is what it returns.
        unsafe {
            let last = (llvm.LLVMCountParams)(self.raw);
            let attribute = (llvm.LLVMGetEnumAttributeAtIndex)(self.raw, last, kind);
            (last != 0 && !attribute.is_null()).then(|| (llvm.LLVMGetEnumAttributeValue)(attribute))
        }
    }

    /// Removes an attribute without a value, if the function has it.
    pub(crate) fn remove_attribute(self, name: &str) {
        let kind = self.context.attribute_kind(name);
        // SAFETY: a live function.
        unsafe {
            (self.context.llvm.LLVMRemoveEnumAttributeAtIndex)(self.raw, Position::Function.index(), kind);
        }
    }

    /// Removes an attribute that is a pair of texts, if the function has it.
    pub(crate) fn remove_text_attribute(self, key: &str) {
        let llvm = self.context.llvm;
        // SAFETY: a live function; the key is read only.
        unsafe {
            let position = Position::Function.index();
            (llvm.LLVMRemoveStringAttributeAtIndex)(
                self.raw,
                position,
                key.as_ptr().cast(),
                key.len() as c_uint,
            );
        }
    }

    /// Adds an attribute without a value to a call.
    pub(crate) fn add_call_attribute(self, name: &str) {
        let llvm = self.context.llvm;
        // SAFETY: an attribute of this context on a live call.
        unsafe {
            let attribute =
                (llvm.LLVMCreateEnumAttribute)(self.context.raw, self.context.attribute_kind(name), 0);
            (llvm.LLVMAddCallSiteAttribute)(self.raw, Position::Function.index(), attribute);
        }
    }

    /// Removes an attribute without a value, if the call has it.
    pub(crate) fn remove_call_attribute(self, name: &str) {
        let kind = self.context.attribute_kind(name);
        // SAFETY: a live call.
        unsafe {
            (self.context.llvm.LLVMRemoveCallSiteEnumAttribute)(self.raw, Position::Function.index(), kind);
        }
    }

    /// Promises that a call returns a 32-bit value in `low..high`.
    pub(crate) fn set_returned_range(self, low: u32, high: u32) {
        let llvm = self.context.llvm;
        let (low, high) = (u64::from(low), u64::from(high));
        // SAFETY: a live call of 32-bit type; the bounds are one word each and are copied.
        unsafe {
            let kind = self.context.attribute_kind("range");
            let attribute = (llvm.LLVMCreateConstantRangeAttribute)(self.context.raw, kind, 32, &low, &high);
            (llvm.LLVMAddCallSiteAttribute)(self.raw, Position::Return.index(), attribute);
        }
    }
}

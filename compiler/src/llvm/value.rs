//! Values: globals, functions, instructions and constants of a module.

use std::ffi::{CStr, c_uint};

use super::{Comparison, Context, Opcode, library::LLVMValue};

/// A value of a module. Two are equal if they are the same value.
#[derive(Clone, Copy)]
pub(crate) struct Value<'c> {
    pub(super) context: &'c Context,
    pub(super) raw: *mut LLVMValue,
}

impl PartialEq for Value<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.raw == other.raw
    }
}

impl Eq for Value<'_> {}

impl std::hash::Hash for Value<'_> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.raw.hash(state);
    }
}

/// How a symbol is seen from outside its module.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Linkage {
    /// By everyone.
    External = 0,
    /// By everyone, and dropped if nobody needs it; linking another module in moves it only if that one needs it.
    OnDemand = 3,
    /// By nobody.
    Internal = 8,
}

/// A copy of memory.
#[derive(Clone, Debug)]
pub(crate) struct PlainCopy {
    pub(crate) bytes: u64,
    /// Of both sides.
    pub(crate) align: u64,
}

/// A part of a copy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CopyPart {
    pub(crate) offset: u64,
    /// 16, or as many as an integer can have.
    pub(crate) bytes: u64,
}

impl Context {
    /// LLVM's number for a kind of metadata.
    pub(super) fn metadata_kind(&self, name: &str) -> c_uint {
        // SAFETY: reads `len` bytes of the name.
        unsafe { (self.llvm.LLVMGetMDKindIDInContext)(self.raw, name.as_ptr().cast(), name.len() as c_uint) }
    }
}

impl<'c> Value<'c> {
    /// A value of this context, or none for LLVM's null.
    pub(super) fn new(context: &'c Context, raw: *mut LLVMValue) -> Option<Self> {
        (!raw.is_null()).then_some(Self { context, raw })
    }

    /// A number that no other value of its context has, for an order among them.
    pub(crate) fn identity(self) -> usize {
        self.raw as usize
    }

    /// Its name in the module.
    pub(crate) fn name(self) -> String {
        let mut len = 0;
        // SAFETY: the name belongs to the live value and is `len` bytes long.
        let bytes = unsafe {
            let start: *const u8 = (self.context.llvm.LLVMGetValueName2)(self.raw, &mut len).cast();
            std::slice::from_raw_parts(start, len)
        };
        String::from_utf8_lossy(bytes).into_owned()
    }

    /// Renames it; LLVM appends a number if the name is taken.
    pub(crate) fn set_name(self, name: &str) {
        // SAFETY: the name is copied.
        unsafe { (self.context.llvm.LLVMSetValueName2)(self.raw, name.as_ptr().cast(), name.len()) };
    }

    /// The section that a global or function asks for; empty if none.
    pub(crate) fn section(self) -> String {
        // SAFETY: a live global; the text belongs to it and may be null.
        unsafe {
            let section = (self.context.llvm.LLVMGetSection)(self.raw);
            if section.is_null() {
                String::new()
            } else {
                CStr::from_ptr(section).to_string_lossy().into_owned()
            }
        }
    }

    /// Takes the section away.
    pub(crate) fn clear_section(self) {
        // SAFETY: a live global.
        unsafe { (self.context.llvm.LLVMSetSection)(self.raw, c"".as_ptr()) };
    }

    /// Whether a function or global has no body here.
    pub(crate) fn is_declaration(self) -> bool {
        // SAFETY: a live global value.
        unsafe { (self.context.llvm.LLVMIsDeclaration)(self.raw) != 0 }
    }

    /// Whether anything uses it.
    pub(crate) fn is_used(self) -> bool {
        // SAFETY: a live value.
        unsafe { !(self.context.llvm.LLVMGetFirstUse)(self.raw).is_null() }
    }

    /// Whether a function or global is seen by nobody outside of its module.
    pub(crate) fn is_local(self) -> bool {
        const PRIVATE: i32 = 9;
        // SAFETY: a live global value.
        let linkage = unsafe { (self.context.llvm.LLVMGetLinkage)(self.raw) };
        linkage == Linkage::Internal as i32 || linkage == PRIVATE
    }

    /// Whether several modules may define it, all the same, such as a template's instance.
    pub(crate) fn is_mergeable(self) -> bool {
        const ONCE_OR_WEAK: std::ops::RangeInclusive<i32> = 2..=6;
        // SAFETY: a live global value.
        ONCE_OR_WEAK.contains(&unsafe { (self.context.llvm.LLVMGetLinkage)(self.raw) })
    }

    /// Sets the alignment of a global variable, in bytes: a power of two.
    pub(crate) fn set_alignment(self, align: usize) {
        // SAFETY: a live global variable, as the caller says.
        unsafe { (self.context.llvm.LLVMSetAlignment)(self.raw, align as u32) }
    }

    pub(crate) fn set_linkage(self, linkage: Linkage) {
        const DEFAULT_VISIBILITY: i32 = 0;
        // SAFETY: a live global value. Internal symbols must have default visibility, external ones of ours do.
        unsafe {
            (self.context.llvm.LLVMSetVisibility)(self.raw, DEFAULT_VISIBILITY);
            (self.context.llvm.LLVMSetLinkage)(self.raw, linkage as i32);
        }
    }

    /// Makes a function an entry that the driver launches: `ptx_kernel`, 71 in LLVM's list of calling conventions.
    pub(crate) fn set_kernel_calling_convention(self) {
        const PTX_KERNEL: c_uint = 71;
        // SAFETY: a live function.
        unsafe { (self.context.llvm.LLVMSetFunctionCallConv)(self.raw, PTX_KERNEL) };
    }

    /// Whether a global variable keeps the value that it starts with.
    pub(crate) fn is_constant_variable(self) -> bool {
        // SAFETY: a live global variable.
        unsafe { (self.context.llvm.LLVMIsGlobalConstant)(self.raw) != 0 }
    }

    /// What a global starts with.
    pub(crate) fn initializer(self) -> Option<Self> {
        // SAFETY: a live global variable.
        Self::new(self.context, unsafe { (self.context.llvm.LLVMGetInitializer)(self.raw) })
    }

    /// The values that this one is made of.
    pub(crate) fn operands(self) -> impl Iterator<Item = Self> {
        // SAFETY: a live user or constant; the index is below the count.
        let count = unsafe { (self.context.llvm.LLVMGetNumOperands)(self.raw) }.max(0) as c_uint;
        (0..count).filter_map(move |index| {
            // SAFETY: as above.
            Self::new(self.context, unsafe { (self.context.llvm.LLVMGetOperand)(self.raw, index) })
        })
    }

    /// The generic pointers that an instruction computes a generic pointer from, each with its place among the operands, if it is one of
    /// those through which LLVM follows address spaces: a choice, an offset, a mask.
    pub(crate) fn pointers_within(self) -> Option<Vec<(c_uint, Self)>> {
        let (skipped, count) = match self.opcode() {
            Opcode::PHI => (0, usize::MAX),
            Opcode::SELECT => (1, 2),
            Opcode::GET_ELEMENT_POINTER => (0, 1),
            Opcode::CALL if self.called()?.name().starts_with("llvm.ptrmask.") => (0, 1),
            _ => return None,
        };
        let of_pointers = self.type_name();
        let is_generic = of_pointers == "ptr" || of_pointers.ends_with(" x ptr>");
        is_generic.then(|| (0..).zip(self.operands()).skip(skipped).take(count).collect())
    }

    /// Replaces an operand of an instruction by a value of the same type.
    pub(crate) fn set_operand(self, index: c_uint, value: Self) {
        // SAFETY: a live instruction that has this operand; both values are of one context.
        unsafe { (self.context.llvm.LLVMSetOperand)(self.raw, index, value.raw) };
    }

    /// Whether a constant is an address in a special address space, as a generic pointer.
    pub(crate) fn is_cast_from_address_space(self) -> bool {
        match self.constant_opcode() {
            Some(Opcode::ADDRESS_SPACE_CAST) => true,
            Some(Opcode::GET_ELEMENT_POINTER) => {
                self.operands().next().is_some_and(Self::is_cast_from_address_space)
            }
            _ => false,
        }
    }

    /// Whether an instruction is a fence for the compiler alone (`compiler_fence`).
    pub(crate) fn is_compiler_fence(self) -> bool {
        // SAFETY: a live instruction, asked for its kind first.
        self.opcode() == Opcode::FENCE
            && unsafe { (self.context.llvm.LLVMIsAtomicSingleThread)(self.raw) } != 0
    }

    /// The bytes of a constant array of bytes.
    pub(crate) fn constant_bytes(self) -> Option<Vec<u8>> {
        let llvm = self.context.llvm;
        // SAFETY: asked for its kind first; the bytes belong to the constant.
        unsafe {
            if (llvm.LLVMIsAConstantDataSequential)(self.raw).is_null() {
                return None;
            }
            let mut len = 0;
            let start: *const u8 = (llvm.LLVMGetAsString)(self.raw, &mut len).cast();
            Some(std::slice::from_raw_parts(start, len).to_vec())
        }
    }

    pub(crate) fn is_function(self) -> bool {
        // SAFETY: a live value.
        unsafe { !(self.context.llvm.LLVMIsAFunction)(self.raw).is_null() }
    }

    /// Whether what a call calls is inline assembly.
    pub(crate) fn is_inline_assembly(self) -> bool {
        // SAFETY: a live value.
        unsafe { !(self.context.llvm.LLVMIsAInlineAsm)(self.raw).is_null() }
    }

    pub(crate) fn is_global_variable(self) -> bool {
        // SAFETY: a live value.
        unsafe { !(self.context.llvm.LLVMIsAGlobalVariable)(self.raw).is_null() }
    }

    pub(crate) fn is_constant(self) -> bool {
        // SAFETY: a live value.
        unsafe { !(self.context.llvm.LLVMIsAConstant)(self.raw).is_null() }
    }

    /// The instructions of a function.
    pub(crate) fn instructions(self) -> Vec<Self> {
        let mut all = Vec::new();
        let mut block = self.first_block();
        while let Some(current) = block {
            all.extend(current.instructions());
            block = current.next();
        }
        all
    }

    /// Whether an instruction most likely takes one of the processor: not if it only says what a value is, or that it is part of
    /// another one.
    pub(crate) fn takes_an_instruction(self) -> bool {
        const SAYINGS: [&str; 4] =
            ["llvm.assume", "llvm.dbg.", "llvm.experimental.noalias", "llvm.lifetime."];
        let says = |called: Self| SAYINGS.iter().any(|start| called.name().starts_with(start));
        !self.opcode().is_free() && !self.called().is_some_and(says)
    }

    /// What a call instruction calls; none for other instructions.
    pub(crate) fn called(self) -> Option<Self> {
        let llvm = self.context.llvm;
        // SAFETY: asked for its kind first.
        unsafe {
            if (llvm.LLVMIsACallInst)(self.raw).is_null() {
                return None;
            }
            Self::new(self.context, (llvm.LLVMGetCalledValue)(self.raw))
        }
    }

    /// Whether it is a constant of which every bit is 0.
    pub(crate) fn is_zero(self) -> bool {
        // SAFETY: a live value.
        unsafe { (self.context.llvm.LLVMIsNull)(self.raw) != 0 }
    }

    /// The number that a constant is.
    pub(crate) fn constant_number(self) -> Option<u64> {
        let llvm = self.context.llvm;
        // SAFETY: asked for its kind first.
        unsafe {
            let is_number = !(llvm.LLVMIsAConstantInt)(self.raw).is_null();
            is_number.then(|| (llvm.LLVMConstIntGetZExtValue)(self.raw))
        }
    }

    /// Whether it is the constant whose bits are all set.
    pub(crate) fn is_minus_one(self) -> bool {
        let most = self.integer_bits().and_then(|bits| u64::MAX.checked_shr(64_u32.checked_sub(bits)?));
        most.is_some() && self.constant_number() == most
    }

    /// The constant that an instruction adds to this value.
    pub(crate) fn added_by(self, instruction: Self) -> Option<u64> {
        self.constant_beside(instruction, Opcode::ADD)
    }

    /// The constant that an instruction compares this value with.
    pub(crate) fn compared_by(self, instruction: Self) -> Option<u64> {
        self.constant_beside(instruction, Opcode::COMPARE)
    }

    /// The constant that a comparison asks whether this value is, and whether it asks for equality and not for the opposite.
    pub(crate) fn equality_by(self, comparison: Self) -> Option<(bool, u64)> {
        let number = self.compared_by(comparison)?;
        match comparison.comparison()? {
            Comparison::EQUAL => Some((true, number)),
            Comparison::NOT_EQUAL => Some((false, number)),
            _ => None,
        }
    }

    /// The second operand of an instruction that does this with the value as first one. LLVM writes constants last.
    fn constant_beside(self, instruction: Self, opcode: Opcode) -> Option<u64> {
        let [value, constant] = instruction.operands_of(opcode)?;
        if value == self { constant.constant_number() } else { None }
    }

    /// The operands of an instruction that does this with so many; none of other values.
    pub(crate) fn operands_of<const N: usize>(self, opcode: Opcode) -> Option<[Self; N]> {
        self.block()?;
        if self.opcode() != opcode {
            return None;
        }
        self.operands().collect::<Vec<_>>().try_into().ok()
    }

    /// Whether an address is one inside a local variable.
    pub(crate) fn is_in_local_variable(self) -> bool {
        let llvm = self.context.llvm;
        let mut base = self.raw;
        // SAFETY: live values; an address computation has its base as first operand.
        unsafe {
            while !(llvm.LLVMIsAGetElementPtrInst)(base).is_null() {
                base = (llvm.LLVMGetOperand)(base, 0);
            }
            !(llvm.LLVMIsAAllocaInst)(base).is_null()
        }
    }

    /// What a call copies, if it is a `memcpy` of a known length that nothing forbids to split.
    pub(crate) fn plain_copy(self) -> Option<PlainCopy> {
        if !self.called()?.name().starts_with("llvm.memcpy.p0.p0.") {
            return None;
        }
        let mut arguments = self.operands().skip(2);
        let (bytes, is_volatile) =
            (arguments.next()?.constant_number()?, arguments.next()?.constant_number()?);
        let kind = self.context.attribute_kind("align");
        let align = |argument: c_uint| {
            // SAFETY: a live call; positions of arguments count from 1.
            unsafe {
                let attribute = (self.context.llvm.LLVMGetCallSiteEnumAttribute)(self.raw, argument, kind);
                if attribute.is_null() { 1 } else { (self.context.llvm.LLVMGetEnumAttributeValue)(attribute) }
            }
        };
        (is_volatile == 0).then(|| PlainCopy { bytes, align: align(1).min(align(2)) })
    }

    /// Its type as LLVM writes it: `float`, `<2 x double>`.
    pub(crate) fn type_name(self) -> String {
        let llvm = self.context.llvm;
        // SAFETY: a live value; the text is ours to free.
        let text = unsafe { (llvm.LLVMPrintTypeToString)((llvm.LLVMTypeOf)(self.raw)) };
        self.context.take_message(text).unwrap_or_default()
    }

    /// How many bits it has, if it is one integer.
    pub(crate) fn integer_bits(self) -> Option<u32> {
        self.type_name().strip_prefix('i')?.parse().ok()
    }

    /// Whether a zero extension says that what it widens is not negative as a signed number.
    pub(crate) fn widens_natural(self) -> bool {
        // SAFETY: a live instruction, asked for its kind first.
        self.opcode() == Opcode::ZERO_EXTEND && unsafe { (self.context.llvm.LLVMGetNNeg)(self.raw) != 0 }
    }

    /// Whether LLVM knows of a sum, a difference, a product or a shift to the left that its operands and its result fit, as numbers without a sign.
    pub(crate) fn does_not_wrap(self) -> bool {
        // SAFETY: a live instruction, asked for its kind first.
        self.opcode().may_wrap() && unsafe { (self.context.llvm.LLVMGetNUW)(self.raw) != 0 }
    }

    /// Whether LLVM knows so of them as numbers with a sign.
    pub(crate) fn does_not_overflow(self) -> bool {
        // SAFETY: a live instruction, asked for its kind first.
        self.opcode().may_wrap() && unsafe { (self.context.llvm.LLVMGetNSW)(self.raw) != 0 }
    }

    /// Says of a sum that it does not wrap.
    pub(crate) fn set_does_not_wrap(self) {
        // SAFETY: a live sum, as the caller says.
        unsafe { (self.context.llvm.LLVMSetNUW)(self.raw, 1) }
    }

    /// Whether an address is computed from another one within an object, so that it does not wrap round.
    pub(crate) fn is_in_bounds(self) -> bool {
        // SAFETY: a live instruction, asked for its kind first.
        self.opcode() == Opcode::GET_ELEMENT_POINTER
            && unsafe { (self.context.llvm.LLVMIsInBounds)(self.raw) != 0 }
    }

    /// Whether it is a difference of unsigned numbers that is zero instead of negative.
    pub(crate) fn is_saturating_difference(self) -> bool {
        self.called().is_some_and(|called| called.name().starts_with("llvm.usub.sat.i"))
    }

    /// Whether no bit is set in both operands of an `or`, which is a sum then.
    pub(crate) fn is_disjoint(self) -> bool {
        // SAFETY: a live instruction, asked for its kind first.
        self.opcode() == Opcode::OR && unsafe { (self.context.llvm.LLVMGetIsDisjoint)(self.raw) != 0 }
    }

    /// Lets the code generator fuse a multiplication and an addition into one instruction.
    pub(crate) fn allow_contraction(self) {
        const ALLOW_CONTRACT: c_uint = 1 << 5;
        let llvm = self.context.llvm;
        // SAFETY: flags are set only where LLVM says the instruction has them.
        unsafe {
            if (llvm.LLVMCanValueUseFastMathFlags)(self.raw) != 0 {
                let flags = (llvm.LLVMGetFastMathFlags)(self.raw);
                (llvm.LLVMSetFastMathFlags)(self.raw, flags | ALLOW_CONTRACT);
            }
        }
    }

    /// The address of a load that is neither volatile nor atomic.
    pub(crate) fn plainly_loaded_from(self) -> Option<Self> {
        if self.is_plain(Opcode::LOAD) { self.operands().next() } else { None }
    }

    /// What a store that is neither volatile nor atomic writes to this address; an address may be stored, too.
    pub(crate) fn plainly_stored_at(self, address: Self) -> Option<Self> {
        let [stored, at] = self.operands_of(Opcode::STORE)?;
        (self.is_plain(Opcode::STORE) && at == address && stored != address).then_some(stored)
    }

    /// Whether it is a load or a store, whichever is asked for, that is neither volatile nor atomic.
    fn is_plain(self, opcode: Opcode) -> bool {
        const NOT_ATOMIC: i32 = 0;
        let llvm = self.context.llvm;
        // SAFETY: a live value, asked whether it is a load or a store first.
        self.opcode() == opcode
            && unsafe {
                (llvm.LLVMGetVolatile)(self.raw) == 0 && (llvm.LLVMGetOrdering)(self.raw) == NOT_ATOMIC
            }
    }

    /// Says of a load that nobody writes there as long as the program runs.
    pub(crate) fn mark_as_invariant(self) {
        let (context, llvm) = (self.context, self.context.llvm);
        // SAFETY: a live load and its context; the node is empty.
        unsafe {
            let node = (llvm.LLVMMDNodeInContext2)(context.raw, std::ptr::null_mut(), 0);
            let value = (llvm.LLVMMetadataAsValue)(context.raw, node);
            (llvm.LLVMSetMetadata)(self.raw, context.metadata_kind("invariant.load"), value);
        }
    }

    /// How many parameters a function has.
    pub(crate) fn parameter_count(self) -> u32 {
        // SAFETY: a live function.
        unsafe { (self.context.llvm.LLVMCountParams)(self.raw) }
    }

    /// The number of the parameter that a value is, from 0.
    pub(crate) fn parameter_index(self, value: Self) -> Option<u32> {
        // SAFETY: a live function; the index is below the count.
        (0..self.parameter_count())
            .find(|index| unsafe { (self.context.llvm.LLVMGetParam)(self.raw, *index) } == value.raw)
    }

    /// Replaces every use of a value of at most 32 bits by a constant.
    pub(crate) fn replace_by_constant(self, constant: u32) {
        let llvm = self.context.llvm;
        // SAFETY: the type is that of the value replaced.
        unsafe {
            let constant = (llvm.LLVMConstInt)((llvm.LLVMTypeOf)(self.raw), constant.into(), 0);
            (llvm.LLVMReplaceAllUsesWith)(self.raw, constant);
        }
    }

    /// A constant of the type of an integer.
    pub(crate) fn like(self, number: u64) -> Self {
        let llvm = self.context.llvm;
        // SAFETY: the type of a live integer.
        let raw = unsafe { (llvm.LLVMConstInt)((llvm.LLVMTypeOf)(self.raw), number, 0) };
        Self { context: self.context, raw }
    }

    /// Gives an integer global its value.
    pub(crate) fn set_number(self, number: u32) {
        let llvm = self.context.llvm;
        // SAFETY: a live global variable, and a constant of its type.
        unsafe {
            let constant = (llvm.LLVMConstInt)((llvm.LLVMGlobalGetValueType)(self.raw), number.into(), 0);
            (llvm.LLVMSetInitializer)(self.raw, constant);
        }
    }

    /// Replaces every use of a global by another one in a special address space, cast to a generic pointer.
    pub(crate) fn replace_by_cast_of(self, other: Value<'c>) {
        let llvm = self.context.llvm;
        // SAFETY: the cast has the type of the value replaced.
        unsafe {
            let cast = (llvm.LLVMConstAddrSpaceCast)(other.raw, (llvm.LLVMTypeOf)(self.raw));
            (llvm.LLVMReplaceAllUsesWith)(self.raw, cast);
        }
    }

    /// Replaces every use of a function or global by another one of the same type.
    pub(crate) fn replace_by(self, other: Value<'c>) {
        // SAFETY: both are live pointers of this context.
        unsafe { (self.context.llvm.LLVMReplaceAllUsesWith)(self.raw, other.raw) };
    }

    /// Erases an instruction that nothing uses. `self` and copies of it must not be used again.
    pub(crate) fn erase(self) {
        // SAFETY: a live instruction without uses.
        unsafe { (self.context.llvm.LLVMInstructionEraseFromParent)(self.raw) };
    }

    /// Deletes a function that nothing uses. `self` and copies of it must not be used again.
    pub(crate) fn delete_function(self) {
        // SAFETY: a live function without uses.
        unsafe { (self.context.llvm.LLVMDeleteFunction)(self.raw) };
    }

    /// Deletes a global variable that nothing uses. `self` and copies of it must not be used again.
    pub(crate) fn delete_global(self) {
        // SAFETY: a live global variable without uses.
        unsafe { (self.context.llvm.LLVMDeleteGlobal)(self.raw) };
    }
}

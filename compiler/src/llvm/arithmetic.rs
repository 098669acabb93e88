//! Arithmetic of numbers of 64 bits, without a sign where nothing else is said, which linking adds to a module.

use super::{Builder, Comparison, Module, Value, library::LLVMValue};

/// Adds arithmetic before an instruction.
pub(crate) struct Arithmetic<'c> {
    builder: Builder<'c>,
    before: Value<'c>,
}

impl<'c> Module<'c> {
    /// For what is computed right before an instruction.
    pub(crate) fn arithmetic(&self, before: Value<'c>) -> Arithmetic<'c> {
        let builder = Builder::new(self.context);
        // SAFETY: a live instruction.
        unsafe { (self.context.llvm.LLVMPositionBuilderBefore)(builder.raw, before.raw) };
        Arithmetic { builder, before }
    }
}

impl<'c> Arithmetic<'c> {
    fn value(&self, raw: *mut LLVMValue) -> Option<Value<'c>> {
        Value::new(self.before.context, raw)
    }

    /// A constant.
    pub(crate) fn constant(&self, number: u64) -> Option<Value<'c>> {
        let (context, llvm) = (self.before.context, self.before.context.llvm);
        // SAFETY: the type is of the context.
        self.value(unsafe { (llvm.LLVMConstInt)((llvm.LLVMInt64TypeInContext)(context.raw), number, 0) })
    }

    /// A number of at most 64 bits in 64.
    pub(crate) fn wide(&self, number: Value<'c>) -> Option<Value<'c>> {
        let (context, llvm) = (self.before.context, self.before.context.llvm);
        match number.integer_bits()? {
            64 => Some(number),
            // SAFETY: a live integer of less bits, which is there as the caller of the others says.
            ..64 => self.value(unsafe {
                let wide = (llvm.LLVMInt64TypeInContext)(context.raw);
                (llvm.LLVMBuildZExt)(self.builder.raw, number.raw, wide, c"".as_ptr())
            }),
            _ => None,
        }
    }

    /// A number of 32 bits in 64, with its sign or without one.
    pub(crate) fn extended(&self, number: Value<'c>, is_signed: bool) -> Option<Value<'c>> {
        let (context, llvm) = (self.before.context, self.before.context.llvm);
        let build = if is_signed { llvm.LLVMBuildSExt } else { llvm.LLVMBuildZExt };
        // SAFETY: a live integer of 32 bits that is there before the instruction, as the caller says.
        self.value(unsafe {
            let wide = (llvm.LLVMInt64TypeInContext)(context.raw);
            build(self.builder.raw, number.raw, wide, c"".as_ptr())
        })
    }

    /// The lower 32 bits of a number of 64.
    pub(crate) fn short(&self, number: Value<'c>) -> Option<Value<'c>> {
        let (context, llvm) = (self.before.context, self.before.context.llvm);
        // SAFETY: a live integer of 64 bits that is there before the instruction, as the caller says.
        self.value(unsafe {
            let short = (llvm.LLVMInt32TypeInContext)(context.raw);
            (llvm.LLVMBuildTrunc)(self.builder.raw, number.raw, short, c"".as_ptr())
        })
    }

    /// `left - right`, which may wrap.
    pub(crate) fn difference(&self, left: Value<'c>, right: Value<'c>) -> Option<Value<'c>> {
        let build = self.before.context.llvm.LLVMBuildSub;
        // SAFETY: live integers of one type that are there before the instruction, as the caller says.
        self.value(unsafe { build(self.builder.raw, left.raw, right.raw, c"".as_ptr()) })
    }

    /// `left - right`, or zero where that would be negative.
    pub(crate) fn saturating_difference(&self, left: Value<'c>, right: Value<'c>) -> Option<Value<'c>> {
        let is_positive = self.compare(left, Comparison::UNSIGNED_GREATER, right)?;
        let (difference, zero) = (self.difference(left, right)?, left.like(0));
        let build = self.before.context.llvm.LLVMBuildSelect;
        // SAFETY: as above.
        self.value(unsafe {
            build(self.builder.raw, is_positive.raw, difference.raw, zero.raw, c"".as_ptr())
        })
    }

    /// `left + right`, which may wrap.
    pub(crate) fn sum(&self, left: Value<'c>, right: Value<'c>) -> Option<Value<'c>> {
        let build = self.before.context.llvm.LLVMBuildAdd;
        // SAFETY: as above.
        self.value(unsafe { build(self.builder.raw, left.raw, right.raw, c"".as_ptr()) })
    }

    /// `number / divisor`, of numbers without a sign.
    pub(crate) fn quotient(&self, number: Value<'c>, divisor: u64) -> Option<Value<'c>> {
        let build = self.before.context.llvm.LLVMBuildUDiv;
        // SAFETY: as above.
        self.value(unsafe { build(self.builder.raw, number.raw, number.like(divisor).raw, c"".as_ptr()) })
    }

    /// An address as a number.
    pub(crate) fn number_of(&self, address: Value<'c>) -> Option<Value<'c>> {
        let (context, llvm) = (self.before.context, self.before.context.llvm);
        // SAFETY: as above, a live address.
        self.value(unsafe {
            let number = (llvm.LLVMInt64TypeInContext)(context.raw);
            (llvm.LLVMBuildPtrToInt)(self.builder.raw, address.raw, number, c"".as_ptr())
        })
    }

    /// `left · right`, which may wrap.
    pub(crate) fn product(&self, left: Value<'c>, right: Value<'c>) -> Option<Value<'c>> {
        let build = self.before.context.llvm.LLVMBuildMul;
        // SAFETY: as above.
        self.value(unsafe { build(self.builder.raw, left.raw, right.raw, c"".as_ptr()) })
    }

    /// Whether both hold.
    pub(crate) fn both(&self, left: Value<'c>, right: Value<'c>) -> Option<Value<'c>> {
        let build = self.before.context.llvm.LLVMBuildAnd;
        // SAFETY: as above.
        self.value(unsafe { build(self.builder.raw, left.raw, right.raw, c"".as_ptr()) })
    }

    /// Whether one of both holds.
    pub(crate) fn either(&self, left: Value<'c>, right: Value<'c>) -> Option<Value<'c>> {
        let build = self.before.context.llvm.LLVMBuildOr;
        // SAFETY: as above.
        self.value(unsafe { build(self.builder.raw, left.raw, right.raw, c"".as_ptr()) })
    }

    /// Whether a condition does not hold.
    pub(crate) fn not(&self, condition: Value<'c>) -> Option<Value<'c>> {
        let build = self.before.context.llvm.LLVMBuildNot;
        // SAFETY: as above.
        self.value(unsafe { build(self.builder.raw, condition.raw, c"".as_ptr()) })
    }

    /// What two numbers are asked.
    pub(crate) fn compare(
        &self,
        left: Value<'c>,
        comparison: Comparison,
        right: Value<'c>,
    ) -> Option<Value<'c>> {
        let build = self.before.context.llvm.LLVMBuildICmp;
        // SAFETY: as above.
        self.value(unsafe { build(self.builder.raw, comparison.0, left.raw, right.raw, c"".as_ptr()) })
    }

    /// The condition, or one of both if it is computed from what has no value.
    pub(crate) fn some_value(&self, condition: Value<'c>) -> Option<Value<'c>> {
        let build = self.before.context.llvm.LLVMBuildFreeze;
        // SAFETY: as above.
        self.value(unsafe { build(self.builder.raw, condition.raw, c"".as_ptr()) })
    }
}

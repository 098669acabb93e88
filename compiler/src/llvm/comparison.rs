//! Comparisons of integers, by LLVM's numbers.

use super::{Builder, Module, Opcode, Value, library::LLVMValue};

/// What a comparison asks about two integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Comparison(pub(super) i32);

/// llvm-c/Core.h, `LLVMIntPredicate`.
impl Comparison {
    pub(crate) const EQUAL: Self = Self(32);
    pub(crate) const NOT_EQUAL: Self = Self(33);
    pub(crate) const UNSIGNED_GREATER: Self = Self(34);
    pub(crate) const UNSIGNED_GREATER_EQUAL: Self = Self(35);
    pub(crate) const UNSIGNED_LESS: Self = Self(36);
    pub(crate) const UNSIGNED_LESS_EQUAL: Self = Self(37);
    pub(crate) const SIGNED_GREATER: Self = Self(38);
    pub(crate) const SIGNED_LESS: Self = Self(40);
    const SIGNED_LESS_EQUAL: Self = Self(41);

    /// All of them.
    #[cfg(test)]
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        (Self::EQUAL.0..=Self::SIGNED_LESS_EQUAL.0).map(Self)
    }

    /// What it says of two numbers, given how they compare as unsigned and as signed ones.
    #[cfg(test)]
    pub(crate) fn holds(self, unsigned: std::cmp::Ordering, signed: std::cmp::Ordering) -> bool {
        let ordering = if self.is_signed() { signed } else { unsigned };
        match self.of_unsigned().0 {
            32 => ordering.is_eq(),
            33 => ordering.is_ne(),
            34 => ordering.is_gt(),
            35 => ordering.is_ge(),
            36 => ordering.is_lt(),
            _ => ordering.is_le(),
        }
    }

    /// Whether it takes the upper half of the numbers for negative.
    pub(crate) fn is_signed(self) -> bool {
        (Self::SIGNED_GREATER.0..=Self::SIGNED_LESS_EQUAL.0).contains(&self.0)
    }

    /// The same of unsigned numbers.
    pub(crate) fn of_unsigned(self) -> Self {
        if self.is_signed() { Self(self.0 - Self::SIGNED_GREATER.0 + Self::UNSIGNED_GREATER.0) } else { self }
    }

    /// What holds if it does not.
    pub(crate) fn opposite(self) -> Self {
        let between = |first: Self, last: Self| Self(first.0 + last.0 - self.0);
        if self.is_signed() {
            between(Self::SIGNED_GREATER, Self::SIGNED_LESS_EQUAL)
        } else if self.0 >= Self::UNSIGNED_GREATER.0 {
            between(Self::UNSIGNED_GREATER, Self::UNSIGNED_LESS_EQUAL)
        } else {
            between(Self::EQUAL, Self::NOT_EQUAL)
        }
    }
}

impl<'c> Value<'c> {
    /// What an instruction asks if it compares integers or pointers.
    pub(crate) fn comparison(self) -> Option<Comparison> {
        let llvm = self.context.llvm;
        // SAFETY: asked for its kind first.
        unsafe {
            let is_comparison = !(llvm.LLVMIsAICmpInst)(self.raw).is_null();
            is_comparison.then(|| Comparison((llvm.LLVMGetICmpPredicate)(self.raw)))
        }
    }
}

impl<'c> Module<'c> {
    /// Replaces a comparison of integers of 64 bits by one of their lower halves. The instruction must not be used again.
    pub(crate) fn compare_lower_halves(&self, instruction: Value<'c>, comparison: Comparison) {
        let llvm = self.context.llvm;
        let builder = Builder::new(self.context);
        // SAFETY: a live comparison, whose operands have 64 bits, as the caller says, and are there where it is.
        unsafe {
            (llvm.LLVMPositionBuilderBefore)(builder.raw, instruction.raw);
            let [left, right] = [0, 1].map(|index| {
                let operand = (llvm.LLVMGetOperand)(instruction.raw, index);
                Value::new(self.context, operand)
                    .map_or(operand, |operand| self.lower_half(&builder, operand))
            });
            let short = (llvm.LLVMBuildICmp)(builder.raw, comparison.0, left, right, c"".as_ptr());
            (llvm.LLVMReplaceAllUsesWith)(instruction.raw, short);
        }
        instruction.erase();
    }

    /// Compares a number that is there before this instruction with zero.
    pub(crate) fn compare_with_zero_before(
        &self,
        instruction: Value<'c>,
        comparison: Comparison,
        number: Value<'c>,
    ) -> Option<Value<'c>> {
        let llvm = self.context.llvm;
        let builder = Builder::new(self.context);
        // SAFETY: a live instruction, and a live integer that is there where it is, as the caller says.
        let with_zero = unsafe {
            (llvm.LLVMPositionBuilderBefore)(builder.raw, instruction.raw);
            let zero = (llvm.LLVMConstInt)((llvm.LLVMTypeOf)(number.raw), 0, 0);
            (llvm.LLVMBuildICmp)(builder.raw, comparison.0, number.raw, zero, c"".as_ptr())
        };
        Value::new(self.context, with_zero)
    }

    /// Replaces a comparison by one of two other numbers of one type. The instruction must not be used again.
    pub(crate) fn compare_instead(
        &self,
        instruction: Value<'c>,
        comparison: Comparison,
        left: Value<'c>,
        right: Value<'c>,
    ) {
        let llvm = self.context.llvm;
        let builder = Builder::new(self.context);
        // SAFETY: a live comparison, and live integers of one type that are there where it is, as the caller says.
        unsafe {
            (llvm.LLVMPositionBuilderBefore)(builder.raw, instruction.raw);
            let other = (llvm.LLVMBuildICmp)(builder.raw, comparison.0, left.raw, right.raw, c"".as_ptr());
            (llvm.LLVMReplaceAllUsesWith)(instruction.raw, other);
        }
        instruction.erase();
    }

    /// The lower half of a number of 64 bits: what was widened to it, if that has 32.
    fn lower_half(&self, builder: &Builder<'c>, number: Value<'c>) -> *mut LLVMValue {
        let llvm = self.context.llvm;
        let widened =
            number.operands_of(Opcode::ZERO_EXTEND).or_else(|| number.operands_of(Opcode::SIGN_EXTEND));
        match widened {
            Some([half]) if half.integer_bits() == Some(32) => half.raw,
            // SAFETY: a live number of 64 bits.
            _ => unsafe {
                let half = (llvm.LLVMInt32TypeInContext)(self.context.raw);
                (llvm.LLVMBuildTrunc)(builder.raw, number.raw, half, c"".as_ptr())
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opposites() {
        // eq and ne, ugt and ule, uge and ult, sgt and sle, sge and slt.
        for (a, b) in [(32, 33), (34, 37), (35, 36), (38, 41), (39, 40)] {
            assert_eq!((Comparison(a).opposite(), Comparison(b).opposite()), (Comparison(b), Comparison(a)));
        }
    }

    #[test]
    fn unsigned_ones() {
        for (of, unsigned) in [(32, 32), (33, 33), (35, 35), (38, 34), (39, 35), (40, 36), (41, 37)] {
            assert_eq!(Comparison(of).of_unsigned(), Comparison(unsigned));
        }
    }
}

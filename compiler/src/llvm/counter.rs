//! Counters of loops.

use super::{Block, Builder, Module, Value};

/// A number that becomes one less each round.
pub(crate) struct CountDown<'c> {
    /// What it is in a round.
    pub(crate) value: Value<'c>,
    /// What it is behind the round.
    pub(crate) next: Value<'c>,
}

impl<'c> Module<'c> {
    /// Counts down beside another variable of a loop, with a sign: from these numbers on, as the loop is entered from these blocks, and one less each
    /// round, computed before an instruction that every round comes to.
    pub(crate) fn count_down(
        &self,
        beside: Value<'c>,
        before: Value<'c>,
        starts: &[(Value<'c>, Block<'c>)],
    ) -> Option<CountDown<'c>> {
        let (llvm, builder) = (self.context.llvm, Builder::new(self.context));
        let (incoming, (first, _)) = (beside.incoming()?, starts.first()?);
        // SAFETY: a live phi, a live instruction behind it, and live numbers of one type that are there at the ends of these blocks, as the caller says.
        unsafe {
            let number = (llvm.LLVMTypeOf)(first.raw);
            (llvm.LLVMPositionBuilderBefore)(builder.raw, beside.raw);
            let value = (llvm.LLVMBuildPhi)(builder.raw, number, c"".as_ptr());
            (llvm.LLVMPositionBuilderBefore)(builder.raw, before.raw);
            let minus_one = (llvm.LLVMConstAllOnes)(number);
            let next = (llvm.LLVMBuildNSWAdd)(builder.raw, value, minus_one, c"".as_ptr());
            for (_, from) in incoming {
                let start = starts.iter().find(|(_, block)| *block == from);
                let (mut number, mut block) = (start.map_or(next, |(start, _)| start.raw), from.raw);
                (llvm.LLVMAddIncoming)(value, &mut number, &mut block, 1);
            }
            Some(CountDown { value: Value::new(self.context, value)?, next: Value::new(self.context, next)? })
        }
    }
}

//! What values are computed from and what branches depend on, for analyses of loops.

use std::ffi::c_uint;

use super::{Block, Opcode, Value};

impl<'c> Value<'c> {
    /// Whether it is a parameter of a function.
    pub(crate) fn is_parameter(self) -> bool {
        // SAFETY: a live value.
        unsafe { !(self.context.llvm.LLVMIsAArgument)(self.raw).is_null() }
    }

    /// Whether it is a constant that LLVM may take for any value, another one at each use.
    pub(crate) fn is_undefined(self) -> bool {
        // SAFETY: a live value.
        unsafe { (self.context.llvm.LLVMIsUndef)(self.raw) != 0 }
    }

    /// Whether an instruction's result depends on nothing but the values of its operands. Of calls, those of LLVM's integer arithmetic.
    pub(crate) fn only_computes(self) -> bool {
        const FUNCTIONS: [&str; 12] = [
            "abs",
            "bitreverse",
            "bswap",
            "ctlz",
            "ctpop",
            "cttz",
            "fshl",
            "fshr",
            "smax",
            "smin",
            "umax",
            "umin",
        ];
        match self.called() {
            Some(called) => called.name().strip_prefix("llvm.").is_some_and(|name| {
                name.split_once('.').is_some_and(|(function, _)| FUNCTIONS.contains(&function))
            }),
            None => self.opcode().computes(),
        }
    }

    /// The instruction behind this one in its block.
    pub(crate) fn next_instruction(self) -> Option<Self> {
        // SAFETY: a live instruction.
        Value::new(self.context, unsafe { (self.context.llvm.LLVMGetNextInstruction)(self.raw) })
    }

    /// The block that an instruction is in; none for other values.
    pub(crate) fn block(self) -> Option<Block<'c>> {
        let (context, llvm) = (self.context, self.context.llvm);
        // SAFETY: asked for its kind first; an instruction of a whole function has a block.
        unsafe {
            let is_instruction = !(llvm.LLVMIsAInstruction)(self.raw).is_null();
            is_instruction.then(|| Block { context, raw: (llvm.LLVMGetInstructionParent)(self.raw) })
        }
    }

    /// The values that a phi may be, each with the block that it comes from; none for other instructions.
    pub(crate) fn incoming(self) -> Option<Vec<(Value<'c>, Block<'c>)>> {
        let (context, llvm) = (self.context, self.context.llvm);
        if self.opcode() != Opcode::PHI {
            return None;
        }
        // SAFETY: a live phi; the index is below the count. A phi's operands are its values, in the order of its blocks.
        let block = |index| unsafe { (llvm.LLVMGetIncomingBlock)(self.raw, index) };
        // SAFETY: as above.
        let count = unsafe { (llvm.LLVMCountIncoming)(self.raw) };
        Some(
            self.operands()
                .zip((0..count).map(|index: c_uint| Block { context, raw: block(index) }))
                .collect(),
        )
    }
}

impl<'c> Block<'c> {
    /// The instruction that ends it.
    pub(crate) fn terminator(self) -> Option<Value<'c>> {
        // SAFETY: a live block.
        Value::new(self.context, unsafe { (self.context.llvm.LLVMGetBasicBlockTerminator)(self.raw) })
    }

    /// What decides where it goes on; none if there is only one way, or if it depends on more than a value.
    pub(crate) fn decided_by(self) -> Option<Value<'c>> {
        let end = self.terminator()?;
        let depends = match end.opcode() {
            Opcode::BRANCH => self.successors().len() > 1,
            other => other == Opcode::SWITCH,
        };
        if depends { end.operands().next() } else { None }
    }

    /// Whether its end is never reached: it calls what does not return.
    pub(crate) fn does_not_end(self) -> bool {
        self.terminator().is_some_and(|end| end.opcode() == Opcode::UNREACHABLE)
    }
}

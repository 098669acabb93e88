//! Two versions of some blocks of a function, between which it chooses.

use std::collections::HashMap;

use super::{Block, Module, Value, build::Builder};

impl<'c> Module<'c> {
    /// The block from which `to` is entered from `from` and nowhere else is gone: `from` itself, or a new one between both. None if `from` goes there on two ways.
    pub(crate) fn entry_from(
        &self,
        function: Value<'c>,
        from: Block<'c>,
        to: Block<'c>,
    ) -> Option<Block<'c>> {
        let (context, llvm) = (self.context, self.context.llvm);
        let successors = from.successors();
        if successors.len() == 1 {
            return Some(from);
        }
        let mut ways = (0..).zip(successors).filter(|(_, successor)| *successor == to);
        let (Some((index, _)), None) = (ways.next(), ways.next()) else { return None };
        let builder = Builder::new(context);
        // SAFETY: live blocks of the function. The new one stands in for `from` in each phi, which has one entry for it.
        unsafe {
            let between = (llvm.LLVMAppendBasicBlockInContext)(context.raw, function.raw, c"".as_ptr());
            for phi in to.instructions() {
                let Some(ways) = phi.incoming() else { break };
                (llvm.LLVMPositionBuilderBefore)(builder.raw, phi.raw);
                let same = (llvm.LLVMBuildPhi)(builder.raw, (llvm.LLVMTypeOf)(phi.raw), c"".as_ptr());
                for (mut value, before) in ways {
                    let mut before = if before == from { between } else { before.raw };
                    (llvm.LLVMAddIncoming)(same, &mut value.raw, &mut before, 1);
                }
                (llvm.LLVMReplaceAllUsesWith)(phi.raw, same);
                (llvm.LLVMInstructionEraseFromParent)(phi.raw);
            }
            (llvm.LLVMPositionBuilderAtEnd)(builder.raw, between);
            (llvm.LLVMBuildBr)(builder.raw, to.raw);
            (llvm.LLVMSetSuccessor)((llvm.LLVMGetBasicBlockTerminator)(from.raw), index, between);
            Some(Block { context, raw: between })
        }
    }

    /// Copies the blocks, of which only the first is entered from others: only from `before`, which goes there and nowhere else. If the condition holds,
    /// `before` goes to the copy. Returns the copies of the blocks.
    ///
    /// No instruction outside of the blocks uses one inside but phis of the blocks to which they go.
    pub(crate) fn add_version(
        &self,
        function: Value<'c>,
        before: Block<'c>,
        blocks: &[Block<'c>],
        condition: Value<'c>,
    ) -> Vec<Block<'c>> {
        let (context, llvm) = (self.context, self.context.llvm);
        let Some((first, end)) = blocks.first().zip(before.terminator()) else { return Vec::new() };
        let builder = Builder::new(context);
        let (mut copies, mut copied) = (HashMap::new(), HashMap::new());
        // SAFETY: live blocks and instructions of the function. A copy has the operands of its original until those are replaced by their own copies, of the same
        // type; what a copied branch leads to has an entry for it in each phi.
        unsafe {
            for block in blocks {
                let copy = (llvm.LLVMAppendBasicBlockInContext)(context.raw, function.raw, c"".as_ptr());
                (llvm.LLVMPositionBuilderAtEnd)(builder.raw, copy);
                copied.insert(block.raw, copy);
                for value in block.instructions() {
                    let copy = if value.incoming().is_some() {
                        (llvm.LLVMBuildPhi)(builder.raw, (llvm.LLVMTypeOf)(value.raw), c"".as_ptr())
                    } else {
                        let copy = (llvm.LLVMInstructionClone)(value.raw);
                        (llvm.LLVMInsertIntoBuilder)(builder.raw, copy);
                        copy
                    };
                    copies.insert(value.raw, copy);
                }
            }
            let copy_of = |value: Value<'c>| copies.get(&value.raw).copied().unwrap_or(value.raw);
            let add_way = |phi, value: Value<'c>, from: Block<'c>| {
                let mut from = copied.get(&from.raw).copied().unwrap_or(from.raw);
                (llvm.LLVMAddIncoming)(phi, &mut copy_of(value), &mut from, 1);
            };
            for block in blocks {
                for value in block.instructions() {
                    let copy = copy_of(value);
                    match value.incoming() {
                        Some(ways) => ways.into_iter().for_each(|(value, from)| add_way(copy, value, from)),
                        None => (0..).zip(value.operands()).for_each(|(index, operand)| {
                            if copies.contains_key(&operand.raw) {
                                (llvm.LLVMSetOperand)(copy, index, copy_of(operand));
                            }
                        }),
                    }
                }
                let branch = (llvm.LLVMGetBasicBlockTerminator)(copied[&block.raw]);
                let mut left_to = Vec::new();
                for (index, successor) in (0..).zip(block.successors()) {
                    match copied.get(&successor.raw) {
                        Some(copy) => (llvm.LLVMSetSuccessor)(branch, index, *copy),
                        None if left_to.contains(&successor) => {}
                        None => left_to.push(successor),
                    }
                }
                for outside in left_to {
                    for phi in outside.instructions() {
                        let Some(ways) = phi.incoming() else { break };
                        ways.into_iter()
                            .filter(|(_, from)| from == block)
                            .for_each(|(value, from)| add_way(phi.raw, value, from));
                    }
                }
            }
            (llvm.LLVMPositionBuilderBefore)(builder.raw, end.raw);
            (llvm.LLVMBuildCondBr)(builder.raw, condition.raw, copied[&first.raw], first.raw);
            (llvm.LLVMInstructionEraseFromParent)(end.raw);
        }
        blocks.iter().map(|block| Block { context, raw: copied[&block.raw] }).collect()
    }
}

//! Basic blocks of a function, and the branches that end them.

use super::{
    Comparison, Context, Module, Opcode, Value,
    library::{LLVMBasicBlock, LLVMMetadata, LLVMValue},
};

/// A basic block. Two are equal if they are the same block.
#[derive(Clone, Copy)]
pub(crate) struct Block<'c> {
    pub(super) context: &'c Context,
    pub(super) raw: *mut LLVMBasicBlock,
}

impl PartialEq for Block<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.raw == other.raw
    }
}

impl Eq for Block<'_> {}

impl std::hash::Hash for Block<'_> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.raw.hash(state);
    }
}

/// A branch that depends on a condition.
pub(crate) struct Branch<'c> {
    raw: *mut LLVMValue,
    /// Where it goes if the condition holds, and if not.
    pub(crate) successors: [Block<'c>; 2],
}

impl<'c> Value<'c> {
    /// The block that a function starts with; none if it has no body.
    pub(crate) fn first_block(self) -> Option<Block<'c>> {
        // SAFETY: a live function.
        let raw = unsafe { (self.context.llvm.LLVMGetFirstBasicBlock)(self.raw) };
        (!raw.is_null()).then_some(Block { context: self.context, raw })
    }
}

impl<'c> Block<'c> {
    /// The block after it in the function's list.
    pub(super) fn next(self) -> Option<Self> {
        // SAFETY: a live block.
        let raw = unsafe { (self.context.llvm.LLVMGetNextBasicBlock)(self.raw) };
        (!raw.is_null()).then_some(Self { context: self.context, raw })
    }

    /// Where it may go on.
    pub(crate) fn successors(self) -> Vec<Self> {
        let (context, llvm) = (self.context, self.context.llvm);
        // SAFETY: a live block of a whole function, so it has a terminator; the index is below the count.
        unsafe {
            let terminator = (llvm.LLVMGetBasicBlockTerminator)(self.raw);
            let successor = |index| Block { context, raw: (llvm.LLVMGetSuccessor)(terminator, index) };
            (0..(llvm.LLVMGetNumSuccessors)(terminator)).map(successor).collect()
        }
    }

    /// Those of these blocks that go on here.
    pub(crate) fn predecessors_within(self, blocks: &[Self]) -> Vec<Self> {
        blocks.iter().copied().filter(|block| block.successors().contains(&self)).collect()
    }

    /// The branch that ends it, if that has a condition.
    pub(crate) fn conditional_branch(self) -> Option<Branch<'c>> {
        let (context, llvm) = (self.context, self.context.llvm);
        let raw = self.terminator().filter(|end| end.opcode() == Opcode::BRANCH)?.raw;
        // SAFETY: a live branch, asked for its kind before the rest.
        unsafe {
            if (llvm.LLVMIsConditional)(raw) == 0 {
                return None;
            }
            let successor = |index| Block { context, raw: (llvm.LLVMGetSuccessor)(raw, index) };
            Some(Branch { raw, successors: [successor(0), successor(1)] })
        }
    }

    /// Its instructions, in their order.
    pub(crate) fn instructions(self) -> Vec<Value<'c>> {
        let llvm = self.context.llvm;
        let mut all = Vec::new();
        // SAFETY: walks the list of a live block; nothing changes it meanwhile.
        unsafe {
            let mut instruction = (llvm.LLVMGetFirstInstruction)(self.raw);
            while let Some(value) = Value::new(self.context, instruction) {
                all.push(value);
                instruction = (llvm.LLVMGetNextInstruction)(instruction);
            }
        }
        all
    }

    /// Replaces a value by another one in its instructions.
    pub(crate) fn replace_in(self, value: Value<'c>, other: Value<'c>) {
        for user in self.instructions() {
            (0..).zip(user.operands()).filter(|(_, operand)| *operand == value).for_each(|(index, _)| {
                user.set_operand(index, other);
            });
        }
    }

    /// Replaces the condition of the branch that ends it.
    pub(crate) fn decide(self, condition: Value<'c>) {
        if let Some(branch) = self.conditional_branch() {
            // SAFETY: a live branch with a condition, and a live condition that is there.
            unsafe { (self.context.llvm.LLVMSetCondition)(branch.raw, condition.raw) };
        }
    }

    /// Asks to unroll the loop that this block ends so many times, unless its unrolling was decided before.
    pub(crate) fn ask_to_unroll(self, times: u32) {
        if !self.decides_on_unrolling() {
            let llvm = self.context.llvm;
            // SAFETY: the type and the number are of a live context.
            let number = unsafe {
                let i32_type = (llvm.LLVMInt32TypeInContext)(self.context.raw);
                (llvm.LLVMValueAsMetadata)((llvm.LLVMConstInt)(i32_type, times.into(), 0))
            };
            self.say_of_loop(&[self], "llvm.loop.unroll.count", Some(number));
        }
    }

    /// Asks to unroll all rounds of the loop that goes back from these blocks, if LLVM finds that their number is a constant, unless
    /// its unrolling was decided before.
    pub(crate) fn ask_to_unroll_fully(blocks: &[Self]) {
        if let Some(first) = blocks.first()
            && !blocks.iter().any(|block| block.decides_on_unrolling())
        {
            first.say_of_loop(blocks, "llvm.loop.unroll.full", None);
        }
    }

    /// Whether metadata of the loop that goes back from this block ask to unroll it or forbid that, as of `#pragma unroll 1` in CUDA C.
    fn decides_on_unrolling(self) -> bool {
        let llvm = self.context.llvm;
        let operands = |node| {
            // SAFETY: a live node of metadata, whose operands are as many as it says.
            let mut all =
                vec![std::ptr::null_mut(); unsafe { (llvm.LLVMGetMDNodeNumOperands)(node) } as usize];
            // SAFETY: as above.
            unsafe { (llvm.LLVMGetMDNodeOperands)(node, all.as_mut_ptr()) };
            all
        };
        // SAFETY: a live block of a whole function, so it has a terminator.
        let said = unsafe {
            let terminator = (llvm.LLVMGetBasicBlockTerminator)(self.raw);
            (llvm.LLVMGetMetadata)(terminator, self.context.metadata_kind("llvm.loop"))
        };
        let names_unrolling = |node| {
            operands(node).first().is_some_and(|&name| {
                let mut length = 0;
                // SAFETY: null for what is no string, and else as long as said.
                let name = unsafe {
                    let start = (llvm.LLVMGetMDString)(name, &raw mut length);
                    if start.is_null() {
                        &[]
                    } else {
                        std::slice::from_raw_parts(start.cast::<u8>(), length as usize)
                    }
                };
                name.starts_with(b"llvm.loop.unroll.")
            })
        };
        // A loop's metadata name themselves first.
        !said.is_null() && operands(said).into_iter().skip(1).any(names_unrolling)
    }

    /// Forbids to unroll or peel the loop that goes back from these blocks.
    pub(crate) fn forbid_unrolling(blocks: &[Self]) {
        if let Some(first) = blocks.first() {
            first.say_of_loop(blocks, "llvm.loop.unroll.disable", None);
        }
    }

    /// Says this, and nothing else, of the loop that goes back from these blocks.
    fn say_of_loop(self, blocks: &[Self], text: &str, value: Option<*mut LLVMMetadata>) {
        let llvm = self.context.llvm;
        let kind = self.context.metadata_kind("llvm.loop");
        // SAFETY: live blocks of a whole function, so they have terminators; the metadata are of their context, and each array is as
        // long as said. A loop's metadata name themselves first, through a node that stands in until they are there.
        unsafe {
            let context = self.context.raw;
            let mut said = vec![(llvm.LLVMMDStringInContext2)(context, text.as_ptr().cast(), text.len())];
            said.extend(value);
            let said = (llvm.LLVMMDNodeInContext2)(context, said.as_mut_ptr(), said.len());
            let itself = (llvm.LLVMTemporaryMDNode)(context, std::ptr::null_mut(), 0);
            let mut parts = [itself, said];
            let whole = (llvm.LLVMMDNodeInContext2)(context, parts.as_mut_ptr(), parts.len());
            (llvm.LLVMMetadataReplaceAllUsesWith)(itself, whole);
            for block in blocks {
                let terminator = (llvm.LLVMGetBasicBlockTerminator)(block.raw);
                (llvm.LLVMSetMetadata)(terminator, kind, (llvm.LLVMMetadataAsValue)(context, whole));
            }
        }
    }
}

impl<'c> Module<'c> {
    /// Turns a condition and its branch round.
    pub(crate) fn turn_round(&self, branch: &Branch<'c>) {
        let llvm = self.context.llvm;
        let [taken, other] = branch.successors.map(|block| block.raw);
        // SAFETY: a live branch with a condition. The opposite condition is computed right before it, from operands that are there
        // because the condition was. What was known of how often it is taken is forgotten with its order.
        unsafe {
            let condition = (llvm.LLVMGetCondition)(branch.raw);
            let builder = (llvm.LLVMCreateBuilderInContext)(self.context.raw);
            (llvm.LLVMPositionBuilderBefore)(builder, branch.raw);
            let opposite = if (llvm.LLVMIsAICmpInst)(condition).is_null() {
                (llvm.LLVMBuildNot)(builder, condition, c"".as_ptr())
            } else {
                let operand = |index| (llvm.LLVMGetOperand)(condition, index);
                let opposite = Comparison((llvm.LLVMGetICmpPredicate)(condition)).opposite();
                (llvm.LLVMBuildICmp)(builder, opposite.0, operand(0), operand(1), c"".as_ptr())
            };
            (llvm.LLVMDisposeBuilder)(builder);
            (llvm.LLVMSetCondition)(branch.raw, opposite);
            (llvm.LLVMSetSuccessor)(branch.raw, 0, other);
            (llvm.LLVMSetSuccessor)(branch.raw, 1, taken);
            (llvm.LLVMSetMetadata)(branch.raw, self.context.metadata_kind("prof"), std::ptr::null_mut());
        }
    }
}

//! Building code: the few functions, calls and blocks that linking adds to a module.

use std::ffi::{CStr, c_int};

use super::{
    Context, CopyPart, Module, Position, Value, c_string,
    library::{LLVMBuilder, LLVMType, LLVMValue},
};

/// A builder of instructions, disposed of when dropped.
pub(super) struct Builder<'c> {
    context: &'c Context,
    pub(super) raw: *mut LLVMBuilder,
}

impl<'c> Builder<'c> {
    pub(super) fn new(context: &'c Context) -> Self {
        // SAFETY: a live context.
        Self { context, raw: unsafe { (context.llvm.LLVMCreateBuilderInContext)(context.raw) } }
    }

    /// A call of a function with these arguments, whose types are those of its parameters.
    ///
    /// # Safety
    /// The builder stands somewhere; all values are of its context.
    pub(super) unsafe fn call(
        &self,
        function: *mut LLVMValue,
        arguments: &mut [*mut LLVMValue],
    ) -> *mut LLVMValue {
        let llvm = self.context.llvm;
        // SAFETY: as the caller promises.
        unsafe {
            let function_type = (llvm.LLVMGlobalGetValueType)(function);
            let count = arguments.len() as u32;
            let build = llvm.LLVMBuildCall2;
            build(self.raw, function_type, function, arguments.as_mut_ptr(), count, c"".as_ptr())
        }
    }

    /// Assembly without effects besides its result.
    ///
    /// # Safety
    /// The builder stands in a function, and the assembly gives this type.
    unsafe fn ptx(
        &self,
        ptx: &str,
        constraints: &str,
        result: *mut LLVMType,
        operands: &mut [*mut LLVMValue],
    ) -> *mut LLVMValue {
        let llvm = self.context.llvm;
        let count = operands.len() as u32;
        // SAFETY: by the caller's promise; the assembly has the types of the operands.
        unsafe {
            let mut types: Vec<_> = operands.iter().map(|operand| (llvm.LLVMTypeOf)(*operand)).collect();
            let function_type = (llvm.LLVMFunctionType)(result, types.as_mut_ptr(), count, 0);
            let (text, length) = (ptx.as_ptr().cast(), ptx.len());
            let (kinds, kinds_length) = (constraints.as_ptr().cast(), constraints.len());
            let assembly =
                (llvm.LLVMGetInlineAsm)(function_type, text, length, kinds, kinds_length, 0, 0, 0, 0);
            let operands = operands.as_mut_ptr();
            (llvm.LLVMBuildCall2)(self.raw, function_type, assembly, operands, count, c"".as_ptr())
        }
    }
}

impl Drop for Builder<'_> {
    fn drop(&mut self) {
        // SAFETY: owned.
        unsafe { (self.context.llvm.LLVMDisposeBuilder)(self.raw) };
    }
}

/// The name of the phi of the addresses of joined calls.
const JOINED: &CStr = c"gpukernel.joined";

impl<'c> Value<'c> {
    /// Moves an instruction to another place, at which its operands are there.
    pub(crate) fn move_before(self, place: Self) {
        let llvm = self.context.llvm;
        let builder = Builder::new(self.context);
        // SAFETY: both are live instructions of a function.
        unsafe {
            (llvm.LLVMPositionBuilderBefore)(builder.raw, place.raw);
            (llvm.LLVMInstructionRemoveFromParent)(self.raw);
            (llvm.LLVMInsertIntoBuilder)(builder.raw, self.raw);
        }
    }
}

impl<'c> Module<'c> {
    /// Replaces an instruction by PTX that computes the same of these operands. The instruction must not be used again.
    pub(crate) fn replace_by_ptx(
        &self,
        instruction: Value<'c>,
        ptx: &str,
        constraints: &str,
        operands: &[Value<'c>],
    ) {
        let llvm = self.context.llvm;
        let builder = Builder::new(self.context);
        let mut operands: Vec<_> = operands.iter().map(|operand| operand.raw).collect();
        // SAFETY: the assembly gives the type of the instruction, stands where that stood, and has no effect besides its result. Nothing
        // uses the instruction any more when it is erased.
        unsafe {
            (llvm.LLVMPositionBuilderBefore)(builder.raw, instruction.raw);
            let result = (llvm.LLVMTypeOf)(instruction.raw);
            let call = builder.ptx(ptx, constraints, result, &mut operands);
            (llvm.LLVMReplaceAllUsesWith)(instruction.raw, call);
            (llvm.LLVMInstructionEraseFromParent)(instruction.raw);
        }
    }

    /// Replaces an address by that of a place in a parameter of the kernel, which has this name in PTX. The instruction must not be used again.
    pub(crate) fn replace_by_parameter(&self, instruction: Value<'c>, name: &str, offset: u64) {
        const PARAMETERS: u32 = 101;
        let llvm = self.context.llvm;
        let builder = Builder::new(self.context);
        // SAFETY: an address in the memory of parameters, cast to the type of the instruction, stands where that stood. Nothing uses the instruction any more when
        // it is erased.
        unsafe {
            (llvm.LLVMPositionBuilderBefore)(builder.raw, instruction.raw);
            let space = (llvm.LLVMPointerTypeInContext)(self.context.raw, PARAMETERS);
            let start = builder.ptx(&format!("mov.b64 $0, {name};"), "=l", space, &mut []);
            let byte = (llvm.LLVMIntTypeInContext)(self.context.raw, 8);
            let mut offset = (llvm.LLVMConstInt)((llvm.LLVMInt64TypeInContext)(self.context.raw), offset, 0);
            let address = (llvm.LLVMBuildGEP2)(builder.raw, byte, start, &mut offset, 1, c"".as_ptr());
            let wanted = (llvm.LLVMTypeOf)(instruction.raw);
            let cast = (llvm.LLVMBuildAddrSpaceCast)(builder.raw, address, wanted, c"".as_ptr());
            (llvm.LLVMReplaceAllUsesWith)(instruction.raw, cast);
            (llvm.LLVMInstructionEraseFromParent)(instruction.raw);
        }
    }

    /// Replaces an instruction by a call of the function `name`, which takes the instruction's operands (a call's arguments) and
    /// gives its type. The instruction and copies of it must not be used again.
    pub(crate) fn replace_by_call(&self, instruction: Value<'c>, name: &str) {
        let llvm = self.context.llvm;
        let name = c_string(name);
        let mut operands: Vec<_> = instruction.operands().map(|operand| operand.raw).collect();
        if instruction.called().is_some() {
            // The last operand of a call is what it calls.
            operands.pop();
        }
        // SAFETY: the function is declared with the types of the operands and of the instruction, the call stands where the
        // instruction stood, and nothing uses that any more when it is erased.
        unsafe {
            let mut types: Vec<_> = operands.iter().map(|operand| (llvm.LLVMTypeOf)(*operand)).collect();
            let count = operands.len() as u32;
            let result = (llvm.LLVMTypeOf)(instruction.raw);
            let function_type = (llvm.LLVMFunctionType)(result, types.as_mut_ptr(), count, 0);
            let mut function = (llvm.LLVMGetNamedFunction)(self.raw, name.as_ptr());
            if function.is_null() {
                function = (llvm.LLVMAddFunction)(self.raw, name.as_ptr(), function_type);
            }
            let builder = Builder::new(self.context);
            (llvm.LLVMPositionBuilderBefore)(builder.raw, instruction.raw);
            let build = llvm.LLVMBuildCall2;
            let call =
                build(builder.raw, function_type, function, operands.as_mut_ptr(), count, c"".as_ptr());
            (llvm.LLVMReplaceAllUsesWith)(instruction.raw, call);
            (llvm.LLVMInstructionEraseFromParent)(instruction.raw);
        }
    }

    /// Replaces a copy by loads and stores of these pieces of it. All are loaded before any is stored, as a copy may copy something
    /// onto itself. The instruction must not be used again.
    pub(crate) fn replace_copy(&self, copy: Value<'c>, pieces: &[CopyPart]) {
        let llvm = self.context.llvm;
        let arguments: Vec<_> = copy.operands().take(2).map(|argument| argument.raw).collect();
        let [to, from] = arguments[..] else { return };
        // SAFETY: the call copies from one pointer to the other, each piece lies inside what it copies, aligned by its size.
        unsafe {
            let int = |bits| (llvm.LLVMIntTypeInContext)(self.context.raw, bits);
            let builder = Builder::new(self.context);
            (llvm.LLVMPositionBuilderBefore)(builder.raw, copy.raw);
            let at = |start, piece: &CopyPart| {
                let mut offset = (llvm.LLVMConstInt)(int(64), piece.offset, 0);
                (llvm.LLVMBuildGEP2)(builder.raw, int(8), start, &mut offset, 1, c"".as_ptr())
            };
            let align = |access, piece: &CopyPart| (llvm.LLVMSetAlignment)(access, piece.bytes as u32);
            let loaded: Vec<_> = pieces
                .iter()
                .map(|piece| {
                    // A vector, because code generation loads 16 bytes at once only as one.
                    let piece_type = match piece.bytes {
                        16 => (llvm.LLVMVectorType)(int(32), 4),
                        bytes => int(bytes as u32 * 8),
                    };
                    let load = (llvm.LLVMBuildLoad2)(builder.raw, piece_type, at(from, piece), c"".as_ptr());
                    align(load, piece);
                    load
                })
                .collect();
            for (piece, loaded) in pieces.iter().zip(loaded) {
                align((llvm.LLVMBuildStore)(builder.raw, loaded, at(to, piece)), piece);
            }
            (llvm.LLVMInstructionEraseFromParent)(copy.raw);
        }
    }

    /// Replaces an atomic compare-and-exchange by one that is not atomic. The instruction must not be used again.
    pub(crate) fn replace_by_plain_exchange(&self, instruction: Value<'c>) {
        const EQUAL: c_int = 32;
        let llvm = self.context.llvm;
        let operands: Vec<_> = instruction.operands().map(|operand| operand.raw).collect();
        let [at, expected, new] = operands[..] else { return };
        let unnamed = c"".as_ptr();
        // SAFETY: a live `cmpxchg`, which has an address, what is expected there and what replaces it, and gives a pair of what was
        // there and whether that was expected. Its place is that of what replaces it.
        unsafe {
            let builder = Builder::new(self.context);
            (llvm.LLVMPositionBuilderBefore)(builder.raw, instruction.raw);
            let found = (llvm.LLVMBuildLoad2)(builder.raw, (llvm.LLVMTypeOf)(expected), at, unnamed);
            let is_expected = (llvm.LLVMBuildICmp)(builder.raw, EQUAL, found, expected, unnamed);
            let value = (llvm.LLVMBuildSelect)(builder.raw, is_expected, new, found, unnamed);
            (llvm.LLVMBuildStore)(builder.raw, value, at);
            let pair = (llvm.LLVMGetUndef)((llvm.LLVMTypeOf)(instruction.raw));
            let pair = (llvm.LLVMBuildInsertValue)(builder.raw, pair, found, 0, unnamed);
            let pair = (llvm.LLVMBuildInsertValue)(builder.raw, pair, is_expected, 1, unnamed);
            (llvm.LLVMReplaceAllUsesWith)(instruction.raw, pair);
            (llvm.LLVMInstructionEraseFromParent)(instruction.raw);
        }
    }

    /// A new function of the type of `like` that does nothing but call `callee`, which does not return. Its arguments are the
    /// parameters of these numbers, or null; they must be as many and of the types that it takes.
    pub(crate) fn add_noreturn_wrapper(
        &self,
        name: &str,
        like: Value<'c>,
        callee: Value<'c>,
        arguments: &[Option<u32>],
    ) -> Option<Value<'c>> {
        let llvm = self.context.llvm;
        let name = c_string(name);
        // SAFETY: everything is of this module and its context; the block ends in `unreachable` as a block must end; the arguments
        // are what the caller promises.
        unsafe {
            let function =
                (llvm.LLVMAddFunction)(self.raw, name.as_ptr(), (llvm.LLVMGlobalGetValueType)(like.raw));
            let block = (llvm.LLVMAppendBasicBlockInContext)(self.context.raw, function, c"".as_ptr());
            let builder = Builder::new(self.context);
            (llvm.LLVMPositionBuilderAtEnd)(builder.raw, block);
            let null = || (llvm.LLVMConstPointerNull)(self.pointer_type());
            let value = |index| (llvm.LLVMGetParam)(function, index);
            let mut arguments: Vec<_> =
                arguments.iter().map(|index| index.map_or_else(null, value)).collect();
            builder.call(callee.raw, &mut arguments);
            (llvm.LLVMBuildUnreachable)(builder.raw);
            Value::new(self.context, function)
        }
    }

    /// LLVM's intrinsic that traps.
    pub(crate) fn trap(&self) -> Option<Value<'c>> {
        let llvm = self.context.llvm;
        let name = "llvm.trap";
        // SAFETY: looks an intrinsic up that has no type parameters.
        unsafe {
            let id = (llvm.LLVMLookupIntrinsicID)(name.as_ptr().cast(), name.len());
            Value::new(
                self.context,
                (llvm.LLVMGetIntrinsicDeclaration)(self.raw, id, std::ptr::null_mut(), 0),
            )
        }
    }

    /// The declaration of a function that takes an address and does not return. To the optimiser it is what a trap is: cold, and
    /// of no effect on memory that it can see.
    pub(crate) fn declare_like_trap(&self, name: &str) -> Option<Value<'c>> {
        let llvm = self.context.llvm;
        if let Some(declared) = self.function(name) {
            return Some(declared);
        }
        let trap = self.trap()?;
        let c_name = c_string(name);
        // SAFETY: the types are of this context; the attribute is one of a live declaration of it.
        let declared = unsafe {
            let mut parameters = [self.pointer_type()];
            let void = (llvm.LLVMVoidTypeInContext)(self.context.raw);
            let function_type = (llvm.LLVMFunctionType)(void, parameters.as_mut_ptr(), 1, 0);
            let declared = (llvm.LLVMAddFunction)(self.raw, c_name.as_ptr(), function_type);
            let position = Position::Function.index();
            let kind = self.context.attribute_kind("memory");
            let memory = (llvm.LLVMGetEnumAttributeAtIndex)(trap.raw, position, kind);
            if !memory.is_null() {
                (llvm.LLVMAddAttributeAtIndex)(declared, position, memory);
            }
            Value::new(self.context, declared)?
        };
        for attribute in ["cold", "noreturn", "nounwind"] {
            declared.add_attribute(attribute);
        }
        Some(declared)
    }

    /// The declaration of a function of a condition that gives one and has no effects.
    pub(crate) fn declare_condition(&self, name: &str) -> Option<Value<'c>> {
        let llvm = self.context.llvm;
        if let Some(declared) = self.function(name) {
            return Some(declared);
        }
        let c_name = c_string(name);
        // SAFETY: the types are of this context.
        let declared = unsafe {
            let condition = (llvm.LLVMIntTypeInContext)(self.context.raw, 1);
            let function_type = (llvm.LLVMFunctionType)(condition, &mut condition.clone(), 1, 0);
            Value::new(self.context, (llvm.LLVMAddFunction)(self.raw, c_name.as_ptr(), function_type))?
        };
        for attribute in ["memory", "nosync", "nounwind", "speculatable", "willreturn"] {
            declared.add_attribute(attribute);
        }
        Some(declared)
    }

    /// The phi of the addresses that [`join_noreturn_calls`](Self::join_noreturn_calls) made in a function, if it is still there.
    pub(crate) fn joined_addresses(function: Value<'c>) -> Option<Value<'c>> {
        let is_joined =
            |value: &Value<'c>| value.incoming().is_some() && value.name().as_bytes() == JOINED.to_bytes();
        function.instructions().into_iter().find(is_joined)
    }

    /// Makes one call of several calls in `function` that take one address each and do not return: all branch to a block of its
    /// own. Gives the one that is left; the others must not be used again.
    pub(crate) fn join_noreturn_calls(&self, function: Value<'c>, calls: &[Value<'c>]) -> Option<Value<'c>> {
        let llvm = self.context.llvm;
        let (first, others) = calls.split_first()?;
        if others.is_empty() {
            return Some(*first);
        }
        let callee = first.called()?;
        // SAFETY: the calls are live instructions of the function, each followed by `unreachable` alone. Each is replaced by a
        // branch to the new block, whose phi has an entry for each of these branches.
        unsafe {
            let name = c"gpukernel.panic".as_ptr();
            let block = (llvm.LLVMAppendBasicBlockInContext)(self.context.raw, function.raw, name);
            let builder = Builder::new(self.context);
            (llvm.LLVMPositionBuilderAtEnd)(builder.raw, block);
            let phi = (llvm.LLVMBuildPhi)(builder.raw, self.pointer_type(), JOINED.as_ptr());
            let joined = builder.call(callee.raw, &mut [phi]);
            (llvm.LLVMBuildUnreachable)(builder.raw);
            for call in calls {
                let mut value = (llvm.LLVMGetOperand)(call.raw, 0);
                let mut from = (llvm.LLVMGetInstructionParent)(call.raw);
                (llvm.LLVMPositionBuilderBefore)(builder.raw, call.raw);
                (llvm.LLVMBuildBr)(builder.raw, block);
                let mut rest = call.raw;
                while !rest.is_null() {
                    let next = (llvm.LLVMGetNextInstruction)(rest);
                    (llvm.LLVMInstructionEraseFromParent)(rest);
                    rest = next;
                }
                (llvm.LLVMAddIncoming)(phi, &mut value, &mut from, 1);
            }
            Value::new(self.context, joined)
        }
    }

    /// Gives each way to the block of a phi of addresses a block of its own, where the phi's value is copied: the blocks before, which go
    /// elsewhere as a rule, compute nothing for it then.
    pub(crate) fn split_ways_to(&self, function: Value<'c>, phi: Value<'c>) {
        let llvm = self.context.llvm;
        let (Some(ways), Some(end)) = (phi.incoming(), phi.block()) else { return };
        if end.instructions().iter().filter(|value| value.incoming().is_some()).count() > 1 {
            return;
        }
        let builder = Builder::new(self.context);
        // SAFETY: live blocks of the function. The new phi has an entry for each way: of the new block, if the branch led there once, and
        // else of the block before.
        unsafe {
            (llvm.LLVMPositionBuilderBefore)(builder.raw, phi.raw);
            let joined = (llvm.LLVMBuildPhi)(builder.raw, self.pointer_type(), c"".as_ptr());
            for (value, from) in ways {
                let branch = (llvm.LLVMGetBasicBlockTerminator)(from.raw);
                let successors = from.successors();
                let mut there = (0..).zip(&successors).filter(|(_, successor)| **successor == end);
                let (mut copy, mut block) = (value.raw, from.raw);
                if let (Some((index, _)), None) = (there.next(), there.next()) {
                    block =
                        (llvm.LLVMAppendBasicBlockInContext)(self.context.raw, function.raw, c"".as_ptr());
                    (llvm.LLVMSetSuccessor)(branch, index, block);
                    (llvm.LLVMPositionBuilderAtEnd)(builder.raw, block);
                    copy = builder.ptx("mov.b64 $0, $1;", "=l,l", self.pointer_type(), &mut [value.raw]);
                    (llvm.LLVMBuildBr)(builder.raw, end.raw);
                }
                (llvm.LLVMAddIncoming)(joined, &mut copy, &mut block, 1);
            }
            (llvm.LLVMReplaceAllUsesWith)(phi.raw, joined);
            (llvm.LLVMInstructionEraseFromParent)(phi.raw);
        }
    }

    /// Puts a call of `callee` before an instruction: with the operand of that instruction if it is a call with one, and
    /// with `number`, a 32-bit one.
    pub(crate) fn insert_call(
        &self,
        before: Value<'c>,
        callee: Value<'c>,
        operand: Option<Value<'c>>,
        number: Option<Value<'c>>,
    ) -> Option<Value<'c>> {
        let builder = Builder::new(self.context);
        let mut arguments: Vec<_> = operand.iter().chain(&number).map(|value| value.raw).collect();
        // SAFETY: the instruction is live, and the arguments are of the callee's types, as the caller chose them.
        unsafe {
            (self.context.llvm.LLVMPositionBuilderBefore)(builder.raw, before.raw);
            Value::new(self.context, builder.call(callee.raw, &mut arguments))
        }
    }

    /// Computes the sum of products of integers with a factor each, in 64 bits before an instruction.
    pub(crate) fn sum_of_products(
        &self,
        before: Value<'c>,
        products: &[(Vec<Value<'c>>, i64)],
    ) -> Option<Value<'c>> {
        let llvm = self.context.llvm;
        let builder = Builder::new(self.context);
        // SAFETY: a live instruction, and live integers of at most 64 bits that are there before it, as the caller chose them.
        unsafe {
            (llvm.LLVMPositionBuilderBefore)(builder.raw, before.raw);
            let number = (llvm.LLVMInt64TypeInContext)(self.context.raw);
            let mut sum = (llvm.LLVMConstInt)(number, 0, 0);
            for (product, factor) in products {
                let mut whole = (llvm.LLVMConstInt)(number, *factor as u64, 0);
                for value in product {
                    let wide = match value.integer_bits() {
                        Some(64) => value.raw,
                        _ => (llvm.LLVMBuildZExt)(builder.raw, value.raw, number, c"".as_ptr()),
                    };
                    whole = (llvm.LLVMBuildMul)(builder.raw, wide, whole, c"".as_ptr());
                }
                sum = (llvm.LLVMBuildAdd)(builder.raw, sum, whole, c"".as_ptr());
            }
            Value::new(self.context, sum)
        }
    }

    /// Uses the lower half of an integer of 64 bits wherever it is used. None if nothing follows it in its block.
    pub(crate) fn use_lower_half(&self, value: Value<'c>) -> Option<()> {
        let llvm = self.context.llvm;
        let builder = Builder::new(self.context);
        let next = value.next_instruction()?;
        // SAFETY: a live integer of 64 bits, as the caller says, and what follows it.
        let lower = unsafe {
            (llvm.LLVMPositionBuilderBefore)(builder.raw, next.raw);
            let mask = (llvm.LLVMConstInt)((llvm.LLVMTypeOf)(value.raw), u32::MAX.into(), 0);
            Value::new(self.context, (llvm.LLVMBuildAnd)(builder.raw, value.raw, mask, c"".as_ptr()))?
        };
        value.replace_by(lower);
        lower.set_operand(0, value);
        Some(())
    }

    /// Computes the address so many bytes behind another one, before the instruction that computed it in another way.
    pub(crate) fn address_behind(
        &self,
        before: Value<'c>,
        start: Value<'c>,
        bytes: Value<'c>,
    ) -> Option<Value<'c>> {
        let llvm = self.context.llvm;
        let builder = Builder::new(self.context);
        // SAFETY: live instructions, and an address and a number that are there before the first one, as the caller chose them.
        unsafe {
            (llvm.LLVMPositionBuilderBefore)(builder.raw, before.raw);
            let byte = (llvm.LLVMIntTypeInContext)(self.context.raw, 8);
            let mut offset = bytes.raw;
            let address = (llvm.LLVMBuildGEP2)(builder.raw, byte, start.raw, &mut offset, 1, c"".as_ptr());
            Value::new(self.context, address)
        }
    }

    /// Gives a declared function without result a body that does nothing.
    pub(crate) fn define_as_empty(&self, function: Value<'c>) {
        let llvm = self.context.llvm;
        let builder = Builder::new(self.context);
        // SAFETY: a live declaration of a function that returns nothing; its only block ends in a return.
        unsafe {
            let block = (llvm.LLVMAppendBasicBlockInContext)(self.context.raw, function.raw, c"".as_ptr());
            (llvm.LLVMPositionBuilderAtEnd)(builder.raw, block);
            (llvm.LLVMBuildRetVoid)(builder.raw);
        }
    }

    /// A copy of a constant that LLVM does not look through (`freeze`), made where the function starts.
    pub(crate) fn freeze(&self, function: Value<'c>, constant: Value<'c>) -> Option<Value<'c>> {
        let llvm = self.context.llvm;
        let first = function.first_block()?.instructions().into_iter().next()?;
        let builder = Builder::new(self.context);
        // SAFETY: a live instruction of the function's first block, which has no phis, and a constant of its context.
        unsafe {
            (llvm.LLVMPositionBuilderBefore)(builder.raw, first.raw);
            Value::new(self.context, (llvm.LLVMBuildFreeze)(builder.raw, constant.raw, c"".as_ptr()))
        }
    }

    /// A 32-bit number.
    pub(crate) fn number(&self, number: u32) -> Option<Value<'c>> {
        let llvm = self.context.llvm;
        // SAFETY: a constant of this context.
        Value::new(self.context, unsafe {
            (llvm.LLVMConstInt)((llvm.LLVMInt32TypeInContext)(self.context.raw), number.into(), 0)
        })
    }

    /// An address that is a number and not that of anything.
    pub(crate) fn number_as_pointer(&self, number: u32) -> Option<Value<'c>> {
        let llvm = self.context.llvm;
        // SAFETY: a constant of this context.
        unsafe {
            let number =
                (llvm.LLVMConstInt)((llvm.LLVMInt64TypeInContext)(self.context.raw), number.into(), 0);
            Value::new(self.context, (llvm.LLVMConstIntToPtr)(number, self.pointer_type()))
        }
    }

    fn pointer_type(&self) -> *mut LLVMType {
        // SAFETY: a type of this context.
        unsafe { (self.context.llvm.LLVMPointerTypeInContext)(self.context.raw, 0) }
    }
}

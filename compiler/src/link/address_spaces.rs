//! Infers address spaces (`ld.global` for `ld`), and avoids a defect of LLVM 22's pass for that.
//!
//! `infer-address-spaces` does not decide on the space of a pointer that is computed from constants alone (a choice between `None` and an
//! empty slice, an index into a table), but does rewrite an instruction that chooses between such a pointer and one of a known space, and
//! leaves its operand null there: `select i1 %c, <null operand!>, ptr addrspace(1) %x`. The next pass then crashes.
//!
//! - Statics, the constants that matter for speed, get an address space before: `generic-to-nvvm`, which code generation runs anyway.
//! - The remaining constants (null, dangling pointers, functions) are hidden behind `freeze`, if the pointer meets others. The pass
//!   takes a frozen pointer for one of any space. `instcombine` and code generation see through it.

use std::collections::{HashMap, HashSet};

use super::optimise::COMBINE;
use crate::llvm::{LlvmError, Module, TargetMachine, Value};

/// Gives every static an address space, if it has none yet, and infers those of pointers.
pub(super) fn place_statics(module: &Module<'_>, machine: &TargetMachine) -> Result<(), LlvmError> {
    module.run_passes("generic-to-nvvm", machine)?;
    infer(module, machine)
}

/// Infers the address spaces of pointers. What is assumed about one holds in all that it dominates, which the pass sees only where the
/// dominator tree is there already.
pub(super) fn infer(module: &Module<'_>, machine: &TargetMachine) -> Result<(), LlvmError> {
    hide_undecided(module);
    module.run_passes("function(require<domtree>,infer-address-spaces)", machine)
}

/// Infers the address spaces of pointers, makes generic loads and stores special ones, and simplifies what that leaves. At last, what
/// only one branch needs is computed there, such as the address of a result after the loop that computes it: that frees registers,
/// and of the same loop of Mandelbrot ptxas makes one that takes 1.04 of nvcc's time without and 1.00 with it.
pub(super) fn optimise(module: &Module<'_>, machine: &TargetMachine) -> Result<(), LlvmError> {
    infer(module, machine)?;
    module.run_passes(&format!("function({COMBINE},early-cse<>,simplifycfg,sink),globaldce"), machine)
}

/// Hides the constants of pointers that LLVM would not decide on. Has to come before each `infer-address-spaces`, that of code
/// generation too.
pub(super) fn hide_undecided(module: &Module<'_>) {
    for function in module.functions() {
        let computed = Computed::of(function);
        let undecided = computed.undecided();
        if !computed.meet_others(&undecided) {
            continue;
        }
        let mut hidden = HashMap::new();
        for (instruction, operands) in &computed.pointers {
            if !undecided.contains(instruction) {
                continue;
            }
            for &(index, operand) in operands.iter().filter(|(_, operand)| operand.is_constant()) {
                let frozen = *hidden.entry(operand).or_insert_with(|| module.freeze(function, operand));
                if let Some(frozen) = frozen {
                    instruction.set_operand(index, frozen);
                }
            }
        }
    }
}

/// The generic pointers that a function computes from others, in the ways that the pass follows.
struct Computed<'c> {
    /// Each with the pointers that it is computed from, and their places among its operands.
    pointers: Vec<(Value<'c>, Vec<(u32, Value<'c>)>)>,
}

impl<'c> Computed<'c> {
    fn of(function: Value<'c>) -> Self {
        let instructions = function.instructions().into_iter();
        let pointers =
            instructions.filter_map(|instruction| Some((instruction, instruction.pointers_within()?)));
        Self { pointers: pointers.collect() }
    }

    /// Those that are computed from nothing but constants without an address space.
    fn undecided(&self) -> HashSet<Value<'c>> {
        let mut undecided: HashSet<_> = self.pointers.iter().map(|(instruction, _)| *instruction).collect();
        loop {
            let stays = |operand: &Value<'c>| match operand.is_constant() {
                true => !operand.is_cast_from_address_space(),
                false => undecided.contains(operand),
            };
            let decided = |(instruction, operands): &&(Value<'c>, Vec<(u32, Value<'c>)>)| {
                undecided.contains(instruction) && !operands.iter().all(|(_, operand)| stays(operand))
            };
            let decided: Vec<_> =
                self.pointers.iter().filter(decided).map(|(instruction, _)| *instruction).collect();
            if decided.is_empty() {
                return undecided;
            }
            decided.iter().for_each(|instruction| {
                undecided.remove(instruction);
            });
        }
    }

    /// Whether one of these is an operand of another pointer.
    fn meet_others(&self, undecided: &HashSet<Value<'c>>) -> bool {
        let decided = self.pointers.iter().filter(|(instruction, _)| !undecided.contains(instruction));
        decided
            .into_iter()
            .any(|(_, operands)| operands.iter().any(|(_, operand)| undecided.contains(operand)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{Context, testing};

    /// `computed` gives `%p` from constants alone; it meets the parameter of a kernel, which is global memory.
    fn inferred(computed: &str) -> String {
        let context = Context::new(testing::llvm());
        let machine = TargetMachine::new(&context, "sm_80").unwrap();
        let text = format!(
            "target triple = \"nvptx64-nvidia-cuda\"
            @a = constant [4 x i32] zeroinitializer
            declare i1 @llvm.nvvm.isspacep.global(ptr)
            declare void @llvm.assume(i1)
            declare ptr @llvm.ptrmask.p0.i64(ptr, i64)
            declare void @other()
            define i32 @f(ptr %x, i1 %c, i1 %d, i64 %n) {{
            start:
                %global = call i1 @llvm.nvvm.isspacep.global(ptr %x)
                call void @llvm.assume(i1 %global)
                {computed}
                %chosen = select i1 %d, ptr %p, ptr %x
                %value = load i32, ptr %chosen
                ret i32 %value
            }}"
        );
        let module = Module::from_text(&context, &text, "a choice").unwrap();
        infer(&module, &machine).unwrap();
        module.verify("the test").unwrap();
        module.to_text()
    }

    #[test]
    fn pointers_made_of_constants_alone_keep_their_operands() {
        let dangling = "ptr inttoptr (i64 4 to ptr)";
        for computed in [
            "%p = select i1 %c, ptr @a, ptr getelementptr (i8, ptr @a, i64 4)",
            &format!("%p = select i1 %c, ptr null, {dangling}"),
            "%p = select i1 %c, ptr null, ptr undef",
            "%p = select i1 %c, ptr @f, ptr @other",
            "%p = getelementptr i32, ptr null, i64 %n",
            "%p = getelementptr i32, ptr @a, i64 %n",
            "%p = call ptr @llvm.ptrmask.p0.i64(ptr @a, i64 %n)",
            &format!("%q = select i1 %c, ptr null, {dangling}\n %p = getelementptr i32, ptr %q, i64 %n"),
            "br label %loop\nloop:\n %q = phi ptr [ null, %start ], [ %p, %loop ]\n %p = getelementptr i32, ptr %q, i64 1\n \
             %ends = icmp eq ptr %p, %x\n br i1 %ends, label %end, label %loop\nend:",
        ] {
            let text = inferred(computed);
            assert!(!text.contains("null operand"), "{computed}\n{text}");
        }
    }

    #[test]
    fn where_nothing_is_undecided_nothing_is_hidden() {
        for computed in ["%p = getelementptr i32, ptr %x, i64 %n", "%p = select i1 %c, ptr null, ptr %x"] {
            let text = inferred(computed);
            assert!(!text.contains("freeze"), "{text}");
            assert!(text.contains("load i32, ptr addrspace(1)"), "{text}");
        }
    }

    #[test]
    fn statics_have_an_address_space_and_are_not_hidden() {
        let context = Context::new(testing::llvm());
        let machine = TargetMachine::new(&context, "sm_80").unwrap();
        let text = "target triple = \"nvptx64-nvidia-cuda\"
            @a = constant [4 x i32] zeroinitializer
            define i32 @f(i64 %n) {
                %p = getelementptr i32, ptr @a, i64 %n
                %value = load i32, ptr %p
                ret i32 %value
            }";
        let module = Module::from_text(&context, text, "a table").unwrap();
        place_statics(&module, &machine).unwrap();
        module.verify("the test").unwrap();
        let text = module.to_text();
        assert!(text.contains("load i32, ptr addrspace(1)") && !text.contains("freeze"), "{text}");
    }
}

//! Before address spaces are inferred: what a kernel only reads of an argument by value, it reads where the driver put it.
//!
//! rustc passes a struct or an array as so many words. If an index is not known (`weights[i]` of a `[f32; 9]`), LLVM keeps a copy in local memory, which
//! every thread writes first, and reads as slowly as global memory. The arguments themselves are in constant memory, which has addresses: nvcc reads them
//! there, too.
//!
//! A copy is one if all that is ever stored in it are words of one parameter, each as far from the others as in the parameter, and if it is only loaded from
//! else. So a load gives what the parameter has there, or what nobody stored, which may be anything. Order does not matter for that.

use std::collections::HashMap;

use super::entries::Entry;
use crate::llvm::{LlvmError, Module, Opcode, TargetMachine, Value};

/// The instructions that use a value, each once.
type Users<'c> = HashMap<Value<'c>, Vec<Value<'c>>>;

/// Replaces the copies in kernels by their parameters.
pub(super) fn read_in_place(
    module: &Module<'_>,
    kernels: &[Entry<'_>],
    machine: &TargetMachine,
) -> Result<(), LlvmError> {
    let mut any = false;
    for kernel in kernels {
        let instructions = kernel.function.instructions();
        let users = users(&instructions);
        let is_variable = |instruction: &Value<'_>| instruction.opcode() == Opcode::LOCAL_VARIABLE;
        let variables: Vec<_> = instructions.into_iter().filter(is_variable).collect();
        for variable in variables {
            let copy = Copied::from(module, kernel.function, variable, &users);
            if let Some(Copied { parameter, offset, dead }) = copy {
                dead.into_iter().for_each(Value::erase);
                // The name that code generation gives the parameter.
                let name = format!("{}_param_{parameter}", kernel.symbol).replace('$', "$$");
                module.replace_by_parameter(variable, &name, offset);
                any = true;
            }
        }
    }
    // The words that were only stored.
    if any { module.run_passes("function(dce)", machine) } else { Ok(()) }
}

fn users<'c>(instructions: &[Value<'c>]) -> Users<'c> {
    let mut users = Users::new();
    for instruction in instructions {
        for operand in instruction.operands() {
            let users = users.entry(operand).or_default();
            if users.last() != Some(instruction) {
                users.push(*instruction);
            }
        }
    }
    users
}

/// A local variable that is a copy of a part of a parameter.
struct Copied<'c> {
    parameter: u32,
    /// Where in the parameter it begins, in bytes.
    offset: u64,
    /// What writes it, and what only says how long it lives.
    dead: Vec<Value<'c>>,
}

impl<'c> Copied<'c> {
    /// That of a variable, if it is one of which some address is not known: without those, it becomes registers.
    fn from(
        module: &Module<'c>,
        function: Value<'c>,
        variable: Value<'c>,
        users: &Users<'c>,
    ) -> Option<Self> {
        let (mut found, mut dead, mut is_indexed) = (None, Vec::new(), false);
        let mut to_do = vec![(variable, Some(0))];
        while let Some((address, offset)) = to_do.pop() {
            for user in users.get(&address).into_iter().flatten() {
                if user.plainly_loaded_from() == Some(address) {
                    is_indexed |= offset.is_none();
                } else if let Some(stored) = user.plainly_stored_at(address) {
                    let (parameter, at) = word_of_parameter(module, function, stored)?;
                    let start = (parameter, at.checked_sub(offset?)?);
                    if *found.get_or_insert(start) != start {
                        return None;
                    }
                    dead.push(*user);
                } else if user.opcode() == Opcode::GET_ELEMENT_POINTER
                    && user.operands().next() == Some(address)
                {
                    let step = module.constant_offset(*user);
                    to_do.push((*user, offset.zip(step).and_then(|(offset, step)| offset.checked_add(step))));
                } else if user.called().is_some_and(|called| called.name().starts_with("llvm.lifetime.")) {
                    dead.push(*user);
                } else {
                    return None;
                }
            }
        }
        let (parameter, offset) = found.filter(|_| is_indexed)?;
        let (bytes, align) = module.variable_layout(variable)?;
        let &(parameter_bytes, parameter_align) =
            module.parameter_layouts(function).get(parameter as usize)?;
        let is_inside = offset.checked_add(bytes)? <= parameter_bytes as u64;
        let is_aligned = align <= parameter_align as u64 && offset.is_multiple_of(align);
        (is_inside && is_aligned).then_some(Self { parameter, offset, dead })
    }
}

/// The parameter of which a value is a word or a part of one, and where in it that is, in bytes.
fn word_of_parameter(module: &Module<'_>, function: Value<'_>, value: Value<'_>) -> Option<(u32, u64)> {
    if value.opcode() == Opcode::EXTRACT_VALUE {
        let parameter = function.parameter_index(value.operands().next()?)?;
        return Some((parameter, module.element_offset(value)?));
    }
    // A part of a word: numbers are little endian.
    let [whole] = value.operands_of(Opcode::TRUNCATE)?;
    let Some([whole, by]) = whole.operands_of(Opcode::SHIFT_RIGHT) else {
        return word_of_parameter(module, function, whole);
    };
    let by = by.constant_number().filter(|by| by.is_multiple_of(8))?;
    let is_inside = by + u64::from(value.integer_bits()?) <= u64::from(whole.integer_bits()?);
    let (parameter, at) = word_of_parameter(module, function, whole).filter(|_| is_inside)?;
    Some((parameter, at + by / 8))
}

//! Which values are the same in all threads of a block, and which rounds of a loop all threads make alike.
//!
//! - *Constant in a launch*: computed from constants, the kernel's own parameters, and the special registers that all threads of a block
//!   read alike (`%ntid`, `%nctaid`, `%ctaid`, those of clusters). Neither memory nor a phi: a value that another loop or a branch
//!   has decided may differ, from thread to thread or from one entry of a loop to the next.
//! - *Determined by the round*: computed from that and from the loop's own variables, which start from it and whose next values
//!   are determined by the round; or chosen between such values by branches that are. In round k of every entry, every thread of the block has the same one.
//!   Where all threads enter the loop in the same rounds of a loop around it, what those determine counts as well: then the entries
//!   differ, but in round k of the n-th entry every thread has the same one.
//! - *Fixed in the loop*: computed from values that were there before the loop, and from the thread's place. A thread has the
//!   same one in all rounds of one entry; other threads may have others.

use std::collections::HashSet;

use super::{natural_loops::NaturalLoop, ways::Ways};
use crate::llvm::{Block, Value};

const SPECIAL_REGISTER: &str = "llvm.nvvm.read.ptx.sreg.";
/// The registers that all threads of a block read alike.
const OF_BLOCK: [&str; 4] = ["cluster.", "ctaid.", "nctaid.", "ntid."];
/// And those that a thread reads alike each time.
const OF_THREAD: [&str; 2] = ["laneid", "tid."];

/// The values of a function that are constant in a launch.
pub(super) struct LaunchConstants<'c> {
    computed: HashSet<Value<'c>>,
    is_kernel: bool,
}

impl<'c> LaunchConstants<'c> {
    /// Of a function with these blocks, in forward order. The parameters of a kernel are those of the launch.
    pub(super) fn of(blocks: &[Block<'c>], is_kernel: bool) -> Self {
        let mut constants = Self { computed: HashSet::new(), is_kernel };
        // But for phis, a value is computed before it is used, so that one walk finds all.
        for instruction in blocks.iter().flat_map(|block| block.instructions()) {
            if is_register(instruction, &OF_BLOCK)
                || is_computed_from(instruction, |operand| constants.contain(operand))
            {
                constants.computed.insert(instruction);
            }
        }
        constants
    }

    pub(super) fn contain(&self, value: Value<'c>) -> bool {
        is_given(value) || (self.is_kernel && value.is_parameter()) || self.computed.contains(&value)
    }
}

/// What is known of the values of one loop.
pub(super) struct Rounds<'a, 'c> {
    whole: &'a NaturalLoop<'c>,
    /// The values in the loop that the round determines.
    determined: HashSet<Value<'c>>,
    /// The values that are determined by the rounds of the loops around it.
    around: HashSet<Value<'c>>,
    /// The values in the loop that are fixed in it.
    fixed: HashSet<Value<'c>>,
    constants: &'a LaunchConstants<'c>,
}

impl<'a, 'c> Rounds<'a, 'c> {
    pub(super) fn of(
        whole: &'a NaturalLoop<'c>,
        ways: &Ways<'c>,
        constants: &'a LaunchConstants<'c>,
        around: HashSet<Value<'c>>,
    ) -> Self {
        let mut rounds = Self { whole, determined: HashSet::new(), around, fixed: HashSet::new(), constants };
        rounds.find_fixed();
        rounds.find_determined(ways);
        rounds
    }

    /// Whether a value is the same in all threads of the block in the same round of the same entry, and of whichever entry if the loops around
    /// it determine nothing.
    pub(super) fn determines(&self, value: Value<'c>) -> bool {
        self.is_given_to_entries(value) || self.determined.contains(&value)
    }

    /// Whether the round determines where a block goes on.
    pub(super) fn decides(&self, block: &Block<'c>) -> bool {
        block.decided_by().is_some_and(|value| self.determines(value))
    }

    /// All values that the round determines, or those of the loops around it.
    pub(super) fn into_determined(mut self) -> HashSet<Value<'c>> {
        self.determined.extend(self.around);
        self.determined
    }

    /// Whether all threads of the block have the same value at their n-th entry.
    fn is_given_to_entries(&self, value: Value<'c>) -> bool {
        self.constants.contain(value) || self.around.contains(&value)
    }

    /// Whether a thread has the same value in all rounds of an entry; of entries with different rounds, in all of all entries.
    pub(super) fn fixes(&self, value: Value<'c>) -> bool {
        if !self.around.is_empty() {
            return self.constants.contain(value);
        }
        let is_computed_before = || value.block().is_some_and(|block| !self.whole.contains(block));
        is_given(value) || value.is_parameter() || self.fixed.contains(&value) || is_computed_before()
    }

    fn find_fixed(&mut self) {
        for instruction in self.whole.instructions() {
            let is_register = is_register(instruction, &OF_BLOCK) || is_register(instruction, &OF_THREAD);
            if is_register || is_computed_from(instruction, |operand| self.fixes(operand)) {
                self.fixed.insert(instruction);
            }
        }
    }

    /// Whether an instruction is a phi of ways that meet in the block at this place, and the round determines which way and the value that comes by it.
    fn determines_choice(&self, phi: Value<'c>, place: usize, ways: &Ways<'c>) -> bool {
        let before = &self.whole.blocks[..place];
        let is_decided = |block: &Block<'c>| self.decides(block);
        let comes_as_determined = |&(value, from): &(Value<'c>, Block<'c>)| {
            let splits = from.successors().len() > 1;
            self.determines(value)
                && before.contains(&from)
                && (!splits || is_decided(&from))
                && ways.decide(from).iter().all(is_decided)
        };
        phi.incoming().is_some_and(|incoming| incoming.iter().all(comes_as_determined))
    }

    /// Takes all variables of the loop for determined at first, and none whose start or next value is not.
    fn find_determined(&mut self, ways: &Ways<'c>) {
        let mut variables: Vec<_> = self
            .whole
            .first()
            .instructions()
            .into_iter()
            .filter_map(|variable| Some((variable, variable.incoming()?)))
            .collect();
        loop {
            self.determined = variables.iter().map(|(variable, _)| *variable).collect();
            for (place, block) in self.whole.blocks.iter().enumerate() {
                for instruction in block.instructions() {
                    if is_computed_from(instruction, |operand| self.determines(operand))
                        || (place > 0 && self.determines_choice(instruction, place, ways))
                    {
                        self.determined.insert(instruction);
                    }
                }
            }
            let count = variables.len();
            variables.retain(|(_, values)| {
                values.iter().all(|&(value, from)| match self.whole.contains(from) {
                    true => self.determines(value),
                    false => self.is_given_to_entries(value),
                })
            });
            if variables.len() == count {
                return;
            }
        }
    }
}

/// Whether a value is one of the program's text. What LLVM may take for any value is not.
fn is_given(value: Value<'_>) -> bool {
    value.is_constant() && !value.is_undefined()
}

/// Whether an instruction's result depends on nothing but operands that are known.
fn is_computed_from<'c>(instruction: Value<'c>, is_known: impl Fn(Value<'c>) -> bool) -> bool {
    instruction.only_computes() && instruction.operands().all(is_known)
}

fn is_register(instruction: Value<'_>, names: &[&str]) -> bool {
    instruction.called().is_some_and(|called| {
        let name = called.name();
        name.strip_prefix(SPECIAL_REGISTER)
            .is_some_and(|register| names.iter().any(|name| register.starts_with(name)))
    })
}

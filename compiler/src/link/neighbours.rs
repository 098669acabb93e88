//! Before the last half of the optimiser: neighbours of an index that is inside are inside, unless there is no element.
//!
//! Stencils are written `if 0 < i && i < n - 1 { … x[i - 1] … x[i + 1] … }`. With no element, `n - 1` wraps round and every `i` is less, so that LLVM
//! keeps the check of each neighbour: eight in a volume, for each element. All that is left to ask is whether `n` is zero, and that is the same for
//! all elements.
//!
//! It relies on arithmetic: if `i < n - 1` as unsigned numbers and `n` is not zero, then `i` and `i + 1` are less than `n`, and so is `i - 1` if `i` is not
//! zero. Nothing is less than `n` if that is zero. None of these sums wraps, whether it is computed before a number is widened or after that.

use super::dominance::Dominance;
use crate::llvm::{Block, Comparison, Module, Opcode, Value};

/// Replaces the comparisons of neighbours in all functions, where a block uses them in which the index is known to be inside.
pub(super) fn bound(module: &Module<'_>) {
    for function in module.functions() {
        let dominance = Dominance::of(function);
        for block in &dominance.order {
            let mut inside = None;
            for user in block.instructions() {
                if user.opcode() == Opcode::PHI {
                    continue;
                }
                // The comparison may stand before the branch: in a loop that is none any more, LLVM has moved it there.
                for (place, compare) in (0..).zip(user.operands()) {
                    let Some((is_less, index, end)) = less_than(compare) else { continue };
                    let inside = inside.get_or_insert_with(|| Inside::of(&dominance, *block));
                    let Some(end) = inside.has_neighbour(index, end) else { continue };
                    let comparison = if is_less { Comparison::NOT_EQUAL } else { Comparison::EQUAL };
                    if let Some(with_zero) = module.compare_with_zero_before(user, comparison, end) {
                        user.set_operand(place, with_zero);
                    }
                }
            }
        }
    }
}

/// Whether a comparison says that one number is less than another as an unsigned one, or that it is not, and the two.
pub(super) fn less_than(compare: Value<'_>) -> Option<(bool, Value<'_>, Value<'_>)> {
    let mut operands = compare.operands();
    let comparison = compare.comparison()?;
    let (left, right) = (operands.next()?, operands.next()?);
    match comparison {
        Comparison::UNSIGNED_LESS => Some((true, left, right)),
        Comparison::UNSIGNED_GREATER => Some((true, right, left)),
        Comparison::UNSIGNED_GREATER_EQUAL => Some((false, left, right)),
        Comparison::UNSIGNED_LESS_EQUAL => Some((false, right, left)),
        _ => None,
    }
}

/// What is known of indices in a block, before they are widened.
struct Inside<'c> {
    /// `i` and `n` with `i < n - 1`.
    of_ends: Vec<(Value<'c>, Value<'c>)>,
    not_zero: Vec<Value<'c>>,
}

impl<'c> Inside<'c> {
    fn of(dominance: &Dominance<'c>, block: Block<'c>) -> Self {
        let mut inside = Self { of_ends: Vec::new(), not_zero: Vec::new() };
        for (branch, side) in dominance.branches_before(block) {
            if let (Some(condition), Some(ways)) = (branch.decided_by(), branch.conditional_branch()) {
                inside.note(condition, side == ways.successors[0]);
            }
        }
        inside
    }

    /// Notes what follows from a condition that holds, or does not.
    fn note(&mut self, condition: Value<'c>, holds: bool) {
        let is = |value: Value<'c>, number| value.constant_number() == Some(number);
        if let Some((is_less, index, end)) = less_than(condition) {
            match end.operands_of(Opcode::ADD) {
                _ if is_less != holds => {}
                Some([end, less]) if less.is_minus_one() => self.of_ends.push((narrow(index), narrow(end))),
                _ if is(index, 0) => self.not_zero.push(narrow(end)),
                _ => {}
            }
        } else if let Some(comparison) = condition.comparison() {
            let [left, right] = [0, 1].map(|index| condition.operands().nth(index));
            let differs =
                comparison == Comparison::NOT_EQUAL && holds || comparison == Comparison::EQUAL && !holds;
            if let (true, Some(left), Some(right)) = (differs, left, right)
                && is(right, 0)
            {
                self.not_zero.push(narrow(left));
            }
        } else {
            let both = match (condition.operands_of::<2>(Opcode::AND), condition.operands_of::<2>(Opcode::OR))
            {
                (Some(both), _) if holds => Some(both),
                (_, Some(both)) if !holds => Some(both),
                _ => condition.operands_of(Opcode::SELECT).and_then(|[one, then, otherwise]| {
                    if holds {
                        is(otherwise, 0).then_some([one, then])
                    } else {
                        is(then, 1).then_some([one, otherwise])
                    }
                }),
            };
            both.into_iter().flatten().for_each(|part| self.note(part, holds));
        }
    }

    /// The end if the index is one that is known to be inside, or a neighbour of such a one.
    fn has_neighbour(&self, index: Value<'c>, end: Value<'c>) -> Option<Value<'c>> {
        let (index, end) = (narrow(index), narrow(end));
        let (of, may_be_zero) = match index.operands_of(Opcode::ADD) {
            Some([of, one]) if one.constant_number() == Some(1) => (narrow(of), true),
            Some([of, less]) if less.is_minus_one() => (narrow(of), false),
            _ => (index, true),
        };
        let is_known = self.of_ends.contains(&(of, end)) && (may_be_zero || self.not_zero.contains(&of));
        is_known.then_some(end)
    }
}

/// What a number was before it was widened with zeros, if it was.
pub(super) fn narrow(value: Value<'_>) -> Value<'_> {
    value.operands_of(Opcode::ZERO_EXTEND).map_or(value, |[narrow]| narrow)
}

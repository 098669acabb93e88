//! Whether the rounds of a loop may be copied, when threads do something together in it.
//!
//! Threads that make different numbers of rounds may come to copies of one operation, and a warp whose lanes wait in different places
//! waits for ever. That does not happen where
//!
//! 1. every thread of the block makes the same rounds each time that it enters the loop: its exits are decided by what the round
//!    determines ([`uniformity`](super::uniformity)). Exits into a panic do not count: that thread comes to no further operation;
//! 2. each operation is done in the same rounds of each entry, or in none of an entry: branches around it are decided by the round,
//!    or else by what is fixed in the loop;
//! 3. the lanes or the barrier for which it waits are fixed in the loop. What a function waits for that is called is not looked into.
//!
//! The operations of a program meet in order: the n-th time that a thread comes to an operation for the same lanes, the others come to it
//! for the n-th time too ("Not enforced" in gpu-std's documentation). Each entry that does the operation at all does it equally often, in the
//! same rounds; so n alone says which round it is, and which copy. How often and from where the loop is entered does not matter.
//!
//! A loop in another one may make other rounds at each entry (a bitonic sort: `step = size / 2`). Then n says which entry and which round it is
//! if the n-th entry has the same rounds in every thread, because the round of the loop around it determines whether it is entered, and with what.
//! Operations have to be done in the same rounds by all threads then, for lanes that never change.

use std::collections::HashSet;

use super::{
    natural_loops::NaturalLoop,
    operations::Operations,
    uniformity::{LaunchConstants, Rounds},
    ways::Ways,
};
use crate::llvm::{Block, Value};

/// Whether all threads that an operation waits for come to the same copy of it if rounds are copied: the three conditions above. Of the loops inside,
/// those with operations have been found to be such themselves.
///
/// `loops` are all of the function.
pub(super) fn copies_are_alike<'c>(
    whole: &NaturalLoop<'c>,
    loops: &[NaturalLoop<'c>],
    operations: &Operations<'c>,
    constants: &LaunchConstants<'c>,
) -> bool {
    if entries_are_alike(whole, operations, constants, HashSet::new()) {
        return true;
    }
    let around = determined_around(whole, loops, operations, constants);
    !around.is_empty() && entries_are_alike(whole, operations, constants, around)
}

/// The values that the rounds of the loops around this one determine, if each decides alike for all threads whether this one is entered.
fn determined_around<'c>(
    whole: &NaturalLoop<'c>,
    loops: &[NaturalLoop<'c>],
    operations: &Operations<'c>,
    constants: &LaunchConstants<'c>,
) -> HashSet<Value<'c>> {
    let is_around =
        |other: &&NaturalLoop<'c>| other.first() != whole.first() && other.contains(whole.first());
    let Some(other) = loops.iter().filter(is_around).min_by_key(|other| other.blocks.len()) else {
        return HashSet::new();
    };
    let ways = Ways::of(other, operations);
    let rounds = Rounds::of(other, &ways, constants, determined_around(other, loops, operations, constants));
    let is_entered_alike = ways.decide(whole.first()).iter().all(|block| rounds.decides(block));
    match exits_are_alike(other, &ways, &rounds) && is_entered_alike {
        true => rounds.into_determined(),
        false => HashSet::new(),
    }
}

/// The first condition.
fn exits_are_alike<'c>(whole: &NaturalLoop<'c>, ways: &Ways<'c>, rounds: &Rounds<'_, 'c>) -> bool {
    let by_round = |block: &Block<'c>| rounds.decides(block);
    !whole.is_tangled
        && ways.exits.iter().all(|exit| by_round(exit) && ways.decide(*exit).iter().all(by_round))
}

/// The three conditions, with what the loops around determine.
fn entries_are_alike<'c>(
    whole: &NaturalLoop<'c>,
    operations: &Operations<'c>,
    constants: &LaunchConstants<'c>,
    around: HashSet<Value<'c>>,
) -> bool {
    let ways = Ways::of(whole, operations);
    let rounds = Rounds::of(whole, &ways, constants, around);
    let by_round = |block: &Block<'c>| rounds.decides(block);
    let by_thread = |block: &Block<'c>| block.decided_by().is_some_and(|value| rounds.fixes(value));
    exits_are_alike(whole, &ways, &rounds)
        && whole.blocks.iter().all(|block| {
            let here: Vec<_> =
                block.instructions().into_iter().filter(|call| operations.include(*call)).collect();
            if here.is_empty() {
                return true;
            }
            let mut deciding = ways.decide(*block).to_vec();
            deciding.retain(|branch| !ways.exits.contains(branch));
            (deciding.iter().all(by_round) || deciding.iter().all(by_thread))
                && here.iter().all(|call| operations.wait_for_the_same(*call, &rounds))
        })
}

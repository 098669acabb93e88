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

use super::{
    natural_loops::NaturalLoop,
    operations::Operations,
    uniformity::{LaunchConstants, Rounds},
    ways::Ways,
};
use crate::llvm::Block;

/// Whether all threads that an operation waits for come to the same copy of it if rounds are copied: the three conditions above. Of the loops inside,
/// those with operations have been found to be such themselves.
pub(super) fn copies_are_alike<'c>(
    whole: &NaturalLoop<'c>,
    operations: &Operations<'c>,
    constants: &LaunchConstants<'c>,
) -> bool {
    let ways = Ways::of(whole, operations);
    let rounds = Rounds::of(whole, &ways, constants);
    let by_round = |block: &Block<'c>| block.decided_by().is_some_and(|value| rounds.determines(value));
    let by_thread = |block: &Block<'c>| block.decided_by().is_some_and(|value| rounds.fixes(value));
    let exits_are_alike =
        ways.exits.iter().all(|exit| by_round(exit) && ways.decide(*exit).iter().all(by_round));
    !whole.is_tangled
        && exits_are_alike
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

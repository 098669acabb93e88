//! Votes, matches, reductions and elections of some lanes of a warp: those whose result nothing reads become the barrier of these lanes
//! that they also are, and `match.all` becomes `match.any`.
//!
//! ptxas 13 lets one set of lanes after the other through such an operation (`WARPSYNC.EXCLUSIVE`) and joins them behind it. If it
//! finds that nothing reads the result, it erases the operation and the join and leaves the lanes apart, without knowing that they
//! are: a barrier of the block behind the next branch is then reached by a few lanes at a time, each counting as the whole warp.
//! Other threads run through it and read shared memory that is not written yet (sm_90; random programs 301 and 800; the same PTX by
//! hand gave wrong sums on an H200 for `vote`, `match`, `redux` and `elect`, and right ones with `bar.warp.sync`).
//!
//! Of `match.all` it knows the result where the value is the same for the whole warp, such as a parameter, and erases it likewise. Of
//! `match.any` it knows nothing.
//!
//! Where the lanes are all 32 of the warp, written as a constant, there is nothing to let through.

use super::{Function, Instruction};

pub(super) fn rewritten(vote: &Instruction<'_>, function: &Function<'_>) -> Option<String> {
    let (results, [.., lanes]) = vote.operands.split_first()? else { return None };
    if is_whole_warp(lanes) {
        return None;
    }
    if function.ignores(vote) {
        return Some(format!("bar.warp.sync \t{lanes};"));
    }
    let kind = vote.name.strip_prefix("match.all.sync.")?;
    let [_, value, _] = vote.operands[..] else { return None };
    let (same, all) = results.split_once('|').unwrap_or((results, "_"));
    let (same, all) = (named_or(same, "%unread"), named_or(all, "%all"));
    Some(format!(
        "{{ .reg .b32 %alike, %unread; .reg .pred %all; match.any.sync.{kind} %alike, {value}, {lanes}; \
         setp.eq.b32 {all}, %alike, {lanes}; selp.b32 {same}, {lanes}, 0, {all}; }}"
    ))
}

fn is_whole_warp(lanes: &str) -> bool {
    matches!(lanes.to_ascii_lowercase().as_str(), "-1" | "4294967295" | "0xffffffff")
}

/// A result, or another register where it has none.
fn named_or<'a>(result: &'a str, other: &'a str) -> &'a str {
    if result == "_" { other } else { result }
}

#[cfg(test)]
mod tests {
    use crate::link::instructions::tests::{becomes, stay};

    #[test]
    fn operations_whose_result_nothing_reads_become_barriers() {
        for operation in [
            "vote.sync.ballot.b32 \t%r2, %p1, %r1;",
            "vote.sync.all.pred \t%p2, %p1, %r1;",
            "match.any.sync.b32 \t%r2, %r3, %r1;",
            "match.any.sync.b64 \t%r2, %rd3, %r1;",
            "match.all.sync.b32 \t%r2|%p2, 0, %r1;",
            "redux.sync.xor.b32 \t%r2, %r3, %r1;",
            "elect.sync \t%r2|%p2, %r1;",
            "elect.sync \t_|%p2, %r1;",
        ] {
            becomes(&format!("\t{operation}"), "\tbar.warp.sync \t%r1;");
        }
        becomes("\tvote.sync.ballot.b32 \t%r2, %p1, 15;", "\tbar.warp.sync \t15;");
    }

    #[test]
    fn operations_whose_result_is_read_stay() {
        stay(&[
            "\tvote.sync.ballot.b32 \t%r2, %p1, %r1;\n\tmov.b32 \t%r3, %r2;",
            "\tmatch.any.sync.b32 \t%r2, %r3, %r1;\n\tmov.b32 \t%r3, %r2;",
            "\telect.sync \t%r2|%p2, %r1;\n\t@%p2 bra \t$L;",
            "\tmatch.all.sync.b32 \t%r2|%p2, %r3, -1;\n\t@%p2 bra \t$L;",
            "\tvote.sync.ballot.b32 \t%r2, %p1, -1;",
        ]);
    }

    #[test]
    fn a_match_of_all_lanes_is_one_of_any() {
        let read = "\n\tselp.b32 \t%r4, %r2, 1, %p2;";
        becomes(
            &format!("\tmatch.all.sync.b32 \t%r2|%p2, %r3, %r1;{read}"),
            &format!(
                "\t{{ .reg .b32 %alike, %unread; .reg .pred %all; match.any.sync.b32 %alike, %r3, %r1; \
                 setp.eq.b32 %p2, %alike, %r1; selp.b32 %r2, %r1, 0, %p2; }}{read}"
            ),
        );
        becomes(
            &format!("\tmatch.all.sync.b64 \t_|%p2, %rd3, %r1;{read}"),
            &format!(
                "\t{{ .reg .b32 %alike, %unread; .reg .pred %all; match.any.sync.b64 %alike, %rd3, %r1; \
                 setp.eq.b32 %p2, %alike, %r1; selp.b32 %unread, %r1, 0, %p2; }}{read}"
            ),
        );
        becomes(
            &format!("\tmatch.all.sync.b32 \t%r2, %r3, %r1;{read}"),
            &format!(
                "\t{{ .reg .b32 %alike, %unread; .reg .pred %all; match.any.sync.b32 %alike, %r3, %r1; \
                 setp.eq.b32 %all, %alike, %r1; selp.b32 %r2, %r1, 0, %all; }}{read}"
            ),
        );
    }
}

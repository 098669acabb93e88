//! Atomics whose result nothing reads become `red`.
//!
//! LLVM 22 writes `atom` for each `atomicrmw`, and ptxas 13 mostly makes a reduction (`REDG`) of one whose result register is
//! unused, but not behind code that has atomics of its own, such as the record of a panic: there `ATOMG … RZ` was left, which waits
//! for a value that nobody wants. PTX defines `red` as `atom` without the result (PTX ISA, "Parallel Synchronization and
//! Communication Instructions: red"), with the same address spaces, scopes and types; it has no acquire order, no `exch` and no
//! `cas`.

use super::{Function, Instruction};

/// The operations of `red`.
const OPERATIONS: [&str; 8] = ["add", "and", "or", "xor", "min", "max", "inc", "dec"];

pub(super) fn without_result(atomic: &Instruction<'_>, function: &Function<'_>) -> Option<String> {
    let suffixes = atomic.name.strip_prefix("atom")?;
    // `red` has relaxed and release order; what is acquired is acquired by the value that is read.
    let is_ordered = suffixes.contains(".acq");
    let has_one = suffixes.split('.').any(|part| OPERATIONS.contains(&part));
    let fits = has_one && !is_ordered && function.ignores(atomic);
    fits.then(|| format!("red{suffixes} \t{};", atomic.operands[1..].join(", ")))
}

#[cfg(test)]
mod tests {
    use crate::link::instructions::tests::{becomes, stay};

    #[test]
    fn unused_results_are_dropped() {
        becomes("\tatom.global.add.u32 \t%r2, [%rd2], 1;", "\tred.global.add.u32 \t[%rd2], 1;");
        becomes("\tatom.shared.inc.u32 %r2, [%rd2+4], %r1;", "\tred.shared.inc.u32 \t[%rd2+4], %r1;");
        becomes(
            "atom.relaxed.sys.global.max.s64 %rd1, [%rd2], %rd3;",
            "red.relaxed.sys.global.max.s64 \t[%rd2], %rd3;",
        );
        becomes("\tatom.add.noftz.f16x2 \t%r2, [%rd2], %r1;", "\tred.add.noftz.f16x2 \t[%rd2], %r1;");
    }

    #[test]
    fn used_results_stay() {
        stay(&[
            "\tatom.global.add.u32 \t%r2, [%rd2], 1;\n\tst.global.b32 \t[%rd1], %r2;",
            "\tadd.s32 \t%r3, %r2, 1;\n\tatom.global.add.u32 \t%r2, [%rd2], 1;",
            // Its own operand.
            "\tatom.global.add.u32 \t%r2, [%rd2], %r2;",
            "\tatom.global.exch.b32 \t%r2, [%rd2], 1;",
            "\tatom.global.cas.b32 \t%r2, [%rd2], 1, 2;",
            "\tatom.acquire.gpu.global.add.u32 \t%r2, [%rd2], 1;",
            "\tatom.acq_rel.gpu.global.add.u32 \t%r2, [%rd2], 1;",
        ]);
    }
}

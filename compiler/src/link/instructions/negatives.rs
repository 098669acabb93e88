//! Negatives of which minima and maxima are taken, and absolute values, are computed from other instructions. This works around ptxas.
//!
//! Of the minimum of three numbers of 32 bits ptxas 13 makes one instruction, and forgets the sign of one that is a negative:
//! `a.min(-b).min(c)` becomes `VIMNMX3 R5, R5, R0, R4, PT` (sm_90; random program 33996, as the larger of a number and its negative).
//!
//! It takes the result of `abs` for a number that is not negative: `x.wrapping_abs() < 0` was always false, and
//! `x.saturating_add(x.unsigned_abs() as i64)` wrong for the smallest `x` (sm_90; random program 2008). PTX does not say what `abs` is
//! there (PTX ISA, "Integer Arithmetic Instructions: abs"), LLVM writes it for `llvm.abs` all the same. Of `max` ptxas believes nothing.

use super::{Function, Instruction};

/// `~x + 1`, if it goes where a minimum may take it from.
pub(super) fn of_extremes(negative: &Instruction<'_>, function: &Function<'_>) -> Option<String> {
    // Copies, through which ptxas looks, and inline assembly, which is not looked into here.
    const READERS: [&str; 4] = ["min.s32", "max.s32", "mov.b32", "{"];
    let [result, number] = negative.operands[..] else { return None };
    let readers = function.named_by.get(result)?;
    let may_be_forgotten = readers.iter().any(|reader| READERS.contains(reader));
    may_be_forgotten
        .then(|| format!("{{ .reg .b32 %other; not.b32 %other, {number}; add.s32 {result}, %other, 1; }}"))
}

/// The larger of a number and its negative.
pub(super) fn absolute(absolute: &Instruction<'_>, _: &Function<'_>) -> Option<String> {
    let [result, number] = absolute.operands[..] else { return None };
    absolute_value(absolute.name.strip_prefix("abs.s")?.parse().ok()?, result, number)
}

/// PTX for the absolute value of a number of so many bits.
pub(in crate::link) fn absolute_value(bits: u32, result: &str, number: &str) -> Option<String> {
    match bits {
        16 => Some(format!(
            "{{ .reg .b32 %wide, %negative; cvt.s32.s16 %wide, {number}; not.b32 %negative, %wide; \
             add.s32 %negative, %negative, 1; max.s32 %wide, %wide, %negative; cvt.u16.u32 {result}, %wide; }}"
        )),
        32 => Some(format!(
            "{{ .reg .b32 %negative; not.b32 %negative, {number}; add.s32 %negative, %negative, 1; \
             max.s32 {result}, {number}, %negative; }}"
        )),
        64 => Some(format!(
            "{{ .reg .b64 %negative; neg.s64 %negative, {number}; max.s64 {result}, {number}, %negative; }}"
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::link::instructions::tests::{becomes, stay};

    #[test]
    fn negatives_that_extremes_take_are_computed_by_hand() {
        for reader in ["max.s32 \t%r3, %r2, %r4;", "min.s32 \t%r3, %r4, %r2;", "mov.b32 \t%r3, %r2;"] {
            becomes(
                &format!("\tneg.s32 \t%r2, %r1;\n\t{reader}"),
                &format!(
                    "\t{{ .reg .b32 %other; not.b32 %other, %r1; add.s32 %r2, %other, 1; }}\n\t{reader}"
                ),
            );
        }
        stay(&[
            "\tneg.s32 \t%r2, %r1;\n\tand.b32 \t%r3, %r2, 31;\n\tmax.s32 \t%r5, %r3, %r4;",
            "\tneg.s32 \t%r2, %r1;\n\tmin.u32 \t%r3, %r2, %r4;",
        ]);
    }

    #[test]
    fn absolute_values_are_maxima() {
        becomes(
            "\tabs.s32 \t%r2, %r1;",
            "\t{ .reg .b32 %negative; not.b32 %negative, %r1; add.s32 %negative, %negative, 1; \
             max.s32 %r2, %r1, %negative; }",
        );
        becomes(
            "\tabs.s64 \t%rd2, %rd1;",
            "\t{ .reg .b64 %negative; neg.s64 %negative, %rd1; max.s64 %rd2, %rd1, %negative; }",
        );
        stay(&["\tabs.f32 \t%r2, %r1;", "\tabs.bf16x2 \t%r2, %r1;"]);
    }
}

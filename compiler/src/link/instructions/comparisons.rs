//! Comparisons of two numbers of 32 bits: one instruction where a comparison of 64 takes two.
//!
//! The linker compares in 32 bits what it knows to fit (`shorten-comparisons`). LLVM writes a comparison of the lower half of a number with a constant as
//! one of 64 bits behind an `and.b64`, and ptxas compares the halves that are zero.
//!
//! It relies on arithmetic: numbers below 2³² compare as their lower halves do, as signed ones too.

use super::{Function, Instruction, small::Narrowed};

/// `setp` of small numbers of 64 bits.
pub(super) fn in_32_bits(comparison: &Instruction<'_>, function: &Function<'_>) -> Option<String> {
    let (asked, kind) = comparison.name.strip_prefix("setp.")?.split_once('.')?;
    let kind = match kind {
        "b64" => "b32",
        "u64" | "s64" => "u32",
        _ => return None,
    };
    let [result, _, _] = comparison.operands[..] else { return None };
    let Narrowed { before, a, b } = Narrowed::of(comparison, function)?;
    Some(format!("{{ .reg .b32 %a, %b; {before}setp.{asked}.{kind} {result}, {a}, {b}; }}"))
}

#[cfg(test)]
mod tests {
    use crate::link::instructions::tests::{becomes, stay};

    const KNOWN: &str = "\tcvt.u64.u32 \t%rd1, %r1;\n\tand.b64 \t%rd2, %rd4, 4294967168;\n";

    #[test]
    fn comparisons_of_what_fits_are_of_32_bits() {
        for (comparison, short) in [
            ("setp.ne.b64 \t%p1, %rd2, 4096;", "cvt.u32.u64 %a, %rd2; setp.ne.b32 %p1, %a, 4096;"),
            (
                "setp.lt.s64 \t%p1, %rd1, %rd2;",
                "cvt.u32.u64 %a, %rd1; cvt.u32.u64 %b, %rd2; setp.lt.u32 %p1, %a, %b;",
            ),
            (
                "setp.ge.u64 \t%p1, %rd1, 4294967295;",
                "cvt.u32.u64 %a, %rd1; setp.ge.u32 %p1, %a, 4294967295;",
            ),
        ] {
            becomes(&format!("{KNOWN}\t{comparison}"), &format!("{KNOWN}\t{{ .reg .b32 %a, %b; {short} }}"));
        }
    }

    #[test]
    fn other_comparisons_stay() {
        stay(&[
            &format!("{KNOWN}\tsetp.lt.s64 \t%p1, %rd1, %rd4;"),
            &format!("{KNOWN}\tsetp.gt.s64 \t%p1, %rd1, -1;"),
            &format!("{KNOWN}\tsetp.lt.b32 \t%p1, %r1, %r2;"),
            &format!("{KNOWN}\tsetp.eq.and.b64 \t%p1, %rd1, %rd2, %p2;"),
            &format!("{KNOWN}\tsetp.neu.f64 \t%p1, %rd1, %rd2;"),
        ]);
    }
}

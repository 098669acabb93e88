//! Products of two numbers of 32 bits: one instruction where a product of 64 bits takes three or four.
//!
//! LLVM looks at a block alone while it chooses instructions. An extent that was widened where the kernel starts (`cvt.u64.u32 %rd1, %r1`) is any
//! 64 bits to it where it is a factor, and ptxas adds the halves that are zero. The factors are narrowed again, which takes no instruction.
//!
//! It relies on what the name says: `mul.wide.u32` multiplies without a loss.

use super::{Function, Instruction, small::Narrowed};

/// `mul.lo.s64` and `mad.lo.s64` of small factors.
pub(super) fn wide(product: &Instruction<'_>, function: &Function<'_>) -> Option<String> {
    let (name, addend) = match product.operands[..] {
        [_, _, _] if product.name.starts_with("mul.") => ("mul.wide.u32", String::new()),
        [_, _, _, addend] => ("mad.wide.u32", format!(", {addend}")),
        _ => return None,
    };
    let Narrowed { before, a, b } = Narrowed::of(product, function)?;
    Some(format!("{{ .reg .b32 %a, %b; {before}{name} {}, {a}, {b}{addend}; }}", product.operands[0]))
}

#[cfg(test)]
mod tests {
    use crate::link::instructions::tests::{becomes, stay};

    const WIDENED: &str = "\tcvt.u64.u32 \t%rd1, %r1;\n\tcvt.u64.u32 \t%rd2, %r2;\n";

    #[test]
    fn products_of_what_was_widened_are_wide() {
        for (product, wide) in [
            (
                "mul.lo.s64 \t%rd3, %rd1, %rd2;",
                "cvt.u32.u64 %a, %rd1; cvt.u32.u64 %b, %rd2; mul.wide.u32 %rd3, %a, %b;",
            ),
            (
                "mul.lo.s64 \t%rd3, %rd1, 4294967295;",
                "cvt.u32.u64 %a, %rd1; mul.wide.u32 %rd3, %a, 4294967295;",
            ),
            (
                "mad.lo.s64 \t%rd3, %rd2, %rd1, %rd4;",
                "cvt.u32.u64 %a, %rd2; cvt.u32.u64 %b, %rd1; mad.wide.u32 %rd3, %a, %b, %rd4;",
            ),
        ] {
            becomes(&format!("{WIDENED}\t{product}"), &format!("{WIDENED}\t{{ .reg .b32 %a, %b; {wide} }}"));
        }
    }

    #[test]
    fn other_products_stay() {
        stay(&[
            &format!("{WIDENED}\tmul.lo.s64 \t%rd3, %rd1, %rd4;"),
            &format!("{WIDENED}\tmul.lo.s64 \t%rd3, %rd1, -1;"),
            &format!("{WIDENED}\tmul.lo.s64 \t%rd3, %rd1, 4294967296;"),
            &format!("{WIDENED}\tmul.hi.s64 \t%rd3, %rd1, %rd2;"),
            "\tcvt.s64.s32 \t%rd1, %r1;\n\tmul.lo.s64 \t%rd3, %rd1, %rd1;",
            "\tcvt.u64.u32 \t%a, %r1;\n\tmul.lo.s64 \t%rd3, %a, %a;",
            &format!("{WIDENED}\tmad.lo.s64 \t%rd3, %rd1, %rd2, %b;"),
            "\tcvt.u64.u32 \t%rd1, %r1;\n\tcvt.s64.s32 \t%rd2, %r2;\n\tmul.lo.s64 \t%rd3, %rd1, %rd2;",
        ]);
    }
}

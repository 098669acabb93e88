//! Before code generation: a product of two numbers that are extended from 32 bits becomes one instruction.
//!
//! A GPU multiplies two numbers of 32 bits to one of 64 by one instruction (`mul.wide`), and two of 64 bits by four. LLVM chooses the instructions of one block at a
//! time, and does not see that a factor was extended in another: the extension of an array's stride, which stays the same, is taken out of the loop over positions. A kernel for
//! arrays of any strides took four instructions for each axis of each array in place of one.
//!
//! It relies on arithmetic alone: the same extension is computed at another place, and of a number that is not negative either extension is the same.

use crate::llvm::{Module, Opcode, Value};

/// Extends factors where they are multiplied, everywhere in the module.
pub(super) fn extend_in_place(module: &Module<'_>) {
    for function in module.functions() {
        for product in function.instructions() {
            let Some([left, right]) = product.operands_of::<2>(Opcode::MULTIPLY) else { continue };
            let (Some(left), Some(right)) = (Factor::of(left), Factor::of(right)) else { continue };
            let is_signed =
                match (left.is_signed() && right.is_signed(), left.is_unsigned() && right.is_unsigned()) {
                    (true, _) => true,
                    (false, true) => false,
                    (false, false) => continue,
                };
            for (index, factor) in (0..).zip([left, right]) {
                if let Factor::Extended { narrow, .. } = factor
                    && let Some(extended) = narrow.extended_before(module, product, is_signed)
                {
                    product.set_operand(index, extended);
                }
            }
        }
    }
}

/// A factor of 64 bits whose value has 32.
#[derive(Clone, Copy)]
enum Factor<'c> {
    Extended { narrow: Narrow<'c>, is_signed: bool, is_unsigned: bool },
    Constant(i64),
}

/// A number of 32 bits.
#[derive(Clone, Copy)]
enum Narrow<'c> {
    Number(Value<'c>),
    LowerHalf(Value<'c>),
}

impl<'c> Narrow<'c> {
    fn extended_before(self, module: &Module<'c>, product: Value<'c>, is_signed: bool) -> Option<Value<'c>> {
        let arithmetic = module.arithmetic(product);
        let number = match self {
            Self::Number(number) => number,
            Self::LowerHalf(number) => arithmetic.short(number)?,
        };
        arithmetic.extended(number, is_signed)
    }
}

impl<'c> Factor<'c> {
    fn of(value: Value<'c>) -> Option<Self> {
        if value.integer_bits()? != 64 {
            return None;
        }
        if let Some(number) = value.constant_number() {
            return Some(Self::Constant(number as i64));
        }
        let extended =
            |narrow, is_signed, is_unsigned| Some(Self::Extended { narrow, is_signed, is_unsigned });
        let is_word = |narrow: &Value<'c>| narrow.integer_bits() == Some(32);
        if let Some([narrow]) = value.operands_of(Opcode::SIGN_EXTEND) {
            return extended(Narrow::Number(Some(narrow).filter(is_word)?), true, false);
        }
        if let Some([narrow]) = value.operands_of(Opcode::ZERO_EXTEND) {
            return extended(Narrow::Number(Some(narrow).filter(is_word)?), value.widens_natural(), true);
        }
        if let Some([number, mask]) = value.operands_of(Opcode::AND) {
            let is_half = mask.constant_number() == Some(u32::MAX.into());
            return is_half.then(|| extended(Narrow::LowerHalf(number), false, true))?;
        }
        // What LLVM makes of a number's lower half with its sign.
        let [shifted, right] = value.operands_of(Opcode::SHIFT_RIGHT_SIGNED)?;
        let [number, left] = shifted.operands_of(Opcode::SHIFT_LEFT)?;
        let is_half = [right, left].map(Value::constant_number) == [Some(32); 2];
        is_half.then(|| extended(Narrow::LowerHalf(number), true, false))?
    }

    /// Whether it is the number of 32 bits with its sign.
    fn is_signed(self) -> bool {
        match self {
            Self::Extended { is_signed, .. } => is_signed,
            Self::Constant(number) => i32::try_from(number).is_ok(),
        }
    }

    /// Whether it is the number of 32 bits without a sign.
    fn is_unsigned(self) -> bool {
        match self {
            Self::Extended { is_unsigned, .. } => is_unsigned,
            Self::Constant(number) => u32::try_from(number).is_ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{Context, testing};

    /// The code of a function of these factors, which are extended before a loop.
    fn code(left: &str, right: &str) -> String {
        let text = format!(
            "define i64 @product(i32 %a, i32 %b, i64 %c, i64 %n) {{
            entry:
                %sa = sext i32 %a to i64
                %zb = zext i32 %b to i64
                %nb = zext nneg i32 %b to i64
                %high = shl i64 %c, 32
                %sc = ashr exact i64 %high, 32
                %zc = and i64 %c, 4294967295
                %most = ashr i64 %c, 32
                %few = and i64 %c, 255
                br label %loop
            loop:
                %i = phi i64 [ 0, %entry ], [ %next, %loop ]
                %sum = phi i64 [ 0, %entry ], [ %more, %loop ]
                %product = mul i64 {left}, {right}
                %more = add i64 %sum, %product
                %next = add i64 %i, 1
                %ends = icmp eq i64 %next, %n
                br i1 %ends, label %end, label %loop
            end:
                ret i64 %more
            }}"
        );
        let context = Context::new(testing::llvm());
        let module = Module::from_text(&context, &text, "products").unwrap();
        extend_in_place(&module);
        module.verify("products").unwrap();
        let text = module.to_text();
        text.lines().skip_while(|line| !line.starts_with("loop:")).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn factors_are_extended_where_they_are_multiplied() {
        for (left, right, extensions) in [
            ("%sa", "%sa", ["sext i32 %a", "sext i32 %a"]),
            ("%sa", "%nb", ["sext i32 %a", "sext i32 %b"]),
            ("%zb", "%nb", ["zext i32 %b", "zext i32 %b"]),
            ("%zb", "4294967295", ["zext i32 %b", "zext i32 %b"]),
            ("%sa", "%sc", ["sext i32 %a", "trunc i64 %c to i32"]),
            ("%zc", "%zb", ["zext i32 %b", "trunc i64 %c to i32"]),
            ("%sa", "-24", ["sext i32 %a", "sext i32 %a"]),
        ] {
            let code = code(left, right);
            assert!(extensions.iter().all(|extension| code.contains(extension)), "{left} {right}: {code}");
        }
    }

    #[test]
    fn other_products_stay_as_they_are() {
        for (left, right) in [
            ("%sa", "%zb"),
            ("%sa", "%c"),
            ("%c", "3"),
            ("%sa", "2147483648"),
            ("%zb", "-1"),
            ("%i", "%nb"),
            ("%sa", "%most"),
            ("%zb", "%few"),
            ("%sa", "%zc"),
        ] {
            let code = code(left, right);
            assert!(!code.contains("sext ") && !code.contains("zext "), "{left} {right}: {code}");
        }
    }
}

//! Text of a condition and of all that it depends on: the values of its constants and the types of its parameters.
//!
//! Host and device are compiled separately, and `cfg` may give them different constants. Hence the text is a line of the
//! kernel's [signature](crate::signature), which the first launch compares with that of the image.

use super::{
    condition::Operand,
    known::{Known, Tail, type_of},
};
use crate::{param::Param, signature::Sink};

/// The condition in `requires` of a kernel.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Condition {
    /// The source text; empty if nothing is required.
    pub text: &'static str,
    /// The parameters that the text names, in the order in which it does so first, each by its number among those that launches give: the parameters of one
    /// kernel may have each other's names on the host and on the device.
    pub parameters: &'static [usize],
    pub facts: &'static [Fact],
}

/// A constant or parameter of a condition.
#[derive(Clone, Copy, Debug)]
pub struct Fact {
    name: &'static str,
    ty: &'static str,
    /// Of a constant.
    bits: Option<u128>,
}

/// Returns the constant of this name.
pub const fn constant<T: Operand>(name: &'static str, value: T) -> Fact {
    const { assert!(size_of::<T>() <= 16) }
    let mut bytes = [0_u8; 16];
    // SAFETY: a primitive number or `bool` is as many initialised bytes as it has, which are not more than 16.
    unsafe { (&raw const value).cast::<u8>().copy_to_nonoverlapping(bytes.as_mut_ptr(), size_of::<T>()) };
    Fact { name, ty: T::TYPE, bits: Some(u128::from_le_bytes(bytes)) }
}

/// Returns the parameter of this name and type.
pub const fn parameter<P: Param<'static>>(name: &'static str) -> Fact
where
    P::Tail: Tail<P::Head>,
    Known<'static, P>: Operand,
{
    Fact { name, ty: type_of::<P>(), bits: None }
}

impl Condition {
    /// Nothing is required.
    pub const NONE: Self = Self { text: "", parameters: &[], facts: &[] };

    /// Writes the line of a signature: `x.len() >= LIMIT * n; of 1 0; LIMIT: usize = 0x4; n: usize`.
    pub(crate) const fn put(&self, sink: &mut Sink<'_>) {
        sink.word(if self.text.is_empty() { "nothing" } else { self.text });
        let mut i = 0;
        while i < self.parameters.len() {
            sink.word(if i == 0 { "; of " } else { " " });
            sink.number(self.parameters[i] as i128);
            i += 1;
        }
        let mut i = 0;
        while i < self.facts.len() {
            let Fact { name, ty, bits } = self.facts[i];
            sink.word("; ");
            sink.word(name);
            sink.word(": ");
            sink.word(ty);
            if let Some(bits) = bits {
                sink.word(" = ");
                sink.bits(bits);
            }
            i += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(condition: &Condition) -> std::string::String {
        crate::signature::written(|sink| condition.put(sink))
    }

    #[test]
    fn the_text_has_all_that_a_condition_depends_on() {
        const CONDITION: Condition = Condition {
            text: "n < LIMIT",
            parameters: &[2],
            facts: &[
                parameter::<i32>("n"),
                constant("LIMIT", -2_i32),
                constant("SCALE", 1.0_f32),
                constant("ON", true),
                constant("ZERO", 0_u8),
            ],
        };
        let text = "n < LIMIT; of 2; n: i32; LIMIT: i32 = 0xfffffffe; SCALE: f32 = 0x3f800000; ON: bool = 0x1; ZERO: u8 = 0x0";
        assert_eq!(written(&CONDITION), text);
        assert_eq!(written(&Condition::NONE), "nothing");
    }
}

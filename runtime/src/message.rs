//! Panic messages of a GPU: formats the recorded values with the template that rustc compiled from the format string.
//!
//! gpu-std's device/panic.rs writes them; `core::fmt::Arguments` documents the template.

use std::fmt;

use gpukernel_abi::{
    message::{self as layout, TEMPLATE, TEXT},
    rustc::location,
};

use crate::format::{Align, DebugHex, Integer, Spec, Style, Value, render};

/// Reads bytes of the device's memory.
pub(crate) type Read<'a> = dyn Fn(u64, usize) -> Option<Vec<u8>> + 'a;

/// The maximum length of a text; longer ones are taken for garbage.
const MAX_TEXT_BYTES: usize = 1 << 16;

/// A source location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SourceLocation {
    file: String,
    line: u32,
    column: u32,
}

impl SourceLocation {
    /// Reads a `core::panic::Location` from the device's memory.
    pub(crate) fn read(address: u64, read: &Read<'_>) -> Option<Self> {
        if address == 0 {
            return None;
        }
        let bytes = read(address, location::BYTES)?;
        let address_at = |at: usize| Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        let number_at = |at: usize| Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        let file = text(address_at(location::FILE)?, address_at(location::FILE_BYTES)?, read)?;
        Some(Self { file, line: number_at(location::LINE)?, column: number_at(location::COLUMN)? })
    }
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Reads a text from the device's memory.
pub(crate) fn text(address: u64, length: u64, read: &Read<'_>) -> Option<String> {
    let length = usize::try_from(length).ok().filter(|length| *length <= MAX_TEXT_BYTES)?;
    if length == 0 {
        return Some(String::new());
    }
    String::from_utf8(read(address, length)?).ok()
}

/// Formats the message of a panic.
pub(crate) fn of_panic(words: &[u32], formatters: &[String], read: &Read<'_>) -> String {
    if words.is_empty() {
        return "the kernels were built for release, which keeps the place of a panic and not its message"
            .to_owned();
    }
    let mut reader = Reader { words, formatters, read };
    let message = reader.message();
    message.unwrap_or_else(|| "its message cannot be read".to_owned())
}

struct Reader<'a> {
    words: &'a [u32],
    formatters: &'a [String],
    read: &'a Read<'a>,
}

impl Reader<'_> {
    fn word(&mut self) -> Option<u32> {
        let (word, rest) = self.words.split_first()?;
        self.words = rest;
        Some(*word)
    }

    fn address(&mut self) -> Option<u64> {
        Some(u64::from(self.word()?) | u64::from(self.word()?) << 32)
    }

    fn bytes(&mut self, count: usize) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        for _ in 0..count.div_ceil(4) {
            bytes.extend(self.word()?.to_le_bytes());
        }
        bytes.truncate(count);
        Some(bytes)
    }

    fn message(&mut self) -> Option<String> {
        let kind = self.word()?;
        let (address, length) = (self.address()?, self.word()?);
        if kind == TEXT {
            return text(address, length.into(), self.read);
        }
        let count = self.word()?;
        let template = (kind == TEMPLATE && length as usize <= MAX_TEXT_BYTES)
            .then(|| (self.read)(address, length as usize))??;
        // Values that did not fit into the record are missing at the end.
        let arguments: Vec<_> = (0..count).map_while(|_| self.argument()).collect();
        fill(&template, &arguments)
    }

    fn argument(&mut self) -> Option<(Value, Style)> {
        let formatter = self.word()?;
        if formatter == 0 {
            return Some((Value::from(self.word()?), Style::Display));
        }
        let name = self.formatters.get((formatter >> 16) as usize).map_or("", String::as_str);
        let (ty, style) = name
            .strip_prefix('<')
            .and_then(|name| name.strip_suffix(">::fmt"))
            .and_then(|name| name.split_once(" as core::fmt::"))
            .map_or((name, Style::Display), |(ty, style)| (ty, Style::of_trait(style).unwrap_or_default()));
        let ty = ty.trim_start_matches("&mut ").trim_start_matches('&');
        let value = match formatter & 0xff {
            layout::ARGUMENTS => Value::Text(self.message()?),
            layout::STR => {
                let length = self.word()? as usize;
                // The part that is present.
                let there = length.min(self.words.len() * 4);
                Value::Text(String::from_utf8_lossy(&self.bytes(there)?).into_owned())
            }
            bytes @ 1..=layout::MAX_BYTES => number(ty, &self.bytes(bytes as usize)?),
            _ => Value::Unknown(ty.to_owned()),
        };
        Some((value, style))
    }
}

/// The value of a primitive type with these bytes.
fn number(ty: &str, bytes: &[u8]) -> Value {
    let mut pattern = [0; 16];
    pattern[..bytes.len()].copy_from_slice(bytes);
    let pattern = u128::from_le_bytes(pattern);
    match ty {
        "bool" => Value::Bool(pattern != 0),
        "char" => Value::Char(char::from_u32(pattern as u32).unwrap_or(char::REPLACEMENT_CHARACTER)),
        "f32" => Value::F32(f32::from_bits(pattern as u32)),
        "f64" => Value::F64(f64::from_bits(pattern as u64)),
        _ => Value::Integer(Integer { pattern, bits: bytes.len() as u32 * 8, signed: ty.starts_with('i') }),
    }
}

/// Puts arguments into a template: bytes in the form that the standard library documents for `fmt::Arguments`.
fn fill(template: &[u8], arguments: &[(Value, Style)]) -> Option<String> {
    let mut text = String::new();
    let mut next = 0;
    let mut rest = template;
    loop {
        let kind = take::<1>(&mut rest)?[0];
        match kind {
            0 => return Some(text),
            1..0x80 => text.push_str(str::from_utf8(rest.split_off(..usize::from(kind))?).ok()?),
            0x80 => {
                let length = u16::from_le_bytes(take(&mut rest)?);
                text.push_str(str::from_utf8(rest.split_off(..usize::from(length))?).ok()?);
            }
            _ => {
                let mut spec = Spec::default();
                if kind & 1 != 0 {
                    flags(u32::from_le_bytes(take(&mut rest)?), &mut spec);
                }
                let count = |index: u16| match arguments.get(usize::from(index)) {
                    Some((Value::Integer(count), _)) => count.pattern as usize,
                    _ => 0,
                };
                if kind & 2 != 0 {
                    let width = u16::from_le_bytes(take(&mut rest)?);
                    spec.width = if kind & 16 != 0 { count(width) } else { width.into() };
                }
                if kind & 4 != 0 {
                    let precision = u16::from_le_bytes(take(&mut rest)?);
                    spec.precision = Some(if kind & 32 != 0 { count(precision) } else { precision.into() });
                }
                if kind & 8 != 0 {
                    next = usize::from(u16::from_le_bytes(take(&mut rest)?));
                }
                match arguments.get(next) {
                    Some((value, style)) => text.push_str(&render(value, &Spec { style: *style, ..spec })),
                    None => text.push('…'),
                }
                next += 1;
            }
        }
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    rest.split_off(..N)?.try_into().ok()
}

/// The bits of `core::fmt::FormattingOptions`.
fn flags(bits: u32, spec: &mut Spec) {
    let is_set = |bit: u32| bits >> bit & 1 == 1;
    spec.fill = char::from_u32(bits & 0x1f_ffff).unwrap_or(' ');
    spec.plus = is_set(21);
    spec.alternate = is_set(23);
    spec.zero = is_set(24);
    spec.debug_hex = match (is_set(25), is_set(26)) {
        (true, _) => Some(DebugHex::Lower),
        (_, true) => Some(DebugHex::Upper),
        _ => None,
    };
    spec.align = match bits >> 29 & 3 {
        0 => Some(Align::Left),
        1 => Some(Align::Right),
        2 => Some(Align::Center),
        _ => None,
    };
}

#[cfg(test)]
mod tests {
    use gpukernel_random_inputs::config;
    use proptest::{collection::vec, prelude::*};

    use super::*;

    proptest! {
        #![proptest_config(config())]

        /// Memory written by the GPU may hold anything.
        #[test]
        fn fuzz_messages_become_text(
            words in vec(prop_oneof![4 => 0..8_u32, 2 => (0..6_u32, 0..40_u32).prop_map(|(of, layout)| of << 16 | 1 << 8 | layout), 1 => any::<u32>()], 1..60),
            template in vec(prop_oneof![2 => 0x7e..=0xff_u8, 1 => 0..8_u8, 1 => any::<u8>()], 0..60),
        ) {
            let formatters = [
                "<u32 as core::fmt::Display>::fmt",
                "<&mut &i128 as core::fmt::Debug>::fmt",
                "<f64 as core::fmt::LowerExp>::fmt",
                "<char as core::fmt::Debug>::fmt",
                "<x",
            ]
            .map(str::to_owned);
            let read = |_: u64, bytes: usize| template.get(..bytes).map(<[u8]>::to_vec);
            of_panic(&words, &formatters, &read);
            let arguments = [(Value::from(u32::MAX), Style::Display), (Value::F32(f32::NAN), Style::UpperExp)];
            fill(&template, &arguments);
            SourceLocation::read(1, &read);
        }
    }

    /// Counts that are arguments are those of `format!`, of 16 bits.
    #[test]
    fn widths_are_bounded() {
        let read = memory(&[(0x10, b"\xD2\x00\x00\x00")]);
        let formatters = ["<usize as core::fmt::Display>::fmt".to_owned()];
        let message = of_panic(&[1, 0x10, 0, 4, 1, 1 << 8 | 8, u32::MAX, u32::MAX], &formatters, &read);
        assert_eq!(message.len(), 65535);
    }

    /// A device whose memory is these bytes, at these addresses.
    fn memory(parts: &'static [(u64, &'static [u8])]) -> impl Fn(u64, usize) -> Option<Vec<u8>> {
        move |address, bytes| {
            let (_, content) = parts.iter().find(|(start, _)| *start == address)?;
            Some(content.get(..bytes)?.to_vec())
        }
    }

    #[test]
    fn places_are_read_from_the_device() {
        let read = memory(&[
            (0x100, b"\x00\x02\0\0\0\0\0\0\x06\0\0\0\0\0\0\0\x07\0\0\0\x2a\0\0\0"),
            (0x200, b"lib.rs"),
        ]);
        assert_eq!(SourceLocation::read(0x100, &read).unwrap().to_string(), "lib.rs:7:42");
        assert_eq!(SourceLocation::read(0, &read), None);
        assert_eq!(SourceLocation::read(0x300, &read), None);
    }

    #[test]
    fn a_text_is_the_message() {
        let read = memory(&[(0x1_0000_0010, b"attempt to add with overflow")]);
        assert_eq!(of_panic(&[0, 0x10, 1, 28], &[], &read), "attempt to add with overflow");
        assert_eq!(of_panic(&[0, 0x99, 0, 28], &[], &read), "its message cannot be read");
        assert!(of_panic(&[], &[], &read).contains("release"));
    }

    /// The template that rustc 1.98 compiles from `"x={x:>8} {:?} {:w$}"` with the arguments `y` and `x`: a template with a width that is an argument.
    #[test]
    fn values_go_into_the_template_of_rustc() {
        let read =
            memory(&[(0x10, b"\x02x=\xC3 \x00\x00\x28\x08\x00\x01 \xC0\x01 \xD3 \x00\x00h\x03\x00\x00")]);
        let formatters =
            ["<u32 as core::fmt::Display>::fmt", "<&i64 as core::fmt::Debug>::fmt"].map(str::to_owned);
        let words = [1, 0x10, 0, 23, 4, 4, 77, 1 << 16 | 1 << 8 | 8, 0xffff_fffe, 0xffff_ffff, 4, 5, 0, 6];
        assert_eq!(of_panic(&words, &formatters, &read), "x=      77 -2      5");
        // A record that was too short for the last three.
        assert_eq!(of_panic(&words[..7], &formatters, &read), "x=      77 … …");
    }

    #[test]
    fn messages_are_arguments_of_messages() {
        let read = memory(&[(0x10, b"\x01[\xC0\x01]\x00"), (0x20, b"inner")]);
        let formatters = ["<core::fmt::Arguments as core::fmt::Display>::fmt".to_owned()];
        assert_eq!(of_panic(&[1, 0x10, 0, 6, 1, 34, 0, 0x20, 0, 5], &formatters, &read), "[inner]");
    }

    #[test]
    fn what_has_no_layout_is_told_by_its_type() {
        let read = memory(&[(0x10, b"\xC0\x00")]);
        let formatters = ["<kernels::Error as core::fmt::Debug>::fmt".to_owned()];
        assert_eq!(of_panic(&[1, 0x10, 0, 2, 1, 255], &formatters, &read), "<kernels::Error>");
    }

    #[test]
    fn text_is_recorded_byte_by_byte() {
        let read = memory(&[(0x10, b"\xC0\x00")]);
        let formatters = ["<&str as core::fmt::Debug>::fmt".to_owned()];
        let words = [1, 0x10, 0, 2, 1, 32, 6, u32::from_le_bytes(*b"abcd"), u32::from_le_bytes(*b"ef\0\0")];
        assert_eq!(of_panic(&words, &formatters, &read), "\"abcdef\"");
        assert_eq!(of_panic(&words[..8], &formatters, &read), "\"abcd\"");
    }
}

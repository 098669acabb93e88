//! Formats a value by a spec, as `std::fmt` does (its module documentation, "Formatting Parameters").

use std::fmt;

use super::{Align, DebugHex, Integer, Spec, Style, Value};

/// Widths have at most 16 bits, as in `format!`.
const MAX_WIDTH: usize = u16::MAX as usize;

/// One less: `{:e}` of a float adds 1 to its precision, in 16 bits, and panics (Rust 1.95).
const MAX_PRECISION: usize = MAX_WIDTH - 1;

/// Formats a value.
pub(crate) fn render(value: &Value, spec: &Spec) -> String {
    let spec = &Spec {
        width: spec.width.min(MAX_WIDTH),
        precision: spec.precision.map(|precision| precision.min(MAX_PRECISION)),
        ..*spec
    };
    match value {
        Value::Bool(value) => pad_text(if *value { "true" } else { "false" }, spec),
        Value::Char(value) if spec.style == Style::Debug => format!("{value:?}"),
        Value::Char(value) => pad_text(value.encode_utf8(&mut [0; 4]), &Spec { precision: None, ..*spec }),
        Value::Text(text) if spec.style == Style::Debug => format!("{text:?}"),
        Value::Text(text) => pad_text(text, spec),
        Value::Integer(value) => integer(*value, spec),
        Value::F32(value) => float(*value, value.is_nan(), spec),
        Value::F64(value) => float(*value, value.is_nan(), spec),
        Value::Unknown(name) => format!("<{name}>"),
        Value::List(_) | Value::Tuple(_) | Value::Struct(..) | Value::Option(_) => {
            let value = Parts(value, spec);
            if spec.alternate { format!("{value:#?}") } else { format!("{value:?}") }
        }
    }
}

/// A compound value: `std` lays out the parts, each formatted by the same spec.
struct Parts<'a>(&'a Value, &'a Spec);

impl fmt::Debug for Parts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(value, spec) = self;
        match value {
            Value::List(values) => {
                f.debug_list().entries(values.iter().map(|value| Parts(value, spec))).finish()
            }
            Value::Tuple(values) => {
                let mut tuple = f.debug_tuple("");
                for value in values {
                    tuple.field(&Parts(value, spec));
                }
                if values.is_empty() { f.write_str("()") } else { tuple.finish() }
            }
            Value::Struct(name, fields) => {
                let mut shown = f.debug_struct(name);
                for (name, value) in fields {
                    shown.field(name, &Parts(value, spec));
                }
                shown.finish()
            }
            // Ignores the width, as `derive(Debug)` does.
            Value::Option(None) => f.write_str("None"),
            Value::Option(Some(value)) => f.debug_tuple("Some").field(&Parts(value, spec)).finish(),
            single => f.write_str(&render(single, spec)),
        }
    }
}

fn integer(value: Integer, spec: &Spec) -> String {
    let style = match (spec.style, spec.debug_hex) {
        (Style::Debug, Some(DebugHex::Lower)) => Style::LowerHex,
        (Style::Debug, Some(DebugHex::Upper)) => Style::UpperHex,
        (style, _) => style,
    };
    let pattern = value.pattern;
    let (prefix, digits) = match style {
        Style::LowerHex => ("0x", format!("{pattern:x}")),
        Style::UpperHex => ("0x", format!("{pattern:X}")),
        Style::Octal => ("0o", format!("{pattern:o}")),
        Style::Binary => ("0b", format!("{pattern:b}")),
        Style::Pointer => ("0x", format!("{pattern:x}")),
        Style::LowerExp | Style::UpperExp | Style::Display | Style::Debug => {
            let negative = value.negative();
            let magnitude = negative.map_or(pattern, i128::unsigned_abs);
            let digits = match (style, spec.precision) {
                (Style::LowerExp, None) => format!("{magnitude:e}"),
                (Style::LowerExp, Some(precision)) => format!("{magnitude:.precision$e}"),
                (Style::UpperExp, None) => format!("{magnitude:E}"),
                (Style::UpperExp, Some(precision)) => format!("{magnitude:.precision$E}"),
                _ => magnitude.to_string(),
            };
            return number(sign(negative.is_some(), spec), "", &digits, spec);
        }
    };
    let shows_prefix = spec.alternate || style == Style::Pointer;
    number(sign(false, spec), if shows_prefix { prefix } else { "" }, &digits, spec)
}

fn float<F: fmt::Display + fmt::Debug + fmt::LowerExp + fmt::UpperExp>(
    value: F,
    is_nan: bool,
    spec: &Spec,
) -> String {
    let text = match (spec.style, spec.precision) {
        (Style::Debug, None) => format!("{value:?}"),
        (Style::Debug, Some(precision)) => format!("{value:.precision$?}"),
        (Style::LowerExp, None) => format!("{value:e}"),
        (Style::LowerExp, Some(precision)) => format!("{value:.precision$e}"),
        (Style::UpperExp, None) => format!("{value:E}"),
        (Style::UpperExp, Some(precision)) => format!("{value:.precision$E}"),
        (_, None) => format!("{value}"),
        (_, Some(precision)) => format!("{value:.precision$}"),
    };
    let digits = text.strip_prefix('-').unwrap_or(&text);
    let sign = if is_nan { "" } else { sign(text.starts_with('-'), spec) };
    number(sign, "", digits, spec)
}

fn sign(is_negative: bool, spec: &Spec) -> &'static str {
    if is_negative {
        "-"
    } else if spec.plus {
        "+"
    } else {
        ""
    }
}

/// Pads a number: right-aligned, with zeros between sign and digits.
fn number(sign: &str, prefix: &str, digits: &str, spec: &Spec) -> String {
    if spec.zero {
        let zeros = spec.width.saturating_sub(sign.len() + prefix.len() + digits.len());
        return format!("{sign}{prefix}{}{digits}", "0".repeat(zeros));
    }
    pad(&format!("{sign}{prefix}{digits}"), Align::Right, spec)
}

/// Pads a text: left-aligned, truncated to the precision.
fn pad_text(text: &str, spec: &Spec) -> String {
    match spec.precision {
        None => pad(text, Align::Left, spec),
        Some(precision) => pad(&text.chars().take(precision).collect::<String>(), Align::Left, spec),
    }
}

fn pad(text: &str, default: Align, spec: &Spec) -> String {
    let missing = spec.width.saturating_sub(text.chars().count());
    let before = match spec.align.unwrap_or(default) {
        Align::Left => 0,
        Align::Center => missing / 2,
        Align::Right => missing,
    };
    let fill = |count| std::iter::repeat_n(spec.fill, count);
    fill(before).chain(text.chars()).chain(fill(missing - before)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Segment, parse};

    /// Formats a template with one argument by this module.
    fn ours(template: &str, value: &Value) -> String {
        let values = std::slice::from_ref(value);
        parse(template)
            .iter()
            .map(|piece| match piece {
                Segment::Text(text) => text.clone(),
                Segment::Value(place) => place.render(values),
            })
            .collect()
    }

    fn int(pattern: u128, bits: u32, signed: bool) -> Value {
        Value::Integer(Integer { pattern, bits, signed })
    }

    /// Compares with `format!` for each of these templates.
    macro_rules! same {
        ($value:expr, $native:expr, $($template:literal),* $(,)?) => {
            $(assert_eq!(ours($template, &$value), format!($template, $native), "{}", $template);)*
        };
    }

    macro_rules! same_number {
        ($value:expr, $native:expr) => {
            same!(
                $value,
                $native,
                "{0}",
                "{0:?}",
                "{0:5}",
                "{0:<5}|",
                "{0:^6}|",
                "{0:>7}",
                "{0:*>9}",
                "{0:é^9}",
                "{0:+}",
                "{0:+6}",
                "{0:06}",
                "{0:+06}",
                "{0:<06}",
                "{0:e}",
                "{0:E}",
                "{0:.2e}",
                "{0:12.1E}",
                "{0:09?}"
            );
        };
    }

    #[test]
    fn integers_are_formatted_as_rust_does() {
        same_number!(int(7, 32, false), 7_u32);
        same_number!(int(0, 8, false), 0_u8);
        same_number!(int(0xffff_fffb, 32, true), -5_i32);
        same_number!(int(0x80, 8, true), i8::MIN);
        same_number!(int(1 << 127, 128, true), i128::MIN);
        same_number!(int(u128::MAX, 128, false), u128::MAX);
        same!(
            int(0xffff_ffff_ffff_fff0, 64, true),
            -16_i64,
            "{0:x}",
            "{0:#X}",
            "{0:#o}",
            "{0:b}",
            "{0:#b}",
            "{0:x?}",
            "{0:#x?}"
        );
        same!(
            int(42, 16, false),
            42_u16,
            "{0:#06x}",
            "{0:#10b}",
            "{0:<#8x}|",
            "{0:^#8o}|",
            "{0:X?}",
            "{0:#04X?}",
            "{0:+x}",
            "{0:08b}"
        );
    }

    /// `format!("{:.65535e}", 1.0)` panics.
    #[test]
    fn the_largest_precision_does_not_panic() {
        for value in [Value::F32(1.0), Value::F64(0.1), int(5, 32, false)] {
            for template in ["{0:.65535e}", "{0:.65535E}", "{0:.65535?}", "{0:.65535}", "{0:.99999e}"] {
                assert!(!ours(template, &value).is_empty());
            }
        }
    }

    #[test]
    fn floats_are_formatted_as_rust_does() {
        for value in
            [0.0, -0.0, 1.0, -1.5, 0.1, 1e20, 1e-7, f32::MAX, f32::INFINITY, f32::NEG_INFINITY, f32::NAN]
        {
            same_number!(Value::F32(value), value);
            same!(
                Value::F32(value),
                value,
                "{0:.3}",
                "{0:8.3}",
                "{0:+.0}",
                "{0:08.2}",
                "{0:.4?}",
                "{0:<9.1}|",
                "{0:_^+11.2}"
            );
        }
        for value in [1.0 / 3.0, -2.5e300, 5e-324, 123_456_789.125] {
            same_number!(Value::F64(value), value);
            same!(Value::F64(value), value, "{0:.3}", "{0:>12.5}", "{0:010.1}");
        }
    }

    #[test]
    fn text_is_formatted_as_rust_does() {
        let text = Value::Text("größe \"x\"".into());
        same!(
            text,
            "größe \"x\"",
            "{0}",
            "{0:?}",
            "{0:12}|",
            "{0:>12}",
            "{0:^13}|",
            "{0:.4}",
            "{0:-<8.3}",
            "{0:06}"
        );
        same!(Value::Char('ß'), 'ß', "{0}", "{0:?}", "{0:4}|", "{0:>3}");
        same!(Value::Char('\n'), '\n', "{0:?}");
        same!(Value::Bool(true), true, "{0}", "{0:?}", "{0:6}|", "{0:>6}", "{0:.2}");
    }

    #[test]
    fn values_of_several_parts_are_formatted_as_rust_does() {
        let list = Value::List(vec![Value::F32(1.0), Value::F32(-2.5)]);
        same!(list, [1.0_f32, -2.5], "{0:?}", "{0:#?}", "{0:6.2?}", "{0:+?}");
        let tuple = Value::Tuple(vec![int(3, 32, false), Value::Bool(false), list]);
        same!(tuple, (3_u32, false, [1.0_f32, -2.5]), "{0:?}", "{0:#?}", "{0:4?}");
        same!(Value::Tuple(vec![int(3, 8, false)]), (3_u8,), "{0:?}", "{0:#?}");
        same!(Value::Tuple(Vec::new()), (), "{0:?}");
        same!(Value::List(Vec::new()), [0_u8; 0], "{0:?}", "{0:#?}");
        let dim = gpu_std::Dim3::new(1, 2, 3);
        let fields =
            [("x", 1), ("y", 2), ("z", 3)].map(|(name, value)| (name.to_owned(), Value::from(value)));
        same!(Value::Struct("Dim3".to_owned(), fields.to_vec()), dim, "{0:?}", "{0:#?}", "{0:3?}", "{0:x?}");
        same!(Value::Option(None), None::<u32>, "{0:?}", "{0:#?}", "{0:8?}|");
        let some = Value::Option(Some(Box::new(Value::F32(1.5))));
        same!(some, Some(1.5_f32), "{0:?}", "{0:#?}", "{0:8.2?}|", "{0:+?}");
        same!(Value::List(vec![some.clone(), Value::Option(None)]), [Some(1.5_f32), None], "{0:?}", "{0:#?}");
    }
}

//! Templates: format strings in which all arguments have numbers (`gpu_std::println!` numbers them).

use super::{Align, DebugHex, Spec, Style, Value, render};

/// A part of a template.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Segment {
    Text(String),
    Value(Placeholder),
}

/// A placeholder.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Placeholder {
    pub(crate) argument: usize,
    pub(crate) spec: Spec,
    /// Arguments that hold the width and the precision.
    pub(crate) width: Option<usize>,
    pub(crate) precision: Option<usize>,
}

impl Placeholder {
    /// Formats the value of the placeholder.
    pub(crate) fn render(&self, values: &[Value]) -> String {
        let count = |index: Option<usize>| match values.get(index?) {
            Some(Value::Integer(count)) => usize::try_from(count.pattern).ok(),
            _ => None,
        };
        let mut spec = self.spec;
        spec.width = count(self.width).unwrap_or(spec.width);
        spec.precision = count(self.precision).or(spec.precision);
        values.get(self.argument).map_or_else(|| "<missing>".to_owned(), |value| render(value, &spec))
    }
}

/// Parses a template. rustc has checked it; invalid placeholders are kept as text.
pub(crate) fn parse(template: &str) -> Vec<Segment> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut rest = template;
    while let Some(at) = rest.find(['{', '}']) {
        text.push_str(&rest[..at]);
        let (brace, after) = rest[at..].split_at(1);
        if let Some(after) = after.strip_prefix(brace) {
            text.push_str(brace);
            rest = after;
            continue;
        }
        let inside = if brace == "{" { after.split_once('}') } else { None };
        let Some((place, after)) = inside.and_then(|(inside, after)| Some((place(inside)?, after))) else {
            text.push_str(brace);
            rest = after;
            continue;
        };
        if !text.is_empty() {
            pieces.push(Segment::Text(std::mem::take(&mut text)));
        }
        pieces.push(Segment::Value(place));
        rest = after;
    }
    text.push_str(rest);
    if !text.is_empty() {
        pieces.push(Segment::Text(text));
    }
    pieces
}

/// Parses the inside of a placeholder: `3:>8.2`.
fn place(inside: &str) -> Option<Placeholder> {
    let (argument, spec) = inside.split_once(':').unwrap_or((inside, ""));
    let mut place = Placeholder {
        argument: argument.trim().parse().ok()?,
        spec: Spec::default(),
        width: None,
        precision: None,
    };
    let mut rest = spec.trim_end();
    let align = |character: char| match character {
        '<' => Some(Align::Left),
        '^' => Some(Align::Center),
        '>' => Some(Align::Right),
        _ => None,
    };
    let mut characters = rest.chars();
    if let Some(first) = characters.next() {
        if let Some(found) = characters.next().and_then(align) {
            (place.spec.fill, place.spec.align) = (first, Some(found));
            rest = characters.as_str();
        } else if let Some(found) = align(first) {
            place.spec.align = Some(found);
            rest = &rest[1..];
        }
    }
    let mut flag = |mark: char| match rest.strip_prefix(mark) {
        // `0$` is a width by argument and no flag.
        Some(after) if !(mark == '0' && after.starts_with('$')) => {
            rest = after;
            true
        }
        _ => false,
    };
    place.spec.plus = flag('+');
    flag('-');
    place.spec.alternate = flag('#');
    place.spec.zero = flag('0');
    let (width, after) = count(rest)?;
    rest = after;
    match width {
        Some(Count::Number(number)) => place.spec.width = number,
        Some(Count::Argument(index)) => place.width = Some(index),
        None => {}
    }
    if let Some(after) = rest.strip_prefix('.') {
        let (precision, after) = count(after)?;
        rest = after;
        match precision? {
            Count::Number(number) => place.spec.precision = Some(number),
            Count::Argument(index) => place.precision = Some(index),
        }
    }
    (place.spec.style, place.spec.debug_hex) = match rest {
        "" => (Style::Display, None),
        "?" => (Style::Debug, None),
        "x?" => (Style::Debug, Some(DebugHex::Lower)),
        "X?" => (Style::Debug, Some(DebugHex::Upper)),
        "x" => (Style::LowerHex, None),
        "X" => (Style::UpperHex, None),
        "o" => (Style::Octal, None),
        "b" => (Style::Binary, None),
        "e" => (Style::LowerExp, None),
        "E" => (Style::UpperExp, None),
        "p" => (Style::Pointer, None),
        _ => return None,
    };
    Some(place)
}

enum Count {
    Number(usize),
    Argument(usize),
}

/// Parses a number, or an argument that holds it, at the start of a text; returns the rest too.
fn count(text: &str) -> Option<(Option<Count>, &str)> {
    let end = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    if digits.is_empty() {
        return Some((None, rest));
    }
    let number = digits.parse().ok()?;
    Some(match rest.strip_prefix('$') {
        Some(rest) => (Some(Count::Argument(number)), rest),
        None => (Some(Count::Number(number)), rest),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(template: &str, values: &[Value]) -> String {
        let pieces = parse(template);
        let texts = pieces.iter().map(|piece| match piece {
            Segment::Text(text) => text.clone(),
            Segment::Value(place) => place.render(values),
        });
        texts.collect()
    }

    #[test]
    fn braces_are_doubled() {
        assert_eq!(shown("{{0}} {0} }}{{", &[Value::from(5)]), "{0} 5 }{");
    }

    #[test]
    fn widths_and_precisions_may_be_arguments() {
        let values = [Value::F32(1.5), Value::from(7), Value::from(2)];
        assert_eq!(shown("[{0:>1$.2$}]", &values), format!("[{:>1$.2$}]", 1.5, 7, 2));
        assert_eq!(shown("{0:01$}", &values), format!("{:07}", 1.5), "a flag and a width");
        assert_eq!(shown("{1:1$}", &values), format!("{:7}", 7));
    }

    #[test]
    fn arguments_repeat_and_come_in_any_order() {
        let values = [Value::from(1), Value::from(2)];
        assert_eq!(shown("{1}{0}{1:3}", &values), "21  2");
    }
}

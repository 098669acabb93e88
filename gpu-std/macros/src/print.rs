//! `print!` and `println!`: the format string becomes a template whose arguments all have numbers, and the arguments a tuple.
//!
//! rustc checks the format string itself: it is also given to `core::format_args!`, in code that never runs.

use proc_macro2::{Delimiter, Group, Ident, Literal, Spacing, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Error, LitStr, Result};

/// `line_end` follows the text.
pub(crate) fn print(input: TokenStream, line_end: &str) -> Result<TokenStream> {
    let mut parts = split(input.clone()).into_iter();
    let Some(format) = parts.next() else {
        let template = Literal::string(line_end);
        return Ok(quote!(::gpu_std::print::emit(#template, &(), ::core::format_args!(#template))));
    };
    let format: LitStr = syn::parse2(format.clone())
        .map_err(|_| Error::new_spanned(format, "the format must be a string literal"))?;
    let mut arguments = Arguments::default();
    for part in parts {
        arguments.add(part);
    }
    let checked = quote!(if false {
        let _ = ::core::format_args!(#input);
    });
    let Some(template) = template(&format.value(), format.span(), &mut arguments) else {
        // rustc says what is wrong with it.
        return Ok(quote!({ #checked }));
    };
    let template = Literal::string(&(template + line_end));
    let values = arguments.values.iter().map(|(_, value)| value);
    let values: Vec<_> = values.map(|value| quote!(&(#value))).collect();
    let index = (0..values.len()).map(Literal::usize_unsuffixed);
    Ok(quote! {{
        #checked
        match (#(#values,)*) {
            values => ::gpu_std::print::emit(#template, &values, ::core::format_args!(#template, #(values.#index),*)),
        }
    }})
}

/// The values in the order of their numbers: those given, then those that the format string captures.
#[derive(Default)]
struct Arguments {
    values: Vec<(Option<String>, TokenStream)>,
    /// How many were given.
    given: usize,
    /// The number of the next that is taken in order.
    next: usize,
}

impl Arguments {
    /// `value` or `name = value`.
    fn add(&mut self, part: TokenStream) {
        let tokens: Vec<_> = part.into_iter().collect();
        let argument = match &tokens[..] {
            [TokenTree::Ident(name), TokenTree::Punct(equals), value @ ..]
                if equals.as_char() == '=' && equals.spacing() == Spacing::Alone && !value.is_empty() =>
            {
                (Some(name.to_string()), value.iter().cloned().collect())
            }
            _ => (None, tokens.into_iter().collect()),
        };
        self.values.push(argument);
        self.given = self.values.len();
    }

    /// The number of the argument that a format string calls `name`: a number, a name, or nothing for the next.
    fn number(&mut self, name: &str, span: Span) -> Option<usize> {
        if name.is_empty() {
            self.next += 1;
            return (self.next <= self.given).then(|| self.next - 1);
        }
        if name.bytes().all(|byte| byte.is_ascii_digit()) {
            return name.parse().ok().filter(|number| *number < self.given);
        }
        let known = self.values.iter().position(|(of, _)| of.as_deref() == Some(name));
        if known.is_some() {
            return known;
        }
        let captured = match name.strip_prefix("r#") {
            Some(name) => Ident::new_raw(name, span),
            None if name == "self" || syn::parse_str::<Ident>(name).is_ok() => Ident::new(name, span),
            None => return None,
        };
        self.values.push((Some(name.to_owned()), captured.into_token_stream()));
        Some(self.values.len() - 1)
    }
}

/// The format string with a number in place of every argument; `None` if it is none that rustc takes.
fn template(format: &str, span: Span, arguments: &mut Arguments) -> Option<String> {
    let mut template = String::new();
    let mut rest = format;
    while let Some(at) = rest.find(['{', '}']) {
        let (before, brace) = rest.split_at(at);
        template.push_str(before);
        if let Some(after) = brace.strip_prefix("{{").or_else(|| brace.strip_prefix("}}")) {
            template.push_str(&brace[..2]);
            rest = after;
            continue;
        }
        let (place, after) = brace.strip_prefix('{')?.split_once('}')?;
        let (name, spec) = place.split_once(':').unwrap_or((place, ""));
        // `.*` takes its precision before its value.
        let spec = numbered_spec(spec.trim_end(), span, arguments)?;
        let number = arguments.number(name.trim(), span)?;
        template.push_str(&if spec.is_empty() {
            format!("{{{number}}}")
        } else {
            format!("{{{number}:{spec}}}")
        });
        rest = after;
    }
    template.push_str(rest);
    Some(template)
}

/// What stands behind the colon, with numbers in place of names (`[[fill]align][sign]['#']['0'][width]['.' precision]type`).
fn numbered_spec(spec: &str, span: Span, arguments: &mut Arguments) -> Option<String> {
    let is_align = |character: char| matches!(character, '<' | '^' | '>');
    let mut starts = spec.char_indices().map(|(at, _)| at).skip(1).chain([spec.len()]);
    let mut head = 0;
    if let (Some(second), Some(third)) = (starts.next(), starts.next())
        && spec[second..third].starts_with(is_align)
    {
        head = third;
    } else if spec.starts_with(is_align) {
        head = 1;
    }
    let flags = |text: &str| text.len() - text.trim_start_matches(['+', '-', '#']).len();
    head += flags(&spec[head..]);
    if spec[head..].starts_with('0') && !spec[head..].starts_with("0$") {
        head += 1;
    }
    let (width, rest) = numbered_count(&spec[head..], span, arguments)?;
    let mut numbered = format!("{}{width}", &spec[..head]);
    let Some(rest) = rest.strip_prefix('.') else { return Some(numbered + rest) };
    let (precision, rest) = match rest.strip_prefix('*') {
        Some(rest) => (format!("{}$", arguments.number("", span)?), rest),
        None => numbered_count(rest, span, arguments)?,
    };
    numbered.push('.');
    Some(numbered + &precision + rest)
}

/// A width or precision at the start of a text, and what follows: `8`, `3$`, `name$` or nothing.
fn numbered_count<'t>(text: &'t str, span: Span, arguments: &mut Arguments) -> Option<(String, &'t str)> {
    let is_part = |character: char| character == '_' || character.is_alphanumeric();
    let end = text.find(|character| !is_part(character)).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    if let Some(rest) = rest.strip_prefix('$') {
        return Some((format!("{}$", arguments.number(word, span)?), rest));
    }
    let digits = word.len() - word.trim_start_matches(|character: char| character.is_ascii_digit()).len();
    Some((text[..digits].to_owned(), &text[digits..]))
}

/// The parts between the commas, each with its tokens. A comma between `<` and `>` of generic arguments is none of these.
fn split(input: TokenStream) -> Vec<TokenStream> {
    let mut parts: Vec<TokenStream> = Vec::new();
    let mut part: Vec<TokenTree> = Vec::new();
    let mut depth = 0_usize;
    for token in input {
        let is_punct = |token: Option<&TokenTree>, is: char| matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == is);
        if is_punct(Some(&token), ',') && depth == 0 {
            parts.push(part.drain(..).collect());
            continue;
        }
        let before = part.last();
        if is_punct(Some(&token), '<') && (depth > 0 || before.is_none() || is_punct(before, ':')) {
            depth += 1;
        } else if is_punct(Some(&token), '>') && depth > 0 && !is_punct(before, '-') && !is_punct(before, '=')
        {
            depth -= 1;
        }
        part.push(token);
    }
    if !part.is_empty() {
        parts.push(part.into_iter().collect());
    }
    // A literal that a macro passed on comes in a group.
    if let Some(first) = parts.first_mut() {
        let mut tokens = first.clone().into_iter();
        if let (Some(TokenTree::Group(group)), None) = (tokens.next(), tokens.next()) {
            *first = inside(&group);
        }
    }
    parts
}

fn inside(group: &Group) -> TokenStream {
    if group.delimiter() == Delimiter::None { group.stream() } else { group.to_token_stream() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The template and the arguments of `println!`.
    fn read(input: &str) -> Option<(String, Vec<String>)> {
        let mut parts = split(input.parse().unwrap()).into_iter();
        let format: LitStr = syn::parse2(parts.next().unwrap()).unwrap();
        let mut arguments = Arguments::default();
        parts.for_each(|part| arguments.add(part));
        let template = template(&format.value(), Span::call_site(), &mut arguments)?;
        Some((template, arguments.values.into_iter().map(|(_, value)| value.to_string()).collect()))
    }

    #[track_caller]
    fn check(input: &str, template: &str, values: &[&str]) {
        let (found, arguments) = read(input).unwrap();
        assert_eq!(found, template);
        // How tokens are spaced depends on the version of proc-macro2.
        let packed = |text: &str| text.replace(' ', "");
        let (arguments, values): (Vec<_>, Vec<_>) = (
            arguments.iter().map(|text| packed(text)).collect(),
            values.iter().map(|text| packed(text)).collect(),
        );
        assert_eq!(arguments, values);
    }

    #[test]
    fn arguments_get_numbers() {
        check(r#""{} {1} {} {0:?}", a, b + 1,"#, "{0} {1} {1} {0:?}", &["a", "b + 1"]);
        check(r#""{x} {y:>5} {x:#x}", y = 1"#, "{1} {0:>5} {1:#x}", &["1", "x"]);
        check(r#""{{}} {{{}}}", a"#, "{{}} {{{0}}}", &["a"]);
        check(r#""no arguments""#, "no arguments", &[]);
    }

    #[test]
    fn widths_and_precisions_get_numbers() {
        check(r#""{:>w$.p$} {:1$}", a, b"#, "{0:>2$.3$} {1:1$}", &["a", "b", "w", "p"]);
        check(r#""{:.*}", p, a"#, "{1:.0$}", &["p", "a"]);
        check(r#""{:*^+#08.3e} {:<} {:é>4}", a, b, c"#, "{0:*^+#08.3e} {1:<} {2:é>4}", &["a", "b", "c"]);
        check(r#""{:0$} {:00$}", a, b"#, "{0:0$} {1:00$}", &["a", "b"]);
        check(r#""{:x?} {:width$x}", a, b"#, "{0:x?} {1:2$x}", &["a", "b", "width"]);
    }

    #[test]
    fn commas_of_generic_arguments_are_no_ends_of_arguments() {
        check(r#""{} {}", f::<A, B>(1, 2), a < b"#, "{0} {1}", &["f :: < A , B > (1 , 2)", "a < b"]);
        check(r#""{} {}", <A as B<C, D>>::E, [1, 2]"#, "{0} {1}", &["< A as B < C , D >> :: E", "[1 , 2]"]);
        check(r#""{}", |a| -> u8 { a }"#, "{0}", &["| a | -> u8 { a }"]);
    }

    #[test]
    fn what_rustc_refuses_is_left_to_it() {
        for input in [r#""{""#, r#""}""#, r#""{}""#, r#""{3}", a"#, r#""{a b}""#] {
            assert!(read(input).is_none(), "{input}");
        }
    }
}

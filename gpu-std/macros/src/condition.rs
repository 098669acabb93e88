//! `requires`: a condition over the arguments of a launch, which launches check and device code relies on.
//!
//! Conditions have a language of their own, a part of Rust's: numbers, parameters, extents of memory, constants, operators, `as`.
//! It becomes calls of `gpu_std::contract::condition`, which no code of the program can take the place of.

use proc_macro2::{Delimiter, Ident, Literal, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{
    Error, Lit, Result, Token,
    ext::IdentExt,
    parenthesized,
    parse::{Parse, ParseStream, Parser},
    token,
};

use crate::{expand::lifetime, param::Param};

mod emit;

pub(crate) use emit::{record, relying, unmet, using};

/// What a condition asks of memory.
const QUESTIONS: [&str; 8] = ["len", "is_empty", "rows", "columns", "layers", "align", "shape", "is_scalar"];

/// What `as` converts to.
const INTEGERS: [&str; 12] =
    ["u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize"];

const LANGUAGE: &str = "`requires` takes the kernel's parameters, their `len()`, `is_empty()`, `rows()`, `columns()`, `layers()`, `align()`, \
     `shape()` and `is_scalar()`, constants, numbers, operators, and `as` between integers: the host evaluates it before the launch, and the device relies on it";

/// A condition, as it is written.
pub(crate) struct Condition {
    root: Expr,
}

enum Expr {
    Literal(Lit),
    /// A parameter, or the path of a constant.
    Name {
        path: TokenStream,
        single: Option<Ident>,
        text: String,
        span: Span,
    },
    Extent {
        of: Ident,
        question: Ident,
    },
    Paren(Box<Expr>),
    Unary {
        operator: Unary,
        span: Span,
        operand: Box<Expr>,
    },
    Cast {
        operand: Box<Expr>,
        to: Ident,
    },
    Binary {
        operator: &'static Operator,
        span: Span,
        left: Box<Expr>,
        right: Box<Expr>,
    },
}

#[derive(Clone, Copy)]
enum Unary {
    Not,
    Negate,
}

/// An operator between two operands.
struct Operator {
    text: &'static str,
    /// The function that it becomes.
    function: &'static str,
    precedence: u8,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// May have no result.
    Computes,
    Bitwise,
    Compares,
    /// Looks at the second operand only if the first leaves it open.
    Lazy,
}

const COMPARISON: u8 = 3;

const fn operator(text: &'static str, function: &'static str, precedence: u8, kind: Kind) -> Operator {
    Operator { text, function, precedence, kind }
}

/// The longest first, because `<` is the start of `<<`. Precedence as in the Rust reference, "Expression precedence".
const OPERATORS: [Operator; 18] = [
    operator("&&", "and", 2, Kind::Lazy),
    operator("||", "or", 1, Kind::Lazy),
    operator("<<", "shift_left", 7, Kind::Computes),
    operator(">>", "shift_right", 7, Kind::Computes),
    operator("==", "equal", COMPARISON, Kind::Compares),
    operator("!=", "unequal", COMPARISON, Kind::Compares),
    operator("<=", "at_most", COMPARISON, Kind::Compares),
    operator(">=", "at_least", COMPARISON, Kind::Compares),
    operator("<", "less", COMPARISON, Kind::Compares),
    operator(">", "more", COMPARISON, Kind::Compares),
    operator("|", "bit_or", 4, Kind::Bitwise),
    operator("^", "bit_xor", 5, Kind::Bitwise),
    operator("&", "bit_and", 6, Kind::Bitwise),
    operator("+", "add", 8, Kind::Computes),
    operator("-", "subtract", 8, Kind::Computes),
    operator("*", "multiply", 9, Kind::Computes),
    operator("/", "divide", 9, Kind::Computes),
    operator("%", "remainder", 9, Kind::Computes),
];

impl Parse for Condition {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let root = binary(input, 0)?;
        if input.is_empty() || input.peek(Token![,]) {
            return Ok(Self { root });
        }
        Err(input.error(LANGUAGE))
    }
}

/// Operands and operators of at least this precedence.
fn binary(input: ParseStream<'_>, least: u8) -> Result<Expr> {
    let mut left = cast(input)?;
    while let Some(operator) = next_operator(input).filter(|operator| operator.precedence >= least) {
        let span = input.span();
        let compares = matches!(&left, Expr::Binary { operator, .. } if operator.kind == Kind::Compares);
        if compares && operator.kind == Kind::Compares {
            return Err(Error::new(
                span,
                "comparisons cannot be chained: say `a < b && b < c`, or use parentheses",
            ));
        }
        for _ in operator.text.chars() {
            input.parse::<proc_macro2::Punct>()?;
        }
        let right = binary(input, operator.precedence + 1)?;
        left = Expr::Binary { operator, span, left: Box::new(left), right: Box::new(right) };
    }
    Ok(left)
}

/// The operator that is next.
fn next_operator(input: ParseStream<'_>) -> Option<&'static Operator> {
    const { assert!(OPERATORS[0].text.len() == 2) }
    static TABLE: [Operator; 18] = OPERATORS;
    let mut text = String::new();
    let mut cursor = input.cursor();
    // Up to two signs that stand together.
    while let Some((punct, rest)) = cursor.punct() {
        text.push(punct.as_char());
        if text.len() == 2 || punct.spacing() == proc_macro2::Spacing::Alone {
            break;
        }
        cursor = rest;
    }
    TABLE.iter().find(|operator| text.starts_with(operator.text))
}

/// A unary expression, and what `as` converts it to.
fn cast(input: ParseStream<'_>) -> Result<Expr> {
    let mut operand = unary(input)?;
    while input.peek(Token![as]) {
        input.parse::<Token![as]>()?;
        let to = input.call(Ident::parse_any)?;
        if !INTEGERS.iter().any(|integer| to == integer) || input.peek(Token![::]) {
            return Err(Error::new(
                to.span(),
                "`as` in `requires` converts to primitive integers: `usize`, `u32`, …",
            ));
        }
        operand = Expr::Cast { operand: Box::new(operand), to };
    }
    Ok(operand)
}

fn unary(input: ParseStream<'_>) -> Result<Expr> {
    let span = input.span();
    let operator = if input.peek(Token![!]) {
        input.parse::<Token![!]>()?;
        Unary::Not
    } else if input.peek(Token![-]) {
        input.parse::<Token![-]>()?;
        Unary::Negate
    } else {
        return primary(input);
    };
    Ok(Expr::Unary { operator, span, operand: Box::new(unary(input)?) })
}

fn primary(input: ParseStream<'_>) -> Result<Expr> {
    // What a macro passed on as an expression comes in a group.
    if let Some((_, span, _)) = input.cursor().group(Delimiter::None) {
        let inside = input.step(|cursor| match cursor.group(Delimiter::None) {
            Some((inside, _, rest)) => Ok((inside.token_stream(), rest)),
            None => Err(cursor.error(LANGUAGE)),
        })?;
        let whole = |input: ParseStream<'_>| input.parse::<Condition>();
        let Condition { root } =
            whole.parse2(inside).map_err(|error| match error.to_string().is_empty() {
                true => Error::new(span.join(), LANGUAGE),
                false => error,
            })?;
        let is_leaf = matches!(root, Expr::Literal(_) | Expr::Name { .. } | Expr::Extent { .. });
        return question(input, if is_leaf { root } else { Expr::Paren(Box::new(root)) });
    }
    if input.peek(token::Paren) {
        let inside;
        parenthesized!(inside in input);
        let root = binary(&inside, 0)?;
        if !inside.is_empty() {
            return Err(inside.error(LANGUAGE));
        }
        return question(input, Expr::Paren(Box::new(root)));
    }
    if input.peek(Lit) {
        let literal: Lit = input.parse()?;
        return match literal {
            Lit::Int(_) | Lit::Float(_) | Lit::Bool(_) => Ok(Expr::Literal(literal)),
            other => Err(Error::new_spanned(other, LANGUAGE)),
        };
    }
    let name = name(input)?;
    question(input, name)
}

/// `x`, `LIMIT`, `crate::sizes::LIMIT`, `u32::MAX`.
fn name(input: ParseStream<'_>) -> Result<Expr> {
    let span = input.span();
    if !(input.peek(Ident::peek_any) || input.peek(Token![::])) {
        return Err(Error::new(span, LANGUAGE));
    }
    let (mut path, mut text, mut segments) = (TokenStream::new(), String::new(), 0);
    let mut single = None;
    loop {
        if let Some(colons) = input.parse::<Option<Token![::]>>()? {
            colons.to_tokens(&mut path);
            text.push_str("::");
        } else if segments > 0 {
            break;
        }
        let ident = input.call(Ident::parse_any)?;
        let keyword = ident == "Self"
            || syn::parse2::<Ident>(ident.to_token_stream()).is_err()
                && !(ident == "crate" || ident == "self" || ident == "super");
        if keyword {
            return Err(Error::new(ident.span(), LANGUAGE));
        }
        text.push_str(&ident.to_string());
        single = (path.is_empty()).then(|| ident.clone());
        ident.to_tokens(&mut path);
        segments += 1;
    }
    let calls = input.peek(token::Paren);
    if calls
        || input.peek(token::Bracket)
        || input.peek(token::Brace)
        || input.peek(Token![!]) && !input.peek(Token![!=])
    {
        let message = match calls {
            true => format!(
                "`requires` calls no functions, which may answer differently on the host and on the device. {LANGUAGE}"
            ),
            false => LANGUAGE.to_owned(),
        };
        return Err(Error::new(span, message));
    }
    Ok(Expr::Name { path, single, text, span })
}

/// `.len()` behind a name.
fn question(input: ParseStream<'_>, expr: Expr) -> Result<Expr> {
    if !input.peek(Token![.]) {
        return Ok(expr);
    }
    let dot = input.parse::<Token![.]>()?;
    let Expr::Name { single: Some(of), .. } = bare(&expr) else {
        return Err(Error::new_spanned(dot, LANGUAGE));
    };
    let question = input.call(Ident::parse_any).map_err(|error| Error::new(error.span(), LANGUAGE))?;
    if !QUESTIONS.iter().any(|known| question == known) || !input.peek(token::Paren) {
        return Err(Error::new(question.span(), LANGUAGE));
    }
    let arguments;
    parenthesized!(arguments in input);
    if !arguments.is_empty() || input.peek(Token![.]) || input.peek(token::Paren) {
        return Err(Error::new(question.span(), LANGUAGE));
    }
    Ok(Expr::Extent { of: of.clone(), question })
}

/// The expression without parentheses.
fn bare(mut expr: &Expr) -> &Expr {
    while let Expr::Paren(inside) = expr {
        expr = inside;
    }
    expr
}

/// The parameter of this name.
fn parameter<'p>(name: &Ident, params: &'p [Param]) -> Option<(usize, &'p Param)> {
    let is = |param: &Param| param.name().is_some_and(|param| param == *name);
    params.iter().enumerate().find(|(_, param)| is(param))
}

impl Condition {
    /// Refuses what is no parameter that a launch gives, and no constant.
    pub(crate) fn check(&self, params: &[Param]) -> Result<()> {
        self.root.check(params)
    }

    /// As it is written, the same whichever rustc writes it.
    pub(crate) fn text(&self) -> String {
        self.root.text()
    }
}

impl Expr {
    fn check(&self, params: &[Param]) -> Result<()> {
        let name_of_param = |ident: &Ident| match parameter(ident, params) {
            Some((_, param)) if param.is_in_block() => Err(Error::new_spanned(
                ident,
                format!("`{ident}` is a shared array: what a launch requires is about its arguments"),
            )),
            found => Ok(found.is_some()),
        };
        match self {
            Self::Literal(_) => Ok(()),
            Self::Name { single: None, .. } => Ok(()),
            Self::Name { single: Some(ident), .. } => {
                if name_of_param(ident)? || ident.unraw().to_string().chars().all(|c| !c.is_lowercase()) {
                    return Ok(());
                }
                Err(Error::new_spanned(ident, format!("the kernel has no parameter `{ident}`. {LANGUAGE}")))
            }
            Self::Extent { of, .. } => match name_of_param(of)? {
                true => Ok(()),
                false => {
                    Err(Error::new_spanned(of, format!("the kernel has no parameter `{of}`. {LANGUAGE}")))
                }
            },
            Self::Paren(inside) => inside.check(params),
            Self::Unary { operand, .. } | Self::Cast { operand, .. } => operand.check(params),
            Self::Binary { left, right, .. } => {
                left.check(params)?;
                right.check(params)
            }
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Literal(literal) => literal.to_token_stream().to_string(),
            Self::Name { text, .. } => text.clone(),
            Self::Extent { of, question } => format!("{of}.{question}()"),
            Self::Paren(inside) => format!("({})", inside.text()),
            Self::Unary { operator: Unary::Not, operand, .. } => format!("!{}", operand.text()),
            Self::Unary { operator: Unary::Negate, operand, .. } => format!("-{}", operand.text()),
            Self::Cast { operand, to } => format!("{} as {to}", operand.text()),
            Self::Binary { operator, left, right, .. } => {
                format!("{} {} {}", left.text(), operator.text, right.text())
            }
        }
    }

    /// Calls `see` with each part that has no parts.
    fn leaves<'e>(&'e self, see: &mut impl FnMut(&'e Self)) {
        match self {
            Self::Literal(_) | Self::Name { .. } | Self::Extent { .. } => see(self),
            Self::Paren(inside) => inside.leaves(see),
            Self::Unary { operand, .. } | Self::Cast { operand, .. } => operand.leaves(see),
            Self::Binary { left, right, .. } => {
                left.leaves(see);
                right.leaves(see);
            }
        }
    }

    /// Where it starts.
    fn span(&self) -> Span {
        match self {
            Self::Literal(literal) => literal.span(),
            Self::Name { span, .. } | Self::Unary { span, .. } => *span,
            Self::Extent { of, question } => of.span().join(question.span()).unwrap_or(of.span()),
            Self::Paren(inside) => inside.span(),
            Self::Cast { operand, .. } => operand.span(),
            Self::Binary { left, right, span, .. } => left.span().join(right.span()).unwrap_or(*span),
        }
    }
}

#[cfg(test)]
mod tests;

//! The function that `#[kernel]` stands on: its head taken apart, its body left as it is.
//!
//! Written out here because syn reads functions only with its feature `full`, which takes a second to compile; bodies are
//! rustc's business anyway. rustc has read the function before, so what is not understood here is still Rust.

use std::mem;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{
    Abi, Attribute, Generics, Ident, Result, ReturnType, Token, Visibility, braced, parenthesized,
    parse::{Parse, ParseStream},
    token::{Brace, Paren},
};

use crate::input::Input;

/// A function.
pub(crate) struct Function {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) signature: Signature,
    brace_token: Brace,
    body: TokenStream,
}

/// The part of it from `const` to the `where` clause.
pub(crate) struct Signature {
    pub(crate) constness: Option<Token![const]>,
    pub(crate) asyncness: Option<Token![async]>,
    pub(crate) unsafety: Option<Token![unsafe]>,
    pub(crate) abi: Option<Abi>,
    fn_token: Token![fn],
    pub(crate) name: Ident,
    pub(crate) generics: Generics,
    pub(crate) paren_token: Paren,
    pub(crate) inputs: Vec<Input>,
    pub(crate) output: ReturnType,
}

impl Function {
    /// The body, with its braces.
    pub(crate) fn body(&self) -> TokenStream {
        let mut tokens = TokenStream::new();
        self.brace_token.surround(&mut tokens, |tokens| self.body.to_tokens(tokens));
        tokens
    }

    /// Whether there are loops in the body of which constants do not say how often they go round, as in `for i in 0..4 { … }`: how long it takes may depend on
    /// the arguments.
    pub(crate) fn has_loops(&self) -> bool {
        has_loops(self.body.clone())
    }
}

fn has_loops(tokens: TokenStream) -> bool {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let found = match token {
            TokenTree::Group(group) => has_loops(group.stream()),
            TokenTree::Ident(word) if word == "while" || word == "loop" => true,
            // Not `for<'a>`.
            TokenTree::Ident(word) if word == "for" => {
                let is_loop =
                    !matches!(tokens.peek(), Some(TokenTree::Punct(punct)) if punct.as_char() == '<');
                let places = tokens.by_ref().take_while(|token| !is_word(token, "in"));
                is_loop && {
                    places.for_each(drop);
                    !is_counted(&mut tokens)
                }
            }
            _ => false,
        };
        if found {
            return true;
        }
    }
    false
}

fn is_word(token: &TokenTree, expected: &str) -> bool {
    matches!(token, TokenTree::Ident(word) if word == expected)
}

/// Whether the rest of a `for` loop, from behind `in`, is what constants say, and a body that ends no earlier and has no other loops.
fn is_counted(tokens: &mut impl Iterator<Item = TokenTree>) -> bool {
    let mut head = TokenStream::new();
    for token in tokens {
        match token {
            TokenTree::Group(body) if body.delimiter() == Delimiter::Brace => {
                return is_constant(head) && !ends_early(body.stream()) && !has_loops(body.stream());
            }
            token => head.extend([token]),
        }
    }
    false
}

/// Whether an expression has no names but those of constants, which are written in capitals, and of methods.
fn is_constant(expression: TokenStream) -> bool {
    // Behind one dot is a method, behind two the end of a range.
    let mut dots = 0;
    expression.into_iter().all(|token| match token {
        TokenTree::Punct(punct) => {
            dots = if punct.as_char() == '.' { dots + 1 } else { 0 };
            true
        }
        TokenTree::Ident(word) => mem::take(&mut dots) == 1 || !word.to_string().contains(char::is_lowercase),
        TokenTree::Group(group) => {
            dots = 0;
            is_constant(group.stream())
        }
        TokenTree::Literal(_) => {
            dots = 0;
            true
        }
    })
}

fn ends_early(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Group(group) => ends_early(group.stream()),
        TokenTree::Punct(punct) => punct.as_char() == '?',
        token => is_word(&token, "break") || is_word(&token, "return"),
    })
}

/// As it was written, if it is neither `async` nor has an ABI.
impl ToTokens for Function {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self { attrs, visibility, signature, .. } = self;
        let constness = &signature.constness;
        tokens.extend(quote!(#(#attrs)* #visibility #constness));
        let inputs = signature.inputs.iter().map(Input::tokens);
        signature.tokens(&signature.generics, inputs).to_tokens(tokens);
        self.body().to_tokens(tokens);
    }
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let body;
        Ok(Self {
            attrs: input.call(Attribute::parse_outer)?,
            visibility: input.parse()?,
            signature: input.parse()?,
            brace_token: braced!(body in input),
            body: body.parse()?,
        })
    }
}

impl Signature {
    /// The signature of a kernel, which is no more than `[unsafe] fn name<…>(…) where …`, with these generics and inputs.
    pub(crate) fn tokens(
        &self,
        generics: &Generics,
        inputs: impl Iterator<Item = TokenStream>,
    ) -> TokenStream {
        let mut tokens = TokenStream::new();
        self.unsafety.to_tokens(&mut tokens);
        self.fn_token.to_tokens(&mut tokens);
        self.name.to_tokens(&mut tokens);
        generics.to_tokens(&mut tokens);
        self.paren_token.surround(&mut tokens, |tokens| quote!(#(#inputs),*).to_tokens(tokens));
        self.output.to_tokens(&mut tokens);
        generics.where_clause.to_tokens(&mut tokens);
        tokens
    }
}

impl Parse for Signature {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let inputs;
        let mut signature = Self {
            constness: input.parse()?,
            asyncness: input.parse()?,
            unsafety: input.parse()?,
            abi: input.parse()?,
            fn_token: input.parse()?,
            name: input.parse()?,
            generics: input.parse()?,
            paren_token: parenthesized!(inputs in input),
            inputs: inputs.parse_terminated(Input::parse, Token![,])?.into_iter().collect(),
            output: input.parse()?,
        };
        signature.generics.where_clause = input.parse()?;
        Ok(signature)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_are_those_that_are_not_counted() {
        let has = |body: &str| has_loops(body.parse().expect("it is Rust"));
        for body in [
            "while x > 1 { x /= 2 }",
            "if x > 0 { loop { break } }",
            "for i in 0..n { y += i }",
            "for (i, z) in values.iter() { y += i * z }",
            "for i in 0..20 { if x > 4.0 { return i } }",
            "for i in 0..20 { if x > 4.0 { break; } }",
            "for i in 0..20 { x.checked_add(i)?; }",
            "for i in 0..4 { while x > i { x -= 1 } }",
            "'outer: for i in 0..4 { for j in i..n { y += j } }",
            "let f = |x| { for i in 0..x { g(i) } }; f(3)",
            "for i in 0..n.min(4) { y += i }",
            "for i in (0..n).rev() { y += i }",
            "for i in first..4 { y += i }",
            "for i in [1, n] { for j in 0..i { y += j } }",
        ] {
            assert!(has(body), "{body}");
        }
        for body in [
            "x * x + y",
            "for i in 0..4 { y += i * x }",
            "for i in 0..=3 { for j in 0..2 { y += i * j } }",
            "for c in COEFFICIENTS { y = y * x + c }",
            "for (i, c) in COEFFICIENTS.iter().enumerate().rev() { y += c * x.powi(i) }",
            "for i in (0..=N).rev() { y += i }",
            "for c in [1.0, -0.5, LAST] { y = y * x + c }",
            "let f: &dyn for<'a> Fn(&'a u32) -> u32 = &g; f(&x)",
            "looped(x) + for_each(y) + x.while_some()",
        ] {
            assert!(!has(body), "{body}");
        }
    }
}

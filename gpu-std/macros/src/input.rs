//! One argument in the head of a function, as written.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{
    Attribute, Error, Ident, Result, Token, Type,
    parse::{Parse, ParseStream, Parser},
};

/// An argument.
pub(crate) enum Input {
    /// `pattern: Type`.
    Typed(Box<Typed>),
    /// `self` in one of its forms.
    Receiver(TokenStream),
    /// `...` or `pattern: ...`.
    Variadic(TokenStream),
}

/// An argument that has a type.
#[derive(Clone)]
pub(crate) struct Typed {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) pattern: TokenStream,
    colon_token: Token![:],
    pub(crate) ty: Type,
}

impl Typed {
    /// The name that the pattern is: `x`, `mut x`.
    pub(crate) fn name(&self) -> Option<Ident> {
        let name = |input: ParseStream<'_>| {
            input.parse::<Option<Token![mut]>>()?;
            input.parse::<Ident>()
        };
        name.parse2(self.pattern.clone()).ok()
    }

    /// The argument with a type of the same kind.
    pub(crate) fn with_type(&self, ty: &Type) -> TokenStream {
        let Self { attrs, pattern, colon_token, .. } = self;
        quote!(#(#attrs)* #pattern #colon_token #ty)
    }
}

impl Input {
    /// The argument as written.
    pub(crate) fn tokens(&self) -> TokenStream {
        match self {
            Self::Typed(typed) => typed.with_type(&typed.ty),
            Self::Receiver(tokens) | Self::Variadic(tokens) => tokens.clone(),
        }
    }
}

impl Parse for Input {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let mut pattern = TokenStream::new();
        let mut is_receiver = false;
        // Up to the colon, because a pattern may have commas. A receiver may have no colon.
        while !(input.is_empty()
            || input.peek(Token![:]) && !input.peek(Token![::])
            || input.peek(Token![,]) && is_receiver
            || input.peek(Token![...]))
        {
            is_receiver = input.peek(Token![self]) && !input.peek2(Token![::]);
            match input.parse::<Option<Token![::]>>()? {
                Some(colons) => colons.to_tokens(&mut pattern),
                None => input.parse::<TokenTree>()?.to_tokens(&mut pattern),
            }
        }
        let colon_token: Option<Token![:]> = input.parse()?;
        if let Some(dots) = input.parse::<Option<Token![...]>>()? {
            return Ok(Self::Variadic(quote!(#(#attrs)* #pattern #colon_token #dots)));
        }
        let Some(colon_token) = colon_token else {
            return match is_receiver {
                true => Ok(Self::Receiver(quote!(#(#attrs)* #pattern))),
                false => Err(input.error("expected `:`")),
            };
        };
        let ty: Type = input.parse().map_err(too_much)?;
        Ok(match is_receiver {
            true => Self::Receiver(quote!(#(#attrs)* #pattern #colon_token #ty)),
            false => Self::Typed(Box::new(Typed { attrs, pattern, colon_token, ty })),
        })
    }
}

/// What to say where syn without its feature `full` reads no further: rustc has read it before, so it is Rust, and a condition, a
/// block of statements or the like in the length of an array.
pub(crate) fn too_much(error: Error) -> Error {
    Error::new(
        error.span(),
        "`gpu_std` cannot read an expression like this in a type: make it a `const`, and use its name here",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(input: TokenStream) -> Input {
        syn::parse2(input).expect("an argument of a function")
    }

    #[test]
    fn names() {
        for name in
            [quote!(x: u32), quote!(mut r#type: &[f32]), quote!(#[allow(unused)] _x: [f32; { N * 2 }])]
        {
            assert!(matches!(parse(name), Input::Typed(typed) if typed.name().is_some()));
        }
    }

    #[test]
    fn patterns() {
        for pattern in [
            quote!((a, b): (f32, f32)),
            quote!(_: u32),
            quote!(ref x: u32),
            quote!(x @ y: u32),
            quote!(crate::Pair::<u32, f32> { a, b: c }: crate::Pair<u32, f32>),
            quote!(self::Wrapper(x): Wrapper),
        ] {
            assert!(matches!(parse(pattern), Input::Typed(typed) if typed.name().is_none()));
        }
    }

    #[test]
    fn receivers() {
        for receiver in [quote!(self), quote!(mut self), quote!(&'a mut self), quote!(self: Box<Self>)] {
            let text = receiver.to_string();
            assert!(matches!(parse(receiver), Input::Receiver(whole) if whole.to_string() == text));
        }
    }

    #[test]
    fn variadics() {
        for variadic in [quote!(...), quote!(_: ...), quote!(mut rest: ...)] {
            let text = variadic.to_string();
            assert!(matches!(parse(variadic), Input::Variadic(whole) if whole.to_string() == text));
        }
    }

    #[test]
    fn computed_types() {
        // Read only where another crate of the same build turns on syn's feature `full`.
        if let Err(error) = syn::parse2::<Input>(quote!(x: [f32; if DOUBLE { 2 } else { 1 }])) {
            assert!(error.to_string().contains("make it a `const`"), "{error}");
        }
    }
}

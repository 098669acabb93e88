//! The function that `#[kernel]` stands on: its head taken apart, its body left as it is.
//!
//! Written out here because syn reads functions only with its feature `full`, which takes a second to compile; bodies are
//! rustc's business anyway. rustc has read the function before, so what is not understood here is still Rust.

use proc_macro2::TokenStream;
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

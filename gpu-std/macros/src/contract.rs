//! The arguments of `#[kernel(…)]`: the launch contract, as written, and as an expression.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::{
    Error, Expr, Ident, LitInt, Result, Token, parenthesized,
    parse::{End, Parse, ParseStream},
    punctuated::Punctuated,
    spanned::Spanned,
    token::Paren,
};

use crate::condition::Condition;

/// A contract as declared.
#[derive(Default)]
pub(crate) struct Contract {
    block: Option<[TokenStream; 3]>,
    max_threads: Option<TokenStream>,
    min_blocks_per_sm: Option<TokenStream>,
    max_registers: Option<TokenStream>,
    dims: Option<TokenStream>,
    shared_bytes: Option<TokenStream>,
    pub(crate) requires: Option<Condition>,
    cluster: Option<[TokenStream; 3]>,
    /// Which of [`FLAGS`] are given.
    flags: [bool; FLAGS.len()],
}

/// The keys without a value: what a release build must not find in the optimised kernel, and how it is launched.
const FLAGS: [&str; 5] = ["no_panics", "no_spills", "no_stack", "no_f64", "programmatic_launch"];

impl Parse for Contract {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut contract = Self::default();
        while !input.is_empty() {
            let key: Ident = input.parse()?;
            if let Some(flag) = FLAGS.iter().position(|flag| key == flag) {
                contract.set_flag(flag, &key, input)?;
                continue;
            }
            if !input.peek(Token![=]) {
                return Err(Error::new(key.span(), format!("a promise has a value: `{key} = …`")));
            }
            input.parse::<Token![=]>()?;
            let kept = match key.to_string().as_str() {
                "block" => contract.block.replace(extents(input, "block", "threads")?).is_none(),
                "max_threads" => contract.max_threads.replace(positive(input)?).is_none(),
                "min_blocks_per_sm" => contract.min_blocks_per_sm.replace(positive(input)?).is_none(),
                "max_registers" => contract.max_registers.replace(positive(input)?).is_none(),
                "dims" => contract.dims.replace(positive(input)?).is_none(),
                "shared_bytes" => contract.shared_bytes.replace(positive(input)?).is_none(),
                "requires" => contract.requires.replace(input.parse()?).is_none(),
                "cluster" => contract.cluster.replace(extents(input, "cluster", "blocks")?).is_none(),
                unknown => {
                    return Err(Error::new(
                        key.span(),
                        format!(
                            "unknown key `{unknown}`: a launch contract has `block`, `max_threads`, `min_blocks_per_sm`, \
                             `max_registers`, `dims`, `shared_bytes`, `cluster`, `requires`, `no_panics`, `no_spills`, `no_stack`, `no_f64` \
                             and `programmatic_launch`"
                        ),
                    ));
                }
            };
            if !kept {
                return Err(given_twice(&key));
            }
            comma(input)?;
        }
        Ok(contract)
    }
}

fn given_twice(key: &Ident) -> Error {
    Error::new(key.span(), format!("`{key}` is given twice"))
}

/// What follows a key but the last.
fn comma(input: ParseStream<'_>) -> Result<()> {
    if !input.is_empty() {
        input.parse::<Token![,]>()?;
    }
    Ok(())
}

/// One to three extents; those left out are 1.
fn extents(input: ParseStream<'_>, key: &str, of: &str) -> Result<[TokenStream; 3]> {
    let alone = input.peek2(Token![,]) || input.peek2(End);
    if !(input.peek(Paren) && alone) {
        return Ok([positive(input)?, quote!(1), quote!(1)]);
    }
    let extents;
    let paren = parenthesized!(extents in input);
    let extents = Punctuated::<_, Token![,]>::parse_terminated_with(&extents, positive)?;
    if !(1..=3).contains(&extents.len()) {
        return Err(Error::new(
            paren.span.join(),
            format!(
                "a {key} has one to three extents, in {of}: `{key} = 4`, `{key} = (4, 2)`, `{key} = (2, 2, 2)`"
            ),
        ));
    }
    let mut extents = extents.into_iter();
    Ok([(); 3].map(|()| extents.next().unwrap_or_else(|| quote!(1))))
}

/// Refuses a zero that is written out; computed ones are refused when the constant is evaluated.
fn positive(input: ParseStream<'_>) -> Result<TokenStream> {
    let value = value(input)?;
    match syn::parse2::<LitInt>(value.clone()) {
        Ok(number) if number.base10_parse::<u128>().is_ok_and(|number| number == 0) => {
            Err(Error::new(number.span(), "this is at least 1: leave the key out for no promise"))
        }
        _ => Ok(value),
    }
}

/// An expression.
fn value(input: ParseStream<'_>) -> Result<TokenStream> {
    let at_end = |input: ParseStream<'_>| input.is_empty() || input.peek(Token![,]);
    let ahead = input.fork();
    if at_end(input) || ahead.parse::<Expr>().is_ok() && at_end(&ahead) {
        return input.parse::<Expr>().map(Expr::into_token_stream);
    }
    // Without its feature `full`, syn reads no conditions and the like: they go up to the comma, and rustc judges them.
    let mut value = TokenStream::new();
    while !at_end(input) {
        input.parse::<TokenTree>()?.to_tokens(&mut value);
    }
    Ok(value)
}

impl Contract {
    fn set_flag(&mut self, flag: usize, key: &Ident, input: ParseStream<'_>) -> Result<()> {
        if input.peek(Token![=]) {
            return Err(Error::new(key.span(), format!("this key has no value: write `{key}`")));
        }
        if std::mem::replace(&mut self.flags[flag], true) {
            return Err(given_twice(key));
        }
        comma(input)
    }

    /// The contract as an expression of type `Declaration`, which gpu_std checks.
    pub(crate) fn declaration(&self) -> TokenStream {
        let option = |value: Option<TokenStream>| match value {
            Some(value) => {
                quote_spanned!(value.span()=> ::core::option::Option::Some(#value))
            }
            None => quote!(::core::option::Option::None),
        };
        let number = |value: &Option<TokenStream>| option(value.clone());
        let block = option(self.block.as_ref().map(|[x, y, z]| quote!([#x, #y, #z])));
        let max_threads = number(&self.max_threads);
        let min_blocks_per_sm = number(&self.min_blocks_per_sm);
        let max_registers = number(&self.max_registers);
        let own_dims = number(&self.dims);
        let shared_bytes = number(&self.shared_bytes);
        let cluster = option(self.cluster.as_ref().map(|[x, y, z]| quote!([#x, #y, #z])));
        let [no_panics, no_spills, no_stack, no_f64, programmatic_launch] = self.flags;
        // What is wrong with computed values is reported here: at the attribute.
        quote_spanned! {Span::call_site()=>
            ::gpu_std::contract::Declaration {
                block: #block,
                max_threads: #max_threads,
                min_blocks_per_sm: #min_blocks_per_sm,
                max_registers: #max_registers,
                dims: #own_dims,
                shared_bytes: #shared_bytes,
                cluster: #cluster,
                no_panics: #no_panics,
                no_spills: #no_spills,
                no_stack: #no_stack,
                no_f64: #no_f64,
                programmatic_launch: #programmatic_launch,
            }
        }
    }
}

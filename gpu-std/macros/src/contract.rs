//! The arguments of `#[kernel(…)]`: the launch contract, as written, and as an expression.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{
    Error, Expr, ExprLit, Ident, Lit, Result, Token,
    parse::{Parse, ParseStream},
    punctuated::Punctuated,
    spanned::Spanned,
};

/// A contract as declared.
#[derive(Default)]
pub(crate) struct Contract {
    block: Option<[TokenStream; 3]>,
    max_block: Option<Expr>,
    min_blocks: Option<Expr>,
    max_registers: Option<Expr>,
    dims: Option<Expr>,
}

impl Parse for Contract {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut contract = Self::default();
        for Promise { key, value } in Punctuated::<Promise, Token![,]>::parse_terminated(input)? {
            let kept = match key.to_string().as_str() {
                "block" => {
                    let block = block(value)?;
                    contract.block.replace(block).is_none()
                }
                "max_block" => contract.max_block.replace(positive(value)?).is_none(),
                "min_blocks" => contract.min_blocks.replace(positive(value)?).is_none(),
                "max_registers" => contract.max_registers.replace(positive(value)?).is_none(),
                "dims" => contract.dims.replace(positive(value)?).is_none(),
                unknown => {
                    return Err(Error::new(
                        key.span(),
                        format!(
                            "unknown key `{unknown}`: a launch contract has `block`, `max_block`, `min_blocks`, \
                             `max_registers` and `dims`"
                        ),
                    ));
                }
            };
            if !kept {
                return Err(Error::new(key.span(), format!("`{key}` is given twice")));
            }
        }
        Ok(contract)
    }
}

/// `key = value`.
struct Promise {
    key: Ident,
    value: Expr,
}

impl Parse for Promise {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let key: Ident = input.parse()?;
        if !input.peek(Token![=]) {
            return Err(Error::new(key.span(), format!("a promise has a value: `{key} = …`")));
        }
        input.parse::<Token![=]>()?;
        Ok(Self { key, value: input.parse()? })
    }
}

/// One to three extents; those left out are 1.
fn block(value: Expr) -> Result<[TokenStream; 3]> {
    let span = value.span();
    let extents = match value {
        Expr::Tuple(tuple) => tuple.elems.into_iter().collect(),
        extent => vec![extent],
    };
    if !(1..=3).contains(&extents.len()) {
        return Err(Error::new(
            span,
            "a block has one to three extents: `block = 256`, `block = (32, 8)`, `block = (8, 8, 4)`",
        ));
    }
    let mut block = [const { None }; 3];
    for (axis, extent) in block.iter_mut().zip(extents) {
        *axis = Some(positive(extent)?.into_token_stream());
    }
    Ok(block.map(|extent| extent.unwrap_or_else(|| quote!(1))))
}

/// Refuses a zero that is written out; computed ones are refused when the constant is evaluated.
fn positive(value: Expr) -> Result<Expr> {
    if let Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) = &value
        && number.base10_parse::<u128>().is_ok_and(|number| number == 0)
    {
        return Err(Error::new(number.span(), "this is at least 1: leave the key out for no promise"));
    }
    Ok(value)
}

impl Contract {
    /// The contract as an expression of type `Declaration`, which gpu_std checks.
    pub(crate) fn declaration(&self) -> TokenStream {
        let option = |value: Option<TokenStream>| match value {
            Some(value) => {
                quote_spanned!(value.span()=> ::core::option::Option::Some(#value))
            }
            None => quote!(::core::option::Option::None),
        };
        let number = |value: &Option<Expr>| option(value.as_ref().map(ToTokens::to_token_stream));
        let block = option(self.block.as_ref().map(|[x, y, z]| quote!([#x, #y, #z])));
        let max_block = number(&self.max_block);
        let min_blocks = number(&self.min_blocks);
        let max_registers = number(&self.max_registers);
        let own_dims = number(&self.dims);
        // What is wrong with computed values is reported here: at the attribute.
        quote_spanned! {Span::call_site()=>
            ::gpu_std::contract::Declaration {
                block: #block,
                max_block: #max_block,
                min_blocks: #min_blocks,
                max_registers: #max_registers,
                dims: #own_dims,
            }
        }
    }
}

//! The signatures that `#[vectorize]`, `#[guvectorize]`, `#[pipeline]` and `#[reduction]` list: the types for which there are kernels of a generic function.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{
    Error, GenericParam, Generics, Ident, Result, Token, Type,
    ext::IdentExt,
    parse::{Parse, ParseStream},
    spanned::Spanned,
};

use crate::{function::Signature, input::too_much};

/// The types of an instance: `f32`, or `<f32, i32>` for several type parameters.
pub(crate) struct Instance(pub(crate) Vec<Type>);

impl Parse for Instance {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        // `<f32 as Trait>::Type` is a type, too.
        let is_list = input.peek(Token![<]) && {
            let ahead = input.fork();
            ahead.parse::<Token![<]>()?;
            ahead.parse::<Type>()?;
            !ahead.peek(Token![as])
        };
        if !is_list {
            return Ok(Self(vec![input.parse().map_err(too_much)?]));
        }
        input.parse::<Token![<]>()?;
        let mut types = Vec::new();
        while !input.peek(Token![>]) {
            types.push(input.parse().map_err(too_much)?);
            if !input.peek(Token![>]) {
                input.parse::<Token![,]>()?;
            }
        }
        input.parse::<Token![>]>()?;
        Ok(Self(types))
    }
}

/// Names the instances of a function, each by its types: `matmul_f32`. One that has no type parameters is its only instance. `attribute` is what
/// messages tell to write.
pub(crate) fn name_instances(
    name: &Ident,
    generics: &[Ident],
    listed: impl IntoIterator<Item = Instance>,
    attribute: &str,
) -> Result<Vec<(String, Vec<Type>)>> {
    let mut listed = listed.into_iter().peekable();
    let open = attribute.trim_end_matches([')', ']']);
    // What comes before the types: nothing, or a layout.
    let before = if open.contains('(') { format!("{open}, ") } else { format!("{open}(") };
    if generics.is_empty() {
        return match listed.next() {
            Some(Instance(types)) => Err(Error::new(
                types.first().map_or(Span::call_site(), Spanned::span),
                format!(
                    "this function has no type parameters, so that its signature is the only one: `{attribute}`"
                ),
            )),
            None => Ok(vec![(name.unraw().to_string(), Vec::new())]),
        };
    }
    if listed.peek().is_none() {
        return Err(Error::new_spanned(
            name,
            format!(
                "list the types for which there are kernels: `{before}f32, f64)]`, or for several type parameters \
                 `{before}<f32, i32>)]`"
            ),
        ));
    }
    let mut named: Vec<(String, Vec<Type>)> = Vec::new();
    for Instance(types) in listed {
        if types.len() != generics.len() {
            return Err(Error::new(
                types.first().map_or(Span::call_site(), Spanned::span),
                format!(
                    "`{name}` has {} type parameters, and this is {}: write `<A, B>` for the types of one instance",
                    generics.len(),
                    types.len()
                ),
            ));
        }
        let instance =
            format!("{}_{}", name.unraw(), types.iter().map(as_word).collect::<Vec<_>>().join("_"));
        if named.iter().any(|(other, _)| *other == instance) {
            return Err(Error::new_spanned(&types[0], format!("there is already an instance `{instance}`")));
        }
        named.push((instance, types));
    }
    Ok(named)
}

/// Refuses what is there and should not be.
pub(crate) fn refuse<T: ToTokens>(what: Option<T>, message: &str) -> Result<()> {
    what.map_or(Ok(()), |what| Err(Error::new_spanned(what, message)))
}

/// Refuses what no function has that kernels call for elements or cores.
pub(crate) fn check_function(Signature { unsafety, asyncness, abi, .. }: &Signature) -> Result<()> {
    refuse(unsafety.as_ref(), "a function of arrays is called for any elements: it cannot be `unsafe`")?;
    refuse(asyncness.as_ref(), "a function of arrays cannot be `async`: kernels call it")?;
    refuse(abi.as_ref(), "a function of arrays is declared without an ABI")
}

/// The names of type parameters; others are refused.
pub(crate) fn type_params(generics: &Generics) -> Result<Vec<Ident>> {
    let names = generics.params.iter().map(|param| match param {
        GenericParam::Type(param) => Ok(param.ident.clone()),
        other => Err(Error::new_spanned(
            other,
            "a function of arrays has type parameters only: make constants and lifetimes part of the types",
        )),
    });
    names.collect()
}

/// A type as part of a name: `Complex_f32`.
fn as_word(ty: &Type) -> String {
    let mut word = String::new();
    let mut separated = false;
    for c in ty.to_token_stream().to_string().chars() {
        if c.is_alphanumeric() {
            if separated && !word.is_empty() {
                word.push('_');
            }
            separated = false;
            word.push(c);
        } else {
            separated = true;
        }
    }
    word
}

/// Whether `impl Trait` is among the tokens.
pub(crate) fn mentions_impl(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == "impl",
        TokenTree::Group(group) => mentions_impl(group.stream()),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::quote;

    #[test]
    fn names_of_types_are_words() {
        let word = |ty: TokenStream| as_word(&syn::parse2(ty).expect("a type"));
        assert_eq!(word(quote!(f32)), "f32");
        assert_eq!(word(quote!(gpu_std::complex::Complex<f32>)), "gpu_std_complex_Complex_f32");
        assert_eq!(word(quote!([u8; 4])), "u8_4");
    }
}

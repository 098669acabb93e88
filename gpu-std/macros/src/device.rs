//! `#[device(import)]` and `#[device(export)]`: functions that CUDA C defines, and functions that it calls.

use gpukernel_abi::section;
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{
    Abi, Attribute, Error, Expr, ExprLit, Lit, Meta, Result, Token, Visibility, braced,
    ext::IdentExt,
    parse::{Parse, ParseStream},
    spanned::Spanned,
};

use crate::{
    function::{Function, Signature},
    input::Input,
};

mod keyword {
    syn::custom_keyword!(safe);
    syn::custom_keyword!(import);
    syn::custom_keyword!(export);
}

pub(crate) fn device(arguments: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let direction = |input: ParseStream<'_>| {
        if input.parse::<Option<keyword::import>>()?.is_some() {
            Ok(true)
        } else if input.parse::<Option<keyword::export>>()?.is_some() {
            Ok(false)
        } else {
            Err(Error::new(
                Span::call_site(),
                "`#[device(import)]` declares functions of CUDA C, `#[device(export)]` gives a function to CUDA C",
            ))
        }
    };
    match syn::parse::Parser::parse2(direction, arguments)? {
        true => import(item),
        false => export(item),
    }
}

/// `unsafe extern "C" { … }`.
struct Block {
    attrs: Vec<Attribute>,
    functions: Vec<Declared>,
}

/// `pub safe fn name(a: A) -> R;`.
struct Declared {
    attrs: Vec<Attribute>,
    visibility: Visibility,
    is_safe: bool,
    signature: Signature,
}

impl Parse for Block {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let expected = "`#[device(import)]` stands on a block of declarations: `unsafe extern \"C\" { fn name(x: f32) -> f32; }`";
        if input.parse::<Option<Token![unsafe]>>()?.is_none() {
            return Err(input.error(expected));
        }
        let abi: Abi = input.parse().map_err(|error| Error::new(error.span(), expected))?;
        if abi.name.as_ref().is_some_and(|name| name.value() != "C") {
            return Err(Error::new(abi.span(), "functions of CUDA C are `extern \"C\"`"));
        }
        let content;
        braced!(content in input);
        let mut functions = Vec::new();
        while !content.is_empty() {
            functions.push(content.parse()?);
        }
        Ok(Self { attrs, functions })
    }
}

impl Parse for Declared {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let is_safe = input.parse::<Option<keyword::safe>>()?.is_some();
        if input.peek(Token![static]) || input.peek(Token![type]) {
            return Err(input.error(
                "`#[device(import)]` is for functions: let one in CUDA C read or write the variable",
            ));
        }
        let signature: Signature = input.parse()?;
        input.parse::<Token![;]>()?;
        Ok(Self { attrs, visibility, is_safe, signature })
    }
}

fn import(item: TokenStream) -> Result<TokenStream> {
    let Block { attrs, functions } = syn::parse2(item.clone())?;
    let on_host = functions.iter().map(on_host).collect::<Result<Vec<_>>>()?;
    Ok(quote! {
        #[cfg(target_arch = "nvptx64")]
        #item

        #(
            #[cfg(not(target_arch = "nvptx64"))]
            #on_host
        )*

        #[cfg(not(target_arch = "nvptx64"))]
        const _: () = {
            // What is said of the block is said of a block.
            #(#attrs)*
            unsafe extern "C" {}
        };
    })
}

/// The function on the host, which looks for the one that was compiled for the host.
fn on_host(declared: &Declared) -> Result<TokenStream> {
    let Declared { attrs, visibility, is_safe, signature } = declared;
    let Signature { name, generics, inputs, output, .. } = signature;
    if let Some(parameter) =
        generics.params.iter().find(|parameter| !matches!(parameter, syn::GenericParam::Lifetime(_)))
    {
        return Err(Error::new(parameter.span(), "a function of CUDA C is not generic"));
    }
    let mut types = Vec::new();
    let mut names = Vec::new();
    for (index, input) in inputs.iter().enumerate() {
        match input {
            Input::Typed(typed) => {
                types.push(&typed.ty);
                names.push(format_ident!("argument_{index}"));
            }
            Input::Receiver(tokens) => {
                return Err(Error::new_spanned(tokens, "a function of CUDA C has no `self`"));
            }
            Input::Variadic(tokens) => {
                return Err(Error::new_spanned(
                    tokens,
                    "functions of CUDA C with `...` cannot be called on a GPU",
                ));
            }
        }
    }
    let symbol = link_name(attrs)?.unwrap_or_else(|| name.unraw().to_string());
    let others = attrs.iter().filter(|attr| !attr.path().is_ident("link_name"));
    let unsafety = if *is_safe { quote!() } else { quote!(unsafe) };
    Ok(quote_spanned! {name.span()=>
        #(#others)*
        #[allow(clippy::too_many_arguments, clippy::missing_safety_doc)]
        #[track_caller]
        #visibility #unsafety fn #name #generics (#(#names: #types),*) #output {
            static IMPORT: ::gpu_std::host::Import = ::gpu_std::host::Import::new(#symbol);
            let function = IMPORT.get();
            // SAFETY: the function of this name has this type, as the block promises where it says `unsafe`. It may unwind:
            // a barrier in it does where the launch has failed.
            unsafe {
                let function = ::core::mem::transmute::<
                    unsafe extern "C" fn(),
                    unsafe extern "C-unwind" fn(#(#types),*) #output,
                >(function);
                function(#(#names),*)
            }
        }
    })
}

/// The name in `#[link_name = "name"]`.
fn link_name(attrs: &[Attribute]) -> Result<Option<String>> {
    let Some(attribute) = attrs.iter().find(|attr| attr.path().is_ident("link_name")) else {
        return Ok(None);
    };
    match &attribute.meta {
        Meta::NameValue(pair) => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(name), .. }) => Ok(Some(name.value())),
            other => Err(Error::new(other.span(), "expected a name in quotes")),
        },
        other => Err(Error::new(other.span(), "expected `link_name = \"name\"`")),
    }
}

fn export(item: TokenStream) -> Result<TokenStream> {
    let function: Function = syn::parse2(item.clone())?;
    let signature = &function.signature;
    let is_c =
        signature.abi.as_ref().is_some_and(|abi| abi.name.as_ref().is_none_or(|name| name.value() == "C"));
    if !is_c {
        return Err(Error::new(
            signature.name.span(),
            "a function for CUDA C is `extern \"C\"`: `#[device(export)] pub extern \"C\" fn shade(x: f32) -> f32 { … }`",
        ));
    }
    if let Some(parameter) = signature.generics.params.first() {
        return Err(Error::new(parameter.span(), "a function for CUDA C is not generic"));
    }
    // The section tells the linker to keep the function, and its name.
    let section = section::EXPORT;
    Ok(quote! {
        #[cfg_attr(target_arch = "nvptx64", unsafe(no_mangle), unsafe(link_section = #section))]
        #item
    })
}

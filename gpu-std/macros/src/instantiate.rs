//! `instantiate!`: the instances of generic kernels for which device code is made.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{
    Attribute, Error, Generics, Ident, Path, PathArguments, Result, Token, Visibility,
    ext::IdentExt,
    parse::{Parse, ParseStream},
    punctuated::Punctuated,
    spanned::Spanned,
};

use crate::{
    device_entry::description,
    host_body::{delegate, run_threads},
    input::too_much,
};

/// `path::kernel::<f32>`, or `pub fn name = path::kernel::<f32>`.
struct Instance {
    attrs: Vec<Attribute>,
    named: Option<Named>,
    path: Path,
}

/// What an instance is called, if not by its path.
struct Named {
    visibility: Visibility,
    unsafety: Option<Token![unsafe]>,
    name: Ident,
}

impl Parse for Instance {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let is_named = {
            let ahead = input.fork();
            ahead.parse::<Visibility>()?;
            ahead.parse::<Option<Token![unsafe]>>()?;
            ahead.peek(Token![fn])
        };
        let named = is_named.then(|| {
            let (visibility, unsafety) = (input.parse()?, input.parse()?);
            input.parse::<Token![fn]>()?;
            let named = Named { visibility, unsafety, name: input.parse()? };
            input.parse::<Token![=]>()?;
            Ok::<_, Error>(named)
        });
        let path: Path = input.parse().map_err(too_much)?;
        Ok(Self { attrs, named: named.transpose()?, path })
    }
}

pub(crate) fn instantiate(input: TokenStream) -> Result<TokenStream> {
    let instances = syn::parse::Parser::parse2(Punctuated::<Instance, Token![,]>::parse_terminated, input)?;
    instances.iter().map(expand).collect()
}

fn expand(instance: &Instance) -> Result<TokenStream> {
    let Instance { attrs, named, path } = instance;
    let written = name(path)?;
    let mut template = path.clone();
    if let Some(last) = template.segments.last_mut() {
        last.ident = format_ident!("__gpukernel_{}", last.ident.unraw(), span = last.ident.span());
    }
    let Some(Named { visibility, unsafety, name }) = named else {
        let full = quote!(::core::concat!(::core::module_path!(), "::", #written));
        let entry = entry(&template, &full);
        let run_threads = run_threads(&quote!(#template));
        return Ok(quote! {
            #(#attrs)*
            const _: () = {
                // SAFETY: the entry below, or on the device, is made of the same template.
                #[cfg(not(target_arch = "nvptx64"))]
                unsafe impl ::gpu_std::host::Instance for #template {
                    const NAME: &'static ::core::primitive::str = #full;
                    const PACKAGE: ::gpu_std::signature::Package = ::gpu_std::__package!();
                    const RUN_THREADS: ::gpu_std::host::RunThreads = __gpukernel_run_threads;
                }

                #[cfg(not(target_arch = "nvptx64"))]
                #run_threads

                // Evaluated here, so that a mistake in the contract is found where the instance is declared.
                #[cfg(not(target_arch = "nvptx64"))]
                const _: ::gpu_std::Contract = <#template as ::gpu_std::host::Body>::CONTRACT;

                #entry
            };
        });
    };
    let bare = name.unraw().to_string();
    let full = quote!(::core::concat!(::core::module_path!(), "::", #bare));
    let handle = format_ident!("__gpukernel_{}", bare);
    let entry = entry(&template, &full);
    let body = delegate(
        &Generics::default(),
        &quote!(#handle),
        &quote!(#template),
        &[quote!(#full), quote!(::gpu_std::__package!()), quote!(__gpukernel_run_threads)],
    );
    let run_threads = run_threads(&quote!(#handle));
    let safe = unsafety.is_none().then(|| {
        quote! {
            // SAFETY: the template is safe, which is asked here.
            unsafe impl ::gpu_std::host::SafeBody for #handle {}
            const _: () = ::gpu_std::host::assert_safe_template::<#template>();
        }
    });
    Ok(quote! {
        #[doc(hidden)]
        #[allow(non_camel_case_types, dead_code)]
        #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
        #visibility struct #handle;

        #(#attrs)*
        #[inline]
        #[cfg_attr(target_arch = "nvptx64", allow(dead_code))]
        #visibility const fn #name() -> #handle {
            #handle
        }

        const _: () = {
            #[cfg(not(target_arch = "nvptx64"))]
            const _: () = {
                #body

                #run_threads

                #safe

                const _: ::gpu_std::Contract = <#handle as ::gpu_std::host::Body>::CONTRACT;
            };

            #entry
        };
    })
}

/// What the linker finds the instance by.
fn entry(template: &Path, full: &TokenStream) -> TokenStream {
    let description = description(&quote!(#template), full);
    quote! {
        #[cfg(target_arch = "nvptx64")]
        const _: () = { #description };
    }
}

/// The name of an instance: as written, without what is not needed to read it, and the same whichever rustc writes tokens as text.
fn name(path: &Path) -> Result<String> {
    let has_arguments =
        path.segments.last().is_some_and(|last| matches!(last.arguments, PathArguments::AngleBracketed(_)));
    if !has_arguments {
        return Err(Error::new(
            path.span(),
            "say for which types, and which values: `kernel::<f32>`, `kernel::<f32, 4>`",
        ));
    }
    let text = quote!(#path).to_string();
    let mut name = String::new();
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        name.push_str(word);
        let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        if is_word(word.chars().last()) && is_word(words.peek().and_then(|next| next.chars().next())) {
            name.push(' ');
        }
    }
    Ok(name
        .trim_start_matches("::")
        .trim_start_matches("self::")
        .trim_start_matches("crate::")
        .replace("::<", "<"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_same_however_tokens_are_written() {
        let of = |path: TokenStream| name(&syn::parse2(path).expect("a path")).expect("a name");
        assert_eq!(of(quote!(scale::<f32>)), "scale<f32>");
        assert_eq!(of(quote!(self::a::scale::<f32, 4, { crate::N }>)), "a::scale<f32,4,{crate::N}>");
        assert_eq!(of(quote!(scale::<[Pair<u8, i8>; 3]>)), "scale<[Pair<u8,i8>;3]>");
    }

    #[test]
    fn instances_have_arguments() {
        let error = instantiate(quote!(scale)).expect_err("no type is given");
        assert!(error.to_string().contains("say for which types"), "{error}");
        assert!(instantiate(quote!(scale::<f32>, pub fn scale_f64 = scale::<f64>,)).is_ok());
        assert!(instantiate(quote!(pub fn scale_f64 scale::<f64>)).is_err());
    }
}

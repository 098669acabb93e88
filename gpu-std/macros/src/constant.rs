//! `#[constant]`: gives a static of type `Constant<T>` its name, and on the device its place.

use gpukernel_abi::section;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{
    Attribute, Error, Expr, Ident, Result, Token, Type, Visibility,
    ext::IdentExt,
    parse::{Parse, ParseStream},
};

/// `pub static NAME: Type = value;`.
struct Static {
    attrs: Vec<Attribute>,
    visibility: Visibility,
    name: Ident,
    ty: Type,
    value: TokenStream,
}

impl Parse for Static {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        if !input.peek(Token![static]) || input.peek2(Token![mut]) {
            return Err(input.error(
                "`#[constant]` stands on a `static`: `#[constant] pub static TABLE: Constant<[f32; 16]> = Constant::new([0.0; 16]);`",
            ));
        }
        input.parse::<Token![static]>()?;
        let name = input.parse()?;
        input.parse::<Token![:]>()?;
        let ty = input.parse()?;
        input.parse::<Token![=]>()?;
        let mut value = TokenStream::new();
        while !input.peek(Token![;]) {
            value.extend([input.parse::<proc_macro2::TokenTree>()?]);
        }
        input.parse::<Token![;]>()?;
        Ok(Self { attrs, visibility, name, ty, value })
    }
}

pub(crate) fn constant(arguments: &TokenStream, item: TokenStream) -> Result<TokenStream> {
    if !arguments.is_empty() {
        return Err(Error::new_spanned(arguments, "`#[constant]` has no arguments"));
    }
    let Static { attrs, visibility, name, ty, value } = syn::parse2(item)?;
    let bare = name.unraw().to_string();
    let full = quote!(::core::concat!(::core::module_path!(), "::", #bare));
    // Only to show mistakes in the expression at their place.
    let value = match syn::parse2::<Expr>(value.clone()) {
        Ok(expression) => quote!(#expression),
        Err(_) => value,
    };
    let (section, descriptions) = (section::CONSTANT, section::CONSTANTS);
    Ok(quote! {
        #(#attrs)*
        #[cfg_attr(target_arch = "nvptx64", unsafe(link_section = #section))]
        #visibility static #name: #ty = ::gpu_std::Constant::__declared(#value, #full, ::gpu_std::__package!());

        #[cfg(target_arch = "nvptx64")]
        const _: () = {
            const __GPUKERNEL_SIGNATURE: ::gpu_std::signature::ConstantSignature =
                ::gpu_std::signature::ConstantSignature {
                    name: #full,
                    package: ::gpu_std::__package!(),
                    ty: <#ty>::__TYPE,
                };

            #[used]
            #[unsafe(link_section = #descriptions)]
            static __GPUKERNEL_META: ::gpu_std::device::ConstantMeta<{ __GPUKERNEL_SIGNATURE.len() }> =
                // SAFETY: the signature names the type of the static.
                unsafe { ::gpu_std::device::ConstantMeta::new((&raw const #name).cast(), &__GPUKERNEL_SIGNATURE) };
        };
    })
}

//! `#[derive(DeviceCopy)]`: asks for a fixed layout, and rustc for fields that are `DeviceCopy`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{
    Data, DeriveInput, Error, GenericParam, Result, Token, parse_quote, punctuated::Punctuated,
    spanned::Spanned,
};

use crate::input::too_much;

const INTEGERS: [&str; 12] =
    ["u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize"];

pub(crate) fn derive(item: TokenStream) -> Result<TokenStream> {
    let item: DeriveInput = syn::parse2(item).map_err(too_much)?;
    check_layout(&item)?;
    if let Some(lifetime) = item.generics.lifetimes().next() {
        return Err(Error::new(
            lifetime.lifetime.span(),
            "`DeviceCopy` is for values that borrow nothing: what they borrow would not be on the device. Memory is a parameter of its \
             own, such as `&[T]`",
        ));
    }

    let fields: Vec<_> = match &item.data {
        Data::Struct(data) => data.fields.iter().map(|field| &field.ty).collect(),
        Data::Enum(data) => data.variants.iter().flat_map(|variant| &variant.fields).map(|f| &f.ty).collect(),
        Data::Union(data) => {
            return Err(Error::new(
                data.union_token.span,
                "`DeviceCopy` cannot be derived for a union, whose fields rustc cannot tell apart: implement it by hand, in \
                 `unsafe` code",
            ));
        }
    };
    let mut generics = item.generics.clone();
    for param in &mut generics.params {
        if let GenericParam::Type(param) = param {
            param.bounds.push(parse_quote!(::gpu_std::DeviceCopy));
        }
    }
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let name = &item.ident;
    let checks = fields
        .iter()
        .map(|ty| quote_spanned!(ty.span()=> ::gpu_std::device_copy::assert_device_copy::<#ty>();));
    // Not in rustc's lists of types that could stand for another; but where a parameter is the trouble, rustc is to say so.
    let recommend = match item.generics.type_params().next() {
        None => quote!(#[diagnostic::do_not_recommend]),
        Some(_) => TokenStream::new(),
    };
    Ok(quote! {
        #recommend
        // SAFETY: the layout is fixed, and the fields are checked below.
        unsafe impl #impl_generics ::gpu_std::DeviceCopy for #name #type_generics #where_clause {}

        const _: () = {
            #[allow(dead_code)]
            fn fields #impl_generics () #where_clause {
                #(#checks)*
            }
        };
    })
}

/// Refuses layouts that rustc is free to choose.
fn check_layout(item: &DeriveInput) -> Result<()> {
    let mut fixed = false;
    for attribute in item.attrs.iter().filter(|attr| attr.path().is_ident("repr")) {
        attribute.parse_nested_meta(|meta| {
            let name = |name| meta.path.is_ident(name);
            fixed |= name("C") || name("transparent") || INTEGERS.into_iter().any(name);
            if name("packed") {
                return Err(meta.error(
                    "`DeviceCopy` cannot be derived for a packed type, whose fields would be read unaligned",
                ));
            }
            // `align(N)` has an argument.
            if meta.input.peek(syn::token::Paren) {
                let arguments;
                syn::parenthesized!(arguments in meta.input);
                Punctuated::<syn::Lit, Token![,]>::parse_terminated(&arguments)?;
            }
            Ok(())
        })?;
    }
    if fixed {
        return Ok(());
    }
    let advice = match item.data {
        Data::Enum(_) => "`#[repr(u32)]` or `#[repr(C)]`",
        _ => "`#[repr(C)]` or `#[repr(transparent)]`",
    };
    Err(Error::new(
        item.ident.span(),
        format!(
            "`{}` has no fixed layout, so host and device may disagree about it: add {advice}",
            item.ident
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computed_fields() {
        let item = |len| quote!(#[repr(C)] struct Item { values: [f32; #len] });
        assert!(derive(item(quote!({ SIZE as usize * size_of::<f32>() }))).is_ok());
        // Read only where another crate of the same build turns on syn's feature `full`.
        if let Err(error) = derive(item(quote!(if DOUBLE { 2 } else { 1 }))) {
            assert!(error.to_string().contains("make it a `const`"), "{error}");
        }
    }
}

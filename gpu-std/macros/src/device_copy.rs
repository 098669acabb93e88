//! `#[derive(DeviceCopy)]`: asks for a fixed layout, and rustc for fields that are `DeviceCopy`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{
    Data, DataEnum, DeriveInput, Error, Fields, GenericParam, Generics, Member, Result, Token, ext::IdentExt,
    parse_quote, punctuated::Punctuated, spanned::Spanned,
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

    let layout = match &item.data {
        Data::Struct(data) => structure(&data.fields),
        Data::Enum(data) => enumeration(&item, data),
        Data::Union(data) => {
            return Err(Error::new(
                data.union_token.span,
                "`DeviceCopy` cannot be derived for a union, whose fields rustc cannot tell apart: implement it by hand, in \
                 `unsafe` code",
            ));
        }
    };
    let generics = of_plain_data(&item.generics);
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let (name, described) = (&item.ident, description(&item));
    // Not in rustc's lists of types that could stand for another; but where a parameter is the trouble, rustc is to say so.
    let recommend = match item.generics.type_params().next() {
        None => quote!(#[diagnostic::do_not_recommend]),
        Some(_) => TokenStream::new(),
    };
    Ok(quote! {
        #recommend
        // SAFETY: the layout is fixed, rustc checks that the fields are plain data to name their types, and the path of the type is
        // in its name.
        unsafe impl #impl_generics ::gpu_std::DeviceCopy for #name #type_generics #where_clause {
            const TYPE: ::gpu_std::signature::Text = ::gpu_std::signature::Text::All(&[
                #described
                #layout
                ::gpu_std::signature::Text::Word(" "),
                ::gpu_std::signature::Text::Number(::core::mem::size_of::<Self>() as ::core::primitive::i128),
                ::gpu_std::signature::Text::Word(":"),
                ::gpu_std::signature::Text::Number(::core::mem::align_of::<Self>() as ::core::primitive::i128),
            ]);
            const ANY_BYTES: ::core::primitive::bool = {
                // The fields do not tell what values the type promises to have.
                use ::gpu_std::device_copy::Unknown as _;
                ::gpu_std::device_copy::AnyBytes::<Self>::PROMISED
            };
        }
    })
}

/// The generic parameters, of which types are plain data.
pub(crate) fn of_plain_data(generics: &Generics) -> Generics {
    let mut generics = generics.clone();
    for param in generics.type_params_mut() {
        param.bounds.push(parse_quote!(::gpu_std::DeviceCopy));
    }
    generics
}

/// The path of a type, its generic arguments and its package, as signatures have them: elements of an array of texts.
pub(crate) fn description(item: &DeriveInput) -> TokenStream {
    let (bare, arguments) = (item.ident.unraw().to_string(), arguments(&item.generics));
    quote! {
        ::gpu_std::signature::Text::Of(
            ::core::concat!(::core::module_path!(), "::", #bare),
            &[#(#arguments),*],
        ),
        ::gpu_std::signature::Text::Word(" of "),
        ::gpu_std::signature::Text::Quoted(::gpu_std::__package!().name),
        ::gpu_std::signature::Text::Word(" "),
        ::gpu_std::signature::Text::Quoted(::gpu_std::__package!().version),
    }
}

/// The descriptions of generic arguments.
fn arguments(generics: &Generics) -> Vec<TokenStream> {
    let argument = |param: &GenericParam| match param {
        GenericParam::Const(param) => {
            let value = &param.ident;
            Some(quote!(::gpu_std::signature::Text::Number(#value as ::core::primitive::i128)))
        }
        GenericParam::Type(param) => Some(type_of(&param.ident)),
        GenericParam::Lifetime(_) => None,
    };
    generics.params.iter().filter_map(argument).collect()
}

/// The description of a type, which makes rustc check that it is `DeviceCopy`.
fn type_of(ty: &impl ToTokens) -> TokenStream {
    quote_spanned!(ty.span()=> <#ty as ::gpu_std::DeviceCopy>::TYPE)
}

/// The fields of a struct: name, offset and type of each.
fn structure(fields: &Fields) -> TokenStream {
    let fields = fields.members().zip(fields).map(|(member, field)| {
        let (label, ty) = (format!(" {}@", name_of(&member)), type_of(&field.ty));
        quote! {
            ::gpu_std::signature::Text::Word(#label),
            ::gpu_std::signature::Text::Number(::core::mem::offset_of!(Self, #member) as ::core::primitive::i128),
            ::gpu_std::signature::Text::Word(" "),
            #ty,
        }
    });
    quote! {
        ::gpu_std::signature::Text::Word(" {"),
        #(#fields)*
        ::gpu_std::signature::Text::Word(" }"),
    }
}

/// The variants of an enum: name, discriminant and fields of each, in the order in which a fixed layout has them.
fn enumeration(item: &DeriveInput, data: &DataEnum) -> TokenStream {
    let representation = representation(item);
    let integer = INTEGERS.into_iter().find(|name| representation.iter().any(|word| word == name));
    // What C's compiler would choose holds what fits in an `isize` (Rust reference, "Type layout").
    let integer = Ident::new(integer.unwrap_or("isize"), Span::mixed_site());
    let discriminant = Ident::new("discriminant", Span::mixed_site());
    let (mut base, mut behind) = (None, 0_i128);
    let variants = data.variants.iter().map(|variant| {
        if let Some((_, value)) = &variant.discriminant {
            (base, behind) = (Some(value), 0);
        }
        let value = match base {
            Some(value) => quote! {
                { let #discriminant: ::core::primitive::#integer = #value; #discriminant as ::core::primitive::i128 + #behind }
            },
            None => quote!(#behind),
        };
        behind += 1;
        let label = format!(" {}=", variant.ident.unraw());
        let fields = variant.fields.members().zip(&variant.fields).map(|(member, field)| {
            let (label, ty) = (format!(" {} ", name_of(&member)), type_of(&field.ty));
            quote!(::gpu_std::signature::Text::Word(#label), #ty,)
        });
        quote! {
            ::gpu_std::signature::Text::Word(#label),
            ::gpu_std::signature::Text::Number(#value),
            ::gpu_std::signature::Text::Word(" {"),
            #(#fields)*
            ::gpu_std::signature::Text::Word(" }"),
        }
    });
    let head = format!(" enum {} {{", representation.join(" "));
    quote! {
        ::gpu_std::signature::Text::Word(#head),
        #(#variants)*
        ::gpu_std::signature::Text::Word(" }"),
    }
}

pub(crate) fn name_of(member: &Member) -> String {
    match member {
        Member::Named(name) => name.unraw().to_string(),
        Member::Unnamed(index) => index.index.to_string(),
    }
}

/// The words of `#[repr]` that choose the layout of an enum.
fn representation(item: &DeriveInput) -> Vec<String> {
    let mut words = Vec::new();
    for attribute in item.attrs.iter().filter(|attr| attr.path().is_ident("repr")) {
        // What is not a word, `align(8)`, was checked before and shows in the alignment of the type.
        let _ = attribute.parse_nested_meta(|meta| {
            words.extend(meta.path.get_ident().map(ToString::to_string));
            if meta.input.peek(syn::token::Paren) {
                let arguments;
                syn::parenthesized!(arguments in meta.input);
                arguments.parse::<TokenStream>()?;
            }
            Ok(())
        });
    }
    words.sort();
    words
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

//! Generic kernels: a handle with the generic parameters, from whose template `instantiate!` makes entries.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{GenericParam, Generics, parse_quote};

use crate::kernel::Kernel;

/// The generic parameters without bounds, and a type that mentions those which are types.
fn plain(generics: &Generics) -> (TokenStream, TokenStream) {
    let (mut params, mut types) = (TokenStream::new(), TokenStream::new());
    for param in &generics.params {
        match param {
            GenericParam::Type(param) => {
                let name = &param.ident;
                params.extend(quote!(#name,));
                types.extend(quote!(#name,));
            }
            GenericParam::Const(param) => {
                let (name, ty) = (&param.ident, &param.ty);
                params.extend(quote!(const #name: #ty,));
            }
            GenericParam::Lifetime(_) => {}
        }
    }
    (params, quote!(fn() -> (#types)))
}

/// The type that stands for the kernel and the values of its generic parameters.
pub(crate) fn handle(kernel: &Kernel) -> TokenStream {
    let (visibility, handle) = (&kernel.function.visibility, kernel.handle());
    let (params, types) = plain(&kernel.function.signature.generics);
    quote!(#visibility struct #handle<#params>(::core::marker::PhantomData<#types>);)
}

/// Handles are copied whatever their generic parameters are, which `derive` would ask for the same.
pub(crate) fn copies(kernel: &Kernel) -> TokenStream {
    let handle = kernel.handle();
    let generics = &kernel.function.signature.generics;
    let (params, _) = plain(generics);
    let (_, type_generics, _) = generics.split_for_impl();
    quote! {
        impl<#params> ::core::clone::Clone for #handle #type_generics {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<#params> ::core::marker::Copy for #handle #type_generics {}

        impl<#params> ::core::fmt::Debug for #handle #type_generics {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.write_str(::core::stringify!(#handle))
            }
        }
    }
}

/// The generic parameters, of which types outlive every launch; none for a kernel that has none.
pub(crate) fn lasting(kernel: &Kernel) -> Generics {
    let mut generics = kernel.function.signature.generics.clone();
    let types: Vec<_> = generics.type_params().map(|param| param.ident.clone()).collect();
    let clause = generics.make_where_clause();
    for ty in types {
        clause.predicates.push(parse_quote!(#ty: 'static));
    }
    generics
}

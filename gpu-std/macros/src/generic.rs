//! What a generic kernel becomes: a handle with its generic parameters, and a template from which `instantiate!` makes entries.
//!
//! Its shared arrays lie in dynamic shared memory, because statics cannot be generic.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{GenericParam, Generics, Ident, parse_quote};

use crate::{expand::lifetime, kernel::Kernel};

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

/// The generic parameters, of which types outlive every launch.
fn lasting(kernel: &Kernel) -> Generics {
    let mut generics = kernel.function.signature.generics.clone();
    let types: Vec<_> = generics.type_params().map(|param| param.ident.clone()).collect();
    let clause = generics.make_where_clause();
    for ty in types {
        clause.predicates.push(parse_quote!(#ty: 'static));
    }
    generics
}

pub(crate) fn host(kernel: &Kernel) -> TokenStream {
    let (name, handle) = (&kernel.function.signature.name, kernel.handle());
    let (declaration, origin) = (kernel.contract.declaration(), kernel.origin());
    let lifetime = lifetime("'kernel");
    let (params, shared) = (kernel.tuple(false, &lifetime), kernel.tuple(true, &lifetime));
    let generics = lasting(kernel);
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let turbofish = type_generics.as_turbofish();
    let call = kernel.call(&quote!(#name #turbofish));
    let safe = (!kernel.is_unsafe()).then(|| {
        quote! {
            // SAFETY: the function is not unsafe.
            unsafe impl #impl_generics ::gpu_std::host::SafeTemplate for #handle #type_generics #where_clause {}
        }
    });
    quote! {
        // SAFETY: entries are made from the same parameters.
        unsafe impl #impl_generics ::gpu_std::host::Template for #handle #type_generics #where_clause {
            const ORIGIN: ::gpu_std::signature::Origin = #origin;
            const DECLARATION: ::gpu_std::contract::Declaration = #declaration;

            type Params<#lifetime> = #params;
            type Shared<#lifetime> = #shared;

            #call
        }

        #safe
    }
}

pub(crate) fn device(kernel: &Kernel) -> TokenStream {
    let (name, handle) = (&kernel.function.signature.name, kernel.handle());
    let (declaration, origin) = (kernel.contract.declaration(), kernel.origin());
    let place = Span::call_site().located_at(kernel.function.signature.paren_token.span.join());
    let scope = Ident::new("scope", Span::mixed_site());
    let generics = lasting(kernel);
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let turbofish = type_generics.as_turbofish();
    let mut arrays = TokenStream::new();
    let mut arrays_len = 0_usize;
    let mut entry_params = TokenStream::new();
    let mut signatures = TokenStream::new();
    let mut dims = quote!(0);
    let part = |part: &str, i: usize| format_ident!("{part}{i}", span = Span::mixed_site().located_at(place));
    let values: Vec<_> = kernel
        .params
        .iter()
        .enumerate()
        .map(|(i, param)| {
            let ty = param.with_lifetime(&lifetime("'static"));
            if param.is_shared() {
                let index = arrays_len;
                arrays_len += 1;
                arrays.extend(
                    quote_spanned!(place=> <#ty as ::gpu_std::shared::SharedParam<'static>>::LAYOUT,),
                );
                let ty = param.with_lifetime(&lifetime("'_"));
                return quote_spanned!(place=>
                    <#ty as ::gpu_std::shared::SharedParam<'_>>::begin(
                        // SAFETY: the launch reserves the shared arrays of the signature.
                        ::gpu_std::device::dynamic_shared(const {
                            ::gpu_std::shared::layout::shared_offset(
                                <#handle #type_generics as ::gpu_std::device::Template>::SIGNATURE.arrays,
                                #index,
                            )
                        })
                        .cast(),
                        &#scope,
                    )
                );
            }
            let (head, tail) = (part("head", i), part("tail", i));
            let param = quote_spanned!(place=> <#ty as ::gpu_std::param::Param<'static>>);
            dims = quote_spanned!(place=> ::gpu_std::device::max(#dims, #param::DIMS));
            signatures.extend(quote_spanned!(place=> #param::SIGNATURE,));
            entry_params.extend(quote_spanned!(place=> #head: #param::Head, #tail: #param::Tail,));
            quote_spanned!(place=> #param::assemble(#head, #tail))
        })
        .collect();
    let relying = kernel.relying(|i| (part("head", i), part("tail", i)));
    quote_spanned! {place=>
        #[allow(improper_ctypes_definitions, unused_variables, clippy::too_many_arguments)]
        unsafe extern "C" fn __gpukernel_entry #impl_generics(#entry_params) #where_clause {
            #relying
            // SAFETY: the scope is dropped here, where the thread's part of the kernel ends; whoever launches keeps the promises
            // about the arguments, and those of the kernel if it asks for any.
            unsafe {
                let #scope = ::gpu_std::shared::KernelScope::new();
                #name #turbofish(#(#values),*)
            }
        }

        // SAFETY: entry and signature are made of the same parameters.
        unsafe impl #impl_generics ::gpu_std::device::Template for #handle #type_generics #where_clause {
            const ENTRY: *const () = __gpukernel_entry #turbofish as *const ();
            const CONTRACT: ::gpu_std::Contract = #declaration.contract(#dims);
            const SIGNATURE: ::gpu_std::signature::Signature = ::gpu_std::signature::Signature {
                // Instances have names and packages of their own.
                name: "",
                package: ::gpu_std::__package!(),
                origin: #origin,
                parameters: &[#signatures],
                arrays: &[#arrays],
                dynamic_arrays: true,
            };
        }
    }
}

//! What a kernel becomes on the device: an entry, and the template by which descriptions for the linker name it. A kernel without generic
//! parameters has its description here; those of a generic kernel's instances are made by `instantiate!`.

use gpukernel_abi::section;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Ident, spanned::Spanned};

use crate::{expand::lifetime, generic::lasting, kernel::Kernel};

pub(crate) fn device(kernel: &Kernel) -> TokenStream {
    let (name, handle, is_generic) = (&kernel.function.signature.name, kernel.handle(), kernel.is_generic());
    let (declaration, origin) = (kernel.contract.declaration(), kernel.origin());
    let generics = lasting(kernel);
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let turbofish = type_generics.as_turbofish();
    let template = quote!(<#handle #type_generics as ::gpu_std::device::Template>);
    // One place and one type, whatever asks for it, because rustc says once what it would say twice in the same words.
    let place = kernel.place();
    // Not to be mistaken for a kernel of that name.
    let scope = Ident::new("scope", Span::mixed_site());
    let part = |part: &str, i: usize| Ident::new(&format!("{part}{i}"), Span::mixed_site().located_at(place));
    let (mut aliases, mut storage) = (TokenStream::new(), TokenStream::new());
    let (mut entry_params, mut signatures, mut arrays) =
        (TokenStream::new(), TokenStream::new(), TokenStream::new());
    let mut dims = quote!(0);
    let mut arrays_len = 0_usize;
    let mut values = Vec::new();
    for (i, param) in kernel.params.iter().enumerate() {
        // The function takes it for any time, and so does not know that it could have it for ever.
        let lasting = param.with_lifetime(&lifetime("'static"));
        if param.is_shared() {
            let span = lasting.span();
            let array = quote_spanned!(span=> <#lasting as ::gpu_std::shared::SharedParam<'static>>);
            arrays.extend(quote_spanned!(span=> #array::LAYOUT,));
            // SAFETY: the launch reserves the shared arrays of the signature.
            let mut start = quote_spanned! {span=>
                ::gpu_std::device::dynamic_shared(const {
                    ::gpu_std::shared::layout::shared_offset(#template::SIGNATURE.arrays, #arrays_len)
                })
                .cast()
            };
            // Statics cannot be generic.
            if !is_generic {
                let name = format_ident!("__GPUKERNEL_SHARED_{i}");
                storage.extend(shared_storage(&name, &array, span, &template));
                start = quote_spanned!(span=> if #template::SIGNATURE.dynamic_arrays { #start } else { #name.start() });
            }
            arrays_len += 1;
            let ty = param.with_lifetime(&lifetime("'_"));
            values.push(
                quote_spanned!(span=> <#ty as ::gpu_std::shared::SharedParam<'_>>::begin(#start, &#scope)),
            );
            continue;
        }
        let mut ty = lasting.into_token_stream();
        if !is_generic {
            let alias = format_ident!("__Param{i}", span = place);
            aliases.extend(quote!(type #alias = #ty;));
            ty = quote!(#alias);
        }
        let (head, tail) = (part("head", i), part("tail", i));
        let param = quote_spanned!(place=> <#ty as ::gpu_std::param::Param<'static>>);
        dims = quote_spanned!(place=> ::gpu_std::device::max(#dims, #param::DIMS));
        signatures.extend(quote_spanned!(place=> #param::SIGNATURE,));
        entry_params.extend(quote_spanned!(place=> #head: #param::Head, #tail: #param::Tail,));
        // The tail stays where it is as long as the entry runs.
        values.push(quote_spanned!(place=> #param::assemble(#head, &*&raw const #tail)));
    }
    let relying = kernel.relying(|i| (part("head", i), part("tail", i)));
    let dynamic_arrays = match (is_generic, arrays_len) {
        (true, _) => quote!(true),
        (false, 0) => quote!(false),
        (false, _) => quote!(::gpu_std::shared::layout::is_large(&[#arrays])),
    };
    let (path, described) = match is_generic {
        // Instances have names and packages of their own.
        true => (quote!(""), None),
        false => (kernel.path(), Some(description(&handle.to_token_stream(), &kernel.path()))),
    };
    quote_spanned! {place=>
        #aliases
        #storage

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
                name: #path,
                package: ::gpu_std::__package!(),
                origin: #origin,
                parameters: &[#signatures],
                arrays: &[#arrays],
                dynamic_arrays: #dynamic_arrays,
            };
        }

        #described
    }
}

/// The static of a shared array.
fn shared_storage(name: &Ident, array: &TokenStream, span: Span, template: &TokenStream) -> TokenStream {
    let element = quote_spanned!(span=> #array::Element);
    // Large arrays lie in dynamic shared memory.
    let len = quote_spanned!(span=> if #template::SIGNATURE.dynamic_arrays { 0 } else { #array::LEN });
    let section = section::SHARED;
    quote! {
        #[unsafe(link_section = #section)]
        static #name: ::gpu_std::device::SharedStorage<#element, { #len }> =
            ::gpu_std::device::SharedStorage::new();
    }
}

/// What the linker finds an entry by: that of a template, under this name.
pub(crate) fn description(template: &TokenStream, name: &TokenStream) -> TokenStream {
    let template = quote!(<#template as ::gpu_std::device::Template>);
    let section = section::KERNELS;
    quote! {
        const __GPUKERNEL_SIGNATURE: ::gpu_std::signature::Signature = ::gpu_std::signature::Signature {
            name: #name,
            package: ::gpu_std::__package!(),
            ..#template::SIGNATURE
        };

        #[used]
        #[unsafe(link_section = #section)]
        static __GPUKERNEL_META: ::gpu_std::device::EntryMeta<{ __GPUKERNEL_SIGNATURE.len() }> =
            // SAFETY: the entry is that of the template, whose signature it has.
            unsafe {
                ::gpu_std::device::EntryMeta::new(
                    #template::ENTRY,
                    #template::CONTRACT,
                    &__GPUKERNEL_SIGNATURE,
                )
            };
    }
}

//! What a kernel becomes on the host: a body, or for a generic kernel a template of bodies, which runs on the CPU and says what launches check.

use proc_macro2::TokenStream;
use quote::quote;

use crate::{expand::lifetime, generic::lasting, kernel::Kernel};

pub(crate) fn host(kernel: &Kernel) -> TokenStream {
    let (name, handle, path) = (&kernel.function.signature.name, kernel.handle(), kernel.path());
    let (declaration, origin) = (kernel.contract.declaration(), kernel.origin());
    let lifetime = lifetime("'kernel");
    let (params, shared) = (kernel.tuple(false, &lifetime), kernel.tuple(true, &lifetime));
    let generics = lasting(kernel);
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let turbofish = type_generics.as_turbofish();
    let call = kernel.call(&quote!(#name #turbofish));
    let items = quote! {
        const ORIGIN: ::gpu_std::signature::Origin = #origin;
        const DECLARATION: ::gpu_std::contract::Declaration = #declaration;

        type Params<#lifetime> = #params;
        type Shared<#lifetime> = #shared;

        #call
    };
    let implement = |trait_name: TokenStream, items: TokenStream| {
        quote! {
            unsafe impl #impl_generics ::gpu_std::host::#trait_name for #handle #type_generics #where_clause { #items }
        }
    };
    // SAFETY of what is implemented: entries are made from the same parameters, and what is called safe is not declared as `unsafe fn`.
    let safe = |trait_name| (!kernel.is_unsafe()).then(|| implement(trait_name, TokenStream::new()));
    if kernel.is_generic() {
        let (template, safe) = (implement(quote!(Template), items), safe(quote!(SafeTemplate)));
        return quote!(#template #safe);
    }
    let body = implement(
        quote!(Body),
        quote! {
            const NAME: &'static ::core::primitive::str = #path;
            const RUN_THREADS: ::gpu_std::host::RunThreads = __gpukernel_run_threads;

            #items
        },
    );
    let (run_threads, safe) = (run_threads(&quote!(#handle)), safe(quote!(SafeBody)));
    quote! {
        #body

        #run_threads

        #safe

        // Evaluated here, so that a mistake in the contract is found where the kernel is and not where it is launched.
        const _: ::gpu_std::Contract = <#handle as ::gpu_std::host::Body>::CONTRACT;
    }
}

/// The function that runs threads of the kernel on the CPU. It is neither generic nor inlined, so that the crate that declares the kernel
/// has it, compiled by that crate's profile, and programs that launch the kernel need not compile it again.
pub(crate) fn run_threads(body: &TokenStream) -> TokenStream {
    quote! {
        #[inline(never)]
        unsafe fn __gpukernel_run_threads(
            args: &::gpu_std::host::PackedArgs,
            threads: &::gpu_std::host::Threads<'_>,
        ) {
            // SAFETY: as the caller promises.
            unsafe { ::gpu_std::host::run_threads::<#body>(args, threads) }
        }
    }
}

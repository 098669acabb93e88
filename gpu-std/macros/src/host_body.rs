//! What a kernel becomes on the host: a body, or for a generic kernel a template of bodies, which runs on the CPU and says what launches check.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Generics, parse_quote, spanned::Spanned};

use crate::{expand::lifetime, generic::lasting, kernel::Kernel};

pub(crate) fn host(kernel: &Kernel) -> TokenStream {
    let (name, handle, path) = (&kernel.function.signature.name, kernel.handle(), kernel.path());
    let (declaration, origin) = (kernel.contract.declaration(), kernel.origin());
    let lifetime = lifetime("'kernel");
    let (params, shared) = (kernel.tuple(false, &lifetime), kernel.tuple(true, &lifetime));
    let generics = lasting(kernel);
    let (_, type_generics, _) = generics.split_for_impl();
    let turbofish = type_generics.as_turbofish();
    let call = kernel.call(&quote!(#name #turbofish));
    let items = quote! {
        const ORIGIN: ::gpu_std::signature::Origin = #origin;
        const DECLARATION: ::gpu_std::contract::Declaration = #declaration;

        type Params<#lifetime> = #params;
        type Shared<#lifetime> = #shared;

        #call
    };
    let implement = |generics: &Generics, trait_name: TokenStream, items: TokenStream| {
        let (impl_generics, _, where_clause) = generics.split_for_impl();
        quote! {
            unsafe impl #impl_generics ::gpu_std::host::#trait_name for #handle #type_generics #where_clause { #items }
        }
    };
    // SAFETY of what is implemented: entries are made from the same parameters, and what is called safe is not declared as `unsafe fn`.
    let safe = |generics: &Generics, trait_name| {
        (!kernel.is_unsafe()).then(|| implement(generics, trait_name, TokenStream::new()))
    };
    if kernel.is_generic() {
        // An implementation for each handle and none for all: so rustc says of what is no kernel that it is none.
        let mut instances = generics.clone();
        instances.make_where_clause().predicates.push(parse_quote!(Self: ::gpu_std::host::Instance));
        let instance = quote!(<Self as ::gpu_std::host::Instance>);
        let body = delegate(
            &instances,
            &quote!(#handle #type_generics),
            &quote_spanned!(kernel.place()=> Self),
            &[quote!(#instance::NAME), quote!(#instance::PACKAGE), quote!(#instance::RUN_THREADS)],
        );
        let template = implement(&generics, quote!(Template), items);
        let (safe_template, safe_body) =
            (safe(&generics, quote!(SafeTemplate)), safe(&instances, quote!(SafeBody)));
        return quote!(#template #safe_template #body #safe_body);
    }
    let body = implement(
        &generics,
        quote!(Body),
        quote! {
            const NAME: &'static ::core::primitive::str = #path;
            const RUN_THREADS: ::gpu_std::host::RunThreads = __gpukernel_run_threads;

            #items
        },
    );
    let (run_threads, safe) = (run_threads(&quote!(#handle)), safe(&generics, quote!(SafeBody)));
    quote! {
        #body

        #run_threads

        #safe

        // Evaluated here, so that a mistake in the contract is found where the kernel is and not where it is launched.
        const _: ::gpu_std::Contract = <#handle as ::gpu_std::host::Body>::CONTRACT;
    }
}

/// The body that a template makes, where rustc points at if it makes none, with this name, package and function that runs threads.
pub(crate) fn delegate(
    generics: &Generics,
    handle: &TokenStream,
    template: &TokenStream,
    [name, package, run_threads]: &[TokenStream; 3],
) -> TokenStream {
    let (impl_generics, _, where_clause) = generics.split_for_impl();
    let place = template.span();
    let template = quote_spanned!(place=> <#template as ::gpu_std::host::Template>);
    let params = quote_spanned! {place=>
        type Params<'kernel> = #template::Params<'kernel>;
        type Shared<'kernel> = #template::Shared<'kernel>;
    };
    quote! {
        // SAFETY: the entry on the device is made of the same template.
        unsafe impl #impl_generics ::gpu_std::host::Body for #handle #where_clause {
            const NAME: &'static ::core::primitive::str = #name;
            const ORIGIN: ::gpu_std::signature::Origin = #template::ORIGIN;
            const PACKAGE: ::gpu_std::signature::Package = #package;
            const DECLARATION: ::gpu_std::contract::Declaration = #template::DECLARATION;
            const DYNAMIC_ARRAYS: ::core::primitive::bool = true;
            const RUN_THREADS: ::gpu_std::host::RunThreads = #run_threads;

            #params

            unsafe fn unmet(
                args: &::gpu_std::host::PackedArgs,
            ) -> ::core::option::Option<::gpu_std::host::Unmet> {
                // SAFETY: as the caller promises.
                unsafe { #template::unmet(args) }
            }

            #[inline(always)]
            unsafe fn call<'kernel>(params: Self::Params<'kernel>, shared: Self::Shared<'kernel>) {
                // SAFETY: the caller keeps the promises of the kernel, if it asks for any.
                unsafe { #template::call(params, shared) }
            }
        }
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

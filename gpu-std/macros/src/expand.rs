//! What a kernel becomes: a function of its name that returns its handle, and the function itself inside a block with the
//! entry for the device or the implementation of `Body` for the host.

use gpukernel_abi::section;
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{Attribute, GenericParam, Ident, Lifetime, LifetimeParam, Type, ext::IdentExt, spanned::Spanned};

use crate::{
    condition, generic,
    kernel::Kernel,
    param::{Param, text},
};

pub(crate) fn expand(kernel: &Kernel) -> TokenStream {
    let attrs = &kernel.function.attrs;
    let is = |attr: &Attribute, names: &[&str]| names.iter().any(|name| attr.path().is_ident(name));
    let on_all: Vec<_> = attrs.iter().filter(|attr| is(attr, &["cfg"])).collect();
    let on_handle = attrs.iter().filter(|attr| is(attr, &["doc", "deprecated"]));
    let on_function = attrs.iter().filter(|attr| !is(attr, &["cfg", "doc", "deprecated"]));

    let name = &kernel.function.signature.name;
    let visibility = &kernel.function.visibility;
    let (written, signature, body) = (kernel.written(), kernel.signature(), kernel.body());
    let handle = kernel.handle();
    let generics = &kernel.function.signature.generics;
    let is_generic = !generics.params.is_empty();
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    // rustdoc would show the signature of the handle alone. An undocumented kernel stays so, for `missing_docs`.
    let declaration = format!("# Kernel\n\n```text\n{}\n```", text(written));
    let documented = attrs.iter().any(|attr| is(attr, &["doc"])).then(|| quote!(#[doc = #declaration]));
    let (host, device, struct_of_handle, value) = match is_generic {
        true => (
            generic::host(kernel),
            generic::device(kernel),
            generic::handle(kernel),
            quote!(#handle(::core::marker::PhantomData)),
        ),
        false => (
            host(kernel),
            device(kernel),
            quote! {
                #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
                #visibility struct #handle;
            },
            quote!(#handle),
        ),
    };
    let copies = is_generic.then(|| generic::copies(kernel));
    quote! {
        #(#on_all)*
        #[doc(hidden)]
        #[allow(non_camel_case_types, dead_code)]
        #struct_of_handle

        #(#on_all)*
        #(#on_handle)*
        #documented
        #[inline]
        #[cfg_attr(target_arch = "nvptx64", allow(dead_code))]
        #visibility const fn #name #impl_generics() -> #handle #type_generics #where_clause {
            #value
        }

        #(#on_all)*
        const _: () = {
            #copies

            #(#on_function)*
            #[allow(clippy::too_many_arguments, clippy::inline_always)]
            #[inline(always)]
            #signature #body

            #[cfg(not(target_arch = "nvptx64"))]
            const _: () = { #host };
            #[cfg(target_arch = "nvptx64")]
            const _: () = { #device };
        };
    }
}

impl Kernel {
    /// The type that stands for the kernel.
    pub(crate) fn handle(&self) -> Ident {
        format_ident!("__gpukernel_{}", self.function.signature.name.unraw())
    }

    /// The signature as written.
    fn written(&self) -> TokenStream {
        let signature = &self.function.signature;
        signature.tokens(&signature.generics, self.params.iter().map(Param::written))
    }

    /// The signature of the function: as written, but that shared arrays have one lifetime, because they last as long as each
    /// other. So they can change places, as in double buffering: `(front, back) = (back, front)`.
    fn signature(&self) -> TokenStream {
        if self.params.iter().filter(|param| param.is_in_block()).count() < 2 {
            return self.written();
        }
        let block = lifetime("'block");
        let inputs = self.params.iter().map(|param| match param.is_in_block() {
            true => param.written_with_lifetime(&block),
            false => param.written(),
        });
        let mut generics = self.function.signature.generics.clone();
        generics.params.insert(0, GenericParam::Lifetime(LifetimeParam::new(block.clone())));
        self.function.signature.tokens(&generics, inputs)
    }

    /// The function that takes the parameters and the shared arrays, in tuples, and calls `function` with them; and what is required
    /// of the arguments.
    pub(crate) fn call(&self, function: &TokenStream) -> TokenStream {
        let lifetime = lifetime("'kernel");
        let values: Vec<_> =
            (0..self.params.len()).map(|i| Ident::new(&format!("value{i}"), Span::mixed_site())).collect();
        let values_of = |shared| {
            let of_kind =
                self.params.iter().zip(&values).filter(move |(param, _)| param.is_shared() == shared);
            of_kind.map(|(_, value)| value)
        };
        let (param_values, shared_values) = (values_of(false), values_of(true));
        let unmet =
            self.contract.requires.as_ref().map(|condition| condition::unmet(condition, &self.params));
        quote! {
            #unmet

            #[inline]
            #[allow(unused_unsafe)]
            unsafe fn call<#lifetime>(
                (#(#param_values,)*): Self::Params<#lifetime>,
                (#(#shared_values,)*): Self::Shared<#lifetime>,
            ) {
                // SAFETY: the caller keeps the promises of the kernel, if it asks for any.
                unsafe { #function(#(#values),*) }
            }
        }
    }

    /// The body of the function.
    fn body(&self) -> TokenStream {
        let body = self.function.body();
        match &self.contract.requires {
            Some(condition) => condition::using(condition, &self.params, &body),
            None => body,
        }
    }

    /// What the entry on the device relies on, if the contract requires anything; `parts` gives the two values as which a parameter
    /// travels.
    pub(crate) fn relying(&self, parts: impl Fn(usize) -> (Ident, Ident)) -> Option<TokenStream> {
        let condition = self.contract.requires.as_ref()?;
        Some(condition::relying(condition, &self.params, parts))
    }

    /// The path of the kernel as text, without `r#`.
    fn path(&self) -> TokenStream {
        let name = self.function.signature.name.unraw().to_string();
        quote!(::core::concat!(::core::module_path!(), "::", #name))
    }

    /// What the kernel was declared as.
    pub(crate) fn origin(&self) -> TokenStream {
        let (path, is_unsafe) = (self.path(), self.is_unsafe());
        let requires = match &self.contract.requires {
            Some(condition) => condition::record(condition, &self.params),
            None => quote!(::gpu_std::contract::record::Condition::NONE),
        };
        quote! {
            ::gpu_std::signature::Origin {
                package: ::gpu_std::__package!(),
                path: #path,
                is_unsafe: #is_unsafe,
                requires: #requires,
            }
        }
    }

    /// The type of a tuple of the parameters that are shared arrays, or that are none.
    pub(crate) fn tuple(&self, shared: bool, lifetime: &Lifetime) -> TokenStream {
        let types = self
            .params
            .iter()
            .filter(|param| param.is_shared() == shared)
            .map(|param| param.with_lifetime(lifetime));
        let types = quote!(#(#types,)*);
        // Where rustc points at if one of them is not what it should be.
        quote_spanned!(self.function.signature.paren_token.span.join()=> (#types))
    }
}

fn host(kernel: &Kernel) -> TokenStream {
    let (name, handle) = (&kernel.function.signature.name, kernel.handle());
    let (path, declaration, origin) = (kernel.path(), kernel.contract.declaration(), kernel.origin());
    let lifetime = lifetime("'kernel");
    let (params, shared) = (kernel.tuple(false, &lifetime), kernel.tuple(true, &lifetime));
    let call = kernel.call(&quote!(#name));
    let run_threads = run_threads(&quote!(#handle));
    let safe = (!kernel.is_unsafe()).then(|| {
        quote! {
            // SAFETY: the function is not unsafe.
            unsafe impl ::gpu_std::host::SafeBody for #handle {}
        }
    });
    quote! {
        // SAFETY: the entry is made from the same parameters.
        unsafe impl ::gpu_std::host::Body for #handle {
            const NAME: &'static ::core::primitive::str = #path;
            const ORIGIN: ::gpu_std::signature::Origin = #origin;
            const DECLARATION: ::gpu_std::contract::Declaration = #declaration;

            const RUN_THREADS: ::gpu_std::host::RunThreads = __gpukernel_run_threads;

            type Params<#lifetime> = #params;
            type Shared<#lifetime> = #shared;

            #call
        }

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

fn device(kernel: &Kernel) -> TokenStream {
    let name = &kernel.function.signature.name;
    let (path, declaration, origin) = (kernel.path(), kernel.contract.declaration(), kernel.origin());
    // Where rustc points at if a parameter is not what it should be: one place and one type, whatever asks for it, because rustc
    // says once what it would say twice in the same words.
    let place = Span::call_site().located_at(kernel.function.signature.paren_token.span.join());
    // Not to be mistaken for a kernel of that name.
    let scope = Ident::new("scope", Span::mixed_site());
    let mut aliases = TokenStream::new();
    let mut storage = TokenStream::new();
    let mut entry_params = TokenStream::new();
    let mut dims = quote!(0);
    let mut signatures = TokenStream::new();
    let mut layouts = TokenStream::new();
    let mut layouts_len = 0_usize;
    let part = |part: &str, i: usize| Ident::new(&format!("{part}{i}"), Span::mixed_site().located_at(place));
    let values: Vec<_> = kernel
        .params
        .iter()
        .enumerate()
        .map(|(i, param)| {
            if param.is_shared() {
                let ty = param.with_lifetime(&lifetime("'_"));
                let name = format_ident!("__GPUKERNEL_SHARED_{i}");
                let array = param.with_lifetime(&lifetime("'static"));
                let index = layouts_len;
                layouts_len += 1;
                layouts.extend(
                    quote_spanned!(ty.span()=> <#array as ::gpu_std::shared::SharedParam<'static>>::LAYOUT,),
                );
                storage.extend(shared_storage(&name, param));
                return quote_spanned!(ty.span()=>
                    <#ty as ::gpu_std::shared::SharedParam<'_>>::begin(
                        if __GPUKERNEL_LARGE {
                            // SAFETY: the launch reserves the shared arrays of the signature.
                            ::gpu_std::device::dynamic_shared(const {
                                ::gpu_std::shared::layout::shared_offset(__GPUKERNEL_ARRAYS, #index)
                            })
                            .cast()
                        } else {
                            #name.start()
                        },
                        &#scope,
                    )
                );
            }
            // The function takes it for any time, and so does not know that it could have it for ever.
            let ty = param.with_lifetime(&lifetime("'static"));
            let (alias, head, tail) =
                (format_ident!("__Param{i}", span = place), part("head", i), part("tail", i));
            aliases.extend(quote!(type #alias = #ty;));
            let param = quote_spanned!(place=> <#alias as ::gpu_std::param::Param<'static>>);
            dims = quote_spanned!(place=> ::gpu_std::device::max(#dims, #param::DIMS));
            signatures.extend(quote_spanned!(place=> #param::SIGNATURE,));
            entry_params.extend(quote_spanned!(place=> #head: #param::Head, #tail: #param::Tail,));
            quote_spanned!(place=> #param::assemble(#head, #tail))
        })
        .collect();
    let (arrays, dynamic_arrays) = match layouts_len {
        0 => (quote!(&[]), quote!(false)),
        _ => (quote!(__GPUKERNEL_ARRAYS), quote!(__GPUKERNEL_LARGE)),
    };
    let relying = kernel.relying(|i| (part("head", i), part("tail", i)));
    let (section, descriptions) = (section::ENTRY, section::KERNELS);
    let entry = quote_spanned! {place=>
        #[allow(improper_ctypes_definitions, unused_variables, clippy::too_many_arguments)]
        #[unsafe(link_section = #section)]
        unsafe extern "C" fn __gpukernel_entry(#entry_params) {
            #relying
            // SAFETY: the scope is dropped here, where the thread's part of the kernel ends; whoever launches keeps the promises
            // about the arguments, and those of the kernel if it asks for any.
            unsafe {
                let #scope = ::gpu_std::shared::KernelScope::new();
                #name(#(#values),*)
            }
        }

        const __GPUKERNEL_SIGNATURE: ::gpu_std::signature::Signature = ::gpu_std::signature::Signature {
            name: #path,
            package: ::gpu_std::__package!(),
            origin: #origin,
            parameters: &[#signatures],
            arrays: #arrays,
            dynamic_arrays: #dynamic_arrays,
        };

        #[used]
        #[unsafe(link_section = #descriptions)]
        static __GPUKERNEL_META: ::gpu_std::device::EntryMeta<{ __GPUKERNEL_SIGNATURE.len() }> =
            // SAFETY: entry and signature are made of the same parameters.
            unsafe {
                ::gpu_std::device::EntryMeta::new(
                    __gpukernel_entry as *const (),
                    #declaration.contract(#dims),
                    &__GPUKERNEL_SIGNATURE,
                )
            };
    };
    let storage = match layouts_len {
        0 => storage,
        _ => quote! {
            const __GPUKERNEL_ARRAYS: &[::core::alloc::Layout] = &[#layouts];
            const __GPUKERNEL_LARGE: ::core::primitive::bool = ::gpu_std::shared::layout::is_large(__GPUKERNEL_ARRAYS);
            #storage
        },
    };
    quote!(#aliases #storage #entry)
}

/// The static of a shared array.
fn shared_storage(name: &Ident, param: &Param) -> TokenStream {
    let ty: Type = param.with_lifetime(&lifetime("'static"));
    let array = quote_spanned!(ty.span()=> <#ty as ::gpu_std::shared::SharedParam<'static>>);
    let (element, len) =
        (quote_spanned!(ty.span()=> #array::Element), quote_spanned!(ty.span()=> #array::LEN));
    // Large arrays lie in dynamic shared memory.
    let len = quote_spanned!(ty.span()=> if __GPUKERNEL_LARGE { 0 } else { #len });
    let section = section::SHARED;
    quote! {
        #[unsafe(link_section = #section)]
        static #name: ::gpu_std::device::SharedStorage<#element, { #len }> =
            ::gpu_std::device::SharedStorage::new();
    }
}

pub(crate) fn lifetime(name: &str) -> Lifetime {
    Lifetime::new(name, Span::call_site())
}

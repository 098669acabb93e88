//! What a kernel becomes: a function of its name that returns its handle, and the function itself inside a block with the
//! entry for the device or the implementation of `Entry` for the host.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Attribute, Ident, Lifetime, Type, ext::IdentExt, spanned::Spanned};

use crate::{
    kernel::Kernel,
    param::{Param, text},
};

pub(crate) fn expand(kernel: &Kernel) -> TokenStream {
    let attrs = &kernel.function.attrs;
    let named = |names: &'static [&str]| {
        attrs.iter().filter(move |attr: &&Attribute| names.iter().any(|name| attr.path().is_ident(name)))
    };
    let on_all: Vec<_> = named(&["cfg"]).collect();
    let on_handle = named(&["doc", "deprecated"]);
    let on_function = attrs
        .iter()
        .filter(|attr| !["cfg", "doc", "deprecated"].iter().any(|name| attr.path().is_ident(name)));

    let name = &kernel.function.sig.ident;
    let visibility = &kernel.function.vis;
    let (signature, body) = (&kernel.function.sig, &kernel.function.block);
    let host = host(kernel);
    let device = device(kernel);
    let entry = kernel.entry();
    // rustdoc would show the signature of the handle alone.
    let declaration = format!("# Kernel\n\n```text\n{}\n```", text(signature.to_token_stream()));
    let documented =
        attrs.iter().any(|attr| attr.path().is_ident("doc")).then(|| quote!(#[doc = #declaration]));
    quote! {
        #(#on_all)*
        #[doc(hidden)]
        #[allow(non_camel_case_types, dead_code)]
        #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
        #visibility struct #entry;

        #(#on_all)*
        #(#on_handle)*
        #documented
        #[inline]
        #[cfg_attr(target_arch = "nvptx64", allow(dead_code))]
        #visibility const fn #name() -> #entry {
            #entry
        }

        #(#on_all)*
        const _: () = {
            #(#on_function)*
            #[allow(clippy::too_many_arguments)]
            #[inline(always)]
            #signature #body

            #[cfg(not(target_arch = "nvptx64"))]
            const _: () = { #host };
            #[cfg(target_arch = "nvptx64")]
            const _: () = { #device };
        };
    }
}

/// `Param` of a parameter that a launch gives, and `SharedParam` of one that is a shared array.
fn as_param(ty: &Type) -> TokenStream {
    quote_spanned!(ty.span()=> <#ty as ::gpu_std::param::Param>)
}

fn as_shared(ty: &Type) -> TokenStream {
    quote_spanned!(ty.span()=> <#ty as ::gpu_std::shared::SharedParam<'_>>)
}

fn lifetime(name: &str) -> Lifetime {
    Lifetime::new(name, Span::mixed_site())
}

impl Kernel {
    /// The type that stands for the kernel: its handle, of which launches get the arguments.
    fn entry(&self) -> Ident {
        format_ident!("__gpukernel_{}", self.function.sig.ident.unraw())
    }

    /// The path of the kernel as text, without `r#`.
    fn full_name(&self) -> TokenStream {
        let name = self.function.sig.ident.unraw().to_string();
        quote!(::core::concat!(::core::module_path!(), "::", #name))
    }

    /// The contract, with what the parameters ask for, as an expression.
    fn contract(&self) -> TokenStream {
        let dims = self.launched().map(|param| {
            let ty = param.with_lifetime(&lifetime("'_"));
            let param = as_param(&ty);
            quote_spanned!(ty.span()=> #param::DIMS)
        });
        self.contract.expression(&quote!(&[#(#dims),*]))
    }

    fn launched(&self) -> impl Iterator<Item = &Param> {
        self.params.iter().filter(|param| !param.is_shared())
    }

    fn shared(&self) -> impl Iterator<Item = &Param> {
        self.params.iter().filter(|param| param.is_shared())
    }

    /// Calls the function with these values, in the body of an `unsafe fn`. `scope` is for shared arrays.
    fn call(&self, values: impl Iterator<Item = TokenStream>) -> TokenStream {
        let name = &self.function.sig.ident;
        let scope = self.shared().next().map(|_| {
            quote! {
                // SAFETY: it is dropped at the end of this function, which is the thread's part of the kernel.
                let scope = unsafe { ::gpu_std::shared::KernelScope::new() };
            }
        });
        quote! {
            #scope
            // SAFETY: the caller keeps the promises about the arguments, and those of the kernel if that is unsafe.
            unsafe { #name(#(#values),*) }
        }
    }
}

fn host(kernel: &Kernel) -> TokenStream {
    let entry = kernel.entry();
    let full_name = kernel.full_name();
    let contract = kernel.contract();
    let elided = lifetime("'_");
    let layouts = kernel.shared().map(|param| {
        let ty = param.with_lifetime(&elided);
        let shared = as_shared(&ty);
        quote_spanned!(ty.span()=> #shared::LAYOUT)
    });

    let given = lifetime("'__given");
    let args = kernel.launched().map(|param| {
        let ty = param.with_lifetime(&given);
        let param = as_param(&ty);
        quote_spanned!(ty.span()=> #param::Arg<#given, __R>)
    });
    let arg_names: Vec<_> =
        (0..kernel.launched().count()).map(|i| Ident::new(&format!("arg{i}"), Span::mixed_site())).collect();
    let packs = kernel.launched().zip(&arg_names).map(|(param, arg)| {
        let ty = param.with_lifetime(&elided);
        let param = as_param(&ty);
        quote_spanned!(ty.span()=> #param::pack::<__R>(#arg, &mut packed);)
    });

    let mut index = 0_usize;
    let values = kernel.params.iter().map(|param| {
        let ty = param.with_lifetime(&elided);
        if !param.is_shared() {
            let param = as_param(&ty);
            return quote_spanned!(ty.span()=> #param::assemble(args.read(), args.read()));
        }
        let shared = as_shared(&ty);
        index += 1;
        let index = index - 1;
        quote_spanned!(ty.span()=> #shared::enter(::gpu_std::host::shared_array::<#entry, #index>().cast(), &scope))
    });
    let call = kernel.call(values);
    let safe = (!kernel.is_unsafe()).then(|| {
        quote! {
            // SAFETY: the function is not unsafe.
            unsafe impl ::gpu_std::host::SafeEntry for #entry {}
        }
    });
    quote! {
        // SAFETY: the arguments are packed and read in the order of the parameters, of which the entry is made as well.
        unsafe impl ::gpu_std::host::Entry for #entry {
            const NAME: &'static ::core::primitive::str = #full_name;
            const CONTRACT: ::gpu_std::Contract = #contract;
            const SHARED: &'static [::core::alloc::Layout] = &[#(#layouts),*];

            type Args<#given, __R: ::gpu_std::host::Runtime> = (#(#args,)*);

            #[allow(unused_mut)]
            fn pack<__R: ::gpu_std::host::Runtime>(args: Self::Args<'_, __R>) -> ::gpu_std::host::PackedArgs {
                let (#(#arg_names,)*) = args;
                let mut packed = ::gpu_std::host::PackedArgs::new();
                #(#packs)*
                packed
            }

            #[inline]
            #[allow(unused_mut, unused_variables)]
            unsafe fn run_thread(args: &::gpu_std::host::PackedArgs) {
                let mut args = args.reader();
                #call
            }
        }

        #safe

        // Evaluated here, so that a mistake in the contract is found where the kernel is and not where it is launched.
        const _: ::gpu_std::Contract = <#entry as ::gpu_std::host::Entry>::CONTRACT;
    }
}

fn device(kernel: &Kernel) -> TokenStream {
    let full_name = kernel.full_name();
    let contract = kernel.contract();
    let lent = lifetime("'__lent");
    let elided = lifetime("'_");

    let mut storage = TokenStream::new();
    let mut entry_params = TokenStream::new();
    let values: Vec<_> = kernel
        .params
        .iter()
        .enumerate()
        .map(|(i, param)| {
            let ty = param.with_lifetime(&elided);
            if param.is_shared() {
                let name = format_ident!("__GPUKERNEL_SHARED_{i}", span = Span::mixed_site());
                let ty = param.with_lifetime(&lifetime("'static"));
                let shared = quote_spanned!(ty.span()=> <#ty as ::gpu_std::shared::SharedParam<'static>>);
                storage.extend(quote! {
                    #[unsafe(link_section = ".gpukernel.shared")]
                    static #name: ::gpu_std::device::SharedStorage<#shared::Element, { #shared::LEN }> =
                        ::gpu_std::device::SharedStorage::new();
                });
                let shared = as_shared(&param.with_lifetime(&elided));
                return quote_spanned!(ty.span()=> #shared::enter(#name.start(), &scope));
            }
            let (head, tail) = (
                Ident::new(&format!("head{i}"), Span::mixed_site()),
                Ident::new(&format!("tail{i}"), Span::mixed_site()),
            );
            let lent = as_param(&param.with_lifetime(&lent));
            entry_params.extend(quote_spanned!(ty.span()=> #head: #lent::Head, #tail: #lent::Tail,));
            let param = as_param(&ty);
            quote_spanned!(ty.span()=> #param::assemble(#head, #tail))
        })
        .collect();
    let call = kernel.call(values.into_iter().map(ToTokens::into_token_stream));
    quote! {
        #storage

        #[allow(improper_ctypes_definitions, clippy::too_many_arguments)]
        #[unsafe(link_section = ".gpukernel.entry")]
        unsafe extern "C" fn __gpukernel_entry<#lent>(#entry_params) {
            #call
        }

        #[used]
        #[unsafe(link_section = ".gpukernel.meta")]
        static __GPUKERNEL_META: ::gpu_std::device::EntryMeta<{ #full_name.len() }> =
            ::gpu_std::device::EntryMeta::new(__gpukernel_entry as *const (), #contract, #full_name);
    }
}

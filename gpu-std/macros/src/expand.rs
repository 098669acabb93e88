//! What a kernel becomes: a function of its name that returns its handle, and the function itself inside a block with the
//! entry for the device or the implementation of `Body` for the host.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{Attribute, GenericParam, Ident, Lifetime, LifetimeParam, ext::IdentExt};

use crate::{
    condition, device_entry, generic, host_body,
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
    let (impl_generics, type_generics, where_clause) = kernel.function.signature.generics.split_for_impl();
    // rustdoc would show the signature of the handle alone. An undocumented kernel stays so, for `missing_docs`.
    let declaration = format!("# Kernel\n\n```text\n{}\n```", text(written));
    let documented = attrs.iter().any(|attr| is(attr, &["doc"])).then(|| quote!(#[doc = #declaration]));
    let (host, device) = (host_body::host(kernel), device_entry::device(kernel));
    let (struct_of_handle, value, copies) = match kernel.is_generic() {
        true => (
            generic::handle(kernel),
            quote!(#handle(::core::marker::PhantomData)),
            Some(generic::copies(kernel)),
        ),
        false => (
            quote! {
                #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
                #visibility struct #handle;
            },
            quote!(#handle),
            None,
        ),
    };
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

    /// Where rustc points at if a parameter is not what it should be.
    pub(crate) fn place(&self) -> Span {
        Span::call_site().located_at(self.function.signature.paren_token.span.join())
    }

    /// Whether it has generic parameters, so that entries are made of it by `instantiate!`.
    pub(crate) fn is_generic(&self) -> bool {
        !self.function.signature.generics.params.is_empty()
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

            #[inline(always)]
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
    pub(crate) fn path(&self) -> TokenStream {
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

pub(crate) fn lifetime(name: &str) -> Lifetime {
    Lifetime::new(name, Span::call_site())
}

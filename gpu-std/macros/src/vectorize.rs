//! `#[vectorize]`: a function of arrays from a scalar function. The function stays as it is; a type of its name stands for the function of
//! arrays, with kernels for each signature.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{
    Error, GenericParam, Ident, Result, ReturnType, Token, Type,
    ext::IdentExt,
    parse::{Parse, ParseStream},
    punctuated::Punctuated,
    spanned::Spanned,
};

use crate::{
    function::{Function, Signature},
    input::{Input, too_much},
};

/// The most arguments of a scalar function; those of what `gpu_std::host::Scalars` is implemented for.
const MAX_ARGUMENTS: usize = 8;

/// The types of an instance: `f32`, or `<f32, i32>` for several type parameters.
struct Instance(Vec<Type>);

impl Parse for Instance {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        // `<f32 as Trait>::Type` is a type, too.
        let is_list = input.peek(Token![<]) && {
            let ahead = input.fork();
            ahead.parse::<Token![<]>()?;
            ahead.parse::<Type>()?;
            !ahead.peek(Token![as])
        };
        if !is_list {
            return Ok(Self(vec![input.parse().map_err(too_much)?]));
        }
        input.parse::<Token![<]>()?;
        let mut types = Vec::new();
        while !input.peek(Token![>]) {
            types.push(input.parse().map_err(too_much)?);
            if !input.peek(Token![>]) {
                input.parse::<Token![,]>()?;
            }
        }
        input.parse::<Token![>]>()?;
        Ok(Self(types))
    }
}

/// A function that is fit to be vectorised.
struct Scalar {
    function: Function,
    arguments: Vec<Type>,
    output: Type,
    /// The names of its type parameters.
    generics: Vec<Ident>,
}

pub(crate) fn vectorize(instances: TokenStream, function: TokenStream) -> Result<TokenStream> {
    let scalar = Scalar::new(syn::parse2(function)?)?;
    let listed = syn::parse::Parser::parse2(Punctuated::<Instance, Token![,]>::parse_terminated, instances)?;
    let name = &scalar.function.signature.name;
    if scalar.generics.is_empty() {
        if let Some(Instance(types)) = listed.first() {
            return Err(Error::new(
                types.first().map_or(Span::call_site(), Spanned::span),
                "this function has no type parameters, so that its signature is the only one: `#[vectorize]`",
            ));
        }
        return Ok(scalar.expand(&[(name.unraw().to_string(), Vec::new())]));
    }
    if listed.is_empty() {
        return Err(Error::new_spanned(
            name,
            "list the types for which there are kernels: `#[vectorize(f32, f64)]`, or for several type parameters \
             `#[vectorize(<f32, i32>)]`",
        ));
    }
    let mut named: Vec<(String, Vec<Type>)> = Vec::new();
    for Instance(types) in listed {
        if types.len() != scalar.generics.len() {
            return Err(Error::new(
                types.first().map_or(Span::call_site(), Spanned::span),
                format!(
                    "`{name}` has {} type parameters, and this is {}: write `<A, B>` for the types of one instance",
                    scalar.generics.len(),
                    types.len()
                ),
            ));
        }
        let instance =
            format!("{}_{}", name.unraw(), types.iter().map(as_word).collect::<Vec<_>>().join("_"));
        if named.iter().any(|(other, _)| *other == instance) {
            return Err(Error::new_spanned(&types[0], format!("there is already an instance `{instance}`")));
        }
        named.push((instance, types));
    }
    Ok(scalar.expand(&named))
}

/// A type as part of a name: `Complex_f32`.
fn as_word(ty: &Type) -> String {
    let mut word = String::new();
    let mut separated = false;
    for c in ty.to_token_stream().to_string().chars() {
        if c.is_alphanumeric() {
            if separated && !word.is_empty() {
                word.push('_');
            }
            separated = false;
            word.push(c);
        } else {
            separated = true;
        }
    }
    word
}

impl Scalar {
    fn new(function: Function) -> Result<Self> {
        let Signature { asyncness, unsafety, abi, name, generics, inputs, output, .. } = &function.signature;
        fn refuse<T: ToTokens>(what: Option<T>, message: &str) -> Result<()> {
            what.map_or(Ok(()), |what| Err(Error::new_spanned(what, message)))
        }
        refuse(unsafety.as_ref(), "a function of arrays is called for any elements: it cannot be `unsafe`")?;
        refuse(asyncness.as_ref(), "a function of arrays cannot be `async`: kernels call it")?;
        refuse(abi.as_ref(), "a function of arrays is declared without an ABI")?;
        let mut types = Vec::new();
        for param in &generics.params {
            match param {
                GenericParam::Type(param) => types.push(param.ident.clone()),
                other => {
                    return Err(Error::new_spanned(
                        other,
                        "a function of arrays has type parameters only: make constants and lifetimes part of the types",
                    ));
                }
            }
        }
        let mut arguments = Vec::new();
        for input in inputs {
            match input {
                Input::Typed(typed) => arguments.push(typed.ty.clone()),
                Input::Receiver(tokens) | Input::Variadic(tokens) => {
                    return Err(Error::new_spanned(
                        tokens,
                        "a function of arrays is a free function of scalar values",
                    ));
                }
            }
        }
        if arguments.is_empty() || arguments.len() > MAX_ARGUMENTS {
            return Err(Error::new_spanned(name, "a function of arrays has one to eight arguments"));
        }
        let ReturnType::Type(_, output) = output else {
            return Err(Error::new_spanned(
                name,
                "a function of arrays returns a value, which becomes an element of the result",
            ));
        };
        let (output, generics) = (Type::clone(output), types);
        if let Some(ty) = arguments.iter().chain([&output]).find(|ty| mentions_impl(ty.to_token_stream())) {
            return Err(Error::new_spanned(
                ty,
                "the types of a function of arrays have names: use type parameters",
            ));
        }
        Ok(Self { function, arguments, output, generics })
    }

    fn expand(&self, instances: &[(String, Vec<Type>)]) -> TokenStream {
        let Signature { name, .. } = &self.function.signature;
        let (visibility, whole) = (&self.function.visibility, &self.function);
        let cfgs: Vec<_> = self.function.attrs.iter().filter(|attr| attr.path().is_ident("cfg")).collect();
        let text = name.unraw().to_string();
        let about = format!("[`{text}()`] as a function of arrays, element by element.");
        let instances = instances.iter().map(|(instance, types)| {
            let items = self.instance(instance, types);
            quote!(#(#cfgs)* #items)
        });
        quote! {
            #whole

            #(#cfgs)*
            #[doc = #about]
            #[allow(non_camel_case_types)]
            #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
            #visibility struct #name {}

            #(#cfgs)*
            #[cfg(not(target_arch = "nvptx64"))]
            impl ::gpu_std::host::VectorizedFunction for #name {
                const NAME: &'static ::core::primitive::str = #text;
            }

            #(#instances)*
        }
    }

    /// The kernels of an instance, and their launches. Type parameters are aliases there, so that types are used as they are written.
    fn instance(&self, instance: &str, types: &[Type]) -> TokenStream {
        let Self { arguments, output, generics, .. } = self;
        let name = &self.function.signature.name;
        // Errors of rustc about a type point at it, not at the attribute.
        let place = name.span();
        let (contiguous, strided) =
            (format_ident!("{instance}_contiguous"), format_ident!("{instance}_strided"));
        let inputs: Vec<_> =
            (0..arguments.len()).map(|i| Ident::new(&format!("x{i}"), Span::mixed_site())).collect();
        let turbofish = (!generics.is_empty()).then(|| quote!(::<#(#generics),*>));
        let call = quote!(|(#(#inputs,)*)| #name #turbofish(#(#inputs),*));
        let same =
            arguments.len() == 2 && [&arguments[1], output].iter().all(|ty| text(ty) == text(&arguments[0]));
        let (mut binary_kernels, mut binary) = (None, None);
        if same {
            let (reduce, accumulate) =
                (format_ident!("{instance}_reduce"), format_ident!("{instance}_accumulate"));
            binary_kernels = Some(quote_spanned! {place=>
                #[::gpu_std::kernel]
                fn #reduce(input: ::gpu_std::elementwise::ViewNdOrScalar<#output>, output: ::gpu_std::elementwise::PerThreadNd<#output>) {
                    output.reduce(input, #name #turbofish);
                }

                #[::gpu_std::kernel]
                fn #accumulate(input: ::gpu_std::elementwise::ViewNdOrScalar<#output>, output: ::gpu_std::elementwise::PerThreadRows<#output>) {
                    output.accumulate(input, #name #turbofish);
                }
            });
            let method = |method: Ident, kernel: Ident| {
                quote! {
                    fn #method<'a, L: ::gpu_std::host::Launch>(
                        launch: L,
                        input: <L::Runtime as ::gpu_std::host::Runtime>::View<'a, #output, ::gpu_std::view::layout::LayoutNd>,
                        output: <L::Runtime as ::gpu_std::host::Runtime>::ViewMut<'a, #output, ::gpu_std::view::layout::LayoutNd>,
                    ) -> L::Output {
                        launch.launch(#kernel, (::gpu_std::host::OrScalar::Memory(input), output))
                    }
                }
            };
            let methods =
                [method(format_ident!("reduce"), reduce), method(format_ident!("accumulate"), accumulate)];
            // SAFETY of what is implemented: `reduce` and `accumulate` set each element that a thread owns, and each element is owned by one.
            binary = Some(quote_spanned! {place=>
                #[cfg(not(target_arch = "nvptx64"))]
                unsafe impl ::gpu_std::host::VectorizedBinary<#output> for #name {
                    #(#methods)*
                }
            });
        }
        quote_spanned! {place=>
            const _: () = {
                #(
                    #[allow(dead_code, non_camel_case_types)]
                    type #generics = #types;
                )*

                const __LANES: ::core::primitive::usize =
                    ::gpu_std::elementwise::lanes(&[#(::core::mem::size_of::<#arguments>(),)* ::core::mem::size_of::<#output>()]);

                #[::gpu_std::kernel]
                fn #contiguous(
                    #(#inputs: ::gpu_std::elementwise::SliceOrScalar<#arguments>,)*
                    output: ::gpu_std::elementwise::PerThreadChunks<#output, __LANES>,
                ) {
                    output.map((#(#inputs,)*), #call);
                }

                #[::gpu_std::kernel]
                fn #strided(
                    #(#inputs: ::gpu_std::elementwise::ViewNdOrScalar<#arguments>,)*
                    output: ::gpu_std::elementwise::PerThreadNd<#output>,
                ) {
                    output.map((#(#inputs,)*), #call);
                }

                #binary_kernels

                // SAFETY: `map` sets each element that a thread owns, and each element is owned by one.
                #[cfg(not(target_arch = "nvptx64"))]
                unsafe impl ::gpu_std::host::Vectorized<(#(#arguments,)*)> for #name {
                    type Output = #output;
                    const LANES: ::core::primitive::usize = __LANES;

                    fn contiguous<'a, L: ::gpu_std::host::Launch>(
                        launch: L,
                        (#(#inputs,)*): <(#(#arguments,)*) as ::gpu_std::host::Scalars>::Slices<'a, L::Runtime>,
                        output: &'a mut <L::Runtime as ::gpu_std::host::Runtime>::Slice<Self::Output>,
                    ) -> L::Output {
                        launch.launch(#contiguous, (#(#inputs,)* output))
                    }

                    fn strided<'a, L: ::gpu_std::host::Launch>(
                        launch: L,
                        (#(#inputs,)*): <(#(#arguments,)*) as ::gpu_std::host::Scalars>::Views<'a, L::Runtime>,
                        output: <L::Runtime as ::gpu_std::host::Runtime>::ViewMut<
                            'a,
                            Self::Output,
                            ::gpu_std::view::layout::LayoutNd,
                        >,
                    ) -> L::Output {
                        launch.launch(#strided, (#(#inputs,)* output))
                    }
                }

                #binary
            };
        }
    }
}

fn text(ty: &Type) -> String {
    ty.to_token_stream().to_string()
}

/// Whether `impl Trait` is among the tokens.
fn mentions_impl(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == "impl",
        TokenTree::Group(group) => mentions_impl(group.stream()),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(instances: TokenStream, function: TokenStream) -> String {
        vectorize(instances, function).expect_err("it is refused").to_string()
    }

    #[test]
    fn signatures_are_listed_as_type_parameters_ask_for() {
        let generic = quote!(
            pub fn f<T: Float>(x: T) -> T {
                x
            }
        );
        assert!(error(quote!(), generic.clone()).contains("list the types"));
        assert!(error(quote!(<f32, i32>), generic.clone()).contains("has 1 type parameters, and this is 2"));
        assert!(error(quote!(f32, f32), generic.clone()).contains("already an instance `f_f32`"));
        assert!(vectorize(quote!(f32, <f32 as Trait>::Double, Complex<f32>,), generic).is_ok());
        assert!(
            error(
                quote!(f32),
                quote!(
                    fn f(x: f32) -> f32 {
                        x
                    }
                )
            )
            .contains("no type parameters")
        );
        let two = quote!(
            fn scale<T, S>(x: T, s: S) -> T {
                x
            }
        );
        assert!(error(quote!(f32), two.clone()).contains("has 2 type parameters"));
        assert!(vectorize(quote!(<f32, i32>, <f64, i64>), two).is_ok());
    }

    #[test]
    fn what_cannot_be_called_for_elements_is_refused() {
        for (function, message) in [
            (
                quote!(
                    unsafe fn f(x: f32) -> f32 {
                        x
                    }
                ),
                "cannot be `unsafe`",
            ),
            (
                quote!(
                    async fn f(x: f32) -> f32 {
                        x
                    }
                ),
                "cannot be `async`",
            ),
            (
                quote!(
                    extern "C" fn f(x: f32) -> f32 {
                        x
                    }
                ),
                "without an ABI",
            ),
            (
                quote!(
                    fn f() -> f32 {
                        0.0
                    }
                ),
                "one to eight arguments",
            ),
            (
                quote!(
                    fn f(x: f32) {}
                ),
                "returns a value",
            ),
            (
                quote!(
                    fn f(self, x: f32) -> f32 {
                        x
                    }
                ),
                "a free function",
            ),
            (
                quote!(
                    fn f<const N: usize>(x: f32) -> f32 {
                        x
                    }
                ),
                "type parameters only",
            ),
            (
                quote!(
                    fn f(x: impl Copy) -> f32 {
                        0.0
                    }
                ),
                "have names",
            ),
        ] {
            let found = error(quote!(), function);
            assert!(found.contains(message), "{found}");
        }
    }

    #[test]
    fn names_of_types_are_words() {
        let word = |ty: TokenStream| as_word(&syn::parse2(ty).expect("a type"));
        assert_eq!(word(quote!(f32)), "f32");
        assert_eq!(word(quote!(gpu_std::complex::Complex<f32>)), "gpu_std_complex_Complex_f32");
        assert_eq!(word(quote!([u8; 4])), "u8_4");
    }
}

//! `#[vectorize]`: a function of arrays from a scalar function. The function stays as it is; a type of its name stands for the function of
//! arrays, with kernels for each signature.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{
    Error, Ident, Result, ReturnType, Token, Type, ext::IdentExt, punctuated::Punctuated, spanned::Spanned,
};

use crate::{
    function::{Function, Signature},
    input::Input,
    instances::{Instance, check_function, mentions_impl, name_instances, type_params},
};

/// The most arguments of a scalar function; those of what `gpu_std::host::Scalars` is implemented for.
const MAX_ARGUMENTS: usize = 8;

/// A function that is fit to be vectorised.
struct Scalar {
    function: Function,
    arguments: Vec<Type>,
    /// Which of them are marked `#[scalar]`.
    scalars: Vec<bool>,
    output: Type,
    /// The names of its type parameters.
    generics: Vec<Ident>,
    /// Whether its body has loops, found once for all instances.
    has_loops: bool,
}

pub(crate) fn vectorize(instances: TokenStream, function: TokenStream) -> Result<TokenStream> {
    let scalar = Scalar::new(syn::parse2(function)?)?;
    let listed = syn::parse::Parser::parse2(Punctuated::<Instance, Token![,]>::parse_terminated, instances)?;
    let named = name_instances(&scalar.function.signature.name, &scalar.generics, listed, "#[vectorize]")?;
    Ok(scalar.expand(&named))
}

impl Scalar {
    fn new(mut function: Function) -> Result<Self> {
        let mut scalars = Vec::new();
        for input in &mut function.signature.inputs {
            if let Input::Typed(typed) = input {
                let attrs = typed.attrs.len();
                typed.attrs.retain(|attr| !attr.path().is_ident("scalar"));
                scalars.push(typed.attrs.len() != attrs);
            }
        }
        let Signature { name, generics, inputs, output, .. } = &function.signature;
        check_function(&function.signature)?;
        let types = type_params(generics)?;
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
        let has_loops = function.has_loops();
        Ok(Self { function, arguments, scalars, output, generics, has_loops })
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

    fn inputs(&self) -> Vec<Ident> {
        (0..self.arguments.len()).map(|i| Ident::new(&format!("x{i}"), Span::mixed_site())).collect()
    }

    /// What calls pass of contiguous memory, by the end of the name of the kernel for it: whether each argument is one value. Values for what is marked, and arrays. If nothing
    /// is marked, each mix of up to three arguments, and of more those of arrays and values behind them, and of a value in front of arrays. In the kernel for any mix, what
    /// follows from values is computed for each element, and short calls wait for the instructions that ask what an argument is.
    fn versions(&self) -> Vec<(String, Vec<bool>)> {
        let all = self.arguments.len();
        if self.scalars.contains(&true) {
            return vec![(String::new(), self.scalars.clone())];
        }
        let mix = |is_value: &dyn Fn(usize) -> bool| (0..all).map(is_value).collect();
        let mixes: Vec<Vec<bool>> = if all <= 3 {
            (0..(1 << all) - 1).map(|values: u8| mix(&|i| values >> i & 1 == 1)).collect()
        } else {
            (0..all).map(|values| mix(&|i| i >= all - values)).chain([mix(&|i| i == 0)]).collect()
        };
        let name = |mix: &[bool]| match mix.contains(&true) {
            true => mix.iter().map(|is_value| if *is_value { "_value" } else { "_array" }).collect(),
            false => String::new(),
        };
        mixes.into_iter().map(|mix| (name(&mix), mix)).collect()
    }

    /// A kernel for contiguous arrays and those values, in a scope where `__LANES` and `__ALIGN` are those of the output, and its launch, an arm of a `match` of
    /// `inputs`.
    fn contiguous(
        &self,
        instance: &str,
        version: &str,
        scalars: &[bool],
        call: &TokenStream,
    ) -> (TokenStream, TokenStream) {
        let Self { arguments, output, .. } = self;
        let place = Span::call_site().located_at(self.function.signature.name.span());
        let (kernel, inputs) = (format_ident!("{instance}_contiguous{version}"), self.inputs());
        let all = || inputs.iter().zip(arguments).zip(scalars);
        let params = all().map(|((x, ty), is_scalar)| match is_scalar {
            true => quote!(#x: #ty),
            false => quote!(#x: &[#ty]),
        });
        let in_chunks = all().map(|((x, _), is_scalar)| match is_scalar {
            true => quote!(::gpu_std::elementwise::Splat(#x)),
            false => quote!(#x),
        });
        let args = all().map(|((x, _), is_scalar)| match is_scalar {
            true => quote!(::gpu_std::host::OrScalar::Scalar(#x)),
            false => quote!(::gpu_std::host::OrScalar::Memory(#x)),
        });
        let arrays = all().filter(|(_, is_scalar)| !**is_scalar).map(|(array, _)| array);
        let (arrays, elements): (Vec<_>, Vec<_>) = arrays.unzip();
        let aligns: Vec<_> = arrays.iter().map(|x| align_of(x)).collect();
        let requires = quote! {
            output.align() >= __ALIGN #(&& #arrays.len() >= output.len() && #arrays.align() >= #aligns)*
        };
        let kernel_fn = quote_spanned! {place=>
            #[::gpu_std::kernel(requires = #requires)]
            fn #kernel(
                #(#params,)*
                output: ::gpu_std::elementwise::PerThreadChunks<#output, __LANES>,
            ) {
                #call;
                // SAFETY: launches require it.
                unsafe { output.map_covered((#(#in_chunks,)*), true, call) };
            }
        };
        let launch = quote_spanned! {place=>
            (#(#args,)*)
                if ::gpu_std::host::is_aligned::<L::Runtime, #output>(output, __ALIGN)
                    #(&& ::gpu_std::host::is_aligned::<L::Runtime, #elements>(#arrays, #aligns))* =>
            {
                launch.launch(#kernel, (#(#inputs,)* output))
            }
        };
        (kernel_fn, launch)
    }

    /// The kernels for arrays of two axes at most, and the launch of one of them, or if the arguments are others, of the kernel for any strides. There is one for any mix, but for values for
    /// what is marked. Of a function that has loops, where each instruction counts, there are those for arrays and values behind them, too.
    fn planes(&self, instance: &str, call: &TokenStream) -> (TokenStream, TokenStream) {
        let place = Span::call_site().located_at(self.function.signature.name.span());
        let strided = format_ident!("{instance}_strided");
        let inputs = self.inputs();
        // The kernel has an array at least, which may be a value.
        let marked: Vec<_> = match self.scalars.contains(&false) {
            true => self.scalars.clone(),
            false => vec![false; inputs.len()],
        };
        let is_there = |scalars: &[bool]| {
            self.has_loops && scalars.contains(&false) && (scalars == self.scalars || scalars.is_sorted())
        };
        let versions: Vec<_> = self.versions().into_iter().filter(|(_, scalars)| is_there(scalars)).collect();
        let of_arrays = versions.iter().map(|(version, scalars)| {
            let patterns = inputs.iter().zip(scalars).zip(&marked).map(|pattern| match pattern {
                ((x, true), true) => quote!(#x),
                ((x, true), false) => quote!(::gpu_std::host::OrScalar::Scalar(#x)),
                ((x, false), _) => quote!(::gpu_std::host::OrScalar::Memory(#x)),
            });
            let kernel = match version.is_empty() {
                true => format_ident!("{instance}_plane_of_arrays"),
                false => format_ident!("{instance}_plane_of{version}"),
            };
            (kernel, quote!(ViewPlane), scalars, quote!((#(#patterns,)*)))
        });
        let of_any_mix =
            (format_ident!("{instance}_plane"), quote!(PlaneOrScalar), &marked, quote!((#(#inputs,)*)));
        let (kernels, launches): (Vec<_>, Vec<_>) = of_arrays
            .chain([of_any_mix])
            .map(|(kernel, input, scalars, pattern)| {
                let launch = quote!(#pattern => launch.launch(#kernel, (#(#inputs,)* output)));
                (self.plane(&kernel, &input, scalars, call), launch)
            })
            .unzip();
        // Where errors about the type point at it, as others do.
        let as_planes = inputs.iter().zip(&self.arguments).map(
            |(x, ty)| quote_spanned!(ty.span()=> ::gpu_std::host::plane_or_scalar::<L::Runtime, _>(&#x)),
        );
        let planes: Vec<_> = inputs.iter().map(|x| format_ident!("{x}_in_plane")).collect();
        let patterns = planes.iter().zip(&marked).map(|(plane, is_scalar)| match is_scalar {
            true => quote!(::core::option::Option::Some(::gpu_std::host::OrScalar::Scalar(#plane))),
            false => quote!(::core::option::Option::Some(#plane)),
        });
        let launch = quote_spanned! {place=>
            match (#(#as_planes,)*) {
                (#(#patterns,)*) => match <L::Runtime as ::gpu_std::host::Runtime>::plane_mut(output) {
                    ::core::result::Result::Ok(output) => match (#(#planes,)*) {
                        #(#launches,)*
                    },
                    ::core::result::Result::Err(output) => launch.launch(#strided, (#(#inputs,)* output)),
                },
                _ => launch.launch(#strided, (#(#inputs,)* output)),
            }
        };
        (quote!(#(#kernels)*), launch)
    }

    /// A kernel for arrays of two axes at most, whose arguments are values or else inputs of this type.
    fn plane(
        &self,
        kernel: &Ident,
        input: &TokenStream,
        scalars: &[bool],
        call: &TokenStream,
    ) -> TokenStream {
        let Self { arguments, output, .. } = self;
        let place = Span::call_site().located_at(self.function.signature.name.span());
        let inputs = self.inputs();
        let all = || inputs.iter().zip(arguments).zip(scalars);
        let params = all().map(|((x, ty), is_scalar)| match is_scalar {
            true => quote!(#x: #ty),
            false => quote!(#x: ::gpu_std::elementwise::#input<#ty>),
        });
        let arrays: Vec<_> =
            all().filter(|(_, is_scalar)| !**is_scalar).map(|((x, _), _)| x.clone()).collect();
        let requires = of_shape(&arrays);
        quote_spanned! {place=>
            #[::gpu_std::kernel(requires = #requires)]
            fn #kernel(#(#params,)* output: ::gpu_std::elementwise::PerThreadPlane<#output>) {
                #call;
                // SAFETY: launches require it.
                unsafe { output.map_covered((#(#arrays,)*), |(#(#arrays,)*)| call((#(#inputs,)*))) };
            }
        }
    }

    /// The kernels of an instance, and their launches. Type parameters are aliases there, so that types are used as they are written.
    fn instance(&self, instance: &str, types: &[Type]) -> TokenStream {
        let Self { arguments, output, generics, has_loops, .. } = self;
        let name = &self.function.signature.name;
        // Errors of rustc about a type point at it, not at the attribute; the code is of the macro, for crates that forbid `unsafe`.
        let place = Span::call_site().located_at(name.span());
        let [mixed, strided] = ["mixed", "strided"].map(|kind| format_ident!("{instance}_{kind}"));
        let inputs = self.inputs();
        let turbofish = (!generics.is_empty()).then(|| quote!(::<#(#generics),*>));
        // Outside of `unsafe` blocks, in which what the function calls would be.
        let call = quote!(let call = |(#(#inputs,)*): (#(#arguments,)*)| -> #output { #name #turbofish(#(#inputs),*) });
        let strided_requires = of_shape(&inputs);
        let (plane_kernels, plane_launch) = self.planes(instance, &call);
        let in_some_version =
            inputs.iter().zip(arguments).zip(&self.scalars).filter(|(_, is_scalar)| !**is_scalar);
        let (aligns, elements): (Vec<_>, Vec<_>) =
            in_some_version.map(|((x, element), _)| (align_of(x), element)).unzip();
        let (contiguous_kernels, contiguous_launches): (Vec<_>, Vec<_>) = self
            .versions()
            .iter()
            .map(|(version, scalars)| self.contiguous(instance, version, scalars, &call))
            .unzip();
        // A thread with several elements takes as long as the longest of each, one after another.
        let lanes = match has_loops {
            true => quote!(1),
            false => {
                quote!(::gpu_std::elementwise::lanes(&[#(::core::mem::size_of::<#arguments>(),)* ::core::mem::size_of::<#output>()]))
            }
        };
        let same =
            arguments.len() == 2 && [&arguments[1], output].iter().all(|ty| text(ty) == text(&arguments[0]));
        let (mut binary_kernels, mut binary) = (None, None);
        if same {
            let (reduce, accumulate) =
                (format_ident!("{instance}_reduce"), format_ident!("{instance}_accumulate"));
            binary_kernels = Some(quote_spanned! {place=>
                #[::gpu_std::kernel]
                fn #reduce(
                    input: ::gpu_std::elementwise::ViewNdOrScalar<#output>,
                    lanes: ::core::primitive::u32,
                    output: ::gpu_std::elementwise::PerThreadNd<#output>,
                ) {
                    // SAFETY: all threads have the same parameter.
                    unsafe { output.reduce_in_lanes(input, lanes, #name #turbofish) };
                }

                #[::gpu_std::kernel]
                fn #accumulate(
                    input: ::gpu_std::elementwise::ViewNdOrScalar<#output>,
                    carries: ::gpu_std::elementwise::ViewNdOrScalar<#output>,
                    lanes: ::core::primitive::u32,
                    output: ::gpu_std::elementwise::PerThreadRows<#output>,
                ) {
                    // SAFETY: all threads have the same parameters.
                    unsafe { output.accumulate_parts(input, carries, lanes, #name #turbofish) };
                }
            });
            let view = quote!(<L::Runtime as ::gpu_std::host::Runtime>::View<'a, #output, ::gpu_std::view::layout::LayoutNd>);
            let view_mut = quote!(<L::Runtime as ::gpu_std::host::Runtime>::ViewMut<'a, #output, ::gpu_std::view::layout::LayoutNd>);
            let method = |method: Ident, kernel: Ident, inputs: &[Ident]| {
                quote! {
                    fn #method<'a, L: ::gpu_std::host::Launch>(
                        launch: L,
                        #(#inputs: #view,)*
                        lanes: ::core::primitive::u32,
                        output: #view_mut,
                    ) -> L::Output {
                        launch.launch(#kernel, (#(::gpu_std::host::OrScalar::Memory(#inputs),)* lanes, output))
                    }
                }
            };
            let inputs = ["input", "carries"].map(|input| format_ident!("{input}"));
            let methods = [
                method(format_ident!("reduce"), reduce, &inputs[..1]),
                method(format_ident!("accumulate"), accumulate, &inputs),
            ];
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

                const __LANES: ::core::primitive::usize = #lanes;

                const __ALIGN: ::core::primitive::usize = ::gpu_std::elementwise::align_of_lanes::<#output, __LANES>();
                #(
                    const #aligns: ::core::primitive::usize =
                        ::gpu_std::elementwise::align_of_lanes::<#elements, __LANES>();
                )*

                #(#contiguous_kernels)*

                #[::gpu_std::kernel]
                fn #mixed(
                    #(#inputs: ::gpu_std::elementwise::SliceOrScalar<#arguments>,)*
                    output: ::gpu_std::elementwise::PerThreadChunks<#output, __LANES>,
                ) {
                    #call;
                    output.map((#(#inputs,)*), call);
                }

                #plane_kernels

                #[::gpu_std::kernel(requires = #strided_requires)]
                fn #strided(
                    #(#inputs: ::gpu_std::elementwise::ViewNdOrScalar<#arguments>,)*
                    output: ::gpu_std::elementwise::PerThreadNd<#output>,
                ) {
                    #call;
                    // SAFETY: launches require it.
                    unsafe { output.map_covered((#(#inputs,)*), call) };
                }

                #binary_kernels

                // SAFETY: `map` sets each element that a thread owns, and each element is owned by one.
                #[cfg(not(target_arch = "nvptx64"))]
                unsafe impl ::gpu_std::host::Vectorized<(#(#arguments,)*)> for #name {
                    type Output = #output;
                    const LANES: ::core::primitive::usize = __LANES;
                    const HAS_LOOPS: ::core::primitive::bool = #has_loops;

                    fn contiguous<'a, L: ::gpu_std::host::Launch>(
                        launch: L,
                        inputs: <(#(#arguments,)*) as ::gpu_std::host::Scalars>::Slices<'a, L::Runtime>,
                        output: &'a mut <L::Runtime as ::gpu_std::host::Runtime>::Slice<Self::Output>,
                    ) -> L::Output {
                        match inputs {
                            #(#contiguous_launches)*
                            (#(#inputs,)*) => launch.launch(#mixed, (#(#inputs,)* output)),
                        }
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
                        #plane_launch
                    }
                }

                #binary
            };
        }
    }
}

/// That inputs are values, or arrays of the shape of the output.
fn of_shape(inputs: &[Ident]) -> TokenStream {
    let each = inputs.iter().map(|x| quote!((#x.is_scalar() || #x.shape() == output.shape())));
    quote!(#(#each)&&*)
}

/// The name of the constant that is the alignment of what a thread loads of this argument.
fn align_of(argument: &Ident) -> Ident {
    format_ident!("__ALIGN_{}", argument.to_string().to_uppercase())
}

fn text(ty: &Type) -> String {
    ty.to_token_stream().to_string()
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
    fn marks_of_scalars_are_not_left_in_the_function() {
        let function = quote!(
            fn scale(x: f32, #[scalar] by: f32) -> f32 {
                x * by
            }
        );
        let expanded = vectorize(quote!(), function).expect("it is a function of arrays").to_string();
        assert!(!expanded.contains("# [scalar]"), "{expanded}");
        assert!(expanded.contains("fn scale_contiguous (x0 : & [f32] , x1 : f32 ,"), "{expanded}");
        assert!(
            expanded.contains("fn scale_mixed (x0 : :: gpu_std :: elementwise :: SliceOrScalar < f32 > ,")
        );
    }

    /// What the names of the kernels of a function `f` say behind its name.
    fn kernels(function: TokenStream) -> Vec<String> {
        let expanded = vectorize(quote!(), function).expect("it is fit").to_string();
        let names = expanded
            .match_indices("fn f_")
            .map(|(at, _)| expanded[at + 5..].split(' ').next().expect("a name follows").to_owned());
        names.collect()
    }

    #[test]
    fn mixes_have_kernels_for_contiguous_memory() {
        let contiguous = |function| {
            let names = kernels(function).into_iter();
            names.filter_map(|name| Some(name.strip_prefix("contiguous")?.to_owned())).collect::<Vec<_>>()
        };
        assert_eq!(
            contiguous(quote!(
                fn f(x: f32) -> f32 {
                    x
                }
            )),
            [""]
        );
        assert_eq!(
            contiguous(quote!(
                fn f(x: f32, by: f32) -> f32 {
                    x
                }
            )),
            ["", "_value_array", "_array_value"]
        );
        assert_eq!(
            contiguous(quote!(
                fn f(x: f32, mean: f32, sigma: f32) -> f32 {
                    x
                }
            )),
            [
                "",
                "_value_array_array",
                "_array_value_array",
                "_value_value_array",
                "_array_array_value",
                "_value_array_value",
                "_array_value_value"
            ]
        );
        assert_eq!(
            contiguous(quote!(
                fn f(a: f32, b: f32, c: f32, d: f32) -> f32 {
                    a
                }
            )),
            [
                "",
                "_array_array_array_value",
                "_array_array_value_value",
                "_array_value_value_value",
                "_value_array_array_array"
            ]
        );
        let marked = quote!(
            fn f(x: f32, mean: f32, #[scalar] sigma: f32) -> f32 {
                x
            }
        );
        assert_eq!(contiguous(marked), [""]);
        let expanded = vectorize(
            quote!(),
            quote!(
                fn f(x: f32, by: u8) -> f32 {
                    x
                }
            ),
        )
        .expect("it is fit");
        let expanded = expanded.to_string();
        assert!(expanded.contains("fn f_contiguous_array_value (x0 : & [f32] , x1 : u8 ,"), "{expanded}");
        assert!(expanded.contains("fn f_contiguous_value_array (x0 : f32 , x1 : & [u8] ,"), "{expanded}");
    }

    #[test]
    fn functions_with_loops_have_kernels_for_arrays_and_values_behind_them() {
        let of_marks = kernels(quote!(
            fn f(x: f32, #[scalar] n: u32) -> f32 {
                (0..n).fold(1.0, |product, _| product * x)
            }
        ));
        assert_eq!(of_marks, ["contiguous", "mixed", "plane", "strided"]);
        let body = quote!({
            let mut product = 1.0;
            for _ in 0..n {
                product *= x
            }
            product
        });
        assert_eq!(
            kernels(quote!(fn f(x: f32, n: u32) -> f32 #body)),
            [
                "contiguous",
                "contiguous_value_array",
                "contiguous_array_value",
                "mixed",
                "plane_of_arrays",
                "plane_of_array_value",
                "plane",
                "strided"
            ]
        );
        assert_eq!(
            kernels(quote!(fn f(x: f32, #[scalar] n: u32) -> f32 #body)),
            ["contiguous", "mixed", "plane_of_arrays", "plane", "strided"]
        );
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
}

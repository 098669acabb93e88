//! `#[pipeline]` and `#[reduction]`: kernels of functions of arrays that chain iterators. The function becomes generic over what is done with the
//! pipeline that it makes, whose type has no name: the host measures it, and kernels run it.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{
    Error, GenericArgument, Ident, PathArguments, Result, ReturnType, Token, Type,
    ext::IdentExt,
    parse::{Parse, ParseStream, Parser},
    punctuated::Punctuated,
    spanned::Spanned,
};

use crate::{
    function::{Function, Signature},
    input::Input,
    instances::{Instance, mentions_impl, name_instances, refuse, type_params},
};

/// The most parameters; those of what `gpu_std::host::Parameters` is implemented for.
const MAX_PARAMETERS: usize = 8;

/// The kernels of a pipeline of rows, and the division that each is for.
const DIVISIONS: [(&str, &str); 6] = [
    ("rows", "Long"),
    ("longest_rows", "Longest"),
    ("short_rows", "Short"),
    ("short_rows_of_lanes", "ShortOfLanes"),
    ("odd_rows", "Odd"),
    ("odd_rows_of_lanes", "OddOfLanes"),
];

/// A parameter of a pipeline.
enum Parameter {
    /// `In<T>`.
    In(Type),
    /// `In2d<T>`.
    In2d(Type),
    Value(Type),
}

/// What a pipeline returns.
#[derive(Clone, Copy)]
enum End {
    Scalar,
    Out,
    Compact,
    Scan,
    Rows,
}

struct Pipeline {
    function: Function,
    parameters: Vec<Parameter>,
    end: End,
    /// The return type, and its element.
    returned: Type,
    element: Type,
    generics: Vec<Ident>,
}

pub(crate) fn pipeline(instances: TokenStream, function: TokenStream) -> Result<TokenStream> {
    let pipeline = Pipeline::new(syn::parse2(function)?)?;
    let listed = Punctuated::<Instance, Token![,]>::parse_terminated.parse2(instances)?;
    let named = name_instances(&pipeline.function.signature.name, &pipeline.generics, listed, "#[pipeline]")?;
    Ok(pipeline.expand(&named))
}

/// `identity = …`, and the types of instances.
struct Reduction {
    identity: TokenStream,
    instances: Punctuated<Instance, Token![,]>,
}

impl Parse for Reduction {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let message = "`#[reduction(identity = 0.0)]`: the value that an empty array has, which changes no other when it is combined with it";
        let key: Ident = input.call(Ident::parse_any).map_err(|error| Error::new(error.span(), message))?;
        if key != "identity" {
            return Err(Error::new_spanned(key, message));
        }
        input.parse::<Token![=]>()?;
        let mut identity = TokenStream::new();
        while !input.is_empty() && !input.peek(Token![,]) {
            identity.extend([input.parse::<TokenTree>()?]);
        }
        if identity.is_empty() {
            return Err(input.error(message));
        }
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
        Ok(Self { identity, instances: Punctuated::parse_terminated(input)? })
    }
}

pub(crate) fn reduction(arguments: TokenStream, function: TokenStream) -> Result<TokenStream> {
    let function: Function = syn::parse2(function)?;
    let Signature { name, generics, inputs, output, unsafety, asyncness, abi, .. } = &function.signature;
    refuse(unsafety.as_ref(), "a reduction is called for any elements: it cannot be `unsafe`")?;
    refuse(asyncness.as_ref(), "a reduction cannot be `async`: kernels call it")?;
    refuse(abi.as_ref(), "a reduction is declared without an ABI")?;
    let types = type_params(generics)?;
    let same = match (&inputs[..], output) {
        ([Input::Typed(a), Input::Typed(b)], ReturnType::Type(_, output)) => {
            let text = |ty: &Type| ty.to_token_stream().to_string();
            (text(&a.ty) == text(output) && text(&b.ty) == text(output)).then_some(&**output)
        }
        _ => None,
    };
    let Some(ty) = same else {
        return Err(Error::new_spanned(
            name,
            "a reduction combines two values of a type to one: `fn sum<T: Float>(a: T, b: T) -> T`",
        ));
    };
    let Reduction { identity, instances } = syn::parse2(arguments)?;
    let named = name_instances(name, &types, instances, "#[reduction(identity = …)]")?;
    let (parameters, bounds) =
        (&generics.params, generics.where_clause.as_ref().map(|clause| &clause.predicates));
    let bounds = bounds.map(|bounds| quote!(#bounds)).filter(|bounds| !bounds.is_empty());
    let comma =
        bounds.as_ref().filter(|bounds| !bounds.to_string().trim_end().ends_with(',')).map(|_| quote!(,));
    let cfgs = function.attrs.iter().filter(|attr| attr.path().is_ident("cfg"));
    let (visibility, text) = (&function.visibility, name.unraw().to_string());
    let about = format!("[`{text}()`] as a reduction of arrays.");
    let turbofish = (!types.is_empty()).then(|| quote!(::<#(#types),*>));
    let pipeline = quote_spanned! {name.span()=>
        #(#cfgs)*
        #[doc = #about]
        #[allow(clippy::multiple_bound_locations)]
        #visibility fn #name<#parameters>(x: ::gpu_std::pipeline::In<#ty>) -> ::gpu_std::pipeline::Scalar<#ty>
        where
            #bounds #comma
            #ty: ::gpu_std::warp::WarpElement,
        {
            ::gpu_std::pipeline::ParallelIterator::reduce(x, #identity, #name #turbofish)
        }
    };
    let pipeline = Pipeline::new(syn::parse2(pipeline)?)?.expand(&named);
    Ok(quote!(#function #pipeline))
}

/// The only type among the generic arguments of the last segment of a path of this name.
fn element_of<'t>(ty: &'t Type, names: &[&str]) -> Option<(usize, &'t Type)> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last()?;
    let which = names.iter().position(|name| last.ident == name)?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    let mut types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    let element = types.next()?;
    types.next().is_none().then_some((which, element))
}

impl Pipeline {
    fn new(function: Function) -> Result<Self> {
        let Signature { asyncness, unsafety, abi, constness, name, generics, inputs, output, .. } =
            &function.signature;
        refuse(unsafety.as_ref(), "a pipeline is called for any elements: it cannot be `unsafe`")?;
        refuse(asyncness.as_ref(), "a pipeline cannot be `async`: kernels run it")?;
        refuse(abi.as_ref(), "a pipeline is declared without an ABI")?;
        refuse(constness.as_ref(), "a pipeline cannot be `const`: kernels run it")?;
        let types = type_params(generics)?;
        let mut parameters = Vec::new();
        for input in inputs {
            let typed = match input {
                Input::Typed(typed) => typed,
                Input::Receiver(tokens) | Input::Variadic(tokens) => {
                    return Err(Error::new_spanned(
                        tokens,
                        "a pipeline is a free function of arrays and values",
                    ));
                }
            };
            let ty = &typed.ty;
            if mentions_impl(ty.to_token_stream()) {
                return Err(Error::new_spanned(
                    ty,
                    "the types of a pipeline have names: use type parameters",
                ));
            }
            if matches!(ty, Type::Reference(_)) {
                return Err(Error::new_spanned(
                    ty,
                    "a pipeline takes arrays as `In<T>` or `In2d<T>`, and values",
                ));
            }
            parameters.push(match element_of(ty, &["In", "In2d"]) {
                Some((0, element)) => Parameter::In(element.clone()),
                Some((_, element)) => Parameter::In2d(element.clone()),
                None => Parameter::Value(ty.clone()),
            });
        }
        if parameters.len() > MAX_PARAMETERS {
            return Err(Error::new_spanned(name, "a pipeline has at most eight parameters"));
        }
        const ENDS: [(&str, End); 6] = [
            ("Scalar", End::Scalar),
            ("Out", End::Out),
            ("Compact", End::Compact),
            ("Scan", End::Scan),
            ("Out2d", End::Rows),
            ("PerRow", End::Rows),
        ];
        let returned = match output {
            ReturnType::Type(_, ty) => Some(&**ty),
            ReturnType::Default => None,
        };
        let found = returned.and_then(|ty| Some((ty, element_of(ty, &ENDS.map(|(name, _)| name))?)));
        let Some((returned, (which, element))) = found else {
            let message = "a pipeline returns `Scalar<T>`, `Out<T>`, `Compact<T>`, `Scan<T>`, `Out2d<T>` or `PerRow<T>`";
            return Err(match returned {
                Some(ty) => Error::new_spanned(ty, message),
                None => Error::new_spanned(name, message),
            });
        };
        let (end, returned, element) = (ENDS[which].1, returned.clone(), element.clone());
        Ok(Self { parameters, end, returned, element, generics: types, function })
    }

    fn expand(&self, instances: &[(String, Vec<Type>)]) -> TokenStream {
        let Self { returned, function, .. } = self;
        let Signature { name, generics, inputs, .. } = &function.signature;
        let visibility = &function.visibility;
        let is = |attr: &syn::Attribute, names: &[&str]| names.iter().any(|name| attr.path().is_ident(name));
        let cfgs: Vec<_> = function.attrs.iter().filter(|attr| is(attr, &["cfg"])).collect();
        let docs = function.attrs.iter().filter(|attr| is(attr, &["doc", "deprecated"]));
        let others = function
            .attrs
            .iter()
            .filter(|attr| !is(attr, &["cfg", "doc", "deprecated", "inline", "must_use"]));
        let text = name.unraw().to_string();
        let hidden = |name: &str| Ident::new(name, Span::mixed_site());
        let (run, visit, visitor) = (hidden("__run"), hidden("visit"), hidden("Visit"));
        // An error about what the body ends in points at the return type.
        let place = returned.span();
        let made = Ident::new("made", Span::mixed_site().located_at(place));
        let visited = quote_spanned!(place=> ::gpu_std::pipeline::kernels::Visit::visit(#visit, #made));
        let (parameters, predicates) =
            (&generics.params, generics.where_clause.as_ref().map(|clause| &clause.predicates));
        let comma = (!parameters.is_empty() && !parameters.trailing_punct()).then(|| quote!(,));
        let inputs = inputs.iter().map(Input::tokens);
        let body = function.body();
        let instances = instances.iter().map(|(instance, types)| self.instance(&run, instance, types));
        quote! {
            #(#cfgs)*
            #(#docs)*
            #[allow(non_camel_case_types)]
            #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
            #visibility struct #name {}

            #(#cfgs)*
            #[cfg(not(target_arch = "nvptx64"))]
            impl ::gpu_std::host::PipelineFunction for #name {
                const NAME: &'static ::core::primitive::str = #text;
            }

            #(#cfgs)*
            const _: () = {
                #(#others)*
                #[allow(unused_braces, clippy::too_many_arguments)]
                #[inline(always)]
                fn #run<#parameters #comma #visitor: ::gpu_std::pipeline::kernels::Visit<#returned>>(
                    #(#inputs,)*
                    #visit: #visitor,
                ) -> #visitor::Output
                where
                    #predicates
                {
                    let #made = #body;
                    #visited
                }

                #(#instances)*
            };
        }
    }

    /// The kernels of an instance, and their launches. Type parameters are aliases there, so that types are used as they are written.
    fn instance(&self, run: &Ident, instance: &str, types: &[Type]) -> TokenStream {
        let Self { parameters, returned, element, generics, end, .. } = self;
        let name = &self.function.signature.name;
        let place = Span::call_site().located_at(name.span());
        let xs: Vec<_> =
            (0..parameters.len()).map(|i| Ident::new(&format!("x{i}"), Span::mixed_site())).collect();
        let shapes: Vec<_> =
            (0..parameters.len()).map(|i| Ident::new(&format!("shape{i}"), Span::mixed_site())).collect();
        let turbofish = (!generics.is_empty()).then(|| quote!(::<#(#generics,)* _>));
        // What kernels take, what the function gets of it, and what launches pass.
        let (mut taken, mut got, mut passed, mut bound) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (mut measured, mut elements, mut sizes) = (Vec::new(), Vec::new(), Vec::new());
        for (parameter, (x, shape)) in parameters.iter().zip(xs.iter().zip(&shapes)) {
            match parameter {
                Parameter::In(element) => {
                    taken.push(quote!(#x: &[#element],));
                    got.push(quote!(::gpu_std::pipeline::In::new(#x)));
                    passed.push(quote!(#x,));
                    bound.push(quote!(#x));
                    measured.push(quote!(::gpu_std::pipeline::In<'static, #element>));
                    sizes.push(quote!(::core::mem::size_of::<#element>()));
                    elements.push(element);
                }
                Parameter::In2d(element) => {
                    taken.push(quote!(#x: &[#element], #shape: [::core::primitive::usize; 2],));
                    got.push(quote!(::gpu_std::pipeline::In2d::new(#x, #shape)));
                    passed.push(quote!(#x, #shape,));
                    bound.push(quote!((#x, #shape)));
                    measured.push(quote!(::gpu_std::pipeline::In2d<'static, #element>));
                    sizes.push(quote!(::core::mem::size_of::<#element>()));
                    elements.push(element);
                }
                Parameter::Value(ty) => {
                    taken.push(quote!(#x: #ty,));
                    got.push(quote!(#x));
                    passed.push(quote!(#x,));
                    bound.push(quote!(#x));
                    measured.push(quote!(#ty));
                    elements.push(ty);
                }
            }
        }
        if matches!(end, End::Out | End::Scan)
            || matches!(end, End::Rows) && element_of(returned, &["Out2d"]).is_some()
        {
            sizes.push(quote!(::core::mem::size_of::<#element>()));
        }
        let kernel = |what: &str, contract: TokenStream, params: TokenStream, memory: TokenStream| {
            // The only kernels that have closures of their own: others of a function are small, or call theirs in one place.
            let number = DIVISIONS.iter().position(|(of_rows, _)| what == *of_rows);
            let lanes = match number {
                Some(number) => {
                    let division = format_ident!("{}", DIVISIONS[number].1);
                    quote!({ ::gpu_std::pipeline::kernels::Division::#division.chunk(__LANES) })
                }
                None => quote!(__LANES),
            };
            let number = number.unwrap_or(0);
            let kernel = format_ident!("{instance}_{what}");
            quote_spanned! {place=>
                #[::gpu_std::kernel(#contract)]
                #[allow(clippy::too_many_arguments)]
                fn #kernel(#(#taken)* #params) {
                    let memory = #memory;
                    // SAFETY: each thread comes here once, with the memory of the launch.
                    let visit = unsafe { ::gpu_std::pipeline::kernels::Run::<#returned, #lanes, #number>::new(memory) };
                    #run #turbofish(#(#got,)* visit)
                }
            }
        };
        let name_of = |what: &str| format_ident!("{instance}_{what}");
        let block = quote!(block = ::gpu_std::pipeline::kernels::THREADS, dims = 1);
        let scratch = quote!(scratch: ::gpu_std::BlockScratch<::gpu_std::pipeline::Room>,);
        let output = quote!(output: ::gpu_std::UnsafeSlice<#element>,);
        let state = quote!(&[::gpu_std::Atomic<::core::primitive::u32>],);
        let parts = quote!(::gpu_std::UnsafeSlice<::gpu_std::pipeline::Room>,);
        let number = quote!(::core::primitive::usize);
        let (kernels, launch) = match end {
            End::Scalar => {
                let reduce = name_of("reduce");
                (
                    kernel(
                        "reduce",
                        block,
                        quote!(#scratch parts: #parts arrived: #state #output),
                        quote!(::gpu_std::pipeline::kernels::ReduceMemory {
                            scratch,
                            parts,
                            arrived,
                            output
                        }),
                    ),
                    quote! {
                        let ::gpu_std::host::ReduceArgs { parts, arrived, output } = memory;
                        launch.launch(#reduce, (#(#passed)* parts, arrived, output))
                    },
                )
            }
            End::Out => {
                let collect = name_of("collect");
                (
                    kernel(
                        "collect",
                        block,
                        output,
                        quote!(::gpu_std::pipeline::kernels::CollectMemory { output }),
                    ),
                    quote! {
                        launch.launch(#collect, (#(#passed)* memory,))
                    },
                )
            }
            End::Compact => {
                let (count, write) = (name_of("count"), name_of("compact"));
                let counts = kernel(
                    "count",
                    block.clone(),
                    quote!(#scratch positions: #number, offsets: ::gpu_std::UnsafeSlice<#number>, state: #state len: ::gpu_std::UnsafeSlice<#number>,),
                    quote!(::gpu_std::pipeline::kernels::CompactMemory::Count {
                        scratch,
                        positions,
                        offsets,
                        state,
                        len
                    }),
                );
                let writes = kernel(
                    "compact",
                    block,
                    quote!(#scratch positions: #number, offsets: &[#number], state: #state #output),
                    quote!(::gpu_std::pipeline::kernels::CompactMemory::Write {
                        scratch,
                        positions,
                        offsets,
                        state,
                        output
                    }),
                );
                (
                    quote!(#counts #writes),
                    quote! {
                        match memory {
                            ::gpu_std::host::CompactArgs::Count { positions, offsets, state, len } => {
                                launch.launch(#count, (#(#passed)* positions, offsets, state, len))
                            }
                            ::gpu_std::host::CompactArgs::Write { positions, offsets, state, output } => {
                                launch.launch(#write, (#(#passed)* positions, offsets, state, output))
                            }
                        }
                    },
                )
            }
            End::Scan => {
                let (combine, write) = (name_of("combine"), name_of("scan"));
                let combines = kernel(
                    "combine",
                    block.clone(),
                    quote!(#scratch positions: #number, parts: #parts arrived: #state),
                    quote!(::gpu_std::pipeline::kernels::ScanMemory::Combine {
                        scratch,
                        positions,
                        parts,
                        arrived
                    }),
                );
                let writes = kernel(
                    "scan",
                    block,
                    quote!(#scratch parts: &[::gpu_std::pipeline::Room], #output),
                    quote!(::gpu_std::pipeline::kernels::ScanMemory::Write { scratch, parts, output }),
                );
                (
                    quote!(#combines #writes),
                    quote! {
                        match memory {
                            ::gpu_std::host::ScanArgs::Combine { positions, parts, arrived } => {
                                launch.launch(#combine, (#(#passed)* positions, parts, arrived))
                            }
                            ::gpu_std::host::ScanArgs::Write { parts, output } => {
                                launch.launch(#write, (#(#passed)* parts, output))
                            }
                        }
                    },
                )
            }
            End::Rows => {
                let (kernels, launches): (Vec<_>, Vec<_>) = DIVISIONS
                    .into_iter()
                    .map(|(what, division)| {
                        let (name, division) = (name_of(what), format_ident!("{division}"));
                        let division = quote!(::gpu_std::pipeline::kernels::Division::#division);
                        let of_division = kernel(
                            what,
                            quote!(dims = 1, max_threads = #division.max_threads()),
                            quote!(#scratch log2_of_lanes: ::core::primitive::u32, first: #number, shape: [#number; 2], #output),
                            quote!(::gpu_std::pipeline::kernels::RowsMemory {
                                division: #division,
                                log2_of_lanes,
                                scratch,
                                first,
                                shape,
                                output
                            }),
                        );
                        (
                            of_division,
                            quote!(#division => launch.launch(#name, (#(#passed)* log2_of_lanes, first, shape, output))),
                        )
                    })
                    .unzip();
                (
                    quote!(#(#kernels)*),
                    quote! {
                        let ::gpu_std::host::RowsArgs { division, log2_of_lanes, first, shape, output } = memory;
                        match division {
                            #(#launches,)*
                        }
                    },
                )
            }
        };
        quote_spanned! {place=>
            const _: () = {
                #(
                    #[allow(dead_code, non_camel_case_types)]
                    type #generics = #types;
                )*

                const __LANES: ::core::primitive::usize = ::gpu_std::elementwise::lanes(&[#(#sizes),*]);

                #kernels

                // SAFETY: the kernels write each element of the output that they promise.
                #[cfg(not(target_arch = "nvptx64"))]
                unsafe impl ::gpu_std::host::Pipelined<(#(#elements,)*)> for #name {
                    type Parameters = (#(#measured,)*);
                    type End = #returned;
                    const LANES: ::core::primitive::usize = __LANES;

                    fn size(
                        (#(#xs,)*): (#(#measured,)*),
                    ) -> ::core::result::Result<::gpu_std::pipeline::Size, ::gpu_std::pipeline::Refusal> {
                        #run #turbofish(#(#xs,)* ::gpu_std::pipeline::kernels::Measure)
                    }

                    fn launch<'a, L: ::gpu_std::host::Launch>(
                        launch: L,
                        (#(#bound,)*): <(#(#measured,)*) as ::gpu_std::host::Parameters>::Args<'a, L::Runtime>,
                        memory: <#returned as ::gpu_std::pipeline::End>::Args<'a, L::Runtime>,
                    ) -> L::Output {
                        #launch
                    }
                }
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(result: Result<TokenStream>) -> String {
        result.expect_err("it is refused").to_string()
    }

    #[test]
    fn kernels_are_those_of_the_return_type() {
        const ROWS: [&str; 6] = [
            "f_rows",
            "f_longest_rows",
            "f_short_rows",
            "f_short_rows_of_lanes",
            "f_odd_rows",
            "f_odd_rows_of_lanes",
        ];
        const OTHERS: [&str; 6] = ["f_reduce", "f_collect", "f_count", "f_compact", "f_combine", "f_scan"];
        for (returned, kernels) in [
            (quote!(Scalar<f32>), &["f_reduce"][..]),
            (quote!(gpu_std::pipeline::Out<f32>), &["f_collect"]),
            (quote!(Compact<f32>), &["f_count", "f_compact"]),
            (quote!(Scan<f32>), &["f_combine", "f_scan"]),
            (quote!(Out2d<f32>), &ROWS),
            (quote!(PerRow<f32>), &ROWS),
        ] {
            let made =
                pipeline(quote!(), quote!(pub fn f(x: In<f32>, y: In2d<'_, f64>, a: f32) -> #returned { x }));
            let made = made.expect("it is a pipeline").to_string();
            for name in OTHERS.into_iter().chain(ROWS) {
                assert_eq!(
                    made.contains(&format!("fn {name} ")),
                    kernels.contains(&name),
                    "{returned}: {name}"
                );
            }
        }
    }

    #[test]
    fn instances_are_listed_as_type_parameters_ask_for() {
        let generic = quote!(
            pub fn f<T: Float>(x: In<T>) -> Scalar<T> {
                x.sum()
            }
        );
        assert!(error(pipeline(quote!(), generic.clone())).contains("`#[pipeline(f32, f64)]`"));
        let made = pipeline(quote!(f32, f64), generic).expect("it is a pipeline").to_string();
        assert!(made.contains("fn f_f32_reduce ") && made.contains("fn f_f64_reduce "));
        let only = quote!(
            fn f(x: In<f32>) -> Scalar<f32> {
                x.sum()
            }
        );
        assert!(error(pipeline(quote!(f32), only)).contains("no type parameters"));
    }

    #[test]
    fn what_is_no_pipeline_is_refused() {
        for (function, message) in [
            (
                quote!(
                    unsafe fn f(x: In<f32>) -> Out<f32> {
                        x
                    }
                ),
                "cannot be `unsafe`",
            ),
            (
                quote!(
                    async fn f(x: In<f32>) -> Out<f32> {
                        x
                    }
                ),
                "cannot be `async`",
            ),
            (
                quote!(
                    const fn f(x: In<f32>) -> Out<f32> {
                        x
                    }
                ),
                "cannot be `const`",
            ),
            (
                quote!(
                    extern "C" fn f(x: In<f32>) -> Out<f32> {
                        x
                    }
                ),
                "without an ABI",
            ),
            (
                quote!(
                    fn f(&self, x: In<f32>) -> Out<f32> {
                        x
                    }
                ),
                "a free function",
            ),
            (
                quote!(
                    fn f(x: &[f32]) -> Out<f32> {
                        x
                    }
                ),
                "as `In<T>`",
            ),
            (
                quote!(
                    fn f(x: impl Copy) -> Out<f32> {
                        x
                    }
                ),
                "have names",
            ),
            (
                quote!(
                    fn f<const N: usize>(x: In<f32>) -> Out<f32> {
                        x
                    }
                ),
                "type parameters only",
            ),
            (
                quote!(
                    fn f(x: In<f32>) {
                        x
                    }
                ),
                "returns `Scalar<T>`",
            ),
            (
                quote!(
                    fn f(x: In<f32>) -> Vec<f32> {
                        x
                    }
                ),
                "returns `Scalar<T>`",
            ),
            (
                quote!(
                    fn f(x: In<f32>) -> Scalar {
                        x
                    }
                ),
                "returns `Scalar<T>`",
            ),
            (
                quote!(
                    fn f(a: u8, b: u8, c: u8, d: u8, e: u8, f: u8, g: u8, h: u8, i: u8) -> Out<u8> {
                        x
                    }
                ),
                "at most eight",
            ),
        ] {
            let found = error(pipeline(quote!(), function));
            assert!(found.contains(message), "{found}");
        }
    }

    #[test]
    fn reductions_combine_two_values_and_have_an_identity() {
        let sum = quote!(
            pub fn sum(a: f32, b: f32) -> f32 {
                a + b
            }
        );
        assert!(reduction(quote!(identity = 0.0), sum.clone()).is_ok());
        for arguments in [quote!(), quote!(0.0), quote!(identity), quote!(identity =), quote!(zero = 0.0)] {
            assert!(reduction(arguments, sum.clone()).is_err());
        }
        assert!(error(reduction(quote!(identity = 0.0, f32), sum)).contains("no type parameters"));
        let generic = quote!(
            fn sum<T: Float>(a: T, b: T) -> T
            where
                T: Copy,
            {
                a + b
            }
        );
        assert!(
            error(reduction(quote!(identity = T::ZERO), generic.clone()))
                .contains("`#[reduction(identity = …, f32, f64)]`")
        );
        let made =
            reduction(quote!(identity = T::zero::<u8>(), f32, f64), generic).expect("it is a reduction");
        assert!(made.to_string().contains("fn sum_f64_reduce "));
        for function in [
            quote!(
                fn f(a: f32) -> f32 {
                    a
                }
            ),
            quote!(
                fn f(a: f32, b: f64) -> f32 {
                    a
                }
            ),
            quote!(
                fn f(a: f32, b: f32) -> f64 {
                    0.0
                }
            ),
            quote!(
                fn f(a: f32, b: f32) {}
            ),
        ] {
            assert!(
                error(reduction(quote!(identity = 0.0), function))
                    .contains("combines two values of a type to one")
            );
        }
    }
}

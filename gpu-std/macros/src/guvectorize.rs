//! `#[guvectorize]`: a function of arrays from a function of small arrays. The function stays as it is; a type of its name stands for the function of
//! arrays, with kernels for each signature.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{
    Error, Expr, ExprLit, GenericArgument, GenericParam, Ident, Lit, LitStr, PathArguments, Result,
    ReturnType, Token, Type,
    ext::IdentExt,
    parse::{Parse, ParseStream},
};

use crate::{
    function::{Function, Signature},
    gufunc_layout::{Dim, Layout},
    input::{Input, Typed},
    instances::{Instance, check_function, mentions_impl, name_instances},
    param::text,
};

/// Who computes a core call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Per {
    Thread,
    Warp,
    Block,
}

impl Per {
    fn name(self) -> &'static str {
        match self {
            Self::Thread => "thread",
            Self::Warp => "warp",
            Self::Block => "block",
        }
    }

    /// The type of an output, and the parameter of kernels for it.
    fn output(self) -> (&'static str, &'static str) {
        match self {
            Self::Thread => ("CoreViewMut", "PerThreadCores"),
            Self::Warp => ("CorePerLane", "PerWarpCores"),
            Self::Block => ("CorePerThread", "PerBlockCores"),
        }
    }
}

/// Threads of a block that computes core calls, or whose warps do, if the attribute does not say.
const BLOCK: u32 = 256;

/// What the attribute says.
struct Arguments {
    layout: Layout,
    instances: Vec<Instance>,
    per: Per,
    block: Option<TokenStream>,
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        if !input.peek(LitStr) {
            return Err(input.error(
                "the layout of the cores comes first: `#[guvectorize(\"(m,n),(n,p)->(m,p)\", f32, f64)]`",
            ));
        }
        let layout = Layout::parse(&input.parse()?)?;
        let (mut instances, mut per, mut block) = (Vec::new(), None, None);
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            if !(input.peek(Ident) && input.peek2(Token![=])) {
                instances.push(input.parse()?);
                continue;
            }
            let key: Ident = input.parse()?;
            input.parse::<Token![=]>()?;
            let first = match key.to_string().as_str() {
                "per" => {
                    let given: Ident = input.parse()?;
                    let known = [Per::Thread, Per::Warp, Per::Block];
                    let Some(given) = known.into_iter().find(|per| given == per.name()) else {
                        return Err(Error::new(
                            given.span(),
                            "a core call is computed by one `thread`, `warp` or `block`",
                        ));
                    };
                    per.replace(given).is_none()
                }
                "block" => {
                    let mut value = TokenStream::new();
                    while !(input.is_empty() || input.peek(Token![,])) {
                        input.parse::<proc_macro2::TokenTree>()?.to_tokens(&mut value);
                    }
                    block.replace(value).is_none()
                }
                unknown => {
                    return Err(Error::new(
                        key.span(),
                        format!(
                            "unknown key `{unknown}`: there are `per`, who computes a core call (`per = warp`), and `block`, the threads of a block"
                        ),
                    ));
                }
            };
            if !first {
                return Err(Error::new(key.span(), format!("`{key}` is given twice")));
            }
        }
        Ok(Self { layout, instances, per: per.unwrap_or(Per::Thread), block })
    }
}

/// An input or output: the type of its elements, and its core.
struct Array {
    element: Type,
    core: Vec<Dim>,
}

/// A function that is fit to be called for cores.
struct Core {
    function: Function,
    arguments: Arguments,
    inputs: Vec<Array>,
    outputs: Vec<Array>,
    /// Shared memory, for blocks.
    shared: Vec<Type>,
    /// The names of its type parameters.
    generics: Vec<Ident>,
}

pub(crate) fn guvectorize(arguments: TokenStream, function: TokenStream) -> Result<TokenStream> {
    let mut arguments: Arguments = syn::parse2(arguments)?;
    let listed = core::mem::take(&mut arguments.instances);
    let core = Core::new(arguments, syn::parse2(function)?)?;
    let attribute = format!("#[guvectorize(\"{}\")]", core.arguments.layout.text);
    let named = name_instances(&core.function.signature.name, &core.generics, listed, &attribute)?;
    Ok(core.expand(&named))
}

impl Core {
    fn new(arguments: Arguments, function: Function) -> Result<Self> {
        let Signature { name, generics, inputs, output, .. } = &function.signature;
        check_function(&function.signature)?;
        let mut types = Vec::new();
        for param in &generics.params {
            match param {
                GenericParam::Type(param) => types.push(param.ident.clone()),
                GenericParam::Lifetime(_) => {}
                GenericParam::Const(_) => {
                    return Err(Error::new_spanned(
                        param,
                        "a function of arrays has type parameters only: make constants part of the types",
                    ));
                }
            }
        }
        let mut given = Vec::new();
        for input in inputs {
            match input {
                Input::Typed(typed) => given.push(typed),
                Input::Receiver(tokens) | Input::Variadic(tokens) => {
                    return Err(Error::new_spanned(tokens, "a function of arrays is a free function"));
                }
            }
        }
        if let Some(typed) = given.iter().find(|typed| mentions_impl(typed.ty.to_token_stream())) {
            return Err(Error::new_spanned(
                &typed.ty,
                "the types of a function of arrays have names: use type parameters",
            ));
        }
        let (layout, per) = (&arguments.layout, arguments.per);
        let arrays = layout.inputs.len() + layout.outputs.iter().filter(|core| !core.is_empty()).count();
        let shared = per == Per::Block && given.len() > arrays;
        if given.len() != arrays && !shared {
            return Err(Error::new_spanned(name, wrong_number(layout, per, arrays, given.len())));
        }
        let mut given = given.into_iter();
        let mut inputs = Vec::new();
        for (core, typed) in layout.inputs.iter().zip(given.by_ref()) {
            let element = match core.is_empty() {
                true => typed.ty.clone(),
                false => element(typed, "CoreView", core, layout, per)?,
            };
            inputs.push(Array { element, core: core.clone() });
        }
        let returned = returned(name, output, layout)?;
        let mut returned = returned.into_iter();
        let mut outputs = Vec::new();
        for core in &layout.outputs {
            let element = match core.is_empty() {
                true => returned.next(),
                false => {
                    let typed = given.next();
                    typed.map(|typed| element(typed, per.output().0, core, layout, per)).transpose()?
                }
            };
            // As many as were counted.
            let element = element.ok_or_else(|| Error::new_spanned(name, "an output has no type"))?;
            outputs.push(Array { element, core: core.clone() });
        }
        let shared = given.map(|typed| without_lifetimes(&typed.ty)).collect();
        Ok(Self { inputs, outputs, shared, generics: types, arguments, function })
    }

    fn expand(&self, instances: &[(String, Vec<Type>)]) -> TokenStream {
        let Signature { name, .. } = &self.function.signature;
        let (visibility, whole) = (&self.function.visibility, &self.function);
        let attrs = &self.function.attrs;
        let cfgs: Vec<_> = attrs.iter().filter(|attr| attr.path().is_ident("cfg")).collect();
        // Where kernels of contiguous cores call it, strides are constants.
        let inline = (!attrs.iter().any(|attr| attr.path().is_ident("inline")))
            .then(|| quote!(#[allow(clippy::inline_always)] #[inline(always)]));
        let layout = &self.arguments.layout;
        let (plain, written) = (name.unraw().to_string(), &layout.text);
        let about = format!("[`{plain}()`] as a function of arrays, with cores `{written}`.");
        let per = format_ident!(
            "{}",
            match self.arguments.per {
                Per::Thread => "Thread",
                Per::Warp => "Warp",
                Per::Block => "Block",
            }
        );
        let [inputs, outputs] = [&layout.inputs, &layout.outputs].map(|cores| {
            let cores = cores.iter().map(|core| {
                let dims = core.iter().map(|dim| match dim {
                    Dim::Named(number) => {
                        let name = &layout.names[*number].text;
                        quote!(::gpu_std::host::CoreDim::Named(#name))
                    }
                    Dim::Fixed(extent) => {
                        let extent = *extent as usize;
                        quote!(::gpu_std::host::CoreDim::Fixed(#extent))
                    }
                });
                quote!(&[#(#dims),*])
            });
            quote!(&[#(#cores),*])
        });
        let [input_axes, output_axes] = [&layout.inputs, &layout.outputs].map(|cores| {
            let axes = cores.iter().map(Vec::len);
            quote!((#(::gpu_std::host::CoreAxes<#axes>,)*))
        });
        let instances = instances.iter().map(|(instance, types)| {
            let items = self.instance(instance, types);
            quote!(#(#cfgs)* #items)
        });
        quote! {
            #inline
            #whole

            #(#cfgs)*
            #[doc = #about]
            #[allow(non_camel_case_types)]
            #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
            #visibility struct #name {}

            #(#cfgs)*
            #[cfg(not(target_arch = "nvptx64"))]
            impl ::gpu_std::host::GuvectorizedFunction for #name {
                const NAME: &'static ::core::primitive::str = #plain;
                const LAYOUT: ::gpu_std::host::GufuncLayout =
                    ::gpu_std::host::GufuncLayout { text: #written, inputs: #inputs, outputs: #outputs };
                const PER: ::gpu_std::host::Per = ::gpu_std::host::Per::#per;
                type InputAxes = #input_axes;
                type OutputAxes = #output_axes;
            }

            #(#instances)*
        }
    }

    /// The kernels of an instance, and their launches. Type parameters are aliases there, so that types are used as they are written.
    fn instance(&self, instance: &str, types: &[Type]) -> TokenStream {
        let Self { inputs, outputs, generics, .. } = self;
        let name = &self.function.signature.name;
        // Errors of rustc about a type point at it, not at the attribute.
        let place = Span::call_site().located_at(name.span());
        let names = |letter: &str, count: usize| -> Vec<Ident> {
            (0..count).map(|i| Ident::new(&format!("{letter}{i}"), Span::mixed_site())).collect()
        };
        let (x, y) = (names("x", inputs.len()), names("y", outputs.len()));
        let elements =
            |arrays: &[Array]| arrays.iter().map(|array| array.element.clone()).collect::<Vec<_>>();
        let (input_types, output_types) = (elements(inputs), elements(outputs));
        let kernels = [("contiguous", true), ("strided", false)].map(|(kind, is_contiguous)| {
            let kernel = format_ident!("{instance}_{kind}");
            let items = self.kernel(&kernel, is_contiguous, &x, &y);
            (kernel, items)
        });
        let [(contiguous, contiguous_items), (strided, strided_items)] = kernels;
        quote_spanned! {place=>
            const _: () = {
                #(
                    #[allow(dead_code, non_camel_case_types)]
                    type #generics = #types;
                )*

                #contiguous_items
                #strided_items

                #[cfg(not(target_arch = "nvptx64"))]
                impl ::gpu_std::host::Guvectorized<(#(#input_types,)*)> for #name {
                    type Outputs = (#(#output_types,)*);

                    fn launch<'a, L: ::gpu_std::host::Launch>(
                        launch: L,
                        is_contiguous: ::core::primitive::bool,
                        (#(#x,)*): <(#(#input_types,)*) as ::gpu_std::host::CoreScalars<
                            <Self as ::gpu_std::host::GuvectorizedFunction>::InputAxes,
                        >>::CoreViews<'a, L::Runtime>,
                        (#(#y,)*): <Self::Outputs as ::gpu_std::host::OutputScalars>::ViewsMut<'a, L::Runtime>,
                    ) -> L::Output {
                        match is_contiguous {
                            true => launch.launch(#contiguous, (#(#x,)* #(#y,)*)),
                            false => launch.launch(#strided, (#(#x,)* #(#y,)*)),
                        }
                    }
                }
            };
        }
    }

    /// A kernel, for cores whose elements lie one after another along their innermost axis, or anyhow.
    fn kernel(&self, kernel: &Ident, is_contiguous: bool, x: &[Ident], y: &[Ident]) -> TokenStream {
        let Self { inputs, outputs, shared, generics, arguments, .. } = self;
        let (name, layout, per) = (&self.function.signature.name, &arguments.layout, arguments.per);
        let place = Span::call_site().located_at(name.span());
        let mixed = |text: String| Ident::new(&text, Span::mixed_site());
        let s: Vec<_> = (0..shared.len()).map(|i| mixed(format!("s{i}"))).collect();
        let dims: Vec<_> = (0..layout.names.len()).map(|i| mixed(format!("d{i}"))).collect();
        let bind_dims = layout.names.iter().zip(&dims).map(|(name, dim)| {
            let (input, axis) = (&x[name.input], name.axis);
            quote!(let #dim = #input.core_shape()[#axis];)
        });
        let contiguous = is_contiguous.then(|| quote!(.contiguous()));
        let bind = |core: &[Dim], array: &Ident| {
            let extents = core.iter().map(|dim| match dim {
                Dim::Named(number) => dims[*number].to_token_stream(),
                Dim::Fixed(extent) => (*extent as usize).to_token_stream(),
            });
            match core.is_empty() {
                true => array.to_token_stream(),
                false => quote!(#array.with_core_shape([#(#extents),*]) #contiguous),
            }
        };
        let bound_x = inputs.iter().zip(x).map(|(array, x)| bind(&array.core, x));
        let bound_y = outputs.iter().zip(y).map(|(array, y)| bind(&array.core, y));
        let input_params = inputs.iter().map(|Array { element, core }| match core.len() {
            0 => quote!(::gpu_std::elementwise::ViewNdOrScalar<#element>),
            axes => quote!(::gpu_std::gufunc::InputCores<#element, #axes>),
        });
        let output_param = format_ident!("{}", per.output().1);
        let output_params = outputs.iter().map(|Array { element, core }| {
            let axes = core.len();
            quote!(::gpu_std::gufunc::#output_param<#element, #axes>)
        });

        let turbofish = (!generics.is_empty()).then(|| quote!(::<#(#generics),*>));
        let written = outputs.iter().zip(y).filter(|(array, _)| !array.core.is_empty()).map(|(_, y)| y);
        let call = quote!(#name #turbofish(#(#x,)* #(#written,)* #(#s,)*));
        let returned: Vec<_> =
            outputs.iter().zip(y).filter(|(array, _)| array.core.is_empty()).map(|(_, y)| y).collect();
        let results: Vec<_> = (0..returned.len()).map(|i| mixed(format!("r{i}"))).collect();
        let bind_results = match &results[..] {
            [] => quote!(#call;),
            [result] => quote!(let #result = #call;),
            results => quote!(let (#(#results),*) = #call;),
        };
        let store = match per {
            Per::Thread => quote! {
                #(
                    let mut #returned = #returned;
                    #returned[[]] = #results;
                )*
            },
            Per::Warp | Per::Block => quote! {
                #(
                    for ((), element) in #returned {
                        *element = #results;
                    }
                )*
            },
        };
        let visit = match per {
            Per::Thread | Per::Warp => quote!(for_each_core),
            Per::Block => quote!(with_core_of_block),
        };
        let block = match (&arguments.block, per) {
            (Some(block), _) => Some(quote!((block = #block))),
            (None, Per::Thread) => None,
            (None, _) => Some(quote!((block = #BLOCK))),
        };
        quote_spanned! {place=>
            #[::gpu_std::kernel #block]
            fn #kernel(
                #(#x: #input_params,)*
                #(#y: #output_params,)*
                #(#s: #shared,)*
            ) {
                #(#bind_dims)*
                ::gpu_std::gufunc::#visit(
                    (#(#bound_x,)*),
                    (#(#bound_y,)*),
                    |(#(#x,)*), (#(#y,)*)| {
                        #bind_results
                        #store
                    },
                );
            }
        }
    }
}

/// What to say of a function with another number of arguments than its layout has.
fn wrong_number(layout: &Layout, per: Per, arrays: usize, given: usize) -> String {
    let shared = match per {
        Per::Block => ", and shared memory after them",
        _ => "",
    };
    format!(
        "a core function `{}` has {arrays} arguments, one for each input and for each output that is not `()`{shared}; this has {given}",
        layout.text
    )
}

/// The element type of an argument, which is written as `CoreView<T, 2>` or the like.
fn element(typed: &Typed, expected: &str, core: &[Dim], layout: &Layout, per: Per) -> Result<Type> {
    let refuse = || {
        Error::new_spanned(
            &typed.ty,
            format!(
                "this is `{}`, and its core `{}` is a `{expected}<T, {}>`{}",
                text(typed.ty.to_token_stream()),
                layout.core(core),
                core.len(),
                match expected {
                    "CoreView" => String::new(),
                    _ => format!(" where a {} computes a core", per.name()),
                }
            ),
        )
    };
    let Type::Path(path) = &typed.ty else { return Err(refuse()) };
    let Some(last) = path.path.segments.last() else { return Err(refuse()) };
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return Err(refuse()) };
    if ["CoreView", "CoreViewMut", "CorePerLane", "CorePerThread"].iter().any(|name| last.ident == name)
        && last.ident != expected
    {
        return Err(refuse());
    }
    // A number that is written; rustc compares others.
    let axes = arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Const(Expr::Lit(ExprLit { lit: Lit::Int(axes), .. })) => axes.base10_parse().ok(),
        _ => None,
    });
    if axes.is_some_and(|axes: usize| axes != core.len()) {
        return Err(refuse());
    }
    let mut types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty.clone()),
        _ => None,
    });
    types.next().ok_or_else(refuse)
}

/// The types that a function returns, one for each output whose core has no axes.
fn returned(name: &Ident, output: &ReturnType, layout: &Layout) -> Result<Vec<Type>> {
    let scalars = layout.outputs.iter().filter(|core| core.is_empty()).count();
    let found = match output {
        ReturnType::Default => Vec::new(),
        ReturnType::Type(_, ty) => match &**ty {
            // A single value may be a tuple only by mistake, of which rustc tells.
            Type::Tuple(tuple) if scalars != 1 || tuple.elems.is_empty() => {
                tuple.elems.iter().cloned().collect()
            }
            ty => vec![Type::clone(ty)],
        },
    };
    if found.len() == scalars {
        return Ok(found);
    }
    let returns = match scalars {
        0 => "nothing: outputs with axes are arguments".to_owned(),
        1 => "one value, the output `()`".to_owned(),
        _ => format!("a tuple of {scalars} values, the outputs `()`"),
    };
    Err(Error::new_spanned(name, format!("a core function `{}` returns {returns}", layout.text)))
}

/// The type, if it is a path, without the lifetimes of its last segment: a kernel leaves them out.
fn without_lifetimes(ty: &Type) -> Type {
    let mut ty = ty.clone();
    if let Type::Path(path) = &mut ty
        && let Some(last) = path.path.segments.last_mut()
        && let PathArguments::AngleBracketed(arguments) = &mut last.arguments
    {
        let kept = arguments.args.iter().filter(|argument| !matches!(argument, GenericArgument::Lifetime(_)));
        arguments.args = kept.cloned().collect();
    }
    ty
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(arguments: TokenStream, function: TokenStream) -> String {
        guvectorize(arguments, function).expect_err("it is refused").to_string()
    }

    #[test]
    fn layouts_and_signatures_are_arguments() {
        let sum = quote!(
            fn sum<T>(x: CoreView<T, 1>) -> T {}
        );
        assert!(guvectorize(quote!("(n)->()", f32, <f64 as Trait>::Half,), sum.clone()).is_ok());
        for (arguments, message) in [
            (quote!(), "the layout of the cores comes first"),
            (quote!(f32), "the layout of the cores comes first"),
            (quote!("(n)->()"), "`#[guvectorize(\"(n)->()\", f32, f64)]`"),
            (quote!("(n)->()", <f32, i32>), "has 1 type parameters, and this is 2"),
            (quote!("(n)->()", f32, f32), "already an instance `sum_f32`"),
            (quote!("(n)->()", f32, per = grid), "by one `thread`, `warp` or `block`"),
            (quote!("(n)->()", f32, per = warp, per = warp), "`per` is given twice"),
            (quote!("(n)->()", f32, by = warp), "unknown key `by`"),
        ] {
            let found = error(arguments, sum.clone());
            assert!(found.contains(message), "{found}");
        }
    }

    #[test]
    fn functions_fit_their_layouts() {
        for (arguments, function, message) in [
            (
                quote!("(n),(n)->()"),
                quote!(
                    fn f(x: CoreView<f32, 1>) -> f32 {}
                ),
                "has 2 arguments, one for each input and for each output that is not `()`; this has 1",
            ),
            (
                quote!("(n)->(n)", per = block),
                quote!(
                    fn f(x: CoreView<f32, 1>) {}
                ),
                "and shared memory after them; this has 1",
            ),
            (
                quote!("(n)->()"),
                quote!(
                    fn f(x: &[f32]) -> f32 {}
                ),
                "this is `&[f32]`, and its core `(n)` is a `CoreView<T, 1>`",
            ),
            (
                quote!("(m,n)->()"),
                quote!(
                    fn f(x: CoreView<f32, 1>) -> f32 {}
                ),
                "this is `CoreView<f32, 1>`, and its core `(m,n)` is a `CoreView<T, 2>`",
            ),
            (
                quote!("(n)->(n)", per = warp),
                quote!(
                    fn f(x: CoreView<f32, 1>, y: CoreViewMut<f32, 1>) {}
                ),
                "its core `(n)` is a `CorePerLane<T, 1>` where a warp computes a core",
            ),
            (
                quote!("(n)->()"),
                quote!(
                    fn f(x: CoreView<f32, 1>) {}
                ),
                "returns one value, the output `()`",
            ),
            (
                quote!("(n)->(),()"),
                quote!(
                    fn f(x: CoreView<f32, 1>) -> f32 {}
                ),
                "returns a tuple of 2 values",
            ),
            (
                quote!("(n)->(n)"),
                quote!(
                    fn f(x: CoreView<f32, 1>, y: CoreViewMut<f32, 1>) -> f32 {}
                ),
                "returns nothing",
            ),
            (
                quote!("()->()"),
                quote!(
                    unsafe fn f(x: f32) -> f32 {}
                ),
                "cannot be `unsafe`",
            ),
            (
                quote!("()->()"),
                quote!(
                    async fn f(x: f32) -> f32 {}
                ),
                "cannot be `async`",
            ),
            (
                quote!("()->()"),
                quote!(
                    fn f(x: impl Copy) -> f32 {}
                ),
                "have names",
            ),
            (
                quote!("()->()"),
                quote!(
                    fn f<const N: usize>(x: f32) -> f32 {}
                ),
                "type parameters only",
            ),
            (
                quote!("()->()"),
                quote!(
                    fn f(self) -> f32 {}
                ),
                "a free function",
            ),
        ] {
            let found = error(arguments, function);
            assert!(found.contains(message), "{found}");
        }
    }

    #[test]
    fn shared_memory_follows_outputs() {
        let function = quote!(
            fn f<'b>(x: CoreView<f32, 1>, y: CorePerThread<f32, 1>, s: Shared<'b, f32, 4>) {}
        );
        let expanded = guvectorize(quote!("(n)->(n)", per = block, block = 64), function).expect("it is fit");
        let expanded = expanded.to_string().replace(' ', "");
        assert!(expanded.contains("s0:Shared<f32,4>") && expanded.contains("(block=64)"), "{expanded}");
    }
}

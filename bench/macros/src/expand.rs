//! From `#[bench(axis = [values], …)] fn …` to the function and its registration.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::{
    Error, Expr, FnArg, GenericParam, Ident, ItemFn, Pat, Result, Token, Type, bracketed,
    parse::{Parse, ParseStream},
    punctuated::Punctuated,
};

/// What the attribute says: values for each axis.
struct Attributes(Punctuated<Attribute, Token![,]>);

/// `name = values`.
struct Attribute {
    name: Ident,
    values: TokenStream,
}

impl Parse for Attribute {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let name = input.parse()?;
        input.parse::<Token![=]>()?;
        // Types and expressions alike, up to the next comma: which they are, the function's parameters say.
        let mut values = TokenStream::new();
        while !input.is_empty() && !input.peek(Token![,]) {
            let token: proc_macro2::TokenTree = input.parse()?;
            values.extend([token]);
        }
        if values.is_empty() {
            return Err(input.error("the values of the axis, such as `[1, 2, 4]`"));
        }
        Ok(Self { name, values })
    }
}

impl Parse for Attributes {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        Punctuated::parse_terminated(input).map(Self)
    }
}

/// `[A, B, C]`
struct List<T>(Vec<T>);

impl<T: Parse> Parse for List<T> {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let content;
        bracketed!(content in input);
        let items = Punctuated::<T, Token![,]>::parse_terminated(&content)?;
        if items.is_empty() {
            return Err(content.error("at least one value"));
        }
        Ok(Self(items.into_iter().collect()))
    }
}

/// An axis of the function, in the order of its parameters.
enum Axis {
    /// A type or constant parameter: only these values are compiled.
    Compiled { name: Ident, values: Vec<TokenStream>, texts: Vec<TokenStream> },
    /// A parameter that has any value of its type.
    Argument { name: Ident, ty: Box<Type>, values: TokenStream },
}

impl Axis {
    fn name(&self) -> &Ident {
        match self {
            Self::Compiled { name, .. } | Self::Argument { name, .. } => name,
        }
    }
}

pub(crate) fn expand(attributes: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let Attributes(attributes) = syn::parse2(attributes)?;
    let function: ItemFn = syn::parse2(item)?;
    let axes = axes(&function, attributes.into_iter().collect())?;
    let (name, library) = (&function.sig.ident, quote!(::gpukernel_bench::__private));
    let declared = axes.iter().map(|axis| declaration(axis, &library));
    let call = call(&function, &axes, &library);
    Ok(quote! {
        #function

        #library::inventory::submit! {
            #library::Benchmark {
                name: stringify!(#name),
                module: module_path!(),
                axes: &[#(#declared),*],
                run: |bench, values| #call,
            }
        }
    })
}

/// The axes of the function, each with the values that the attribute says.
fn axes(function: &ItemFn, mut attributes: Vec<Attribute>) -> Result<Vec<Axis>> {
    let signature = &function.sig;
    if let Some(keyword) = &signature.asyncness {
        return Err(Error::new(keyword.span, "a benchmark is no `async fn`"));
    }
    let mut take = |name: &Ident, what: &str| {
        let found = attributes.iter().position(|attribute| attribute.name == *name);
        found.map(|index| attributes.remove(index).values).ok_or_else(|| {
            Error::new(name.span(), format!("the {what} `{name}` has no values: `#[bench({name} = […])]`"))
        })
    };
    let mut axes = Vec::new();
    for parameter in &signature.generics.params {
        match parameter {
            GenericParam::Lifetime(_) => {}
            GenericParam::Type(parameter) => {
                let List(types) = syn::parse2::<List<Type>>(take(&parameter.ident, "type parameter")?)?;
                let texts = types.iter().map(|ty| quote!(stringify!(#ty).to_owned())).collect();
                let values = types.iter().map(|ty| quote!(#ty)).collect();
                axes.push(Axis::Compiled { name: parameter.ident.clone(), values, texts });
            }
            GenericParam::Const(parameter) => {
                let List(values) = syn::parse2::<List<Expr>>(take(&parameter.ident, "constant")?)?;
                let ty = &parameter.ty;
                let texts = values.iter().map(|value| quote!({ let value: #ty = #value; value.to_string() }));
                let texts = texts.collect();
                let values = values.iter().map(|value| quote!({ #value })).collect();
                axes.push(Axis::Compiled { name: parameter.ident.clone(), values, texts });
            }
        }
    }
    let mut arguments = signature.inputs.iter();
    if arguments.next().is_none() {
        return Err(Error::new(signature.ident.span(), "a benchmark takes `bench: &mut Bench<'_>` first"));
    }
    for argument in arguments {
        let FnArg::Typed(argument) = argument else {
            return Err(Error::new(signature.ident.span(), "a benchmark is no method"));
        };
        let Pat::Ident(pattern) = &*argument.pat else {
            return Err(Error::new(signature.ident.span(), "the parameters of a benchmark are names"));
        };
        let (name, ty) = (pattern.ident.clone(), argument.ty.clone());
        axes.push(Axis::Argument { values: take(&name, "parameter")?, name, ty });
    }
    if let Some(other) = attributes.first() {
        let (name, function) = (&other.name, &signature.ident);
        return Err(Error::new(name.span(), format!("`{function}` has no parameter `{name}`")));
    }
    Ok(axes)
}

/// The axis as a value that the library reads.
fn declaration(axis: &Axis, library: &TokenStream) -> TokenStream {
    let name = axis.name();
    let (compiled, values) = match axis {
        Axis::Compiled { texts, .. } => (true, quote!(vec![#(#texts),*])),
        Axis::Argument { ty, values, .. } => (false, quote!(#library::texts::<#ty>(#values))),
    };
    quote!(#library::Axis { name: stringify!(#name), compiled: #compiled, values: || #values })
}

/// The call of the function with the values of a row.
fn call(function: &ItemFn, axes: &[Axis], library: &TokenStream) -> TokenStream {
    let name = &function.sig.ident;
    let arguments = axes.iter().filter_map(|axis| match axis {
        Axis::Argument { name, ty, .. } => Some(quote!(values.argument::<#ty>(stringify!(#name))?)),
        Axis::Compiled { .. } => None,
    });
    let arguments: Vec<_> = arguments.collect();
    let compiled: Vec<_> = axes
        .iter()
        .filter_map(|axis| match axis {
            Axis::Compiled { name, values, .. } => Some((name, values)),
            Axis::Argument { .. } => None,
        })
        .collect();
    if compiled.is_empty() {
        return quote!(#library::outcome(#name(bench, #(#arguments),*)));
    }
    // A chain of choices, one for each parameter: a call for each combination of values.
    let mut chosen = vec![Vec::new()];
    for (_, values) in &compiled {
        chosen = chosen
            .into_iter()
            .flat_map(|before| (0..values.len()).map(move |index| [before.clone(), vec![index]].concat()))
            .collect();
    }
    let names: Vec<_> = compiled.iter().map(|(name, _)| *name).collect();
    let indices: Vec<_> = (0..names.len()).map(|n| format_ident!("axis_{n}")).collect();
    let arms = chosen.iter().map(|choice| {
        let generics = choice.iter().zip(&compiled).map(|(index, (_, values))| &values[*index]);
        let choice = choice.iter().map(|index| syn::LitInt::new(&format!("{index}usize"), Span::call_site()));
        quote!((#(#choice,)*) => #library::outcome(#name::<#(#generics),*>(bench, #(#arguments),*)),)
    });
    quote! {{
        #(let #indices = values.index(stringify!(#names));)*
        match (#(#indices,)*) {
            #(#arms)*
            _ => unreachable!("the library chooses among the values that are there"),
        }
    }}
}

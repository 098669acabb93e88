//! From `#[bench(axis = [values], …)] fn …` to the function and its registration.

use proc_macro2::{Literal, TokenStream, TokenTree};
use quote::{format_ident, quote};
use syn::{
    Attribute, Error, GenericParam, Generics, Ident, Result, Token, Type, Visibility, bracketed,
    parenthesized,
    parse::{Parse, ParseStream},
    punctuated::Punctuated,
};

/// What the attribute says: values for each axis.
struct AllValues(Punctuated<AxisValues, Token![,]>);

/// `name = values`.
struct AxisValues {
    name: Ident,
    values: TokenStream,
}

impl Parse for AxisValues {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let name = input.parse()?;
        input.parse::<Token![=]>()?;
        // Types and expressions alike: which they are, the function's parameters say.
        Ok(Self { name, values: up_to_comma(input)? })
    }
}

impl Parse for AllValues {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        Punctuated::parse_terminated(input).map(Self)
    }
}

/// What stands before the next comma, or the end.
fn up_to_comma(input: ParseStream<'_>) -> Result<TokenStream> {
    let mut tokens = TokenStream::new();
    while !input.is_empty() && !input.peek(Token![,]) {
        tokens.extend([input.parse::<TokenTree>()?]);
    }
    match tokens.is_empty() {
        true => Err(input.error("a value is missing here")),
        false => Ok(tokens),
    }
}

/// `[A, B, C]`
struct List<T>(Vec<T>);

impl<T> List<T> {
    fn parse(input: ParseStream<'_>, item: fn(ParseStream<'_>) -> Result<T>) -> Result<Self> {
        let content;
        bracketed!(content in input);
        let items = Punctuated::<T, Token![,]>::parse_terminated_with(&content, item)?;
        match items.is_empty() {
            true => Err(content.error("at least one value")),
            false => Ok(Self(items.into_iter().collect())),
        }
    }
}

/// The head of a function. Written out here because syn reads functions only with its feature `full`, which takes a second to compile; what
/// follows the parameters is rustc's business anyway.
struct Head {
    name: Ident,
    generics: Generics,
    parameters: Vec<Parameter>,
}

/// `name: Type`
struct Parameter {
    name: Ident,
    ty: Type,
}

impl Parse for Parameter {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        input.call(Attribute::parse_outer)?;
        input.parse::<Option<Token![mut]>>()?;
        let name = input.parse()?;
        input.parse::<Token![:]>()?;
        Ok(Self { name, ty: input.parse()? })
    }
}

impl Parse for Head {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        input.call(Attribute::parse_outer)?;
        input.parse::<Visibility>()?;
        input.parse::<Token![fn]>().map_err(|error| {
            Error::new(
                error.span(),
                "a benchmark is a plain `fn`: not `async`, `unsafe`, `const` or `extern`",
            )
        })?;
        let head = Self { name: input.parse()?, generics: input.parse()?, parameters: parameters(input)? };
        input.parse::<TokenStream>()?;
        Ok(head)
    }
}

fn parameters(input: ParseStream<'_>) -> Result<Vec<Parameter>> {
    let content;
    parenthesized!(content in input);
    Ok(Punctuated::<Parameter, Token![,]>::parse_terminated(&content)?.into_iter().collect())
}

/// An axis of the function, in the order of its parameters.
enum Axis {
    /// A type or constant parameter: only these values are compiled.
    Compiled { name: Ident, values: Vec<TokenStream>, texts: Vec<TokenStream> },
    /// A parameter that has any value of its type.
    Argument { name: Ident, ty: TokenStream, values: TokenStream },
}

impl Axis {
    fn name(&self) -> &Ident {
        match self {
            Self::Compiled { name, .. } | Self::Argument { name, .. } => name,
        }
    }
}

pub(crate) fn expand(attributes: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let AllValues(values) = syn::parse2(attributes)?;
    let head: Head = syn::parse2(item.clone())?;
    let axes = axes(&head, values.into_iter().collect())?;
    let (name, library) = (&head.name, quote!(::gpukernel_bench::__private));
    let declared = axes.iter().map(|axis| declaration(axis, &library));
    let call = call(name, &axes, &library);
    Ok(quote! {
        #item

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
fn axes(function: &Head, mut given: Vec<AxisValues>) -> Result<Vec<Axis>> {
    let mut take = |name: &Ident, what: &str| {
        let found = given.iter().position(|axis| axis.name == *name);
        found.map(|index| given.remove(index).values).ok_or_else(|| {
            Error::new(name.span(), format!("the {what} `{name}` has no values: `#[bench({name} = […])]`"))
        })
    };
    let mut axes = Vec::new();
    for parameter in &function.generics.params {
        match parameter {
            GenericParam::Lifetime(_) => {}
            GenericParam::Type(parameter) => {
                let values = take(&parameter.ident, "type parameter")?;
                let parser = |input: ParseStream<'_>| List::parse(input, Type::parse);
                let List(types) = syn::parse::Parser::parse2(parser, values)?;
                let texts = types.iter().map(|ty| quote!(stringify!(#ty).to_owned())).collect();
                let values = types.iter().map(|ty| quote!(#ty)).collect();
                axes.push(Axis::Compiled { name: parameter.ident.clone(), values, texts });
            }
            GenericParam::Const(parameter) => {
                let values = take(&parameter.ident, "constant")?;
                let parser = |input: ParseStream<'_>| List::parse(input, up_to_comma);
                let List(values) = syn::parse::Parser::parse2(parser, values)?;
                let ty = &parameter.ty;
                let texts = values.iter().map(|value| quote!({ let value: #ty = #value; value.to_string() }));
                let texts = texts.collect();
                let values = values.iter().map(|value| quote!({ #value })).collect();
                axes.push(Axis::Compiled { name: parameter.ident.clone(), values, texts });
            }
        }
    }
    let mut parameters = function.parameters.iter();
    if parameters.next().is_none() {
        return Err(Error::new(function.name.span(), "a benchmark takes `bench: &mut Bench<'_>` first"));
    }
    for Parameter { name, ty } in parameters {
        let values = take(name, "parameter")?;
        axes.push(Axis::Argument { name: name.clone(), ty: quote!(#ty), values });
    }
    match given.first() {
        Some(AxisValues { name, .. }) => {
            Err(Error::new(name.span(), format!("`{}` has no parameter `{name}`", function.name)))
        }
        None => Ok(axes),
    }
}

/// The axis as a value that the library reads.
fn declaration(axis: &Axis, library: &TokenStream) -> TokenStream {
    let name = axis.name();
    let (compiled, values) = match axis {
        Axis::Compiled { texts, .. } => (true, quote!(|_| vec![#(#texts),*])),
        Axis::Argument { ty, values, .. } if is_closure(values) => {
            // The type says what the closure's parameter is.
            let values = quote! {{
                let values: fn(&#library::Device) -> _ = #values;
                #library::texts::<#ty>(values(device))
            }};
            (false, quote!(|device| #values))
        }
        Axis::Argument { ty, values, .. } => (false, quote!(|_| #library::texts::<#ty>(#values))),
    };
    quote!(#library::Axis { name: stringify!(#name), compiled: #compiled, values: #values })
}

/// Whether the values are those for a device: `|device| …`.
fn is_closure(values: &TokenStream) -> bool {
    matches!(values.clone().into_iter().next(), Some(TokenTree::Punct(first)) if first.as_char() == '|')
}

/// The call of the function with the values of a row.
fn call(name: &Ident, axes: &[Axis], library: &TokenStream) -> TokenStream {
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
        let choice = choice.iter().map(|index| Literal::usize_suffixed(*index));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn error(attributes: &str, function: &str) -> String {
        let tokens = |text: &str| text.parse::<TokenStream>().unwrap();
        expand(tokens(attributes), tokens(function)).unwrap_err().to_string()
    }

    #[test]
    fn mistakes_are_told_in_words() {
        for (attributes, function, expected) in [
            ("", "fn f(bench: B, n: usize) {}", "the parameter `n` has no values: `#[bench(n = […])]`"),
            ("n = [1]", "fn f<T>(bench: B, n: usize) {}", "the type parameter `T` has no values"),
            ("m = [1]", "fn f(bench: B) {}", "`f` has no parameter `m`"),
            ("", "fn f() {}", "takes `bench: &mut Bench<'_>` first"),
            ("", "async fn f(bench: B) {}", "a plain `fn`: not `async`"),
            ("T = []", "fn f<T>(bench: B) {}", "at least one value"),
            ("N = 3", "fn f<const N: usize>(bench: B) {}", "expected square brackets"),
            ("n =", "fn f(bench: B, n: usize) {}", "a value is missing here"),
            ("", "struct S;", "a plain `fn`"),
        ] {
            let error = error(attributes, function);
            assert!(error.contains(expected), "{attributes} {function}: {error}");
        }
    }

    #[test]
    fn each_combination_of_types_and_constants_is_called() {
        let attributes = quote!(T = [f32, Vec<(u8, u8)>], N = [1, 2 + 2], n = [1, 2]);
        let function = quote! {
            /// What it measures.
            pub(crate) fn f<T: Copy, const N: usize>(bench: &mut B<'_>, mut n: usize) -> R where T: Default { n += 1; }
        };
        let text = expand(attributes, function).unwrap().to_string().replace(' ', "");
        for call in ["f::<f32,{1}>(bench,", "f::<Vec<(u8,u8)>,{2+2}>(bench,"] {
            assert!(text.contains(call), "{call} in {text}");
        }
        assert_eq!(text.matches("values.argument::<usize>(stringify!(n))").count(), 4);
    }
}

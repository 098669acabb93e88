//! What a condition becomes: a check on the host, an assumption on the device, and a record by which both are compared.

use super::*;

impl Expr {
    /// The expression as calls, in a function that returns a `Result` with a `Fault`. Parameters have the names that `known` gives them.
    fn evaluate(&self, params: &[Param]) -> TokenStream {
        // rustc points there if the types are wrong. The names are ours wherever the condition was written.
        let span = Span::call_site().located_at(self.span());
        match self {
            Self::Literal(literal) => {
                let literal = at(literal.to_token_stream(), span);
                quote_spanned!(span=> #literal)
            }
            Self::Name { path, single, .. } => match single.as_ref().and_then(|name| parameter(name, params))
            {
                Some((index, _)) => {
                    let known = known(index, span);
                    quote_spanned!(span=> #known)
                }
                None => quote_spanned!(span=> const { #path }),
            },
            Self::Extent { of, question } => {
                let known = parameter(of, params).map(|(index, _)| known(index, span));
                let question = Ident::new(&question.to_string(), span);
                quote_spanned!(span=> ::gpu_std::contract::known::#question(#known))
            }
            Self::Paren(inside) => inside.evaluate(params),
            // A literal of its own, because the least number has no positive twin: `-128_i8`.
            Self::Unary { operator: Unary::Negate, operand, .. } if matches!(**operand, Self::Literal(_)) => {
                let literal = operand.evaluate(params);
                quote_spanned!(span=> (-#literal))
            }
            Self::Unary { operator, operand, .. } => {
                let operand = operand.evaluate(params);
                match operator {
                    Unary::Not => quote_spanned!(span=> ::gpu_std::contract::condition::not(#operand)),
                    Unary::Negate => quote_spanned!(span=> ::gpu_std::contract::condition::negate(#operand)?),
                }
            }
            Self::Cast { operand, to } => {
                let operand = operand.evaluate(params);
                let to = Ident::new(&to.to_string(), span);
                quote_spanned!(span=> ::gpu_std::contract::condition::cast::<::core::primitive::#to, _>(#operand)?)
            }
            Self::Binary { operator, left, right, .. } => {
                let (left, right) = (left.evaluate(params), right.evaluate(params));
                let function = Ident::new(operator.function, span);
                match (operator.kind, operator.text) {
                    (Kind::Lazy, "&&") => quote_spanned!(span=> (if #left { #right } else { false })),
                    (Kind::Lazy, _) => quote_spanned!(span=> (if #left { true } else { #right })),
                    (Kind::Computes, _) => {
                        quote_spanned!(span=> ::gpu_std::contract::condition::#function(#left, #right)?)
                    }
                    (Kind::Bitwise | Kind::Compares, _) => {
                        quote_spanned!(span=> ::gpu_std::contract::condition::#function(#left, #right))
                    }
                }
            }
        }
    }
}

/// Tokens as if they stood there.
fn at(tokens: TokenStream, span: Span) -> TokenStream {
    tokens
        .into_iter()
        .map(|mut token| {
            token.set_span(span);
            token
        })
        .collect()
}

/// The variable for what is known of a parameter. No name of the program is the same.
fn known(index: usize, span: Span) -> Ident {
    Ident::new(&format!("known{index}"), Span::mixed_site().located_at(span))
}

impl Condition {
    /// The value of the condition: a `Result<bool, Fault>`.
    fn evaluate(&self, params: &[Param]) -> TokenStream {
        let value = self.root.evaluate(params);
        quote! {
            (|| ::core::result::Result::Ok::<::core::primitive::bool, ::gpu_std::contract::condition::Fault>(#value))()
        }
    }

    /// The parameters that it mentions, by their index, in the order in which it does so first.
    fn mentions(&self, params: &[Param]) -> Vec<usize> {
        let mut mentioned: Vec<usize> = Vec::new();
        self.root.leaves(&mut |leaf| {
            let name = match leaf {
                Expr::Extent { of, .. } => Some(of),
                Expr::Name { single, .. } => single.as_ref(),
                _ => None,
            };
            let index = name.and_then(|name| parameter(name, params)).map(|(index, _)| index);
            mentioned.extend(index.filter(|index| !mentioned.contains(index)));
        });
        mentioned
    }

    /// Parameters, extents and constants, each once: how they are written, and the expression.
    ///
    /// Paths of constants are kept as often as they are written: `$crate::LIMIT` of two macros can be two constants.
    fn values(&self, params: &[Param]) -> Vec<(String, &Expr, TokenStream)> {
        let mut values: Vec<(String, &Expr, TokenStream)> = Vec::new();
        self.root.leaves(&mut |leaf| {
            let text = leaf.text();
            let is_path = matches!(leaf, Expr::Name { single: None, .. });
            let is_new = is_path || values.iter().all(|(other, ..)| *other != text);
            if !matches!(leaf, Expr::Literal(_)) && is_new {
                values.push((text, leaf, leaf.evaluate(params)));
            }
        });
        values
    }
}

/// The `Condition` of gpu_std: its text, the parameters that it is about, and the constants and types that it depends on.
pub(crate) fn record(condition: &Condition, params: &[Param]) -> TokenStream {
    let text = Literal::string(&condition.text());
    let lasting = lifetime("'static");
    let given = |index: usize| params[..index].iter().filter(|param| !param.is_shared()).count();
    let parameters = condition.mentions(params).into_iter().map(given);
    let facts = condition.values(params).into_iter().filter_map(|(text, leaf, _)| {
        let Expr::Name { path, single, span, .. } = leaf else { return None };
        let (text, span) = (Literal::string(&text), Span::call_site().located_at(*span));
        Some(match single.as_ref().and_then(|name| parameter(name, params)) {
            Some((_, param)) => {
                let ty = param.with_lifetime(&lasting);
                quote_spanned!(span=> ::gpu_std::contract::record::parameter::<#ty>(#text))
            }
            None => quote_spanned!(span=> ::gpu_std::contract::record::constant(#text, #path)),
        })
    });
    quote! {
        ::gpu_std::contract::record::Condition {
            text: #text,
            parameters: &[#(#parameters),*],
            facts: &[#(#facts),*],
        }
    }
}

/// The function that says which condition arguments do not meet, for the host.
pub(crate) fn unmet(condition: &Condition, params: &[Param]) -> TokenStream {
    let lasting = lifetime("'static");
    let reader = Ident::new("reader", Span::mixed_site());
    let known = params.iter().enumerate().filter(|(_, param)| !param.is_shared()).map(|(index, param)| {
        let (known, ty) = (known(index, Span::mixed_site()), param.with_lifetime(&lasting));
        quote!(let #known = unsafe { ::gpu_std::host::known::<#ty>(&mut #reader) };)
    });
    let text = Literal::string(&condition.text());
    let value = condition.evaluate(params);
    let values = condition.values(params).into_iter().map(|(text, _, value)| {
        let text = Literal::string(&text);
        quote!((#text, &#value))
    });
    quote! {
        #[allow(unused_variables, unused_mut, clippy::all)]
        unsafe fn unmet(args: &::gpu_std::host::PackedArgs) -> ::core::option::Option<::gpu_std::host::Unmet> {
            let mut #reader = args.reader();
            // SAFETY: (in each) the arguments were packed for these parameters, in this order.
            #(#known)*
            ::gpu_std::host::unmet(#text, #value, [#(#values),*])
        }
    }
}

/// The statement by which the entry on the device relies on the condition; `parts` gives the two values as which a parameter travels.
pub(crate) fn relying(
    condition: &Condition,
    params: &[Param],
    parts: impl Fn(usize) -> (Ident, Ident),
) -> TokenStream {
    let known = condition.mentions(params).into_iter().map(|index| {
        let known = known(index, Span::mixed_site());
        let (head, tail) = parts(index);
        quote!(let #known = ::gpu_std::contract::known::known(&#head, &#tail);)
    });
    let value = condition.evaluate(params);
    quote! {
        #[allow(clippy::all)]
        {
            #(#known)*
            // SAFETY: launches evaluate the same condition of the same arguments, and with the same constants, which the first of
            // them compares with those in the image.
            unsafe { ::core::hint::assert_unchecked(::gpu_std::contract::condition::holds(#value)) };
        }
    }
}

/// The body of the function, in which a parameter is used that the condition mentions: no warning says otherwise.
pub(crate) fn using(condition: &Condition, params: &[Param], body: &TokenStream) -> TokenStream {
    let names = condition.mentions(params).into_iter().map(|index| params[index].name());
    quote!({ let _ = (#(&#names,)*); #body })
}

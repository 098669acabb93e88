//! What a kernel requires of its arguments: a condition over their lengths and values, which launches check and device code relies
//! on.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::quote;
use syn::{Error, Result};

use crate::{expand::lifetime, param::Param};

/// What a condition may ask of memory, on the host as in the kernel.
const QUESTIONS: [&str; 5] = ["len", "is_empty", "rows", "columns", "layers"];

/// Types that it may convert to.
const TYPES: [&str; 9] = ["as", "usize", "u64", "u32", "u16", "u8", "i64", "i32", "true"];

/// Refuses what may not mean the same on the host before the launch and on the device: a condition is made of the kernel's
/// parameters, their extents, constants and operators.
pub(crate) fn check(condition: &TokenStream, params: &[Param]) -> Result<()> {
    let mut after_dot = false;
    for token in condition.clone() {
        match &token {
            TokenTree::Group(group) => check(&group.stream(), params)?,
            TokenTree::Ident(ident) => check_name(ident, after_dot, params)?,
            TokenTree::Punct(punct) if "+-*/%<>=!&|^.,".contains(punct.as_char()) => {}
            TokenTree::Punct(_) => return Err(not_known(&token)),
            TokenTree::Literal(_) => {}
        }
        after_dot = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '.');
    }
    Ok(())
}

fn check_name(ident: &Ident, after_dot: bool, params: &[Param]) -> Result<()> {
    let name = ident.to_string();
    if after_dot {
        return if QUESTIONS.contains(&name.as_str()) { Ok(()) } else { Err(not_known(ident)) };
    }
    match params.iter().find(|param| param.name().is_some_and(|param| param == *ident)) {
        Some(param) if param.is_in_block() => Err(Error::new_spanned(
            ident,
            format!("`{name}` is a shared array: what a launch requires is about its arguments"),
        )),
        Some(_) => Ok(()),
        None if TYPES.contains(&name.as_str()) || name.chars().all(|c| !c.is_lowercase()) => Ok(()),
        None => Err(not_known(ident)),
    }
}

fn not_known(what: &impl quote::ToTokens) -> Error {
    Error::new_spanned(
        what,
        "`requires` is checked before the launch: it takes the kernel's parameters, their `len()`, `is_empty()`, `rows()`, \
         `columns()` and `layers()`, constants, and operators",
    )
}

/// The function that says which condition arguments do not meet, for the host.
pub(crate) fn unmet(condition: &TokenStream, params: &[Param]) -> TokenStream {
    let lasting = lifetime("'static");
    let known = params.iter().filter(|param| !param.is_shared()).map(|param| {
        let (name, ty) = (param.name(), param.with_lifetime(&lasting));
        quote!(let #name = unsafe { ::gpu_std::host::known::<#ty>(&mut reader) };)
    });
    let condition_text = condition.to_string();
    quote! {
        #[allow(unused_variables, unused_mut, clippy::nonminimal_bool)]
        unsafe fn unmet(args: &::gpu_std::host::PackedArgs) -> ::core::option::Option<&'static ::core::primitive::str> {
            let mut reader = args.reader();
            // SAFETY: (in each) the arguments were packed for these parameters, in this order.
            #(#known)*
            if #condition { ::core::option::Option::None } else { ::core::option::Option::Some(#condition_text) }
        }
    }
}

/// The condition as a part of the kernel's signature: as written, however rustc writes tokens as text, and the values of the
/// constants in it, which `cfg` or a generic parameter may make others on the device.
pub(crate) fn signature(condition: &TokenStream, params: &[Param]) -> TokenStream {
    let (mut text, mut constants) = (String::new(), TokenStream::new());
    describe(condition, false, params, &mut text, &mut constants);
    let text = text.trim_end();
    quote! {
        ::gpu_std::signature::Text::All(&[::gpu_std::signature::Text::Word(#text), #constants])
    }
}

fn describe(
    condition: &TokenStream,
    mut after_dot: bool,
    params: &[Param],
    text: &mut String,
    constants: &mut TokenStream,
) {
    for token in condition.clone() {
        match &token {
            TokenTree::Group(group) => {
                text.push_str("( ");
                describe(&group.stream(), false, params, text, constants);
                text.push_str(") ");
            }
            TokenTree::Ident(ident) => {
                let name = ident.to_string();
                let is_param = params.iter().any(|param| param.name().is_some_and(|param| param == *ident));
                if !after_dot && !is_param && !TYPES.contains(&name.as_str()) {
                    let label = format!("; {name} = ");
                    constants.extend(quote! {
                        ::gpu_std::signature::Text::Word(#label),
                        ::gpu_std::signature::bits(#ident),
                    });
                }
                text.push_str(&name);
                text.push(' ');
            }
            other => {
                text.push_str(&other.to_string());
                text.push(' ');
            }
        }
        after_dot = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '.');
    }
}

/// The body of the function, which relies on the condition.
pub(crate) fn relying(condition: &TokenStream, body: &TokenStream) -> TokenStream {
    quote! {
        {
            // SAFETY: launches check it, and nobody else calls the function.
            #[allow(clippy::nonminimal_bool)]
            unsafe { ::core::hint::assert_unchecked(#condition) };
            #body
        }
    }
}

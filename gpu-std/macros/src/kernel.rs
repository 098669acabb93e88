//! `#[kernel]`: reads the function, refuses what cannot be a kernel, all mistakes at once, and hands over to
//! [`expand`](crate::expand).

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Attribute, Error, Result, ReturnType, Type};

use crate::{
    contract::Contract,
    expand::expand,
    function::{Function, Signature},
    param::{Param, text},
};

/// A function that is fit to be a kernel.
pub(crate) struct Kernel {
    pub(crate) contract: Contract,
    pub(crate) function: Function,
    pub(crate) params: Vec<Param>,
}

impl Kernel {
    /// Whether it is declared as `unsafe fn`.
    pub(crate) fn is_unsafe(&self) -> bool {
        self.function.signature.unsafety.is_some()
    }
}

pub(crate) fn kernel(contract: TokenStream, function: TokenStream) -> Result<TokenStream> {
    let function: Function = match syn::parse2(function.clone()) {
        Ok(function) => function,
        // What does not look like a function is refused by us; a function with a syntax error by its own message.
        Err(_) if !function.clone().into_iter().any(|token| token.to_string() == "fn") => {
            return Err(Error::new_spanned(
                function,
                "`#[kernel]` makes a function a kernel: this is not one",
            ));
        }
        Err(error) => return Err(error),
    };
    let mut mistakes = Mistakes(None);
    let contract = mistakes.keep(syn::parse2::<Contract>(contract)).unwrap_or_default();
    check_signature(&function.signature, &mut mistakes);
    for attribute in &function.attrs {
        mistakes.keep(check_attribute(attribute));
    }
    let Signature { unsafety, inputs, .. } = &function.signature;
    let params: Vec<_> =
        inputs.iter().filter_map(|input| mistakes.keep(Param::new(input, unsafety.is_some()))).collect();
    // Parameters that are refused would be said not to be there.
    if let Some(condition) = &contract.requires
        && params.len() == inputs.len()
    {
        mistakes.keep(condition.check(&params));
    }
    match mistakes.0 {
        None => Ok(expand(&Kernel { contract, function, params })),
        Some(error) => Err(error),
    }
}

/// All mistakes so far.
struct Mistakes(Option<Error>);

impl Mistakes {
    fn keep<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.add(error)).ok()
    }

    fn add(&mut self, error: Error) {
        match &mut self.0 {
            Some(first) => first.combine(error),
            none => *none = Some(error),
        }
    }
}

fn check_signature(signature: &Signature, mistakes: &mut Mistakes) {
    fn refuse<T: ToTokens>(mistakes: &mut Mistakes, what: Option<T>, message: &str) {
        if let Some(what) = what {
            mistakes.add(Error::new_spanned(what, message));
        }
    }
    refuse(mistakes, signature.constness.as_ref(), "a kernel cannot be `const`: it runs on a device");
    refuse(
        mistakes,
        signature.asyncness.as_ref(),
        "a kernel cannot be `async`: launches are, and return when the work is queued",
    );
    refuse(
        mistakes,
        signature.abi.as_ref(),
        "a kernel is declared without an ABI: `#[kernel]` makes the entry",
    );
    let generics = &signature.generics;
    refuse(
        mistakes,
        generics.lifetimes().next(),
        "leave lifetimes out: a kernel has its memory for the time of the launch",
    );
    refuse(
        mistakes,
        generics.where_clause.as_ref().filter(|_| generics.params.is_empty()),
        "a kernel without generic parameters has no `where` clause",
    );
    let returned = match &signature.output {
        ReturnType::Default => None,
        ReturnType::Type(_, ty) if matches!(&**ty, Type::Tuple(unit) if unit.elems.is_empty()) => None,
        ReturnType::Type(_, ty) => Some(ty),
    };
    refuse(
        mistakes,
        returned,
        "a kernel returns nothing: it writes its results to memory that it takes, such as `PerThread<T>`",
    );
}

/// Refuses attributes that are about the symbol or the code of a function, which the entry has of its own.
fn check_attribute(attribute: &Attribute) -> Result<()> {
    const REFUSED: [&str; 9] = [
        "inline",
        "no_mangle",
        "export_name",
        "link_section",
        "target_feature",
        "track_caller",
        "must_use",
        "test",
        "unsafe",
    ];
    match REFUSED.iter().find(|name| attribute.path().is_ident(name)) {
        Some(_) => Err(Error::new_spanned(
            attribute,
            format!(
                "`{}` has no meaning for a kernel: what launches call is the entry that `#[kernel]` makes",
                text(attribute.to_token_stream())
            ),
        )),
        None => Ok(()),
    }
}

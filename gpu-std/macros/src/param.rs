//! One parameter of a kernel: what kind it is, judged by how its type is written.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{
    Error, FnArg, GenericArgument, Lifetime, Pat, PathArguments, PointerMutability, Result, Token, Type,
    parse_quote,
    punctuated::Punctuated,
    visit::{self, Visit},
    visit_mut::{self, VisitMut},
};

/// Types of gpu_std with a lifetime that kernels leave out.
const BORROWING: [&str; 4] = ["PerThread", "PerThread2d", "Shared", "Shared2d"];

/// Those of them that are no argument of a launch.
const SHARED: [&str; 2] = ["Shared", "Shared2d"];

/// A parameter.
pub(crate) struct Param {
    ty: Type,
    shared: bool,
}

impl Param {
    /// Judges a parameter. `in_unsafe` says that the kernel is an `unsafe fn`.
    pub(crate) fn new(arg: &FnArg, in_unsafe: bool) -> Result<Self> {
        let arg = match arg {
            FnArg::Typed(arg) => arg,
            FnArg::Receiver(receiver) => {
                return Err(Error::new_spanned(
                    receiver,
                    "a kernel is a free function: it has no `self`; pass what it needs by value",
                ));
            }
        };
        if let Some(attribute) =
            arg.attrs.iter().find(|attr| attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr"))
        {
            return Err(Error::new_spanned(
                attribute,
                "parameters of a kernel cannot depend on `cfg`: they are the same on host and device",
            ));
        }
        match &*arg.pat {
            Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => {}
            pat => {
                return Err(Error::new_spanned(
                    pat,
                    "a kernel's parameter is a name: take the value apart in the body",
                ));
            }
        }
        check_type(&arg.ty, in_unsafe)?;
        let shared = last_name(&arg.ty).is_some_and(|name| SHARED.contains(&name.as_str()));
        Ok(Self { ty: (*arg.ty).clone(), shared })
    }

    /// Whether it is a shared array, which launches do not give.
    pub(crate) fn is_shared(&self) -> bool {
        self.shared
    }

    /// Its type with the lifetime in all the places in which it was left out.
    pub(crate) fn with_lifetime(&self, lifetime: &Lifetime) -> Type {
        let mut ty = self.ty.clone();
        InsertLifetime(lifetime).visit_type_mut(&mut ty);
        ty
    }
}

/// Refuses types that cannot be parameters, where the way they are written says more than rustc would.
fn check_type(ty: &Type, in_unsafe: bool) -> Result<()> {
    let text = |ty: &Type| text(ty.to_token_stream());
    let message = match plain(ty) {
        Type::Reference(reference) => match (plain(&reference.elem), reference.mutability.is_some()) {
            (Type::Slice(slice), true) => {
                let t = text(&slice.elem);
                format!(
                    "a kernel cannot take `&mut [{t}]`: all its threads would have the whole of it at once. Take \
                     `PerThread<{t}>` (or `PerThread2d<{t}>`) to give each thread its own elements, or \
                     `&[Atomic<{t}>]` to let all threads change all elements atomically"
                )
            }
            (Type::Slice(_), false) => return check_lifetimes(ty),
            (elem, true) => {
                let t = text(elem);
                format!(
                    "a kernel cannot take `&mut {t}`: all its threads would have it at once. Take `&[Atomic<{t}>]` \
                     (of one element) to let all threads change it atomically, or `PerThread<{t}>` to give each thread \
                     its own elements"
                )
            }
            (elem, false) => {
                let t = text(elem);
                format!("a kernel cannot take `&{t}`: take the value itself, or `&[{t}]` for device memory")
            }
        },
        Type::Ptr(pointer) if !in_unsafe => {
            let t = text(&pointer.elem);
            match pointer.mutability {
                PointerMutability::Const(_) => format!(
                    "only an `unsafe fn` can be a kernel with raw pointers. Take `&[{t}]`, or declare the kernel as \
                     `unsafe fn` and say in its `# Safety` section what its launches promise"
                ),
                PointerMutability::Mut(_) => format!(
                    "only an `unsafe fn` can be a kernel with raw pointers. Take `PerThread<{t}>` or `&[Atomic<{t}>]`, \
                     or declare the kernel as `unsafe fn` and say in its `# Safety` section what its launches promise"
                ),
            }
        }
        Type::ImplTrait(_) => "a kernel has no generic parameters: name the type".to_owned(),
        _ => return check_lifetimes(ty),
    };
    Err(Error::new_spanned(ty, message))
}

/// Refuses lifetimes that are written out.
fn check_lifetimes(ty: &Type) -> Result<()> {
    struct Find(Option<Lifetime>);
    impl<'ast> Visit<'ast> for Find {
        fn visit_lifetime(&mut self, lifetime: &'ast Lifetime) {
            if lifetime.ident != "_" {
                self.0.get_or_insert_with(|| lifetime.clone());
            }
        }
    }
    let mut find = Find(None);
    visit::visit_type(&mut find, ty);
    match find.0 {
        Some(lifetime) => Err(Error::new(
            lifetime.span(),
            format!("leave `{lifetime}` out: a kernel has its memory for the time of the launch"),
        )),
        None => Ok(()),
    }
}

/// The type without the parentheses and invisible groups around it.
fn plain(mut ty: &Type) -> &Type {
    loop {
        ty = match ty {
            Type::Paren(inner) => &inner.elem,
            Type::Group(inner) => &inner.elem,
            _ => return ty,
        }
    }
}

/// The last name of a type that is a path.
fn last_name(ty: &Type) -> Option<String> {
    match plain(ty) {
        Type::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
        _ => None,
    }
}

/// Tokens as a programmer would write them.
pub(crate) fn text(tokens: TokenStream) -> String {
    let text = tokens.to_string();
    [
        (" :: ", "::"),
        (" < ", "<"),
        (" >", ">"),
        ("& ", "&"),
        (" ,", ","),
        (" ;", ";"),
        (" :", ":"),
        (" (", "("),
        (",)", ")"),
    ]
    .into_iter()
    .fold(text, |text, (spaced, plain)| text.replace(spaced, plain))
}

/// Writes a lifetime wherever one was left out.
struct InsertLifetime<'a>(&'a Lifetime);

impl VisitMut for InsertLifetime<'_> {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        match ty {
            // Lifetimes that are left out in these are not the kernel's.
            Type::FnPtr(_) | Type::TraitObject(_) => {}
            Type::Reference(reference) => {
                reference.lifetime.get_or_insert_with(|| self.0.clone());
                visit_mut::visit_type_reference_mut(self, reference);
            }
            Type::Path(path) => {
                visit_mut::visit_type_path_mut(self, path);
                let Some(last) = path.path.segments.last_mut() else { return };
                if !BORROWING.iter().any(|name| last.ident == name) {
                    return;
                }
                let lifetime = GenericArgument::Lifetime(self.0.clone());
                match &mut last.arguments {
                    PathArguments::AngleBracketed(arguments) => {
                        if !matches!(arguments.args.first(), Some(GenericArgument::Lifetime(_))) {
                            arguments.args.insert(0, lifetime);
                        }
                    }
                    arguments => {
                        let list: Punctuated<_, Token![,]> = [lifetime].into_iter().collect();
                        *arguments = PathArguments::AngleBracketed(parse_quote!(<#list>));
                    }
                }
            }
            ty => visit_mut::visit_type_mut(self, ty),
        }
    }

    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if lifetime.ident == "_" {
            *lifetime = self.0.clone();
        }
    }
}

//! One parameter of a kernel: what kind it is, judged by how its type is written.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{
    Error, GenericArgument, Ident, Lifetime, Path, PathArguments, PointerMutability, Result, Type,
    parse_quote,
};

use crate::input::{Input, Typed};

/// Types of gpu_std with a lifetime that kernels leave out.
const BORROWING: &[&str] = &[
    "BlockScratch",
    "Mbarrier",
    "PerBlock",
    "PerThread",
    "PerThread2d",
    "PerThread3d",
    "PerThreadStrided",
    "PerWarp",
    "Shared",
    "Shared2d",
    "SharedAtomics",
    "SharedCells",
    "SharedSlice",
    "SortScratch",
    "AsyncShared",
    "AsyncShared2d",
    "ViewStrided",
    "BlockTiles",
    "BlockTiles2d",
    "UnsafeShared",
    "UnsafeSlice",
    "View2d",
    "View3d",
    "MmaOutput",
    "SliceOrScalar",
    "ViewNdOrScalar",
    "PerThreadChunks",
    "PerThreadNd",
    "PerThreadRows",
    "PlaneOrScalar",
    "ViewPlane",
    "PerThreadPlane",
    "InputCores",
    "PerThreadCores",
    "PerWarpCores",
    "PerBlockCores",
];

/// Those of them that are no argument of a launch.
const SHARED: &[&str] = &[
    "BlockScratch",
    "Mbarrier",
    "SortScratch",
    "Shared",
    "Shared2d",
    "SharedAtomics",
    "SharedCells",
    "AsyncShared",
    "AsyncShared2d",
    "UnsafeShared",
];

/// A parameter.
pub(crate) struct Param {
    input: Typed,
    shared: bool,
    in_block: bool,
}

impl Param {
    /// Judges a parameter. `in_unsafe` says that the kernel is an `unsafe fn`.
    pub(crate) fn new(input: &Input, in_unsafe: bool) -> Result<Self> {
        let input = match input {
            Input::Typed(input) => input,
            Input::Receiver(receiver) => {
                return Err(Error::new_spanned(
                    receiver,
                    "a kernel is a free function: it has no `self`; pass what it needs by value",
                ));
            }
            Input::Variadic(variadic) => {
                return Err(Error::new_spanned(
                    variadic,
                    "a kernel has a fixed number of parameters: take a slice",
                ));
            }
        };
        if let Some(attribute) =
            input.attrs.iter().find(|attr| attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr"))
        {
            return Err(Error::new_spanned(
                attribute,
                "parameters of a kernel cannot depend on `cfg`: they are the same on host and device",
            ));
        }
        if input.name().is_none() {
            return Err(Error::new_spanned(
                &input.pattern,
                "a kernel's parameter is a name: take the value apart in the body",
            ));
        }
        check_type(&input.ty, in_unsafe)?;
        check_lifetimes(&input.ty)?;
        let name = last_name(&input.ty);
        let shared = name.as_ref().is_some_and(|name| SHARED.contains(&name.as_str()));
        let in_block = shared || name.is_some_and(|name| name == "SharedSlice");
        Ok(Self { input: Typed::clone(input), shared, in_block })
    }

    /// Its name.
    pub(crate) fn name(&self) -> Option<Ident> {
        self.input.name()
    }

    /// Whether it is a shared array, which launches do not give.
    pub(crate) fn is_shared(&self) -> bool {
        self.shared
    }

    /// Whether it is a shared array, of a length that launches give or not.
    pub(crate) fn is_in_block(&self) -> bool {
        self.in_block
    }

    /// Its type with the lifetime in all the places in which it was left out.
    pub(crate) fn with_lifetime(&self, lifetime: &Lifetime) -> Type {
        let mut ty = self.input.ty.clone();
        insert_lifetime(&mut ty, lifetime);
        ty
    }

    /// The parameter as written.
    pub(crate) fn written(&self) -> TokenStream {
        self.input.with_type(&self.input.ty)
    }

    /// The parameter as written, but for the lifetime in its type.
    pub(crate) fn written_with_lifetime(&self, lifetime: &Lifetime) -> TokenStream {
        self.input.with_type(&self.with_lifetime(lifetime))
    }
}

/// Refuses types that cannot be parameters, where the way they are written says more than rustc would.
pub(crate) fn check_type(ty: &Type, in_unsafe: bool) -> Result<()> {
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
            (Type::Slice(slice), false) if is_tuple(&slice.elem) => no_tuples(&slice.elem),
            (Type::Slice(_), false) => return Ok(()),
            (elem, true) => {
                let t = text(elem);
                format!(
                    "a kernel cannot take `&mut {t}`: all its threads would have it at once. Take `&[Atomic<{t}>]` \
                     (of one element) to let all threads change it atomically, or `PerThread<{t}>` to give each thread \
                     its own elements"
                )
            }
            (elem, false) if text(elem) == "str" => {
                "a kernel cannot take `&str`, which is in the host's memory: take `&[u8]`, the bytes in device memory".to_owned()
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
        Type::Path(path) if tuple_element(&path.path).is_some() => tuple_element(&path.path).map_or_else(String::new, no_tuples),
        Type::Array(array) => return check_type(&array.elem, in_unsafe),
        Type::ImplTrait(_) => "a kernel's generic parameters have names, by which its instances are declared: `fn kernel<T: …>(value: T)`"
            .to_owned(),
        _ => return Ok(()),
    };
    Err(Error::new_spanned(ty, message))
}

/// Whether it is a tuple with fields.
fn is_tuple(ty: &Type) -> bool {
    matches!(plain(ty), Type::Tuple(tuple) if !tuple.elems.is_empty())
}

/// The element of `PerThread<(f32, u32)>` and the like.
fn tuple_element(path: &Path) -> Option<&Type> {
    let last = path.segments.last().filter(|last| BORROWING.iter().any(|name| last.ident == name))?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(ty) if is_tuple(ty) => Some(ty),
        _ => None,
    })
}

/// Why memory has no tuples in it.
fn no_tuples(element: &Type) -> String {
    format!(
        "elements of device memory cannot be tuples, which rustc may lay out differently for the host and for the device. Make \
         `{}` a struct: `#[derive(Clone, Copy, DeviceCopy)] #[repr(C)] struct …`",
        text(element.to_token_stream())
    )
}

/// Refuses lifetimes that are written out.
fn check_lifetimes(ty: &Type) -> Result<()> {
    match named_lifetime(ty.to_token_stream()) {
        Some(lifetime) => Err(Error::new(
            lifetime.span(),
            format!("leave `{lifetime}` out: a kernel has its memory for the time of the launch"),
        )),
        None => Ok(()),
    }
}

/// The first lifetime among the tokens that is not `'_`.
fn named_lifetime(tokens: TokenStream) -> Option<Lifetime> {
    let mut apostrophe = None;
    for token in tokens {
        match (token, apostrophe.take()) {
            (TokenTree::Punct(punct), _) if punct.as_char() == '\'' => apostrophe = Some(punct.span()),
            (TokenTree::Ident(ident), Some(apostrophe)) if ident != "_" => {
                return Some(Lifetime { apostrophe, ident });
            }
            (TokenTree::Group(group), _) => {
                if let Some(lifetime) = named_lifetime(group.stream()) {
                    return Some(lifetime);
                }
            }
            _ => {}
        }
    }
    None
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
fn insert_lifetime(ty: &mut Type, lifetime: &Lifetime) {
    match ty {
        Type::Reference(reference) => {
            replace_underscore(reference.lifetime.get_or_insert_with(|| lifetime.clone()), lifetime);
            insert_lifetime(&mut reference.elem, lifetime);
        }
        Type::Path(path) => {
            if let Some(qself) = &mut path.qself {
                insert_lifetime(&mut qself.ty, lifetime);
            }
            insert_lifetime_in_path(&mut path.path, lifetime);
        }
        Type::Array(array) => insert_lifetime(&mut array.elem, lifetime),
        Type::Group(group) => insert_lifetime(&mut group.elem, lifetime),
        Type::Paren(paren) => insert_lifetime(&mut paren.elem, lifetime),
        Type::Ptr(pointer) => insert_lifetime(&mut pointer.elem, lifetime),
        Type::Slice(slice) => insert_lifetime(&mut slice.elem, lifetime),
        Type::Tuple(tuple) => tuple.elems.iter_mut().for_each(|elem| insert_lifetime(elem, lifetime)),
        // Lifetimes that are left out in function pointers and trait objects are not the kernel's; the others have none.
        _ => {}
    }
}

/// Writes a lifetime wherever one was left out in a path.
fn insert_lifetime_in_path(path: &mut Path, lifetime: &Lifetime) {
    for segment in &mut path.segments {
        let PathArguments::AngleBracketed(arguments) = &mut segment.arguments else { continue };
        for argument in &mut arguments.args {
            match argument {
                GenericArgument::Lifetime(written) => replace_underscore(written, lifetime),
                GenericArgument::Type(ty) => insert_lifetime(ty, lifetime),
                GenericArgument::AssocType(assoc) => insert_lifetime(&mut assoc.ty, lifetime),
                _ => {}
            }
        }
    }
    let Some(last) = path.segments.last_mut() else { return };
    if !BORROWING.iter().any(|name| last.ident == name) {
        return;
    }
    match &mut last.arguments {
        PathArguments::AngleBracketed(arguments) => {
            if !matches!(arguments.args.first(), Some(GenericArgument::Lifetime(_))) {
                arguments.args.insert(0, GenericArgument::Lifetime(lifetime.clone()));
            }
        }
        arguments => *arguments = PathArguments::AngleBracketed(parse_quote!(<#lifetime>)),
    }
}

/// `'_` is a lifetime left out, too.
fn replace_underscore(written: &mut Lifetime, lifetime: &Lifetime) {
    if written.ident == "_" {
        *written = lifetime.clone();
    }
}

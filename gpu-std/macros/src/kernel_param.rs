//! `#[derive(KernelParam)]`: a struct of parameters, which is transferred as the heads and the tails of its fields.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Data, DeriveInput, Error, Fields, Lifetime, Result, Type, spanned::Spanned};

use crate::{
    device_copy::{description, name_of, of_plain_data},
    input::too_much,
    param::check_type,
};

pub(crate) fn derive(item: TokenStream) -> Result<TokenStream> {
    let item: DeriveInput = syn::parse2(item).map_err(too_much)?;
    let fields = fields(&item)?;
    let lifetime = lifetime(&item)?;
    fields.iter().try_for_each(|field| check_type(&field.ty, false))?;

    let types: Vec<_> = fields.iter().map(|field| &field.ty).collect();
    let members: Vec<_> = fields.members().collect();
    let numbered = |name: &str| -> Vec<_> {
        (0..types.len()).map(|i| Ident::new(&format!("{name}{i}"), Span::mixed_site())).collect()
    };
    let (heads, tails, args) = (numbered("head"), numbered("tail"), numbered("arg"));
    // Where rustc points at if a field is no parameter.
    let param = |ty: &Type| quote_spanned!(ty.span()=> <#ty as ::gpu_std::param::Param<#lifetime>>);
    let each = |of: &dyn Fn(TokenStream, &Type) -> TokenStream| -> Vec<_> {
        types.iter().map(|ty| of(param(ty), ty)).collect()
    };
    let head = nested(&each(&|param, ty| quote_spanned!(ty.span()=> #param::Head)));
    let tail = nested(&each(&|param, ty| quote_spanned!(ty.span()=> #param::Tail)));
    let params = each(&|param, _| param);
    let signature = members.iter().zip(&params).map(|(member, param)| {
        let label = format!(" {} ", name_of(member));
        quote!(::gpu_std::signature::Text::Word(#label), #param::SIGNATURE,)
    });

    let generics = of_plain_data(&item.generics);
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let (name, described) = (&item.ident, description(&item));
    let runtime = Ident::new("Runtime", Span::mixed_site());
    let (head_values, tail_values) = (values(&heads), values(&tails));
    Ok(quote! {
        // SAFETY: heads and tails are those of the fields, in their order, and each field is assembled once.
        #[diagnostic::do_not_recommend]
        unsafe impl #impl_generics ::gpu_std::param::Param<#lifetime> for #name #type_generics #where_clause {
            type Head = #head;
            type Tail = #tail;

            const DIMS: ::core::primitive::u32 = {
                let dims = 0;
                #(let dims = if #params::DIMS > dims { #params::DIMS } else { dims };)*
                dims
            };
            const SIGNATURE: ::gpu_std::signature::Text = ::gpu_std::signature::Text::All(&[
                #described
                ::gpu_std::signature::Text::Word(" {"),
                #(#signature)*
                ::gpu_std::signature::Text::Word(" }"),
            ]);

            #[inline(always)]
            unsafe fn assemble(#head_values: Self::Head, #tail_values: &#lifetime Self::Tail) -> Self {
                // SAFETY: as the caller promises.
                unsafe {
                    Self {
                        #(#members: ::gpu_std::param::assemble_part::<#types>(#heads, #tails),)*
                    }
                }
            }

            #[cfg(not(target_arch = "nvptx64"))]
            type Arg<#runtime: ::gpu_std::host::Runtime> = (#(#params::Arg<#runtime>,)*);

            #[cfg(not(target_arch = "nvptx64"))]
            fn pack<#runtime: ::gpu_std::host::Runtime>(
                (#(#args,)*): Self::Arg<#runtime>,
                packed: &mut ::gpu_std::host::PackedArgs,
            ) {
                // SAFETY: a head and a tail are packed of each field, and read in the same order.
                unsafe {
                    packed.push_joined::<Self::Head, Self::Tail, _>(
                        |packed| { #(#params::pack::<#runtime>(#args, packed);)* },
                        |reader| {
                            #(let (#heads, #tails) = (reader.read(), reader.read());)*
                            (#head_values, #tail_values)
                        },
                        |head| {
                            let #head_values = head;
                            [#(::gpu_std::host::JoinedPart::of::<_, #params::Tail>(#heads)),*]
                        },
                    );
                }
            }
        }
    })
}

fn fields(item: &DeriveInput) -> Result<&Fields> {
    let (span, what) = match &item.data {
        Data::Struct(data) => return Ok(&data.fields),
        Data::Enum(data) => (data.enum_token.span, "an enum"),
        Data::Union(data) => (data.union_token.span, "a union"),
    };
    Err(Error::new(
        span,
        format!(
            "`KernelParam` is derived for structs, for whose fields launches pass a tuple of arguments, and `{}` is {what}",
            item.ident
        ),
    ))
}

/// The lifetime of the memory.
fn lifetime(item: &DeriveInput) -> Result<&Lifetime> {
    let mut lifetimes = item.generics.lifetimes().map(|param| &param.lifetime);
    match (lifetimes.next(), lifetimes.next()) {
        (Some(lifetime), None) => Ok(lifetime),
        (None, _) => Err(Error::new(
            item.ident.span(),
            format!(
                "`{name}` borrows no memory: give it a lifetime, `{name}<'k>`, that of the memory in its fields. Plain data derives \
                 `DeviceCopy` instead",
                name = item.ident
            ),
        )),
        (_, Some(second)) => Err(Error::new(
            second.span(),
            format!(
                "`{}` has one lifetime, that of the launch: all its memory is borrowed as long",
                item.ident
            ),
        )),
    }
}

/// `Parts<A, Parts<B, ()>>`.
fn nested(types: &[TokenStream]) -> TokenStream {
    types.iter().rev().fold(quote!(()), |rest, ty| quote!(::gpu_std::param::Parts<#ty, #rest>))
}

/// `Parts(a, Parts(b, ()))`, a value and a pattern.
fn values(names: &[Ident]) -> TokenStream {
    names.iter().rev().fold(quote!(()), |rest, name| quote!(::gpu_std::param::Parts(#name, #rest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structs_with_one_lifetime() {
        let error = |item| derive(item).expect_err("it is refused").to_string();
        assert!(
            derive(quote!(
                struct A<'k, T, const N: usize>([&'k [T]; N], u32);
            ))
            .is_ok()
        );
        assert!(
            error(quote!(
                struct A {
                    x: u32,
                }
            ))
            .contains("borrows no memory")
        );
        assert!(
            error(quote!(
                struct A<'a, 'b> {
                    x: &'a [u32],
                    y: &'b [u32],
                }
            ))
            .contains("one lifetime")
        );
        assert!(
            error(quote!(
                enum A<'a> {
                    X(&'a [u32]),
                }
            ))
            .contains("is an enum")
        );
        assert!(
            error(quote!(
                struct A<'a>(&'a mut [u32]);
            ))
            .contains("PerThread<u32>")
        );
        assert!(
            error(quote!(
                struct A<'a>(&'a [u32], [*const f32; 2]);
            ))
            .contains("raw pointers")
        );
    }
}

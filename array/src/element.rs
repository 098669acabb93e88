//! Types of elements as other libraries name them: NumPy's type strings and DLPack's data types.

use std::fmt;

use gpu_std::{
    DeviceCopy,
    complex::Complex,
    half::{bf16, f16},
};

/// What numbers are, apart from their size.
///
/// ```
/// use gpukernel_array::{Element, ElementKind};
///
/// assert_eq!(u16::ELEMENT_TYPE.kind, ElementKind::UInt);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ElementKind {
    /// `bool`.
    Bool,
    /// Signed integers.
    Int,
    /// Unsigned integers.
    UInt,
    /// IEEE floating-point numbers.
    Float,
    /// [`bf16`].
    BFloat,
    /// Complex numbers, of two floating-point numbers.
    Complex,
}

/// The type of elements, as other libraries name it (NumPy's and PyTorch's `dtype`).
///
/// ```
/// use gpukernel_array::{Element, ElementKind, ElementType};
///
/// let of_f32 = <f32 as Element>::ELEMENT_TYPE;
/// assert_eq!(of_f32, ElementType { kind: ElementKind::Float, bytes: 4 });
/// assert_eq!((of_f32.to_string(), of_f32.typestr().as_deref()), ("float32".to_owned(), Some("<f4")));
/// assert_eq!(ElementType::from_typestr("<f4")?, of_f32);
/// # Ok::<(), gpukernel_array::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[doc(alias = "dtype", alias = "DLDataType")]
pub struct ElementType {
    /// What it is.
    pub kind: ElementKind,
    /// The size in bytes.
    pub bytes: u8,
}

impl ElementType {
    /// The type string of NumPy's array interface, such as `<f4`; `None` for `bf16`, which it has none for.
    ///
    /// ```
    /// # use gpukernel_array::Element;
    /// assert_eq!(u8::ELEMENT_TYPE.typestr().as_deref(), Some("|u1"));
    /// ```
    pub fn typestr(self) -> Option<String> {
        let kind = match self.kind {
            ElementKind::Bool => 'b',
            ElementKind::Int => 'i',
            ElementKind::UInt => 'u',
            ElementKind::Float => 'f',
            ElementKind::Complex => 'c',
            ElementKind::BFloat => return None,
        };
        let order = if self.bytes == 1 { '|' } else { NATIVE };
        Some(format!("{order}{kind}{}", self.bytes))
    }

    /// The type of a type string of NumPy's array interface.
    ///
    /// ```
    /// # use gpukernel_array::ElementType;
    /// assert_eq!(ElementType::from_typestr("<c8")?.to_string(), "complex64");
    /// assert!(ElementType::from_typestr("<M8[ns]").is_err());
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Foreign`](crate::Error::Foreign) for types that are none of numbers, and for the byte order of other machines.
    pub fn from_typestr(typestr: &str) -> crate::Result<Self> {
        let error = |reason: &str| crate::Error::Foreign {
            what: "an array interface",
            reason: format!("its typestr is {typestr:?}, {reason}"),
        };
        let mut chars = typestr.chars();
        let (order, kind) = (chars.next(), chars.next());
        let kind = match kind {
            Some('b') => ElementKind::Bool,
            Some('i') => ElementKind::Int,
            Some('u') => ElementKind::UInt,
            Some('f') => ElementKind::Float,
            Some('c') => ElementKind::Complex,
            _ => return Err(error("which is not a type of numbers")),
        };
        let bytes = chars.as_str().parse().map_err(|_| error("which is not a type of numbers"))?;
        match order {
            Some('|' | '=') => Ok(Self { kind, bytes }),
            Some(order) if order == NATIVE => Ok(Self { kind, bytes }),
            Some('<' | '>') => Err(error("which is the byte order of other machines")),
            _ => Err(error("which has no byte order")),
        }
    }
}

const NATIVE: char = if cfg!(target_endian = "little") { '<' } else { '>' };

/// As NumPy and PyTorch write it.
impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.kind {
            ElementKind::Bool => return f.write_str("bool"),
            ElementKind::Int => "int",
            ElementKind::UInt => "uint",
            ElementKind::Float => "float",
            ElementKind::BFloat => "bfloat",
            ElementKind::Complex => "complex",
        };
        write!(f, "{name}{}", u32::from(self.bytes) * 8)
    }
}

/// Elements that other libraries have, too.
///
/// ```
/// use gpukernel_array::Element;
///
/// assert_eq!(gpu_std::complex::Complex::<f64>::ELEMENT_TYPE.to_string(), "complex128");
/// ```
///
/// # Safety
/// The type has the size and the layout of its [`ELEMENT_TYPE`](Self::ELEMENT_TYPE) there, and no padding.
pub unsafe trait Element: DeviceCopy {
    /// What others call it.
    const ELEMENT_TYPE: ElementType;
}

macro_rules! elements {
    ($($T:ty: $kind:ident),*) => {$(
        // SAFETY: it is the same type in C.
        unsafe impl Element for $T {
            const ELEMENT_TYPE: ElementType = ElementType { kind: ElementKind::$kind, bytes: size_of::<$T>() as u8 };
        }
    )*};
}

elements! {
    bool: Bool, i8: Int, i16: Int, i32: Int, i64: Int, isize: Int, u8: UInt, u16: UInt, u32: UInt, u64: UInt, usize: UInt,
    f16: Float, f32: Float, f64: Float, bf16: BFloat, Complex<f32>: Complex, Complex<f64>: Complex
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_the_names_of_numpy() {
        let types = [
            (bool::ELEMENT_TYPE, "bool", Some("|b1")),
            (i8::ELEMENT_TYPE, "int8", Some("|i1")),
            (u64::ELEMENT_TYPE, "uint64", Some("<u8")),
            (f16::ELEMENT_TYPE, "float16", Some("<f2")),
            (bf16::ELEMENT_TYPE, "bfloat16", None),
            (Complex::<f64>::ELEMENT_TYPE, "complex128", Some("<c16")),
        ];
        for (found, name, typestr) in types {
            assert_eq!((found.to_string().as_str(), found.typestr().as_deref()), (name, typestr));
            if let Some(typestr) = typestr {
                assert_eq!(ElementType::from_typestr(typestr).unwrap(), found);
            }
        }
    }

    #[test]
    fn other_type_strings_are_refused() {
        for (typestr, reason) in [
            ("", "not a type of numbers"),
            ("f4", "not a type of numbers"),
            ("xf4", "no byte order"),
            (">f4", "byte order of other machines"),
            ("<f", "not a type of numbers"),
            ("<f400", "not a type of numbers"),
            ("<f-4", "not a type of numbers"),
            ("<V2", "not a type of numbers"),
            ("<U3", "not a type of numbers"),
            ("|O", "not a type of numbers"),
            ("<é4", "not a type of numbers"),
        ] {
            let error = ElementType::from_typestr(typestr).unwrap_err().to_string();
            assert!(error.contains(reason), "{typestr}: {error}");
        }
    }
}

//! Types of LLVM IR, as they are written today and as LLVM 7 wrote them: there, a pointer says to what.

use std::{collections::HashMap, fmt::Write};

use super::{Untranslatable, reader::Reader};

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Type {
    /// One that is written the same: `i32`, `float`, `void`, `label`.
    Same(String),
    /// To anything, in an address space.
    Pointer(u32),
    Array(u64, Box<Type>),
    Vector(u64, Box<Type>),
    Struct {
        is_packed: bool,
        fields: Vec<Type>,
    },
    /// `%struct.Particle`.
    Named(String),
}

/// The named structs of a module.
pub(super) type Named = HashMap<String, Type>;

impl Type {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, Untranslatable> {
        let base = if reader.eat("ptr") {
            Self::Pointer(address_space(reader)?)
        } else if reader.eat("[") {
            let (length, element) = Self::repeated(reader)?;
            reader.expect("]")?;
            Self::Array(length, element)
        } else if reader.eat("<{") {
            Self::fields(reader, true, "}>")?
        } else if reader.eat("{") {
            Self::fields(reader, false, "}")?
        } else if reader.eat("<") {
            let (length, element) = Self::repeated(reader)?;
            reader.expect(">")?;
            Self::Vector(length, element)
        } else if reader.peek("%") {
            Self::Named(reader.name()?)
        } else {
            let word = reader.word();
            if word.is_empty() || ["bfloat", "target", "token"].contains(&word) {
                return Err(reader.untranslatable());
            }
            Self::Same(word.to_owned())
        };
        Ok(base)
    }

    fn repeated(reader: &mut Reader<'_>) -> Result<(u64, Box<Self>), Untranslatable> {
        let length = reader.word().parse().map_err(|_| reader.untranslatable())?;
        reader.expect("x")?;
        Ok((length, Box::new(Self::read(reader)?)))
    }

    fn fields(reader: &mut Reader<'_>, is_packed: bool, end: &str) -> Result<Self, Untranslatable> {
        let mut fields = Vec::new();
        while !reader.eat(end) {
            fields.push(Self::read(reader)?);
            reader.eat(",");
        }
        Ok(Self::Struct { is_packed, fields })
    }

    /// The type as LLVM 7 wrote it. All pointers are to bytes, and cast where they are used.
    pub(super) fn old(&self) -> String {
        match self {
            Self::Same(name) | Self::Named(name) => name.clone(),
            Self::Pointer(space) => format!("i8{}", pointer(*space)),
            Self::Array(length, element) => format!("[{length} x {}]", element.old()),
            Self::Vector(length, element) => format!("<{length} x {}>", element.old()),
            Self::Struct { is_packed, fields } => {
                let mut text = String::new();
                for field in fields {
                    let separator = if text.is_empty() { "" } else { ", " };
                    let _ = write!(text, "{separator}{}", field.old());
                }
                if *is_packed { format!("<{{ {text} }}>") } else { format!("{{ {text} }}") }
            }
        }
    }

    /// A pointer to it.
    pub(super) fn old_pointer(&self, space: u32) -> String {
        format!("{}{}", self.old(), pointer(space))
    }

    /// What an index into it leads to.
    pub(super) fn element(&self, index: Option<usize>, named: &Named) -> Option<Self> {
        match self {
            Self::Array(_, element) | Self::Vector(_, element) => Some((**element).clone()),
            Self::Struct { fields, .. } => fields.get(index?).cloned(),
            Self::Named(name) => named.get(name)?.element(index, named),
            Self::Same(_) | Self::Pointer(_) => None,
        }
    }
}

/// `addrspace(3)`, or nothing.
pub(super) fn address_space(reader: &mut Reader<'_>) -> Result<u32, Untranslatable> {
    if !reader.eat("addrspace(") {
        return Ok(0);
    }
    let space = reader.word().parse().map_err(|_| reader.untranslatable())?;
    reader.expect(")")?;
    Ok(space)
}

fn pointer(space: u32) -> String {
    if space == 0 { "*".to_owned() } else { format!(" addrspace({space})*") }
}

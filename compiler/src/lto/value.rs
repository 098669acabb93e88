//! Values in LLVM IR: names, constants, and expressions of constants.

use std::{cell::Cell, collections::HashMap};

use super::{
    Untranslatable,
    reader::Reader,
    types::{Named, Type},
};

/// What operands refer to.
#[derive(Default)]
pub(super) struct Symbols {
    pub(super) named: Named,
    /// The global variables and functions.
    pub(super) globals: HashMap<String, Symbol>,
    /// How many names were made up.
    pub(super) unnamed: Cell<u64>,
}

/// A global variable or function.
pub(super) struct Symbol {
    /// The type that it had in LLVM 7: a pointer.
    pub(super) pointer: String,
    pub(super) space: u32,
}

impl Symbol {
    /// The pointer to bytes in an address space that it is.
    pub(super) fn cast(&self, name: &str, space: u32) -> String {
        let cast = if self.space == space { "bitcast" } else { "addrspacecast" };
        format!("{cast} ({} {name} to {})", self.pointer, Type::Pointer(space).old())
    }
}

impl Symbols {
    /// An operand of this type.
    pub(super) fn value(&self, reader: &mut Reader<'_>, of: &Type) -> Result<String, Untranslatable> {
        if reader.peek("%") {
            return reader.name();
        }
        if reader.peek("@") {
            let name = reader.name()?;
            let Type::Pointer(space) = of else { return Err(reader.untranslatable()) };
            let symbol = self.globals.get(&name).ok_or_else(|| reader.untranslatable())?;
            return Ok(symbol.cast(&name, *space));
        }
        if reader.eat("poison") || reader.eat("undef") {
            return Ok("undef".to_owned());
        }
        if reader.eat("splat") {
            let inner = reader.parenthesised().ok_or_else(|| reader.untranslatable())?;
            let element = self.typed(&mut Reader::new(inner))?;
            let Type::Vector(length, _) = of else { return Err(reader.untranslatable()) };
            let all = vec![element; usize::try_from(*length).map_err(|_| reader.untranslatable())?];
            return Ok(format!("<{}>", all.join(", ")));
        }
        for (open, close) in [("<{", "}>"), ("[", "]"), ("{", "}"), ("<", ">")] {
            if reader.eat(open) {
                let mut parts = Vec::new();
                while !reader.eat(close) {
                    parts.push(self.typed(reader)?);
                    reader.eat(",");
                }
                return Ok(format!("{open} {} {close}", parts.join(", ")));
            }
        }
        if reader.rest().starts_with("c\"") {
            let mut after = Reader::new(&reader.rest()[1..]);
            let text = after.quoted()?;
            let skipped = reader.rest().len() - after.rest().len();
            *reader = Reader::new(&reader.rest()[skipped..]);
            return Ok(format!("c{text}"));
        }
        if let Some(expression) = self.expression(reader)? {
            return Ok(expression);
        }
        let word = reader.word();
        if word.is_empty() { Err(reader.untranslatable()) } else { Ok(word.to_owned()) }
    }

    /// An operand with its type before it, both as LLVM 7 wrote them.
    pub(super) fn typed(&self, reader: &mut Reader<'_>) -> Result<String, Untranslatable> {
        let ty = Type::read(reader)?;
        let value = self.value(reader, &ty)?;
        Ok(format!("{} {value}", ty.old()))
    }

    /// An expression of constants, if one comes next.
    fn expression(&self, reader: &mut Reader<'_>) -> Result<Option<String>, Untranslatable> {
        for cast in ["addrspacecast", "inttoptr", "ptrtoint", "bitcast", "trunc"] {
            if reader.eat(cast) {
                let inner = reader.parenthesised().ok_or_else(|| reader.untranslatable())?;
                let mut inner = Reader::new(inner);
                let from = self.typed(&mut inner)?;
                inner.expect("to")?;
                return Ok(Some(format!("{cast} ({from} to {})", Type::read(&mut inner)?.old())));
            }
        }
        if reader.eat("getelementptr") {
            let is_inbounds = reader.eat("inbounds");
            reader.eat_all(&["nuw", "nusw"]);
            let inner = reader.parenthesised().ok_or_else(|| reader.untranslatable())?;
            let place = self.element_pointer(&mut Reader::new(inner), is_inbounds)?;
            return Ok(Some(place.constant()));
        }
        Ok(None)
    }

    /// `T, ptr %p, i64 %i, …`, of an instruction or an expression.
    pub(super) fn element_pointer(
        &self,
        reader: &mut Reader<'_>,
        is_inbounds: bool,
    ) -> Result<ElementPointer, Untranslatable> {
        let of = Type::read(reader)?;
        reader.expect(",")?;
        let pointer = Type::read(reader)?;
        let Type::Pointer(space) = pointer else { return Err(reader.untranslatable()) };
        let base = self.value(reader, &pointer)?;
        let mut indices = Vec::new();
        let mut element = of.clone();
        while reader.eat(",") {
            if reader.peek("!") {
                break;
            }
            let ty = Type::read(reader)?;
            // A vector of pointers would be another matter.
            let Type::Same(_) = ty else { return Err(reader.untranslatable()) };
            let index = self.value(reader, &ty)?;
            if !indices.is_empty() {
                element = element
                    .element(index.parse().ok(), &self.named)
                    .ok_or_else(|| reader.untranslatable())?;
            }
            indices.push(format!("{} {index}", ty.old()));
        }
        Ok(ElementPointer { of, space, base, indices, element, is_inbounds })
    }
}

/// What `getelementptr` computes.
pub(super) struct ElementPointer {
    of: Type,
    pub(super) space: u32,
    pub(super) base: String,
    indices: Vec<String>,
    element: Type,
    is_inbounds: bool,
}

impl ElementPointer {
    fn constant(&self) -> String {
        let bytes = Type::Pointer(self.space).old();
        let base = format!("bitcast ({bytes} {} to {})", self.base, self.of.old_pointer(self.space));
        let (inside, (pointer, element)) = (self.inbounds(), self.types());
        let indices = self.indices.join(", ");
        let place = format!("getelementptr {inside}({}, {pointer} {base}, {indices})", self.of.old());
        format!("bitcast ({element} {place} to {bytes})")
    }

    /// The instructions that compute it into a name.
    pub(super) fn instructions(&self, name: &str) -> Vec<String> {
        let bytes = Type::Pointer(self.space).old();
        let (inside, (pointer, element)) = (self.inbounds(), self.types());
        let indices = self.indices.join(", ");
        vec![
            format!("{name}.from = bitcast {bytes} {} to {pointer}", self.base),
            format!("{name}.at = getelementptr {inside}{}, {pointer} {name}.from, {indices}", self.of.old()),
            format!("{name} = bitcast {element} {name}.at to {bytes}"),
        ]
    }

    fn inbounds(&self) -> &'static str {
        if self.is_inbounds { "inbounds " } else { "" }
    }

    fn types(&self) -> (String, String) {
        (self.of.old_pointer(self.space), self.element.old_pointer(self.space))
    }
}

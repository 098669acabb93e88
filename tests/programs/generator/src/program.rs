//! A program while it is written: its variables, and the text so far.

use std::collections::BTreeSet;

use crate::{
    Kind,
    random::Random,
    types::{Scalar, Type},
};

/// All threads of a block: what [`Variable::uniform`] and [`Program::lanes`] say where not only lanes of a warp go together.
pub(crate) const BLOCK: u32 = 64;

#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) ty: Type,
    pub(crate) mutable: bool,
    /// The aligned lanes for which it is the same; [`BLOCK`] for all threads of the block. Only of variables that never change.
    pub(crate) uniform: u32,
}

impl Variable {
    /// Zero of its type.
    pub(crate) fn zero(&self) -> &'static str {
        match self.ty {
            Type::Scalar(ty) if ty.is_float() => "0.0",
            _ => "0",
        }
    }
}

/// A function of the program.
#[derive(Clone, Debug)]
pub(crate) struct Helper {
    pub(crate) name: String,
    pub(crate) parameters: Vec<Scalar>,
    pub(crate) returns: Scalar,
    /// The construct that calling it is.
    pub(crate) kind: &'static str,
}

/// A loop around what is being written.
#[derive(Clone, Debug)]
pub(crate) struct Loop {
    pub(crate) label: String,
    /// The lanes that went into it together.
    pub(crate) lanes: u32,
    /// Whether it is left with a value.
    pub(crate) has_value: bool,
}

/// A program as it is written.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) random: Random,
    pub(crate) kind: Kind,
    /// Whether a·b+c may be rounded once: then there are no products to be contracted.
    pub(crate) contracts: bool,
    pub(crate) text: String,
    indent: usize,
    pub(crate) scope: Vec<Variable>,
    names: usize,
    /// How much more may be written.
    pub(crate) fuel: i32,
    /// How many aligned lanes are here together for certain; [`BLOCK`] if all threads of the block are.
    pub(crate) lanes: u32,
    pub(crate) loops: Vec<Loop>,
    /// Nested statements.
    pub(crate) nesting: usize,
    /// What leaves the function early, if that is possible here.
    pub(crate) early_end: bool,
    /// The fields of `Record`; none if the program has none.
    pub(crate) record: Vec<Scalar>,
    /// The scalars in the variants of `Choice`; none if the program has none.
    pub(crate) choice: Vec<Scalar>,
    pub(crate) helpers: Vec<Helper>,
    /// Constant tables: element, name, length.
    pub(crate) tables: Vec<(Scalar, String, usize)>,
    /// The constructs that were used.
    pub(crate) reached: BTreeSet<&'static str>,
}

impl Program {
    pub(crate) fn new(seed: u64, kind: Kind, contracts: bool) -> Self {
        Self {
            random: Random::new(seed),
            kind,
            contracts,
            text: String::new(),
            indent: 1,
            scope: Vec::new(),
            names: 0,
            fuel: 0,
            lanes: 1,
            loops: Vec::new(),
            nesting: 0,
            early_end: false,
            record: Vec::new(),
            choice: Vec::new(),
            helpers: Vec::new(),
            tables: Vec::new(),
            reached: BTreeSet::new(),
        }
    }

    /// Notes that a construct was used.
    pub(crate) fn reach(&mut self, construct: &'static str) {
        self.reached.insert(construct);
    }

    /// A name that no other variable has.
    pub(crate) fn fresh(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    pub(crate) fn declare(&mut self, name: &str, ty: Type, mutable: bool) {
        self.scope.push(Variable { name: name.to_owned(), ty, mutable, uniform: 0 });
    }

    pub(crate) fn declare_uniform(&mut self, name: &str, ty: Scalar, lanes: u32) {
        self.scope.push(Variable {
            name: name.to_owned(),
            ty: Type::Scalar(ty),
            mutable: false,
            uniform: lanes,
        });
    }

    /// Takes the last declaration back.
    pub(crate) fn forget(&mut self) {
        self.scope.pop();
    }

    /// A visible variable of this kind.
    pub(crate) fn variable(&mut self, wanted: impl Fn(&Variable) -> bool) -> Option<Variable> {
        let found: Vec<_> = self.scope.iter().filter(|variable| wanted(variable)).collect();
        match found.len() {
            0 => None,
            count => Some(found[self.random.below(count)].clone()),
        }
    }

    /// A scalar that may be assigned to.
    pub(crate) fn target(&mut self, wanted: impl Fn(Scalar) -> bool) -> Option<(String, Scalar)> {
        let variable = self
            .variable(|variable| variable.mutable && matches!(variable.ty, Type::Scalar(ty) if wanted(ty)))?;
        match variable.ty {
            Type::Scalar(ty) => Some((variable.name, ty)),
            _ => None,
        }
    }

    pub(crate) fn line(&mut self, text: &str) {
        for _ in 0..self.indent {
            self.text += "    ";
        }
        self.text += text;
        self.text.push('\n');
    }

    /// Writes what is between an opening line and a closing one, in which declarations are forgotten.
    pub(crate) fn nested(&mut self, write: impl FnOnce(&mut Self)) {
        let visible = self.scope.len();
        self.indent += 1;
        self.nesting += 1;
        write(self);
        self.nesting -= 1;
        self.indent -= 1;
        self.scope.truncate(visible);
    }

    /// The same where so many lanes are together.
    pub(crate) fn nested_with(&mut self, lanes: u32, write: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.lanes, lanes);
        self.nested(write);
        self.lanes = before;
    }
}

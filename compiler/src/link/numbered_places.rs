//! The line of each instruction becomes a number that stands for its place in the source, with all places that it was inlined at: until PTX is generated
//! for images, and for `inspect` in machine code, too.
//!
//! LLVM 22 writes only the innermost place into PTX. A number takes the way of a line: through `.loc`, ptxas's line table and nvdisasm, to each
//! instruction of machine code. Lines are debug info, which no pass of LLVM's code generator and no optimisation of ptxas looks at.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::llvm::{Module, Place};

/// Numbers begin here, above all lines of files: the code at the start of a function keeps the line of the function.
pub(crate) const FIRST_NUMBER: u32 = 1 << 24;

/// A place that an instruction comes from, or that it was inlined at.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct InlinedPlace {
    /// The folder that rustc ran in.
    pub(crate) directory: String,
    pub(crate) file: String,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// The places of all instructions of a module, and its text, in which numbers stand for them.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct NumberedPlaces {
    /// By number, from [`FIRST_NUMBER`] on: where an instruction comes from, then where that was inlined, outermost last.
    pub(crate) places: Vec<Vec<InlinedPlace>>,
    /// The module as LLVM IR.
    pub(crate) text: String,
}

/// Replaces the line of each instruction by the number of its places.
pub(super) fn number(module: &Module<'_>) -> Vec<Vec<InlinedPlace>> {
    let mut numbers = HashMap::new();
    let mut places = Vec::new();
    for function in module.functions() {
        if function.declared_at().is_none() {
            continue;
        }
        for instruction in function.instructions() {
            let chain: Vec<_> = instruction.places().into_iter().map(InlinedPlace::from).collect();
            if chain.is_empty() {
                continue;
            }
            let number = *numbers.entry(chain).or_insert_with_key(|chain| {
                places.push(chain.clone());
                places.len() - 1
            });
            instruction.set_line(function, FIRST_NUMBER + number as u32);
        }
    }
    places
}

impl From<Place> for InlinedPlace {
    fn from(place: Place) -> Self {
        let Place { directory, file, line, column } = place;
        Self { directory, file, line, column }
    }
}

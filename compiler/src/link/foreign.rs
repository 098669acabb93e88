//! Bitcode of CUDA C and C++ is linked in, so that the optimiser sees through calls of it; and what is declared in Rust is
//! compared with what is defined there.

use std::{fs, path::PathBuf};

use super::{LinkError, prelude};
use crate::{
    foreign::{ForeignError, Names},
    llvm::{Context, Module},
};

/// A function that is to be renamed gets this, so that its declaration in Rust can have its name.
const DEFINED: &str = ".defined";

/// Links each file's bitcode: pairs of what the user named and what was made of it. Adds its functions to `names`.
pub(super) fn link<'c>(
    context: &'c Context,
    module: &Module<'c>,
    bitcode: &[(PathBuf, PathBuf)],
    names: &mut Names,
) -> Result<(), LinkError> {
    for (file, path) in bitcode {
        let bytes = fs::read(path).map_err(|reason| ForeignError::File { path: path.clone(), reason })?;
        let name = file.display().to_string();
        let foreign = Module::from_bitcode(context, &bytes, &name)?;
        if file == path {
            // Whatever made it: full debug info would make ptxas optimise nothing.
            foreign.strip_debug_info();
        }
        foreign.set_target_like(module);
        // They keep what others might look for; here nobody does.
        for list in ["llvm.used", "llvm.compiler.used"] {
            if let Some(list) = foreign.global(list) {
                list.delete_global();
            }
        }
        let mut differing = Vec::new();
        for function in foreign.functions() {
            let name = function.name();
            if function.is_declaration() {
                if function.is_used() && !name.starts_with("llvm.") && !prelude::is_of_libdevice(&name) {
                    names.wanted.insert(name, file.clone());
                }
                continue;
            }
            if function.is_local() {
                continue;
            }
            if let Some(first) = names.defined.insert(name.clone(), file.clone())
                && !function.is_mergeable()
            {
                let second = file.clone();
                return Err(ForeignError::DefinedTwice { function: name, first, second }.into());
            }
            let Some(declared) = module.function(&name).filter(|declared| declared.is_declaration()) else {
                continue;
            };
            let (ours, theirs) = (module.signature(declared), foreign.signature(function));
            if ours != theirs {
                return Err(ForeignError::OtherParameters {
                    function: name,
                    file: file.clone(),
                    declared: ours.to_string(),
                    defined: theirs.to_string(),
                }
                .into());
            }
            if !module.same_type(declared, function) {
                function.set_name(&format!("{name}{DEFINED}"));
                differing.push(name);
            }
        }
        module.link(foreign, &name)?;
        for name in differing {
            if let (Some(declared), Some(defined)) =
                (module.function(&name), module.function(&format!("{name}{DEFINED}")))
            {
                module.forward(declared, defined);
                declared.add_attribute("alwaysinline");
            }
        }
    }
    Ok(())
}

/// Marks the functions that are defined elsewhere as ones at which threads may meet: the optimiser must neither double nor move a
/// call of them.
pub(super) fn mark_convergent(module: &Module<'_>, defined_later: impl Fn(&str) -> bool) {
    for function in module.functions() {
        if function.is_declaration() && defined_later(&function.name()) {
            function.add_attribute("convergent");
        }
    }
}

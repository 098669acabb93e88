//! The libraries of a build go in, one module with everything in them comes out. And later, what that needs of the
//! toolchain's own libraries.
//!
//! A Rust library for nvptx64 is an archive whose members are raw LLVM bitcode.

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
};

use object::read::archive::ArchiveFile;

use super::{LinkError, prelude};
use crate::llvm::{Context, Module};

/// What bitcode starts with; other members of a library are metadata.
const BITCODE_MAGIC: &[u8] = b"BC\xC0\xDE";

/// Links all members of all libraries: the kernel crate and its dependencies.
pub(super) fn collect<'c>(context: &'c Context, libraries: &[PathBuf]) -> Result<Module<'c>, LinkError> {
    let mut whole: Option<Module<'c>> = None;
    for path in libraries {
        for_each_member(path, |bitcode, name| {
            let module = Module::from_bitcode(context, bitcode, name)?;
            match &whole {
                None => whole = Some(module),
                Some(whole) => whole.link(module, name)?,
            }
            Ok(())
        })?;
    }
    whole.ok_or_else(|| LinkError::Library {
        path: libraries.first().cloned().unwrap_or_default(),
        reason: "it holds no bitcode".into(),
    })
}

/// Links what the module needs of `core`, `alloc` and `compiler_builtins`, which need each other: in rounds, until no round
/// brings what is missing. Their debug info is dropped: any full debug info would make ptxas optimise nothing.
pub(super) fn add_needed<'c>(
    context: &'c Context,
    module: &Module<'c>,
    libraries: &[PathBuf],
) -> Result<(), LinkError> {
    let mut missing = undefined_names(module);
    while !missing.is_empty() {
        for path in libraries {
            for_each_member(path, |bitcode, name| {
                let library = Module::from_bitcode_lazily(context, bitcode, name)?;
                // LLVM looks through all of the module that it links into, and libraries have hundreds of members.
                if !defines_any(&library, &missing) {
                    return Ok(());
                }
                library.strip_debug_info();
                Ok(module.link_needed(library, name)?)
            })?;
        }
        let still_missing = undefined_names(module);
        if still_missing == missing {
            break;
        }
        missing = still_missing;
    }
    Ok(())
}

/// Takes the processor that code was compiled for away from every function: code generation goes by the target machine,
/// and differing texts here would only forbid inlining.
pub(super) fn forget_processors(module: &Module<'_>) {
    for function in module.functions() {
        function.remove_text_attribute("target-cpu");
        function.remove_text_attribute("target-features");
    }
}

fn defines_any(library: &Module<'_>, names: &HashSet<String>) -> bool {
    let mut values = library.functions().into_iter().chain(library.globals());
    values.any(|value| !value.is_declaration() && names.contains(&value.name()))
}

/// What is used and not there, but for what is linked later.
fn undefined_names(module: &Module<'_>) -> HashSet<String> {
    let values = module.functions().into_iter().chain(module.globals());
    values
        .filter(|value| value.is_declaration() && value.is_used())
        .map(|value| value.name())
        .filter(|name| !name.starts_with("llvm.") && !prelude::brings(name))
        .collect()
}

fn for_each_member(
    path: &Path,
    mut visit: impl FnMut(&[u8], &str) -> Result<(), LinkError>,
) -> Result<(), LinkError> {
    let unreadable = |reason: String| LinkError::Library { path: path.to_owned(), reason };
    let bytes = fs::read(path).map_err(|error| unreadable(error.to_string()))?;
    let archive = ArchiveFile::parse(bytes.as_slice()).map_err(|error| unreadable(error.to_string()))?;
    for member in archive.members() {
        let member = member.map_err(|error| unreadable(error.to_string()))?;
        let data = member.data(bytes.as_slice()).map_err(|error| unreadable(error.to_string()))?;
        if data.starts_with(BITCODE_MAGIC) {
            visit(data, &format!("{}({})", path.display(), String::from_utf8_lossy(member.name())))?;
        }
    }
    Ok(())
}

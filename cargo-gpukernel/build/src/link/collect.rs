//! Step 1: libraries go in, one module with everything in them comes out.
//!
//! A Rust library for nvptx64 is an archive whose members are raw LLVM bitcode.

use std::{fs, path::Path};

use object::read::archive::ArchiveFile;

use super::{LinkError, LinkInput};
use crate::llvm::{Context, Module};

/// What bitcode starts with; other members of a library are metadata.
const BITCODE_MAGIC: &[u8] = b"BC\xC0\xDE";

/// Links all members of all libraries. The debug info of the toolchain's own is dropped: any full debug info in the module
/// would make ptxas optimise nothing.
pub(super) fn collect<'c>(context: &'c Context, input: &LinkInput) -> Result<Module<'c>, LinkError> {
    let mut whole: Option<Module<'c>> = None;
    let own = input.crates.iter().map(|path| (path, true));
    let toolchain = input.sysroot.iter().map(|path| (path, false));
    for (path, keep_debug_info) in own.chain(toolchain) {
        for_each_module(context, path, |module, name| {
            if !keep_debug_info {
                module.strip_debug_info();
            }
            match &whole {
                None => whole = Some(module),
                Some(whole) => whole.link(module, name)?,
            }
            Ok(())
        })?;
    }
    let Some(whole) = whole else {
        let path = input.crates.first().cloned().unwrap_or_default();
        return Err(LinkError::Library { path, reason: "it holds no bitcode".into() });
    };
    for function in whole.functions() {
        // Code generation goes by the target machine; differing texts here would only forbid inlining.
        function.remove_text_attribute("target-cpu");
        function.remove_text_attribute("target-features");
    }
    Ok(whole)
}

fn for_each_module<'c>(
    context: &'c Context,
    path: &Path,
    mut visit: impl FnMut(Module<'c>, &str) -> Result<(), LinkError>,
) -> Result<(), LinkError> {
    let unreadable = |reason: String| LinkError::Library { path: path.to_owned(), reason };
    let bytes = fs::read(path).map_err(|error| unreadable(error.to_string()))?;
    let archive = ArchiveFile::parse(bytes.as_slice()).map_err(|error| unreadable(error.to_string()))?;
    for member in archive.members() {
        let member = member.map_err(|error| unreadable(error.to_string()))?;
        let data = member.data(bytes.as_slice()).map_err(|error| unreadable(error.to_string()))?;
        if data.starts_with(BITCODE_MAGIC) {
            let name = format!("{}({})", path.display(), String::from_utf8_lossy(member.name()));
            visit(Module::from_bitcode(context, data, &name)?, &name)?;
        }
    }
    Ok(())
}

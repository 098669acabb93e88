//! Making and changing users' projects: what `cargo gpukernel new` and `init` do.

pub(crate) mod build_script;
pub(crate) mod changes;
pub(crate) mod enclosing;
mod journal;
pub(crate) mod manifest;
pub(crate) mod name;
pub(crate) mod packages;
pub(crate) mod repository;
pub(crate) mod source;
pub(crate) mod template;

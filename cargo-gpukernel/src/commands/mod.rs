//! The subcommands: one module each, with its arguments and what it does with them.

pub(crate) mod bench;
pub(crate) mod bind;
pub(crate) mod build;
pub(crate) mod bundle;
pub(crate) mod completions;
pub(crate) mod debug;
pub(crate) mod doctor;
pub(crate) mod init;
pub(crate) mod inspect;
pub(crate) mod man;
pub(crate) mod new;
pub(crate) mod profile;
pub(crate) mod run;
pub(crate) mod sanitize;
pub(crate) mod setup;
pub(crate) mod test;

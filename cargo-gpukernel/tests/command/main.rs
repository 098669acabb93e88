//! The subcommand as users run it. One program, because each takes as long to link as what it tests.
#![allow(clippy::unwrap_used, reason = "a test ends where it cannot go on")]

mod common;

mod analysis;
mod bind;
mod build;
mod debug;
mod family;
mod init;
mod inspect;
mod interrupt;
mod new;
mod passes;
mod profile;
mod published;
mod sanitize;
mod surroundings;
mod templates;
mod workspaces;

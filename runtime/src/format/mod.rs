//! Formatting at run time: what a kernel wants to say, as values and a template, becomes the text that Rust's own `format!`
//! would make of it.
//!
//! A GPU sends values and where the template is; so does the CPU device, so that both say the same.

mod render;
mod spec;
mod template;
mod value;

pub(crate) use render::render;
pub(crate) use spec::{Align, DebugHex, Spec, Style};
pub(crate) use template::{Piece, parse};
pub(crate) use value::{Integer, Value};

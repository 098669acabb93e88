//! Formatting at run time: formats values and a template from a kernel as Rust's `format!` does.
//!
//! A GPU sends values and the address of the template; the CPU device does the same, so that the output of both is equal.

mod render;
mod spec;
mod template;
mod value;

pub(crate) use render::render;
pub(crate) use spec::{Align, DebugHex, Spec, Style};
pub(crate) use template::{Segment, parse};
pub(crate) use value::{Integer, Value};

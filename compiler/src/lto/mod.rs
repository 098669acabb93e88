//! Link-time optimisation (LTO) by NVIDIA's tools: kernels become LTO-IR, which nvlink optimises together with that of CUDA C, so that calls
//! inline.
//!
//! libnvvm makes LTO-IR of NVVM IR, which for architectures before Blackwell is the LLVM IR of LLVM 7 (NVVM IR specification, "Dialects"):
//! pointers say to what they point, and some instructions are not there yet. What has been optimised is written in that way here. One file
//! each: [`reader`] reads a line, [`types`] and [`value`] what stands in it, [`instruction`] translates it, [`module`] does so with all lines, [`libnvvm`]
//! compiles, and the [`optimiser`] puts all together.

mod instruction;
mod libnvvm;
mod module;
mod optimiser;
mod reader;
mod types;
mod value;

pub use libnvvm::LtoError;
pub(crate) use module::translate;
pub(crate) use optimiser::{LtoTools, Optimiser};

/// What every module begins with (NVVM IR specification, "Data Layout").
const TARGET: &str = "target datalayout = \"e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-\
                      v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64\"\ntarget triple = \"nvptx64-nvidia-cuda\"\n\n";

/// And what it ends with.
const VERSION: &str = "!nvvmir.version = !{!0}\n!0 = !{i32 2, i32 0}\n";

/// A line that has no translation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` cannot be written as NVVM IR")]
pub struct Untranslatable(pub(crate) String);

//! The manifest: metadata of an image's kernels.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{Arch, Contract};

/// The metadata of an image.
///
/// ```
/// let manifest = gpukernel_image::Manifest::new("kernels");
/// assert!(manifest.kernel("kernels::saxpy").is_none());
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The name of the kernel crate.
    pub crate_name: String,
    /// The kernels, sorted by name.
    pub kernels: Vec<Kernel>,
    /// The functions that format values in panic messages, such as `<u32 as core::fmt::Display>::fmt`: panic records refer to them by
    /// their index here.
    #[serde(default)]
    pub formatters: Vec<String>,
    /// The constants that the host can set, sorted by name.
    pub constants: Vec<Constant>,
    /// The variables of the code that the runtime sets when it loads it ([`symbol`](gpukernel_abi::symbol)): a driver that is asked for one that is not
    /// there reports an error to tools such as compute-sanitizer.
    #[serde(default)]
    pub variables: Vec<String>,
    /// The tools that built the image.
    pub toolchain: Toolchain,
    /// The reason why the image has no code, if it has none: set when the build ran under a tool that needs no device code
    /// (rust-analyzer, clippy, docs.rs).
    pub no_code: Option<String>,
}

impl Manifest {
    /// Creates a manifest without kernels.
    pub fn new(crate_name: impl Into<String>) -> Self {
        Self {
            crate_name: crate_name.into(),
            kernels: Vec::new(),
            constants: Vec::new(),
            variables: Vec::new(),
            formatters: Vec::new(),
            toolchain: Toolchain::default(),
            no_code: None,
        }
    }

    /// Returns the kernel of a full path, such as `kernels::saxpy`.
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }
}

/// The metadata of a kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kernel {
    /// The full Rust path: `kernels::saxpy`.
    pub name: String,
    /// The name of the `.entry` in PTX and machine code: `saxpy`.
    pub symbol: String,
    /// The parameters of the entry in order, as the driver takes them.
    pub parameters: Vec<Parameter>,
    /// The signature that distinguishes it from other kernels of that name, in the lines of `gpu_std::signature`: the package, the
    /// function, its requirements, its shared arrays, then the type of each parameter.
    pub signature: Vec<String>,
    /// The launch contract.
    pub contract: Contract,
    /// Whether it has a grid-wide barrier, so that all its blocks must be resident at once (a cooperative launch).
    pub cooperative: bool,
    /// The resource usage on each architecture that machine code was built for.
    pub resources: BTreeMap<Arch, Resources>,
    /// The architectures for which its code begins by waiting for the grids before it, so that it may be started before they have ended
    /// (`griddepcontrol.wait`).
    #[serde(default)]
    pub waits: BTreeSet<Arch>,
}

/// The metadata of a value in constant memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Constant {
    /// The full Rust path: `kernels::WEIGHTS`.
    pub name: String,
    /// The name in PTX and machine code.
    pub symbol: String,
    /// The signature that distinguishes it from other constants of that name: package and type.
    pub signature: Vec<String>,
    /// The size in bytes.
    pub size_bytes: usize,
}

/// A parameter of a kernel entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameter {
    /// The size in bytes.
    pub size_bytes: usize,
    /// The alignment in bytes.
    pub align_bytes: usize,
}

/// The resource usage of a kernel on one architecture, as reported by ptxas (`-Xptxas -v`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resources {
    /// Registers per thread.
    pub registers: u32,
    /// Bytes of stack (local memory) per thread.
    pub stack_bytes: u32,
    /// Bytes of register spill stores to local memory.
    pub spill_store_bytes: u32,
    /// Bytes of register spill loads from local memory.
    pub spill_load_bytes: u32,
    /// Bytes of statically allocated shared memory per block.
    pub shared_bytes: u32,
}

/// The versions of the tools that built an image.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Toolchain {
    /// `rustc --version` of the device compiler.
    pub rustc: String,
    /// The version of the LLVM that linked and generated code.
    pub llvm: String,
    /// The version of ptxas, if it was used.
    pub ptxas: Option<String>,
}

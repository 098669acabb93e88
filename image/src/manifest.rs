//! The manifest: everything about an image's kernels that is not code.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Arch;

/// What an image says about itself.
///
/// ```
/// let manifest = gpukernel_image::Manifest::new("kernels");
/// assert!(manifest.kernel("kernels::saxpy").is_none());
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The kernel crate.
    pub crate_name: String,
    /// Its kernels, sorted by name.
    pub kernels: Vec<Kernel>,
    /// The functions that format values in the messages of panics, such as `<u32 as core::fmt::Display>::fmt`: records
    /// of panics name them by their place here.
    #[serde(default)]
    pub formatters: Vec<String>,
    /// Its constants that the host can set, sorted by name.
    pub constants: Vec<Constant>,
    /// What built it.
    pub toolchain: Toolchain,
    /// Why there is no code in this image, if there is none: set when the build ran under a tool that needs no
    /// device code (rust-analyzer, clippy, docs.rs).
    pub no_code: Option<String>,
}

impl Manifest {
    /// A manifest without kernels.
    pub fn new(crate_name: impl Into<String>) -> Self {
        Self {
            crate_name: crate_name.into(),
            kernels: Vec::new(),
            constants: Vec::new(),
            formatters: Vec::new(),
            toolchain: Toolchain::default(),
            no_code: None,
        }
    }

    /// The kernel of this full path, such as `kernels::saxpy`.
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }
}

/// One kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kernel {
    /// Its path in Rust, crate first: `kernels::saxpy`.
    pub name: String,
    /// The name of its entry in PTX and machine code: `saxpy`.
    pub symbol: String,
    /// The entry's parameters in order, as the driver wants them.
    pub parameters: Vec<Parameter>,
    /// What tells it from other kernels of that name, in the lines of `gpu_std::signature`: the package, the function, what it
    /// requires, its shared arrays, then the type of each parameter.
    pub signature: Vec<String>,
    /// What its launches must keep to.
    pub contract: Contract,
    /// Whether its blocks wait for each other, so that all of them must run at once.
    pub cooperative: bool,
    /// What it needs on each architecture that was assembled.
    pub resources: BTreeMap<Arch, Resources>,
}

/// A value in constant memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Constant {
    /// Its path in Rust, crate first: `kernels::WEIGHTS`.
    pub name: String,
    /// Its name in PTX and machine code.
    pub symbol: String,
    /// What tells it from other constants of that name: its package, and its type.
    pub signature: Vec<String>,
    /// Its size in bytes.
    pub size_bytes: usize,
}

/// One parameter of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameter {
    /// Its size in bytes.
    pub size_bytes: usize,
    /// Its alignment in bytes.
    pub align_bytes: usize,
}

/// A launch contract, as `#[kernel(block = (32, 8), …)]` declares it. What is absent is not promised.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contract {
    /// Exactly this many threads per block, along x, y and z.
    pub block: Option<[u32; 3]>,
    /// At most this many threads per block.
    pub max_threads: Option<u32>,
    /// At least this many blocks resident on a multiprocessor.
    pub min_blocks_per_sm: Option<u32>,
    /// At most this many registers per thread.
    pub max_registers: Option<u32>,
    /// Launched along this many axes (1 to 3): the others have extent 1.
    pub dims: Option<u32>,
    /// At most this many bytes of shared memory per block.
    pub shared_bytes: Option<u32>,
    /// Launched in clusters of exactly this many blocks, along x, y and z.
    pub cluster: Option<[u32; 3]>,
}

/// What a kernel uses on one architecture, as ptxas reports it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resources {
    /// Registers per thread.
    pub registers: u32,
    /// Bytes of local memory per thread (stack).
    pub stack_bytes: u32,
    /// Bytes stored to local memory because registers ran out.
    pub spill_store_bytes: u32,
    /// Bytes loaded from local memory because registers ran out.
    pub spill_load_bytes: u32,
    /// Bytes of statically allocated shared memory per block.
    pub shared_bytes: u32,
}

/// The versions of the tools that made an image.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Toolchain {
    /// `rustc --version` of the device compiler.
    pub rustc: String,
    /// The LLVM that linked and emitted.
    pub llvm: String,
    /// The ptxas that assembled, if there was one.
    pub ptxas: Option<String>,
}

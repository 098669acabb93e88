//! Facts about compiled kernels: what they use of a GPU, and what that means for their speed.

mod gather;
mod occupancy;
pub(crate) mod ptx;
pub(crate) mod sass;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::Path,
};

use gpukernel_image::{Arch, Contract, Kernel, Resources};
use serde::{Deserialize, Serialize};

use crate::PanicPlace;
pub(crate) use gather::gather;
pub use occupancy::{Limit, Occupancy};
pub(crate) use ptx::PtxModule;

/// The number of threads per block that occupancy is computed for where the launch contract names none.
const USUAL_BLOCK: u32 = 256;

/// What the compiler made of a kernel: one of [`Built::facts`](crate::Built::facts).
///
/// ```no_run
/// # fn print(built: &gpukernel_build::Built) {
/// for kernel in &built.facts {
///     for (arch, facts) in &kernel.archs {
///         let registers = facts.resources.map_or(0, |resources| resources.registers);
///         println!("{} for {arch}: {registers} registers, {} panics", kernel.name, kernel.panics.len());
///     }
/// }
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct KernelFacts {
    /// The full path: `kernels::saxpy`.
    pub name: String,
    /// The name in PTX and machine code.
    pub symbol: String,
    /// Where it is declared.
    pub declared_at: Option<SourceLine>,
    /// The panics that are left after optimisation.
    pub panics: BTreeSet<PanicPlace>,
    /// What differs between architectures.
    pub archs: BTreeMap<Arch, ArchFacts>,
}

/// What the compiler made of a kernel on one architecture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ArchFacts {
    /// What ptxas says that it needs; `None` without machine code.
    pub resources: Option<Resources>,
    /// How many blocks a multiprocessor runs at once; `None` without machine code, or if the limits of the architecture are not known.
    pub occupancy: Option<Occupancy>,
    /// Whether the launch contract names the threads per block that [`occupancy`](Self::occupancy) is computed for. If not, it is computed for 256.
    pub block_is_known: bool,
    /// The size of the machine code in bytes.
    pub code_bytes: Option<u64>,
    /// How many instructions there are for 64-bit numbers.
    pub counts: InstructionCounts,
    /// Where it computes with 64-bit floating-point numbers, as far as that is known; the code of libraries last.
    pub f64_at: Vec<SourceLine>,
}

/// How many instructions of a kernel compute with 64-bit numbers; not how many are executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct InstructionCounts {
    /// What they were counted in.
    pub counted: Counted,
    /// Those that compute with 64-bit floating-point numbers, or convert from or to them. Most GPUs have few units for these.
    pub f64: u32,
    /// Those that compute with 64-bit integers, addresses included. In machine code, an operation on both halves is counted once.
    pub i64: u32,
}

/// What instructions were counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counted {
    /// The machine code, as nvdisasm lists it.
    Sass,
    /// PTX: nvdisasm was not found, or there is no machine code.
    Ptx,
}

/// A line of a source file, as rustc was given its path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SourceLine {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

impl SourceLine {
    /// Writes the file as rustc was given it, if it is in the folder that rustc ran in.
    fn make_relative_to(&mut self, directory: &Path) {
        if let Ok(file) = Path::new(&self.file).strip_prefix(directory) {
            self.file = file.to_string_lossy().into_owned();
        }
    }
}

impl fmt::Display for SourceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

impl ArchFacts {
    pub(crate) fn new(kernel: &Kernel, arch: Arch, ptx: &PtxModule<'_>, directory: &Path) -> Self {
        let resources = kernel.resources.get(&arch).copied();
        let block = threads_per_block(&kernel.contract);
        let occupancy = resources.and_then(|resources| {
            // What launches may add to static shared memory counts too.
            let shared_bytes = resources.shared_bytes.max(kernel.contract.shared_bytes);
            Occupancy::of(arch, block.unwrap_or(USUAL_BLOCK), &Resources { shared_bytes, ..resources })
        });
        let (counts, mut f64_at) = ptx.counts(&kernel.symbol);
        for line in &mut f64_at {
            line.make_relative_to(directory);
        }
        f64_at.sort_by_key(|line| Path::new(&line.file).is_absolute());
        let block_is_known = block.is_some();
        Self { resources, occupancy, block_is_known, code_bytes: None, counts, f64_at }
    }
}

/// As many as the contract promises, or allows.
fn threads_per_block(contract: &Contract) -> Option<u32> {
    contract.threads_per_block().or((contract.max_threads != 0).then_some(contract.max_threads))
}

//! Linking: the bitcode of a kernel crate and of all it depends on goes in, one optimised module comes out, with every
//! kernel an entry, ready to be emitted for any architecture.
//!
//! [`passes`] lists what is done, in its order, one file each; [`linking`] and [`emit`] are what the passes work on. All of it runs in child
//! processes ([`crash`]).

mod address_spaces;
mod allocator;
mod arch;
mod assumed_words;
mod barrier_loops;
mod call_graph;
mod checks_once;
mod collect;
mod constant_loads;
mod constants;
mod contraction;
mod copies;
mod crash;
mod description;
mod dominance;
pub(crate) mod early_starts;
mod emit;
mod entries;
mod exports;
mod foreign;
mod global_addresses;
mod instructions;
mod internalise;
mod intervals;
mod linking;
mod local_atomics;
mod loop_ends;
mod loops;
mod lowering;
mod natural_loops;
mod negation;
mod neighbours;
mod numbered_places;
mod one_round;
mod operations;
mod optimise;
mod own_lines;
mod panics;
mod parameter_copies;
mod pass;
mod passes;
#[cfg(feature = "lto")]
mod plain_text;
mod pointer_calls;
mod prelude;
mod ranges;
mod related_addresses;
mod rolled_loops;
mod same_copy;
mod shared;
mod short_comparisons;
mod sinking;
mod small_arrays;
mod steps;
mod undefined;
mod uniformity;
mod ways;
mod whole_rows;
mod wide_products;

use std::{collections::BTreeSet, path::PathBuf};

use gpukernel_image::{Arch, Constant, Kernel};
use serde::{Deserialize, Serialize};

use crate::{
    facts::SourceLine,
    foreign::{ForeignError, Names},
    llvm::{Context, Llvm, LlvmError},
    timings::Timings,
};

use self::{linking::Linking, pass::Report};
pub(crate) use emit::{EmittedForInspection, EmittedPtx, emit_for_inspection, emit_ptx};
pub(crate) use numbered_places::{FIRST_NUMBER, InlinedPlace};
pub(crate) use own_lines::Libraries;
pub(crate) use panics::Recording;
pub use panics::{PanicKind, PanicPlace};
pub(crate) use pass::Dumps;
pub(crate) use passes::named as passes_named;
pub use passes::{LinkerPass, UnknownPass, linker_passes};
#[cfg(feature = "lto")]
pub(crate) use plain_text::plain_text;

/// What is linked.
pub(crate) struct LinkInput {
    /// Libraries that the user's build made: the kernel crate and its dependencies.
    pub(crate) crates: Vec<PathBuf>,
    /// Libraries that came with the toolchain: `core`, `alloc`, `compiler_builtins`.
    pub(crate) sysroot: Vec<PathBuf>,
    /// NVIDIA's math library as bitcode, if it was found.
    pub(crate) libdevice: Option<PathBuf>,
    /// The lowest architecture: what it lacks, the optimiser must not use.
    pub(crate) lowest: Arch,
    /// Whether a·b+c may be computed with one rounding.
    pub(crate) contraction: bool,
    /// What a panic does.
    pub(crate) panics: Recording,
    /// Bitcode of CUDA C and C++: what the user named, and the file that was made of it.
    pub(crate) bitcode: Vec<(PathBuf, PathBuf)>,
    /// The functions of foreign code that is linked later.
    pub(crate) names: Names,
    /// Whether the optimised module is wanted as text too.
    pub(crate) wants_text: bool,
}

/// What came out.
#[derive(Serialize, Deserialize)]
pub(crate) struct Linked {
    /// The optimised module.
    #[serde(skip)]
    pub(crate) bitcode: Vec<u8>,
    /// The same as text, if it was asked for.
    pub(crate) text: Option<String>,
    /// Its kernels; resources come later, from ptxas.
    pub(crate) kernels: Vec<Kernel>,
    /// Where each kernel is declared, in the order of the kernels.
    pub(crate) declared_at: Vec<Option<SourceLine>>,
    /// The folder that rustc ran in, to which paths of files are relative.
    pub(crate) directory: PathBuf,
    /// What the host can set.
    pub(crate) constants: Vec<Constant>,
    /// The functions of foreign code, all of it.
    pub(crate) names: Names,
    /// The panics that are left in each kernel, in the order of the kernels.
    pub(crate) panics: Vec<BTreeSet<PanicPlace>>,
    /// The functions that format values in the messages of panics, by the numbers that stand for them.
    pub(crate) formatters: Vec<String>,
    /// The files of [`Dumps`].
    pub(crate) dumped: Vec<PathBuf>,
}

/// Linking failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// LLVM refused.
    #[error(transparent)]
    Llvm(#[from] LlvmError),
    /// A library of the build cannot be read.
    #[error("cannot read the library {}: {reason}", path.display())]
    Library {
        /// The library.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The description that `#[kernel]` left in the bitcode is not of this version.
    #[error(
        "the kernel described by `{symbol}` cannot be read: gpukernel-std and gpukernel-build must have the same version"
    )]
    Description {
        /// The static that holds the description.
        symbol: String,
    },
    /// The kernels were compiled with a gpu-std of another version.
    #[error(
        "the kernels were compiled with a gpukernel-std of ABI version {found}, and this gpukernel-build links version {expected}: give \
         gpukernel-std, gpukernel and gpukernel-build the same version"
    )]
    AbiVersion {
        /// The version of gpu-std.
        found: u32,
        /// The version that is linked ([`gpukernel_abi::VERSION`]).
        expected: u32,
    },
    /// Two kernels have the same path, because functions or constants hide them from each other.
    #[error(
        "there are two kernels `{kernel}`: kernels are found by their path, so give one another name or module"
    )]
    TwoOfOneName {
        /// Their path.
        kernel: String,
    },
    /// LLVM cannot generate code for an architecture.
    #[error(
        "LLVM {llvm} of the device rustc cannot generate code for {arch}: leave it out, or use a newer rustc"
    )]
    UnknownArch {
        /// The architecture.
        arch: Arch,
        /// The version of LLVM.
        llvm: String,
    },
    /// A kernel uses what an architecture does not have.
    #[error(
        "the operation `{operation}`, used by {}, needs {needed} or later, and code is built for {arch} too: leave {arch} out of \
         `archs` in the kernel crate's [package.metadata.gpukernel], or choose another way there by `gpu_std::arch()`",
        kernels.join(", ")
    )]
    ArchTooOld {
        /// The operation.
        operation: String,
        /// The kernels that use it.
        kernels: Vec<String>,
        /// The first architecture that has it.
        needed: Arch,
        /// The one that does not.
        arch: Arch,
    },
    /// More constants than there is memory for.
    #[error(
        "the constants of the kernels have {bytes} bytes together, and a module has 65536 of constant memory: pass large tables as \
         `&[T]`; they are {}", constants.iter().map(|(name, bytes)| format!("`{name}` ({bytes})")).collect::<Vec<_>>().join(", ")
    )]
    ConstantsTooLarge {
        /// All of them.
        bytes: usize,
        /// Each with its size.
        constants: Vec<(String, usize)>,
    },
    /// Bitcode of CUDA C or C++ does not fit.
    #[error(transparent)]
    Foreign(#[from] ForeignError),
    /// The code after a pass cannot be written to its file.
    #[error("cannot write {}: {reason}", path.display())]
    Dump {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: std::io::Error,
    },
    /// LLVM crashed, gave up, or broke the code that it was given.
    #[error("{}", crash::message(kernels, function.as_deref(), pass, reason))]
    Crashed {
        /// The kernels that the code is part of; all of them, if it is not known of which.
        kernels: Vec<String>,
        /// The function that it worked on.
        function: Option<String>,
        /// The pass that it was in.
        pass: String,
        /// What it said.
        reason: String,
    },
    /// Functions that no library has.
    #[error("{}", undefined::describe(.0))]
    Undefined(Vec<UndefinedSymbol>),
}

/// A function that is called and that no library has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndefinedSymbol {
    /// Its name, demangled.
    pub name: String,
    /// The kernels and the files of foreign code that need it.
    pub needed_by: Vec<String>,
    /// What to do about it.
    pub hint: String,
}

/// Links and optimises.
pub(crate) fn link(
    llvm: &'static Llvm,
    input: &LinkInput,
    dumps: &Dumps,
    timings: &mut Timings,
) -> Result<Linked, LinkError> {
    let work = || {
        let (context, mut report) = (Context::new(llvm), Report::default());
        let mut linking = Linking::new(&context, input)?;
        report.run(passes::LINK, 1, &mut linking, dumps)?;
        Ok((linking.finish(report.dumped), report.timings))
    };
    let (linked, steps) = crash::survive(work, encode, decode)?;
    timings.append(steps);
    Ok(linked)
}

/// What was linked and how long it took as bytes: those of the module behind the others, and the number of these in front.
fn encode(linked: &(Linked, Timings)) -> Option<Vec<u8>> {
    let described = serde_json::to_vec(linked).ok()?;
    let length = (described.len() as u64).to_le_bytes();
    Some([&length, described.as_slice(), &linked.0.bitcode].concat())
}

fn decode(bytes: &[u8]) -> Option<(Linked, Timings)> {
    let (length, rest) = bytes.split_first_chunk()?;
    let (described, bitcode) = rest.split_at_checked(u64::from_le_bytes(*length) as usize)?;
    let (linked, steps): (Linked, _) = serde_json::from_slice(described).ok()?;
    Some((Linked { bitcode: bitcode.to_vec(), ..linked }, steps))
}

//! Linking: the bitcode of a kernel crate and of all it depends on goes in, one optimised module comes out, with every
//! kernel an entry, ready to be emitted for any architecture.
//!
//! The steps in their order, one file each:
//!
//! 1. [`collect`]: the modules of the kernel crate and its dependencies
//! 2. [`entries`]: functions marked `#[kernel]` become entries with their contracts; [`exports`] keep their names
//! 3. [`panics`]: panics become calls that record them, or traps
//! 4. [`lowering`]: what NVPTX has no instruction for becomes calls
//!    then [`collect`] again: what is needed of `core`, `alloc` and `compiler_builtins`, with the [`allocator`], and 3 and 4 for that
//! 5. [`foreign`]: bitcode of CUDA C and C++ is linked in
//! 6. [`contraction`]: a·b+c may become one instruction
//! 7. [`prelude`]: device operations and libdevice are linked in, and the prelude is inlined
//! 8. [`internalise`]: nothing but kernels is visible from outside
//! 9. [`ranges`]: contracts become ranges of the indices; and [`pointer_calls`] of barriers become convergent
//! 10. [`optimise`], and [`copies`] of what it left
//! 11. [`shared`]: statics of shared memory move to its address space, and [`address_spaces`] are inferred
//! 12. [`panics`] again: the calls become code
//! 13. [`undefined`]: what is still missing is an error
//! 14. [`emit`]: PTX per architecture, in parallel, with other [`instructions`] than LLVM's where ptxas needs them
//!
//! All of it runs in child processes ([`crash`]).

mod address_spaces;
mod allocator;
mod arch;
mod barrier_loops;
mod call_graph;
mod collect;
mod constants;
mod contraction;
mod copies;
mod crash;
mod description;
mod emit;
mod entries;
mod exports;
mod foreign;
mod instructions;
mod internalise;
mod local_atomics;
mod loops;
mod lowering;
mod natural_loops;
mod negation;
mod operations;
mod optimise;
mod panics;
mod pointer_calls;
mod prelude;
mod ranges;
mod rolled_loops;
mod same_copy;
mod shared;
mod undefined;
mod uniformity;
mod ways;

use std::path::PathBuf;

use gpukernel_image::{Arch, Constant, Kernel};
use serde::{Deserialize, Serialize};

use crate::{
    foreign::{ForeignError, Names},
    llvm::{Context, Llvm, LlvmError, Module, TargetMachine},
    timings::Timings,
};

pub(crate) use emit::emit_ptx;
pub(crate) use panics::Recording;

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
    /// What the host can set.
    pub(crate) constants: Vec<Constant>,
    /// The functions of foreign code, all of it.
    pub(crate) names: Names,
    /// The functions that format values in the messages of panics, by the numbers that stand for them.
    pub(crate) formatters: Vec<String>,
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
        "the kernel described by `{symbol}` cannot be read: gpu-std and gpukernel-build must have the same version"
    )]
    Description {
        /// The static that holds the description.
        symbol: String,
    },
    /// The kernels were compiled with a gpu-std of another version.
    #[error(
        "the kernels were compiled with a gpu-std of ABI version {found}, and this gpukernel-build links version {expected}: give gpu-std, \
         gpukernel and gpukernel-build the same version"
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

/// The optimised module as text without debug info, for one architecture.
pub(crate) fn plain_text(llvm: &'static Llvm, linked: &Linked, arch: Arch) -> Result<String, LinkError> {
    let work = || {
        let context = Context::new(llvm);
        let machine = TargetMachine::new(&context, &arch.to_string())?;
        let module = Module::from_bitcode(&context, &linked.bitcode, "the optimised module")?;
        module.strip_debug_info();
        arch::settle(&module, arch, &linked.kernels, &machine)?;
        module.run_passes("strip-dead-prototypes", &machine)?;
        Ok(module.to_text())
    };
    crash::survive(
        work,
        |text| Some(text.clone().into_bytes()),
        |bytes| String::from_utf8(bytes.to_vec()).ok(),
    )
}

/// Links and optimises.
pub(crate) fn link(
    llvm: &'static Llvm,
    input: &LinkInput,
    want_text: bool,
    timings: &mut Timings,
) -> Result<Linked, LinkError> {
    let work = || {
        let mut steps = Timings::default();
        link_here(llvm, input, want_text, &mut steps).map(|linked| (linked, steps))
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

/// Does so in this process.
fn link_here(
    llvm: &'static Llvm,
    input: &LinkInput,
    want_text: bool,
    timings: &mut Timings,
) -> Result<Linked, LinkError> {
    let context = Context::new(llvm);
    let machine = TargetMachine::new(&context, &input.lowest.to_string())?;

    let module = timings.step("read bitcode", || collect::collect(&context, &input.crates))?;
    let mut constants = Vec::new();
    let mut names = input.names.clone();
    let mut exports = Vec::new();
    let mut variables = Vec::new();
    let mut formatters = panics::Formatters::default();
    let kernels = timings.step("link libraries", || {
        constants = constants::find_and_name(&module)?;
        let mut kernels = entries::find_and_mark(&module)?;
        exports = exports::find(&module);
        crash::note_kernels(kernels.iter().map(|kernel| (kernel.function, kernel.name.clone())));
        let called: Vec<_> = kernels.iter().map(|kernel| kernel.function).chain(exports.clone()).collect();
        panics::replace(&module, input.panics, &called, &mut formatters);
        lowering::call_libraries(&module);
        collect::add_needed(&context, &module, &input.sysroot)?;
        allocator::complete(&module);
        // Again, for what was added.
        panics::replace(&module, input.panics, &called, &mut formatters);
        lowering::call_libraries(&module);
        foreign::link(&context, &module, &input.bitcode, &mut names)?;
        foreign::mark_convergent(&module, |name| names.is_partial || names.defined.contains_key(name));
        if input.contraction {
            contraction::allow(&module);
        }
        entries::find_cooperative(&module, &mut kernels, &exports);
        prelude::link(&context, &module, input.libdevice.as_deref())?;
        arch::release_available(&module, input.lowest);
        collect::forget_processors(&module);
        variables = internalise::internalise(&module, &kernels, &exports);
        crash::note_kernels(kernels.iter().map(|kernel| (kernel.function, kernel.name.clone())));
        module.run_passes("globaldce,always-inline", &machine)?;
        ranges::set_ranges(&module, &kernels, &exports);
        pointer_calls::mark_convergent(&module, kernels.iter().map(|kernel| kernel.function), &exports);
        module.verify()?;
        Ok::<_, LinkError>(kernels)
    })?;
    timings.step("optimise", || {
        let is_kernel = |name: &str| kernels.iter().any(|kernel| kernel.symbol == name);
        optimise::optimise(&module, is_kernel, &machine)?;
        internalise::internalise_variables(&module, &variables);
        shared::move_to_shared_memory(&module);
        constants::move_to_constant_memory(&module);
        address_spaces::place_statics(&module, &machine)?;
        address_spaces::optimise(&module, &machine)?;
        panics::record(&context, &module, &kernels, &exports, &machine)?;
        loops::branch_back(&module);
        negation::write_out(&module);
        local_atomics::make_plain(&module);
        lowering::drop_compiler_fences(&module);
        Ok::<_, LinkError>(())
    })?;
    undefined::check(&module, &kernels, input.libdevice.is_some(), &names)?;
    // What is left is in code that cannot be looked into, or nvlink will miss it.
    for function in undefined::declared(&module, &names) {
        names.defined.entry(function).or_default();
    }

    Ok(Linked {
        bitcode: module.to_bitcode(),
        text: want_text.then(|| module.to_text()),
        kernels: kernels.into_iter().map(|entry| entry.describe(&module)).collect(),
        constants,
        names,
        formatters: formatters.into_names(),
    })
}

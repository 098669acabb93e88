//! What the compiler made of one kernel, line by line: the source, LLVM IR, PTX and machine code, with the places that each instruction comes from.
//!
//! A kernel crate and a name go in; an [`Inspection`] comes out, for `cargo gpukernel inspect` to show.

mod access;
mod code;
mod lanes;
mod twin;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use gpukernel_image::{Arch, Resources};
use object::{Object as _, ObjectSymbol as _};
use serde::{Deserialize, Serialize};

use crate::{
    BuildInput, Error, InstructionCounts, Occupancy, PanicPlace, SourceLine, Timings,
    assemble::{self, Mode},
    facts::{ArchFacts, PtxModule, sass},
    files::OutDir,
    link::{self, Dumps, EmittedForInspection, InlinedPlace, Linked},
    pipeline::{compile, link_input, load_llvm, sysroot_libraries},
    plan::Plan,
    toolchain::{CudaPart, CudaTools, Toolchain},
};
pub use access::{Access, AccessCost, AccessKind, MemorySpace};
pub use twin::inspect_cuda_c;

/// The code of a kernel for one architecture, beside its source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Inspection {
    /// The kernel: `kernels::saxpy`; of CUDA C the name of the function.
    pub kernel: String,
    /// The name in PTX and machine code.
    pub symbol: String,
    /// The architecture.
    pub arch: Arch,
    /// The compilers that made the code.
    pub made_by: String,
    /// Where it is declared.
    pub declared_at: Option<SourceLine>,
    /// What ptxas says that it needs.
    pub resources: Option<Resources>,
    /// How many blocks a multiprocessor runs at once.
    pub occupancy: Option<Occupancy>,
    /// Whether the launch contract names the number of threads that [`occupancy`](Self::occupancy) is for.
    pub block_is_known: bool,
    /// How many instructions there are for 64-bit numbers.
    pub counts: InstructionCounts,
    /// The panics that are left.
    pub panics: BTreeSet<PanicPlace>,
    /// The source files that code comes from: those of the kernel's crate first.
    pub files: Vec<SourceFile>,
    /// The places that code comes from, by number: the place itself first, then where that was inlined, outermost last.
    pub places: Vec<Vec<FilePlace>>,
    /// LLVM IR as PTX is generated from it.
    pub llvm_ir: Vec<CodeLine>,
    /// PTX.
    pub ptx: Vec<CodeLine>,
    /// Machine code, if nvdisasm was found.
    pub sass: Vec<CodeLine>,
}

/// A source file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SourceFile {
    /// The file as rustc was given its path, or the whole path.
    pub path: String,
    /// Whether it is of the crate of the kernel.
    pub is_own: bool,
    /// Its text, if it can be read.
    pub text: Option<String>,
}

/// A place in one of [`Inspection::files`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilePlace {
    /// The number of the file.
    pub file: usize,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1; 0 if it is not known.
    pub column: u32,
}

/// An instruction, a label or a declaration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CodeLine {
    /// The text.
    pub text: String,
    /// Whether it is a label.
    pub is_label: bool,
    /// Where it comes from: a number of [`Inspection::places`].
    pub place: Option<usize>,
    /// The address in the function, of machine code.
    pub address: Option<u32>,
    /// How many registers hold a value that is needed later, of machine code.
    pub live_registers: Option<u32>,
    /// Whether it is in a loop; not known of LLVM IR.
    pub in_a_loop: bool,
    /// The access to memory that it is; not known of LLVM IR.
    pub access: Option<Access>,
}

impl CodeLine {
    fn new(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }
}

/// Compiles a kernel crate and looks at one kernel, by its path (`kernels::saxpy`), for one architecture. Writes files beside the image that
/// [`build`](crate::build) writes, under other names.
///
/// Code is as [`build`](crate::build) makes it of all of [`Options::archs`](crate::Options::archs), the lowest of which decides what the optimiser may
/// use.
///
/// # Errors
/// As [`build`](crate::build), and if there is no such kernel, or ptxas is missing.
///
/// ```no_run
/// use gpukernel_build::{Arch, BuildInput, Options, inspect, toolchain::{FindOptions, Toolchain}};
///
/// let toolchain = Toolchain::find(&FindOptions::new("."))?;
/// let input = BuildInput {
///     crate_path: "kernels".into(),
///     target_dir: "target/gpukernel".into(),
///     out_dir: "target/gpukernel/images".into(),
///     options: Options::default(),
/// };
/// let inspection = inspect(&input, &toolchain, "kernels::saxpy", Arch::new(9, 0))?;
/// let wasteful = |line: &&gpukernel_build::CodeLine| {
///     line.access.as_ref().and_then(|access| access.cost).is_some_and(|cost| cost.is_wasteful())
/// };
/// println!("{} wasteful accesses", inspection.sass.iter().filter(wasteful).count());
/// # Ok::<(), gpukernel_build::Error>(())
/// ```
pub fn inspect(
    input: &BuildInput,
    toolchain: &Toolchain,
    kernel: &str,
    arch: Arch,
) -> Result<Inspection, Error> {
    let plan = Plan::new(input, toolchain)?;
    let ptxas = &toolchain.cuda.require(CudaPart::Ptxas)?.path;
    let out_dir = OutDir::enter(plan.out_dir, plan.options.cargo.quiet)?;
    let (compiled, foreign) = compile(&plan, None)?;
    let llvm = load_llvm(&toolchain.rustc)?;
    let link_input = link_input(&plan, &compiled, sysroot_libraries(&toolchain.rustc)?, &foreign)?;
    let linked = link::link(llvm, &link_input, &Dumps::default(), &mut Timings::default())?;
    let found = linked.kernels.iter().position(|known| known.name == kernel);
    let Some(index) = found else {
        let known = linked.kernels.iter().map(|kernel| kernel.name.clone()).collect();
        return Err(Error::NoKernel { kernel: kernel.to_owned(), known });
    };
    let EmittedForInspection { ptx, numbered } =
        link::emit_for_inspection(llvm, &linked, &linked.kernels[index], arch)?;

    // Foreign functions that are linked later are calls in this code.
    let mode = if linked.names.defined.is_empty() { Mode::Executable } else { Mode::Relocatable };
    let source = plan.work_dir.join(format!("{}.{arch}.inspect.ptx", compiled.crate_name));
    fs::write(&source, &ptx).map_err(|reason| Error::File { path: source.clone(), reason })?;
    let object = assemble::run(ptxas, arch, &source, &source.with_extension("cubin"), mode)?;
    let mut described = linked.kernels[index].clone();
    described.resources.extend(object.resources.get(&described.symbol).map(|resources| (arch, *resources)));
    let block_x = Some(described.contract.block[0]).filter(|x| *x != 0);
    let ptx_lines = code::ptx(&ptx, &described.symbol, block_x);
    let sass = disassemble(&toolchain.cuda, &object.cubin, &described.symbol, &ptx_lines)?;
    let facts = ArchFacts::new(&described, arch, &PtxModule::read(&ptx), &linked.directory);
    let llvm_ir = code::llvm_ir(&numbered.text, &described.symbol);
    let own = compiled.sources.first().and_then(|manifest| manifest.parent()).unwrap_or(plan.out_dir);
    let mut inspection = Inspection {
        made_by: made_by(toolchain),
        declared_at: linked.declared_at[index].clone(),
        resources: facts.resources,
        occupancy: facts.occupancy,
        block_is_known: facts.block_is_known,
        counts: sass.counts.unwrap_or(facts.counts),
        panics: linked.panics[index].clone(),
        kernel: described.name,
        symbol: described.symbol,
        arch,
        files: Vec::new(),
        places: Vec::new(),
        llvm_ir,
        ptx: ptx_lines,
        sass: sass.lines,
    };
    inspection.add_sources(&numbered.places, &linked, own);
    out_dir.leave();
    Ok(inspection)
}

fn made_by(toolchain: &Toolchain) -> String {
    let rustc = toolchain.rustc.verbose_version.lines().next().unwrap_or_default();
    match toolchain.cuda.get(CudaPart::Ptxas).and_then(|ptxas| ptxas.version.as_ref()) {
        Some(version) => format!("{rustc}, LLVM {}, ptxas {version}", toolchain.rustc.llvm_version),
        None => format!("{rustc}, LLVM {}", toolchain.rustc.llvm_version),
    }
}

/// Machine code as text.
#[derive(Default)]
struct Disassembled {
    lines: Vec<CodeLine>,
    counts: Option<InstructionCounts>,
}

/// Without nvdisasm there is none.
fn disassemble(
    cuda: &CudaTools,
    cubin: &Path,
    symbol: &str,
    ptx: &[CodeLine],
) -> Result<Disassembled, Error> {
    let Some(nvdisasm) = cuda.get(CudaPart::Nvdisasm) else { return Ok(Disassembled::default()) };
    let index = symbol_index(cubin, symbol)?.to_string();
    let run = |arguments: &[&str]| {
        let output = Command::new(&nvdisasm.path)
            .args(arguments)
            .args(["--cuda-function-index", &index])
            .arg(cubin)
            .output()
            .map_err(|reason| Error::File { path: nvdisasm.path.clone(), reason })?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => Err(Error::Tool {
                program: nvdisasm.path.clone(),
                file: cubin.with_extension("sass"),
                message: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            }),
        }
    };
    let code = run(&["--print-code", "--print-line-info"])?;
    let functions = sass::functions(&code);
    let Some(function) = functions.get(symbol) else { return Ok(Disassembled::default()) };
    // It shows either lines or live registers.
    let live = run(&["--print-code", "--life-range-mode", "count"])?;
    let live = sass::functions(&live);
    let lines = code::sass(function, live.get(symbol).map(Vec::as_slice), ptx);
    Ok(Disassembled { lines, counts: Some(sass::counts(function)) })
}

/// The number of a function among the symbols of a cubin, by which nvdisasm takes it alone: that saves seconds of large ones.
fn symbol_index(cubin: &Path, symbol: &str) -> Result<usize, Error> {
    let failed = |reason| Error::File { path: cubin.to_owned(), reason };
    let bytes = fs::read(cubin).map_err(failed)?;
    let file = object::File::parse(&*bytes).map_err(|error| failed(std::io::Error::other(error)))?;
    let found = file.symbols().find(|one| one.name() == Ok(symbol)).map(|one| one.index().0);
    found.ok_or_else(|| failed(std::io::Error::other(format!("it has no function `{symbol}`"))))
}

impl Inspection {
    /// Adds the places that the code has, and the files that they are in.
    fn add_sources(&mut self, places: &[Vec<InlinedPlace>], linked: &Linked, own: &Path) {
        let used: BTreeSet<_> = [&self.llvm_ir, &self.ptx, &self.sass]
            .into_iter()
            .flatten()
            .filter_map(|line| line.place)
            .collect();
        let mut paths: BTreeMap<(bool, String), PathBuf> = BTreeMap::new();
        let key = |place: &InlinedPlace| {
            let path = Path::new(&place.directory).join(&place.file);
            let shown = path.strip_prefix(&linked.directory).unwrap_or(&path).to_string_lossy().into_owned();
            ((!path.starts_with(own), shown), path)
        };
        let all = || used.iter().filter_map(|number| places.get(*number)).flatten();
        paths.extend(all().map(key));
        let numbers: HashMap<_, _> = paths.keys().cloned().zip(0..).collect();
        self.files = paths
            .into_iter()
            .map(|((is_foreign, path), file)| SourceFile {
                path,
                is_own: !is_foreign,
                text: fs::read_to_string(file).ok(),
            })
            .collect();
        let renumbered: HashMap<usize, usize> = used.iter().copied().zip(0..).collect();
        let chain = |number: &usize| {
            let chain = places.get(*number).into_iter().flatten();
            let place = |place: &InlinedPlace| FilePlace {
                file: numbers.get(&key(place).0).copied().unwrap_or_default(),
                line: place.line,
                column: place.column,
            };
            chain.map(place).collect()
        };
        self.places = used.iter().map(chain).collect();
        for line in self.llvm_ir.iter_mut().chain(&mut self.ptx).chain(&mut self.sass) {
            line.place = line.place.and_then(|place| renumbered.get(&place).copied());
        }
    }
}

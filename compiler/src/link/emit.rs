//! Code generation: the optimised module goes in, the PTX of each architecture comes out, in parallel.

use std::{path::PathBuf, thread};

use gpukernel_image::{Arch, Kernel};
use serde::{Deserialize, Serialize};

use super::{
    LinkError, Linked, crash,
    numbered_places::{self, InlinedPlace, NumberedPlaces},
    own_lines::{Libraries, with_own_lines},
    pass::{Code, Dumps, Report},
    passes,
};
use crate::{
    llvm::{Context, Linkage, Llvm, LlvmError, Module, TargetMachine},
    timings::Timings,
};

/// The PTX of all architectures, in their order.
pub(crate) struct EmittedPtx {
    pub(crate) ptx: Vec<(Arch, String)>,
    /// The files of [`Dumps`].
    pub(crate) dumped: Vec<PathBuf>,
}

/// The PTX of one architecture.
#[derive(Serialize, Deserialize)]
struct Emitted {
    ptx: String,
    report: Report,
}

/// Emits PTX for each architecture, in the order given. Its lines are those of users' code, which is not of these libraries. The passes are timed as those of one step.
pub(crate) fn emit_ptx(
    llvm: &'static Llvm,
    linked: &Linked,
    archs: &[Arch],
    libraries: &Libraries,
    dumps: &Dumps,
    timings: &mut Timings,
) -> Result<EmittedPtx, LinkError> {
    let emitted = timings.step("emit PTX", || {
        thread::scope(|scope| {
            let workers: Vec<_> = archs
                .iter()
                .map(|&arch| {
                    let dumps = dumps.labelled(&arch.to_string());
                    scope.spawn(move || emit(llvm, linked, arch, libraries, &dumps))
                })
                .collect();
            let results = workers.into_iter().map(|worker| match worker.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            results.collect::<Result<Vec<_>, _>>()
        })
    })?;
    let (mut ptx, mut dumped) = (Vec::new(), Vec::new());
    for (&arch, Emitted { ptx: text, report }) in archs.iter().zip(emitted) {
        timings.add_passes(&arch.to_string(), &report.timings);
        dumped.extend(report.dumped);
        ptx.push((arch, text));
    }
    Ok(EmittedPtx { ptx, dumped })
}

/// The code of one architecture in which numbers stand for places in the source.
#[derive(Serialize, Deserialize)]
pub(crate) struct EmittedForInspection {
    pub(crate) ptx: String,
    pub(crate) numbered: NumberedPlaces,
}

/// Emits PTX of one kernel and what it calls, for one architecture, the same as otherwise but for its lines: these are numbers of places.
pub(crate) fn emit_for_inspection(
    llvm: &'static Llvm,
    linked: &Linked,
    kernel: &Kernel,
    arch: Arch,
) -> Result<EmittedForInspection, LinkError> {
    let work = || {
        let (context, mut report) = (Context::new(llvm), Report::default());
        let mut emission = Emission::new(llvm, &context, linked, arch)?;
        emission.keep_only(kernel)?;
        report.run(passes::EMIT, passes::first_of_emit(), &mut emission, &Dumps::default())?;
        let numbered = NumberedPlaces { places: emission.places, text: emission.numbered_text };
        Ok(EmittedForInspection { ptx: emission.ptx, numbered })
    };
    crash::survive(
        work,
        |emitted| serde_json::to_vec(emitted).ok(),
        |bytes| serde_json::from_slice(bytes).ok(),
    )
}

/// Code generation changes the module, so each architecture reads its own copy, in a process of its own.
fn emit(
    llvm: &'static Llvm,
    linked: &Linked,
    arch: Arch,
    libraries: &Libraries,
    dumps: &Dumps,
) -> Result<Emitted, LinkError> {
    let work = || {
        let (context, mut report) = (Context::new(llvm), Report::default());
        let mut emission = Emission::new(llvm, &context, linked, arch)?;
        emission.libraries = Some(libraries);
        report.run(passes::EMIT, passes::first_of_emit(), &mut emission, dumps)?;
        Ok(Emitted { ptx: emission.ptx, report })
    };
    crash::survive(
        work,
        |emitted| serde_json::to_vec(emitted).ok(),
        |bytes| serde_json::from_slice(bytes).ok(),
    )
}

/// The optimised module on its way to the PTX of one architecture.
pub(super) struct Emission<'c> {
    pub(super) module: Module<'c>,
    pub(super) arch: Arch,
    pub(super) machine: TargetMachine,
    pub(super) kernels: &'c [Kernel],
    /// Empty until it is generated, and then what counts: the module is of no further use.
    pub(super) ptx: String,
    /// If lines are to be those of users' code, which is not of these; else they are numbers of places.
    libraries: Option<&'c Libraries>,
    places: Vec<Vec<InlinedPlace>>,
    /// The module with numbers, if they stay in the PTX.
    numbered_text: String,
    llvm: &'static Llvm,
}

impl<'c> Emission<'c> {
    fn new(
        llvm: &'static Llvm,
        context: &'c Context,
        linked: &'c Linked,
        arch: Arch,
    ) -> Result<Self, LinkError> {
        let module = Module::from_bitcode(context, &linked.bitcode, "the linked module")?;
        let kernels = linked.kernels.iter();
        let entries =
            kernels.filter_map(|kernel| Some((module.function(&kernel.symbol)?, kernel.name.clone())));
        crash::note_kernels(entries);
        let machine = TargetMachine::new(context, &arch.to_string())?;
        Ok(Self {
            module,
            arch,
            machine,
            kernels: &linked.kernels,
            ptx: String::new(),
            libraries: None,
            places: Vec::new(),
            numbered_text: String::new(),
            llvm,
        })
    }

    /// Drops the other kernels: their code would cost seconds, of ptxas too.
    fn keep_only(&mut self, kernel: &Kernel) -> Result<(), LinkError> {
        for other in self.kernels.iter().filter(|other| other.symbol != kernel.symbol) {
            if let Some(function) = self.module.function(&other.symbol) {
                function.set_linkage(Linkage::Internal);
            }
        }
        Ok(self.module.run_passes("globaldce", &self.machine)?)
    }

    pub(super) fn generate_ptx(&mut self) -> Result<(), LinkError> {
        self.places = numbered_places::number(&self.module);
        if self.libraries.is_none() {
            self.numbered_text = self.module.to_text();
        }
        self.ptx = self.machine.emit_ptx(&mut self.module)?;
        if let Some(libraries) = self.libraries {
            self.ptx = with_own_lines(&self.ptx, &self.places, libraries);
        }
        // LLVM only warns about a processor that it does not know, and takes another one.
        let mut targets = self.ptx.lines().filter_map(|line| line.strip_prefix(".target "));
        match targets.any(|target| target == self.arch.to_string()) {
            true => Ok(()),
            false => Err(LinkError::UnknownArch { arch: self.arch, llvm: self.llvm.version() }),
        }
    }
}

impl Code for Emission<'_> {
    fn text(&self) -> (String, &'static str) {
        match self.ptx.is_empty() {
            true => (self.module.to_text(), "ll"),
            false => (self.ptx.clone(), "ptx"),
        }
    }

    fn verify(&self, pass: &str) -> Result<(), LlvmError> {
        match self.ptx.is_empty() {
            true => self.module.verify(pass),
            // Nothing checks PTX but ptxas.
            false => Ok(()),
        }
    }
}

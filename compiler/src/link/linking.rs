//! What the passes for all architectures work on: the module, and what they have found out about it.

use std::{collections::BTreeSet, path::PathBuf};

use gpukernel_image::Constant;

use super::{
    LinkError, LinkInput, Linked, PanicPlace, crash,
    entries::Entry,
    panics::{self, Formatters, Kinds},
    pass::Code,
};
use crate::{
    facts::SourceLine,
    foreign::Names,
    llvm::{Context, LlvmError, Module, Place, TargetMachine, Value},
};

/// A program on its way from libraries to one optimised module.
pub(super) struct Linking<'c> {
    pub(super) context: &'c Context,
    pub(super) input: &'c LinkInput,
    /// For the lowest architecture.
    pub(super) machine: TargetMachine,
    /// Empty until the libraries are read.
    pub(super) module: Module<'c>,
    pub(super) kernels: Vec<Entry<'c>>,
    /// The functions that CUDA C++ calls.
    pub(super) exports: Vec<Value<'c>>,
    pub(super) constants: Vec<Constant>,
    /// The panics that are left in each kernel.
    pub(super) panics: Vec<BTreeSet<PanicPlace>>,
    /// The functions of foreign code.
    pub(super) names: Names,
    formatters: Formatters,
    kinds: Kinds,
    /// The variables that become internal after the optimiser.
    pub(super) variables: Vec<String>,
}

impl<'c> Linking<'c> {
    pub(super) fn new(context: &'c Context, input: &'c LinkInput) -> Result<Self, LinkError> {
        Ok(Self {
            context,
            input,
            machine: TargetMachine::new(context, &input.lowest.to_string())?,
            module: Module::from_text(context, "", "an empty module")?,
            kernels: Vec::new(),
            exports: Vec::new(),
            constants: Vec::new(),
            panics: Vec::new(),
            names: input.names.clone(),
            formatters: Formatters::default(),
            kinds: Kinds::default(),
            variables: Vec::new(),
        })
    }

    /// Tells of functions by their names whether they are launched.
    pub(super) fn is_kernel(&self) -> impl Fn(&str) -> bool {
        |name| self.kernels.iter().any(|kernel| kernel.symbol == name)
    }

    /// Replaces the panicking functions that the module has now.
    pub(super) fn replace_panics(&mut self) -> Result<(), LinkError> {
        let kernels = self.kernels.iter().map(|kernel| kernel.function);
        let called: Vec<_> = kernels.chain(self.exports.iter().copied()).collect();
        panics::replace(&self.module, self.input.panics, &called, &mut self.formatters, &mut self.kinds);
        Ok(())
    }

    /// Finds the panics that the optimiser has left.
    pub(super) fn find_panics(&mut self) {
        self.panics = panics::left(&self.module, &self.kernels, &self.exports, &self.kinds);
    }

    /// For the message of a crash from now on.
    pub(super) fn note_kernels(&self) {
        crash::note_kernels(self.kernels.iter().map(|kernel| (kernel.function, kernel.name.clone())));
    }

    /// What came out, when all passes have run and left these files.
    pub(super) fn finish(self, dumped: Vec<PathBuf>) -> Linked {
        let places: Vec<_> = self.kernels.iter().map(Entry::declared_at).collect();
        let directory = places.iter().flatten().map(|place| place.directory.clone()).next();
        let line = |place: &Place| SourceLine { file: place.file.clone(), line: place.line };
        Linked {
            bitcode: self.module.to_bitcode(),
            text: self.input.wants_text.then(|| self.module.to_text()),
            declared_at: places.iter().map(|place| place.as_ref().map(line)).collect(),
            directory: directory.unwrap_or_default().into(),
            kernels: self.kernels.into_iter().map(|entry| entry.describe(&self.module)).collect(),
            constants: self.constants,
            names: self.names,
            panics: self.panics,
            formatters: self.formatters.into_names(),
            dumped,
        }
    }
}

impl Code for Linking<'_> {
    fn text(&self) -> (String, &'static str) {
        (self.module.to_text(), "ll")
    }

    fn verify(&self, pass: &str) -> Result<(), LlvmError> {
        self.module.verify(pass)
    }
}

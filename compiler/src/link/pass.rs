//! What a pass of the linker is, and how lists of them run: each pass is timed, named if it crashes, and its result dumped if asked for.

use std::{io, path::PathBuf, time::Instant};

use serde::{Deserialize, Serialize};

use super::LinkError;
use crate::{Error, files, isolated, llvm::LlvmError, timings::Timings};

/// One pass. `F` is the function that runs it on the code of its list.
pub(super) struct Pass<F> {
    /// Its name on the command line and in the names of dumps: lower-case words with hyphens between them.
    pub(super) name: &'static str,
    /// What it does, in one line.
    pub(super) does: &'static str,
    pub(super) run: F,
}

/// The function of a pass, for code of one type.
pub(super) type Run<S> = fn(&mut S) -> Result<(), LinkError>;

/// The passes of one step of a build, in the order in which they run.
pub(super) struct Stage<'l, F> {
    /// The step, as timings name it.
    pub(super) step: &'static str,
    pub(super) passes: &'l [Pass<F>],
}

/// What passes work on.
pub(super) trait Code {
    /// The code as text, and the extension of a file with it.
    fn text(&self) -> (String, &'static str);

    /// Checks that the code is well formed after the pass.
    fn verify(&self, pass: &str) -> Result<(), LlvmError>;
}

/// The passes after which the code is written to a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dumps {
    /// The folder for the files.
    pub(crate) dir: PathBuf,
    /// What their names begin with: the crate.
    pub(crate) name: String,
    /// The names of the passes.
    pub(crate) after: Vec<&'static str>,
}

impl Dumps {
    /// With `label` in the names of the files too.
    pub(super) fn labelled(&self, label: &str) -> Self {
        Self { name: format!("{}.{label}", self.name), ..self.clone() }
    }

    fn write(&self, code: &impl Code, number: usize, pass: &str) -> Result<PathBuf, LinkError> {
        let (text, extension) = code.text();
        let path = self.dir.join(format!("{}.{number:02}-{pass}.{extension}", self.name));
        match files::write(&path, text) {
            Ok(()) => Ok(path),
            Err(Error::File { reason, .. }) => Err(LinkError::Dump { path, reason }),
            Err(other) => Err(LinkError::Dump { path, reason: io::Error::other(other) }),
        }
    }
}

/// What running passes leaves besides the code.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Report {
    pub(super) timings: Timings,
    /// The files of [`Dumps`].
    pub(super) dumped: Vec<PathBuf>,
}

impl Report {
    /// Runs the passes of all stages in order. The first pass has the number `first`.
    pub(super) fn run<S: Code>(
        &mut self,
        stages: &[Stage<'_, Run<S>>],
        first: usize,
        code: &mut S,
        dumps: &Dumps,
    ) -> Result<(), LinkError> {
        let mut numbers = first..;
        for stage in stages {
            let start = Instant::now();
            let mut passes = Vec::new();
            for (pass, number) in stage.passes.iter().zip(&mut numbers) {
                isolated::entering(pass.name);
                let start = Instant::now();
                (pass.run)(code)?;
                passes.push((pass.name.into(), start.elapsed()));
                let is_dumped = dumps.after.contains(&pass.name);
                if is_dumped {
                    self.dumped.push(dumps.write(code, number, pass.name)?);
                }
                if is_dumped || isolated::diagnoses() {
                    // LLVM's own passes have given their names meanwhile.
                    isolated::entering(pass.name);
                    code.verify(pass.name)?;
                }
            }
            self.timings.push(stage.step, start.elapsed(), passes);
        }
        Ok(())
    }
}

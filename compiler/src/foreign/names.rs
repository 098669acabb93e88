//! Which functions foreign code defines and which it wants, by file, so that a missing one can be named with who misses it.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{
    Code, Foreign, ForeignError, machine,
    prototype::{Prototype, Prototypes},
};

/// Functions with the files that they are in.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Names {
    pub(crate) defined: BTreeMap<String, PathBuf>,
    pub(crate) wanted: BTreeMap<String, PathBuf>,
    /// Whether some code cannot be looked into, so that it may define what is not here.
    pub(crate) is_partial: bool,
}

impl Names {
    /// The defined function whose name is most like this one, if it is like it at all.
    pub(crate) fn nearest(&self, name: &str) -> Option<(&str, &Path)> {
        const ALIKE: f64 = 0.6;
        let alike = |other: &str| strsim::normalized_damerau_levenshtein(name, other);
        let best = self.defined.iter().max_by(|(a, _), (b, _)| alike(a).total_cmp(&alike(b)))?;
        (alike(best.0) >= ALIKE).then_some((best.0, best.1))
    }
}

impl Foreign {
    /// The functions of all that is linked after our optimiser.
    ///
    /// # Errors
    /// Two files of PTX define one.
    pub(crate) fn names(&self, cuobjdump: Option<&Path>) -> Result<Names, ForeignError> {
        let mut names = Names::default();
        for part in self.later() {
            let defined = match &part.code {
                Code::Ptx { text, .. } => {
                    let found = Prototypes::of_ptx(text);
                    names.wanted.extend(found.expected.into_keys().map(|name| (name, part.file.clone())));
                    found.defined.into_keys().collect()
                }
                Code::Machine(path) => {
                    let functions = cuobjdump.map(|cuobjdump| machine::functions(cuobjdump, path));
                    functions.filter(|functions| !functions.is_empty()).unwrap_or_else(|| {
                        names.is_partial = true;
                        Vec::new()
                    })
                }
                Code::Bitcode(_) => Vec::new(),
                // It cannot be looked into.
                Code::LtoIr(_) => {
                    names.is_partial = true;
                    Vec::new()
                }
            };
            for function in defined {
                if let Some(first) = names.defined.insert(function.clone(), part.file.clone()) {
                    let second = part.file.clone();
                    return Err(ForeignError::DefinedTwice { function, first, second });
                }
            }
        }
        Ok(names)
    }

    /// Compares what our PTX declares with what the PTX of others defines.
    pub(crate) fn check_prototypes(&self, ours: &str) -> Result<(), ForeignError> {
        let declared = Prototypes::of_ptx(ours).expected;
        for part in self.later() {
            if let (Code::Ptx { text, .. }, false) = (&part.code, declared.is_empty()) {
                compare(&declared, text, &part.file)?;
            }
        }
        Ok(())
    }

    /// Compares what our PTX declares with the PTX that `optimised` makes of functions in LTO-IR. What neither these nor `known` functions are
    /// is missing.
    #[cfg(feature = "lto")]
    pub(crate) fn check_lto_prototypes(
        &self,
        ours: &str,
        known: &BTreeMap<String, PathBuf>,
        optimised: impl FnOnce(&[&str]) -> Result<String, crate::Error>,
    ) -> Result<(), crate::Error> {
        use crate::{BY_THE_DRIVER, DeviceLinkError};

        let declared = Prototypes::of_ptx(ours).expected;
        let lto_ir = self.later().filter(|part| matches!(part.code, Code::LtoIr(_)));
        let files: Vec<String> = lto_ir.map(|part| part.file.display().to_string()).collect();
        if files.is_empty() || declared.is_empty() {
            return Ok(());
        }
        let wanted: Vec<&str> = declared.keys().map(String::as_str).collect();
        let (optimised, files) = (optimised(&wanted)?, files.join(" or "));
        compare(&declared, &optimised, Path::new(&files))?;
        // Nobody else tells who misses what.
        let found = Prototypes::of_ptx(&optimised);
        let is_missing = |name: &&String| {
            !found.defined.contains_key(*name)
                && !known.contains_key(*name)
                && !BY_THE_DRIVER.contains(&name.as_str())
        };
        let of_kernels =
            declared.keys().filter(is_missing).map(|name| (name.clone(), "the kernels".to_owned()));
        let expected = found.expected.keys().filter(is_missing).filter(|name| !declared.contains_key(*name));
        let missing: Vec<_> = of_kernels.chain(expected.map(|name| (name.clone(), files.clone()))).collect();
        if missing.is_empty() { Ok(()) } else { Err(DeviceLinkError::Undefined { missing }.into()) }
    }
}

fn compare(declared: &BTreeMap<String, Prototype>, theirs: &str, file: &Path) -> Result<(), ForeignError> {
    let defined = Prototypes::of_ptx(theirs).defined;
    let differing = declared.iter().find_map(|(function, ours)| {
        let theirs = defined.get(function).filter(|theirs| *theirs != ours)?;
        Some((function, ours, theirs))
    });
    match differing {
        None => Ok(()),
        Some((function, ours, theirs)) => Err(ForeignError::OtherParameters {
            function: function.clone(),
            file: file.to_owned(),
            declared: ours.to_string(),
            defined: theirs.to_string(),
        }),
    }
}

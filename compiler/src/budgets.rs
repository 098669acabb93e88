//! Budgets: what optimised kernels must not exceed, for all kernels of a project, or for one by its launch contract.

use std::{fmt, path::PathBuf};

use gpukernel_image::{Arch, Contract, Manifest};
use serde::Deserialize;

use crate::{ArchFacts, Error, KernelFacts, Options, Profile, SourceLine};

/// What the kernels of a project must not exceed once optimised, from the table `budgets` of `gpukernel.toml`:
///
/// ```toml
/// [budgets]
/// no_panics = true     # nothing in a kernel can panic
/// no_spills = true     # no register is spilled to local memory
/// no_stack = true      # no local memory at all
/// no_f64 = true        # no instructions for 64-bit floating-point numbers
/// max_registers = 64   # checked only; `#[kernel(max_registers = 64)]` makes ptxas obey
/// ```
///
/// ```
/// use gpukernel_build::{Budgets, Options};
///
/// let mut options = Options::default();
/// assert_eq!(options.budgets, Budgets::default());
/// options.budgets.no_spills = true;
/// ```
///
/// A release build that exceeds one fails, and names kernel, number and line. Dev builds have more checks, and are not compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Budgets {
    /// Nothing can panic.
    pub no_panics: bool,
    /// No register is spilled (`nvcc -Xptxas -warn-spills`).
    #[doc(alias = "warn-spills")]
    pub no_spills: bool,
    /// There is no stack, which is in local memory (`nvcc -Xptxas -warn-lmem-usage`).
    #[doc(alias = "warn-lmem-usage")]
    pub no_stack: bool,
    /// There are no instructions for 64-bit floating-point numbers (`nvcc -Xptxas -warn-double-usage`).
    #[doc(alias = "warn-double-usage")]
    pub no_f64: bool,
    /// The maximum number of registers per thread.
    pub max_registers: Option<u32>,
    /// The file that they are from.
    #[serde(skip)]
    pub file: Option<PathBuf>,
}

/// A kernel exceeds a budget.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OverBudget {
    /// The kernel: `kernels::blur`.
    pub kernel: String,
    /// Where it is declared.
    pub declared_at: Option<SourceLine>,
    /// The architecture, if others may differ.
    pub arch: Option<Arch>,
    /// The key of the budget: `no_spills`.
    pub budget: &'static str,
    /// What was found: `8 bytes of spilled registers`.
    pub found: String,
    /// Where in the source, as far as that is known.
    pub lines: Vec<String>,
    /// The file with the budget; `None` if it is in the launch contract.
    pub file: Option<PathBuf>,
}

impl fmt::Display for OverBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel `{}`", self.kernel)?;
        if let Some(declared_at) = &self.declared_at {
            write!(f, " ({declared_at})")?;
        }
        if let Some(arch) = self.arch {
            write!(f, " for {arch}")?;
        }
        write!(f, ": {}, and `{}` is ", self.found, self.budget)?;
        match &self.file {
            Some(file) => write!(f, "in [budgets] of {}", file.display())?,
            None => f.write_str("in its contract")?,
        }
        self.lines.iter().try_for_each(|line| write!(f, "\n  {line}"))
    }
}

/// The message of an error about all of them, with what to do.
pub(crate) fn message(over: &[OverBudget]) -> String {
    let mut text = String::from("kernels exceed their budgets:\n");
    over.iter().for_each(|one| text += &format!("{one}\n"));
    let advice = [
        (
            "no_panics",
            "give the compiler the fact that rules a panic out (`requires`, a slice of the right length, an `if`), or handle the case (`get`)",
        ),
        (
            "no_spills",
            "allow more registers (`max_registers`, `min_blocks_per_sm`, smaller blocks), or keep fewer values at a time",
        ),
        (
            "no_stack",
            "index arrays only by what is constant once loops are unrolled, make them smaller, or use `Shared`",
        ),
        ("no_f64", "write `f32` literals (`0.5_f32`), and no `as f64`"),
        (
            "max_registers",
            "keep fewer values at a time, or limit them by `#[kernel(max_registers = …)]`, which may spill",
        ),
    ];
    for (budget, advice) in advice {
        if over.iter().any(|one| one.budget == budget) {
            text += &format!("For `{budget}`: {advice}\n");
        }
    }
    text + "Or leave the budget out"
}

/// Compares the kernels of a release build with their budgets.
pub(crate) fn check(options: &Options, manifest: &Manifest, facts: &[KernelFacts]) -> Result<(), Error> {
    if options.profile != Profile::Release {
        return Ok(());
    }
    let contracts = manifest.kernels.iter().map(|kernel| &kernel.contract);
    let over: Vec<_> = contracts
        .zip(facts)
        .flat_map(|(contract, facts)| of_kernel(&options.budgets, contract, facts))
        .collect();
    if over.is_empty() { Ok(()) } else { Err(Error::OverBudget(over)) }
}

fn of_kernel(budgets: &Budgets, contract: &Contract, facts: &KernelFacts) -> Vec<OverBudget> {
    let mut over = Vec::new();
    let mut add = |budget, in_contract: bool, arch, found: String, lines: Vec<String>| {
        over.push(OverBudget {
            kernel: facts.name.clone(),
            declared_at: facts.declared_at.clone(),
            arch,
            budget,
            found,
            lines,
            file: budgets.file.clone().filter(|_| !in_contract),
        });
    };
    let asked = |contract: u32, project: bool| (contract != 0 || project).then_some(contract != 0);
    if let Some(in_contract) = asked(contract.no_panics, budgets.no_panics)
        && !facts.panics.is_empty()
    {
        let lines: Vec<_> = facts.panics.iter().map(ToString::to_string).collect();
        let count = lines.len();
        let found = format!("it can panic at {count} {}", if count == 1 { "place" } else { "places" });
        add("no_panics", in_contract, None, found, lines);
    }
    for (arch, of_arch) in &facts.archs {
        let ArchFacts { resources, counts, f64_at, .. } = of_arch;
        let unknown = || "ptxas did not say, because no machine code is made".to_owned();
        let found = |count: u32, what: &str| (count != 0).then(|| format!("{count} {what}"));
        let spilled = resources.map(|it| it.spill_store_bytes + it.spill_load_bytes);
        let of_ptxas = [
            (
                "no_spills",
                asked(contract.no_spills, budgets.no_spills),
                spilled,
                "bytes of spilled registers",
            ),
            (
                "no_stack",
                asked(contract.no_stack, budgets.no_stack),
                resources.map(|it| it.stack_bytes),
                "bytes of stack, which is in local memory",
            ),
        ];
        for (budget, asked, count, what) in of_ptxas {
            if let Some(in_contract) = asked
                && let Some(found) = count.map_or_else(|| Some(unknown()), |count| found(count, what))
            {
                add(budget, in_contract, Some(*arch), found, Vec::new());
            }
        }
        if let Some(max) = budgets.max_registers {
            match resources.map(|it| it.registers) {
                None => add("max_registers", false, Some(*arch), unknown(), Vec::new()),
                Some(registers) if registers > max => {
                    add(
                        "max_registers",
                        false,
                        Some(*arch),
                        format!("{registers} registers instead of {max}"),
                        Vec::new(),
                    );
                }
                Some(_) => {}
            }
        }
        if let Some(in_contract) = asked(contract.no_f64, budgets.no_f64)
            && let Some(found) = found(counts.f64, "instructions for 64-bit floating-point numbers")
        {
            add("no_f64", in_contract, Some(*arch), found, f64_at.iter().map(ToString::to_string).collect());
        }
    }
    over
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use gpukernel_image::Resources;

    use super::*;
    use crate::{Counted, InstructionCounts};

    fn facts(resources: Option<Resources>, f64: u32) -> KernelFacts {
        let counts = InstructionCounts { counted: Counted::Ptx, f64, i64: 3 };
        let line = |line| SourceLine { file: "src/lib.rs".to_owned(), line };
        let of_arch = ArchFacts {
            resources,
            occupancy: None,
            block_is_known: true,
            code_bytes: None,
            counts,
            f64_at: vec![line(9)],
        };
        KernelFacts {
            name: "k::blur".to_owned(),
            symbol: "blur".to_owned(),
            declared_at: Some(line(7)),
            panics: BTreeSet::new(),
            archs: BTreeMap::from([(Arch::new(9, 0), of_arch)]),
        }
    }

    fn all(file: Option<&str>) -> Budgets {
        Budgets {
            no_panics: true,
            no_spills: true,
            no_stack: true,
            no_f64: true,
            max_registers: Some(32),
            file: file.map(PathBuf::from),
        }
    }

    fn texts(budgets: &Budgets, contract: &Contract, facts: &KernelFacts) -> Vec<String> {
        of_kernel(budgets, contract, facts).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn each_budget_names_kernel_line_and_number() {
        let resources = Resources {
            registers: 40,
            stack_bytes: 16,
            spill_store_bytes: 4,
            spill_load_bytes: 8,
            shared_bytes: 0,
        };
        let facts = facts(Some(resources), 2);
        let whose = "kernel `k::blur` (src/lib.rs:7) for sm_90: ";
        assert_eq!(
            texts(&all(Some("/p/gpukernel.toml")), &Contract { no_stack: 1, ..Contract::NONE }, &facts),
            [
                format!(
                    "{whose}12 bytes of spilled registers, and `no_spills` is in [budgets] of /p/gpukernel.toml"
                ),
                format!(
                    "{whose}16 bytes of stack, which is in local memory, and `no_stack` is in its contract"
                ),
                format!(
                    "{whose}40 registers instead of 32, and `max_registers` is in [budgets] of /p/gpukernel.toml"
                ),
                format!(
                    "{whose}2 instructions for 64-bit floating-point numbers, and `no_f64` is in [budgets] of \
                     /p/gpukernel.toml\n  src/lib.rs:9"
                ),
            ]
        );
        assert!(texts(&Budgets::default(), &Contract::NONE, &facts).is_empty());
    }

    #[test]
    fn what_keeps_to_them_is_silent() {
        let resources = Resources { registers: 32, shared_bytes: 4096, ..Resources::default() };
        let contract = Contract { no_panics: 1, no_spills: 1, no_stack: 1, no_f64: 1, ..Contract::NONE };
        assert!(texts(&all(None), &contract, &facts(Some(resources), 0)).is_empty());
    }

    #[test]
    fn what_nobody_measured_is_no_success() {
        let texts = texts(&all(None), &Contract::NONE, &facts(None, 0));
        assert_eq!(texts.len(), 3, "{texts:?}");
        assert!(texts.iter().all(|text| text.contains("no machine code is made")), "{texts:?}");
    }
}

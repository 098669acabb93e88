//! Budgets: builds that fail because a kernel exceeds what its contract or the project allows.

use std::fs;

use gpukernel_build::{Arch, Error, MachineCode, Options, Panics, Profile};
use gpukernel_tests::KernelCrate;

/// Kernels that exceed each budget, with these contracts.
fn kernels(contracts: [&str; 3]) -> String {
    let [sums, table, scale] = contracts;
    format!(
        "
    #[kernel({sums})]
    pub fn sums(x: &[u32], y: PerBlock<u32>) {{
        for (i, y) in y {{
            for k in i..i + 4 {{ *y += x[k]; }}
        }}
    }}

    #[kernel({table})]
    pub fn table(at: &[u32], y: PerThread<u32>) {{
        for (i, y) in y {{
            let mut table = [i as u32; 300];
            for at in at {{ table[*at as usize % 300] += 1; }}
            *y = table[i % 300];
        }}
    }}

    #[kernel({scale})]
    pub fn scale(y: PerThread<f32>) {{
        for (_, y) in y {{
            *y = (*y as f64 * 0.1) as f32;
        }}
    }}"
    )
}

fn options() -> Options {
    Options { archs: vec![Arch::new(9, 0)], ..Options::default() }
}

fn refused(kernels: &KernelCrate, options: Options) -> String {
    match kernels.try_build(options) {
        Err(error @ Error::OverBudget(_)) => error.to_string(),
        Err(error) => panic!("another error: {error}"),
        Ok(built) => panic!("it built: {:?}", built.facts),
    }
}

#[test]
fn contracts_that_are_exceeded_are_refused_with_kernel_number_and_line() {
    let kernels = KernelCrate::written("budgets", &kernels(["no_panics", "no_spills, no_stack", "no_f64"]));
    let error = refused(&kernels, options());
    for part in [
        "kernels exceed their budgets:\n",
        "kernel `budgets::sums` (src/lib.rs:5): it can panic at 1 place, and `no_panics` is in its contract\n  \
         src/lib.rs:7:39: bounds check (in a loop)\n",
        "kernel `budgets::table` (src/lib.rs:12) for sm_90: 1200 bytes of stack, which is in local memory, and `no_stack` is in \
         its contract\n",
        "kernel `budgets::scale` (src/lib.rs:21) for sm_90: ",
        " instructions for 64-bit floating-point numbers, and `no_f64` is in its contract\n",
        "\n  src/lib.rs:23\n",
        "For `no_f64`: write `f32` literals",
    ] {
        assert!(error.contains(part), "`{part}` is missing in\n{error}");
    }
    assert!(!error.contains("spilled"), "{error}");
    // Traps have no places.
    let error = refused(&kernels, Options { panics: Panics::Trap, ..options() });
    assert!(error.contains("\n  at a place that is not known"), "{error}");
    // Nothing says what ptxas would do.
    let error = refused(&kernels, Options { machine_code: MachineCode::None, ..options() });
    assert!(
        error.contains("sm_90: ptxas did not say, because no machine code is made, and `no_spills`"),
        "{error}"
    );
    // Dev builds check for overflow.
    kernels.try_build(Options { profile: Profile::Dev, ..options() }).expect("a dev build is not checked");
}

#[test]
fn a_project_has_budgets_for_all_its_kernels() {
    let kernels = KernelCrate::written("budgets_of_project", &kernels(["", "", ""]));
    let settings = kernels.dir().join("gpukernel.toml");
    let of_crate = || Options {
        archs: vec![Arch::new(9, 0)],
        ..Options::of_crate(&kernels.dir().join("Cargo.toml")).unwrap()
    };
    fs::write(&settings, "[budgets]\nno_f64 = true\nmax_registers = 8\n").unwrap();
    let error = refused(&kernels, of_crate());
    let asked_by = format!("is in [budgets] of {}\n", settings.display());
    for part in ["`budgets_of_project::scale`", " registers instead of 8, and `max_registers` ", &asked_by] {
        assert!(error.contains(part), "`{part}` is missing in\n{error}");
    }
    fs::write(&settings, "[budgets]\nno_spills = true\nmax_registers = 255\n").unwrap();
    kernels.try_build(of_crate()).expect("it keeps to them");
}

#[test]
fn build_scripts_keep_to_budgets_in_release_builds() {
    let kernels = KernelCrate::written("budgets_of_script", &kernels(["", "", ""]));
    fs::write(kernels.dir().join("gpukernel.toml"), "[budgets]\nno_f64 = true\n").unwrap();
    let script = env!("CARGO_BIN_EXE_build-script");
    let run = kernels.run_build_script(script, &[("PROFILE", "release")]);
    assert!(
        !run.success && run.stderr.contains("kernel `budgets_of_script::scale` (src/lib.rs:21) for sm_"),
        "{run:#?}"
    );
    assert!(run.stderr.contains("`no_f64` is in [budgets] of "), "{run:#?}");
    assert!(kernels.run_build_script(script, &[("PROFILE", "debug")]).success);
}

#[test]
fn facts_name_lines_counts_and_occupancy() {
    let kernels = KernelCrate::written("facts", &kernels(["block = 128", "", ""]));
    let built = kernels.try_build(Options { disassembles: true, ..options() }).unwrap();
    let of = |name: &str| {
        let facts = built.facts.iter().find(|facts| facts.symbol == name).unwrap();
        (facts, &facts.archs[&Arch::new(9, 0)])
    };
    let (sums, on_hopper) = of("sums");
    assert_eq!(sums.declared_at.as_ref().map(ToString::to_string).as_deref(), Some("src/lib.rs:5"));
    assert_eq!(sums.panics.len(), 1);
    let occupancy = on_hopper.occupancy.as_ref().unwrap();
    assert_eq!((occupancy.threads_per_block, on_hopper.block_is_known), (128, true));
    assert_eq!(on_hopper.counts.f64, 0);
    let (_, on_hopper) = of("scale");
    assert!(on_hopper.counts.f64 >= 3, "two conversions and a product: {:?}", on_hopper.counts);
    assert_eq!(on_hopper.counts.counted, gpukernel_build::Counted::Sass);
    assert!(!on_hopper.block_is_known);
}

//! The templates, built, run and tested as users get them.

use crate::common::Folder;

/// Creates a project and tests it after a change of a kernel.
fn tested(template: &str, edit: (&str, &str), checked: &str) -> (Folder, String) {
    let folder = Folder::with(&[]);
    let name = format!("template-{template}");
    folder.gpukernel("", &["new", &name, "--template", template, "--quiet"]).succeeded();
    folder.lock(&name);
    let format = folder.cargo(&name, &["fmt", "--all", "--check"]);
    assert!(format.success, "{}", format.stdout);
    let lib = format!("{name}/kernels/src/lib.rs");
    let edited = folder.read(&lib).replace(edit.0, edit.1);
    assert_ne!(edited, folder.read(&lib));
    folder.write(&lib, &edited);
    let said = folder.cargo(&name, &["test", "--workspace", "--quiet"]).succeeded();
    assert!(!said.stderr.contains("warning"), "{}", said.stderr);
    assert!(said.stdout.contains(checked), "{checked} in {}", said.stdout);
    (folder, name)
}

/// Creates a project, tests it, with its benchmark run once, and runs it.
fn check(template: &str, edit: (&str, &str), run: &[&str], printed: &str, checked: &str) -> (Folder, String) {
    let (folder, name) = tested(template, edit, checked);
    let said = folder.cargo(&name, &[&["run", "--quiet"], run].concat()).succeeded();
    assert!(said.stdout.starts_with("cpu (") && said.stdout.contains(printed), "{}", said.stdout);
    (folder, name)
}

const SAXPY: (&str, &str) = ("*y += a * x[i];", "*y = a * x[i] + *y;");
const SAXPY_CHECKED: &str = "test saxpy elements=65536 (cpu) ... ok";

#[test]
fn plain() {
    check("plain", SAXPY, &[], "[12.0, 24.0, 36.0]", SAXPY_CHECKED);
}

#[test]
fn library() {
    check("library", SAXPY, &["--example", "saxpy"], "[12.0, 24.0, 36.0]", SAXPY_CHECKED);
}

#[test]
fn cuda_c() {
    check(
        "cuda-c",
        ("softsign(*value)", "-softsign(-*value)"),
        &[],
        "[-0.75, 0.0, 0.5]",
        "test softsign elements=65536 (cpu) ... ok",
    );
}

#[test]
fn bench() {
    let (folder, name) = check("bench", SAXPY, &[], "[12.0, 24.0, 36.0]", SAXPY_CHECKED);
    // In the profile that is built already, and not for long.
    let bench = ["bench", "--profile", "dev", "--axis", "elements=1000", "--", "--max-time", "0.1"];
    let said = folder.built(&name, &bench).succeeded();
    assert!(said.stdout.contains("loop on the host"), "{}", said.stdout);
}

/// What needs no Python: `.ci/run python` runs the rest.
#[test]
fn python() {
    let (folder, name) = tested("python", ("    x + y", "    y + x"), "test result: ok. 2 passed");
    let said = folder.gpukernel("", &["new", "in-python", "--template", "python"]).succeeded().stderr;
    assert!(said.contains("`cd in-python`, then `python3 -m venv .venv && .venv/bin/pip install"), "{said}");
    let workflow = folder.read(&format!("{name}/.github/workflows/ci.yml"));
    assert!(
        workflow.contains("- run: pytest") && !workflow.contains("--locked cargo-gpukernel\n"),
        "{workflow}"
    );
    assert!(folder.read(&format!("{name}/.gitignore")).contains("/.venv\n"));
}

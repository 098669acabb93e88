//! The templates, built, run and tested as users get them.

mod common;

use common::Folder;

/// Creates a project and tests it after a change of a kernel, with its benchmark run once.
fn check(template: &str, edit: (&str, &str), run: &[&str], printed: &str, bench: &[&str]) {
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
    let said = folder.cargo(&name, &[&["run", "--quiet"], run].concat()).succeeded();
    assert!(said.stdout.starts_with("cpu (") && said.stdout.contains(printed), "{}", said.stdout);
    // In the profile that is built already.
    folder.cargo(&name, &[&["bench", "--quiet", "--profile", "dev", "--bench"], bench].concat()).succeeded();
}

const SAXPY: (&str, &str) = ("*y += a * x[i];", "*y = a * x[i] + *y;");

#[test]
fn plain() {
    check("plain", SAXPY, &[], "[12.0, 24.0, 36.0]", &["saxpy"]);
}

#[test]
fn library() {
    check("library", SAXPY, &["--example", "saxpy"], "[12.0, 24.0, 36.0]", &["saxpy"]);
}

#[test]
fn cuda_c() {
    check("cuda-c", ("softsign(*value)", "-softsign(-*value)"), &[], "[-0.75, 0.0, 0.5]", &["softsign"]);
}

#[test]
fn bench() {
    check("bench", SAXPY, &[], "[12.0, 24.0, 36.0]", &["saxpy", "--", "--test"]);
}

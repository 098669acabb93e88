//! `cargo gpukernel build --list-passes`, as users run it.

use std::process::Command;

#[test]
fn passes_are_listed_in_order_without_a_workspace() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-gpukernel"));
    let output =
        command.current_dir(dir.path()).args(["gpukernel", "build", "--list-passes"]).output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    let names: Vec<_> =
        text.lines().skip(1).filter_map(|line| line.get(16..)?.split_whitespace().next()).collect();
    let expected: Vec<_> = gpukernel_build::linker_passes().iter().map(|pass| pass.name).collect();
    assert_eq!(names, expected, "{text}");
}

//! `cargo gpukernel build`, as users run it.

use std::{fs, path::Path};

use crate::common::{Folder, Ran, of_kernels, projects_dir, share_builds};
use gpukernel_image::{CodeKind, Image};
use gpukernel_tests::KernelCrate;
use serde_json::Value;

const SOURCE: &str = "
    #[kernel(block = 128)]
    pub fn scale(a: f32, x: &[f32], y: PerThread<f32>) {
        for (i, y) in y { *y = a * x[i]; }
    }

    #[kernel]
    pub fn halve(y: PerThread<f32>) {
        for (_, y) in y { *y = (*y as f64 * 0.1) as f32; }
    }";

/// The JSON objects of all lines.
fn parsed(ran: &Ran) -> Vec<Value> {
    let lines = ran.stdout.lines();
    lines.map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

fn build(dir: &Path, words: &[&str]) -> Ran {
    of_kernels(dir, "build", words)
}

#[test]
fn facts_are_printed_for_programs() {
    let kernels = KernelCrate::written("told-as-json", SOURCE);
    let run = build(kernels.dir(), &["--release", "--message-format", "json"]);
    assert!(run.success, "{run:?}");
    let messages = parsed(&run);
    let [image, halve, scale] = &messages[..] else { panic!("{messages:?}") };
    assert_eq!(
        (&image["reason"], &image["profile"], &image["fresh"]),
        (&"image".into(), &"release".into(), &false.into())
    );
    assert!(Path::new(image["path"].as_str().unwrap()).is_file());
    for (kernel, name) in [(halve, "halve"), (scale, "scale")] {
        assert_eq!(kernel["reason"], "kernel");
        assert_eq!(kernel["package"], "told-as-json");
        assert_eq!(kernel["kernel"], format!("told_as_json::{name}"));
        assert_eq!((&kernel["symbol"], &kernel["arch"]), (&name.into(), &"sm_90".into()));
        assert_eq!(kernel["declared_at"]["file"], "src/lib.rs");
        for number in ["registers", "stack_bytes", "spill_store_bytes", "spill_load_bytes", "shared_bytes"] {
            assert!(kernel[number].is_u64(), "{number}: {kernel}");
        }
        assert_eq!(kernel["instructions"]["counted"], "sass");
    }
    let occupancy = &scale["occupancy"];
    assert_eq!((&occupancy["threads_per_block"], &occupancy["block_is_known"]), (&128.into(), &true.into()));
    assert_eq!(
        (&occupancy["percent"], &occupancy["limited_by"]),
        (&100.into(), &serde_json::json!(["threads"]))
    );
    let place = serde_json::json!([{
        "file": "src/lib.rs", "line": 6, "column": 36, "in_a_loop": false, "kinds": ["bounds_check"],
    }]);
    let mut panics = scale["panics"].clone();
    panics[0]["in_a_loop"] = false.into();
    assert_eq!(panics, place);
    assert!(halve["instructions"]["f64"].as_u64().unwrap() > 0, "{halve}");
    assert_eq!(halve["instructions"]["f64_at"], serde_json::json!([{ "file": "src/lib.rs", "line": 11 }]));

    let again = parsed(&build(kernels.dir(), &["--release", "--message-format", "json"]));
    assert_eq!((&again[0]["fresh"], &again[1..]), (&true.into(), &messages[1..]));
}

#[test]
fn tables_fit_into_100_columns_and_say_what_they_assume() {
    let source = format!(
        "pub mod modules_with_long_names {{ pub mod within_others {{ use gpu_std::prelude::*; {SOURCE} }} }}"
    );
    let kernels = KernelCrate::written("told-as-tables", &source);
    let run = build(kernels.dir(), &["--release", "--panics", "--instructions"]);
    assert!(run.success, "{run:?}");
    let table: Vec<_> = run.stdout.lines().filter(|line| !line.starts_with("  /")).collect();
    assert!(table.iter().all(|line| line.chars().count() <= 100), "{}", run.stdout);
    for part in [
        "…within_others::scale",
        "*100%",
        "*: for 256 threads per block, because the launch contract names no block\n",
        "SASS",
        "modules_with_long_names::within_others::scale can panic:\n  src/lib.rs:6:36: bounds check",
    ] {
        assert!(run.stdout.contains(part), "`{part}` is missing in\n{}", run.stdout);
    }
}

#[test]
fn budgets_that_are_exceeded_are_an_error_in_both_forms() {
    let kernels = KernelCrate::written("told-over-budget", SOURCE);
    fs::write(kernels.dir().join("gpukernel.toml"), "[budgets]\nno_f64 = true\n").unwrap();
    let run = build(kernels.dir(), &["--release", "--message-format", "json"]);
    let [over] = &parsed(&run)[..] else { panic!("{run:?}") };
    assert!(!run.success);
    assert_eq!((&over["reason"], &over["budget"]), (&"over-budget".into(), &"no_f64".into()));
    assert_eq!((&over["kernel"], &over["arch"]), (&"told_over_budget::halve".into(), &"sm_90".into()));
    assert_eq!(
        (&over["declared_at"]["line"], &over["lines"]),
        (&10.into(), &serde_json::json!(["src/lib.rs:11"]))
    );
    assert!(run.stderr.contains("kernel `told_over_budget::halve` (src/lib.rs:10) for sm_90: "), "{run:?}");

    fs::write(kernels.dir().join("gpukernel.toml"), "[budgets]\nno_f46 = true\n").unwrap();
    let run = build(kernels.dir(), &["--release"]);
    assert!(!run.success && run.stderr.contains("unknown field `no_f46`"), "{run:?}");
}

/// cargo is asked for members alone, which these are none of.
#[test]
fn kernel_crates_beside_the_workspace_are_found() {
    let kernels = KernelCrate::written("beside-a-workspace", SOURCE).in_a_program();
    let program = kernels.dir().parent().unwrap();
    let run = build(program, &["-p", "program-of-beside-a-workspace", "--message-format", "json"]);
    assert!(run.success && run.stdout.contains("\"beside_a_workspace::scale\""), "{run:?}");
    let run = build(program, &["-p", "beside-a-workspac"]);
    assert!(!run.success && run.stderr.contains("has no package `beside-a-workspac`"), "{run:?}");
}

/// Each architecture takes its time, of the user's kernels and of those that their libraries bring.
#[test]
fn programs_have_code_for_the_gpus_that_are_asked_for() {
    let kernels = "#[kernel]\npub fn clear(y: PerThread<f32>) { for (_, y) in y { *y = 0.0; } }";
    let folder = Folder::project("for-some-gpus", kernels, "fn main() {}\n");
    let manifest =
        folder.read("kernels/Cargo.toml").replace("[\"sm_80\"]", "[\"sm_75\", \"sm_80\", \"sm_90\"]");
    folder.write("kernels/Cargo.toml", &manifest);
    let build = |asked: &str| {
        let mut command = std::process::Command::new("cargo");
        share_builds(&mut command).arg("build").current_dir(&folder.path).env("GPUKERNEL_ARCHS", asked);
        command.output().unwrap()
    };
    let archs = || -> Vec<String> {
        let folders =
            fs::read_dir(projects_dir().join("debug/build")).unwrap().map(|entry| entry.unwrap().path());
        let is_it =
            |folder: &Path| folder.file_name().unwrap().to_str().unwrap().starts_with("for-some-gpus-");
        let mut images =
            folders.filter(|folder| is_it(folder)).map(|folder| folder.join("out/kernels.gpukimg"));
        let bytes = fs::read(images.find(|image| image.is_file()).unwrap()).unwrap();
        let image = Image::parse(&bytes).unwrap();
        let ptx = image.code().iter().filter(|code| code.kind() == CodeKind::Ptx);
        ptx.map(|code| code.arch().to_string()).collect()
    };
    for (asked, built) in
        [("sm_89", &["sm_80"][..]), ("sm_75, sm_90", &["sm_75", "sm_90"]), ("", &["sm_75", "sm_80", "sm_90"])]
    {
        let output = build(asked);
        assert!(output.status.success(), "{asked}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(archs(), built, "{asked}");
    }
    let said = String::from_utf8(build("sm90").stderr).unwrap();
    assert!(
        said.contains("GPUKERNEL_ARCHS=sm90: `sm90` is no architecture: give some such as sm_90, or native"),
        "{said}"
    );
}

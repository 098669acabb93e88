//! `cargo gpukernel inspect`, as users run it, and its page in a browser.

use std::{
    env,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::common::{Ran, of_kernels};
use gpukernel_tests::KernelCrate;
use serde_json::Value;

const SOURCE: &str = "
    #[inline(always)]
    fn weigh(x: f32) -> f32 {
        x * 3.0 + 1.0
    }

    #[kernel(block = 256)]
    pub fn scale(x: &[f32], y: PerThread<f32>) {
        for (i, y) in y {
            *y = weigh(x[i]);
        }
    }

    /// Its text has what would end a script: </script><!--
    #[kernel(block = 256)]
    pub fn spread(x: &[f32], y: PerThread<f32>) {
        for (i, y) in y {
            *y = x[i * 32];
        }
    }";

fn inspect<S: AsRef<OsStr>>(dir: &Path, words: impl IntoIterator<Item = S>) -> Ran {
    of_kernels(dir, "inspect", words)
}

#[test]
fn kernels_are_listed_and_mistyped_names_get_suggestions() {
    let kernels = KernelCrate::written("inspect-names", SOURCE);
    let run = inspect(kernels.dir(), [""; 0]);
    assert!(run.success, "{run:?}");
    let rows: Vec<Vec<_>> = run.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[1][..3], ["inspect_names::scale", "src/lib.rs:10", "sm_90"], "{run:?}");
    assert_eq!(rows[2][0], "inspect_names::spread");
    let run = inspect(kernels.dir(), ["scael"]);
    assert!(!run.success && run.stdout.is_empty());
    assert!(
        run.stderr.contains(
            "there is no kernel `scael` in the sources of the kernel crates; did you mean `scale`?"
        ),
        "{run:?}"
    );
    let run = inspect(kernels.dir(), ["scale", "--package", "none"]);
    assert!(!run.success && run.stderr.contains("has no package `none`"), "{run:?}");
}

#[test]
fn a_crate_that_does_not_build_is_left_out_and_a_path_names_the_only_one_to_build() {
    let kernels = KernelCrate::written("inspect-two", SOURCE);
    let (dir, broken) = (kernels.dir(), kernels.dir().join("broken"));
    let manifest = fs::read_to_string(dir.join("Cargo.toml")).unwrap();
    let dependencies = manifest.split("[dependencies]").nth(1).unwrap();
    fs::create_dir_all(broken.join("src")).unwrap();
    fs::write(dir.join("Cargo.toml"), manifest.replace("[workspace]", "[workspace]\nmembers = [\"broken\"]"))
        .unwrap();
    let package =
        "[package]\nname = \"inspect-broken\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[dependencies]";
    fs::write(broken.join("Cargo.toml"), format!("{package}{dependencies}")).unwrap();
    fs::write(broken.join("src/lib.rs"), "#![no_std]\nfn broken() -> u32 {}").unwrap();
    // Its source does not have the name, so that it is not built.
    let run = inspect(dir, ["scale", "--view", "ptx"]);
    assert!(run.success && run.stdout.starts_with("inspect_two::scale for sm_90"), "{run:?}");
    assert!(!run.stderr.contains("left out"), "{run:?}");
    let left_out = "warning: left out, because it does not build: `inspect-broken`: ";
    for words in [&[][..], &["no-such-kernel"]] {
        let run = inspect(dir, words);
        assert!(run.stderr.contains(left_out), "{run:?}");
    }
    let run = inspect(dir, ["inspect_two::scale", "--view", "ptx"]);
    assert!(run.success && !run.stderr.contains("left out"), "{run:?}");
    let run = inspect(dir, ["--package", "inspect-broken"]);
    assert!(!run.success && run.stderr.contains("cannot build the kernel crate `inspect-broken`"), "{run:?}");
}

#[test]
fn code_is_listed_beside_its_source() {
    let kernels = KernelCrate::written("inspect-listing", SOURCE);
    let run = inspect(kernels.dir(), ["spread"]);
    assert!(run.success, "{run:?}");
    for part in [
        "inspect_listing::spread for sm_90 (src/lib.rs:18)\n",
        "8 blocks of 256 threads on a multiprocessor: 100 % of its warps\n",
        "can panic: src/lib.rs:20:18: bounds check",
        "global load of 4 B, 128 B apart: uncoalesced, 32 sectors instead of 4 at src/lib.rs:20\n",
        "   20             *y = x[i * 32];",
        "│ llvm ",
        "│ ptx  ld.global.nc.b32 ",
        "│ sass ",
        " live",
    ] {
        assert!(run.stdout.contains(part), "`{part}` is missing in\n{}", run.stdout);
    }
    let run = inspect(kernels.dir(), ["spread", "--view", "ptx"]);
    assert!(run.stdout.contains("│ ptx ") && !run.stdout.contains("│ sass "), "{run:?}");
}

#[test]
fn kernels_are_compared() {
    let kernels = KernelCrate::written("inspect-diff", SOURCE);
    let dir = kernels.dir();
    let json = inspect(dir, ["scale", "--json"]);
    let data: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((&data["kernel"], &data["arch"]), (&"inspect_diff::scale".into(), &"sm_90".into()));
    assert!(
        ["llvm_ir", "ptx", "sass"].iter().all(|form| !data[form].as_array().unwrap().is_empty()),
        "{data}"
    );
    fs::write(dir.join("before.json"), &json.stdout).unwrap();
    let compare = |other: &str| inspect(dir, ["scale", "--diff", other]);
    let same = compare("before.json");
    assert!(same.stdout.ends_with("\n\nthe machine code consists of the same operations\n"), "{same:?}");

    let arch = compare("sm_80");
    assert!(arch.stdout.contains("\n--- sm_80\n+++ inspect_diff::scale sm_90\n@@ -1,"), "{arch:?}");

    let twin = "__global__ void other(float *y) { y[0] = 1; }
        __global__ void scale(const float *__restrict__ x, float *__restrict__ y, unsigned n) {
            unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) y[i] = x[i] * 3 + 1;
        }";
    fs::write(dir.join("twin.cu"), twin).unwrap();
    let nvcc = compare("twin.cu");
    assert!(nvcc.success && nvcc.stdout.contains("--- nvcc twin.cu\n"), "{nvcc:?}");
    let panics = nvcc.stdout.lines().find(|line| line.starts_with("places that can panic")).unwrap();
    assert_eq!(panics.split_whitespace().rev().take(2).collect::<Vec<_>>(), ["0", "1"]);
    for (bad, message) in [
        ("none.json", "cannot read none.json"),
        ("none.cu", "there is no file none.cu"),
        ("sm80", "is in no git repository"),
    ] {
        let run = compare(bad);
        assert!(!run.success && run.stderr.contains(message), "{bad}: {run:?}");
    }
    fs::write(dir.join("before.json"), "{}").unwrap();
    let damaged = compare("before.json");
    assert!(damaged.stderr.contains("before.json is not what `cargo gpukernel inspect"), "{damaged:?}");
}

#[test]
fn kernels_are_compared_with_a_commit() {
    let kernels = KernelCrate::written("inspect-commit", SOURCE);
    let dir = kernels.dir();
    let git = |words: &[&str]| {
        let mut command = Command::new("git");
        command.current_dir(dir).args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.hooksPath="]);
        assert!(command.args(words).output().expect("git is there").status.success(), "{words:?}");
    };
    git(&["init", "--quiet"]);
    git(&["add", "."]);
    git(&["commit", "--quiet", "--message", "then"]);
    fs::write(
        dir.join("src/lib.rs"),
        fs::read_to_string(dir.join("src/lib.rs")).unwrap().replace("x * 3.0 + 1.0", "x / 3.0"),
    )
    .unwrap();
    let run = inspect(dir, ["scale", "--diff", "HEAD"]);
    assert!(run.success && run.stdout.contains("\n--- HEAD\n+++ inspect_commit::scale sm_90\n"), "{run:?}");
    assert!(run.stdout.contains("\n-FFMA "), "{run:?}");
    let again = inspect(dir, ["scale", "--diff", "HEAD"]);
    assert_eq!(again.stdout, run.stdout);
    let status =
        Command::new("git").current_dir(dir).args(["status", "--porcelain", "--", "src"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&status.stdout).trim(), "M src/lib.rs");
}

/// The browser, by the variable CHROMIUM or in PATH.
fn chromium() -> PathBuf {
    let named = env::var_os("CHROMIUM").map(PathBuf::from);
    let path = env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let mut found = env::split_paths(&path).flat_map(|dir| names.map(|name| dir.join(name)));
    named.or_else(|| found.find(|file| file.is_file())).unwrap_or_else(|| {
        panic!("the page is tested in a browser, and there is none: install chromium (Debian: `apt install chromium`), or name it in CHROMIUM")
    })
}

/// What a page is once its scripts have run.
fn page(url: &str, profile: &Path) -> String {
    let mut command = Command::new(chromium());
    // Sandboxes need rights that containers do not have; the page is ours.
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--dump-dom"]);
    command.arg(format!("--user-data-dir={}", profile.display())).arg(url);
    let output = command.output().expect("the browser starts");
    let dom = String::from_utf8(output.stdout).expect("pages are UTF-8");
    assert!(
        output.status.success() && dom.contains("</html>"),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    dom
}

/// The texts of rows with a class, in one of the columns.
fn rows<'a>(dom: &'a str, column: &str, class: &str) -> Vec<&'a str> {
    let start =
        dom.find(&format!("id=\"{column}\"")).unwrap_or_else(|| panic!("no column {column} in\n{dom}"));
    let end = dom[start..].find("</section>").map_or(dom.len(), |length| start + length);
    let rows = dom[start..end].split("<div class=\"").skip(1).filter_map(|row| row.split_once('"'));
    let with_class = rows.filter(|(classes, _)| classes.split(' ').any(|one| one == class));
    with_class.filter_map(|(_, rest)| rest.split("class=\"text\">").nth(1)?.split('<').next()).collect()
}

#[test]
#[ignore = "needs chromium: `.ci/run browser` installs and uses it"]
fn a_line_of_source_lights_up_its_instructions_in_a_browser() {
    let kernels = KernelCrate::written("inspect-page", SOURCE);
    let dir = kernels.dir();
    let run = inspect(dir, ["scale", "--html=scale.html"]);
    assert!(run.success && run.stdout == "scale.html\n", "{run:?}");
    let text = fs::read_to_string(dir.join("scale.html")).unwrap();
    for outside in ["http:", "https:", "src=", "href=", "@import", "url("] {
        assert!(!text.contains(outside), "the page refers to something else by `{outside}`");
    }
    let number = |dom: &str| -> usize {
        // The file of the crate is the first.
        let start = dom.find("class=\"file\">src/lib.rs").expect("the source is shown");
        let (_, id) = dom[start..].split_once("id=\"S").expect("lines with code have names");
        id.split('-').next().and_then(|number| number.parse().ok()).expect("files have numbers")
    };
    let url = format!("file://{}", dir.join("scale.html").display()).replace(' ', "%20");
    let profile = dir.join("profile");
    let dom = page(&url, &profile);
    assert!(dom.contains("<title>inspect_page::scale for sm_90</title>"), "{dom}");
    assert!(rows(&dom, "sass", "lit").is_empty() && rows(&dom, "source", "lit").is_empty());
    assert!(dom.contains("can panic: bounds check"), "{dom}");

    // The line of the function that is inlined, and the line that calls it.
    let file = number(&dom);
    let dom = page(&format!("{url}#L{file}-6"), &profile);
    assert_eq!(rows(&dom, "source", "lit"), ["        x * 3.0 + 1.0"]);
    for (column, part) in [("llvm_ir", "fmul"), ("ptx", "fma.rn.f32"), ("sass", "FFMA")] {
        let lit = rows(&dom, column, "lit");
        assert!(lit.iter().any(|row| row.contains(part)), "{column}: {lit:?}");
        assert!(lit.iter().all(|row| !row.contains("LDG")), "{column}: {lit:?}");
    }
    let dom = page(&format!("{url}#L{file}-12"), &profile);
    let lit = rows(&dom, "sass", "lit");
    for part in ["LDG", "FFMA", "STG"] {
        assert!(lit.iter().any(|row| row.contains(part)), "{part}: {lit:?}");
    }

    // A source that would end the script does not.
    assert!(inspect(dir, ["spread", "--html=spread.html"]).success);
    let dom = page(&url.replace("scale.html", "spread.html"), &profile);
    assert!(dom.contains("uncoalesced, 32 sectors instead of 4"), "{dom}");
    assert!(dom.contains("&lt;/script&gt;&lt;!--"), "{dom}");
}

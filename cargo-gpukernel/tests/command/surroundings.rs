//! Projects in odd places: paths with spaces and other letters than ASCII, paths that are not UTF-8, folders that cannot be written, several commands
//! at once, no network.

use std::{
    env,
    ffi::OsStr,
    fs,
    os::unix::{
        ffi::OsStrExt,
        fs::{MetadataExt, PermissionsExt, symlink},
    },
    path::Path,
    process::{Command, Output},
};

use crate::common::{Folder, gpukernel, projects_dir, share_builds};
use gpukernel_tests::KernelCrate;

const KERNEL: &str = "#[kernel]\npub fn scale(y: PerThread<f32>) { for (_, y) in y { *y *= 2.0; } }";

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[track_caller]
fn succeeded(mut command: Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", said(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// Everything has spaces and letters of other alphabets in its path: the project, the kernels, CUDA C, what is built, and what is written.
#[test]
fn spaces_and_unicode() {
    let folder = Folder::with(&[]);
    let create = [
        "new",
        "größe der Fläche/проект",
        "--name",
        "unicode-paths",
        "--template",
        "cuda-c",
        "--quiet",
        "--vcs",
        "none",
    ];
    folder.gpukernel("", &create).succeeded();
    let below = "größe der Fläche/проект";
    let project = folder.path.join(below);
    folder.lock(below);
    fs::rename(project.join("kernels"), project.join("ker nels é")).unwrap();
    fs::rename(project.join("cuda"), project.join("cu da é")).unwrap();
    fs::rename(project.join("cu da é/softsign.cu"), project.join("cu da é/weiche ß.cu")).unwrap();
    for (file, from, to) in [
        ("Cargo.toml", "\"kernels\"", "\"ker nels é\""),
        ("build.rs", "\"kernels\"", "\"ker nels é\""),
        ("src/main.rs", "image!(\"kernels\")", "image!(\"ker nels é\")"),
        ("tests/softsign.rs", "image!(\"kernels\")", "image!(\"ker nels é\")"),
        ("benches/softsign.rs", "image!(\"kernels\")", "image!(\"ker nels é\")"),
        ("gpukernel.toml", "cuda/softsign.cu", "cu da é/weiche ß.cu"),
    ] {
        let file = format!("{below}/{file}");
        let text = folder.read(&file);
        assert!(text.contains(from), "{file}: {text}");
        folder.write(&file, &text.replace(from, to));
    }
    // So that what it depends on is not built once more.
    let target = folder.path.join("zie l ü");
    fs::create_dir_all(projects_dir()).unwrap();
    symlink(projects_dir(), &target).unwrap();
    let run = |words: &[&str]| {
        let mut command = gpukernel(&project, words);
        share_builds(&mut command).env("CARGO_TARGET_DIR", &target);
        succeeded(command)
    };
    assert!(run(&["run"]).contains("[-0.75, 0.0, 0.5]"));
    run(&["test"]);
    let files =
        run(&["build", "--arch", "sm_90", "--emit", "ll,ptx,cubin,sass,fatbin,object,bc,ltoir,header"]);
    let made = files
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.rsplit_once(" ("))
        .filter(|(file, _)| Path::new(file).is_file());
    assert_eq!(made.count(), 10, "{files}");
    let page = folder.path.join("se ite ä.html");
    run(&["inspect", "activate", "--arch", "sm_90", &format!("--html={}", page.display())]);
    assert!(fs::read_to_string(&page).unwrap().contains("ker nels é"));
    let bundle = folder.path.join("bün del");
    run(&["bundle", "--profile", "dev", "-o", bundle.to_str().unwrap()]);
    let ran = Command::new(bundle.join("run-tests")).env("GPUKERNEL_DEVICE", "cpu").output().unwrap();
    assert!(said(&ran).ends_with("1 passed, 0 failed, 0 skipped\n"), "{}", said(&ran));
    // In a copy elsewhere, nothing names the old place.
    folder.write("hea der é.h", "extern \"C\" __device__ float f(float x);\n");
    succeeded(gpukernel(&folder.path, &["bind", "hea der é.h", "-o", "bin dungen é.rs"]));
    assert!(folder.read("bin dungen é.rs").contains("pub fn f("));
}

/// cargo refuses such paths. The error says so, of every command, and none panics; what is written for the user may lie there.
#[test]
fn paths_that_are_not_utf_8() {
    let folder = Folder::with(&[]);
    let odd = folder.path.join(OsStr::from_bytes(b"n\xff"));
    fs::create_dir_all(odd.join("src")).unwrap();
    fs::write(odd.join("Cargo.toml"), "[package]\nname = \"odd\"\n[dependencies]\ngpukernel-std = \"0.1\"\n")
        .unwrap();
    fs::write(odd.join("src/lib.rs"), "").unwrap();
    for words in [&["build"][..], &["inspect"], &["run"], &["test"], &["bundle"], &["init"], &["new", "a"]] {
        let output = gpukernel(&odd, words).output().unwrap();
        let said = said(&output);
        assert_eq!(output.status.code(), Some(1), "{words:?}: {said}");
        assert!(
            said.starts_with("error: ") && said.contains("UTF-8") && !said.contains("panicked"),
            "{words:?}: {said}"
        );
    }
    let kernels = KernelCrate::written("not-utf-8", KERNEL);
    let mut command = gpukernel(kernels.dir(), &["build", "--target-dir"]);
    let output = command.arg(&odd).output().unwrap();
    assert!(
        !output.status.success() && said(&output).contains("`--target-dir` is not UTF-8"),
        "{}",
        said(&output)
    );
    let mut command = gpukernel(kernels.dir(), &["inspect", "scale", "--arch", "sm_90"]);
    command.arg([OsStr::new("--html="), odd.join("page.html").as_os_str()].join(OsStr::new("")));
    succeeded(command);
    assert!(odd.join("page.html").is_file());
}

/// Gives or takes the permission to write in a folder and all below it.
fn set_writable(folder: &Path, is_writable: bool) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            set_writable(&path, is_writable);
        } else {
            set_mode(&path, is_writable);
        }
    }
    set_mode(folder, is_writable);
}

fn set_mode(path: &Path, is_writable: bool) {
    let mode = path.metadata().unwrap().mode();
    let mode = if is_writable { mode | 0o200 } else { mode & !0o222 };
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// The same command, for which permissions count, as they do not for root: without the right to pass over them.
fn obeying(command: &Command) -> Command {
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    if !is_root {
        let mut same = Command::new(command.get_program());
        same.args(command.get_args());
        return same_place(same, command);
    }
    let mut limited = Command::new("setpriv");
    limited
        .arg("--bounding-set=-dac_override,-dac_read_search")
        .arg(command.get_program())
        .args(command.get_args());
    same_place(limited, command)
}

fn same_place(mut to: Command, from: &Command) -> Command {
    to.current_dir(from.get_current_dir().unwrap());
    for (name, value) in from.get_envs() {
        match value {
            Some(value) => to.env(name, value),
            None => to.env_remove(name),
        };
    }
    to
}

/// What is built lies elsewhere, so that the project is only read.
#[test]
fn a_project_that_cannot_be_written() {
    let folder = Folder::with(&[]);
    folder.gpukernel("", &["new", "read-only", "--quiet", "--vcs", "none"]).succeeded();
    folder.lock("read-only");
    let project = folder.path.join("read-only");
    // With the packages of the project in it.
    folder.cargo("read-only", &["metadata", "--format-version", "1", "--offline"]).succeeded();
    set_writable(&project, false);
    let run = |words: &[&str]| {
        let mut command = gpukernel(&project, words);
        share_builds(&mut command);
        obeying(&command).output().unwrap()
    };
    let out = folder.path.join("bundle");
    for words in [
        &["build", "--arch", "sm_90"][..],
        &["inspect", "saxpy", "--arch", "sm_90"],
        &["run"],
        &["test"],
        &["bundle", "--profile", "dev", "-o", out.to_str().unwrap()],
        &["init", "--dry-run"],
    ] {
        let output = run(words);
        assert!(output.status.success(), "{words:?}: {}", said(&output));
    }
    // What is to be written there fails with the place, and nothing stays behind.
    for (words, error) in [
        (&["bind", "src/main.rs", "-o", "x.rs"][..], "error: "),
        (&["man", "-o", "man1"], "cannot write the pages to man1"),
        (&["new", "inner"], "cannot create the project "),
        (&["inspect", "saxpy", "--arch", "sm_90", "--html=page.html"], "cannot write page.html"),
        (&["bundle", "--profile", "dev"], "cannot make bundle"),
    ] {
        let output = run(words);
        assert_eq!(output.status.code(), Some(1), "{words:?}: {}", said(&output));
        assert!(said(&output).contains(error), "{words:?}: {}", said(&output));
    }
    let own_target = gpukernel(&project, &["build"]);
    let output = obeying(&own_target).output().unwrap();
    assert!(!output.status.success() && said(&output).contains("Permission denied"), "{}", said(&output));
    set_writable(&project, true);
    assert!(!project.join("target").exists() && !project.join("man1").exists());
}

/// cargo has commands take turns while it compiles; what comes behind is for us to keep apart.
#[test]
fn several_commands_at_once() {
    let folder = Folder::with(&[]);
    folder.gpukernel("", &["new", "at-once", "--quiet", "--vcs", "none"]).succeeded();
    folder.lock("at-once");
    let project = folder.path.join("at-once");
    let commands = [
        &["build", "--release", "--arch", "sm_90", "--emit", "ll,ptx,cubin,sass"][..],
        &["build", "--release", "--arch", "sm_90", "--emit", "ll,ptx,cubin,sass"],
        &["build", "--arch", "sm_80"],
        &["inspect", "saxpy", "--arch", "sm_90"],
        &["test"],
        &["run"],
    ];
    let children: Vec<_> = commands
        .iter()
        .map(|words| {
            let mut command = gpukernel(&project, words);
            share_builds(&mut command);
            (
                words,
                command
                    .stdout(std::process::Stdio::piped())
                    .stderr(std::process::Stdio::piped())
                    .spawn()
                    .unwrap(),
            )
        })
        .collect();
    for (words, child) in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", said(&output));
        if words[0] == "inspect" {
            assert!(said(&output).contains("at_once_kernels::saxpy for sm_90 "), "{}", said(&output));
        }
    }
    let images = projects_dir().join("gpukernel/images/at-once-kernels");
    assert!(!images.join(".work").exists());
}

/// With what was downloaded before, all works without a network. Without that, the error says what is missing and what to do.
#[test]
fn without_a_network() {
    let kernels = KernelCrate::written("offline", KERNEL);
    let offline = |words: &[&str]| {
        let mut command = gpukernel(kernels.dir(), words);
        for proxy in ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"] {
            // Nothing listens at the port for `discard`.
            command.env(proxy, "http://127.0.0.1:9");
        }
        command
    };
    let mut command = offline(&["build", "--arch", "sm_90"]);
    command.env("CARGO_NET_OFFLINE", "true");
    assert!(succeeded(command).contains("scale"));
    let empty = tempfile::tempdir().unwrap();
    let fails = |mut command: Command, parts: &[&str]| {
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", said(&output));
        for part in parts {
            assert!(said(&output).contains(part), "no `{part}` in {}", said(&output));
        }
    };
    let by_hand = ["--offline forbids", "Install one by hand", "GPUKERNEL_RUSTC", "cargo gpukernel doctor"];
    let mut by_option = offline(&["build", "--offline"]);
    by_option
        .env("GPUKERNEL_CACHE", empty.path().join("a"))
        .env("PATH", "/usr/bin:/bin")
        .env("RUSTUP_HOME", empty.path());
    by_option.env("CARGO", cargo());
    fails(by_option, &by_hand);
    let mut by_variable = offline(&["inspect"]);
    by_variable
        .env("GPUKERNEL_CACHE", empty.path().join("b"))
        .env("PATH", "/usr/bin:/bin")
        .env("RUSTUP_HOME", empty.path());
    by_variable.env("CARGO_NET_OFFLINE", "true").env("CARGO", cargo());
    fails(by_variable, &by_hand);
    // What kernels depend on is cargo's to get.
    let mut no_packages = offline(&["build", "--offline"]);
    no_packages.env("CARGO_HOME", empty.path().join("cargo"));
    fails(no_packages, &["cannot build the kernel crate `offline`", "--offline"]);
}

/// The cargo of these tests and not rustup's, which needs its home.
fn cargo() -> std::ffi::OsString {
    env::var_os("CARGO").unwrap()
}

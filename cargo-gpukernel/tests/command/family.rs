//! What all commands have in common: exit codes, colours, quiet, and suggestions for mistyped names. Commands and their arguments are those that the
//! help lists, so that a new one is tested, too.

use std::{
    path::Path,
    process::{Command, Output},
};

use crate::common::Folder;
use gpukernel_tests::KernelCrate;

/// What turns colours on, in what a terminal gets.
const ESCAPE: &str = "\u{1b}[";

/// The subcommand in an empty folder on a machine with nothing: no toolchain, no home, no network.
fn command(dir: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-gpukernel"));
    command.arg("gpukernel").args(words).current_dir(dir).env_clear();
    command.env("HOME", dir).env("GPUKERNEL_CACHE", dir.join("cache")).env("PATH", "");
    command
        .env("CARGO", std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .env("CARGO_NET_OFFLINE", "true");
    for proxy in ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"] {
        // Nothing listens at the port for `discard`.
        command.env(proxy, "http://127.0.0.1:9");
    }
    command
}

fn output(mut command: Command) -> Output {
    command.output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// All commands but `help`, as the help lists them.
fn commands(dir: &Path) -> Vec<String> {
    let help = output(command(dir, &["--help"]));
    let help = String::from_utf8(help.stdout).unwrap();
    let list = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    // What a command does may go on in the next line, further to the right.
    let lines = list.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = lines.filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

/// What a command needs at least: its arguments without brackets in the line `Usage:`, with a value.
fn arguments(dir: &Path, name: &str) -> Vec<String> {
    let help = output(command(dir, &[name, "--help"]));
    let help = String::from_utf8(help.stdout).unwrap();
    let usage = help.lines().find(|line| line.starts_with("Usage:")).unwrap().split_whitespace();
    // What is for a program stands behind `[--`.
    let needed = usage.skip(4).take_while(|word| *word != "[--").filter(|word| word.starts_with('<'));
    let value = |word: &str| match word.trim_end_matches('.') {
        "<SHELL>" => "bash".to_owned(),
        other => other.trim_matches(['<', '>']).to_lowercase(),
    };
    needed.map(value).collect()
}

#[test]
fn every_command_has_help_and_fails_with_2_if_it_is_misused() {
    let folder = Folder::with(&[]);
    let commands = commands(&folder.path);
    assert!(commands.len() >= 12 && commands.iter().any(|name| name == "man"), "{commands:?}");
    for name in &commands {
        let run = |words: &[&str]| output(command(&folder.path, &[&[name.as_str()], words].concat()));
        let help = run(&["--help"]);
        assert_eq!(help.status.code(), Some(0), "{name}");
        for option in ["--color <WHEN>", "-v, --verbose", "-q, --quiet", "-h, --help"] {
            assert!(String::from_utf8_lossy(&help.stdout).contains(option), "{name} --help lacks {option}");
        }
        let misused = run(&["--no-such-option"]);
        assert_eq!(misused.status.code(), Some(2), "{name}");
        assert!(stderr(&misused).starts_with("error: "), "{name}: {}", stderr(&misused));
        assert_eq!(run(&["-q", "-v"]).status.code(), Some(2), "{name}");
        assert!(stderr(&run(&["--quite"])).contains("'--quiet'"), "{name}: {}", stderr(&run(&["--quite"])));
    }
    let none = output(command(&folder.path, &["bulid"]));
    assert_eq!(none.status.code(), Some(2));
    assert!(stderr(&none).contains("'build'"), "{}", stderr(&none));
}

/// Where there is nothing, each command does its work or fails with 1 and one message: with colours only if they are asked for.
#[test]
fn every_command_obeys_color_and_quiet() {
    let folder = Folder::with(&[]);
    for name in commands(&folder.path) {
        let needed = arguments(&folder.path, &name);
        let needed: Vec<&str> = needed.iter().map(String::as_str).collect();
        let run = |words: &[&str], variables: &[(&str, &str)]| {
            let dir = tempfile::tempdir().unwrap();
            let mut command = command(dir.path(), &[&[name.as_str()], &needed[..], words].concat());
            command.envs(variables.iter().copied());
            output(command)
        };
        let check = |words: &[&str], variables: &[(&str, &str)], has_colors: bool| {
            let ran = run(words, variables);
            let (code, said) = (ran.status.code(), stderr(&ran));
            assert!(matches!(code, Some(0 | 1)), "{name} {words:?}: {ran:?}");
            assert_eq!(
                said.contains(ESCAPE),
                has_colors && !said.is_empty(),
                "{name} {words:?} {variables:?}: {said}"
            );
            assert!(!said.contains("panicked"), "{name}: {said}");
            said
        };
        let plain = check(&[], &[], false);
        check(&["--color", "always"], &[("NO_COLOR", "1")], true);
        check(&["--color", "never"], &[("CLICOLOR_FORCE", "1"), ("CARGO_TERM_COLOR", "always")], false);
        check(&[], &[("CLICOLOR_FORCE", "1")], true);
        check(&[], &[("CARGO_TERM_COLOR", "always")], true);
        check(&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], false);
        let quiet = check(&["--quiet"], &[], false);
        // With nothing but errors and warnings, and what belongs to them, in it.
        let start = quiet.lines().next().unwrap_or("error: ");
        assert!(start.starts_with("error: ") || start.starts_with("warning: "), "{name} --quiet: {quiet}");
        assert!(quiet.len() <= plain.len(), "{name}: {quiet}");
        assert_eq!(run(&["--verbose"], &[]).status.code(), run(&[], &[]).status.code(), "{name}");
    }
}

/// The help and the messages of clap, too.
#[test]
fn misuse_is_told_in_the_colours_that_are_chosen() {
    let folder = Folder::with(&[]);
    for (words, has_colors) in [
        (&["build", "--color", "always", "--arhc"][..], true),
        (&["--color=always", "build", "--arhc"], true),
        (&["build", "--color", "never", "--arhc"], false),
        (&["build", "--arhc"], false),
    ] {
        let said = stderr(&output(command(&folder.path, words)));
        assert_eq!(said.contains(ESCAPE), has_colors, "{words:?}: {said}");
    }
}

/// Names that are mistyped, in a workspace of a program and its kernels.
#[test]
fn mistyped_names_get_suggestions() {
    let kernels = KernelCrate::written(
        "mistyped-kernels",
        "#[kernel]\npub fn scale(y: PerThread<f32>) { for (_, y) in y { *y *= 2.0; } }",
    )
    .in_a_program();
    let program = kernels.dir().parent().unwrap();
    let manifest = program.join("Cargo.toml");
    let text = std::fs::read_to_string(&manifest).unwrap();
    let more = "[features]\nfaster = []\n[profile.profiling]\ninherits = \"release\"\n[[bin]]\nname = \"show\"\npath = \"lib.rs\"\n\
                [[example]]\nname = \"draw\"\npath = \"lib.rs\"\n[[test]]\nname = \"whole\"\npath = \"lib.rs\"\n";
    std::fs::write(&manifest, text + more).unwrap();
    for (words, code, suggestion) in [
        (&["isnpect"][..], 2, "'inspect'"),
        (&["new", "x", "--template", "plian"], 2, "'plain'"),
        (&["new", "x", "--vcs", "gitt"], 2, "'git'"),
        (&["completions", "bahs"], 2, "'bash'"),
        (&["setup", "--method", "rutsup"], 2, "'rustup'"),
        (&["build", "--arch", "sm90"], 2, "did you mean `sm_90`?"),
        (&["inspect", "scale", "--arch", "90"], 2, "did you mean `sm_90`?"),
        (&["inspect", "scale", "--view", "sas"], 2, "'sass'"),
        (&["build", "--emit", "sas"], 2, "'sass'"),
        (&["build", "--message-format", "jsno"], 2, "'json'"),
        (&["build", "--emit-after", "optimize"], 1, "did you mean `optimise`?"),
        (&["build", "-p", "mistyped-kernel"], 1, "did you mean `mistyped-kernels`"),
        (&["inspect", "-p", "mistyped-kernel"], 1, "did you mean `mistyped-kernels`"),
        (&["init", "-p", "program-of-mistyped"], 1, "did you mean `program-of-mistyped-kernels`?"),
        (&["run", "-p", "program-of-mistyped"], 1, "did you mean `program-of-mistyped-kernels`"),
        (&["test", "-p", "program-of-mistyped"], 1, "did you mean `program-of-mistyped-kernels`"),
        (&["bundle", "-p", "program-of-mistyped"], 1, "did you mean `program-of-mistyped-kernels`"),
        (&["run", "--bin", "shwo"], 1, "there is no bin `shwo` in the workspace at"),
        (&["run", "--bin", "shwo"], 1, "did you mean `show`?"),
        (&["run", "--example", "darw"], 1, "did you mean `draw`?"),
        (&["run", "--device", "gpu1"], 2, "did you mean `gpu:1`?"),
        (&["test", "--device", "cup"], 2, "did you mean `cpu`?"),
        (&["test", "--test", "whoel"], 1, "did you mean `whole`?"),
        (&["run", "--features", "fatser"], 1, "did you mean `faster`?"),
        (&["test", "--features", "fatser"], 1, "did you mean `faster`?"),
        (
            &["build", "--features", "fatser"],
            1,
            "there is no feature `fatser` in the package `mistyped-kernels`",
        ),
        (&["build", "--profile", "profilign"], 1, "did you mean `profiling`"),
        (&["inspect", "--profile", "relase"], 1, "did you mean `release`?"),
        (&["run", "--profile", "relase"], 1, "did you mean `release`?"),
        (&["inspect", "scael", "--arch", "sm_90"], 1, "did you mean `scale`?"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-gpukernel"));
        command.arg("gpukernel").args(words).current_dir(program).env("CARGO_NET_OFFLINE", "true");
        let ran = output(command);
        assert!(stderr(&ran).contains(suggestion), "{words:?}: {}", stderr(&ran));
        assert_eq!(ran.status.code(), Some(code), "{words:?}: {}", stderr(&ran));
    }
}

#[test]
fn libraries_beside_examples_are_none_themselves() {
    let package =
        |name: &str| format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
    let folder = Folder::with(&[
        ("Cargo.toml", "[workspace]\nresolver = \"3\"\nmembers = [\"examples/*\"]\n"),
        ("examples/parts/Cargo.toml", &package("parts")),
        ("examples/parts/src/lib.rs", ""),
        ("examples/show/Cargo.toml", &package("show")),
        ("examples/show/src/main.rs", "fn main() {}"),
    ]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-gpukernel"));
    command.args(["gpukernel", "run", "--example", "parts"]).current_dir(&folder.path);
    let said = stderr(&output(command));
    assert!(said.contains("there is no example `parts`") && said.contains("available: show"), "{said}");
}

/// An example that is a package shares what it depends on with the workspace, which has other features, unless its program's name or features are asked for that
/// are its own.
#[test]
fn examples_are_run_in_packages_of_their_own() {
    let package = |name: &str, rest: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n{rest}")
    };
    let print = "fn main() { println!(\"{} {}\", env!(\"CARGO_PKG_NAME\"), cfg!(feature = \"loud\")); }";
    let bin =
        |name: &str| format!("[[bin]]\nname = \"{name}\"\npath = \"src/main.rs\"\n[features]\nloud = []\n");
    let folder = Folder::with(&[
        (
            "Cargo.toml",
            "[workspace]\nresolver = \"3\"\nmembers = [\"examples/*\"]\ndefault-members = [\"examples/one\", \"examples/show\", \"examples/twin\"]\n",
        ),
        ("examples/show/Cargo.toml", &package("example-show", &bin("show"))),
        ("examples/show/src/main.rs", print),
        ("examples/one/Cargo.toml", &package("example-one", &bin("same"))),
        ("examples/one/src/main.rs", print),
        ("examples/twin/Cargo.toml", &package("example-twin", &bin("same"))),
        ("examples/twin/src/main.rs", print),
        ("examples/apart/Cargo.toml", &package("example-apart", &bin("apart"))),
        ("examples/apart/src/main.rs", print),
    ]);
    for (words, printed) in [
        (&["show"][..], "example-show false\n"),
        (&["show", "--features", "loud"], "example-show true\n"),
        (&["one"], "example-one false\n"),
        (&["twin"], "example-twin false\n"),
        (&["apart"], "example-apart false\n"),
    ] {
        let ran = folder
            .gpukernel("", &[&["run", "--quiet", "--device", "cpu", "--example"], words].concat())
            .succeeded();
        assert_eq!(ran.stdout, printed);
    }
}

//! The bundle's `run-tests`: a POSIX shell script, because nothing more can be relied on where it runs.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use anyhow::Context;

/// Its file name.
pub(crate) const NAME: &str = "run-tests";

const TEXT: &str = include_str!("run-tests.sh");

/// Writes it into the bundle, with the commit in it.
pub(crate) fn write(bundle: &Path, commit: &str) -> anyhow::Result<()> {
    let path = bundle.join(NAME);
    let write = || {
        fs::write(&path, TEXT.replace("@COMMIT@", commit))?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Output};

    /// A bundle whose test binaries are shell scripts, and what its `run-tests` says.
    fn run(binaries: &[(&str, &str)], arguments: &[&str]) -> (Output, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in binaries {
            add_binary(&folder.path().join("tests"), name, text);
        }
        write(folder.path(), "0123abc").unwrap();
        (run_in(folder.path(), arguments), folder)
    }

    fn add_binary(folder: &Path, name: &str, text: &str) {
        fs::create_dir_all(folder).unwrap();
        let path = folder.join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// On a machine without a GPU, whatever this one has.
    fn run_in(bundle: &Path, arguments: &[&str]) -> Output {
        run_with(bundle, "exit 9", arguments)
    }

    /// On a machine on which `nvidia-smi` does this.
    fn run_with(bundle: &Path, nvidia_smi: &str, arguments: &[&str]) -> Output {
        let programs = bundle.join("programs");
        add_binary(&programs, "nvidia-smi", nvidia_smi);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths([programs].into_iter().chain(std::env::split_paths(&path)));
        Command::new("sh")
            .arg(bundle.join(NAME))
            .args(arguments)
            .env("PATH", path.unwrap())
            .env_remove("OUT")
            .env_remove("GPUKERNEL_BENCH_MAX_TIME")
            .env("GPUKERNEL_DEVICE", "cpu")
            .output()
            .unwrap()
    }

    const GOOD: &str = "echo 'test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s'";
    const BAD: &str = "echo 'test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured'; exit 101";

    fn last_line(output: &Output) -> String {
        String::from_utf8_lossy(&output.stdout).lines().last().unwrap_or_default().to_owned()
    }

    #[test]
    fn counts_over_all_binaries() {
        let (output, folder) = run(&[("one", GOOD), ("two", GOOD)], &[]);
        assert!(output.status.success(), "{output:?}");
        assert_eq!(last_line(&output), "6 passed, 0 failed, 2 skipped");
        let log = fs::read_to_string(folder.path().join("results/run-tests.log")).unwrap();
        assert!(log.contains("commit: 0123abc") && log.contains("3 passed; 0 failed"), "{log}");
    }

    #[test]
    fn a_failed_test_fails_the_run() {
        let (output, _folder) = run(&[("one", BAD), ("two", GOOD)], &[]);
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(last_line(&output), "5 passed, 1 failed, 1 skipped");
    }

    #[test]
    fn a_binary_that_dies_is_a_failure() {
        let (output, _folder) = run(&[("one", "kill -9 $$"), ("two", GOOD)], &[]);
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(last_line(&output), "3 passed, 1 failed, 1 skipped");
    }

    #[test]
    fn a_binary_that_hangs_is_a_failure() {
        let (output, _folder) = run(&[("one", "exec sleep 60")], &["--timeout", "1"]);
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(last_line(&output), "0 passed, 1 failed, 0 skipped");
        assert!(String::from_utf8_lossy(&output.stdout).contains("timed out after 1 s"), "{output:?}");
    }

    #[test]
    fn some_binaries_and_tests_are_asked_for() {
        let text = format!("echo \"given $*\"; {GOOD}");
        let binaries =
            [("one.arrays", &*text), ("one.streams", BAD), ("two.arrays", &text), ("arrays.two", BAD)];
        let (output, folder) =
            run(&binaries, &["--only", "one.arrays", "--only", "two.arrays", "views", "strides"]);
        assert_eq!(last_line(&output), "6 passed, 0 failed, 2 skipped");
        let log = fs::read_to_string(folder.path().join("results/run-tests.log")).unwrap();
        assert_eq!(log.matches("given views strides").count(), 2, "{log}");
        let output = run_with(folder.path(), "", &["--only", "one.arrays", "views"]);
        assert!(String::from_utf8_lossy(&output.stdout).contains("given --ignored views"), "{output:?}");
    }

    /// Taken as a filter, it left no tests, and the run failed without saying why.
    #[test]
    fn an_option_after_a_filter_is_an_error() {
        let (output, _folder) = run(&[("one", GOOD)], &["views", "--markdown"]);
        assert_eq!(output.status.code(), Some(2));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("the option --markdown comes after a FILTER"), "{said}");
    }

    #[test]
    fn tests_run_under_a_sanitizer() {
        let (_, folder) = run(&[("one", GOOD)], &["--help"]);
        let found = "[ \"$*\" = \"--tool memcheck --error-exitcode 99 --report-api-errors no $7\" ] || exit 3; shift 6; \"$@\"; \
                     echo '========= ERROR SUMMARY: 2 errors'; exit 99";
        add_binary(&folder.path().join("programs"), "compute-sanitizer", found);
        let output = run_in(folder.path(), &["--sanitizer", "memcheck", "--markdown"]);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let text = String::from_utf8_lossy(&output.stdout);
        for line in [
            "| under | compute-sanitizer memcheck |",
            "| result | 3 passed, 1 failed, 1 skipped |",
            "`one` under memcheck: ERROR SUMMARY: 2 errors.",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}: {text}");
        }
    }

    /// Of which compute-sanitizer says that the program ended too early: only their results count.
    #[test]
    fn tests_without_a_use_for_a_gpu_are_no_failure_under_a_sanitizer() {
        let text = format!("case \"$*\" in *--ignored*) $IGNORED ;; *) {GOOD} ;; esac");
        let (_, folder) = run(&[("one", GOOD)], &["--help"]);
        let sanitizer = "[ \"$RUST_TEST_THREADS\" = 1 ] || exit 3; shift 4; \"$@\"; case \"$*\" in \
                         *--ignored*) echo '========= Error: Target application terminated before first instrumented API call'; exit 255 ;; \
                         *) echo '========= RACECHECK SUMMARY: 0 hazards' ;; esac";
        add_binary(&folder.path().join("programs"), "compute-sanitizer", sanitizer);
        for (ignored, expected) in [
            ("echo 'test result: ok. 0 passed; 0 failed; 0 ignored'", "3 passed, 0 failed, 1 skipped"),
            ("echo 'test result: FAILED. 0 passed; 2 failed; 0 ignored'", "3 passed, 2 failed, 0 skipped"),
            ("true", "3 passed, 1 failed, 1 skipped"),
        ] {
            add_binary(&folder.path().join("tests"), "one", &text.replace("$IGNORED", ignored));
            let output = run_with(folder.path(), "", &["--sanitizer", "racecheck", "graphs"]);
            assert_eq!(last_line(&output), expected, "{output:?}");
        }
    }

    #[test]
    fn commands_run_after_the_tests() {
        let (_, folder) = run(&[("one", GOOD)], &["--help"]);
        add_binary(&folder.path().join("examples"), "pi", "echo \"pi of $*\"; echo progress >&2");
        let output =
            run_in(folder.path(), &["--also", "pi --threads '6 4'", "--also", "exit 3", "--markdown"]);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let text = String::from_utf8_lossy(&output.stdout);
        for part in [
            "| result | 4 passed, 1 failed, 1 skipped |\n",
            "\n`pi --threads '6 4'`:\n\n```text\npi of --threads 6 4\n```\n\n`exit 3`:\n\n```text\n```\n",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn tests_that_need_a_gpu_run_where_there_is_one() {
        const NEEDS: &str = "echo 'test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured'";
        const USUAL: &str = "echo 'test result: ok. 3 passed; 0 failed; 2 ignored; 0 measured'";
        let text = format!("if [ \"$*\" = '--ignored needs_a_gpu' ]; then {NEEDS}; else {USUAL}; fi");
        let (output, folder) = run(&[("one", &text)], &[]);
        assert_eq!(last_line(&output), "3 passed, 0 failed, 2 skipped");
        let output = run_with(folder.path(), "echo 'A GPU, 80 GiB, 9.0'", &[]);
        assert_eq!(last_line(&output), "5 passed, 0 failed, 0 skipped");
        // One that dies before it counts has skipped nothing that is known.
        let dies = format!("[ $# -gt 0 ] || kill -9 $$; {NEEDS}");
        add_binary(&folder.path().join("tests"), "one", &dies);
        let output = run_with(folder.path(), "echo 'A GPU, 80 GiB, 9.0'", &[]);
        assert_eq!(last_line(&output), "2 passed, 1 failed, 0 skipped");
        // One that fails there fails the run.
        add_binary(&folder.path().join("tests"), "two", &format!("[ $# -eq 0 ] || {{ {BAD}; }}; {GOOD}"));
        let output = run_with(folder.path(), "echo 'A GPU, 80 GiB, 9.0'", &[]);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
    }

    #[test]
    fn nothing_to_run_is_a_failure() {
        let (output, _folder) = run(&[], &[]);
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(last_line(&output), "0 passed, 0 failed, 0 skipped");
    }

    #[test]
    fn the_device_is_not_forced() {
        let (output, _folder) =
            run(&[("one", &format!("test -z \"${{GPUKERNEL_DEVICE+set}}\" && {GOOD}"))], &[]);
        assert!(output.status.success(), "{output:?}");
    }

    #[test]
    fn a_section_says_what_passed() {
        let tests =
            "echo 'test cubin::one ... ok'; echo 'test cubin::deep::two ... ok'; echo 'test ptx::one ... ok'";
        let tests = format!("{tests}; echo 'test ptx::two ... FAILED'; echo 'test three ... ok'; {GOOD}");
        let (output, _folder) = run(&[("one", &tests), ("two", GOOD)], &["--markdown"]);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("\n\n`one` passed: cubin 2, ptx 1.\n"), "{text}");
        assert!(!text.contains("`two` passed"), "{text}");
    }

    /// Of the CPU and of GPUs, also in one thread, where the harness has begun the line, and if a test fails later.
    #[test]
    fn a_section_lists_what_tests_measured() {
        let usual = format!("echo 'measured: 5 B on cpu' >&2; echo 'unmeasured: 6 B'; {GOOD}");
        let ignored = format!("printf 'test gpu::leaks ... '; echo 'measured: 7 -> 8 B on gpu:0' >&2; {BAD}");
        let text = format!("case \"$*\" in *--ignored*) {ignored} ;; *) {usual} ;; esac");
        let (_, folder) = run(&[("one", &text), ("two", GOOD)], &[]);
        let output = run_with(folder.path(), "", &["--markdown"]);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.ends_with("\n\n`one` measured:\n\n- 5 B on cpu\n- 7 -> 8 B on gpu:0\n"), "{text}");
        let log = fs::read_to_string(folder.path().join("results/run-tests.log")).unwrap();
        assert!(log.contains("\nmeasured: 5 B on cpu\n"), "{log}");
    }

    #[test]
    fn benchmarks_run_when_asked_and_fail_the_run_when_they_die() {
        let (output, folder) = run(&[("one", GOOD)], &[]);
        assert!(output.status.success());
        for (script, good) in [("echo '| fast |'", true), ("exit 3", false)] {
            add_binary(&folder.path().join("benches"), "speed", script);
            let output = run_in(folder.path(), &["--benches", "--markdown"]);
            assert_eq!(output.status.success(), good, "{output:?}");
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(text.contains("Benchmark `speed`:"), "{text}");
            assert_eq!(text.contains("| fast |"), good, "{text}");
        }
    }

    /// All of them took the minutes that were meant for one.
    #[test]
    fn some_benchmarks_are_asked_for() {
        let (_, folder) = run(&[("one", BAD)], &[]);
        for (name, script) in [("one.arrays", "exit 3"), ("two.arrays", "echo '| fast |'")] {
            add_binary(&folder.path().join("benches"), name, script);
        }
        let output = run_in(folder.path(), &["--benches", "--only", "two.arrays", "--markdown"]);
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("| result | 1 passed, 0 failed, 0 skipped |"), "{text}");
        assert!(text.contains("| fast |") && !text.contains("one.arrays"), "{text}");
    }

    /// As cargo runs them, with what gpukernel-bench reads from the environment. What they write to standard error is for the log.
    #[test]
    fn benchmarks_are_told_what_to_print_and_where() {
        let (_, folder) = run(&[("one", GOOD)], &[]);
        let script =
            "echo \"| $* | $GPUKERNEL_BENCH_OUTPUT | $GPUKERNEL_COMMIT | $GPUKERNEL_BENCH_MAX_TIME |\"
            echo \"| $GPUKERNEL_BENCH_DIR |\"
            echo 'error: too slow' >&2
            exit 1";
        add_binary(&folder.path().join("benches"), "speed", script);
        let output = run_in(folder.path(), &["--benches", "--markdown"]);
        let (text, results) = (String::from_utf8_lossy(&output.stdout), folder.path().join("results"));
        assert!(text.contains("| --bench | markdown | 0123abc | 2 |\n"), "{text}");
        let place = results.canonicalize().unwrap().join("bench");
        assert!(text.contains(&format!("| {} |\n", place.display())), "{text}");
        assert!(text.contains("exit status 1") && !text.contains("too slow"), "{text}");
        let log = fs::read_to_string(results.join("run-tests.log")).unwrap();
        assert!(log.contains("error: too slow"), "{log}");
    }

    #[test]
    fn markdown_names_what_ran() {
        let (output, _folder) = run(&[("one", GOOD), ("two", BAD)], &["--markdown"]);
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(1));
        for expected in [
            "| commit | 0123abc |",
            "| result | 5 passed, 1 failed, 1 skipped |",
            "| one | 3 | 0 | 1 |",
            "| two | 2 | 1 | 0 |",
        ] {
            assert!(text.contains(expected), "{expected} in\n{text}");
        }
    }
}

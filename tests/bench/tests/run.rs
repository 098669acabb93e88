//! What a bench target does, as users run it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::Value;
use tempfile::TempDir;

/// A folder for the results of runs.
struct Results(TempDir);

impl Results {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("there is a folder for temporary files"))
    }

    /// Runs the target as `cargo bench` does, on the CPU, and only as long as it must: without filling the cache each time, unless a test is about that.
    fn bench(&self, line: &str) -> Ran {
        let mode = if line.contains("--mode") { "" } else { "--mode batch" };
        self.run(&format!("--bench --max-time 0.05 --warm-up 0 --resamples 200 {mode} {line}"), &[])
    }

    fn run(&self, line: &str, variables: &[(&str, &str)]) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_measured"));
        command.args(line.split_whitespace()).arg("--output-dir").arg(self.0.path());
        command.env_remove("GPUKERNEL_BENCH_DIR").env_remove("NO_COLOR").env("GPUKERNEL_DEVICE", "cpu");
        command.envs(variables.iter().copied());
        Ran(command.output().expect("the program starts"))
    }

    fn mistake(&self, mistake: &str) -> Ran {
        let line = "--bench --max-time 0.05 --warm-up 0 --resamples 200 ^mistakes$";
        self.run(line, &[("MISTAKE", mistake)])
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join("measured").join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.file(name)).expect("a run writes it")
    }

    fn report(&self) -> Value {
        serde_json::from_str(&self.read("report.json")).expect("it is JSON")
    }
}

struct Ran(Output);

impl Ran {
    fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.0.stdout).into_owned()
    }

    fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.0.stderr).into_owned()
    }

    #[track_caller]
    fn good(self) -> Self {
        assert!(self.0.status.success(), "{}{}", self.stdout(), self.stderr());
        self
    }

    /// Fails with all of these words in what it says.
    #[track_caller]
    fn fails_with(self, words: &[&str]) -> Self {
        assert_eq!(self.0.status.code(), Some(1), "{}{}", self.stdout(), self.stderr());
        let text = self.stderr();
        words.iter().for_each(|word| assert!(text.contains(word), "{word} in\n{text}"));
        self
    }
}

#[test]
fn a_run_writes_every_form() {
    let results = Results::new();
    let ran = results.bench("copy --axis elements=2^4 --mode cold,batch").good();
    let table = ran.stdout();
    for part in ["copy elements=16", "device", "host", "cold", "batch", "measured peak", "B/s"] {
        assert!(table.contains(part), "{part} in\n{table}");
    }
    let report = results.report();
    assert_eq!(report["rows"][0]["axes"][0]["value"], "16");
    let providers = report["rows"][0]["providers"].as_array().unwrap();
    assert_eq!(providers.len(), 2);
    for mode in providers.iter().flat_map(|provider| provider["modes"].as_array().unwrap()) {
        let samples = mode["samples_ns"].as_array().unwrap();
        assert!(samples.len() >= 21 && samples.iter().all(|sample| sample.as_f64().unwrap() > 0.0));
        let time = |part: &str| mode["time_ns"][part].as_f64().unwrap();
        assert!(time("low") <= time("middle") && time("middle") <= time("high"), "{mode}");
    }
    assert!(providers[0]["modes"][0]["ratio"].is_null());
    assert_eq!(providers[1]["modes"][0]["ratio"]["to"], "device");
    assert_eq!(results.read("report.csv").lines().count(), 1 + 2 * 2);
    assert!(results.read("report.md").contains("| benchmark | provider |"));
    assert!(results.read("report.html").contains("copy"));
    assert_eq!(results.read("history.jsonl").lines().count(), 1);
}

/// The CPU device has nothing to replay.
#[test]
fn replay_is_for_gpus() {
    let results = Results::new();
    let text = results.bench("copy --axis elements=16 --mode replay").good().stdout();
    assert!(text.contains("not replayed: device in 1 row: it is measured in batches"), "{text}");
    let report = results.report();
    assert_eq!(report["rows"][0]["providers"][0]["modes"], serde_json::json!([]));
    // Where other modes were asked for as well, that is no news.
    let text = results.bench("copy --axis elements=16 --mode batch,replay").good().stdout();
    assert!(text.contains("batch") && !text.contains("replay"), "{text}");
}

#[test]
fn ratios_of_several_rows_are_summarised() {
    let results = Results::new();
    let text = results.bench("copy --mode cold").good().stdout();
    assert!(text.contains("\nratios to `device`, cold (cpu): host "), "{text}");
    assert!(text.contains("(2 rows, largest "), "{text}");
    let report = results.report();
    assert_eq!((&report["ratios"][0]["provider"], &report["ratios"][0]["rows"]), (&"host".into(), &2.into()));
    assert!(results.read("report.md").contains("ratios to `device`"));
}

#[test]
fn forms_are_printed_as_asked() {
    let results = Results::new();
    let of = |form: &str| results.bench(&format!("zero --quiet --output {form}")).good().stdout();
    assert!(serde_json::from_str::<Value>(&of("json")).is_ok());
    assert!(of("csv").starts_with("benchmark,axes,"));
    assert!(of("markdown").contains("| nested::zero | device | batch |"));
    assert_eq!(results.read("history.jsonl").lines().count(), 3);
}

#[test]
fn types_and_constants_are_axes() {
    let results = Results::new();
    results.bench("sum --axis T=u64 --mode batch").good();
    let report = results.report();
    let rows: Vec<_> = report["rows"].as_array().unwrap().iter().map(|row| row["axes"].to_string()).collect();
    assert_eq!(rows.len(), 2);
    assert!(rows[1].contains(r#"{"name":"LANES","value":"4"}"#), "{rows:?}");
    let list = results.bench("--list").good().stdout();
    assert!(list.contains("sum T=[u8, u64] LANES=[1, 4] repeats=[once]"), "{list}");
    // Of the device that would be measured.
    assert!(list.contains("copy elements=[256, 1024]\n"), "{list}");
    results.bench("sum --axis T=u32").fails_with(&["`u32`", "`u8`, `u64`", "compiled"]);
    results
        .bench("sum --axis LANE=1")
        .fails_with(&["no benchmark has an axis `LANE`", "did you mean `LANES`?"]);
    results.bench("copy --axis elements=many").fails_with(&["`many`", "`elements`", "usize"]);
}

/// As `cargo test` and cargo-nextest run it.
#[test]
fn tests_check_each_benchmark_once() {
    let results = Results::new();
    let ran = results.run("", &[]).good();
    let text = ran.stdout();
    assert!(text.contains("test copy elements=256 (cpu) ... ok"), "{text}");
    assert!(!text.contains("elements=1024"), "{text}");
    assert!(text.contains("test result: ok. 4 passed; 0 failed; 2 ignored"), "{text}");
    assert!(!results.file("report.json").exists());
    let ran = results.run("", &[("MISTAKE", "wrong result")]).fails_with(&["differs"]);
    assert!(ran.stdout().contains("test copy elements=256 (cpu) ... FAILED"), "{}", ran.stdout());

    let listed = results.run("--list --format terse", &[]).good().stdout();
    assert!(
        listed.lines().eq(["copy", "mistakes", "multiply_add", "nested::zero", "spin", "sum"]
            .map(|name| format!("{name}: benchmark")))
    );
    assert_eq!(results.run("--list --format terse --ignored", &[]).good().stdout(), "");
    let one = results.run("nested::zero --exact --nocapture", &[]).good().stdout();
    assert!(one.contains("1 passed"), "{one}");
    // Another target has it.
    assert!(results.run("of_another_target", &[]).good().stdout().contains("0 passed"));
}

#[test]
fn wrong_results_are_not_timed() {
    let results = Results::new();
    let ran = results.run("--bench copy --max-time 0.05 --resamples 200", &[("MISTAKE", "wrong result")]);
    ran.fails_with(&["copy elements=256 (cpu)", "result of `device` differs from what is expected", "2e-1"]);
    let report = results.report();
    assert!(report["rows"].as_array().unwrap().is_empty());
    assert_eq!(report["failures"].as_array().unwrap().len(), 2);
    let differ = results.mistake("providers differ");
    differ.fails_with(&["result of `second` differs from that of `first`", "tolerance of 1e-3"]);
}

#[test]
fn mistakes_in_benchmarks_are_told() {
    let results = Results::new();
    for (mistake, words) in [
        ("nothing measured", "measured nothing"),
        ("panic", "panicked: as the test asks"),
        ("error", "as the test asks"),
        ("no reference", "nothing says what must come out"),
        ("itself as reference", "nothing says what must come out"),
        ("unknown reference", "did you mean `first`?"),
        ("same name", "two providers are called `first`"),
        ("twice", "measured twice"),
    ] {
        results.mistake(mistake).fails_with(&["mistakes (cpu)", words]);
    }
    results.mistake("").good();
}

#[test]
fn ratios_above_their_limits_fail_unless_there_is_a_reason() {
    let results = Results::new();
    let ran = results.mistake("limit").fails_with(&["second / first", "above its limit of 2.00"]);
    assert!(!ran.stderr().contains("limit of 1.50"), "{}", ran.stderr());
    let table = ran.stdout();
    assert!(table.contains("allowed 1.50 (it spins longer)") && table.contains("allowed 2.00"), "{table}");
}

#[test]
fn unknown_filters_and_devices_are_told() {
    let results = Results::new();
    results.bench("cpoy").fails_with(&["no benchmark fits `cpoy`", "did you mean `copy`?"]);
    results.bench("(").fails_with(&["no regular expression"]);
    results.bench("--device tpu").fails_with(&["cannot measure", "tpu"]);
}

/// Times of many time slices, and far apart, because other programs run beside tests: who loses a processor at the end of 10 µs comes back after milliseconds.
#[test]
fn baselines_tell_slower_from_same() {
    let results = Results::new();
    let spin = |line: &str, microseconds: &str| {
        let line = format!("--bench ^spin$ --max-time 0.1 --resamples 200 {line}");
        results.run(&line, &[("SPIN_MICROSECONDS", microseconds)])
    };
    spin("--save-baseline main", "20000").good();
    let unchanged = "--baseline main --noise-threshold 100";
    let same = spin(unchanged, "20000").good();
    assert!(same.stdout().contains("against the baseline: 0 faster, 0 slower"), "{}", same.stdout());
    let slower = spin(unchanged, "120000").fails_with(&["slower than the baseline by"]);
    assert!(slower.stdout().contains("0 faster, 2 slower"), "{}", slower.stdout());
    let faster = spin("--baseline main --noise-threshold 50", "1000").good();
    assert!(faster.stdout().contains("2 faster, 0 slower"), "{}", faster.stdout());
    // It was only compared with.
    spin(unchanged, "20000").good();
    // Rows that it does not have are told apart.
    let line = format!("--bench ^spin$ zero --max-time 0.1 --resamples 200 {unchanged}");
    let ran = results.run(&line, &[]).good();
    assert!(ran.stdout().contains("2 not in the baseline"), "{}", ran.stdout());
}

#[test]
fn bad_baselines_are_refused_before_anything_is_measured() {
    let results = Results::new();
    results.bench("spin --baseline mian").fails_with(&[
        "no baseline `mian`",
        "there are none",
        "--save-baseline mian",
    ]);
    results.bench("spin --save-baseline main").good();
    results.bench("spin --baseline mian").fails_with(&["no baseline `mian`", "`main`"]);
    let path = results.file("baselines/main.json");
    let good = fs::read_to_string(&path).unwrap();

    let mut other: Value = serde_json::from_str(&good).unwrap();
    other["devices"][0]["name"] = "A GPU of Another Machine".into();
    fs::write(&path, other.to_string()).unwrap();
    let started = |results: &Results| results.read("history.jsonl").lines().count();
    let before = started(&results);
    results.bench("spin --baseline main").fails_with(&[
        "A GPU of Another Machine",
        "two devices",
        "--allow-other-device",
    ]);
    assert_eq!(started(&results), before);
    results.bench("spin --baseline main --allow-other-device --noise-threshold 100").good();

    let mut newer: Value = serde_json::from_str(&good).unwrap();
    newer["format"] = 1000.into();
    fs::write(&path, newer.to_string()).unwrap();
    results.bench("spin --baseline main").fails_with(&["damaged", "version 1000"]);
    fs::write(&path, &good[..good.len() / 2]).unwrap();
    results.bench("spin --baseline main").fails_with(&["damaged", "main.json", "--save-baseline main"]);
    fs::write(&path, &good).unwrap();

    // Criterion's part of it.
    let sample = find(&results.file("criterion"), Path::new("main/sample.json")).expect("criterion wrote it");
    let good = fs::read_to_string(&sample).unwrap();
    fs::write(&sample, &good[..good.len() / 2]).unwrap();
    results.bench("spin --baseline main").fails_with(&["damaged", "sample.json"]);
    fs::remove_file(&sample).unwrap();
    results.bench("spin --baseline main").fails_with(&["damaged", "sample.json"]);
}

/// A file below a folder whose path ends so.
fn find(folder: &Path, end: &Path) -> Option<PathBuf> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).ok()?.flatten() {
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path if path.ends_with(end) => return Some(path),
                _ => {}
            }
        }
    }
    None
}

#[test]
fn a_folder_that_cannot_be_written_is_told() {
    let results = Results::new();
    // Of root, no permission is missing; but nobody creates a folder below a file.
    fs::write(results.0.path().join("measured"), "a file").unwrap();
    results.bench("zero").fails_with(&["cannot", "measured"]);
}

#[test]
fn bad_command_lines_are_told_with_clap_s_code() {
    let results = Results::new();
    for line in ["--axis n", "--noise 200", "--save-baseline ../x", "--output xml", "--basline x"] {
        let ran = results.bench(line);
        assert_eq!(ran.0.status.code(), Some(2), "{line}: {}", ran.stderr());
    }
    assert!(results.bench("--basline x").stderr().contains("--baseline"));
}

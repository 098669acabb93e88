//! The page in a browser.

use std::{
    env,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};
use tempfile::TempDir;

/// What would end the script, or run, if it were more than text.
const NASTY: &str = "</script><img src=x onerror=\"document.title='hacked'\">";

/// The page of a report, as the program writes it.
fn page(report: &Value, history: &Value) -> String {
    let parse = |value: &Value| value.to_string();
    let (report, history) = (parse(report), parse(history));
    super::page(&serde_json::from_str(&report).unwrap(), &serde_json::from_str::<Vec<_>>(&history).unwrap())
        .unwrap()
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

/// Pages in a folder, and a profile of the browser beside them.
struct Pages {
    folder: TempDir,
}

impl Pages {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn write(&self, name: &str, report: &Value, history: &Value) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, page(report, history)).unwrap();
        path
    }

    /// What is shown once the scripts have run: the document without the scripts, which are at its end.
    fn open(&self, path: &Path, state: &[(&str, &str)]) -> String {
        let state: Vec<_> = state.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        let url = format!("file://{}#{}", path.display(), state.join("&")).replace(' ', "%20");
        let mut command = Command::new(chromium());
        // Sandboxes need rights that containers do not have; the page is ours.
        command.args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--dump-dom",
        ]);
        command.arg(format!("--user-data-dir={}", self.folder.path().join("profile").display())).arg(url);
        let output = command.output().expect("the browser starts");
        let dom = String::from_utf8(output.stdout).expect("pages are UTF-8");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && dom.contains("</html>"), "{errors}");
        // Scripts contain the same words.
        let (shown, _) = dom.split_once("<script id=\"data\"").expect("the data is in the page");
        shown.to_owned()
    }
}

/// A value in the part of an address behind `#`.
fn encoded(value: &str) -> String {
    let mut text = String::new();
    for byte in value.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => text.push(byte.into()),
            _ => write!(text, "%{byte:02X}").unwrap(),
        }
    }
    text
}

fn count(dom: &str, part: &str) -> usize {
    dom.matches(part).count()
}

fn pictures(dom: &str, kind: &str) -> usize {
    count(dom, &format!("data-picture=\"{kind}\""))
}

/// Times around a median.
fn mode(name: &str, median: f64, change: Value, ratio: Value) -> Value {
    let samples: Vec<_> = (0..20).map(|number| median + f64::from(number % 5 - 2)).collect();
    json!({
        "mode": name, "launches_per_sample": 1, "samples_ns": samples, "host_samples_ns": samples,
        "time_ns": { "low": median - 1.0, "middle": median, "high": median + 1.0 },
        "host_ns": median, "noise": 1.0 / median, "converged": name == "cold", "throttled": [],
        "sm_mhz": 1755, "ratio": ratio, "change": change,
    })
}

/// `saxpy` with three sizes by two providers in two modes on a GPU.
fn report(benchmark: &str, provider: &str) -> Value {
    let rows: Vec<_> = [1024_u32, 4096, 65536].into_iter().map(|elements| {
        let time = 1000.0 + f64::from(elements) / 10.0;
        let change = json!({ "value": { "low": 0.04, "middle": 0.05, "high": 0.06 }, "verdict": "slower" });
        let ratio = json!({ "to": "cuda-c", "value": { "low": 1.09, "middle": 1.1, "high": 1.11 } });
        let kernel = json!({
            "name": format!("kernels::{benchmark}"), "grid_dim": [elements / 256, 1, 1], "block_dim": [256, 1, 1],
            "launches": 1, "dynamic_shared_bytes": 0, "resources": {
                "registers": 42, "local_bytes": 0, "shared_bytes": 0, "blocks_per_multiprocessor": 8, "occupancy": 1.0,
            },
        });
        json!({
            "benchmark": benchmark, "axes": [{ "name": "elements", "value": elements.to_string() }], "device": "gpu:0",
            "work": { "elements": elements, "bytes": 12 * elements, "f32_flops": 2 * elements, "f64_flops": null },
            "providers": [
                {
                    "name": provider, "device": "gpu:0", "kernels": [kernel],
                    "checked": { "provider": { "name": "cuda-c", "difference": 0.0 } },
                    "modes": [mode("cold", time * 1.1, change.clone(), ratio.clone()), mode("batch", time, change, ratio)],
                },
                {
                    "name": "cuda-c", "device": "gpu:0", "kernels": [], "checked": "is-reference",
                    "modes": [mode("cold", time, Value::Null, Value::Null), mode("batch", time * 0.9, Value::Null, Value::Null)],
                },
            ],
        })
    }).collect();
    json!({
        "format": 1, "target": benchmark, "started": "2025-11-24T18:31:07Z", "commit": "4f1c2a9be07d-dirty",
        "processor": "AMD EPYC 9654", "processor_threads": 16,
        "devices": [{
            "id": "gpu:0", "name": "NVIDIA H100", "arch": "sm_90", "multiprocessors": 132, "last_level_cache_bytes": 52_428_800,
            "driver": "580.65.06", "clocks": { "sm_mhz": 1755, "max_sm_mhz": 1980, "memory_mhz": 2619 }, "power_limit_w": 700.0,
            "peaks": { "bytes": 2.9e12, "f32_flops": 5.7e13, "f64_flops": 2.8e13 },
        }],
        "baseline": { "name": "main", "started": "2025-11-20T04:07:07Z", "commit": null },
        "noise_threshold": 0.02, "rows": rows, "ratios": [],
        "skipped": [{ "row": "saxpy elements=1 (gpu:1)", "reason": "there is no such device" }],
        "failures": [{ "row": format!("{benchmark} elements=2 (gpu:0)"), "error": format!("differs: {provider}") }],
        "above_limits": [],
    })
}

/// Two runs, of which the second is the report's.
fn history(report: &Value) -> Value {
    let times: Vec<_> = report["rows"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|row| {
            let name = format!(
                "{} elements={} (gpu:0)",
                row["benchmark"].as_str().unwrap(),
                row["axes"][0]["value"].as_str().unwrap()
            );
            row["providers"].as_array().unwrap().iter().flat_map(move |provider| {
                let name = name.clone();
                provider["modes"].as_array().unwrap().iter().map(move |mode| json!({
                "row": name, "device": "NVIDIA H100", "provider": provider["name"], "mode": mode["mode"],
                "time_ns": mode["time_ns"],
            }))
            })
        })
        .collect();
    json!([
        { "started": "2025-11-20T04:07:07Z", "commit": "aa11bb22cc33", "times": times },
        { "started": report["started"], "commit": report["commit"], "times": times },
    ])
}

#[test]
#[ignore = "needs chromium: `.ci/run browser` installs and uses it"]
fn a_page_shows_rows_and_pictures_in_a_browser() {
    let pages = Pages::new();
    let report = report("saxpy", "ours");
    let path = pages.write("with space.html", &report, &history(&report));
    let dom = pages.open(&path, &[]);
    assert!(dom.contains("<title>saxpy: cargo gpukernel bench</title>"), "{dom}");
    // A line for each row and provider, in the first mode, and the first row selected.
    assert_eq!((count(&dom, "<tr class=\"line"), count(&dom, "aria-current=\"true\"")), (6, 2), "{dom}");
    for text in [
        "▲ +5.0 % slower",
        "1.10 ",
        "[1.09, 1.11] of ",
        "NVIDIA H100",
        "there is no such device",
        "differs: ours",
    ] {
        assert!(dom.contains(text), "no {text:?} in\n{dom}");
    }
    for (kind, expected) in
        [("distribution", 2), ("order", 2), ("history", 2), ("roofline", 1), ("time", 1), ("throughput", 1)]
    {
        assert_eq!(pictures(&dom, kind), expected, "{kind}");
    }
    // In two curves, and in the roofline, the two points of the selected row.
    assert_eq!(count(&dom, "class=\"ring\""), 6);
    assert!(!dom.contains("NaN"), "{dom}");

    // What the address says.
    let state = [
        ("row", "saxpy elements=65536 (gpu:0)"),
        ("mode", "batch"),
        ("sort", "-time"),
        ("filter", "cuda-c"),
        ("open", "runs-data"),
    ];
    let dom = pages.open(&path, &state);
    assert!(dom.contains("<b>saxpy elements=65536 (gpu:0)</b>"), "{dom}");
    let lit: Vec<_> =
        dom.split("<tr ").filter(|line| line.split('>').next().unwrap().contains("aria-current")).collect();
    assert!(lit.len() == 2 && lit.iter().all(|line| line.contains("data-row=\"2\"")), "{lit:?}");
    assert!(dom.contains("3 of 6: filtered by “cuda-c”"), "{dom}");
    assert!(dom.contains("aria-sort=\"descending\""), "{dom}");
    assert!(dom.contains("<td class=\"lines\">aa11bb22cc33</td>"), "the table of the history is open: {dom}");

    let dom = pages.open(&path, &[("row", "of another report")]);
    assert!(dom.contains("This report has no row of another report."), "{dom}");
}

#[test]
#[ignore = "needs chromium: `.ci/run browser` installs and uses it"]
fn names_that_are_html_are_text_in_a_browser() {
    let pages = Pages::new();
    let report = report(NASTY, NASTY);
    let path = pages.write("nasty.html", &report, &history(&report));
    let row = format!("{NASTY} elements=4096 (gpu:0)");
    let dom =
        pages.open(&path, &[("row", &row), ("open", "runs-data roofs-data distribution-data curves-0-data")]);
    assert!(dom.contains("<title>&lt;/script&gt;&lt;img src=x"), "{dom}");
    assert!(!dom.contains("<img") && !dom.contains("<title>hacked"), "{dom}");
    assert_eq!(
        (pictures(&dom, "distribution"), pictures(&dom, "history"), pictures(&dom, "time")),
        (2, 2, 1)
    );
    let (_, selected) = dom.split_once("id=\"selected\"").unwrap();
    assert!(selected.split("</b>").next().unwrap().contains("elements=4096"), "{selected}");
}

#[test]
#[ignore = "needs chromium: `.ci/run browser` installs and uses it"]
fn a_report_of_failures_alone_shows_them_in_a_browser() {
    let pages = Pages::new();
    let mut report = report("saxpy", "ours");
    report["rows"] = json!([]);
    let dom = pages.open(&pages.write("failures.html", &report, &json!([])), &[]);
    assert!(dom.contains("<p>No row was measured.</p>") && dom.contains("differs: ours"), "{dom}");
    // No more than the page itself has, whose style names them.
    let before_scripts = super::PAGE.split("<script").next().unwrap().replace("/*STYLE*/", super::STYLE);
    assert_eq!(count(&dom, "data-picture"), count(&before_scripts, "data-picture"));
}

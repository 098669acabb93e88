//! `cargo gpukernel sanitize`: mistakes in kernels, on the CPU device and by a compute-sanitizer that answers what was recorded.

use std::path::Path;

use crate::common::Folder;
use serde_json::Value;

const KERNELS: &str = "
#[kernel]
pub fn gather(x: &[f32], y: PerThread<f32>) {
    for (i, y) in y {
        *y = x[i];
    }
}

#[kernel(block = 8)]
pub fn pass_left(out: PerThread<u32>, row: gpu_std::UnsafeShared<u32, 8>) {
    let me = thread_rank() as usize;
    // SAFETY: none, which is what is found.
    unsafe {
        row.set(me, me as u32);
        let left = row.get((me + 7) % 8);
        for (_, out) in out {
            *out = left;
        }
    }
}

#[kernel]
pub fn early(out: PerThread<u32>) {
    if thread_rank() == 3 {
        return;
    }
    sync(());
    for (_, out) in out {
        *out = 1;
    }
}
";

const MAIN: &str = r#"
use gpukernel::{Device, Image, LaunchConfig, for_each};
use NAME_kernels::{early, gather, pass_left};

static KERNELS: Image = gpukernel::image!("kernels");

fn main() -> gpukernel::Result<()> {
    let what = std::env::args().nth(1).unwrap_or_default();
    println!("this is {what}");
    let device = Device::best()?;
    let module = device.load(&KERNELS)?;
    match what.as_str() {
        "gather" => {
            let (x, mut y) = (device.upload(&[1.0; 5])?, device.zeroed::<f32>(9)?);
            module.launch(gather, for_each(9), (&x, &mut y))?;
        }
        "race" => {
            let mut out = device.zeroed::<u32>(16)?;
            for _ in 0..3 {
                let _ = module.launch(pass_left, LaunchConfig::new(2, 8), (&mut out,));
            }
        }
        "early" => module.launch(early, LaunchConfig::new(1, 8), (&mut device.zeroed::<u32>(8)?,))?,
        "fail" => std::process::exit(7),
        "none" => {}
        _ => {
            let (x, mut y) = (device.upload(&[1.0; 9])?, device.zeroed::<f32>(9)?);
            module.launch(gather, for_each(9), (&x, &mut y))?;
        }
    }
    Ok(())
}
"#;

fn project(name: &str) -> Folder {
    Folder::project(name, KERNELS, &MAIN.replace("NAME", &name.replace('-', "_")))
}

#[test]
fn the_cpu_device_finds_mistakes_and_shows_them_as_rustc_does() {
    let folder = project("sanitize-cpu");
    let run = |words: &[&str]| {
        folder.observe(Path::new("/nowhere"), &[&["sanitize", "--device", "cpu"], words].concat())
    };

    let clean = run(&["--tool", "all"]);
    assert_eq!(clean.code, Some(0), "{clean:?}");
    assert_eq!(clean.stdout, "this is \n");
    assert!(
        clean.stderr.contains("Sanitized 1 kernel by memcheck, racecheck, synccheck: no findings"),
        "{clean:?}"
    );
    assert!(clean.stderr.contains("the CPU device has no initcheck"), "{clean:?}");

    let bounds = run(&["--", "gather"]);
    assert_eq!(bounds.code, Some(3), "{bounds:?}");
    let expected = "\
error[panic]: index out of bounds: the len is 5 but the index is 5
 --> kernels/src/lib.rs:7:15
  |
7 |         *y = x[i];
  |               ^ thread (5, 0, 0) of block (0, 0, 0) panicked
  |
  = note: in the kernel `sanitize_cpu_kernels::gather`, launched at src/main.rs:";
    // The column is that of the index or of the array, as rustc has it.
    let found = bounds
        .stderr
        .replace("lib.rs:7:14", "lib.rs:7:15")
        .replace("              ^ thread", "               ^ thread");
    assert!(found.contains(expected), "{bounds:?}");

    let race = run(&["--", "race"]);
    assert_eq!(race.code, Some(3), "{race:?}");
    for part in [
        "error[racecheck]: data race on element 0 of a shared array\n",
        "16 |         row.set(me, me as u32);\n   |             --- thread (0, 0, 0) of block (0, 0, 0) writes it\n",
        "17 |         let left = row.get((me + 7) % 8);\n   |                        ^^^ thread (1, 0, 0) of block (0, 0, 0) reads it\n",
        "= note: and 2 more times\n",
        "= help: put a barrier between them",
    ] {
        assert!(race.stderr.contains(part), "`{part}` is missing in\n{}", race.stderr);
    }
    // Other tools do not look for it.
    assert_eq!(run(&["--tool", "synccheck", "--", "race"]).code, Some(0));

    let early = run(&["--tool", "synccheck", "--", "early"]);
    assert_eq!(early.code, Some(3), "{early:?}");
    assert!(
        early.stderr.contains("error[synccheck]: a thread has ended before a barrier of its block"),
        "{early:?}"
    );
    assert!(
        early
            .stderr
            .contains("thread (3, 0, 0) of block (0, 0, 0) returned from the kernel before any barrier"),
        "{early:?}"
    );

    let json = run(&["--tool", "all", "--message-format", "json", "--", "race"]);
    let lines: Vec<Value> = json.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        (&lines[0]["reason"], &lines[0]["count"], &lines[0]["tool"]),
        (&"finding".into(), &3.into(), &"racecheck".into())
    );
    assert_eq!((&lines[1]["reason"], &lines[1]["errors"]), (&"sanitize-finished".into(), &1.into()));
    assert!(json.stderr.contains("this is race"), "what the program prints is not mixed with it: {json:?}");

    let failed = run(&["--", "fail"]);
    assert_eq!(failed.code, Some(4), "{failed:?}");
    assert!(failed.stderr.contains("error: the program failed by itself (exit status: 7)"), "{failed:?}");
    let none = run(&["--", "none"]);
    assert_eq!(none.code, Some(0));
    assert!(
        none.stderr.contains("warning: the program launched no kernel, so nothing was checked"),
        "{none:?}"
    );

    // An executable that is there, without a workspace: then without the source, too.
    let executable = Path::new(env!("CARGO_TARGET_TMPDIR")).join("projects/debug/sanitize-cpu");
    let elsewhere = Folder::with(&[]);
    let arguments =
        ["sanitize", "--device", "cpu", "--program", executable.to_str().unwrap(), "--", "gather"];
    let bare = elsewhere.gpukernel("", &arguments);
    assert_eq!(bare.code, Some(3), "{bare:?}");
    assert!(bare.stderr.contains("--> kernels/src/lib.rs:7:"), "{bare:?}");
    assert!(bare.stderr.contains("= note: thread (5, 0, 0) of block (0, 0, 0) panicked"), "{bare:?}");
    elsewhere
        .gpukernel("", &["sanitize", "--device", "cpu", "--program", "none"])
        .failed_with("there is no program none");

    run(&["--tool", "initcheck"]).failed_with("the CPU device has no initcheck");
    run(&["--bin", "other"]).failed_with("there is no bin `other`");
    folder.write("kernels/src/lib.rs", "broken");
    assert_eq!(run(&[]).code, Some(101), "cargo's own code");
}

/// Answers with what compute-sanitizer wrote on an H100 (`data`). The program is run on the CPU device.
const FAKE: &str = r#"
echo "$@" >> "$(dirname "$0")/calls"
while [ "$1" != --print-limit ]; do
    case $1 in
        --save) xml=$2 ;;
        --tool) tool=$2 ;;
        --log-file) log=$2 ;;
    esac
    shift
done
shift 2
[ "$1" = --leak-check=full ] && shift
GPUKERNEL_DEVICE=cpu "$@"
code=$?
echo "========= COMPUTE-SANITIZER" > "$log"
case $tool in
    memcheck) cp "$(dirname "$0")/memcheck.xml" "$xml" ;;
    initcheck) exit 1 ;;
    *) cp "$(dirname "$0")/no-findings.xml" "$xml" ;;
esac
exit $code
"#;

#[test]
fn findings_of_compute_sanitizer_get_lines_and_names_of_rust() {
    let folder = project("sanitize-gpu");
    let tools = folder.tool("compute-sanitizer", FAKE);
    // Of another program: its file, kernel and line become those of this one.
    let lib = folder.path.join("kernels/src/lib.rs");
    let recorded = include_str!("../data/memcheck.xml")
        .replace("/tmp/sandemo/demo/kernels/src/lib.rs", &lib.display().to_string())
        .replace("<func>behind</func>", "<func>gather</func>")
        .replace("<line>47</line>", "<line>7</line>");
    folder.write("tools/memcheck.xml", &recorded);
    folder.write("tools/no-findings.xml", include_str!("../data/no-findings.xml"));
    let run = |words: &[&str]| folder.observe(&tools, &[&["sanitize", "--device", "gpu"], words].concat());
    let found = run(&[
        "--tool",
        "memcheck,racecheck",
        "--keep-logs",
        "the logs",
        "--sanitizer-option=--leak-check=full",
    ]);
    assert_eq!(found.code, Some(3), "{found:?}");
    let expected = "\
error[memcheck]: invalid global read of 4 bytes
 --> kernels/src/lib.rs:7
  |
7 |         *y = x[i];
  |         ^^^^^^^^^^ thread (0, 0, 0) of block (0, 0, 0) reads here
  |
  = note: the access is out of bounds
  = note: address: 0x2a9a001000
  = note: the context was lost afterwards: 4 calls failed with CUDA_ERROR_LAUNCH_FAILED, first cuMemcpyDtoHAsync_v2
  = note: and 2 other threads
  = note: in the kernel `sanitize_gpu_kernels::gather`, launched at src/main.rs:";
    assert!(found.stderr.replace("lib.rs:7:9", "lib.rs:7").contains(expected), "{}", found.stderr);
    assert!(found.stderr.contains("Sanitized 1 kernel by memcheck, racecheck: 1 error\n"), "{found:?}");
    let calls = folder.read("tools/calls");
    let words =
        "--check-exit-code no --require-cuda-init no --strip-paths no --print-limit 10000 --leak-check=full ";
    assert!(calls.starts_with("--tool memcheck --xml --save ") && calls.contains(words), "{calls}");
    assert_eq!(calls.lines().count(), 2, "one run for each tool: {calls}");
    for file in ["memcheck.xml", "memcheck.log", "memcheck.report.json", "racecheck.xml"] {
        assert!(folder.path.join("the logs").join(file).is_file(), "{file}");
    }
    assert_eq!(run(&["--tool", "synccheck"]).code, Some(0));
    // Its own failure is told apart.
    let failed = run(&["--tool", "initcheck"]);
    assert_eq!(failed.code, Some(1), "{failed:?}");
    assert!(
        failed
            .stderr
            .contains("did not write what it found (exit status: 1); it says:\n========= COMPUTE-SANITIZER"),
        "{failed:?}"
    );
}

#[test]
fn without_compute_sanitizer_the_error_says_where_it_is_from() {
    for place in ["/usr/local/cuda/bin", "/opt/cuda/bin"] {
        if Path::new(place).join("compute-sanitizer").exists() {
            eprintln!("NOT RUN: this machine has compute-sanitizer in {place}, where it is always found");
            return;
        }
    }
    // Said before anything is built.
    let folder = project("sanitize-missing");
    folder
        .observe(Path::new("/nowhere"), &["sanitize", "--device", "gpu"])
        .failed_with("`--device cpu` checks them on the CPU")
        .failed_with("compute-sanitizer is needed but was not found")
        .failed_with("apt install cuda-sanitizer-13-0");
}

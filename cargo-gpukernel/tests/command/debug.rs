//! `cargo gpukernel debug`: gdb in one thread of a kernel on the CPU device, and what cuda-gdb is told.

use std::{env, path::Path};

use crate::common::Folder;

const KERNELS: &str = "
#[kernel]
pub fn scale(by: u32, x: PerThread<u32>) {
    for (i, x) in x {
        *x = by * i as u32;
    }
}

pub mod rows {
    use gpu_std::prelude::*;

    #[kernel]
    pub fn rotate<T: DeviceCopy>(x: PerThread<T>) {
        let me = thread_rank();
        sync(());
        let twice = 2 * me;
        for (_, x) in x {
            let value = *x;
            *x = if twice > 0 { value } else { value };
        }
    }
    gpu_std::instantiate!(rotate::<u64>);
}
";

const MAIN: &str = r#"
use gpukernel::{Device, Image, LaunchConfig};
use NAME_kernels::{rows::rotate, scale};

static KERNELS: Image = gpukernel::image!("kernels");

fn main() -> gpukernel::Result<()> {
    if std::env::args().nth(1).as_deref() == Some("fail") {
        std::process::exit(7);
    }
    let device = Device::best()?;
    let module = device.load(&KERNELS)?;
    let mut x = device.zeroed::<u32>(128)?;
    module.launch(scale, LaunchConfig::new(4, 32), (5, &mut x))?;
    if std::env::args().nth(1).as_deref() == Some("rows") {
        module.launch(rotate::<u64>, LaunchConfig::new(2, 32), (&mut device.zeroed::<u64>(64)?,))?;
    }
    Ok(())
}
"#;

fn project(name: &str) -> Folder {
    Folder::project(name, KERNELS, &MAIN.replace("NAME", &name.replace('-', "_")))
}

fn has_gdb() -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join("gdb").is_file())
}

#[test]
#[ignore = "needs gdb: `.ci/run debugger` installs and uses it"]
fn gdb_stops_in_the_thread_of_the_kernel() {
    assert!(has_gdb(), "there is no gdb: install it (Debian: `apt install gdb`)");
    let folder = project("debug-cpu");
    let run = |words: &[&str]| {
        folder.observe(Path::new("/nowhere"), &[&["debug", "--device", "cpu"], words].concat())
    };
    let commands =
        ["--command", "backtrace 1", "--command", "next", "--command", "print i", "--command", "print by"];
    let stopped = run(&[&["scale", "--block", "3", "--thread", "7,0,0"], &commands[..]].concat());
    assert_eq!(stopped.code, Some(0), "{stopped:?}");
    assert!(
        stopped.stdout.contains("#0  debug_cpu_kernels::_::scale (by=5, x=...) at kernels/src/lib.rs:6"),
        "{stopped:?}"
    );
    assert!(stopped.stdout.contains("$1 = 103") && stopped.stdout.contains("$2 = 5"), "{stopped:?}");

    // With barriers, and of a generic kernel.
    let commands = ["until 19", "print twice", "backtrace 1"].map(|command| ["--command", command]).concat();
    let stopped =
        run(&[&["rotate", "--block", "1", "--thread", "9"], &commands[..], &["--", "rows"]].concat());
    assert_eq!(stopped.code, Some(0), "{stopped:?}");
    assert!(stopped.stdout.contains("$1 = 18"), "{stopped:?}");
    assert!(stopped.stdout.contains("debug_cpu_kernels::rows::_::rotate<u64>"), "{stopped:?}");

    run(&["rotate", "--command", "backtrace"])
        .failed_with("the program did not launch `debug_cpu_kernels::rows::rotate<u64>`; it launched `debug_cpu_kernels::scale`");
    run(&["scale", "--block", "4", "--command", "backtrace"])
        .failed_with("`debug_cpu_kernels::scale` was launched with (4, 1, 1) blocks of (32, 1, 1) threads, which have no thread (0, 0, 0) of block (4, 0, 0)");
    run(&["scale", "--command", "backtrace", "--", "fail"]).failed_with("it launched no kernel at all");
    run(&["scael", "--command", "backtrace"]).failed_with("did you mean `debug_cpu_kernels::scale`?");
}

#[test]
fn cuda_gdb_is_told_the_kernel_and_the_thread() {
    let folder = project("debug-gpu");
    let fake = r#"
while [ "$1" != --args ]; do
    echo "$1"
    [ "$1" = --command ] && cat "$2"
    shift
done
shift
GPUKERNEL_DEVICE=cpu "$@"
"#;
    let tools = folder.tool("cuda-gdb", fake);
    let run = |words: &[&str]| folder.observe(&tools, &[&["debug", "--device", "gpu"], words].concat());
    let told = run(&["scale", "--block", "3,0,0", "--thread", "7", "--command", "info locals"]);
    assert_eq!(told.code, Some(0), "{told:?}");
    let script = "tbreak scale\nrun\ncuda block (3,0,0) thread (7,0,0)\ninfo locals\n";
    assert!(told.stdout.contains(script) && told.stdout.starts_with("--batch\n"), "{told:?}");
    run(&["scale", "--thread", "32"]).failed_with("which have no thread (32, 0, 0) of block (0, 0, 0)");
    for (word, message) in
        [("1,2,3,4", "there are three axes"), ("x", "`x` is no index: write `3`, or `3,0,0`")]
    {
        let run = run(&["scale", "--block", word]).failed_with(message);
        assert_eq!(run.code, Some(2));
    }
}

#[test]
fn without_a_debugger_the_error_says_what_to_install() {
    let folder = project("debug-missing");
    let gpu = folder.observe(Path::new("/nowhere"), &["debug", "scale", "--device", "gpu"]);
    let is_there = |path: &str| Path::new(path).join("cuda-gdb").exists();
    if is_there("/usr/local/cuda/bin") || is_there("/opt/cuda/bin") {
        eprintln!("NOT RUN: this machine has cuda-gdb, which is always found");
        return;
    }
    gpu.failed_with("`--device cpu` debugs them on the CPU").failed_with("apt install cuda-gdb-13-0");
}

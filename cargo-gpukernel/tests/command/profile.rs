//! `cargo gpukernel profile`: what profilers are asked, and what is shown of what they answer.

use std::path::Path;

use crate::common::Folder;

const KERNELS: &str = "
#[kernel]
pub fn scale(x: PerThread<u32>) {
    for (i, x) in x {
        *x = i as u32;
    }
}

#[kernel]
pub fn other(x: PerThread<u32>) {
    for (_, x) in x {
        *x = 0;
    }
}
";

const MAIN: &str = r#"
use gpukernel::{Device, Image, for_each};
use profile_demo_kernels::scale;

static KERNELS: Image = gpukernel::image!("kernels");

fn main() -> gpukernel::Result<()> {
    let device = Device::best()?;
    let module = device.load(&KERNELS)?;
    module.launch(scale, for_each(100), (&mut device.zeroed::<u32>(100)?,))?;
    println!("done");
    Ok(())
}
"#;

/// Writes the report, and prints the page of one that was written. The program is run on the CPU device.
const NCU: &str = r#"
echo "$@" >> "$(dirname "$0")/calls"
if [ "$1" = --import ]; then
    cat "$2"
    exit
fi
while [ "$1" != --export ]; do
    [ "$1" = --kernel-name ] && kernel=$2
    shift
done
if [ "$kernel" = scale ]; then
    cp "$(dirname "$0")/raw.csv" "$2"
fi
shift 2
GPUKERNEL_DEVICE=cpu "$@"
"#;

const NSYS: &str = r#"
echo "$@" >> "$(dirname "$0")/calls"
if [ "$1" = stats ]; then
    echo 'Processing [a.sqlite]...'
    echo 'Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name'
    echo '100.0,2500,1,2500.0,2500.0,2500,2500,0.0,scale'
    exit
fi
while [ "$1" != --output ]; do shift; done
echo > "$2"
shift 2
GPUKERNEL_DEVICE=cpu "$@"
"#;

#[test]
fn profilers_are_asked_for_one_kernel_and_answer_with_its_path() {
    let folder = Folder::project("profile-demo", KERNELS, MAIN);
    folder.tool("ncu", NCU);
    folder.write("tools/raw.csv", &include_str!("../data/ncu-raw.csv").replace("saxpy", "scale"));
    let tools = folder.tool("nsys", NSYS);
    let run = |words: &[&str]| folder.observe(&tools, &[&["profile", "--device", "gpu"], words].concat());
    let ncu = run(&["scale", "--launches", "2", "--skip", "1", "--output", "a b.report"]).succeeded();
    assert!(ncu.stdout.contains("profile_demo_kernels::scale\nlaunch  grid"), "{ncu:?}");
    assert!(ncu.stdout.contains("2.82 µs") && ncu.stdout.contains("11.4 %"), "{ncu:?}");
    assert!(ncu.stdout.ends_with("report: a b.report.ncu-rep\n"), "{ncu:?}");
    let calls = folder.read("tools/calls");
    let words = "--kernel-name scale --launch-skip 1 --launch-count 2 --set full --import-source yes --log-file stderr --force-overwrite";
    assert!(calls.starts_with(words), "{calls}");
    assert!(calls.contains("\n--import a b.report.ncu-rep --page raw --csv --print-units base\n"), "{calls}");

    run(&["other"]).failed_with(
        "the program did not launch `profile_demo_kernels::other`; it launched `profile_demo_kernels::scale`",
    );
    run(&["scael"]).failed_with("did you mean `profile_demo_kernels::scale`?");
    run(&[]).failed_with("ncu profiles one kernel: name it");

    let nsys = run(&["--tool", "nsys"]).succeeded();
    assert!(nsys.stdout.contains("profile_demo_kernels::scale  100.0 %"), "{nsys:?}");
    assert!(nsys.stdout.trim_end().ends_with("gpukernel/profile/program.nsys-rep"), "{nsys:?}");
    assert!(folder.read("tools/calls").contains("\nprofile --trace=cuda,nvtx "));
}

#[test]
fn a_profile_needs_a_gpu_and_a_profiler() {
    let folder = Folder::project("profile-demo", KERNELS, MAIN);
    let run =
        |words: &[&str]| folder.observe(Path::new("/nowhere"), &[&["profile", "scale"], words].concat());
    run(&["--device", "cpu"])
        .failed_with("ncu measures kernels on GPUs, and the program would run on the CPU device");
    let is_there = |path: &str| Path::new(path).join("ncu").exists();
    if is_there("/usr/local/cuda/bin") || is_there("/opt/cuda/bin") {
        eprintln!("NOT RUN: this machine has ncu, which is always found");
        return;
    }
    run(&["--device", "gpu"])
        .failed_with("ncu is needed but was not found")
        .failed_with("apt install cuda-nsight-compute-13-0");
}

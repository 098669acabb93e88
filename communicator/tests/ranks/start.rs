//! Starting processes, and what each of them runs.

use std::{
    env, fs,
    process::{Command, ExitStatus},
    sync::{Mutex, PoisonError},
    thread,
    time::Duration,
};

use gpukernel::Device;
use gpukernel_communicator::{Communicator, Error, Options, World};

/// Set in the processes that mpirun starts.
const INNER: &str = "GPUKERNEL_TEST_RANKS";

/// Whether this is one of the processes.
pub(crate) fn is_inner() -> bool {
    env::var_os(INNER).is_some()
}

/// What the processes did.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) output: String,
}

/// Runs the test that calls this as so many processes.
pub(crate) fn start(processes: usize) -> Ended {
    start_with(processes, &[], &[])
}

/// The same, and processes go on if one of them dies: mpirun ends them otherwise, and with this always succeeds itself.
pub(crate) fn start_with_survivors(processes: usize) -> Ended {
    start_with(processes, &["--enable-recovery"], &[])
}

/// The same, with variables.
#[allow(dead_code, reason = "not every test file does")]
pub(crate) fn start_with_variables(processes: usize, variables: &[(&str, &str)]) -> Ended {
    start_with(processes, &["--enable-recovery"], variables)
}

fn start_with(processes: usize, options: &[&str], variables: &[(&str, &str)]) -> Ended {
    let environment = crate::environment();
    let test = thread::current().name().expect("tests are named").to_owned();
    let output = Command::new(env::var_os("MPIRUN").unwrap_or_else(|| "mpirun".into()))
        .args(["--oversubscribe", "--timeout", "120"])
        .args(options)
        .args(["-n", &processes.to_string()])
        .arg(env::current_exe().expect("it is there"))
        .args(["--exact", &test, "--nocapture", "--include-ignored"])
        .env(INNER, processes.to_string())
        // Processes share the cores.
        .env("RAYON_NUM_THREADS", "1")
        .env("RUST_BACKTRACE", "0")
        // Tests name their devices.
        .env_remove("GPUKERNEL_DEVICE")
        .envs(environment.iter().cloned())
        .envs(variables.iter().copied())
        // Root in a container, which cannot be asked about it by mpirun, nor use another process's memory.
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .env("OMPI_MCA_btl_vader_single_copy_mechanism", "none")
        .output()
        .expect("mpirun is installed");
    for (_, folder) in environment.iter().filter(|(name, _)| *name == "FAKE_NCCL_FOLDER") {
        drop(fs::remove_dir_all(folder));
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ended { status: output.status, output: text(&output.stdout) + &text(&output.stderr) }
}

/// Runs `code` as 1, 2 and 4 processes, which all have to succeed.
pub(crate) fn on_ranks(code: impl FnOnce(&World) -> Result<(), Error>) {
    if is_inner() {
        World::run(code).unwrap_or_else(|error| panic!("{error}"));
        return;
    }
    // Kernels of NCCL wait on one GPU for those on another, which take turns with those of other tests: with four GPUs, for minutes.
    static ONE: Mutex<()> = Mutex::new(());
    let _alone = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    for processes in [1, 2, 4] {
        let ended = start(processes);
        assert!(ended.status.success(), "{processes} processes: {}", ended.output);
        assert_eq!(ended.output.matches("1 passed").count(), processes, "{}", ended.output);
    }
}

/// Calls `code` for the CPU device, and for GPUs in each way that there is.
pub(crate) fn on_every_device(world: &World, code: impl Fn(&Device, &Communicator)) {
    let options = Options::new().timeout(Duration::from_secs(60));
    let run = |device: &Device, options: Options| {
        let communicator = world.communicator_with(device, options).unwrap();
        assert_eq!((communicator.rank(), communicator.size()), (world.rank(), world.size()));
        code(device, &communicator);
    };
    run(&Device::cpu(), options);
    let gpus = gpukernel::devices().unwrap().len() - 1;
    if gpus > 0 {
        let gpu = Device::gpu(world.local_rank() % gpus).unwrap();
        run(&gpu, options.through_host());
        if gpus >= world.size() {
            run(&gpu, options);
        }
    }
}

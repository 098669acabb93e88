//! Runs batches on a GPU, where no Rust is: each in processes of its own, because a program may hang the device or lose it.

use std::{
    collections::VecDeque,
    fmt, fs,
    io::{self, BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{Mutex, PoisonError, mpsc},
    thread,
    time::{Duration, Instant},
};

use gpukernel::{Device, Image};
use program_reference::{Case, Kernels, Outcome, Unoptimised, case::CASES};

use crate::{
    Batch, Error,
    batch::{Code, Machine, symbol},
    ptx::Pieces,
};

/// What is run.
#[derive(Clone, Debug)]
pub struct Run {
    /// What is started for a batch, with the arguments of `fuzz child`: this program.
    pub program: PathBuf,
    /// The batches.
    pub files: Vec<PathBuf>,
    /// Where findings go.
    pub out: PathBuf,
    /// Processes at once.
    pub jobs: usize,
    /// How long a process may work on one program.
    pub patience: Duration,
    /// The assembler, for machine code that is not optimised.
    pub ptxas: Option<PathBuf>,
    /// Nothing is started after this.
    pub until: Option<Instant>,
}

/// What came of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Programs that were compared in every way.
    pub programs: u64,
    /// Launches on the GPU.
    pub launches: u64,
    /// What differed, hung or was lost.
    pub findings: Vec<String>,
    /// Batches for which there was no time.
    pub left_out: Vec<PathBuf>,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for finding in &self.findings {
            writeln!(f, "{finding}")?;
        }
        for file in &self.left_out {
            writeln!(f, "no time for {}", file.display())?;
        }
        write!(f, "{} programs, {} launches, {} findings", self.programs, self.launches, self.findings.len())
    }
}

/// A line that a process writes for the one that started it.
enum Line {
    /// It works on the program of this place now.
    Begins(usize),
    /// It found something.
    Finds(String),
    /// It launched so often.
    Launched(u64),
}

impl Line {
    fn read(text: &str) -> Option<Self> {
        let (kind, rest) = text.split_once(' ')?;
        Some(match kind {
            "begins" => Self::Begins(rest.parse().ok()?),
            "finds" => Self::Finds(rest.to_owned()),
            "launched" => Self::Launched(rest.parse().ok()?),
            _ => return None,
        })
    }

    fn write(&self) {
        let mut out = io::stdout().lock();
        // If nobody listens, the process is about to be ended.
        let _ = match self {
            Self::Begins(number) => writeln!(out, "begins {number}"),
            Self::Finds(text) => writeln!(out, "finds {}", text.replace('\n', " ")),
            Self::Launched(count) => writeln!(out, "launched {count}"),
        };
    }
}

/// Runs all batches.
///
/// # Errors
/// There is no GPU, a batch cannot be read, or a process not be started.
pub fn run(run: &Run) -> Result<Summary, Error> {
    // Else each program would be one that ends its process.
    Device::gpu(0)?;
    let queue = Mutex::new(run.files.iter().cloned().collect::<VecDeque<_>>());
    let summary = Mutex::new(Summary::default());
    let lock = || summary.lock().unwrap_or_else(PoisonError::into_inner);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..run.jobs.max(1))
            .map(|_| {
                scope.spawn(|| {
                    loop {
                        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
                        let Some(file) = next else { return Ok::<_, Error>(()) };
                        if run.until.is_some_and(|until| Instant::now() >= until) {
                            lock().left_out.push(file);
                            continue;
                        }
                        let of_file = run_batch(run, &file)?;
                        let mut all = lock();
                        all.programs += of_file.programs;
                        all.launches += of_file.launches;
                        all.findings.extend(of_file.findings);
                        eprintln!(
                            "{}: {} programs, {} findings so far",
                            file.display(),
                            all.programs,
                            all.findings.len()
                        );
                    }
                })
            })
            .collect();
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })?;
    Ok(summary.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Runs a batch, in one process after another: each goes on behind the program that ended the one before.
fn run_batch(run: &Run, file: &Path) -> Result<Summary, Error> {
    let batch = Batch::read(file)?;
    let mut summary = Summary::default();
    let mut next = 0;
    while next < batch.expected.len() {
        let (last, end) = run_process(run, file, next, &mut summary)?;
        let Some(reason) = end else {
            summary.programs += (batch.expected.len() - next) as u64;
            break;
        };
        let seed = batch.seeds.start + last as u64;
        summary.findings.push(format!("seed {seed}: {reason}"));
        summary.programs += (last + 1).saturating_sub(next) as u64;
        next = last + 1;
    }
    Ok(summary)
}

/// Runs programs of a batch from one on. Returns the last one that was begun, and why the process ended there if it did.
fn run_process(
    run: &Run,
    file: &Path,
    first: usize,
    summary: &mut Summary,
) -> Result<(usize, Option<String>), Error> {
    let program = &run.program;
    let mut command = Command::new(program);
    command.arg("child").arg(file).arg("--first").arg(first.to_string()).arg("--out").arg(&run.out);
    if let Some(ptxas) = &run.ptxas {
        command.arg("--ptxas").arg(ptxas);
    }
    // Nothing is compiled twice, so a cache only grows.
    command.env("CUDA_CACHE_DISABLE", "1").stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn().map_err(Error::file(program))?;
    let (sender, lines) = mpsc::channel();
    let reader = child.stdout.take().map(|output| {
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        })
    });
    let mut last = first;
    let mut hangs = false;
    loop {
        match lines.recv_timeout(run.patience) {
            Ok(line) => match Line::read(&line) {
                Some(Line::Begins(number)) => last = number,
                Some(Line::Finds(text)) => summary.findings.push(text),
                Some(Line::Launched(count)) => summary.launches += count,
                None => eprintln!("{line}"),
            },
            Err(mpsc::RecvTimeoutError::Timeout) => {
                hangs = true;
                // It may have ended meanwhile.
                let _ = child.kill();
                break;
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
        }
    }
    let status = child.wait().map_err(Error::file(program))?;
    drop(lines);
    if let Some(reader) = reader {
        let _ = reader.join();
    }
    let end = match (hangs, status.success()) {
        (true, _) => Some(format!("does not end within {} s", run.patience.as_secs())),
        (false, true) => None,
        (false, false) => Some(format!("ended its process: {status}")),
    };
    Ok((last, end))
}

/// Machine code that is not optimised is made for so many programs at once: starting ptxas takes longer than one of them.
const TOGETHER: usize = 25;

/// What a process does: compares programs of a batch from one on, and tells what it finds on standard output.
///
/// # Errors
/// There is no GPU, or the batch cannot be read.
pub fn child(file: &Path, first: usize, ptxas: Option<&Path>, out: &Path) -> Result<(), Error> {
    let batch = Batch::read(file)?;
    let device = Device::gpu(0)?;
    let arch = device.arch().map(|arch| arch.to_string()).unwrap_or_default();
    let pieces: Vec<_> = batch.code.iter().map(|code| Pieces::new(&code.ptx)).collect();
    let scratch = tempfile::tempdir().map_err(Error::file(std::env::temp_dir()))?;
    let mut unoptimised: Option<(usize, Result<Vec<u8>, String>)> = None;
    let mut launches = 0;
    for number in first..batch.expected.len() {
        Line::Begins(number).write();
        let comparison = Comparison { batch: &batch, number, device: &device, out };
        let mut lost = false;
        for (code, pieces) in batch.code.iter().zip(&pieces) {
            let way = if code.dev { "dev" } else { "release" };
            let text = pieces.with(&[&symbol(number)]);
            lost |= comparison.compare(code, way, Machine::Ptx(&text), &mut launches)?;
            if let (Some(ptxas), false) = (ptxas, code.dev) {
                let group = number / TOGETHER;
                if unoptimised.as_ref().is_none_or(|(of, _)| *of != group) {
                    let symbols: Vec<_> = (group * TOGETHER
                        ..batch.expected.len().min((group + 1) * TOGETHER))
                        .map(symbol)
                        .collect();
                    let names: Vec<_> = symbols.iter().map(String::as_str).collect();
                    unoptimised = Some((group, assemble(ptxas, &arch, &pieces.with(&names), scratch.path())));
                }
                match &unoptimised {
                    Some((_, Ok(cubin))) => {
                        lost |=
                            comparison.compare(code, "-O0", Machine::Cubin(&arch, cubin), &mut launches)?;
                    }
                    Some((_, Err(reason))) => comparison.finds(&format!("ptxas -O0: {reason}")),
                    None => {}
                }
            }
        }
        Line::Launched(std::mem::take(&mut launches)).write();
        if lost {
            // The device with it: the next process goes on.
            std::process::exit(LOST);
        }
    }
    Ok(())
}

/// The exit status of a process that lost its device.
const LOST: i32 = 3;

/// One program on a device.
struct Comparison<'a> {
    batch: &'a Batch,
    number: usize,
    device: &'a Device,
    out: &'a Path,
}

impl Comparison<'_> {
    /// Runs its cases; true if the device is of no use after it.
    fn compare(
        &self,
        code: &Code,
        way: &str,
        machine: Machine<'_>,
        launches: &mut u64,
    ) -> Result<bool, Error> {
        let kind = self.batch.kind(self.number);
        let seed = self.batch.seeds.start + self.number as u64;
        let image = code.image_of(self.number, &Unoptimised::signature(kind), machine)?;
        // SAFETY: the kernel has the parameters of the one on the host, because both are of one list; the generator wrote it in
        // safe Rust, and it is not run on the CPU here.
        let image = unsafe { Image::from_bytes(image) };
        let module = match self.device.load(&image) {
            Ok(module) => module,
            Err(error) => {
                self.finds(&format!("{way}: {error}"));
                return Ok(false);
            }
        };
        for case in 0..CASES {
            let expected = &self.batch.expected[self.number][case];
            if expected.is_overflow() && !code.dev {
                continue;
            }
            let result = Unoptimised::launch(&module, kind, self.number as u32, &Case::new(seed, case));
            *launches += 1;
            let found = Outcome::of(&result);
            if !expected.agrees(&found, code.dev) {
                self.finds(&format!("{way}, case {case}: {expected} on the CPU, {found} on the GPU"));
                if let Ok(words) = &result {
                    let path = self.out.join(format!("seed-{seed}-{way}-case-{case}.txt"));
                    fs::write(&path, format!("{words:x?}\n")).map_err(Error::file(path))?;
                }
            }
            if matches!(found, Outcome::Failed(_)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn finds(&self, text: &str) {
        Line::Finds(format!("seed {}, {text}", self.batch.seeds.start + self.number as u64)).write();
    }
}

/// Machine code of PTX as it is, without optimisation.
///
/// # Errors
/// What ptxas says.
pub fn assemble(ptxas: &Path, arch: &str, ptx: &str, scratch: &Path) -> Result<Vec<u8>, String> {
    let (source, cubin) = (scratch.join("code.ptx"), scratch.join("code.cubin"));
    fs::write(&source, ptx).map_err(|error| error.to_string())?;
    let output = Command::new(ptxas)
        .args(["-O0", "--gpu-name", arch, "-o"])
        .args([&cubin, &source])
        .output()
        .map_err(|error| format!("{}: {error}", ptxas.display()))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    fs::read(&cubin).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// Runs a batch of four programs by a script in place of `fuzz`, whose fourth argument is the program to begin with.
    fn run_by(script: &str, patience: Duration) -> Summary {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let (program, file) = (folder.path().join("fuzz"), folder.path().join("batch.fuzz"));
        let text = format!("#!/bin/sh\ncase $4 in\n{script}\nesac\n");
        // Not written here: while another test forks, a file that is open for writing cannot be run.
        let written =
            Command::new("sh").args(["-c", "printf %s \"$1\" > \"$0\""]).arg(&program).arg(&text).status();
        assert!(written.expect("there is a shell").success());
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("it is ours");
        let expected = vec![vec![Outcome::Computed(1)]; 4];
        Batch { seeds: 40..44, expected, code: Vec::new() }.write(&file).expect("the folder is ours");
        let run = Run {
            program,
            files: Vec::new(),
            out: folder.path().to_owned(),
            jobs: 1,
            patience,
            ptxas: None,
            until: None,
        };
        run_batch(&run, &file).expect("the batch can be read")
    }

    #[test]
    fn the_next_process_goes_on_behind_the_program_that_ended_one() {
        let script = "0) echo begins 0; echo launched 2; echo begins 1; echo finds seed 41, it differs; exit 3;;\n\
                      2) echo begins 2; kill -9 $$;;\n\
                      3) echo begins 3; echo launched 5;;";
        let summary = run_by(script, Duration::from_secs(600));
        assert_eq!((summary.programs, summary.launches), (4, 7));
        let [differs, ended, killed] = summary.findings.as_slice() else { panic!("{summary}") };
        assert_eq!(differs, "seed 41, it differs");
        assert!(ended.starts_with("seed 41: ended its process: exit status: 3"), "{ended}");
        assert!(killed.starts_with("seed 42: ended its process: signal: 9"), "{killed}");
    }

    /// However slow the machine is: what was not begun in time is what hangs.
    #[test]
    fn a_program_that_hangs_is_told_and_passed_over() {
        let summary = run_by("*) echo begins $4; exec sleep 3600;;", Duration::from_millis(300));
        assert_eq!(summary.programs, 4);
        let expected: Vec<_> = (40..44).map(|seed| format!("seed {seed}: does not end within 0 s")).collect();
        assert_eq!(summary.findings, expected);
    }
}

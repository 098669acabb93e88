//! `fuzz make` here, `fuzz run` on a machine with a GPU: compares random programs by the hundred thousand.

use std::{
    error::Error,
    fs,
    ops::Range,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    time::{Duration, Instant},
};

use clap::{Parser, Subcommand};
use program_fuzz::{
    make::{self, Make},
    run::{self, Run},
};
use program_generator::{Kind, contracts};

/// Compares random programs on the CPU and on GPUs.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Compiles programs, runs them on the CPU, and fills a folder for a machine with a GPU. What the folder has already is kept.
    Make {
        /// Seeds, such as 0..100000.
        #[arg(long, value_parser = seeds)]
        seeds: Range<u64>,
        /// The folder.
        #[arg(long)]
        out: PathBuf,
        /// Where cargo builds.
        #[arg(long, default_value = "target/fuzz")]
        target: PathBuf,
        /// Each of so many batches has a dev build, too.
        #[arg(long, default_value_t = 5)]
        dev_every: u64,
    },
    /// Runs what a folder holds on the GPU of this machine, and compares.
    Run {
        /// The folder that `make` filled.
        folder: PathBuf,
        /// Where findings go.
        #[arg(long, default_value = "findings")]
        out: PathBuf,
        /// Processes at once; as many as there are processors without it.
        #[arg(long)]
        jobs: Option<usize>,
        /// Seconds that a process may take for one program.
        #[arg(long, default_value_t = 20)]
        patience: u64,
        /// Seconds after which nothing more is started.
        #[arg(long)]
        limit: Option<u64>,
        /// The assembler, for machine code that is not optimised.
        #[arg(long, default_value = "ptxas")]
        ptxas: PathBuf,
        /// Compares optimised code only.
        #[arg(long)]
        no_ptxas: bool,
    },
    /// Prints the program of a seed.
    Show {
        /// The seed.
        seed: u64,
    },
    /// Makes one batch.
    #[command(hide = true)]
    Batch {
        #[arg(long, value_parser = seeds)]
        seeds: Range<u64>,
        #[arg(long)]
        out: PathBuf,
        #[arg(long)]
        target: PathBuf,
        #[arg(long)]
        dev: bool,
    },
    /// Runs part of a batch.
    #[command(hide = true)]
    Child {
        file: PathBuf,
        #[arg(long)]
        first: usize,
        #[arg(long)]
        ptxas: Option<PathBuf>,
        #[arg(long)]
        out: PathBuf,
    },
}

fn seeds(text: &str) -> Result<Range<u64>, String> {
    let range = text.split_once("..").and_then(|(first, end)| Some(first.parse().ok()?..end.parse().ok()?));
    range.filter(|range| !range.is_empty()).ok_or_else(|| "write seeds like 0..1000".to_owned())
}

fn main() -> ExitCode {
    match work(Arguments::parse().command) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("fuzz: {error}");
            ExitCode::from(2)
        }
    }
}

fn work(task: Task) -> Result<ExitCode, Box<dyn Error>> {
    match task {
        Task::Make { seeds, out, target, dev_every } => make_all(seeds, &out, &target, dev_every)?,
        Task::Batch { seeds, out, target, dev } => {
            let file = make::file(&out, &seeds);
            make::make(&Make { seeds, out, target, dev })?.write(&file)?;
        }
        Task::Run { folder, out, jobs, patience, limit, ptxas, no_ptxas } => {
            let mut files = Vec::new();
            for entry in fs::read_dir(&folder)? {
                files.push(entry?.path());
            }
            files.retain(|file| file.extension().is_some_and(|extension| extension == "fuzz"));
            files.sort();
            fs::create_dir_all(&out)?;
            let started = Instant::now();
            let summary = run::run(&Run {
                program: std::env::current_exe()?,
                files,
                out: out.clone(),
                jobs: jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)),
                patience: Duration::from_secs(patience),
                ptxas: Some(ptxas).filter(|_| !no_ptxas),
                until: limit.map(|limit| started + Duration::from_secs(limit)),
            })?;
            let text = format!("{summary} in {} s", started.elapsed().as_secs());
            fs::write(out.join("summary.txt"), format!("{text}\n"))?;
            println!("{text}");
            if !summary.findings.is_empty() {
                return Ok(ExitCode::FAILURE);
            }
        }
        Task::Show { seed } => {
            let contraction = if contracts(seed) { "with" } else { "without" };
            println!(
                "// Seed {seed}, {:?}, {contraction} contraction.\n{}",
                Kind::of(seed),
                program_generator::program(seed)
            );
        }
        Task::Child { file, first, ptxas, out } => run::child(&file, first, ptxas.as_deref(), &out)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// One process per batch: which programs are compiled, cargo learns from the environment.
fn make_all(seeds: Range<u64>, out: &Path, target: &Path, dev_every: u64) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(out)?;
    let target = std::path::absolute(target)?;
    let program = std::env::current_exe()?;
    let carried = out.join("fuzz");
    // A file that is copied onto itself is empty.
    if carried.canonicalize().ok() != program.canonicalize().ok() {
        fs::copy(&program, &carried)?;
    }
    for batch in make::batches(seeds) {
        if make::file(out, &batch).is_file() {
            continue;
        }
        let started = Instant::now();
        let range = format!("{}..{}", batch.start, batch.end);
        let mut command = Command::new(&program);
        command.args(["batch", "--seeds", &range, "--out"]).arg(out).arg("--target").arg(&target);
        command.env(make::SEEDS, &range);
        if (batch.start / make::BATCH).is_multiple_of(dev_every.max(1)) {
            command.arg("--dev");
        }
        let status = command.status()?;
        if !status.success() {
            return Err(format!("the seeds {range} cannot be built: {status}").into());
        }
        eprintln!("{range}: {:.1} s", started.elapsed().as_secs_f64());
    }
    Ok(())
}

//! The report of the process for `cargo gpukernel`: its launches, and the mistakes that were found in kernels, as [`gpukernel_abi::report`] says.
//! There is one only where the environment asks for it.

use std::{
    collections::HashSet,
    ffi::OsStr,
    fs::{File, OpenOptions},
    io::Write,
    panic::Location,
    sync::{Mutex, OnceLock, PoisonError},
};

use gpu_std::Dim3;
use gpukernel_abi::report::{Event, Finding, FindingKind, Launch, Part, Place, VARIABLE};

use crate::{BarrierWait, Error, RaceSide, launch::rules::CheckedConfig};

/// So many launches are told apart.
const MAX_LAUNCHES: usize = 1 << 12;

/// The report of this process.
pub(crate) struct Report {
    file: File,
    launches: Mutex<HashSet<Launch>>,
}

/// The report, if the environment asks for one.
pub(crate) fn of_process() -> Option<&'static Report> {
    static REPORT: OnceLock<Option<Report>> = OnceLock::new();
    REPORT.get_or_init(|| std::env::var_os(VARIABLE).as_deref().and_then(Report::open)).as_ref()
}

impl Report {
    fn open(path: &OsStr) -> Option<Self> {
        // Other processes append to it as well.
        match OpenOptions::new().create(true).append(true).open(path) {
            Ok(file) => Some(Self { file, launches: Mutex::default() }),
            Err(reason) => {
                let path = path.display();
                eprintln!(
                    "gpukernel: the report {path}, which {VARIABLE} asks for, cannot be written: {reason}"
                );
                None
            }
        }
    }

    pub(crate) fn write(&self, event: &Event) {
        let Ok(mut line) = serde_json::to_string(event) else { return };
        line.push('\n');
        // In one piece, so that lines of threads and processes do not mix.
        if let Err(reason) = (&self.file).write_all(line.as_bytes()) {
            eprintln!("gpukernel: the report that {VARIABLE} asks for cannot be written: {reason}");
        }
    }

    /// Tells of a launch, if it is the first of its kind.
    pub(crate) fn launch(
        &self,
        kernel: &str,
        device: String,
        shape: CheckedConfig,
        at: &'static Location<'static>,
    ) {
        let (grid, block) = (axes(shape.grid), axes(shape.block));
        let launch = Launch { kernel: kernel.to_owned(), device, grid, block, launched_at: of(at) };
        let mut launches = self.launches.lock().unwrap_or_else(PoisonError::into_inner);
        if launches.len() < MAX_LAUNCHES && launches.insert(launch.clone()) {
            self.write(&Event::Launch(launch));
        }
    }

    /// Tells of an error, if it is a mistake in a kernel.
    pub(crate) fn error(&self, error: &Error, device: String, at: Option<&'static Location<'static>>) {
        if let Some(finding) = finding(error) {
            self.write(&Event::Finding(Finding { device, launched_at: at.map(of), ..finding }));
        }
    }
}

fn axes(of: Dim3) -> [u32; 3] {
    [of.x, of.y, of.z]
}

fn of(location: &Location<'_>) -> Place {
    Place { file: location.file().to_owned(), line: location.line(), column: location.column() }
}

/// `file:line:column`, as panics have it.
fn parse(location: &str) -> Option<Place> {
    let mut parts = location.rsplitn(3, ':');
    let mut number = || parts.next()?.parse().ok();
    let (column, line) = (number()?, number()?);
    Some(Place { file: parts.next()?.to_owned(), line, column })
}

/// What of an error is a mistake in a kernel.
fn finding(error: &Error) -> Option<Finding> {
    use FindingKind::{Barrier, Panic, Race};
    let new = |kind, kernel: &str, message: &str, threads: Vec<Part>, help: Option<&str>| {
        let (kernel, message) = (kernel.to_owned(), message.to_owned());
        let help = help.map(str::to_owned);
        Some(Finding { kind, kernel, device: String::new(), message, threads, help, launched_at: None })
    };
    match error {
        Error::Race { kernel, race } => {
            let memory = if race.is_shared { "a shared array" } else { "a slice" };
            let message = format!("data race on element {} of {memory}", race.index);
            let help = if race.first.block == race.second.block {
                "put a barrier between them: `sync` for the threads of a block"
            } else {
                "no barrier orders two blocks: let each block have elements of its own, or use atomic operations"
            };
            new(Race, kernel, &message, vec![side(&race.second), side(&race.first)], Some(help))
        }
        Error::DivergentBarrier { kernel, block, first, second } => new(
            Barrier,
            kernel,
            "threads of a block wait at different barriers",
            vec![waits(*block, first), waits(*block, second)],
            Some(
                "all threads of a block must reach the same barriers in the same order, with the same shared arrays",
            ),
        ),
        Error::DivergentWarp { kernel, block, first, second } => new(
            Barrier,
            kernel,
            "lanes of a warp wait for each other in different operations",
            vec![waits(*block, first), waits(*block, second)],
            Some("all lanes of a group must come to the same operations of the group, in the same order"),
        ),
        Error::EndedBeforeBarrier { kernel, block, waiting, ended } => {
            let does = match (ended.exit, ended.passed) {
                (Some(_), _) => "ended here, by `exit_thread`".to_owned(),
                (None, Some(passed)) => format!("returned from the kernel after the barrier at {passed}"),
                (None, None) => "returned from the kernel before any barrier".to_owned(),
            };
            let ended = Part {
                block: axes(*block),
                thread: axes(ended.thread),
                does,
                place: ended.exit.or(ended.passed).map(of),
            };
            new(
                Barrier,
                kernel,
                "a thread has ended before a barrier of its block",
                vec![waits(*block, waiting), ended],
                Some(
                    "all threads of a block must come to its barriers: let those without work skip the work and not the barrier",
                ),
            )
        }
        Error::UnmetBarrier { kernel, block, wait, other_block, other_thread, other_wait } => {
            let other = match other_wait {
                Some(wait) => waits(*other_block, wait),
                None => Part {
                    block: axes(*other_block),
                    thread: axes(*other_thread),
                    does: "has ended".to_owned(),
                    place: None,
                },
            };
            new(
                Barrier,
                kernel,
                "a thread waits for one that will not come",
                vec![waits(*block, wait), other],
                Some("all threads of the blocks that a barrier waits for must come to it"),
            )
        }
        Error::KernelPanicked { kernel, message, location, block, thread } => {
            let place = location.as_deref().and_then(parse);
            let part =
                Part { block: axes(*block), thread: axes(*thread), does: "panicked".to_owned(), place };
            new(Panic, kernel, message, vec![part], None)
        }
        _ => None,
    }
}

fn side(side: &RaceSide) -> Part {
    let does = if side.writes { "writes it" } else { "reads it" };
    Part {
        block: axes(side.block),
        thread: axes(side.thread),
        does: does.to_owned(),
        place: Some(of(side.place)),
    }
}

fn waits(block: Dim3, wait: &BarrierWait) -> Part {
    let does = match wait.lanes {
        Some(lanes) => format!("waits in {} of the lanes {lanes:#x}", wait.operation),
        None => format!("waits in {}", wait.operation),
    };
    Part { block: axes(block), thread: axes(wait.thread), does, place: Some(of(wait.place)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_panics_are_taken_apart() {
        let place = parse("C:/a b/lib.rs:12:9").unwrap();
        assert_eq!((place.file.as_str(), place.line, place.column), ("C:/a b/lib.rs", 12, 9));
        assert_eq!(parse("lib.rs:12"), None);
    }

    #[test]
    fn only_mistakes_in_kernels_are_findings() {
        assert!(finding(&Error::ZeroStep).is_none());
        let panicked = Error::KernelPanicked {
            kernel: "kernels::fill".into(),
            message: "index out of bounds".into(),
            location: Some("src/lib.rs:3:5".into()),
            block: Dim3::new(1, 0, 0),
            thread: Dim3::new(2, 0, 0),
        };
        let found = finding(&panicked).unwrap();
        assert_eq!((found.kind, found.message.as_str()), (FindingKind::Panic, "index out of bounds"));
        assert_eq!(found.threads[0].place.as_ref().map(|place| place.line), Some(3));
    }

    #[test]
    fn equal_launches_are_told_once() {
        let folder = std::env::temp_dir().join(format!("gpukernel-report-{}", std::process::id()));
        let report = Report::open(folder.as_os_str()).unwrap();
        let shape = CheckedConfig { grid: Dim3::new(2, 1, 1), block: Dim3::new(32, 1, 1) };
        let launch = |kernel| report.launch(kernel, "cpu".to_owned(), shape, Location::caller());
        for kernel in ["a", "b", "a"] {
            launch(kernel);
        }
        let text = std::fs::read_to_string(&folder).unwrap();
        std::fs::remove_file(&folder).unwrap();
        let events: Vec<Event> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let kernels: Vec<_> = events
            .iter()
            .map(|event| match event {
                Event::Launch(launch) => (launch.kernel.as_str(), launch.grid),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(kernels, [("a", [2, 1, 1]), ("b", [2, 1, 1])]);
    }
}

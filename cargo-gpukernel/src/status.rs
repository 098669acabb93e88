//! What is said on standard error: progress on a terminal, warnings and errors everywhere. And results on standard output.

use std::{
    fmt::Display,
    io::{self, ErrorKind, IsTerminal, Write},
};

use anstyle::{AnsiColor, Style};

use crate::console;

const GOOD: Style = AnsiColor::Green.on_default().bold();
const CAUTION: Style = AnsiColor::Yellow.on_default().bold();
const BAD: Style = AnsiColor::Red.on_default().bold();

/// Prints results. That nobody reads on, as behind `| head`, is no error.
pub(crate) fn print(results: impl Display) -> io::Result<()> {
    let mut output = io::stdout().lock();
    match write!(output, "{results}").and_then(|()| output.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

/// Says what is being done, in cargo's form; in a pipe only with `--verbose`.
pub(crate) fn step(verb: &str, what: impl Display) {
    if io::stderr().is_terminal() || console::options().verbosity() > 0 {
        note(verb, what);
    }
}

/// Says what only `--verbose` asks for.
pub(crate) fn detail(verb: &str, what: impl Display) {
    if console::options().verbosity() > 0 {
        note(verb, what);
    }
}

/// Says what was done or will be done, in cargo's form; not with `--quiet`.
pub(crate) fn note(verb: &str, what: impl Display) {
    if !console::options().is_quiet() {
        anstream::eprintln!("{GOOD}{verb:>12}{GOOD:#} {what}");
    }
}

/// Says what may be wrong.
pub(crate) fn warn(what: impl Display) {
    anstream::eprintln!("{CAUTION}warning{CAUTION:#}: {what}");
}

/// Says what went wrong and what led to it, outermost first.
pub(crate) fn error(error: &anyhow::Error) {
    let mut causes = error.chain();
    if let Some(what) = causes.next() {
        anstream::eprintln!("{BAD}error{BAD:#}: {what}");
    }
    for cause in causes {
        anstream::eprintln!("  caused by: {cause}");
    }
}

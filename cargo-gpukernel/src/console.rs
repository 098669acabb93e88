//! The options that every command has: colours, and how much is said on standard error.

use std::{
    ffi::{OsStr, OsString},
    process::Command,
    sync::OnceLock,
};

use clap::{ColorChoice, ValueEnum};

/// The options of all commands.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Options of all commands")]
pub(crate) struct Options {
    #[arg(long, global = true, value_name = "WHEN", hide_possible_values = true, help = COLOR_HELP)]
    color: Option<ColorChoice>,
    /// Say more, also in a pipe (twice: still more, of cargo)
    #[arg(short, long, global = true, action = clap::ArgAction::Count, conflicts_with = "quiet")]
    verbose: u8,
    /// Say only warnings and errors; results on standard output stay
    #[arg(short, long, global = true)]
    quiet: bool,
}

const COLOR_HELP: &str = "Colour messages: `auto` (on a terminal), `always` or `never`; default: as CARGO_TERM_COLOR, NO_COLOR and \
                          CLICOLOR_FORCE say, or else `auto`";

static CHOSEN: OnceLock<Options> = OnceLock::new();

/// The options of this run, or the default before they are known.
pub(crate) fn options() -> &'static Options {
    static DEFAULT: Options = Options { color: None, verbose: 0, quiet: false };
    CHOSEN.get().unwrap_or(&DEFAULT)
}

impl Options {
    /// Makes these the options of this run. The first ones count.
    pub(crate) fn choose(self) {
        set_colors(self.color);
        drop(CHOSEN.set(self));
    }

    pub(crate) fn verbosity(&self) -> u8 {
        self.verbose
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Whether to use colours wherever output goes, if that is chosen.
    pub(crate) fn colors(&self) -> Option<bool> {
        match chosen(self.color, std::env::var_os("CARGO_TERM_COLOR").as_deref()) {
            ColorChoice::Always => Some(true),
            ColorChoice::Never => Some(false),
            ColorChoice::Auto => None,
        }
    }

    /// Has a program, and those that it starts, use colours as chosen here: cargo by its own variable, others by what most of them read.
    pub(crate) fn apply(&self, command: &mut Command) {
        match self.color {
            Some(ColorChoice::Always) => {
                command.env("CARGO_TERM_COLOR", "always").env("CLICOLOR_FORCE", "1").env_remove("NO_COLOR")
            }
            Some(ColorChoice::Never) => {
                command.env("CARGO_TERM_COLOR", "never").env("NO_COLOR", "1").env_remove("CLICOLOR_FORCE")
            }
            Some(ColorChoice::Auto) => command.env("CARGO_TERM_COLOR", "auto"),
            None => command,
        };
    }
}

/// The choice on the command line, before it is parsed: what clap says about its mistakes has colours, too.
pub(crate) fn color_in(arguments: &[OsString]) -> Option<ColorChoice> {
    let mut arguments = arguments.iter().map(OsString::as_os_str).take_while(|word| *word != "--");
    let mut found = None;
    while let Some(word) = arguments.next() {
        let value = match word.to_str() {
            Some("--color") => arguments.next().and_then(OsStr::to_str),
            Some(word) => word.strip_prefix("--color="),
            None => None,
        };
        found = value.and_then(|value| ColorChoice::from_str(value, false).ok()).or(found);
    }
    found
}

/// Uses colours as chosen in what clap prints.
pub(crate) fn color_of_help(chosen_color: Option<ColorChoice>) -> ColorChoice {
    chosen(chosen_color, std::env::var_os("CARGO_TERM_COLOR").as_deref())
}

/// As cargo chooses: its option, else its variable. `Auto` looks at NO_COLOR, CLICOLOR_FORCE and the terminal.
fn chosen(option: Option<ColorChoice>, variable: Option<&OsStr>) -> ColorChoice {
    let of_variable = || ColorChoice::from_str(variable?.to_str()?, false).ok();
    option.or_else(of_variable).unwrap_or_default()
}

fn set_colors(option: Option<ColorChoice>) {
    let choice = match color_of_help(option) {
        ColorChoice::Always => anstream::ColorChoice::Always,
        ColorChoice::Never => anstream::ColorChoice::Never,
        ColorChoice::Auto => anstream::ColorChoice::Auto,
    };
    choice.write_global();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_option_counts_before_the_variable() {
        let variable = |text: &'static str| Some(OsStr::new(text));
        assert_eq!(chosen(Some(ColorChoice::Never), variable("always")), ColorChoice::Never);
        assert_eq!(chosen(None, variable("always")), ColorChoice::Always);
        assert_eq!(chosen(None, variable("sometimes")), ColorChoice::Auto);
        assert_eq!(chosen(None, None), ColorChoice::Auto);
    }

    #[test]
    fn colours_are_known_before_the_command_line_is() {
        let color = |line: &str| color_in(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert_eq!(color("run --color never --colour"), Some(ColorChoice::Never));
        assert_eq!(color("--color=always run"), Some(ColorChoice::Always));
        assert_eq!(color("run -- --color always"), None);
        assert_eq!(color("run --color"), None);
        assert_eq!(color("run --color purple"), None);
    }

    #[test]
    fn programs_get_the_choice() {
        let variables = |color| {
            let mut command = Command::new("x");
            Options { color, ..Options::default() }.apply(&mut command);
            let text = |word: &OsStr| word.to_string_lossy().into_owned();
            command.get_envs().map(|(name, value)| (text(name), value.map(text))).collect::<Vec<_>>()
        };
        let set = |name: &str, value: &str| (name.to_owned(), Some(value.to_owned()));
        let removed = |name: &str| (name.to_owned(), None);
        assert_eq!(
            variables(Some(ColorChoice::Never)),
            [set("CARGO_TERM_COLOR", "never"), removed("CLICOLOR_FORCE"), set("NO_COLOR", "1")]
        );
        assert_eq!(
            variables(Some(ColorChoice::Always)),
            [set("CARGO_TERM_COLOR", "always"), set("CLICOLOR_FORCE", "1"), removed("NO_COLOR")]
        );
        assert!(variables(None).is_empty());
    }
}

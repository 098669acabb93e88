//! `cargo gpukernel completions`: what a shell needs to complete the command line.

use std::process::ExitCode;

use clap_complete::Shell;

use crate::{command, status};

/// Print a script with which a shell completes the command line
#[derive(Debug, clap::Args)]
#[command(
    after_help = "For example: cargo gpukernel completions bash > ~/.local/share/bash-completion/completions/cargo-gpukernel"
)]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    status::print(script(args.shell)?)?;
    Ok(ExitCode::SUCCESS)
}

const PROGRAM: &str = "cargo-gpukernel";

/// For the program under its own name: cargo does not hand on what its subcommands complete.
fn script(shell: Shell) -> anyhow::Result<String> {
    // clap_complete 4.6.11 separates the words of a command by `__subcmd__` for bash, and puts that for `-` too, but not everywhere.
    let name = match shell {
        Shell::Bash => PROGRAM.replace('-', "_"),
        _ => PROGRAM.to_owned(),
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command().bin_name(&name), &name, &mut script);
    let script = String::from_utf8(script)?;
    // As the last word of a line, it is the name of the program.
    Ok(script.replace(&format!(" {name}\n"), &format!(" {PROGRAM}\n")))
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn every_shell_completes_subcommands_and_their_values() {
        for shell in Shell::value_variants() {
            let script = script(*shell).unwrap();
            for word in ["cargo-gpukernel", "init", "--template", "completions"] {
                // fish has options without their dashes.
                assert!(script.contains(word.trim_start_matches("--")), "{shell}: no {word}");
            }
        }
    }

    /// As bash does it after `cargo-gpukernel new --template `.
    #[test]
    fn bash_completes_the_templates() {
        let line = "COMP_WORDS=(cargo-gpukernel new --template '') COMP_CWORD=3\n\
                    _cargo_gpukernel cargo-gpukernel '' --template\necho \"${COMPREPLY[@]}\"\n";
        let script = script(Shell::Bash).unwrap() + line;
        let output = std::process::Command::new("bash").args(["-c", &script]).output().unwrap();
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            "plain cuda-c library bench python\n",
            "{output:?}"
        );
    }
}

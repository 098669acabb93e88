//! `cargo gpukernel man`: pages for man(1).

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context;

use crate::{command, output, status};

/// Print the man page, or write one for each subcommand as well
#[derive(Debug, clap::Args)]
#[command(
    after_help = "For example: cargo gpukernel man -o ~/.local/share/man/man1, then: man cargo-gpukernel-new"
)]
pub(crate) struct Args {
    /// Folder for the pages of all subcommands
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.output {
        Some(folder) => {
            pages(folder).with_context(|| format!("cannot write the pages to {}", folder.display()))?;
        }
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(command()).render(&mut page)?;
            status::print(String::from_utf8(page)?)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes a page for each subcommand, among the pages of other programs.
fn pages(folder: &Path) -> anyhow::Result<()> {
    let made = tempfile::tempdir()?;
    clap_mangen::generate_to(command(), made.path())?;
    fs::create_dir_all(folder)?;
    for page in fs::read_dir(made.path())? {
        let page = page?;
        output::write(&folder.join(page.file_name()), fs::read(page.path())?)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_for_each_subcommand() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("man1");
        run(&Args { output: Some(folder.clone()) }).unwrap();
        let page = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
        assert!(
            page("cargo-gpukernel.1").contains(r"cargo\-gpukernel\-init(1)"),
            "{}",
            page("cargo-gpukernel.1")
        );
        assert!(page("cargo-gpukernel-new.1").contains("host program, kernels, tests"));
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        let error = run(&Args { output: Some(file.join("man1")) }).unwrap_err().to_string();
        assert!(error.starts_with("cannot write the pages to ") && error.ends_with("file/man1"), "{error}");
    }
}

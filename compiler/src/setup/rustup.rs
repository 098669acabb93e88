//! rustup: a Rust release installed through the user's rustup into a home of our own, so that none of the
//! user's toolchains, defaults or overrides changes.

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use super::{SetupOptions, child::Watch, download, pins::Pins};
use crate::toolchain::{Cache, Core, DEVICE_TARGET, Probe, visible_entries};

/// Where Rust releases come from, unless `RUSTUP_DIST_SERVER` says otherwise.
const SERVER: &str = "https://static.rust-lang.org";

/// Installs the pinned release, or the current stable one where a mirror lacks it. The error is a reason.
pub(super) fn install(options: &SetupOptions<'_>, cache: &Cache) -> Result<(), String> {
    let environment = &options.find.environment;
    let rustup = environment.which("rustup".as_ref()).ok_or("rustup is not installed")?;
    if options.offline {
        return Err("it needs a network, which --offline forbids".to_owned());
    }
    let pins = Pins::load().map_err(|error| error.to_string())?;
    let server = environment.get("RUSTUP_DIST_SERVER").and_then(|url| url.to_str()).unwrap_or(SERVER);
    let channel = [pins.rust.release.as_str(), "stable"]
        .into_iter()
        .find_map(|channel| match is_available(server, channel) {
            Ok(true) => Some(Ok(channel)),
            Ok(false) => None,
            Err(reason) => Some(Err(reason)),
        })
        .unwrap_or_else(|| Err(format!("{server} has neither Rust {} nor stable", pins.rust.release)))?;

    let home = cache.make_dir("rustup").map_err(|error| error.to_string())?;
    let run = |arguments: &[&str]| rustup_command(&rustup, &home, cache, options, arguments);
    let install = || {
        run(&["toolchain", "install", channel, "--profile", "minimal", "--no-self-update"])?;
        // Not every release has core for the device built; all have its source.
        if run(&["target", "add", DEVICE_TARGET, "--toolchain", channel]).is_err() {
            run(&["component", "add", "rust-src", "--toolchain", channel])?;
        }
        verify(&home, channel)
    };
    options.find.progress.step(&format!("installing Rust {channel} through rustup"), None, || {
        if !options.force && install().is_ok() {
            return Ok(());
        }
        // What an interrupted installation left can be beyond rustup's repair. There may also be nothing.
        let _ = run(&["toolchain", "uninstall", channel]);
        install()
    })
}

/// Whether the installed release can compile kernels.
fn verify(home: &Path, channel: &str) -> Result<(), String> {
    let toolchain = visible_entries(&home.join("toolchains"))
        .into_iter()
        .find(|dir| {
            dir.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(channel.as_bytes()))
        })
        .ok_or_else(|| format!("rustup installed no toolchain {channel}"))?;
    let probe =
        Probe::run(&toolchain.join("bin").join("rustc"), home).map_err(|refusal| refusal.to_string())?;
    if probe.core == Core::Missing { Err(probe.no_core().to_string()) } else { Ok(()) }
}

/// Whether the server has this release, asked first because rustup waits long for a host that it cannot reach.
fn is_available(server: &str, channel: &str) -> Result<bool, String> {
    let url = format!("{}/dist/channel-rust-{channel}.toml.sha256", server.trim_end_matches('/'));
    let (status, _) = download::page(&download::agent(), &url)?;
    if status.is_server_error() || status == 407 {
        return Err(format!("{url}: the server answered {status}"));
    }
    Ok(status.is_success())
}

fn rustup_command(
    rustup: &Path,
    home: &PathBuf,
    cache: &Cache,
    options: &SetupOptions<'_>,
    arguments: &[&str],
) -> Result<(), String> {
    let mut command = Command::new(rustup);
    command
        .args(arguments)
        .env("RUSTUP_HOME", home)
        .env("CARGO_HOME", cache.dir("cargo"))
        .env_remove("RUSTUP_TOOLCHAIN")
        .current_dir(cache.root());
    Watch { directory: home, patience: Duration::from_secs(120), progress: options.find.progress }
        .run(&mut command)
}

#[cfg(test)]
mod tests {
    use super::{super::testing::Server, *};
    use crate::toolchain::{Environment, FindOptions};

    fn install_with(environment: Environment) -> String {
        let dir = tempfile::tempdir().unwrap();
        let options = SetupOptions::new(FindOptions::new(dir.path()).environment(environment));
        install(&options, &Cache::at(dir.path())).unwrap_err()
    }

    /// A rustup that fails if it is ever called.
    fn environment(dir: &Path) -> Environment {
        crate::toolchain::testing::program(&dir.join("rustup"), "echo 'error: not to be called' >&2; exit 1");
        Environment::default().with("PATH", dir)
    }

    #[test]
    fn without_rustup() {
        assert_eq!(install_with(Environment::default()), "rustup is not installed");
    }

    #[test]
    fn a_server_without_rust() {
        let dir = tempfile::tempdir().unwrap();
        let server = Server::start();
        let reason = install_with(environment(dir.path()).with("RUSTUP_DIST_SERVER", server.url("")));
        assert!(reason.contains("has neither Rust") && reason.contains("nor stable"), "{reason}");
    }

    #[test]
    fn a_server_that_cannot_be_reached_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let server = Server::start();
        let url = server.url("");
        drop(server);
        let reason = install_with(environment(dir.path()).with("RUSTUP_DIST_SERVER", url));
        assert!(reason.starts_with("127.0.0.1"), "{reason}");
    }

    #[test]
    fn what_rustup_says_is_the_reason() {
        let dir = tempfile::tempdir().unwrap();
        let server = Server::start().file("/dist/channel-rust-stable.toml.sha256", "00");
        let reason = install_with(environment(dir.path()).with("RUSTUP_DIST_SERVER", server.url("")));
        assert_eq!(reason, "error: not to be called");
    }
}

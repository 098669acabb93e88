//! apt: the distribution's packages looked up and downloaded with lists of our own, without root.
//!
//! The user's sources, keys, proxies and pins apply; the system's lists, cache and hooks are left alone. apt
//! checks signatures and hashes.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use semver::Version;

use super::child::Watch;
use crate::toolchain::{Cache, Progress, output_of};

/// apt with a configuration of our own.
#[derive(Debug)]
pub(super) struct Apt {
    dir: PathBuf,
}

/// What the lists say about a package.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Package {
    pub(super) name: String,
    pub(super) version: String,
    /// The file's name, without its folder on the server.
    pub(super) file: String,
    pub(super) size: u64,
    pub(super) sha256: String,
    /// What it needs: each entry is a list of alternatives.
    pub(super) depends: Vec<Vec<String>>,
}

impl Apt {
    /// Prepares a configuration in the cache. The error is a reason why apt is of no use here.
    pub(super) fn prepare(cache: &Cache) -> Result<Self, String> {
        let dir = cache.make_dir("apt").map_err(|error| error.to_string())?;
        let system = output_of(Command::new("apt-config").arg("dump").env("LC_ALL", "C"), "apt-config dump")
            .map_err(|error| format!("apt is not usable: {error}"))?;
        for folder in ["lists/partial", "cache/archives/partial", "parts"] {
            fs::create_dir_all(dir.join(folder)).map_err(|error| format!("{}: {error}", dir.display()))?;
        }
        let config = configuration(&system, &dir)?;
        fs::write(dir.join("apt.conf"), config).map_err(|error| format!("{}: {error}", dir.display()))?;
        Ok(Self { dir })
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("APT_CONFIG", self.dir.join("apt.conf")).env("LC_ALL", "C");
        command
    }

    fn ask(&self, program: &str, arguments: &[&str]) -> Result<String, String> {
        output_of(self.command(program).args(arguments), "apt-cache").map_err(|error| error.to_string())
    }

    /// Fetches the package lists. The error tells of any source that failed, though the lists of the others
    /// are there then: it is fatal only if what is wanted is not in those.
    pub(super) fn update(&self, progress: &Progress<'_>) -> Result<(), String> {
        let lists = self.dir.join("lists");
        let watch = Watch { directory: &lists, patience: Duration::from_secs(60), progress: *progress };
        progress.step("fetching the distribution's package lists", None, || {
            // Without the option apt ends well also where it reached no source at all.
            watch.run(self.command("apt-get").args(["--quiet", "-oAPT::Update::Error-Mode=any", "update"]))
        })
    }

    /// Whether lists were fetched before.
    pub(super) fn has_lists(&self) -> bool {
        fs::read_dir(self.dir.join("lists")).into_iter().flatten().filter_map(Result::ok).any(|entry| {
            let name = entry.file_name();
            name.to_string_lossy().contains("_Packages")
        })
    }

    /// The names of all packages that begin with this.
    pub(super) fn names(&self, prefix: &str) -> Result<Vec<String>, String> {
        Ok(self.ask("apt-cache", &["pkgnames", prefix])?.lines().map(str::to_owned).collect())
    }

    /// The versions of these packages that apt would install; those that do not exist are left out.
    pub(super) fn show(&self, names: &[String]) -> Vec<Package> {
        let mut arguments = vec!["show", "--no-all-versions"];
        arguments.extend(names.iter().map(String::as_str));
        // apt-cache fails if one of them does not exist, though it prints the others.
        let output = self.command("apt-cache").args(&arguments).output();
        output.map(|output| parse_packages(&String::from_utf8_lossy(&output.stdout))).unwrap_or_default()
    }

    /// Downloads a package's file into a folder.
    pub(super) fn download(
        &self,
        package: &Package,
        dir: &Path,
        progress: &Progress<'_>,
    ) -> Result<(), String> {
        let what = format!("downloading {} {}", package.name, package.version);
        let exactly = format!("{}={}", package.name, package.version);
        let watch = Watch { directory: dir, patience: Duration::from_secs(60), progress: *progress };
        progress.step(&what, Some(package.size), || {
            watch.run(self.command("apt-get").current_dir(dir).args(["--quiet", "download", &exactly]))
        })
    }
}

/// The names of the packages that are installed.
pub(super) fn installed() -> Result<Vec<String>, String> {
    let mut command = Command::new("dpkg-query");
    command.args(["--show", "--showformat=${db:Status-Status} ${Package}\\n"]);
    let text = output_of(&mut command, "dpkg-query").map_err(|error| error.to_string())?;
    Ok(text.lines().filter_map(|line| line.strip_prefix("installed ")).map(str::to_owned).collect())
}

/// Unpacks a package's files below a folder.
pub(super) fn unpack(file: &Path, root: &Path) -> Result<(), String> {
    output_of(Command::new("dpkg-deb").arg("--extract").arg(file).arg(root), "dpkg-deb --extract")
        .map(drop)
        .map_err(|error| format!("{}: {error}", file.display()))
}

/// The upstream version of a package: `1:22.1.8-1~deb12u1` is 22.1.8.
pub(super) fn upstream_version(version: &str) -> Option<Version> {
    let upstream = version.split_once(':').map_or(version, |(_, rest)| rest);
    let end = upstream.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(upstream.len());
    let mut numbers = upstream[..end].split('.').map(str::parse::<u64>);
    let major = numbers.next()?.ok()?;
    let mut next = || numbers.next().and_then(Result::ok).unwrap_or(0);
    Some(Version::new(major, next(), next()))
}

/// What the user configured about downloads, with folders of our own. No other file is read, so none of the
/// system's hooks run, and only package lists are fetched.
fn configuration(system: &str, dir: &Path) -> Result<String, String> {
    let path = dir
        .to_str()
        .filter(|path| !path.contains(['"', '\n']))
        .ok_or("the cache's path has odd characters")?;
    let wanted = ["Acquire::", "APT::Architecture", "APT::Default-Release"];
    let mut config: String = system
        .lines()
        .filter(|line| {
            wanted.iter().any(|start| line.starts_with(start)) && !line.starts_with("Acquire::IndexTargets")
        })
        .map(|line| format!("{line}\n"))
        .collect();
    config.push_str(&format!(
        "Acquire::Languages \"none\";\nDir::State::Lists \"{path}/lists\";\nDir::Cache \"{path}/cache\";\n\
         Dir::Etc::Main \"/dev/null\";\nDir::Etc::Parts \"{path}/parts\";\nAPT::Sandbox::User \"\";\n"
    ));
    Ok(config)
}

/// Reads what `apt-cache show` prints.
fn parse_packages(text: &str) -> Vec<Package> {
    text.split("\n\n")
        .filter_map(|paragraph| {
            let field = |name: &str| {
                paragraph.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
            };
            let depends = ["Pre-Depends", "Depends"].iter().filter_map(|name| field(name));
            Some(Package {
                name: field("Package")?.to_owned(),
                version: field("Version")?.to_owned(),
                file: field("Filename")?.rsplit('/').next()?.to_owned(),
                size: field("Size")?.parse().ok()?,
                sha256: field("SHA256")?.to_owned(),
                depends: depends.flat_map(parse_depends).collect(),
            })
        })
        .collect()
}

/// Reads `libc6 (>= 2.34), libz3-4 | libz3-dev, libpython3:any`.
fn parse_depends(text: &str) -> Vec<Vec<String>> {
    text.split(',')
        .map(|entry| {
            entry
                .split('|')
                .filter_map(|alternative| alternative.trim().split([' ', ':']).next())
                .filter(|name| !name.is_empty())
                .map(str::to_owned)
                .collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHOW: &str = "\
Package: rustc-web
Version: 1.96.0+dfsg1-1~deb12u2
Installed-Size: 13205
Architecture: amd64
Depends: libc6 (>= 2.34), libstd-rust-web-dev (= 1.96.0+dfsg1-1~deb12u2), gcc, libc-dev | libc6-dev:any
Description: Rust systems programming language
 Package: not a field
Filename: pool/updates/main/r/rustc-web/rustc-web_1.96.0+dfsg1-1~deb12u2_amd64.deb
Size: 4450500
SHA256: 8fefe1d6377fe4082f5a9d2a47e095e2d20319eaab9754bd2f0275155c9adf90

Package: virtual-only
Version: 1

Package: libllvm22
Version: 1:22.1.8-1~deb12u1
Filename: pool/main/l/libllvm22_22.1.8-1~deb12u1_amd64.deb
Size: 1
SHA256: 00
";

    #[test]
    fn what_apt_cache_shows() {
        let packages = parse_packages(SHOW);
        assert_eq!(packages.len(), 2, "a package that cannot be downloaded does not count");
        let rustc = &packages[0];
        assert_eq!(rustc.file, "rustc-web_1.96.0+dfsg1-1~deb12u2_amd64.deb");
        assert_eq!(rustc.size, 4_450_500);
        assert_eq!(
            rustc.depends,
            [vec!["libc6"], vec!["libstd-rust-web-dev"], vec!["gcc"], vec!["libc-dev", "libc6-dev"]]
        );
        assert_eq!(packages[1].depends, Vec::<Vec<String>>::new());
    }

    #[test]
    fn upstream_versions() {
        assert_eq!(upstream_version("1.96.0+dfsg1-1~deb12u2"), Some(Version::new(1, 96, 0)));
        assert_eq!(upstream_version("1:22.1.8-1~deb12u1"), Some(Version::new(22, 1, 8)));
        assert_eq!(upstream_version("1.85~rc1"), Some(Version::new(1, 85, 0)));
        assert_eq!(upstream_version("beta"), None);
    }

    #[test]
    fn proxies_and_certificates_are_kept_hooks_and_folders_are_not() {
        let system = "Acquire::http::Proxy \"http://proxy:3128\";\nAcquire::IndexTargets::deb::DEP-11 \"\";\n\
                      APT::Architecture \"amd64\";\nAPT::Update::Post-Invoke:: \"rm -f x\";\nDir::State \"var/lib/apt\";\n";
        let config = configuration(system, Path::new("/c/apt")).unwrap();
        assert!(
            config.starts_with("Acquire::http::Proxy \"http://proxy:3128\";\nAPT::Architecture \"amd64\";\n")
        );
        assert!(config.contains("Dir::State::Lists \"/c/apt/lists\";"));
        for gone in ["DEP-11", "Post-Invoke", "var/lib/apt"] {
            assert!(!config.contains(gone), "{gone}");
        }
        assert!(configuration("", Path::new("/a\"b")).is_err());
    }
}

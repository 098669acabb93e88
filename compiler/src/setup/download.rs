//! Download: a file from a web server into the cache, resumed after an interruption and checked by its hash.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use sha2::{Digest, Sha256};
use ureq::{
    Agent,
    http::StatusCode,
    tls::{RootCerts, TlsConfig},
};

use super::SetupError;
use crate::toolchain::{Event, Progress, ToolchainError};

/// How often in a row a server may break off without having sent anything.
const FRUITLESS_ATTEMPTS: u32 = 3;

/// A client that trusts what the system trusts (`SSL_CERT_FILE`, `SSL_CERT_DIR`) and goes through the proxy
/// that the environment names.
pub(super) fn agent() -> Agent {
    let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
    Agent::config_builder()
        .tls_config(tls)
        .http_status_as_error(false)
        .timeout_resolve(Some(Duration::from_secs(15)))
        .timeout_connect(Some(Duration::from_secs(15)))
        .timeout_recv_response(Some(Duration::from_secs(30)))
        .timeout_per_read(Some(Duration::from_secs(60)))
        .build()
        .new_agent()
}

/// A file to fetch.
#[derive(Debug)]
pub(super) struct Download<'a> {
    /// What to call it.
    pub(super) title: &'a str,
    pub(super) url: &'a str,
    /// Its name in the cache.
    pub(super) file: &'a str,
    /// The SHA-256 it must have, in hexadecimal.
    pub(super) sha256: &'a str,
    /// The folder it goes to.
    pub(super) directory: &'a Path,
}

impl Download<'_> {
    /// Fetches the rest of the file, all of it if there is nothing yet, and puts it under its name once its
    /// hash is right.
    pub(super) fn fetch(&self, agent: &Agent, progress: &Progress<'_>) -> Result<PathBuf, SetupError> {
        let part = self.directory.join(format!("{}.part", self.file));
        let resumed = part.exists();
        let mut announced = false;
        let fetched = self.fetch_rest(agent, &part, progress, &mut announced);
        if announced {
            progress.tell(Event::End);
        }
        fetched?;
        let target = self.directory.join(self.file);
        match check(&part, self.sha256) {
            Ok(()) => {}
            Err(error) => {
                remove(&part)?;
                // What an earlier run left may have been of another file, so that start over once.
                return if resumed { self.fetch(agent, progress) } else { Err(error) };
            }
        }
        fs::rename(&part, &target).map_err(|e| ToolchainError::io("rename", &part, e))?;
        Ok(target)
    }

    fn fetch_rest(
        &self,
        agent: &Agent,
        part: &Path,
        progress: &Progress<'_>,
        announced: &mut bool,
    ) -> Result<(), SetupError> {
        let mut fruitless = 0;
        loop {
            let before = size(part);
            match self.attempt(agent, part, progress, announced) {
                Ok(()) => return Ok(()),
                Err(Failure::Local(error)) => return Err(error.into()),
                Err(Failure::Remote { reason, is_final }) => {
                    fruitless = if size(part) > before { 0 } else { fruitless + 1 };
                    if is_final || fruitless >= FRUITLESS_ATTEMPTS {
                        return Err(self.unreachable(reason));
                    }
                }
            }
        }
    }

    fn attempt(
        &self,
        agent: &Agent,
        part: &Path,
        progress: &Progress<'_>,
        announced: &mut bool,
    ) -> Result<(), Failure> {
        let have = size(part);
        let mut request = agent.get(self.url);
        if have > 0 {
            request = request.header("Range", format!("bytes={have}-"));
        }
        let response = request.call().map_err(|error| Failure::Remote {
            is_final: matches!(error, ureq::Error::HostNotFound),
            reason: reason(agent, self.url, &error),
        })?;
        let io_error = |action| move |error| Failure::Local(ToolchainError::io(action, part, error));
        let (mut file, mut done) = match response.status() {
            StatusCode::PARTIAL_CONTENT => {
                (File::options().append(true).open(part).map_err(io_error("open"))?, have)
            }
            StatusCode::OK => (File::create(part).map_err(io_error("create"))?, 0),
            // Nothing after what is there: it is whole, or not what it should be, which the hash tells.
            StatusCode::RANGE_NOT_SATISFIABLE if have > 0 => return Ok(()),
            status => {
                let reason = format!("the server answered {status}");
                return Err(Failure::Remote { reason, is_final: !status.is_server_error() });
            }
        };
        let mut body = response.into_body();
        let total = body.content_length().map(|rest| done + rest);
        if !std::mem::replace(announced, true) {
            let what = format!("downloading {}", self.title);
            progress.tell(Event::Begin { what: &what, total_bytes: total });
        }
        let mut body = body.as_reader();
        let mut buffer = vec![0; 1 << 17];
        loop {
            progress.tell(Event::At { bytes: done });
            let count = body
                .read(&mut buffer)
                .map_err(|error| Failure::Remote { reason: error.to_string(), is_final: false })?;
            if count == 0 {
                break;
            }
            file.write_all(&buffer[..count]).map_err(io_error("write"))?;
            done += count as u64;
        }
        file.sync_all().map_err(io_error("write"))?;
        match total {
            Some(total) if done < total => {
                let reason = format!("the server broke off after {done} of {total} bytes");
                Err(Failure::Remote { reason, is_final: false })
            }
            _ => Ok(()),
        }
    }

    fn unreachable(&self, reason: String) -> SetupError {
        SetupError::Unreachable {
            url: self.url.to_owned(),
            reason,
            file: self.file.to_owned(),
            directory: self.directory.to_owned(),
        }
    }
}

enum Failure {
    /// The disk.
    Local(ToolchainError),
    /// The network.
    Remote { reason: String, is_final: bool },
}

/// The text of a page.
pub(super) fn page(agent: &Agent, url: &str) -> Result<(StatusCode, String), String> {
    let mut response = agent.get(url).call().map_err(|error| reason(agent, url, &error))?;
    let status = response.status();
    let text = response.body_mut().read_to_string().map_err(|error| reason(agent, url, &error))?;
    Ok((status, text))
}

/// What went wrong, with the host that it went wrong with and the proxy on the way there.
fn reason(agent: &Agent, url: &str, error: &ureq::Error) -> String {
    let host = url.split('/').nth(2).unwrap_or(url);
    let reason = match error {
        ureq::Error::HostNotFound => format!("the host {host} is not known: is there a network?"),
        ureq::Error::Timeout(_) => format!("the host {host} does not answer"),
        ureq::Error::Io(error) => format!("{host}: {error}"),
        other => format!("{host}: {other}"),
    };
    match agent.config().proxy() {
        Some(proxy) => format!("{reason} (through the proxy {}:{})", proxy.host(), proxy.port()),
        None => reason,
    }
}

/// Whether a file has this SHA-256.
pub(super) fn check(file: &Path, expected: &str) -> Result<(), SetupError> {
    let mut hash = Sha256::new();
    let mut reader = File::open(file).map_err(|e| ToolchainError::io("open", file, e))?;
    io::copy(&mut reader, &mut HashWriter(&mut hash)).map_err(|e| ToolchainError::io("read", file, e))?;
    let found: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    if found == expected {
        return Ok(());
    }
    Err(SetupError::HashMismatch { file: file.to_owned(), found, expected: expected.to_owned() })
}

struct HashWriter<'a>(&'a mut Sha256);

impl Write for HashWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn size(file: &Path) -> u64 {
    file.metadata().map_or(0, |data| data.len())
}

fn remove(file: &Path) -> Result<(), SetupError> {
    fs::remove_file(file).map_err(|e| ToolchainError::io("remove", file, e))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{super::testing::Server, *};

    const CONTENT: &[u8] = b"0123456789abcdef";
    /// `printf 0123456789abcdef | sha256sum`
    const SHA256: &str = "9f9f5111f7b27a781f1f1ddde5ebc2dd2b796bfc7365c9c28b548e564176929f";

    fn fetch(server: &Server, directory: &Path, sha256: &str) -> Result<PathBuf, SetupError> {
        let url = server.url("/file");
        Download { title: "a file", url: &url, file: "file", sha256, directory }
            .fetch(&agent(), &Progress::silent())
    }

    #[test]
    fn whole() {
        let dir = tempfile::tempdir().unwrap();
        let server = Server::start().file("/file", CONTENT);
        let file = fetch(&server, dir.path(), SHA256).unwrap();
        assert_eq!(fs::read(file).unwrap(), CONTENT);
        assert!(!dir.path().join("file.part").exists());
    }

    #[test]
    fn only_the_rest_after_an_interruption() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("file.part"), &CONTENT[..6]).unwrap();
        let server = Server::start().file("/file", CONTENT);
        let file = fetch(&server, dir.path(), SHA256).unwrap();
        assert_eq!(fs::read(file).unwrap(), CONTENT);
        assert_eq!(server.ranges(), ["bytes=6-"]);
    }

    #[test]
    fn a_whole_part_is_not_fetched_again() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("file.part"), CONTENT).unwrap();
        let server = Server::start().file("/file", CONTENT);
        fetch(&server, dir.path(), SHA256).unwrap();
        assert_eq!(server.ranges(), ["bytes=16-"]);
    }

    #[test]
    fn a_server_that_breaks_off_is_asked_for_the_rest() {
        let dir = tempfile::tempdir().unwrap();
        let server = Server::start().file("/file", CONTENT).break_off_after(5);
        let file = fetch(&server, dir.path(), SHA256).unwrap();
        assert_eq!(fs::read(file).unwrap(), CONTENT);
        assert_eq!(server.ranges(), ["bytes=5-", "bytes=10-", "bytes=15-"]);
    }

    #[test]
    fn a_server_without_ranges_sends_all_again() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("file.part"), b"012345").unwrap();
        let server = Server::start().file("/file", CONTENT).without_ranges();
        let file = fetch(&server, dir.path(), SHA256).unwrap();
        assert_eq!(fs::read(file).unwrap(), CONTENT);
    }

    #[test]
    fn a_part_of_another_file_is_thrown_away() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("file.part"), b"something else").unwrap();
        let server = Server::start().file("/file", CONTENT);
        let file = fetch(&server, dir.path(), SHA256).unwrap();
        assert_eq!(fs::read(file).unwrap(), CONTENT);
    }

    #[test]
    fn a_wrong_hash_is_an_error_and_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let server = Server::start().file("/file", CONTENT);
        let expected = "0".repeat(64);
        let error = fetch(&server, dir.path(), &expected).unwrap_err().to_string();
        assert!(error.contains(SHA256) && error.contains(&expected) && error.contains("not used"), "{error}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn an_unreachable_server_is_named_with_the_way_without_it() {
        let dir = tempfile::tempdir().unwrap();
        let server = Server::start();
        let error = fetch(&server, dir.path(), SHA256).unwrap_err().to_string();
        assert!(error.contains("the server answered 404 Not Found"), "{error}");
        assert!(error.contains("--offline") && error.contains(&dir.path().display().to_string()), "{error}");

        let url = server.url("/file");
        drop(server);
        let download =
            Download { title: "a file", url: &url, file: "file", sha256: SHA256, directory: dir.path() };
        let error = download.fetch(&agent(), &Progress::silent()).unwrap_err().to_string();
        assert!(error.contains("127.0.0.1"), "{error}");
    }

    #[test]
    fn a_proxy_on_the_way_is_named() {
        let proxy = ureq::Proxy::new("http://127.0.0.1:9").unwrap();
        let agent = Agent::config_builder().proxy(Some(proxy)).build().new_agent();
        let error = page(&agent, "http://mirror.example/simple").unwrap_err();
        assert!(
            error.starts_with("mirror.example: ") && error.ends_with("(through the proxy 127.0.0.1:9)"),
            "{error}"
        );
    }
}

//! Pins: the versions and hashes of what `setup` fetches, from `pins.toml`.

use serde::Deserialize;

use super::SetupError;

/// What is fetched.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pins {
    pub(super) rust: Rust,
    pub(super) cuda: Wheels,
    pub(super) nccl: Wheels,
}

/// The Rust release, where rustup delivers it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rust {
    pub(super) release: String,
}

/// What NVIDIA publishes as wheels: its tools, or NCCL.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wheels {
    pub(super) release: String,
    wheel: Vec<Wheel>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wheel {
    project: String,
    version: String,
    x86_64: File,
    aarch64: File,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    file: String,
    sha256: String,
}

/// A wheel for this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PinnedFile {
    pub(super) project: String,
    pub(super) version: String,
    pub(super) file: String,
    pub(super) sha256: String,
}

impl Pins {
    pub(super) fn load() -> Result<Self, SetupError> {
        toml::from_str(include_str!("pins.toml"))
            .map_err(|error| SetupError::Pins { message: error.to_string() })
    }
}

impl Wheels {
    /// The wheels for a processor architecture, named as `std::env::consts::ARCH` names it.
    pub(super) fn of(&self, architecture: &str) -> Result<Vec<PinnedFile>, SetupError> {
        self.wheel
            .iter()
            .map(|wheel| {
                let file = match architecture {
                    "x86_64" => &wheel.x86_64,
                    "aarch64" => &wheel.aarch64,
                    other => return Err(SetupError::NoWheels { architecture: other.to_owned() }),
                };
                Ok(PinnedFile {
                    project: wheel.project.clone(),
                    version: wheel.version.clone(),
                    file: file.file.clone(),
                    sha256: file.sha256.clone(),
                })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_named_after_its_wheel_and_has_a_hash() {
        let pins = Pins::load().unwrap();
        for architecture in ["x86_64", "aarch64"] {
            let (tools, nccl) = (pins.cuda.of(architecture).unwrap(), pins.nccl.of(architecture).unwrap());
            assert_eq!((tools.len(), nccl.len()), (7, 1));
            for PinnedFile { project, version, file, sha256 } in tools.into_iter().chain(nccl) {
                let start = format!("{}-{version}-", project.replace('-', "_"));
                assert!(
                    file.starts_with(&start) && file.ends_with(&format!("_{architecture}.whl")),
                    "{file}"
                );
                assert!(sha256.len() == 64 && sha256.bytes().all(|b| b.is_ascii_hexdigit()), "{file}");
            }
        }
    }

    #[test]
    fn other_machines_are_told_so() {
        let error = Pins::load().unwrap().cuda.of("riscv64").unwrap_err();
        assert!(error.to_string().contains("riscv64"), "{error}");
    }
}

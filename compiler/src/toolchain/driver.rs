//! NVIDIA's driver and the GPUs of this machine, as reported by `nvidia-smi` and the kernel module.
//!
//! Kernels compile without either; `doctor` shows them.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use gpukernel_image::Arch;
use serde::Serialize;

use super::{Environment, process::output_of};

/// NVIDIA's driver.
#[derive(Debug, Clone, Default, Serialize)]
#[non_exhaustive]
pub struct Driver {
    /// The path of libcuda.
    pub libcuda: Option<PathBuf>,
    /// The driver's version, such as `580.95.05`.
    pub version: Option<String>,
    /// The GPUs.
    pub gpus: Vec<Gpu>,
}

/// A GPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Gpu {
    /// Its name.
    pub name: String,
    /// Its compute capability, such as `9.0`.
    pub compute_capability: String,
}

impl Gpu {
    /// The architecture of its compute capability.
    pub fn arch(&self) -> Option<Arch> {
        let (major, minor) = self.compute_capability.split_once('.')?;
        Some(Arch::new(major.parse().ok()?, minor.parse().ok()?))
    }
}

impl Driver {
    /// Searches libcuda where loaders do, and runs `nvidia-smi`.
    pub fn find(environment: &Environment) -> Self {
        let mut driver = Self { libcuda: libcuda(environment), ..Self::default() };
        if let Some(program) = environment.which("nvidia-smi".as_ref()) {
            let mut command = Command::new(program);
            command.args(["--query-gpu=driver_version,compute_cap,name", "--format=csv,noheader"]);
            if let Ok(text) = output_of(&mut command, "nvidia-smi") {
                (driver.version, driver.gpus) = parse(&text);
            }
        }
        if driver.version.is_none() {
            driver.version = std::fs::read_to_string("/proc/driver/nvidia/version")
                .ok()
                .and_then(|text| module_version(&text).map(str::to_owned));
        }
        driver
    }
}

fn libcuda(environment: &Environment) -> Option<PathBuf> {
    let own = environment.get("LD_LIBRARY_PATH").map(|dirs| std::env::split_paths(dirs).collect::<Vec<_>>());
    let usual = [
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
        "/usr/lib64",
        "/usr/lib",
        "/usr/lib/wsl/lib",
    ];
    own.into_iter()
        .flatten()
        .chain(usual.iter().map(|dir| Path::new(dir).to_owned()))
        .map(|dir| dir.join("libcuda.so.1"))
        .find(|file| file.is_file())
}

/// Lines such as `580.95.05, 9.0, NVIDIA H100 80GB HBM3`.
fn parse(text: &str) -> (Option<String>, Vec<Gpu>) {
    let mut version = None;
    let gpus = text
        .lines()
        .filter_map(|line| {
            let mut fields = line.splitn(3, ',').map(str::trim);
            version = Some(fields.next()?.to_owned());
            let compute_capability = fields.next()?.to_owned();
            Some(Gpu { compute_capability, name: fields.next()?.to_owned() })
        })
        .collect();
    (version, gpus)
}

/// `NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  Tue Sep 23 …`: the first word that is a version.
fn module_version(text: &str) -> Option<&str> {
    text.lines().next()?.split_whitespace().find(|word| {
        word.contains('.')
            && word.split('.').all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nvidia_smi_prints() {
        let (version, gpus) = parse("580.95.05, 9.0, NVIDIA H100 80GB HBM3\n580.95.05, 7.5, Tesla T4\n");
        assert_eq!(version.as_deref(), Some("580.95.05"));
        assert_eq!(gpus[0].name, "NVIDIA H100 80GB HBM3");
        assert_eq!(gpus[1].compute_capability, "7.5");
        assert_eq!(parse("No devices were found").1, []);
    }

    #[test]
    fn what_the_kernel_module_says() {
        let closed =
            "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  Tue Sep 23 10:11:16 UTC 2025";
        let open = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.124.06  Release Build";
        assert_eq!(module_version(closed), Some("580.95.05"));
        assert_eq!(module_version(open), Some("570.124.06"));
    }
}

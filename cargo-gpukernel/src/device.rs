//! The option `--device`: which device the programs that a command starts run on.

use std::{env, process::Command};

use gpukernel_build::toolchain::{Driver, Environment};

use crate::suggest;

/// The environment variable that `gpukernel::Device::best` reads.
const VARIABLE: &str = "GPUKERNEL_DEVICE";

/// Which device a program runs on.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Selection {
    /// Run on this device: `cpu`, `gpu` (the first), `gpu:1` (by index) or `best`; default: GPUKERNEL_DEVICE, or else `best`
    #[arg(long, value_name = "DEVICE", value_parser = parse)]
    device: Option<String>,
}

impl Selection {
    /// Has the command's programs run there.
    pub(crate) fn apply(&self, command: &mut Command) {
        if let Some(device) = &self.device {
            command.env(VARIABLE, device);
        }
    }

    /// Whether that is a GPU: `best` is one where there is one.
    pub(crate) fn is_gpu(&self) -> bool {
        let named = self.device.clone().or_else(|| env::var(VARIABLE).ok());
        match named.as_deref().filter(|name| !name.is_empty()) {
            None | Some("best") => !Driver::find(&Environment::process()).gpus.is_empty(),
            Some(name) => name.starts_with("gpu"),
        }
    }
}

/// The syntax of `gpukernel::Device::from_name`; whether the device is there, the program finds out.
fn parse(name: &str) -> Result<String, String> {
    let index = name.strip_prefix("gpu:");
    let is_index = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    match matches!(name, "cpu" | "gpu" | "best") || index.is_some_and(is_index) {
        true => Ok(name.to_owned()),
        false => Err(format!("{}devices are `cpu`, `gpu`, `gpu:1` (by index) and `best`", meant(name))),
    }
}

/// What was probably meant, to stand before what there is: `gpu1` and `cuda:1` are `gpu:1`.
fn meant(name: &str) -> String {
    let lower = name.trim().to_lowercase();
    let digits = lower.trim_start_matches(|character: char| !character.is_ascii_digit());
    let kind = &lower[..lower.len() - digits.len()];
    let kind = match kind.trim_end_matches([':', '-', '_', '.', ' ']) {
        "cuda" | "nvidia" => Some("gpu"),
        "host" => Some("cpu"),
        other => suggest::alike(other, ["cpu", "gpu", "best"]).first().copied(),
    };
    match kind {
        Some("gpu") if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("did you mean `gpu:{digits}`? ")
        }
        Some(kind) => format!("did you mean `{kind}`? "),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_runtime() {
        for name in ["cpu", "gpu", "gpu:0", "gpu:12", "best"] {
            assert_eq!(parse(name).as_deref(), Ok(name));
        }
        for name in ["CPU", "gpu:", "gpu:-1", "gpu:x", "cuda:0", " cpu"] {
            assert!(parse(name).is_err(), "{name}");
        }
    }

    #[test]
    fn what_is_no_device_may_mean_one() {
        for (name, meant) in [
            ("gpu1", "gpu:1"),
            ("cuda:12", "gpu:12"),
            ("GPU", "gpu"),
            ("cuda", "gpu"),
            ("bset", "best"),
            ("cup", "cpu"),
        ] {
            let error = parse(name).unwrap_err();
            assert!(error.starts_with(&format!("did you mean `{meant}`? devices are ")), "{name}: {error}");
        }
        assert!(parse("tpu-v4").unwrap_err().starts_with("devices are "));
    }
}

//! The GPUs that `GPUKERNEL_ARCHS` names, and what build scripts make for them of the architectures of a crate.

use std::env;

use gpukernel_image::Arch;

use crate::{
    Error,
    toolchain::{Driver, Environment, Gpu},
};

/// GPUs by their architectures, separated by commas or spaces, or `native`: those of this machine.
pub(crate) const VARIABLE: &str = "GPUKERNEL_ARCHS";

/// Leaves those of a crate's architectures whose code the GPUs load that the environment names.
///
/// # Errors
/// As [`loaded`].
pub(crate) fn by_environment(archs: Vec<Arch>) -> Result<Vec<Arch>, Error> {
    let gpus = || Driver::find(&Environment::process()).gpus.iter().filter_map(Gpu::arch).collect();
    loaded(archs, &env::var(VARIABLE).unwrap_or_default(), gpus)
}

/// Leaves those of a crate's architectures whose code these GPUs load, because each takes its time; all, if that is none.
///
/// # Errors
/// A word is no architecture, or asks for the GPUs of this machine where none are known.
fn loaded(archs: Vec<Arch>, variable: &str, of_machine: impl Fn() -> Vec<Arch>) -> Result<Vec<Arch>, Error> {
    let error = |text: &str| Error::Options(format!("{VARIABLE}={variable}: {text}"));
    let mut gpus: Vec<Arch> = Vec::new();
    for word in variable.split([',', ' ']).filter(|word| !word.is_empty()) {
        match (word, word.parse()) {
            ("native", _) => match of_machine() {
                here if here.is_empty() => {
                    return Err(error(
                        "no GPU of this machine is known: name its architecture, such as sm_90",
                    ));
                }
                here => gpus.extend(here),
            },
            (_, Ok(arch)) => gpus.push(arch),
            (_, Err(_)) => {
                return Err(error(&format!(
                    "`{word}` is no architecture: give some such as sm_90, or native"
                )));
            }
        }
    }
    // As the runtime chooses.
    let best = |gpu| {
        let of_machine_code = archs.iter().copied().filter(|arch| arch.machine_code_runs_on(gpu)).max();
        of_machine_code.or_else(|| archs.iter().copied().filter(|arch| arch.ptx_runs_on(gpu)).max())
    };
    let left: Vec<_> = gpus.into_iter().filter_map(best).collect();
    // A crate for other GPUs is still one that builds.
    Ok(if left.is_empty() { archs } else { left })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn archs(text: &str) -> Vec<Arch> {
        text.split_whitespace().map(|arch| arch.parse().unwrap()).collect()
    }

    fn of(crates: &str, variable: &str, gpus: &str) -> Result<String, String> {
        let mut left = loaded(archs(crates), variable, || archs(gpus)).map_err(|error| error.to_string())?;
        left.sort();
        left.dedup();
        Ok(left.iter().map(Arch::to_string).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn each_gpu_has_the_code_that_it_loads() {
        let all = "sm_75 sm_80 sm_90 sm_100 sm_120";
        for (variable, gpus, left) in [
            ("", "", all),
            ("sm_90", "", "sm_90"),
            ("sm_75,sm_90", "", "sm_75 sm_90"),
            // Code of their own major version, or PTX of an earlier one.
            ("sm_89, sm_110", "", "sm_80 sm_100"),
            ("native", "sm_86 sm_89", "sm_80"),
            ("native sm_90", "sm_75", "sm_75 sm_90"),
        ] {
            assert_eq!(of(all, variable, gpus).as_deref(), Ok(left), "{variable:?}");
        }
        assert_eq!(of("sm_80 sm_90a", "sm_90", "").as_deref(), Ok("sm_90a"));
        assert_eq!(of("sm_80 sm_90", "sm_75", "").as_deref(), Ok("sm_80 sm_90"));
        // PTX of this one is for no other.
        assert_eq!(of("sm_80 sm_90a", "sm_100", "").as_deref(), Ok("sm_80"));
    }

    #[test]
    fn what_names_no_gpu_is_an_error_that_says_what_to_give() {
        for (variable, said) in [
            ("sm90", "GPUKERNEL_ARCHS=sm90: `sm90` is no architecture: give some such as sm_90, or native"),
            (
                "native",
                "GPUKERNEL_ARCHS=native: no GPU of this machine is known: name its architecture, such as sm_90",
            ),
        ] {
            let error = of("sm_80 sm_90", variable, "").unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }
}

//! The GPUs that `GPUKERNEL_ARCHS` names, and what build scripts make for them of the architectures of a crate.

use gpukernel_image::Arch;

use crate::Error;

/// GPUs by their architectures, separated by commas or spaces, or `native`: those of this machine.
pub(crate) const VARIABLE: &str = "GPUKERNEL_ARCHS";

/// Leaves those of a crate's architectures whose code these GPUs load, because each takes its time; all, if that is none.
///
/// # Errors
/// A word is no architecture, or asks for the GPUs of this machine where none are known.
pub(crate) fn loaded(
    archs: Vec<Arch>,
    variable: Option<&str>,
    gpus: impl FnOnce() -> Vec<Arch>,
) -> Result<Vec<Arch>, Error> {
    let words = || variable.unwrap_or_default().split([',', ' ']).filter(|word| !word.is_empty());
    let error = |text: String| Error::Options(format!("{VARIABLE}={}: {text}", variable.unwrap_or_default()));
    if words().next().is_none() {
        return Ok(archs);
    }
    let gpus = match words().any(|word| word == "native") {
        true => gpus(),
        false => Vec::new(),
    };
    if gpus.is_empty() && words().any(|word| word == "native") {
        return Err(error("no GPU of this machine is known: name its architecture, such as sm_90".into()));
    }
    let named = words().filter(|word| *word != "native").map(|word| {
        word.parse()
            .map_err(|_| error(format!("`{word}` is no architecture: give some such as sm_90, or native")))
    });
    // As the runtime chooses.
    let best = |gpu| {
        let of_machine_code = archs.iter().copied().filter(|arch| arch.machine_code_runs_on(gpu)).max();
        of_machine_code.or_else(|| archs.iter().copied().filter(|arch| arch.ptx_runs_on(gpu)).max())
    };
    let gpus = gpus.into_iter().map(Ok).chain(named).collect::<Result<Vec<Arch>, Error>>()?;
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

    fn of(crates: &str, variable: Option<&str>, gpus: &str) -> Result<String, String> {
        let mut left = loaded(archs(crates), variable, || archs(gpus)).map_err(|error| error.to_string())?;
        left.sort();
        left.dedup();
        Ok(left.iter().map(Arch::to_string).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn each_gpu_has_the_code_that_it_loads() {
        let all = "sm_75 sm_80 sm_90 sm_100 sm_120";
        for (variable, gpus, left) in [
            (None, "", all),
            (Some(""), "", all),
            (Some("sm_90"), "", "sm_90"),
            (Some("sm_75,sm_90"), "", "sm_75 sm_90"),
            // Code of their own major version, or PTX of an earlier one.
            (Some("sm_89, sm_110"), "", "sm_80 sm_100"),
            (Some("native"), "sm_86 sm_89", "sm_80"),
            (Some("native sm_90"), "sm_75", "sm_75 sm_90"),
        ] {
            assert_eq!(of(all, variable, gpus).as_deref(), Ok(left), "{variable:?}");
        }
        assert_eq!(of("sm_80 sm_90a", Some("sm_90"), "").as_deref(), Ok("sm_90a"));
        assert_eq!(of("sm_80 sm_90", Some("sm_75"), "").as_deref(), Ok("sm_80 sm_90"));
        // PTX of this one is for no other.
        assert_eq!(of("sm_80 sm_90a", Some("sm_100"), "").as_deref(), Ok("sm_80"));
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
            let error = of("sm_80 sm_90", Some(variable), "").unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }
}

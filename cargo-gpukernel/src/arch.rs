//! Architectures on the command line.

use gpukernel_build::Arch;

use crate::suggest;

/// Those that are suggested: what CUDA 13 assembles for.
const KNOWN: [&str; 16] = [
    "sm_75", "sm_80", "sm_86", "sm_87", "sm_88", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_103",
    "sm_103a", "sm_110", "sm_120", "sm_120a", "sm_121",
];

/// Parses `sm_90`; for what is none, says what may have been meant.
pub(crate) fn parse(text: &str) -> Result<Arch, String> {
    text.parse::<Arch>().map_err(|error| {
        // `90`, `9.0`, `compute_90`, `sm-90`, `sm90`
        let number: String = text
            .to_lowercase()
            .trim_start_matches(|character: char| !character.is_ascii_digit())
            .chars()
            .filter(|character| character.is_ascii_alphanumeric())
            .collect();
        let by_number = format!("sm_{number}");
        let meant = match KNOWN.contains(&by_number.as_str()) {
            true => Some(by_number.as_str()),
            false => suggest::alike(text, KNOWN).first().copied().filter(|_| !number.is_empty()),
        };
        match meant {
            Some(meant) => format!("{error}; did you mean `{meant}`?"),
            None => error.to_string(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_none_may_mean_one() {
        assert_eq!(parse("sm_90"), Ok(Arch::new(9, 0)));
        for (text, meant) in [
            ("sm90", "sm_90"),
            ("9.0", "sm_90"),
            ("compute_80", "sm_80"),
            ("SM-90a", "sm_90a"),
            ("100", "sm_100"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.ends_with(&format!("; did you mean `{meant}`?")), "{text}: {error}");
        }
        assert!(parse("hopper").unwrap_err().ends_with("or `sm_90a`"), "{:?}", parse("hopper"));
    }
}

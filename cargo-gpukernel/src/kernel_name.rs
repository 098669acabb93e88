//! Finds the kernel that a name on the command line means.

use crate::suggest;

/// The number of the kernel that `wanted` means, among paths such as `kernels::draft::saxpy`: the whole path, the end of one, or a part of the name, if
/// there is only one such kernel.
pub(crate) fn find(wanted: &str, kernels: &[&str]) -> anyhow::Result<usize> {
    let found = matching(wanted, kernels);
    match found[..] {
        [only] => return Ok(only),
        [] => {}
        _ => {
            let names: Vec<_> = found.iter().map(|index| kernels[*index]).collect();
            anyhow::bail!("`{wanted}` may be one of {} kernels: {}", names.len(), names.join(", "));
        }
    }
    anyhow::ensure!(!kernels.is_empty(), "there is no kernel `{wanted}`: the kernel crates have no kernels");
    anyhow::bail!("there is no kernel `{wanted}`{}", suggest::hint(wanted, kernels.iter().copied()))
}

/// The numbers of the kernels that it may mean.
pub(crate) fn matching(wanted: &str, kernels: &[&str]) -> Vec<usize> {
    let wanted = wanted.trim();
    let ends = |kernel: &str| kernel.ends_with(&format!("::{wanted}"));
    let lower = wanted.to_lowercase();
    let rules: [&dyn Fn(&str) -> bool; 4] = [
        &|kernel| kernel == wanted,
        &|kernel| kernel.split_once("::").is_some_and(|(_, path)| path == wanted),
        &ends,
        &|kernel| kernel.to_lowercase().contains(&lower),
    ];
    let of_rule = |rule: &dyn Fn(&str) -> bool| {
        (0..kernels.len()).filter(|index| rule(kernels[*index])).collect::<Vec<_>>()
    };
    rules.into_iter().map(of_rule).find(|found| !found.is_empty()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNELS: [&str; 6] = [
        "kernels::saxpy",
        "kernels::draft::rows::softmax",
        "kernels::draft::rows::layer_norm",
        "kernels::tuned::softmax",
        "kernels::n_body",
        "kernels::n_body_tiled",
    ];

    fn found(wanted: &str) -> Result<&'static str, String> {
        find(wanted, &KERNELS).map(|index| KERNELS[index]).map_err(|error| error.to_string())
    }

    #[test]
    fn names_are_whole_paths_ends_or_parts() {
        assert_eq!(found("kernels::saxpy").unwrap(), KERNELS[0]);
        assert_eq!(found("tuned::softmax").unwrap(), KERNELS[3]);
        assert_eq!(found("n_body").unwrap(), KERNELS[4]);
        assert_eq!(found("LAYER").unwrap(), KERNELS[2]);
    }

    #[test]
    fn a_name_of_several_lists_them() {
        assert_eq!(
            found("softmax").unwrap_err(),
            "`softmax` may be one of 2 kernels: kernels::draft::rows::softmax, kernels::tuned::softmax"
        );
    }

    #[test]
    fn a_mistyped_name_gets_suggestions() {
        assert_eq!(found("saxpi").unwrap_err(), "there is no kernel `saxpi`; did you mean `kernels::saxpy`?");
        assert!(found("layer_nrom").unwrap_err().contains("`kernels::draft::rows::layer_norm`"));
        assert!(
            found("qqq")
                .unwrap_err()
                .starts_with("there is no kernel `qqq`; available: kernels::draft::rows::layer_norm, ")
        );
        assert!(find("a", &[]).unwrap_err().to_string().ends_with("have no kernels"));
    }
}

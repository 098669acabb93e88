//! What a mistyped name may have meant.

/// How alike a name must be to be suggested, from 0 to 1.
const ALIKE: f64 = 0.75;
/// How many names are suggested.
const SUGGESTIONS: usize = 3;
/// How many names are listed if none is alike.
const LISTED: usize = 12;

/// The names that are most like `wanted`, the most alike first. What stands before `::` in a name may be left out.
pub(crate) fn alike<'n>(wanted: &str, names: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    let wanted = wanted.to_lowercase();
    let of = |name: &str| {
        let last = name.rsplit("::").next().unwrap_or(name);
        likeness(&wanted, &name.to_lowercase()).max(likeness(&wanted, &last.to_lowercase()))
    };
    let mut ranked: Vec<_> = names.into_iter().map(|name| (of(name), name)).collect();
    ranked.retain(|(likeness, _)| *likeness >= ALIKE);
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    ranked.dedup();
    ranked.into_iter().take(SUGGESTIONS).map(|(_, name)| name).collect()
}

/// From 0 to 1. Short names with one mistake are alike, too.
fn likeness(wanted: &str, name: &str) -> f64 {
    let is_near = wanted.chars().count() >= 3 && strsim::osa_distance(wanted, name) <= 1;
    strsim::jaro_winkler(wanted, name).max(if is_near { ALIKE } else { 0.0 })
}

/// The end of a message about a name that is not among these: what may have been meant, or else what there is.
pub(crate) fn hint<'n>(wanted: &str, names: impl IntoIterator<Item = &'n str>) -> String {
    let mut names: Vec<_> = names.into_iter().collect();
    names.sort_unstable();
    names.dedup();
    let alike = alike(wanted, names.iter().copied());
    match (alike.is_empty(), names.len()) {
        (false, _) => format!("; did you mean {}?", quoted(&alike)),
        (true, 0) => String::new(),
        (true, 1..=LISTED) => format!("; available: {}", names.join(", ")),
        (true, count) => {
            format!("; available: {}, and {} more", names[..LISTED].join(", "), count - LISTED)
        }
    }
}

/// The names, in quotes.
pub(crate) fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_alike_are_suggested_and_others_listed() {
        let names = ["ray-tracer", "ray-tracer-kernels", "mandelbrot"];
        assert_eq!(hint("ray-tarcer", names), "; did you mean `ray-tracer`, `ray-tracer-kernels`?");
        assert_eq!(hint("MANDELBROT", names), "; did you mean `mandelbrot`?");
        assert_eq!(hint("qqq", names), "; available: mandelbrot, ray-tracer, ray-tracer-kernels");
        assert_eq!(hint("cup", ["cpu", "gpu", "best"]), "; did you mean `cpu`?");
        assert_eq!(hint("qqq", []), "");
        let many: Vec<_> = (0..20).map(|number| format!("name-{number:02}")).collect();
        assert!(hint("qqq", many.iter().map(String::as_str)).ends_with(", name-11, and 8 more"));
    }
}

//! Text that messages share.

use gpu_std::Dim3;

pub(crate) fn place(at: &Dim3) -> String {
    format!("({}, {}, {})", at.x, at.y, at.z)
}

pub(super) fn extents(of: &[usize; 3]) -> String {
    format!("{} x {} x {}", of[0], of[1], of[2])
}

pub(super) fn count(of: &[usize; 3]) -> u128 {
    of.iter().fold(1, |product: u128, &extent| product.saturating_mul(extent as u128))
}

pub(super) fn log_suffix(log: &str) -> String {
    if log.is_empty() { String::new() } else { format!("\n{log}") }
}

/// What is there in place of `asked`: the names that are most like it, and how many others there are. The image of a crate of arrays has hundreds.
pub(super) fn list(asked: &str, names: &[String]) -> String {
    const MOST: usize = 8;
    let last = |name: &str| name.rsplit("::").next().unwrap_or_default().to_owned();
    let asked = last(asked);
    let alike =
        |name: &String| last(name).bytes().zip(asked.bytes()).take_while(|(one, other)| one == other).count();
    let mut names: Vec<&String> = names.iter().collect();
    names.sort_by_key(|name| std::cmp::Reverse(alike(name)));
    let more = names.len().saturating_sub(MOST);
    names.truncate(MOST);
    let listed = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    match (names.is_empty(), more) {
        (true, _) => "none".to_owned(),
        (_, 0) => listed,
        (_, more) => format!("{listed} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_has_what_is_most_like_the_name() {
        assert_eq!(list("k::add", &[]), "none");
        let names: Vec<String> =
            (0..20).map(|i| format!("k::add_{i}")).chain(["k::sub".to_owned()]).collect();
        assert_eq!(list("k::sub_1", &names[19..]), "`k::sub`, `k::add_19`");
        let listed = list("other::add_1", &names);
        assert!(
            listed.starts_with("`k::add_1`, `k::add_10`") && listed.ends_with("` and 13 more"),
            "{listed}"
        );
    }
}

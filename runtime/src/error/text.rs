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

pub(super) fn list(names: &[String]) -> String {
    match names {
        [] => "none".to_owned(),
        names => names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
    }
}

//! Numbers for people.

/// A time: `1.234 µs`.
pub(crate) fn time(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns < 1e3 => (ns, "ns"),
        ns if ns < 1e6 => (ns / 1e3, "µs"),
        ns if ns < 1e9 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    format!("{} {unit}", digits(value))
}

/// A number per second: `1.234 GB/s`.
pub(crate) fn rate(per_second: f64, unit: &str) -> String {
    let (value, prefix) = match per_second {
        x if x < 1e3 => (x, ""),
        x if x < 1e6 => (x / 1e3, "k"),
        x if x < 1e9 => (x / 1e6, "M"),
        x if x < 1e12 => (x / 1e9, "G"),
        x => (x / 1e12, "T"),
    };
    format!("{} {prefix}{unit}/s", digits(value))
}

/// Four digits.
fn digits(value: f64) -> String {
    match value {
        x if x < 10.0 => format!("{x:.3}"),
        x if x < 100.0 => format!("{x:.2}"),
        x => format!("{x:.1}"),
    }
}

/// A share: `12.3 %`.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits() {
        assert_eq!(
            [0.5, 12.34, 1234.5, 2.5e6, 3e9].map(time),
            ["0.500 ns", "12.34 ns", "1.234 µs", "2.500 ms", "3.000 s"]
        );
        assert_eq!([12.0, 3.35e12].map(|x| rate(x, "B")), ["12.00 B/s", "3.350 TB/s"]);
        assert_eq!(percent(0.1234), "12.3 %");
    }
}

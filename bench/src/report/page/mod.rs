//! One self-contained HTML page: no network, no other file.

use serde_json::Value;

use super::{Report, history::Entry};

/// The page, with marks for what goes into it.
const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("style.css");
/// In this order: what is used comes before what uses it.
const SCRIPTS: [&str; 12] = [
    include_str!("report.js"),
    include_str!("numbers.js"),
    include_str!("elements.js"),
    include_str!("axes.js"),
    include_str!("head.js"),
    include_str!("table.js"),
    include_str!("row.js"),
    include_str!("samples.js"),
    include_str!("runs.js"),
    include_str!("roofs.js"),
    include_str!("curves.js"),
    include_str!("state.js"),
];

/// The page about a run and those before it, of which rows that the run does not have are left out.
pub(crate) fn page(report: &Report, history: &[Entry]) -> serde_json::Result<String> {
    let rows: Vec<String> = report.rows.iter().map(super::Row::name).collect();
    let mut history = history.to_vec();
    for entry in &mut history {
        entry.times.retain(|time| rows.contains(&time.row));
    }
    let mut report = serde_json::to_value(report)?;
    round_samples(&mut report);
    let data = serde_json::json!({ "report": report, "history": history }).to_string();
    // A script ends where a tag begins. In JSON, the character is only in texts.
    let data = data.replace('<', "\\u003c");
    Ok(PAGE.replacen("/*STYLE*/", STYLE, 1).replacen("/*SCRIPT*/", &SCRIPTS.concat(), 1).replacen(
        "/*REPORT*/",
        &data,
        1,
    ))
}

/// Leaves six digits of samples, which pictures do not show, and which are most of the page.
fn round_samples(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::Array(samples) if name.ends_with("samples_ns") => {
                        samples.iter_mut().for_each(round)
                    }
                    value => round_samples(value),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(round_samples),
        _ => {}
    }
}

fn round(sample: &mut Value) {
    let rounded = sample.as_f64().and_then(|number| format!("{number:.5e}").parse::<f64>().ok());
    if let Some(rounded) = rounded {
        *sample = rounded.into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_refers_to_nothing_else() {
        let whole = PAGE.to_owned() + STYLE + &SCRIPTS.concat();
        for mark in ["/*STYLE*/", "/*SCRIPT*/", "/*REPORT*/"] {
            assert_eq!(whole.matches(mark).count(), 1, "{mark}");
        }
        for outside in ["http:", "https:", "src=", "href=", "@import", "url(", "innerHTML", "fetch("] {
            assert!(!whole.contains(outside), "the page refers to something else by `{outside}`");
        }
    }

    #[test]
    fn samples_have_six_digits_and_other_numbers_all() {
        let mut value = serde_json::json!({
            "time_ns": { "middle": 1234.56789 }, "samples_ns": [1234.56789, 2.0], "host_samples_ns": [1e-9], "bytes": 123456789
        });
        round_samples(&mut value);
        let expected = serde_json::json!({
            "time_ns": { "middle": 1234.56789 }, "samples_ns": [1234.57, 2.0], "host_samples_ns": [1e-9], "bytes": 123456789
        });
        assert_eq!(value, expected);
    }
}

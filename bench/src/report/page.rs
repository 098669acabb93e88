//! One self-contained HTML page: no network, no other file.

use super::{Report, history::Entry};

/// The page, with a mark where the data goes.
const PAGE: &str = include_str!("page.html");
const MARK: &str = "/*REPORT*/";

/// The page about a run and those before it.
pub(crate) fn page(report: &Report, history: &[Entry]) -> serde_json::Result<String> {
    let data = serde_json::json!({ "report": report, "history": history }).to_string();
    // A script ends where a tag begins. In JSON, the character is only in texts.
    let data = data.replace('<', "\\u003c");
    Ok(PAGE.replacen(MARK, &data, 1))
}

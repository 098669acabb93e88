//! One self-contained HTML page: no network, no other file.

use anyhow::Context;
use gpukernel_build::Inspection;

/// The page, with a mark where the data goes.
const PAGE: &str = include_str!("page.html");
const MARK: &str = "/*INSPECTION*/";

/// The page about a kernel.
pub(super) fn page(inspection: &Inspection) -> anyhow::Result<String> {
    let data = serde_json::to_string(inspection).context("cannot write JSON")?;
    // A script ends where a tag begins. In JSON, the character is only in texts.
    let data = data.replace('<', "\\u003c");
    Ok(PAGE.replacen(MARK, &data, 1))
}

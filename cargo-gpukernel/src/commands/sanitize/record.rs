//! A record of compute-sanitizer's XML.
//!
//! The XML has no published schema; `tests/data` has what version 2025.3.1 wrote. What is read here: `kind`, `level`, `who` (`threadIdx`, `blockIdx`),
//! `what` (`text`, `space`, `size`, `direction`, `error`), `where` (`func`, `path`, `line`) and `hostStack` of `frame`s. A race has a `direction` and
//! a `where` for each side, in the `source` and the `destination` of `what`. All else that a record has is shown as it is, so that nothing of a finding
//! is lost.

use roxmltree::Node;

use super::finding::{Finding, Part, Place, Severity};
use crate::kernels::Kernels;

fn child<'a, 'd>(node: Node<'a, 'd>, name: &str) -> Option<Node<'a, 'd>> {
    node.children().find(|child| child.has_tag_name(name))
}

/// The text of a child.
fn text<'a>(node: Node<'a, '_>, name: &str) -> Option<&'a str> {
    child(node, name)?.text().map(str::trim).filter(|text| !text.is_empty())
}

fn number(node: Node<'_, '_>, name: &str) -> Option<u32> {
    text(node, name)?.parse().ok()
}

fn axes(who: Node<'_, '_>, name: &str) -> Option<[u32; 3]> {
    let axes = child(who, name)?;
    Some([number(axes, "x")?, number(axes, "y")?, number(axes, "z")?])
}

/// What is known by these names, which is not shown a second time.
const KNOWN: [&str; 6] = ["kind", "level", "who", "what", "where", "hostStack"];

/// What a record says; `None` if it only informs.
pub(super) fn finding(record: Node<'_, '_>, tool: &str, kernels: &Kernels) -> Option<Finding> {
    let severity = match text(record, "level").map(str::to_lowercase).as_deref() {
        Some("info" | "information") => return None,
        Some("warning" | "warn") => Severity::Warning,
        _ => Severity::Error,
    };
    let what = child(record, "what");
    let places: Vec<_> = record.descendants().filter(|node| node.has_tag_name("where")).collect();
    let function = places.iter().find_map(|place| text(*place, "func"));
    let kernel = function.map(|function| kernel_name(function, kernels));
    let mut parts: Vec<_> = places
        .iter()
        .map(|place| {
            let (block, thread) = who(*place);
            Part { does: does(direction(*place)), block, thread, place: source(*place) }
        })
        .collect();
    if parts.is_empty()
        && let (block, thread @ Some(_)) = who(record)
    {
        parts.push(Part { does: "is part of it".to_owned(), block, thread, place: None });
    }
    let mut notes: Vec<String> = what.into_iter().flat_map(facts).collect();
    let unknown =
        record.children().filter(|node| node.is_element() && !KNOWN.contains(&node.tag_name().name()));
    notes.extend(unknown.filter(|node| !places.contains(node)).filter_map(flat));
    notes.extend(child(record, "hostStack").and_then(launched_in));
    let kind = text(record, "kind").unwrap_or("finding");
    let message = what.and_then(message).unwrap_or_else(|| kind.to_lowercase());
    Some(Finding {
        tool: tool.to_owned(),
        severity,
        message,
        kernel,
        device: None,
        parts,
        notes,
        help: None,
        launched_at: None,
    })
}

/// `global` for `__global__`.
fn space<'a>(what: Node<'a, '_>) -> Option<&'a str> {
    text(what, "space").map(|space| space.trim_matches('_'))
}

/// What is wrong, in one line that is the same for all threads.
fn message(what: Node<'_, '_>) -> Option<String> {
    let given = text(what, "text").or_else(|| what.text().map(str::trim).filter(|text| !text.is_empty()));
    if let (Some(space), Some(direction), Some(size)) =
        (space(what), text(what, "direction"), text(what, "size"))
        && given.is_none_or(|given| given.starts_with("Invalid"))
    {
        let unit = if size == "1" { "byte" } else { "bytes" };
        let direction = direction.to_lowercase();
        return Some(format!("invalid {space} {direction} of {size} {unit}"));
    }
    given.map(|given| plain(given.lines().next().unwrap_or(given).trim_end_matches('.')))
}

/// In the words of the other messages: `invalid global read of 4 bytes` for `Invalid __global__ read of size 4 bytes`.
fn plain(text: &str) -> String {
    let mut text = text.trim().to_owned();
    for space in ["global", "shared", "local"] {
        text = text.replace(&format!("__{space}__"), space);
    }
    text = text.replace(" of size ", " of ");
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some(first), Some(second)) if second.is_lowercase() => {
            first.to_lowercase().chain(text.chars().skip(1)).collect()
        }
        _ => text,
    }
}

/// The child of this name of the nearest element around a node, or of what a record says about all that it has.
fn of_record<'a, 'd>(node: Node<'a, 'd>, name: &str) -> Option<Node<'a, 'd>> {
    let around = node.ancestors().take_while(|node| !node.has_tag_name("ComputeSanitizerOutput"));
    around.flat_map(|node| [Some(node), child(node, "what")]).flatten().find_map(|node| child(node, name))
}

/// The block and thread that a part of a record is about.
fn who(node: Node<'_, '_>) -> (Option<[u32; 3]>, Option<[u32; 3]>) {
    let who = of_record(node, "who");
    let of = |name| who.and_then(|who| axes(who, name));
    (of("blockIdx"), of("threadIdx"))
}

/// Whether there is a read or a write at a place.
fn direction<'a>(place: Node<'a, '_>) -> Option<&'a str> {
    of_record(place, "direction")?.text().map(str::trim)
}

fn does(direction: Option<&str>) -> String {
    match direction.map(str::to_lowercase).as_deref() {
        Some("read") => "reads here".to_owned(),
        Some("write") => "writes here".to_owned(),
        _ => "is here".to_owned(),
    }
}

/// What of `what` is not in the message or in a part: addresses, for example.
fn facts(what: Node<'_, '_>) -> Vec<String> {
    // The text of an error of the driver has all of it.
    let is_call = child(what, "text").is_some() && child(what, "api").is_some();
    let is_said = |name: &str| {
        ["space", "size", "direction", "where", "who"].contains(&name)
            || (is_call && ["api", "error", "message", "result"].contains(&name))
    };
    let mut facts = Vec::new();
    for node in what.children().filter(|node| node.is_element() && !is_said(node.tag_name().name())) {
        match node.tag_name().name() {
            "text" => {
                // The message has what is before the colon.
                let text = node.text().unwrap_or_default();
                let rest = text
                    .lines()
                    .skip(1)
                    .chain(text.lines().next().and_then(|line| Some(line.split_once(": ")?.1)));
                let rest = rest.map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ");
                facts.extend((!rest.is_empty()).then(|| plain(&rest)));
            }
            // `out of bounds` or `misaligned`, of an access.
            "error" if child(what, "space").is_some() => {
                facts.extend(text(what, "error").map(|error| format!("the access is {error}")));
            }
            // How often the two sides of a race met.
            "count" if child(what, "where").is_some() => {
                facts.extend(text(what, "count").map(|count| match count {
                    "1" => "1 hazard".to_owned(),
                    count => format!("{count} hazards"),
                }))
            }
            // A side of a race: its access is a part.
            _ if child(node, "where").is_some() => facts.extend(self::facts(node)),
            _ => facts.extend(flat(node)),
        }
    }
    facts
}

/// An element as text: `access address: 0x1000`.
fn flat(node: Node<'_, '_>) -> Option<String> {
    let mut words = String::new();
    for c in node.tag_name().name().chars() {
        if c.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(c.to_lowercase());
    }
    let texts = node.descendants().filter(|node| node.is_text()).filter_map(|node| node.text());
    let texts = texts.map(str::trim).filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", ");
    (!texts.is_empty()).then(|| format!("{words}: {texts}"))
}

fn source(place: Node<'_, '_>) -> Option<Place> {
    let file = text(place, "path").or_else(|| text(place, "file"))?.to_owned();
    Some(Place { file, line: number(place, "line")?, column: number(place, "column") })
}

/// The path of a kernel, whose code has this name; else the name as Rust or C++ has it.
fn kernel_name(function: &str, kernels: &Kernels) -> String {
    match kernels.of_symbol(function.split('(').next().unwrap_or(function).trim()) {
        Some(kernel) => kernel.name.clone(),
        None => demangled(function),
    }
}

/// Without the hash that Rust adds.
fn demangled(function: &str) -> String {
    let text = format!("{:#}", rustc_demangle::demangle(function));
    let is_hash = |hash: &str| {
        hash.len() == 17 && hash.starts_with('h') && hash[1..].bytes().all(|b| b.is_ascii_hexdigit())
    };
    match text.rsplit_once("::") {
        Some((path, hash)) if is_hash(hash) => path.to_owned(),
        _ => text,
    }
}

/// Code between the program's own and the driver's.
const LIBRARIES: [&str; 8] =
    ["gpukernel::", "<gpukernel::", "cudarc::", "core::", "std::", "alloc::", "rayon", "__rust"];

/// The program's own function that is part of a stack of the host.
fn launched_in(stack: Node<'_, '_>) -> Option<String> {
    let when = text(stack, "saveLocation");
    let frames = stack.children().filter(|node| node.has_tag_name("frame"));
    let mut own = frames.filter_map(|frame| {
        let module = text(frame, "module").unwrap_or_default();
        let function = demangled(text(frame, "func")?);
        let is_own =
            function.contains("::") && !LIBRARIES.iter().any(|library| function.starts_with(library));
        (is_own && !module.contains("libcuda")).then(|| (function, source(frame)))
    });
    let (function, place) = own.next()?;
    let place = place.map(|Place { file, line, .. }| format!(" at {file}:{line}")).unwrap_or_default();
    let when = when.map(|when| format!(" ({when})")).unwrap_or_default();
    Some(format!("on the host in `{function}`{place}{when}"))
}

/// Errors after which each call fails, until the program is restarted. The runtime says of the same that the context is lost.
const LOSING_CONTEXT: [&str; 14] = [
    "CUDA_ERROR_ECC_UNCORRECTABLE",
    "CUDA_ERROR_NVLINK_UNCORRECTABLE",
    "CUDA_ERROR_ILLEGAL_ADDRESS",
    "CUDA_ERROR_LAUNCH_TIMEOUT",
    "CUDA_ERROR_CONTEXT_IS_DESTROYED",
    "CUDA_ERROR_ASSERT",
    "CUDA_ERROR_HARDWARE_STACK_ERROR",
    "CUDA_ERROR_ILLEGAL_INSTRUCTION",
    "CUDA_ERROR_MISALIGNED_ADDRESS",
    "CUDA_ERROR_INVALID_ADDRESS_SPACE",
    "CUDA_ERROR_INVALID_PC",
    "CUDA_ERROR_LAUNCH_FAILED",
    "CUDA_ERROR_TENSOR_MEMORY_LEAK",
    "CUDA_ERROR_EXTERNAL_DEVICE",
];

/// The call and the error of a record that says no more than that the context is lost.
pub(super) fn lost_context<'a>(record: Node<'a, '_>) -> Option<(&'a str, &'a str)> {
    let what = child(record, "what")?;
    let (call, error) = (text(what, "api")?, text(what, "error")?);
    LOSING_CONTEXT.contains(&error).then_some((call, error))
}

/// Whether a kernel did it, not a call of the host.
pub(super) fn is_of_kernel(record: Node<'_, '_>, finding: &Finding) -> bool {
    let is_call = child(record, "what").is_some_and(|what| child(what, "api").is_some());
    finding.severity == Severity::Error && !is_call
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_rust_lose_their_hash() {
        assert_eq!(demangled("_ZN4demo4main17h0123456789abcdefE"), "demo::main");
        assert_eq!(demangled("demo::main::h0123456789abcdef"), "demo::main");
        assert_eq!(demangled("demo::h264"), "demo::h264");
        assert_eq!(demangled("void other<int>(int *)"), "void other<int>(int *)");
    }
}

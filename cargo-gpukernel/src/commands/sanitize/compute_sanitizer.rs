//! NVIDIA's compute-sanitizer: how it is called, and what its XML says.
//!
//! The options are those of the manual for CUDA 13.0. The XML has no published schema; `tests/data` has what version 2025.3.1 wrote. What is read here:
//! `record`s with `kind`, `level`, `who` (`threadIdx`, `blockIdx`), `what` (`text`, `space`, `size`, `direction`, `error`), `where` (`func`, `path`,
//! `line`) and `hostStack` of `frame`s. A race has a `direction` and a `where` for each side, in the `source` and the `destination` of `what`. All else
//! that a record has is shown as it is, so that nothing of a finding is lost.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use anyhow::Context;
use roxmltree::{Document, Node};

use super::finding::{Finding, Part, Place, Severity};
use crate::kernels::Kernels;

/// So many findings of a run are read. Of a mistake in a kernel there is one for each thread.
const MAX_FINDINGS: u32 = 10_000;

/// A run of one tool.
pub(crate) struct Run<'a> {
    pub(crate) program: &'a Path,
    pub(crate) tool: &'a str,
    /// More options of the user.
    pub(crate) options: &'a [String],
    /// Where its files go.
    pub(crate) folder: &'a Path,
}

impl Run<'_> {
    /// What it found, as XML.
    pub(crate) fn xml(&self) -> PathBuf {
        self.folder.join(format!("{}.xml", self.tool))
    }

    /// What it says to people.
    pub(crate) fn log(&self) -> PathBuf {
        self.folder.join(format!("{}.log", self.tool))
    }

    /// The words before those of the program.
    pub(crate) fn words(&self) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec![self.program.into()];
        words.extend(["--tool", self.tool, "--xml", "--save"].map(OsString::from));
        words.push(self.xml().into());
        words.push("--log-file".into());
        words.push(self.log().into());
        // What the program returns, and that it uses no GPU, is told by this command in its own words.
        let options =
            ["--check-exit-code", "no", "--require-cuda-init", "no", "--strip-paths", "no", "--print-limit"];
        words.extend(options.map(OsString::from));
        words.push(MAX_FINDINGS.to_string().into());
        words.extend(self.options.iter().map(OsString::from));
        words
    }
}

/// The findings in the XML of a run, and whether it is cut off, as when the program is killed.
pub(crate) fn findings(xml: &str, tool: &str, kernels: &Kernels) -> anyhow::Result<(Vec<Finding>, bool)> {
    let repaired: String;
    let (document, is_cut_off) = match Document::parse(xml) {
        Ok(document) => (document, false),
        Err(error) => {
            repaired = repair(xml).ok_or(error).context("compute-sanitizer wrote something else than XML")?;
            (Document::parse(&repaired).context("compute-sanitizer wrote something else than XML")?, true)
        }
    };
    let root = document.root_element();
    let name = root.tag_name().name();
    anyhow::ensure!(
        name == "ComputeSanitizerOutput",
        "compute-sanitizer wrote XML of another kind: `{name}` instead of `ComputeSanitizerOutput`"
    );
    let mut found = Vec::new();
    // The finding that the context was lost by, and the calls that fail because of it.
    let (mut cause, mut later) = (None, Vec::new());
    for record in root.descendants().filter(|node| node.has_tag_name("record")) {
        let lost = lost_context(record);
        match (lost, cause) {
            (Some(call), Some(_)) => later.push(call),
            _ => {
                let Some(finding) = finding(record, tool, kernels) else { continue };
                if lost.is_some() || (tool == "memcheck" && is_of_kernel(record, &finding)) {
                    cause.get_or_insert(found.len());
                }
                found.push(finding);
            }
        }
    }
    if let (Some(cause), Some((first, error))) = (cause, later.first()) {
        let calls = if later.len() == 1 { "1 call".to_owned() } else { format!("{} calls", later.len()) };
        found[cause]
            .notes
            .push(format!("the context was lost afterwards: {calls} failed with {error}, first {first}"));
    }
    Ok((found, is_cut_off))
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
fn lost_context<'a>(record: Node<'a, '_>) -> Option<(&'a str, &'a str)> {
    let what = child(record, "what")?;
    let (call, error) = (text(what, "api")?, text(what, "error")?);
    LOSING_CONTEXT.contains(&error).then_some((call, error))
}

/// Whether a kernel did it, not a call of the host.
fn is_of_kernel(record: Node<'_, '_>, finding: &Finding) -> bool {
    let is_call = child(record, "what").is_some_and(|what| child(what, "api").is_some());
    finding.severity == Severity::Error && !is_call
}

/// A file whose end is missing, up to the last whole record.
fn repair(xml: &str) -> Option<String> {
    const RECORD: &str = "</record>";
    xml.find("<ComputeSanitizerOutput")?;
    let end = xml.rfind(RECORD)? + RECORD.len();
    Some(format!("{}</ComputeSanitizerOutput>", &xml[..end]))
}

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

fn finding(record: Node<'_, '_>, tool: &str, kernels: &Kernels) -> Option<Finding> {
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
            "count" => facts.extend(text(what, "count").map(|count| match count {
                "1" => "1 hazard".to_owned(),
                count => format!("{count} hazards"),
            })),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(records: &str) -> Vec<Finding> {
        let xml =
            format!("<?xml version=\"1.0\"?>\n<ComputeSanitizerOutput>{records}</ComputeSanitizerOutput>\n");
        let (findings, is_cut_off) = findings(&xml, "memcheck", &Kernels::default()).unwrap();
        assert!(!is_cut_off);
        findings
    }

    /// What compute-sanitizer 2025.3.1 wrote of the kernels in `tests/data/kernels.rs`, on an H100.
    const MEMCHECK: &str = include_str!("../../../tests/data/memcheck.xml");
    const RACECHECK: &str = include_str!("../../../tests/data/racecheck.xml");
    const NO_FINDINGS: &str = include_str!("../../../tests/data/no-findings.xml");

    fn recorded(xml: &str, tool: &str) -> Vec<Finding> {
        let (findings, is_cut_off) = findings(xml, tool, &Kernels::default()).unwrap();
        assert!(!is_cut_off);
        findings
    }

    fn part(does: &str, line: u32, block_and_thread: Option<([u32; 3], [u32; 3])>) -> Part {
        let file = "/tmp/sandemo/demo/kernels/src/lib.rs".to_owned();
        Part {
            does: does.to_owned(),
            block: block_and_thread.map(|(block, _)| block),
            thread: block_and_thread.map(|(_, thread)| thread),
            place: Some(Place { file, line, column: None }),
        }
    }

    #[test]
    fn an_access_has_its_place_thread_and_address() {
        let found = recorded(MEMCHECK, "memcheck");
        assert_eq!(found.len(), 3, "the calls that failed afterwards are no findings: {found:?}");
        for one in &found {
            assert_eq!(
                (one.severity, one.message.as_str()),
                (Severity::Error, "invalid global read of 4 bytes")
            );
            assert_eq!(one.kernel.as_deref(), Some("behind"));
        }
        assert_eq!(found[2].parts, [part("reads here", 47, Some(([1, 0, 0], [31, 0, 0])))]);
        assert_eq!(found[2].notes, ["the access is out of bounds", "address: 0x2a9a0010fc"]);
        assert_eq!(
            found[0].notes,
            [
                "the access is out of bounds",
                "address: 0x2a9a001000",
                "the context was lost afterwards: 4 calls failed with CUDA_ERROR_LAUNCH_FAILED, first cuMemcpyDtoHAsync_v2"
            ]
        );
    }

    #[test]
    fn the_first_call_that_finds_the_context_lost_stands_for_the_others() {
        let end = MEMCHECK.find("<record>").unwrap();
        let api = MEMCHECK.find("<kind>Api</kind>").unwrap();
        let calls = format!("{}<record>{}", &MEMCHECK[..end], &MEMCHECK[api..]);
        let found = recorded(&calls, "racecheck");
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(
            found[0].message,
            "program hit CUDA_ERROR_LAUNCH_FAILED (error 719) due to \"unspecified launch failure\" on CUDA API call to cuMemcpyDtoHAsync_v2"
        );
        assert_eq!(
            found[0].notes,
            [
                "the context was lost afterwards: 3 calls failed with CUDA_ERROR_LAUNCH_FAILED, first cuMemFreeAsync"
            ]
        );
        // Other errors of calls are findings each.
        let others = calls.replace("CUDA_ERROR_LAUNCH_FAILED", "CUDA_ERROR_INVALID_VALUE");
        assert_eq!(recorded(&others, "memcheck").len(), 4);
    }

    #[test]
    fn a_race_has_two_accesses_and_the_severity_that_racecheck_gives_it() {
        let found = recorded(RACECHECK, "racecheck");
        assert_eq!(found.len(), 3);
        let Finding { severity, message, kernel, parts, notes, .. } = &found[0];
        assert_eq!((*severity, message.as_str()), (Severity::Warning, "race condition"));
        assert_eq!(kernel.as_deref(), Some("pass_left"));
        assert_eq!(*parts, [part("writes here", 20, None), part("reads here", 21, None)]);
        assert_eq!(*notes, ["64 hazards"]);
        let worse = RACECHECK.replace("<level>Warning<", "<level>Error<");
        assert_eq!(recorded(&worse, "racecheck")[0].severity, Severity::Error);
    }

    #[test]
    fn a_file_without_records_has_no_findings() {
        assert!(recorded(NO_FINDINGS, "memcheck").is_empty());
    }

    #[test]
    fn functions_of_the_host_are_named_where_the_program_has_symbols() {
        // The program of the recording has none.
        let frame = "<frame>\n        <pc>0xa89c8</pc>";
        let named = "<frame><func>demo::main::h0123456789abcdef</func><pc>0xa89c8</pc>";
        assert!(MEMCHECK.contains(frame));
        let found = recorded(&MEMCHECK.replace(frame, named), "memcheck");
        assert_eq!(found[1].notes[2], "on the host in `demo::main` (kernel launch time)");
    }

    #[test]
    fn what_is_not_known_is_shown_as_it_is() {
        let found = read(
            "<record><kind>Race</kind><level>Warning</level>
             <what><text>Race reported between Write access and Read access</text><hazards>32</hazards></what>
             <where><func>k</func><path>a.rs</path><line>3</line></where>
             <where><func>k</func><path>a.rs</path><line>4</line></where>
             <sharedMemory><offset>0x40</offset><kind>dynamic</kind></sharedMemory></record>
             <record><level>Error</level><what>Barrier error detected</what></record>
             <record><kind>ApiError</kind></record>
             <record><level>Info</level><what><text>nothing</text></what></record>
             <summary><errors>3</errors></summary>",
        );
        let facts: Vec<_> =
            found.iter().map(|one| (one.severity, one.message.as_str(), one.parts.len())).collect();
        assert_eq!(
            facts,
            [
                (Severity::Warning, "race reported between Write access and Read access", 2),
                (Severity::Error, "barrier error detected", 0),
                (Severity::Error, "apierror", 0),
            ]
        );
        assert_eq!(found[0].notes, ["hazards: 32", "shared memory: 0x40, dynamic"]);
    }

    #[test]
    fn a_file_without_an_end_is_read_up_to_the_last_whole_record() {
        for end in
            [MEMCHECK.len() - 5, MEMCHECK.rfind("<hostStack>").unwrap(), MEMCHECK.rfind("</record>").unwrap()]
        {
            let (found, is_cut_off) = findings(&MEMCHECK[..end], "memcheck", &Kernels::default()).unwrap();
            assert!(is_cut_off && !found.is_empty());
        }
        for nothing in
            ["", "========= ERROR SUMMARY: 0 errors", "<ComputeSanitizerOutput><record>", "<a></record>"]
        {
            assert!(findings(nothing, "memcheck", &Kernels::default()).is_err(), "{nothing}");
        }
        let error = findings("<valgrindoutput/>", "memcheck", &Kernels::default()).unwrap_err().to_string();
        assert!(error.contains("`valgrindoutput` instead of `ComputeSanitizerOutput`"), "{error}");
    }

    #[test]
    fn functions_of_rust_lose_their_hash() {
        assert_eq!(demangled("_ZN4demo4main17h0123456789abcdefE"), "demo::main");
        assert_eq!(demangled("demo::main::h0123456789abcdef"), "demo::main");
        assert_eq!(demangled("demo::h264"), "demo::h264");
        assert_eq!(demangled("void other<int>(int *)"), "void other<int>(int *)");
    }

    #[test]
    fn the_program_comes_after_the_options() {
        let options = ["--leak-check=full".to_owned()];
        let run = Run {
            program: "/a b/compute-sanitizer".as_ref(),
            tool: "racecheck",
            options: &options,
            folder: "/t".as_ref(),
        };
        let words: Vec<_> = run.words().into_iter().map(|word| word.into_string().unwrap()).collect();
        assert_eq!(
            words[..6],
            ["/a b/compute-sanitizer", "--tool", "racecheck", "--xml", "--save", "/t/racecheck.xml"]
        );
        assert_eq!(words.last().map(String::as_str), Some("--leak-check=full"));
    }

    proptest::proptest! {
        #![proptest_config(gpukernel_random_inputs::config())]

        #[test]
        fn fuzz_findings(
            parts in proptest::collection::vec("</?(record|what|where|who|line|text|hostStack)>|[0-9a-z<>&; ]{0,5}", 0..30),
        ) {
            let xml = format!("<ComputeSanitizerOutput>{}", parts.concat());
            for xml in [format!("{xml}</ComputeSanitizerOutput>"), xml] {
                let _ = findings(&xml, "memcheck", &Kernels::default());
            }
        }
    }
}

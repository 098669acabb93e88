//! NVIDIA's compute-sanitizer: how it is called, and what its XML says.
//!
//! The options are those of the manual for CUDA 13.0.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use anyhow::Context;
use roxmltree::Document;

use super::{
    finding::Finding,
    record::{finding, is_of_kernel, lost_context},
};
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

/// A file whose end is missing, up to the last whole record.
fn repair(xml: &str) -> Option<String> {
    const RECORD: &str = "</record>";
    xml.find("<ComputeSanitizerOutput")?;
    let end = xml.rfind(RECORD)? + RECORD.len();
    Some(format!("{}</ComputeSanitizerOutput>", &xml[..end]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::sanitize::finding::{Part, Place, Severity};

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
    fn sides_of_a_race_have_threads_and_facts_of_their_own() {
        // Not recorded: how other versions may write it.
        let who = "<who><threadIdx><x>5</x><y>0</y><z>0</z></threadIdx><blockIdx><x>1</x><y>0</y><z>0</z></blockIdx></who>";
        let more = RACECHECK
            .replacen("<destination>", &format!("<destination>{who}<bank>3</bank>"), 1)
            .replacen("<text>", "<count>7</count><text>", 1);
        let found = &recorded(&more, "racecheck")[0];
        let reads = part("reads here", 21, Some(([1, 0, 0], [5, 0, 0])));
        assert_eq!(found.parts, [part("writes here", 20, None), reads]);
        assert_eq!(found.notes, ["count: 7", "bank: 3", "64 hazards"]);
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

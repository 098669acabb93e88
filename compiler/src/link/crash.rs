//! Linking and code generation run in a child process ([`isolated`]), and a crash there becomes [`LinkError::Crashed`], which names the
//! kernels and LLVM's pass.
//!
//! After a crash the same work is done once more in a way that tells where: LLVM checks the module after each of its own passes, which
//! finds the pass that broke it and not a later one, and the child notes which kernels reach which functions.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{LinkError, call_graph::CallGraph};
use crate::{
    isolated::{self, Death, Outcome, Work},
    llvm::{LlvmError, Value},
};

/// Does the work in a child process; what it gives is taken from there to here as bytes.
pub(super) fn survive<T>(
    work: impl Fn() -> Result<T, LinkError> + Sync,
    encode: impl Fn(&T) -> Option<Vec<u8>> + Sync,
    decode: impl Fn(&[u8]) -> Option<T>,
) -> Result<T, LinkError> {
    let attempt = |diagnoses| {
        let outcome = isolated::run(diagnoses, || match work() {
            Ok(value) => encode(&value).map_or(Work::Failed, Work::Done),
            Err(LinkError::Llvm(LlvmError::Invalid { reason, .. })) => Work::Nonsense(reason),
            Err(_) => Work::Failed,
        });
        outcome.map_err(LlvmError::NoProcess)
    };
    match attempt(false)? {
        Outcome::Done(bytes) => match decode(&bytes) {
            Some(value) => Ok(value),
            None => isolated::in_process(work),
        },
        // The error has a type and is no crash: here it comes again.
        Outcome::Failed => isolated::in_process(work),
        Outcome::Died(death) => match attempt(true)? {
            Outcome::Died(again) => Err(describe(&again)),
            _ => Err(describe(&death)),
        },
    }
}

/// Which kernels reach a function, by its symbol. And all kernels.
#[derive(Default, Serialize, Deserialize)]
struct Reach {
    kernels: Vec<String>,
    reaching: BTreeMap<String, Vec<usize>>,
}

/// If a crash is being looked for: notes which kernels, given as entries with their names, reach which functions.
pub(super) fn note_kernels<'c>(kernels: impl Iterator<Item = (Value<'c>, String)>) {
    if !isolated::diagnoses() {
        return;
    }
    let (entries, kernels): (Vec<_>, Vec<_>) = kernels.unzip();
    let reached = CallGraph::of(entries.iter().copied(), &[]).needed_by(&entries).into_iter();
    let reach = Reach { kernels, reaching: reached.map(|(function, by)| (function.name(), by)).collect() };
    isolated::note(&serde_json::to_vec(&reach).unwrap_or_default());
}

/// The error that a death is.
fn describe(death: &Death) -> LinkError {
    let reach: Reach = serde_json::from_slice(&death.note).unwrap_or_default();
    let found = Trace::of(&death.said);
    let kernels = match found.function.and_then(|function| reach.reaching.get(function)) {
        Some(by) => by.iter().filter_map(|&index| reach.kernels.get(index).cloned()).collect(),
        None => reach.kernels,
    };
    let reason = match (found.words.as_str(), death.status.code()) {
        ("", _) => format!("it ended with {}", death.status),
        (words, Some(_)) => words.to_owned(),
        (words, None) if found.is_fatal_error => words.to_owned(),
        (words, None) => format!("{words} ({})", death.status),
    };
    LinkError::Crashed {
        pass: found.pass.unwrap_or(&death.step).to_owned(),
        function: found.function.map(|function| format!("{:#}", rustc_demangle::demangle(function))),
        kernels,
        reason,
    }
}

/// What LLVM writes when it ends the process: its words, then the innermost pass that ran, last.
#[derive(Debug, PartialEq, Eq)]
struct Trace<'a> {
    words: String,
    is_fatal_error: bool,
    pass: Option<&'a str>,
    function: Option<&'a str>,
}

impl<'a> Trace<'a> {
    fn of(said: &'a str) -> Self {
        const FATAL: &str = "LLVM ERROR: ";
        let end =
            ["PLEASE submit a bug report", "Stack dump:"].iter().filter_map(|start| said.find(start)).min();
        let words = said[..end.unwrap_or(said.len())].trim();
        let mut trace = Self {
            words: words.replace(FATAL, ""),
            is_fatal_error: words.contains(FATAL),
            pass: None,
            function: None,
        };
        for line in said.lines() {
            // `1.	Running pass "infer-address-spaces" on function "f"`, and in code generation with other quotes and `@f`.
            let Some((_, running)) = line.split_once("Running pass ") else { continue };
            let mut quoted = running.split(['"', '\'']);
            trace.pass = quoted.nth(1).or(trace.pass);
            let names_function = quoted.next().is_some_and(|between| between.trim() == "on function");
            trace.function = match names_function {
                true => quoted.next().map(|name| name.trim_start_matches('@')),
                false => trace.function,
            };
        }
        trace
    }
}

/// The message of [`LinkError::Crashed`].
pub(super) fn message(kernels: &[String], function: Option<&str>, pass: &str, reason: &str) -> String {
    /// More would hide the rest of the message.
    const MOST: usize = 5;
    let mut text = "LLVM cannot compile ".to_owned();
    match kernels {
        [] => text += "the kernels",
        [one] => text += &format!("the kernel {one}"),
        few if few.len() <= MOST => text += &format!("one of the kernels {}", few.join(", ")),
        many => text += &format!("one of the {} kernels", many.len()),
    }
    text += &format!(": {reason}\n  in its pass `{pass}`");
    if let Some(function) = function.filter(|function| kernels.len() != 1 || *function != kernels[0]) {
        text += &format!(", at the function `{function}`");
    }
    text + "\n  Operations that a GPU does not have are named above. Without any, this is a bug in gpukernel or LLVM: report it with the \
            source of the kernel, and leave that out or write it in another way until it is fixed"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{Context, Module, TargetMachine, testing};

    /// Two kernels, of which one is code that LLVM's pass breaks unless `address_spaces` prepares it.
    const BREAKS: &str = "target triple = \"nvptx64-nvidia-cuda\"
        declare i1 @llvm.nvvm.isspacep.global(ptr)
        declare void @llvm.assume(i1)
        define i32 @helper(ptr %x, i1 %c, i1 %d) {
            %global = call i1 @llvm.nvvm.isspacep.global(ptr %x)
            call void @llvm.assume(i1 %global)
            %p = select i1 %c, ptr null, ptr inttoptr (i64 4 to ptr)
            %chosen = select i1 %d, ptr %p, ptr %x
            %value = load i32, ptr %chosen
            ret i32 %value
        }
        define ptx_kernel void @first(ptr %x) {
            %v = call i32 @helper(ptr %x, i1 true, i1 false)
            ret void
        }
        define ptx_kernel void @second() { ret void }";

    #[test]
    fn a_pass_that_breaks_code_is_named_with_the_kernel() {
        let llvm = testing::llvm();
        let work = || -> Result<(), LinkError> {
            let context = Context::new(llvm);
            let machine = TargetMachine::new(&context, "sm_80")?;
            let module = Module::from_text(&context, BREAKS, "kernels")?;
            let kernels = ["first", "second"].into_iter();
            note_kernels(kernels.filter_map(|name| Some((module.function(name)?, format!("crate::{name}")))));
            Ok(module.run_passes(
                "function(early-cse,infer-address-spaces,instcombine<no-verify-fixpoint>)",
                &machine,
            )?)
        };
        let error = survive(work, |()| Some(Vec::new()), |_| Some(())).unwrap_err();
        let LinkError::Crashed { kernels, pass, .. } = &error else { panic!("{error}") };
        assert_eq!(kernels, &["crate::first"], "{error}");
        assert!(pass.contains("infer-address-spaces") || pass.contains("InferAddressSpaces"), "{error}");
    }

    #[test]
    fn the_innermost_pass_is_named_with_its_function() {
        let said = "PLEASE submit a bug report to https://example.com and include the crash backtrace.\nStack dump:\n\
                    0.\tRunning pass \"function(infer-address-spaces)\" on module \"m\"\n\
                    1.\tRunning pass \"infer-address-spaces\" on function \"_RNvC1k1f\"\n";
        let expected = Trace {
            words: String::new(),
            is_fatal_error: false,
            pass: Some("infer-address-spaces"),
            function: Some("_RNvC1k1f"),
        };
        assert_eq!(Trace::of(said), expected);
    }

    #[test]
    fn fatal_errors_of_code_generation_have_their_words() {
        let said = "LLVM ERROR: Cannot select: t7: i128 = AtomicLoad\nStack dump:\n0.\tRunning pass 'Function Pass Manager' on module 'm'.\n\
                    1.\tRunning pass 'NVPTX DAG->DAG Pattern Instruction Selection' on function '@f'\n";
        let expected = Trace {
            words: "Cannot select: t7: i128 = AtomicLoad".into(),
            is_fatal_error: true,
            pass: Some("NVPTX DAG->DAG Pattern Instruction Selection"),
            function: Some("f"),
        };
        assert_eq!(Trace::of(said), expected);
    }

    #[test]
    fn messages_name_few_kernels_and_count_many() {
        let kernels = |count: usize| (0..count).map(|i| format!("k::{i}")).collect::<Vec<_>>();
        let first = |count| {
            message(&kernels(count), Some("f"), "sroa", "reason")
                .lines()
                .next()
                .unwrap_or_default()
                .to_owned()
        };
        assert_eq!(first(0), "LLVM cannot compile the kernels: reason");
        assert_eq!(first(1), "LLVM cannot compile the kernel k::0: reason");
        assert_eq!(first(2), "LLVM cannot compile one of the kernels k::0, k::1: reason");
        assert_eq!(first(200), "LLVM cannot compile one of the 200 kernels: reason");
    }
}

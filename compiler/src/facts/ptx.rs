//! Counts instructions in PTX by kernel, those of functions that it calls included.

use std::collections::{BTreeSet, HashMap};

use super::{Counted, InstructionCounts, SourceLine};

/// The functions of a module in PTX.
pub(crate) struct PtxModule<'a> {
    functions: HashMap<&'a str, Function<'a>>,
    /// The files that `.loc` numbers.
    files: HashMap<u32, &'a str>,
}

#[derive(Default)]
struct Function<'a> {
    f64: u32,
    i64: u32,
    /// File and line of instructions for 64-bit floating-point numbers, each once.
    f64_at: BTreeSet<(u32, u32)>,
    calls: BTreeSet<&'a str>,
}

impl<'a> PtxModule<'a> {
    /// Reads what LLVM writes: an instruction, directive or label per line.
    pub(crate) fn read(ptx: &'a str) -> Self {
        let mut module = Self { functions: HashMap::new(), files: HashMap::new() };
        let mut current: Option<(&'a str, Function<'a>)> = None;
        let mut place = (0, 0);
        for whole in ptx.lines() {
            let line = whole.split("//").next().unwrap_or_default().trim();
            if line.starts_with(".file") {
                module.files.extend(numbered_file(whole));
            } else if let Some(rest) = line.strip_prefix(".loc") {
                let mut numbers = rest.split_whitespace().map_while(|word| word.parse::<u32>().ok());
                place = (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default());
            } else if line == "}" {
                module.functions.extend(current.take());
            } else if let Some(name) = declared(line) {
                current = Some((name, Function::default()));
            } else if let Some((_, function)) = &mut current {
                function.count(line, place);
            }
        }
        module
    }

    /// What the kernel of this name in PTX executes, and where it computes with 64-bit floating-point numbers.
    pub(crate) fn counts(&self, symbol: &str) -> (InstructionCounts, Vec<SourceLine>) {
        let (mut f64, mut i64, mut lines) = (0, 0, BTreeSet::new());
        let (mut left, mut seen) = (vec![symbol], BTreeSet::from([symbol]));
        while let Some(function) = left.pop().and_then(|name| self.functions.get(name)) {
            f64 += function.f64;
            i64 += function.i64;
            lines.extend(&function.f64_at);
            left.extend(
                function.calls.iter().filter(|name| self.functions.contains_key(*name) && seen.insert(name)),
            );
        }
        let line = |(file, line): &(u32, u32)| {
            let file = self.files.get(file).filter(|_| *line != 0)?;
            Some(SourceLine { file: (*file).to_owned(), line: *line })
        };
        (InstructionCounts { counted: Counted::Ptx, f64, i64 }, lines.iter().filter_map(line).collect())
    }
}

impl<'a> Function<'a> {
    fn count(&mut self, line: &'a str, place: (u32, u32)) {
        let Some(opcode) = opcode(line) else { return };
        let parts: Vec<_> = opcode.split('.').collect();
        match parts[0] {
            "call" => {
                let called = line.split(|c: char| c.is_whitespace() || ",();".contains(c)).skip(1);
                self.calls.extend(called.filter(|word| !word.is_empty() && !word.starts_with('%')));
            }
            // These move numbers, of whatever type.
            "ld" | "st" | "mov" | "selp" | "cvta" => {}
            _ if parts.contains(&"f64") => {
                self.f64 += 1;
                self.f64_at.insert(place);
            }
            "cvt" => {}
            _ => {
                self.i64 += u32::from(["s64", "u64", "b64", "wide"].iter().any(|part| parts.contains(part)));
            }
        }
    }
}

/// The number and the path in `.file 1 "/p/src/lib.rs"`, the path as it is quoted.
pub(crate) fn numbered_file(line: &str) -> Option<(u32, &str)> {
    let (number, path) = line.trim().strip_prefix(".file")?.trim().split_once(char::is_whitespace)?;
    let path = path.trim().strip_prefix('"')?.strip_suffix('"')?;
    Some((number.parse().ok()?, path))
}

/// The function that begins in a line: `.visible .entry saxpy(`, `.func  (.param .b32 func_retval0) pick(`.
fn declared(line: &str) -> Option<&str> {
    let rest = [".entry ", ".func "].iter().find_map(|word| Some(line.split_once(word)?.1.trim()))?;
    if !line.starts_with('.') || line.ends_with(';') {
        return None;
    }
    let rest = match rest.strip_prefix('(') {
        Some(result) => result.split_once(')')?.1.trim(),
        None => rest,
    };
    rest.split(|c: char| c.is_whitespace() || c == '(').next().filter(|name| !name.is_empty())
}

/// The operation of an instruction, behind its predicate.
fn opcode(line: &str) -> Option<&str> {
    let line = match line.strip_prefix('@') {
        Some(rest) => rest.split_once(char::is_whitespace)?.1.trim(),
        None => line,
    };
    let opcode = line.split(|c: char| c.is_whitespace() || c == ';').next()?;
    opcode.starts_with(|c: char| c.is_ascii_lowercase()).then_some(opcode)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = "
.visible .func  (.param .b64 func_retval0) half(
\t.param .b64 half_param_0
)
{
\t.loc\t2 7 5
\tmul.rn.f64 \t%fd2, %fd1, 0d3FE0000000000000;
\tret;
}
.visible .entry scale(
\t.param .u64 .ptr .align 4 scale_param_0
)
{
$L__func_begin0:
\t.loc\t1 16 0
\tld.param.b64 \t%rd1, [scale_param_0];
\tcvta.to.global.u64 \t%rd2, %rd1;
\tmul.wide.u32 \t%rd3, %r1, 4; // begin inline asm
\t@%p1 add.s64 \t%rd4, %rd2, %rd3;
\t.loc\t1 18 9
\tcvt.f64.f32 \t%fd1, %f1;
\tcall.uni (retval0), half, (param0);
\tadd.rn.f32 \t%f3, %f1, %f2;
\tst.global.f64 \t[%rd4], %fd3;
}
.visible .entry other()
{
\tret;
}
\t.file\t1 \"/k/src/lib.rs\"
\t.file\t2 \"/k/src/half.rs\"
";

    #[test]
    fn instructions_are_counted_with_those_of_called_functions() {
        let module = PtxModule::read(MODULE);
        let (counts, lines) = module.counts("scale");
        assert_eq!((counts.f64, counts.i64), (2, 2));
        let lines: Vec<_> = lines.iter().map(ToString::to_string).collect();
        assert_eq!(lines, ["/k/src/lib.rs:18", "/k/src/half.rs:7"]);
        assert_eq!(module.counts("other").0, InstructionCounts { counted: Counted::Ptx, f64: 0, i64: 0 });
        assert_eq!(module.counts("missing").0.f64, 0);
    }
}

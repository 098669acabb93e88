//! The three forms of a kernel's code as lines, each with the number of its place in the source.

use std::collections::{HashMap, HashSet};

use super::{
    CodeLine,
    access::{Access, AccessKind, MemorySpace},
    lanes::Lanes,
};
use crate::{facts::sass, link::FIRST_NUMBER};

/// The place that a line number stands for.
fn place(line: u32) -> Option<usize> {
    line.checked_sub(FIRST_NUMBER).map(|number| number as usize)
}

/// A function of LLVM's module: its lines without metadata.
pub(super) fn llvm_ir(module: &str, symbol: &str) -> Vec<CodeLine> {
    let mut line_of: HashMap<&str, u32> = HashMap::new();
    for line in module.lines().rev().take_while(|line| !line.starts_with('}')) {
        // `!17 = !DILocation(line: 16777216, column: 0, scope: !7)`
        if let Some((name, rest)) = line.split_once(" = ")
            && let Some((_, rest)) = rest.split_once("!DILocation(line: ")
        {
            let number = rest.split(|c: char| !c.is_ascii_digit()).next();
            line_of.extend(number.and_then(|number| number.parse().ok()).map(|number| (name, number)));
        }
    }
    let is_start = |line: &&str| {
        line.starts_with("define ") && line.split_once('@').is_some_and(|(_, rest)| name(rest) == symbol)
    };
    let body = module.lines().skip_while(|line| !is_start(line)).skip(1).take_while(|line| *line != "}");
    let lines = body.map(|line| {
        let (code, metadata) = line.split_once(", !").unwrap_or((line, ""));
        let debug = format!("!{metadata}");
        let debug = debug.split("!dbg ").nth(1).and_then(|rest| rest.split(',').next());
        let number = debug.and_then(|name| line_of.get(name.trim()).copied());
        CodeLine {
            is_label: !code.starts_with(' ') && code.contains(':'),
            place: number.and_then(place),
            ..CodeLine::new(code.split("; preds").next().unwrap_or(code).trim())
        }
    });
    lines.filter(|line| !line.text.is_empty()).collect()
}

/// A symbol as LLVM writes it: quoted if it has unusual characters.
fn name(rest: &str) -> &str {
    match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next().unwrap_or_default(),
        None => rest.split('(').next().unwrap_or_default(),
    }
}

/// An entry in PTX.
pub(super) fn ptx(module: &str, symbol: &str, block_x: Option<u32>) -> Vec<CodeLine> {
    let start = format!(".entry {symbol}(");
    let body = module.lines().skip_while(|line| !line.contains(&start)).take_while(|line| *line != "}");
    let body: Vec<&str> = body.map(|line| line.split("//").next().unwrap_or_default().trim()).collect();
    let lanes = Lanes::of(&body, block_x);
    let mut number = 0;
    let mut lines = Vec::new();
    for text in body.into_iter().skip_while(|line| *line != "{").skip(1) {
        if let Some(rest) = text.strip_prefix(".loc") {
            number = rest.split_whitespace().nth(1).and_then(|line| line.parse().ok()).unwrap_or_default();
        } else if text.is_empty() || text.starts_with("$L__tmp") || text.starts_with("$L__func") {
        } else if text.ends_with(':') {
            lines.push(CodeLine { is_label: true, ..CodeLine::new(text) });
        } else {
            let is_instruction = !text.starts_with('.');
            let opcode = text.split_whitespace().find(|word| !word.starts_with('@')).unwrap_or_default();
            let access = Access::of_ptx(opcode).filter(|_| is_instruction);
            lines.push(CodeLine {
                place: if is_instruction { place(number) } else { None },
                access: access.map(|access| match access.space {
                    MemorySpace::Global | MemorySpace::Shared => access.with_stride(lanes.stride(text)),
                    _ => access,
                }),
                ..CodeLine::new(&text.split_whitespace().collect::<Vec<_>>().join(" "))
            });
        }
    }
    mark_loops(&mut lines, |text| text.split_whitespace().last().map(|label| label.trim_end_matches(';')));
    lines
}

/// A function of machine code. Strides come from the PTX of the same places.
pub(super) fn sass(
    function: &[sass::Instruction<'_>],
    live: Option<&[sass::Instruction<'_>]>,
    ptx: &[CodeLine],
) -> Vec<CodeLine> {
    let mut lines = Vec::new();
    let live: HashMap<u32, Option<u32>> = live
        .into_iter()
        .flatten()
        .map(|instruction| (instruction.address, instruction.live_registers))
        .collect();
    for instruction in function {
        if let Some(label) = instruction.label {
            lines.push(CodeLine { is_label: true, ..CodeLine::new(&format!("{label}:")) });
        }
        let text = format!("{} {} {}", instruction.predicate, instruction.opcode, instruction.operands);
        let place = place(instruction.line);
        lines.push(CodeLine {
            place,
            address: Some(instruction.address),
            live_registers: live.get(&instruction.address).copied().flatten(),
            access: Access::of_sass(instruction).map(|access| {
                let stride = stride_in(ptx, place, &access);
                access.with_stride(stride)
            }),
            ..CodeLine::new(text.trim())
        });
    }
    // Behind the last jump, which goes to itself, the function is filled up.
    while lines.last().is_some_and(|line| line.text.starts_with("NOP") || line.is_label) {
        lines.pop();
    }
    mark_loops(&mut lines, |text| {
        let (_, label) = text.split_once("`(")?;
        text.contains("BRA").then(|| label.trim_end_matches(')'))
    });
    lines
}

/// The stride of the accesses in PTX that come from a place, if they all have the same one. Those that the optimiser has moved have none.
fn stride_in(ptx: &[CodeLine], place: Option<usize>, access: &Access) -> Option<i64> {
    let is_read = matches!(access.kind, AccessKind::Load);
    let alike_at = |place: Option<usize>| -> Vec<_> {
        let here = ptx.iter().filter(|line| line.place == place).filter_map(|line| line.access.as_ref());
        here.filter(|other| other.space == access.space && matches!(other.kind, AccessKind::Load) == is_read)
            .collect()
    };
    let mut alike = alike_at(place);
    if alike.is_empty() {
        // ptxas gives code without a place that of the code before it.
        alike = alike_at(None);
    }
    // ptxas may have joined several, and then none is as wide.
    let is_as_wide = |other: &&&Access| other.bytes == access.bytes;
    let is_any_as_wide = alike.iter().any(|other| is_as_wide(&other));
    let mut strides =
        alike.iter().filter(|other| !is_any_as_wide || is_as_wide(other)).map(|other| other.stride);
    let first = strides.next()??;
    strides.all(|stride| stride == Some(first)).then_some(first)
}

/// Marks what lies between a label and a jump back to it. `label` gives the one that a jump goes to.
fn mark_loops(lines: &mut [CodeLine], label: impl Fn(&str) -> Option<&str>) {
    let mut loops = HashSet::new();
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| line.text.to_lowercase().contains("bra")) {
        let is_target =
            |other: &CodeLine| other.is_label && Some(other.text.trim_end_matches(':')) == label(&line.text);
        if let Some(start) = lines[..at].iter().position(is_target) {
            // One that ends where it starts is no loop but the end of the code.
            if lines[start..at].iter().any(|line| !line.is_label) {
                loops.insert((start, at));
            }
        }
    }
    for (start, end) in loops {
        lines[start..=end].iter_mut().for_each(|line| line.in_a_loop = true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LLVM_IR: &str = "
define ptx_kernel void @other(ptr %0) !dbg !4 {
  ret void, !dbg !9
}

define ptx_kernel void @scale(ptr noalias %0, float %1) #1 !dbg !5 {
start:
  %2 = load float, ptr addrspace(1) %3, align 4, !dbg !10, !noundef !8
  br label %bb3

bb3:                                              ; preds = %bb3, %start
  ret void, !dbg !11
}

!9 = !DILocation(line: 16777216, column: 0, scope: !4)
!10 = !DILocation(line: 16777217, column: 0, scope: !5)
!11 = !DILocation(line: 16777219, scope: !5)
";

    #[test]
    fn llvm_ir_has_places_without_metadata() {
        let lines = llvm_ir(LLVM_IR, "scale");
        let found: Vec<_> = lines.iter().map(|line| (line.text.as_str(), line.place)).collect();
        assert_eq!(
            found,
            [
                ("start:", None),
                ("%2 = load float, ptr addrspace(1) %3, align 4", Some(1)),
                ("br label %bb3", None),
                ("bb3:", None),
                ("ret void", Some(3)),
            ]
        );
        assert!(lines[3].is_label && llvm_ir(LLVM_IR, "none").is_empty());
    }

    const PTX: &str = "
.visible .entry scale(
\t.param .u64 .ptr .align 4 scale_param_0
)
{
\t.reg .b32 \t%r<4>;
$L__func_begin0:
\t.loc\t1 16 0
\tmov.u32 \t%r1, %tid.x;
$L__BB0_1:
$L__tmp3:
\t.loc\t1 16777218 0
\tmul.wide.u32 \t%rd1, %r1, 16;
\tld.global.b32 \t%r2, [%rd1];
\t@%p1 bra \t$L__BB0_1;
\tret;
}
";

    #[test]
    fn ptx_has_accesses_and_loops() {
        let lines = ptx(PTX, "scale", None);
        let found: Vec<_> =
            lines.iter().map(|line| (line.text.as_str(), line.place, line.in_a_loop)).collect();
        assert_eq!(
            found,
            [
                (".reg .b32 %r<4>;", None, false),
                ("mov.u32 %r1, %tid.x;", None, false),
                ("$L__BB0_1:", None, true),
                ("mul.wide.u32 %rd1, %r1, 16;", Some(2), true),
                ("ld.global.b32 %r2, [%rd1];", Some(2), true),
                ("@%p1 bra $L__BB0_1;", Some(2), true),
                ("ret;", Some(2), false),
            ]
        );
        let access = lines[4].access.clone().unwrap();
        assert_eq!((access.bytes, access.stride), (4, Some(16)));
        assert!(access.cost.unwrap().is_wasteful());
    }

    #[test]
    fn machine_code_has_the_strides_of_its_places() {
        let text = "
.text.scale:
\t//## File \"/k/src/lib.rs\", line 16777218
        /*0000*/                   LDG.E R2, desc[UR4][R2.64] ;
.L_x_1:
        /*0010*/              @P0 BRA `(.L_x_0) ;
.L_x_0:
        /*0020*/                   BRA `(.L_x_0) ;
        /*0030*/                   NOP;
";
        let functions = sass::functions(text);
        let lines = sass(&functions["scale"], None, &ptx(PTX, "scale", None));
        assert_eq!(lines[0].access.as_ref().unwrap().stride, Some(16));
        assert_eq!(lines.last().unwrap().text, "BRA `(.L_x_0)");
        assert!(lines.iter().all(|line| !line.in_a_loop));
    }
}

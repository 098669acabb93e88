//! How values in PTX differ from one thread of a warp to the next: from that follows which accesses are coalesced, and which have bank conflicts.
//!
//! A value is known if it grows by the same number from thread to thread along x. The analysis takes PTX as text, goes through all instructions until
//! nothing changes, and assumes that the threads of a warp take the same way; where a value comes from memory by a varying address, it gives up.

use std::collections::{HashMap, HashSet};

/// How a value differs between neighbouring threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lane {
    /// By this number from each thread to the next; 0 if it is the same for the warp.
    By(i64),
    Unknown,
}

impl Lane {
    fn join(self, other: Self) -> Self {
        if self == other { self } else { Self::Unknown }
    }

    fn map(self, of: impl FnOnce(i64) -> Option<i64>) -> Self {
        match self {
            Self::By(by) => of(by).map_or(Self::Unknown, Self::By),
            Self::Unknown => Self::Unknown,
        }
    }

    fn add(self, other: Self) -> Self {
        match other {
            Self::By(other) => self.map(|by| by.checked_add(other)),
            Self::Unknown => Self::Unknown,
        }
    }

    fn times(self, number: i64) -> Self {
        self.map(|by| by.checked_mul(number))
    }
}

/// An instruction: its operation, what it writes, what it reads.
struct Statement<'a> {
    predicate: Option<&'a str>,
    parts: Vec<&'a str>,
    operands: Vec<&'a str>,
}

impl<'a> Statement<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let line = line.trim().strip_suffix(';')?;
        let (predicate, line) = match line.strip_prefix('@') {
            Some(rest) => {
                let (predicate, rest) = rest.split_once(char::is_whitespace)?;
                (Some(predicate.trim_start_matches('!')), rest.trim())
            }
            None => (None, line),
        };
        let (opcode, operands) = line.split_once(char::is_whitespace)?;
        if !opcode.starts_with(|c: char| c.is_ascii_lowercase()) {
            return None;
        }
        Some(Self { predicate, parts: opcode.split('.').collect(), operands: split(operands) })
    }
}

/// Operands, those in braces as one.
fn split(text: &str) -> Vec<&str> {
    let (mut operands, mut start, mut depth) = (Vec::new(), 0, 0);
    for (at, character) in text.char_indices() {
        match character {
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            ',' if depth == 0 => {
                operands.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    operands.push(text[start..].trim());
    operands
}

/// What is known of the registers of a kernel.
pub(super) struct Lanes<'a> {
    known: HashMap<&'a str, Lane>,
    /// Registers that hold the index of the thread in its block, or in its warp.
    indices: HashSet<&'a str>,
    /// Whether all threads of a warp have the same index along y and z.
    rows_are_whole_warps: bool,
}

impl<'a> Lanes<'a> {
    /// Analyses the instructions of a kernel. `block_x` is the extent of its blocks along x, if the contract says it.
    pub(super) fn of(lines: &[&'a str], block_x: Option<u32>) -> Self {
        let statements: Vec<_> = lines.iter().filter_map(|line| Statement::parse(line)).collect();
        let mut lanes = Self {
            known: HashMap::new(),
            indices: HashSet::new(),
            rows_are_whole_warps: block_x.is_none_or(|x| x % 32 == 0),
        };
        // Each register changes at most twice.
        for _ in 0..2 * statements.len() + 1 {
            let mut is_changed = false;
            for statement in &statements {
                is_changed |= lanes.apply(statement);
            }
            if !is_changed {
                break;
            }
        }
        lanes
    }

    /// By how many bytes the address of an access differs from each thread to the next: of `ld.global.b32 %r1, [%rd1+4];`.
    pub(super) fn stride(&self, line: &str) -> Option<i64> {
        let statement = Statement::parse(line)?;
        let address = statement.operands.iter().find(|operand| operand.starts_with('['))?;
        match self.address(address)? {
            Lane::By(by) => Some(by),
            Lane::Unknown => None,
        }
    }

    /// None as long as nothing is known of a register in it.
    fn address(&self, operand: &str) -> Option<Lane> {
        let inside = operand.trim_start_matches('[').split([']', '+']).next()?;
        self.value(inside.trim())
    }

    fn value(&self, operand: &str) -> Option<Lane> {
        match operand.split_once('.').map_or(operand, |(name, _)| name) {
            "%tid" if operand == "%tid.x" => Some(Lane::By(1)),
            "%laneid" => Some(Lane::By(1)),
            "%tid" if !self.rows_are_whole_warps => Some(Lane::Unknown),
            name if name.starts_with("%r") || name.starts_with("%f") || name.starts_with("%p") => {
                self.known.get(operand).copied()
            }
            "%clock" | "%clock64" | "%globaltimer" | "%lanemask_lt" => Some(Lane::Unknown),
            // Numbers, other special registers, parameters, variables.
            _ => Some(Lane::By(0)),
        }
    }

    /// Whether it has changed something.
    fn apply(&mut self, statement: &Statement<'a>) -> bool {
        let Some((&target, sources)) = statement.operands.split_first() else { return false };
        if matches!(statement.parts[0], "st" | "bra" | "call" | "ret" | "exit" | "red" | "bar" | "barrier") {
            return false;
        }
        if sources.first().is_some_and(|source| *source == "%tid.x" || *source == "%laneid") {
            self.indices.insert(target);
        }
        let Some(value) = self.result(statement, sources) else { return false };
        // Elsewhere it keeps what it had.
        let is_conditional = statement.predicate.is_some_and(|it| self.value(it) != Some(Lane::By(0)));
        let value = if is_conditional && value != Lane::By(0) { Lane::Unknown } else { value };
        let targets = target.trim_matches(['{', '}']).split([',', '|']).map(str::trim);
        let mut is_changed = false;
        for target in targets.filter(|target| target.starts_with('%')) {
            let joined = self.known.get(target).map_or(value, |before| before.join(value));
            is_changed |= self.known.insert(target, joined) != Some(joined);
        }
        is_changed
    }

    /// What an instruction computes; none as long as nothing is known of a register that it reads.
    fn result(&self, statement: &Statement<'a>, sources: &[&'a str]) -> Option<Lane> {
        let parts = &statement.parts;
        let values = sources.iter().map(|source| match source.starts_with('[') {
            true => self.address(source),
            false => self.value(source),
        });
        let values: Vec<_> = values.collect::<Option<_>>()?;
        let number = |index: usize| sources.get(index).and_then(|source| source.parse::<i64>().ok());
        let is_index = |index: usize| sources.get(index).is_some_and(|source| self.indices.contains(source));
        let is_float = parts.iter().any(|part| ["f16", "f32", "f64", "bf16"].contains(part));
        let product = |a: usize, b: usize| match (values[a], values[b], number(a), number(b)) {
            (Lane::By(0), Lane::By(0), ..) => Lane::By(0),
            (a, _, _, Some(number)) => a.times(number),
            (_, b, Some(number), _) => b.times(number),
            _ => Lane::Unknown,
        };
        let same = || match values.iter().all(|value| *value == Lane::By(0)) {
            true => Lane::By(0),
            false => Lane::Unknown,
        };
        Some(match (parts[0], values.len()) {
            ("mov" | "cvta", 1) => values[0],
            ("cvt", 1) if !is_float => values[0],
            ("add", 2) if !is_float => values[0].add(values[1]),
            // LLVM writes a sum without carries as one.
            ("or", 2) => values[0].add(values[1]),
            ("sub", 2) if !is_float => values[0].add(values[1].times(-1)),
            ("mul", 2) if !is_float && !parts.contains(&"hi") => product(0, 1),
            ("mad", 3) if !is_float && !parts.contains(&"hi") => product(0, 1).add(values[2]),
            ("shl", 2) => match number(1) {
                Some(bits @ 0..=62) => values[0].times(1 << bits),
                _ => same(),
            },
            // The number of the warp, and the lane in it.
            ("shr", 2) if is_index(0) && number(1).is_some_and(|bits| bits >= 5) => Lane::By(0),
            ("and", 2) if is_index(0) && number(1).is_some_and(|mask| mask > 0 && (mask + 1) % 32 == 0) => {
                Lane::By(1)
            }
            // Not what threads exchange.
            ("atom" | "shfl" | "match" | "activemask", _) => Lane::Unknown,
            _ => same(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: &str = "
        ld.param.b64 %rd1, [k_param_0];
        cvta.to.global.u64 %rd2, %rd1;
        mov.u32 %r1, %ctaid.x;
        mov.u32 %r2, %ntid.x;
        mov.u32 %r3, %tid.x;
        mov.u32 %r4, %tid.y;
        mad.lo.s32 %r5, %r1, %r2, %r3;
        mul.wide.u32 %rd3, %r5, 4;
        add.s64 %rd4, %rd2, %rd3;
        ld.global.nc.b32 %r6, [%rd4+128];
        shl.b32 %r7, %r5, 5;
        cvt.u64.u32 %rd5, %r7;
        add.s64 %rd6, %rd2, %rd5;
        ld.global.v2.b32 {%r8, %r9}, [%rd6];
        mul.wide.u32 %rd7, %r6, 4;
        add.s64 %rd8, %rd2, %rd7;
        st.global.b32 [%rd8], %r9;
        mov.b64 %rd9, %rd4;
        add.s64 %rd10, %rd9, 4096;
        mov.b64 %rd9, %rd10;
        ld.global.b32 %r10, [%rd9];
        shr.u32 %r11, %r3, 5;
        shl.b32 %r12, %r11, 2;
        ld.shared.b32 %r13, [%r12];
        and.b32 %r14, %r3, 31;
        mul.lo.s32 %r15, %r14, 132;
        st.shared.b32 [%r15], %r13;
        mul.lo.s32 %r16, %r4, 64;
        ld.shared.b32 %r17, [%r16];
        ld.global.b32 %r18, [%rd2];
        mul.lo.s32 %r19, %r14, %r18;
        ld.shared.b32 %r20, [%r19];";

    fn strides(block_x: Option<u32>) -> Vec<Option<i64>> {
        let lines: Vec<_> = KERNEL.lines().collect();
        let lanes = Lanes::of(&lines, block_x);
        let accesses = lines.iter().filter(|line| {
            ["ld.global", "st.global", "ld.shared", "st.shared"].iter().any(|word| line.contains(word))
        });
        accesses.map(|line| lanes.stride(line)).collect()
    }

    #[test]
    fn strides_follow_from_the_index_of_the_thread() {
        let known = [Some(4), Some(32), None, Some(4), Some(0), Some(132), Some(0), Some(0), None];
        assert_eq!(strides(None), known);
        assert_eq!(strides(Some(64)), known);
    }

    #[test]
    fn rows_of_less_than_a_warp_are_not_known() {
        assert_eq!(strides(Some(16))[6], None);
    }
}

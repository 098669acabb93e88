//! Reads SASS, machine code as nvdisasm writes it.

use std::collections::BTreeMap;

use super::{Counted, InstructionCounts};

/// An instruction of machine code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Instruction<'a> {
    /// Its address in the function.
    pub(crate) address: u32,
    /// The predicate that it is executed under, such as `@!P0`; empty if always.
    pub(crate) predicate: &'a str,
    /// The operation with its modifiers: `LDG.E.64`.
    pub(crate) opcode: &'a str,
    pub(crate) operands: &'a str,
    /// The line that it comes from, as the last comment of nvdisasm's `-g` says it: the last number in it.
    pub(crate) line: u32,
    /// The label in front of it, as jumps name it.
    pub(crate) label: Option<&'a str>,
    /// How many registers hold a value there that is needed later, if nvdisasm was asked (`-lrm count`).
    pub(crate) live_registers: Option<u32>,
}

/// Reads the functions of a cubin, by their names.
pub(crate) fn functions(sass: &str) -> BTreeMap<&str, Vec<Instruction<'_>>> {
    let mut functions: BTreeMap<&str, Vec<Instruction<'_>>> = BTreeMap::new();
    let mut current = None;
    let (mut line, mut label) = (0, None);
    for text in sass.lines() {
        let trimmed = text.trim();
        if let Some(name) = trimmed.strip_prefix(".text.").and_then(|rest| rest.split(':').next()) {
            current = Some(functions.entry(name).or_default());
            (line, label) = (0, None);
        } else if trimmed.starts_with(".section") {
            current = None;
        } else if let Some(comment) = trimmed.strip_prefix("//##") {
            let number = comment.rsplit_once("line ").and_then(|(_, rest)| rest.split_whitespace().next());
            line = number.and_then(|number| number.parse().ok()).unwrap_or_default();
        } else if let Some(name) = trimmed.split_once(':').map(|(name, _)| name)
            && name.starts_with(".L")
        {
            label = Some(name);
        } else if let (Some(functions), Some(instruction)) = (&mut current, instruction(trimmed)) {
            functions.push(Instruction { line, label: label.take(), ..instruction });
        }
    }
    functions
}

/// Reads `/*0060*/  @P0 ISETP.GE.U32.AND P0, PT, R0, UR4, PT ;  // |  4  |`.
fn instruction(text: &str) -> Option<Instruction<'_>> {
    let (address, rest) = text.strip_prefix("/*")?.split_once("*/")?;
    let address = u32::from_str_radix(address, 16).ok()?;
    let (code, comment) = rest.split_once(';')?;
    let code = code.trim();
    let (predicate, code) = match code.starts_with('@') {
        true => code.split_once(char::is_whitespace)?,
        false => ("", code),
    };
    let code = code.trim();
    let (opcode, operands) = code.split_once(char::is_whitespace).unwrap_or((code, ""));
    let live = comment.split('|').nth(1).map(|column| column.trim().parse().unwrap_or_default());
    Some(Instruction {
        address,
        predicate,
        opcode,
        operands: operands.trim(),
        live_registers: live,
        ..Instruction::default()
    })
}

impl Instruction<'_> {
    /// The operation without modifiers.
    pub(crate) fn base(&self) -> &str {
        self.opcode.split('.').next().unwrap_or_default()
    }

    fn has(&self, modifier: &str) -> bool {
        self.opcode.split('.').skip(1).any(|part| part == modifier)
    }

    /// Whether it computes with 64-bit floating-point numbers, or converts one.
    pub(crate) fn is_f64(&self) -> bool {
        ["DADD", "DMUL", "DFMA", "DSETP", "DMMA", "DMNMX"].contains(&self.base())
            || self.has("F64")
            || self.base() == "MUFU" && (self.has("RCP64H") || self.has("RSQ64H"))
    }

    /// Whether it computes with 64-bit integers. Of an operation that takes two instructions, one for each half, this is the one that takes the
    /// carry.
    pub(crate) fn is_i64(&self) -> bool {
        let base = self.base().trim_start_matches('U');
        match base {
            "IADD3" | "IADD" | "LEA" | "IMAD" | "ISETP" | "IMNMX" | "VIADD" => {
                self.has("X") || self.has("EX") || self.has("64") || self.has("WIDE")
            }
            "SHF" | "I2F" | "F2I" => ["U64", "S64"].iter().any(|part| self.has(part)) && !self.is_f64(),
            _ => false,
        }
    }
}

/// Counts what a function of machine code executes.
pub(crate) fn counts(function: &[Instruction<'_>]) -> InstructionCounts {
    InstructionCounts {
        counted: Counted::Sass,
        f64: function.iter().filter(|instruction| instruction.is_f64()).count() as u32,
        i64: function.iter().filter(|instruction| instruction.is_i64()).count() as u32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SASS: &str = "
\t.section\t.text.half,\"ax\",@progbits
        .type           half,@function
half:
.text.half:
\t//## File \"/k/src/lib.rs\", line 16
        /*0000*/                   LDC R1, c[0x0][0x28] ;            // |    1  |        |
\t//## File \"/k/src/half.rs\", line 25 inlined at \"/k/src/lib.rs\", line 18
        /*0010*/                   IADD3 R4, P1, R2.reuse, UR8, RZ ; // |    4  |   1    |
        /*0020*/                   IADD3.X R5, R0, UR9, RZ, P1, !PT ;
.L_x_7:
        /*0030*/              @!P0 DMUL R2, R2, 0.5 ;
        /*0040*/               @P0 BRA `(.L_x_7) ;
        /*0050*/                   EXIT ;
\t.section\t.nv.info,\"\"
        /*0060*/                   EXIT ;
.text.other:
        /*0000*/                   UIMAD.WIDE.U32 UR4, UR5, 0x4, UR8 ;
        /*0010*/                   MUFU.RCP64H R5, R3 ;
        /*0020*/                   F2F.F64.F32 R2, R2 ;
        /*0030*/                   LDG.E.64 R2, desc[UR4][R2.64] ;
";

    #[test]
    fn instructions_have_lines_labels_and_live_registers() {
        let functions = functions(SASS);
        let half = &functions["half"];
        assert_eq!(half.len(), 6);
        assert_eq!((half[0].line, half[0].live_registers), (16, Some(1)));
        assert_eq!((half[1].opcode, half[1].operands), ("IADD3", "R4, P1, R2.reuse, UR8, RZ"));
        assert_eq!((half[1].line, half[1].live_registers, half[2].live_registers), (18, Some(4), None));
        assert_eq!((half[3].predicate, half[3].opcode, half[3].label), ("@!P0", "DMUL", Some(".L_x_7")));
        assert_eq!((half[4].address, half[4].operands), (0x40, "`(.L_x_7)"));
    }

    #[test]
    fn instructions_for_64_bits_are_counted() {
        let functions = functions(SASS);
        let of = |name: &str| {
            let InstructionCounts { f64, i64, .. } = counts(&functions[name]);
            (f64, i64)
        };
        assert_eq!((of("half"), of("other")), ((1, 1), (2, 1)));
    }
}

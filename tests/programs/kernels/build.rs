//! Writes random programs: assignments, conditions, loops, tables and early ends over a fixed set of variables of every type.
//!
//! The seed is fixed, so that the host and every GPU get the same programs; `GPUKERNEL_PROGRAM_SEED` chooses others. What Rust leaves
//! open is left out: the sign of a NaN, and which zero is the smaller one.

use std::{env, error::Error, fmt::Write as _, fs, path::PathBuf};

const PROGRAMS: usize = 48;
/// The first ones have no branches.
const STRAIGHT: usize = 16;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=GPUKERNEL_PROGRAM_SEED");
    let seed = match env::var("GPUKERNEL_PROGRAM_SEED") {
        Ok(seed) => seed.parse()?,
        Err(_) => 1,
    };
    let mut source = String::new();
    for number in 0..PROGRAMS {
        // A stream of its own each, so that a change to one leaves the others as they are.
        let mut program =
            Program { random: Random(seed ^ (number as u64) << 32), text: String::new(), indent: 1 };
        program.random.next();
        program.statements(if number < STRAIGHT { 24 } else { 12 }, number >= STRAIGHT);
        source += &kernel(number, &program.text);
    }
    let names: Vec<_> = (0..PROGRAMS).map(|number| format!("program_{number:02}")).collect();
    writeln!(
        source,
        "/// Calls a macro with the names of all programs.\n#[macro_export]\nmacro_rules! programs {{\n    \
         ($callback:ident) => {{ $callback! {{ {} }} }};\n}}",
        names.join(" ")
    )?;
    Ok(fs::write(PathBuf::from(env::var("OUT_DIR")?).join("programs.rs"), source)?)
}

fn kernel(number: usize, statements: &str) -> String {
    let variables = |template: &str| -> String {
        TYPES
            .iter()
            .flat_map(|ty| (0..2).map(move |i| template.replace('T', ty.name()).replace('#', &i.to_string())))
            .collect()
    };
    let inputs: String = TYPES
        .iter()
        .flat_map(|ty| {
            (0..2).map(move |i| {
                let value = match ty {
                    Ty::U8 => format!("input.u32s[{i}] as u8"),
                    Ty::I16 => format!("input.i32s[{i}] as i16"),
                    Ty::Bool => format!("input.u32s[{i}] % 2 == 0"),
                    _ => format!("input.{}s[{i}]", ty.name()),
                };
                format!("    let mut {}_{i} = {value};\n", ty.name())
            })
        })
        .collect();
    let bits: String = TYPES
        .iter()
        .flat_map(|ty| {
            (0..2).map(move |i| match ty {
                Ty::F32 => format!("bits_of_single(f32_{i}), "),
                Ty::F64 => format!("bits_of_double(f64_{i}), "),
                _ => format!("{}_{i} as u64, ", ty.name()),
            })
        })
        .collect();
    let all = variables("T_#, ");
    let parameters = variables("T_#: T, ");
    format!(
        "#[allow(warnings, clippy::all)]\n\
         mod p{number:02} {{\n    use super::*;\n    \
         fn outcome({parameters}) -> Outcome {{\n        Outcome([{bits}])\n    }}\n\n    \
         #[inline(always)]\n    pub(super) fn program(input: &Input) -> Outcome {{\n{inputs}{statements}    outcome({all})\n    }}\n}}\n\n\
         /// Random program {number}.\n#[kernel]\npub fn program_{number:02}(inputs: &[Input], outcomes: PerThread<Outcome>) {{\n    \
         for (i, outcome) in outcomes {{\n        *outcome = p{number:02}::program(&inputs[i]);\n    }}\n}}\n\n"
    )
    .replace("END", &format!("return outcome({all})"))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ty {
    U8,
    I16,
    U32,
    I32,
    U64,
    I64,
    F32,
    F64,
    Bool,
}

const TYPES: [Ty; 9] = [Ty::U8, Ty::I16, Ty::U32, Ty::I32, Ty::U64, Ty::I64, Ty::F32, Ty::F64, Ty::Bool];

impl Ty {
    fn name(self) -> &'static str {
        match self {
            Self::U8 => "u8",
            Self::I16 => "i16",
            Self::U32 => "u32",
            Self::I32 => "i32",
            Self::U64 => "u64",
            Self::I64 => "i64",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::Bool => "bool",
        }
    }

    fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }

    fn is_signed(self) -> bool {
        matches!(self, Self::I16 | Self::I32 | Self::I64)
    }
}

/// A program as it is written.
struct Program {
    random: Random,
    text: String,
    indent: usize,
}

impl Program {
    fn statements(&mut self, count: usize, branches: bool) {
        for _ in 0..count {
            self.statement(branches);
        }
    }

    fn statement(&mut self, branches: bool) {
        if branches && self.indent < 4 && self.random.below(3) == 0 {
            return self.branch();
        }
        let ty = self.random.of(&TYPES);
        let (variable, value) = (self.variable(ty), self.expression(ty, 3));
        self.line(&format!("{variable} = {value};"));
    }

    fn branch(&mut self) {
        match self.random.below(6) {
            0 | 1 => {
                let condition = self.expression(Ty::Bool, 2);
                self.line(&format!("if {condition} {{"));
                self.inside(3);
                self.line("} else {");
                self.inside(2);
                self.line("}");
            }
            2 => {
                let times = self.expression(Ty::U32, 1);
                self.line(&format!("for round in 0..({times}) % 5 {{"));
                self.inside(2);
                let (variable, times) = (self.variable(Ty::U32), self.random.below(3));
                self.line(&format!("    {variable} ^= round << {times};"));
                if self.random.below(2) == 0 {
                    let condition = self.expression(Ty::Bool, 2);
                    let leave = self.random.of(&["break", "continue"]);
                    self.line(&format!("    if {condition} {{ {leave}; }}"));
                    self.inside(1);
                }
                self.line("}");
            }
            3 => {
                let value = self.expression(Ty::U8, 1);
                self.line(&format!("match ({value}) % 4 {{"));
                for pattern in ["0", "1 | 2", "_"] {
                    self.line(&format!("    {pattern} => {{"));
                    self.indent += 1;
                    self.inside(1);
                    self.indent -= 1;
                    self.line("    }");
                }
                self.line("}");
            }
            4 => {
                let ty = self.random.of(&TYPES);
                let entries: Vec<_> = (0..4).map(|_| self.expression(ty, 1)).collect();
                let (variable, index) = (self.variable(ty), self.expression(Ty::U32, 1));
                self.line(&format!("let table = [{}];", entries.join(", ")));
                self.line(&format!("{variable} = table[({index}) as usize % 4];"));
            }
            _ => {
                let condition = self.expression(Ty::Bool, 2);
                let (a, b) = (self.expression(Ty::U64, 1), self.expression(Ty::U64, 1));
                self.line(&format!("if {condition} && ({a}) % 8 == ({b}) % 8 {{ END; }}"));
            }
        }
    }

    fn inside(&mut self, count: usize) {
        self.indent += 1;
        self.statements(count, true);
        self.indent -= 1;
    }

    fn line(&mut self, text: &str) {
        self.text += &format!("{}    {text}\n", "    ".repeat(self.indent));
    }

    fn variable(&mut self, ty: Ty) -> String {
        format!("{}_{}", ty.name(), self.random.below(2))
    }

    fn expression(&mut self, ty: Ty, depth: usize) -> String {
        if depth == 0 || self.random.below(8) == 0 {
            return match self.random.below(6) {
                0 => self.constant(ty),
                _ => self.variable(ty),
            };
        }
        let text = match ty {
            Ty::Bool => self.condition(depth - 1),
            ty if ty.is_float() => self.float(ty, depth - 1),
            ty => self.integer(ty, depth - 1),
        };
        format!("({text})")
    }

    fn condition(&mut self, depth: usize) -> String {
        if self.random.below(3) == 0 {
            let (a, b) = (self.expression(Ty::Bool, depth), self.expression(Ty::Bool, depth));
            let operator = self.random.of(&["&&", "||", "^", "=="]);
            return format!("{a} {operator} {b}");
        }
        let ty = self.random.of(&TYPES[..8]);
        let (a, b) = (self.expression(ty, depth), self.expression(ty, depth));
        if ty.is_float() && self.random.below(5) == 0 {
            return format!("{a}.{}()", self.random.of(&["is_nan", "is_finite", "is_infinite"]));
        }
        let operator = self.random.of(&["<", "<=", ">", ">=", "==", "!="]);
        format!("{a} {operator} {b}")
    }

    fn integer(&mut self, ty: Ty, depth: usize) -> String {
        let name = ty.name();
        let (a, b) = (self.expression(ty, depth), self.expression(ty, depth));
        match self.random.below(22) {
            0..=2 => format!("{a}.wrapping_add({b})"),
            3 => format!("{a}.wrapping_sub({b})"),
            4 | 5 => format!("{a}.wrapping_mul({b})"),
            6 => format!("{a}.checked_div({b}).unwrap_or({a})"),
            7 => format!("{a}.checked_rem({b}).unwrap_or({b})"),
            8 => format!("{a} {} {b}", self.random.of(&["&", "|", "^"])),
            9 => format!("!{a}"),
            10 => {
                let shift = self.expression(Ty::U32, depth);
                let operation =
                    self.random.of(&["wrapping_shl", "wrapping_shr", "rotate_left", "rotate_right"]);
                format!("{a}.{operation}({shift})")
            }
            11 => format!("{a}.{}({b})", self.random.of(&["min", "max"])),
            12 => format!(
                "{a}.{}({b})",
                self.random.of(&["saturating_add", "saturating_sub", "saturating_mul"])
            ),
            13 => {
                let count = self.random.of(&[
                    "count_ones",
                    "leading_zeros",
                    "trailing_zeros",
                    "count_zeros",
                    "leading_ones",
                ]);
                format!("{a}.{count}() as {name}")
            }
            14 => format!("{a}.{}()", self.random.of(&["reverse_bits", "swap_bytes"])),
            15 => format!("{a}.abs_diff({b}) as {name}"),
            16 if ty.is_signed() => {
                format!("{a}.{}()", self.random.of(&["wrapping_abs", "wrapping_neg", "signum"]))
            }
            16 => format!("{a}.is_power_of_two() as {name}"),
            17 => format!("{a}.overflowing_add({b}).1 as {name}"),
            18 => format!("(({a} as i128).wrapping_mul({b} as i128) >> 7) as {name}"),
            19 => {
                let condition = self.expression(Ty::Bool, depth);
                format!("if {condition} {{ {a} }} else {{ {b} }}")
            }
            _ => {
                let from = self.random.of(&TYPES);
                format!("{} as {name}", self.expression(from, depth))
            }
        }
    }

    fn float(&mut self, ty: Ty, depth: usize) -> String {
        let name = ty.name();
        let (a, b) = (self.expression(ty, depth), self.expression(ty, depth));
        match self.random.below(16) {
            0..=2 => format!("{a} + {b}"),
            3 => format!("{a} - {b}"),
            4 | 5 => format!("{a} * {b}"),
            6 => format!("{a} / {b}"),
            7 => format!("{a} % {b}"),
            8 => format!("{a}.mul_add({b}, {})", self.expression(ty, depth)),
            9 => format!("{a}.abs().sqrt()"),
            10 => format!(
                "{a}.{}()",
                self.random.of(&["floor", "ceil", "trunc", "round", "round_ties_even", "abs", "fract"])
            ),
            // Which of two zeros comes out is open.
            11 => format!("{a}.{}({b}) + 0.0", self.random.of(&["min", "max"])),
            12 => format!("-{a}"),
            13 => {
                let condition = self.expression(Ty::Bool, depth);
                format!("if {condition} {{ {a} }} else {{ {b} }}")
            }
            _ => {
                let from = self.random.of(&TYPES[..8]);
                format!("{} as {name}", self.expression(from, depth))
            }
        }
    }

    fn constant(&mut self, ty: Ty) -> String {
        let bits = self.random.next() >> self.random.below(64);
        match ty {
            Ty::Bool => bits.is_multiple_of(2).to_string(),
            Ty::F32 | Ty::F64 => {
                self.random
                    .of(&["0.0", "1.0", "0.1", "2.5", "3e10", "1e-30", "16777217.0", "0.75"])
                    .to_owned()
                    + "_"
                    + ty.name()
            }
            ty => format!("({bits}_u64 as {})", ty.name()),
        }
    }
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

//! Writes random kernels in safe Rust. They compute the same on every device and however they are compiled: what Rust leaves open
//! does not occur in them, barriers are where all threads come, and of the threads of a launch at most one panics.
//!
//! A program is the same for a seed wherever this crate is built. Programs come in batches, which are one crate each:
//!
//! ```
//! let text = program_generator::batch(7..9);
//! assert!(text.contains("pub mod p0 {") && text.contains("pub mod p1 {"));
//! assert_eq!(text, program_generator::batch(7..9));
//! ```

mod expression;
mod items;
mod program;
mod random;
mod statement;
#[cfg(test)]
mod tests;
mod threads;
mod types;

use std::{collections::BTreeSet, fmt::Write as _, ops::Range};

use program::{BLOCK, Program};
pub use random::Random;
use types::{Scalar, Type};

/// What a program uses of the device, and so which parameters its kernel has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Arithmetic, branches and loops of each thread.
    Scalar,
    /// The same, where one thread may panic.
    Panics,
    /// Slices of several types.
    Slices,
    /// A matrix to read and one to write.
    Matrix,
    /// Atomics that all threads change.
    Atomics,
    /// Groups of lanes.
    Lanes,
    /// Shared memory and barriers.
    Block,
    /// Reductions and scans of the block.
    Collective,
}

/// One in this many programs, in a row, is compiled with contraction.
const KINDS: [Kind; 12] = [
    Kind::Scalar,
    Kind::Block,
    Kind::Slices,
    Kind::Lanes,
    Kind::Panics,
    Kind::Matrix,
    Kind::Scalar,
    Kind::Collective,
    Kind::Block,
    Kind::Atomics,
    Kind::Lanes,
    Kind::Slices,
];

impl Kind {
    /// The kind of a seed's program.
    ///
    /// ```
    /// assert_eq!(program_generator::Kind::of(0), program_generator::Kind::Scalar);
    /// ```
    pub fn of(seed: u64) -> Self {
        KINDS[(seed % KINDS.len() as u64) as usize]
    }

    /// The kernel on the host that runs programs of this kind, by their place in the batch.
    pub fn kernel(self) -> &'static str {
        match self {
            Self::Scalar | Self::Panics | Self::Lanes => "plain",
            Self::Slices => "slices",
            Self::Matrix => "matrix",
            Self::Atomics => "atomics",
            Self::Block => "block",
            Self::Collective => "collective",
        }
    }

    /// The parameters of its kernel behind the number of the program, and what they are called with.
    fn parameters(self) -> (&'static str, &'static str) {
        match self {
            Self::Scalar | Self::Panics | Self::Lanes => {
                ("inputs: &[[u64; 6]], out: PerThread<[u64; 4]>", "inputs, out")
            }
            Self::Slices => (
                "inputs: &[[u64; 6]], words: &[u32], bytes: &[u8], shorts: &[i16], doubles: &[f64], out: PerThread<[u64; 4]>",
                "inputs, words, bytes, shorts, doubles, out",
            ),
            Self::Matrix => {
                ("inputs: &[[u64; 6]], from: View2d<u32>, out: PerThread2d<[u64; 4]>", "inputs, from, out")
            }
            Self::Atomics => (
                "inputs: &[[u64; 6]], sums: &[Atomic<u32>], wide: &[Atomic<u64>], signed: &[Atomic<i32>], out: PerThread<[u64; 4]>",
                "inputs, sums, wide, signed, out",
            ),
            Self::Block => (
                "inputs: &[[u64; 6]], out: PerThread<[u64; 4]>, front: Shared<u32, 64>, back: Shared<u32, 64>, counts: Shared<u32, 8>",
                "inputs, out, front, back, counts",
            ),
            Self::Collective => (
                "inputs: &[[u64; 6]], out: PerThread<[u64; 4]>, scratch: BlockScratch<u32>, wide: BlockScratch<i64>, floats: BlockScratch<f32>",
                "inputs, out, scratch, wide, floats",
            ),
        }
    }
}

/// Whether the kernels of a seed are compiled with a·b+c contracted: then the program has no sums of products.
///
/// ```
/// assert!(!program_generator::contracts(0));
/// ```
pub fn contracts(seed: u64) -> bool {
    seed / CONTRACTION % 8 == 7
}

/// So many programs in a row are compiled alike; batches should not straddle them.
pub const CONTRACTION: u64 = 500;

/// The program of a seed: the items of a module, with a function `run`.
///
/// ```
/// assert!(program_generator::program(3).contains("fn run"));
/// ```
pub fn program(seed: u64) -> String {
    written(seed).text
}

/// The constructs in the program of a seed.
///
/// ```
/// assert!(!program_generator::constructs(3).is_empty());
/// ```
pub fn constructs(seed: u64) -> BTreeSet<&'static str> {
    written(seed).reached
}

fn written(seed: u64) -> Program {
    let kind = Kind::of(seed);
    let mut program = Program::new(seed, kind, contracts(seed));
    program.items();
    // Most are small: what goes wrong is then easy to see, and there can be more of them.
    program.fuel = 14 + program.random.below(28) as i32;
    match kind {
        Kind::Scalar | Kind::Panics | Kind::Slices | Kind::Matrix | Kind::Atomics => program.by_element(),
        Kind::Lanes | Kind::Block | Kind::Collective => program.by_thread(),
    }
    program
}

impl Program {
    /// A function for each element of the output.
    fn by_element(&mut self) {
        let (parameters, arguments) = self.kind.parameters();
        let memory: Vec<_> = parameters
            .split(", ")
            .filter(|parameter| !parameter.starts_with("inputs:") && !parameter.starts_with("out:"))
            .collect();
        let memory = memory.join(", ");
        let names: Vec<_> = arguments.split(", ").filter(|name| !["inputs", "out"].contains(name)).collect();
        let names = names.join(", ");
        let inline = self.random.of(&["", "", "#[inline(always)]", "#[inline(never)]"]);
        if !inline.is_empty() {
            self.line(inline);
        }
        self.line(&format!("fn body(input: &[u64; 6], i: usize, {memory}) -> [u64; 4] {{"));
        self.nested(|program| {
            program.variables();
            program.declare("i", Type::Scalar(Scalar::Usize), false);
            program.early_end = true;
            if program.kind == Kind::Panics {
                program.one_panics();
            } else {
                program.main_statement();
                let count = 3 + program.random.below(5);
                program.statements(count);
            }
            program.early_end = false;
            let outcome = program.outcome();
            program.line(&outcome);
        });
        self.line("}");
        self.line(&format!("pub(crate) fn run({parameters}) {{"));
        match self.kind {
            Kind::Matrix => {
                self.line("    let columns = out.columns();");
                self.line("    for ((row, column), out) in out {");
                self.line("        let i = row * columns + column;");
            }
            _ => self.line("    for (i, out) in out {"),
        }
        self.line(&format!("        *out = body(&inputs[i], i, {names});"));
        self.line("    }");
        self.line("}");
    }

    /// Statements of which those of one element may panic.
    fn one_panics(&mut self) {
        let count = 2 + self.random.below(4);
        self.statements(count);
        // Both launches have an element of this number.
        let element = self.random.below(80);
        self.line(&format!("if i == {element} {{"));
        self.nested(|program| {
            for _ in 0..1 + program.random.below(2) {
                program.panicking();
            }
        });
        self.line("}");
        let count = 1 + self.random.below(3);
        self.statements(count);
    }

    /// The threads of a block, in which there is no early return.
    fn by_thread(&mut self) {
        let parameters = self.kind.parameters().0;
        let parameters: Vec<_> = parameters
            .split(", ")
            .map(|parameter| match parameter.split(':').next() {
                Some("front" | "back" | "counts" | "scratch" | "wide" | "floats") => {
                    format!("mut {parameter}")
                }
                _ => parameter.to_owned(),
            })
            .collect();
        // Arrays of one lifetime can change places.
        let parameters = parameters.join(", ").replace("Shared<", "Shared<'a, ");
        self.line(&format!("pub(crate) fn run<'a>({parameters}) {{"));
        self.nested(|program| {
            program.line("let i = global_rank();");
            program.line("let input = &inputs[i % inputs.len()];");
            program.variables();
            program.declare("i", Type::Scalar(Scalar::Usize), false);
            for (name, at) in [("u0", 0), ("u1", 3)] {
                program.line(&format!("let {name} = inputs[0][{at}] as u32;"));
                program.declare_uniform(name, Scalar::U32, BLOCK);
            }
            program.lanes = BLOCK;
            // What this kind is about is in each of them.
            program.main_statement();
            let mut rest = 1 + program.random.below(4);
            while rest > 0 && program.fuel > 0 {
                program.statement_of_kind();
                program.statements(1);
                rest -= 1;
            }
            if program.kind == Kind::Block && program.random.once_in(16) {
                program.ragged_end();
            }
            program.lanes = 1;
            let outcome = program.outcome();
            program.line(&format!("let outcome = {outcome};"));
            program.line("for (_, out) in out { *out = outcome; }");
        });
        self.line("}");
    }

    /// Variables of several types from the input.
    fn variables(&mut self) {
        for at in 0..4 + self.random.below(3) {
            let ty = match at {
                // Statements of some kinds need these.
                0 => Scalar::U32,
                1 => Scalar::I64,
                _ => Scalar::any(&mut self.random),
            };
            let name = self.fresh("v");
            let value = match ty {
                Scalar::Bool => format!("input[{at}] % 2 == 0"),
                Scalar::F32 if self.random.once_in(2) => format!("f32::from_bits(input[{at}] as u32)"),
                Scalar::F64 if self.random.once_in(2) => format!("f64::from_bits(input[{at}])"),
                Scalar::F32 | Scalar::F64 => format!("input[{at}] as i32 as {} / 8.0", ty.name()),
                _ => format!("input[{at}] as {}", ty.name()),
            };
            self.line(&format!("let mut {name}: {} = {value};", ty.name()));
            self.declare(&name, Type::Scalar(ty), true);
        }
        // These cost nothing of what statements may.
        let fuel = std::mem::replace(&mut self.fuel, 4);
        for _ in 0..self.random.below(3) {
            self.let_aggregate();
        }
        self.fuel = fuel;
    }

    /// What became of all variables, as an array of four words.
    fn outcome(&mut self) -> String {
        let mut words = vec![String::new(); 4];
        let visible = self.scope.clone();
        for (i, variable) in visible.iter().enumerate() {
            let name = &variable.name;
            let bits = match variable.ty {
                Type::Struct => {
                    let fields: Vec<_> =
                        (0..self.record.len()).map(|field| format!("{name}.f{field}.bits()")).collect();
                    format!("({})", fields.join(" ^ "))
                }
                Type::Enum => {
                    let arms: Vec<_> = (0..self.choice.len())
                        .map(|variant| {
                            format!("Choice::C{variant}(x) => {variant} ^ x.bits().rotate_left(5)")
                        })
                        .collect();
                    format!("(match {name} {{ {}, Choice::None => 9 }})", arms.join(", "))
                }
                _ => format!("{name}.bits()"),
            };
            let word = &mut words[i % 4];
            *word = if word.is_empty() { bits } else { format!("({word}).rotate_left(9) ^ {bits}") };
        }
        let words: Vec<_> =
            words.into_iter().map(|word| if word.is_empty() { "0".to_owned() } else { word }).collect();
        format!("[{}]", words.join(", "))
    }
}

/// The source of a batch: a module and an entry for the device per seed, and for the host a kernel per kind that runs any of them.
///
/// ```
/// assert!(program_generator::batch(0..12).contains("pub fn collective("));
/// ```
pub fn batch(seeds: Range<u64>) -> String {
    let mut source = String::new();
    let mut by_kernel = [const { String::new() }; HOST_KERNELS.len()];
    for (number, seed) in seeds.enumerate() {
        let kind = Kind::of(seed);
        let (parameters, arguments) = kind.parameters();
        // Writing to a string does not fail.
        let _ = write!(
            source,
            "/// Seed {seed}.\npub mod p{number} {{\n    use super::*;\n{}    \
             /// The program as a kernel.\n    #[cfg(target_arch = \"nvptx64\")]\n    #[kernel]\n    \
             pub fn k{number}(program: u32, {parameters}) {{\n        run({arguments});\n    }}\n}}\n\n",
            program(seed)
        );
        let of_kernel = HOST_KERNELS.iter().position(|other| other.kernel() == kind.kernel());
        if let Some(list) = of_kernel.and_then(|kernel| by_kernel.get_mut(kernel)) {
            let _ = writeln!(list, "        {number} => p{number}::run({arguments}),");
        }
    }
    for (kind, programs) in HOST_KERNELS.into_iter().zip(by_kernel) {
        let (parameters, _) = kind.parameters();
        let _ = write!(
            source,
            "/// Runs any of the programs with these parameters.\n#[cfg(not(target_arch = \"nvptx64\"))]\n#[kernel]\n\
             pub fn {}(program: u32, {parameters}) {{\n    match program {{\n{programs}        \
             _ => panic!(\"there is no such program\"),\n    }}\n}}\n\n",
            kind.kernel()
        );
    }
    source
}

/// A kind for each kernel on the host.
const HOST_KERNELS: [Kind; 6] =
    [Kind::Scalar, Kind::Slices, Kind::Matrix, Kind::Atomics, Kind::Block, Kind::Collective];

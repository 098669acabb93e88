//! Kernels with `programmatic_launch` in their contract begin by waiting for the grids before them (programmatic dependent launch), in the PTX of architectures that can.
//!
//! The driver then may start such a kernel while the one before it in the stream still runs: its blocks are placed on multiprocessors as these become free, and wait
//! there. What overlaps is the launch, not the work: no instruction of the kernel comes before [`WAIT`], which returns when all memory operations of the grids before
//! it are done and visible (PTX ISA, `griddepcontrol`). So the kernel, and everything that is ordered with its end (events, copies, frees in the order of the
//! stream), also comes after the end of the grids before it. [`TRIGGER`], right behind, lets the next such kernel do the same with this one; before the wait, it would let
//! kernels pile up that wait for each other.
//!
//! It works on the text, after LLVM, so that nothing is moved to the front of it. Loads of memory that nobody writes during a launch (`ld.global.nc`) become plain
//! loads in these kernels, and in functions, which they may call: ptxas may move the former over everything, as their memory is constant to it, but another grid may
//! write it before the wait.
//!
//! Relies on: a body in PTX begins with a brace in the first column and ends with one, and its first instruction comes after its variables.

use std::collections::BTreeSet;

use gpukernel_image::{Arch, Kernel};

/// The first architecture that can.
pub(crate) const FIRST: Arch = Arch::new(9, 0);
const WAIT: &str = "\tgriddepcontrol.wait;\n";
const TRIGGER: &str = "\tgriddepcontrol.launch_dependents;\n";

/// Whether the kernel is to wait where it can. A grid whose blocks wait for each other is placed at once, and not early.
pub(crate) fn wants(kernel: &Kernel) -> bool {
    kernel.contract.programmatic_launch != 0 && !kernel.cooperative
}

/// The architectures whose code of the kernel waits.
pub(crate) fn waiting(kernel: &Kernel, ptx: &[(Arch, String)]) -> BTreeSet<Arch> {
    let archs = ptx.iter().filter(|_| wants(kernel)).filter(|(arch, text)| {
        let begin = body_of(text, &kernel.symbol).map(|(_, instructions)| instructions);
        *arch >= FIRST && begin.is_some_and(|instructions| instructions.starts_with(WAIT))
    });
    archs.map(|(arch, _)| *arch).collect()
}

/// Lets the kernels that `is_waiting` names wait.
pub(super) fn wait(ptx: &str, is_waiting: impl Fn(&str) -> bool) -> String {
    let mut out = String::with_capacity(ptx.len() + 1024);
    for part in ptx.split_inclusive("\n}\n") {
        match symbol_of(part) {
            Some(symbol) if is_waiting(symbol) => match body_of(part, symbol) {
                Some((before, instructions)) => {
                    out.extend([before, WAIT, TRIGGER]);
                    out.push_str(&plain(instructions));
                }
                // Not possible; and then the image says that it does not wait.
                None => out.push_str(part),
            },
            Some(_) => out.push_str(part),
            None => out.push_str(&plain(part)),
        }
    }
    out
}

/// The symbol of the entry in a part of a file that ends with a body.
fn symbol_of(part: &str) -> Option<&str> {
    let (_, name) = part.split_once(".entry ")?;
    name.split(['(', '\n']).next().map(str::trim)
}

/// What comes before the first instruction of an entry, and the rest.
fn body_of<'a>(ptx: &'a str, symbol: &str) -> Option<(&'a str, &'a str)> {
    let heads = [format!(".entry {symbol}("), format!(".entry {symbol}\n")];
    let head = heads.iter().find_map(|head| ptx.find(head))?;
    let body = head + ptx[head..].find("\n{")? + "\n{".len();
    let mut at = body + ptx[body..].find('\n')? + 1;
    for line in ptx[at..].split_inclusive('\n') {
        let text = line.trim_start();
        let is_label = text.split_once(':').is_some_and(|(name, _)| !name.contains(char::is_whitespace));
        let is_instruction = !(text.is_empty() || text.starts_with(['.', '/']) || is_label);
        if is_instruction || text.starts_with('}') {
            return Some(ptx.split_at(at));
        }
        at += line.len();
    }
    None
}

fn plain(instructions: &str) -> String {
    instructions.replace("ld.global.nc.", "ld.global.")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = "\
.version 8.3
.target sm_90
.visible .entry scale(
\t.param .u64 .ptr .align 1 scale_param_0
)
.maxntid 256
{
\t.local .align 8 .b8 \t__local_depot0[8];
\t.reg .b64 \t%SP;
\t.reg .b32 \t%r<3>;
\t.loc\t1 3 0

// %bb.0:
\t.loc\t1 4 0
\tld.param.b64 \t%rd1, [scale_param_0]; // lib.rs:3:4
\tld.global.nc.b32 \t%r1, [%rd1];
\tret;

}
.visible .entry scale_2()
{
$L__BB0_1:
\tld.global.nc.b32 \t%r1, [%rd1];
\tret;
}
.func helper()
{
\tld.global.nc.v2.b32 \t{%r1, %r2}, [%rd1];
\tret;
}
";

    #[test]
    fn the_wait_is_the_first_instruction() {
        let found = wait(PTX, |symbol| symbol == "scale");
        let expected = PTX
            .replacen(
                "\tld.param",
                "\tgriddepcontrol.wait;\n\tgriddepcontrol.launch_dependents;\n\tld.param",
                1,
            )
            .replacen("ld.global.nc.b32", "ld.global.b32", 1)
            .replace("ld.global.nc.v2", "ld.global.v2");
        assert_eq!(found, expected);
        assert_eq!(wait(PTX, |symbol| symbol == "other").replace("ld.global.v2", "ld.global.nc.v2"), PTX);
        let second = wait(PTX, |symbol| symbol == "scale_2");
        assert!(second.contains("$L__BB0_1:\n\tgriddepcontrol.wait;\n"), "{second}");
    }

    #[test]
    fn images_say_whose_code_waits() {
        let kernel = |symbol: &str, programmatic_launch, cooperative| Kernel {
            name: symbol.to_owned(),
            symbol: symbol.to_owned(),
            parameters: Vec::new(),
            signature: Vec::new(),
            contract: gpukernel_abi::Contract { programmatic_launch, ..gpukernel_abi::Contract::NONE },
            cooperative,
            resources: Default::default(),
            waits: BTreeSet::new(),
        };
        let with = wait(PTX, |symbol| symbol == "scale");
        let ptx = [(Arch::new(8, 0), with.clone()), (FIRST, with), (Arch::new(10, 0), PTX.to_owned())];
        assert_eq!(waiting(&kernel("scale", 1, false), &ptx), [FIRST].into());
        assert_eq!(waiting(&kernel("scale", 0, false), &ptx), [].into());
        assert_eq!(waiting(&kernel("scale", 1, true), &ptx), [].into());
        assert_eq!(waiting(&kernel("scale_2", 1, false), &ptx), [].into());
    }
}

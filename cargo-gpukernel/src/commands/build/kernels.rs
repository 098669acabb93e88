//! Tables of what the compiler made of each kernel on each architecture.

use comfy_table::Table;
use gpukernel_build::{ArchFacts, Built, Counted, KernelFacts, Limit, Occupancy};

use crate::table::table;

/// Names are cut to this, so that the table of resources fits into 100 columns.
const NAME: usize = 24;

/// What stands in place of a number that is not known, because there is no machine code.
const UNKNOWN: &str = "?";

/// Registers, memory, panics and occupancy.
pub(super) fn resources(built: &Built) -> Option<String> {
    let titles =
        ["kernel", "arch", "regs", "stack", "spills", "shared", "f64", "panics", "blocks", "warps", "limit"];
    let mut table = table(titles, 1);
    let mut is_block_unknown = false;
    rows(built, &mut table, |kernel, facts| {
        let of_ptxas = |get: fn(&gpukernel_build::Resources) -> u32| {
            facts.resources.as_ref().map_or_else(|| UNKNOWN.to_owned(), |it| get(it).to_string())
        };
        is_block_unknown |= !facts.block_is_known && facts.occupancy.is_some();
        let [blocks, warps, limit] = occupancy(facts);
        vec![
            of_ptxas(|it| it.registers),
            of_ptxas(|it| it.stack_bytes),
            of_ptxas(|it| it.spill_store_bytes + it.spill_load_bytes),
            of_ptxas(|it| it.shared_bytes),
            facts.counts.f64.to_string(),
            kernel.panics.len().to_string(),
            blocks,
            warps,
            limit,
        ]
    });
    if table.is_empty() {
        return None;
    }
    let mut text = format!("{}\n", table.trim_fmt());
    let of_sass =
        |kernel: &KernelFacts| kernel.archs.values().any(|facts| facts.counts.counted == Counted::Sass);
    let counted = if built.facts.iter().any(of_sass) { "machine code" } else { "PTX" };
    text += &format!("stack, spills, shared: bytes; f64: instructions in {counted}\n");
    text += "blocks, warps: resident per multiprocessor\n";
    if is_block_unknown {
        text += "*: for 256 threads per block, because the launch contract names no block\n";
    }
    Some(text)
}

/// Resident blocks, warps in percent, and what keeps them from 100 %.
fn occupancy(facts: &ArchFacts) -> [String; 3] {
    let Some(occupancy) = &facts.occupancy else { return [UNKNOWN, UNKNOWN, ""].map(str::to_owned) };
    let mark = if facts.block_is_known { "" } else { "*" };
    let limit = match limit(occupancy) {
        Some(Limit::SharedMemory) => "shared".to_owned(),
        Some(limit) => limit.to_string(),
        None => String::new(),
    };
    [occupancy.blocks_per_sm.to_string(), format!("{mark}{}%", occupancy.percent()), limit]
}

/// What a kernel could use less of for more resident warps: the first if several limit them alike.
fn limit(occupancy: &Occupancy) -> Option<Limit> {
    occupancy.limited_by.first().copied().filter(|_| occupancy.percent() < 100)
}

/// Instructions for 64-bit numbers.
pub(super) fn instructions(built: &Built) -> Option<String> {
    let mut table = table(["kernel", "arch", "counted in", "f64", "i64"], 3);
    rows(built, &mut table, |_, facts| {
        let counted = match facts.counts.counted {
            Counted::Sass => "SASS",
            Counted::Ptx => "PTX",
        };
        vec![counted.to_owned(), facts.counts.f64.to_string(), facts.counts.i64.to_string()]
    });
    (!table.is_empty()).then(|| format!("{}\n", table.trim_fmt()))
}

/// Adds a row for each kernel and architecture; the kernel's name is in its first one.
fn rows(built: &Built, table: &mut Table, mut cells: impl FnMut(&KernelFacts, &ArchFacts) -> Vec<String>) {
    for kernel in &built.facts {
        let names = std::iter::once(short(path_in_crate(built, &kernel.name)))
            .chain(std::iter::repeat(String::new()));
        for (name, (arch, facts)) in names.zip(&kernel.archs) {
            table.add_row([vec![name, arch.to_string()], cells(kernel, facts)].concat());
        }
    }
}

/// The panics of each kernel, below its name.
pub(super) fn panics(built: &Built) -> String {
    let mut text = String::new();
    for kernel in built.facts.iter().filter(|kernel| !kernel.panics.is_empty()) {
        let lines: Vec<_> = kernel.panics.iter().map(|place| format!("  {place}\n")).collect();
        text += &format!("{} can panic:\n{}", path_in_crate(built, &kernel.name), lines.concat());
    }
    if text.is_empty() { "no kernel can panic\n".to_owned() } else { text }
}

/// A kernel's path without the crate, which stands above it, unless it is one of a crate that this one depends on.
fn path_in_crate<'k>(built: &Built, kernel: &'k str) -> &'k str {
    kernel
        .strip_prefix(built.manifest.crate_name.as_str())
        .and_then(|path| path.strip_prefix("::"))
        .unwrap_or(kernel)
}

/// A path without the modules that there is no room for.
fn short(path: &str) -> String {
    let mut rest = path;
    while rest.chars().count() + usize::from(rest.len() < path.len()) > NAME
        && let Some((_, inner)) = rest.split_once("::")
    {
        rest = inner;
    }
    match rest.chars().count() + usize::from(rest.len() < path.len()) > NAME {
        // A long name, or the arguments of an instance.
        true => format!("{}…", rest.chars().take(NAME - 1).collect::<String>()),
        false if rest.len() < path.len() => format!("…{rest}"),
        false => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_paths_lose_their_modules() {
        assert_eq!(short("draft::rows::softmax"), "draft::rows::softmax");
        assert_eq!(short("draft::grids::lattice_boltzmann"), "…lattice_boltzmann");
        assert_eq!(short("draft::a::lattice_boltzmann"), "…a::lattice_boltzmann");
        assert_eq!(short("convolution_of_a_picture_with_a_filter"), "convolution_of_a_pictur…");
        assert_eq!(short("a::b"), "a::b");
    }
}

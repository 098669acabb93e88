//! Functions marked `#[kernel]` become entries that the driver launches.
//!
//! The macro leaves for each kernel a static in section `.gpukernel.meta`: a pointer to the entry, its launch contract, its
//! signature, which begins with its path. The statics go away here.

use std::collections::{BTreeMap, BTreeSet};

use gpukernel_image::{Contract, Kernel, Parameter};

use super::{LinkError, call_graph::CallGraph};
use crate::llvm::{Linkage, Module, Value};

/// What `gpu_std::sync_grid` calls.
const GRID_BARRIER: &str = "__gpukernel_grid_barrier";

const META_SECTION: &str = ".gpukernel.meta";

/// The contract as `gpu_std::Contract` lays it out, in 32-bit numbers.
const CONTRACT_WORDS: usize = 11;

/// A kernel in the module being linked.
pub(super) struct Entry<'c> {
    /// Its path: `kernels::saxpy`.
    pub(super) name: String,
    /// The name that PTX gets.
    pub(super) symbol: String,
    pub(super) function: Value<'c>,
    pub(super) contract: Contract,
    /// What the runtime compares with the program's kernel of that path.
    signature: Vec<String>,
    /// Whether it reaches the barrier of the grid.
    pub(super) cooperative: bool,
}

impl Entry<'_> {
    /// What the image says about the kernel.
    pub(super) fn describe(self, module: &Module<'_>) -> Kernel {
        let parameters = module.parameter_layouts(self.function).into_iter();
        Kernel {
            parameters: parameters
                .map(|(size_bytes, align_bytes)| Parameter { size_bytes, align_bytes })
                .collect(),
            name: self.name,
            symbol: self.symbol,
            contract: self.contract,
            signature: self.signature,
            cooperative: self.cooperative,
            resources: BTreeMap::new(),
        }
    }
}

/// Finds the kernels, names them, and makes them entries. Sorted by path.
pub(super) fn find_and_mark<'c>(module: &Module<'c>) -> Result<Vec<Entry<'c>>, LinkError> {
    let statics: Vec<_> =
        module.globals().into_iter().filter(|global| global.section() == META_SECTION).collect();
    let mut entries = statics
        .iter()
        .filter(|global| !global.is_declaration())
        .map(|global| read(*global).ok_or_else(|| LinkError::Description { symbol: global.name() }))
        .collect::<Result<Vec<_>, _>>()?;
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    if let Some([twin, _]) = entries.windows(2).find(|pair| pair[0].name == pair[1].name) {
        return Err(LinkError::TwoOfOneName { kernel: twin.name.clone() });
    }

    // They only kept the statics alive that were just read; `#[used]` means nothing on a GPU.
    for name in ["llvm.used", "llvm.compiler.used"] {
        if let Some(list) = module.global(name) {
            list.delete_global();
        }
    }
    for global in statics {
        global.delete_global();
    }

    choose_symbols(&mut entries);
    // Two rounds, so that a symbol that a mangled name happens to equal is free when it is given out.
    for (index, entry) in entries.iter().enumerate() {
        entry.function.set_name(&format!("gpukernel.entry.{index}"));
    }
    for entry in &entries {
        if let Some(other) = module.function(&entry.symbol) {
            other.set_name(&format!("{}.device", entry.symbol));
        }
        entry.function.set_name(&entry.symbol);
        entry.function.clear_section();
        entry.function.set_linkage(Linkage::External);
        entry.function.set_kernel_calling_convention();
        set_contract_attributes(entry);
    }
    Ok(entries)
}

/// Finds the kernels whose blocks wait for each other, before the barrier is inlined: also those that may come to it through foreign code
/// which calls an exported function, or by a pointer.
pub(super) fn find_cooperative<'c>(module: &Module<'c>, entries: &mut [Entry<'c>], exports: &[Value<'c>]) {
    // Most modules have none.
    let Some(barrier) = module.function(GRID_BARRIER) else { return };
    let functions: Vec<_> = entries.iter().map(|entry| entry.function).collect();
    let reached = CallGraph::of(functions.iter().copied(), exports).reached_by(&functions);
    for &index in reached.get(&barrier).into_iter().flatten() {
        entries[index].cooperative = true;
    }
}

/// The static's initialiser is a struct of the pointer, then bytes; padding behind them is undefined.
fn read<'c>(global: Value<'c>) -> Option<Entry<'c>> {
    let mut function = None;
    let mut bytes = Vec::new();
    for part in global.initializer()?.operands() {
        if part.is_function() {
            function = Some(part);
        } else if let Some(data) = part.constant_bytes() {
            bytes.extend(data);
        }
    }
    let (contract, text) = bytes.split_at_checked(CONTRACT_WORDS * 4)?;
    let words = numbers(contract);
    let (name, signature) = signature(text)?;
    let given = |word: u32| (word != 0).then_some(word);
    Some(Entry {
        name,
        symbol: String::new(),
        function: function?,
        contract: Contract {
            block: given(words[0]).map(|x| [x, words[1], words[2]]),
            max_threads: given(words[3]),
            min_blocks_per_sm: given(words[4]),
            max_registers: given(words[5]),
            dims: given(words[6]),
            shared_bytes: given(words[7]),
            cluster: given(words[8]).map(|x| [x, words[9], words[10]]),
        },
        signature,
        cooperative: false,
    })
}

/// The path in the first line of a signature, and the other lines.
pub(super) fn signature(text: &[u8]) -> Option<(String, Vec<String>)> {
    let mut lines = std::str::from_utf8(text).ok()?.trim_end_matches('\0').split('\n').map(str::to_owned);
    Some((lines.next()?, lines.collect()))
}

fn numbers(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
}

/// The bare name where it is the only one of its kind, so that other programs find `saxpy` as `saxpy`; else the whole path.
fn choose_symbols(entries: &mut [Entry<'_>]) {
    let mut uses = BTreeMap::new();
    for entry in entries.iter() {
        *uses.entry(bare_name(&entry.name)).or_insert(0) += 1;
    }
    for entry in entries.iter_mut() {
        let bare = bare_name(&entry.name);
        entry.symbol = match uses.get(&bare) {
            Some(1) => bare,
            _ => legal(&entry.name.replace("::", "__")),
        };
    }
    // Of instances, what tells them apart may not be a letter.
    let mut taken = BTreeSet::new();
    for entry in entries {
        let mut number = 1;
        let symbol = entry.symbol.clone();
        while !taken.insert(entry.symbol.clone()) {
            number += 1;
            entry.symbol = format!("{symbol}_{number}");
        }
    }
}

/// `scale` of `kernels::scale`, `scale_f32_4` of `kernels::scale<f32,4>`.
fn bare_name(path: &str) -> String {
    let (path, arguments) = path.find('<').map_or((path, ""), |at| path.split_at(at));
    let name = path.rsplit("::").next().unwrap_or(path);
    legal(&format!("{}{}", name.strip_prefix("r#").unwrap_or(name), arguments.trim_end_matches('>')))
}

/// With underscores for what names in PTX do not have.
fn legal(name: &str) -> String {
    let mut legal = String::new();
    for character in name.chars() {
        match character {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => legal.push(character),
            _ if legal.ends_with('_') => {}
            _ => legal.push('_'),
        }
    }
    legal
}

/// The contract as LLVM passes it on to ptxas (LLVM's NVPTX usage guide, "Kernel attributes").
fn set_contract_attributes(entry: &Entry<'_>) {
    let Contract { block, max_threads, min_blocks_per_sm, max_registers, dims: _, shared_bytes: _, cluster } =
        &entry.contract;
    let set = |key: &str, value: String| entry.function.add_text_attribute(key, &value);
    if let Some([x, y, z]) = block {
        set("nvvm.reqntid", format!("{x},{y},{z}"));
    } else if let Some(threads) = max_threads {
        set("nvvm.maxntid", threads.to_string());
    }
    if let Some(blocks) = min_blocks_per_sm {
        set("nvvm.minctasm", blocks.to_string());
    }
    if let Some(registers) = max_registers {
        set("nvvm.maxnreg", registers.to_string());
    }
    if let Some([x, y, z]) = cluster {
        set("nvvm.cluster_dim", format!("{x},{y},{z}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_are_legal_in_ptx() {
        assert_eq!(bare_name("kernels::scale"), "scale");
        assert_eq!(bare_name("kernels::r#match_"), "match_");
        assert_eq!(bare_name("kernels::a::scale<f32,4>"), "scale_f32_4");
        assert_eq!(bare_name("kernels::map<crate::Line<[f32;2]>>"), "map_crate_Line_f32_2_");
    }
}

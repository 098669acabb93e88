//! Functions marked `#[kernel]` become entries that the driver launches.
//!
//! The macro leaves for each kernel a description in section [`section::KERNELS`]: a pointer to the entry, the version of gpu-std's ABI, the launch
//! contract, the signature, which begins with the path. The descriptions go away here.

use std::collections::{BTreeMap, BTreeSet};

use gpukernel_abi::{Contract, section};
use gpukernel_image::{Kernel, Parameter};

use super::{
    LinkError,
    call_graph::CallGraph,
    description::{Description, signature},
};
use crate::llvm::{Linkage, Module, Place, Value};

/// What `gpu_std::sync_grid` calls.
const GRID_BARRIER: &str = "__gpukernel_grid_barrier";

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
    /// Where the kernel is declared in the source.
    pub(super) fn declared_at(&self) -> Option<Place> {
        self.function.declared_at()
    }

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
            waits: BTreeSet::new(),
        }
    }
}

/// Finds the kernels, names them, and makes them entries. Sorted by path.
pub(super) fn find_and_mark<'c>(module: &Module<'c>) -> Result<Vec<Entry<'c>>, LinkError> {
    let statics: Vec<_> =
        module.globals().into_iter().filter(|global| global.section() == section::KERNELS).collect();
    let mut entries = statics
        .iter()
        .filter(|global| !global.is_declaration())
        .map(|global| read(*global))
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

fn read<'c>(global: Value<'c>) -> Result<Entry<'c>, LinkError> {
    let Description { of, bytes } = Description::read(global)?;
    let parse = || {
        let (contract, text) = bytes.split_at_checked(size_of::<Contract>())?;
        let mut words = [0; Contract::WORDS];
        for (word, bytes) in words.iter_mut().zip(contract.as_chunks().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        let (name, signature) = signature(text)?;
        Some(Entry {
            name,
            symbol: String::new(),
            function: of.is_function().then_some(of)?,
            contract: Contract::from_words(words),
            signature,
            cooperative: false,
        })
    };
    parse().ok_or_else(|| LinkError::Description { symbol: global.name() })
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
    let Contract { block, max_threads, min_blocks_per_sm, max_registers, cluster, .. } = entry.contract;
    let set = |key: &str, values: &[u32]| {
        if values[0] != 0 {
            let values: Vec<_> = values.iter().map(u32::to_string).collect();
            entry.function.add_text_attribute(key, &values.join(","));
        }
    };
    set("nvvm.reqntid", &block);
    if block[0] == 0 {
        set("nvvm.maxntid", &[max_threads]);
    }
    set("nvvm.minctasm", &[min_blocks_per_sm]);
    set("nvvm.maxnreg", &[max_registers]);
    set("nvvm.cluster_dim", &cluster);
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

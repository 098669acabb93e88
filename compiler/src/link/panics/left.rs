//! Between the optimiser and [`record`](super::record): the panics that are left in kernels, and where they are in the source.

use std::{
    collections::{BTreeSet, HashSet},
    fmt,
};

use gpukernel_abi::rustc::location;
use serde::{Deserialize, Serialize};

use super::{Kinds, PANIC_AT, PANIC_MESSAGE, PanicKind};
use crate::{
    link::{call_graph::CallGraph, entries::Entry, loops::forward_order, natural_loops::NaturalLoop},
    llvm::{Block, Module, Value},
};

/// A panic that the optimiser could not rule out, by the place in the source that a panic would report.
///
/// Ordered by file and line. Several operations of one line and column are one place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PanicPlace {
    /// The file, as rustc was given it; empty if the place is not known, as in builds with [`Panics::Trap`](crate::Panics::Trap).
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    /// Whether it is checked in a loop of the optimised code: there a check costs most.
    pub in_a_loop: bool,
    /// What it is about. Several if operations of these kinds have that line and column; none if that is not known.
    pub kinds: BTreeSet<PanicKind>,
}

impl fmt::Display for PanicPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.file.as_str() {
            "" => f.write_str("at a place that is not known")?,
            file => write!(f, "{file}:{}:{}", self.line, self.column)?,
        }
        for (number, kind) in self.kinds.iter().enumerate() {
            write!(f, "{}{kind}", if number == 0 { ": " } else { " or " })?;
        }
        f.write_str(if self.in_a_loop { " (in a loop)" } else { "" })
    }
}

/// Finds those of each entry, in their order.
pub(in crate::link) fn left<'c>(
    module: &Module<'c>,
    entries: &[Entry<'c>],
    exports: &[Value<'c>],
    kinds: &Kinds,
) -> Vec<BTreeSet<PanicPlace>> {
    let functions: Vec<_> = entries.iter().map(|entry| entry.function).collect();
    let mut left = vec![BTreeSet::new(); entries.len()];
    for (function, kernels) in CallGraph::of(functions.iter().copied(), exports).reached_by(&functions) {
        let places = Places::of(module, function, kinds);
        kernels.iter().for_each(|kernel| left[*kernel].extend(places.iter().cloned()));
    }
    left
}

/// The places of one function.
struct Places<'a, 'c> {
    kinds: &'a Kinds,
    blocks: Vec<Block<'c>>,
    loops: Vec<NaturalLoop<'c>>,
    seen: HashSet<Value<'c>>,
    found: BTreeSet<PanicPlace>,
}

impl<'a, 'c> Places<'a, 'c> {
    fn of(module: &Module<'c>, function: Value<'c>, kinds: &'a Kinds) -> BTreeSet<PanicPlace> {
        // What stands for a panic, and where the place is among its operands.
        let panics = [(PANIC_AT, Some(0)), (PANIC_MESSAGE, Some(2)), ("llvm.trap", None)];
        let panics = panics.map(|(name, place)| (module.function(name), place));
        let mut places = None;
        for call in function.instructions() {
            let Some(called) = call.called() else { continue };
            let Some((_, place)) = panics.iter().find(|(panic, _)| *panic == Some(called)) else { continue };
            let places = places.get_or_insert_with(|| Self {
                kinds,
                blocks: forward_order(function),
                loops: NaturalLoop::all_of(function),
                seen: HashSet::new(),
                found: BTreeSet::new(),
            });
            if let Some(block) = call.block() {
                places.add(place.and_then(|place| call.operands().nth(place)), block);
            }
        }
        places.map(|places| places.found).unwrap_or_default()
    }

    /// Adds what the address of a place may be. Panics that meet in one block choose between theirs.
    fn add(&mut self, place: Option<Value<'c>>, checked_in: Block<'c>) {
        let computed = place.filter(|place| place.block().is_some());
        if computed.is_some_and(|place| !self.seen.insert(place)) {
            return;
        }
        if let Some(choices) = computed.and_then(|place| place.incoming()) {
            choices.into_iter().for_each(|(place, block)| self.add(Some(place), block));
        } else if let Some(choices) = computed.and_then(|place| place.pointers_within()) {
            choices.into_iter().for_each(|(_, place)| self.add(Some(place), checked_in));
        } else {
            let in_a_loop = self.is_in_a_loop(checked_in);
            let place = place.and_then(read).unwrap_or_default();
            let kinds = self.kinds.at(&place);
            let (file, line, column) = place;
            self.found.insert(PanicPlace { file, line, column, in_a_loop, kinds });
        }
    }

    /// Where a panic is checked is where it is branched to from, through blocks that do nothing else, as between loops and what is behind them.
    fn is_in_a_loop(&self, checked_in: Block<'c>) -> bool {
        let mut ways = HashSet::from([checked_in]);
        let leads_there = |block: &Block<'c>, ways: &HashSet<Block<'c>>| {
            !ways.contains(block) && matches!(block.successors()[..], [next] if ways.contains(&next))
        };
        while let Some(block) = self.blocks.iter().find(|block| leads_there(block, &ways)) {
            ways.insert(*block);
        }
        let comes_here = |block: &Block<'c>| {
            ways.contains(block) || block.successors().iter().any(|next| ways.contains(next))
        };
        self.loops.iter().any(|whole| whole.blocks.iter().any(comes_here))
    }
}

/// Reads a `Location`: the address of the file's name, and the rest as bytes.
pub(super) fn read(place: Value<'_>) -> Option<(String, u32, u32)> {
    let parts: Vec<_> = initializer(place)?.operands().collect();
    let [file, rest] = parts[..] else { return None };
    let rest = rest.constant_bytes()?;
    let word =
        |offset: usize| Some(u32::from_le_bytes(*rest.get(offset - location::FILE_BYTES..)?.first_chunk()?));
    let name = initializer(file)?;
    let name = name.constant_bytes().or_else(|| name.operands().next()?.constant_bytes())?;
    let name = name.get(..word(location::FILE_BYTES)? as usize)?;
    Some((String::from_utf8_lossy(name).into_owned(), word(location::LINE)?, word(location::COLUMN)?))
}

/// What a global starts with, which may be meant as one in an address space.
fn initializer(address: Value<'_>) -> Option<Value<'_>> {
    let global = if address.is_cast_from_address_space() { address.operands().next()? } else { address };
    if global.is_global_variable() { global.initializer() } else { None }
}

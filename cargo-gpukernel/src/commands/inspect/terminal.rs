//! The code of a kernel beside its source, as text.

use std::collections::{BTreeMap, BTreeSet};

use gpukernel_build::{Access, AccessCost, AccessKind, CodeLine, Inspection, InstructionCounts, MemorySpace};

use super::View;

/// The width of the column with the source.
const SOURCE: usize = 52;

/// What was found out about the kernel as a whole.
pub(super) fn summary(inspection: &Inspection) -> String {
    let mut text = format!("{} for {}", inspection.kernel, inspection.arch);
    if let Some(declared_at) = &inspection.declared_at {
        text += &format!(" ({declared_at})");
    }
    text += &format!("\n{}\n", inspection.made_by);
    if let Some(needs) = &inspection.resources {
        text += &format!(
            "{} registers, {} B of stack, {} B of spills, {} B of shared memory\n",
            needs.registers,
            needs.stack_bytes,
            needs.spill_store_bytes + needs.spill_load_bytes,
            needs.shared_bytes
        );
    }
    if let Some(occupancy) = &inspection.occupancy {
        let limits: Vec<_> = occupancy.limited_by.iter().map(ToString::to_string).collect();
        let assumed =
            if inspection.block_is_known { "" } else { " (assumed: the launch contract names no block)" };
        text += &format!(
            "{} blocks of {} threads{assumed} on a multiprocessor: {} % of its warps",
            occupancy.blocks_per_sm,
            occupancy.threads_per_block,
            occupancy.percent(),
        );
        if occupancy.percent() < 100 {
            text += &format!(", limited by {}", limits.join(" and "));
        }
        text.push('\n');
    }
    let InstructionCounts { f64, i64, .. } = inspection.counts;
    let instructions = inspection.sass.iter().filter(|line| !line.is_label).count();
    let most = inspection.sass.iter().filter_map(|line| line.live_registers).max();
    text += &format!(
        "{instructions} instructions, {f64} for 64-bit floating-point numbers, {i64} for 64-bit integers"
    );
    text += &most.map_or(String::new(), |most| format!("; at most {most} registers live\n"));
    if !text.ends_with('\n') {
        text.push('\n');
    }
    for place in &inspection.panics {
        text += &format!("can panic: {place}\n");
    }
    for (what, count) in remarks(inspection) {
        text += &format!("{count} × {what}\n");
    }
    text
}

/// Accesses that cost more than they have to, and how many instructions do the same.
fn remarks(inspection: &Inspection) -> BTreeMap<String, usize> {
    let mut remarks = BTreeMap::new();
    for line in &inspection.sass {
        let Some(access) = &line.access else { continue };
        let is_wasteful = access.cost.is_some_and(|cost| cost.is_wasteful());
        if access.space == MemorySpace::Local || is_wasteful {
            let at = line.place.and_then(|place| own_place(inspection, place));
            let at = at
                .map_or(String::new(), |(file, line)| format!(" at {}:{line}", inspection.files[file].path));
            *remarks.entry(format!("{}{at}", describe(access))).or_default() += 1;
        }
    }
    remarks
}

/// An access in words: `load of 8 bytes from global memory, 32 bytes apart: 32 sectors instead of 8`.
fn describe(access: &Access) -> String {
    let space = match access.space {
        MemorySpace::Global => "global",
        MemorySpace::Shared => "shared",
        MemorySpace::Local => "local",
        MemorySpace::Constant => "constant",
        _ => "generic",
    };
    let kind = match access.kind {
        AccessKind::Load => "load",
        AccessKind::Store => "store",
        AccessKind::Atomic => "atomic operation",
        _ => "copy",
    };
    let mut text = format!("{space} {kind} of {} B", access.bytes);
    match access.stride {
        Some(0) => text += ", the same for the warp",
        Some(stride) => text += &format!(", {stride} B apart"),
        None => {}
    }
    match access.cost {
        Some(AccessCost::Sectors { moved, needed }) if moved > needed => {
            text += &format!(": uncoalesced, {moved} sectors instead of {needed}");
        }
        Some(AccessCost::Banks { ways }) if ways > 1 => text += &format!(": {ways}-way bank conflict"),
        Some(AccessCost::Sectors { .. }) if access.stride != Some(0) => text += ": coalesced",
        _ => {}
    }
    text
}

/// The innermost place in the crate of the kernel that code comes from, else the outermost one.
fn own_place(inspection: &Inspection, place: usize) -> Option<(usize, u32)> {
    let chain = inspection.places.get(place)?;
    let own = chain.iter().find(|place| inspection.files.get(place.file).is_some_and(|file| file.is_own));
    own.or(chain.last()).map(|place| (place.file, place.line))
}

/// The code, each line beside the line of source that it comes from.
pub(super) fn listing(inspection: &Inspection, views: &[View]) -> String {
    let mut by_line: BTreeMap<(usize, u32), Vec<String>> = BTreeMap::new();
    let mut unplaced = Vec::new();
    for view in views {
        let (name, lines) = match view {
            View::LlvmIr => ("llvm", &inspection.llvm_ir),
            View::Ptx => ("ptx", &inspection.ptx),
            View::Sass => ("sass", &inspection.sass),
        };
        for line in lines.iter().filter(|line| !line.is_label) {
            let text = format!("{name:<5}{}", code(line));
            match line.place.and_then(|place| own_place(inspection, place)) {
                Some(at) => by_line.entry(at).or_default().push(text),
                None => unplaced.push(text),
            }
        }
    }
    let mut text = String::new();
    let files: BTreeSet<_> = by_line.keys().map(|(file, _)| *file).collect();
    for file in files {
        let source = &inspection.files[file];
        text += &format!("\n{}\n", source.path);
        let lines: Vec<_> = source.text.iter().flat_map(|text| text.lines()).collect();
        for ((_, number), code) in by_line.range((file, 0)..=(file, u32::MAX)) {
            let source = lines.get(number.saturating_sub(1) as usize).map_or("", |line| line.trim_end());
            let mut left = format!("{number:>5} {}", cut(source, SOURCE - 6));
            for line in code {
                text += &format!("{left:<SOURCE$} │ {line}\n");
                left.clear();
            }
        }
    }
    if !unplaced.is_empty() {
        text += "\nwithout a place in the source\n";
        for line in unplaced {
            text += &format!("{:<SOURCE$} │ {line}\n", "");
        }
    }
    text
}

fn cut(text: &str, width: usize) -> String {
    match text.chars().count() > width {
        true => format!("{}…", text.chars().take(width - 1).collect::<String>()),
        false => text.to_owned(),
    }
}

/// An instruction with what is known about it.
fn code(line: &CodeLine) -> String {
    let mut text = String::new();
    if let Some(address) = line.address {
        text += &format!("{address:04x} ");
    }
    text += &line.text;
    let mut remarks = Vec::new();
    if let Some(access) = line.access.as_ref().filter(|access| access.space != MemorySpace::Constant) {
        remarks.push(describe(access));
    }
    if let Some(live) = line.live_registers {
        remarks.push(format!("{live} live"));
    }
    if line.in_a_loop {
        remarks.push("in a loop".to_owned());
    }
    match remarks.is_empty() {
        true => text,
        false => format!("{text}  // {}", remarks.join("; ")),
    }
}

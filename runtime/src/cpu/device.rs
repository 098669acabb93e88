//! What the CPU is, and its memory.

use std::{
    alloc::{self, Layout},
    fs,
    sync::OnceLock,
};

use crate::{Limits, buffer::Fill, memory};

/// The CPU. There is one.
pub(crate) struct CpuDevice {
    name: String,
    limits: Limits,
}

impl CpuDevice {
    pub(crate) fn get() -> &'static Self {
        static DEVICE: OnceLock<CpuDevice> = OnceLock::new();
        DEVICE.get_or_init(|| Self {
            name: model_name().unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
            limits: Limits {
                multiprocessors: u32::try_from(rayon::current_num_threads()).unwrap_or(u32::MAX),
                // What the largest GPUs allow (compute capability 9.0 and 10.0).
                max_shared_bytes_per_block: 227 << 10,
                ..Limits::CUDA
            },
        })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The address of new memory and the layout to give it back with; `None` if there is not enough.
    pub(crate) fn allocate(&self, layout: Layout, fill: Fill) -> Option<(usize, Layout)> {
        let layout = layout.align_to(memory::ALIGN).ok()?;
        let memory = match fill {
            // SAFETY: the caller asks for at least one byte.
            Fill::Zero => unsafe { alloc::alloc_zeroed(layout) },
            // SAFETY: as above.
            Fill::None => unsafe { alloc::alloc(layout) },
        };
        (!memory.is_null()).then(|| (memory.expose_provenance(), layout))
    }

    /// Memory that programs can still have, where the system tells.
    pub(crate) fn free_bytes(&self) -> Option<u64> {
        let meminfo = fs::read_to_string("/proc/meminfo").ok()?;
        let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kibibytes * 1024)
    }
}

/// What Linux calls the processor.
fn model_name() -> Option<String> {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

//! The machine: what it is, its clocks, and whether it runs slower than it can (NVML).

use std::{
    collections::BTreeMap,
    process::Command,
    time::{Duration, Instant},
};

use gpukernel::Device;

use crate::{
    nvml::{self, Gpu},
    report::{Clocks, DeviceFacts},
};

/// The GPU of a device; `None` for the CPU, and where the driver has no library for it.
fn monitored(device: &Device) -> Option<Gpu> {
    Gpu::at(&device.pci_bus_id().ok()??)
}

/// What is known of a device, without its peaks.
pub(crate) fn device_facts(device: &Device) -> DeviceFacts {
    let gpu = monitored(device);
    let clocks = gpu.and_then(|gpu| {
        Some(Clocks { sm_mhz: gpu.sm_mhz()?, max_sm_mhz: gpu.max_sm_mhz()?, memory_mhz: gpu.memory_mhz()? })
    });
    let limits = device.limits();
    DeviceFacts {
        id: device.id(),
        name: device.name().to_owned(),
        arch: device.arch().map(|arch| arch.to_string()),
        multiprocessors: limits.multiprocessors,
        last_level_cache_bytes: limits.last_level_cache_bytes,
        driver: if device.is_gpu() { nvml::driver_version() } else { None },
        clocks,
        power_limit_w: gpu.and_then(Gpu::power_limit_w),
        peaks: None,
    }
}

/// Looks at clocks while something is measured.
pub(crate) struct Monitor {
    gpus: Vec<Watched>,
    last: Option<Instant>,
}

struct Watched {
    id: String,
    gpu: Gpu,
    reasons: u64,
    sm_mhz: Vec<u32>,
}

/// A look takes some ten microseconds, and clocks change slowly.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

impl Monitor {
    pub(crate) fn new(devices: &[Device]) -> Self {
        let watched = |device: &Device| {
            let gpu = monitored(device)?;
            Some(Watched { id: device.id(), gpu, reasons: 0, sm_mhz: Vec::new() })
        };
        Self { gpus: devices.iter().filter_map(watched).collect(), last: None }
    }

    pub(crate) fn look(&mut self) {
        if self.gpus.is_empty() || self.last.is_some_and(|last| last.elapsed() < BETWEEN_LOOKS) {
            return;
        }
        self.last = Some(Instant::now());
        for watched in &mut self.gpus {
            watched.reasons |= watched.gpu.clock_reasons().unwrap_or(0);
            watched.sm_mhz.extend(watched.gpu.sm_mhz());
        }
    }

    /// Why each GPU was slower than it can, and the median of its clock.
    pub(crate) fn into_findings(self) -> (BTreeMap<String, Vec<String>>, BTreeMap<String, u32>) {
        let (mut throttled, mut clocks) = (BTreeMap::new(), BTreeMap::new());
        for mut watched in self.gpus {
            throttled.insert(watched.id.clone(), reasons(watched.reasons));
            watched.sm_mhz.sort_unstable();
            if let Some(middle) = watched.sm_mhz.get(watched.sm_mhz.len() / 2) {
                clocks.insert(watched.id, *middle);
            }
        }
        (throttled, clocks)
    }
}

/// Reasons that make a busy GPU slower, with their bits (`nvmlClocksThrottleReason…`). Idle GPUs and clocks that somebody set have others.
const SLOWER: [(u64, &str); 5] = [
    (0x04, "power limit"),
    (0x08, "slowed down by hardware"),
    (0x20, "temperature"),
    (0x40, "temperature of hardware"),
    (0x80, "power brake"),
];

fn reasons(found: u64) -> Vec<String> {
    SLOWER.iter().filter(|(reason, _)| found & reason != 0).map(|(_, name)| (*name).to_owned()).collect()
}

/// The commit of the current folder: GPUKERNEL_COMMIT, or what git says.
pub(crate) fn commit() -> Option<String> {
    if let Ok(commit) = std::env::var("GPUKERNEL_COMMIT") {
        return Some(commit).filter(|commit| !commit.is_empty());
    }
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    let commit = git(&["rev-parse", "HEAD"])?;
    let is_dirty = !git(&["status", "--porcelain", "--untracked-files=no"])?.is_empty();
    Some(if is_dirty { format!("{commit}-dirty") } else { commit })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_slows_a_busy_gpu_counts() {
        const IDLE: u64 = 0x01;
        const CLOCKS_THAT_SOMEBODY_SET: u64 = 0x02;
        assert_eq!(reasons(IDLE | CLOCKS_THAT_SOMEBODY_SET | 0x04), ["power limit"]);
        assert!(reasons(0).is_empty());
    }

    #[test]
    fn the_cpu_has_facts_without_a_driver() {
        let facts = device_facts(&Device::cpu());
        assert_eq!((&*facts.id, facts.driver, facts.clocks.is_some()), ("cpu", None, false));
        assert!(facts.multiprocessors > 0 && !facts.name.is_empty());
    }
}

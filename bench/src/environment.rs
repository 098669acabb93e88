//! The machine: what it is, its clocks, and whether it runs slower than it can (NVML).

use std::{
    collections::BTreeMap,
    process::Command,
    sync::OnceLock,
    time::{Duration, Instant},
};

use gpukernel::{Arch, Device};
use nvml_wrapper::{Nvml, bitmasks::device::ThrottleReasons, enum_wrappers::device::Clock};

use crate::report::{Clocks, DeviceFacts};

/// The driver's library for monitoring; `None` on a machine without a driver.
fn nvml() -> Option<&'static Nvml> {
    static NVML: OnceLock<Option<Nvml>> = OnceLock::new();
    NVML.get_or_init(|| Nvml::init().ok()).as_ref()
}

fn monitored(device: &Device) -> Option<nvml_wrapper::Device<'static>> {
    let id = device.pci_bus_id().ok()??;
    nvml()?.device_by_pci_bus_id(id).ok()
}

/// What is known of a device, without its peaks.
pub(crate) fn device_facts(device: &Device) -> DeviceFacts {
    let gpu = monitored(device);
    let clocks = gpu.as_ref().and_then(|gpu| {
        Some(Clocks {
            sm_mhz: gpu.clock_info(Clock::SM).ok()?,
            max_sm_mhz: gpu.max_clock_info(Clock::SM).ok()?,
            memory_mhz: gpu.clock_info(Clock::Memory).ok()?,
        })
    });
    let limits = device.limits();
    DeviceFacts {
        id: device.id(),
        name: device.name().to_owned(),
        arch: device.arch().map(|arch| arch.to_string()),
        multiprocessors: limits.multiprocessors,
        last_level_cache_bytes: limits.last_level_cache_bytes,
        driver: nvml().filter(|_| device.is_gpu()).and_then(|nvml| nvml.sys_driver_version().ok()),
        clocks,
        power_limit_w: gpu.and_then(|gpu| gpu.enforced_power_limit().ok()).map(|mw| f64::from(mw) / 1e3),
        peaks: None,
    }
}

/// Warps that a multiprocessor has room for (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
pub(crate) fn warps_per_multiprocessor(arch: Arch) -> Option<u32> {
    match arch.compute_capability() {
        (7, 5) => Some(32),
        (8, 0) | (9..=10, _) => Some(64),
        (8, _) | (12, _) => Some(48),
        _ => None,
    }
}

/// Looks at clocks while something is measured.
pub(crate) struct Monitor {
    gpus: Vec<Watched>,
    last: Option<Instant>,
}

struct Watched {
    id: String,
    gpu: nvml_wrapper::Device<'static>,
    reasons: ThrottleReasons,
    sm_mhz: Vec<u32>,
}

/// A look takes some ten microseconds, and clocks change slowly.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

impl Monitor {
    pub(crate) fn new(devices: &[Device]) -> Self {
        let watched = |device: &Device| {
            let gpu = monitored(device)?;
            Some(Watched { id: device.id(), gpu, reasons: ThrottleReasons::empty(), sm_mhz: Vec::new() })
        };
        Self { gpus: devices.iter().filter_map(watched).collect(), last: None }
    }

    pub(crate) fn look(&mut self) {
        if self.gpus.is_empty() || self.last.is_some_and(|last| last.elapsed() < BETWEEN_LOOKS) {
            return;
        }
        self.last = Some(Instant::now());
        for watched in &mut self.gpus {
            if let Ok(reasons) = watched.gpu.current_throttle_reasons() {
                watched.reasons |= reasons;
            }
            watched.sm_mhz.extend(watched.gpu.clock_info(Clock::SM));
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

/// Those that make a busy GPU slower. Idle GPUs and clocks that somebody set have reasons, too.
fn reasons(found: ThrottleReasons) -> Vec<String> {
    const SLOWER: [(ThrottleReasons, &str); 5] = [
        (ThrottleReasons::SW_POWER_CAP, "power limit"),
        (ThrottleReasons::HW_SLOWDOWN, "slowed down by hardware"),
        (ThrottleReasons::SW_THERMAL_SLOWDOWN, "temperature"),
        (ThrottleReasons::HW_THERMAL_SLOWDOWN, "temperature of hardware"),
        (ThrottleReasons::HW_POWER_BRAKE_SLOWDOWN, "power brake"),
    ];
    SLOWER.iter().filter(|(reason, _)| found.contains(*reason)).map(|(_, name)| (*name).to_owned()).collect()
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
        let found = ThrottleReasons::GPU_IDLE
            | ThrottleReasons::APPLICATIONS_CLOCKS_SETTING
            | ThrottleReasons::SW_POWER_CAP;
        assert_eq!(reasons(found), ["power limit"]);
        assert!(reasons(ThrottleReasons::empty()).is_empty());
    }

    #[test]
    fn the_cpu_has_facts_without_a_driver() {
        let facts = device_facts(&Device::cpu());
        assert_eq!((&*facts.id, facts.driver, facts.clocks.is_some()), ("cpu", None, false));
        assert!(facts.multiprocessors > 0 && !facts.name.is_empty());
    }
}

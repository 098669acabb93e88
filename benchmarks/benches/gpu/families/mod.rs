//! Well-known kernels as a first draft, and tuned, beside plain CUDA C++ with the same algorithms and blocks: see `kernels/src/draft`, `tuned` and
//! `cuda/draft`.

use bytemuck::Zeroable;
use gpu_std::prelude::DeviceCopy;
use gpukernel::{Buffer, Device, ForeignModule, Module};
use gpukernel_bench::{Bench, Measurement, Output, Result};

use super::{KERNELS, TUNED, needs_gpu};

mod boxes;
mod dense;
mod docking;
mod grids;
mod lattices;
mod lookups;
mod particles;
mod rows;
mod scalar;
mod sorting;
mod streams;

const NVCC: &str = "nvcc -O3";
const DRAFT: &str = "draft";
const TUNED_VERSION: &str = "tuned";

/// What a provider may take at most on a GPU, as a ratio to another one's time.
const LIMITS: [(&str, &str, f64); 3] =
    [(DRAFT, NVCC, 1.10), (TUNED_VERSION, NVCC, 1.03), (DRAFT, TUNED_VERSION, 1.05)];

/// A size that fills a GPU, or one with which the CPU device is done soon.
pub(crate) fn size(device: &Device, gpu: usize, cpu: usize) -> usize {
    if device.is_gpu() { gpu } else { cpu }
}

/// An output for each provider of a row: some kernels add to what is there.
fn zeroed<T: DeviceCopy + Zeroable>(bench: &Bench<'_>, len: usize) -> Result<[Buffer<T>; 3]> {
    let zeroed = || bench.device().zeroed(len);
    Ok([zeroed()?, zeroed()?, zeroed()?])
}

/// A row: nvcc's code, the draft and its tuned version, in this order. On the CPU device without nvcc's.
struct Row<'b, 's, O: Output> {
    measurement: Measurement<'b, 's, O::Values>,
    outputs: std::slice::IterMut<'b, O>,
    providers: Vec<&'static str>,
    reason: Option<&'static str>,
}

impl<'b, 's, O: Output> Row<'b, 's, O> {
    fn new(measurement: Measurement<'b, 's, O::Values>, outputs: &'b mut [O; 3]) -> Self {
        let reference = if measurement.device().is_gpu() { NVCC } else { DRAFT };
        Self {
            measurement: measurement.expect_like(reference),
            outputs: outputs.iter_mut(),
            providers: Vec::new(),
            reason: None,
        }
    }

    /// Why the row may be above its limits.
    fn reason(mut self, reason: &'static str) -> Self {
        self.reason = Some(reason);
        self
    }

    fn nvcc(
        self,
        fatbin: &[u8],
        mut launch: impl FnMut(&ForeignModule, &mut O) -> gpukernel::Result<()> + 'b,
    ) -> Result<Self> {
        let device = self.measurement.device();
        if !device.is_gpu() {
            return Ok(self);
        }
        // SAFETY: the kernels stay inside of the memory that their arguments say, whatever is there.
        let measurement = unsafe { self.measurement.replay_unsafe() };
        let row = Self { measurement, ..self };
        // SAFETY: the build script made it with nvcc.
        let module = unsafe { device.load_foreign(fatbin) }?;
        row.add(NVCC, move |output| launch(&module, output))
    }

    fn draft(self, mut launch: impl FnMut(&Module, &mut O) -> gpukernel::Result<()> + 'b) -> Result<Self> {
        let module = self.measurement.device().load(&KERNELS)?;
        self.add(DRAFT, move |output| launch(&module, output))
    }

    fn tuned(self, mut launch: impl FnMut(&Module, &mut O) -> gpukernel::Result<()> + 'b) -> Result<Self> {
        let module = self.measurement.device().load(&TUNED)?;
        self.add(TUNED_VERSION, move |output| launch(&module, output))
    }

    fn add(
        mut self,
        name: &'static str,
        launch: impl FnMut(&mut O) -> gpukernel::Result<()> + 'b,
    ) -> Result<Self> {
        let output = self.outputs.next().ok_or("there is an output for each of three providers")?;
        self.measurement = self.measurement.provider(name, output, launch);
        self.providers.push(name);
        Ok(self)
    }

    fn run(self) -> Result {
        let Self { mut measurement, providers, reason, .. } = self;
        let on_gpu = measurement.device().is_gpu();
        for (provider, to, ratio) in LIMITS {
            if on_gpu && providers.contains(&provider) && providers.contains(&to) {
                measurement = match reason {
                    None => measurement.limit(provider, to, ratio),
                    Some(reason) => measurement.limit_unless(provider, to, ratio, reason),
                };
            }
        }
        measurement.run()
    }
}

//! Memory: what copies of pinned memory, allocations and overlap are worth, beside the driver's own calls.

use std::sync::Arc;

use benchmark_kernels::launches::increment;
use cudarc::driver::sys;
use gpukernel::{
    Buffer, Device, Module, PinnedBuffer, Stream,
    allocator::{CachingAllocator, DeviceAllocator, DirectAllocator, PoolAllocator},
    for_each,
};
use gpukernel_bench::{Bench, Result, bench};

use super::{KERNELS, needs_gpu, raw};

const RAW: &str = "driver";
const GPUKERNEL: &str = "gpukernel";

/// Pinned memory as a result.
struct Pinned(PinnedBuffer<f32>);

impl gpukernel_bench::Output for Pinned {
    type Values = Vec<f32>;

    fn values(&self) -> Result<Vec<f32>> {
        Ok(self.0.to_vec())
    }
}

/// From pinned memory to the device.
#[bench(elements = [1 << 24])]
fn copy_to_device(bench: &mut Bench<'_>, elements: usize) -> Result {
    if needs_gpu(bench) {
        return Ok(());
    }
    let device = bench.device();
    let stream = device.default_stream();
    let mut host = device.pinned::<f32>(elements)?;
    host.fill(1.5);
    let (mut theirs, mut ours) = (device.zeroed::<f32>(elements)?, device.zeroed::<f32>(elements)?);
    let (host, handle) = (&host, raw(&stream)?);
    bench
        .measure()
        .synchronous()
        .bytes(elements * size_of::<f32>())
        .expect(vec![1.5; elements])
        .provider(RAW, &mut theirs, |to| {
            let (to, from) = (to.as_mut_ptr().addr() as u64, host.as_ptr().cast());
            // SAFETY: both have that many bytes, and are there until the copy was waited for.
            unsafe {
                sys::cuMemcpyHtoDAsync_v2(to, from, size_of_val(&**host), handle).result()?;
                sys::cuStreamSynchronize(handle).result()
            }
        })
        .provider(GPUKERNEL, &mut ours, |to| stream.scope(|scope| scope.copy_to_device(host, to)))
        .limit(GPUKERNEL, RAW, 1.03)
        .run()
}

/// From the device to pinned memory.
#[bench(elements = [1 << 24])]
fn copy_to_host(bench: &mut Bench<'_>, elements: usize) -> Result {
    if needs_gpu(bench) {
        return Ok(());
    }
    let device = bench.device();
    let stream = device.default_stream();
    let from = device.filled(elements, 1.5_f32)?;
    let (mut theirs, mut ours) = (Pinned(device.pinned(elements)?), Pinned(device.pinned(elements)?));
    let handle = raw(&stream)?;
    bench
        .measure()
        .synchronous()
        .bytes(elements * size_of::<f32>())
        .expect(vec![1.5; elements])
        .provider(RAW, &mut theirs, |to| {
            let (to, address) = (to.0.as_mut_ptr().cast(), from.as_ptr().addr() as u64);
            // SAFETY: both have that many bytes, and are there until the copy was waited for.
            unsafe {
                sys::cuMemcpyDtoHAsync_v2(to, address, elements * size_of::<f32>(), handle).result()?;
                sys::cuStreamSynchronize(handle).result()
            }
        })
        .provider(GPUKERNEL, &mut ours, |to| stream.scope(|scope| scope.copy_to_host(&from, &mut to.0)))
        .limit(GPUKERNEL, RAW, 1.03)
        .run()
}

/// Allocating and freeing without writing: by `cuMemAlloc`, by each allocator, and as buffers do from the device's pool. The driver gives small pieces from one of
/// two megabytes, which the caching allocator holds here.
#[bench(bytes = [1 << 10, 1 << 24])]
fn allocate_and_free(bench: &mut Bench<'_>, bytes: usize) -> Result {
    if needs_gpu(bench) {
        return Ok(());
    }
    let device = bench.device();
    let stream = &device.default_stream();
    let pool = PoolAllocator::new(&device)?;
    let caching = CachingAllocator::new(Arc::new(DirectAllocator));
    let by = |allocator: &dyn DeviceAllocator| {
        let start = allocator.allocate(stream, bytes)?;
        // SAFETY: it has so many bytes from there, for which there was no work.
        unsafe { allocator.deallocate(stream, start, bytes) };
        Ok::<_, gpukernel::Error>(())
    };
    let nothing = || vec![0_u8];
    let [mut raw, mut direct, mut pooled, mut cached, mut buffer] = [(); 5].map(|()| nothing());
    let cpu = Device::cpu();
    let measurement = bench
        .measure()
        .host_time()
        .expect(nothing())
        .provider_on(&cpu, "cuMemAlloc", &mut raw, |_| {
            let mut address = 0;
            // SAFETY: a context is current, because the device was used by this thread, and the memory is freed once.
            unsafe {
                sys::cuMemAlloc_v2(&mut address, bytes).result()?;
                sys::cuMemFree_v2(address).result()
            }
        })
        .provider_on(&cpu, "DirectAllocator", &mut direct, |_| by(&DirectAllocator))
        .provider_on(&cpu, "PoolAllocator", &mut pooled, |_| by(&pool))
        .provider_on(&cpu, "CachingAllocator", &mut cached, |_| by(&caching))
        .provider_on(&cpu, GPUKERNEL, &mut buffer, |_| device.uninit::<u8>(bytes).map(drop));
    match bytes < 1 << 21 {
        true => measurement.run(),
        false => measurement
            .limit("PoolAllocator", "DirectAllocator", 1.0 / 20.0)
            .limit(GPUKERNEL, "cuMemAlloc", 1.0 / 20.0)
            .run(),
    }
}

/// Memory of the increment.
struct Increment {
    input: PinnedBuffer<f32>,
    output: Pinned,
    chunks: Vec<Buffer<f32>>,
}

const CHUNKS: usize = 16;

impl Increment {
    fn new(device: &Device, elements: usize) -> gpukernel::Result<Self> {
        let chunks =
            (0..CHUNKS).map(|_| device.zeroed(elements / CHUNKS)).collect::<gpukernel::Result<_>>()?;
        Ok(Self { input: device.pinned(elements)?, output: Pinned(device.pinned(elements)?), chunks })
    }

    /// Copies each chunk in, adds one, and copies it out.
    fn run(&mut self, module: &Module, [up, work, down]: [&Stream; 3]) -> gpukernel::Result<()> {
        let Self { input, output, chunks } = self;
        let len = chunks[0].len();
        down.scope(|down| {
            up.scope(|up| {
                for ((chunk, from), to) in
                    chunks.iter_mut().zip(input.chunks(len)).zip(output.0.chunks_mut(len))
                {
                    up.copy_to_device(from, chunk)?;
                    work.launch(module, increment, for_each(len), (chunk,))?;
                    down.copy_to_host(chunk, to)?;
                }
                Ok(())
            })
        })
    }
}

impl gpukernel_bench::Output for Increment {
    type Values = Vec<f32>;

    fn values(&self) -> Result<Vec<f32>> {
        self.output.values()
    }
}

/// 16 Mi numbers are copied to the device, incremented, and copied back: on one stream, and on three. How much shorter that is, is the share that is hidden.
#[bench(elements = [1 << 24])]
fn increment_of_host_memory(bench: &mut Bench<'_>, elements: usize) -> Result {
    if needs_gpu(bench) {
        return Ok(());
    }
    let device = bench.device();
    let module = device.load(&KERNELS)?;
    let [up, work, down] = [device.stream()?, device.stream()?, device.stream()?];
    let (mut in_turn, mut overlapped) =
        (Increment::new(&device, elements)?, Increment::new(&device, elements)?);
    bench
        .measure()
        .elements(elements)
        .bytes(2 * elements * size_of::<f32>())
        .expect(vec![1.0; elements])
        .provider_on(&Device::cpu(), "one stream", &mut in_turn, |memory| memory.run(&module, [&work; 3]))
        .provider_on(&Device::cpu(), "three streams", &mut overlapped, |memory| {
            memory.run(&module, [&up, &work, &down])
        })
        // Of the shorter copies and the kernel, half at least is hidden behind the longer ones.
        .limit("three streams", "one stream", 0.75)
        .run()
}

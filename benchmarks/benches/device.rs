//! Device-wide algorithms of `gpukernel-algorithms` beside those of CUB, in one process: see `cuda/device.cu`. For an H100.
//!
//! Both sides get what they write to. CUB's memory for a while is allocated once; ours is allocated and freed in the order of the stream in each call, as
//! users have it.

use std::{ffi::c_void, io::Write};

use gpu_std::prelude::DeviceCopy;
use gpukernel::{Buffer, Device, RawArg};
use gpukernel_algorithms::{Algorithms, ByKey, Sum};
use gpukernel_bench::{Bench, Compare, Output, Result, bench};
use libloading::Library;

static CUB: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/device.so"));

fn main() -> std::process::ExitCode {
    gpukernel_bench::main()
}

/// The library, which has to be a file to be loaded.
struct Cub {
    library: Library,
    _file: tempfile::NamedTempFile,
}

impl Cub {
    fn load() -> Result<Self> {
        let mut file = tempfile::NamedTempFile::new()?;
        file.write_all(CUB)?;
        // SAFETY: the build script made it with nvcc; it does nothing when it is loaded but register its kernels.
        let library = unsafe { Library::new(file.path())? };
        Ok(Self { library, _file: file })
    }

    /// # Safety
    /// `F` is the type of the function.
    unsafe fn function<F: Copy>(&self, name: &str) -> Result<F> {
        // SAFETY: as the caller promises.
        Ok(unsafe { *self.library.get::<F>(name.as_bytes())? })
    }
}

/// Whether a function of CUB succeeded.
fn ok(code: i32) -> gpukernel::Result<()> {
    match code {
        0 => Ok(()),
        code => panic!("CUB returned the error {code} of CUDA's runtime"),
    }
}

/// Skips a row on another device than a GPU.
fn needs_gpu(bench: &mut Bench<'_>) -> bool {
    let is_cpu = !bench.device().is_gpu();
    if is_cpu {
        bench.skip("it is compared with CUB, which is for GPUs");
    }
    is_cpu
}

/// What is written: of that, the first elements count.
struct Written<T: DeviceCopy>(Buffer<T>, usize);

impl<T: DeviceCopy + Compare> Output for Written<T> {
    type Values = Vec<T>;

    fn values(&self) -> Result<Vec<T>> {
        Ok(self.0[..self.1].to_vec()?)
    }
}

/// Numbers that look random.
fn numbers<T: DeviceCopy + bytemuck::Zeroable>(
    device: &Device,
    len: usize,
    fill: impl FnOnce(&Algorithms, &mut Buffer<T>) -> gpukernel_algorithms::Result<()>,
) -> Result<Buffer<T>> {
    let mut numbers = device.zeroed(len)?;
    fill(&Algorithms::new(device)?, &mut numbers)?;
    Ok(numbers)
}

type Unary<T, U> = unsafe extern "C" fn(*mut c_void, *mut usize, *const T, *mut U, i64, *mut c_void) -> i32;

/// Measures an algorithm from one buffer to another, of so many elements that are written.
fn unary<T, U>(
    bench: &mut Bench<'_>,
    name: &str,
    x: &Buffer<T>,
    written: usize,
    tolerance: f64,
    ours: impl Fn(&Algorithms, &Buffer<T>, &mut Buffer<U>) -> gpukernel_algorithms::Result<()>,
) -> Result
where
    T: DeviceCopy,
    U: DeviceCopy + bytemuck::Zeroable + Compare,
{
    let device = bench.device();
    let (stream, algorithms, cub) = (device.default_stream(), Algorithms::new(&device)?, Cub::load()?);
    // SAFETY: the type of the functions of one input and one output in cuda/device.cu.
    let function: Unary<T, U> = unsafe { cub.function(name)? };
    let mut bytes = 0;
    let null = std::ptr::null_mut::<c_void>;
    // SAFETY: without memory, it says how much it needs.
    ok(unsafe { function(null(), &mut bytes, x.as_ptr(), null().cast(), x.len() as i64, null()) })?;
    let mut memory = device.zeroed::<u8>(bytes)?;
    let mut of_cub = Written(device.zeroed::<U>(written)?, written);
    let mut of_ours = Written(device.zeroed::<U>(written)?, written);
    bench
        .measure()
        .elements(x.len())
        .bytes(x.len() * size_of::<T>() + written * size_of::<U>())
        .expect_like("CUB")
        .tolerance(tolerance)
        .provider("CUB", &mut of_cub, |out| {
            let (to, space) = (out.0.as_mut_ptr(), memory.as_mut_ptr().cast());
            let args = [RawArg::slice(x), RawArg::slice_mut(&mut out.0), RawArg::slice_mut(&mut memory)];
            // SAFETY: the parameters of the function; it queues its work on the stream.
            unsafe {
                let call = |raw| function(space, &mut bytes, x.as_ptr(), to, x.len() as i64, raw);
                stream.queue(&args, call).and_then(ok)
            }
        })
        .provider("gpukernel", &mut of_ours, |out| ours(&algorithms, x, &mut out.0))
        .run()
}

#[bench(elements = [1 << 20, 1 << 24, 1 << 28])]
fn sum_f32(bench: &mut Bench<'_>, elements: usize) -> Result {
    if needs_gpu(bench) {
        return Ok(());
    }
    let x = numbers(&bench.device(), elements, |of, x| of.fill_uniform(1, 0.5_f32..1.5, x))?;
    unary(bench, "sum_f32", &x, 1, 1e-5, |of, x, out| of.reduce_to(x, Sum, 0.0, out))
}

#[bench(elements = [1 << 20, 1 << 24, 1 << 28])]
fn sum_f64(bench: &mut Bench<'_>, elements: usize) -> Result {
    if needs_gpu(bench) {
        return Ok(());
    }
    let x = numbers(&bench.device(), elements, |of, x| of.fill_uniform(1, 0.5_f64..1.5, x))?;
    unary(bench, "sum_f64", &x, 1, 1e-12, |of, x, out| of.reduce_to(x, Sum, 0.0, out))
}

#[bench(elements = [1 << 20, 1 << 24, 1 << 28])]
fn scan_u32(bench: &mut Bench<'_>, elements: usize) -> Result {
    if needs_gpu(bench) {
        return Ok(());
    }
    let x = numbers::<u32>(&bench.device(), elements, |of, x| of.fill_random(1, x))?;
    unary(bench, "scan_u32", &x, elements, 0.0, |of, x, out| of.inclusive_scan(x, Sum, out))
}

#[bench(elements = [1 << 20, 1 << 24, 1 << 28])]
fn scan_f32(bench: &mut Bench<'_>, elements: usize) -> Result {
    if needs_gpu(bench) {
        return Ok(());
    }
    let x = numbers(&bench.device(), elements, |of, x| of.fill_uniform(1, 0.5_f32..1.5, x))?;
    unary(bench, "scan_f32", &x, elements, 1e-4, |of, x, out| of.inclusive_scan(x, Sum, out))
}

#[bench(elements = [1 << 20, 1 << 24, 1 << 28])]
fn scan_f64(bench: &mut Bench<'_>, elements: usize) -> Result {
    if needs_gpu(bench) {
        return Ok(());
    }
    let x = numbers(&bench.device(), elements, |of, x| of.fill_uniform(1, 0.5_f64..1.5, x))?;
    unary(bench, "scan_f64", &x, elements, 1e-10, |of, x, out| of.inclusive_scan(x, Sum, out))
}

#[bench(elements = [1 << 20, 1 << 24, 1 << 28])]
fn sort_u32(bench: &mut Bench<'_>, elements: usize) -> Result {
    if needs_gpu(bench) {
        return Ok(());
    }
    let x = numbers::<u32>(&bench.device(), elements, |of, x| of.fill_random(1, x))?;
    unary(bench, "sort_u32", &x, elements, 0.0, |of, x, out| of.sort_to(x, out))
}

/// Random bytes, a bin for each.
#[bench(elements = [1 << 20, 1 << 24, 1 << 28])]
fn histogram_u8(bench: &mut Bench<'_>, elements: usize) -> Result {
    if needs_gpu(bench) {
        return Ok(());
    }
    // CUB counts up to 256, which is no byte; 255 is in no bin of ours.
    let x = numbers::<u32>(&bench.device(), elements / 4, |of, x| of.fill_random(1, x))?;
    let bytes: Vec<u8> = x.to_vec()?.into_iter().flat_map(u32::to_le_bytes).map(|x| x.min(254)).collect();
    let x = bench.device().upload(&bytes)?;
    unary(bench, "histogram_u8", &x, 255, 0.0, |of, x, out| of.histogram(x, 0_u8..255, out))
}

#[bench(elements = [1 << 20, 1 << 24, 1 << 27])]
fn sort_u64(bench: &mut Bench<'_>, elements: usize) -> Result {
    if needs_gpu(bench) {
        return Ok(());
    }
    let x = numbers::<u64>(&bench.device(), elements, |of, x| of.fill_random(1, x))?;
    unary(bench, "sort_u64", &x, elements, 0.0, |of, x, out| of.sort_to(x, out))
}

type Pairs = unsafe extern "C" fn(
    *mut c_void,
    *mut usize,
    *const u32,
    *mut u32,
    *const u32,
    *mut u32,
    i64,
    *mut c_void,
) -> i32;

#[bench(elements = [1 << 20, 1 << 24, 1 << 28])]
fn sort_pairs_u32(bench: &mut Bench<'_>, elements: usize) -> Result {
    if needs_gpu(bench) {
        return Ok(());
    }
    let device = bench.device();
    let (stream, algorithms, cub) = (device.default_stream(), Algorithms::new(&device)?, Cub::load()?);
    let keys = numbers::<u32>(&device, elements, |of, x| of.fill_random(1, x))?;
    let values = numbers::<u32>(&device, elements, |of, x| of.fill_random(2, x))?;
    // SAFETY: the type of the function in cuda/device.cu.
    let function: Pairs = unsafe { cub.function("sort_pairs_u32")? };
    let (mut bytes, null) = (0, std::ptr::null_mut::<c_void>);
    // SAFETY: without memory, it says how much it needs.
    ok(unsafe {
        function(
            null().cast(),
            &mut bytes,
            keys.as_ptr(),
            null().cast(),
            values.as_ptr(),
            null().cast(),
            elements as i64,
            null().cast(),
        )
    })?;
    let mut memory = device.zeroed::<u8>(bytes)?;
    let (mut their_keys, mut our_keys) = (device.zeroed(elements)?, device.zeroed(elements)?);
    let mut theirs = Written(device.zeroed(elements)?, elements);
    let mut ours = Written(device.zeroed(elements)?, elements);
    bench
        .measure()
        .elements(elements)
        .bytes(16 * elements)
        .expect_like("CUB")
        .provider("CUB", &mut theirs, |out| {
            let (to_keys, to_values) = (their_keys.as_mut_ptr(), out.0.as_mut_ptr());
            let space = memory.as_mut_ptr().cast();
            let args = [
                RawArg::slice(&keys),
                RawArg::slice(&values),
                RawArg::slice_mut(&mut their_keys),
                RawArg::slice_mut(&mut out.0),
                RawArg::slice_mut(&mut memory),
            ];
            let (keys, values) = (keys.as_ptr(), values.as_ptr());
            // SAFETY: the parameters of the function; it queues its work on the stream.
            unsafe {
                let call =
                    |raw| function(space, &mut bytes, keys, to_keys, values, to_values, elements as i64, raw);
                stream.queue(&args, call).and_then(ok)
            }
        })
        .provider("gpukernel", &mut ours, |out| {
            algorithms.sort_pairs_to((&keys, &values), (&mut our_keys, &mut out.0))
        })
        .run()
}

type Select = unsafe extern "C" fn(
    *mut c_void,
    *mut usize,
    *const u32,
    *const u8,
    *mut u32,
    *mut u64,
    i64,
    *mut c_void,
) -> i32;

/// Half of the elements.
#[bench(elements = [1 << 20, 1 << 24, 1 << 28])]
fn select_u32(bench: &mut Bench<'_>, elements: usize) -> Result {
    if needs_gpu(bench) {
        return Ok(());
    }
    let device = bench.device();
    let (stream, algorithms, cub) = (device.default_stream(), Algorithms::new(&device)?, Cub::load()?);
    let x = numbers::<u32>(&device, elements, |of, x| of.fill_random(1, x))?;
    let flags = device.upload(&(0..elements).map(|i| i % 7 % 2 == 0).collect::<Vec<_>>())?;
    let bits = flags.cast::<u8>()?;
    let chosen = (0..elements).filter(|i| i % 7 % 2 == 0).count();
    // SAFETY: the type of the function in cuda/device.cu.
    let function: Select = unsafe { cub.function("select_u32")? };
    let (mut bytes, null) = (0, std::ptr::null_mut::<c_void>);
    // SAFETY: without memory, it says how much it needs.
    ok(unsafe {
        function(
            null().cast(),
            &mut bytes,
            x.as_ptr(),
            bits.as_ptr(),
            null().cast(),
            null().cast(),
            elements as i64,
            null().cast(),
        )
    })?;
    let mut memory = device.zeroed::<u8>(bytes)?;
    let (mut their_count, mut our_count) = (device.zeroed::<u64>(1)?, device.zeroed::<u64>(1)?);
    let mut theirs = Written(device.zeroed(elements)?, chosen);
    let mut ours = Written(device.zeroed(elements)?, chosen);
    bench
        .measure()
        .elements(elements)
        .bytes(5 * elements + 4 * chosen)
        .expect_like("CUB")
        .provider("CUB", &mut theirs, |out| {
            let (to, count) = (out.0.as_mut_ptr(), their_count.as_mut_ptr());
            let space = memory.as_mut_ptr().cast();
            let args = [
                RawArg::slice(&x),
                RawArg::slice(&flags),
                RawArg::slice_mut(&mut out.0),
                RawArg::slice_mut(&mut their_count),
                RawArg::slice_mut(&mut memory),
            ];
            let (x, bits) = (x.as_ptr(), bits.as_ptr());
            // SAFETY: the parameters of the function; it queues its work on the stream.
            unsafe {
                let call = |raw| function(space, &mut bytes, x, bits, to, count, elements as i64, raw);
                stream.queue(&args, call).and_then(ok)
            }
        })
        .provider("gpukernel", &mut ours, |out| algorithms.select_to(&x, &flags, &mut out.0, &mut our_count))
        .run()
}

type Unique =
    unsafe extern "C" fn(*mut c_void, *mut usize, *const u32, *mut u32, *mut u64, i64, *mut c_void) -> i32;

/// Runs of seven elements.
#[bench(elements = [1 << 20, 1 << 24, 1 << 28])]
fn unique_u32(bench: &mut Bench<'_>, elements: usize) -> Result {
    if needs_gpu(bench) {
        return Ok(());
    }
    let device = bench.device();
    let (stream, algorithms, cub) = (device.default_stream(), Algorithms::new(&device)?, Cub::load()?);
    let x = device.upload(&(0..elements as u32).map(|i| i / 7).collect::<Vec<_>>())?;
    let distinct = elements.div_ceil(7);
    // SAFETY: the type of the function in cuda/device.cu.
    let function: Unique = unsafe { cub.function("unique_u32")? };
    let (mut bytes, null) = (0, std::ptr::null_mut::<c_void>);
    // SAFETY: without memory, it says how much it needs.
    ok(unsafe {
        function(
            null().cast(),
            &mut bytes,
            x.as_ptr(),
            null().cast(),
            null().cast(),
            elements as i64,
            null().cast(),
        )
    })?;
    let mut memory = device.zeroed::<u8>(bytes)?;
    let (mut their_count, mut our_count) = (device.zeroed::<u64>(1)?, device.zeroed::<u64>(1)?);
    let mut theirs = Written(device.zeroed(elements)?, distinct);
    let mut ours = Written(device.zeroed(elements)?, distinct);
    bench
        .measure()
        .elements(elements)
        .bytes(4 * (elements + distinct))
        .expect_like("CUB")
        .provider("CUB", &mut theirs, |out| {
            let (to, count) = (out.0.as_mut_ptr(), their_count.as_mut_ptr());
            let space = memory.as_mut_ptr().cast();
            let args = [
                RawArg::slice(&x),
                RawArg::slice_mut(&mut out.0),
                RawArg::slice_mut(&mut their_count),
                RawArg::slice_mut(&mut memory),
            ];
            // SAFETY: the parameters of the function; it queues its work on the stream.
            unsafe {
                let call = |raw| function(space, &mut bytes, x.as_ptr(), to, count, elements as i64, raw);
                stream.queue(&args, call).and_then(ok)
            }
        })
        .provider("gpukernel", &mut ours, |out| algorithms.unique_to(&x, &mut out.0, &mut our_count))
        .run()
}

type Reduce = unsafe extern "C" fn(
    *mut c_void,
    *mut usize,
    *const u32,
    *mut u32,
    *const f32,
    *mut f32,
    *mut u64,
    i64,
    *mut c_void,
) -> i32;

/// Runs of seven keys.
#[bench(elements = [1 << 20, 1 << 24, 1 << 28])]
fn reduce_by_key_u32_f32(bench: &mut Bench<'_>, elements: usize) -> Result {
    if needs_gpu(bench) {
        return Ok(());
    }
    let device = bench.device();
    let (stream, algorithms, cub) = (device.default_stream(), Algorithms::new(&device)?, Cub::load()?);
    let keys = device.upload(&(0..elements as u32).map(|i| i / 7).collect::<Vec<_>>())?;
    let values = numbers::<f32>(&device, elements, |of, x| of.fill_uniform(1, 0.5..1.5, x))?;
    let distinct = elements.div_ceil(7);
    // SAFETY: the type of the function in cuda/device.cu.
    let function: Reduce = unsafe { cub.function("reduce_by_key_u32_f32")? };
    let (mut bytes, null) = (0, std::ptr::null_mut::<c_void>);
    // SAFETY: without memory, it says how much it needs.
    ok(unsafe {
        function(
            null().cast(),
            &mut bytes,
            keys.as_ptr(),
            null().cast(),
            values.as_ptr(),
            null().cast(),
            null().cast(),
            elements as i64,
            null().cast(),
        )
    })?;
    let mut memory = device.zeroed::<u8>(bytes)?;
    let (mut their_count, mut our_count) = (device.zeroed::<u64>(1)?, device.zeroed::<u64>(1)?);
    let (mut their_keys, mut our_keys) = (device.zeroed(elements)?, device.zeroed(elements)?);
    let mut theirs = Written(device.zeroed(elements)?, distinct);
    let mut ours = Written(device.zeroed(elements)?, distinct);
    bench
        .measure()
        .elements(elements)
        .bytes(8 * (elements + distinct))
        .expect_like("CUB")
        .tolerance(1e-6)
        .provider("CUB", &mut theirs, |out| {
            let (to_keys, to, count) =
                (their_keys.as_mut_ptr(), out.0.as_mut_ptr(), their_count.as_mut_ptr());
            let space = memory.as_mut_ptr().cast();
            let args = [
                RawArg::slice(&keys),
                RawArg::slice(&values),
                RawArg::slice_mut(&mut their_keys),
                RawArg::slice_mut(&mut out.0),
                RawArg::slice_mut(&mut their_count),
                RawArg::slice_mut(&mut memory),
            ];
            let (keys, values) = (keys.as_ptr(), values.as_ptr());
            // SAFETY: the parameters of the function; it queues its work on the stream.
            unsafe {
                let call =
                    |raw| function(space, &mut bytes, keys, to_keys, values, to, count, elements as i64, raw);
                stream.queue(&args, call).and_then(ok)
            }
        })
        .provider("gpukernel", &mut ours, |out| {
            let out = ByKey { keys: &mut our_keys, values: &mut out.0 };
            algorithms.reduce_by_key_to(&keys, &values, Sum, out, &mut our_count)
        })
        .run()
}

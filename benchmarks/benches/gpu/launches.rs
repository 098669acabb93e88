//! What launches cost the host, beside the driver's own calls with the same kernel and arguments.

use std::{ffi::c_void, ptr};

use benchmark_kernels::launches::{add_three, advance, advance_early, round};
use cudarc::driver::{
    result::{self, DriverError},
    sys,
};
use gpukernel::{Buffer, Device, Graph, LaunchConfig, Module, Stream, for_each};
use gpukernel_bench::{Bench, Result, bench};

use super::{KERNELS, needs_gpu, raw};

const LEN: usize = 32;
/// Launches of a graph.
const NODES: usize = 32;
/// A block of a warp.
const CONFIG: (u32, u32) = (1, LEN as u32);

const RAW: &str = "cuLaunchKernel";
const RAW_GRAPH: &str = "cuGraphLaunch";
const GPUKERNEL: &str = "gpukernel";

/// The memory of a provider.
struct Four {
    inputs: [Buffer<f32>; 3],
    sum: Buffer<f32>,
}

impl Four {
    fn new(device: &Device) -> gpukernel::Result<Self> {
        let input = |value| device.filled(LEN, value);
        Ok(Self { inputs: [input(1.0)?, input(2.0)?, input(3.0)?], sum: device.zeroed(LEN)? })
    }

    fn launch(&mut self, module: &Module) -> gpukernel::Result<()> {
        let ([a, b, c], sum) = (&self.inputs, &mut self.sum);
        module.launch(add_three, config(), (a, b, c, sum))
    }
}

impl gpukernel_bench::Output for Four {
    type Values = Vec<f32>;

    fn values(&self) -> Result<Vec<f32>> {
        Ok(self.sum.to_vec()?)
    }
}

/// A graph whose memory is that of [`Four`].
struct Adding(Graph<[Buffer<f32>; 4]>);

impl gpukernel_bench::Output for Adding {
    type Values = Vec<f32>;

    fn values(&self) -> Result<Vec<f32>> {
        let [.., sum] = self.0.memory();
        Ok(sum.to_vec()?)
    }
}

fn config() -> LaunchConfig {
    LaunchConfig::new(CONFIG.0 as usize, CONFIG.1 as usize)
}

/// The kernel, as the driver has it.
struct Raw {
    function: sys::CUfunction,
    stream: sys::CUstream,
    /// Slices are passed as pointer and length.
    arguments: [u64; 8],
}

impl Raw {
    fn new(module: &Module, stream: &Stream, memory: &mut Four) -> Result<Self> {
        let handle = module.as_raw().ok_or("it is loaded on a GPU")?;
        // SAFETY: the module is loaded, and its context current: it was just used.
        let function = unsafe { result::module::get_function(handle.cast(), c"add_three".into())? };
        let stream = raw(stream)?;
        let [a, b, c] = memory.inputs.each_ref().map(|input| input.as_ptr().addr() as u64);
        let (sum, len) = (memory.sum.as_mut_ptr().addr() as u64, LEN as u64);
        Ok(Self { function, stream, arguments: [a, len, b, len, c, len, sum, len] })
    }

    /// # Safety
    /// Module, stream and memory are there.
    unsafe fn launch(&self) -> std::result::Result<(), DriverError> {
        let mut parameters =
            self.arguments.each_ref().map(|argument| ptr::from_ref(argument).cast_mut().cast::<c_void>());
        // SAFETY: these are the kernel's parameters, and the caller promises the rest.
        unsafe {
            result::launch_kernel(
                self.function,
                (CONFIG.0, 1, 1),
                (CONFIG.1, 1, 1),
                0,
                self.stream,
                &mut parameters,
            )
        }
    }
}

/// A graph of launches, described by the driver's own calls.
struct RawGraph {
    exec: sys::CUgraphExec,
    stream: sys::CUstream,
}

impl RawGraph {
    /// # Safety
    /// As [`Raw::launch`], as long as this is launched.
    unsafe fn new(launch: &Raw, device: &Device) -> Result<Self> {
        let recorded = device.stream()?;
        let recording = Raw { stream: raw(&recorded)?, ..*launch };
        let (mut graph, mut exec) = (ptr::null_mut(), ptr::null_mut());
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        // SAFETY: the stream is there, the pointers are to live handles, and the caller promises the rest.
        unsafe {
            sys::cuStreamBeginCapture_v2(recording.stream, mode).result()?;
            (0..NODES).try_for_each(|_| recording.launch())?;
            sys::cuStreamEndCapture(recording.stream, &mut graph).result()?;
            sys::cuGraphInstantiateWithFlags(&mut exec, graph, 0).result()?;
            sys::cuGraphDestroy(graph).result()?;
        }
        Ok(Self { exec, stream: launch.stream })
    }

    fn launch(&self) -> std::result::Result<(), DriverError> {
        // SAFETY: the graph is there, and what it uses, as `new` was promised.
        unsafe { sys::cuGraphLaunch(self.exec, self.stream).result() }
    }
}

impl Drop for RawGraph {
    fn drop(&mut self) {
        // SAFETY: the measurement has waited for its launches, and nobody has it any more.
        let _ = unsafe { sys::cuGraphExecDestroy(self.exec) };
    }
}

/// A launch with four buffers.
#[bench]
fn launch_of_four_buffers(bench: &mut Bench<'_>) -> Result {
    if needs_gpu(bench) {
        return Ok(());
    }
    let device = bench.device();
    let module = device.load(&KERNELS)?;
    let (mut theirs, mut ours) = (Four::new(&device)?, Four::new(&device)?);
    let raw = Raw::new(&module, &device.default_stream(), &mut theirs)?;
    bench
        .measure()
        .host_time()
        .expect(vec![6.0; LEN])
        // SAFETY: module and memory are there, and the stream is the device's.
        .provider(RAW, &mut theirs, |_| unsafe { raw.launch() })
        .provider(GPUKERNEL, &mut ours, |ours| ours.launch(&module))
        .limit(GPUKERNEL, RAW, 1.10)
        .run()
}

/// A graph of such launches, and its launches one after another.
#[bench]
fn graph_of_launches(bench: &mut Bench<'_>) -> Result {
    if needs_gpu(bench) {
        return Ok(());
    }
    let device = bench.device();
    let (module, stream) = (device.load(&KERNELS)?, device.default_stream());
    let (mut theirs, mut one_by_one) = (Four::new(&device)?, Four::new(&device)?);
    let raw = Raw::new(&module, &stream, &mut theirs)?;
    // SAFETY: module and memory are there, and the stream is the device's.
    let raw = unsafe { RawGraph::new(&raw, &device)? };
    let Four { inputs: [a, b, c], sum } = Four::new(&device)?;
    let mut graph = Adding(stream.capture([a, b, c, sum], |capture, [a, b, c, sum]| {
        (0..NODES).try_for_each(|_| capture.launch(&module, add_three, config(), (a, b, c, sum)).map(drop))
    })?);
    bench
        .measure()
        .host_time()
        .expect(vec![6.0; LEN])
        .provider(RAW_GRAPH, &mut theirs, |_| raw.launch())
        .provider("gpukernel's graph", &mut graph, |graph| graph.0.launch())
        .provider("launches", &mut one_by_one, |ours| (0..NODES).try_for_each(|_| ours.launch(&module)))
        .limit("gpukernel's graph", RAW_GRAPH, 1.10)
        // Three times as fast as its launches.
        .limit("gpukernel's graph", "launches", 1.0 / 3.0)
        .run()
}

/// Rounds of a loop.
const ROUNDS: u32 = 1000;

/// What a loop adds to, and how many rounds are left of it.
type Counted = (Buffer<f32>, Buffer<u32>);

struct Launched(Counted);

impl gpukernel_bench::Output for Launched {
    type Values = Vec<f32>;

    fn values(&self) -> Result<Vec<f32>> {
        Ok(self.0.0.to_vec()?)
    }
}

struct Looping(Graph<Counted, ()>);

impl gpukernel_bench::Output for Looping {
    type Values = Vec<f32>;

    fn values(&self) -> Result<Vec<f32>> {
        Ok(self.0.memory().0.to_vec()?)
    }
}

/// A short kernel again and again, until a number is zero that the kernel itself counts: by a host that looks at it after each round, by one that knows how often,
/// and in a loop of a graph.
#[bench]
fn rounds_of_a_loop(bench: &mut Bench<'_>) -> Result {
    let device = bench.device();
    let (module, stream) = (device.load(&KERNELS)?, device.default_stream());
    let memory = || Ok::<_, gpukernel::Error>((device.zeroed::<f32>(1)?, device.zeroed::<u32>(1)?));
    let (mut looking, mut counting) = (Launched(memory()?), Launched(memory()?));
    let mut looping = Looping(stream.capture(memory()?, |capture, (x, left)| {
        capture.fill(x, 0.0)?;
        capture.fill(left, ROUNDS)?;
        let is_left = capture.condition(left)?;
        capture.while_nonzero(is_left, |body| body.launch(&module, round, for_each(1), (x, left)))?;
        Ok(())
    })?);
    bench
        .measure()
        .synchronous()
        .elements(ROUNDS as usize)
        .expect(vec![ROUNDS as f32])
        .provider("host that looks", &mut looking, |Launched((x, left))| {
            x.fill(0.0)?;
            left.fill(ROUNDS)?;
            let mut is_left = [1];
            while is_left != [0] {
                stream.launch(&module, round, for_each(1), (&mut *x, &mut *left))?;
                stream.copy_to_host(left, &mut is_left)?;
            }
            Ok::<_, gpukernel::Error>(())
        })
        .provider("host that knows", &mut counting, |Launched((x, left))| {
            x.fill(0.0)?;
            left.fill(ROUNDS)?;
            (0..ROUNDS)
                .try_for_each(|_| stream.launch(&module, round, for_each(1), (&mut *x, &mut *left)))?;
            stream.synchronize()
        })
        .provider("loop of a graph", &mut looping, |graph| {
            graph.0.launch()?;
            stream.synchronize()
        })
        .run()
}

/// Two vectors, of which each launch writes one.
struct Pair(Buffer<f32>, Buffer<f32>);

impl gpukernel_bench::Output for Pair {
    type Values = Vec<f32>;

    fn values(&self) -> Result<Vec<f32>> {
        Ok(self.0.to_vec()?)
    }
}

/// Short kernels one after another, each of which reads what the one before it wrote, on the time line of the device.
#[bench(elements = [1 << 12, 1 << 16, 1 << 20])]
fn chain_of_short_kernels(bench: &mut Bench<'_>, elements: usize) -> Result {
    let device = bench.device();
    let (module, stream) = (device.load(&KERNELS)?, device.default_stream());
    let pair = || Ok::<_, gpukernel::Error>(Pair(device.zeroed(elements)?, device.zeroed(elements)?));
    let (mut late, mut early) = (pair()?, pair()?);
    bench
        .measure()
        .bytes(NODES * 2 * elements * size_of::<f32>())
        .expect(vec![NODES as f32; elements])
        .provider("launches", &mut late, |Pair(x, y)| {
            (0..NODES / 2).try_for_each(|_| {
                stream.launch(&module, advance, for_each(elements), (x, y))?;
                stream.launch(&module, advance, for_each(elements), (y, x))
            })
        })
        .provider("programmatic_launch", &mut early, |Pair(x, y)| {
            (0..NODES / 2).try_for_each(|_| {
                stream.launch(&module, advance_early, for_each(elements), (x, y))?;
                stream.launch(&module, advance_early, for_each(elements), (y, x))
            })
        })
        .run()
}

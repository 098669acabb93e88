//! What every call says once a context is lost, and what becomes of those who await work: against the simulated driver and on GPUs.

use std::{
    future::{Future, IntoFuture},
    pin::{Pin, pin},
    ptr,
    sync::mpsc,
    task::{Context, Poll, Waker},
    thread,
    time::{Duration, Instant},
};

use gpu_std::prelude::*;
use gpukernel::{
    Buffer, Device, DeviceSlice, Error, ForeignModule, GraphPinned, IpcEventHandle, LaunchConfig,
    MemoryAdvice, PinnedOptions, RawArg, Result, Stream, allocator::PoolAllocator, for_each,
};

use crate::{ptx, unpark::waker_of_this_thread};

const LEN: usize = 100;

#[kernel]
fn add(by: u32, y: PerThread<u32>) {
    for (_, y) in y {
        *y += by;
    }
}

/// The arguments of `add` in the PTX.
fn arguments(y: &mut DeviceSlice<u32>) -> [RawArg<'_>; 3] {
    [RawArg::value(1_u32), RawArg::slice_mut(y), RawArg::value(LEN as u64)]
}

pub(crate) fn load(device: &Device) -> Result<ForeignModule> {
    // SAFETY: it is PTX, which the driver compiles and so checks.
    unsafe { device.load_foreign(ptx::KERNELS.as_bytes()) }
}

/// Makes calls, and keeps what became of each.
macro_rules! results {
    ($($call:expr),+ $(,)?) => { vec![$((stringify!($call), $call.map(drop))),+] };
}

/// Makes every call that asks a GPU once `lose` has lost the context: each of them is such an error.
///
/// Without `pci_bus_id` and `can_access_peer`, which ask the driver for no more than what there is: it may still say.
pub(crate) fn every_call_fails(
    device: &Device,
    lose: impl FnOnce(&ForeignModule),
    is_lost: impl Fn(&Error) -> bool,
) -> Result<()> {
    let [stream, other] = [device.stream()?, device.stream()?];
    let module = load(device)?;
    // SAFETY: `add` in the PTX does as the kernel above.
    let image = unsafe { ptx::image_of_add(add, |_| ()) };
    let kernels = device.load(&image)?;
    let (mut x, mut y) = (device.filled(LEN, 1_u32)?, device.zeroed::<u32>(LEN)?);
    let (mut host, mut of_cpu) = (vec![0_u32; LEN], Device::cpu().zeroed::<u32>(LEN)?);
    let [mut managed, mut mapped] =
        [device.managed::<u32>(LEN)?, device.mapped::<u32>(LEN, PinnedOptions::new())?];
    let pinned = || device.pinned::<u32>(LEN);
    let [transferred, to, from, unused] = [pinned()?, pinned()?, pinned()?, pinned()?];
    let exportable = device.exportable::<u32>(LEN)?;
    let (event, exported) = (stream.record()?, stream.record_exportable()?);
    let memory_handle = exportable.ipc_handle()?;
    let event_handle = IpcEventHandle::from_bytes(exported.ipc_handle()?.to_bytes());
    let mut graph = stream.capture(device.zeroed::<u32>(LEN)?, |capture, y| {
        // SAFETY: they are its parameters.
        unsafe { capture.launch_foreign(&module, "add", for_each(LEN), 0, &arguments(y)) }
    })?;
    let for_clone = device.zeroed::<u32>(LEN)?;
    // With memory of the host, which is left to a graph that runs.
    let memory = (device.zeroed::<u32>(LEN)?, GraphPinned::from(pinned()?));
    let mut copies = stream.capture(memory, |capture, (x, mut to)| capture.copy_to_pinned(x, &mut to))?;
    copies.launch()?;
    let transfer = stream.copy_to_pinned(&x, transferred)?;
    let held = other.hold()?;
    held.release();
    // Once, so that the code is known. Then nothing is left to wait for: what has to wait must not say that it has.
    stream.launch(&kernels, add, for_each(LEN), (1, &mut y))?;
    device.synchronize()?;
    assert_eq!((managed.host()?, mapped.host()?), (&[0; LEN][..], &[0; LEN][..]));
    lose(&module);

    let (node, address) = (*graph.nodes(), x.as_mut_ptr());
    let waits_and_asks = results![
        device.synchronize(),
        stream.synchronize(),
        stream.is_done(),
        event.synchronize(),
        event.is_done(),
        event.elapsed_since(&event),
        transfer.is_done(),
        transfer.wait(),
        device.stream_priorities(),
        kernels.attributes(add, 32),
    ];
    let new = results![
        device.stream(),
        device.stream_with_priority(0),
        device.thread_stream(),
        stream.record(),
        stream.hold(),
        device.load(&image),
        load(device),
        device.zeroed::<u8>(1),
        device.uninit::<u8>(1),
        device.upload(&[1_u8]),
        device.pinned::<u8>(1),
        device.managed::<u8>(1),
        device.mapped::<u8>(1, PinnedOptions::new()),
        PoolAllocator::new(device),
        device.trim_memory(0),
        device.pin(&mut host, |_| Ok(())),
    ];
    let work = results![
        stream.wait(&event),
        stream.callback(|| ()),
        stream.copy(&x, &mut y),
        stream.copy_peer(&x, &mut y),
        stream.copy_peer(&x, &mut of_cpu),
        stream.copy_peer(&of_cpu, &mut y),
        stream.fill(&mut y, 1),
        stream.copy_to_host(&x, &mut host),
        stream.copy_to_device(&host, &mut x),
        stream.scope(|scope| scope.copy_to_host(&x, &mut host)),
        stream.copy_to_pinned(&x, to),
        stream.copy_from_pinned(from, &mut x),
        x.to_vec(),
        x.copy_to(&mut host),
        x.copy_from(&host),
        x.copy_from_device(&y),
        x.fill(1),
        x.view_2d(10).and_then(|view| view.to_vec()),
        stream.launch(&kernels, add, for_each(LEN), (1, &mut y)),
        // SAFETY: they are its parameters.
        unsafe { stream.launch_foreign(&module, "add", for_each(LEN), 0, &arguments(&mut y)) },
        // SAFETY: nothing is queued.
        unsafe { stream.queue(&[RawArg::slice(&x)], |_| ()) },
        // SAFETY: it is the null stream.
        unsafe { device.with_foreign_stream(ptr::null_mut(), |null| null.fill(&mut y, 1)) },
        // SAFETY: nothing is queued.
        unsafe { device.with_foreign_stream(ptr::null_mut(), |_| Ok(())) },
    ];
    let shared = results![
        managed.host(),
        managed.host_mut(),
        managed.prefetch(&stream, device),
        managed.advise(&MemoryAdvice::ReadMostly),
        mapped.host(),
        mapped.host_mut(),
        // SAFETY: the buffer is there longer than the owner, which is nobody.
        unsafe { Buffer::from_foreign(&stream, address, LEN, ()) },
        device.exportable::<u8>(1),
        exportable.ipc_handle(),
        stream.record_exportable(),
        exported.ipc_handle(),
        // SAFETY: the buffer is kept.
        unsafe { device.with_ipc_memory::<u32, _>(&memory_handle, |_| Ok(())) },
        // SAFETY: the event is kept.
        unsafe { device.open_event(&event_handle) },
        // SAFETY: the variable is of this type.
        unsafe { module.set_variable("step", 3_u32) },
        // SAFETY: as above.
        unsafe { module.variable::<u32>("step") },
    ];
    let graphs = results![
        stream.capture((), |_, ()| Ok(())),
        stream.capture(&mut y, |capture, y| capture.fill(y, 1)),
        graph.clone_with(for_clone),
        // SAFETY: they are its parameters.
        unsafe {
            graph.update_foreign(node, |update, y| {
                update.launch_foreign(LaunchConfig::new(2, 64), 0, &arguments(y));
            })
        },
        graph.upload(),
        graph.launch(),
        graph.launch_on(&other),
        graph.memory().to_vec(),
        copies.launch(),
        copies.memory().1.read(),
        copies.memory_mut().1.write(),
        copies.into_memory().1.into_buffer(),
    ];
    let mut others: Vec<(&str, Result<()>)> = [waits_and_asks, new, work, shared, graphs].concat();
    others.retain(|(_, result)| !result.as_ref().is_err_and(&is_lost));
    assert!(others.is_empty(), "{others:#?}");

    // What needs no driver: pinned memory that no graph has used, memory without bytes, a hold, which is a word of the host's memory, and what was asked of the
    // GPU when it was opened.
    assert_eq!(*GraphPinned::from(unused).into_buffer()?, [0; LEN]);
    assert!(device.zeroed::<u64>(0)?.to_vec()?.is_empty());
    held.release();
    assert!(device.limits().multiprocessors > 0 && !device.name().is_empty());
    let info = device.memory_info();
    assert!(info.total_bytes > 0 && info.free_bytes == 0 && info.buffers > 0, "{info:?}");
    // And the CPU.
    assert_eq!(of_cpu.to_vec()?, [0; LEN]);
    Device::cpu().upload(&[1]).map(drop)
}

/// What can be awaited on a stream is pending, behind the work of `queue`, when that or `lose` loses the context. Who awaits it is woken, and gets the error;
/// a callback is called.
pub(crate) fn who_awaits_is_woken(
    device: &Device,
    queue: impl FnOnce(&Stream) -> Result<()>,
    lose: impl FnOnce(),
) -> Result<()> {
    let stream = device.stream()?;
    let (x, pinned) = (device.filled(LEN, 1_u32)?, device.pinned::<u32>(LEN)?);
    device.synchronize()?;
    let held = stream.hold()?;
    queue(&stream)?;
    let (sender, called) = mpsc::channel();
    let (of_stream, of_event) = ((&stream).into_future(), stream.record()?.into_future());
    let of_transfer = stream.copy_to_pinned(&x, pinned)?.into_future();
    stream.callback(move || sender.send(()).expect("somebody listens"))?;
    let (mut of_stream, mut of_event, mut of_transfer) = (pin!(of_stream), pin!(of_event), pin!(of_transfer));
    let nobody = &mut Context::from_waker(Waker::noop());
    assert!(of_stream.as_mut().poll(nobody).is_pending());
    assert!(of_event.as_mut().poll(nobody).is_pending());
    assert!(of_transfer.as_mut().poll(nobody).is_pending());
    held.release();
    lose();
    for result in [block_on(of_stream), block_on(of_event), block_on(of_transfer).map(drop)] {
        assert!(matches!(result, Err(Error::ContextLost { .. })), "{result:?}");
    }
    called.recv_timeout(DEADLINE).expect("the callback is called");
    Ok(())
}

/// So that a test fails whose future is not woken.
const DEADLINE: Duration = Duration::from_secs(60);

/// Waits for a future: its thread sleeps until it is woken.
fn block_on<F: Future>(mut future: Pin<&mut F>) -> F::Output {
    let waker = waker_of_this_thread();
    let end = Instant::now() + DEADLINE;
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(ready) => return ready,
            Poll::Pending => {
                let left = end.checked_duration_since(Instant::now()).expect("the future is woken");
                thread::park_timeout(left);
            }
        }
    }
}

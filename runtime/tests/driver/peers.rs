//! Kernels that use memory of another GPU, with the simulated driver, whose GPUs 1 and 2 are not connected.

use std::sync::Arc;

use gpukernel::{
    Buffer, Device, DeviceSlice, Error, ForeignModule, IpcMemoryHandle, LaunchConfig, PinnedOptions, RawArg,
    Result, Stream,
    allocator::{CachingAllocator, DeferredFrees, DeviceAllocator, DirectAllocator, PoolAllocator},
};

use crate::{alive, is_inner, load, simulated, succeeded, waits, with_driver};

/// A launch that reads one buffer and writes another.
fn launch(
    module: &ForeignModule,
    stream: &Stream,
    from: &DeviceSlice<u32>,
    to: &mut DeviceSlice<u32>,
) -> Result<()> {
    let args = [RawArg::slice(from), RawArg::slice_mut(to)];
    // SAFETY: kernels of this driver do nothing.
    unsafe { stream.launch_foreign(module, "stray", LaunchConfig::new(1, 32), 0, &args) }
}

fn refused(result: Result<()>, by: &str) {
    match &result {
        Err(error @ Error::NotAccessible { .. }) => assert!(error.to_string().contains(by), "{error}"),
        _ => panic!("{result:?}"),
    }
}

pub(crate) fn raw(stream: &Stream) -> usize {
    stream.as_raw().expect("it is of a GPU").addr()
}

#[test]
fn kernels_use_memory_of_gpus_that_they_have_access_to() {
    simulated(&[("FAKE_DEVICES", "3")], || {
        let [first, second, third] = [Device::gpu(0)?, Device::gpu(1)?, Device::gpu(2)?];
        let (module, stream) = (load(&first)?, first.stream()?);
        let mut own = first.zeroed::<u32>(10)?;
        let (theirs, far) = (second.stream()?, third.stream()?);
        let mut peer = theirs.zeroed::<u32>(10)?;
        refused(launch(&module, &stream, &peer, &mut own), "enable_peer_access");
        refused(launch(&module, &stream, &own, &mut peer), "copy_peer");
        first.enable_peer_access(&second)?;
        // Of one to the other, not to a third one, and not back.
        launch(&module, &stream, &peer, &mut own)?;
        refused(launch(&load(&second)?, &theirs, &own, &mut peer), "enable_peer_access");
        refused(launch(&module, &stream, &far.zeroed::<u32>(10)?, &mut own), "enable_peer_access");
        refused(launch(&load(&third)?, &far, &far.zeroed::<u32>(10)?, &mut peer), "enable_peer_access");
        // Other work than kernels' says what it said.
        for error in [stream.copy(&peer, &mut own), stream.fill(&mut peer, 1)].map(Result::unwrap_err) {
            assert!(matches!(error, Error::WrongDevice { .. }), "{error}");
        }
        // What a library queues is a kernel as likely as not.
        let args = [RawArg::slice(&peer), RawArg::slice_mut(&mut own)];
        // SAFETY: nothing is queued.
        unsafe { stream.queue(&args, |_| ())? };
        // SAFETY: as above.
        let error = unsafe { far.queue(&args, |_| ()) };
        refused(error, "enable_peer_access");
        // The null stream of the GPU, whose context has to be current also after a wait for another's.
        theirs.fill(&mut peer, 1).unwrap();
        // SAFETY: it is there.
        unsafe {
            first.with_foreign_stream(std::ptr::null_mut(), |null| launch(&module, null, &peer, &mut own))?;
        }
        Ok(())
    });
}

#[test]
fn work_on_memory_of_another_gpu_is_ordered() {
    simulated(&[("FAKE_DEVICES", "3")], || {
        let [first, second] = [Device::gpu(0)?, Device::gpu(1)?];
        first.enable_peer_access(&second)?;
        let (module, here) = (load(&first)?, first.stream()?);
        let (mut own, there) = (here.zeroed::<u32>(10)?, second.stream()?);
        let mut peer = there.zeroed::<u32>(10)?;
        // A read after a write of the other GPU, once.
        launch(&module, &here, &peer, &mut own)?;
        launch(&module, &here, &peer, &mut own)?;
        assert_eq!((waits(raw(&here), raw(&there)), waits(raw(&there), raw(&here))), (1, 0));
        // A write there after this read, and a write here after that.
        there.fill(&mut peer, 1)?;
        assert_eq!(waits(raw(&there), raw(&here)), 1);
        launch(&module, &here, &own, &mut peer)?;
        assert_eq!(waits(raw(&here), raw(&there)), 2);
        // The host waits for the kernel.
        assert_eq!(peer.to_vec()?, [1; 10]);
        let default = raw(&second.default_stream());
        assert_eq!(waits(default, raw(&here)), 1);
        // It is freed on a stream of its own GPU, after the work of the other, also if that stream is gone.
        launch(&module, &here, &own, &mut peer)?;
        drop(peer);
        assert_eq!(waits(default, raw(&here)), 2);
        let [mut a, mut b] = [second.zeroed::<u32>(10)?, second.zeroed::<u32>(10)?];
        let short = first.stream()?;
        launch(&module, &short, &own, &mut a)?;
        launch(&module, &short, &a, &mut b)?;
        drop(short);
        drop((a, b, own, module));
        assert_eq!((alive(), second.memory_info().buffers), (0, 0));
        Ok(())
    });
}

/// Where memory is from decides who has access to it.
#[test]
fn memory_is_accessible_as_its_source_says() {
    simulated(&[("FAKE_DEVICES", "3")], || {
        let [first, second, third] = [Device::gpu(0)?, Device::gpu(1)?, Device::gpu(2)?];
        first.enable_peer_access(&second)?;
        let (module, stream) = (load(&first)?, first.stream()?);
        let mut own = first.zeroed::<u32>(10)?;
        let mut check = |peer: &mut DeviceSlice<u32>| {
            launch(&module, &stream, peer, &mut own).and_then(|()| launch(&module, &stream, &own, peer))
        };
        check(&mut second.managed(10)?)?;
        check(&mut second.mapped(10, PinnedOptions::new())?)?;
        let of = |allocator: Arc<dyn DeviceAllocator>| {
            second.set_allocator(allocator);
            let buffer = second.zeroed::<u32>(10);
            second.reset_allocator();
            buffer
        };
        check(&mut of(Arc::new(DirectAllocator))?)?;
        check(&mut of(Arc::new(CachingAllocator::new(Arc::new(DirectAllocator))))?)?;
        let pool = Arc::new(PoolAllocator::new(&second)?);
        let deferred = Arc::new(DeferredFrees::new(pool.clone()));
        let mut before = of(deferred.clone())?;
        refused(check(&mut before), "PoolAllocator::enable_peer_access");
        for wrong in [&second, &third, &Device::cpu()] {
            let error = pool.enable_peer_access(wrong).unwrap_err();
            assert!(matches!(error, Error::NoPeerAccess { .. }), "{error}");
        }
        refused(check(&mut before), "PoolAllocator::enable_peer_access");
        pool.enable_peer_access(&first)?;
        pool.enable_peer_access(&first)?;
        check(&mut before)?;
        check(&mut of(deferred)?)?;
        let error = PoolAllocator::new(&Device::cpu())?.enable_peer_access(&first).unwrap_err();
        assert!(matches!(error, Error::NoPeerAccess { .. }), "{error}");
        // What others allocated.
        let mut shared = second.exportable::<u32>(10)?;
        refused(check(&mut shared), "another process");
        let handle = IpcMemoryHandle::from_bytes(shared.ipc_handle()?.to_bytes());
        // SAFETY: the buffer is there, and not used meanwhile.
        unsafe {
            second.with_ipc_memory(&handle, |slice| {
                refused(check(slice), "another process");
                Ok(())
            })?;
        }
        drop(before);
        Ok(())
    });
}

#[test]
fn graphs_use_memory_of_another_gpu_in_kernels() {
    simulated(&[("FAKE_DEVICES", "3")], || {
        let [first, second, third] = [Device::gpu(0)?, Device::gpu(1)?, Device::gpu(2)?];
        let (module, here, there) = (load(&first)?, first.stream()?, second.stream()?);
        let record = |from: Result<Buffer<u32>>, to: Result<Buffer<u32>>| {
            here.capture((from?, to?), |capture, (from, to)| {
                let args = [RawArg::slice(from), RawArg::slice_mut(to)];
                // SAFETY: kernels of this driver do nothing.
                unsafe { capture.launch_foreign(&module, "stray", LaunchConfig::new(1, 32), 0, &args) }
            })
        };
        let of = |device: &Device| device.zeroed::<u32>(10);
        refused(record(of(&first), of(&second)).map(drop), "enable_peer_access");
        first.enable_peer_access(&second)?;
        let mut graph = record(of(&first), there.zeroed(10))?;
        // Later launches note nothing: who uses the memory tells the graph, on whatever GPU.
        (0..3).try_for_each(|_| graph.launch())?;
        assert_eq!(waits(raw(&here), raw(&there)), 1);
        there.fill(graph.memory_mut().1, 1)?;
        assert_eq!(waits(raw(&there), raw(&here)), 1);
        graph.launch()?;
        assert_eq!(waits(raw(&here), raw(&there)), 2);
        // SAFETY: as above.
        unsafe {
            graph.update_foreign(*graph.nodes(), |update, (from, to)| {
                let args = [RawArg::slice(to), RawArg::slice_mut(from)];
                update.launch_foreign(LaunchConfig::new(1, 32), 0, &args);
            })?;
        }
        there.fill(graph.memory_mut().1, 1)?;
        assert_eq!(waits(raw(&there), raw(&here)), 2);
        graph.launch()?;
        assert_eq!(waits(raw(&here), raw(&there)), 3);
        // Clones with memory of either, and of a GPU that is not connected.
        for memory in [(of(&second)?, of(&first)?), (of(&second)?, of(&second)?), (of(&first)?, of(&first)?)]
        {
            graph.clone_with(memory)?.launch()?;
        }
        refused(graph.clone_with((of(&third)?, of(&first)?)).map(drop), "enable_peer_access");
        // Copies and fills are of the graph's GPU, also in parts and in clones.
        let copy = here.capture((of(&first)?, of(&second)?), |capture, (from, to)| capture.copy(from, to));
        assert!(matches!(copy, Err(Error::WrongDevice { .. })), "{copy:?}");
        let memory = (first.upload(&[1_u32])?, of(&first)?);
        let parts = here.capture(memory, |capture, (flag, x)| {
            let condition = capture.condition(flag)?;
            capture.if_nonzero(condition, |body| body.fill(x, 1))
        })?;
        let clone = parts.clone_with((first.upload(&[1_u32])?, of(&second)?));
        assert!(matches!(clone, Err(Error::WrongDevice { .. })), "{clone:?}");
        parts.clone_with((second.upload(&[1_u32])?, of(&first)?))?.launch()?;
        // It is dropped before the memory, which is freed after its work.
        let default = raw(&second.default_stream());
        let before = waits(default, raw(&here));
        graph.launch()?;
        drop(graph);
        assert_eq!(waits(default, raw(&here)), before + 1);
        Ok(())
    });
}

/// Access that could not be enabled is none.
#[test]
fn errors_of_enabling_access_are_returned() {
    for fault in ["cuCtxEnablePeerAccess@1=1", "cuMemPoolSetAccess@1=1", "cuDeviceCanAccessPeer@1=1"] {
        if !is_inner() {
            succeeded(&with_driver(&[("FAKE_DEVICES", "2"), ("FAKE_FAULT", fault)]));
            continue;
        }
        let [first, second] = [Device::gpu(0).unwrap(), Device::gpu(1).unwrap()];
        let (module, stream) = (load(&first).unwrap(), first.stream().unwrap());
        let (mut own, peer) = (first.zeroed::<u32>(10).unwrap(), second.zeroed::<u32>(10).unwrap());
        let error = first.enable_peer_access(&second).unwrap_err();
        assert!(matches!(error, Error::Driver { .. }), "{error}");
        refused(launch(&module, &stream, &peer, &mut own), "enable_peer_access");
        first.enable_peer_access(&second).unwrap();
        launch(&module, &stream, &peer, &mut own).unwrap();
        return;
    }
}

/// If its own GPU cannot wait for the other's work, the host does, before memory is freed.
#[test]
fn memory_is_not_freed_before_the_work_of_another_gpu() {
    simulated(&[("FAKE_DEVICES", "2"), ("FAKE_FAULT", "cuEventCreate@2=1")], || {
        let [first, second] = [Device::gpu(0)?, Device::gpu(1)?];
        first.enable_peer_access(&second)?;
        let (module, here) = (load(&first)?, first.stream()?);
        let (own, mut peer) = (here.zeroed::<u32>(10)?, second.zeroed::<u32>(10)?);
        launch(&module, &here, &own, &mut peer)?;
        drop(peer);
        assert_eq!((waits(raw(&second.default_stream()), raw(&here)), waits(0, raw(&here))), (0, 1));
        assert_eq!(second.memory_info().buffers, 0);
        drop((own, module));
        assert_eq!(alive(), 0);
        Ok(())
    });
}

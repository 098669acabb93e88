//! Allocators of buffers, on every device. They are of a device, so one test at a time has them.

use std::{
    collections::BTreeMap,
    ptr::NonNull,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use gpukernel::{
    Device, Error, PinnedOptions, Result, Stream,
    allocator::{CachingAllocator, DeferredFrees, DeviceAllocator, DirectAllocator, PoolAllocator},
};

/// Keeps an allocator for a device as long as this is there.
struct Set<'a> {
    device: &'a Device,
    _alone: MutexGuard<'static, ()>,
}

impl<'a> Set<'a> {
    fn new(device: &'a Device, allocator: Arc<dyn DeviceAllocator>) -> Self {
        static ALONE: Mutex<()> = Mutex::new(());
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let set = Self { device, _alone: alone };
        set.again(allocator);
        set
    }

    /// Keeps another one.
    fn again(&self, allocator: Arc<dyn DeviceAllocator>) {
        self.device.set_allocator(allocator);
    }

    /// Keeps none, and lets no other test set one meanwhile.
    fn none(&self) {
        self.device.reset_allocator();
    }
}

impl Drop for Set<'_> {
    fn drop(&mut self) {
        self.none();
    }
}

fn on_every_device(test: impl Fn(&Device) -> Result<()>) {
    for device in gpukernel::devices().expect("a driver that works") {
        test(&device).unwrap_or_else(|error| panic!("on {device}: {error}"));
    }
}

/// Checks what the runtime asks of an allocator, and what that gives.
#[derive(Debug)]
struct Watched {
    inner: Arc<dyn DeviceAllocator>,
    /// By address: bytes.
    given: Mutex<BTreeMap<usize, usize>>,
    calls: Mutex<[usize; 3]>,
    is_full: AtomicBool,
}

impl Watched {
    fn new(inner: Arc<dyn DeviceAllocator>) -> Arc<Self> {
        let (given, calls) = (Mutex::default(), Mutex::default());
        Arc::new(Self { inner, given, calls, is_full: AtomicBool::new(false) })
    }

    fn given(&self) -> usize {
        self.given.lock().expect("no test panicked").len()
    }

    /// Calls so far: of memory that was given, taken, and of `trim`.
    fn calls(&self) -> [usize; 3] {
        *self.calls.lock().expect("no test panicked")
    }
}

// SAFETY: the memory is that of the inner one.
unsafe impl DeviceAllocator for Watched {
    fn allocate(&self, stream: &Stream, bytes: usize) -> Result<NonNull<u8>> {
        assert_ne!(bytes, 0);
        if self.is_full.load(Ordering::Relaxed) {
            let device = "the test".to_owned();
            return Err(Error::OutOfMemory { device, asked_bytes: bytes as u64, free_bytes: None });
        }
        let start = self.inner.allocate(stream, bytes)?;
        let address = start.as_ptr().addr();
        assert_eq!(address % 256, 0);
        let mut given = self.given.lock().expect("no test panicked");
        let before = given.range(..address + bytes).next_back();
        assert!(before.is_none_or(|(start, len)| start + len <= address), "it is somebody's");
        given.insert(address, bytes);
        self.calls.lock().expect("no test panicked")[0] += 1;
        Ok(start)
    }

    unsafe fn deallocate(&self, stream: &Stream, start: NonNull<u8>, bytes: usize) {
        assert_eq!(self.given.lock().expect("no test panicked").remove(&start.as_ptr().addr()), Some(bytes));
        self.calls.lock().expect("no test panicked")[1] += 1;
        // SAFETY: as the caller promises.
        unsafe { self.inner.deallocate(stream, start, bytes) };
    }

    fn trim(&self, keep_bytes: usize) -> Result<()> {
        self.calls.lock().expect("no test panicked")[2] += 1;
        self.inner.trim(keep_bytes)
    }
}

/// All that this crate has, each on top of those that can be below.
fn all(device: &Device) -> Vec<Arc<dyn DeviceAllocator>> {
    let direct = || -> Arc<dyn DeviceAllocator> { Arc::new(DirectAllocator) };
    let pool = || -> Arc<dyn DeviceAllocator> { Arc::new(PoolAllocator::new(device).expect("a pool")) };
    vec![
        direct(),
        pool(),
        Arc::new(CachingAllocator::new(direct())),
        Arc::new(CachingAllocator::new(pool()).max_kept_bytes(2000)),
        Arc::new(DeferredFrees::new(direct()).max_frees(3)),
        Arc::new(DeferredFrees::new(Arc::new(CachingAllocator::new(direct())))),
    ]
}

/// Buffers on two streams, dropped in another order.
fn work(device: &Device) -> Result<()> {
    let streams = [device.stream()?, device.stream()?];
    let mut kept = Vec::new();
    for round in 0..20_usize {
        let stream = &streams[round % 2];
        let len = 1 + round * 37 % 500;
        let a = stream.filled(len, round as u32)?;
        let mut b = streams[round % 3 % 2].zeroed::<u32>(len)?;
        assert_eq!(b.to_vec()?, vec![0; len]);
        stream.copy(&a, &mut b)?;
        if round % 3 == 0 {
            kept.push((round, a));
        }
        assert_eq!(b.to_vec()?, vec![round as u32; len]);
        if round % 4 == 0 && !kept.is_empty() {
            let (round, a) = kept.remove(kept.len() / 2);
            assert!(a.to_vec()?.iter().all(|element| *element == round as u32));
        }
    }
    Ok(())
}

#[test]
fn buffers_have_memory_of_every_allocator_and_give_it_back() {
    on_every_device(|device| {
        for inner in all(device) {
            let watched = Watched::new(inner);
            let set = Set::new(device, watched.clone());
            work(device)?;
            thread::scope(|scope| {
                let threads = [(); 4].map(|()| scope.spawn(|| work(device)));
                threads.into_iter().try_for_each(|thread| thread.join().expect("it ends"))
            })?;
            drop(set);
            let [given, taken, _] = watched.calls();
            assert_eq!((given, taken, watched.given()), (200, 200, 0), "{watched:?}");
            device.synchronize()?;
        }
        Ok(())
    });
}

#[test]
fn buffers_outlive_the_time_of_their_allocator() {
    on_every_device(|device| {
        let watched = Watched::new(Arc::new(DirectAllocator));
        let set = Set::new(device, watched.clone());
        let before = device.upload(&[1, 2, 3])?;
        set.none();
        assert!(device.allocator().is_none());
        let after = device.upload(&[4, 5])?;
        assert_eq!((before.to_vec()?, after.to_vec()?), (vec![1, 2, 3], vec![4, 5]));
        assert_eq!(watched.calls()[..2], [1, 0]);
        drop((before, after));
        assert_eq!(watched.calls()[..2], [1, 1]);
        // Nothing has no memory.
        set.again(watched.clone());
        device.zeroed::<u64>(0)?;
        assert_eq!(watched.calls()[..2], [1, 1]);
        Ok(())
    });
}

#[test]
fn an_allocator_that_is_full_is_trimmed_and_asked_again() {
    on_every_device(|device| {
        let watched = Watched::new(Arc::new(DirectAllocator));
        let _set = Set::new(device, watched.clone());
        watched.is_full.store(true, Ordering::Relaxed);
        let error = device.zeroed::<u8>(100).unwrap_err();
        assert!(
            matches!(&error, Error::OutOfMemory { device, asked_bytes: 100, .. } if device == "the test"),
            "{error}"
        );
        assert_eq!(watched.calls(), [0, 0, 1]);
        watched.is_full.store(false, Ordering::Relaxed);
        device.zeroed::<u8>(100)?;
        device.trim_memory(0)?;
        assert_eq!(watched.calls(), [1, 1, 2]);
        Ok(())
    });
}

#[test]
fn a_pool_has_a_limit() {
    on_every_device(|device| {
        let pool = Arc::new(PoolAllocator::new(device)?.max_bytes(1000));
        let _set = Set::new(device, pool.clone());
        let first = device.zeroed::<u8>(600)?;
        let error = device.zeroed::<u8>(600).unwrap_err();
        assert!(
            matches!(&error, Error::OutOfMemory { asked_bytes: 600, free_bytes: Some(400), .. }),
            "{error}"
        );
        assert_eq!(pool.used_bytes(), 600);
        drop(first);
        device.zeroed::<u8>(1000)?;
        assert_eq!(pool.used_bytes(), 0);
        Ok(())
    });
}

#[test]
fn a_pool_is_of_one_device() {
    let devices = gpukernel::devices().expect("a driver that works");
    for [here, there] in devices.iter().flat_map(|here| devices.iter().map(move |there| [here, there])) {
        let pool = PoolAllocator::new(here).unwrap();
        let _set = Set::new(there, Arc::new(pool));
        match there.zeroed::<u8>(10) {
            Ok(_) => assert_eq!(here, there),
            Err(error) => assert!(here != there && matches!(error, Error::WrongDevice { .. }), "{error}"),
        }
    }
}

#[test]
fn freed_memory_is_used_again_by_its_stream_and_others() {
    on_every_device(|device| {
        let watched = Watched::new(Arc::new(DirectAllocator));
        let caching = Arc::new(CachingAllocator::new(watched.clone()));
        let _set = Set::new(device, caching.clone());
        let [first, second] = [device.stream()?, device.stream()?];
        for len in [100, 90, 120, 128] {
            assert_eq!(first.filled(len, 7_u32)?.to_vec()?, vec![7; len]);
        }
        assert_eq!((watched.calls()[0], caching.kept_bytes()), (1, 512));
        // The other stream is done with it.
        first.synchronize()?;
        assert_eq!(second.filled(100, 8_u32)?.to_vec()?, [8; 100]);
        assert_eq!(watched.calls()[..2], [1, 0]);
        drop(second.zeroed::<u32>(1000)?);
        assert_eq!(caching.kept_bytes(), 512 + 4096);
        device.trim_memory(600)?;
        assert_eq!((caching.kept_bytes(), watched.given()), (512, 1));
        // What is held back by another stream is waited for, if there is no other.
        let held = first.hold()?;
        drop(first.zeroed::<u32>(10)?);
        watched.is_full.store(true, Ordering::Relaxed);
        let waits = second.zeroed::<u32>(10)?;
        watched.is_full.store(false, Ordering::Relaxed);
        drop(held);
        assert_eq!(waits.to_vec()?, [0; 10]);
        Ok(())
    });
}

#[test]
fn frees_are_deferred_up_to_a_count_or_size_and_held_back() {
    on_every_device(|device| {
        let watched = Watched::new(Arc::new(DirectAllocator));
        let frees = Arc::new(DeferredFrees::new(watched.clone()).max_frees(3).max_bytes(10_000));
        let set = Set::new(device, frees.clone());
        (0..3).try_for_each(|_| device.zeroed::<u8>(10).map(drop))?;
        assert_eq!((frees.pending(), watched.given()), (3, 3));
        device.zeroed::<u8>(10).map(drop)?;
        assert_eq!((frees.pending(), watched.given()), (0, 0));
        device.zeroed::<u8>(10_001).map(drop)?;
        assert_eq!(frees.pending(), 0);
        let (first, second) = (frees.hold(), frees.hold());
        (0..10).try_for_each(|_| device.zeroed::<u8>(10_000).map(drop))?;
        drop(first);
        assert_eq!(frees.pending(), 10);
        // A guard that is leaked holds until memory is short.
        std::mem::forget(second);
        assert_eq!(frees.pending(), 10);
        watched.is_full.store(true, Ordering::Relaxed);
        device.zeroed::<u8>(10).unwrap_err();
        assert_eq!((frees.pending(), watched.given()), (0, 0));
        watched.is_full.store(false, Ordering::Relaxed);
        device.zeroed::<u8>(10).map(drop)?;
        drop((set, frees));
        assert_eq!(watched.given(), 0);
        Ok(())
    });
}

/// Statistics are of elements, whatever an allocator rounds, keeps or defers.
#[test]
fn statistics_are_exact() {
    on_every_device(|device| {
        let allocators = all(device).into_iter().map(Some).chain([None]);
        for allocator in allocators {
            let name = format!("{allocator:?}");
            let set = Set::new(device, Arc::new(DirectAllocator));
            match allocator {
                Some(allocator) => set.again(allocator),
                None => set.none(),
            }
            let check = |buffers, bytes, peak| {
                let info = device.memory_info();
                let found = (info.buffers, info.buffer_bytes, info.peak_buffer_bytes);
                assert_eq!(found, (buffers, bytes, peak), "with {name}");
            };
            device.reset_peak_memory();
            check(0, 0, 0);
            let bytes = device.zeroed::<u8>(1001)?;
            let numbers = device.filled(7, 1_u64)?;
            check(2, 1057, 1057);
            drop(bytes);
            check(1, 56, 1057);
            let pairs = device.upload(&[[1_u16, 2]; 5])?;
            check(2, 76, 1057);
            device.reset_peak_memory();
            check(2, 76, 76);
            drop(numbers);
            let uninit = device.uninit::<f32>(3)?;
            check(2, 32, 76);
            // What fails, or has no bytes, is none.
            device.zeroed::<u64>(usize::MAX / 8).unwrap_err();
            drop(device.zeroed::<u64>(0)?);
            check(2, 32, 76);
            let mapped = device.mapped::<u8>(100, PinnedOptions::new())?;
            check(3, 132, 132);
            // A graph's buffers are buffers.
            let mut graph = device.stream()?.capture(pairs, |capture, pairs| capture.fill(pairs, [3, 4]))?;
            graph.launch()?;
            drop((uninit, mapped));
            check(1, 20, 132);
            assert_eq!(graph.into_memory().to_vec()?, [[3, 4]; 5]);
            check(0, 0, 132);
            device.reset_peak_memory();
            check(0, 0, 0);
        }
        Ok(())
    });
}

/// What is pending is freed by the allocation that needs the room, also if it is held back.
#[test]
fn deferred_frees_make_room_for_an_allocation() {
    on_every_device(|device| {
        for is_held in [false, true] {
            let pool = Arc::new(PoolAllocator::new(device)?.max_bytes(1000));
            let frees = Arc::new(DeferredFrees::new(pool.clone()));
            let watched = Watched::new(frees.clone());
            let _set = Set::new(device, watched.clone());
            let guard = is_held.then(|| frees.hold());
            let small = device.filled(300, 3_u8)?;
            drop(device.zeroed::<u8>(600)?);
            // There is room beside it.
            let other = device.filled(100, 1_u8)?;
            assert_eq!((frees.pending(), pool.used_bytes()), (1, 1000));
            // And now not, which nobody else notices: the runtime need not ask again.
            let large = device.filled(500, 5_u8)?;
            assert_eq!((frees.pending(), pool.used_bytes(), watched.calls()[2]), (0, 900, 0));
            for (buffer, len, value) in [(&small, 300, 3), (&other, 100, 1), (&large, 500, 5)] {
                assert_eq!(buffer.to_vec()?, vec![value; len]);
            }
            // An allocation fails that has not room enough without it.
            drop(other);
            let error = device.zeroed::<u8>(201).unwrap_err();
            assert!(matches!(error, Error::OutOfMemory { free_bytes: Some(200), .. }), "{error}");
            assert_eq!((frees.pending(), pool.used_bytes(), watched.calls()[2]), (0, 800, 1));
            // Guards still hold what comes later: ten are deferred without.
            (0..12).try_for_each(|_| device.zeroed::<u8>(10).map(drop))?;
            assert_eq!(frees.pending(), if is_held { 12 } else { 1 });
            drop(guard);
            assert_eq!(frees.pending(), if is_held { 0 } else { 1 });
        }
        Ok(())
    });
}

//! Several devices: copies between every pair of those that there are, the CPU among them, and kernels of a GPU with memory of another.

use std::sync::Arc;

use gpukernel::{
    Device, DeviceSlice, Error, Module, PinnedOptions, Result,
    allocator::{CachingAllocator, DeviceAllocator, DirectAllocator, PoolAllocator},
    for_each,
};
use gpukernel_device_test_kernels::{
    atomics::draw,
    outputs::{add_index, saxpy},
};
use gpukernel_device_tests::{KERNELS, on_every_device, on_every_device_alone};

const LEN: usize = 100_000;

#[test]
fn memory_goes_from_each_device_to_each() {
    on_every_device(|here, module| {
        for there in gpukernel::devices()? {
            let other_module = there.load(&KERNELS)?;
            if here.can_access_peer(&there)? {
                here.enable_peer_access(&there)?;
                here.enable_peer_access(&there)?;
                there.enable_peer_access(here)?;
            } else {
                let error = here.enable_peer_access(&there);
                assert!(matches!(error, Err(Error::NoPeerAccess { .. })), "{error:?}");
            }
            for stream in [here.stream()?, there.stream()?, here.default_stream()] {
                let (mut a, mut b) = (here.zeroed::<u64>(LEN)?, there.zeroed::<u64>(LEN)?);
                // Kernels on both sides, on other streams than the copies.
                for _ in 0..5 {
                    module.launch(add_index, for_each(LEN), (&mut a,))?;
                    stream.copy_peer(&a, &mut b)?;
                    other_module.launch(add_index, for_each(LEN), (&mut b,))?;
                    stream.copy_peer(&b, &mut a)?;
                }
                assert!(a.to_vec()?.into_iter().eq((0..LEN as u64).map(|i| 10 * (1 + i))), "{here} {there}");
                // A part of it, and memory that is gone while it is copied.
                stream.copy_peer(&here.filled(10, 7_u64)?, &mut b[5..15])?;
                assert_eq!(b[4..16].to_vec()?, [[50].as_slice(), &[7; 10], &[160]].concat());
            }
        }
        Ok(())
    });
}

#[test]
fn copies_between_devices_check_lengths_and_captures() {
    on_every_device(|here, _| {
        for there in gpukernel::devices()? {
            let (a, mut b) = (here.zeroed::<u64>(2)?, there.zeroed::<u64>(3)?);
            let stream = there.stream()?;
            let result = stream.copy_peer(&a, &mut b);
            assert!(matches!(result, Err(Error::LengthMismatch { .. })), "{result:?}");
            let result = stream.capture((), |capture, ()| capture.copy_peer(&a, &mut b[..2]));
            assert!(matches!(result, Err(Error::NotCapturable { .. })), "{result:?}");
        }
        Ok(())
    });
}

/// Runs a test for each pair of GPUs of which the first can use memory of the second, and has access to it.
fn on_every_peer(test: impl Fn(&Device, &Module, &Device) -> Result<()>) {
    on_every_device(|here, module| with_every_peer(here, module, &test));
}

fn with_every_peer(
    here: &Device,
    module: &Module,
    test: impl Fn(&Device, &Module, &Device) -> Result<()>,
) -> Result<()> {
    for there in gpukernel::devices()? {
        if here.can_access_peer(&there)? {
            here.enable_peer_access(&there)?;
            test(here, module, &there)?;
        }
    }
    Ok(())
}

#[test]
fn kernels_read_and_write_memory_of_another_gpu_in_order() {
    on_every_peer(|here, module, there| {
        let (on_here, on_there, other_module) = (here.stream()?, there.stream()?, there.load(&KERNELS)?);
        let ones = there.filled(LEN, 1.0_f32)?;
        let (mut a, mut b) = (here.filled(LEN, 1.0_f32)?, there.filled(LEN, 2.0_f32)?);
        let mut expected = (1.0, 2.0);
        for _ in 0..10 {
            on_here.launch(module, saxpy, for_each(LEN), (1.0, &b, &mut a))?;
            on_here.launch(module, saxpy, for_each(LEN), (1.0, &a, &mut b))?;
            on_there.launch(&other_module, saxpy, for_each(LEN), (1.0, &ones, &mut b))?;
            expected.0 += expected.1;
            expected.1 += expected.0 + 1.0;
        }
        assert_eq!(b.to_vec()?, vec![expected.1; LEN], "{here} {there}");
        assert_eq!(a.to_vec()?, vec![expected.0; LEN], "{here} {there}");
        // A part of it, and other parts by kernels of its own GPU at the same time.
        let (left, right) = b.split_at_mut(LEN / 2);
        on_here.launch(module, saxpy, for_each(LEN / 2), (1.0, &a[..LEN / 2], left))?;
        on_there.launch(&other_module, saxpy, for_each(LEN / 2), (1.0, &ones[..LEN / 2], right))?;
        let b = b.to_vec()?;
        assert_eq!((b[0], b[LEN - 1]), (expected.1 + expected.0, expected.1 + 1.0));
        // Atomics: of one GPU at a time.
        let (mut counter, mut tickets) = (there.zeroed::<u32>(1)?, there.zeroed::<u32>(LEN)?);
        module.launch(draw, for_each(LEN), (&mut counter, &mut tickets))?;
        let mut drawn = tickets.to_vec()?;
        drawn.sort_unstable();
        assert!(drawn.into_iter().eq(0..LEN as u32), "{here} {there}");
        Ok(())
    });
}

#[test]
fn memory_of_another_gpu_is_freed_after_the_kernels_that_use_it() {
    on_every_peer(|here, module, there| {
        let (on_here, on_there) = (here.stream()?, there.stream()?);
        for _ in 0..50 {
            let mut gone = on_there.zeroed::<u64>(LEN)?;
            for _ in 0..5 {
                on_here.launch(module, add_index, for_each(LEN), (&mut gone,))?;
            }
            drop(gone);
            // The same memory, as likely as not: nobody writes it any more.
            assert_eq!(there.zeroed::<u64>(LEN)?.to_vec()?, [0; LEN], "{here} {there}");
        }
        Ok(())
    });
}

/// Alone in the process: while one thread gives a GPU another allocator, others get their memory of it.
#[test]
fn memory_of_every_source_is_used_by_kernels_of_another_gpu() {
    on_every_device_alone(|here, module| {
        with_every_peer(here, module, |here, module, there| {
            let use_it = |memory: &mut DeviceSlice<u64>| {
                memory.fill(5)?;
                module.launch(add_index, for_each(LEN), (&mut *memory,))?;
                let expected = (0..LEN as u64).map(|i| 6 + i);
                memory.to_vec().map(|found| assert!(found.into_iter().eq(expected), "{here} {there}"))
            };
            use_it(&mut there.managed(LEN)?)?;
            use_it(&mut there.mapped(LEN, PinnedOptions::new())?)?;
            let of = |allocator: Arc<dyn DeviceAllocator>| {
                there.set_allocator(allocator);
                let buffer = there.zeroed::<u64>(LEN);
                there.reset_allocator();
                buffer
            };
            use_it(&mut of(Arc::new(CachingAllocator::new(Arc::new(DirectAllocator))))?)?;
            let pool = Arc::new(PoolAllocator::new(there)?);
            let mut buffer = of(pool.clone())?;
            let refused = use_it(&mut buffer);
            assert!(matches!(refused, Err(Error::NotAccessible { .. })), "{refused:?}");
            pool.enable_peer_access(here)?;
            // Also what was allocated before.
            use_it(&mut buffer)?;
            use_it(&mut of(pool)?)
        })
    });
}

#[test]
fn graphs_use_memory_of_another_gpu() {
    on_every_peer(|here, module, there| {
        let memory =
            |value: f32| -> Result<_> { Ok((here.filled(LEN, value)?, there.filled(LEN, 2.0_f32)?)) };
        let mut graph = here.stream()?.capture(memory(1.0)?, |capture, (a, b)| {
            let first = capture.launch(module, saxpy, for_each(LEN), (1.0, b, a))?;
            capture.launch(module, saxpy, for_each(LEN), (1.0, a, b))?;
            Ok(first)
        })?;
        let mut clone = graph.clone_with(memory(10.0)?)?;
        // And with all of it on the other GPU.
        let mut far = graph.clone_with((there.filled(LEN, 100.0)?, there.filled(LEN, 2.0)?))?;
        for graph in [&mut graph, &mut clone, &mut far] {
            graph.memory_mut().1.fill(3.0)?;
            graph.launch()?;
            graph.launch()?;
        }
        for (graph, value) in [(&graph, 1.0), (&clone, 10.0), (&far, 100.0)] {
            // a = v + 3, b = v + 6, a = 2 v + 9, b = 3 v + 15
            assert_eq!(graph.memory().0.to_vec()?, [2.0 * value + 9.0; LEN], "{here} {there}");
            assert_eq!(graph.memory().1.to_vec()?, [3.0 * value + 15.0; LEN], "{here} {there}");
        }
        Ok(())
    });
}

//! The executor of the CPU device: barriers, panics, many blocks, odd shapes.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{image, on_the_cpu};
use gpu_std::{Phase, prelude::*};
use gpukernel::{Device, Error, LaunchConfig, for_each};

#[kernel]
fn rank(out: PerThread<u64>) {
    for (_, out) in out {
        *out = global_rank() as u64;
    }
}

#[test]
fn every_thread_of_every_block_runs_once() {
    on_the_cpu(|device, module| {
        for (blocks, threads) in [(1, 1), (1, 1024), (1024, 1), (1000, 37), (100_000, 3)] {
            let mut out = device.zeroed::<u64>(blocks * threads)?;
            module.launch(rank, LaunchConfig::new(blocks, threads), (&mut out,))?;
            assert!(out.to_vec()?.into_iter().eq(0..(blocks * threads) as u64), "{blocks} x {threads}");
        }
        Ok(())
    });
}

#[kernel(block = 64)]
fn prefix_sums(x: &[u32], out: PerThread<u32>, mut sums: Shared<u32, 64>) {
    let first = block_index().x as usize * 64;
    for (i, sum) in &mut sums {
        *sum = x.get(first + i).copied().unwrap_or(0);
    }
    let me = thread_index().x as usize;
    let mut step = 1;
    while step < 64 {
        let before = sync(sums);
        let new = before[me] + if me >= step { before[me - step] } else { 0 };
        sums = sync(before);
        for (_, sum) in &mut sums {
            *sum = new;
        }
        step *= 2;
    }
    let sums = sync(sums);
    for (i, out) in out {
        *out = sums[i % 64];
    }
}

#[test]
fn barriers_hold_threads_of_many_blocks_together() {
    on_the_cpu(|device, module| {
        let len = 64 * 500;
        let x: Vec<u32> = (0..len as u32).map(|i| i % 7 + 1).collect();
        let x_on_device = device.upload(&x)?;
        let mut out = device.zeroed::<u32>(len)?;
        module.launch(prefix_sums, for_each(len), (&x_on_device, &mut out))?;
        let expected = x.chunks(64).flat_map(|block| {
            block.iter().scan(0, |sum, x| {
                *sum += x;
                Some(*sum)
            })
        });
        assert!(out.to_vec()?.into_iter().eq(expected));
        Ok(())
    });
}

#[kernel]
fn largest_blocks(out: PerThread<u32>, mut all: Shared<u32, 1024>) {
    for (i, cell) in &mut all {
        *cell = i as u32;
    }
    let all = sync(all);
    for (i, out) in out {
        *out = all[1023 - i % 1024];
    }
}

#[test]
fn the_largest_blocks_wait_on_as_many_stacks() {
    on_the_cpu(|device, module| {
        let mut out = device.zeroed::<u32>(40 * 1024)?;
        module.launch(largest_blocks, LaunchConfig::new(40, 1024), (&mut out,))?;
        assert!(out.to_vec()?.into_iter().enumerate().all(|(i, x)| x == 1023 - i as u32 % 1024));
        Ok(())
    });
}

#[kernel]
fn some_leave_early(stay: u32, out: PerThread<u32>) {
    if thread_index().x >= stay {
        return;
    }
    sync(());
    sync(());
    for (_, out) in out {
        *out += 1;
    }
}

#[test]
fn threads_that_ended_count_as_arrived() {
    on_the_cpu(|device, module| {
        for stay in [0, 1, 5, 31, 32] {
            let mut out = device.zeroed::<u32>(64)?;
            module.launch(some_leave_early, LaunchConfig::new(2, 32), (stay, &mut out))?;
            let found = out.to_vec()?;
            assert!(
                found.iter().enumerate().all(|(i, &x)| x == u32::from(i as u32 % 32 < stay)),
                "{stay}: {found:?}"
            );
        }
        Ok(())
    });
}

#[kernel]
fn two_barriers(out: PerThread<u32>) {
    let mut value = 1;
    if thread_index().x < 3 {
        sync(());
    } else {
        sync(());
        value = 2;
    }
    for (_, out) in out {
        *out = value;
    }
}

#[test]
fn threads_at_different_barriers_are_an_error() {
    on_the_cpu(|device, module| {
        let mut out = device.zeroed::<u32>(8)?;
        let error = module
            .launch(two_barriers, LaunchConfig::new(1, 8), (&mut out,))
            .and_then(|()| device.synchronize())
            .unwrap_err();
        let Error::DivergentBarrier { first, second, .. } = &error else { panic!("{error}") };
        assert_eq!((first.thread.x, second.thread.x), (0, 3));
        let line = |wait: &gpukernel::BarrierWait| wait.place.line();
        assert_eq!(line(first) + 2, line(second));
        assert!(error.to_string().contains("runtime/tests/devices/cpu.rs"), "{error}");
        module.launch(rank, LaunchConfig::new(1, 8), (&mut device.zeroed(8)?,))
    });
}

#[kernel(block = 4)]
fn other_arrays(out: PerThread<u32>, left: Shared<u32, 4>, right: Shared<u32, 4>) {
    let (first, _second) = if thread_index().x == 2 { (right, left) } else { (left, right) };
    let view = sync(first);
    for (i, out) in out {
        *out = view[i % 4];
    }
}

#[kernel(block = 4)]
fn other_phases(array: Shared<u32, 4>) {
    fn pass<P: Phase>(phase: P) -> P::Next {
        sync(phase)
    }
    if thread_index().x < 2 {
        pass(array);
    } else {
        pass(());
    }
}

#[test]
fn threads_with_other_shared_arrays_are_an_error() {
    on_the_cpu(|device, module| {
        let mut out = device.zeroed::<u32>(4)?;
        let error = module
            .launch(other_arrays, LaunchConfig::new(1, 4), (&mut out,))
            .and_then(|()| device.synchronize())
            .unwrap_err();
        let Error::DivergentBarrier { first, second, .. } = &error else { panic!("{error}") };
        assert_eq!((first.thread.x, second.thread.x, first.place), (0, 2, second.place));
        assert!(
            error.to_string().contains("thread (2, 0, 0) at the same with other shared arrays;"),
            "{error}"
        );
        let error = module
            .launch(other_phases, LaunchConfig::new(1, 4), ())
            .and_then(|()| device.synchronize())
            .unwrap_err();
        let Error::DivergentBarrier { first, second, .. } = &error else { panic!("{error}") };
        assert_eq!((first.thread.x, second.thread.x, first.place), (0, 2, second.place));
        Ok(())
    });
}

#[kernel(block = 2)]
fn shared_arrays_without_bytes(
    out: PerThread<u32>,
    mut nothing: Shared<u64, 0>,
    mut units: Shared<(), 5>,
    mut wide: Shared2d<[u128; 0], 2, 2>,
) {
    let mut count = nothing.iter_mut().count();
    count +=
        units.iter_mut().inspect(|(_, unit)| assert!(std::ptr::from_ref::<()>(*unit).is_aligned())).count();
    for (_, element) in &mut wide {
        let start = element.as_ptr();
        assert!(start.addr() != 0 && start.is_aligned(), "{start:?}");
        count += 1;
    }
    let (nothing, wide) = sync((nothing, wide));
    assert!(nothing.as_ptr().addr() != 0 && nothing.as_ptr().is_aligned());
    assert!(wide.row(1).is_some_and(|row| row.as_ptr().is_aligned()));
    for (_, out) in out {
        *out = count as u32;
    }
}

#[test]
fn shared_arrays_without_bytes_are_somewhere() {
    on_the_cpu(|device, module| {
        for _ in 0..2 {
            let mut out = device.zeroed::<u32>(2)?;
            module.launch(shared_arrays_without_bytes, LaunchConfig::new(1, 2), (&mut out,))?;
            assert_eq!(out.to_vec()?, [3 + 2, 2 + 2]);
            // With less aligned storage left by another kernel.
            module.launch(largest_blocks, LaunchConfig::new(1, 1024), (&mut device.zeroed(1024)?,))?;
        }
        Ok(())
    });
}

#[kernel]
fn catches_its_end() {
    if thread_index().x == 3 {
        panic!("thread 3 gives up");
    }
    // Unwound, it goes on, waits once more, and at last panics in its own words.
    let ended = std::panic::catch_unwind(|| sync(()));
    if ended.is_err() {
        let again = std::panic::catch_unwind(|| sync(()));
        panic!("thread {} was ended twice: {}", thread_index().x, again.is_err());
    }
}

#[test]
fn threads_that_resist_their_end() {
    on_the_cpu(|device, module| {
        let error = module
            .launch(catches_its_end, LaunchConfig::new(1, 8), ())
            .and_then(|()| device.synchronize())
            .unwrap_err();
        let Error::KernelPanicked { message, thread, .. } = &error else { panic!("{error}") };
        assert_eq!((message.as_str(), thread.x), ("thread 3 gives up", 3));
        // No kernel runs here any more.
        assert!(std::panic::catch_unwind(thread_index).is_err());
        module.launch(rank, LaunchConfig::new(1, 8), (&mut device.zeroed(8)?,))
    });
}

#[kernel]
fn survives_its_end(starts: &[Atomic<u32>]) {
    starts[thread_index().x as usize].fetch_add(1);
    if thread_index().x == 3 {
        panic!("thread 3 gives up");
    }
    let _ = std::panic::catch_unwind(|| sync(()));
}

#[test]
fn no_thread_starts_after_one_has_failed() {
    on_the_cpu(|device, module| {
        let mut starts = device.zeroed::<u32>(8)?;
        let error = module
            .launch(survives_its_end, LaunchConfig::new(1, 8), (&mut starts,))
            .and_then(|()| device.synchronize())
            .unwrap_err();
        assert!(matches!(error, Error::KernelPanicked { .. }), "{error}");
        assert_eq!(starts.to_vec()?, [1, 1, 1, 1, 0, 0, 0, 0]);
        Ok(())
    });
}

/// Only queues: to wait for it would be to wait for itself.
#[kernel(block = 4)]
fn launches_another(out: PerThread<u64>, mut array: Shared<u64, 4>) {
    for (i, element) in &mut array {
        let device = Device::cpu();
        let module = device.load(&image()).expect("the image is there");
        let queued = device.filled(64 * 3, 1).and_then(|ones| {
            let mut sums = device.zeroed::<u32>(64 * 3)?;
            module.launch(prefix_sums, for_each(64 * 3), (&ones, &mut sums))?;
            sums.to_vec()
        });
        assert!(matches!(queued, Err(Error::WaitInCallback { .. })), "{queued:?}");
        *element = i as u64;
    }
    let array = sync(array);
    for (i, out) in out {
        *out = array[3 - i % 4] * 10 + u64::from(thread_index().x);
    }
}

#[test]
fn a_kernel_that_launches_another() {
    on_the_cpu(|device, module| {
        let mut out = device.zeroed::<u64>(4 * 40)?;
        module.launch(launches_another, LaunchConfig::new(40, 4), (&mut out,))?;
        let found = out.to_vec()?;
        assert!(
            found.iter().enumerate().all(|(i, &x)| x == (3 - i as u64 % 4) * 10 + i as u64 % 4),
            "{found:?}"
        );
        device.synchronize()
    });
}

static DROPPED: AtomicUsize = AtomicUsize::new(0);

struct CountsDrops;

impl Drop for CountsDrops {
    fn drop(&mut self) {
        // A thread that is unwound still knows who it is.
        let _ = thread_index();
        DROPPED.fetch_add(1, Ordering::Relaxed);
    }
}

#[kernel]
fn panics_between_barriers(who: u32, out: PerThread<u32>) {
    let _counts = CountsDrops;
    sync(());
    assert!(thread_index().x != who, "thread {who} gives up");
    sync(());
    for (_, out) in out {
        *out = 1;
    }
}

#[test]
fn a_panic_ends_the_launch_and_drops_what_waits() {
    on_the_cpu(|device, module| {
        let mut out = device.zeroed::<u32>(16)?;
        for who in [0, 7, 15] {
            DROPPED.store(0, Ordering::Relaxed);
            let error = module
                .launch(panics_between_barriers, LaunchConfig::new(1, 16), (who, &mut out))
                .and_then(|()| device.synchronize())
                .unwrap_err();
            let Error::KernelPanicked { kernel, message, location, block, thread } = &error else {
                panic!("{error}")
            };
            assert!(kernel.ends_with("::panics_between_barriers"), "{kernel}");
            assert_eq!(*message, format!("thread {who} gives up"));
            assert!(
                location.as_ref().is_some_and(|place| place.contains("runtime/tests/devices/cpu.rs:")),
                "{error}"
            );
            assert_eq!((block.x, thread.x), (0, who));
            assert_eq!(DROPPED.load(Ordering::Relaxed), 16);
        }
        module.launch(panics_between_barriers, LaunchConfig::new(1, 16), (99, &mut out))?;
        assert_eq!(out.to_vec()?, [1; 16]);
        Ok(())
    });
}

/// Blocks whose number is a multiple of `every` wait, from their thread `from` of each row on.
#[kernel(dims = 3)]
fn some_blocks_wait(every: u32, from: u32, place: &[u32], out: PerThread2d<u32>) {
    let (block, dim) = (block_index(), grid_dim());
    let number = block.x + dim.x * (block.y + dim.y * block.z);
    let mut seen = 0;
    if number.is_multiple_of(every) {
        if thread_index().x >= from {
            seen += 1;
        }
        seen += gpu_std::sync_count((), true).1;
    }
    for ((row, column), out) in out {
        *out += place[global_rank()] + seen * 1000 + u32::from(row == 0 || column == 0);
    }
}

#[test]
fn blocks_that_wait_beside_blocks_that_do_not() {
    on_the_cpu(|device, module| {
        type Dims = (usize, usize, usize);
        let shapes: [(Dims, Dims); 4] =
            [((7, 3, 1), (4, 3, 1)), ((5, 2, 3), (3, 2, 2)), ((33, 1, 1), (1, 5, 1)), ((1, 9, 2), (8, 1, 1))];
        for (grid, block) in shapes {
            let (rows, columns) = (grid.1 * block.1 * grid.2 * block.2, grid.0 * block.0);
            let place: Vec<u32> = (0..(rows * columns) as u32).map(|i| i % 1000).collect();
            let on_device = device.upload(&place)?;
            for (every, from) in [(1, 0), (2, 1), (3, 0), (4, 2), (1000, 0)] {
                let mut out = device.zeroed::<u32>(rows * columns)?;
                let args = (every as u32, from as u32, &*on_device, out.view_2d_mut(columns)?);
                module.launch(some_blocks_wait, LaunchConfig::new(grid, block), args)?;
                for (rank, (out, place)) in out.to_vec()?.into_iter().zip(&place).enumerate() {
                    let (row, column) = (rank / columns, rank % columns);
                    let (y, z) = (row % (grid.1 * block.1), row / (grid.1 * block.1));
                    let number = column / block.0 + grid.0 * (y / block.1 + grid.1 * (z / block.2));
                    let is_late = usize::from(column % block.0 >= from);
                    let seen = if number % every == 0 { block.0 * block.1 * block.2 + is_late } else { 0 };
                    let expected = *place as usize + seen * 1000 + usize::from(row == 0 || column == 0);
                    assert_eq!(
                        out as usize, expected,
                        "{grid:?} x {block:?}, every {every}: {row}, {column}"
                    );
                }
            }
        }
        Ok(())
    });
}

#[kernel]
fn panics_at(row: u32, column: u32, x: View2d<u32>, out: PerThread2d<u32>) {
    for (place, out) in out {
        assert!(place != (row as usize, column as usize));
        *out = x[place];
    }
}

#[test]
fn a_panic_names_its_thread_where_blocks_run_side_by_side() {
    on_the_cpu(|device, module| {
        let (rows, columns) = (24, 40);
        let x = device.filled(rows * columns, 7_u32)?;
        for (row, column) in [(0, 0), (5, 17), (11, 39), (12, 20), (23, 39)] {
            let mut out = device.zeroed::<u32>(rows * columns)?;
            let args = (row as u32, column as u32, x.view_2d(columns)?, out.view_2d_mut(columns)?);
            let error = module
                .launch(panics_at, LaunchConfig::new((10, 8), (4, 3)), args)
                .and_then(|()| device.synchronize())
                .unwrap_err();
            let Error::KernelPanicked { block, thread, .. } = &error else { panic!("{error}") };
            let found = [block.x, block.y, thread.x, thread.y].map(|place| place as usize);
            assert_eq!(found, [column / 4, row / 3, column % 4, row % 3]);
        }
        Ok(())
    });
}

#[kernel]
fn panics_in_one_of_many_blocks(out: PerThread<u32>) {
    for (i, out) in out {
        assert!(i != 77_777);
        *out = 1;
    }
}

#[test]
fn a_panic_in_one_of_many_blocks_is_found() {
    on_the_cpu(|device, module| {
        let mut out = device.zeroed::<u32>(100_000)?;
        let error = module
            .launch(panics_in_one_of_many_blocks, for_each(100_000), (&mut out,))
            .and_then(|()| device.synchronize())
            .unwrap_err();
        let Error::KernelPanicked { message, block, thread, .. } = &error else { panic!("{error}") };
        assert!(message.contains("i != 77_777"), "{message}");
        assert_eq!((block.x, thread.x), (77_777 / 256, 77_777 % 256));
        Ok(())
    });
}

#[test]
fn launches_from_many_threads_at_once() {
    on_the_cpu(|device, module| {
        let x = device.filled(64 * 20, 1_u32)?;
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..10 {
                        let mut out = device.zeroed::<u32>(64 * 20).unwrap();
                        module.launch(prefix_sums, for_each(64 * 20), (&x, &mut out)).unwrap();
                        assert_eq!(out[63..64].to_vec().unwrap(), [64]);
                    }
                });
            }
        });
        Ok(())
    });
}

#[kernel]
fn deep(depth: u32, out: PerThread<u32>) {
    #[inline(never)]
    fn recurse(depth: u32) -> u32 {
        let local = std::hint::black_box([depth; 64]);
        if depth == 0 { local[0] } else { recurse(depth - 1) + std::hint::black_box(local)[1] }
    }
    sync(());
    for (_, out) in out {
        *out = recurse(depth);
    }
}

/// GPU threads have a stack of a few KiB by default; here they have more.
#[test]
fn threads_have_a_stack_of_some_size() {
    on_the_cpu(|device, module| {
        let mut out = device.zeroed::<u32>(64)?;
        module.launch(deep, LaunchConfig::new(1, 64), (200, &mut out))?;
        assert_eq!(out.to_vec()?, [200 * 201 / 2; 64]);
        Ok(())
    });
}

#[kernel]
unsafe fn nothing_yet(out: PerThread<u32>) {
    for (_, out) in out {
        *out = 5;
    }
}

#[test]
fn unsafe_kernels_are_launched_in_unsafe_code() {
    on_the_cpu(|device, module| {
        let mut out = device.zeroed::<u32>(3)?;
        // SAFETY: it asks for nothing.
        unsafe { module.launch_unsafe(nothing_yet, for_each(3), (&mut out,))? };
        assert_eq!(out.to_vec()?, [5; 3]);
        Ok(())
    });
}

#[test]
fn nothing_runs_for_nothing() {
    on_the_cpu(|device, module| {
        let mut out = device.filled(4, 9_u64)?;
        module.launch(rank, for_each(0), (&mut out,))?;
        module.launch(rank, LaunchConfig::new(0, 32), (&mut out,))?;
        module.launch(rank, LaunchConfig::new(32, 0), (&mut out,))?;
        assert_eq!(out.to_vec()?, [9; 4]);
        module.launch(rank, for_each(32), (&mut device.zeroed(0)?,))
    });
}

//! Graphs: what they do is what the same calls do one after another, with memory that they hold.

use std::{
    fmt::Debug,
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use gpu_std::DeviceCopy;
use gpukernel::{
    Buffer, Device, Error, LaunchConfig, MemoryAdvice, PinnedOptions, Result,
    allocator::{CachingAllocator, DeviceAllocator, DirectAllocator, PoolAllocator},
    for_each,
};
use gpukernel_device_test_kernels::{
    constants::{WEIGHTS, weigh},
    generics::poke_bytes,
    grids::sum_seen_by_all,
    outputs::{add_index, saxpy},
    prints::numbers,
    shared::{reverse_blocks, transpose},
};
use gpukernel_device_tests::{Captured, KERNELS, on_every_device};

const LEN: usize = 1000;

#[test]
fn a_graph_does_what_its_launches_do() {
    on_every_device(|device, module| {
        let stream = device.stream()?;
        let mut values = device.zeroed::<u64>(LEN)?;
        let mut graph = stream.capture(&mut values, |capture, values| {
            for _ in 0..10 {
                capture.launch(module, add_index, for_each(LEN), (values,))?;
            }
            Ok(())
        })?;
        // Nothing of it has run.
        assert_eq!(graph.memory().to_vec()?, [0; LEN]);
        graph.upload()?;
        for _ in 0..5 {
            graph.launch()?;
        }
        drop(graph);
        assert!(values.to_vec()?.into_iter().eq((0..LEN as u64).map(|i| 50 * (1 + i))));
        Ok(())
    });
}

#[test]
fn graphs_hold_memory_of_every_kind() {
    on_every_device(|device, module| {
        let stream = device.stream()?;
        let ones = device.filled(LEN, 1.0_f32)?;
        let mut borrowed = device.zeroed::<f32>(2 * LEN)?;
        let (left, right) = borrowed.split_at_mut(LEN);
        let owned: Vec<Buffer<f32>> = (0..3).map(|_| device.zeroed(LEN)).collect::<Result<_>>()?;
        let memory = (&ones, left, owned, [Some(device.zeroed::<f32>(LEN)?), None]);
        let mut graph = stream.capture(memory, |capture, (ones, left, mut owned, optional)| {
            let add = |to: &mut gpukernel::DeviceSlice<f32>, from: &gpukernel::DeviceSlice<f32>| {
                capture.launch(module, saxpy, for_each(LEN), (1.0, from, to)).map(drop)
            };
            add(left, ones)?;
            for to in &mut owned {
                add(to, left)?;
            }
            let [Some(last), None] = optional else { panic!("it had one") };
            add(last, owned[2])
        })?;
        graph.launch()?;
        // The other part is not the graph's.
        right.fill(7.0)?;
        graph.launch()?;
        let (_, _, owned, [last, _]) = graph.into_memory();
        for (number, buffer) in owned.iter().enumerate() {
            assert_eq!(buffer.to_vec()?, [3.0; LEN], "{number}");
        }
        assert_eq!(last.expect("it had one").to_vec()?, [4.0; LEN]);
        assert_eq!(borrowed[..LEN].to_vec()?, [2.0; LEN]);
        assert_eq!(borrowed[LEN..].to_vec()?, [7.0; LEN]);
        Ok(())
    });
}

/// Each branch is in order, and what uses the same memory is, too, whichever branch it is in.
#[test]
fn branches_keep_the_order_of_what_uses_the_same_memory() {
    on_every_device(|device, module| {
        let stream = device.stream()?;
        let memory = (device.filled(LEN, 1.0_f32)?, device.zeroed::<f32>(LEN)?, device.zeroed::<f32>(LEN)?);
        let mut graph = stream.capture(memory, |capture, (x, y, z)| {
            let other = capture.fork()?;
            for _ in 0..10 {
                capture.launch(module, saxpy, for_each(LEN), (1.0, x, y))?;
                // Reads what the other branch has just written.
                other.launch(module, saxpy, for_each(LEN), (1.0, y, z))?;
            }
            capture.join(&other)?;
            capture.launch(module, saxpy, for_each(LEN), (1.0, z, x))?;
            Ok(())
        })?;
        graph.launch()?;
        assert_eq!(graph.memory().1.to_vec()?, [10.0; LEN]);
        assert_eq!(graph.memory().2.to_vec()?, [55.0; LEN]);
        graph.launch()?;
        // x is 56 in the second round; y goes on from 10, z from 55.
        let expected = 55.0 + (1..=10).map(|round| 10.0 + 56.0 * round as f32).sum::<f32>();
        assert_eq!(graph.memory().2.to_vec()?, [expected; LEN]);
        Ok(())
    });
}

#[test]
fn copies_and_fills_are_part_of_a_graph() {
    on_every_device(|device, module| {
        let stream = device.stream()?;
        let memory = (device.zeroed::<f32>(10 * LEN)?, device.zeroed::<f32>(10 * LEN)?);
        let mut host = vec![2.0_f32; LEN];
        let mut graph = stream.capture(memory, |capture, (x, y)| {
            capture.fill(x, 3.0)?;
            capture.copy_to_device(&host, &mut x[LEN..2 * LEN])?;
            capture.launch(module, saxpy, for_each(10 * LEN), (10.0, x, y))?;
            let (front, back) = y.split_at_mut(5 * LEN);
            capture.copy(&front[..LEN], &mut back[..LEN])?;
            // Of nothing.
            capture.copy(&front[..0], &mut back[..0])?;
            Ok(())
        })?;
        // The graph has what was there when it was described.
        host.fill(100.0);
        for round in 1..=3 {
            graph.memory_mut().0.fill(-1.0)?;
            graph.launch()?;
            let y = graph.memory().1.to_vec()?;
            assert_eq!(y[..LEN], [30.0 * round as f32; LEN]);
            assert_eq!(y[LEN..2 * LEN], [20.0 * round as f32; LEN]);
            assert_eq!(y[5 * LEN..6 * LEN], [30.0 * round as f32; LEN]);
        }
        Ok(())
    });
}

/// Of elements of every size, those that a device sets by itself and others; of parts, and of nothing.
#[test]
fn fills_in_a_graph_are_those_of_a_stream() {
    fn check<T: DeviceCopy + PartialEq + Debug>(device: &Device, before: T, value: T) -> Result<()> {
        let stream = device.stream()?;
        let mut expected = device.filled(10 * LEN, before)?;
        stream.fill(&mut expected[3..9 * LEN], value)?;
        let expected = expected.to_vec()?;
        let memory = [device.filled(10 * LEN, before)?, device.filled(10 * LEN, before)?];
        let mut graph = stream.capture(memory, |capture, [x, y]| {
            let first = capture.fill(&mut x[3..9 * LEN], value)?;
            // It comes after the fill that it reads, and the fill of other elements after nothing.
            capture.after(())?.copy(&x[..LEN], &mut y[..LEN])?;
            capture.after(())?.fill(&mut y[LEN..9 * LEN], value)?;
            capture.fill(&mut y[5..5], before)?;
            // As a function that has a stream does it.
            let branch = capture.after(first)?;
            let stream: &gpukernel::Stream = &branch;
            stream.fill(&mut y[..1], before)
        })?;
        graph.launch()?;
        for buffer in graph.memory() {
            assert_eq!(buffer.to_vec()?, expected, "{value:?}");
        }
        let memory = [device.filled(10 * LEN, before)?, device.filled(10 * LEN, before)?];
        let mut clone = graph.clone_with(memory)?;
        graph.memory_mut().into_iter().try_for_each(|buffer| buffer.fill(before))?;
        clone.launch()?;
        for (clone, original) in clone.memory().iter().zip(graph.memory()) {
            assert_eq!(clone.to_vec()?, expected, "{value:?}");
            assert_eq!(original.to_vec()?, vec![before; 10 * LEN], "{value:?}");
        }
        Ok(())
    }
    on_every_device(|device, _| {
        check(device, 0_u8, 0xa5)?;
        check(device, false, true)?;
        check(device, -1_i16, 0x1234)?;
        check(device, 1.5_f32, -2.25)?;
        check(device, 'a', '\u{10ffff}')?;
        check(device, 0_u64, u64::MAX)?;
        check(device, 0_u64, 1)?;
        check(device, 0.0_f64, 1.0)?;
        check(device, [0_u8; 3], [1, 2, 3])?;
        check(device, (), ())
    });
}

#[test]
fn memory_that_the_host_uses_is_filled_and_copied_in_a_graph() {
    on_every_device(|device, _| {
        let memory = (
            device.managed::<u32>(LEN)?,
            device.mapped::<u32>(LEN, PinnedOptions::new())?,
            device.zeroed(LEN)?,
        );
        let (mut managed, mut mapped, buffer) = memory;
        let memory = (&mut managed[..], &mut mapped[..], buffer);
        let mut graph = device.stream()?.capture(memory, |capture, (managed, mapped, buffer)| {
            capture.fill(&mut managed[10..], 3)?;
            capture.fill(&mut mapped[..20], 4)?;
            capture.copy_view(&managed.view_strided(0, 10)?, &mut mapped.view_strided_mut(5, 10)?)?;
            capture.copy(mapped, buffer)
        })?;
        graph.launch()?;
        let found: Vec<u32> = graph.memory().2.to_vec()?;
        drop(graph);
        let mut expected = [&[4; 20][..], &[0; LEN - 20]].concat();
        expected[5] = 0;
        (1..LEN / 10).for_each(|i| expected[5 + 10 * i] = 3);
        assert_eq!((mapped.host()?, found), (&expected[..], expected.clone()));
        Ok(())
    });
}

#[test]
fn launches_of_a_graph_are_updated() {
    on_every_device(|device, module| {
        let stream = device.stream()?;
        let memory = (device.filled(LEN, 1.0_f32)?, device.zeroed::<f32>(LEN)?, device.zeroed::<f32>(LEN)?);
        let mut graph = stream.capture(memory, |capture, (x, y, z)| {
            let first = capture.launch(module, saxpy, for_each(LEN), (1.0, x, y))?;
            let other = capture.fork()?;
            let second = other.launch(module, saxpy, for_each(LEN), (1.0, x, z))?;
            Ok([first, second])
        })?;
        let [first, second] = *graph.nodes();
        graph.launch()?;
        // Other values, of which the launch that is queued already has nothing.
        graph.update(first, |update, (x, y, _)| update.launch(for_each(LEN), (100.0, x, y)))?;
        graph.launch()?;
        assert_eq!(graph.memory().1.to_vec()?, [101.0; LEN]);
        // Another grid and part.
        graph.update(first, |update, (x, y, _)| {
            update.launch(LaunchConfig::new(1, 32), (1000.0, &x[..10], &mut y[..10]))
        })?;
        graph.launch()?;
        assert_eq!(graph.memory().1.to_vec()?[..11], [&[1101.0; 10][..], &[101.0]].concat());
        // No threads, and some again.
        graph.update(first, |update, (x, y, _)| update.launch(for_each(0), (1.0, x, y)))?;
        graph.launch()?;
        graph.update(first, |update, (x, y, _)| update.launch(for_each(LEN), (0.5, x, y)))?;
        graph.launch()?;
        assert_eq!(graph.memory().1.to_vec()?[LEN - 1..], [101.5]);
        // Now the second depends on the first, although it is in another branch.
        graph.memory_mut().1.fill(0.0)?;
        graph.memory_mut().2.fill(0.0)?;
        graph.update(second, |update, (_, y, z)| update.launch(for_each(LEN), (1.0, y, z)))?;
        for _ in 0..10 {
            graph.launch()?;
        }
        assert_eq!(graph.memory().1.to_vec()?, [5.0; LEN]);
        assert_eq!(graph.memory().2.to_vec()?, [27.5; LEN]);
        // What is refused changes nothing; what says nothing, neither.
        let refused =
            graph.update(second, |update, (_, y, z)| update.launch(LaunchConfig::new(1, 4096), (1.0, y, z)));
        assert!(matches!(refused, Err(Error::BlockTooLarge { .. })), "{refused:?}");
        graph.update(second, |_, _| ())?;
        graph.launch()?;
        assert_eq!(graph.memory().2.to_vec()?, [33.0; LEN]);
        Ok(())
    });
}

#[test]
fn kernels_with_shared_memory_and_barriers_of_the_grid_are_launched_by_graphs() {
    on_every_device(|device, module| {
        let stream = device.stream()?;
        let input: Vec<f32> = (0..64 * 64).map(|i| i as f32).collect();
        let memory = (
            (device.upload(&input)?, device.zeroed::<f32>(64 * 64)?),
            (device.upload(&(0..512).collect::<Vec<u32>>())?, device.zeroed::<u32>(512)?),
            (device.zeroed::<u32>(1)?, device.zeroed::<u32>(512)?),
        );
        let mut graph = stream.capture(memory, |capture, ((x, y), (numbers, reversed), (sum, seen))| {
            capture.launch(
                module,
                transpose,
                LaunchConfig::new((2, 2), (32, 32)),
                (x, y.view_2d_mut(64)?),
            )?;
            capture.launch(module, reverse_blocks, LaunchConfig::new(2, 256), (numbers, reversed))?;
            capture.fill(sum, 0)?;
            capture.launch(module, sum_seen_by_all, LaunchConfig::new(4, 128), (sum, seen))?;
            Ok(())
        })?;
        for _ in 0..3 {
            graph.launch()?;
        }
        let ((_, y), (_, reversed), (_, seen)) = graph.into_memory();
        let transposed = (0..64 * 64).map(|i| input[i % 64 * 64 + i / 64]);
        assert!(y.to_vec()?.into_iter().eq(transposed));
        assert_eq!(reversed.to_vec()?[..2], [255, 254]);
        assert_eq!(seen.to_vec()?, [512 * 511 / 2; 512]);
        Ok(())
    });
}

#[test]
fn graphs_see_constants_as_they_are_when_they_are_launched() {
    on_every_device(|device, module| {
        let mut graph = device.stream()?.capture(device.zeroed::<f32>(4)?, |capture, y| {
            capture.launch(module, weigh, for_each(4), (y,))
        })?;
        graph.launch()?;
        assert_eq!(graph.memory().to_vec()?, [1.0, 2.0, 3.0, 4.0]);
        module.set_constant(&WEIGHTS, [5.0, 6.0, 7.0, 8.0])?;
        graph.launch()?;
        assert_eq!(graph.memory().to_vec()?, [5.0, 6.0, 7.0, 8.0]);
        Ok(())
    });
}

#[test]
fn kernels_in_graphs_print() {
    on_every_device(|device, module| {
        let captured = Captured::default();
        module.set_output(captured.clone());
        let mut graph = device.stream()?.capture((), |capture, ()| {
            capture.launch(module, numbers, LaunchConfig::new(1, 2), (2,)).map(drop)
        })?;
        graph.launch()?;
        device.synchronize()?;
        let once = captured.text();
        graph.launch()?;
        device.synchronize()?;
        assert!(!once.is_empty());
        assert_eq!(captured.text().len(), 2 * once.len());
        Ok(())
    });
}

/// The graph is launched on two streams, and its memory is used on a third.
#[test]
fn graphs_are_ordered_with_other_work_on_their_memory() {
    on_every_device(|device, module| {
        let streams = [device.stream()?, device.stream()?, device.stream()?];
        let ones = device.filled(LEN, 1.0_f32)?;
        let mut graph = streams[0].capture((&ones, device.zeroed::<f32>(LEN)?), |capture, (ones, y)| {
            for _ in 0..4 {
                capture.launch(module, saxpy, for_each(LEN), (1.0, ones, y))?;
            }
            Ok(())
        })?;
        let mut copy = device.zeroed::<f32>(LEN)?;
        for round in 1..=10 {
            graph.launch_on(&streams[round % 2])?;
            streams[2].copy(&graph.memory().1, &mut copy)?;
            assert_eq!(copy.to_vec()?, [4.0 * round as f32; LEN]);
            streams[2].launch(module, saxpy, for_each(LEN), (0.0, &ones, graph.memory_mut().1))?;
        }
        Ok(())
    });
}

#[test]
fn a_graph_may_be_dropped_while_it_runs() {
    on_every_device(|device, _| {
        let stream = device.stream()?;
        let mut sum = device.zeroed::<f32>(1 << 16)?;
        for value in 1..=10 {
            let x = stream.filled(1 << 16, value as f32)?;
            let module = device.load(&KERNELS)?;
            let mut graph = stream.capture((x, &mut sum), |capture, (x, sum)| {
                capture.launch(&module, saxpy, for_each(1 << 16), (1.0, x, sum)).map(drop)
            })?;
            drop(module);
            graph.launch()?;
            graph.launch()?;
        }
        assert_eq!(sum.to_vec()?, vec![110.0; 1 << 16]);
        Ok(())
    });
}

#[test]
fn launches_of_graphs_are_recorded() {
    on_every_device(|device, module| {
        let mut graph = device.stream()?.capture(device.zeroed::<u64>(LEN)?, |capture, values| {
            capture.launch(module, add_index, LaunchConfig::new(4, 256), (values,))?;
            capture.launch(module, add_index, for_each(0), (values,))?;
            capture.launch(module, add_index, LaunchConfig::new(2, 64), (values,))
        })?;
        let (result, launches) = gpukernel::record_launches(|| graph.launch());
        result?;
        let shapes: Vec<_> =
            launches.iter().map(|launch| (launch.grid_dim[0], launch.block_dim[0])).collect();
        assert_eq!(shapes, [(4, 256), (2, 64)]);
        Ok(())
    });
}

#[test]
fn what_cannot_be_part_of_a_graph_is_an_error() {
    on_every_device(|device, module| {
        let stream = device.stream()?;
        let other = device.zeroed::<f32>(LEN)?;
        let event = stream.record()?;
        let managed = device.managed::<f32>(LEN)?;
        let (pool, caching) = (PoolAllocator::new(device)?, CachingAllocator::new(Arc::new(DirectAllocator)));
        let mut graph_before = stream.capture((), |_, ()| Ok(()))?;
        let mut bytes = device.zeroed::<u8>(1)?;
        let mut escaped = None;
        let graph = stream.capture(device.zeroed::<f32>(LEN)?, |capture, y| {
            let not = |result: Result<()>| {
                assert!(matches!(result, Err(Error::NotCapturable { .. })), "{result:?}");
            };
            not(capture.synchronize());
            not(capture.zeroed::<f32>(1).map(drop));
            not(capture.upload(&[1.0]).map(drop));
            not(capture.copy_to_host(y, &mut [0.0; LEN]));
            not(capture.record().map(drop));
            not(capture.wait(&event));
            not(capture.hold().map(drop));
            not(capture.capture((), |_, ()| Ok(())).map(drop));
            not(capture.filled(1, 1.0_f32).map(drop));
            not(capture.uninit::<f32>(0).map(drop));
            not(DirectAllocator.allocate(capture, 1).map(drop));
            not(pool.allocate(capture, 1).map(drop));
            not(caching.allocate(capture, 1).map(drop));
            not(capture.is_done().map(drop));
            let mut done = pin!(IntoFuture::into_future(&**capture));
            let Poll::Ready(done) = done.as_mut().poll(&mut Context::from_waker(Waker::noop())) else {
                panic!("it waits")
            };
            not(done);
            not(capture.record_exportable().map(drop));
            not(capture.scope(|_| Ok(())));
            not(capture.copy_peer(&other, y));
            not(capture.copy_view_to_host(&y.view_2d(LEN)?, &mut [0.0; LEN]));
            not(managed.prefetch(capture, device));
            managed.advise(&MemoryAdvice::ReadMostly)?;
            not(graph_before.launch_on(capture));
            // As a stream: `Capture` has these, for each launch of the graph.
            let stream: &gpukernel::Stream = capture;
            not(stream.callback(|| ()));
            not(stream.copy_to_pinned(y, device.pinned(LEN)?).map(drop));
            not(stream.copy_from_pinned(device.pinned(LEN)?, y).map(drop));
            // SAFETY: one thread would write one byte.
            not(unsafe {
                stream.launch_unsafe(module, poke_bytes, LaunchConfig::new(1, 1), (7, &mut bytes))
            });
            // SAFETY: nothing is queued.
            not(unsafe { stream.queue(&[], |_| ()) });
            // Memory that only the surroundings have.
            let outside = capture.launch(module, saxpy, for_each(LEN), (1.0, &other, y));
            assert!(matches!(outside, Err(Error::NotInGraph { .. })), "{outside:?}");
            let outside = capture.copy(&other, y);
            assert!(matches!(outside, Err(Error::NotInGraph { .. })), "{outside:?}");
            let short = capture.copy_to_device(&[1.0], y);
            assert!(matches!(short, Err(Error::LengthMismatch { .. })), "{short:?}");
            let large = capture.launch(module, weigh, LaunchConfig::new(1, 4096), (y,));
            assert!(matches!(large, Err(Error::BlockTooLarge { .. })), "{large:?}");
            escaped = Some(gpukernel::Stream::clone(capture));
            Ok(())
        });
        let mut graph = graph?;
        graph.launch()?;
        let mut values = device.zeroed::<u64>(LEN)?;
        let late = escaped.expect("it was cloned").launch(module, add_index, for_each(LEN), (&mut values,));
        assert!(matches!(late, Err(Error::CaptureEnded | Error::NotInGraph { .. })), "{late:?}");
        Ok(())
    });
}

#[test]
fn graphs_of_two_devices_or_captures_do_not_mix() {
    on_every_device(|device, module| {
        let capture = |device: &Device| -> Result<_> {
            device.stream()?.capture(device.zeroed::<u64>(LEN)?, |capture, values| {
                capture.launch(module, add_index, for_each(LEN), (values,))
            })
        };
        let (mut first, second) = (capture(device)?, capture(device)?);
        let wrong = first.update(*second.nodes(), |update, values| update.launch(for_each(LEN), (values,)));
        assert!(matches!(wrong, Err(Error::WrongNode { .. })), "{wrong:?}");
        let cpu = Device::cpu();
        if device.is_gpu() {
            // A module of another device, memory of another device, a stream of another device.
            assert!(matches!(capture(&cpu), Err(Error::WrongDevice { .. })));
            let memory = device.stream()?.capture(cpu.zeroed::<u64>(LEN)?, |capture, values| {
                capture.launch(module, add_index, for_each(LEN), (values,))
            });
            assert!(matches!(memory, Err(Error::WrongDevice { .. })), "{memory:?}");
            assert!(matches!(first.launch_on(&cpu.stream()?), Err(Error::WrongDevice { .. })));
        }
        // An error of the code is that of the capture.
        let failed = device.stream()?.capture((), |_, ()| Err::<(), _>(Error::CaptureEnded));
        assert!(matches!(failed, Err(Error::CaptureEnded)));
        Ok(())
    });
}

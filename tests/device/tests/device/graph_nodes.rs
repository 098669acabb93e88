//! Nodes of graphs: what comes after what, functions of the host, and kernels that were made elsewhere.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU32, Ordering},
};

use gpukernel::{Device, Error, LaunchConfig, Node, RawArg, Result, for_each};
use gpukernel_device_test_kernels::outputs::{add_index, saxpy};
use gpukernel_device_tests::{on_every_device, on_every_gpu};

use crate::foreign::SCALE;

const LEN: usize = 1000;

#[test]
fn work_comes_after_the_nodes_that_it_names() {
    on_every_device(|device, module| {
        let stream = device.stream()?;
        let [a, b, c, d] = [1.0_f32; 4].map(|value| device.filled(LEN, value));
        let mut graph = stream.capture((a?, b?, c?, d?), |capture, (a, b, c, d)| {
            // A diamond of launches with a fill and a copy beside it.
            let top = capture.after(())?.launch(module, saxpy, for_each(LEN), (1.0, a, b))?;
            let left = capture.after(top)?.launch(module, saxpy, for_each(LEN), (1.0, b, c))?;
            let right = capture.after([top])?.fill(d, 5.0)?;
            let beside = capture.after([] as [Node; 0])?.fill(&mut a[..10], 7.0)?;
            let nodes: Vec<Node> = vec![left.untyped(), right, beside];
            let bottom = capture.after(&nodes)?.launch(module, saxpy, for_each(LEN), (1.0, c, d))?;
            let last = capture.after((bottom, [right, beside], Some(left), None::<Node>))?;
            last.copy(&d[..10], &mut a[10..20])?;
            // A branch goes on after its first work.
            last.fill(&mut a[20..30], 9.0)
        })?;
        for _ in 0..3 {
            graph.memory_mut().0.fill(1.0)?;
            graph.memory_mut().1.fill(1.0)?;
            graph.memory_mut().2.fill(1.0)?;
            graph.launch()?;
            let (a, b, c, d) = graph.memory();
            let a = a.to_vec()?;
            assert_eq!(
                (&a[..10], &a[10..20], &a[20..31]),
                (&[7.0; 10][..], &[8.0; 10][..], &[&[9.0; 10][..], &[1.0]].concat()[..])
            );
            assert_eq!((b.to_vec()?[0], c.to_vec()?[0], d.to_vec()?[LEN - 1]), (2.0, 3.0, 8.0));
        }
        Ok(())
    });
}

/// Edges that are forgotten are there all the same, and edges that are there twice do no harm.
#[test]
fn work_on_the_same_memory_needs_no_edge() {
    on_every_device(|device, module| {
        let mut graph = device.stream()?.capture(device.zeroed::<u64>(LEN)?, |capture, values| {
            let mut nodes = Vec::new();
            for _ in 0..50 {
                // Of the same bytes, and after nothing.
                nodes.push(capture.after(())?.launch(module, add_index, for_each(LEN), (values,))?);
            }
            let all = capture.after((&nodes, &nodes))?;
            all.launch(module, add_index, for_each(LEN), (values,))
        })?;
        graph.launch()?;
        assert!(graph.memory().to_vec()?.into_iter().eq((0..LEN as u64).map(|i| 51 * (1 + i))));
        Ok(())
    });
}

#[test]
fn nothing_has_a_node_too() {
    on_every_device(|device, module| {
        let mut graph = device.stream()?.capture(device.zeroed::<f32>(LEN)?, |capture, y| {
            let (front, back) = y.split_at_mut(LEN / 2);
            let nothing = [
                capture.copy(&front[..0], &mut back[..0])?,
                capture.fill(&mut front[..0], 1.0)?,
                capture.copy_to_device(&[], &mut front[..0])?,
            ];
            let empty = capture.launch(module, saxpy, for_each(0), (1.0, &front[..0], &mut back[..0]))?;
            capture.after((nothing, empty))?.fill(y, 3.0)
        })?;
        graph.launch()?;
        assert_eq!(graph.memory().to_vec()?, [3.0; LEN]);
        Ok(())
    });
}

#[test]
fn nodes_of_other_captures_are_refused() {
    on_every_device(|device, module| {
        let stream = device.stream()?;
        let other = stream.capture(device.zeroed::<u64>(LEN)?, |capture, values| {
            Ok((capture.launch(module, add_index, for_each(LEN), (values,))?, capture.fill(values, 1)?))
        })?;
        let &(launch, fill) = other.nodes();
        let cpu = Device::cpu().stream()?.capture((), |capture, ()| capture.callback(|| ()))?;
        let mut escaped = None;
        let mut graph = stream.capture(device.zeroed::<u64>(LEN)?, |capture, values| {
            let own = capture.fill(values, 3)?;
            for wrong in [
                capture.after(launch),
                capture.after(fill),
                capture.after((own, fill)),
                capture.after(*cpu.nodes()),
            ] {
                assert!(matches!(wrong, Err(Error::WrongNode { .. })), "{wrong:?}");
            }
            escaped = Some(capture.after(own)?);
            Ok(own)
        })?;
        // After the capture there is nothing to record to.
        let escaped = escaped.expect("it was given");
        assert!(matches!(escaped.after(*graph.nodes()), Err(Error::CaptureEnded)));
        assert!(matches!(escaped.callback(|| ()), Err(Error::CaptureEnded)));
        assert!(matches!(escaped.fork(), Err(Error::CaptureEnded)));
        graph.launch()?;
        assert_eq!(graph.memory().to_vec()?, [3; LEN]);
        Ok(())
    });
}

#[test]
fn each_launch_calls_the_functions_of_the_host() {
    on_every_device(|device, module| {
        let (seen, count) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicU32::new(0)));
        let weak = Arc::downgrade(&seen);
        let (first, second, counted) = (Arc::clone(&seen), Arc::clone(&seen), Arc::clone(&count));
        let mut graph = device.stream()?.capture(device.zeroed::<u64>(LEN)?, move |capture, values| {
            capture.launch(module, add_index, for_each(LEN), (values,))?;
            let a = capture.callback(move || first.lock().unwrap().push("first"))?;
            capture.launch(module, add_index, for_each(LEN), (values,))?;
            capture.callback(move || second.lock().unwrap().push("second"))?;
            capture.after(a)?.callback(move || {
                counted.fetch_add(1, Ordering::Relaxed);
            })
        })?;
        assert!(seen.lock().unwrap().is_empty());
        for _ in 0..3 {
            graph.launch()?;
        }
        device.synchronize()?;
        assert_eq!(*seen.lock().unwrap(), ["first", "second"].repeat(3));
        assert_eq!(count.load(Ordering::Relaxed), 3);
        assert_eq!(graph.memory().to_vec()?[1], 12);
        // The functions go with the graph, which waits for its calls.
        graph.launch()?;
        drop((graph, seen));
        assert_eq!((weak.strong_count(), count.load(Ordering::Relaxed)), (0, 4));
        Ok(())
    });
}

/// Skipped by name where there is no GPU: `cargo gpukernel test` and bundles run them where there is one.
mod needs_a_gpu {
    use super::*;

    #[test]
    #[ignore = "needs a GPU"]
    fn kernels_made_elsewhere_are_launched_by_graphs() {
        on_every_gpu(|device| {
            // SAFETY: it is PTX, which the driver compiles and so checks.
            let module = unsafe { device.load_foreign(SCALE.as_bytes()) }?;
            let outside = device.zeroed::<f32>(LEN)?;
            let memory = (device.filled(LEN, 1.0_f32)?, device.zeroed::<f32>(LEN)?);
            let grid = LaunchConfig::new(8, 128);
            let mut graph = device.stream()?.capture(memory, |capture, (x, y)| {
                let args = [RawArg::slice_mut(x), RawArg::value(LEN as u32), RawArg::value(3.0_f32)];
                // SAFETY: the arguments are those of `scale`, which stays inside the buffer because of the count.
                let node = unsafe { capture.launch_foreign(&module, "scale", grid, 0, &args)? };
                let refused = [
                    // SAFETY: as above.
                    unsafe { capture.launch_foreign(&module, "nothing", grid, 0, &args).map(drop) },
                    // SAFETY: it is refused.
                    unsafe {
                        capture
                            .launch_foreign(&module, "scale", grid, 0, &[RawArg::slice(&outside)])
                            .map(drop)
                    },
                    // SAFETY: as above.
                    unsafe {
                        capture
                            .launch_foreign(&module, "scale", LaunchConfig::new(1, 4096), 0, &args)
                            .map(drop)
                    },
                    // SAFETY: as above; the promise of a stream's launch is not that of a graph.
                    unsafe { capture.stream_launch(&module, grid, &args) },
                ];
                assert!(matches!(refused[0], Err(Error::NoSuchKernel { .. })), "{:?}", refused[0]);
                assert!(matches!(refused[1], Err(Error::NotInGraph { .. })), "{:?}", refused[1]);
                assert!(matches!(refused[2], Err(Error::BlockTooLarge { .. })), "{:?}", refused[2]);
                assert!(matches!(refused[3], Err(Error::NotCapturable { .. })), "{:?}", refused[3]);
                capture.after(node)?.copy(x, y)?;
                Ok(node)
            })?;
            drop(module);
            for _ in 0..3 {
                graph.launch()?;
            }
            assert_eq!(graph.memory().1.to_vec()?, [27.0; LEN]);
            let node = *graph.nodes();
            let update = |graph: &mut gpukernel::Graph<_, _>, count: u32, by: f32| {
                // SAFETY: as above.
                unsafe {
                    graph.update_foreign(node, |update, (x, _): (&mut gpukernel::DeviceSlice<f32>, _)| {
                        let args = [RawArg::slice_mut(x), RawArg::value(count), RawArg::value(by)];
                        update.launch_foreign(grid, 0, &args);
                    })
                }
            };
            update(&mut graph, 10, 0.5)?;
            graph.launch()?;
            assert_eq!(graph.memory().1.to_vec()?[..11], [&[13.5; 10][..], &[27.0]].concat());
            Ok(())
        });
    }

    /// What a helper that knows nothing of graphs does.
    trait OnStream {
        unsafe fn stream_launch(
            &self,
            module: &gpukernel::ForeignModule,
            grid: LaunchConfig,
            args: &[RawArg<'_>],
        ) -> Result<()>;
    }

    impl OnStream for gpukernel::Stream {
        unsafe fn stream_launch(
            &self,
            module: &gpukernel::ForeignModule,
            grid: LaunchConfig,
            args: &[RawArg<'_>],
        ) -> Result<()> {
            // SAFETY: as the caller promises.
            unsafe { self.launch_foreign(module, "scale", grid, 0, args) }
        }
    }
}

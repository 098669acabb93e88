//! Pinned memory of the host in graphs: what is there is copied by each launch, and the host waits for it.

use std::mem;

use gpukernel::{Device, Error, GraphPinned, PinnedOptions, Result, for_each};
use gpukernel_device_test_kernels::outputs::{add_index, saxpy};
use gpukernel_device_tests::on_every_device;

const LEN: usize = 1 << 16;

fn pinned(device: &Device, value: f32) -> Result<GraphPinned<f32>> {
    let mut buffer = device.pinned(LEN)?;
    buffer.fill(value);
    Ok(buffer.into())
}

#[test]
fn each_launch_copies_what_is_there() {
    on_every_device(|device, module| {
        let memory = (
            pinned(device, 0.0)?,
            device.zeroed::<f32>(LEN)?,
            device.zeroed::<f32>(LEN)?,
            pinned(device, 0.0)?,
        );
        let mut graph = device.stream()?.capture(memory, |capture, (input, x, y, mut output)| {
            capture.copy_from_pinned(&input, x)?;
            capture.launch(module, saxpy, for_each(LEN), (2.0, x, y))?;
            capture.copy_to_pinned(y, &mut output)
        })?;
        // Nothing of it has run.
        assert_eq!(graph.memory().3.read()?, [0.0; LEN]);
        let mut expected = 0.0;
        for round in 1..=10 {
            graph.memory_mut().0.write()?.fill(round as f32);
            graph.launch()?;
            expected += 2.0 * round as f32;
            assert_eq!(graph.memory().3.read()?, [expected; LEN]);
        }
        let (input, .., output) = graph.into_memory();
        assert_eq!(input.into_buffer()?[0], 10.0);
        assert_eq!(output.into_buffer()?[LEN - 1], expected);
        Ok(())
    });
}

/// The copies are nodes like others, and are ordered by what they use, of the host, too.
#[test]
fn copies_are_ordered_by_what_they_use() {
    on_every_device(|device, _| {
        let memory = (pinned(device, 1.0)?, device.zeroed::<f32>(LEN)?, device.filled(LEN, 5.0_f32)?);
        let mut graph = device.stream()?.capture(memory, |capture, (mut host, x, y)| {
            let first = capture.copy_from_pinned(host.slice(..LEN / 2), &mut x[..LEN / 2])?;
            // Of the same memory of the host, and after nothing.
            capture.after(())?.copy_to_pinned(y, &mut host)?;
            let last = capture.after(())?.copy_from_pinned(host.slice(LEN / 2..), &mut x[LEN / 2..])?;
            capture.after((first, last))?.copy_to_pinned(&x[..10], &mut host.slice_mut(10..20))
        })?;
        graph.launch()?;
        let expected = [[1.0; LEN / 2], [5.0; LEN / 2]].concat();
        assert_eq!(graph.memory().1.to_vec()?, expected);
        let host = graph.memory().0.read()?;
        assert_eq!(
            (&host[..10], &host[10..20], &host[20..]),
            (&[5.0; 10][..], &[1.0; 10][..], &[5.0; LEN - 20][..])
        );
        Ok(())
    });
}

/// Two graphs in turns, each with an output of its own: the host reads one while the other runs.
#[test]
fn clones_have_pinned_memory_of_their_own() {
    on_every_device(|device, module| {
        let streams = [device.stream()?, device.stream()?];
        let input = pinned(device, 1.0)?;
        let memory = || Ok::<_, Error>((&input, device.zeroed::<f32>(LEN)?, pinned(device, 0.0)?));
        let first = streams[0].capture(memory()?, |capture, (input, x, mut output)| {
            capture.copy_from_pinned(input, x)?;
            let (front, back) = x.split_at_mut(LEN / 2);
            capture.launch(module, saxpy, for_each(LEN / 2), (1.0, front, back))?;
            capture.copy_to_pinned(x, &mut output)
        })?;
        let second = first.clone_with(memory()?)?;
        let mut graphs = [first, second];
        for round in 0..10 {
            graphs[round % 2].launch_on(&streams[round % 2])?;
            assert_eq!(graphs[(round + 1) % 2].memory().2.read()?.len(), LEN);
        }
        // It is only read, so that nobody waits for it.
        assert_eq!(input.read()?, [1.0; LEN]);
        for graph in graphs {
            let expected = [[1.0; LEN / 2], [2.0; LEN / 2]].concat();
            assert_eq!(graph.into_memory().2.read()?, expected);
        }
        Ok(())
    });
}

/// What is borrowed waits for a graph by itself, also for one that was leaked.
#[test]
fn a_leaked_graph_is_waited_for() {
    on_every_device(|device, module| {
        let streams = [device.stream()?, device.stream()?];
        let mut output = GraphPinned::from(device.pinned::<u64>(LEN)?);
        for round in 0..6 {
            let mut graph = streams[0].capture(
                (device.zeroed::<u64>(LEN)?, &mut output),
                |capture, (x, mut output)| {
                    for _ in 0..=round {
                        capture.launch(module, add_index, for_each(LEN), (x,))?;
                    }
                    capture.copy_to_pinned(x, &mut output)
                },
            )?;
            // One after another, on different streams.
            graph.launch_on(&streams[round % 2])?;
            mem::forget(graph);
            if round % 3 == 2 {
                let times = round as u64 + 1;
                assert!(output.read()?.iter().copied().eq((0..LEN as u64).map(|i| times * (1 + i))));
                output.write()?.fill(0);
            }
        }
        // Its memory is not freed before that.
        drop(output);
        device.synchronize()
    });
}

#[test]
fn pinned_memory_that_the_graph_does_not_hold_is_refused() {
    on_every_device(|device, _| {
        let stream = device.stream()?;
        let mut other = stream.capture(pinned(device, 1.0)?, |_, _| Ok(()))?;
        let shared = pinned(device, 2.0)?;
        let mut graph = stream.capture(
            (pinned(device, 0.0)?, device.zeroed::<f32>(LEN)?),
            |capture, (mut host, x)| {
                let mut wrong = other.memory_mut();
                let refused = [
                    capture.copy_to_pinned(x, &mut wrong),
                    capture.copy_from_pinned(&wrong, x),
                    capture.copy_from_pinned(host.slice(1..), x),
                    capture.copy_to_pinned(x, &mut host.slice_mut(..5)),
                ];
                assert!(matches!(refused[0], Err(Error::NotInGraph { .. })), "{:?}", refused[0]);
                assert!(matches!(refused[1], Err(Error::NotInGraph { .. })), "{:?}", refused[1]);
                assert!(matches!(refused[2], Err(Error::LengthMismatch { .. })), "{:?}", refused[2]);
                assert!(matches!(refused[3], Err(Error::LengthMismatch { .. })), "{:?}", refused[3]);
                // That which owns its memory, as helpers for streams do.
                let owned = gpukernel::Stream::copy_to_pinned(capture, x, device.pinned(LEN)?).map(drop);
                assert!(matches!(owned, Err(Error::NotCapturable { .. })), "{owned:?}");
                capture.copy_from_pinned(host.slice(..0), &mut x[..0])
            },
        )?;
        graph.launch()?;
        assert_eq!(shared.read()?[0], 2.0);
        if device.is_gpu() {
            let ordinary = GraphPinned::from(Device::cpu().pinned::<f32>(4)?);
            let refused = stream.capture((ordinary, device.zeroed::<f32>(4)?), |capture, (host, x)| {
                capture.copy_from_pinned(&host, x)
            });
            assert!(matches!(refused, Err(Error::WrongDevice { .. })), "{refused:?}");
            let graph = stream.capture(pinned(device, 0.0)?, |_, _| Ok(()))?;
            let refused = graph.clone_with(GraphPinned::from(Device::cpu().pinned::<f32>(LEN)?));
            assert!(matches!(refused, Err(Error::WrongDevice { .. })), "{refused:?}");
        }
        Ok(())
    });
}

#[test]
fn options_and_types_of_pinned_memory() {
    on_every_device(|device, _| {
        let stream = device.stream()?;
        let options = PinnedOptions::new().portable().write_combined();
        let mut input = device.pinned_with::<[u16; 3]>(100, options)?;
        input.fill([1, 2, 3]);
        let (input, mut output) =
            (GraphPinned::from(input), GraphPinned::from(device.pinned::<[u16; 3]>(100)?));
        assert!(GraphPinned::from(device.pinned::<u8>(0)?).is_empty());
        let hosts = vec![GraphPinned::from(device.pinned::<()>(7)?)];
        let memory = (&input, device.zeroed::<[u16; 3]>(100)?, &mut output, hosts, device.zeroed::<()>(7)?);
        let mut graph = stream.capture(memory, |capture, (input, x, mut output, mut nothing, units)| {
            capture.copy_from_pinned(input, x)?;
            capture.copy_to_pinned(x, &mut output)?;
            capture.copy_to_pinned(units, &mut nothing[0])
        })?;
        graph.launch()?;
        drop(graph);
        assert_eq!(output.read()?, [[1, 2, 3]; 100]);
        Ok(())
    });
}

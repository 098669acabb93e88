//! Clones of graphs: the same work, with other memory.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use gpukernel::{
    Buffer, Capture, Device, DeviceSlice, Error, Graph, LaunchConfig, Result, for_each, for_each_2d,
};
use gpukernel_device_test_kernels::{
    generics::poke_bytes,
    outputs::{add_index, saxpy},
    param_arrays::{count, nested, stream_and_relax, swap},
    shared::transpose,
};
use gpukernel_device_tests::{on_every_device, on_every_gpu};

const LEN: usize = 1000;

#[test]
fn a_clone_does_the_same_with_other_memory() {
    on_every_device(|device, module| {
        let stream = device.stream()?;
        let x = device.filled(LEN, 1.0_f32)?;
        let memory = (
            &x,
            device.zeroed::<f32>(LEN)?,
            vec![device.zeroed::<f32>(LEN)?],
            Some(device.zeroed::<f32>(4)?),
        );
        let calls = Arc::new(AtomicU32::new(0));
        let called = Arc::clone(&calls);
        let mut graph = stream.capture(memory, move |capture, (x, y, mut z, last)| {
            let first = capture.launch(module, saxpy, for_each(LEN), (2.0, x, y))?;
            // A part, from the middle.
            capture.copy(&y[100..200], &mut z[0][300..400])?;
            capture.fill(&mut z[0][400..], 5.0)?;
            capture.launch(module, saxpy, for_each(0), (2.0, &x[..0], &mut y[..0]))?;
            let call = capture.callback(move || {
                called.fetch_add(1, Ordering::Relaxed);
            })?;
            capture.after(call)?.copy(&z[0][398..402], last.expect("it had one"))?;
            Ok(first)
        })?;
        graph.launch()?;
        let (ten, mut third) = (device.filled(LEN, 10.0_f32)?, device.zeroed::<f32>(LEN)?);
        let mut clone = graph.clone_with((
            // Parts of buffers, and borrows in place of buffers.
            &ten[..],
            &mut third,
            vec![device.zeroed::<f32>(LEN)?],
            Some(device.zeroed::<f32>(4)?),
        ))?;
        clone.launch()?;
        let check =
            |y: &DeviceSlice<f32>, z: &DeviceSlice<f32>, last: &DeviceSlice<f32>, value: f32| -> Result<()> {
                assert_eq!(y.to_vec()?, [value; LEN]);
                let expected = [&[0.0; 300][..], &[value; 100], &[5.0; 600]].concat();
                assert_eq!(z.to_vec()?, expected);
                assert_eq!(last.to_vec()?, [value, value, 5.0, 5.0]);
                Ok(())
            };
        let (_, y, z, last) = clone.memory();
        check(y, &z[0], last.as_ref().expect("it had one"), 20.0)?;
        // A clone of the clone is that of an updated launch; the nodes are the same.
        let node = *clone.nodes();
        clone.update(node, |update, (x, y, ..)| update.launch(for_each(LEN), (3.0, x, y)))?;
        let mut last = device.zeroed::<f32>(4)?;
        let memory = (&x, device.zeroed::<f32>(LEN)?, vec![device.zeroed::<f32>(LEN)?], Some(&mut last));
        let mut again = clone.clone_with(memory)?;
        drop(clone);
        again.launch()?;
        {
            let (_, y, z, last) = again.memory();
            check(y, &z[0], last.as_ref().expect("it had one"), 3.0)?;
        }
        graph.update(node, |update, (x, y, ..)| update.launch(for_each(LEN), (100.0, x, y)))?;
        again.launch()?;
        graph.launch()?;
        drop(graph);
        assert_eq!(again.memory().1.to_vec()?, [6.0; LEN]);
        device.synchronize()?;
        assert_eq!(calls.load(Ordering::Relaxed), 5);
        drop(again);
        assert_eq!(third.to_vec()?, [20.0; LEN]);
        Ok(())
    });
}

/// The same memory, filled with numbers that `first` tells apart.
fn numbered(device: &Device, lens: &[usize], first: f32) -> Result<Vec<Buffer<f32>>> {
    let fill = |(part, len): (usize, &usize)| {
        device.upload(&(0..*len).map(|i| first + (part * 1000 + i % 50) as f32).collect::<Vec<_>>())
    };
    lens.iter().enumerate().map(fill).collect()
}

/// What a description does to memory of a clone is what it does to memory of its own.
fn check_clone(
    device: &Device,
    lens: &[usize],
    describe: impl Fn(&Capture, &mut [&mut DeviceSlice<f32>]) -> Result<()>,
) -> Result<()> {
    let stream = device.stream()?;
    let capture = |first| -> Result<Graph<Vec<Buffer<f32>>>> {
        stream.capture(numbered(device, lens, first)?, |capture, mut memory| describe(capture, &mut memory))
    };
    let (mut original, mut expected) = (capture(1.0)?, capture(5000.0)?);
    let mut clone = original.clone_with(numbered(device, lens, 5000.0)?)?;
    original.launch()?;
    for _ in 0..2 {
        clone.launch()?;
        expected.launch()?;
    }
    drop(original);
    let (expected, clone) = (expected.into_memory(), clone.into_memory());
    for (part, (expected, found)) in expected.iter().zip(&clone).enumerate() {
        assert_eq!(expected.to_vec()?, found.to_vec()?, "part {part}");
    }
    Ok(())
}

/// Addresses in arrays and structs of parameters are replaced, too.
#[test]
fn all_kinds_of_arguments_are_those_of_the_clone() {
    on_every_device(|device, module| {
        let (rows, columns) = (13, 37);
        check_clone(device, &[9 * rows * columns, 9 * rows * columns], |capture, memory| {
            let [from, to] = memory else { panic!("two") };
            let layers = from.view_3d(rows, columns)?.into_layers()?;
            // Any memory will do for walls.
            let solid = &from.cast::<u8>()?[..rows * columns];
            let lattice = (solid.view_2d(columns)?, layers);
            let outputs = to.view_3d_mut(rows, columns)?.into_layers()?;
            capture
                .launch(module, stream_and_relax, for_each_2d(rows, columns), (0.5, lattice, outputs))
                .map(drop)
        })?;
        check_clone(device, &[3, 3, 3, 3, 6], |capture, memory| {
            let [a, b, c, last, out] = memory else { panic!("five") };
            let given = (0.25, 2, [&**a, &**b, &**c], (3, 4), (&mut **last, [5, 6, 7], 4), []);
            capture
                .launch(module, nested::<f32, 3>, for_each(3), (1, given, out.cast_mut::<f64>()?))
                .map(drop)
        })?;
        check_clone(device, &[64 * 64, 64 * 64, 4, 2, 1, 2], |capture, memory| {
            let [x, y, fours, twos, one, two] = memory else { panic!("six") };
            let grid = LaunchConfig::new((2, 2), (32, 32));
            capture.launch(module, transpose, grid, (x, y.view_2d_mut(64)?))?;
            let counts = [fours.cast_mut()?, twos.cast_mut()?];
            let seen = [one.cast_mut()?, two.cast_mut()?];
            capture.launch(module, count, LaunchConfig::new(4, 32), (counts, seen)).map(drop)
        })?;
        check_clone(device, &[64; 6], |capture, memory| {
            let [a, b, c, d, e, f] = memory else { panic!("six") };
            let slices = [a.cast_mut()?, b.cast_mut()?];
            let args = (slices, [c.cast()?, d.cast()?], [e.cast_mut()?, f.cast_mut()?]);
            // SAFETY: all have 64 elements, as the grid has threads.
            unsafe { capture.launch_unsafe(module, swap, LaunchConfig::new(2, 32), args).map(drop) }
        })
    });
}

#[test]
fn memory_of_another_shape_is_refused() {
    on_every_device(|device, module| {
        let stream = device.stream()?;
        let buffers = |lens: &[usize]| -> Result<Vec<Buffer<f32>>> {
            lens.iter().map(|&len| device.zeroed(len)).collect()
        };
        let memory = (buffers(&[3, 4])?, None::<Buffer<f32>>, Some(device.zeroed::<f32>(5)?));
        let graph = stream.capture(memory, |capture, (mut buffers, ..)| {
            capture.fill(buffers[0], 1.0)?;
            capture.fill(buffers[1], 2.0)
        })?;
        let one = |len| device.zeroed::<f32>(len).map(Some);
        for memory in [
            (buffers(&[4, 3])?, None, one(5)?),
            (buffers(&[3, 4, 0])?, None, one(5)?),
            (buffers(&[3])?, one(4)?, one(5)?),
            (buffers(&[3, 4])?, one(5)?, None),
            (buffers(&[3, 4])?, None, one(6)?),
            (buffers(&[])?, None, None),
        ] {
            let error = graph.clone_with(memory).map(drop).unwrap_err();
            assert!(matches!(error, Error::OtherMemory { .. }), "{error}");
        }
        graph.clone_with((buffers(&[3, 4])?, None::<Buffer<f32>>, one(5)?))?.launch()?;

        // A slice that is aligned less than that of which a cast was made.
        let mut bytes = device.zeroed::<u8>(64)?;
        let graph = stream.capture(&mut bytes[..32], |capture, bytes| {
            capture.launch(module, add_index, for_each(4), (bytes.cast_mut::<u64>()?,))
        })?;
        let mut others = device.zeroed::<u8>(64)?;
        let error = graph.clone_with(&mut others[1..33]).map(drop).unwrap_err();
        assert!(error.to_string().contains("aligned to 1 bytes"), "{error}");
        let error = graph.clone_with(&mut others[8..40]).map(drop).unwrap_err();
        assert!(error.to_string().contains("aligned to 8 bytes"), "{error}");
        graph.clone_with(&mut others[..32])?.launch()?;
        drop(graph);
        assert_eq!(others.cast::<u64>()?.to_vec()?[..5], [1, 2, 3, 4, 0]);

        // The same bytes twice, and different ones.
        let (x, y) = (device.filled(LEN, 1.0_f32)?, device.filled(LEN, 2.0_f32)?);
        let graph = stream.capture((&x, &x, device.zeroed::<f32>(LEN)?), |capture, (x, also_x, to)| {
            capture.launch(module, saxpy, for_each(LEN), (1.0, x, to))?;
            capture.launch(module, saxpy, for_each(LEN), (1.0, also_x, to))
        })?;
        let error = graph.clone_with((&x, &y, device.zeroed::<f32>(LEN)?)).map(drop).unwrap_err();
        assert!(matches!(error, Error::OtherMemory { .. }), "{error}");
        let mut clone = graph.clone_with((&y, &y, device.zeroed::<f32>(LEN)?))?;
        clone.launch()?;
        assert_eq!(clone.memory().2.to_vec()?, [4.0; LEN]);

        let cpu = Device::cpu();
        if device.is_gpu() {
            let cpus = cpu.zeroed::<f32>(LEN)?;
            let error = graph.clone_with((&cpus, &cpus, device.zeroed::<f32>(LEN)?)).map(drop).unwrap_err();
            assert!(matches!(error, Error::WrongDevice { .. }), "{error}");
        }
        Ok(())
    });
}

/// Graphs without memory, and with memory that nothing uses.
#[test]
fn clones_of_nothing() {
    on_every_device(|device, _| {
        let stream = device.stream()?;
        let mut nothing = stream.capture((), |_, ()| Ok(()))?.clone_with(())?;
        nothing.launch()?;
        let unused = stream.capture([device.zeroed::<u8>(0)?, device.zeroed::<u8>(1)?], |_, _| Ok(()))?;
        let mut clone = unused.clone_with([device.zeroed::<u8>(0)?, device.zeroed::<u8>(1)?])?;
        clone.launch()?;
        clone.upload()
    });
}

/// Graph and clones run at once, each in the order of its memory.
#[test]
fn clones_are_ordered_with_other_work_on_their_memory() {
    on_every_device(|device, module| {
        let streams = [device.stream()?, device.stream()?, device.stream()?];
        let ones = device.filled(LEN, 1.0_f32)?;
        let graph = streams[0].capture((&ones, device.zeroed::<f32>(LEN)?), |capture, (ones, y)| {
            capture.launch(module, saxpy, for_each(LEN), (1.0, ones, y))
        })?;
        let clone = |_| graph.clone_with((&ones, device.zeroed::<f32>(LEN)?));
        let mut clones = (0..8).map(clone).collect::<Result<Vec<_>>>()?;
        for round in 0..10 {
            for (number, clone) in clones.iter_mut().enumerate() {
                clone.launch_on(&streams[(round + number) % 3])?;
            }
        }
        for clone in clones {
            assert_eq!(clone.into_memory().1.to_vec()?, [10.0; LEN]);
        }
        Ok(())
    });
}

#[test]
fn kernels_that_are_unsafe_are_those_of_the_clone() {
    on_every_device(|device, module| {
        let graph = device.stream()?.capture(device.zeroed::<u8>(64)?, |capture, bytes| {
            // SAFETY: each thread writes one of as many bytes.
            unsafe {
                capture.launch_unsafe(module, poke_bytes, LaunchConfig::new(1, 32), (7, &mut bytes[8..40]))
            }
        })?;
        let mut clone = graph.clone_with(device.zeroed::<u8>(64)?)?;
        clone.launch()?;
        let expected = [&[0; 8][..], &[7; 32], &[0; 24]].concat();
        assert_eq!((graph.memory().to_vec()?, clone.memory().to_vec()?), (vec![0; 64], expected));
        Ok(())
    });
}

/// Skipped by name where there is no GPU: `cargo gpukernel test` and bundles run them where there is one.
mod needs_a_gpu {
    use gpukernel::RawArg;

    use super::*;
    use crate::foreign::SCALE;

    #[test]
    #[ignore = "needs a GPU"]
    fn kernels_made_elsewhere_are_those_of_the_clone() {
        on_every_gpu(|device| {
            // SAFETY: it is PTX, which the driver compiles and so checks.
            let module = unsafe { device.load_foreign(SCALE.as_bytes()) }?;
            let graph = device.stream()?.capture(device.filled(LEN, 1.0_f32)?, |capture, x| {
                let part = &mut x[64..];
                let count = part.len() as u32;
                let args = [RawArg::slice_mut(part), RawArg::value(count), RawArg::value(3.0_f32)];
                // SAFETY: the arguments are those of `scale`, which stays inside the buffer because of the count.
                unsafe { capture.launch_foreign(&module, "scale", LaunchConfig::new(8, 128), 0, &args) }
            })?;
            let mut clone = graph.clone_with(device.filled(LEN, 2.0_f32)?)?;
            drop(graph);
            clone.launch()?;
            clone.launch()?;
            let expected = [&[2.0; 64][..], &[18.0; LEN - 64]].concat();
            assert_eq!(clone.memory().to_vec()?, expected);
            Ok(())
        });
    }
}

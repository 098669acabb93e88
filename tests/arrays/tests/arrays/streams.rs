//! Functions of arrays on other streams than the default one.

#![allow(clippy::unwrap_used)] // what is unwrapped are results of the test

use array_test_kernels::{cores::matmul, maximum, squared_sum};
use gpukernel::Device;
use gpukernel_array::{Array, ArrayFunction, CoreFunction, Error};
use gpukernel_array_tests::on_every_device;
use ndarray::Axis;

/// Results wait for a stream that is held back, and work on the default stream does not. (On a GPU, other tests wait for the whole device, and so for the stream:
/// what is launched there is a test of `held`.)
#[test]
fn functions_on_streams_are_queued_there() {
    on_every_device(|device, module| {
        let is_held = !device.is_gpu();
        let x = Array::from_shape_fn(device, (5, 7), |(i, j)| ((i * 31 + j * 17) % 23) as i32)?;
        let host = x.to_ndarray()?;
        let stream = device.stream()?;
        let held = is_held.then(|| stream.hold()).transpose()?;
        let on_stream = &module.on(&stream);
        assert_eq!(on_stream.kernels().count(), module.kernels().count());
        let squares = squared_sum::apply(on_stream, (&x, 1))?;
        let mut out = Array::zeros(device, (5, 7))?;
        squared_sum::apply_into(on_stream, (&squares, &x), &mut out)?;
        let maxima = maximum::reduce(on_stream, &x, Axis(1))?;
        let running = maximum::accumulate(on_stream, &x, Axis(1))?;
        let pairs = squared_sum::outer(on_stream, &x, &maxima)?;
        let products = matmul::apply(on_stream, (&x, x.t()))?;
        assert!(!is_held || !stream.is_done()?, "nothing waited");
        let elsewhere = squared_sum::apply(module, (&x, 1))?.to_ndarray()?;
        assert!(!is_held || !stream.is_done()?, "nothing waited");
        drop(held);
        assert_eq!(squares.to_ndarray()?, elsewhere);
        assert_eq!(out.to_ndarray()?, (&elsewhere + &host).mapv(|x| x * x));
        assert_eq!(maxima.to_ndarray()?, host.map_axis(Axis(1), |row| *row.iter().max().unwrap()));
        assert_eq!(running.to_ndarray()?.index_axis(Axis(1), 6), maxima.to_ndarray()?);
        assert_eq!(pairs.to_ndarray()?[(4, 6, 4)], (host[(4, 6)] + maxima.to_ndarray()?[4]).pow(2));
        assert_eq!(products.to_ndarray()?, host.dot(&host.t()));
        Ok(())
    });
}

/// The module stays what it was, and the stream is there as long as a module of it.
#[test]
fn a_module_on_a_stream_is_the_same_module() {
    on_every_device(|device, module| {
        let on_stream = module.on(&device.stream()?);
        let x = Array::from_vec(device, [1, 2, 3])?;
        assert_eq!(squared_sum::apply(&on_stream, (&x, &x))?.to_vec()?, [4, 16, 36]);
        assert_eq!(squared_sum::apply(&on_stream.on(&module.stream()), (&x, 0))?.to_vec()?, [1, 4, 9]);
        let other = Device::cpu();
        if device.is_gpu() {
            let error = squared_sum::apply(&module.on(&other.default_stream()), (&x, &x)).unwrap_err();
            assert!(matches!(error, Error::Runtime(gpukernel::Error::WrongDevice { .. })), "{error}");
        }
        // What is recorded belongs to the graph, whose launches name their streams.
        let mut out = Array::zeros(device, 3)?;
        device.stream()?.capture((), |capture, ()| {
            let error = squared_sum::apply_into(&module.on(capture), (&x, &x), &mut out).unwrap_err();
            assert!(error.to_string().contains("Stream::launch"), "{error}");
            let error = squared_sum::apply(&module.on(capture), (&x, &x)).unwrap_err();
            assert!(error.to_string().contains("an allocation"), "{error}");
            Ok(())
        })?;
        Ok(())
    });
}

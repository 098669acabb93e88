//! Drops in every order, while what is dropped has work in flight.

use std::{
    any::Any,
    future::{Future, IntoFuture},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Waker},
};

use gpukernel::{PinnedOptions, for_each};
use gpukernel_device_test_kernels::outputs::saxpy;
use gpukernel_device_tests::{KERNELS, on_every_device_alone};

use crate::{LEN, uniform};

fn drop_in_order(parts: [Box<dyn Any>; 6], order: &[usize]) {
    let mut parts = parts.map(Some);
    order.iter().for_each(|index| parts[*index] = None);
}

/// Everything that has to do with a launch, in each of the 720 orders.
#[test]
fn drops_may_come_in_any_order() {
    on_every_device_alone(|device, _| {
        let ones = device.filled(LEN, 1.0_f32)?;
        let mut sum = device.zeroed::<f32>(LEN)?;
        let module = device.load(&KERNELS)?;
        for (round, order) in permutations(6).into_iter().enumerate() {
            let stream = device.stream()?;
            let x = stream.filled(LEN, 2.0_f32)?;
            let mut y = stream.zeroed::<f32>(LEN)?;
            stream.launch(&module, saxpy, for_each(LEN), (1.0, &x, &mut y))?;
            stream.launch(&module, saxpy, for_each(LEN), (1.0, &ones, &mut y))?;
            // Loading code takes long: now and then a module of its own.
            let own = if round % 120 == 0 { device.load(&KERNELS)? } else { module.clone() };
            let memory = [device.filled(LEN, 1.0_f32)?, stream.zeroed::<f32>(LEN)?];
            let mut graph = stream.capture(memory, |capture, [x, y]| {
                capture.launch(&own, saxpy, for_each(LEN), (1.0, x, y)).map(drop)
            })?;
            graph.launch()?;
            let event = stream.record()?;
            device.default_stream().launch(&own, saxpy, for_each(LEN), (1.0, &y, &mut sum))?;
            let parts: [Box<dyn Any>; 6] =
                [Box::new(stream), Box::new(x), Box::new(y), Box::new(own), Box::new(graph), Box::new(event)];
            drop_in_order(parts, &order);
        }
        assert_eq!(uniform(&sum.to_vec()?), 720.0 * 3.0);
        Ok(())
    });
}

/// What copies to the host, shares memory with it and calls it, in each of the 720 orders.
#[test]
fn drops_of_what_the_host_takes_part_in_may_come_in_any_order() {
    on_every_device_alone(|device, module| {
        let (mut sum, calls) = (device.zeroed::<f32>(LEN)?, Arc::new(AtomicUsize::new(0)));
        let call = || {
            let calls = Arc::clone(&calls);
            move || {
                calls.fetch_add(1, Ordering::Relaxed);
            }
        };
        for (round, order) in permutations(6).into_iter().enumerate() {
            let stream = device.stream()?;
            let x = stream.filled(LEN, 2.0_f32)?;
            let mut shared = match round % 2 {
                0 => device.managed::<f32>(LEN)?,
                _ => device.mapped(LEN, PinnedOptions::new())?,
            };
            let pinned = device.pinned(LEN)?;
            let mut graph = stream.capture(stream.zeroed::<f32>(LEN)?, |capture, y| {
                capture.fill(y, 1.0)?;
                capture.callback(call())
            })?;
            stream.launch(module, saxpy, for_each(LEN), (1.0, &x, &mut shared))?;
            let transfer = stream.copy_to_pinned(&shared, pinned)?;
            graph.launch()?;
            stream.callback(call())?;
            // Its callback wakes nobody.
            let mut future = (&stream).into_future();
            let _ = Pin::new(&mut future).poll(&mut Context::from_waker(Waker::noop()));
            device.default_stream().launch(module, saxpy, for_each(LEN), (1.0, &shared, &mut sum))?;
            let parts: [Box<dyn Any>; 6] = [
                Box::new(stream),
                Box::new(x),
                Box::new(shared),
                Box::new(transfer),
                Box::new(graph),
                Box::new(future),
            ];
            drop_in_order(parts, &order);
        }
        device.synchronize()?;
        assert_eq!((uniform(&sum.to_vec()?), calls.load(Ordering::Relaxed)), (720.0 * 2.0, 720 * 2));
        Ok(())
    });
}

/// All orders of so many.
fn permutations(count: usize) -> Vec<Vec<usize>> {
    match count {
        0 => vec![Vec::new()],
        _ => permutations(count - 1)
            .iter()
            .flat_map(|shorter| {
                (0..count).map(move |place| {
                    let mut longer = shorter.clone();
                    longer.insert(place, count - 1);
                    longer
                })
            })
            .collect(),
    }
}

//! Functions of the host on the thread of a stream.

use std::sync::{Arc, Mutex, mpsc};

use gpukernel::{Device, Error, Result, for_each};

use crate::{add, common::on_the_cpu};

#[test]
fn callbacks_run_in_order_between_other_work() {
    on_the_cpu(|device, module| {
        let stream = device.stream()?;
        let mut x = device.managed::<u32>(100)?;
        let order = Arc::new(Mutex::new(Vec::new()));
        let held = stream.hold()?;
        for round in 0..10 {
            let order = Arc::clone(&order);
            stream.launch(module, add, for_each(100), (1, &mut x))?;
            stream.callback(move || order.lock().expect("no panic").push(round))?;
        }
        assert!(order.lock().expect("no panic").is_empty());
        held.release();
        stream.synchronize()?;
        assert_eq!(*order.lock().expect("no panic"), (0..10).collect::<Vec<_>>());
        assert_eq!(x.host()?, [10; 100]);
        Ok(())
    });
}

#[test]
fn a_panic_of_a_callback_is_told_to_who_waits_and_the_rest_goes_on() {
    on_the_cpu(|device, _| {
        let (stream, (sender, receiver)) = (device.stream()?, mpsc::channel());
        stream.callback(|| std::panic::resume_unwind(Box::new("it panics")))?;
        stream.callback(move || sender.send(7).expect("somebody listens"))?;
        let error = stream.synchronize().unwrap_err();
        assert!(
            matches!(&error, Error::CallbackPanicked { message, .. } if message == "it panics"),
            "{error}"
        );
        assert_eq!(receiver.recv(), Ok(7));
        stream.synchronize()
    });
}

/// What waits in a callback is refused, without a copy that would be made later.
#[test]
fn callbacks_do_not_wait() {
    type Wait = Box<dyn FnOnce() -> Result<()> + Send>;
    on_the_cpu(|device, _| {
        let stream = device.stream()?;
        let (of_event, of_scope, of_copy) = (stream.clone(), stream.clone(), stream.clone());
        let (here, everywhere) = (stream.clone(), Device::cpu());
        let waits: Vec<(&str, Wait)> = vec![
            ("stream", Box::new(move || here.synchronize())),
            ("device", Box::new(move || everywhere.synchronize())),
            ("event", Box::new(move || of_event.record()?.synchronize())),
            (
                "scope",
                Box::new(move || {
                    let (x, mut to) = (of_scope.filled(10, 1_u32), [0; 10]);
                    of_scope.scope(|scope| scope.copy_to_host(&x?, &mut to))
                }),
            ),
            (
                "copy",
                Box::new(move || {
                    let x = of_copy.filled(10, 1_u32)?;
                    x.to_vec().map(drop)
                }),
            ),
        ];
        for (what, wait) in waits {
            let (sender, receiver) = mpsc::channel();
            stream.callback(move || sender.send(wait()).expect("somebody listens"))?;
            let result = receiver.recv().expect("it is called");
            assert!(matches!(result, Err(Error::WaitInCallback { .. })), "{what}: {result:?}");
        }
        let error = Error::WaitInCallback { device: device.to_string() };
        assert!(error.to_string().contains("must not wait"), "{error}");
        stream.synchronize()
    });
}

/// What waits at its end is leaked, or left to its work.
#[test]
fn callbacks_drop_what_others_wait_for() {
    on_the_cpu(|device, _| {
        let (stream, other) = (device.stream()?, device.stream()?);
        let held = other.hold()?;
        let x = other.filled(10, 1_u32)?;
        let transfer = other.copy_to_pinned(&x, device.pinned(10)?)?;
        let mut graph = other.capture(device.zeroed::<u32>(10)?, |capture, y| capture.fill(y, 7))?;
        graph.launch()?;
        let (sender, receiver) = mpsc::channel();
        stream.callback(move || {
            drop((transfer, graph));
            sender.send(()).expect("somebody listens");
        })?;
        receiver.recv().expect("it is called");
        held.release();
        device.synchronize()
    });
}

/// A callback may queue, also on its own stream, and more than the stream has room for.
#[test]
fn callbacks_queue_more() {
    on_the_cpu(|device, module| {
        let stream = device.stream()?;
        let (sender, receiver) = mpsc::channel();
        let (on, module) = (stream.clone(), module.clone());
        let mut x = device.zeroed::<u32>(10)?;
        stream.callback(move || {
            let queued = (0..2000).try_for_each(|_| on.launch(&module, add, for_each(10), (1, &mut x)));
            sender.send(queued.map(|()| x)).expect("somebody listens");
        })?;
        let x = receiver.recv().expect("it is called")?;
        assert_eq!(x.to_vec()?, [2000; 10]);
        Ok(())
    });
}

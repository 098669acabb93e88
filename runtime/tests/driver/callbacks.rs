//! Callbacks that use a GPU: no call of them reaches the simulated driver, which ends the process then.

use std::{
    env,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
};

use gpukernel::{Buffer, Device, Error, LaunchConfig, RawArg, Result, Stream};

use crate::{is_inner, load, peers::raw, simulated, waits, with_driver};

type Use = Box<dyn Fn() -> Result<()> + Send + Sync>;

/// What a callback might do.
fn uses(device: &Device) -> Result<Vec<(&'static str, Use)>> {
    fn of(
        device: &Device,
        code: impl Fn(&Device, &Stream, &Buffer<u32>) -> Result<()> + Send + Sync + 'static,
    ) -> Result<Use> {
        let (device, stream) = (device.clone(), device.stream()?);
        let x = stream.filled(10, 1_u32)?;
        Ok(Box::new(move || code(&device, &stream, &x)))
    }
    let module = load(device)?;
    let launch = move |_: &Device, stream: &Stream, x: &Buffer<u32>| {
        // SAFETY: kernels of this driver do nothing.
        unsafe { stream.launch_foreign(&module, "stray", LaunchConfig::new(1, 1), 0, &[RawArg::slice(x)]) }
    };
    let event = device.stream()?.record()?;
    Ok(vec![
        ("device", of(device, |device, _, _| device.synchronize())?),
        ("stream", of(device, |_, stream, _| stream.synchronize())?),
        ("event", of(device, move |_, _, _| event.synchronize())?),
        ("copy", of(device, |_, stream, x| stream.copy_to_host(x, &mut [0; 10]))?),
        ("copy of a view", of(device, |_, _, x| x.view_2d(5)?.column(1)?.to_vec().map(drop))?),
        ("upload", of(device, |device, _, _| device.upload(&[1_u32]).map(drop))?),
        (
            "scope",
            of(device, |_, stream, _| stream.scope(|_| -> Result<()> { panic!("it does not begin") }))?,
        ),
        (
            "transfer",
            of(device, |_, stream, x| stream.copy_to_pinned(x, stream.device().pinned(10)?).map(drop))?,
        ),
        ("launch", of(device, launch)?),
    ])
}

#[test]
fn callbacks_do_not_use_the_gpu() {
    for late in [None, Some("FAKE_LATE")] {
        if !is_inner() {
            let variables: Vec<_> = late.iter().map(|name| (*name, "1")).collect();
            crate::succeeded(&with_driver(&variables));
        }
    }
    if !is_inner() {
        return;
    }
    let run = || -> Result<()> {
        let device = Device::gpu(0)?;
        let stream = device.stream()?;
        for (what, code) in uses(&device)? {
            let (sender, receiver) = mpsc::channel();
            let (code, again) = (Arc::new(code), sender.clone());
            let in_graph = Arc::clone(&code);
            stream.callback(move || sender.send(code()).expect("somebody listens"))?;
            let mut graph = stream.capture((), |capture, ()| {
                capture.callback(move || again.send(in_graph()).expect("somebody listens"))
            })?;
            graph.launch()?;
            for _ in 0..2 {
                let result = receiver.recv().expect("it is called");
                assert!(matches!(result, Err(Error::WaitInCallback { .. })), "{what}: {result:?}");
            }
        }
        // And it is used as before behind that.
        stream.filled(10, 1_u32)?.to_vec().map(drop)
    };
    run().unwrap_or_else(|error| panic!("{error}"));
}

/// Memory that may still be used is leaked, also another library's.
#[test]
fn callbacks_drop_what_they_own() {
    /// What frees the memory.
    struct Owner(Arc<AtomicBool>);
    impl Drop for Owner {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    simulated(&[], || {
        let device = Device::gpu(0)?;
        let (stream, other) = (device.stream()?, device.stream()?);
        let [here, there] = [&stream, &other].map(raw);
        let mut memory = device.zeroed::<u32>(10)?;
        let is_freed = Arc::new(AtomicBool::new(false));
        let owner = Owner(Arc::clone(&is_freed));
        // SAFETY: the buffer is kept longer.
        let mut theirs = unsafe { Buffer::<u32>::from_foreign(&stream, memory.as_mut_ptr(), 10, owner)? };
        other.fill(&mut theirs, 1)?;
        let transfer = other.copy_to_pinned(&theirs, device.pinned(10)?)?;
        let mut graph = other.capture(device.zeroed::<u32>(10)?, |capture, x| capture.fill(x, 7))?;
        graph.launch()?;
        let all = (device.zeroed::<u32>(10)?, device.managed::<u32>(10)?, device.stream()?, transfer, graph);
        let before = (waits(here, there), waits(0, there));
        stream.callback(move || drop((theirs, all)))?;
        assert!(!is_freed.load(Ordering::Relaxed));
        assert_eq!((waits(here, there), waits(0, there)), before);
        Ok(())
    });
}

/// A copy whose stream cannot be waited for is over when its borrow ends: the device is waited for.
#[test]
fn copies_that_cannot_be_waited_for_are_over() {
    const FAULT: &str = "cuStreamSynchronize@1=1";
    if !is_inner() {
        for copy in ["copy", "scope"] {
            crate::succeeded(&with_driver(&[("FAKE_FAULT", FAULT), ("COPY", copy)]));
        }
        return;
    }
    let run = || -> Result<()> {
        let device = Device::gpu(0)?;
        let stream = device.stream()?;
        let (x, mut to) = (stream.filled(10, 1_u32)?, [0; 10]);
        assert_eq!(waits(0, usize::MAX), 0);
        let result = match env::var("COPY").as_deref() {
            Ok("scope") => stream.scope(|scope| scope.copy_to_host(&x, &mut to)),
            _ => stream.copy_to_host(&x, &mut to),
        };
        assert!(matches!(result, Err(Error::Driver { call: "cuStreamSynchronize", .. })), "{result:?}");
        assert_eq!(waits(0, usize::MAX), 1);
        stream.copy_to_host(&x, &mut to)
    };
    run().unwrap_or_else(|error| panic!("{error}"));
}

//! What another thread does between two calls of the driver.

use std::{
    ffi::{CStr, c_char, c_void},
    mem, ptr, thread,
};

use gpukernel::{Device, Result};

use crate::{peers::raw, simulated, waits};

type Hook = extern "C" fn(*mut c_void);

/// Runs `code`, in which the next call of a function of the driver begins with `other` on another thread.
fn meanwhile<R>(function: &'static CStr, other: impl FnOnce() + Send, code: impl FnOnce() -> R) -> R {
    extern "C" fn call<F: FnOnce() + Send>(other: *mut c_void) {
        // SAFETY: it is the one below, which is there until `code` has returned.
        let other = unsafe { (*other.cast::<Option<F>>()).take() }.expect("it is called once");
        thread::scope(|scope| scope.spawn(other).join().expect("no panic"));
    }
    fn hook<F: FnOnce() + Send>(_: &Option<F>) -> Hook {
        call::<F>
    }
    // SAFETY: the library is the test's, and loaded.
    let library = unsafe { libloading::Library::new("libcuda.so.1") }.expect("it is loaded");
    // SAFETY: the function is of this type.
    let before =
        unsafe { library.get::<unsafe extern "C" fn(*const c_char, Hook, *mut c_void)>(b"fake_before\0") }
            .expect("it is there");
    let mut other = Some(other);
    let hook = hook(&other);
    // SAFETY: the driver takes it back below.
    unsafe { before(function.as_ptr(), hook, (&raw mut other).cast()) };
    let result = code();
    // SAFETY: this is none.
    unsafe { before(ptr::null(), hook, ptr::null_mut()) };
    assert!(other.is_none(), "{function:?} is not called");
    result
}

/// A launch of a graph that notes nothing is noted if another part of its memory is used at the same time.
#[test]
fn a_settled_graph_is_noted_beside_work_on_another_part() {
    simulated(&[], || {
        let device = Device::gpu(0)?;
        let [here, there, last] = [device.stream()?, device.stream()?, device.stream()?];
        for is_forgotten in [false, true] {
            let mut buffer = device.zeroed::<f32>(20)?;
            let (left, right) = buffer.split_at_mut(10);
            let mut graph = here.capture(left, |capture, left| capture.fill(left, 1.0))?;
            graph.launch()?;
            graph.launch()?;
            let fill = || there.fill(right, 2.0).expect("the driver is there");
            meanwhile(c"cuGraphLaunch", fill, || graph.launch())?;
            if is_forgotten {
                mem::forget(graph);
                let before = waits(raw(&there), raw(&here)) + waits(raw(&here), raw(&there));
                drop(buffer);
                assert_eq!(waits(raw(&there), raw(&here)) + waits(raw(&here), raw(&there)), before + 1);
            } else {
                let mut out = device.zeroed::<f32>(10)?;
                last.copy(graph.memory(), &mut out)?;
                assert_eq!((waits(raw(&last), raw(&here)), waits(raw(&last), raw(&there))), (1, 1));
            }
        }
        Ok(())
    });
}

/// The same of two graphs.
#[test]
fn settled_graphs_of_two_parts_are_noted_beside_each_other() {
    simulated(&[], || {
        let device = Device::gpu(0)?;
        let [here, there, last] = [device.stream()?, device.stream()?, device.stream()?];
        let mut buffer = device.zeroed::<f32>(20)?;
        let (left, right) = buffer.split_at_mut(10);
        let mut graphs = [(&here, left), (&there, right)]
            .into_iter()
            .map(|(stream, part)| stream.capture(part, |capture, part| capture.fill(part, 1.0)))
            .collect::<Result<Vec<_>>>()?;
        let [one, two] = &mut graphs[..] else { panic!("there are two") };
        one.launch()?;
        one.launch()?;
        let other = || (0..2).for_each(|_| two.launch().expect("the driver is there"));
        meanwhile(c"cuGraphLaunch", other, || one.launch())?;
        let mut out = device.zeroed::<f32>(10)?;
        last.copy(one.memory(), &mut out)?;
        assert_eq!((waits(raw(&last), raw(&here)), waits(raw(&last), raw(&there))), (1, 1));
        Ok(())
    });
}

/// Zeros are waited for, also if somebody has waited for their stream just before they were queued.
#[test]
fn zeros_are_noted_behind_a_wait() {
    simulated(&[], || {
        let device = Device::gpu(0)?;
        let (default, stream) = (device.default_stream(), device.stream()?);
        let synchronize = || default.synchronize().expect("the driver is there");
        let mut exportable = meanwhile(c"cuMemsetD8Async", synchronize, || device.exportable::<u32>(10))?;
        stream.fill(&mut exportable, 7)?;
        assert_eq!(waits(raw(&stream), raw(&default)), 1);
        let mut buffer = meanwhile(c"cuMemsetD8Async", synchronize, || device.zeroed::<u32>(10))?;
        stream.fill(&mut buffer, 7)?;
        assert_eq!(waits(raw(&stream), raw(&default)), 2);
        Ok(())
    });
}

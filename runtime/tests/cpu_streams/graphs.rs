//! Graphs that are queued.

use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{Arc, Mutex, mpsc},
    time::Duration,
};

use gpu_std::{Constant, constant, prelude::*};
use gpukernel::{Capture, Error, LaunchConfig, Result, for_each};

use crate::{add, common::on_the_cpu, panics};

const LEN: usize = 300;

#[test]
fn an_update_leaves_queued_launches_as_they_were() {
    on_the_cpu(|device, module| {
        let stream = device.stream()?;
        let mut graph = stream.capture(device.zeroed::<u32>(LEN)?, |capture, y| {
            capture.launch(module, add, for_each(LEN), (1, y))
        })?;
        let held = stream.hold()?;
        graph.launch()?;
        graph.launch()?;
        let node = *graph.nodes();
        graph.update(node, |update, y| update.launch(for_each(LEN), (100, y)))?;
        graph.launch()?;
        held.release();
        assert_eq!(graph.memory().to_vec()?, [102; LEN]);
        Ok(())
    });
}

#[test]
fn memory_of_a_graph_that_is_gone_is_freed_after_its_work() {
    on_the_cpu(|device, _| {
        let stream = device.stream()?;
        let mut y = device.zeroed::<u32>(LEN)?;
        for round in 1..=20_u32 {
            let x = device.filled(LEN, round)?;
            let mut graph = stream.capture((x, &mut y), |capture, (x, y)| capture.copy(x, y))?;
            graph.launch()?;
            drop(graph);
        }
        assert_eq!(y.to_vec()?, [20; LEN]);
        Ok(())
    });
}

#[constant]
static BY: Constant<u32> = Constant::new(1);

#[kernel]
fn add_constant(y: PerThread<u32>) {
    for (_, y) in y {
        *y += BY.get();
    }
}

#[test]
fn constants_are_those_of_the_launch() {
    on_the_cpu(|device, module| {
        let stream = device.stream()?;
        let mut graph = stream.capture(device.zeroed::<u32>(LEN)?, |capture, y| {
            capture.launch(module, add_constant, for_each(LEN), (y,))
        })?;
        let mut y = device.zeroed::<u32>(LEN)?;
        let held = stream.hold()?;
        graph.launch()?;
        stream.launch(module, add_constant, for_each(LEN), (&mut y,))?;
        module.set_constant(&BY, 10)?;
        graph.launch()?;
        stream.launch(module, add_constant, for_each(LEN), (&mut y,))?;
        held.release();
        assert_eq!((graph.memory().to_vec()?, y.to_vec()?), (vec![11; LEN], vec![11; LEN]));
        Ok(())
    });
}

/// As on a GPU, what comes after a kernel that panics is done. A loop ends, which might have no end.
#[test]
fn steps_after_a_panic_are_done_and_loops_end() {
    on_the_cpu(|device, module| {
        let stream = device.stream()?;
        let mut graph = stream.capture(
            (device.zeroed::<u32>(LEN)?, device.filled(1, 1_u32)?),
            |capture, (y, condition)| {
                capture.launch(module, panics, LaunchConfig::new(1, 1), ())?;
                let condition = capture.condition(condition)?;
                capture.while_nonzero(condition, |body| {
                    body.launch(module, panics, LaunchConfig::new(1, 1), ())
                })?;
                capture.launch(module, add, for_each(LEN), (1, y))
            },
        )?;
        graph.launch()?;
        let error = device.synchronize().unwrap_err();
        assert!(matches!(error, Error::KernelPanicked { .. }), "{error}");
        assert_eq!(graph.memory().0.to_vec()?, [1; LEN]);
        Ok(())
    });
}

#[test]
fn a_graph_runs_on_several_streams_in_order() {
    on_the_cpu(|device, module| {
        let streams = [device.stream()?, device.stream()?, device.stream()?];
        let mut graph = streams[0].capture(device.zeroed::<u32>(LEN)?, |capture, y| {
            capture.launch(module, add, for_each(LEN), (1, y))?;
            capture.callback(|| {})
        })?;
        let held = streams[1].hold()?;
        for round in 0..30 {
            graph.launch_on(&streams[round % 3])?;
        }
        assert!(!streams[2].is_done()? && !streams[0].is_done()?);
        held.release();
        assert_eq!(graph.memory().to_vec()?, [30; LEN]);
        Ok(())
    });
}

/// Also where no memory orders its launches: as on a GPU, one comes after the other, and the graph's end after both.
#[test]
fn launches_without_memory_run_one_after_another() {
    on_the_cpu(|device, _| {
        let [here, there] = [device.stream()?, device.stream()?];
        let calls = Arc::new(Mutex::new(0));
        let mut graph = here.capture((), |capture, ()| {
            let calls = Arc::clone(&calls);
            capture.callback(move || *calls.lock().expect("no panic") += 1)
        })?;
        let held = here.hold()?;
        graph.launch()?;
        graph.launch_on(&there)?;
        let (sender, receiver) = mpsc::channel();
        there.callback(move || sender.send(()).expect("somebody listens"))?;
        // On the other stream nothing happens before the first is done.
        let early = receiver.recv_timeout(Duration::from_millis(50));
        assert_eq!((early, *calls.lock().expect("no panic")), (Err(mpsc::RecvTimeoutError::Timeout), 0));
        held.release();
        drop(graph);
        assert_eq!(*calls.lock().expect("no panic"), 2);
        receiver.recv().expect("it is called");
        Ok(())
    });
}

/// What is recorded on a branch of it would be lost.
#[test]
fn descriptions_that_fail_have_ended() {
    fn unwound<R>(code: impl FnOnce() -> Result<R>) -> Option<Result<R>> {
        catch_unwind(AssertUnwindSafe(code)).ok()
    }
    on_the_cpu(|device, _| {
        for panics in [false, true] {
            let fail =
                || -> Result<()> { if panics { resume_unwind(Box::new(())) } else { Err(Error::ZeroStep) } };
            let mut kept: Vec<Capture> = Vec::new();
            let described = unwound(|| {
                device.stream()?.capture(device.filled(1, 1_u32)?, |capture, number| {
                    let condition = capture.condition(number)?;
                    kept.push(capture.fork()?);
                    for is_loop in [false, true] {
                        let part = |body: &Capture| {
                            kept.push(body.fork()?);
                            fail()
                        };
                        let described = unwound(|| match is_loop {
                            false => capture.if_nonzero(condition, part),
                            true => capture.while_nonzero(condition, part),
                        });
                        assert!(!matches!(described, Some(Ok(_))));
                        let late = kept.last().map(Capture::fork);
                        assert!(matches!(late, Some(Err(Error::CaptureEnded))), "{late:?}");
                    }
                    // This has not.
                    capture.callback(|| ())?;
                    fail()
                })
            });
            assert!(!matches!(described, Some(Ok(_))));
            assert_eq!(kept.len(), 3);
            for capture in kept {
                let late = capture.fork();
                assert!(matches!(late, Err(Error::CaptureEnded)), "{late:?}");
            }
        }
        Ok(())
    });
}

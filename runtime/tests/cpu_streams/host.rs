//! What the host sees of memory that queued work uses.

use std::{sync::mpsc, thread};

use gpukernel::{GraphPinned, PinnedOptions, Result, for_each};

use crate::{add, add_other, common::on_the_cpu};

const LEN: usize = 500;

/// Runs `access` on another thread while `release` has not been called; it must not be over before.
fn waits<R: Send>(access: impl FnOnce() -> R + Send, release: impl FnOnce()) -> R {
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        scope.spawn(move || {
            let result = access();
            let _ = sender.send(result);
        });
        (0..20).for_each(|_| thread::yield_now());
        assert!(receiver.try_recv().is_err(), "it waits");
        release();
        receiver.recv().expect("it ends")
    })
}

#[test]
fn copies_to_the_host_wait_for_writes() {
    on_the_cpu(|device, module| {
        let stream = device.stream()?;
        let mut x = device.filled(LEN, 1)?;
        for way in 0..4 {
            let held = stream.hold()?;
            stream.launch(module, add, for_each(LEN), (1, &mut x))?;
            let expected = vec![2 + way; LEN];
            let found = waits(
                || match way {
                    0 => x.to_vec(),
                    1 => {
                        let mut to = vec![0; LEN];
                        x.copy_to(&mut to).map(|()| to)
                    }
                    2 => x.view_2d(LEN / 5).and_then(|view| view.to_vec()),
                    _ => {
                        let other = device.stream()?;
                        let mut to = vec![0; LEN];
                        other.scope(|scope| scope.copy_to_host(&x, &mut to)).map(|()| to)
                    }
                },
                || held.release(),
            )?;
            assert_eq!(found, expected, "{way}");
        }
        Ok(())
    });
}

#[test]
fn copies_from_the_host_wait_for_reads() {
    on_the_cpu(|device, module| {
        let stream = device.stream()?;
        let mut x = device.filled(LEN, 1)?;
        let mut sum = device.zeroed::<u32>(LEN)?;
        for (way, value) in (0..3).zip([10, 100, 1000]) {
            let held = stream.hold()?;
            stream.launch(module, add_other, for_each(LEN), (&x, &mut sum))?;
            let new = vec![value; LEN];
            waits(
                || match way {
                    0 => x.copy_from(&new),
                    1 => x.view_2d_mut(LEN / 5).and_then(|mut view| view.copy_from(&new)),
                    _ => device.stream()?.scope(|scope| scope.copy_to_device(&new, &mut x)),
                },
                || held.release(),
            )?;
        }
        assert_eq!((sum.to_vec()?, x.to_vec()?), (vec![111; LEN], vec![1000; LEN]));
        Ok(())
    });
}

#[test]
fn managed_and_mapped_memory_waits() {
    on_the_cpu(|device, module| {
        let stream = device.stream()?;
        for mut x in [device.managed::<u32>(LEN)?, device.mapped(LEN, PinnedOptions::new())?] {
            let held = stream.hold()?;
            stream.launch(module, add, for_each(LEN), (3, &mut x))?;
            let found = waits(|| x.host().map(<[u32]>::to_vec), || held.release())?;
            assert_eq!(found, [3; LEN]);

            // Those that only read do not keep readers waiting, but writers.
            let (mut sum, reader) = (device.zeroed::<u32>(LEN)?, device.stream()?);
            let held = reader.hold()?;
            reader.launch(module, add_other, for_each(LEN), (&x, &mut sum))?;
            assert_eq!(x.host()?, [3; LEN]);
            waits(|| x.host_mut().map(|x| x.fill(9)), || held.release())?;
            assert_eq!((sum.to_vec()?, x.to_vec()?), (vec![3; LEN], vec![9; LEN]));
        }
        Ok(())
    });
}

#[test]
fn pinned_memory_is_the_copys_until_it_is_done() {
    on_the_cpu(|device, _| {
        let stream = device.stream()?;
        let x = stream.filled(LEN, 7)?;
        let held = stream.hold()?;
        let copy = stream.copy_to_pinned(&x, device.pinned(LEN)?)?;
        assert!(!copy.is_done()?);
        // Leaked with its memory, in which the copy writes.
        std::mem::forget(stream.copy_to_pinned(&x, device.pinned(LEN)?)?);
        let dropped = stream.copy_to_pinned(&x, device.pinned(LEN)?)?;
        waits(move || drop(dropped), || held.release());
        assert_eq!(*copy.wait()?, [7; LEN]);

        let held = stream.hold()?;
        let mut y = stream.zeroed::<u32>(LEN)?;
        let mut from = device.pinned(LEN)?;
        from.fill(5);
        let copy = stream.copy_from_pinned(from, &mut y)?;
        held.release();
        assert_eq!(*copy.wait()?, [5; LEN]);
        assert_eq!(y.to_vec()?, [5; LEN]);
        Ok(())
    });
}

#[test]
fn pinned_memory_of_graphs_waits() {
    on_the_cpu(|device, _| {
        let stream = device.stream()?;
        let memory = (GraphPinned::from(device.pinned::<u32>(LEN)?), device.filled(LEN, 4)?);
        let mut graph = stream.capture(memory, |capture, (mut to, x)| capture.copy_to_pinned(x, &mut to))?;
        let held = stream.hold()?;
        graph.launch()?;
        let found = waits(|| graph.memory().0.read().map(<[u32]>::to_vec), || held.release())?;
        assert_eq!(found, [4; LEN]);
        let held = stream.hold()?;
        graph.launch()?;
        // Its end waits, too.
        let (pinned, x) = waits(move || graph.into_memory(), || held.release());
        assert_eq!((pinned.into_buffer()?.to_vec(), x.to_vec()?), (vec![4; LEN], vec![4; LEN]));
        Ok::<_, gpukernel::Error>(())
    });
}

#[test]
fn a_scope_that_panics_has_waited() {
    on_the_cpu(|device, _| {
        let stream = device.stream()?;
        let x = stream.filled(LEN, 3)?;
        let mut to = vec![0; LEN];
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            stream.scope(|scope| -> Result<()> {
                scope.copy_to_host(&x, &mut to)?;
                std::panic::resume_unwind(Box::new("it panics"))
            })
        }));
        assert!(caught.is_err());
        assert_eq!(to, [3; LEN]);
        Ok(())
    });
}

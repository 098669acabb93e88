//! CUDA's own default streams: the legacy one, which null and 1 (`CU_STREAM_LEGACY`) are, and the calling thread's, which is 2 (`CU_STREAM_PER_THREAD`).

use std::{ptr, thread};

use gpukernel::{Device, ForeignModule, Result, Stream};

use crate::{LEN, on_every_gpu, slow_copy};

/// Runs `code` with the default stream of this handle, which is always there.
fn on_default<R>(device: &Device, handle: usize, code: impl FnOnce(&Stream) -> Result<R>) -> Result<R> {
    let code = |stream: &Stream| {
        assert_eq!(stream.as_raw(), Some(ptr::without_provenance_mut(handle)));
        code(stream)
    };
    // SAFETY: it is there, and is used on this thread while `code` runs: it keeps no clone.
    unsafe { device.with_foreign_stream(ptr::without_provenance_mut(handle), code) }
}

/// Slow work there and on a stream of ours, each after the other, in memory that both use.
fn takes_turns(device: &Device, module: &ForeignModule, handle: usize) -> Result<()> {
    let own = device.stream()?;
    let (mut a, mut b) = (device.zeroed::<u32>(LEN)?, device.zeroed::<u32>(LEN)?);
    for round in 1..4 {
        let source = own.filled(LEN, round)?;
        let event = on_default(device, handle, |stream| {
            slow_copy(module, stream, &source, &mut a)?;
            stream.record()
        })?;
        // It was given back, and is waited for all the same.
        slow_copy(module, &own, &a, &mut b)?;
        assert!(!own.is_done()? || event.is_done()?);
        let copied = on_default(device, handle, |stream| {
            let mut copied = stream.zeroed::<u32>(LEN)?;
            stream.copy(&b, &mut copied)?;
            stream.fill(&mut a, 0)?;
            Ok(copied)
        })?;
        assert!(copied.to_vec()?.into_iter().all(|number| number == round), "{handle} in round {round}");
        assert!(event.is_done()?);
    }
    assert!(a.to_vec()?.into_iter().all(|number| number == 0));
    on_default(device, handle, |stream| stream.synchronize())
}

mod needs_a_gpu {
    use super::*;

    #[test]
    #[ignore = "needs a GPU"]
    fn work_on_default_streams_is_ordered() {
        on_every_gpu(|device, module| {
            (0..=2).try_for_each(|handle| takes_turns(device, module, handle))?;
            // On threads without a context, at once.
            thread::scope(|scope| {
                let threads =
                    [0, 1, 2, 2].map(|handle| scope.spawn(move || takes_turns(device, module, handle)));
                threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
            })
        });
    }
}

//! The work: on one stream, or on three.

use std::time::{Duration, Instant};

use gpukernel::{Buffer, Device, Event, Image, Result, Stream, for_each};
use increment_kernels::increment;

use crate::timeline::{Span, Timeline};

static KERNELS: Image = gpukernel::image!("kernels");

/// Where copies to the device, kernels and copies from it are queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Streams {
    /// All one after another.
    One,
    /// Each kind on its own, so that they run beside each other.
    Three,
}

/// What was found out.
#[derive(Debug)]
pub(crate) struct Run {
    /// When what ran.
    pub(crate) timeline: Timeline,
    /// How long the host took until all was queued.
    pub(crate) queued: Duration,
}

/// Work between two events.
struct Between {
    lane: &'static str,
    start: Event,
    end: Event,
}

/// Queues work between two events on its stream, after the work that it needs.
fn timed(
    lane: &'static str,
    stream: &Stream,
    after: Option<&Event>,
    work: impl FnOnce() -> Result<()>,
) -> Result<Between> {
    // So that its time does not begin before what it waits for has ended.
    if let Some(after) = after {
        stream.wait(after)?;
    }
    let start = stream.record()?;
    work()?;
    Ok(Between { lane, start, end: stream.record()? })
}

/// Increments so many numbers. They are checked.
///
/// # Panics
/// If a number is wrong.
pub(crate) fn run(device: &Device, len: usize, chunks: usize, streams: Streams) -> Result<Run> {
    let module = device.load(&KERNELS)?;
    let up = device.stream()?;
    let [work, down] = match streams {
        Streams::One => [up.clone(), up.clone()],
        Streams::Three => [device.stream()?, device.stream()?],
    };
    let (mut input, mut output) = (device.pinned::<i32>(len)?, device.pinned::<i32>(len)?);
    let chunk = len.div_ceil(chunks);
    let (mut spans, mut queued) = (Vec::new(), Duration::ZERO);
    // Twice, of which the second counts: the first loads the kernel and fills the pool of memory.
    for _ in 0..2 {
        spans.clear();
        input.iter_mut().zip(0..).for_each(|(number, i)| *number = i);
        let mut buffers =
            input.chunks(chunk).map(|part| device.zeroed(part.len())).collect::<Result<Vec<_>>>()?;
        device.synchronize()?;
        let (begin, host) = (up.record()?, Instant::now());
        let mut events = Vec::new();
        down.scope(|from_device| {
            up.scope(|to_device| {
                let parts = input.chunks(chunk).zip(output.chunks_mut(chunk));
                for (buffer, (from, to)) in buffers.iter_mut().zip(parts) {
                    let buffer: &mut Buffer<i32> = buffer;
                    let uploaded = timed("upload", &up, None, || to_device.copy_to_device(from, buffer))?;
                    let incremented = timed("kernel", &work, Some(&uploaded.end), || {
                        work.launch(&module, increment, for_each(buffer.len()), (1, &mut *buffer))
                    })?;
                    let downloaded = timed("download", &down, Some(&incremented.end), || {
                        from_device.copy_to_host(buffer, to)
                    })?;
                    events.extend([uploaded, incremented, downloaded]);
                }
                // Behind it, the scopes wait.
                queued = host.elapsed();
                Ok(())
            })
        })?;
        for Between { lane, start, end } in events {
            let since = |event: &Event| event.elapsed_since(&begin).map(|time| time.as_secs_f64() * 1e3);
            spans.push(Span { lane, start: since(&start)?, end: since(&end)? });
        }
        assert!(output.iter().zip(1..).all(|(number, i)| *number == i), "a number is wrong");
    }
    Ok(Run { timeline: Timeline::new(["upload", "kernel", "download"], spans), queued })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the times of events, in milliseconds.
    const RESOLUTION: f64 = 2e-3;

    #[test]
    fn numbers_are_incremented_on_every_device_whatever_the_chunks() {
        for device in gpukernel::devices().unwrap() {
            for (len, chunks) in [(1, 1), (1000, 3), (1000, 1000), (5, 100), (16 << 20, 8)] {
                for streams in [Streams::One, Streams::Three] {
                    let timeline = run(&device, len, chunks, streams).unwrap().timeline;
                    for [uploaded, incremented, downloaded] in timeline.spans().as_chunks().0 {
                        let in_order = [uploaded, incremented, downloaded].windows(2).all(|pair| {
                            pair[0].start <= pair[0].end && pair[0].end <= pair[1].start + RESOLUTION
                        });
                        assert!(in_order, "{uploaded:?} {incremented:?} {downloaded:?} on {device}");
                    }
                    assert_eq!(timeline.spans().len(), 3 * len.div_ceil(len.div_ceil(chunks)));
                }
            }
        }
    }
}

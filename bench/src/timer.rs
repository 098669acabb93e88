//! Timing launches on a device, by events.

use std::time::{Duration, Instant};

use gpukernel::{Buffer, Device, Error, Stream};

use crate::{BoxError, sampling::Sample, watchdog::Watchdog};

/// How launches are timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// One launch, with other memory in the cache.
    Cold,
    /// Many launches, one after another.
    Batch,
    /// As [`Batch`](Self::Batch), of a graph of what one launch queues.
    Replay,
    /// As [`Batch`](Self::Batch), but the time is the host's. In place of the others, of measurements that say so.
    Host,
}

impl Mode {
    /// Those that can be asked for.
    pub(crate) const ALL: [Self; 3] = [Self::Cold, Self::Batch, Self::Replay];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Cold => "cold",
            Self::Batch => "batch",
            Self::Replay => "replay",
            Self::Host => "host",
        }
    }
}

/// A batch takes about this long, so that the events, which are exact to half a microsecond, are exact enough.
const BATCH: Duration = Duration::from_millis(2);
/// A stream has room for about a thousand launches.
const MAX_LAUNCHES: u64 = 256;
/// Where the size of the cache is not known.
const UNKNOWN_CACHE_BYTES: usize = 64 << 20;
/// Some virtual machines tell of caches larger than those of any processor.
const MAX_CACHE_BYTES: usize = 256 << 20;

/// Times launches on a device.
pub(crate) struct Timer {
    stream: Stream,
    /// Copied from one to the other, they fill the cache.
    flush: [Buffer<u8>; 2],
    /// Of streams that can be held back.
    watchdog: Option<Watchdog>,
}

/// What a timing did not find, because the launch waits for the device.
pub(crate) struct Waited;

impl Timer {
    pub(crate) fn new(device: &Device) -> Result<Self, Error> {
        let bytes = match device.limits().last_level_cache_bytes {
            0 => UNKNOWN_CACHE_BYTES,
            bytes => bytes.min(MAX_CACHE_BYTES),
        };
        let stream = device.default_stream();
        let flush = [stream.zeroed(bytes)?, stream.zeroed(bytes)?];
        stream.synchronize()?;
        let watchdog = device.is_gpu().then(Watchdog::new);
        Ok(Self { stream, flush, watchdog })
    }

    /// How many launches a batch has, of which one takes this long. One may launch several kernels.
    pub(crate) fn launches_per_batch(time_ns: f64, kernels: usize) -> u32 {
        let most = (MAX_LAUNCHES / kernels.max(1) as u64).max(1) as f64;
        (BATCH.as_nanos() as f64 / time_ns).ceil().clamp(1.0, most) as u32
    }

    /// Times so many launches, each in the state of the cache that the mode says.
    ///
    /// # Errors
    /// What the launch or the device says; the launches are over.
    pub(crate) fn time(
        &mut self,
        mode: Mode,
        launches: u32,
        is_synchronous: bool,
        launch: &mut dyn FnMut() -> Result<(), BoxError>,
    ) -> Result<Result<Sample, Waited>, BoxError> {
        if mode == Mode::Cold {
            let [from, to] = &mut self.flush;
            self.stream.copy(from, to)?;
        }
        let stream = &self.stream;
        if self.watchdog.is_none() {
            // Wall-clock time, in which a provider may also work on the host: it begins when nothing is queued.
            stream.synchronize()?;
        }
        let mut timed = || {
            if mode == Mode::Host {
                // Of calls that follow one another: the first fetches into the host's caches what others have displaced.
                launch()?;
            }
            let start = stream.record()?;
            let host_start = Instant::now();
            (0..launches).try_for_each(|_| launch())?;
            let host = host_start.elapsed();
            Ok::<_, BoxError>((start, host, stream.record()?))
        };
        let (timed, has_waited) = match &self.watchdog {
            Some(watchdog) if !is_synchronous => watchdog.watch(stream.hold()?, &mut timed),
            _ => (timed(), false),
        };
        let (start, host, end) = timed?;
        let device = end.elapsed_since(&start)?;
        if has_waited {
            return Ok(Err(Waited));
        }
        let per_launch = |time: Duration| time.as_nanos().max(1) as f64 / f64::from(launches);
        Ok(Ok(Sample { device_ns: per_launch(device), host_ns: per_launch(host) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_long_enough_and_fit_a_stream() {
        assert_eq!(Timer::launches_per_batch(3e6, 1), 1);
        assert_eq!(Timer::launches_per_batch(1e5, 1), 20);
        assert_eq!(Timer::launches_per_batch(1e3, 1), 256);
        assert_eq!(Timer::launches_per_batch(1e3, 100), 2);
        assert_eq!(Timer::launches_per_batch(1e3, 1000), 1);
    }

    #[test]
    fn launches_are_counted_and_errors_returned() {
        let mut timer = Timer::new(&Device::cpu()).unwrap();
        let mut count = 0;
        let mut launch = || {
            count += 1;
            if count == 11 { Err("the eleventh".into()) } else { Ok(()) }
        };
        for mode in Mode::ALL {
            let sample = timer.time(mode, 3, false, &mut launch).unwrap();
            assert!(sample.is_ok_and(|sample| sample.device_ns > 0.0 && sample.host_ns > 0.0));
        }
        assert!(timer.time(Mode::Batch, 3, false, &mut launch).is_err());
        assert_eq!(count, 11, "those of each mode, until one fails");
        let mut count = 0;
        let mut launch = || {
            count += 1;
            Ok(())
        };
        assert!(timer.time(Mode::Host, 3, false, &mut launch).is_ok_and(|sample| sample.is_ok()));
        assert_eq!(count, 4, "the first is not timed");
    }
}

//! Times of work on a device, by events.

use std::time::Duration;

use gpukernel::{Device, Error};

/// Returns the mean time of work on the device's default stream, done once more before, and then so many times between two events.
///
/// # Errors
/// Those of the work and of the device.
pub fn mean_time<E: From<Error>>(
    device: &Device,
    repetitions: u32,
    mut work: impl FnMut() -> Result<(), E>,
) -> Result<Duration, E> {
    // The first launch of a kernel loads it.
    work()?;
    let stream = device.default_stream();
    let start = stream.record()?;
    for _ in 0..repetitions {
        work()?;
    }
    let end = stream.record()?;
    end.synchronize()?;
    Ok(end.elapsed_since(&start)? / repetitions.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_done_once_more_than_it_is_timed() {
        for device in gpukernel::devices().unwrap() {
            let mut count = 0;
            let mut buffer = device.zeroed::<u32>(1000).unwrap();
            let time = mean_time(&device, 3, || {
                count += 1;
                device.default_stream().fill(&mut buffer, count)
            });
            assert!(time.unwrap() < Duration::from_secs(10), "{device}");
            assert_eq!(buffer.to_vec().unwrap(), [4; 1000]);
        }
    }
}

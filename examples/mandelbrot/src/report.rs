//! What is printed: a table of times, and a line of numbers by which two pictures can be compared.

use std::fmt::Write;

use crate::render::Times;

/// The time of each step and the speed.
pub(crate) fn table(times: &Times, pixels: usize) -> String {
    let mut table = String::new();
    let mut row = |name: &str, seconds: f64| {
        // Writing to a string does not fail.
        let _ = writeln!(
            table,
            "{name:<8} {:>10.3} ms {:>14.4e} pixels/s",
            seconds * 1e3,
            pixels as f64 / seconds
        );
    };
    row("kernel", times.kernel.as_secs_f64());
    row("copy", times.copy.as_secs_f64());
    row("both", (times.kernel + times.copy).as_secs_f64());
    table
}

/// `sum=<sum of pixel values> full=<pixels equal to 255>`.
pub(crate) fn stats(pixels: &[u8]) -> String {
    let sum: u64 = pixels.iter().map(|&pixel| u64::from(pixel)).sum();
    let full = pixels.iter().filter(|&&pixel| pixel == 255).count();
    format!("sum={sum} full={full}")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use gpukernel::Device;

    use super::*;
    use crate::render::{Picture, render};

    /// The numbers are those of the same loop in Python.
    #[test]
    fn the_cpu_device_reproduces_the_reference() {
        for (width, height, iterations, expected) in
            [(96, 64, 20, "sum=655888 full=1763"), (61, 43, 50, "sum=221772 full=706")]
        {
            let (pixels, _) = render(&Device::cpu(), Picture { width, height, iterations }).unwrap();
            assert_eq!(stats(&pixels), expected);
        }
    }

    #[test]
    fn times_are_in_milliseconds() {
        let times = Times { kernel: Duration::from_millis(2), copy: Duration::from_micros(500) };
        assert_eq!(
            table(&times, 1_000_000),
            "kernel        2.000 ms       5.0000e8 pixels/s\n\
             copy          0.500 ms       2.0000e9 pixels/s\n\
             both          2.500 ms       4.0000e8 pixels/s\n"
        );
    }
}

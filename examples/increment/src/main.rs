//! Adds one to 16 Mi numbers: copied to the device, incremented and copied back in chunks, so that copies and kernels run beside each other. Prints
//! when what ran.

mod overlap;
mod timeline;

use clap::{Parser, value_parser};
use example_support::On;

/// Increment numbers in chunks on three streams, and draw when what ran
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    /// Where to compute
    #[arg(long, value_enum, default_value_t = On::Best)]
    device: On,
    /// Numbers
    #[arg(long, default_value_t = 16 << 20, value_parser = value_parser!(u32).range(1..))]
    numbers: u32,
    /// Chunks, each copied and incremented on its own
    #[arg(long, default_value_t = 8, value_parser = value_parser!(u32).range(1..=1000))]
    chunks: u32,
    /// Columns of the drawing
    #[arg(long, default_value_t = 72, value_parser = value_parser!(u32).range(10..=1000))]
    columns: u32,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let device = args.device.device()?;
    let (len, chunks) = (args.numbers as usize, args.chunks as usize);
    println!("{device}: {len} numbers in {chunks} chunks");
    let serial = overlap::run(&device, len, chunks, overlap::Streams::One)?;
    print("one stream", &serial, args.columns);
    let beside = overlap::run(&device, len, chunks, overlap::Streams::Three)?;
    print("three streams", &beside, args.columns);
    let (serial, beside) = (serial.timeline, beside.timeline);
    println!(
        "\n{:.2} times as fast; hidden behind other work: {:.0} % of the kernels' time, {:.0} % of the copies'",
        serial.milliseconds() / beside.milliseconds(),
        100.0 * beside.hidden(&["kernel"]),
        100.0 * beside.hidden(&["upload", "download"]),
    );
    Ok(())
}

fn print(what: &str, run: &overlap::Run, columns: u32) {
    let (milliseconds, host) = (run.timeline.milliseconds(), run.queued.as_secs_f64() * 1e3);
    println!("\n{what}, {milliseconds:.3} ms; the host had queued all after {host:.3} ms");
    println!("{}", run.timeline.drawn(columns as usize));
}

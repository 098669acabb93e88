//! Benchmarks that need no kernels, so that these tests need no device toolchain. What goes wrong in them, environment variables say.

mod nested;

use std::{
    env,
    process::ExitCode,
    time::{Duration, Instant},
};

use gpukernel::Device;
use gpukernel_bench::{Bench, Result, bench};

fn main() -> ExitCode {
    gpukernel_bench::main()
}

/// Whether the tests ask for this mistake.
fn asked_for(mistake: &str) -> bool {
    env::var("MISTAKE").is_ok_and(|asked| asked == mistake)
}

/// The number of elements depends on the device.
#[bench(elements = |device| [if device.is_gpu() { 1 << 20 } else { 1 << 8 }, 1 << 10])]
fn copy(bench: &mut Bench<'_>, elements: usize) -> Result {
    let stream = bench.device().default_stream();
    let from = stream.filled(elements, 1.5_f32)?;
    let (mut to, mut on_host) = (stream.zeroed::<f32>(elements)?, vec![0.0; elements]);
    let expected = if asked_for("wrong result") { 1.25 } else { 1.5 };
    bench
        .measure()
        .elements(elements)
        .bytes(2 * elements * size_of::<f32>())
        .expect(vec![expected; elements])
        .provider("device", &mut to, |to| stream.copy(&from, to))
        .provider_on(&Device::cpu(), "host", &mut on_host, |to| to.fill(1.5))
        .run()
}

/// Takes as long as the tests say.
#[bench]
fn spin(bench: &mut Bench<'_>) -> Result {
    let time = env::var("SPIN_MICROSECONDS").ok().and_then(|time| time.parse().ok()).unwrap_or(100);
    let mut rounds = vec![0_u32];
    bench
        .measure()
        .expect(vec![1])
        .provider_on(&Device::cpu(), "host", &mut rounds, |rounds| {
            let start = Instant::now();
            while start.elapsed() < Duration::from_micros(time) {}
            rounds[0] += 1;
        })
        .run()
}

/// A type and a constant as axes.
#[bench(T = [u8, u64], LANES = [1, 2 + 2], repeats = ["once".to_owned()])]
fn sum<T: Copy + Default, const LANES: usize>(bench: &mut Bench<'_>, repeats: String) -> Result {
    let mut sizes = vec![0_usize];
    let expected = LANES * size_of::<T>() * repeats.len();
    bench
        .measure()
        .flops(LANES)
        .expect(vec![expected])
        .provider("sizes", &mut sizes, |sizes| sizes[0] = size_of_val(&[T::default(); LANES]) * repeats.len())
        .run()
}

#[bench]
fn mistakes(bench: &mut Bench<'_>) -> Result {
    let (mut first, mut second) = (vec![1.0_f32], vec![1.0_f32]);
    if asked_for("nothing measured") {
        return Ok(());
    }
    if asked_for("panic") {
        panic!("as the test asks");
    }
    if asked_for("error") {
        return Err("as the test asks".into());
    }
    if asked_for("no reference") {
        return bench.measure().provider("first", &mut first, |_| ()).run();
    }
    if asked_for("itself as reference") {
        return bench.measure().expect_like("first").provider("first", &mut first, |_| ()).run();
    }
    if asked_for("unknown reference") {
        let measurement = bench.measure().expect_like("frist").provider("first", &mut first, |_| ());
        return measurement.provider("second", &mut second, |_| ()).run();
    }
    if asked_for("same name") {
        let measurement = bench.measure().expect_like("first").provider("first", &mut first, |_| ());
        return measurement.provider("first", &mut second, |_| ()).run();
    }
    if asked_for("providers differ") {
        let measurement =
            bench.measure().expect_like("first").tolerance(1e-3).provider("first", &mut first, |_| ());
        return measurement.provider("second", &mut second, |second| second[0] = 1.1).run();
    }
    if asked_for("twice") {
        bench.measure().expect(vec![1.0]).provider("first", &mut first, |_| ()).run()?;
        return bench.measure().expect(vec![1.0]).provider("second", &mut second, |_| ()).run();
    }
    if asked_for("limit") {
        let spin = |micros: u64| {
            let start = Instant::now();
            while start.elapsed() < Duration::from_micros(micros) {}
        };
        let cpu = Device::cpu();
        return bench
            .measure()
            .expect_like("first")
            .provider_on(&cpu, "first", &mut first, |_| spin(10))
            .provider_on(&cpu, "second", &mut second, |_| spin(200))
            .limit("second", "first", 2.0)
            .limit_unless("second", "first", 1.5, "it spins longer")
            .run();
    }
    bench.skip("nobody asks for a mistake");
    Ok(())
}

//! Benchmarks that need no kernels, so that these tests need no device toolchain. What goes wrong in them, environment variables say.

mod nested;

use std::{
    env,
    process::ExitCode,
    time::{Duration, Instant},
};

use gpukernel::{Device, LaunchConfig, RawArg};
use gpukernel_bench::{Bench, Result, bench};

fn main() -> ExitCode {
    gpukernel_bench::main()
}

/// Whether the tests ask for this mistake.
fn asked_for(mistake: &str) -> bool {
    env::var("MISTAKE").is_ok_and(|asked| asked == mistake)
}

/// As many as `work`, and as many more as SLOWER_PERCENT says: a regression to be found.
fn slowed(work: usize) -> usize {
    let percent = env::var("SLOWER_PERCENT").ok().and_then(|percent| percent.parse().ok()).unwrap_or(0);
    work + work * percent / 100
}

/// The number of elements depends on the device.
#[bench(elements = |device| [if device.is_gpu() { 1 << 20 } else { 1 << 8 }, 1 << 10])]
fn copy(bench: &mut Bench<'_>, elements: usize) -> Result {
    let elements = slowed(elements);
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

/// Arithmetic in registers, on GPUs.
#[bench(rounds = [1 << 8, 1 << 12])]
fn multiply_add(bench: &mut Bench<'_>, rounds: usize) -> Result {
    const THREADS: usize = 1 << 18;
    const KERNEL: &str = "
.version 6.3
.target sm_75
.address_size 64
.visible .entry multiply_add(.param .u64 to, .param .u32 rounds)
{
    .reg .pred %p;
    .reg .b32 %r<5>;
    .reg .f32 %f<3>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [to];
    ld.param.u32 %r1, [rounds];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.u32 %r2, %r2, %r3, %r4;
    mov.f32 %f1, 0f3F800000;
    mov.f32 %f2, 0f3F000000;
again:
    fma.rn.f32 %f1, %f1, %f2, %f2;
    sub.u32 %r1, %r1, 1;
    setp.ne.u32 %p, %r1, 0;
    @%p bra again;
    mul.wide.u32 %rd2, %r2, 4;
    add.u64 %rd2, %rd1, %rd2;
    st.global.f32 [%rd2], %f1;
    ret;
}";
    if !bench.device().is_gpu() {
        bench.skip("its kernel is in PTX");
        return Ok(());
    }
    let device = bench.device();
    // SAFETY: it is PTX, which the driver compiles and so checks.
    let module = unsafe { device.load_foreign(KERNEL.as_bytes()) }?;
    let mut to = device.zeroed::<f32>(THREADS)?;
    let config = LaunchConfig::new(THREADS / 256, 256);
    bench
        .measure()
        .flops(2 * THREADS * rounds)
        .expect(vec![1.0; THREADS])
        .provider("device", &mut to, |to| {
            let args = [RawArg::slice_mut(to), RawArg::value(slowed(rounds) as u32)];
            // SAFETY: these are its parameters, and each thread writes its element.
            unsafe { module.launch("multiply_add", config, 0, &args) }
        })
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

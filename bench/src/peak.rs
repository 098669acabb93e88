//! What a device does at most, measured: bytes per second, and floating-point operations per second.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use gpukernel::{Device, Error, ForeignModule, LaunchConfig, RawArg};
use rayon::prelude::*;

use crate::report::Peaks;

/// Of so many runs the fastest counts.
const RUNS: usize = 7;
/// On the CPU, no more runs than two after so long.
const SLOW: Duration = Duration::from_millis(200);
/// Threads per block of the kernels.
const BLOCK: usize = 256;
/// Rounds of the loop of floating-point operations.
const ROUNDS: u32 = 512;
/// Chains of dependent operations in a thread, so that the next need not wait for the last.
const CHAINS: usize = 8;
/// Operations of each chain in a round.
const UNROLL: usize = 16;

/// Measures a device.
///
/// # Errors
/// What the device says.
pub(crate) fn measure(device: &Device) -> Result<Peaks, Error> {
    match device.is_gpu() {
        true => of_gpu(device),
        false => Ok(of_cpu(device)),
    }
}

fn of_gpu(device: &Device) -> Result<Peaks, Error> {
    // SAFETY: it is PTX, which the driver compiles and so checks.
    let module = unsafe { device.load_foreign(ptx().as_bytes()) }?;
    let limits = device.limits();
    let blocks = limits.multiprocessors as usize * 8;
    // Much more than the cache, and no more than small GPUs have.
    let bytes = (limits.last_level_cache_bytes.max(1 << 22) * 8).next_multiple_of(1 << 20).min(1 << 30);
    let (from, mut to) = (device.zeroed::<u8>(bytes)?, device.zeroed::<u8>(bytes)?);
    let mut sums = device.zeroed::<f64>(1)?;
    let config = LaunchConfig::new(blocks, BLOCK);
    let vectors = RawArg::value(bytes as u64 / 16);
    let mut launch = |name: &str| {
        let args = match name {
            "copy" => vec![RawArg::slice(&from), RawArg::slice_mut(&mut to), vectors.clone()],
            "read" => vec![RawArg::slice(&from), RawArg::slice_mut(&mut sums), vectors.clone()],
            _ => vec![RawArg::slice_mut(&mut sums), RawArg::value(ROUNDS)],
        };
        fastest(&module, name, config, &args)
    };
    let (copy, read) = (launch("copy")?, launch("read")?);
    let flops = (blocks * BLOCK * CHAINS * UNROLL * 2) as f64 * f64::from(ROUNDS);
    Ok(Peaks {
        bytes: (2.0 * bytes as f64 / copy).max(bytes as f64 / read),
        f32_flops: flops / launch("fma_f32")?,
        f64_flops: flops / launch("fma_f64")?,
    })
}

/// The time of the fastest run in seconds.
fn fastest(
    module: &ForeignModule,
    name: &str,
    config: LaunchConfig,
    args: &[RawArg<'_>],
) -> Result<f64, Error> {
    let stream = module.device().default_stream();
    let mut fastest = Duration::MAX;
    for _ in 0..RUNS {
        let start = stream.record()?;
        // SAFETY: these are the parameters of the kernels in `ptx`, which stay inside the memory that they are given.
        unsafe { module.launch(name, config, 0, args)? };
        fastest = fastest.min(stream.record()?.elapsed_since(&start)?);
    }
    Ok(fastest.as_secs_f64().max(1e-9))
}

/// `copy(from, to, vectors)` and `read(from, sink, vectors)` go through memory in vectors of 16 bytes, four at a time. `fma_T(sink, rounds)`
/// multiplies and adds in registers, by factors below one half, so that numbers stay finite. What is read or computed is written if it is what it never is, so that it is not left out.
fn ptx() -> String {
    let memory = |name: &str, each: &str, end: &str| {
        let loads: String = (0..4)
            .map(|i| {
                format!(
                    "    setp.ge.u64 %out, %index, %vectors;
    @%out bra done;
    shl.b64 %offset, %index, 4;
    add.u64 %address, %from, %offset;
    ld.global.v4.u32 {{%a{i}, %b{i}, %c{i}, %d{i}}}, [%address];
{}
    add.u64 %index, %index, %stride;
",
                    each.replace('#', &i.to_string())
                )
            })
            .collect();
        format!(
            ".visible .entry {name}(.param .u64 from, .param .u64 to, .param .u64 vectors)
{{
    .reg .pred %out;
    .reg .b32 %t, %n, %block, %sum, %a<4>, %b<4>, %c<4>, %d<4>;
    .reg .b64 %from, %to, %vectors, %index, %stride, %offset, %address;
    ld.param.u64 %from, [from];
    ld.param.u64 %to, [to];
    ld.param.u64 %vectors, [vectors];
    cvta.to.global.u64 %from, %from;
    cvta.to.global.u64 %to, %to;
    mov.u32 %t, %tid.x;
    mov.u32 %n, %ntid.x;
    mov.u32 %block, %ctaid.x;
    mov.u32 %sum, 0;
    mul.wide.u32 %index, %block, %n;
    cvt.u64.u32 %offset, %t;
    add.u64 %index, %index, %offset;
    mov.u32 %block, %nctaid.x;
    mul.wide.u32 %stride, %block, %n;
again:
{loads}    bra again;
done:
{end}
    ret;
}}
"
        )
    };
    let copy = memory(
        "copy",
        "    add.u64 %address, %to, %offset;\n    st.global.v4.u32 [%address], {%a#, %b#, %c#, %d#};",
        "",
    );
    let read = memory(
        "read",
        "    or.b32 %a#, %a#, %b#;\n    or.b32 %c#, %c#, %d#;\n    or.b32 %a#, %a#, %c#;\n    or.b32 %sum, %sum, %a#;",
        "    setp.eq.u32 %out, %sum, 12345;\n    @%out st.global.u32 [%to], %sum;",
    );
    let fma = |ty: &str, one: &str, scale: &str, bits: usize| {
        let chains = |text: &str| (0..CHAINS).map(|i| text.replace('#', &i.to_string())).collect::<String>();
        let start = chains(&format!("    mov.{ty} %x#, {one};\n    add.{ty} %x#, %x#, %y;\n"));
        let round = chains(&format!("    fma.rn.{ty} %x#, %x#, %y, %y;\n")).repeat(UNROLL);
        let sum = chains(&format!("    add.{ty} %sum, %sum, %x#;\n"));
        format!(
            ".visible .entry fma_{ty}(.param .u64 sink, .param .u32 rounds)
{{
    .reg .pred %again;
    .reg .b32 %rounds, %t;
    .reg .b64 %sink;
    .reg .{ty} %x<{CHAINS}>, %y, %sum;
    ld.param.u64 %sink, [sink];
    ld.param.u32 %rounds, [rounds];
    cvta.to.global.u64 %sink, %sink;
    mov.u32 %t, %tid.x;
    cvt.rn.{ty}.u32 %y, %t;
    mul.{ty} %y, %y, {scale};
    mov.{ty} %sum, {one};
{start}again:
{round}    sub.u32 %rounds, %rounds, 1;
    setp.ne.u32 %again, %rounds, 0;
    @%again bra again;
{sum}    setp.eq.{ty} %again, %sum, {one};
    @%again st.global.b{bits} [%sink], %sum;
    ret;
}}
"
        )
    };
    let (f32, f64) = (
        fma("f32", "0f3F800000", "0f3B000000", 32),
        fma("f64", "0d3FF0000000000000", "0d3F60000000000000", 64),
    );
    format!(".version 6.3\n.target sm_75\n.address_size 64\n\n{copy}\n{read}\n{f32}\n{f64}")
}

/// As this program is compiled, which is how kernels are compiled for the CPU device.
fn of_cpu(device: &Device) -> Peaks {
    let bytes = (device.limits().last_level_cache_bytes.max(1 << 22) * 4).min(1 << 28);
    let from = vec![1_u64; bytes / 8];
    let mut to = vec![0_u64; bytes / 8];
    let copy = shortest(|| {
        to.par_chunks_mut(1 << 16)
            .zip(from.par_chunks(1 << 16))
            .for_each(|(to, from)| to.copy_from_slice(from));
    });
    let read = shortest(|| {
        let sum = from
            .par_chunks(1 << 16)
            .map(|from| from.iter().fold(0, |sum, x| sum | x))
            .reduce(|| 0, |a, b| a | b);
        black_box(sum);
    });
    // A copy reads what it overwrites as well, which nobody counts: what is updated has nothing that is not counted.
    let update = shortest(|| {
        to.par_chunks_mut(1 << 16)
            .zip(from.par_chunks(1 << 16))
            .for_each(|(to, from)| to.iter_mut().zip(from).for_each(|(to, from)| *to ^= from));
    });
    let bytes = bytes as f64;
    Peaks {
        bytes: (2.0 * bytes / copy).max(bytes / read).max(3.0 * bytes / update),
        f32_flops: flops(1.0_f32, |a, b| a * b + b),
        f64_flops: flops(1.0_f64, |a, b| a * b + b),
    }
}

/// Operations per second of all threads, in as many independent chains as registers have room for.
fn flops<T: Copy + Send + Sync>(one: T, step: impl Fn(T, T) -> T + Sync) -> f64 {
    const LANES: usize = 32;
    const STEPS: usize = 1 << 16;
    let threads = rayon::current_num_threads();
    let time = shortest(|| {
        (0..threads).into_par_iter().for_each(|_| {
            let (mut values, factor) = ([black_box(one); LANES], black_box(one));
            for _ in 0..STEPS {
                values = values.map(|value| step(value, factor));
            }
            black_box(values);
        });
    });
    (threads * LANES * STEPS * 2) as f64 / time
}

/// The time of the fastest run in seconds. Of slow ones, as in dev builds, two are enough.
fn shortest(mut run: impl FnMut()) -> f64 {
    let begin = Instant::now();
    let mut shortest = Duration::MAX;
    for number in 0..RUNS {
        if number >= 2 && begin.elapsed() > SLOW {
            break;
        }
        let start = Instant::now();
        run();
        shortest = shortest.min(start.elapsed());
    }
    shortest.as_secs_f64().max(1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_does_something() {
        let peaks = measure(&Device::cpu()).unwrap();
        assert!(peaks.bytes > 1e8 && peaks.f32_flops > 1e7 && peaks.f64_flops > 1e7, "{peaks:?}");
    }

    mod needs_a_gpu {
        use super::*;

        #[test]
        #[ignore = "needs a GPU"]
        fn it_does_more_than_a_processor() {
            let peaks = measure(&Device::gpu(0).unwrap()).unwrap();
            assert!(peaks.bytes > 1e11 && peaks.f32_flops > 1e12 && peaks.f64_flops > 1e10, "{peaks:?}");
        }
    }
}

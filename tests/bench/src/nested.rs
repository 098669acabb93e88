//! A benchmark in a module, on the device only.

use gpukernel_bench::{Bench, Result, bench};

#[bench]
fn zero(bench: &mut Bench<'_>) -> Result {
    let stream = bench.device().default_stream();
    let zeros = stream.zeroed::<u32>(64)?;
    let mut to = stream.filled(64, 7_u32)?;
    let measurement = bench.measure().unchecked("there is nothing to see");
    measurement.provider("device", &mut to, |to| stream.copy(&zeros, to)).run()
}

//! What is made and dropped again and again leaves nothing: neither memory of the device nor of the host. In a program of its own, because others use memory, too.

use std::io::{self, Write};

use gpukernel::{Device, Error, GraphPinned, Image, Result, for_each};
use gpukernel_device_test_kernels::{
    constants::{WEIGHTS, weigh},
    outputs::add_index,
};
use gpukernel_device_tests::{KERNELS, on_every_gpu, on_the_cpu};
use identity_kernels::{SCALE, same};

/// A handful of kernels.
static SMALL: Image = gpukernel::image!("small");

/// The resident memory of this process in bytes.
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("it says so");
    line.trim().strip_suffix("kB").and_then(|number| number.trim().parse::<u64>().ok()).expect("a number")
        << 10
}

/// Runs `code` so many times, and compares memory before and after.
fn leaves_nothing(what: &str, device: &Device, times: u64, code: impl FnMut() -> Result<()>) -> Result<()> {
    leaves_little(what, device, times, 8, code)
}

/// The same, where the driver and the allocator of the host may keep so many bytes of the host each time.
fn leaves_little(
    what: &str,
    device: &Device,
    times: u64,
    noise_bytes: u64,
    mut code: impl FnMut() -> Result<()>,
) -> Result<()> {
    let look = || -> Result<(u64, u64)> {
        // Without what is kept for new buffers.
        device.trim_memory(0)?;
        Ok((device.memory_info().free_bytes, resident_bytes()))
    };
    // What the first ones make for all.
    for _ in 0..times / 10 {
        code()?;
    }
    let before = look()?;
    for _ in 0..times {
        code()?;
    }
    let after = look()?;
    let line = format!(
        "measured: {what}, {times} times on {}: free {} -> {} B, resident {} -> {} B\n",
        device.id(),
        before.0,
        after.0,
        before.1,
        after.1
    );
    // Not by `eprintln!`, which the harness hides where a test passes, and at once, so that nothing comes between. `run-tests` puts such lines in its section.
    let _ = io::stderr().write_all(line.as_bytes());
    if device.is_gpu() {
        // Others may use the GPU, too; a few hundred bytes for each would be more.
        assert!(after.0 + (16 << 20) > before.0, "{what}: memory of the device is lost");
    }
    assert!(after.1 < before.1 + (4 << 20) + noise_bytes * times, "{what}: memory of the host is lost");
    assert_eq!(device.memory_info().buffers, 0);
    Ok(())
}

const PTX: &str = ".version 6.3
.target sm_75
.address_size 64
.visible .entry nothing() { ret; }
";

/// As often as `share` says.
fn all(device: &Device, share: u64) -> Result<()> {
    leaves_nothing("buffers", device, 1_000_000 / share, || device.zeroed::<u8>(1000).map(drop))?;
    if device.is_gpu() {
        leaves_nothing("foreign modules", device, 100_000 / share, || {
            // SAFETY: it is PTX, which the driver compiles and so checks.
            unsafe { device.load_foreign(PTX.as_bytes()).map(drop) }
        })?;
    }
    leaves_nothing("small images", device, 100_000 / share, || {
        let module = device.load(&SMALL)?;
        module.set_constant(&SCALE, 3)?;
        let (x, mut y) = (device.filled(100, 7_u32)?, device.zeroed::<u32>(100)?);
        module.launch(same, for_each(100), (&x, &mut y))?;
        assert_eq!(y.to_vec()?, [21; 100]);
        Ok(())
    })?;
    // A megabyte of the host's, which describes a thousand kernels; on a GPU megabytes of code, of which the driver loads some at the first launch, a buffer for what
    // is printed, a place for panics, and constants.
    let images = if device.is_gpu() { 1000 } else { 100 };
    leaves_little("images", device, images, 4096, || {
        let module = device.load(&KERNELS)?;
        module.set_constant(&WEIGHTS, [2.0; 4])?;
        let mut values = device.zeroed::<f32>(100)?;
        module.launch(weigh, for_each(100), (&mut values,))?;
        assert_eq!(values.to_vec()?, [2.0; 100]);
        Ok(())
    })?;
    let (module, stream) = (device.load(&KERNELS)?, device.stream()?);
    leaves_nothing("graphs", device, 10_000 / share, || {
        let mut graph = stream.capture(device.zeroed::<u64>(100)?, |capture, values| {
            capture.fill(values, 1)?;
            capture.launch(&module, add_index, for_each(100), (values,)).map(drop)
        })?;
        graph.launch()
    })?;
    leaves_nothing("clones of graphs", device, 10_000 / share, || {
        let memory = || Ok::<_, Error>((device.zeroed::<u64>(100)?, GraphPinned::from(device.pinned(100)?)));
        let graph = stream.capture(memory()?, |capture, (x, mut host)| {
            capture.launch(&module, add_index, for_each(100), (x,))?;
            capture.callback(|| ())?;
            capture.copy_to_pinned(x, &mut host)
        })?;
        let mut clone = graph.clone_with(memory()?)?;
        clone.launch()?;
        clone.into_memory().1.into_buffer().map(drop)
    })?;
    leaves_nothing("streams and events", device, 10_000 / share, || {
        let stream = device.stream()?;
        stream.callback(|| ())?;
        stream.record()?.synchronize()
    })?;
    leaves_nothing("pinned memory", device, 10_000 / share, || {
        stream.copy_to_pinned(&device.zeroed::<u8>(5000)?, device.pinned(5000)?)?.wait().map(drop)
    })
}

/// Alone, as tests of the CPU are that may fail, while that of GPUs waits.
#[test]
fn nothing_is_left() {
    on_the_cpu(|device, _| all(device, 20));
}

mod needs_a_gpu {
    use super::*;

    #[test]
    #[ignore = "needs a GPU"]
    fn nothing_is_left() {
        on_every_gpu(|device| all(device, 1));
    }
}

//! What the tests of algorithms share: kernels of a user, and the loop over every device of the machine.

use gpukernel::{Device, Image};
use gpukernel_algorithms::{Algorithms, Result};

/// The instances of `algorithm-test-kernels`, for GPUs.
pub static KERNELS: Image = gpukernel::image!("kernels");

/// Runs a test on every device there is; a failure names the device.
///
/// # Panics
/// If the test does or returns an error on any device.
pub fn on_every_device(test: impl Fn(&Device, &Algorithms) -> Result<()>) {
    let devices =
        gpukernel::devices().unwrap_or_else(|error| panic!("the devices cannot be listed: {error}"));
    for device in devices {
        let algorithms = device
            .load(&KERNELS)
            .map_err(gpukernel_algorithms::Error::from)
            .and_then(|module| Ok(Algorithms::new(&device)?.with_module(&module)))
            .unwrap_or_else(|error| panic!("{device}: {error}"));
        test(&device, &algorithms).unwrap_or_else(|error| panic!("{device}: {error}"));
    }
}

/// Lengths around those of tiles, groups of tiles, and none.
pub const LENGTHS: &[usize] =
    &[0, 1, 2, 31, 255, 256, 257, 1023, 1024, 2047, 2048, 2049, 4095, 4096, 4097, 20_000];

/// Numbers that look random.
pub fn numbers(len: usize) -> impl Iterator<Item = u64> {
    (1..=len as u64).map(|i| {
        // SplitMix64 (Steele, Lea and Flood, 2014).
        let x = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    })
}

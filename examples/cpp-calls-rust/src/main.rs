//! A kernel in CUDA C++ that calls functions in Rust; on a machine without a GPU, the same functions called from here.

use cpp_calls_rust_functions::{Rgb, luminance, tone_mapped};
use gpukernel::{Device, LaunchConfig, RawArg};

/// The kernel, linked with the functions.
static DEVELOP: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/develop.fatbin"));

const EXPOSURE: f32 = 2.0;

fn main() -> gpukernel::Result<()> {
    let film: Vec<Rgb> =
        (0..5).map(|i| Rgb { r: 0.1 * i as f32, g: 0.2, b: 1.0 / (1.0 + i as f32) }).collect();
    let device = Device::best()?;
    let brightness = if device.is_gpu() { on_gpu(&device, &film)? } else { on_cpu(&film) };
    println!("{device}: brightness {brightness:?}");
    Ok(())
}

fn on_gpu(device: &Device, film: &[Rgb]) -> gpukernel::Result<Vec<f32>> {
    // SAFETY: the build script made it.
    let module = unsafe { device.load_foreign(DEVELOP) }?;
    let film = device.upload(film)?;
    let mut print = device.upload(&vec![Rgb::default(); film.len()])?;
    let mut brightness = device.zeroed::<f32>(film.len())?;
    // SAFETY: it is `develop(const Rgb *, Rgb *, float *, unsigned, float)`, which stays below the count.
    unsafe {
        let args = [
            RawArg::slice(&film),
            RawArg::slice_mut(&mut print),
            RawArg::slice_mut(&mut brightness),
            RawArg::value(film.len() as u32),
            RawArg::value(EXPOSURE),
        ];
        module.launch("develop", LaunchConfig::new(film.len().div_ceil(32), 32), 0, &args)?;
    }
    brightness.to_vec()
}

fn on_cpu(film: &[Rgb]) -> Vec<f32> {
    film.iter().map(|colour| luminance(tone_mapped(*colour, EXPOSURE))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn film() -> Vec<Rgb> {
        (0..100).map(|i| Rgb { r: 0.01 * i as f32, g: 0.5, b: 3.0 - 0.03 * i as f32 }).collect()
    }

    #[test]
    fn brightness_is_below_one() {
        assert!(on_cpu(&film()).iter().all(|brightness| (0.0..1.0).contains(brightness)));
    }

    mod needs_a_gpu {
        use super::*;

        #[test]
        #[ignore = "needs a GPU"]
        fn both_devices_agree() {
            let film = film();
            let expected = on_cpu(&film);
            let mut devices = gpukernel::devices().unwrap();
            devices.retain(Device::is_gpu);
            assert!(!devices.is_empty(), "this test needs a GPU, and there is none");
            for device in devices {
                for (found, expected) in on_gpu(&device, &film).unwrap().into_iter().zip(&expected) {
                    assert!((found - expected).abs() <= 1e-6, "{found} is not {expected}");
                }
            }
        }
    }
}

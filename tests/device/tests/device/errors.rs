//! Launches that cannot be: each is an error that says why, and leaves the device usable.

use gpukernel::{Device, DeviceSlice, Error, Image, LaunchConfig, Module, Result, for_each, for_each_2d};
use gpukernel_device_test_kernels::{
    arguments::all_largest,
    outputs::{add_index, bounded, exact, saxpy},
};
use gpukernel_device_tests::{on_every_device, on_every_gpu, on_the_cpu};
use gpukernel_image::{Arch, ImageWriter, Manifest};

fn still_works(device: &Device, module: &Module) -> Result<()> {
    let mut values = device.zeroed::<u64>(2)?;
    module.launch(add_index, for_each(2), (&mut values,))?;
    assert_eq!(values.to_vec()?, [1, 2]);
    Ok(())
}

#[test]
fn more_threads_than_a_block_may_have() {
    on_every_device(|device, module| {
        let mut values = device.zeroed::<u64>(10)?;
        let error = module.launch(add_index, LaunchConfig::new(1, 1025), (&mut values,)).unwrap_err();
        assert!(matches!(error, Error::BlockTooLarge { asked: [1025, 1, 1], allowed: 1024, .. }), "{error}");
        assert_eq!(values.to_vec()?, [0; 10]);
        still_works(device, module)
    });
}

#[test]
fn more_threads_than_the_contract_allows() {
    on_every_device(|device, module| {
        let mut values = device.zeroed::<u32>(10)?;
        let error = module.launch(bounded, LaunchConfig::new(1, 65), (&mut values,)).unwrap_err();
        assert!(matches!(error, Error::BlockTooLarge { allowed: 64, .. }), "{error}");
        assert!(error.to_string().contains("`max_threads`"), "{error}");
        module.launch(bounded, LaunchConfig::new(1, 64), (&mut values,))?;
        still_works(device, module)
    });
}

#[test]
fn another_block_than_the_contract_fixes() {
    on_every_device(|device, module| {
        let mut values = device.zeroed::<u32>(10)?;
        for threads in [1, 127, 129, 256] {
            let error = module.launch(exact, LaunchConfig::new(1, threads), (&mut values,)).unwrap_err();
            assert!(matches!(error, Error::WrongBlock { required: [128, 1, 1], .. }), "{error}");
        }
        module.launch(exact, LaunchConfig::new(1, 128), (&mut values,))?;
        still_works(device, module)
    });
}

#[test]
fn more_axes_than_the_contract_has() {
    on_every_device(|device, module| {
        let mut values = device.zeroed::<u32>(10)?;
        let error = module.launch(bounded, for_each_2d(2, 5), (&mut values,)).unwrap_err();
        assert!(matches!(error, Error::TooManyDims { asked: 2, allowed: 1, .. }), "{error}");
        still_works(device, module)
    });
}

#[test]
fn an_image_without_the_kernel() {
    on_the_cpu(|device, _| {
        // SAFETY: it holds no code.
        let image = unsafe { Image::from_bytes(ImageWriter::new(Manifest::new("other")).finish()) };
        let module = device.load(&image)?;
        let mut values = device.zeroed::<u64>(10)?;
        let error = module.launch(add_index, for_each(10), (&mut values,)).unwrap_err();
        let Error::NoSuchKernel { kernel, crate_name, .. } = &error else { panic!("{error}") };
        assert_eq!(kernel, "gpukernel_device_test_kernels::outputs::add_index");
        assert_eq!(crate_name, "other");
        Ok(())
    });
}

#[test]
fn an_image_that_is_none() {
    on_every_device(|device, _| {
        // SAFETY: there is no code in it.
        let image = unsafe { Image::from_static(b"not an image") };
        let error = device.load(&image).unwrap_err();
        assert!(matches!(error, Error::Image(_)), "{error}");
        Ok(())
    });
}

/// On the CPU alone: on a GPU a trap ends the context, and with it the other tests of this process.
#[test]
fn a_panic_is_an_error_with_its_place() {
    on_the_cpu(|device, module| {
        let x = device.upload(&[1.0_f32])?;
        let mut y = device.zeroed::<f32>(3)?;
        let error = module
            .launch(saxpy, for_each(3), (1.0, &x, &mut y))
            .and_then(|()| device.synchronize())
            .unwrap_err();
        let Error::KernelPanicked { kernel, message, location, .. } = &error else { panic!("{error}") };
        assert_eq!(kernel, "gpukernel_device_test_kernels::outputs::saxpy");
        assert!(message.contains("index out of bounds"), "{message}");
        assert!(location.as_ref().is_some_and(|place| place.contains("outputs.rs")), "{error}");

        let empty = device.upload::<f32>(&[])?;
        let mut out = device.zeroed::<f32>(1)?;
        module.launch(all_largest, for_each(1), (&empty, &mut out))?;
        assert_eq!(out.to_vec()?, [f32::NEG_INFINITY]);
        still_works(device, module)
    });
}

#[test]
fn a_gpu_that_is_not_there() {
    let error = Device::gpu(1000).unwrap_err();
    assert!(matches!(error, Error::NoDriver { .. } | Error::NoSuchGpu { asked: 1000, .. }), "{error}");
}

/// Skipped by name where there is no GPU: `cargo gpukernel test` and bundles run them where there is one.
mod needs_a_gpu {
    use super::*;

    #[test]
    #[ignore = "needs a GPU"]
    fn an_image_without_code_for_the_gpu() {
        let mut writer = ImageWriter::new(Manifest::new("future"));
        writer.add_cubin(Arch::new(99, 0), vec![0; 8]);
        writer.add_ptx(Arch::new(99, 0), ".version 99.0");
        // SAFETY: none of its kernels is launched.
        let image = unsafe { Image::from_bytes(writer.finish()) };
        on_every_gpu(|device| {
            let error = device.load(&image).unwrap_err();
            assert!(matches!(error, Error::NoImageForDevice { .. }), "{error}");
            assert!(error.to_string().contains("machine code for sm_990, PTX for sm_990"), "{error}");
            Ok(())
        });
    }

    #[test]
    #[ignore = "needs a GPU"]
    fn memory_of_another_device() {
        let cpu = Device::cpu();
        on_every_gpu(|gpu| {
            let module = gpu.load(&gpukernel_device_tests::KERNELS)?;
            let x = cpu.filled(4, 1.0_f32)?;
            let mut y = gpu.zeroed::<f32>(4)?;
            let foreign: &DeviceSlice<f32> = &x;
            let error = module.launch(saxpy, for_each(4), (1.0, foreign, &mut y)).unwrap_err();
            assert!(matches!(&error, Error::WrongDevice { .. }), "{error}");
            let error = y.copy_from_device(&x).unwrap_err();
            assert!(matches!(&error, Error::WrongDevice { .. }), "{error}");
            assert_eq!(y.to_vec()?, [0.0; 4]);

            let mut values = gpu.zeroed::<u64>(1)?;
            let stream = cpu.stream()?;
            let error = stream.launch(&module, add_index, for_each(1), (&mut values,)).unwrap_err();
            assert!(matches!(&error, Error::WrongDevice { .. }), "{error}");
            still_works(gpu, &module)
        });
    }
}

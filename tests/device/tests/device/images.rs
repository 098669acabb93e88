//! What an image holds, and what a device makes of it.

use gpukernel::{Image, for_each};
use gpukernel_device_test_kernels::outputs::saxpy;
use gpukernel_device_tests::{KERNELS, on_every_device};
use gpukernel_image::{CodeKind, Image as Contents, ImageWriter};

/// The image of the tests with the PTX alone, as it is made where there is no ptxas.
fn ptx_alone() -> Image {
    let contents = Contents::parse(KERNELS.bytes()).expect("it was loaded before");
    let mut writer = ImageWriter::new(contents.manifest().clone());
    for code in contents.code().iter().filter(|code| code.kind() == CodeKind::Ptx) {
        writer.add_ptx(code.arch(), &code.text().expect("it was loaded before"));
    }
    // SAFETY: it is a part of the image that was built with these kernels.
    unsafe { Image::from_bytes(writer.finish()) }
}

/// The driver compiles PTX of an older architecture for the one at hand.
#[test]
fn ptx_alone_runs_everywhere() {
    let image = ptx_alone();
    on_every_device(|device, _| {
        let module = device.load(&image)?;
        let x = device.upload(&[1.0_f32, 2.0, 3.0])?;
        let mut y = device.upload(&[10.0_f32, 20.0, 30.0])?;
        module.launch(saxpy, for_each(3), (2.0, &x, &mut y))?;
        assert_eq!(y.to_vec()?, [12.0, 24.0, 36.0]);
        Ok(())
    });
}

#[test]
fn the_image_holds_what_the_build_was_asked_for() {
    let contents = Contents::parse(KERNELS.bytes()).unwrap();
    assert_eq!(contents.manifest().no_code, None);
    let of_kind = |kind| contents.code().iter().filter(move |code| code.kind() == kind);
    let cubins: Vec<_> = of_kind(CodeKind::Cubin).map(|code| code.arch().to_string()).collect();
    let ptx: Vec<_> = of_kind(CodeKind::Ptx).map(|code| code.arch().to_string()).collect();
    if option_env!("GPUKERNEL_ARCHS").is_some_and(|archs| !archs.is_empty()) {
        // Some of these: the tests of `cargo-gpukernel` say which.
        let archs: Vec<_> = cubins.iter().chain(&ptx).map(String::as_str).collect();
        assert!(!archs.is_empty() && archs.iter().all(|arch| ["sm_80", "sm_90"].contains(arch)), "{archs:?}");
    } else if cfg!(debug_assertions) {
        // A dev build: machine code for the GPUs of the machine that built it, if any, and PTX of what is no machine code.
        assert_eq!(cubins.is_empty(), !gpukernel::devices().unwrap().iter().any(gpukernel::Device::is_gpu));
        assert_eq!(ptx[0], "sm_80");
        assert!(
            ["sm_80", "sm_90"]
                .iter()
                .all(|arch| [&cubins, &ptx].iter().any(|kind| kind.iter().any(|of| of == arch)))
        );
    } else {
        assert_eq!(cubins, ["sm_80", "sm_90"]);
        assert_eq!(ptx, ["sm_80"]);
    }
}

//! Functions in CUDA C do the same in every way of linking them, on every device.

use gpukernel::{Device, Error, Grid, Image, Module, RawArg, Result, devices, for_each};
use gpukernel_cuda_c_test_kernels::{RESULTS, all, largest, meetings, places};
use gpukernel_cuda_c_tests::{FOR_OTHERS, IMAGES, Linked};
use gpukernel_image::{CodeKind, Image as Contents, ImageWriter};

const INPUT: [i32; 6] = [0, 1, 13, 100, 50, 127];

/// Runs a test with every image on every device that it has code for.
fn with_every_image(test: impl Fn(&Module, &Linked) -> Result<()>) {
    let devices = devices().unwrap_or_else(|error| panic!("the devices cannot be listed: {error}"));
    for device in &devices {
        for linked in IMAGES.iter().filter(|linked| linked.on_cpu || device.is_gpu()) {
            run(device, linked.image, linked, &test);
        }
    }
}

/// Runs a test with the PTX of every image on every GPU, where the driver links it.
fn linked_by_the_driver(test: impl Fn(&Module, &Linked) -> Result<()>) {
    let devices = devices().unwrap_or_else(|error| panic!("the devices cannot be listed: {error}"));
    for device in devices.iter().filter(|device| device.is_gpu()) {
        for linked in IMAGES {
            run(device, &ptx_alone(linked.image), linked, &test);
        }
    }
}

fn run(device: &Device, image: &Image, linked: &Linked, test: &impl Fn(&Module, &Linked) -> Result<()>) {
    let result = device.load(image).and_then(|module| test(&module, linked));
    // Machine code of one architecture is for that alone.
    if let (Err(Error::NoImageForDevice { .. }), "cubin") = (&result, linked.way) {
        return;
    }
    result.unwrap_or_else(|error| panic!("{} on {device}: {error}", linked.way));
}

fn ptx_alone(image: &Image) -> Image {
    let contents = Contents::parse(image.bytes()).expect("it was loaded before");
    let mut writer = ImageWriter::new(contents.manifest().clone());
    for code in contents.code().iter().filter(|code| code.kind() == CodeKind::Ptx) {
        writer.add_ptx(code.arch(), code.text());
    }
    for part in contents.parts() {
        let bytes =
            part.bytes.strip_suffix(&[0]).filter(|_| part.name.ends_with("cu") || part.name.ends_with("ptx"));
        writer.add_part(part.kind, &part.name, bytes.unwrap_or(part.bytes).to_vec());
    }
    // SAFETY: it is a part of the image that was built with these kernels.
    unsafe { Image::from_bytes(writer.finish()) }
}

fn expected(x: i32) -> [f64; RESULTS] {
    let small = i32::from(x as i8) + i32::from(x as u8) + i32::from(x as i16) + i32::from(x as u16);
    let sum: i32 = (0..20).map(|i| x + i).sum();
    [
        small.into(),
        (x as i8).wrapping_neg().into(),
        f64::from(u8::from(x % 2 != 0)),
        (u64::from(x as u32).wrapping_mul(1 << 33)) as f64,
        f64::from(x as f32) + 0.25,
        f64::from(x as f32 + 1.0),
        (x as i8).wrapping_add(1).into(),
        f64::from(x) * 2.0,
        (x as i16 - 1).into(),
        x.into(),
        (x + 19).into(),
        sum.into(),
        0.5,
        1.0,
        1.5,
        f64::from(x as f32 * 0.5),
        (x / 7).into(),
        (x % 7).into(),
        [0.5, 1.5, 2.5, 3.5][(x & 3) as usize],
        f64::from([0, 1, 4, 9, 16][(x % 5) as usize]),
        (3 * x + 1).into(),
        0.0,
        0.0,
        0.0,
    ]
}

fn check_all(module: &Module, _: &Linked) -> Result<()> {
    let device = module.device();
    let input = device.upload(&INPUT)?;
    let mut out = device.zeroed::<[f64; RESULTS]>(INPUT.len())?;
    module.launch(all, for_each(INPUT.len()), (&input, &mut out))?;
    for (x, found) in INPUT.into_iter().zip(out.to_vec()?) {
        assert_eq!(found, expected(x), "{x}");
    }
    Ok(())
}

fn check_threads(module: &Module, _: &Linked) -> Result<()> {
    let device = module.device();
    let mut out = device.zeroed::<u32>(3 * 64)?;
    module.launch(places, Grid::new(3, 64), (&mut out,))?;
    let place = |i: u32| i % 64 + 1000 * (i / 64) + 1_000_000 * 64 * 3;
    assert!(out.to_vec()?.into_iter().eq((0..3 * 64).map(place)));

    let mut counters = device.zeroed::<u32>(3)?;
    // SAFETY: there is a counter for each of three blocks.
    unsafe { module.launch_unchecked(meetings, Grid::new(3, 64), (&mut counters, &mut out))? };
    assert_eq!(out.to_vec()?, [64; 3 * 64]);
    Ok(())
}

/// What the CPU device does not have in C.
fn check_blocks(module: &Module, _: &Linked) -> Result<()> {
    let device = module.device();
    let x: Vec<i32> = (0..3 * 96).map(|i| (i * 37 + 11) % 288).collect();
    let mut out = device.zeroed::<i32>(3)?;
    let launched = module.launch(largest, Grid::new(3, 96), (&device.upload(&x)?, &mut out));
    if !device.is_gpu() {
        let Err(Error::NoHostVersion { function, reason, .. }) = launched else { panic!("{launched:?}") };
        assert_eq!(function, "block_max");
        assert!(reason.contains("gpu_only.cu:") && reason.contains("__shared__"), "{reason}");
        return Ok(());
    }
    launched?;
    let expected: Vec<i32> =
        x.chunks(96).map(|block| block.iter().copied().fold(i32::MIN, i32::max)).collect();
    assert_eq!(out.to_vec()?, expected);
    Ok(())
}

#[test]
fn memory_of_the_block_and_warps_work_in_c() {
    with_every_image(|module, linked| match linked.way {
        // There is no version for the host of the object, nor a reason in it.
        "object" if !module.device().is_gpu() => Ok(()),
        _ => check_blocks(module, linked),
    });
}

#[test]
fn memory_of_the_block_and_warps_work_in_c_where_the_driver_links() {
    linked_by_the_driver(check_blocks);
}

#[test]
fn what_the_driver_cannot_link_it_tells() {
    let contents = Contents::parse(IMAGES[0].image.bytes()).unwrap();
    let mut writer = ImageWriter::new(contents.manifest().clone());
    for code in contents.code().iter().filter(|code| code.kind() == CodeKind::Ptx) {
        writer.add_ptx(code.arch(), code.text());
    }
    // All but one of the files.
    for part in contents.parts().iter().filter(|part| part.name != "helper.cu") {
        writer.add_part(part.kind, &part.name, part.bytes[..part.bytes.len() - 1].to_vec());
    }
    // SAFETY: it is a part of the image that was built with these kernels.
    let image = unsafe { Image::from_bytes(writer.finish()) };
    for device in devices().unwrap().iter().filter(|device| device.is_gpu()) {
        let error = device.load(&image).unwrap_err();
        let Error::Load { log, .. } = &error else { panic!("{error}") };
        assert!(log.contains("helper"), "{error}");
    }
}

#[test]
fn values_and_structs_pass_both_ways() {
    with_every_image(check_all);
}

#[test]
fn values_and_structs_pass_both_ways_where_the_driver_links() {
    linked_by_the_driver(check_all);
}

#[test]
fn built_ins_and_barriers_work_in_c() {
    with_every_image(check_threads);
}

#[test]
fn built_ins_and_barriers_work_in_c_where_the_driver_links() {
    linked_by_the_driver(check_threads);
}

#[test]
fn a_function_without_a_version_for_the_host_is_named() {
    let device = Device::cpu();
    for linked in IMAGES.iter().filter(|linked| !linked.on_cpu) {
        let module = device.load(linked.image).unwrap();
        let mut out = device.zeroed::<u32>(1).unwrap();
        let error = module.launch(places, for_each(1), (&mut out,)).unwrap_err();
        let Error::NoHostVersion { function, location, .. } = &error else { panic!("{error}") };
        assert_eq!(*function, "place");
        assert!(location.contains("kernels/src/lib.rs:"), "{error}");
    }
}

#[test]
fn a_fatbin_is_loaded_like_that_of_any_compiler() {
    for device in devices().unwrap().iter().filter(|device| device.is_gpu()) {
        let module = device.load_foreign(FOR_OTHERS).unwrap();
        let mut out = device.zeroed::<u32>(64).unwrap();
        let args = [RawArg::slice_mut(&mut out), RawArg::value(64_u64)];
        // SAFETY: `places` takes the address and the length of a slice.
        unsafe { module.launch("places", Grid::new(2, 32), 0, &args) }.unwrap();
        let place = |i: u32| i % 32 + 1000 * (i / 32) + 1_000_000 * 32 * 2;
        assert!(out.to_vec().unwrap().into_iter().eq((0..64).map(place)));
    }
}

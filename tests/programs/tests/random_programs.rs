//! Random programs compute the same on every device, and however they are compiled.

use std::sync::{Mutex, PoisonError};

use gpukernel::{Device, Image};
use gpukernel_image::{Arch, CodeKind};
use gpukernel_program_tests::{Checked, DEV, Optimised, RELEASE};
use program_fuzz::{
    batch::{Code, Machine, image_of_one, symbol},
    ptx::Pieces,
};
use program_generator::Kind;
use program_reference::{Case, Kernels, Outcome, Unoptimised, case::CASES, launch::load_on_cpu};

/// As many as the kernel crates have.
const SEEDS: u64 = 50;

/// What a seed's program comes to on the CPU, by the kernels of a crate.
fn on_cpu<K: Kernels>() -> Vec<Vec<Outcome>> {
    // A panic of a kernel is an error of whoever waits next: no other test of this program.
    static ONE: Mutex<()> = Mutex::new(());
    let _alone = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let module = load_on_cpu().unwrap_or_else(|error| panic!("{error}"));
    let outcomes = |seed: u64| {
        let outcome =
            |case| Outcome::of(&K::launch(&module, Kind::of(seed), seed as u32, &Case::new(seed, case)));
        (0..CASES).map(outcome).collect()
    };
    (0..SEEDS).map(outcomes).collect()
}

#[test]
fn optimised_host_code_computes_what_other_host_code_does() {
    let expected = on_cpu::<Unoptimised>();
    let (release, dev) = (on_cpu::<Optimised>(), on_cpu::<Checked>());
    for seed in 0..SEEDS as usize {
        for case in 0..CASES {
            let expected = &expected[seed][case];
            assert!(!matches!(expected, Outcome::Failed(_)), "seed {seed}, case {case}: {expected}");
            let dev = &dev[seed][case];
            assert!(expected.agrees(dev, true), "seed {seed}, case {case}: {expected}, dev: {dev}");
            let release = &release[seed][case];
            assert!(
                expected.is_overflow() || expected.agrees(release, true),
                "seed {seed}, case {case}: {expected}, release: {release}"
            );
        }
    }
}

/// They are of all kinds, so that what is compared is worth it.
#[test]
fn most_programs_compute_something_and_some_panic() {
    let all: Vec<_> = on_cpu::<Unoptimised>().concat();
    let panics = all.iter().filter(|outcome| matches!(outcome, Outcome::Panicked { .. })).count();
    assert!((1..20).contains(&panics), "{panics} of {} launches panic", all.len());
}

/// The image holds what ptxas made of them, which accepted all.
#[test]
fn every_program_is_assembled() {
    for image in [&RELEASE, &DEV] {
        let image = gpukernel_image::Image::parse(image.bytes()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(image.manifest().kernels.len() as u64, SEEDS);
        assert!(image.code().iter().any(|code| code.kind() == CodeKind::Cubin));
        for kernel in &image.manifest().kernels {
            let resources = kernel.resources.get(&Arch::new(9, 0));
            assert!(resources.is_some_and(|resources| resources.registers > 0), "{}", kernel.name);
        }
    }
}

/// What the runtime compares before it launches on a GPU, it compares on the CPU too: names and parameters.
#[test]
fn images_of_one_program_fit_the_kernels_of_the_host() {
    let code = Code::of_image(RELEASE.bytes(), false).unwrap_or_else(|error| panic!("{error}"));
    for number in 0..SEEDS as usize {
        let kind = Kind::of(number as u64);
        let host = Unoptimised::signature(kind);
        let images = [
            image_of_one(RELEASE.bytes(), number, &host),
            code.image_of(number, &host, Machine::Ptx(&code.ptx)),
        ];
        for image in images {
            let image = image.unwrap_or_else(|error| panic!("{error}"));
            // SAFETY: the CPU runs what is in the program.
            let image = unsafe { Image::from_bytes(image) };
            let module = Device::cpu().load(&image).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(module.kernels().collect::<Vec<_>>(), [host.lines().next().unwrap_or_default()]);
            let case = Case::new(number as u64, 1);
            let outcome = Outcome::of(&Unoptimised::launch(&module, kind, number as u32, &case));
            assert!(!matches!(outcome, Outcome::Failed(_)), "seed {number}: {outcome}");
        }
    }
}

mod needs_a_gpu {
    use super::*;

    #[test]
    #[ignore = "needs a GPU"]
    fn gpus_compute_what_the_cpu_does() {
        let devices = gpukernel::devices().unwrap_or_else(|error| panic!("{error}"));
        assert!(devices.iter().any(Device::is_gpu), "this test needs a GPU, and there is none");
        let expected = on_cpu::<Unoptimised>();
        let code_of =
            |image: &Image, dev| Code::of_image(image.bytes(), dev).unwrap_or_else(|error| panic!("{error}"));
        for device in devices.iter().filter(|device| device.is_gpu()) {
            for (image, dev) in [(&RELEASE, false), (&DEV, true)] {
                let code = code_of(image, dev);
                let pieces = Pieces::new(&code.ptx);
                for seed in 0..SEEDS {
                    let (number, kind) = (seed as usize, Kind::of(seed));
                    let host = Unoptimised::signature(kind);
                    let text = pieces.with(&[&symbol(number)]);
                    let ways = [
                        ("assembled by ptxas", image_of_one(image.bytes(), number, &host)),
                        ("compiled by the driver", code.image_of(number, &host, Machine::Ptx(&text))),
                    ];
                    for (way, image) in ways {
                        let what = format!("seed {seed}, dev: {dev}, {way}, on {device}");
                        let image = image.unwrap_or_else(|error| panic!("{what}: {error}"));
                        // SAFETY: the build script made it of the same programs.
                        let image = unsafe { Image::from_bytes(image) };
                        let module = device.load(&image).unwrap_or_else(|error| panic!("{what}: {error}"));
                        for case in 0..CASES {
                            let expected = &expected[number][case];
                            if expected.is_overflow() && !dev {
                                continue;
                            }
                            let data = Case::new(seed, case);
                            let found = Outcome::of(&Unoptimised::launch(&module, kind, seed as u32, &data));
                            assert!(
                                expected.agrees(&found, dev),
                                "{what}, case {case}: {expected}, found {found}"
                            );
                        }
                    }
                }
            }
        }
    }
}

//! An image whose kernels have the names and sizes of the program's is not taken for theirs: what the program lends to be read would be
//! written, and what is no value of a type would come back as one.

use gpukernel::{Device, Error, Image, Module, devices, for_each};
use gpukernel_identity_tests::{KERNELS, OTHER_FEATURES, OTHER_PACKAGE};
use identity_kernels as kernels;
use kernels::{Fields, LETTER, SCALE, Variants, parity::Number};

/// Launches on every device with the image of the other kernels, which is refused with a message that holds `expected`, and with the
/// program's own.
fn refused(other: &Image, expected: &str, launch: impl Fn(&Device, &Module) -> gpukernel::Result<()>) {
    for device in devices().unwrap_or_else(|error| panic!("the devices cannot be listed: {error}")) {
        let launch = |image| launch(&device, &device.load(image)?);
        launch(&KERNELS).unwrap_or_else(|error| panic!("on {device}: {error}"));
        match launch(other) {
            Err(error @ Error::StaleImage { .. }) => {
                assert!(error.to_string().contains(expected), "{device}: {error}");
            }
            result => panic!("{device}: {result:?}"),
        }
    }
}

#[test]
fn memory_that_is_lent_for_reading_is_not_written() {
    refused(&OTHER_FEATURES, "its parameter 0 is `PerThread<u32>` there, `&[u32]` here", |device, module| {
        let (x, mut y) = (device.upload(&[1, 2, 3])?, device.zeroed(3)?);
        module.launch(kernels::access, for_each(3), (&x, &mut y))?;
        assert_eq!(y.to_vec()?, [1, 2, 3]);
        Ok(())
    });
}

#[test]
fn letters_do_not_come_from_numbers() {
    refused(
        &OTHER_FEATURES,
        "its parameter 0 is `PerThread<u32>` there, `PerThread<char>` here",
        |device, module| {
            let mut y = device.filled(3, 'z')?;
            module.launch(kernels::letters, for_each(3), (&mut y,))?;
            assert_eq!(y.to_vec()?, ['a', 'b', 'c']);
            Ok(())
        },
    );
    refused(&OTHER_FEATURES, "`PerThread<[u32; 2]>` there, `PerThread<[char; 2]>` here", |device, module| {
        let mut y = device.filled(1, ['x', 'y'])?;
        module.launch(kernels::arrays, for_each(1), (&mut y,))?;
        assert_eq!(y.to_vec()?, [['y', 'x']]);
        Ok(())
    });
}

#[test]
fn constants_are_of_the_same_type() {
    refused(&OTHER_FEATURES, "its type is `u32` there, `char` here", |_, module| {
        assert_eq!(module.constant(&LETTER)?, 'a');
        Ok(())
    });
    refused(&OTHER_FEATURES, "its type is `u32` there, `char` here", |_, module| {
        module.set_constant(&LETTER, 'b')
    });
}

#[test]
fn fields_do_not_change_places() {
    refused(&OTHER_FEATURES, "{ letter@0 char number@4 u32 }", |device, module| {
        let mut y = device.filled(1, Fields { number: 1, letter: 'z' })?;
        module.launch(kernels::fields, for_each(1), (&mut y,))?;
        assert_eq!((y.to_vec()?[0].number, y.to_vec()?[0].letter), (u32::MAX, 'z'));
        Ok(())
    });
}

#[test]
fn variants_have_the_same_numbers() {
    refused(&OTHER_FEATURES, "First=5 { } Second=6 { }", |device, module| {
        let mut y = device.filled(1, Variants::Second)?;
        module.launch(kernels::variants, for_each(1), (&mut y,))?;
        assert_eq!(y.to_vec()?, [Variants::First]);
        Ok(())
    });
}

#[test]
fn types_of_one_layout_and_two_promises_are_two() {
    refused(&OTHER_FEATURES, "PerThread<identity_kernels::odd::Number of", |device, module| {
        let mut y = device.filled(3, Number::twice(0))?;
        module.launch(kernels::promises, for_each(3), (&mut y,))
    });
}

#[test]
fn what_a_kernel_requires_has_the_same_constants() {
    refused(&OTHER_FEATURES, "x.len() >= ROOM; of 0; ROOM: usize = 0x400` there", |device, module| {
        let (x, mut y) = (device.upload(&[1, 2, 3, 4])?, device.zeroed(1)?);
        module.launch(kernels::requires, for_each(1), (&x, &mut y))?;
        assert_eq!(y.to_vec()?, [4]);
        Ok(())
    });
    refused(&OTHER_FEATURES, "N: usize = 0x400` there", |device, module| {
        let (x, mut y) = (device.upload(&[1, 2, 3, 4])?, device.zeroed(1)?);
        module.launch(kernels::bounded_here, for_each(1), (&x, &mut y))?;
        assert_eq!(y.to_vec()?, [4]);
        Ok(())
    });
}

/// `$crate::LIMIT` of two macros was taken for one constant, and the second compared with nothing.
#[test]
fn constants_that_are_written_alike_are_each_compared() {
    let expected = "$crate::LIMIT: usize = 0x0; $crate::LIMIT: usize = 0x400` there";
    refused(&OTHER_FEATURES, expected, |device, module| {
        let (x, mut y) = (device.upload(&[1, 2, 3, 4])?, device.zeroed(1)?);
        module.launch(kernels::requires_twice, for_each(1), (&x, &mut y))?;
        assert_eq!(y.to_vec()?, [4]);
        Ok(())
    });
}

#[test]
fn instances_require_what_their_kernel_does() {
    for device in devices().unwrap_or_else(|error| panic!("the devices cannot be listed: {error}")) {
        let module = device.load(&KERNELS).unwrap();
        let (x, mut y) = (device.upload(&[1, 2, 3, 4]).unwrap(), device.zeroed(1).unwrap());
        let error = module.launch(kernels::bounded::<8>, for_each(1), (&x, &mut y)).unwrap_err();
        assert!(matches!(error, Error::RequirementNotMet { .. }), "{device}: {error}");
        let x = device.upload(&[1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
        module.launch(kernels::bounded::<8>, for_each(1), (&x, &mut y)).unwrap();
        assert_eq!(y.to_vec().unwrap(), [8]);
    }
}

#[test]
fn launches_reserve_the_shared_memory_that_the_code_uses() {
    refused(
        &OTHER_FEATURES,
        "shared, dynamic 80000:4` there, `shared, dynamic 64000:4` here",
        |device, module| {
            let mut y = device.zeroed(4)?;
            module.launch(kernels::shared, for_each(4), (&mut y,))?;
            assert_eq!(y.to_vec()?, [15_999, 15_998, 15_997, 15_996]);
            Ok(())
        },
    );
}

#[test]
fn tiles_have_the_same_length() {
    refused(&OTHER_FEATURES, "`BlockTiles<u32, 1024>` there, `BlockTiles<u32, 4>` here", |device, module| {
        let mut y = device.zeroed(8)?;
        module.launch(kernels::tiles, for_each(8), (&mut y,))
    });
}

#[test]
fn an_unsafe_kernel_is_not_launched_as_a_safe_one() {
    refused(&OTHER_FEATURES, "its function is `unsafe fn identity_kernels::promised", |device, module| {
        let (x, mut y) = (device.upload(&[1, 2, 3])?, device.zeroed(3)?);
        module.launch(kernels::promised, for_each(3), (&x, &mut y))
    });
}

#[test]
fn kernels_of_another_package_are_others() {
    let package = "\"other-identity-kernels\" \"0.1.0\"";
    refused(&OTHER_PACKAGE, package, |device, module| {
        let (x, mut y) = (device.upload(&[1, 2, 3])?, device.zeroed(3)?);
        module.launch(kernels::same, for_each(3), (&x, &mut y))?;
        assert_eq!(y.to_vec()?, [10, 20, 30]);
        Ok(())
    });
    refused(&OTHER_PACKAGE, package, |_, module| module.set_constant(&SCALE, 10));
}

/// The features of a crate are no reason to refuse its other kernels.
#[test]
fn what_the_feature_does_not_change_is_launched() {
    for device in devices().unwrap_or_else(|error| panic!("the devices cannot be listed: {error}")) {
        let module = device.load(&OTHER_FEATURES).unwrap();
        let (x, mut y) = (device.upload(&[1, 2, 3]).unwrap(), device.zeroed(3).unwrap());
        module.set_constant(&SCALE, 3).unwrap();
        module.launch(kernels::same, for_each(3), (&x, &mut y)).unwrap();
        assert_eq!(y.to_vec().unwrap(), [3, 6, 9]);
    }
}

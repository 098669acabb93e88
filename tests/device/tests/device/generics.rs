//! Generic kernels: each instance is a kernel of its own, on every device.

use gpukernel::{Error, LaunchConfig, for_each};
use gpukernel_device_test_kernels::generics::{
    Even, LENGTH, Larger, Line, Lookup, Mix, Polynomial, alternate, elsewhere, fold, map, map_line, poke,
    poke_bytes, repeat, reverse, scale, tiles_of,
    types::{Interval, inner::constant},
    zip,
};
use gpukernel_device_tests::{on_every_device, on_the_cpu};

macro_rules! scales {
    ($($test:ident: $T:ty;)*) => {$(
        #[test]
        fn $test() {
            on_every_device(|device, module| {
                let numbers: Vec<$T> = (0..40_u8).map(|i| i as $T).collect();
                let mut y = device.upload(&numbers)?;
                module.launch(scale::<$T>, for_each(y.len()), (3 as $T, &mut y))?;
                assert!(y.to_vec()?.into_iter().eq(numbers.iter().map(|x| 3 as $T * *x)));
                Ok(())
            });
        }
    )*};
}

scales! {
    an_instance_for_f32: f32;
    an_instance_for_f64: f64;
    an_instance_for_u8: u8;
    an_instance_for_i64: i64;
}

#[test]
fn an_instance_for_a_type_with_operators() {
    on_every_device(|device, module| {
        let mut y =
            device.upload(&[Interval::new(1.0, 2.0), Interval::new(-3.0, 4.0), Interval::new(-2.0, -1.0)])?;
        module.launch(scale::<Interval>, for_each(3), (Interval::new(-1.0, 2.0), &mut y))?;
        let expected = [Interval::new(-2.0, 4.0), Interval::new(-6.0, 8.0), Interval::new(-4.0, 2.0)];
        assert_eq!(y.to_vec()?, expected);
        assert_eq!(y.to_vec()?[0].width(), 6.0);
        Ok(())
    });
}

#[test]
fn generic_arguments_follow_from_those_of_the_launch() {
    on_every_device(|device, module| {
        let mut y = device.upload(&[1.5_f64, 2.5])?;
        module.launch(scale, for_each(2), (2.0, &mut *y))?;
        assert_eq!(y.to_vec()?, [3.0, 5.0]);
        let mut to = device.zeroed::<u16>(5)?;
        module.launch(repeat, for_each(5), ([7, 8, 9], &mut *to))?;
        assert_eq!(to.to_vec()?, [7, 8, 9, 7, 8]);
        Ok(())
    });
}

#[test]
fn instances_for_constants() {
    on_every_device(|device, module| {
        let mut to = device.zeroed::<f32>(5)?;
        module.launch(repeat::<f32, 2>, for_each(5), ([1.0, 2.0], &mut to))?;
        assert_eq!(to.to_vec()?, [1.0, 2.0, 1.0, 2.0, 1.0]);
        let mut to = device.zeroed::<u16>(9)?;
        module.launch(repeat::<u16, LENGTH>, for_each(9), ([1, 2, 3, 4, 5, 6, 7], &mut to))?;
        assert_eq!(to.to_vec()?, [1, 2, 3, 4, 5, 6, 7, 1, 2]);
        let mut to = device.zeroed::<u64>(2)?;
        module.launch(constant::<9>, for_each(2), (&mut to,))?;
        assert_eq!(to.to_vec()?, [9, 9]);
        Ok(())
    });
}

#[test]
fn instances_declared_in_another_module() {
    on_every_device(|device, module| {
        let mut to = device.zeroed::<i8>(3)?;
        module.launch(repeat::<i8, 1>, for_each(3), ([-4], &mut to))?;
        assert_eq!(to.to_vec()?, [-4; 3]);
        let mut to = device.filled(3, [0_u8; 2])?;
        module.launch(elsewhere::repeat_pairs, for_each(3), ([[1, 2], [3, 4]], &mut to))?;
        assert_eq!(to.to_vec()?, [[1, 2], [3, 4], [1, 2]]);
        Ok(())
    });
}

#[test]
fn an_instance_with_a_name_of_its_own() {
    let xs: Vec<f32> = (0..100).map(|i| i as f32).collect();
    on_every_device(|device, module| {
        let x = device.upload(&xs)?;
        let mut y = device.zeroed::<f32>(100)?;
        module.launch(map_line, for_each(100), (Line { a: 0.5, b: 2.0 }, &x, &mut y))?;
        assert!(y.to_vec()?.into_iter().eq(xs.iter().map(|x| 0.5 * x + 2.0)));
        assert!(module.kernels().any(|name| name.ends_with("generics::map_line")));
        assert!(module.kernels().any(|name| name.ends_with("generics::map<f32,f32,Line>")));
        Ok(())
    });
}

macro_rules! reversed {
    ($($test:ident: $T:ty, $N:literal;)*) => {$(
        #[test]
        fn $test() {
            on_every_device(|device, module| {
                let numbers: Vec<$T> = (0..4 * $N).map(|i| (i % 251) as $T).collect();
                let x = device.upload(&numbers)?;
                let mut y = device.upload(&numbers)?;
                module.launch(reverse::<$T, $N>, for_each(y.len()), (&x, &mut y))?;
                let expected: Vec<$T> = numbers.chunks($N).flat_map(|part| part.iter().rev().copied()).collect();
                assert_eq!(y.to_vec()?, expected);
                let error = module.launch(reverse::<$T, $N>, LaunchConfig::new(1, $N / 2), (&x, &mut y)).unwrap_err();
                assert!(matches!(error, Error::WrongBlock { required: [$N, 1, 1], .. }), "{error}");
                Ok(())
            });
        }
    )*};
}

reversed! {
    shared_bytes_of_32_threads: u8, 32;
    shared_words_of_32_threads: u64, 32;
    shared_floats_of_256_threads: f32, 256;
}

#[test]
fn generic_shared_arrays_change_places() {
    on_every_device(|device, module| {
        let mut y = device.zeroed::<u16>(100)?;
        module.launch(alternate::<u16>, LaunchConfig::new(2, 32), (3, 7, 5, &mut y))?;
        assert_eq!(y.to_vec()?, [7; 100]);
        let mut y = device.zeroed::<f64>(64)?;
        module.launch(alternate::<f64>, LaunchConfig::new(2, 32), (4, 2.5, 100, &mut y))?;
        assert_eq!(y.to_vec()?, [2.5; 64]);
        Ok(())
    });
}

#[test]
fn constants_and_functions_of_types() {
    on_every_device(|device, module| {
        let numbers: Vec<u32> = (0..1000).collect();
        let x = device.upload(&numbers)?;
        let mut sums = device.zeroed::<u32>(7)?;
        module.launch(fold::<u32>, for_each(7), (&x, &mut sums))?;
        assert_eq!(sums.to_vec()?.iter().sum::<u32>(), 499_500);

        let intervals: Vec<Interval> =
            (0..50).map(|i| Interval::new((i * 7 % 50) as f32, (i * 7 % 50 + 1) as f32)).collect();
        let x = device.upload(&intervals)?;
        let mut hull = device.filled(1, Interval::new(0.0, 0.0))?;
        module.launch(fold::<Interval>, for_each(1), (&x, &mut hull))?;
        assert_eq!(hull.to_vec()?, [Interval::new(0.0, 50.0)]);
        Ok(())
    });
}

#[test]
fn closures_with_and_without_captures() {
    let xs: Vec<u32> = (0..300).collect();
    on_every_device(|device, module| {
        let x = device.upload(&xs)?;
        let mut even = device.zeroed::<u8>(300)?;
        module.launch(map::<u32, u8, Even>, for_each(300), (Even {}, &x, &mut even))?;
        assert!(even.to_vec()?.into_iter().eq(xs.iter().map(|x| u8::from(x % 2 == 0))));

        let table = [5, -6, 7, -8, 9];
        let mut found = device.zeroed::<i16>(300)?;
        let lookup = Lookup { table, shift: 2 };
        module.launch(map::<u32, i16, Lookup>, for_each(300), (lookup, &x, &mut found))?;
        assert!(found.to_vec()?.into_iter().eq(xs.iter().map(|x| table[*x as usize % 5] << 2)));
        Ok(())
    });
}

#[test]
fn functions_of_two_arguments() {
    let (xs, ys): (Vec<u32>, Vec<u32>) = ((0..300).collect(), (0..300).rev().collect());
    on_every_device(|device, module| {
        let x = device.upload(&xs)?;
        let mut y = device.upload(&ys)?;
        module.launch(zip::<Larger>, for_each(300), (Larger {}, &x, &mut y))?;
        assert!(y.to_vec()?.into_iter().eq(xs.iter().zip(&ys).map(|(x, y)| *x.max(y))));
        let mut y = device.upload(&ys)?;
        module.launch(zip::<Mix>, for_each(300), (Mix { by: 0x9e37_79b9 }, &x, &mut y))?;
        assert!(y.to_vec()?.into_iter().eq(xs.iter().zip(&ys).map(|(x, y)| x.wrapping_mul(0x9e37_79b9) ^ y)));
        Ok(())
    });
}

#[test]
fn functions_written_by_hand() {
    let xs: Vec<f64> = (0..50).map(f64::from).collect();
    on_every_device(|device, module| {
        let x = device.upload(&xs)?;
        let mut y = device.zeroed::<f64>(50)?;
        let square = Polynomial { coefficients: [1.0, 2.0, 3.0] };
        module.launch(map::<f64, f64, Polynomial<3>>, for_each(50), (square, &x, &mut y))?;
        assert!(y.to_vec()?.into_iter().eq(xs.iter().map(|x| x * x + 2.0 * x + 3.0)));
        Ok(())
    });
}

#[test]
fn tiles_of_generic_extents() {
    on_every_device(|device, module| {
        let mut to = device.filled(20 * 30, [9_u32; 2])?;
        module.launch(tiles_of::<4, 8>, LaunchConfig::new((2, 2), (8, 4)), (to.view_2d_mut(30)?,))?;
        assert!(to.to_vec()?.into_iter().eq((0..600).map(|i| [i / 30 % 4, i % 30 % 8])));
        module.launch(tiles_of::<3, 5>, LaunchConfig::new((1, 3), (2, 2)), (to.view_2d_mut(30)?,))?;
        assert!(to.to_vec()?.into_iter().eq((0..600).map(|i| [i / 30 % 3, i % 30 % 5])));
        Ok(())
    });
}

#[test]
fn unsafe_generic_kernels_take_addresses() {
    on_every_device(|device, module| {
        let mut words = device.zeroed::<u32>(64)?;
        // SAFETY: there is an element for each thread.
        unsafe { module.launch_unsafe(poke::<u32>, LaunchConfig::new(2, 32), (77, &mut words))? };
        assert_eq!(words.to_vec()?, [77; 64]);
        let mut bytes = device.zeroed::<u8>(33)?;
        // SAFETY: as above.
        unsafe { module.launch_unsafe(poke_bytes, LaunchConfig::new(1, 32), (5, &mut bytes))? };
        assert_eq!(bytes.to_vec()?[..], [[5; 32].as_slice(), &[0]].concat());
        Ok(())
    });
}

/// The name of an instance is the same whatever compiled it: the kernels of the image are those of the program.
#[test]
fn instances_are_found_by_name() {
    on_the_cpu(|_, module| {
        let names: Vec<&str> =
            module.kernels().filter_map(|name| name.split_once("generics::")).map(|name| name.1).collect();
        for name in [
            "scale<f32>",
            "scale<self::types::Interval>",
            "repeat<u16,{LENGTH}>",
            "types::inner::constant<9>",
        ] {
            assert!(names.iter().any(|known| known.ends_with(name)), "{name} is not among {names:?}");
        }
        Ok(())
    });
}

//! What kernels require of their arguments is checked, by what the device relies on.

use gpu_std::host::SafeKernel;
use gpukernel::{Device, Error, Module, Result, ThisRuntime, for_each};
use gpukernel_device_test_kernels::requires::{
    aligned, computed, condition_of_the_device, floats, from_a_macro, generic, generic_named, guarded,
    not_aligned, other_condition, other_constant, other_names, other_order, other_type, shadows::shadowed,
};
use gpukernel_device_tests::on_every_device;

/// What a launch says that is refused.
#[track_caller]
fn refused<K: SafeKernel>(module: &Module, kernel: K, args: K::Args<'_, ThisRuntime>) -> String {
    match module.launch(kernel, for_each(4), args) {
        Err(error @ (Error::RequirementNotMet { .. } | Error::StaleImage { .. })) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn conditions_that_differ_between_host_and_device_are_found() {
    on_every_device(|device, module| {
        let (x, mut y) = (device.zeroed::<f32>(4)?, device.zeroed::<f32>(4)?);
        let error = refused(module, other_constant, (&x, &mut y));
        assert!(
            error.contains("`requires x.len() >= LIMIT; of 0; LIMIT: usize = 0x100000` there"),
            "{error}"
        );
        assert!(error.contains("`requires x.len() >= LIMIT; of 0; LIMIT: usize = 0x0` here"), "{error}");
        let error = refused(module, other_condition, (&x, &mut y));
        assert!(
            error.contains("`requires x.len() > 1_000_000; of 0` there, `requires x.len() > 0; of 0` here"),
            "{error}"
        );
        let error = refused(module, condition_of_the_device, (&x, &mut y));
        assert!(
            error.contains("`requires x.len() > 1_000_000; of 0` there, `requires nothing` here"),
            "{error}"
        );
        let mut numbers = device.zeroed::<u32>(4)?;
        let error = refused(module, other_type, (-1, &mut numbers));
        let expected = "`requires n < 10; of 0; n: u32` there, `requires n < 10; of 0; n: i32` here";
        assert!(error.contains(expected), "{error}");
        Ok(())
    });
}

/// The condition was compared by its text, so that the device relied on what the host had asked of another parameter.
#[test]
fn parameters_that_have_each_others_names_are_found() {
    on_every_device(|device, module| {
        let (long, short, mut y) =
            (device.zeroed::<f32>(4)?, device.zeroed::<f32>(1)?, device.zeroed::<f32>(4)?);
        let error = refused(module, other_names, (&long, &short, &mut y));
        let expected = "`requires x.len() >= 4; of 1` there, `requires x.len() >= 4; of 0` here";
        assert!(error.contains(expected), "{error}");
        let error = refused(module, other_order, (&long, &short, &mut y));
        let expected =
            "`requires x.len() >= z.len(); of 1 0` there, `requires x.len() >= z.len(); of 0 1` here";
        assert!(error.contains(expected), "{error}");
        Ok(())
    });
}

#[test]
fn addresses_are_aligned_as_they_have_to_be() {
    on_every_device(|device, module| {
        let x = device.upload(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])?;
        let mut y = device.zeroed::<f32>(8)?;
        module.launch(aligned, for_each(4), (&x[4..], &mut y[..4]))?;
        assert_eq!(y[..4].to_vec()?, [5.0, 6.0, 7.0, 8.0]);
        let error = refused(module, aligned, (&x[1..5], &mut y[..4]));
        assert!(error.ends_with("x.align() = 4, y.align() = 256"), "{error}");
        let error = refused(module, aligned, (&x[..4], &mut y[2..6]));
        assert!(error.ends_with("y.align() = 8"), "{error}");
        module.launch(not_aligned, for_each(4), (&x[1..5], &mut y[..4]))?;
        let error = refused(module, not_aligned, (&x[..4], &mut y[..4]));
        assert!(error.ends_with("x.align() = 256"), "{error}");
        Ok(())
    });
}

/// Of clones, lengths are compared, and that memory is aligned as much: a kernel may require less.
#[test]
fn clones_of_graphs_meet_what_kernels_require() {
    on_every_device(|device, module| {
        let x = device.upload(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])?;
        let graph = device.stream()?.capture((&x[1..5], device.zeroed::<f32>(4)?), |capture, (x, y)| {
            capture.launch(module, not_aligned, for_each(4), (x, y))
        })?;
        let mut clone = graph.clone_with((&x[3..7], device.zeroed(4)?))?;
        clone.launch()?;
        assert_eq!(clone.memory().1.to_vec()?, [4.0, 5.0, 6.0, 7.0]);
        match graph.clone_with((&x[4..8], device.zeroed::<f32>(4)?)) {
            Err(Error::RequirementNotMet { unmet, .. }) => assert_eq!(unmet.condition(), "x.align() < 16"),
            other => panic!("{:?}", other.map(drop)),
        }
        Ok(())
    });
}

#[test]
fn names_in_conditions_are_parameters_and_primitive_types() {
    on_every_device(|device, module| {
        let (x, mut y) = (device.upload(&[5.0, 6.0])?, device.zeroed::<f32>(4)?);
        module.launch(shadowed, for_each(4), (&x, 2, &mut y))?;
        assert_eq!(y.to_vec()?, [6.0; 4]);
        let error = refused(module, shadowed, (&x, 3, &mut y));
        assert!(error.ends_with("requires `n as usize <= x.len() && n > 0`: n = 3, x.len() = 2"), "{error}");
        refused(module, shadowed, (&x, 0, &mut y));
        Ok(())
    });
}

#[test]
fn computations_without_a_result_refuse_the_launch() {
    on_every_device(|device, module| {
        let (x, mut y) = (device.zeroed::<f32>(6)?, device.zeroed::<f32>(4)?);
        module.launch(computed, for_each(4), (&x, 3, 1, 1, &mut y))?;
        assert_eq!(y.to_vec()?, [3.0; 4]);
        for (by, offset, shift, fault) in [
            (0, 1, 1, "in which a divisor is zero: x.len() = 6, by = 0, offset = 1, shift = 1"),
            (3, -1, 1, "in which a number does not fit the type that `as` converts it to"),
            (7, 0, 1, "in which a result overflows its type"),
            (32, 1, 1, "in which a shift is by more bits than the number has"),
        ] {
            let error = refused(module, computed, (&x, by, offset, shift, &mut y));
            assert!(error.contains(fault), "{error}");
        }
        let error = refused(module, computed, (&x, 3, 1, 0, &mut y));
        assert!(!error.contains("in which"), "{error}");
        Ok(())
    });
}

#[test]
fn what_the_first_operand_decides_is_not_evaluated() {
    on_every_device(|device, module| {
        let (x, mut y) = (device.zeroed::<f32>(6)?, device.zeroed::<f32>(4)?);
        for (by, expected) in [(0, -1.0), (3, 2.0)] {
            module.launch(guarded, for_each(4), (&x, by, &mut y))?;
            assert_eq!(y.to_vec()?, [expected; 4]);
        }
        refused(module, guarded, (&x, 4, &mut y));
        Ok(())
    });
}

#[test]
fn floats_are_compared_the_same_on_both_sides() {
    on_every_device(|device, module| {
        let mut y = device.zeroed::<f32>(4)?;
        for (small, nan) in [(1e-45, f64::NAN), (1e-40, 1.0), (f32::INFINITY, f64::INFINITY)] {
            module.launch(floats, for_each(4), (small, nan, true, &mut y))?;
            assert_eq!(y.to_vec()?, [small; 4]);
        }
        for (small, nan, flag) in
            [(0.0, 1.0, true), (-0.0, 1.0, true), (f32::NAN, 1.0, true), (1.0, 0.5, true), (1.0, 1.0, false)]
        {
            refused(module, floats, (small, nan, flag, &mut y));
        }
        Ok(())
    });
}

#[test]
fn instances_of_generic_kernels_check_what_they_require() {
    on_every_device(|device: &Device, module: &Module| -> Result<()> {
        let (long, short) = (device.upload(&[1.0, 2.0, 3.0, 4.0])?, device.upload(&[1.0, 2.0, 3.0])?);
        let mut y = device.zeroed::<f32>(4)?;
        module.launch(generic::<f32, 4>, for_each(4), (&long, 1, &mut y))?;
        assert_eq!(y.to_vec()?, [4.0; 4]);
        let error = refused(module, generic::<f32, 4>, (&short, 1, &mut y));
        assert!(error.ends_with("x.len() = 3, N = 4, times = 1"), "{error}");
        refused(module, generic::<f32, 4>, (&long, 0, &mut y));

        let (long, short) = (device.upload(&[1, 2])?, device.upload(&[1])?);
        let mut y = device.zeroed::<u32>(4)?;
        module.launch(generic_named, for_each(4), (&long, 1, &mut y))?;
        assert_eq!(y.to_vec()?, [2; 4]);
        refused(module, generic_named, (&short, 1, &mut y));
        Ok(())
    });
}

#[test]
fn expressions_of_macros_stay_together() {
    on_every_device(|device, module| {
        let mut y = device.zeroed::<u32>(4)?;
        module.launch(from_a_macro, for_each(4), (4, 6, &mut y))?;
        let error = refused(module, from_a_macro, (14, 6, &mut y));
        assert!(error.contains("`2 * (a + b) == 20`"), "{error}");
        Ok(())
    });
}

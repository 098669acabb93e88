//! Constant memory: what the host sets is what later launches of that module see.

use gpukernel::{Error, for_each};
use gpukernel_device_test_kernels::constants::{
    ANSWER, FIXED, LIMITS, Limits, WEIGHTS, beyond, clamp, others, weigh,
};
use gpukernel_device_tests::{KERNELS, on_every_device, on_the_cpu};

#[test]
fn constants_have_the_values_that_they_are_declared_with() {
    on_every_device(|device, module| {
        let mut y = device.zeroed::<f32>(6)?;
        module.launch(weigh, for_each(6), (&mut y,))?;
        assert_eq!(y.to_vec()?, [1.0, 2.0, 3.0, 4.0, 1.0, 2.0]);
        let mut y = device.filled(2, [0.0; 3])?;
        module.launch(others, for_each(2), (&mut y,))?;
        assert_eq!(y.to_vec()?, [[42.0, 8.0, 10.0]; 2]);
        assert_eq!(module.constant(&WEIGHTS)?, [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(module.constant(&ANSWER)?, 42);
        Ok(())
    });
}

#[test]
fn constants_are_set_between_launches() {
    on_every_device(|device, module| {
        let mut all = device.zeroed::<f32>(40)?;
        for round in 0..10 {
            let weights = [1.0, 10.0, 100.0, 1000.0].map(|weight| weight + round as f32);
            module.set_constant(&WEIGHTS, weights)?;
            // Queued only: the next value must not overtake it.
            module.launch(weigh, for_each(4), (&mut all[4 * round..4 * round + 4],))?;
            assert_eq!(module.constant(&WEIGHTS)?, weights);
        }
        let expected = (0..40).map(|i| [1.0, 10.0, 100.0, 1000.0][i % 4] + (i / 4) as f32);
        assert!(all.to_vec()?.into_iter().eq(expected));
        Ok(())
    });
}

#[test]
fn constants_of_a_struct() {
    on_every_device(|device, module| {
        let mut y = device.upload(&[-100, -3, 0, 3, 100])?;
        module.launch(clamp, for_each(5), (&mut y,))?;
        assert_eq!(y.to_vec()?, [-5, -3, 0, 3, 5]);
        module.set_constant(&LIMITS, Limits { low: 0, high: 1 })?;
        module.launch(clamp, for_each(5), (&mut y,))?;
        assert_eq!(y.to_vec()?, [0, 0, 0, 1, 1]);
        Ok(())
    });
}

#[test]
fn each_module_has_its_own() {
    on_every_device(|device, module| {
        let other = device.load(&KERNELS)?;
        other.set_constant(&WEIGHTS, [5.0; 4])?;
        let clone = other.clone();
        let mut y = device.zeroed::<f32>(4)?;
        module.launch(weigh, for_each(4), (&mut y,))?;
        assert_eq!(y.to_vec()?, [1.0, 2.0, 3.0, 4.0]);
        clone.launch(weigh, for_each(4), (&mut y,))?;
        assert_eq!(y.to_vec()?, [5.0; 4]);
        Ok(())
    });
}

#[test]
fn what_is_not_declared_cannot_be_set() {
    on_every_device(|_, module| {
        let error = module.set_constant(&FIXED, [1, 2, 3]).unwrap_err();
        assert!(matches!(error, Error::NoSuchConstant { .. }), "{error}");
        assert!(error.to_string().contains("declare it with `#[gpu_std::constant]`"), "{error}");
        Ok(())
    });
}

/// On the CPU alone: on a GPU a panic may end the context.
#[test]
fn indices_beyond_a_constant_are_panics() {
    on_the_cpu(|device, module| {
        let mut y = device.zeroed::<f32>(1)?;
        module.launch(beyond, for_each(1), (3, &mut y))?;
        let error =
            module.launch(beyond, for_each(1), (4, &mut y)).and_then(|()| device.synchronize()).unwrap_err();
        let Error::KernelPanicked { message, .. } = &error else { panic!("{error}") };
        assert_eq!(message, "index 4 is outside of a constant of 4 elements");
        Ok(())
    });
}

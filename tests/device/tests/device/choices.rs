//! Pointers to different memory that meet read what they point to.

use gpukernel::for_each;
use gpukernel_device_test_kernels::choices::{
    changing, choices, local_or_static, none_or_empty, shared_choices, static_or_slice,
};
use gpukernel_device_tests::on_every_device;

fn numbers() -> Vec<u32> {
    (0..64).map(|i| i * 7 % 23).collect()
}

#[test]
fn chosen_slices_are_those_of_the_host() {
    let x = numbers();
    on_every_device(|device, module| {
        let given = device.upload(&x)?;
        let mut out = device.filled(x.len(), [0; 4])?;
        module.launch(choices, for_each(x.len()), (&given, &mut out))?;
        let functions = [static_or_slice, none_or_empty, changing, local_or_static];
        for (i, found) in out.to_vec()?.into_iter().enumerate() {
            assert_eq!(found, functions.map(|function| function(&x, i)), "of element {i}");
        }
        Ok(())
    });
}

#[test]
fn chosen_shared_memory_holds_the_elements() {
    let x = numbers();
    let (sum, fixed): (u32, _) = (x.iter().sum(), [1, 2, 3, 4]);
    on_every_device(|device, module| {
        let given = device.upload(&x)?;
        let mut out = device.zeroed::<u32>(x.len())?;
        module.launch(shared_choices, for_each(x.len()), (&given, &mut out))?;
        for (i, found) in out.to_vec()?.into_iter().enumerate() {
            let expected = match x[i] % 4 {
                0 | 2 => sum + x[i % 5],
                1 => 10 + fixed.get(i % 5).copied().unwrap_or(1000),
                _ => 1000,
            };
            assert_eq!(found, expected, "of element {i}");
        }
        Ok(())
    });
}

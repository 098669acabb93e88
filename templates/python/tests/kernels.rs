//! The kernels without Python. Each test runs on every device of this machine: on the CPU, and on GPUs if there are any.

use gpukernel::{Device, LazyModule, for_each};
use gpukernel_array::{Array, ArrayFunction, Result};
use my_project_kernels::{add, add_to_each};

static KERNELS: LazyModule = LazyModule::new(gpukernel::image!("kernels"));

#[test]
fn add_broadcasts() -> Result<()> {
    on_every_device(|device| {
        let x = Array::from_shape_vec(device, (2, 1), [1, 2])?;
        let y = Array::from_vec(device, [10, 20, 30])?;
        let sum = add::apply(&KERNELS.on(device)?, (&x, &y))?;
        assert_eq!(sum.to_vec()?, [11, 21, 31, 12, 22, 32]);
        Ok(())
    })
}

#[test]
fn add_to_each_adds_in_place() -> Result<()> {
    on_every_device(|device| {
        let mut x = device.upload(&[1.5, 2.5])?;
        KERNELS
            .on(device)?
            .launch(add_to_each::<f64>, for_each(2), (&mut x, 1.0))?;
        assert_eq!(x.to_vec()?, [2.5, 3.5]);
        Ok(())
    })
}

fn on_every_device(test: impl Fn(&Device) -> Result<()>) -> Result<()> {
    for device in gpukernel::devices()? {
        println!("on {device}"); // shown if the test fails
        test(&device)?;
    }
    Ok(())
}

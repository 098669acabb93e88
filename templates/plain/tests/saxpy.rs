//! Each test runs on every device of this machine: on the CPU, and on GPUs if there are any.

use gpukernel::{Device, Image, Module, Result, for_each};
use my_project_kernels::saxpy;

static KERNELS: Image = gpukernel::image!("kernels");

#[test]
fn saxpy_adds_a_times_x_to_y() -> Result<()> {
    on_every_device(|device, module| {
        let x = device.upload(&[1.0, 2.0, 3.0])?;
        let mut y = device.upload(&[10.0, 20.0, 30.0])?;
        module.launch(saxpy, for_each(y.len()), (2.0, &x, &mut y))?;
        assert_eq!(y.to_vec()?, [12.0, 24.0, 36.0]);
        Ok(())
    })
}

fn on_every_device(test: impl Fn(&Device, &Module) -> Result<()>) -> Result<()> {
    for device in gpukernel::devices()? {
        println!("on {device}"); // shown if the test fails
        test(&device, &device.load(&KERNELS)?)?;
    }
    Ok(())
}

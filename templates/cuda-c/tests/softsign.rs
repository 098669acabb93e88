//! Each test runs on every device of this machine: on the CPU, and on GPUs if there are any.

use gpukernel::{Device, Image, Module, Result, for_each};
use my_project_kernels::activate;

static KERNELS: Image = gpukernel::image!("kernels");

#[test]
fn softsign_lies_between_minus_one_and_one() -> Result<()> {
    on_every_device(|device, module| {
        let mut values = device.upload(&[-3.0, 0.0, 1.0])?;
        module.launch(activate, for_each(values.len()), (&mut values,))?;
        assert_eq!(values.to_vec()?, [-0.75, 0.0, 0.5]);
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

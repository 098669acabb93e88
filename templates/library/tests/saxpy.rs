//! Each test runs on every device of this machine: on the CPU, and on GPUs if there are any.

use gpukernel::{Device, Result};
use my_project::Saxpy;

#[test]
fn saxpy_adds_a_times_x_to_y() -> Result<()> {
    on_every_device(|device| {
        let x = device.upload(&[1.0, 2.0, 3.0])?;
        let mut y = device.upload(&[10.0, 20.0, 30.0])?;
        Saxpy::new(device)?.run(2.0, &x, &mut y)?;
        assert_eq!(y.to_vec()?, [12.0, 24.0, 36.0]);
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

//! Clocks, pauses, and threads that end early.

use gpukernel::for_each;
use gpukernel_device_test_kernels::time::clocks;
use gpukernel_device_tests::on_every_device;

#[test]
fn clocks_do_not_go_backwards() {
    on_every_device(|device, module| {
        let mut out = device.zeroed::<[u64; 3]>(1000)?;
        module.launch(clocks, for_each(1000), (200, &mut out))?;
        assert_eq!(out.to_vec()?, vec![[1; 3]; 1000]);
        Ok(())
    });
}

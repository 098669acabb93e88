//! Atomic additions: nothing is lost, whoever adds when.

use gpukernel::{Grid, for_each};
use gpukernel_device_test_kernels::atomics::{draw, sum_f32, sum_f64, sum_i32, sum_u32, sum_u64};
use gpukernel_device_tests::on_every_device;

/// Sums of small integers, which are exact in every type and every order.
macro_rules! sums {
    ($($test:ident: $kernel:ident, $t:ty;)*) => {$(
        #[test]
        fn $test() {
            let values: Vec<$t> = (0..20_000).map(|i| (i % 13) as $t).collect();
            on_every_device(|device, module| {
                let x = device.upload(&values)?;
                for bins in [1, 2, 7, 1000] {
                    let mut expected = vec![0 as $t; bins];
                    for (i, value) in values.iter().enumerate() {
                        expected[i % bins] += value;
                    }
                    let mut sums = device.zeroed::<$t>(bins)?;
                    module.launch($kernel, Grid::new(20, 256), (&x, &mut sums))?;
                    assert_eq!(sums.to_vec()?, expected, "{bins} bins");
                }
                Ok(())
            });
        }
    )*};
}

sums! {
    u32_sums: sum_u32, u32;
    i32_sums: sum_i32, i32;
    u64_sums: sum_u64, u64;
    f32_sums: sum_f32, f32;
    f64_sums: sum_f64, f64;
}

#[test]
fn integers_wrap() {
    on_every_device(|device, module| {
        let x = device.upload(&[i32::MAX, 1])?;
        let mut sum = device.zeroed::<i32>(1)?;
        module.launch(sum_i32, for_each(2), (&x, &mut sum))?;
        assert_eq!(sum.to_vec()?, [i32::MIN]);

        let x = device.upload(&[u64::MAX, 5])?;
        let mut sum = device.zeroed::<u64>(1)?;
        module.launch(sum_u64, for_each(2), (&x, &mut sum))?;
        assert_eq!(sum.to_vec()?, [4]);
        Ok(())
    });
}

#[test]
fn every_ticket_is_drawn_once() {
    on_every_device(|device, module| {
        let mut counter = device.zeroed::<u32>(1)?;
        let mut tickets = device.zeroed::<u32>(10_000)?;
        module.launch(draw, for_each(10_000), (&mut counter, &mut tickets))?;
        let mut drawn = tickets.to_vec()?;
        drawn.sort_unstable();
        assert!(drawn.into_iter().eq(0..10_000));
        assert_eq!(counter.to_vec()?, [10_000]);
        Ok(())
    });
}

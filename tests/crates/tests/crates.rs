//! Every kernel gives what its function gives on the host, for numbers small and large.

use gpukernel::{devices, for_each};
use gpukernel_crate_tests::KERNELS;

/// The inputs.
fn numbers() -> Vec<u32> {
    (0..40).chain((0..24).map(|i| 3_u32.wrapping_pow(i) ^ (7 << i))).collect()
}

macro_rules! compare {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() -> gpukernel::Result<()> {
            let numbers = numbers();
            let expected: Vec<u32> = numbers.iter().map(|&x| kernels::functions::$name(x)).collect();
            for device in devices()? {
                let x = device.upload(&numbers)?;
                let mut out = device.zeroed::<u32>(numbers.len())?;
                device.load(&KERNELS)?.launch(kernels::$name, for_each(numbers.len()), (&x, &mut out))?;
                assert_eq!(out.to_vec()?, expected, "on {device:?}");
            }
            Ok(())
        }
    )*};
}

mod small {
    use super::*;
    use crate_test_kernels::small as kernels;

    crate_test_kernels::each_small!(compare);
}

#[cfg(feature = "all")]
mod large {
    use super::*;
    use crate_test_kernels::large as kernels;

    crate_test_kernels::each_large!(compare);
}

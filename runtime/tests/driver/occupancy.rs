//! Blocks of `for_each`, by what the driver says of a multiprocessor.

use std::env;

use gpu_std::host::Kernel;
use gpukernel::{Arch, Device, Result, for_each};

use crate::{is_inner, ptx, succeeded, with_driver};

mod kernels {
    use gpu_std::prelude::*;

    #[kernel]
    pub(super) fn any(by: u32, y: PerThread<u32>) {
        for (_, y) in y {
            *y += by;
        }
    }

    #[kernel(max_threads = 96)]
    pub(super) fn up_to_96(by: u32, y: PerThread<u32>) {
        for (_, y) in y {
            *y += by;
        }
    }

    #[kernel(block = 160)]
    pub(super) fn by_160(by: u32, y: PerThread<u32>) {
        for (_, y) in y {
            *y += by;
        }
    }
}

/// What the driver says, the threads that a block may have, and the blocks of the kernels in their order.
const CASES: [(&str, &str, [u32; 3]); 11] = [
    // As many threads in blocks of any size.
    ("64=32,128=16,192=10,256=8,384=5,512=4,1024=2", "1024", [256, 96, 160]),
    ("256=1,128=3,192=2,384=1", "1024", [128, 96, 160]),
    ("256=1,512=1", "1024", [512, 96, 160]),
    ("256=1,64=8", "1024", [64, 64, 160]),
    ("1024=1", "1024", [1024, 96, 160]),
    // Not for an eighth more, or less.
    ("256=7,128=15", "1024", [256, 96, 160]),
    ("256=4,128=9", "1024", [256, 96, 160]),
    ("256=4,128=10", "1024", [128, 96, 160]),
    // What is larger than the kernel can be is not asked for.
    ("64=16,128=9,192=7,256=8,1024=2", "192", [192, 96, 160]),
    ("64=16,128=8,192=6,256=8,1024=2", "192", [128, 96, 160]),
    ("", "1024", [256, 96, 160]),
];

fn check<K: Kernel>(kernel: K, launch: impl FnOnce(&gpukernel::Module) -> Result<()>) -> u32 {
    // SAFETY: kernels of this driver do nothing.
    let image =
        unsafe { ptx::image_for(Arch::new(7, 5), kernel, |kernel| kernel.contract = K::INFO.contract) };
    let module = Device::gpu(0).and_then(|device| device.load(&image)).expect("the driver is there");
    let (launched, launches) = gpukernel::record_launches(|| launch(&module));
    launched.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(launches.len(), 1);
    let [threads, 1, 1] = launches[0].block_dim else { panic!("{launches:?}") };
    assert_eq!(launches[0].grid_dim, [1000_u32.div_ceil(threads), 1, 1]);
    threads
}

#[test]
fn blocks_fill_a_multiprocessor_within_the_contract() {
    if !is_inner() {
        for (occupancy, max_threads, blocks) in CASES {
            let blocks = format!("{blocks:?}");
            let variables =
                [("FAKE_OCCUPANCY", occupancy), ("FAKE_MAX_THREADS", max_threads), ("BLOCKS", &blocks)];
            succeeded(&with_driver(&variables));
        }
        return;
    }
    let mut y = Device::gpu(0).and_then(|device| device.zeroed::<u32>(1000)).expect("the driver is there");
    let found = [
        check(kernels::any, |module| module.launch(kernels::any, for_each(1000), (1, &mut y))),
        check(kernels::up_to_96, |module| module.launch(kernels::up_to_96, for_each(1000), (1, &mut y))),
        check(kernels::by_160, |module| module.launch(kernels::by_160, for_each(1000), (1, &mut y))),
    ];
    assert_eq!(format!("{found:?}"), env::var("BLOCKS").expect("the outer process sets it"));
}

//! Blocks of `for_each`, which fill a multiprocessor.

use std::{fmt::Write, sync::PoisonError};

use gpu_std::host::Kernel;
use gpukernel::Image;

use crate::{Arch, ONE_AT_A_TIME, add, common, for_each, ptx};

mod kernels {
    use gpu_std::prelude::*;

    #[kernel(max_threads = 96)]
    pub(super) fn add_up_to_96(by: u32, y: PerThread<u32>) {
        for (_, y) in y {
            *y += by;
        }
    }

    #[kernel(block = 192)]
    pub(super) fn add_by_192(by: u32, y: PerThread<u32>) {
        for (_, y) in y {
            *y += by;
        }
    }
}

/// An image of a kernel that adds a number to each element, and does so with some more registers than `live`, which hold the element: volatile accesses are
/// made in their order.
///
/// # Safety
/// The kernel does that, to elements of 32 bits.
unsafe fn image<K: Kernel>(kernel: K, directive: &str, live: usize) -> Image {
    let mut ptx = format!(
        ".version 6.3
        .target sm_75
        .address_size 64
        .visible .entry add(.param .u32 by, .param .u64 start, .param .u64 len) {directive}
        {{
            .reg .pred %out;
            .reg .b32 %r<4>, %live<{}>;
            .reg .b64 %rd<3>;
            mov.u32 %r1, %ctaid.x;
            mov.u32 %r2, %ntid.x;
            mov.u32 %r3, %tid.x;
            mad.lo.u32 %r1, %r1, %r2, %r3;
            cvt.u64.u32 %rd1, %r1;
            ld.param.u64 %rd2, [len];
            setp.ge.u64 %out, %rd1, %rd2;
            @%out ret;
            shl.b64 %rd1, %rd1, 2;
            ld.param.u64 %rd2, [start];
            cvta.to.global.u64 %rd2, %rd2;
            add.u64 %rd2, %rd2, %rd1;\n",
        live + 1
    );
    for register in 0..live {
        writeln!(ptx, "ld.volatile.global.u32 %live{register}, [%rd2];").expect("text");
    }
    for register in (0..live).rev() {
        writeln!(ptx, "st.volatile.global.u32 [%rd2], %live{register};").expect("text");
    }
    ptx += "ld.param.u32 %r1, [by];
            ld.volatile.global.u32 %r2, [%rd2];
            add.u32 %r2, %r2, %r1;
            st.volatile.global.u32 [%rd2], %r2;
            ret;
        }\n";
    // SAFETY: as the caller promises.
    unsafe { ptx::image_of(Arch::new(7, 5), &ptx, kernel, |kernel| kernel.contract = K::INFO.contract) }
}

mod needs_a_gpu {
    use super::*;

    /// Of 65536 registers, 168 for each thread are enough for 12 warps: one block of 256 threads, or three of 128.
    #[test]
    #[ignore = "needs a GPU"]
    fn blocks_fill_a_multiprocessor() {
        let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        macro_rules! check {
            ($device:ident, $kernel:expr, $directive:literal, $live:literal => $block:literal) => {{
                let name = concat!(stringify!($kernel), " ", $directive, " with ", $live);
                // SAFETY: it adds to elements of 32 bits, one for each thread.
                let module = $device.load(&unsafe { image($kernel, $directive, $live) })?;
                let mut numbers = $device.filled(10_000, 1_u32)?;
                let launch = || module.launch($kernel, for_each(10_000), (5, &mut numbers));
                let (launched, launches) = gpukernel::record_launches(launch);
                launched?;
                let [launch] = &launches[..] else { panic!("{name}: {launches:?}") };
                assert_eq!(launch.block_dim, [$block, 1, 1], "{name}: {launch:?}");
                assert_eq!(launch.grid_dim, [10_000_u32.div_ceil($block), 1, 1], "{name}");
                let registers = launch.attributes.expect("it is a GPU").registers;
                assert!(
                    if $live == 0 { registers <= 32 } else { (161..=168).contains(&registers) },
                    "{name}: {registers}"
                );
                assert!(numbers.to_vec()?.into_iter().all(|number| number == 6), "{name}");
            }};
        }
        common::on_every_gpu(|device| {
            check!(device, add, "", 0 => 256);
            check!(device, add, ".maxnreg 168", 160 => 128);
            check!(device, kernels::add_up_to_96, ".maxntid 96, 1, 1", 0 => 64);
            check!(device, kernels::add_up_to_96, ".maxntid 96, 1, 1", 160 => 64);
            check!(device, kernels::add_by_192, ".reqntid 192, 1, 1", 0 => 192);
            check!(device, kernels::add_by_192, ".reqntid 192, 1, 1", 160 => 192);
            Ok(())
        });
    }
}

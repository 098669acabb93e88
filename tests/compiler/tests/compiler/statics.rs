//! Statics of kernel crates are one variable for all threads.

use gpukernel_build::{Arch, Options};
use gpukernel_tests::{KernelCrate, Shape};

/// LLVM makes an internal variable that one function alone uses, and writes before it reads, one of that function's call.
#[test]
fn a_static_that_one_kernel_writes_before_it_reads_stays_in_global_memory() {
    let lib = "
        use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
        static LAST: AtomicU32 = AtomicU32::new(7);

        #[kernel(block = 128)]
        pub fn agree(out: PerThread<u32>) {
            LAST.store(thread_rank(), Relaxed);
            sync(());
            let last = LAST.load(Relaxed);
            for (_, out) in out { *out = last; }
        }
    ";
    let options = Options { archs: vec![Arch::new(9, 0)], ..Options::default() };
    let inspected = KernelCrate::written("statics", lib).inspect(options);
    let ptx = inspected.kernel("sm_90", "agree");
    Shape { text: &ptx }.has("st.relaxed").has("ld.relaxed");
    // Seen by nobody else.
    let all = inspected.ptx("sm_90");
    let line =
        all.lines().find(|line| line.contains("LAST") && line.contains(".global")).expect("it is there");
    assert!(!line.contains(".visible"), "{line}");
}

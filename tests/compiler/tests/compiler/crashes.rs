//! LLVM never ends the process that builds kernels: what it cannot compile is an error that names the kernel, and code that a GPU has no
//! instruction for but that means something becomes other code.

use gpukernel_build::{LinkError, Options, Profile};
use gpukernel_tests::{KernelCrate, Shape};

/// Packed structs with pointers in statics need PTX 7.1; LLVM generates PTX 7.0 for sm_80, and ends the process over it.
const PACKED: &str = "
    #[repr(C, packed)]
    #[derive(Clone, Copy)]
    struct Packed(u8, &'static u32);
    static PACKED: [Packed; 2] = [Packed(1, &5), Packed(3, &7)];
    #[kernel]
    pub fn packed(out: PerThread<u32>) {
        for (i, out) in out {
            let Packed(first, second) = PACKED[i % 2];
            *out = u32::from(first) + *second;
        }
    }
    #[kernel]
    pub fn other(out: PerThread<u32>) { for (i, out) in out { *out = i as u32; } }";

#[test]
fn a_fatal_error_of_llvm_is_an_error_that_names_the_kernel_and_the_pass() {
    let options = Options { archs: vec!["sm_80".parse().unwrap()], ..Options::default() };
    let error = KernelCrate::written("fatal_error", PACKED).try_build(options).unwrap_err();
    let gpukernel_build::Error::Link(LinkError::Crashed { kernels, pass, reason, .. }) = &error else {
        panic!("{error}");
    };
    assert_eq!(
        (kernels.as_slice(), pass.as_str()),
        (&["fatal_error::packed".to_owned()][..], "NVPTX Assembly Printer")
    );
    assert!(reason.contains("requires at least PTX ISA version 7.1"), "{reason}");
    assert!(error.to_string().starts_with("LLVM cannot compile the kernel fatal_error::packed: "), "{error}");
}

/// And this process can go on.
#[test]
fn a_build_after_a_fatal_error_succeeds() {
    let archs = |arch: &str| Options { archs: vec![arch.parse().unwrap()], ..Options::default() };
    assert!(KernelCrate::written("fatal_first", PACKED).try_build(archs("sm_80")).is_err());
    let built = KernelCrate::written("fatal_then", PACKED).try_build(archs("sm_90")).unwrap();
    assert_eq!(built.manifest.kernels.len(), 2);
}

#[test]
fn fences_of_the_compiler_vanish_and_others_stay() {
    let lib = "
        use core::sync::atomic::{AtomicU32, Ordering::*, compiler_fence, fence};
        #[kernel]
        pub fn compiler(x: &[u32], out: PerThread<u32>) {
            for (i, out) in out {
                // No index that may panic: a panic is recorded behind a fence.
                *out = x.get(i).copied().unwrap_or_default();
                compiler_fence(Acquire);
                *out += 1;
                compiler_fence(Release);
                *out *= 3;
                compiler_fence(AcqRel);
                *out ^= 5;
                compiler_fence(SeqCst);
                core::hint::spin_loop();
                *out = core::hint::black_box(*out);
            }
        }
        #[kernel]
        pub fn device(x: &[u32], out: PerThread<u32>) {
            static FLAG: AtomicU32 = AtomicU32::new(0);
            for (i, out) in out {
                FLAG.store(x[i], Relaxed);
                fence(Acquire);
                fence(Release);
                fence(AcqRel);
                *out = FLAG.load(Relaxed);
                fence(SeqCst);
            }
        }";
    for (name, profile) in [("fences_release", Profile::Release), ("fences_dev", Profile::Dev)] {
        let inspected = KernelCrate::written(name, lib).inspect(Options { profile, ..Options::default() });
        if profile == Profile::Release {
            Shape { text: &inspected.kernel("sm_90", "compiler") }.lacks("fence").lacks("membar");
        }
        Shape { text: &inspected.kernel("sm_90", "device") }.has("fence.acq_rel.sys").has("fence.sc.sys");
    }
}

/// Those of `core`, of every width; the smaller ones are loops of compare-and-exchange on 32 bits.
#[test]
fn atomics_of_every_width_build() {
    let lib = "
        use core::sync::atomic::{*, Ordering::*};
        static A8: AtomicU8 = AtomicU8::new(0);
        static A16: AtomicI16 = AtomicI16::new(0);
        static FLAG: AtomicBool = AtomicBool::new(false);
        static A64: AtomicU64 = AtomicU64::new(0);
        static POINTER: AtomicPtr<u32> = AtomicPtr::new(core::ptr::null_mut());
        #[kernel]
        pub fn all(x: &[u32], out: PerThread<u32>) {
            for (i, out) in out {
                let local = AtomicU8::new(3);
                local.fetch_or(x[i] as u8, SeqCst);
                A8.store(A8.load(Acquire).wrapping_add(1), Release);
                let bytes = A8.fetch_max(3, Relaxed) ^ A8.swap(i as u8, AcqRel) ^ A8.fetch_nand(3, SeqCst);
                let exchanged = A16.compare_exchange(x[i] as i16, 5, SeqCst, Acquire).unwrap_or(2);
                let least = A16.fetch_min(x[i] as i16, SeqCst);
                let flag = FLAG.fetch_xor(x[i] > 3, AcqRel);
                let updated = A64.fetch_update(SeqCst, Relaxed, |value| value.checked_add(3)).unwrap_or(1);
                let null = POINTER.swap(core::ptr::null_mut(), SeqCst).is_null();
                *out = u32::from(bytes ^ local.into_inner()) + exchanged as u32 + least as u32
                    + u32::from(flag) + updated as u32 + u32::from(null);
            }
        }";
    let built = KernelCrate::written("atomic_widths", lib).inspect(Options::default()).built;
    assert_eq!(built.manifest.kernels.len(), 1);
}

/// Two of everything that allocates.
const ALLOCATES: &str = "
    extern crate alloc;
    #[kernel]
    pub fn sorted(x: &[u32], out: PerThread<u32>) {
        for (i, out) in out {
            let mut copy = alloc::vec::Vec::from(x);
            copy.push(i as u32);
            copy.sort_unstable();
            *out = copy[i];
        }
    }
    #[kernel]
    pub fn boxed(out: PerThread<u32>) {
        for (_, out) in out {
            *out = *core::hint::black_box(alloc::boxed::Box::new(*out));
        }
    }";

#[test]
fn a_kernel_that_allocates_without_an_allocator_is_told_so() {
    let error = KernelCrate::written("no_allocator", ALLOCATES).try_build(Options::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "undefined device function `__rust_alloc`, needed by no_allocator::boxed, no_allocator::sorted\n  \
         memory is allocated there (`Vec`, `Box`, `String`), and kernels have no allocator: let the host allocate, use arrays, or declare \
         one with `#[cfg_attr(target_arch = \"nvptx64\", global_allocator)]` (the book, \"Memory allocated in kernels\")"
    );
}

#[test]
fn a_kernel_crate_may_have_an_allocator() {
    let allocator = "
        use core::alloc::{GlobalAlloc, Layout};
        unsafe extern \"C\" {
            fn malloc(bytes: usize) -> *mut u8;
            fn free(start: *mut u8);
        }
        struct Heap;
        unsafe impl GlobalAlloc for Heap {
            unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
                if layout.align() > 16 { return core::ptr::null_mut(); }
                unsafe { malloc(layout.size()) }
            }
            unsafe fn dealloc(&self, start: *mut u8, _: Layout) { unsafe { free(start) } }
        }
        #[cfg_attr(target_arch = \"nvptx64\", global_allocator)]
        static HEAP: Heap = Heap;";
    for (name, profile) in [("allocator_release", Profile::Release), ("allocator_dev", Profile::Dev)] {
        let lib = format!("{allocator}{ALLOCATES}");
        let inspected = KernelCrate::written(name, &lib).inspect(Options { profile, ..Options::default() });
        Shape { text: &inspected.ptx("sm_90") }.has("malloc").has("free").lacks("no_alloc_shim");
    }
}

//! What safety rests on is not done by hand: promises, implementations of the library's traits, calls of what it calls.

#![allow(unused)]

use gpu_std::{
    host::{ArgReader, Kernel, PackedArgs, SafeBody, ThreadContext, set_current},
    param::Param,
    prelude::*,
    shared::KernelScope,
};

/// A scope that never ends.
fn scope() -> KernelScope {
    KernelScope::new()
}

/// Another thread's place.
fn place(context: &ThreadContext<'_>) {
    set_current(context);
}

/// A call of a kernel outside of a launch.
fn call<K: Kernel>(args: &PackedArgs) {
    K::run_thread(args);
}

/// Arguments read as another type.
fn argument(mut args: ArgReader<'_>) -> &'static f32 {
    args.read()
}

#[derive(Clone, Copy)]
struct Borrowed(&'static f32);

/// A promise that a reference is plain data.
impl DeviceCopy for Borrowed {}

struct Everything<'k>(&'k mut [f32]);

/// A parameter kind of one's own, in safe code.
impl<'k> Param<'k> for Everything<'k> {
    type Head = *mut f32;
    type Tail = usize;
    unsafe fn assemble(head: *mut f32, len: usize) -> Self {
        unimplemented!()
    }
    type Arg<R: gpu_std::host::Runtime> = &'k mut R::Slice<f32>;
    fn pack<R: gpu_std::host::Runtime>(_: &'k mut R::Slice<f32>, _: &mut PackedArgs) {}
}

#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct Wide([u64; 4]);

/// Atomic operations on 32 bytes.
impl gpu_std::AtomicElement for Wide {}

/// A phase of one's own for the barrier.
impl gpu_std::Phase for Wide {
    type Next = Wide;
    unsafe fn after_barrier(self) -> Wide {
        self
    }
    fn arrays(&self) -> u64 {
        0
    }
}

/// # Safety
/// The pointer is valid.
#[kernel]
unsafe fn raw(x: *mut f32) {}

/// A promise that an unsafe kernel is safe.
impl SafeBody for __gpukernel_raw {}

/// The value inside an atomic, without an atomic operation.
fn inside(count: &Atomic<u32>) -> *mut u32 {
    count.0.get()
}

fn main() {}

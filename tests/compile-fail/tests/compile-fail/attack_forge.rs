//! What safety rests on is not done by hand: promises, implementations of the library's traits, calls of what it calls.

#![allow(unused)]

use gpu_std::{
    host::{ArgReader, HostCode, HostFunction, Kernel, ModuleTable, PackedArgs, SafeBody, ThreadContext, Threads, set_current},
    param::Param,
    prelude::*,
    shared::KernelScope,
};

/// A scope that never ends.
fn scope() -> KernelScope {
    KernelScope::new()
}

/// The threads of a block that one does not have.
fn threads(context: &mut ThreadContext<'static>) -> Threads<'static> {
    Threads::new(core::ptr::NonNull::from_mut(context), 1)
}

/// Another thread's place.
fn place(context: &ThreadContext<'_>) {
    set_current(context);
}

/// A call of a kernel outside of a launch.
fn call<K: Kernel>(args: &PackedArgs, threads: &Threads<'_>) {
    (K::INFO.run_threads)(args, threads);
}

/// Conditions of a kernel over arguments of another.
fn condition<K: Kernel>(args: &PackedArgs) -> Option<gpu_std::host::Unmet> {
    (K::INFO.unmet)(args)
}

unsafe extern "C" fn takes_nothing() {}

/// A function of CUDA C that is another one.
fn functions() -> ModuleTable {
    const FUNCTIONS: &[HostFunction] =
        &[HostFunction { name: "takes_a_pointer", code: HostCode::Here(takes_nothing) }];
    ModuleTable::new(FUNCTIONS)
}

struct Alone(core::sync::atomic::AtomicPtr<()>);

/// A block whose barriers do not wait.
impl gpu_std::host::BlockOps for Alone {
    fn barrier(&self, _: gpu_std::host::Barrier, _: bool) -> gpu_std::host::Votes {
        gpu_std::host::Votes::default()
    }
    fn cluster_barrier(&self, _: gpu_std::host::Barrier) {}
    fn grid_barrier(&self, _: &'static core::panic::Location<'static>) {}
    fn meet(&self, _: gpu_std::host::Meeting, _: &[u8], _: &mut dyn FnMut(&gpu_std::host::Met<'_>)) {}
    fn converge(&self, _: &'static core::panic::Location<'static>) -> u32 {
        0
    }
    fn gathering(&self) -> &core::sync::atomic::AtomicPtr<()> {
        &self.0
    }
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
    const SIGNATURE: gpu_std::signature::Text = gpu_std::signature::Text::Word("everything");
    unsafe fn assemble(head: *mut f32, len: &'k usize) -> Self {
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

/// What keeps others from implementing the traits of numbers.
impl gpu_std::math::Sealed for Wide {}

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

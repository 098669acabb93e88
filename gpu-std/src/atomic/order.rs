//! Scopes and orderings of atomic operations and fences, as types: each operation is one instruction, and a meaningless combination,
//! such as a load with release ordering, is a compile-time error.

/// A scope (`cuda::thread_scope`; PTX ISA, "Scope"): the threads for which an operation is atomic and ordered. [`Block`],
/// [`Device`] or [`System`].
///
/// Threads outside of the scope never see partly written values, but an addition of theirs can be lost, and nothing is ordered for
/// them.
#[doc(alias = "thread_scope")]
pub trait Scope: sealed::Scope {}

/// Block scope (`.cta`, `cuda::thread_scope_block`): the threads of the same block.
#[doc(alias = "cta", alias = "thread_scope_block")]
#[derive(Clone, Copy, Debug, Default)]
pub struct Block;

/// Device scope (`.gpu`, `cuda::thread_scope_device`): the threads of all kernels on the same GPU. The default of
/// [`Atomic`](super::Atomic).
#[doc(alias = "thread_scope_device")]
#[derive(Clone, Copy, Debug, Default)]
pub struct Device;

/// System scope (`.sys`, `cuda::thread_scope_system`): all threads of the machine, including those of the host and of other GPUs.
#[doc(alias = "thread_scope_system")]
#[derive(Clone, Copy, Debug, Default)]
pub struct System;

/// A memory ordering, with the meaning of [`core::sync::atomic::Ordering`] (`cuda::memory_order`): [`Relaxed`], [`Acquire`],
/// [`Release`], [`AcqRel`] or [`SeqCst`].
#[doc(alias = "memory_order")]
pub trait Ordering: sealed::Ordering {}

/// An ordering that a load can have: `Relaxed`, `Acquire` or `SeqCst`.
#[diagnostic::on_unimplemented(
    message = "a load cannot be `{Self}`",
    label = "this ordering is for writing",
    note = "a load is `Relaxed`, `Acquire` or `SeqCst`"
)]
pub trait LoadOrdering: Ordering {}

/// An ordering that a store can have: `Relaxed`, `Release` or `SeqCst`.
#[diagnostic::on_unimplemented(
    message = "a store cannot be `{Self}`",
    label = "this ordering is for reading",
    note = "a store is `Relaxed`, `Release` or `SeqCst`"
)]
pub trait StoreOrdering: Ordering {}

/// An ordering that a fence can have: any but `Relaxed`, which orders nothing.
#[diagnostic::on_unimplemented(
    message = "a fence cannot be `{Self}`",
    label = "this orders nothing",
    note = "a fence is `Acquire`, `Release`, `AcqRel` or `SeqCst`"
)]
pub trait FenceOrdering: Ordering {}

/// Relaxed ordering (`.relaxed`): orders only operations on the same value. The default of [`Atomic`](super::Atomic).
#[doc(alias = "memory_order_relaxed")]
#[derive(Clone, Copy, Debug, Default)]
pub struct Relaxed;

/// Acquire ordering (`.acquire`): later accesses of the thread happen after the release that wrote the value read.
#[doc(alias = "memory_order_acquire")]
#[derive(Clone, Copy, Debug, Default)]
pub struct Acquire;

/// Release ordering (`.release`): earlier accesses of the thread happen before those after an acquire that reads the value written.
#[doc(alias = "memory_order_release")]
#[derive(Clone, Copy, Debug, Default)]
pub struct Release;

/// Acquire and release ordering (`.acq_rel`).
#[doc(alias = "memory_order_acq_rel")]
#[derive(Clone, Copy, Debug, Default)]
pub struct AcqRel;

/// Sequentially consistent ordering (`fence.sc`): `AcqRel`, and all threads of the scope see all such operations in the same order.
#[doc(alias = "memory_order_seq_cst", alias = "fence.sc")]
#[derive(Clone, Copy, Debug, Default)]
pub struct SeqCst;

impl Scope for Block {}
impl Scope for Device {}
impl Scope for System {}

impl Ordering for Relaxed {}
impl Ordering for Acquire {}
impl Ordering for Release {}
impl Ordering for AcqRel {}
impl Ordering for SeqCst {}

impl LoadOrdering for Relaxed {}
impl LoadOrdering for Acquire {}
impl LoadOrdering for SeqCst {}

impl StoreOrdering for Relaxed {}
impl StoreOrdering for Release {}
impl StoreOrdering for SeqCst {}

impl FenceOrdering for Acquire {}
impl FenceOrdering for Release {}
impl FenceOrdering for AcqRel {}
impl FenceOrdering for SeqCst {}

/// Scope and ordering of an operation, encoded as the compile-time number that the linker's prelude takes.
pub trait How {
    #[cfg(target_arch = "nvptx64")]
    const HOW: u32;
    #[cfg(not(target_arch = "nvptx64"))]
    const ORDERING: core::sync::atomic::Ordering;
    /// The ordering of an operation that only reads, such as a failed compare-exchange.
    #[cfg(not(target_arch = "nvptx64"))]
    const LOAD: core::sync::atomic::Ordering;

    /// Runs the operation and reports its ordering to the CPU device.
    #[cfg(not(target_arch = "nvptx64"))]
    #[inline(always)]
    fn ordered<R>(operation: impl FnOnce() -> R) -> R {
        use core::sync::atomic::Ordering::{AcqRel, Acquire, Release, SeqCst};
        let result = operation();
        let (acquires, releases) = const {
            (matches!(Self::LOAD, Acquire | SeqCst), matches!(Self::ORDERING, Release | AcqRel | SeqCst))
        };
        if acquires || releases {
            crate::host::order(crate::host::Order { acquires, releases });
        }
        result
    }
}

impl<S: Scope, O: Ordering> How for (S, O) {
    #[cfg(target_arch = "nvptx64")]
    const HOW: u32 = S::NUMBER * 8 + O::NUMBER;
    #[cfg(not(target_arch = "nvptx64"))]
    const ORDERING: core::sync::atomic::Ordering = O::ON_HOST;
    #[cfg(not(target_arch = "nvptx64"))]
    const LOAD: core::sync::atomic::Ordering = <O::Load as sealed::Ordering>::ON_HOST;
}

pub(super) mod sealed {
    #[cfg(not(target_arch = "nvptx64"))]
    use core::sync::atomic::Ordering as OnHost;

    /// The numbers are those of `link/prelude/atomics.rs` in `gpukernel-build`.
    pub trait Scope: Copy + 'static {
        #[cfg(target_arch = "nvptx64")]
        const NUMBER: u32;
    }

    pub trait Ordering: Copy + 'static {
        #[cfg(target_arch = "nvptx64")]
        const NUMBER: u32;
        /// Whether the operation must write even an unchanged value, because other threads may acquire from it.
        const RELEASES: bool;
        /// The ordering of the load that the operation includes.
        type Load: super::LoadOrdering;
        #[cfg(not(target_arch = "nvptx64"))]
        const ON_HOST: OnHost;
    }

    macro_rules! numbers {
        ($($scope:ident $scope_number:literal;)* / $($o:ident $number:literal $releases:literal $load:ident;)*) => {
            $(impl Scope for super::$scope {
                #[cfg(target_arch = "nvptx64")]
                const NUMBER: u32 = $scope_number;
            })*
            $(impl Ordering for super::$o {
                #[cfg(target_arch = "nvptx64")]
                const NUMBER: u32 = $number;
                const RELEASES: bool = $releases;
                type Load = super::$load;
                #[cfg(not(target_arch = "nvptx64"))]
                const ON_HOST: OnHost = OnHost::$o;
            })*
        };
    }

    numbers! {
        Block 0;
        Device 1;
        System 2;
        /
        Relaxed 0 false Relaxed;
        Acquire 1 false Acquire;
        Release 2 true Relaxed;
        AcqRel 3 true Acquire;
        SeqCst 4 true SeqCst;
    }
}

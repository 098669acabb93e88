//! For whom an atomic operation holds, and what it orders: types, so that each operation is one instruction and a meaningless
//! combination, such as a load that releases, is an error of rustc.

/// The threads among which an atomic operation or a fence holds: [`Block`], [`Device`] or [`System`] (PTX ISA, "Scope").
///
/// Threads outside of the scope see values that were written, whole, but an addition of theirs can be lost, and nothing is
/// ordered for them.
pub trait Scope: sealed::Scope {}

/// The threads of the same block: `.cta` in PTX.
#[derive(Clone, Copy, Debug, Default)]
pub struct Block;

/// The threads of the same GPU, of whatever kernel: `.gpu` in PTX. What an [`Atomic`](super::Atomic) has if nothing else is said.
#[derive(Clone, Copy, Debug, Default)]
pub struct Device;

/// All threads of the machine, those of the host and of other GPUs included: `.sys` in PTX.
#[derive(Clone, Copy, Debug, Default)]
pub struct System;

/// What an atomic operation orders, with the meaning it has in [`core::sync::atomic::Ordering`]: [`Relaxed`], [`Acquire`],
/// [`Release`], [`AcqRel`] or [`SeqCst`].
pub trait Ordering: sealed::Ordering {}

/// An ordering that a load can have: not `Release`, not `AcqRel`.
#[diagnostic::on_unimplemented(
    message = "a load cannot be `{Self}`",
    label = "this ordering is for writing",
    note = "a load is `Relaxed`, `Acquire` or `SeqCst`"
)]
pub trait LoadOrdering: Ordering {}

/// An ordering that a store can have: not `Acquire`, not `AcqRel`.
#[diagnostic::on_unimplemented(
    message = "a store cannot be `{Self}`",
    label = "this ordering is for reading",
    note = "a store is `Relaxed`, `Release` or `SeqCst`"
)]
pub trait StoreOrdering: Ordering {}

/// An ordering that a fence can have: not `Relaxed`, which orders nothing.
#[diagnostic::on_unimplemented(
    message = "a fence cannot be `{Self}`",
    label = "this orders nothing",
    note = "a fence is `Acquire`, `Release`, `AcqRel` or `SeqCst`"
)]
pub trait FenceOrdering: Ordering {}

/// Orders nothing but the operations on the same value. What an [`Atomic`](super::Atomic) has if nothing else is said.
#[derive(Clone, Copy, Debug, Default)]
pub struct Relaxed;

/// What the thread does afterwards happens after the release that wrote the value read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Acquire;

/// What the thread did before happens before whatever follows an acquire that reads the value written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Release;

/// `Acquire` and `Release`.
#[derive(Clone, Copy, Debug, Default)]
pub struct AcqRel;

/// `AcqRel`, and all threads of the scope see all such operations in the same order.
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

/// Scope and ordering of an operation as the prelude takes them: a number that is known at compile time.
pub trait How {
    #[cfg(target_arch = "nvptx64")]
    const HOW: u32;
    #[cfg(not(target_arch = "nvptx64"))]
    const ORDERING: core::sync::atomic::Ordering;
    /// The same where the operation only reads: an operation that finds nothing to write.
    #[cfg(not(target_arch = "nvptx64"))]
    const LOAD: core::sync::atomic::Ordering;

    /// Does the operation, and tells the CPU device what it orders.
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
        /// Whether the operation must write, also what is there already, because others may acquire from it.
        const RELEASES: bool;
        /// That of the load which the operation includes.
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

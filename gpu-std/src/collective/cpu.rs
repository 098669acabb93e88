//! Collective operations on the CPU: each thread of a block passes a value, and one of them processes all.
//!
//! A thread that waits stays on its stack, so its value can stay there too; the block only keeps the head of a list.

use core::{
    any::TypeId,
    cell::UnsafeCell,
    mem,
    panic::Location,
    ptr,
    sync::atomic::{
        AtomicPtr,
        Ordering::{AcqRel, Release},
    },
};
use std::{thread::panicking, vec::Vec};

use crate::{
    host::{Barrier, BlockOps, Meeting, Met, Order, ThreadContext, Touch, Votes, current, set_current},
    thread_rank, threads_per_block,
};

/// The value of one thread.
struct Node {
    rank: u32,
    /// Of the value.
    type_id: TypeId,
    value: *mut (),
    next: *mut Node,
}

/// Waits for all threads of the block, lets one of them call `work` with the values of all, in the order of their ranks, and
/// returns what the calling thread's value has become.
///
/// # Panics
/// If not all threads of the block reach the call. A thread in a destructor during a panic gets its own value back instead.
#[track_caller]
pub(super) fn meet<T: 'static, S>(
    what: &str,
    scratch: *mut S,
    value: T,
    work: impl FnOnce(&mut [&mut T]),
) -> T {
    let type_id = TypeId::of::<T>();
    let value = UnsafeCell::new(value);
    let context = current();
    let head = context.block.gathering();
    let mut node = Node { rank: thread_rank(), type_id, value: value.get().cast(), next: ptr::null_mut() };
    let this = &raw mut node;
    // The list may hold this thread's node, which is gone when it is unwound from here; the threads that remain find an empty
    // list.
    let forget_all = ForgetAll { head };
    // Null, or the node of a thread that waits below: the list holds nothing else.
    let before: *mut Node = head.swap(this.cast(), AcqRel).cast();
    // SAFETY: nobody reads the list before all threads wait.
    unsafe { (*this).next = before };
    wait(scratch);
    if before.is_null() {
        let mut nodes = Vec::new();
        let mut next: *mut Node = head.swap(ptr::null_mut(), AcqRel).cast();
        while !next.is_null() {
            // SAFETY: the node is on the stack of a thread that waits at the barrier above or at the one below.
            let node = unsafe { &*next };
            nodes.push(node);
            next = node.next;
        }
        nodes.sort_unstable_by_key(|node| node.rank);
        let all_came = nodes.len() == threads_per_block() as usize;
        let are_alike = nodes.iter().all(|node| node.type_id == type_id);
        if all_came && are_alike {
            // SAFETY: each is that of a thread which waits, and a `T`.
            let mut values: Vec<_> =
                nodes.iter().map(|node| unsafe { &mut *node.value.cast::<T>() }).collect();
            without_waiting(what, || work(&mut values));
        } else if !panicking() {
            if all_came { different(what) } else { missing(what, nodes.len()) }
        }
    }
    wait(scratch);
    mem::forget(forget_all);
    value.into_inner()
}

/// Empties the list on unwinding, when it may hold the node of the thread that is unwound.
struct ForgetAll<'a> {
    head: &'a AtomicPtr<()>,
}

impl Drop for ForgetAll<'_> {
    fn drop(&mut self) {
        self.head.store(ptr::null_mut(), Release);
    }
}

/// Runs `work`, which uses values on the stacks of waiting threads, and calls operators of the program. These must not wait:
/// meanwhile the other threads could be unwound, and their values with them.
fn without_waiting(what: &str, work: impl FnOnce()) {
    let context = current();
    let block = DoesNotWait { what, block: context.block };
    let context = ThreadContext { block: &block, ..context };
    // SAFETY: the context lasts until the one before is current again, also when `work` panics.
    let _restore = Restore { before: unsafe { set_current(&raw const context) } };
    work();
}

/// Restores the previous context on drop.
struct Restore {
    before: *const ThreadContext<'static>,
}

impl Drop for Restore {
    fn drop(&mut self) {
        // SAFETY: it is that of the thread, which runs.
        unsafe { set_current(self.before) };
    }
}

/// A block whose barriers panic, for the operator of a collective operation.
struct DoesNotWait<'a> {
    what: &'a str,
    block: &'a dyn BlockOps,
}

impl DoesNotWait<'_> {
    #[cold]
    fn refuse(&self) -> ! {
        panic!("the operator of {} waits for other threads, which wait for it", self.what)
    }
}

// SAFETY: what suspends threads does not return, and the others are those of the block.
unsafe impl BlockOps for DoesNotWait<'_> {
    fn barrier(&self, _: Barrier, _: bool) -> Votes {
        self.refuse()
    }

    fn cluster_barrier(&self, _: Barrier) {
        self.refuse()
    }

    fn grid_barrier(&self, _: &'static Location<'static>) {
        self.refuse()
    }

    fn meet(&self, _: Meeting, _: &[u8], _: &mut dyn FnMut(&Met<'_>)) {
        self.refuse()
    }

    fn converge(&self, _: &'static Location<'static>) -> u32 {
        self.refuse()
    }

    fn gathering(&self) -> &AtomicPtr<()> {
        self.refuse()
    }

    fn is_checked(&self) -> bool {
        self.block.is_checked()
    }

    fn touch(&self, touch: Touch) {
        self.block.touch(touch);
    }

    fn order(&self, order: Order) {
        self.block.order(order);
    }

    fn exit(&self, place: &'static Location<'static>) {
        self.block.exit(place);
    }
}

/// Waits at the barrier of the block, which compares the scratch and the call site.
#[track_caller]
fn wait<S>(scratch: *mut S) {
    let barrier = Barrier { place: Location::caller(), arrays: Barrier::array(scratch, false) };
    current().block.barrier(barrier, false);
}

#[cold]
#[track_caller]
fn missing(what: &str, came: usize) -> ! {
    panic!(
        "{what} is for all threads of a block, but {came} of {} came: the others have ended",
        threads_per_block()
    )
}

#[cold]
#[track_caller]
fn different(what: &str) -> ! {
    panic!("{what} met threads of its block that do something else with the same scratch")
}

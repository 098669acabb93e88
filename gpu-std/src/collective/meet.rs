//! How the threads of a block work together on the CPU: each brings a value, one of them works on all.
//!
//! A thread that waits stays on its stack, so what it brings can stay there too; the block only keeps the head of a list.

use core::{any::TypeId, cell::UnsafeCell, panic::Location, ptr, sync::atomic::Ordering::AcqRel};
use std::vec::Vec;

use crate::{
    host::{Barrier, current},
    thread_rank, threads_per_block,
};

/// What one thread brings.
struct Node {
    rank: u32,
    /// Of the value.
    type_id: TypeId,
    value: *mut (),
    next: *mut Node,
}

/// Waits for all threads of the block, lets one of them `work` on what all brought, in the order of their ranks, and
/// returns what it left of the own.
///
/// # Panics
/// If not all threads of the block come.
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
    // Null, or the node of a thread that waits below: nothing else is ever put there.
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
        if nodes.len() != threads_per_block() as usize {
            missing(what, nodes.len());
        }
        if nodes.iter().any(|node| node.type_id != type_id) {
            different(what);
        }
        // SAFETY: each is that of a thread which waits, and a `T`.
        let mut values: Vec<_> = nodes.iter().map(|node| unsafe { &mut *node.value.cast::<T>() }).collect();
        work(&mut values);
    }
    wait(scratch);
    value.into_inner()
}

/// The barrier of the block. It compares the scratch and the place of the call.
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

//! What the CPU device checks when it is asked to: accesses to memory whose threads nothing keeps apart, and what orders them.

use core::panic::Location;

use super::{Access, thread::try_current};

/// An access of the current thread to one element of memory that other threads use too.
#[derive(Clone, Copy, Debug)]
pub struct Touch {
    /// Which kind of memory it is.
    pub memory: Memory,
    /// The address of the element.
    pub address: usize,
    /// Its index.
    pub index: usize,
    /// What is done to it.
    pub access: Access,
    /// Where that stands in the source.
    pub place: &'static Location<'static>,
}

/// A kind of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// Memory that the launch lends.
    Device,
    /// That of a block.
    Shared,
}

/// What an atomic operation or a fence of the current thread orders, besides the operation itself.
#[derive(Clone, Copy, Debug)]
pub struct Order {
    /// Whether what comes after it stays after it.
    pub acquires: bool,
    /// Whether what comes before it stays before it.
    pub releases: bool,
}

/// Tells the block what the current thread orders; nothing outside of a kernel.
#[inline]
pub(crate) fn order(order: Order) {
    if let Some(context) = try_current() {
        context.block.order(order);
    }
}

/// Whether accesses are told to the block. Asked once per thread and parameter, so that it costs a test of a constant in loops.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watch(bool);

impl Watch {
    /// For the current thread.
    #[inline]
    #[track_caller]
    pub(crate) fn new() -> Self {
        Self(super::current().block.is_checked())
    }

    /// Tells of an access by the caller of the caller.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn touch<T>(self, memory: Memory, element: *const T, index: usize, access: Access) {
        if self.0 {
            let place = Location::caller();
            tell(Touch { memory, address: element.addr(), index, access, place });
        }
    }
}

#[cold]
fn tell(touch: Touch) {
    super::current().block.touch(touch);
}

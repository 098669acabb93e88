//! The values of constants on the CPU device: what the host has set for a module, by the address of the static.

use core::{cell::Cell, mem::MaybeUninit, ptr};
use std::vec::Vec;

use crate::{Constant, DeviceCopy};

/// The constants of a module that were set. Others have the values that they were declared with.
#[derive(Clone, Debug, Default)]
pub struct ConstantTable(Vec<(usize, Vec<MaybeUninit<u128>>)>);

impl ConstantTable {
    /// Nothing is set.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Sets a constant.
    pub fn set<T: DeviceCopy>(&mut self, constant: &'static Constant<T>, value: T) {
        const { assert!(align_of::<T>() <= align_of::<u128>(), "constants are aligned to at most 16 bytes") }
        let mut storage = Vec::new();
        storage.resize(size_of::<T>().div_ceil(size_of::<u128>()), MaybeUninit::uninit());
        // SAFETY: the storage is large enough, and aligned as a `u128`.
        unsafe { storage.as_mut_ptr().cast::<T>().write(value) };
        let key = ptr::from_ref(constant).addr();
        self.0.retain(|(other, _)| *other != key);
        self.0.push((key, storage));
    }

    /// The value of a constant, if it was set.
    pub fn get<T: DeviceCopy>(&self, constant: &'static Constant<T>) -> Option<T> {
        // SAFETY: `set` wrote a value of this type: two statics with bytes have two addresses.
        self.find(constant).map(|value| unsafe { value.read() })
    }

    fn find<T>(&self, constant: &Constant<T>) -> Option<*const T> {
        let key = ptr::from_ref(constant).addr();
        self.0.iter().find(|(other, _)| *other == key).map(|(_, storage)| storage.as_ptr().cast())
    }
}

std::thread_local! {
    static CURRENT: Cell<*const ConstantTable> = const { Cell::new(ptr::null()) };
}

/// Makes the table the one that kernels on this thread of the host see, until the result is dropped.
///
/// # Safety
/// The table outlives the result, which is dropped on this thread.
pub unsafe fn enter_constants(table: &ConstantTable) -> EnteredConstants {
    EnteredConstants { before: CURRENT.replace(table) }
}

/// What [`enter_constants`] gives.
#[derive(Debug)]
pub struct EnteredConstants {
    before: *const ConstantTable,
}

impl Drop for EnteredConstants {
    fn drop(&mut self) {
        CURRENT.set(self.before);
    }
}

/// Where the value of a constant lies that was set for the launch which runs on this thread.
#[inline]
pub(crate) fn value_of<T>(constant: &Constant<T>) -> Option<*const T> {
    // SAFETY: `enter_constants` promises that a table that is not null is there.
    unsafe { CURRENT.get().as_ref() }?.find(constant)
}

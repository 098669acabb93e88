//! What kernels of a module see of their module on the CPU device: the values of constants that the host has set, by the address of
//! the static, and the host's versions of functions in CUDA C.

use core::{any::TypeId, cell::Cell, mem::MaybeUninit, ptr};
use std::vec::Vec;

use super::HostFunction;
use crate::{Constant, DeviceCopy};

/// The constants of a module that were set, others have the values that they were declared with; and its functions of CUDA C.
#[derive(Clone, Debug)]
pub struct ModuleTable {
    constants: Vec<(Key, Vec<MaybeUninit<u128>>)>,
    /// Sorted by name.
    functions: &'static [HostFunction],
}

/// A constant: its address, and its type, without which a place where two types start would be two constants.
type Key = (usize, TypeId);

fn key<T: DeviceCopy>(constant: &Constant<T>) -> Key {
    (ptr::from_ref(constant).addr(), TypeId::of::<T>())
}

impl ModuleTable {
    /// No constant is set. The functions are sorted by name.
    ///
    /// # Safety
    /// Each function is what kernels of the module declare by its name.
    pub const unsafe fn new(functions: &'static [HostFunction]) -> Self {
        Self { constants: Vec::new(), functions }
    }

    /// Sets a constant.
    pub fn set<T: DeviceCopy>(&mut self, constant: &'static Constant<T>, value: T) {
        // `Constant::new` refuses larger alignments than that of the storage.
        let mut storage = Vec::new();
        storage.resize(size_of::<T>().div_ceil(size_of::<u128>()), MaybeUninit::uninit());
        // SAFETY: the storage is large enough, and aligned as a `u128`.
        unsafe { storage.as_mut_ptr().cast::<T>().write(value) };
        let key = key(constant);
        self.constants.retain(|(other, _)| *other != key);
        self.constants.push((key, storage));
    }

    /// The value of a constant, if it was set.
    pub fn get<T: DeviceCopy>(&self, constant: &'static Constant<T>) -> Option<T> {
        // SAFETY: `set` wrote a value of this type, which is part of the key.
        self.find(constant).map(|value| unsafe { value.read() })
    }

    fn find<T: DeviceCopy>(&self, constant: &Constant<T>) -> Option<*const T> {
        let key = key(constant);
        self.constants.iter().find(|(other, _)| *other == key).map(|(_, storage)| storage.as_ptr().cast())
    }
}

std::thread_local! {
    static CURRENT: Cell<*const ModuleTable> = const { Cell::new(ptr::null()) };
}

/// Makes the table the one that kernels on this thread of the host see, until the result is dropped.
///
/// # Safety
/// The table outlives the result, which is dropped on this thread.
pub unsafe fn enter_module(table: &ModuleTable) -> EnteredModule {
    EnteredModule { before: CURRENT.replace(table) }
}

/// What [`enter_module`] gives.
#[derive(Debug)]
pub struct EnteredModule {
    before: *const ModuleTable,
}

impl Drop for EnteredModule {
    fn drop(&mut self) {
        CURRENT.set(self.before);
    }
}

/// The functions of the module whose kernel runs on this thread; none outside of kernels.
pub(super) fn functions() -> Option<&'static [HostFunction]> {
    // SAFETY: `enter_module` promises that a table that is not null is there.
    unsafe { CURRENT.get().as_ref() }.map(|table| table.functions)
}

/// Where the value of a constant lies that was set for the launch which runs on this thread.
#[inline]
pub(crate) fn value_of<T: DeviceCopy>(constant: &Constant<T>) -> Option<*const T> {
    // SAFETY: `enter_module` promises that a table that is not null is there.
    unsafe { CURRENT.get().as_ref() }?.find(constant)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_of_two_types_are_two_wherever_they_lie() {
        static NUMBER: Constant<u32> = Constant::new(97);
        // SAFETY: both have the same layout, and every value here is a letter.
        let letter: &'static Constant<char> = unsafe { &*ptr::from_ref(&NUMBER).cast() };
        // SAFETY: there are no functions.
        let mut table = unsafe { ModuleTable::new(&[]) };
        table.set(&NUMBER, 98);
        assert_eq!((table.get(&NUMBER), table.get(letter)), (Some(98), None));
        table.set(letter, 'c');
        assert_eq!((table.get(&NUMBER), table.get(letter)), (Some(98), Some('c')));
    }

    #[test]
    fn equal_constants_have_places_of_their_own() {
        static FIRST: Constant<()> = Constant::new(());
        static SECOND: Constant<()> = Constant::new(());
        // SAFETY: there are no functions.
        let mut table = unsafe { ModuleTable::new(&[]) };
        table.set(&FIRST, ());
        assert_eq!((table.get(&FIRST), table.get(&SECOND)), (Some(()), None));
    }
}

//! The engine of shared arrays: what all that go through the write phase and the read phase have in common.

use core::{fmt, iter::FusedIterator, marker::PhantomData};

use crate::BlockStride;

/// Implements [`Phase`](super::Phase) for an array in the write phase and its view in the read phase: [`sync`](crate::sync) turns each into the
/// other. Both have the same fields.
macro_rules! phases {
    ($Array:ident and $View:ident: [$($params:tt)*] [$($args:tt)*] { $($field:ident),* }) => {
        $crate::shared::phases::phases! { @one $Array to $View: [$($params)*] [$($args)*] { $($field),* }, false }
        $crate::shared::phases::phases! { @one $View to $Array: [$($params)*] [$($args)*] { $($field),* }, true }
    };
    (@one $From:ident to $To:ident: [$($params:tt)*] [$($args:tt)*] { $($field:ident),* }, $is_view:literal) => {
        impl<$($params)*> $crate::shared::barrier::sealed::Phase for $From<'_, $($args)*> {}

        impl<'k, $($params)*> $crate::shared::barrier::Phase for $From<'k, $($args)*> {
            type Next = $To<'k, $($args)*>;

            #[inline(always)]
            unsafe fn after_barrier(self) -> Self::Next {
                $To { $($field: self.$field,)* scope: ::core::marker::PhantomData }
            }

            #[cfg(not(target_arch = "nvptx64"))]
            fn arrays(&self) -> u64 {
                $crate::host::Barrier::array(self.start, $is_view)
            }
        }
    };
}
pub(crate) use phases;

/// Implements what one-dimensional arrays have in the write phase, in which each thread accesses the elements that it owns.
macro_rules! line {
    ($Array:ident: [$($params:tt)*] [$($args:tt)*], $len_doc:literal = |$array:ident| $len:expr) => {
        impl<'k, T: $crate::shared::SharedElement, $($params)*> $Array<'k, T, $($args)*> {
            #[doc = concat!("Returns the number of elements, those of other threads included: ", $len_doc, ".")]
            #[inline(always)]
            pub const fn len(&self) -> usize {
                let $array = self;
                $len
            }

            /// Returns whether there are no elements.
            #[inline(always)]
            pub const fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// Iterates over the elements of this thread with their indices.
            #[inline(always)]
            pub fn iter_mut(&mut self) -> $crate::shared::SharedIter<'_, T> {
                // SAFETY: the storage has `len` elements; the array, which threads use only by their own elements until a barrier, stays borrowed.
                unsafe { $crate::shared::SharedIter::new(self.start, self.len()) }
            }

            /// Returns the first element of this thread with its index, if it has any. It is the only one if the block has as many
            /// threads as there are elements, or more.
            #[inline(always)]
            pub fn first_mut(&mut self) -> Option<(usize, &mut T)> {
                self.iter_mut().next()
            }

            /// Returns the element `index`, if it belongs to this thread.
            #[inline(always)]
            pub fn get_mut(&mut self, index: usize) -> Option<&mut T> {
                // SAFETY: the element is this thread's, and borrowed from `self` exclusively.
                $crate::BlockStride::new(self.len()).takes(index).then(|| unsafe { &mut *self.start.add(index) })
            }
        }

        $crate::thread::indexing::no_index! { IndexedBeforeBarrier: [$($params)*] $Array<'_, T, $($args)*>; }

        impl<T, $($params)*> ::core::fmt::Debug for $Array<'_, T, $($args)*> {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                let $array = self;
                f.debug_struct(stringify!($Array)).field("len", &$len).finish_non_exhaustive()
            }
        }

        impl<'a, T: $crate::shared::SharedElement, $($params)*> IntoIterator for &'a mut $Array<'_, T, $($args)*> {
            type Item = (usize, &'a mut T);
            type IntoIter = $crate::shared::SharedIter<'a, T>;

            #[inline(always)]
            fn into_iter(self) -> $crate::shared::SharedIter<'a, T> {
                self.iter_mut()
            }
        }
    };
}
pub(crate) use line;

/// The iterator of [`Shared::iter_mut`](crate::Shared::iter_mut) and [`SharedSlice::iter_mut`](crate::SharedSlice::iter_mut).
pub struct SharedIter<'a, T> {
    indices: BlockStride,
    start: *mut T,
    scope: PhantomData<&'a mut [T]>,
}

impl<T> SharedIter<'_, T> {
    /// # Safety
    /// There are `len` initialised elements. For as long as the iterator lives, threads use only the elements that they own, and this one uses
    /// them by nothing else.
    #[inline(always)]
    pub(super) unsafe fn new(start: *mut T, len: usize) -> Self {
        Self { indices: BlockStride::new(len), start, scope: PhantomData }
    }
}

impl<T> fmt::Debug for SharedIter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedIter").field("indices", &self.indices).finish_non_exhaustive()
    }
}

impl<'a, T> Iterator for SharedIter<'a, T> {
    type Item = (usize, &'a mut T);

    #[inline(always)]
    fn next(&mut self) -> Option<(usize, &'a mut T)> {
        let index = self.indices.next()?;
        // SAFETY: the index is less than the length. Indices of one loop rise, and those of other threads differ.
        Some((index, unsafe { &mut *self.start.add(index) }))
    }
}

impl<T> FusedIterator for SharedIter<'_, T> {}

/// Defines the view of a one-dimensional array of `N` elements in the read phase, whose storage consists of `$Unit`s.
macro_rules! line_view {
    ($(#[$doc:meta])* $View:ident, stored as $Unit:ty) => {
        $(#[$doc])*
        pub struct $View<'k, T, const N: usize> {
            start: *mut $Unit,
            scope: ::core::marker::PhantomData<&'k mut [T; N]>,
        }

        impl<T, const N: usize> ::core::ops::Deref for $View<'_, T, N> {
            type Target = [T; N];

            #[inline(always)]
            fn deref(&self) -> &[T; N] {
                // SAFETY: the storage has `N` initialised elements, aligned, which nobody writes until this thread passes the view to a barrier.
                unsafe { &*self.start.cast() }
            }
        }

        impl<T: ::core::fmt::Debug, const N: usize> ::core::fmt::Debug for $View<'_, T, N> {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                (**self).fmt(f)
            }
        }
    };
}
pub(crate) use line_view;

/// Defines the view of a two-dimensional array in the read phase, whose storage consists of `$Unit`s: rows of `COLUMNS + PAD` elements, without
/// gaps between rows.
macro_rules! plane_view {
    ($(#[$doc:meta])* $View:ident, stored as $Unit:ty) => {
        $(#[$doc])*
        pub struct $View<'k, T, const ROWS: usize, const COLUMNS: usize, const PAD: usize = 0> {
            start: *mut $Unit,
            scope: ::core::marker::PhantomData<&'k mut [[T; COLUMNS]; ROWS]>,
        }

        impl<T, const ROWS: usize, const COLUMNS: usize, const PAD: usize> $View<'_, T, ROWS, COLUMNS, PAD> {
            /// Returns a whole row, or `None` if `row` is out of bounds.
            #[inline(always)]
            pub fn row(&self, row: usize) -> Option<&[T; COLUMNS]> {
                // SAFETY: the row is inside the array, whose elements are initialised and not written until this thread passes the view to
                // a barrier.
                (row < ROWS).then(|| unsafe { &*self.place(row, 0).cast() })
            }

            /// Returns the element at `(row, column)`, or `None` if that is out of bounds.
            #[inline(always)]
            pub fn get(&self, (row, column): (usize, usize)) -> Option<&T> {
                // SAFETY: the place is inside the array, for the rest as in `row`.
                (row < ROWS && column < COLUMNS).then(|| unsafe { &*self.place(row, column) })
            }

            /// Returns the address of an element.
            ///
            /// # Safety
            /// The row is inside the array, the column not behind the row's last.
            #[inline(always)]
            unsafe fn place(&self, row: usize, column: usize) -> *const T {
                // SAFETY: as the caller promises.
                unsafe { $crate::shared::phases::place::<T, COLUMNS, PAD>(self.start.cast(), row, column) }
            }
        }

        impl<T, const ROWS: usize, const COLUMNS: usize, const PAD: usize> ::core::ops::Index<(usize, usize)>
            for $View<'_, T, ROWS, COLUMNS, PAD>
        {
            type Output = T;

            #[inline(always)]
            #[track_caller]
            fn index(&self, (row, column): (usize, usize)) -> &T {
                match self.get((row, column)) {
                    Some(element) => element,
                    None => $crate::shared::phases::outside(row, column, ROWS, COLUMNS),
                }
            }
        }

        impl<T: ::core::fmt::Debug, const ROWS: usize, const COLUMNS: usize, const PAD: usize> ::core::fmt::Debug
            for $View<'_, T, ROWS, COLUMNS, PAD>
        {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.debug_list().entries((0..ROWS).filter_map(|row| self.row(row).map(<[T; COLUMNS]>::as_slice))).finish()
            }
        }
    };
}
pub(crate) use plane_view;

/// Returns the address of an element of a two-dimensional array.
///
/// # Safety
/// The row is inside the array, the column not behind the row's last.
#[inline(always)]
pub(crate) unsafe fn place<T, const COLUMNS: usize, const PAD: usize>(
    start: *mut T,
    row: usize,
    column: usize,
) -> *mut T {
    // SAFETY: by the caller's promise the index is at most the number of elements, which fits.
    unsafe { start.add(row.unchecked_mul(COLUMNS + PAD).unchecked_add(column)) }
}

#[cold]
#[inline(never)]
#[track_caller]
pub(crate) fn outside(row: usize, column: usize, rows: usize, columns: usize) -> ! {
    panic!("({row}, {column}) is outside of a shared array of {rows} rows and {columns} columns")
}

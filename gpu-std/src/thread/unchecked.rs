//! The engine of memory without compile-time race freedom, whose elements `unsafe` code accesses.

/// Implements the methods of such memory, which has `start`, and on the host a `watch` that finds races.
macro_rules! unchecked {
    (
        $Memory:ident: [$($params:tt)*] [$($args:tt)*], elements are $Element:ident,
        $len_doc:literal = |$memory:ident| $len:expr
    ) => {
        impl<T, $($params)*> Clone for $Memory<'_, T, $($args)*> {
            #[inline(always)]
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<T, $($params)*> Copy for $Memory<'_, T, $($args)*> {}

        impl<T, $($params)*> ::core::fmt::Debug for $Memory<'_, T, $($args)*> {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                let $memory = self;
                f.debug_struct(stringify!($Memory)).field("len", &$len).finish_non_exhaustive()
            }
        }

        impl<T: $Element, $($params)*> $Memory<'_, T, $($args)*> {
            #[doc = concat!("Returns the number of elements", $len_doc, ".")]
            #[inline(always)]
            pub const fn len(self) -> usize {
                let $memory = self;
                $len
            }

            /// Returns whether there are no elements.
            #[inline(always)]
            pub const fn is_empty(self) -> bool {
                self.len() == 0
            }

            /// Returns the element `index`.
            ///
            /// # Safety
            /// No other thread writes it at the same time: other writes are ordered before or after it by a barrier, by releasing and
            /// acquiring atomics, or by the launch.
            ///
            /// # Panics
            /// If `index` is out of bounds.
            #[inline(always)]
            #[track_caller]
            pub unsafe fn get(self, index: usize) -> T {
                let at = self.at(index);
                #[cfg(not(target_arch = "nvptx64"))]
                self.watch.touch(Self::MEMORY, at, index, $crate::host::Access::Read);
                // SAFETY: the element is there and initialised; the caller promises that nobody writes it now.
                unsafe { at.read() }
            }

            /// Writes the element `index`.
            ///
            /// # Safety
            /// No other thread reads or writes it at the same time, as for [`get`](Self::get).
            ///
            /// # Panics
            /// If `index` is out of bounds.
            #[inline(always)]
            #[track_caller]
            pub unsafe fn set(self, index: usize, value: T) {
                let at = self.at(index);
                #[cfg(not(target_arch = "nvptx64"))]
                self.watch.touch(Self::MEMORY, at, index, $crate::host::Access::Write);
                // SAFETY: the element is there; the caller promises that nobody else uses it now.
                unsafe { at.write(value) };
            }

            /// Returns the address of the first element. Accesses through it are not checked.
            #[inline(always)]
            pub fn as_mut_ptr(self) -> *mut T {
                self.start
            }

            #[inline(always)]
            #[track_caller]
            fn at(self, index: usize) -> *mut T {
                let len = self.len();
                assert!(index < len, "index out of bounds: the len is {len} but the index is {index}");
                // SAFETY: the index is less than the length.
                unsafe { self.start.add(index) }
            }
        }
    };
}
pub(crate) use unchecked;

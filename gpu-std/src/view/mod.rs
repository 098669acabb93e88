//! Read-only inputs with a layout: matrices, volumes and strided elements, which are not written during the launch.
//!
//! The host binds the extents (`buffer.view_2d(columns)?`), so that kernels index by row and column and do no index
//! arithmetic of their own.

pub mod layout;
mod layout_nd;
mod layout_plane;
mod order;
mod strided;
mod view_2d;
mod view_3d;

pub use strided::ViewStrided;
pub use view_2d::View2d;
pub use view_3d::View3d;

/// Defines a read-only view of elements in a layout; `outside` is the function that panics about a position that is not inside.
macro_rules! view {
    (
        $(#[$doc:meta])*
        $View:ident of $Layout:ident, at $place_doc:literal: $Place:ty, else $outside:ident
    ) => {
        $(#[$doc])*
        pub struct $View<'k, T> {
            start: *const T,
            layout: $Layout,
            lender: ::core::marker::PhantomData<&'k [T]>,
        }

        impl<'k, T> $View<'k, T> {
            #[doc = concat!("Returns the element at `", $place_doc, "`, or `None` if that is out of bounds.")]
            #[inline(always)]
            pub fn get(&self, place: $Place) -> Option<&'k T> {
                use $crate::view::layout::PlaceLayout;
                // SAFETY: the element is inside, lives as long as the launch, and nobody writes it.
                self.layout.holds(place).then(|| unsafe { &*self.start.add(self.layout.offset(place)) })
            }
        }

        impl<T> ::core::ops::Index<$Place> for $View<'_, T> {
            type Output = T;

            #[inline(always)]
            #[track_caller]
            fn index(&self, place: $Place) -> &T {
                use $crate::view::layout::PlaceLayout;
                if !self.layout.holds(place) {
                    $outside(place, self.layout)
                }
                // SAFETY: the element is inside, lives as long as the launch, and nobody writes it. Not by `get`: a reference that may be missing
                // is compared with null, which LLVM folds only if it sees where the reference came from.
                unsafe { &*self.start.add(self.layout.offset(place)) }
            }
        }

        impl<T> Clone for $View<'_, T> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<T> Copy for $View<'_, T> {}

        impl<T> ::core::fmt::Debug for $View<'_, T> {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.debug_struct(stringify!($View)).field("layout", &self.layout).finish_non_exhaustive()
            }
        }

        // SAFETY: `pack` takes a view that the runtime borrows shared for the launch, so nobody writes it.
        unsafe impl<'k, T: $crate::DeviceCopy> $crate::param::Param<'k> for $View<'k, T> {
            type Head = $crate::param::ReadStart<'k, T>;
            type Tail = $Layout;

            const SIGNATURE: $crate::signature::Text =
                $crate::signature::Text::Of(stringify!($View), &[T::TYPE]);

            #[inline(always)]
            unsafe fn assemble(head: $crate::param::ReadStart<'k, T>, layout: &'k $Layout) -> Self {
                use $crate::view::layout::PlaceLayout;
                // SAFETY: by the caller's promise the host passed the layout.
                let layout = unsafe { layout.assume_checked() };
                Self { start: head.as_ptr(), layout, lender: ::core::marker::PhantomData }
            }

            #[cfg(not(target_arch = "nvptx64"))]
            #[inline(always)]
            fn extents(layout: &$Layout, grid: &$crate::host::ThreadGrid) -> $crate::view::layout::Extents {
                use $crate::view::layout::PlaceLayout;
                grid.within($Layout::AXES, layout.extents())
            }

            #[cfg(not(target_arch = "nvptx64"))]
            #[inline(always)]
            unsafe fn assemble_interior(
                head: $crate::param::ReadStart<'k, T>,
                layout: &'k $Layout,
                thread: &$crate::host::Interior,
            ) -> Self {
                use $crate::view::layout::PlaceLayout;
                // SAFETY: as the caller promises.
                unsafe {
                    layout.assume_interior(thread);
                    Self::assemble(head, layout)
                }
            }

            #[cfg(not(target_arch = "nvptx64"))]
            type Arg<R: $crate::host::Runtime> = R::View<'k, T, $Layout>;

            #[cfg(not(target_arch = "nvptx64"))]
            fn pack<R: $crate::host::Runtime>(arg: Self::Arg<R>, args: &mut $crate::host::PackedArgs) {
                let view = R::raw_view(&arg);
                args.push_memory(view.slice, $crate::host::Access::Read);
                args.push(view.layout);
            }
        }
    };
}
use view;

//! Read-only inputs with a layout: matrices, volumes and strided elements, which are not written during the launch.
//!
//! The host binds the extents (`buffer.view_2d(columns)?`), so that kernels index by row and column and do no index
//! arithmetic of their own.

pub mod layout;
mod strided;
mod view_2d;
mod view_3d;

pub use strided::ViewStrided;
pub use view_2d::View2d;
pub use view_3d::View3d;

/// Implements `Param` for a read-only view of this layout.
macro_rules! view_param {
    ($View:ident, $Layout:ident) => {
        // SAFETY: `pack` takes a view that the runtime borrows shared for the launch, so nobody writes it.
        unsafe impl<'k, T: DeviceCopy> Param<'k> for $View<'k, T> {
            type Head = ReadStart<'k, T>;
            type Tail = layout::$Layout;

            const SIGNATURE: crate::signature::Text =
                crate::signature::Text::Of(stringify!($View), &[T::TYPE]);

            #[inline(always)]
            unsafe fn assemble(head: ReadStart<'k, T>, layout: layout::$Layout) -> Self {
                Self { start: head.as_ptr(), layout, lender: PhantomData }
            }

            #[cfg(not(target_arch = "nvptx64"))]
            type Arg<R: Runtime> = R::View<'k, T, layout::$Layout>;

            #[cfg(not(target_arch = "nvptx64"))]
            fn pack<R: Runtime>(arg: Self::Arg<R>, args: &mut PackedArgs) {
                let view = R::raw_view(&arg);
                args.push_memory(view.slice, Access::Read);
                args.push(view.layout);
            }
        }

        impl<T> Clone for $View<'_, T> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<T> Copy for $View<'_, T> {}
    };
}
use view_param;

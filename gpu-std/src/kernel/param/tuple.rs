//! Tuples by value. rustc may give a tuple different layouts on host and device, so it is passed as a struct with a fixed
//! layout, and converted to a tuple in the kernel.

use super::Param;
#[cfg(not(target_arch = "nvptx64"))]
use crate::host::{PackedArgs, Runtime};
use crate::{DeviceCopy, signature::Text};

macro_rules! tuples {
    ($($Fields:ident: $($T:ident)*;)*) => {$(
        /// The fields of a tuple, one after another.
        #[doc(hidden)]
        #[derive(Clone, Copy, Debug)]
        #[repr(C)]
        pub struct $Fields<$($T),*>($($T),*);

        // SAFETY: plain data in a fixed layout.
        #[diagnostic::do_not_recommend]
        unsafe impl<$($T: DeviceCopy),*> DeviceCopy for $Fields<$($T),*> {
            const TYPE: Text = Text::Of("tuple", &[$($T::TYPE),*]);
            const ANY_BYTES: bool = $($T::ANY_BYTES)&&*;
        }

        // SAFETY: the head is what `pack` writes, and plain data.
        #[allow(non_snake_case)]
        #[diagnostic::do_not_recommend]
        unsafe impl<'k, $($T: DeviceCopy),*> Param<'k> for ($($T,)*) {
            type Head = $Fields<$($T),*>;
            type Tail = ();

            const SIGNATURE: Text = super::signature_of_value::<Self::Head>();

            #[inline(always)]
            unsafe fn assemble($Fields($($T),*): Self::Head, _: &'k ()) -> Self {
                ($($T,)*)
            }

            #[cfg(not(target_arch = "nvptx64"))]
            type Arg<R: Runtime> = Self;

            #[cfg(not(target_arch = "nvptx64"))]
            fn pack<R: Runtime>(($($T,)*): Self, args: &mut PackedArgs) {
                args.push($Fields($($T),*));
            }
        }
    )*};
}

tuples! {
    Fields1: A;
    Fields2: A B;
    Fields3: A B C;
    Fields4: A B C D;
    Fields5: A B C D E;
    Fields6: A B C D E F;
    Fields7: A B C D E F G;
    Fields8: A B C D E F G H;
}

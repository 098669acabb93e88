//! Kernel parameters: arrays whose innermost axes are those of a core.

use core::marker::PhantomData;

use super::{
    CorePerLane, CorePerThread, CoreView, CoreViewMut,
    layout::{CoreLayout, MAX_CORE_AXES},
};
#[cfg(not(target_arch = "nvptx64"))]
use crate::host::{Access, PackedArgs, Runtime};
use crate::{
    DeviceCopy,
    elementwise::ViewNdOrScalar,
    param::{Param, ReadStart, WriteStart},
    signature::Text,
    thread::grid_stride::{GridStride, grid_stride},
    thread_rank, threads_per_block,
    view::layout::{Divisors, HasLayout, LayoutNd, MAX_AXES, MOST_ALONG_AXIS, Offset, Strided},
    warp::{LaneGroup, warp},
};

/// What is transferred of an input besides the address.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct InputTail<const N: usize> {
    outer: LayoutNd,
    core: CoreLayout<N>,
}

// SAFETY: plain data in a fixed layout.
#[diagnostic::do_not_recommend]
unsafe impl<const N: usize> DeviceCopy for InputTail<N> {
    const TYPE: Text = Text::Of("gpu_std::gufunc::InputTail", &[Text::Number(N as i128)]);
}

/// What is transferred of an output besides the address.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct OutputTail<const N: usize> {
    outer: LayoutNd,
    divisors: Divisors,
    core: CoreLayout<N>,
}

// SAFETY: plain data in a fixed layout.
#[diagnostic::do_not_recommend]
unsafe impl<const N: usize> DeviceCopy for OutputTail<N> {
    const TYPE: Text = Text::Of("gpu_std::gufunc::OutputTail", &[Text::Number(N as i128)]);
}

const fn check_axes(axes: usize) {
    assert!(axes <= MAX_CORE_AXES, "a core has at most three axes");
}

/// What inputs and outputs have in common: the shape of their cores.
macro_rules! core_shape {
    ($Array:ident, |$array:ident| $core:expr) => {
        impl<T, const N: usize> $Array<'_, T, N> {
            /// Returns the number of elements along each axis of a core.
            #[inline(always)]
            pub fn core_shape(&self) -> [usize; N] {
                let $array = self;
                $core.shape()
            }

            /// Returns the same array, whose cores the compiler knows to have this shape: that of other arrays, or constants.
            ///
            /// # Panics
            /// If they have another.
            #[inline(always)]
            #[track_caller]
            pub fn with_core_shape(mut self, shape: [usize; N]) -> Self {
                let $array = &mut self;
                let core = &mut $core;
                let mut differs = false;
                for axis in 0..N {
                    differs |= core.shape[axis] as usize != shape[axis];
                }
                if differs {
                    refuse_shape()
                }
                // What was compared fits, and is less than 2³¹, because no layout has more.
                for axis in 0..N {
                    core.shape[axis] = shape[axis] as u32;
                    // SAFETY: as `LayoutNd::new` makes sure on the host.
                    unsafe { core::hint::assert_unchecked(core.shape[axis] <= MOST_ALONG_AXIS) };
                }
                self
            }

            /// Returns the same array, whose cores the compiler knows to have the elements along the innermost axis one after another.
            ///
            /// # Panics
            /// If they have not.
            #[inline(always)]
            #[track_caller]
            pub fn contiguous(mut self) -> Self {
                let $array = &mut self;
                if let Some(stride) = $core.strides.last_mut() {
                    if *stride != 1 {
                        refuse_strides()
                    }
                    *stride = 1;
                }
                self
            }
        }

        impl<T, const N: usize> core::fmt::Debug for $Array<'_, T, N> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                let $array = self;
                f.debug_struct(stringify!($Array)).field("core", &$core).finish_non_exhaustive()
            }
        }
    };
}

#[cold]
#[inline(never)]
#[track_caller]
fn refuse_shape() -> ! {
    panic!("the cores of an argument have another shape than those of the arguments before it")
}

#[cold]
#[inline(never)]
#[track_caller]
fn refuse_strides() -> ! {
    panic!("elements of a core do not follow each other along its innermost axis")
}

/// An input that is an array of up to six axes of any strides, of which the innermost `N` are those of a core.
///
/// The launch passes `slice.view_nd(…)?`. Inputs whose cores are single elements are [`ViewNdOrScalar`].
///
/// ```
/// use gpu_std::{gufunc::*, prelude::*};
///
/// /// The first element of each row.
/// #[kernel]
/// pub fn heads(x: InputCores<f32, 1>, heads: PerThreadCores<f32, 0>) {
///     for_each_core((x,), (heads,), |(row,), (mut head,)| head[[]] = row[0]);
/// }
/// ```
pub struct InputCores<'k, T, const N: usize> {
    start: *const T,
    /// Stays where it was passed: nothing that may be indexed is copied into registers.
    outer: &'k LayoutNd,
    core: CoreLayout<N>,
    lender: PhantomData<&'k [T]>,
}

core_shape! { InputCores, |array| array.core }

impl<T, const N: usize> Clone for InputCores<'_, T, N> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, const N: usize> Copy for InputCores<'_, T, N> {}

// SAFETY: `pack` takes a view that the runtime borrows shared for the launch, so that nobody writes it.
unsafe impl<'k, T: DeviceCopy, const N: usize> Param<'k> for InputCores<'k, T, N> {
    type Head = ReadStart<'k, T>;
    type Tail = InputTail<N>;

    const SIGNATURE: Text = {
        check_axes(N);
        Text::Of("InputCores", &[T::TYPE, Text::Number(N as i128)])
    };

    #[inline(always)]
    unsafe fn assemble(head: ReadStart<'k, T>, InputTail { outer, core }: &'k InputTail<N>) -> Self {
        Self { start: head.as_ptr(), outer, core: *core, lender: PhantomData }
    }

    #[cfg(not(target_arch = "nvptx64"))]
    type Arg<R: Runtime> = R::View<'k, T, LayoutNd>;

    #[cfg(not(target_arch = "nvptx64"))]
    fn pack<R: Runtime>(arg: Self::Arg<R>, args: &mut PackedArgs) {
        let view = R::raw_view(&arg);
        args.push_memory(view.slice, Access::Read);
        let (outer, core) = view.layout.split::<N>();
        args.push(InputTail { outer, core });
    }
}

/// Defines an output whose cores belong to a thread, warp or block; `$core` makes what a core call gets of the address of a core and its layout.
macro_rules! output_cores {
    ($(#[$doc:meta])* $Output:ident of $Owner:ident, gives $Core:ident: |$start:ident, $layout:ident| $core:expr) => {
        $(#[$doc])*
        pub struct $Output<'a, T, const N: usize> {
            start: *mut T,
            /// Stay where they were passed, as in [`InputCores`].
            outer: &'a LayoutNd,
            divisors: &'a Divisors,
            core: CoreLayout<N>,
            lender: PhantomData<&'a mut [T]>,
        }

        core_shape! { $Output, |array| array.core }

        impl<T, const N: usize> HasLayout for $Output<'_, T, N> {
            #[inline(always)]
            fn layout(&self) -> &LayoutNd {
                self.outer
            }
        }

        #[allow(private_interfaces)]
        impl<'a, T, const N: usize> sealed::Output for $Output<'a, T, N> {
            type Owner = $Owner;
            type Core = $Core<'a, T, N>;

            #[inline(always)]
            fn outer(&self) -> (&LayoutNd, &Divisors) {
                (self.outer, self.divisors)
            }

            #[inline(always)]
            unsafe fn core(&self, offset: Offset) -> $Core<'a, T, N> {
                let $layout = self.core;
                // SAFETY: by the caller's promise the place is inside, and the core its alone. `pack` took the layout from a view in which no two positions are
                // the same element.
                unsafe {
                    let $start = self.start.add(offset.get());
                    $core
                }
            }
        }

        // SAFETY: `pack` takes a view that the runtime borrows exclusively for the launch, in which no two positions are the same element, and each
        // thread uses only the cores that it, its warp or its block owns, and of these what is its own.
        unsafe impl<'k, T: DeviceCopy, const N: usize> Param<'k> for $Output<'k, T, N> {
            type Head = WriteStart<'k, T>;
            type Tail = OutputTail<N>;

            const DIMS: u32 = 1;
            const SIGNATURE: Text = {
                check_axes(N);
                Text::Of(stringify!($Output), &[T::TYPE, Text::Number(N as i128)])
            };

            #[inline(always)]
            unsafe fn assemble(
                head: WriteStart<'k, T>,
                OutputTail { outer, divisors, core }: &'k OutputTail<N>,
            ) -> Self {
                Self { start: head.as_mut_ptr(), outer, divisors, core: *core, lender: PhantomData }
            }

            #[cfg(not(target_arch = "nvptx64"))]
            type Arg<R: Runtime> = R::ViewMut<'k, T, LayoutNd>;

            #[cfg(not(target_arch = "nvptx64"))]
            fn pack<R: Runtime>(arg: Self::Arg<R>, args: &mut PackedArgs) {
                let view = R::raw_view_mut(&arg);
                args.push_memory(view.slice, Access::Write);
                let (outer, core) = view.layout.split::<N>();
                args.push(OutputTail { divisors: Divisors::of(&outer), outer, core });
            }
        }
    };
}

output_cores! {
    /// The cores of an array of up to six axes of any strides that belong to the calling thread: the innermost `N` axes are those of a core, and each core
    /// belongs to one thread, whatever the size of the grid.
    ///
    /// Thread `i` of `n` owns the cores `i`, `i + n`, `i + 2n`, … in row-major order. The launch passes `slice.view_nd_mut(…)?`.
    ///
    /// ```
    /// use gpu_std::{gufunc::*, prelude::*};
    ///
    /// /// Reverses each row.
    /// #[kernel]
    /// pub fn reverse(x: InputCores<f32, 1>, y: PerThreadCores<f32, 1>) {
    ///     let [columns] = x.core_shape();
    ///     for_each_core((x,), (y.with_core_shape([columns]),), |(x,), (mut y,)| {
    ///         for i in 0..x.len() {
    ///             y[i] = x[x.len() - 1 - i];
    ///         }
    ///     });
    /// }
    /// ```
    PerThreadCores of ByThread, gives CoreViewMut: |start, layout| CoreViewMut::new(start, layout)
}

output_cores! {
    /// The cores of an array that belong to the calling warp, as [`PerThreadCores`] to a thread. Of each core, the elements are divided among the lanes.
    ///
    /// ```
    /// use gpu_std::{gufunc::*, prelude::*};
    ///
    /// /// Reverses each row, a warp per row.
    /// #[kernel(block = 256)]
    /// pub fn reverse(x: InputCores<f32, 1>, y: PerWarpCores<f32, 1>) {
    ///     let [columns] = x.core_shape();
    ///     for_each_core((x,), (y.with_core_shape([columns]),), |(x,), (y,)| {
    ///         for (i, y) in y {
    ///             *y = x[x.len() - 1 - i];
    ///         }
    ///     });
    /// }
    /// ```
    PerWarpCores of ByWarp, gives CorePerLane: |start, layout| {
        CorePerLane::new(start, layout, warp().rank(), warp().size())
    }
}

output_cores! {
    /// The core of an array that belongs to the calling block: block `i` owns core `i` in row-major order. Its elements are divided among the threads of
    /// the block.
    ///
    /// ```
    /// use gpu_std::{gufunc::*, prelude::*};
    ///
    /// /// Reverses each row, a block per row.
    /// #[kernel]
    /// pub fn reverse(x: InputCores<f32, 1>, y: PerBlockCores<f32, 1>) {
    ///     let [columns] = x.core_shape();
    ///     with_core_of_block((x,), (y.with_core_shape([columns]),), |(x,), (y,)| {
    ///         for (i, y) in y {
    ///             *y = x[x.len() - 1 - i];
    ///         }
    ///     });
    /// }
    /// ```
    PerBlockCores of ByBlock, gives CorePerThread: |start, layout| {
        CorePerThread::new(start, layout, thread_rank(), threads_per_block())
    }
}

/// Cores belong to threads.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum ByThread {}

/// Cores belong to warps.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum ByWarp {}

/// Cores belong to blocks.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum ByBlock {}

impl sealed::Visit for ByThread {
    #[inline(always)]
    fn numbers(cores: usize) -> GridStride {
        grid_stride(cores)
    }
}

impl sealed::Visit for ByWarp {
    #[inline(always)]
    fn numbers(cores: usize) -> GridStride {
        GridStride::of_warps(cores)
    }
}

pub(super) mod sealed {
    use super::{Divisors, GridStride, LayoutNd, MAX_AXES, Offset, Strided};

    #[allow(missing_docs, unreachable_pub)]
    pub trait Visit {
        /// The numbers below `cores` of the cores that the calling thread visits. All threads of a group visit the same, no two groups the same one.
        fn numbers(cores: usize) -> GridStride;
    }

    #[allow(missing_docs, unreachable_pub, private_interfaces, clippy::missing_safety_doc)]
    pub trait Input: Copy + Strided<Offsets = Offset> {
        /// What a core call gets of it.
        type Core;
        /// Whether there is a core at each position of these extents.
        fn covers(&self, extents: [u32; MAX_AXES]) -> bool;
        /// # Safety
        /// The offset is that of a position that the input covers.
        unsafe fn core(&self, offset: Offset) -> Self::Core;
    }

    #[allow(missing_docs, unreachable_pub, private_interfaces, clippy::missing_safety_doc)]
    pub trait Output: Strided<Offsets = Offset> {
        /// Who owns a core.
        type Owner;
        /// What a core call gets of it.
        type Core;
        /// The layout of the axes along which there are cores.
        fn outer(&self) -> (&LayoutNd, &Divisors);
        /// # Safety
        /// The offset is that of a position inside, which the calling thread, or its warp or block, owns. It is asked for once.
        unsafe fn core(&self, offset: Offset) -> Self::Core;
    }
}

/// Whether extents are these. All are compared, because a branch for each costs more; and not as arrays, which is a call.
#[inline(always)]
pub(super) fn have(extents: [u32; MAX_AXES], own: [u32; MAX_AXES]) -> bool {
    (0..MAX_AXES).fold(0, |differs, axis| differs | (own[axis] ^ extents[axis])) == 0
}

impl<T, const N: usize> HasLayout for InputCores<'_, T, N> {
    #[inline(always)]
    fn layout(&self) -> &LayoutNd {
        self.outer
    }
}

#[allow(private_interfaces)]
impl<'k, T: DeviceCopy, const N: usize> sealed::Input for InputCores<'k, T, N> {
    type Core = CoreView<'k, T, N>;

    #[inline(always)]
    fn covers(&self, extents: [u32; MAX_AXES]) -> bool {
        have(extents, self.outer.extents())
    }

    #[inline(always)]
    unsafe fn core(&self, offset: Offset) -> CoreView<'k, T, N> {
        // SAFETY: the caller promises that the position is inside of the layout, which `pack` took from a view.
        unsafe { CoreView::new(self.start.add(offset.get()), self.core) }
    }
}

#[allow(private_interfaces)]
impl<T: DeviceCopy> sealed::Input for ViewNdOrScalar<'_, T> {
    type Core = T;

    #[inline(always)]
    fn covers(&self, extents: [u32; MAX_AXES]) -> bool {
        ViewNdOrScalar::covers(self, extents, 0)
    }

    #[inline(always)]
    unsafe fn core(&self, offset: Offset) -> T {
        // SAFETY: as the caller promises.
        unsafe { self.get(offset) }
    }
}

//! The engine of outputs that are divided among threads, warps or blocks: [`owned_output!`] makes a type of a layout and of a loop over the places
//! that the calling thread owns.

use core::{iter::FusedIterator, marker::PhantomData};

use crate::{
    thread::grid_stride::{GridStride, GridStride2d, GridStride3d},
    view::layout::{Extents, PlaceLayout},
};

/// A loop over the places that the calling thread owns: each once, and none that another thread owns.
pub(crate) trait OwnedPlaces: FusedIterator {
    /// Whether a loop that has not begun visits the place.
    fn owns(&self, place: Self::Item) -> bool;
}

macro_rules! loops {
    ($($Loop:ident: $place:pat => $($part:ident),*;)*) => {$(
        impl OwnedPlaces for $Loop {
            #[inline(always)]
            fn owns(&self, $place: Self::Item) -> bool {
                self.takes($($part),*)
            }
        }
    )*};
}

loops! {
    GridStride: index => index;
    GridStride2d: (row, column) => row, column;
    GridStride3d: (layer, row, column) => layer, row, column;
}

/// The places that the calling thread owns.
#[cfg(target_arch = "nvptx64")]
pub(crate) type Owned<I> = I;

#[cfg(target_arch = "nvptx64")]
#[inline(always)]
pub(crate) fn of_loop<I>(places: I) -> I {
    places
}

/// The places that the calling thread owns.
#[cfg(not(target_arch = "nvptx64"))]
#[derive(Clone, Debug)]
pub(crate) enum Owned<I: Iterator> {
    /// Those of a loop.
    Loop(I),
    /// That of an interior thread, until it is visited.
    One(Option<I::Item>),
}

#[cfg(not(target_arch = "nvptx64"))]
#[inline(always)]
pub(crate) fn of_loop<I: Iterator>(places: I) -> Owned<I> {
    Owned::Loop(places)
}

#[cfg(not(target_arch = "nvptx64"))]
impl<I: Iterator> Iterator for Owned<I> {
    type Item = I::Item;

    #[inline(always)]
    fn next(&mut self) -> Option<I::Item> {
        match self {
            Self::Loop(places) => places.next(),
            Self::One(place) => place.take(),
        }
    }
}

#[cfg(not(target_arch = "nvptx64"))]
impl<I: FusedIterator> FusedIterator for Owned<I> {}

#[cfg(not(target_arch = "nvptx64"))]
impl<I: OwnedPlaces<Item: PartialEq>> OwnedPlaces for Owned<I> {
    #[inline(always)]
    fn owns(&self, place: I::Item) -> bool {
        match self {
            Self::Loop(places) => places.owns(place),
            Self::One(own) => *own == Some(place),
        }
    }
}

/// Defines an output type and its iterator. `places` is the loop over the places that the calling thread owns: no two threads of a launch may
/// own the same place, and each place is inside the layout. The type's `impl` block says what is its own.
macro_rules! owned_output {
    (
        $(#[$doc:meta])*
        $Output:ident iterated by $Iter:ident,
        along $dims:literal axes,
        $what:literal at $place_doc:literal: $Place:ty,
        layout: $Layout:ty,
        places: $Places:ty = |$layout:ident| $places:expr,
        divided among: $owners:ident,
        passed as: $kind:ident
    ) => {
        $(#[$doc])*
        pub struct $Output<'a, T> {
            start: *mut T,
            layout: $Layout,
            /// The only place that an interior thread owns.
            #[cfg(not(target_arch = "nvptx64"))]
            interior: Option<$Place>,
            lender: ::core::marker::PhantomData<&'a mut [T]>,
        }

        impl<'a, T> $Output<'a, T> {
            #[doc = concat!("Iterates over the ", $what, ", each with its ", $place_doc, ". For more than one pass; a `for` loop over the value itself makes one pass.")]
            #[inline(always)]
            pub fn iter_mut(&mut self) -> $Iter<'_, T> {
                $Iter { places: self.places(), start: self.start, layout: self.layout, lender: ::core::marker::PhantomData }
            }

            #[doc = concat!("Returns the first of the ", $what, " with its ", $place_doc, ", if there is one.")]
            #[inline(always)]
            pub fn first_mut(&mut self) -> Option<($Place, &mut T)> {
                self.iter_mut().next()
            }

            #[doc = concat!("Returns the element at this ", $place_doc, " if it is one of the ", $what, ". Costs divisions; a loop costs none.")]
            #[inline(always)]
            pub fn get_mut(&mut self, place: $Place) -> Option<&mut T> {
                use $crate::{output::owned::OwnedPlaces, view::layout::PlaceLayout};
                self.places().owns(place).then(|| {
                    // SAFETY: the element is this thread's, and borrowed from `self` exclusively.
                    unsafe { &mut *self.start.add(self.layout.offset_alone(place)) }
                })
            }

            #[doc = concat!("Iterates over the ", $what, " of several outputs at once, each with its ", $place_doc, ": one index for all.")]
            ///
            /// # Panics
            /// If the outputs have different extents.
            #[doc = concat!("\n```\nuse gpu_std::prelude::{*, memory::*, warp::*};\n\n#[kernel]\npub fn reset(outputs: [", stringify!($Output), "<f32>; 3]) {\n    for (_, [a, b, c]) in ", stringify!($Output), "::zip(outputs) {\n        (*a, *b, *c) = (0.0, 0.5, 1.0);\n    }\n}\n```")]
            #[inline(always)]
            #[track_caller]
            pub fn zip<const N: usize>(
                outputs: [Self; N],
            ) -> impl ::core::iter::FusedIterator<Item = ($Place, [&'a mut T; N])> {
                const { assert!(N > 0, "zip takes at least one output") };
                let places = outputs[0].places();
                let parts = outputs.map(|output| (output.start, output.layout));
                // SAFETY: the places are inside the first output. The outputs are used up, each of them the only access to its elements.
                unsafe { $crate::output::owned::Zip::new(places, parts) }
            }

            #[inline(always)]
            fn places(&self) -> $crate::output::owned::Owned<$Places> {
                #[cfg(not(target_arch = "nvptx64"))]
                if let Some(place) = self.interior {
                    return $crate::output::owned::Owned::One(Some(place));
                }
                let $layout = &self.layout;
                $crate::output::owned::of_loop($places)
            }
        }

        $crate::thread::indexing::no_index! { IndexedOutput: [] $Output<'_, T>; }

        impl<T> ::core::fmt::Debug for $Output<'_, T> {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.debug_struct(stringify!($Output)).field("layout", &self.layout).finish_non_exhaustive()
            }
        }

        impl<'a, T> IntoIterator for $Output<'a, T> {
            type Item = ($Place, &'a mut T);
            type IntoIter = $Iter<'a, T>;

            #[inline(always)]
            fn into_iter(self) -> $Iter<'a, T> {
                $Iter { places: self.places(), start: self.start, layout: self.layout, lender: ::core::marker::PhantomData }
            }
        }

        impl<'a, T> IntoIterator for &'a mut $Output<'_, T> {
            type Item = ($Place, &'a mut T);
            type IntoIter = $Iter<'a, T>;

            #[inline(always)]
            fn into_iter(self) -> $Iter<'a, T> {
                self.iter_mut()
            }
        }

        #[doc = concat!("The iterator of [`", stringify!($Output), "`].")]
        pub struct $Iter<'a, T> {
            places: $crate::output::owned::Owned<$Places>,
            start: *mut T,
            layout: $Layout,
            lender: ::core::marker::PhantomData<&'a mut [T]>,
        }

        impl<T> ::core::fmt::Debug for $Iter<'_, T> {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.debug_struct(stringify!($Iter)).field("places", &self.places).finish_non_exhaustive()
            }
        }

        impl<'a, T> Iterator for $Iter<'a, T> {
            type Item = ($Place, &'a mut T);

            #[inline(always)]
            fn next(&mut self) -> Option<Self::Item> {
                use $crate::view::layout::PlaceLayout;
                let place = self.places.next()?;
                // SAFETY: the place is inside. Places of one loop come once, those of other threads differ, and there is one loop at a time
                // because the output is used up or borrowed: no other reference to this element exists.
                Some((place, unsafe { &mut *self.start.add(self.layout.offset_alone(place)) }))
            }
        }

        impl<T> ::core::iter::FusedIterator for $Iter<'_, T> {}

        // SAFETY: `pack` takes memory that the runtime borrows exclusively for the launch, and each thread uses only the places that it owns.
        unsafe impl<'k, T: $crate::DeviceCopy> $crate::param::Param<'k> for $Output<'k, T> {
            type Head = $crate::param::WriteStart<'k, T>;
            type Tail = $Layout;

            const DIMS: u32 = $dims;
            const SIGNATURE: $crate::signature::Text = $crate::signature::Text::Of(stringify!($Output), &[T::TYPE]);

            #[inline(always)]
            unsafe fn assemble(head: $crate::param::WriteStart<'k, T>, layout: &'k $Layout) -> Self {
                use $crate::view::layout::PlaceLayout;
                // SAFETY: by the caller's promise the host passed the layout.
                let layout = unsafe { layout.assume_checked() };
                Self {
                    start: head.as_mut_ptr(),
                    layout,
                    #[cfg(not(target_arch = "nvptx64"))]
                    interior: None,
                    lender: ::core::marker::PhantomData,
                }
            }

            $crate::output::owned::owned_output! { @owners $owners $Layout }
            $crate::output::owned::owned_output! { @pack $kind $Layout }
        }
    };
    (@owners threads $Layout:ty) => {
        #[cfg(not(target_arch = "nvptx64"))]
        #[inline(always)]
        fn extents(layout: &$Layout, grid: &$crate::host::ThreadGrid) -> $crate::view::layout::Extents {
            use $crate::view::layout::PlaceLayout;
            grid.covering(<$Layout>::AXES, layout.extents())
        }

        #[cfg(not(target_arch = "nvptx64"))]
        #[inline(always)]
        unsafe fn assemble_interior(
            head: $crate::param::WriteStart<'k, T>,
            layout: &'k $Layout,
            thread: &$crate::host::Interior,
        ) -> Self {
            use $crate::view::layout::PlaceLayout;
            // SAFETY: as the caller promises.
            let output = unsafe {
                layout.assume_interior(thread);
                Self::assemble(head, layout)
            };
            // There is a thread for each place, or the extents would be none. The place of this one is its position.
            Self { interior: Some(<$Layout>::place(thread.step(0, 0))), ..output }
        }
    };
    (@owners others $Layout:ty) => {};
    (@pack slice $Layout:ty) => {
        #[cfg(not(target_arch = "nvptx64"))]
        type Arg<R: $crate::host::Runtime> = &'k mut R::Slice<T>;

        #[cfg(not(target_arch = "nvptx64"))]
        fn pack<R: $crate::host::Runtime>(arg: Self::Arg<R>, args: &mut $crate::host::PackedArgs) {
            args.push_slice(R::raw_slice(arg), $crate::host::Access::Write);
        }
    };
    (@pack view $Layout:ty) => {
        #[cfg(not(target_arch = "nvptx64"))]
        type Arg<R: $crate::host::Runtime> = R::ViewMut<'k, T, $Layout>;

        #[cfg(not(target_arch = "nvptx64"))]
        fn pack<R: $crate::host::Runtime>(arg: Self::Arg<R>, args: &mut $crate::host::PackedArgs) {
            let view = R::raw_view_mut(&arg);
            args.push_memory(view.slice, $crate::host::Access::Write);
            args.push(view.layout);
        }
    };
}
pub(crate) use owned_output;

/// The iterator of `zip`.
pub(crate) struct Zip<'a, T, L, I, const N: usize> {
    places: I,
    outputs: [(*mut T, L); N],
    lender: PhantomData<&'a mut [T]>,
}

impl<T, L: PlaceLayout, I: OwnedPlaces<Item = L::Place>, const N: usize> Zip<'_, T, L, I, N> {
    /// Of outputs that start there and have these layouts. Panics if their extents differ.
    ///
    /// # Safety
    /// There is an output, and the places are inside the first. For `'a`, nothing else accesses the elements at the places, of which
    /// no two outputs have the same.
    #[inline(always)]
    #[track_caller]
    pub(crate) unsafe fn new(places: I, outputs: [(*mut T, L); N]) -> Self {
        let first = outputs[0].1.extents();
        for (_, layout) in &outputs {
            if layout.extents() != first {
                refuse(first, layout.extents());
            }
        }
        Self { places, outputs, lender: PhantomData }
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn refuse((layers, rows, columns): Extents, (other_layers, other_rows, other_columns): Extents) -> ! {
    panic!(
        "zip of outputs of {layers} x {rows} x {columns} and {other_layers} x {other_rows} x {other_columns} elements (layers x rows x \
         columns): all have the same extents"
    )
}

impl<'a, T, L: PlaceLayout, I: OwnedPlaces<Item = L::Place>, const N: usize> Iterator
    for Zip<'a, T, L, I, N>
{
    type Item = (L::Place, [&'a mut T; N]);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let place = self.places.next()?;
        // SAFETY: the place is inside of all outputs, because their extents are the same. Places of one loop come once, and nothing else
        // accesses the elements, as `new` asks for.
        Some((
            place,
            self.outputs
                .each_ref()
                .map(|&(start, layout)| unsafe { &mut *start.add(layout.offset_alone(place)) }),
        ))
    }
}

impl<T, L: PlaceLayout, I: OwnedPlaces<Item = L::Place>, const N: usize> FusedIterator
    for Zip<'_, T, L, I, N>
{
}

/// The lengths of outputs along one axis, and the extents of matrices and volumes.
macro_rules! extents {
    ($Output:ident: $($(#[$doc:meta])* $name:ident = |$layout:ident| $extent:expr;)*) => {
        impl<T> $Output<'_, T> {
            $(
                $(#[$doc])*
                #[inline(always)]
                pub fn $name(&self) -> usize {
                    let $layout = &self.layout;
                    $extent
                }
            )*
        }
    };
    ($Output:ident along one axis, $len:expr) => {
        impl<T> $Output<'_, T> {
            /// Returns the number of elements, those of other threads included.
            #[inline(always)]
            pub fn len(&self) -> usize {
                let len: fn(&Self) -> usize = $len;
                len(self)
            }

            /// Returns whether there are no elements, for any thread.
            #[inline(always)]
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }
        }
    };
}
pub(crate) use extents;

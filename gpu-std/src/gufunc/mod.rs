//! Core functions: what [`guvectorize`](macro@crate::guvectorize) makes functions of arrays of (NumPy's generalized universal functions).
//!
//! A core function computes a small array, its core, from others: a matrix product, the mean of a row. As a function of arrays it is called for each position
//! along the axes before those of the cores.
//!
//! | type | a core function gets |
//! |---|---|
//! | `T` | an input of the core `()` |
//! | [`CoreView<T, N>`](CoreView) | an input whose core has `N` axes |
//! | [`CoreViewMut<T, N>`](CoreViewMut) | an output, if a thread computes a core |
//! | [`CorePerLane<T, N>`](CorePerLane) | an output, if a warp does (`per = warp`): the elements of its lane |
//! | [`CorePerThread<T, N>`](CorePerThread) | an output, if a block does (`per = block`): the elements of its thread |
//!
//! These kernels have parameters of which each is an array whose innermost axes are those of its cores:
//!
//! | parameter | the kernel gets | the launch passes |
//! |---|---|---|
//! | [`InputCores<T, N>`](InputCores) | an array of any strides | `slice.view_nd(…)?` |
//! | [`PerThreadCores<T, N>`](PerThreadCores) | the cores that its thread owns | `slice.view_nd_mut(…)?` |
//! | [`PerWarpCores<T, N>`](PerWarpCores) | the cores that its warp owns | `slice.view_nd_mut(…)?` |
//! | [`PerBlockCores<T, N>`](PerBlockCores) | the core that its block owns | `slice.view_nd_mut(…)?` |
//!
//! ```
//! use gpu_std::{gufunc::*, prelude::*};
//!
//! /// Products of matrices and vectors.
//! #[kernel]
//! pub fn products(a: InputCores<f32, 2>, x: InputCores<f32, 1>, y: PerThreadCores<f32, 1>) {
//!     let [rows, columns] = a.core_shape();
//!     // One number for all, by which checks of indices vanish.
//!     let (x, y) = (x.with_core_shape([columns]), y.with_core_shape([rows]));
//!     for_each_core((a, x), (y,), |(a, x), (mut y,)| {
//!         for row in 0..a.rows() {
//!             y[row] = (0..a.columns()).map(|column| a[(row, column)] * x[column]).sum();
//!         }
//!     });
//! }
//! ```

mod calls;
mod divided;
mod layout;
mod params;
mod view;
mod view_mut;

pub use calls::{CoreInputs, CoreOutputs, for_each_core, with_core_of_block};
pub use divided::{CoreIterMut, CorePerLane, CorePerThread};
#[doc(hidden)]
pub use layout::CoreLayout;
pub use layout::{CorePlace, MAX_CORE_AXES};
pub use params::{InputCores, PerBlockCores, PerThreadCores, PerWarpCores};
pub use view::CoreView;
pub use view_mut::CoreViewMut;

//! The procedural macros of gpu-std. Kernel crates use them as `gpu_std::kernel` and `gpu_std::DeviceCopy`.

use proc_macro::TokenStream;

mod condition;
mod constant;
mod contract;
mod device;
mod device_copy;
mod device_entry;
mod expand;
mod function;
mod generic;
mod gufunc_layout;
mod guvectorize;
mod host_body;
mod input;
mod instances;
mod instantiate;
mod kernel;
mod kernel_param;
mod param;
mod pipeline;
mod print;
mod vectorize;

/// Turns a function into a kernel (CUDA's `__global__`, Numba's `@cuda.jit`).
///
/// The body stays plain Rust. Afterwards the function's name stands for the kernel, which can only be launched, not called:
/// `module.launch(saxpy, for_each(n), (2.0, &x, &mut y))`. The launch has one argument per parameter:
///
/// | parameter | the kernel gets | the launch passes |
/// |---|---|---|
/// | `f32`, `u64`, …, a `DeviceCopy` struct, a tuple of up to 8 of these | the value | the value |
/// | `&[T]` | memory that is not written during the launch | `&DeviceSlice<T>` |
/// | `&[Atomic<T>]` | memory that all threads access atomically | `&mut DeviceSlice<T>` |
/// | `View2d<T>`, `View3d<T>` | a matrix or volume that is not written during the launch, by position | `buffer.view_2d(columns)?`, `buffer.view_3d(rows, columns)?` |
/// | `ViewStrided<T>` | every n-th element, or a column | `buffer.view_strided(first, step)?` |
/// | `PerThread<T>` | the elements that its thread owns | `&mut DeviceSlice<T>` |
/// | `PerThread2d<T>`, `PerThread3d<T>` | the same of a matrix or volume | `buffer.view_2d_mut(columns)?`, `buffer.view_3d_mut(rows, columns)?` |
/// | `PerThreadStrided<T>` | the same of every n-th element, or of a column | `buffer.view_strided_mut(first, step)?` |
/// | `PerWarp<T>` | the elements of its warp, for the first lane | `&mut DeviceSlice<T>` |
/// | `PerBlock<T>` | the elements of its block, for the first thread | `&mut DeviceSlice<T>` |
/// | `BlockTiles<T, N>` | the tiles of its block, of which each thread owns elements | `&mut DeviceSlice<T>` |
/// | `BlockTiles2d<T, ROWS, COLUMNS>` | the same of a matrix | `buffer.view_2d_mut(columns)?` |
/// | `Shared<T, N>`, `Shared2d<T, ROWS, COLUMNS, PAD>` | an array shared by its block | nothing |
/// | `SharedSlice<T>` | the same, of a length that the launch passes | the number of elements |
/// | `BlockScratch<T>`, `SortScratch<K, THREADS, ITEMS, V>` | shared memory for block-wide algorithms | nothing |
/// | `SliceOrScalar<T>`, `ViewNdOrScalar<T>` | an input of `gpu_std::elementwise` | `OrScalar::Memory(&slice)`, `OrScalar::Memory(slice.view_nd(origin, shape, strides)?)`, `OrScalar::Scalar(value)` |
/// | `PerThreadChunks<T, N>` | an output of `gpu_std::elementwise` | `&mut DeviceSlice<T>` |
/// | `PerThreadNd<T>`, `PerThreadRows<T>` | the same, of any strides | `slice.view_nd_mut(origin, shape, strides)?` |
/// | `ViewPlane<T>`, `PlaneOrScalar<T>`, `PerThreadPlane<T>` | inputs and an output of `gpu_std::elementwise`, of two axes at most | what `slice.view_nd(origin, shape, strides)?.as_plane()` and the same of `view_nd_mut` return, if they are views of two axes |
/// | `InputCores<T, N>` | an input of `gpu_std::gufunc` | `slice.view_nd(origin, shape, strides)?` |
/// | `PerThreadCores<T, N>`, `PerWarpCores<T, N>`, `PerBlockCores<T, N>` | an output of `gpu_std::gufunc` | `slice.view_nd_mut(origin, shape, strides)?` |
/// | `[P; N]` of global memory, such as `[&[T]; 9]`, `[PerThread2d<T>; 9]` | an array | an array of the arguments: `[&mut a, &mut b]` |
/// | a struct with `#[derive(KernelParam)]`, as `Fields<'_>` | the struct | a tuple of the arguments of its fields |
/// | `*const T`, `*mut T` (`unsafe fn` only) | an address | `&DeviceSlice<T>`, `&mut DeviceSlice<T>` |
///
/// Arrays of memory are taken apart by patterns, `map`, indices, and for outputs by `zip` (`PerThread2d::zip(outputs)`). Indices should be
/// known when the kernel is compiled, as those of short loops are: for another index, the array is copied to local memory. An array
/// of `&[T]` is read as global memory, without the hint of `__ldg`. All parameters together have at most 4352 bytes, of which a
/// slice takes 16 and a matrix 20: ptxas, and so the build, refuses a kernel with more.
///
/// Lifetimes are omitted, but of structs of parameters. Kernels may be generic over types and constants; [`instantiate!`] declares their instances. A
/// kernel that is declared as `unsafe fn` is launched by `unsafe` code.
///
/// # Contract
/// `#[kernel(key = value, …)]` limits the launches of the kernel (CUDA's `__launch_bounds__`, `__maxnreg__`,
/// `__cluster_dims__`); values are constant expressions:
///
/// | key | meaning |
/// |---|---|
/// | `block = 256`, `block = (32, 8)`, `block = (8, 8, 4)` | exact number of threads per block along each axis |
/// | `max_threads = 512` | maximum number of threads per block (`__launch_bounds__`) |
/// | `min_blocks_per_sm = 2` | minimum number of blocks resident on a multiprocessor (`__launch_bounds__`); needs `block` or `max_threads` |
/// | `max_registers = 64` | maximum number of registers per thread (`__maxnreg__`) |
/// | `dims = 2` | maximum number of axes along which the launch has an extent other than 1 |
/// | `shared_bytes = 65536` | maximum number of bytes of shared memory per block, including arrays whose length the launch passes |
/// | `cluster = 2`, `cluster = (2, 2)` | exact number of blocks per cluster along each axis (`__cluster_dims__`); grids consist of whole clusters; needs sm_90 on a GPU |
/// | `no_panics` | nothing in the kernel can panic once it is optimised: else a release build fails, with the lines of what can |
/// | `no_spills` | ptxas spills no register to local memory: else a release build fails |
/// | `no_stack` | the kernel has no local memory at all: else a release build fails |
/// | `no_f64` | the optimised kernel has no instructions for 64-bit floating-point numbers: else a release build fails, with their lines |
/// | `programmatic_launch` | on sm_90 and later, the kernel is started while the one before it in the stream ends, and waits for its end before it begins ([programmatic dependent launch](https://docs.nvidia.com/cuda/cuda-c-programming-guide/#programmatic-dependent-launch-and-synchronization)) |
/// | `requires = x.len() >= y.len()` | a condition over parameters, their extents and constants, which arguments meet (a checked `__builtin_assume`) |
///
/// The condition of `requires` consists of parameters that are numbers or `bool`, of memory's `len()`, `is_empty()`,
/// `rows()`, `columns()` and `layers()`, of slices' `align()` (the largest power of two, at most 256, of which the address is a
/// multiple), of `shape()` and `is_scalar()` of arrays of any number of axes, of constants, and of operators and `as` for integers. Launches evaluate it; a launch
/// that does not meet it, or for which a computation in it overflows or divides by zero, is an error that shows the values.
/// Device code relies on it, which removes bounds checks. Functions, macros and types of the program are refused, because
/// they could give other results there:
///
/// ```compile_fail
/// # use gpu_std::prelude::*;
/// #[kernel(requires = limit(x.len()))] // calls a function
/// fn calls(x: &[f32]) {}
/// # const fn limit(len: usize) -> bool { len > 3 }
/// ```
///
/// Contracts that no launch can meet are refused:
///
/// ```compile_fail
/// # use gpu_std::prelude::*;
/// const TILE: u32 = 64;
///
/// #[kernel(block = (TILE, TILE))] // 4096 threads, and a block has at most 1024
/// fn large() {}
/// ```
///
/// Without `dims`, a kernel that takes `PerThread`, `PerThreadStrided`, `PerWarp`, `PerBlock` or `BlockTiles` is launched along one
/// axis, one that takes `PerThread2d` or `BlockTiles2d` along two, `PerThread3d` along three, more if `block` has more; other
/// kernels have no limit.
///
/// ```
/// use gpu_std::prelude::*;
///
/// /// y = a·x + y.
/// #[kernel]
/// pub fn saxpy(a: f32, x: &[f32], y: PerThread<f32>) {
///     for (i, y) in y {
///         *y += a * x[i];
///     }
/// }
/// ```
#[doc(alias = "__global__", alias = "cuda.jit")]
#[doc(alias = "__launch_bounds__", alias = "__maxnreg__")]
#[doc(alias = "max_registers", alias = "__cluster_dims__")]
#[doc(alias = "griddepcontrol", alias = "cudaGridDependencySynchronize", alias = "PDL")]
#[doc(alias = "cudaLaunchAttributeProgrammaticStreamSerialization")]
#[doc(alias = "__builtin_assume")]
#[proc_macro_attribute]
pub fn kernel(contract: TokenStream, function: TokenStream) -> TokenStream {
    kernel::kernel(contract.into(), function.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Places a static of type `Constant<T>` in constant memory (CUDA's `__constant__`), where the host can set it.
///
/// ```
/// use gpu_std::{Constant, constant, prelude::*};
///
/// /// The weights of a filter; the host can set others.
/// #[constant]
/// pub static WEIGHTS: Constant<[f32; 3]> = Constant::new([0.25, 0.5, 0.25]);
///
/// #[kernel]
/// pub fn smooth(x: &[f32], y: PerThread<f32>) {
///     let last = x.len() - 1;
///     for (i, y) in y {
///         let (left, right) = (x[i.saturating_sub(1)], x[(i + 1).min(last)]);
///         *y = WEIGHTS.at(0) * left + WEIGHTS.at(1) * x[i] + WEIGHTS.at(2) * right;
///     }
/// }
/// // module.set_constant(&WEIGHTS, [0.2, 0.6, 0.2])?;
/// ```
#[doc(alias = "__constant__", alias = "cudaMemcpyToSymbol")]
#[doc(alias = "const.array_like", alias = "cuda.const.array_like")]
#[proc_macro_attribute]
pub fn constant(arguments: TokenStream, item: TokenStream) -> TokenStream {
    constant::constant(&arguments.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Declares `__device__` functions of CUDA C or C++ that kernels call, or exports a function to CUDA C++.
///
/// `#[device(import)]` is written on a block of declarations. The build script links the files that define the functions
/// (`Builder::link` of `gpukernel-build`), and compares their parameter and return types. On the CPU device their host
/// versions are called, which the build script compiles from the same files; a launch reports one that is missing.
///
/// ```
/// use gpu_std::{device, prelude::*};
///
/// #[device(import)]
/// unsafe extern "C" {
///     /// `extern "C" __device__ float shade(float x, float y)`.
///     pub safe fn shade(x: f32, y: f32) -> f32;
///     /// `extern "C" __device__ void split(float x, float *whole)`: the caller ensures that the pointer is valid.
///     pub fn split(x: f32, whole: *mut f32);
/// }
///
/// #[kernel]
/// pub fn paint(x: &[f32], y: PerThread<f32>) {
///     for (i, y) in y {
///         *y = shade(x[i], 0.5);
///     }
/// }
/// ```
///
/// `#[device(export)]` is written on a function that CUDA C++ calls by its name.
///
/// ```
/// use gpu_std::device;
///
/// /// `extern "C" __device__ float luminance(float r, float g, float b)`.
/// #[device(export)]
/// pub extern "C" fn luminance(r: f32, g: f32, b: f32) -> f32 {
///     0.2126 * r + 0.7152 * g + 0.0722 * b
/// }
/// ```
#[doc(alias = "__device__", alias = "declare_device")]
#[doc(alias = "cuda.declare_device")]
#[proc_macro_attribute]
pub fn device(direction: TokenStream, item: TokenStream) -> TokenStream {
    device::device(direction.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Declares the instances of generic kernels for which device code is generated (CUDA's explicit template instantiation).
///
/// Device code is compiled before the program that launches it, so it cannot depend on the launches: the kernel crate
/// declares the types and values for which there are instances. Launching another one is an error of rustc.
///
/// ```
/// use gpu_std::prelude::*;
///
/// #[kernel]
/// pub fn fill<T: DeviceCopy, const N: usize>(values: [T; N], to: PerThread<T>) {
///     for (i, to) in to {
///         *to = values[i % N];
///     }
/// }
///
/// gpu_std::instantiate!(fill::<f32, 2>, fill::<u8, 16>);
/// ```
///
/// Kernels are named by the module in which they are declared, not by a `use` of them. They are launched by their path,
/// `module.launch(fill::<f32, 2>, …)`, or without generic arguments where those follow from the arguments of the launch.
/// A kernel of another crate is instantiated under a name of this crate: `instantiate!(pub fn fill_pairs = kernels::fill::<Pair, 4>);`
/// is launched as `fill_pairs`.
#[doc(alias = "template")]
#[proc_macro]
pub fn instantiate(instances: TokenStream) -> TokenStream {
    instantiate::instantiate(instances.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Implements `DeviceCopy` for a struct or enum with a fixed layout (`#[repr(C)]`, `#[repr(transparent)]` or, for an enum, an
/// integer `repr`) whose fields are all `DeviceCopy`.
///
/// ```
/// use gpu_std::prelude::*;
///
/// #[derive(Clone, Copy, DeviceCopy)]
/// #[repr(C)]
/// pub struct Particle {
///     position: [f32; 3],
///     mass: f32,
/// }
///
/// #[kernel]
/// pub fn weigh(particles: &[Particle], total: &[Atomic<f32>]) {
///     for i in grid_stride(particles.len()) {
///         total[0].fetch_add(particles[i].mass);
///     }
/// }
/// ```
#[doc(alias = "record")]
#[doc(alias = "register_model", alias = "make_attribute_wrapper", alias = "lower_builtin")]
#[proc_macro_derive(DeviceCopy)]
pub fn device_copy(item: TokenStream) -> TokenStream {
    device_copy::derive(item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a struct a kernel parameter whose fields are kernel parameters, memory among them.
///
/// The struct has one lifetime, that of the memory, and may have type and constant parameters. The kernel takes it as `Name<'_>`, and the
/// launch passes a tuple of what it would pass for each field, in their order. The fields may be private: like the launch of any kernel,
/// that of one with such a parameter makes values of them from its arguments.
///
/// ```
/// use gpu_std::prelude::*;
///
/// /// The particle distributions of a lattice with nine velocities, and where the walls are.
/// #[derive(KernelParam)]
/// pub struct Lattice<'k> {
///     pub solid: View2d<'k, u8>,
///     pub parts: [View2d<'k, f32>; 9],
/// }
///
/// /// Relaxes the distributions towards their mean.
/// #[kernel]
/// pub fn relax(rate: f32, from: Lattice<'_>, to: [PerThread2d<f32>; 9]) {
///     for (place, to) in PerThread2d::zip(to) {
///         let parts = from.parts.map(|part| part[place]);
///         let mean = parts.iter().sum::<f32>() / 9.0;
///         let rate = if from.solid[place] == 0 { rate } else { 0.0 };
///         for i in 0..9 {
///             *to[i] = parts[i] + rate * (mean - parts[i]);
///         }
///     }
/// }
/// // let lattice = (solid.view_2d(columns)?, [a.view_2d(columns)?, b.view_2d(columns)?, …]);
/// // let to = [c.view_2d_mut(columns)?, d.view_2d_mut(columns)?, …];
/// // module.launch(relax, for_each_2d(rows, columns), (0.6, lattice, to))?;
/// ```
#[proc_macro_derive(KernelParam)]
pub fn kernel_param(item: TokenStream) -> TokenStream {
    kernel_param::derive(item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a function of arrays from a scalar function (Numba's `@vectorize`, NumPy's universal functions).
///
/// The function stays callable under its name, on the host and in kernels. A type of the same name stands for the function of arrays: with the
/// crate `gpukernel-array`, `gaussian_pdf::apply(&module, (&x, 0.0, 1.0))?` computes each element, of arrays and scalars in any mix, which are
/// broadcast against each other.
///
/// A generic function lists the types for which there are kernels, as [`instantiate!`] does: `#[vectorize(f32, f64)]`, or `#[vectorize(<f32, i32>)]`
/// for two type parameters. Arguments and result are `DeviceCopy`, and there are at most eight arguments. Of each signature there are kernels
/// for contiguous memory, which load and store 16 bytes at a time where the types allow, and one for memory of any strides; of a signature
/// `(T, T) -> T` there are also those of `reduce` and `accumulate`. Any argument may be an array or a scalar. Those marked `#[scalar]` are scalars in most calls,
/// which then take a kernel with fewer registers. Without marks, there are such kernels for scalars behind arrays, of a function of many arguments and of one that has loops.
///
/// Where the body has a loop of which constants do not say how often it goes round, threads have an element each, for some take longer than others. Loops of functions that it calls are not known.
///
/// ```
/// use gpu_std::prelude::*;
///
/// /// The density of the normal distribution.
/// #[vectorize(f32, f64)]
/// pub fn gaussian_pdf<T: Float>(x: T, #[scalar] mean: T, #[scalar] sigma: T) -> T {
///     let z = (x - mean) / sigma;
///     (T::from_f64(-0.5) * z * z).exp() / (sigma * T::from_f64(2.5066282746310002))
/// }
///
/// assert!((gaussian_pdf(0.0, 0.0, 1.0) - 0.3989422804014327_f64).abs() < 1e-15);
/// ```
#[doc(alias = "ufunc", alias = "universal function", alias = "frompyfunc")]
#[proc_macro_attribute]
pub fn vectorize(instances: TokenStream, function: TokenStream) -> TokenStream {
    vectorize::vectorize(instances.into(), function.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Makes a function of arrays from a function of small arrays, their cores (Numba's `@guvectorize`, NumPy's generalized universal functions).
///
/// The layout names the dimensions of the cores, as NumPy's signatures do: `"(m,n),(n,p)->(m,p)"` for a matrix product. A dimension has one extent in all
/// arguments, and is a name or a number. With the crate `gpukernel-array`, `matmul::apply(&module, (&a, &b))?` takes the last axes of each argument for those of
/// a core, broadcasts the axes before, and computes a core at each position along them. A generic function lists the types for which there are kernels, as for
/// [`macro@vectorize`].
///
/// | in the layout | argument or result of the function |
/// |---|---|
/// | an input `()` | a value `T` |
/// | an input of `N` dimensions | `CoreView<T, N>` |
/// | an output of `N` dimensions | an argument after the inputs: `CoreViewMut<T, N>` |
/// | an output `()` | the value that it returns; of several, a tuple |
///
/// ```
/// use gpu_std::{gufunc::*, prelude::*};
///
/// /// The product of two matrices.
/// #[guvectorize("(m,n),(n,p)->(m,p)", f32, f64)]
/// pub fn matmul<T: Float>(a: CoreView<T, 2>, b: CoreView<T, 2>, mut c: CoreViewMut<T, 2>) {
///     for row in 0..a.rows() {
///         for column in 0..b.columns() {
///             let mut sum = T::from_f64(0.0);
///             for k in 0..a.columns() {
///                 sum += a[(row, k)] * b[(k, column)];
///             }
///             c[(row, column)] = sum;
///         }
///     }
/// }
///
/// /// Mean and variance.
/// #[guvectorize("(n)->(),()")]
/// pub fn moments(x: CoreView<f64, 1>) -> (f64, f64) {
///     let mean = x.iter().sum::<f64>() / x.len() as f64;
///     (mean, x.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / x.len() as f64)
/// }
///
/// // The function stays callable, on the host and in kernels.
/// assert_eq!(moments(CoreView::from_shape([4], &[1.0, 3.0, 1.0, 3.0]).unwrap()), (2.0, 1.0));
/// ```
///
/// # Who computes a core
/// One thread does, unless the attribute says `per = warp` or `per = block`: then all threads of a warp or block call the function for the same core, with outputs
/// `CorePerLane<T, N>` or `CorePerThread<T, N>`, of which each thread writes the elements that it owns. Of values that are returned, those of the first thread count.
/// Functions of a block may take shared memory as further arguments: `BlockScratch<T>`, `Shared<T, N>` and so on. A block has 256 threads, or `block = 128`.
///
/// ```
/// use gpu_std::{gufunc::*, prelude::{*, warp::*}};
///
/// /// Divides each row by its Euclidean norm, a warp per row.
/// #[guvectorize("(n)->(n)", per = warp)]
/// pub fn normalise(x: CoreView<f32, 1>, out: CorePerLane<f32, 1>) {
///     let mut squares = 0.0;
///     for i in warp_stride(x.len()) {
///         squares += x[i] * x[i];
///     }
///     let norm = warp().reduce_sum(squares).sqrt();
///     for (i, out) in out {
///         *out = x[i] / norm;
///     }
/// }
/// ```
///
/// Of each signature there are two kernels: for cores whose elements lie one after another along the innermost axis, and for any strides. The function is
/// `#[inline(always)]` unless it has an attribute of that kind, so that checks of indices along core dimensions vanish.
#[doc(alias = "gufunc", alias = "generalized universal function")]
#[proc_macro_attribute]
pub fn guvectorize(arguments: TokenStream, function: TokenStream) -> TokenStream {
    guvectorize::guvectorize(arguments.into(), function.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Makes a function of arrays from a function that chains lazy iterators: rustc fuses them and their closures to one kernel.
///
/// Inputs are `In<T>` for contiguous arrays, `In2d<T>` for matrices, and values. The return type says what becomes of what the body makes: one value
/// (`Scalar<T>`), an item at each position (`Out<T>`), those that a filter leaves (`Compact<T>`), a scan (`Scan<T>`), and of rows a matrix (`Out2d<T>`) or a
/// value for each (`PerRow<T>`). The adaptors are methods of the traits in `gpu_std::pipeline`.
///
/// A type of the function's name stands for it: with the crate `gpukernel-array`, `rmse::call(&module, (&x, &y))?` runs its kernel. A generic function lists the
/// types for which there are kernels: `#[pipeline(f32, f64)]`, or `#[pipeline(<f32, i32>)]` for two type parameters.
///
/// ```
/// use gpu_std::{pipeline::*, prelude::*};
///
/// /// The root of the mean square difference.
/// #[pipeline(f32, f64)]
/// pub fn rmse<T: Float>(x: In<T>, y: In<T>) -> Scalar<T> {
///     x.zip(y).map(|(a, b)| (a - b) * (a - b)).mean().then(|mean| mean.sqrt())
/// }
/// ```
///
/// The body is run by each thread, and by the host, which computes the size of the result: it makes the pipeline of its parameters only, and closures
/// have no other effects than their results.
#[doc(alias = "fuse", alias = "transform_reduce", alias = "mapreduce", alias = "fancy iterators")]
#[proc_macro_attribute]
pub fn pipeline(instances: TokenStream, function: TokenStream) -> TokenStream {
    pipeline::pipeline(instances.into(), function.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Makes a reduction of arrays from a function that combines two values (Numba's `@reduce`, CUB's `DeviceReduce::Reduce`).
///
/// `identity` is the result for an empty array, and changes no value that it is combined with. The function is associative and commutative; where it is not
/// exactly, as for floating-point numbers, the order depends on the length only, so that results have the same bits on each launch and on each device.
///
/// The function stays callable under its name, on the host and in kernels. A type of the same name stands for the reduction: with the crate
/// `gpukernel-array`, `largest::call(&module, &x)?` leaves the result on the device, from which `to_scalar()?` gets it.
///
/// ```
/// use gpu_std::prelude::*;
///
/// /// The larger of two numbers.
/// #[reduction(identity = T::from_f64(f64::NEG_INFINITY), f32, f64)]
/// pub fn largest<T: Float>(a: T, b: T) -> T {
///     if a < b { b } else { a }
/// }
///
/// /// The greatest common divisor.
/// #[reduction(identity = 0)]
/// pub fn gcd(a: u64, b: u64) -> u64 {
///     let (mut a, mut b) = (a, b);
///     while b != 0 {
///         (a, b) = (b, a % b);
///     }
///     a
/// }
///
/// assert_eq!(gcd(12, 18), 6);
/// ```
#[doc(alias = "reduce", alias = "cuda.reduce", alias = "fold")]
#[proc_macro_attribute]
pub fn reduction(arguments: TokenStream, function: TokenStream) -> TokenStream {
    pipeline::reduction(arguments.into(), function.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Prints a line from a kernel (CUDA's `printf`).
///
/// Format strings are those of `std::println!`, checked by rustc: `{}`, `{x:>8.3}`, `{:?}`, `{:#x}`, positional and named
/// arguments. Arguments implement `gpu_std::print::Print`: numbers, `bool`, `char`, `&'static str`, `Dim3`, complex numbers,
/// vectors, and slices, arrays, tuples, `Option`s and references of these.
///
/// Nothing is formatted on a GPU. A thread writes the values to a buffer, and the calls that wait for the device write the
/// text, line by line in the order in which the threads printed: to standard output, or where `Module::set_output` directs
/// it. Output for which nothing waits before the program ends is lost. The buffer holds a megabyte; texts that do not fit are
/// counted, and the output says how many were lost. A text has at most 64 KiB of values, in which a number takes 8 bytes, and
/// one of 64 bits 12.
///
/// ```
/// use gpu_std::prelude::*;
///
/// #[kernel]
/// pub fn look(values: &[f32]) {
///     for i in grid_stride(values.len()) {
///         let value = values[i];
///         if value.is_nan() {
///             gpu_std::println!("value {i} of {} is {value:?}", values.len());
///         }
///     }
/// }
/// ```
///
/// It is in the prelude. In a crate that is not `no_std`, where that makes the name ambiguous, import it or std's by name.
/// Outside of a kernel it does what std's does.
#[doc(alias = "printf")]
#[proc_macro]
pub fn println(input: TokenStream) -> TokenStream {
    print::print(input.into(), "\n").unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Prints from a kernel like [`println!`], without the end of the line (CUDA's `printf`).
#[doc(alias = "printf")]
#[proc_macro]
pub fn print(input: TokenStream) -> TokenStream {
    print::print(input.into(), "").unwrap_or_else(syn::Error::into_compile_error).into()
}

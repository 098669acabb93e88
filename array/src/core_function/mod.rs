//! Calls of functions of cores: `apply` and `apply_into` of what `#[guvectorize]` makes.

use gpu_std::host::{CoreScalars, Guvectorized, GuvectorizedFunction, Per};
use gpukernel::{LaunchConfig, Module, for_each_tile};

mod dimension;
mod operands;
mod results;
mod shapes;

pub use dimension::{CoreDimension, LoopDimension};
pub use operands::CoreOperands;
use results::sealed::OutputElements as Elements;
pub use results::{CoreResults, CoreTargets, OutputElements};
use shapes::{Cores, Dimensions};

use crate::{
    Error, Result,
    launch::{Configured, for_each_in_rounds, threads_of_gpu},
    operand::sealed,
    plan::{NdPlace, Plan},
};

/// A function of the cores of arrays (NumPy's generalized universal functions): implemented for the type that `#[guvectorize]` makes under the name of a core
/// function.
///
/// The last axes of each argument are those of its core, as many as the function's layout says. The axes before are broadcast against each other, and along them
/// there is a core call for each position.
///
/// The module is that of the crate that declares the function, loaded on the device of the arrays. Work is queued on the device's default stream, or that of
/// [`Module::on`], in the order of all work on the same memory.
///
/// ```
/// use gpu_std::{gufunc::*, prelude::*};
/// use gpukernel::Device;
/// use gpukernel_array::{Array, CoreFunction};
/// # use gpukernel::Image;
/// # use gpukernel_image::{ImageWriter, Manifest};
///
/// // In the kernel crate:
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
/// # let mut manifest = Manifest::new("doc");
/// # manifest.no_code = Some("this is an example".to_owned());
/// # // SAFETY: it holds no code.
/// # let KERNELS = unsafe { Image::from_bytes(ImageWriter::new(manifest).finish()) };
/// let device = Device::cpu();
/// let module = device.load(&KERNELS)?;
/// let a = Array::from_shape_fn(&device, (1000, 2, 4), |(i, row, k)| (i + row + k) as f32)?;
/// let b = Array::from_shape_fn(&device, (4, 5), |(k, column)| (k * column) as f32)?;
/// let c = matmul::apply(&module, (&a, &b))?; // (1000)(2, 4) x ()(4, 5) -> (1000)(2, 5)
/// assert_eq!(c.shape(), [1000, 2, 5]);
/// assert_eq!(c.to_ndarray()?[(3, 1, 2)], 2.0 * (1.0 * 5.0 + 2.0 * 6.0 + 3.0 * 7.0));
///
/// let error = matmul::apply(&module, (&b, &b)).unwrap_err();
/// assert_eq!(error.to_string(), "`n` is 5 in argument 0 and 4 in argument 1 of `matmul`, whose cores are `(m,n),(n,p)->(m,p)`");
/// # Ok::<(), gpukernel_array::Error>(())
/// ```
#[doc(alias = "gufunc", alias = "guvectorize")]
pub trait CoreFunction: GuvectorizedFunction + Sized {
    /// Computes the function of the cores of the arguments: an array, or for several outputs a tuple of arrays.
    ///
    /// Elements of new arrays are zeros before the function is called, for which they are `bytemuck::Zeroable`, and stay so where it does not write them.
    /// [`apply_into`](Self::apply_into) saves the zeros.
    ///
    /// # Errors
    /// [`Error::CoreDimension`], [`Error::FixedDimension`] and [`Error::TooFewAxes`] if an argument is not as the layout says; [`Error::BroadcastLoop`] if axes
    /// before those of cores do not broadcast; what [`Module::launch`] says, such as `WrongDevice` for an array on another device than the module and
    /// `KernelPanicked`.
    #[track_caller]
    // The number of axes is computed.
    #[allow(clippy::type_complexity)]
    fn apply<S, X>(
        module: &Module,
        args: X,
    ) -> Result<<Self::Outputs as CoreResults<X::Loop, Self::OutputAxes>>::Arrays>
    where
        S: CoreScalars<Self::InputAxes>,
        X: CoreOperands<S, Self::InputAxes>,
        Self: Guvectorized<S>,
        Self::Outputs: CoreResults<X::Loop, Self::OutputAxes>,
    {
        let inputs = args.inputs();
        let mut dimensions = Dimensions::new(Self::NAME, Self::LAYOUT);
        let mut cores = dimensions.inputs(&sealed::Inputs::layouts(&inputs))?;
        let loop_shape = dimensions.loop_shape(&cores)?;
        dimensions.broadcast(&mut cores, &loop_shape)?;
        let shapes = dimensions.output_shapes(&loop_shape);
        <Self::Outputs as CoreResults<X::Loop, Self::OutputAxes>>::written(
            &module.stream(),
            &shapes,
            |targets| {
                let outputs = dimensions.outputs(&<Self::Outputs as Elements>::layouts(&targets))?;
                run::<Self, S, _>(module, &inputs, &cores, targets, &outputs)
            },
        )
    }

    /// Computes the function as [`apply`](Self::apply), into an array, or for several outputs a tuple of arrays (NumPy's `out=`). The axes of the arguments
    /// before those of cores are broadcast to those of the outputs.
    ///
    /// Elements have the values from before until the function writes them.
    ///
    /// ```
    /// # use gpu_std::{gufunc::*, prelude::*};
    /// # use gpukernel::{Device, Image};
    /// # use gpukernel_array::{Array, CoreFunction};
    /// # use gpukernel_image::{ImageWriter, Manifest};
    /// #[guvectorize("(n)->(),()")]
    /// pub fn ends(x: CoreView<f32, 1>) -> (f32, f32) {
    ///     (x[0], x[x.len() - 1])
    /// }
    ///
    /// # let mut manifest = Manifest::new("doc");
    /// # manifest.no_code = Some("this is an example".to_owned());
    /// # // SAFETY: it holds no code.
    /// # let KERNELS = unsafe { Image::from_bytes(ImageWriter::new(manifest).finish()) };
    /// # let device = Device::cpu();
    /// # let module = device.load(&KERNELS)?;
    /// let x = Array::from_shape_fn(&device, (2, 3), |(row, column)| (10 * row + column) as f32)?;
    /// let (mut first, mut last) = (Array::zeros(&device, 2)?, Array::zeros(&device, 2)?);
    /// ends::apply_into(&module, (&x,), (&mut first, &mut last))?;
    /// assert_eq!((first.to_vec()?, last.to_vec()?), (vec![0.0, 10.0], vec![2.0, 12.0]));
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// As there, and [`Error::LoopOfOutput`].
    #[track_caller]
    fn apply_into<'o, S, X>(module: &Module, args: X, out: impl CoreTargets<'o, Self::Outputs>) -> Result<()>
    where
        S: CoreScalars<Self::InputAxes>,
        X: CoreOperands<S, Self::InputAxes>,
        Self: Guvectorized<S>,
        Self::Outputs: OutputElements,
    {
        let inputs = args.inputs();
        let targets = out.targets();
        let mut dimensions = Dimensions::new(Self::NAME, Self::LAYOUT);
        let mut cores = dimensions.inputs(&sealed::Inputs::layouts(&inputs))?;
        let outputs = dimensions.outputs(&<Self::Outputs as Elements>::layouts(&targets))?;
        dimensions.broadcast(&mut cores, &dimensions.loop_of_outputs(&outputs)?)?;
        run::<Self, S, _>(module, &inputs, &cores, targets, &outputs)
    }
}

impl<F: GuvectorizedFunction> CoreFunction for F {}

/// Launches the kernel that fits the cores of inputs, which have been broadcast, and outputs.
#[track_caller]
fn run<'i, F, S, I>(
    module: &Module,
    inputs: &I,
    input_cores: &[Option<Cores>],
    mut targets: <F::Outputs as Elements>::Targets<'_>,
    output_cores: &[Cores],
) -> Result<()>
where
    S: CoreScalars<F::InputAxes>,
    F: Guvectorized<S>,
    F::Outputs: OutputElements,
    I: sealed::Inputs<'i, S>,
{
    let Some((first, others)) = output_cores.split_first() else { return Ok(()) };
    let calls = first.outer.len();
    if calls == 0 || output_cores.iter().all(|cores| cores.shape.contains(&0)) {
        return Ok(());
    }
    let arrays: Vec<&Cores> = output_cores.iter().chain(input_cores.iter().flatten()).collect();
    let others = others.iter().chain(input_cores.iter().flatten());
    let mut plan = Plan::new(&first.outer, others.map(|cores| &cores.outer));
    for (array, cores) in arrays.iter().enumerate() {
        cores.strides.iter().for_each(|&stride| plan.with_inner(array, stride));
    }
    let shapes: Vec<_> = arrays.iter().map(|cores| plan.shape_with_core(&cores.shape)).collect();
    let places = plan.arrays().iter().zip(&shapes).map(|(place, shape)| NdPlace::of(place, shape));
    let places: Vec<_> = places.collect();
    let (of_outputs, of_inputs) = places.split_at(output_cores.len());
    let is_contiguous = arrays.iter().all(|cores| cores.strides.last().is_none_or(|&stride| stride == 1));
    let config = match F::PER {
        Per::Thread => for_each_in_rounds(calls),
        Per::Warp => {
            let len =
                |cores: &&Cores| cores.shape.iter().fold(1, |len: usize, extent| len.saturating_mul(*extent));
            let longest = arrays.iter().map(len).max();
            of_warps(module, calls, longest.unwrap_or(1))
        }
        // A block makes one call: as many as fit no launch, of which that tells.
        Per::Block => for_each_tile(calls, 1),
    };
    let views = S::core_views::<gpukernel::ThisRuntime>(inputs.views(of_inputs)?);
    // A value has been refused where its core has axes.
    let views = views.ok_or_else(|| Error::TooFewAxes {
        what: format!("an argument of `{}`", F::NAME),
        shape: Vec::new(),
        core: F::LAYOUT.text.to_owned(),
        axes: 1,
    })?;
    let outputs = <F::Outputs as Elements>::views_mut(&mut targets, of_outputs)?;
    F::launch(Configured { module, config }, is_contiguous, views, outputs)
}

/// The launch of a kernel for so many calls, a warp each. On a GPU, warps make up to four where cores are short and calls many: what a warp does once takes longer than such a call.
fn of_warps(module: &Module, calls: usize, longest_core: usize) -> LaunchConfig {
    const LANES: usize = gpu_std::WARP_SIZE as usize;
    let calls_of_warp = match threads_of_gpu(module) {
        Some(threads) if longest_core <= 4 * LANES => (calls / (threads / LANES).max(1) / 2).clamp(1, 4),
        _ => 1,
    };
    for_each_in_rounds(calls.div_ceil(calls_of_warp).saturating_mul(LANES))
}

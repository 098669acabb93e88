//! What the host knows of kernels: typed handles, packed arguments, and the threads of the CPU device.
//!
//! The runtime crate `gpukernel` is built on this module; programs use that.

use crate::{
    Contract, DeviceCopy,
    contract::Declaration,
    shared::layout::is_large,
    signature::{Origin, Package, Signature},
    view::layout::{LayoutNd, LayoutPlane, ViewLayout},
};

mod args;
mod check;
mod cuda_c;
mod exit;
mod guvectorized;
mod import;
pub(crate) mod interior;
mod kernel_info;
mod module_table;
mod param_list;
mod pipelined;
mod printer;
mod requirement;
mod thread;
mod threads;
mod vectorized;

pub use crate::shared::layout::shared_layout;
pub use args::{ArgReader, JoinedPart, PackedArgs, PackedMemory};
pub use check::{Memory, Order, Touch};
pub(crate) use check::{Watch, order};
pub use exit::Exit;
pub(crate) use exit::exit;
pub use guvectorized::{
    CoreArgument, CoreAxes, CoreDim, CoreScalars, GufuncLayout, Guvectorized, GuvectorizedFunction,
    OutputScalars, Per,
};
#[doc(hidden)]
pub use import::Import;
pub use import::{HostCode, HostFunction, NoHostVersion};
#[doc(hidden)]
pub use interior::{Interior, ThreadGrid};
pub use kernel_info::{KernelInfo, RunThreads};
pub(crate) use module_table::value_of;
pub use module_table::{EnteredModule, ModuleTable, enter_module};
#[doc(hidden)]
pub use param_list::{ParamList, SharedList};
pub use pipelined::{
    CompactArgs, Parameter, Parameters, PipelineFunction, Pipelined, ReduceArgs, RowsArgs, ScanArgs,
};
pub use printer::{Printer, with_printer};
pub(crate) use printer::{in_printing_kernel, print};
pub use requirement::Unmet;
#[doc(hidden)]
pub use requirement::{known, unmet};
pub(crate) use thread::current;
pub use thread::{Barrier, BlockOps, ClusterContext, Meeting, Met, ThreadContext, Votes, set_current};
pub use threads::{Suspended, Threads};
pub use vectorized::{
    Launch, OrScalar, Scalars, Vectorized, VectorizedBinary, VectorizedFunction, is_aligned, plane_or_scalar,
};

/// The types with which a runtime stands for device memory.
pub trait Runtime: Sized + 'static {
    /// Elements in device memory; what `&Buffer<T>` derefs to.
    type Slice<T: DeviceCopy>: ?Sized + 'static;
    /// Elements in device memory, seen in a layout, borrowed for reading.
    type View<'a, T: DeviceCopy, S: ViewLayout>: 'a;
    /// The same, borrowed for writing.
    type ViewMut<'a, T: DeviceCopy, S: ViewLayout>: 'a;

    /// Where a slice lies.
    fn raw_slice<T: DeviceCopy>(slice: &Self::Slice<T>) -> RawSlice;
    /// Where a view lies, and how.
    fn raw_view<T: DeviceCopy, S: ViewLayout>(view: &Self::View<'_, T, S>) -> RawView<S>;
    /// The same, of one for writing.
    fn raw_view_mut<T: DeviceCopy, S: ViewLayout>(view: &Self::ViewMut<'_, T, S>) -> RawView<S>;
    /// A view of two axes at most, for kernels that find elements by fewer instructions; `None` if it is not one ([`LayoutPlane::new`]).
    fn plane<'a, T: DeviceCopy>(_: &Self::View<'a, T, LayoutNd>) -> Option<Self::View<'a, T, LayoutPlane>> {
        None
    }
    /// The same of a view for writing, which is returned if it is not one.
    fn plane_mut<'a, T: DeviceCopy>(
        view: Self::ViewMut<'a, T, LayoutNd>,
    ) -> Result<Self::ViewMut<'a, T, LayoutPlane>, Self::ViewMut<'a, T, LayoutNd>> {
        Err(view)
    }
}

/// Where elements lie in a device's address space.
#[derive(Clone, Copy, Debug)]
pub struct RawSlice {
    /// The address of the first, aligned for the element even if there is none.
    pub address: *mut u8,
    /// How many there are.
    pub len: usize,
    /// The size of each.
    pub element_bytes: usize,
    /// The number by which the runtime finds the allocation again. Kernels never see it.
    pub allocation: u32,
}

impl RawSlice {
    /// No element of this type, and no allocation.
    pub(crate) fn none<T>() -> Self {
        let address = core::ptr::dangling_mut::<T>().cast();
        Self { address, len: 0, element_bytes: size_of::<T>(), allocation: 0 }
    }
}

/// Where the elements of a view lie.
#[derive(Clone, Copy, Debug)]
pub struct RawView<S> {
    /// From the first to the last of them, elements between them included.
    pub slice: RawSlice,
    /// How they lie there.
    pub layout: S,
}

/// What a launch does to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It reads.
    Read,
    /// It writes, and may read.
    Write,
}

/// A kernel, as a launch takes it: the function that `#[kernel]` leaves under the kernel's name.
///
/// # Safety
/// Not to be implemented by hand.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kernel",
    label = "not a kernel",
    note = "pass the name of a function marked `#[kernel]`"
)]
pub unsafe trait Kernel: Copy + Send + Sync + 'static {
    /// What is the same for all its launches.
    const INFO: &'static KernelInfo;

    /// What a launch gives: a tuple with one argument per parameter, shared arrays left out.
    type Args<'a, R: Runtime>;

    /// Packs the arguments of a launch, after none: what [`PackedArgs::of`] makes for this kernel. In place, because it is more than a kilobyte.
    fn pack<R: Runtime>(args: Self::Args<'_, R>, packed: &mut PackedArgs);
}

/// What `#[kernel]` implements, for a type of its own that stands for the kernel.
///
/// It cannot be the type of the kernel's name: a unit struct would take that name from local variables everywhere, a
/// function does not. And the types of the parameters are named once, as `Params`, so that rustc complains of one once.
///
/// # Safety
/// The entry on the device takes the same parameters.
#[doc(hidden)]
#[allow(missing_docs, clippy::missing_safety_doc)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kernel",
    label = "not a kernel",
    note = "pass the name of a function marked `#[kernel]`"
)]
pub unsafe trait Body: Copy + Send + Sync + 'static {
    const NAME: &'static str;
    const ORIGIN: Origin;
    /// The package with that name: another than that of the origin where an instance has a name of its own.
    const PACKAGE: Package = Self::ORIGIN.package;
    const DECLARATION: Declaration;
    /// A tuple of the parameters that a launch gives.
    type Params<'k>: ParamList<'k>;
    /// A tuple of the shared arrays.
    type Shared<'k>: SharedList<'k>;
    /// Whether the shared arrays lie in dynamic shared memory on a GPU.
    const DYNAMIC_ARRAYS: bool = is_large(<Self::Shared<'static> as SharedList<'static>>::LAYOUTS);
    /// The contract, checked.
    const CONTRACT: Contract =
        Self::DECLARATION.contract(<Self::Params<'static> as ParamList<'static>>::DIMS);
    /// What it requires of arguments, which were packed for its parameters, and these do not meet.
    unsafe fn unmet(_: &PackedArgs) -> Option<Unmet> {
        None
    }
    /// Calls the function.
    unsafe fn call<'k>(params: Self::Params<'k>, shared: Self::Shared<'k>);
    /// [`run_threads`] of this kernel, as a function of the crate that declares the kernel.
    const RUN_THREADS: RunThreads;
}

/// Runs threads of a kernel, one after another.
///
/// # Safety
/// As for [`RunThreads`].
#[doc(hidden)]
#[inline(always)]
pub unsafe fn run_threads<B: Body>(args: &PackedArgs, threads: &Threads<'_>) {
    // SAFETY: as the caller promises.
    unsafe { <B::Params<'_> as ParamList<'_>>::run_threads::<B>(args, threads) };
}

// SAFETY: arguments are packed and read in the order of the parameters.
unsafe impl<F, B> Kernel for F
where
    F: Fn() -> B + Copy + Send + Sync + 'static,
    B: Body,
{
    const INFO: &'static KernelInfo = &KernelInfo {
        name: B::NAME,
        contract: B::CONTRACT,
        shared: <B::Shared<'static> as SharedList<'static>>::LAYOUTS,
        dynamic_arrays: B::DYNAMIC_ARRAYS,
        signature: Signature {
            name: B::NAME,
            package: B::PACKAGE,
            origin: B::ORIGIN,
            parameters: <B::Params<'static> as ParamList<'static>>::SIGNATURES,
            arrays: <B::Shared<'static> as SharedList<'static>>::LAYOUTS,
            dynamic_arrays: B::DYNAMIC_ARRAYS,
        },
        unmet: B::unmet,
        run_threads: B::RUN_THREADS,
    };

    type Args<'a, R: Runtime> = <B::Params<'a> as ParamList<'a>>::Args<R>;

    #[inline]
    fn pack<R: Runtime>(args: Self::Args<'_, R>, packed: &mut PackedArgs) {
        <B::Params<'_> as ParamList<'_>>::pack::<R>(args, packed);
    }
}

/// What `#[kernel]` implements for the handle of a generic kernel: a body but for the name, which an [`Instance`] has.
///
/// # Safety
/// As for [`Body`], of the instances.
#[doc(hidden)]
#[allow(missing_docs, clippy::missing_safety_doc)]
#[diagnostic::on_unimplemented(
    message = "this is not an instance of a generic kernel",
    label = "the generic parameters do not satisfy the bounds of the kernel"
)]
pub unsafe trait Template: Copy + Send + Sync + 'static {
    const ORIGIN: Origin;
    const DECLARATION: Declaration;
    /// [`ParamList`]s and [`SharedList`]s, of which bodies are made: not asked for here, or rustc would say of each mistake twice.
    type Params<'k>;
    type Shared<'k>;
    unsafe fn unmet(_: &PackedArgs) -> Option<Unmet> {
        None
    }
    unsafe fn call<'k>(params: Self::Params<'k>, shared: Self::Shared<'k>);
}

/// A template of a function that is not `unsafe`.
///
/// # Safety
/// As it says.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "this generic kernel is not one that can be launched safely",
    label = "declared as `unsafe fn`",
    note = "its instances are declared as `unsafe fn`, too: `instantiate!(pub unsafe fn name = kernel::<f32>)`"
)]
pub unsafe trait SafeTemplate: Template {}

/// Asks rustc whether a template is of a safe function.
#[doc(hidden)]
pub const fn assert_safe_template<T: SafeTemplate>() {}

/// A generic kernel with generic arguments for which there is device code, as `instantiate!` implements it.
///
/// # Safety
/// There is an entry of that name on the device, made of the same template.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "there is no device code for this instance of a generic kernel",
    label = "not declared for these generic arguments",
    note = "declare it in the kernel's crate: `gpu_std::instantiate!(kernel::<f32>);`",
    note = "or in another kernel crate, under a name of its own: `gpu_std::instantiate!(pub fn name = kernel::<f32>);`"
)]
pub unsafe trait Instance {
    /// Its path, crate first: `kernels::scale<f32>`.
    const NAME: &'static str;
    /// The package that declares the instance.
    const PACKAGE: Package;
    /// As [`Body::RUN_THREADS`].
    const RUN_THREADS: RunThreads;
}

/// A kernel whose launch needs no promise of the caller: one declared as `fn`, not `unsafe fn`.
///
/// # Safety
/// Not to be implemented by hand.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kernel that can be launched safely",
    note = "a kernel declared as `unsafe fn` is launched in `unsafe` code, with `launch_unsafe`"
)]
pub unsafe trait SafeKernel: Kernel {}

// SAFETY: the body says so.
unsafe impl<F, B> SafeKernel for F
where
    F: Fn() -> B + Copy + Send + Sync + 'static,
    B: SafeBody,
{
}

/// The body of a function that is not `unsafe`.
///
/// # Safety
/// As it says.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "this is not a kernel that can be launched safely",
    label = "not a kernel, or one declared as `unsafe fn`",
    note = "a kernel declared as `unsafe fn` is launched in `unsafe` code, with `launch_unsafe`"
)]
pub unsafe trait SafeBody: Body {}

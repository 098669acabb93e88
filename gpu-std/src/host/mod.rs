//! What the host knows of kernels: typed handles, packed arguments, and the threads of the CPU device.
//!
//! The runtime crate `gpukernel` is built on this module; programs use that.

use core::alloc::Layout;

use crate::{
    Contract, DeviceCopy,
    contract::Declaration,
    shared::{KernelScope, layout::is_large},
    signature::{Origin, Package, Signature},
    view::layout::ViewLayout,
};

mod args;
mod c;
mod check;
mod exit;
mod import;
mod known;
mod list;
mod module_table;
mod printer;
mod thread;

pub use crate::shared::layout::shared_layout;
pub use args::{ArgReader, PackedArgs};
pub use check::{Memory, Order, Touch};
pub(crate) use check::{Watch, order};
pub use exit::Exit;
pub(crate) use exit::exit;
#[doc(hidden)]
pub use import::Import;
pub use import::{HostCode, HostFunction, NoHostVersion};
pub use known::Unmet;
#[doc(hidden)]
pub use known::{known, unmet};
#[doc(hidden)]
pub use list::{ParamList, SharedList};
pub(crate) use module_table::value_of;
pub use module_table::{EnteredModule, ModuleTable, enter_module};
pub use printer::{Printer, with_printer};
pub(crate) use printer::{in_printing_kernel, print};
pub(crate) use thread::current;
pub use thread::{Barrier, BlockOps, ClusterContext, Meeting, Met, ThreadContext, Votes, set_current};

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
    /// Its path, crate first: `kernels::saxpy`.
    const NAME: &'static str;
    /// What its launches keep to.
    const CONTRACT: Contract;
    /// Its shared arrays in the order of its parameters.
    const SHARED: &'static [Layout];
    /// Whether these lie in dynamic shared memory on a GPU: because they are large, or the kernel is generic.
    const DYNAMIC_ARRAYS: bool;
    /// What the first launch compares with the image.
    const SIGNATURE: Signature;

    /// What a launch gives: a tuple with one argument per parameter, shared arrays left out.
    type Args<'a, R: Runtime>;

    /// Packs the arguments of a launch.
    fn pack<R: Runtime>(args: Self::Args<'_, R>) -> PackedArgs;

    /// What the contract requires of arguments (`requires`) and these do not meet, as it is written there.
    ///
    /// # Safety
    /// [`pack`](Self::pack) of this kernel packed them.
    unsafe fn unmet(args: &PackedArgs) -> Option<Unmet>;

    /// Runs the calling thread's part of a launch on the CPU.
    ///
    /// # Safety
    /// - A [`ThreadContext`] of a launch of this kernel with these arguments is current, and its `shared` points to storage by
    ///   [`PackedArgs::shared_on_host`] with all bytes initialised, used by the threads of one block only.
    /// - The launch keeps to [`CONTRACT`](Self::CONTRACT), its grid has less than 2³² threads along each axis and at most
    ///   `isize::MAX` in all, and each of them runs at most once.
    /// - The memory that the arguments point to is there and lent to the launch, and [`unmet`](Self::unmet) finds nothing.
    /// - Where the kernel is not a [`SafeKernel`]: what its function asks for.
    unsafe fn run_thread(args: &PackedArgs);
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
}

// SAFETY: arguments are packed and read in the order of the parameters.
unsafe impl<F, B> Kernel for F
where
    F: Fn() -> B + Copy + Send + Sync + 'static,
    B: Body,
{
    const NAME: &'static str = B::NAME;
    const CONTRACT: Contract = B::CONTRACT;
    const SHARED: &'static [Layout] = <B::Shared<'static> as SharedList<'static>>::LAYOUTS;
    const DYNAMIC_ARRAYS: bool = B::DYNAMIC_ARRAYS;
    const SIGNATURE: Signature = Signature {
        name: B::NAME,
        package: B::PACKAGE,
        origin: B::ORIGIN,
        parameters: <B::Params<'static> as ParamList<'static>>::SIGNATURES,
        arrays: Self::SHARED,
        dynamic_arrays: B::DYNAMIC_ARRAYS,
    };

    type Args<'a, R: Runtime> = <B::Params<'a> as ParamList<'a>>::Args<R>;

    fn pack<R: Runtime>(args: Self::Args<'_, R>) -> PackedArgs {
        let mut packed = PackedArgs::with_shared(Self::SHARED, Self::DYNAMIC_ARRAYS);
        <B::Params<'_> as ParamList<'_>>::pack::<R>(args, &mut packed);
        packed
    }

    unsafe fn unmet(args: &PackedArgs) -> Option<Unmet> {
        // SAFETY: as the caller promises.
        unsafe { B::unmet(args) }
    }

    #[inline]
    unsafe fn run_thread(args: &PackedArgs) {
        // SAFETY: the scope is dropped here, where the thread's part of the kernel ends. The caller promises all that
        // `assemble`, `enter` and the function ask for.
        unsafe {
            let scope = KernelScope::new();
            let shared = B::Shared::enter(&scope);
            B::call(B::Params::assemble(&mut args.reader()), shared);
        }
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
    type Params<'k>: ParamList<'k>;
    type Shared<'k>: SharedList<'k>;
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
}

// SAFETY: the instance has an entry of this template.
unsafe impl<T: Template + Instance> Body for T {
    const NAME: &'static str = <T as Instance>::NAME;
    const ORIGIN: Origin = <T as Template>::ORIGIN;
    const PACKAGE: Package = <T as Instance>::PACKAGE;
    const DECLARATION: Declaration = <T as Template>::DECLARATION;
    const DYNAMIC_ARRAYS: bool = true;
    type Params<'k> = <T as Template>::Params<'k>;
    type Shared<'k> = <T as Template>::Shared<'k>;

    unsafe fn unmet(args: &PackedArgs) -> Option<Unmet> {
        // SAFETY: as the caller promises.
        unsafe { <T as Template>::unmet(args) }
    }

    #[inline]
    unsafe fn call<'k>(params: Self::Params<'k>, shared: Self::Shared<'k>) {
        // SAFETY: as the caller promises.
        unsafe { <T as Template>::call(params, shared) }
    }
}

// SAFETY: the template says so.
unsafe impl<T: SafeTemplate + Instance> SafeBody for T {}

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

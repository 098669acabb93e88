//! Our memory lent to cudarc: what its wrappers of cuBLAS, cuFFT, cuRAND and others take.

use std::{cell::RefCell, fmt, marker::PhantomData, sync::Arc};

#[cfg(feature = "cufft")]
use cudarc::cufft::sys::{double2, float2};
use cudarc::driver::{
    self as theirs, DevicePtr, DevicePtrMut, LaunchArgs, PushKernelArg, SyncOnDrop, sys::CUdeviceptr,
};
#[cfg(feature = "cufft")]
use gpu_std::complex::Complex;
use gpu_std::{DeviceCopy, host::Access};
use smallvec::SmallVec;

use crate::{
    DeviceSlice, Error, Result, Stream,
    backend::{Any, OfDevice},
    cuda::{CudaMemory, CudaStream},
    memory::Allocation,
};

const WHAT: &str = "work of cudarc";

/// Memory, and what is done to it.
type Uses = SmallVec<[(Arc<CudaMemory>, Access); 4]>;

/// Lends memory to cudarc until the end of a scope: [`Stream::lend_to_cudarc`].
///
/// Views cannot leave the scope:
///
/// ```compile_fail
/// # fn test(stream: gpukernel::Stream, x: gpukernel::Buffer<f32>) -> gpukernel::Result<()> {
/// let mut kept = None;
/// stream.lend_to_cudarc(|scope| kept = scope.read(&x).ok())
/// # }
/// ```
///
/// Memory that is written is lent once, and stays borrowed until the scope ends:
///
/// ```compile_fail,E0499
/// # fn test(stream: gpukernel::Stream, mut x: gpukernel::Buffer<f32>) -> gpukernel::Result<()> {
/// stream.lend_to_cudarc(|scope| {
///     drop(scope.write(&mut x));
///     drop(scope.write(&mut x));
/// })
/// # }
/// ```
pub struct CudarcScope<'scope, 'env: 'scope> {
    ours: &'env Arc<CudaStream>,
    theirs: Arc<theirs::CudaStream>,
    lent: RefCell<Uses>,
    /// As those of [`std::thread::Scope`], neither lifetime may shrink or grow.
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

impl<'scope> CudarcScope<'scope, '_> {
    /// The stream as cudarc's, for plans and handles of libraries ([`Stream::to_cudarc`]).
    pub fn stream(&self) -> &Arc<theirs::CudaStream> {
        &self.theirs
    }

    /// Lends elements that cudarc reads.
    ///
    /// # Errors
    /// [`Error::WrongDevice`](crate::Error::WrongDevice), or what the driver says.
    pub fn read<T: DeviceCopy>(&'scope self, slice: &'scope DeviceSlice<T>) -> Result<CudarcView<'scope, T>> {
        self.lend(slice.allocation(), Access::Read)?;
        Ok(CudarcView { place: self.place(slice), elements: PhantomData })
    }

    /// Lends elements that cudarc reads and writes.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn write<T: DeviceCopy>(
        &'scope self,
        slice: &'scope mut DeviceSlice<T>,
    ) -> Result<CudarcViewMut<'scope, T>> {
        self.lend(slice.allocation(), Access::Write)?;
        Ok(CudarcViewMut { place: self.place(slice), elements: PhantomData })
    }

    fn place<T: DeviceCopy>(&'scope self, slice: &DeviceSlice<T>) -> Place<'scope> {
        Place { address: slice.address() as CUdeviceptr, len: slice.len(), stream: &self.theirs }
    }

    /// Lets the stream wait for what uses the memory.
    fn lend(&self, allocation: Option<&Allocation>, access: Access) -> Result<()> {
        let Some(allocation) = allocation else { return Ok(()) };
        let memory = allocation.on(OfDevice::device(self.ours), &|| WHAT.to_owned())?;
        self.ours.queue(&[(memory, access)], |_| ())?;
        self.lent.borrow_mut().push((Arc::clone(memory), access));
        Ok(())
    }

    /// Notes what was queued: between the beginning and now, others may have used other parts of the same memory, whose work the stream waits for, so that who
    /// waits for the stream waits for all.
    fn end(&self) -> Result<()> {
        let lent = self.lent.take();
        let uses: SmallVec<[_; 4]> = lent.iter().map(|(memory, access)| (memory, *access)).collect();
        self.ours.queue(&uses, |_| ()).or_else(|error| {
            self.ours.wait_for_all()?;
            Err(error)
        })
    }
}

impl fmt::Debug for CudarcScope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CudarcScope").field("stream", &self.theirs.cu_stream()).finish_non_exhaustive()
    }
}

/// Ends a scope, also if its code panics.
struct End<'a, 'scope, 'env>(&'a CudarcScope<'scope, 'env>);

impl Drop for End<'_, '_, '_> {
    fn drop(&mut self) {
        // The code panicked. If this fails, the context is lost, and with it the work.
        let _ = self.0.end();
    }
}

impl Stream {
    /// Runs `code`, which can lend memory to cudarc: its wrappers of cuBLAS, cuFFT, cuRAND, NCCL and others take the views that
    /// [`CudarcScope`] gives, and queue work. It is ordered with all other work on the same memory, and nothing waits for it here.
    ///
    /// Libraries queue on the stream that their plan or handle was made with: best this one ([`to_cudarc`](Self::to_cudarc)). On another one, which waits for
    /// this one, each call waits for its work.
    ///
    /// ```no_run
    /// use gpukernel::{Device, Error};
    ///
    /// let device = Device::gpu(0)?;
    /// let stream = device.stream()?;
    /// let mut zeros = device.filled(1000, 1.0_f32)?;
    /// stream.lend_to_cudarc(|scope| {
    ///     let mut zeros = scope.write(&mut zeros)?;
    ///     scope.stream().memset_zeros(&mut zeros).expect("the GPU is there");
    ///     Ok::<(), Error>(())
    /// })??;
    /// assert_eq!(zeros.to_vec()?, [0.0; 1000]);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NeedsGpu`] on the CPU device, [`Error::NotCapturable`] on a stream that is being captured, or what the driver says. What `code` returns is
    /// inside.
    #[doc(
        alias = "CudaView",
        alias = "CudaViewMut",
        alias = "DevicePtr",
        alias = "cublasSetStream",
        alias = "cufftSetStream",
        alias = "curandSetStream"
    )]
    pub fn lend_to_cudarc<'env, R>(
        &'env self,
        code: impl for<'scope> FnOnce(&'scope CudarcScope<'scope, 'env>) -> R,
    ) -> Result<R> {
        self.not_captured(WHAT)?;
        let Any::Cuda(ours) = &self.backend else {
            return Err(Error::NeedsGpu { what: WHAT.to_owned(), device: self.device().to_string() });
        };
        let theirs = ours.to_cudarc()?;
        let scope =
            CudarcScope { ours, theirs, lent: RefCell::default(), scope: PhantomData, env: PhantomData };
        let end = End(&scope);
        let result = code(&scope);
        std::mem::forget(end);
        scope.end().map(|()| result)
    }
}

/// Elements that are lent.
#[derive(Clone, Copy)]
struct Place<'scope> {
    address: CUdeviceptr,
    len: usize,
    /// The stream that is ordered with other work on them.
    stream: &'scope Arc<theirs::CudaStream>,
}

impl Place<'_> {
    /// The address for work on `stream`, and what orders it.
    fn on<'a>(&'a self, stream: &'a theirs::CudaStream) -> (CUdeviceptr, SyncOnDrop<'a>) {
        if *stream == **self.stream {
            return (self.address, SyncOnDrop::Record(None));
        }
        let joined = stream.join(self.stream).or_else(|_| self.stream.synchronize());
        // As cudarc's own types do, whose next call returns it.
        stream.context().record_err(joined);
        (self.address, SyncOnDrop::sync_stream(stream))
    }
}

/// Elements that cudarc reads: a [`DevicePtr`] of its, from [`CudarcScope::read`].
///
/// Complex numbers are those of cuFFT, too, with the feature `cufft`.
#[doc(alias = "CudaView", alias = "DevicePtr")]
pub struct CudarcView<'scope, T> {
    place: Place<'scope>,
    elements: PhantomData<&'scope [T]>,
}

/// Elements that cudarc reads and writes: a [`DevicePtrMut`] of its, from [`CudarcScope::write`].
///
/// Complex numbers are those of cuFFT, too, with the feature `cufft`.
#[doc(alias = "CudaViewMut", alias = "DevicePtrMut")]
pub struct CudarcViewMut<'scope, T> {
    place: Place<'scope>,
    elements: PhantomData<&'scope mut [T]>,
}

/// The traits of cudarc, for elements of type `$as`, which have the layout and the values of `$element`.
macro_rules! pointers {
    ([$($generic:tt)?] $element:ty as $as:ty) => {
        pointers!(@shared [$($generic)?] CudarcView<'_, $element> as $as);
        pointers!(@shared [$($generic)?] CudarcViewMut<'_, $element> as $as);

        impl<$($generic)?> DevicePtrMut<$as> for CudarcViewMut<'_, $element> {
            fn device_ptr_mut<'a>(&'a mut self, stream: &'a theirs::CudaStream) -> (CUdeviceptr, SyncOnDrop<'a>) {
                self.place.on(stream)
            }
        }
    };
    (@shared [$($generic:tt)?] $view:ty as $as:ty) => {
        impl<$($generic)?> theirs::DeviceSlice<$as> for $view {
            fn len(&self) -> usize {
                self.place.len
            }

            fn stream(&self) -> &Arc<theirs::CudaStream> {
                self.place.stream
            }
        }

        impl<$($generic)?> DevicePtr<$as> for $view {
            fn device_ptr<'a>(&'a self, stream: &'a theirs::CudaStream) -> (CUdeviceptr, SyncOnDrop<'a>) {
                self.place.on(stream)
            }
        }
    };
}

pointers!([T] T as T);
#[cfg(feature = "cufft")]
pointers!([] Complex<f32> as float2);
#[cfg(feature = "cufft")]
pointers!([] Complex<f64> as double2);

#[cfg(feature = "cufft")]
const _: () = {
    assert!(
        size_of::<Complex<f32>>() == size_of::<float2>()
            && align_of::<Complex<f32>>() == align_of::<float2>()
    );
    assert!(
        size_of::<Complex<f64>>() == size_of::<double2>()
            && align_of::<Complex<f64>>() == align_of::<double2>()
    );
};

// SAFETY: the address lies in the view, which is borrowed as long as the arguments.
unsafe impl<'a, 'b: 'a, T> PushKernelArg<&'b CudarcView<'_, T>> for LaunchArgs<'a> {
    fn arg(&mut self, view: &'b CudarcView<'_, T>) -> &mut Self {
        self.arg(&view.place.address)
    }
}

// SAFETY: as above.
unsafe impl<'a, 'b: 'a, T> PushKernelArg<&'b mut CudarcViewMut<'_, T>> for LaunchArgs<'a> {
    fn arg(&mut self, view: &'b mut CudarcViewMut<'_, T>) -> &mut Self {
        self.arg(&view.place.address)
    }
}

impl<T> fmt::Debug for CudarcView<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CudarcView").field("len", &self.place.len).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for CudarcViewMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CudarcViewMut").field("len", &self.place.len).finish_non_exhaustive()
    }
}

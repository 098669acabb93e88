//! Copies between host and device that run beside other work, and are over at the end of a scope.

use std::{fmt, marker::PhantomData, ops::Deref};

use gpu_std::DeviceCopy;

use crate::{
    DeviceSlice, Result, Stream,
    backend::{BackendStream, each},
    slice::same_length,
};

/// Where copies are queued that end with the scope: [`Stream::scope`]. Derefs to the [`Stream`].
pub struct Scope<'scope, 'env: 'scope> {
    stream: &'env Stream,
    /// As that of [`std::thread::Scope`], neither lifetime may shrink or grow.
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

impl<'scope> Scope<'scope, '_> {
    /// Queues a copy of `from` to a slice of the host of the same length, which is borrowed until the scope ends (`cudaMemcpyAsync`). Beside other
    /// work it runs only if the memory is [pinned](crate::Device::pinned).
    ///
    /// # Errors
    /// As [`Stream::copy_to_host`].
    #[doc(alias = "cudaMemcpyAsync", alias = "cuMemcpyDtoHAsync")]
    pub fn copy_to_host<T: DeviceCopy>(
        &'scope self,
        from: &DeviceSlice<T>,
        to: &'scope mut [T],
    ) -> Result<()> {
        same_length(from.len(), to.len())?;
        // SAFETY: the slice has room for as many elements, and is borrowed until the scope has waited for the stream.
        unsafe { from.queue_copy_to(Some(self.stream), to.as_mut_ptr()) }
    }

    /// Queues a copy of a slice of the host, which is borrowed until the scope ends, to `to`, of the same length (`cudaMemcpyAsync`). Beside other work it
    /// runs only if the memory is [pinned](crate::Device::pinned).
    ///
    /// # Errors
    /// As [`Stream::copy_to_device`].
    #[doc(alias = "cudaMemcpyAsync", alias = "cuMemcpyHtoDAsync")]
    pub fn copy_to_device<T: DeviceCopy>(
        &'scope self,
        from: &'scope [T],
        to: &mut DeviceSlice<T>,
    ) -> Result<()> {
        same_length(from.len(), to.len())?;
        // SAFETY: there are as many elements, which nobody writes until the scope has waited for the stream.
        unsafe { to.queue_copy_from(Some(self.stream), from.as_ptr()) }
    }
}

impl Deref for Scope<'_, '_> {
    type Target = Stream;

    fn deref(&self) -> &Stream {
        self.stream
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").field("device", &self.stream.device()).finish_non_exhaustive()
    }
}

/// Waits for a stream when it is dropped.
struct Wait<'s>(&'s Stream);

impl Wait<'_> {
    fn wait(&self) -> Result<()> {
        each!(&self.0.backend, stream => stream.synchronize())
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        // The code of the scope panicked. If this fails, the context is lost, and with it the work.
        let _ = self.wait();
    }
}

impl Stream {
    /// Runs `code`, which may queue copies from and to the host's memory on this stream without waiting for them, and then waits for the stream: like
    /// [`std::thread::scope`], so that the memory can be borrowed until the copies are done.
    ///
    /// ```
    /// let device = gpukernel::Device::cpu();
    /// let stream = device.stream()?;
    /// let (mut input, mut output) = (device.pinned::<f32>(4)?, device.pinned::<f32>(4)?);
    /// input.fill(1.5);
    /// let mut buffer = stream.zeroed::<f32>(4)?;
    /// stream.scope(|scope| {
    ///     scope.copy_to_device(&input, &mut buffer)?;
    ///     // … launches, on this stream and others, while the copies run
    ///     scope.copy_to_host(&buffer, &mut output)
    /// })?;
    /// assert_eq!(*output, [1.5; 4]);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// What `code` returns, else as [`synchronize`](Self::synchronize). [`Error::NotCapturable`](crate::Error::NotCapturable) on a stream that is being captured.
    #[doc(alias = "cudaMemcpyAsync")]
    pub fn scope<'env, R>(
        &'env self,
        code: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> Result<R>,
    ) -> Result<R> {
        self.not_captured("a scope of copies")?;
        // At the end it must, or the copies would outlive what is borrowed.
        each!(&self.backend, stream => stream.check_wait()?);
        let wait = Wait(self);
        let scope = Scope { stream: self, scope: PhantomData, env: PhantomData };
        let result = code(&scope);
        let waited = wait.wait();
        std::mem::forget(wait);
        let result = result?;
        waited.map(|()| result)
    }
}

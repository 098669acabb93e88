//! Copies that own the memory of the host until they are done.

use std::{
    fmt,
    future::{Future, IntoFuture},
    mem::ManuallyDrop,
    pin::Pin,
    task::{Context, Poll},
};

use gpu_std::DeviceCopy;

use crate::{DeviceSlice, Event, EventFuture, PinnedBuffer, Result, Stream, slice::same_length};

/// A copy between a device and a [`PinnedBuffer`], which it owns until it is done: [`wait`](Self::wait) for it, or `.await` it, to have the buffer back.
///
/// Dropped, it waits; leaked, the buffer is leaked with it.
#[must_use = "dropped, it waits for the copy"]
pub struct Transfer<T: DeviceCopy> {
    buffer: ManuallyDrop<PinnedBuffer<T>>,
    event: Event,
}

impl<T: DeviceCopy> Transfer<T> {
    fn new(
        stream: &Stream,
        mut buffer: PinnedBuffer<T>,
        copy: impl FnOnce(&mut PinnedBuffer<T>) -> Result<()>,
    ) -> Result<Self> {
        copy(&mut buffer)?;
        // Not dropped before the copy is over: if there is no event to wait for, never.
        let buffer = ManuallyDrop::new(buffer);
        Ok(Self { event: stream.record()?, buffer })
    }

    /// Whether the copy is done, without waiting.
    ///
    /// # Errors
    /// As [`Event::is_done`].
    pub fn is_done(&self) -> Result<bool> {
        self.event.is_done()
    }

    /// Waits for the copy, and gives the buffer back.
    ///
    /// # Errors
    /// As [`Event::synchronize`]; the buffer is lost then.
    pub fn wait(self) -> Result<PinnedBuffer<T>> {
        self.event.synchronize()?;
        Ok(self.into_buffer())
    }

    /// The buffer of a copy that is done.
    fn into_buffer(self) -> PinnedBuffer<T> {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: both are taken once, and not dropped otherwise.
        unsafe {
            std::ptr::drop_in_place(&raw mut this.event);
            ManuallyDrop::take(&mut this.buffer)
        }
    }
}

impl<T: DeviceCopy> Drop for Transfer<T> {
    fn drop(&mut self) {
        if self.event.wait().is_ok() {
            // SAFETY: this is the end of its only owner, and the copy is done.
            unsafe { ManuallyDrop::drop(&mut self.buffer) };
        }
    }
}

impl<T: DeviceCopy> fmt::Debug for Transfer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transfer").field("len", &self.buffer.len()).field("event", &self.event).finish()
    }
}

/// What `transfer.await` waits by.
#[must_use = "a future does nothing unless it is awaited"]
pub struct TransferFuture<T: DeviceCopy> {
    transfer: Option<Transfer<T>>,
    done: EventFuture,
}

// Nothing of it is pinned: the buffer's elements are elsewhere.
impl<T: DeviceCopy> Unpin for TransferFuture<T> {}

impl<T: DeviceCopy> Future for TransferFuture<T> {
    type Output = Result<PinnedBuffer<T>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.done).poll(context).map(|done| {
            done?;
            let transfer = self.transfer.take();
            Ok(transfer.expect("a future is not polled after it was ready").into_buffer())
        })
    }
}

impl<T: DeviceCopy> fmt::Debug for TransferFuture<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TransferFuture").field("transfer", &self.transfer).finish_non_exhaustive()
    }
}

impl<T: DeviceCopy> IntoFuture for Transfer<T> {
    type Output = Result<PinnedBuffer<T>>;
    type IntoFuture = TransferFuture<T>;

    fn into_future(self) -> TransferFuture<T> {
        let done = self.event.clone().into_future();
        TransferFuture { transfer: Some(self), done }
    }
}

impl Stream {
    /// Queues a copy of `from` to pinned memory of the same length, which the copy owns until it is done (`cudaMemcpyAsync`).
    ///
    /// ```
    /// let device = gpukernel::Device::cpu();
    /// let stream = device.stream()?;
    /// let numbers = stream.filled(100, 1.5_f32)?;
    /// let copy = stream.copy_to_pinned(&numbers, device.pinned(100)?)?;
    /// // … other work; in an async function, `copy.await?`
    /// assert_eq!(*copy.wait()?, [1.5; 100]);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`copy_to_host`](Self::copy_to_host); the buffer is lost then.
    #[doc(alias = "cudaMemcpyAsync", alias = "cuMemcpyDtoHAsync")]
    pub fn copy_to_pinned<T: DeviceCopy>(
        &self,
        from: &DeviceSlice<T>,
        to: PinnedBuffer<T>,
    ) -> Result<Transfer<T>> {
        self.not_captured("a copy to pinned memory, except by `Capture::copy_to_pinned`,")?;
        same_length(from.len(), to.len())?;
        // SAFETY: there is room for as many elements, and the transfer owns them until the copy is done.
        Transfer::new(self, to, |to| unsafe { from.queue_copy_to(Some(self), to.as_mut_ptr()) })
    }

    /// Queues a copy of pinned memory, which the copy owns until it is done, to `to` of the same length (`cudaMemcpyAsync`).
    ///
    /// ```
    /// let device = gpukernel::Device::cpu();
    /// let stream = device.stream()?;
    /// let mut numbers = stream.zeroed::<f32>(100)?;
    /// let mut pinned = device.pinned(100)?;
    /// pinned.fill(1.5);
    /// let pinned = stream.copy_from_pinned(pinned, &mut numbers)?.wait()?;
    /// assert_eq!(numbers.to_vec()?, *pinned);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`copy_to_device`](Self::copy_to_device); the buffer is lost then.
    #[doc(alias = "cudaMemcpyAsync", alias = "cuMemcpyHtoDAsync")]
    pub fn copy_from_pinned<T: DeviceCopy>(
        &self,
        from: PinnedBuffer<T>,
        to: &mut DeviceSlice<T>,
    ) -> Result<Transfer<T>> {
        self.not_captured("a copy from pinned memory, except by `Capture::copy_from_pinned`,")?;
        same_length(from.len(), to.len())?;
        // SAFETY: there are as many elements, which the transfer owns until the copy is done.
        Transfer::new(self, from, |from| unsafe { to.queue_copy_from(Some(self), from.as_ptr()) })
    }
}

//! Several devices: copies between them.

use gpu_std::{DeviceCopy, host::Access};

use crate::{
    Device, DeviceSlice, Error, Result, Stream,
    backend::{Any, BackendMemory},
    cuda::peer,
    slice::same_length,
};

impl Device {
    /// Whether this GPU can use the memory of another one without a detour through the host's (`cudaDeviceCanAccessPeer`); false on the CPU device.
    ///
    /// ```
    /// let cpu = gpukernel::Device::cpu();
    /// assert!(!cpu.can_access_peer(&cpu)?);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Driver`] or [`Error::ContextLost`].
    #[doc(alias = "cudaDeviceCanAccessPeer", alias = "cuDeviceCanAccessPeer")]
    pub fn can_access_peer(&self, peer: &Device) -> Result<bool> {
        match (&self.backend, &peer.backend) {
            (Any::Cuda(device), Any::Cuda(other)) if self != peer => device.can_access(other),
            _ => Ok(false),
        }
    }

    /// Lets this GPU use the memory of another one (`cudaDeviceEnablePeerAccess`), until the program ends: copies between them then go from one to the other, without the
    /// host, and kernels of this GPU, in graphs too, read and write buffers of the other. Work on both is ordered as on one. Again has no effect.
    ///
    /// ```no_run
    /// use gpu_std::prelude::*;
    /// use gpukernel::{Device, for_each};
    /// # use gpukernel::Image;
    /// # fn image() -> Image { unimplemented!() }
    ///
    /// #[kernel]
    /// pub fn saxpy(a: f32, x: &[f32], y: PerThread<f32>) {
    ///     for (i, y) in y {
    ///         *y += a * x[i];
    ///     }
    /// }
    ///
    /// # let KERNELS = image();
    /// let (first, second) = (Device::gpu(0)?, Device::gpu(1)?);
    /// if first.can_access_peer(&second)? {
    ///     first.enable_peer_access(&second)?;
    /// }
    /// let (x, mut y) = (second.filled(1000, 1.0_f32)?, first.zeroed::<f32>(1000)?);
    /// // On the first GPU, after the fill on the second one.
    /// first.load(&KERNELS)?.launch(saxpy, for_each(1000), (2.0, &x, &mut y))?;
    /// assert_eq!(y.to_vec()?, [2.0; 1000]);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// Kernels may use what is from the other device's own allocator, [managed](Self::managed) and [mapped](Self::mapped) memory, and what is from an allocator that
    /// [says so](crate::allocator::DeviceAllocator::is_accessible_from); not memory of other libraries and processes. A launch with other memory of another GPU is
    /// [`Error::NotAccessible`]. What a kernel reports (a panic, say) is an error of who waits for its own device.
    ///
    /// # Errors
    /// [`Error::NoPeerAccess`] if it cannot, [`Error::Driver`] or [`Error::ContextLost`].
    #[doc(
        alias = "cudaDeviceEnablePeerAccess",
        alias = "cuCtxEnablePeerAccess",
        alias = "cudaMemPoolSetAccess"
    )]
    pub fn enable_peer_access(&self, peer: &Device) -> Result<()> {
        match (&self.backend, &peer.backend) {
            (Any::Cuda(device), Any::Cuda(other)) if self != peer => device.enable_access(other),
            _ => Err(Error::NoPeerAccess { device: self.to_string(), peer: peer.to_string() }),
        }
    }
}

impl Stream {
    /// Copies `from` to `to`, of the same length, each on any device (`cudaMemcpyPeerAsync`). Between GPUs it is queued on this stream, which is one of theirs; where one of
    /// the devices is the CPU it waits.
    ///
    /// ```
    /// let device = gpukernel::Device::cpu();
    /// let (from, mut to) = (device.upload(&[1, 2, 3])?, device.zeroed::<i32>(3)?);
    /// device.default_stream().copy_peer(&from, &mut to)?;
    /// assert_eq!(to.to_vec()?, [1, 2, 3]);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], [`Error::WrongDevice`] if neither is of the stream's device, [`Error::NotCapturable`], or what the driver says.
    #[doc(alias = "cudaMemcpyPeerAsync", alias = "cudaMemcpyPeer", alias = "cuMemcpyPeerAsync")]
    pub fn copy_peer<T: DeviceCopy>(&self, from: &DeviceSlice<T>, to: &mut DeviceSlice<T>) -> Result<()> {
        const DOING: &str = "a copy between devices";
        same_length(from.len(), to.len())?;
        self.not_captured(DOING)?;
        let (Some(source), Some(target)) = (from.allocation(), to.allocation()) else { return Ok(()) };
        let (source_device, target_device, own) = (source.device(), target.device(), self.device());
        if source_device == target_device {
            return self.copy(from, to);
        }
        if own != source_device && own != target_device {
            return Err(source.wrong_device(&own, &|| DOING.to_owned()));
        }
        let bytes = size_of::<T>() * from.len();
        match (&self.backend, &source.memory, &target.memory) {
            (Any::Cuda(stream), Any::Cuda(source), Any::Cuda(target)) => {
                // SAFETY: both slices have that many bytes, one of them borrowed for writing.
                unsafe { peer::copy(stream, (target, to.address()), (source, from.address()), bytes) }
            }
            // The CPU device's memory is the program's.
            (_, Any::Cpu(memory), _) => {
                memory.wait(Access::Read)?;
                // SAFETY: there are as many elements, which are borrowed until the copy is done.
                unsafe { to.copy_from_raw(Some(self).filter(|_| own == target_device), from.as_ptr()) }
            }
            _ => {
                if let Any::Cpu(memory) = &target.memory {
                    memory.wait(Access::Write)?;
                }
                // SAFETY: there is room for as many elements, which are borrowed for writing until the copy is done.
                unsafe { from.copy_to_raw(Some(self).filter(|_| own == source_device), to.as_mut_ptr()) }
            }
        }
    }
}

//! What all algorithms share: kernels, a stream, and memory for a while.

use bytemuck::Zeroable;
use gpu_std::{
    DeviceCopy,
    host::{Kernel, SafeKernel},
};
use gpukernel::{Buffer, Device, DeviceSlice, Extents, LaunchConfig, Module, Stream, ThisRuntime};
use gpukernel_algorithms_kernels::{BLOCK, Element, Launch, RESIDENT_BLOCKS, tile_len};

use crate::{Error, Result, shipped};

/// The most blocks of a launch: 32 bits count their threads.
pub(crate) const MOST_BLOCKS: usize = 1 << 23;

/// Algorithms over device memory, on a stream of a device.
///
/// Work is queued, and ordered by the memory that it uses, as launches are; only methods that return a number or values to the host wait for it. Memory
/// that an algorithm needs for a while is allocated and freed in the order of the stream.
///
/// ```
/// use gpukernel::Device;
/// use gpukernel_algorithms::{Algorithms, Max};
///
/// let device = Device::cpu();
/// let stream = device.stream()?;
/// let on_stream = Algorithms::new(&device)?.on(&stream);
/// assert_eq!(on_stream.reduce(&stream.upload(&[1.5, 2.5, -1.0])?, Max)?, 2.5);
/// # Ok::<(), gpukernel_algorithms::Error>(())
/// ```
#[doc(alias = "cub", alias = "thrust", alias = "cuda.compute")]
#[derive(Clone, Debug)]
pub struct Algorithms {
    device: Device,
    stream: Stream,
    shipped: Module,
    module: Option<Module>,
}

impl Algorithms {
    /// Algorithms on the default stream of a device, with the kernels that ship, which are loaded when they are first used on the device.
    ///
    /// # Errors
    /// As [`Device::load`].
    pub fn new(device: &Device) -> Result<Self> {
        let stream = device.default_stream();
        Ok(Self { device: device.clone(), stream, shipped: shipped::KERNELS.on(device)?, module: None })
    }

    /// The same on another stream of the device: launches with one of another device are refused.
    ///
    /// ```
    /// use gpukernel::Device;
    /// use gpukernel_algorithms::Algorithms;
    ///
    /// let device = Device::cpu();
    /// let algorithms = Algorithms::new(&device)?.on(&device.stream()?);
    /// assert_eq!(algorithms.stream().device(), *algorithms.device());
    /// # Ok::<(), gpukernel_algorithms::Error>(())
    /// ```
    #[must_use]
    #[doc(alias = "par_on")]
    pub fn on(mut self, stream: &Stream) -> Self {
        self.stream = stream.clone();
        self
    }

    /// The same with the module of a kernel crate, for the instances that it declares.
    ///
    /// ```
    /// # use gpukernel::{Device, Image};
    /// # use gpukernel_image::{ImageWriter, Manifest};
    /// # mod kernels {
    /// // In the kernel crate:
    /// use gpu_std::prelude::collective::Operator;
    /// use gpukernel_algorithms_kernels::{Identity, reduction};
    ///
    /// /// Adds numbers modulo 360.
    /// #[derive(Clone, Copy, Debug, Default)]
    /// pub struct SumOfAngles;
    ///
    /// impl Operator<u32> for SumOfAngles {
    ///     fn combine(&self, a: u32, b: u32) -> u32 {
    ///         (a + b) % 360
    ///     }
    /// }
    ///
    /// impl Identity<u32> for SumOfAngles {
    ///     const IDENTITY: u32 = 0;
    /// }
    ///
    /// reduction! {
    ///     pub mod sum_of_angles = SumOfAngles of u32;
    /// }
    /// # }
    ///
    /// // In the program:
    /// use gpukernel_algorithms::Algorithms;
    /// # use kernels::SumOfAngles;
    ///
    /// # let mut manifest = Manifest::new("doc");
    /// # manifest.no_code = Some("this is an example".to_owned());
    /// # // SAFETY: it holds no code.
    /// # let KERNELS = unsafe { Image::from_bytes(ImageWriter::new(manifest).finish()) };
    /// let device = Device::cpu();
    /// let algorithms = Algorithms::new(&device)?.with_module(&device.load(&KERNELS)?);
    /// assert_eq!(algorithms.reduce(&device.upload(&[300, 70, 10])?, SumOfAngles)?, 20);
    /// # Ok::<(), gpukernel_algorithms::Error>(())
    /// ```
    #[must_use]
    pub fn with_module(mut self, module: &Module) -> Self {
        self.module = Some(module.clone());
        self
    }

    /// The device, as in the example of [`on`](Self::on).
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The stream, as in the example of [`on`](Self::on).
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// A launch of so many blocks.
    pub(crate) fn blocks(&self, blocks: usize) -> Blocks<'_> {
        self.grid(blocks)
    }

    /// A launch of a grid of blocks.
    pub(crate) fn grid(&self, blocks: impl Into<Extents>) -> Blocks<'_> {
        Blocks { algorithms: self, blocks: blocks.into() }
    }

    /// A launch of threads for so many elements, of which each takes several where they are more than a launch has threads.
    pub(crate) fn threads(&self, elements: usize) -> Blocks<'_> {
        self.blocks(elements.div_ceil(BLOCK).min(MOST_BLOCKS))
    }

    /// As [`threads`](Self::threads), where on a GPU each takes several if there are many more than run at once: for kernels that only write, which then write faster.
    pub(crate) fn few_threads(&self, elements: usize) -> Blocks<'_> {
        /// For each multiprocessor, which runs eight at once.
        const BLOCKS: usize = 32;
        if !self.device.is_gpu() {
            return self.threads(elements);
        }
        let most = self.device.limits().multiprocessors as usize * BLOCKS;
        self.blocks(elements.div_ceil(BLOCK).min(most))
    }

    /// Whether arrays of a block may have 100 KiB.
    pub(crate) fn has_large_blocks(&self) -> bool {
        self.device.is_gpu() && self.device.limits().max_shared_bytes_per_block >= 100 << 10
    }

    /// The number of blocks that take the tiles of so many elements in turns, with so many in a vector: as many as run at once, none of which waits for
    /// others to end. Only for kernels whose results do not depend on it.
    pub(crate) fn resident_blocks(&self, elements: usize, lanes: usize) -> usize {
        let resident = match self.device.is_gpu() {
            true => self.device.limits().multiprocessors as usize * RESIDENT_BLOCKS as usize,
            // Of which each counts less than 2³² keys, as blocks of a GPU do, whose memory is smaller.
            false => 1024,
        };
        elements.div_ceil(tile_len(lanes)).min(resident)
    }

    /// The number of blocks, at most [`resident_blocks`](Self::resident_blocks), that have the same number of tiles each, but for the last: with all of those, a few
    /// would have one tile more, and too few loads would be under way while these end.
    pub(crate) fn even_blocks(&self, elements: usize, lanes: usize) -> usize {
        let tiles = elements.div_ceil(tile_len(lanes));
        tiles.div_ceil(tiles.div_ceil(self.resident_blocks(elements, lanes).max(1)).max(1))
    }

    /// Memory for a while, in which a kernel writes what it or others read.
    pub(crate) fn temporary<T: DeviceCopy + Zeroable>(&self, len: usize) -> Result<Buffer<T>> {
        // As results of functions of arrays: a kernel that panics may leave it unwritten, and then it has bytes in memory of a GPU only.
        Ok(if T::ANY_BYTES && self.device.is_gpu() {
            // SAFETY: the memory of a GPU has bytes, any of which are values of `T`.
            unsafe { self.stream.uninit::<T>(len)?.assume_init() }
        } else {
            self.stream.zeroed(len)?
        })
    }

    /// Calls `work` with memory for a while that kernels find zeroed, as [`Module::__with_zeros`].
    pub(crate) fn with_zeros<A: Element, B: Element>(
        &self,
        lens: [usize; 2],
        work: impl FnOnce(&mut DeviceSlice<A>, &mut DeviceSlice<B>) -> Result<()>,
    ) -> Result<()> {
        self.shipped.__with_zeros(&self.stream, lens, work)?
    }

    /// The same, with the state of blocks that wait for each other.
    pub(crate) fn with_state(
        &self,
        len: usize,
        work: impl FnOnce(&mut DeviceSlice<u64>) -> Result<()>,
    ) -> Result<()> {
        self.with_zeros::<_, u64>([len, 0], |state, _| work(state))
    }

    /// Copies one element to the host, and waits for it.
    pub(crate) fn read<T: DeviceCopy + Zeroable>(&self, from: &DeviceSlice<T>) -> Result<T> {
        let mut value = [T::zeroed()];
        self.stream.copy_to_host(from, &mut value)?;
        Ok(value[0])
    }
}

/// A launch of blocks of as many threads as the kernel is made for.
pub(crate) struct Blocks<'a> {
    algorithms: &'a Algorithms,
    blocks: Extents,
}

impl Blocks<'_> {
    fn config<K: Kernel>(&self) -> LaunchConfig {
        let threads = match K::INFO.contract.block {
            [0, ..] => BLOCK,
            [threads, ..] => threads as usize,
        };
        LaunchConfig::new(self.blocks, threads)
    }

    /// The module that has a kernel.
    fn module<K: Kernel>(&self) -> Result<&Module> {
        let Algorithms { shipped, module, .. } = self.algorithms;
        if K::INFO.name.starts_with(shipped::CRATE) {
            return Ok(shipped);
        }
        module.as_ref().ok_or(Error::NoModule { kernel: K::INFO.name })
    }
}

impl Launch for Blocks<'_> {
    type Runtime = ThisRuntime;
    type Output = Result<()>;

    fn ahead(&self, halves: usize) -> usize {
        let device = &self.algorithms.device;
        if device.is_gpu() { device.limits().multiprocessors as usize * halves / 2 } else { 0 }
    }

    #[track_caller]
    fn launch<K: SafeKernel>(self, kernel: K, args: K::Args<'_, ThisRuntime>) -> Result<()> {
        let module = self.module::<K>()?;
        Ok(self.algorithms.stream.launch(module, kernel, self.config::<K>(), args)?)
    }

    #[track_caller]
    unsafe fn launch_unsafe<K: Kernel>(self, kernel: K, args: K::Args<'_, ThisRuntime>) -> Result<()> {
        let module = self.module::<K>()?;
        // SAFETY: as the caller promises; the module is that of the crate which declares the kernel, or has none of its name.
        unsafe { self.algorithms.stream.launch_unsafe(module, kernel, self.config::<K>(), args)? };
        Ok(())
    }
}

/// Refuses an output that has fewer elements than are written.
pub(crate) fn has_room(
    algorithm: &'static str,
    output: &'static str,
    needed: usize,
    len: usize,
) -> Result<()> {
    if len < needed { Err(Error::TooShort { algorithm, output, needed, len }) } else { Ok(()) }
}

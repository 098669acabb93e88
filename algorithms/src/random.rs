//! Random numbers.

use std::ops::Range;

use gpu_std::DeviceCopy;
use gpukernel::DeviceSlice;
use gpukernel_algorithms_kernels::{Bits, Element, FillWith, Normal, Random, Uniform};

use crate::{Algorithms, Result};

impl Algorithms {
    /// Fills memory with random bits, `u32` or `u64` (cuRAND's `curandGenerate`), by Philox4x32-10.
    ///
    /// Numbers depend on the seed and their position alone: they are the same each time, and on each device.
    ///
    /// ```
    /// use gpukernel::Device;
    /// use gpukernel_algorithms::Algorithms;
    ///
    /// let device = Device::cpu();
    /// let (mut x, mut y) = (device.zeroed::<u32>(1000)?, device.zeroed::<u32>(1000)?);
    /// let algorithms = Algorithms::new(&device)?;
    /// algorithms.fill_random(7, &mut x)?;
    /// algorithms.fill_random(7, &mut y)?;
    /// assert_eq!(x.to_vec()?, y.to_vec()?);
    /// # Ok::<(), gpukernel_algorithms::Error>(())
    /// ```
    ///
    /// # Errors
    /// What a launch says, such as [`WrongDevice`](gpukernel::Error::WrongDevice).
    #[doc(alias = "curandGenerate")]
    #[track_caller]
    pub fn fill_random<T: Random<Bits>>(&self, seed: u64, x: &mut DeviceSlice<T>) -> Result<()> {
        self.random::<T, Bits>(seed, [T::zeroed(); 2], x)
    }

    /// Fills memory with random numbers, uniformly distributed from `range.start` up to `range.end` (cuRAND's `curandGenerateUniform`), as
    /// [`fill_random`](Self::fill_random): `f32` in steps of 2⁻²⁴ of the range, `f64` of 2⁻⁵³.
    ///
    /// ```
    /// use gpukernel::Device;
    /// use gpukernel_algorithms::Algorithms;
    ///
    /// let device = Device::cpu();
    /// let mut x = device.zeroed(1000)?;
    /// Algorithms::new(&device)?.fill_uniform(7, -1.0_f32..1.0, &mut x)?;
    /// assert!(x.to_vec()?.iter().all(|x| (-1.0..1.0).contains(x)));
    /// # Ok::<(), gpukernel_algorithms::Error>(())
    /// ```
    ///
    /// # Errors
    /// As there.
    #[doc(alias = "curandGenerateUniform")]
    #[track_caller]
    pub fn fill_uniform<T: Random<Uniform>>(
        &self,
        seed: u64,
        range: Range<T>,
        x: &mut DeviceSlice<T>,
    ) -> Result<()> {
        self.random::<T, Uniform>(seed, [range.start, range.end], x)
    }

    /// Fills memory with random numbers, normally distributed with this mean and standard deviation (cuRAND's `curandGenerateNormal`), as
    /// [`fill_random`](Self::fill_random). On different devices they differ by the errors of `ln`, `sin` and `cos`, for `f32` by up to
    /// 4 · 10⁻⁶ deviations. Numbers of `f32` are made of 32 random bits each, as cuRAND's, and so at most 6.77 deviations from the mean, those of `f64` of 53, and at most
    /// 8.66.
    ///
    /// ```
    /// use gpukernel::Device;
    /// use gpukernel_algorithms::{Algorithms, Sum};
    ///
    /// let device = Device::cpu();
    /// let mut x = device.zeroed(10_000)?;
    /// let algorithms = Algorithms::new(&device)?;
    /// algorithms.fill_normal(7, 3.0, 0.5, &mut x)?;
    /// assert!((algorithms.reduce(&x, Sum)? / 10_000.0 - 3.0_f64).abs() < 0.05);
    /// # Ok::<(), gpukernel_algorithms::Error>(())
    /// ```
    ///
    /// # Errors
    /// As there.
    #[doc(alias = "curandGenerateNormal", alias = "normal")]
    #[track_caller]
    pub fn fill_normal<T: Random<Normal>>(
        &self,
        seed: u64,
        mean: T,
        deviation: T,
        x: &mut DeviceSlice<T>,
    ) -> Result<()> {
        self.random::<T, Normal>(seed, [mean, deviation], x)
    }

    /// Fills memory with what a function makes of random numbers, of which each element has a sequence of its own, as [`fill_random`](Self::fill_random) has.
    ///
    /// The function is one of a kernel crate, which declares the kernel by `fill_with!`, and is loaded as [`with_module`](Self::with_module) says.
    ///
    /// ```
    /// use gpu_std::rng::{Generator, Philox4x32};
    /// use gpukernel::Device;
    /// use gpukernel_algorithms::Algorithms;
    /// use gpukernel_algorithms_kernels::fill_with;
    ///
    /// // In the kernel crate:
    /// gpu_std::device_fn! {
    ///     /// The sum of so many dice.
    ///     pub Dice { count: u32 } = |rng: Philox4x32| -> u32 {
    ///         let mut rng = rng;
    ///         (0..count).map(|_| 1 + rng.next_u32() % 6).sum()
    ///     }
    /// }
    /// fill_with! {
    ///     pub mod dice = Dice of u32;
    /// }
    ///
    /// // In the program:
    /// # fn main() -> gpukernel_algorithms::Result<()> {
    /// # let mut manifest = gpukernel_image::Manifest::new("doc");
    /// # manifest.no_code = Some("this is an example".to_owned());
    /// # // SAFETY: it holds no code.
    /// # let image = unsafe { gpukernel::Image::from_bytes(gpukernel_image::ImageWriter::new(manifest).finish()) };
    /// let device = Device::cpu();
    /// let module = device.load(&image)?;
    /// let mut sums = device.zeroed(1000)?;
    /// Algorithms::new(&device)?.with_module(&module).fill_with(7, Dice { count: 2 }, &mut sums)?;
    /// assert!(sums.to_vec()?.iter().all(|sum| (2..=12).contains(sum)));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As there.
    #[track_caller]
    pub fn fill_with<T: DeviceCopy, F: FillWith<T>>(
        &self,
        seed: u64,
        function: F,
        x: &mut DeviceSlice<T>,
    ) -> Result<()> {
        function.fill_with(self.threads(x.len()), seed, x)
    }

    #[track_caller]
    fn random<T: Random<D> + Element, D>(
        &self,
        seed: u64,
        parameters: [T; 2],
        x: &mut DeviceSlice<T>,
    ) -> Result<()> {
        T::random(self.few_threads(x.len().div_ceil(T::GROUP)), seed, parameters, x)
    }
}

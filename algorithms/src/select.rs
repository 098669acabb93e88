//! Selections.

use bytemuck::Zeroable;
use gpu_std::DeviceCopy;
use gpukernel::DeviceSlice;
use gpukernel_algorithms_kernels::{Bytes, Element, Part, Predicate, Shape, Unique, number, state_len};

use crate::{
    Algorithms, Error, Result,
    algorithms::{Blocks, has_room},
};

impl Algorithms {
    /// Moves the elements whose flag is set to `chosen`, in their order, and waits for their number, which it returns (CUB's `DeviceSelect::Flagged`).
    ///
    /// Elements of any type are selected. Those of 1, 2, 4, 8 or 16 bytes that are aligned to their size, such as numbers, are moved in one pass;
    /// of others the positions are selected first.
    ///
    /// ```
    /// use gpukernel::Device;
    /// use gpukernel_algorithms::Algorithms;
    ///
    /// let device = Device::cpu();
    /// let x = device.upload(&['a', 'b', 'c', 'd'])?;
    /// let flags = device.upload(&[true, false, false, true])?;
    /// let mut chosen = device.upload(&['-'; 4])?;
    /// let count = Algorithms::new(&device)?.select(&x, &flags, &mut chosen)?;
    /// assert_eq!(chosen[..count].to_vec()?, ['a', 'd']);
    /// # Ok::<(), gpukernel_algorithms::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::DifferentLengths`]; [`Error::TooShort`] if `chosen` has too little room: then it is full. [`Error::TooMany`] for more than 2³² elements
    /// that are not moved in one pass. What a launch says, such as [`WrongDevice`](gpukernel::Error::WrongDevice).
    #[doc(alias = "DeviceSelect", alias = "DeviceSelect::Flagged")]
    #[doc(alias = "copy_if", alias = "compact")]
    #[track_caller]
    pub fn select<T: DeviceCopy>(
        &self,
        x: &DeviceSlice<T>,
        flags: &DeviceSlice<bool>,
        chosen: &mut DeviceSlice<T>,
    ) -> Result<usize> {
        let mut count = self.temporary(1)?;
        self.select_to(x, flags, chosen, &mut count)?;
        self.number_of("select", "chosen", &count, chosen.len())
    }

    /// Selects as [`select`](Self::select), with the number in the first element of `count` in device memory. Waits for nothing. If `chosen` has too
    /// little room, it is full, and the number is larger.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_algorithms::Algorithms;
    /// # let device = Device::cpu();
    /// let (x, flags) = (device.upload(&[1.5, 2.5])?, device.upload(&[false, true])?);
    /// let (mut chosen, mut count) = (device.zeroed(2)?, device.zeroed(1)?);
    /// Algorithms::new(&device)?.select_to(&x, &flags, &mut chosen, &mut count)?;
    /// assert_eq!((chosen.to_vec()?, count.to_vec()?), (vec![2.5, 0.0], vec![1]));
    /// # Ok::<(), gpukernel_algorithms::Error>(())
    /// ```
    ///
    /// # Errors
    /// As there, but for too little room; [`Error::TooShort`] if `count` has no element.
    #[track_caller]
    pub fn select_to<T: DeviceCopy>(
        &self,
        x: &DeviceSlice<T>,
        flags: &DeviceSlice<bool>,
        chosen: &mut DeviceSlice<T>,
        count: &mut DeviceSlice<u64>,
    ) -> Result<()> {
        let no_rest = None;
        self.by_flags("select_to", x, flags, chosen, no_rest, count)
    }

    /// Moves the elements whose flag is set to `chosen`, and the others to `rest`, each in their order, and waits for the number of the chosen, which it
    /// returns (CUB's `DevicePartition::Flagged`, in which the others are reversed). As [`select`](Self::select).
    ///
    /// ```
    /// use gpukernel::Device;
    /// use gpukernel_algorithms::Algorithms;
    ///
    /// let device = Device::cpu();
    /// let (x, flags) = (device.upload(&[1, 2, 3, 4])?, device.upload(&[false, true, false, true])?);
    /// let (mut even, mut odd) = (device.zeroed(4)?, device.zeroed(4)?);
    /// let count = Algorithms::new(&device)?.partition(&x, &flags, &mut even, &mut odd)?;
    /// assert_eq!((even[..count].to_vec()?, odd[..4 - count].to_vec()?), (vec![2, 4], vec![1, 3]));
    /// # Ok::<(), gpukernel_algorithms::Error>(())
    /// ```
    ///
    /// # Errors
    /// As there, for both outputs.
    #[doc(alias = "DevicePartition", alias = "stable_partition")]
    #[track_caller]
    pub fn partition<T: DeviceCopy>(
        &self,
        x: &DeviceSlice<T>,
        flags: &DeviceSlice<bool>,
        chosen: &mut DeviceSlice<T>,
        rest: &mut DeviceSlice<T>,
    ) -> Result<usize> {
        let mut count = self.temporary(1)?;
        self.partition_to(x, flags, chosen, rest, &mut count)?;
        let number = self.number_of("partition", "chosen", &count, chosen.len())?;
        has_room("partition", "rest", x.len() - number, rest.len())?;
        Ok(number)
    }

    /// Partitions as [`partition`](Self::partition), with the number of the chosen in the first element of `count` in device memory, as
    /// [`select_to`](Self::select_to).
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_algorithms::Algorithms;
    /// # let device = Device::cpu();
    /// let (x, flags) = (device.upload(&[1_u8, 2])?, device.upload(&[false, true])?);
    /// let (mut chosen, mut rest, mut count) = (device.zeroed(2)?, device.zeroed(2)?, device.zeroed(1)?);
    /// Algorithms::new(&device)?.partition_to(&x, &flags, &mut chosen, &mut rest, &mut count)?;
    /// assert_eq!((chosen.to_vec()?, rest.to_vec()?), (vec![2, 0], vec![1, 0]));
    /// # Ok::<(), gpukernel_algorithms::Error>(())
    /// ```
    ///
    /// # Errors
    /// As there.
    #[track_caller]
    pub fn partition_to<T: DeviceCopy>(
        &self,
        x: &DeviceSlice<T>,
        flags: &DeviceSlice<bool>,
        chosen: &mut DeviceSlice<T>,
        rest: &mut DeviceSlice<T>,
        count: &mut DeviceSlice<u64>,
    ) -> Result<()> {
        self.by_flags("partition_to", x, flags, chosen, Some(rest), count)
    }

    /// Moves the elements that satisfy a predicate to `chosen`, in their order, and waits for their number, which it returns (CUB's `DeviceSelect::If`,
    /// Thrust's `copy_if`). The predicate is one for which a kernel crate declares an instance, by
    /// [`select_if!`](gpukernel_algorithms_kernels::select_if).
    ///
    /// ```
    /// # use gpukernel::{Device, Image};
    /// # use gpukernel_image::{ImageWriter, Manifest};
    /// # mod kernels {
    /// // In the kernel crate:
    /// gpu_std::device_fn! {
    ///     pub Above { limit: f32 } = |x: f32| -> bool { x > limit }
    /// }
    /// gpukernel_algorithms_kernels::select_if! {
    ///     pub mod above = Above of f32;
    /// }
    /// # }
    ///
    /// use gpukernel_algorithms::Algorithms;
    /// # use kernels::Above;
    /// # let mut manifest = Manifest::new("doc");
    /// # manifest.no_code = Some("this is an example".to_owned());
    /// # // SAFETY: it holds no code.
    /// # let KERNELS = unsafe { Image::from_bytes(ImageWriter::new(manifest).finish()) };
    /// let device = Device::cpu();
    /// let algorithms = Algorithms::new(&device)?.with_module(&device.load(&KERNELS)?);
    /// let (x, mut chosen) = (device.upload(&[1.0, 5.0, 3.0])?, device.zeroed(3)?);
    /// let count = algorithms.select_if(&x, Above { limit: 2.0 }, &mut chosen)?;
    /// assert_eq!(chosen[..count].to_vec()?, [5.0, 3.0]);
    /// # Ok::<(), gpukernel_algorithms::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`select`](Self::select).
    #[doc(alias = "DeviceSelect::If", alias = "copy_if")]
    #[doc(alias = "filter")]
    #[track_caller]
    pub fn select_if<T: Element, P: Predicate<T>>(
        &self,
        x: &DeviceSlice<T>,
        predicate: P,
        chosen: &mut DeviceSlice<T>,
    ) -> Result<usize> {
        let mut count = self.temporary(1)?;
        self.select_if_to(x, predicate, chosen, &mut count)?;
        self.number_of("select_if", "chosen", &count, chosen.len())
    }

    /// Selects as [`select_if`](Self::select_if), with the number in the first element of `count` in device memory, as [`select_to`](Self::select_to).
    ///
    /// ```
    /// use gpukernel::{Buffer, DeviceSlice};
    /// use gpukernel_algorithms::{Algorithms, Predicate, Result};
    ///
    /// /// How many numbers satisfy the predicate, for a kernel that is launched next.
    /// fn count(algorithms: &Algorithms, x: &DeviceSlice<f32>, predicate: impl Predicate<f32>) -> Result<Buffer<u64>> {
    ///     let device = algorithms.device();
    ///     let (mut chosen, mut count) = (device.zeroed(x.len())?, device.zeroed(1)?);
    ///     algorithms.select_if_to(x, predicate, &mut chosen, &mut count)?;
    ///     Ok(count)
    /// }
    /// ```
    ///
    /// # Errors
    /// As there, and [`Error::TooShort`] if `count` is empty.
    #[track_caller]
    pub fn select_if_to<T: Element, P: Predicate<T>>(
        &self,
        x: &DeviceSlice<T>,
        predicate: P,
        chosen: &mut DeviceSlice<T>,
        count: &mut DeviceSlice<u64>,
    ) -> Result<()> {
        self.by_predicate("select_if_to", x, predicate, chosen, None, count)
    }

    /// Partitions as [`partition`](Self::partition) by a predicate, as [`select_if`](Self::select_if) (CUB's `DevicePartition::If`).
    ///
    /// ```
    /// # use gpukernel::{Device, Image};
    /// # use gpukernel_image::{ImageWriter, Manifest};
    /// # mod kernels {
    /// // In the kernel crate:
    /// gpu_std::device_fn! {
    ///     pub Even {} = |x: u32| -> bool { x % 2 == 0 }
    /// }
    /// gpukernel_algorithms_kernels::select_if! {
    ///     pub mod even = Even of u32;
    /// }
    /// # }
    ///
    /// use gpukernel_algorithms::Algorithms;
    /// # use kernels::Even;
    /// # let mut manifest = Manifest::new("doc");
    /// # manifest.no_code = Some("this is an example".to_owned());
    /// # // SAFETY: it holds no code.
    /// # let KERNELS = unsafe { Image::from_bytes(ImageWriter::new(manifest).finish()) };
    /// let device = Device::cpu();
    /// let algorithms = Algorithms::new(&device)?.with_module(&device.load(&KERNELS)?);
    /// let (x, mut even, mut odd) = (device.upload(&[1, 2, 3])?, device.zeroed(3)?, device.zeroed(3)?);
    /// assert_eq!(algorithms.partition_if(&x, Even {}, &mut even, &mut odd)?, 1);
    /// assert_eq!((even.to_vec()?, odd.to_vec()?), (vec![2, 0, 0], vec![1, 3, 0]));
    /// # Ok::<(), gpukernel_algorithms::Error>(())
    /// ```
    ///
    /// # Errors
    /// As there.
    #[doc(alias = "DevicePartition::If")]
    #[track_caller]
    pub fn partition_if<T: Element, P: Predicate<T>>(
        &self,
        x: &DeviceSlice<T>,
        predicate: P,
        chosen: &mut DeviceSlice<T>,
        rest: &mut DeviceSlice<T>,
    ) -> Result<usize> {
        let mut count = self.temporary(1)?;
        self.partition_if_to(x, predicate, chosen, rest, &mut count)?;
        let number = self.number_of("partition_if", "chosen", &count, chosen.len())?;
        has_room("partition_if", "rest", x.len() - number, rest.len())?;
        Ok(number)
    }

    /// Partitions as [`partition_if`](Self::partition_if), with the number of the chosen elements in the first element of `count` in device memory, as
    /// [`partition_to`](Self::partition_to).
    ///
    /// ```
    /// use gpukernel::{Buffer, DeviceSlice};
    /// use gpukernel_algorithms::{Algorithms, Predicate, Result};
    ///
    /// /// Moves the numbers that satisfy the predicate before the others, each in their order.
    /// fn order(algorithms: &Algorithms, x: &DeviceSlice<u32>, predicate: impl Predicate<u32>) -> Result<[Buffer<u32>; 2]> {
    ///     let device = algorithms.device();
    ///     let (mut first, mut rest) = (device.zeroed(x.len())?, device.zeroed(x.len())?);
    ///     algorithms.partition_if_to(x, predicate, &mut first, &mut rest, &mut device.zeroed(1)?)?;
    ///     Ok([first, rest])
    /// }
    /// ```
    ///
    /// # Errors
    /// As there, and [`Error::TooShort`] if `count` is empty.
    #[track_caller]
    pub fn partition_if_to<T: Element, P: Predicate<T>>(
        &self,
        x: &DeviceSlice<T>,
        predicate: P,
        chosen: &mut DeviceSlice<T>,
        rest: &mut DeviceSlice<T>,
        count: &mut DeviceSlice<u64>,
    ) -> Result<()> {
        self.by_predicate("partition_if_to", x, predicate, chosen, Some(rest), count)
    }

    /// Moves the first of elements that follow each other and are equal to `distinct`, and waits for their number, which it returns (CUB's
    /// `DeviceSelect::Unique`, `Vec::dedup`). Equal is what `==` says: no NaN equals another, and -0 equals 0.
    ///
    /// ```
    /// use gpukernel::Device;
    /// use gpukernel_algorithms::Algorithms;
    ///
    /// let device = Device::cpu();
    /// let (x, mut distinct) = (device.upload(&[1, 1, 2, 2, 2, 1])?, device.zeroed(6)?);
    /// let count = Algorithms::new(&device)?.unique(&x, &mut distinct)?;
    /// assert_eq!(distinct[..count].to_vec()?, [1, 2, 1]);
    /// # Ok::<(), gpukernel_algorithms::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`select`](Self::select).
    #[doc(alias = "DeviceSelect::Unique", alias = "dedup")]
    #[track_caller]
    pub fn unique<T: Unique>(&self, x: &DeviceSlice<T>, distinct: &mut DeviceSlice<T>) -> Result<usize> {
        let mut count = self.temporary(1)?;
        self.unique_to(x, distinct, &mut count)?;
        self.number_of("unique", "distinct", &count, distinct.len())
    }

    /// Selects as [`unique`](Self::unique), with the number in the first element of `count` in device memory, as [`select_to`](Self::select_to).
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_algorithms::Algorithms;
    /// # let device = Device::cpu();
    /// let (x, mut distinct, mut count) = (device.upload(&[1.0, 1.0])?, device.zeroed(2)?, device.zeroed(1)?);
    /// Algorithms::new(&device)?.unique_to(&x, &mut distinct, &mut count)?;
    /// assert_eq!(count.to_vec()?, [1]);
    /// # Ok::<(), gpukernel_algorithms::Error>(())
    /// ```
    ///
    /// # Errors
    /// As there.
    #[track_caller]
    pub fn unique_to<T: Unique>(
        &self,
        x: &DeviceSlice<T>,
        distinct: &mut DeviceSlice<T>,
        count: &mut DeviceSlice<u64>,
    ) -> Result<()> {
        self.one_pass("unique_to", x, distinct, None, count, |launch, no_flags, state, count, out| {
            // SAFETY: the state is 0.
            unsafe { T::select(launch, x, no_flags, state, count, out) }
        })
    }

    #[track_caller]
    fn by_predicate<T: Element, P: Predicate<T>>(
        &self,
        algorithm: &'static str,
        x: &DeviceSlice<T>,
        predicate: P,
        chosen: &mut DeviceSlice<T>,
        rest: Option<&mut DeviceSlice<T>>,
        count: &mut DeviceSlice<u64>,
    ) -> Result<()> {
        self.one_pass(algorithm, x, chosen, rest, count, |launch, no_flags, state, count, out| {
            // SAFETY: the state is 0.
            unsafe { predicate.select(launch, x, no_flags, state, count, out) }
        })
    }

    #[track_caller]
    fn by_flags<T: DeviceCopy>(
        &self,
        algorithm: &'static str,
        x: &DeviceSlice<T>,
        flags: &DeviceSlice<bool>,
        chosen: &mut DeviceSlice<T>,
        rest: Option<&mut DeviceSlice<T>>,
        count: &mut DeviceSlice<u64>,
    ) -> Result<()> {
        let (first_len, second_len) = (x.len(), flags.len());
        if first_len != second_len {
            let (first, second) = ("x", "flags");
            return Err(Error::DifferentLengths { algorithm, first, first_len, second, second_len });
        }
        let flags = flags.cast::<u8>()?;
        match (size_of::<T>(), align_of::<T>()) {
            (1, 1) => self.parts_by_flags::<T, Bytes<u8>>(algorithm, x, flags, chosen, rest, count),
            (2, 2) => self.parts_by_flags::<T, Bytes<u16>>(algorithm, x, flags, chosen, rest, count),
            (4, 4) => self.parts_by_flags::<T, Bytes<u32>>(algorithm, x, flags, chosen, rest, count),
            (8, 8) => self.parts_by_flags::<T, Bytes<u64>>(algorithm, x, flags, chosen, rest, count),
            (16, 16) => self.parts_by_flags::<T, Bytes<u128>>(algorithm, x, flags, chosen, rest, count),
            _ => self.positions_by_flags(algorithm, x, flags, chosen, rest, count),
        }
    }

    /// Selects elements of one part.
    #[track_caller]
    fn parts_by_flags<T: DeviceCopy, P: Part + Zeroable>(
        &self,
        algorithm: &'static str,
        x: &DeviceSlice<T>,
        flags: &DeviceSlice<u8>,
        chosen: &mut DeviceSlice<T>,
        rest: Option<&mut DeviceSlice<T>>,
        count: &mut DeviceSlice<u64>,
    ) -> Result<()> {
        // SAFETY: elements have bytes, and what is written are elements, moved.
        let (x, chosen, rest) = unsafe {
            let rest = rest.map(|rest| rest.__cast_unchecked_mut::<P>()).transpose()?;
            (x.__cast_unchecked::<P>()?, chosen.__cast_unchecked_mut::<P>()?, rest)
        };
        self.one_pass(algorithm, x, chosen, rest, count, |launch, _, state, count, out| {
            // SAFETY: the state is 0.
            unsafe { P::select(launch, x, flags, state, count, out) }
        })
    }

    /// Selects the positions of elements, and moves them afterwards.
    #[track_caller]
    fn positions_by_flags<T: DeviceCopy>(
        &self,
        algorithm: &'static str,
        x: &DeviceSlice<T>,
        flags: &DeviceSlice<u8>,
        chosen: &mut DeviceSlice<T>,
        rest: Option<&mut DeviceSlice<T>>,
        count: &mut DeviceSlice<u64>,
    ) -> Result<()> {
        let limit = 1 << 32;
        if x.len() > limit {
            return Err(Error::TooMany { algorithm, limit, len: x.len() });
        }
        has_room(algorithm, "count", 1, count.len())?;
        let (mut all, mut of_chosen) = (self.temporary(x.len())?, self.temporary(x.len())?);
        let mut of_rest = rest.as_ref().map(|_| self.temporary(x.len())).transpose()?;
        number(self.threads(x.len()), &mut all)?;
        let mut counts = self.temporary(2)?;
        let places = of_rest.as_deref_mut();
        self.parts_by_flags::<u32, Bytes<u32>>(algorithm, &all, flags, &mut of_chosen, places, &mut counts)?;
        self.gather(x, &of_chosen, &counts[..1], chosen)?;
        if let (Some(of_rest), Some(rest)) = (of_rest, rest) {
            self.gather(x, &of_rest, &counts[1..], rest)?;
        }
        Ok(self.stream().copy(&counts[..1], &mut count[..1])?)
    }

    /// Launches a kernel that selects elements.
    #[track_caller]
    fn one_pass<T: DeviceCopy + Zeroable>(
        &self,
        algorithm: &'static str,
        x: &DeviceSlice<T>,
        chosen: &mut DeviceSlice<T>,
        rest: Option<&mut DeviceSlice<T>>,
        count: &mut DeviceSlice<u64>,
        launch: impl FnOnce(
            Blocks<'_>,
            &DeviceSlice<u8>,
            &mut DeviceSlice<u64>,
            &mut DeviceSlice<u64>,
            [&mut DeviceSlice<T>; 2],
        ) -> Result<()>,
    ) -> Result<()> {
        has_room(algorithm, "count", 1, count.len())?;
        if x.is_empty() {
            return Ok(self.stream().fill(count, 0)?);
        }
        let (no_flags, mut no_rest) = (self.temporary(0)?, self.temporary(0)?);
        let tiles = x.len().div_ceil(Shape::select::<T>().tile());
        let rest = rest.unwrap_or(&mut no_rest);
        self.with_state(state_len(tiles, size_of::<u64>()), |state| {
            launch(self.blocks(tiles), &no_flags, state, count, [chosen, rest])
        })
    }

    /// Waits for the number of elements that were written, if there was room.
    fn number_of(
        &self,
        algorithm: &'static str,
        output: &'static str,
        count: &DeviceSlice<u64>,
        len: usize,
    ) -> Result<usize> {
        let number = self.read(&count[..1])? as usize;
        has_room(algorithm, output, number, len)?;
        Ok(number)
    }
}

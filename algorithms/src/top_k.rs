//! The smallest and the largest keys.

use gpukernel::DeviceSlice;
use gpukernel_algorithms_kernels::{
    Bytes, DIGITS, Key, KeyWord, SearchWords, SortableWord, as_they_are, choose_digit, lanes, state_len,
    tile_len,
};

use crate::{
    Algorithms, Error, Result,
    sort::{Input, Orders, Pairs},
    words::order,
};

impl Algorithms {
    /// Writes the `k` largest keys in descending order, and their positions (CUB's `DeviceTopK::MaxPairs`, PyTorch's `topk`): as many as `largest` has
    /// elements. Of equal keys the first are taken, and stay in their order.
    ///
    /// ```
    /// use gpukernel::Device;
    /// use gpukernel_algorithms::Algorithms;
    ///
    /// let device = Device::cpu();
    /// let keys = device.upload(&[2.5_f32, -1.0, 7.0, 2.5])?;
    /// let (mut largest, mut positions) = (device.zeroed(2)?, device.zeroed(2)?);
    /// Algorithms::new(&device)?.top_k(&keys, &mut largest, &mut positions)?;
    /// assert_eq!((largest.to_vec()?, positions.to_vec()?), (vec![7.0, 2.5], vec![2, 0]));
    /// # Ok::<(), gpukernel_algorithms::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Argument`] if there are less keys; [`Error::DifferentLengths`]; [`Error::TooMany`] for more than 2³² keys; what a launch says.
    #[doc(alias = "topk", alias = "DeviceTopK::MaxPairs")]
    #[doc(alias = "select_nth_unstable", alias = "nlargest")]
    #[track_caller]
    pub fn top_k<K: Key>(
        &self,
        keys: &DeviceSlice<K>,
        largest: &mut DeviceSlice<K>,
        positions: &mut DeviceSlice<u32>,
    ) -> Result<()> {
        self.extremes("top_k", keys, true, largest, positions)
    }

    /// Writes the `k` smallest keys in ascending order, and their positions, as [`top_k`](Self::top_k) (CUB's `DeviceTopK::MinPairs`).
    ///
    /// ```
    /// use gpukernel::Device;
    /// use gpukernel_algorithms::Algorithms;
    ///
    /// let device = Device::cpu();
    /// let keys = device.upload(&[2, -1, 7, 2])?;
    /// let (mut smallest, mut positions) = (device.zeroed(3)?, device.zeroed(3)?);
    /// Algorithms::new(&device)?.bottom_k(&keys, &mut smallest, &mut positions)?;
    /// assert_eq!((smallest.to_vec()?, positions.to_vec()?), (vec![-1, 2, 2], vec![1, 0, 3]));
    /// # Ok::<(), gpukernel_algorithms::Error>(())
    /// ```
    ///
    /// # Errors
    /// As there.
    #[doc(alias = "nsmallest", alias = "argpartition")]
    #[doc(alias = "DeviceTopK::MinPairs")]
    #[track_caller]
    pub fn bottom_k<K: Key>(
        &self,
        keys: &DeviceSlice<K>,
        smallest: &mut DeviceSlice<K>,
        positions: &mut DeviceSlice<u32>,
    ) -> Result<()> {
        self.extremes("bottom_k", keys, false, smallest, positions)
    }

    #[track_caller]
    fn extremes<K: Key>(
        &self,
        algorithm: &'static str,
        keys: &DeviceSlice<K>,
        are_largest: bool,
        out: &mut DeviceSlice<K>,
        positions: &mut DeviceSlice<u32>,
    ) -> Result<()> {
        let (k, limit) = (out.len(), 1 << 32);
        if k > keys.len() {
            let reason = format!("there is room for {k} of {} keys", keys.len());
            return Err(Error::Argument { algorithm, reason });
        }
        if k != positions.len() {
            let (first, second) = ("the keys that are written", "positions");
            let second_len = positions.len();
            return Err(Error::DifferentLengths { algorithm, first, first_len: k, second, second_len });
        }
        if keys.len() > limit {
            return Err(Error::TooMany { algorithm, limit, len: keys.len() });
        }
        if k == 0 {
            return Ok(());
        }
        let words = self.words(keys)?;
        let order = order::<K>(are_largest);
        let mut found = self.stream().zeroed(2)?;
        self.find_largest(&words, order, k, &mut found)?;
        let tiles = words.len().div_ceil(tile_len(lanes::<K::Word>()));
        let mut state = self.stream().zeroed(state_len(tiles, size_of::<[u64; 2]>()))?;
        let mut collected = self.temporary::<K::Word>(k)?;
        // SAFETY: the state is 0.
        unsafe {
            K::Word::collect_smallest(
                self.blocks(tiles),
                &words,
                order,
                k as u64,
                &found,
                &mut state,
                &mut collected,
                positions,
            )?;
        }
        let to = if K::IS_WORD { order } else { as_they_are() };
        self.sort_collected(&mut collected, positions, to)?;
        if K::IS_WORD {
            // SAFETY: such keys are as large as their words, any of which are one.
            return Ok(self.stream().copy(&collected, unsafe { out.__cast_unchecked_mut()? })?);
        }
        self.gather(keys, positions, &self.temporary(0)?, out)
    }

    /// Finds the largest of the `k` smallest words, digit by digit, and how many of those equal to it are among them.
    #[track_caller]
    fn find_largest<W: SearchWords>(
        &self,
        keys: &DeviceSlice<W>,
        order: [W; 3],
        k: usize,
        found: &mut DeviceSlice<u64>,
    ) -> Result<()> {
        let mut counts = self.stream().zeroed(DIGITS)?;
        let blocks = self.resident_blocks(keys.len(), lanes::<W>());
        let digits = size_of::<W>() as u32;
        for digit in (0..digits).rev() {
            W::count_candidates(self.blocks(blocks), keys, order, 8 * digit, found, &mut counts)?;
            let is_highest = u32::from(digit + 1 == digits);
            choose_digit(self.blocks(1), k as u64, is_highest, 8 * digit, found, &mut counts)?;
        }
        Ok(())
    }

    /// Sorts words with the positions of their keys, and makes keys of them.
    #[track_caller]
    fn sort_collected<W: SortableWord + KeyWord>(
        &self,
        words: &mut DeviceSlice<W>,
        positions: &mut DeviceSlice<u32>,
        to: [W; 3],
    ) -> Result<()> {
        // SAFETY: numbers are bytes, and what is written are numbers, moved.
        let values = unsafe { positions.__cast_unchecked_mut::<Bytes<u32>>()? };
        let (mut other_words, mut other_values) =
            (self.temporary(words.len())?, self.temporary(words.len())?);
        let other = Pairs { words: &mut other_words, values: &mut other_values };
        self.passes(Input::InPlace, other, Pairs { words, values }, Orders { from: as_they_are(), to })
    }
}

//! Sorts.

use gpu_std::DeviceCopy;
use gpukernel::{Buffer, DeviceSlice};
use gpukernel_algorithms_kernels::{
    Bytes, DIGITS, Key, KeyWord, Order, SortValue, SortWords, as_they_are, start_digits,
};

use crate::{Algorithms, Error, Result, algorithms::has_room, words::order};

/// So many keys at most are sorted by one launch, whose blocks count in 30 bits.
const MAX_PORTION: usize = (1 << 30) - 1;

/// Words, and values that go with them.
pub(crate) struct Pairs<'a, W: KeyWord, V: SortValue> {
    pub(crate) words: &'a mut DeviceSlice<W>,
    pub(crate) values: &'a mut DeviceSlice<V>,
}

/// How keys become words, and words keys.
#[derive(Clone, Copy)]
pub(crate) struct Orders<W> {
    pub(crate) from: Order<W>,
    pub(crate) to: Order<W>,
}

/// What the first pass reads.
pub(crate) enum Input<'a, W: KeyWord, V: SortValue> {
    /// The keys and values that are sorted in their place.
    InPlace,
    /// Keys and values of another place; without values, the numbers of keys.
    From(&'a DeviceSlice<W>, &'a DeviceSlice<V>),
}

impl Algorithms {
    /// Sorts keys in ascending order (CUB's `DeviceRadixSort::SortKeys`, Thrust's `sort`).
    ///
    /// Floating-point numbers are sorted as by [`f32::total_cmp`]: -0 before 0, NaNs at either end by their sign.
    ///
    /// ```
    /// use gpukernel::Device;
    /// use gpukernel_algorithms::Algorithms;
    ///
    /// let device = Device::cpu();
    /// let mut keys = device.upload(&[2.5_f32, -1.0, 7.0])?;
    /// Algorithms::new(&device)?.sort(&mut keys)?;
    /// assert_eq!(keys.to_vec()?, [-1.0, 2.5, 7.0]);
    /// # Ok::<(), gpukernel_algorithms::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::TooMany`] for more than 2³² keys that are not numbers; what a launch says, such as
    /// [`WrongDevice`](gpukernel::Error::WrongDevice).
    #[doc(alias = "DeviceRadixSort", alias = "DeviceRadixSort::SortKeys")]
    #[doc(alias = "RadixSort", alias = "sort_unstable")]
    #[track_caller]
    pub fn sort<K: Key>(&self, keys: &mut DeviceSlice<K>) -> Result<()> {
        self.sort_keys("sort", keys, false)
    }

    /// Sorts keys in ascending order to another place, as [`sort`](Self::sort). The first elements of `sorted` are written.
    ///
    /// ```
    /// use gpukernel::Device;
    /// use gpukernel_algorithms::Algorithms;
    ///
    /// let device = Device::cpu();
    /// let (keys, mut sorted) = (device.upload(&[3, 1, 2])?, device.zeroed(3)?);
    /// Algorithms::new(&device)?.sort_to(&keys, &mut sorted)?;
    /// assert_eq!((keys.to_vec()?, sorted.to_vec()?), (vec![3, 1, 2], vec![1, 2, 3]));
    /// # Ok::<(), gpukernel_algorithms::Error>(())
    /// ```
    ///
    /// # Errors
    /// As there, and [`Error::TooShort`].
    #[track_caller]
    pub fn sort_to<K: Key>(&self, keys: &DeviceSlice<K>, sorted: &mut DeviceSlice<K>) -> Result<()> {
        self.sort_keys_to("sort_to", keys, sorted, false)
    }

    /// Sorts keys in descending order to another place, as [`sort_to`](Self::sort_to).
    ///
    /// ```
    /// use gpukernel::Device;
    /// use gpukernel_algorithms::Algorithms;
    ///
    /// let device = Device::cpu();
    /// let (keys, mut sorted) = (device.upload(&[3, 1, 2])?, device.zeroed(3)?);
    /// Algorithms::new(&device)?.sort_descending_to(&keys, &mut sorted)?;
    /// assert_eq!(sorted.to_vec()?, [3, 2, 1]);
    /// # Ok::<(), gpukernel_algorithms::Error>(())
    /// ```
    ///
    /// # Errors
    /// As there.
    #[track_caller]
    pub fn sort_descending_to<K: Key>(
        &self,
        keys: &DeviceSlice<K>,
        sorted: &mut DeviceSlice<K>,
    ) -> Result<()> {
        self.sort_keys_to("sort_descending_to", keys, sorted, true)
    }

    #[track_caller]
    fn sort_keys_to<K: Key>(
        &self,
        algorithm: &'static str,
        keys: &DeviceSlice<K>,
        sorted: &mut DeviceSlice<K>,
        is_descending: bool,
    ) -> Result<()> {
        has_room(algorithm, "sorted", keys.len(), sorted.len())?;
        let sorted = &mut sorted[..keys.len()];
        if !K::IS_WORD {
            let indices = self.indices(algorithm, keys, is_descending)?;
            return self.gather(keys, &indices, &self.temporary(0)?, sorted);
        }
        // SAFETY: such keys are as large as their words, and any bytes are a key.
        let (from, to) = unsafe { (keys.__cast_unchecked()?, sorted.__cast_unchecked_mut()?) };
        let values = &self.temporary(keys.len())?;
        self.sort_moving_to::<K::Word, ()>(
            (from, values),
            (to, &mut *self.temporary(keys.len())?),
            order::<K>(is_descending),
        )
    }

    /// Sorts keys and values in ascending order of the keys to another place, as [`sort_pairs`](Self::sort_pairs), for values of 4 or 8 bytes that are
    /// aligned to their size. The first elements of both outputs are written.
    ///
    /// ```
    /// use gpukernel::Device;
    /// use gpukernel_algorithms::Algorithms;
    ///
    /// let device = Device::cpu();
    /// let (keys, values) = (device.upload(&[3, 1])?, device.upload(&[0.3_f32, 0.1])?);
    /// let (mut sorted, mut moved) = (device.zeroed(2)?, device.zeroed(2)?);
    /// Algorithms::new(&device)?.sort_pairs_to((&keys, &values), (&mut sorted, &mut moved))?;
    /// assert_eq!((sorted.to_vec()?, moved.to_vec()?), (vec![1, 3], vec![0.1, 0.3]));
    /// # Ok::<(), gpukernel_algorithms::Error>(())
    /// ```
    ///
    /// # Errors
    /// As there, [`Error::TooShort`], and [`Error::Argument`] for keys or values of other types.
    #[track_caller]
    pub fn sort_pairs_to<K: Key, V: DeviceCopy>(
        &self,
        (keys, values): (&DeviceSlice<K>, &DeviceSlice<V>),
        (sorted, moved): (&mut DeviceSlice<K>, &mut DeviceSlice<V>),
    ) -> Result<()> {
        let (algorithm, first_len, second_len) = ("sort_pairs_to", keys.len(), values.len());
        if first_len != second_len {
            let (first, second) = ("keys", "values");
            return Err(Error::DifferentLengths { algorithm, first, first_len, second, second_len });
        }
        has_room(algorithm, "sorted", first_len, sorted.len())?;
        has_room(algorithm, "moved", first_len, moved.len())?;
        let (sorted, moved) = (&mut sorted[..first_len], &mut moved[..first_len]);
        let order = order::<K>(false);
        match (size_of::<V>(), align_of::<V>()) {
            // SAFETY: such keys are as large as their words, and any bytes are a key; values have bytes, and what is written are some of them, moved.
            (4, 4) if K::IS_WORD => unsafe {
                let from = (keys.__cast_unchecked()?, values.__cast_unchecked()?);
                let to = (sorted.__cast_unchecked_mut()?, moved.__cast_unchecked_mut()?);
                self.sort_moving_to::<K::Word, Bytes<u32>>(from, to, order)
            },
            // SAFETY: as above.
            (8, 8) if K::IS_WORD => unsafe {
                let from = (keys.__cast_unchecked()?, values.__cast_unchecked()?);
                let to = (sorted.__cast_unchecked_mut()?, moved.__cast_unchecked_mut()?);
                self.sort_moving_to::<K::Word, Bytes<u64>>(from, to, order)
            },
            _ => {
                let reason =
                    "keys are numbers, and values have 4 or 8 bytes: copy others, and use `sort_pairs`";
                Err(Error::Argument { algorithm, reason: reason.to_owned() })
            }
        }
    }

    /// Sorts keys in descending order (CUB's `DeviceRadixSort::SortKeysDescending`), as [`sort`](Self::sort).
    ///
    /// ```
    /// use gpukernel::Device;
    /// use gpukernel_algorithms::Algorithms;
    ///
    /// let device = Device::cpu();
    /// let mut keys = device.upload(&[2_i64, -1, 7])?;
    /// Algorithms::new(&device)?.sort_descending(&mut keys)?;
    /// assert_eq!(keys.to_vec()?, [7, 2, -1]);
    /// # Ok::<(), gpukernel_algorithms::Error>(())
    /// ```
    ///
    /// # Errors
    /// As there.
    #[doc(alias = "SortKeysDescending")]
    #[track_caller]
    pub fn sort_descending<K: Key>(&self, keys: &mut DeviceSlice<K>) -> Result<()> {
        self.sort_keys("sort_descending", keys, true)
    }

    /// Sorts keys in ascending order, and puts values of any type in the same order (CUB's `DeviceRadixSort::SortPairs`, Thrust's
    /// `stable_sort_by_key`). Stable: values of equal keys stay in their order.
    ///
    /// Values of 4 or 8 bytes that are aligned to their size, such as numbers, are moved with the keys. Others are collected at the end.
    ///
    /// ```
    /// use gpukernel::Device;
    /// use gpukernel_algorithms::Algorithms;
    ///
    /// let device = Device::cpu();
    /// let mut keys = device.upload(&[2_u32, 1, 2])?;
    /// let mut values = device.upload(&['a', 'b', 'c'])?;
    /// Algorithms::new(&device)?.sort_pairs(&mut keys, &mut values)?;
    /// assert_eq!((keys.to_vec()?, values.to_vec()?), (vec![1, 2, 2], vec!['b', 'a', 'c']));
    /// # Ok::<(), gpukernel_algorithms::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::DifferentLengths`]; [`Error::TooMany`] for more than 2³² keys that are not numbers, or with values of other sizes; what a launch says.
    #[doc(alias = "DeviceRadixSort::SortPairs", alias = "stable_sort_by_key")]
    #[doc(alias = "sort_by_key")]
    #[track_caller]
    pub fn sort_pairs<K: Key, V: DeviceCopy>(
        &self,
        keys: &mut DeviceSlice<K>,
        values: &mut DeviceSlice<V>,
    ) -> Result<()> {
        self.sort_keys_and_values("sort_pairs", keys, values, false)
    }

    /// Sorts keys in descending order, and puts values in the same order (CUB's `DeviceRadixSort::SortPairsDescending`), as
    /// [`sort_pairs`](Self::sort_pairs). Stable.
    ///
    /// ```
    /// use gpukernel::Device;
    /// use gpukernel_algorithms::Algorithms;
    ///
    /// let device = Device::cpu();
    /// let mut keys = device.upload(&[2_u32, 1, 2])?;
    /// let mut values = device.upload(&[[0_u8; 3], [1; 3], [2; 3]])?;
    /// Algorithms::new(&device)?.sort_pairs_descending(&mut keys, &mut values)?;
    /// assert_eq!(values.to_vec()?, [[0; 3], [2; 3], [1; 3]]);
    /// # Ok::<(), gpukernel_algorithms::Error>(())
    /// ```
    ///
    /// # Errors
    /// As there.
    #[doc(alias = "SortPairsDescending")]
    #[track_caller]
    pub fn sort_pairs_descending<K: Key, V: DeviceCopy>(
        &self,
        keys: &mut DeviceSlice<K>,
        values: &mut DeviceSlice<V>,
    ) -> Result<()> {
        self.sort_keys_and_values("sort_pairs_descending", keys, values, true)
    }

    /// Writes the positions of keys in ascending order (NumPy's `argsort(kind='stable')`): `keys[indices[0]]` is the smallest. Stable. Elements of
    /// `indices` behind as many as there are keys stay as they are.
    ///
    /// ```
    /// use gpukernel::Device;
    /// use gpukernel_algorithms::Algorithms;
    ///
    /// let device = Device::cpu();
    /// let mut indices = device.zeroed(3)?;
    /// Algorithms::new(&device)?.argsort(&device.upload(&[2.5_f64, -1.0, 7.0])?, &mut indices)?;
    /// assert_eq!(indices.to_vec()?, [1, 0, 2]);
    /// # Ok::<(), gpukernel_algorithms::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::TooShort`]; [`Error::TooMany`] for more than 2³² keys; what a launch says.
    #[track_caller]
    pub fn argsort<K: Key>(&self, keys: &DeviceSlice<K>, indices: &mut DeviceSlice<u32>) -> Result<()> {
        self.sort_indices("argsort", keys, indices, false)
    }

    /// Writes the positions of keys in descending order, as [`argsort`](Self::argsort). Stable.
    ///
    /// ```
    /// use gpukernel::Device;
    /// use gpukernel_algorithms::Algorithms;
    ///
    /// let device = Device::cpu();
    /// let mut indices = device.zeroed(3)?;
    /// Algorithms::new(&device)?.argsort_descending(&device.upload(&[7, 1, 7])?, &mut indices)?;
    /// assert_eq!(indices.to_vec()?, [0, 2, 1]);
    /// # Ok::<(), gpukernel_algorithms::Error>(())
    /// ```
    ///
    /// # Errors
    /// As there.
    #[track_caller]
    pub fn argsort_descending<K: Key>(
        &self,
        keys: &DeviceSlice<K>,
        indices: &mut DeviceSlice<u32>,
    ) -> Result<()> {
        self.sort_indices("argsort_descending", keys, indices, true)
    }

    #[track_caller]
    fn sort_keys<K: Key>(
        &self,
        algorithm: &'static str,
        keys: &mut DeviceSlice<K>,
        descending: bool,
    ) -> Result<()> {
        if K::IS_WORD {
            // SAFETY: such keys are as large as their words, and any bytes are a key.
            let words = unsafe { keys.__cast_unchecked_mut::<K::Word>()? };
            let values = &mut self.temporary(words.len())?;
            return self.sort_moving::<_, ()>(words, values, order::<K>(descending));
        }
        let indices = self.indices(algorithm, keys, descending)?;
        self.permute(keys, &indices)
    }

    #[track_caller]
    fn sort_keys_and_values<K: Key, V: DeviceCopy>(
        &self,
        algorithm: &'static str,
        keys: &mut DeviceSlice<K>,
        values: &mut DeviceSlice<V>,
        descending: bool,
    ) -> Result<()> {
        let (first_len, second_len) = (keys.len(), values.len());
        if first_len != second_len {
            let (first, second) = ("keys", "values");
            return Err(Error::DifferentLengths { algorithm, first, first_len, second, second_len });
        }
        if K::IS_WORD {
            let order = order::<K>(descending);
            match (size_of::<V>(), align_of::<V>()) {
                // SAFETY: such keys are as large as their words, and any bytes are a key; values have bytes, and what is written are some of them,
                // moved.
                (4, 4) => unsafe {
                    let (words, values) = (keys.__cast_unchecked_mut()?, values.__cast_unchecked_mut()?);
                    return self.sort_moving::<K::Word, Bytes<u32>>(words, values, order);
                },
                // SAFETY: as above.
                (8, 8) => unsafe {
                    let (words, values) = (keys.__cast_unchecked_mut()?, values.__cast_unchecked_mut()?);
                    return self.sort_moving::<K::Word, Bytes<u64>>(words, values, order);
                },
                _ => {}
            }
        }
        let indices = self.indices(algorithm, keys, descending)?;
        self.permute(keys, &indices)?;
        self.permute(values, &indices)
    }

    /// The positions of keys in their order.
    #[track_caller]
    fn indices<K: Key>(
        &self,
        algorithm: &'static str,
        keys: &DeviceSlice<K>,
        descending: bool,
    ) -> Result<Buffer<u32>> {
        let mut indices = self.temporary(keys.len())?;
        self.sort_indices(algorithm, keys, &mut indices, descending)?;
        Ok(indices)
    }

    #[track_caller]
    fn sort_indices<K: Key>(
        &self,
        algorithm: &'static str,
        keys: &DeviceSlice<K>,
        indices: &mut DeviceSlice<u32>,
        descending: bool,
    ) -> Result<()> {
        has_room(algorithm, "indices", keys.len(), indices.len())?;
        let limit = 1 << 32;
        if keys.len() > limit {
            return Err(Error::TooMany { algorithm, limit, len: keys.len() });
        }
        let words = self.words(keys)?;
        let order = order::<K>(descending);
        let orders = Orders { from: order, to: order };
        // SAFETY: numbers are bytes, and what is written are numbers.
        let values = unsafe { indices[..keys.len()].__cast_unchecked_mut::<Bytes<u32>>()? };
        let (mut a, mut b) = (self.temporary(keys.len())?, self.temporary(keys.len())?);
        let (mut numbers, none) = (self.temporary(keys.len())?, self.temporary(0)?);
        let other = Pairs { words: &mut a, values: &mut numbers };
        self.passes(Input::From(&words, &none), other, Pairs { words: &mut b, values }, orders)
    }

    /// Sorts words with values that are moved with them to another place.
    #[track_caller]
    fn sort_moving_to<W: SortWords<V>, V: SortValue>(
        &self,
        (from, from_values): (&DeviceSlice<W>, &DeviceSlice<V>),
        (words, values): (&mut DeviceSlice<W>, &mut DeviceSlice<V>),
        order: Order<W>,
    ) -> Result<()> {
        let (mut other_words, mut other_values) = (self.temporary(from.len())?, self.temporary(from.len())?);
        let other = Pairs { words: &mut other_words, values: &mut other_values };
        let orders = Orders { from: order, to: order };
        self.passes(Input::From(from, from_values), other, Pairs { words, values }, orders)
    }

    /// Sorts words with values that are moved with them.
    #[track_caller]
    fn sort_moving<W: SortWords<V>, V: SortValue>(
        &self,
        words: &mut DeviceSlice<W>,
        values: &mut DeviceSlice<V>,
        order: Order<W>,
    ) -> Result<()> {
        let (mut other_words, mut other_values) =
            (self.temporary(words.len())?, self.temporary(words.len())?);
        let other = Pairs { words: &mut other_words, values: &mut other_values };
        self.passes(Input::InPlace, other, Pairs { words, values }, Orders { from: order, to: order })
    }

    /// Sorts by each digit, from one place to the other and back, which leaves the result in `result`: words have an even number of digits.
    #[track_caller]
    pub(crate) fn passes<'a, W: SortWords<V>, V: SortValue>(
        &self,
        input: Input<'_, W, V>,
        other: Pairs<'a, W, V>,
        result: Pairs<'a, W, V>,
        orders: Orders<W>,
    ) -> Result<()> {
        self.passes_in_portions(MAX_PORTION, input, other, result, orders)
    }

    /// Sorts as [`passes`](Self::passes), by launches for so many keys each.
    #[track_caller]
    fn passes_in_portions<'a, W: SortWords<V>, V: SortValue>(
        &self,
        max_portion: usize,
        input: Input<'_, W, V>,
        mut other: Pairs<'a, W, V>,
        mut result: Pairs<'a, W, V>,
        orders: Orders<W>,
    ) -> Result<()> {
        let len = result.words.len();
        if len == 0 {
            return Ok(());
        }
        let passes = size_of::<W>();
        let large = W::LARGE_TILE.filter(|large| len >= large.from && self.has_large_blocks());
        let tile = large.map_or(W::TILE, |large| large.keys);
        let portion = max_portion / tile * tile;
        let portions = len.div_ceil(portion);
        let stride = (portions + 1) * DIGITS;
        let mut counts = self.stream().zeroed(passes * stride)?;
        let keys = match &input {
            Input::InPlace => &*result.words,
            Input::From(words, _) => words,
        };
        let blocks = self.resident_blocks(len, W::LANES);
        W::count_digits(self.blocks(blocks), keys, orders.from, stride, &mut counts)?;
        start_digits(self.blocks(passes), stride, &mut counts)?;
        let state_len = 1 + len.min(portion).div_ceil(tile) * DIGITS;
        let mut state = self.stream().zeroed::<u32>(state_len)?;
        let mut is_used = false;
        for pass in 0..passes {
            let from = if pass == 0 { orders.from } else { as_they_are() };
            let to = if pass + 1 == passes { orders.to } else { as_they_are() };
            let (words, values, out) = match (pass, &input) {
                (0, Input::From(words, values)) => (*words, *values, &mut other),
                (pass, _) if pass % 2 == 0 => (&*result.words, &*result.values, &mut other),
                _ => (&*other.words, &*other.values, &mut result),
            };
            for number in 0..portions {
                if is_used {
                    self.stream().fill(&mut state, 0)?;
                }
                is_used = true;
                let range = number * portion..len.min((number + 1) * portion);
                let tiles = range.len().div_ceil(tile);
                let starts = pass * stride + number * DIGITS;
                let values = if values.is_empty() { values } else { &values[range.clone()] };
                // SAFETY: the state is 0. The digits of all keys were counted, and the keys of the portions before have taken their positions.
                unsafe {
                    W::sort_pass(
                        self.blocks(tiles),
                        &words[range.clone()],
                        values,
                        range.start,
                        [from, to],
                        8 * pass as u32,
                        &mut counts[starts..starts + 2 * DIGITS],
                        &mut state,
                        (&mut *out.words, &mut *out.values),
                        large.is_some(),
                    )?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use gpukernel::Device;

    use super::*;

    /// As more than 2³⁰ keys are, which are too many for a test.
    #[test]
    fn portions_follow_each_other() {
        let device = Device::cpu();
        let algorithms = Algorithms::new(&device).unwrap();
        let len = 30_001;
        let keys: Vec<u32> = (0..len as u32).map(|i| i.wrapping_mul(0x9e37_79b9) >> 20).collect();
        let from = device.upload(&keys).unwrap();
        let (mut a, mut b) = (device.zeroed(len).unwrap(), device.zeroed(len).unwrap());
        let (mut c, mut d) = (device.zeroed(len).unwrap(), device.zeroed(len).unwrap());
        let none = device.zeroed(0).unwrap();
        let other = Pairs { words: &mut a, values: &mut b };
        let result = Pairs { words: &mut c, values: &mut d };
        let orders = Orders { from: as_they_are(), to: as_they_are() };
        let tile = <u32 as SortWords<Bytes<u32>>>::TILE;
        algorithms
            .passes_in_portions::<u32, Bytes<u32>>(
                2 * tile + 5,
                Input::From(&from, &none),
                other,
                result,
                orders,
            )
            .unwrap();
        let mut expected: Vec<u32> = (0..len as u32).collect();
        expected.sort_by_key(|&i| keys[i as usize]);
        // SAFETY: numbers were written.
        let indices = unsafe { d.__cast_unchecked::<u32>() }.unwrap();
        assert!(indices.to_vec().unwrap() == expected);
        assert!(c.to_vec().unwrap().into_iter().eq(expected.iter().map(|&i| keys[i as usize])));
    }
}

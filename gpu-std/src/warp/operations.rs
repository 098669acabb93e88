//! The basic operations of a warp: instructions on the device, meetings of threads on the CPU.
//!
//! `lanes` is the mask of the lanes that take part, the calling one included.

use super::{element::WarpElement, route::Route};

#[cfg(target_arch = "nvptx64")]
pub(super) use device::*;
#[cfg(not(target_arch = "nvptx64"))]
pub(super) use host::*;

#[cfg(target_arch = "nvptx64")]
mod device {
    use super::{Route, WarpElement};
    use crate::warp::route::Mode;

    unsafe extern "C" {
        safe fn __gpukernel_active_lanes() -> u32;
        safe fn __gpukernel_warp_sync(lanes: u32);
        safe fn __gpukernel_shuffle_index(lanes: u32, value: u32, lane: u32, control: u32) -> u32;
        safe fn __gpukernel_shuffle_up(lanes: u32, value: u32, by: u32, control: u32) -> u32;
        safe fn __gpukernel_shuffle_down(lanes: u32, value: u32, by: u32, control: u32) -> u32;
        safe fn __gpukernel_shuffle_xor(lanes: u32, value: u32, bits: u32, control: u32) -> u32;
        safe fn __gpukernel_shuffle_index_in_range(lanes: u32, value: u32, lane: u32, control: u32) -> u64;
        safe fn __gpukernel_shuffle_up_in_range(lanes: u32, value: u32, by: u32, control: u32) -> u64;
        safe fn __gpukernel_shuffle_down_in_range(lanes: u32, value: u32, by: u32, control: u32) -> u64;
        safe fn __gpukernel_shuffle_xor_in_range(lanes: u32, value: u32, bits: u32, control: u32) -> u64;
        safe fn __gpukernel_vote_all(lanes: u32, vote: u32) -> u32;
        safe fn __gpukernel_vote_any(lanes: u32, vote: u32) -> u32;
        safe fn __gpukernel_vote_uni(lanes: u32, vote: u32) -> u32;
        safe fn __gpukernel_ballot(lanes: u32, vote: u32) -> u32;
        safe fn __gpukernel_match_any_32(lanes: u32, value: u32) -> u32;
        safe fn __gpukernel_match_any_64(lanes: u32, value: u64) -> u32;
        safe fn __gpukernel_match_all_32(lanes: u32, value: u32) -> u32;
        safe fn __gpukernel_match_all_64(lanes: u32, value: u64) -> u32;
    }

    /// Returns the lanes that are active together.
    #[inline(always)]
    pub(in crate::warp) fn converge() -> u32 {
        __gpukernel_active_lanes()
    }

    /// Waits for all lanes, and orders their memory accesses.
    #[inline(always)]
    pub(in crate::warp) fn sync(lanes: u32) {
        __gpukernel_warp_sync(lanes);
    }

    /// Returns the value of the lane that the route leads to and `true`, or the calling lane's own value and `false` if there
    /// is none.
    #[inline(always)]
    pub(in crate::warp) fn shuffle<T: WarpElement>(
        lanes: u32,
        route: Route,
        value: T,
        _: &'static str,
    ) -> (T, bool) {
        let Route { mode, operand, control, exists } = route;
        let mut in_range = true;
        let mut first = true;
        let result = map_words(value, |word| {
            if !first {
                // All words of a value take the same route, so whether the lane exists is asked once.
                return match mode {
                    Mode::Index => __gpukernel_shuffle_index(lanes, word, operand, control),
                    Mode::Up => __gpukernel_shuffle_up(lanes, word, operand, control),
                    Mode::Down => __gpukernel_shuffle_down(lanes, word, operand, control),
                    Mode::Xor => __gpukernel_shuffle_xor(lanes, word, operand, control),
                };
            }
            first = false;
            let both = match mode {
                Mode::Index => __gpukernel_shuffle_index_in_range(lanes, word, operand, control),
                Mode::Up => __gpukernel_shuffle_up_in_range(lanes, word, operand, control),
                Mode::Down => __gpukernel_shuffle_down_in_range(lanes, word, operand, control),
                Mode::Xor => __gpukernel_shuffle_xor_in_range(lanes, word, operand, control),
            };
            in_range = both >> 32 != 0;
            both as u32
        });
        (result, in_range && exists)
    }

    #[inline(always)]
    pub(in crate::warp) fn all(lanes: u32, vote: bool) -> bool {
        __gpukernel_vote_all(lanes, u32::from(vote)) != 0
    }

    #[inline(always)]
    pub(in crate::warp) fn any(lanes: u32, vote: bool) -> bool {
        __gpukernel_vote_any(lanes, u32::from(vote)) != 0
    }

    #[inline(always)]
    pub(in crate::warp) fn uniform(lanes: u32, vote: bool) -> bool {
        __gpukernel_vote_uni(lanes, u32::from(vote)) != 0
    }

    /// Returns the lanes that pass `true`.
    #[inline(always)]
    pub(in crate::warp) fn ballot(lanes: u32, vote: bool) -> u32 {
        __gpukernel_ballot(lanes, u32::from(vote))
    }

    /// Returns the lanes whose values have the same bits.
    #[inline(always)]
    pub(in crate::warp) fn match_any<T: WarpElement>(lanes: u32, value: T) -> u32 {
        let mut equal = lanes;
        for_double_words(value, |word| {
            equal &= match word {
                Word::Single(word) => __gpukernel_match_any_32(lanes, word),
                Word::Double(word) => __gpukernel_match_any_64(lanes, word),
            };
        });
        equal
    }

    /// Returns whether all values have the same bits.
    #[inline(always)]
    pub(in crate::warp) fn match_all<T: WarpElement>(lanes: u32, value: T) -> bool {
        let mut equal = true;
        for_double_words(value, |word| {
            equal &= 0
                != match word {
                    Word::Single(word) => __gpukernel_match_all_32(lanes, word),
                    Word::Double(word) => __gpukernel_match_all_64(lanes, word),
                };
        });
        equal
    }

    /// Returns the value whose words are those of another after `map`, which is called at least once.
    #[inline(always)]
    fn map_words<T: WarpElement>(value: T, mut map: impl FnMut(u32) -> u32) -> T {
        let bytes = size_of::<T>();
        let mut result = value;
        let (from, to) = ((&raw const value).cast::<u8>(), (&raw mut result).cast::<u8>());
        let mut at = 0;
        while at + 4 <= bytes {
            // SAFETY: four bytes of the value start there, none of them padding.
            let word = map(unsafe { from.add(at).cast::<u32>().read_unaligned() });
            // SAFETY: as many of the result, for which any bits are a value.
            unsafe { to.add(at).cast::<u32>().write_unaligned(word) };
            at += 4;
        }
        if at < bytes || bytes == 0 {
            let mut word = 0;
            for i in 0..bytes - at {
                // SAFETY: a byte of the value is there.
                word |= u32::from(unsafe { *from.add(at + i) }) << (8 * i);
            }
            let word = map(word);
            for i in 0..bytes - at {
                // SAFETY: a byte of the result is there.
                unsafe { *to.add(at + i) = (word >> (8 * i)) as u8 };
            }
        }
        result
    }

    enum Word {
        Single(u32),
        Double(u64),
    }

    /// Calls a function for the words of a value, two at a time where there are two.
    #[inline(always)]
    fn for_double_words<T: WarpElement>(value: T, mut each: impl FnMut(Word)) {
        let words = size_of::<T>().div_ceil(4).max(1);
        let mut low = None;
        let mut seen = 0;
        map_words(value, |word| {
            seen += 1;
            match low {
                Some(first) => {
                    each(Word::Double(u64::from(first) | u64::from(word) << 32));
                    low = None;
                }
                None if seen == words => each(Word::Single(word)),
                None => low = Some(word),
            }
            word
        });
    }
}

#[cfg(not(target_arch = "nvptx64"))]
mod host {
    use core::panic::Location;

    use super::{Route, WarpElement};
    use crate::{
        host::{Meeting, Met, current},
        warp::lane_index,
    };

    #[track_caller]
    pub(in crate::warp) fn converge() -> u32 {
        current().block.converge(Location::caller())
    }

    /// Waits for the other lanes, and returns what `read` makes of their values.
    #[track_caller]
    fn meet<R>(
        operation: &'static str,
        lanes: u32,
        value: &[u8],
        read: impl FnOnce(&Met<'_>) -> R,
    ) -> Option<R> {
        let place = Location::caller();
        let (mut read, mut result) = (Some(read), None);
        let meeting = Meeting { place, operation, lanes, value_bytes: value.len() };
        current().block.meet(meeting, value, &mut |met| result = read.take().map(|read| read(met)));
        result
    }

    #[track_caller]
    pub(in crate::warp) fn sync(lanes: u32) {
        meet("`sync` of a group of lanes", lanes, &[], |_| ());
    }

    #[track_caller]
    pub(in crate::warp) fn shuffle<T: WarpElement>(
        lanes: u32,
        route: Route,
        value: T,
        operation: &'static str,
    ) -> (T, bool) {
        let (source, in_range) = route.source(lane_index());
        let bytes = bytemuck::bytes_of(&value);
        let found = meet(operation, lanes, bytes, |met| met.value(source).map(bytemuck::pod_read_unaligned));
        match found.flatten() {
            Some(value) => (value, in_range),
            // In a destructor of a thread that panics, another panic would end the process.
            None if std::thread::panicking() => (value, in_range),
            None => from_nobody(operation, source),
        }
    }

    #[cold]
    #[track_caller]
    fn from_nobody(operation: &str, source: u32) -> ! {
        panic!("{operation} asks lane {source} for a value, but that lane's thread has ended");
    }

    #[track_caller]
    pub(in crate::warp) fn all(lanes: u32, vote: bool) -> bool {
        let (yes, voters) = vote_of("`all`", lanes, vote);
        yes == voters
    }

    #[track_caller]
    pub(in crate::warp) fn any(lanes: u32, vote: bool) -> bool {
        vote_of("`any`", lanes, vote).0 != 0
    }

    #[track_caller]
    pub(in crate::warp) fn uniform(lanes: u32, vote: bool) -> bool {
        let (yes, voters) = vote_of("`uniform`", lanes, vote);
        yes == 0 || yes == voters
    }

    #[track_caller]
    pub(in crate::warp) fn ballot(lanes: u32, vote: bool) -> u32 {
        vote_of("`ballot`", lanes, vote).0
    }

    /// Returns the lanes that pass `true`, and all that vote.
    #[track_caller]
    fn vote_of(operation: &'static str, lanes: u32, vote: bool) -> (u32, u32) {
        let yes = |met: &Met<'_>| (lanes_where(met, |value| value == [1]), met.lanes());
        meet(operation, lanes, &[u8::from(vote)], yes).unwrap_or_default()
    }

    #[track_caller]
    pub(in crate::warp) fn match_any<T: WarpElement>(lanes: u32, value: T) -> u32 {
        let value = bytemuck::bytes_of(&value);
        let equal = |met: &Met<'_>| lanes_where(met, |other| other == value);
        meet("`match_any`", lanes, value, equal).unwrap_or_default()
    }

    #[track_caller]
    pub(in crate::warp) fn match_all<T: WarpElement>(lanes: u32, value: T) -> bool {
        let value = bytemuck::bytes_of(&value);
        let equal = |met: &Met<'_>| lanes_where(met, |other| other == value) == met.lanes();
        meet("`match_all`", lanes, value, equal).unwrap_or_default()
    }

    /// Returns the lanes whose values satisfy a predicate.
    fn lanes_where(met: &Met<'_>, is_so: impl Fn(&[u8]) -> bool) -> u32 {
        (0..32).filter(|&lane| met.value(lane).is_some_and(&is_so)).fold(0, |lanes, lane| lanes | 1 << lane)
    }
}

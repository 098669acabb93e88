//! The lane that a shuffle reads from, as operands of the instruction (PTX ISA, `shfl.sync`).

use super::WARP_SIZE;

/// The mode of a shuffle: the meaning of its operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// The lane with this index in the segment.
    Index,
    /// The lane lower by this number.
    Up,
    /// The lane higher by this number.
    Down,
    /// The lane whose index is this one XOR these bits.
    Xor,
}

/// One lane's operands of a shuffle.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    pub(super) mode: Mode,
    /// Less than 32.
    pub(super) operand: u32,
    /// The instruction's operand `c`: in bits 8 to 12 the bits of a lane's index that select its segment, in bits 0 to 4 the
    /// last lane of a segment, or the first for [`Mode::Up`].
    pub(super) control: u32,
    /// `false` if there is no such lane although the operand names one, which the instruction does not notice.
    pub(super) exists: bool,
}

/// One segment, the whole warp.
const WHOLE: u32 = WARP_SIZE - 1;

impl Route {
    /// From the lane with this index in the warp; `exists` is whether it is the one asked for.
    #[inline(always)]
    pub(super) fn lane(lane: u32, exists: bool) -> Self {
        Self { mode: Mode::Index, operand: lane, control: WHOLE, exists }
    }

    /// From the lane whose index in the warp is this one XOR these bits.
    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    pub(super) fn xor(bits: u32) -> Self {
        Self { mode: Mode::Xor, operand: bits, control: WHOLE, exists: true }
    }

    /// Returns the lane that the value comes from, and whether it is the one asked for, as the instruction computes both.
    #[cfg(not(target_arch = "nvptx64"))]
    pub(super) fn source(self, lane: u32) -> (u32, bool) {
        let segment = self.control >> 8 & WHOLE;
        let bound = self.control & WHOLE;
        let limit = (lane & segment) | (bound & !segment);
        let (source, exists) = match self.mode {
            Mode::Index => {
                let source = (lane & segment) | (self.operand & !segment);
                (source, source <= limit)
            }
            // Signed in the instruction.
            Mode::Up => (lane.wrapping_sub(self.operand), lane >= limit + self.operand),
            Mode::Down => (lane + self.operand, lane + self.operand <= limit),
            Mode::Xor => (lane ^ self.operand, lane ^ self.operand <= limit),
        };
        (if exists { source } else { lane }, exists && self.exists)
    }
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;

    fn source(mode: Mode, operand: u32, control: u32, lane: u32) -> (u32, bool) {
        Route { mode, operand, control, exists: true }.source(lane)
    }

    #[test]
    fn segments_bound_every_mode() {
        let eights = (32 - 8) << 8 | 7;
        assert_eq!(source(Mode::Index, 3, eights, 17), (19, true));
        assert_eq!(source(Mode::Index, 11, eights, 17), (19, true), "only the low bits count");
        assert_eq!(source(Mode::Up, 1, (32 - 8) << 8, 16), (16, false));
        assert_eq!(source(Mode::Up, 1, (32 - 8) << 8, 17), (16, true));
        assert_eq!(source(Mode::Down, 2, eights, 21), (23, true));
        assert_eq!(source(Mode::Down, 3, eights, 21), (21, false));
        assert_eq!(source(Mode::Xor, 4, eights, 9), (13, true));
    }

    #[test]
    fn lanes_that_a_short_warp_lacks_are_never_read() {
        for last in 0..31 {
            for lane in 0..=last {
                for operand in 0..32 {
                    for mode in [Mode::Index, Mode::Down, Mode::Xor] {
                        let (from, exists) = source(mode, operand, last, lane);
                        assert!(from <= last, "{mode:?} {operand} from {lane} of {last}");
                        assert!(exists || from == lane);
                    }
                    assert!(source(Mode::Up, operand, 0, lane).0 <= lane);
                }
            }
        }
    }
}

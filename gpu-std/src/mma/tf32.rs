//! `tf32`: an `f32` with a mantissa of 10 bits.

use bytemuck::{AnyBitPattern, Zeroable};

use crate::{DeviceCopy, signature::Text};

/// The number format in which tensor cores multiply `f32`: its exponent, and 10 bits of its mantissa. The lower 13 bits are
/// ignored.
///
/// ```
/// use gpu_std::mma::Tf32;
///
/// assert_eq!(Tf32::from(0.5).to_f32(), 0.5);
/// assert_eq!(Tf32::from(1.0 + 1.0 / 4096.0).to_f32(), 1.0);
/// ```
#[doc(alias = "tf32", alias = "TensorFloat-32")]
#[derive(Clone, Copy, Debug, Default)]
#[repr(transparent)]
pub struct Tf32(u32);

// SAFETY: a number without padding.
unsafe impl Zeroable for Tf32 {}
// SAFETY: as above.
unsafe impl AnyBitPattern for Tf32 {}
// SAFETY: as above.
#[diagnostic::do_not_recommend]
unsafe impl DeviceCopy for Tf32 {
    const TYPE: Text = Text::Word("gpu_std::mma::Tf32");
    const ANY_BYTES: bool = true;
}

/// The bits that are ignored.
const LOW: u32 = 0x1fff;

impl From<f32> for Tf32 {
    /// Rounds to the nearest value, ties away from zero (`cvt.rna.tf32.f32`).
    #[inline(always)]
    fn from(value: f32) -> Self {
        #[cfg(target_arch = "nvptx64")]
        {
            unsafe extern "C" {
                safe fn __gpukernel_tf32(value: f32) -> u32;
            }
            if crate::arch() >= 80 {
                return Self(__gpukernel_tf32(value));
            }
        }
        if value.is_nan() {
            return Self(0x7fff_ffff);
        }
        // A carry goes into the exponent, from the largest value to infinity.
        Self((value.to_bits() + LOW / 2 + 1) & !LOW)
    }
}

impl Tf32 {
    /// Returns its value, exactly.
    #[inline(always)]
    pub const fn to_f32(self) -> f32 {
        f32::from_bits(self.0 & !LOW)
    }

    /// Returns its bits, those that are ignored included.
    #[inline(always)]
    pub const fn to_bits(self) -> u32 {
        self.0
    }

    /// Creates the number with these bits, of which the lower 13 are ignored.
    #[inline(always)]
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_bits_are_kept() {
        for bits in [0, 0x3f80_0000, 0x3f80_2000, 0xbf80_6000, 0x0000_2000, 0x7f7f_e000, 0x7f80_0000] {
            assert_eq!(Tf32::from(f32::from_bits(bits)).to_bits(), bits, "{bits:#x}");
        }
    }

    #[test]
    fn the_middle_goes_away_from_zero() {
        for (from, to) in [
            (0x3f80_0fff, 0x3f80_0000),
            (0x3f80_1000, 0x3f80_2000),
            (0x3f80_3000, 0x3f80_4000),
            (0xbf80_1000, 0xbf80_2000),
            (0x0000_1000, 0x0000_2000),
            (0x3fff_f000, 0x4000_0000),
            (0x7f7f_ffff, 0x7f80_0000),
        ] {
            assert_eq!(Tf32::from(f32::from_bits(from)).to_bits(), to, "{from:#x}");
        }
    }

    #[test]
    fn no_number_stays_none() {
        assert!(Tf32::from(f32::NAN).to_f32().is_nan());
        assert!(Tf32::from(f32::from_bits(0x7f80_0001)).to_f32().is_nan());
        assert!(Tf32::from(f32::from_bits(0xffff_ffff)).to_f32().is_nan());
    }
}

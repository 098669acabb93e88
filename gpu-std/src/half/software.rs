//! Software arithmetic of 16-bit floats, for the host and for devices without the instruction.

/// x · a + b as an f32 that rounds to the same number of 16 bits as the exact result.
///
/// The product of two such numbers is exact in f64. The sum is rounded to odd in f64 and then in f32: its last bit marks an inexact
/// result, so that the last rounding is correct (Boldo and Melquiond 2008).
#[inline]
pub(super) fn mul_add(x: f64, a: f64, b: f64) -> f32 {
    let product = x * a;
    let sum = product + b;
    let part = sum - product;
    let error = (product - (sum - part)) + (b - part);
    // Infinities and NaN have no error.
    narrowed_to_odd(if error.is_finite() { to_odd(sum, error) } else { sum })
}

/// `sum`, or the float next to it in the direction of the error if its last bit is even.
#[inline]
fn to_odd(sum: f64, error: f64) -> f64 {
    match sum.to_bits() & 1 {
        0 if error > 0.0 => sum.next_up(),
        0 if error < 0.0 => sum.next_down(),
        _ => sum,
    }
}

/// An f64 as an f32 that rounds to the same number of 16 bits: inexact ones have their last bit set.
#[inline]
pub(super) fn narrowed_to_odd(x: f64) -> f32 {
    let nearest = x as f32;
    let back = f64::from(nearest);
    match nearest.to_bits() & 1 {
        0 if nearest.is_finite() && x > back => nearest.next_up(),
        0 if nearest.is_finite() && x < back => nearest.next_down(),
        _ => nearest,
    }
}

/// As IEEE 754 binary16, ties to even (F. Giesen, "Float→half variants").
#[cfg(not(target_arch = "nvptx64"))]
pub(super) fn __gpukernel_f32_to_f16(x: f32) -> u16 {
    let sign = (x.to_bits() >> 16) as u16 & 0x8000;
    let abs = x.to_bits() & 0x7FFF_FFFF;
    let rounded = match abs {
        0x7F80_0001.. => 0x7E00,
        // 2¹⁶ and more.
        0x4780_0000.. => 0x7C00,
        // Normal: shift the exponent and round the dropped bits; a carry goes to the exponent, up to infinity.
        0x3880_0000.. => ((abs - (112 << 23)) + 0xFFF + (abs >> 13 & 1)) >> 13,
        // Subnormal: ½ has the unit 2⁻²⁴.
        _ => (f32::from_bits(abs) + 0.5).to_bits() - 0.5_f32.to_bits(),
    };
    sign | rounded as u16
}

/// Exact.
#[cfg(not(target_arch = "nvptx64"))]
pub(super) fn __gpukernel_f16_to_f32(bits: u16) -> f32 {
    let shifted = u32::from(bits & 0x7FFF) << 13;
    let abs = match shifted >> 23 {
        // Subnormal: multiples of 2⁻²⁴.
        0 => f32::from(bits & 0x7FFF) * f32::from_bits(103 << 23),
        31 => f32::from_bits(shifted + (224 << 23)),
        _ => f32::from_bits(shifted + (112 << 23)),
    };
    if bits & 0x8000 == 0 { abs } else { -abs }
}

/// The upper half, ties to even.
#[cfg(not(target_arch = "nvptx64"))]
pub(super) fn __gpukernel_f32_to_bf16(x: f32) -> u16 {
    let bits = x.to_bits();
    let upper = (bits >> 16) as u16;
    if x.is_nan() { upper | 0x40 } else { ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16) as u16 }
}

/// Exact.
#[cfg(not(target_arch = "nvptx64"))]
pub(super) fn __gpukernel_bf16_to_f32(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

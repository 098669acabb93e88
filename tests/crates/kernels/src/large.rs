//! Crates that take longer than all others together.

use gpu_std::prelude::*;

crate::kernels! {
    each_large

    /// An array of bits.
    bitvec(x) {
        use bitvec::prelude::*;
        let mut bits = bitarr![u32, Lsb0; 0; 64];
        bits[3..35].store(x);
        bits.count_ones() as u32 + bits[1..33].load::<u32>()
    }

    /// BLAKE3.
    blake3(x) { crate::sum(blake3::hash(&x.to_le_bytes()).as_bytes()) }

    /// Remainders of 256 bits.
    crypto_bigint(x) {
        use crypto_bigint::{U256, Encoding, NonZero};
        let a = U256::from(x).wrapping_mul(&U256::from_u128(u128::MAX));
        let divisor = NonZero::new(U256::from(x % 1000 + 7)).unwrap_or(NonZero::ONE);
        crate::sum(&a.wrapping_rem(&divisor).to_le_bytes())
    }

    /// A product on Curve25519.
    curve25519_dalek(x) {
        use curve25519_dalek::{montgomery::MontgomeryPoint, scalar::Scalar};
        let point = MontgomeryPoint([9; 32]) * Scalar::from(x);
        crate::sum(point.as_bytes())
    }

    /// DEFLATE, there and back.
    miniz_oxide(x) {
        let data: [u8; 64] = core::array::from_fn(|i| (i as u32 % (x % 9 + 1)) as u8);
        let packed = miniz_oxide::deflate::compress_to_vec(&data, 6);
        let unpacked = miniz_oxide::inflate::decompress_to_vec(&packed).unwrap_or_default();
        packed.len() as u32 * 1000 + crate::sum(&unpacked)
    }

    /// A product of matrices on the heap.
    ndarray(x) {
        let a = ndarray::Array2::from_shape_fn((3, 4), |(i, j)| x.wrapping_mul(i as u32) % 11 + j as u32);
        let product = a.dot(&a.t());
        product.sum() + product.row(1).iter().max().copied().unwrap_or(0)
    }

    /// A product on P-256.
    p256(x) {
        use p256::{ProjectivePoint, Scalar, elliptic_curve::{group::GroupEncoding, PrimeField}};
        crate::sum((ProjectivePoint::GENERATOR * Scalar::from(x)).to_bytes().as_slice()) + u32::from(Scalar::NUM_BITS == 256)
    }

    /// A color in another space.
    palette(x) {
        use palette::{FromColor, Hsv, Srgb};
        let color = Hsv::from_color(Srgb::new((x % 5) as f32 / 4.0, 0.25, 0.75));
        (color.value * 100.0) as u32 + (color.hue.into_positive_degrees() + 0.5) as u32
    }

    /// A rotation of a vector.
    vek(x) {
        let turned = vek::Mat4::<f32>::rotation_z(0.25) * vek::Vec4::new((x % 9) as f32, 1.0, 0.0, 1.0);
        (turned.magnitude() * 100.0 + 0.5) as u32
    }
}

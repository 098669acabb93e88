//! Crates that compile in a moment.

use gpu_std::prelude::*;

crate::kernels! {
    each_small

    /// Adler-32.
    adler2(x) { adler2::adler32_slice(&x.to_le_bytes()) }

    /// AES-128 in software.
    aes(x) {
        use aes::{Aes128, cipher::{BlockEncrypt, KeyInit}};
        let mut block = [x as u8; 16].into();
        Aes128::new(&[7; 16].into()).encrypt_block(&mut block);
        crate::sum(&block)
    }

    /// A map on the heap of kernels, which is the driver's.
    heap(x) {
        use ::alloc::{collections::BTreeMap, vec::Vec};
        let mut counts = BTreeMap::new();
        (0..40).for_each(|i| *counts.entry(x.wrapping_mul(i) % 7).or_insert(0_u32) += i);
        let keys: Vec<u32> = counts.keys().rev().copied().collect();
        keys.iter().zip(counts.values()).fold(0, |sum, (key, count)| sum * 3 + key * count)
    }

    /// `ArrayVec` and `ArrayString`.
    arrayvec(x) {
        let mut vec: arrayvec::ArrayVec<u32, 9> = (0..8).map(|i| x.wrapping_mul(i)).collect();
        vec.retain(|value| *value % 3 != 0);
        let mut text = arrayvec::ArrayString::<16>::new();
        text.push_str(if x.is_multiple_of(2) { "even" } else { "odd number" });
        vec.iter().fold(0, |sum: u32, value| sum.wrapping_add(*value)) ^ (vec.len() + text.len()) as u32
    }

    /// Into text and back.
    base64(x) {
        use base64::{Engine, prelude::BASE64_STANDARD};
        let mut text = [0; 16];
        let len = BASE64_STANDARD.encode_slice(x.to_le_bytes(), &mut text).unwrap_or(0);
        let mut back = [0; 12];
        let decoded = BASE64_STANDARD.decode_slice(&text[..len], &mut back).unwrap_or(0);
        crate::sum(&text) ^ crate::sum(&back[..decoded])
    }

    /// Sets of flags.
    bitflags(x) {
        bitflags::bitflags! {
            #[derive(Clone, Copy, PartialEq)]
            struct Flags: u32 { const A = 1; const B = 2; const C = 12; }
        }
        let flags = Flags::from_bits_truncate(x);
        (flags | Flags::B).bits() + u32::from(flags.contains(Flags::C)) + flags.iter().count() as u32
    }

    /// BLAKE2s.
    blake2(x) {
        use blake2::Digest;
        crate::sum(&blake2::Blake2s256::digest(x.to_le_bytes()))
    }

    /// Casts of plain data.
    bytemuck(x) {
        let words: [u16; 2] = bytemuck::cast(x);
        crate::sum(bytemuck::bytes_of(&words)) + bytemuck::cast_slice::<u16, u8>(&words).len() as u32
    }

    /// Numbers in bytes of either order.
    byteorder(x) {
        use byteorder::{BigEndian, ByteOrder, LittleEndian};
        let mut bytes = [0; 8];
        BigEndian::write_u32(&mut bytes[1..], x);
        LittleEndian::read_u24(&bytes[2..]) ^ BigEndian::read_u16(&bytes) as u32
    }

    /// The ChaCha8 cipher.
    chacha20(x) {
        use chacha20::{ChaCha8, cipher::{KeyIvInit, StreamCipher}};
        let mut bytes = x.to_le_bytes();
        ChaCha8::new(&[1; 32].into(), &[2; 12].into()).apply_keystream(&mut bytes);
        u32::from_le_bytes(bytes)
    }

    /// CRC-32.
    crc(x) { crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC).checksum(&x.to_le_bytes()) }

    /// An iterator of two kinds.
    either(x) {
        use either::Either;
        let values = if x.is_multiple_of(2) { Either::Left(0..x % 17) } else { Either::Right([x, 5].into_iter()) };
        values.fold(0, u32::wrapping_add)
    }

    /// Rectangles that intersect.
    euclid(x) {
        use euclid::default::{Point2D, Rect, Size2D};
        let rect = Rect::new(Point2D::new(x % 10, 3), Size2D::new(5, 6));
        rect.intersection(&Rect::new(Point2D::new(4, 4), Size2D::new(9, 9))).map_or(0, |both| both.area())
    }

    /// Random numbers and a shuffle.
    fastrand(x) {
        let mut rng = fastrand::Rng::with_seed(u64::from(x));
        let mut values = [1, 2, 3, 4, 5, 6];
        rng.shuffle(&mut values);
        values[0] * 10 + values[5] + rng.u32(..1000)
    }

    /// Fixed-point numbers.
    fixed(x) {
        use fixed::types::I16F16;
        let a = I16F16::from_num(x % 100) / 7;
        (a * a + I16F16::PI).to_bits() as u32
    }

    /// The FNV hash.
    fnv(x) {
        use core::hash::Hasher;
        let mut hasher = fnv::FnvHasher::default();
        hasher.write_u32(x);
        hasher.finish() as u32
    }

    /// Numbers of 16 bits.
    half(x) { u32::from((half::f16::from_f32(x as f32 * 0.37) * half::f16::from_f32(3.0)).to_bits()) + u32::from(half::bf16::from_f64(f64::from(x)).to_bits()) }

    /// A binary heap and a map.
    heapless(x) {
        let mut heap: heapless::BinaryHeap<u32, heapless::binary_heap::Max, 8> = heapless::BinaryHeap::new();
        let mut map: heapless::FnvIndexMap<u32, u32, 16> = heapless::FnvIndexMap::new();
        for i in 0..8 {
            let _ = heap.push(x.rotate_left(i * 3) % 100);
            let _ = map.insert(x % (i + 3), i);
        }
        heap.pop().unwrap_or(0) * 100 + map.values().sum::<u32>()
    }

    /// Into text and back.
    hex(x) {
        let mut text = [0; 8];
        let encoded = hex::encode_to_slice(x.to_be_bytes(), &mut text).is_ok();
        let mut back = [0; 4];
        u32::from(encoded) + crate::sum(&text) + u32::from(hex::decode_to_slice(text, &mut back).is_ok()) + crate::sum(&back)
    }

    /// Combinations and extremes.
    itertools(x) {
        use itertools::Itertools;
        let pairs: u32 = (0..6).tuple_combinations().map(|(a, b): (u32, u32)| a * b + x % 7).sum();
        pairs + (0..9_u32).map(|i| x.wrapping_mul(i) % 10).minmax().into_option().map_or(0, |(a, b)| a + b)
    }

    /// An integer as text.
    itoa(x) { crate::sum(itoa::Buffer::new().format(x).as_bytes()) }

    /// A product on secp256k1.
    k256(x) {
        use k256::{ProjectivePoint, Scalar, elliptic_curve::group::GroupEncoding};
        crate::sum((ProjectivePoint::GENERATOR * Scalar::from(x)).to_affine().to_bytes().as_slice())
    }

    /// MD5.
    md5(x) {
        use md5::Digest;
        crate::sum(&md5::Md5::digest(x.to_le_bytes()))
    }

    /// Bytes and text that are searched for.
    memchr(x) {
        let text = b"the quick brown fox jumps over the lazy dog";
        let found = memchr::memchr(b'a' + (x % 26) as u8, text).unwrap_or(99);
        found as u32 + memchr::memmem::find(text, &text[(x % 20) as usize..][..4]).unwrap_or(77) as u32
    }

    /// Approximations of math functions.
    micromath(x) {
        micromath::F32Ext::atan2((x % 100) as f32, 2.0).to_bits() >> 8
    }

    /// A system of three equations.
    nalgebra(x) {
        let matrix = nalgebra::Matrix3::new(2.0, 1.0, 0.0, 1.0, 3.0, (x % 8) as f64, 0.0, 1.0, 4.0);
        let solved = matrix.lu().solve(&nalgebra::Vector3::new(1.0, 2.0, 3.0));
        solved.map_or(0, |solution| (solution.norm() * 1e4) as u32)
    }

    /// An exponential of a complex number.
    num_complex(x) {
        let z = num_complex::Complex::new((x % 10) as f64, 2.0);
        ((z * z).exp().norm() * 1e3) as i32 as u32
    }

    /// Random numbers.
    oorandom(x) {
        let mut rng = oorandom::Rand32::new(u64::from(x));
        rng.rand_u32() ^ rng.rand_range(3..99)
    }

    /// Random numbers of ChaCha12.
    rand_chacha(x) {
        use rand_chacha::{ChaCha12Rng, rand_core::{RngCore, SeedableRng}};
        ChaCha12Rng::seed_from_u64(u64::from(x)).next_u32()
    }

    /// Random numbers of PCG.
    rand_pcg(x) {
        use rand_pcg::{Pcg64Mcg, rand_core::{RngCore, SeedableRng}};
        Pcg64Mcg::seed_from_u64(u64::from(x)).next_u32()
    }

    /// Components of a color.
    rgb(x) {
        use rgb::{ComponentMap, RGB8};
        let color = RGB8::new(x as u8, (x >> 8) as u8, 3).map(|component| component / 2);
        u32::from(color.r) + u32::from(color.g) * u32::from(color.b)
    }

    /// A floating-point number as text.
    ryu(x) { crate::sum(ryu::Buffer::new().format(f64::from(x) / 7.0).as_bytes()) }

    /// SHA-256 and SHA-512.
    sha2(x) {
        use sha2::Digest;
        crate::sum(&sha2::Sha256::digest(x.to_le_bytes())) ^ crate::sum(&sha2::Sha512::digest(x.to_be_bytes()))
    }

    /// SipHash.
    siphasher(x) {
        use core::hash::Hasher;
        let mut hasher = siphasher::sip::SipHasher13::new_with_keys(1, 2);
        hasher.write(&x.to_le_bytes());
        hasher.finish() as u32
    }

    /// A vector that goes to the heap.
    smallvec(x) {
        let mut vec: smallvec::SmallVec<[u32; 4]> = smallvec::smallvec![x, 1];
        vec.extend(0..x % 7);
        vec.sort_unstable();
        vec.iter().fold(0, |sum, value| sum.wrapping_mul(3).wrapping_add(*value))
    }

    /// A vector in an array.
    tinyvec(x) {
        let mut vec = tinyvec::array_vec!([u32; 8] => 1, x);
        vec.insert(1, x / 2);
        vec.iter().rev().fold(0, |sum, value| sum.wrapping_mul(3).wrapping_add(*value))
    }

    /// xxHash of 32 and of 64 bits.
    twox_hash(x) {
        twox_hash::XxHash32::oneshot(3, &x.to_le_bytes()) ^ twox_hash::XxHash64::oneshot(4, &x.to_le_bytes()) as u32
    }

    /// Text made of values.
    ufmt(x) {
        struct Text(u32);
        impl ufmt::uWrite for Text {
            type Error = core::convert::Infallible;
            fn write_str(&mut self, text: &str) -> Result<(), Self::Error> {
                self.0 = self.0.wrapping_mul(31).wrapping_add(crate::sum(text.as_bytes()));
                Ok(())
            }
        }
        let mut text = Text(1);
        let written = ufmt::uwrite!(&mut text, "{} of {}", x, "these");
        text.0 + u32::from(written.is_ok())
    }

    /// A power of 256 bits.
    uint(x) {
        #[allow(clippy::manual_div_ceil, reason = "the macro's")]
        mod number {
            uint::construct_uint! {
                pub struct U256(4);
            }
        }
        use number::U256;
        ((U256::from(x).pow(5.into()) / 12345) % 1_000_003).low_u32()
    }

    /// Vectors of eight numbers.
    wide(x) {
        let values = wide::f32x8::from([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, (x % 16) as f32]);
        (values * values).reduce_add() as u32 + wide::u32x4::from([x, 1, 2, 3]).to_array()[(x % 4) as usize]
    }
}

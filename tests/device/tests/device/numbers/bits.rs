//! Operations on bits against definitions in wider integers, on random and extreme numbers.

use gpukernel::for_each;
use gpukernel_device_test_kernels::numbers::{BITS_U32, BITS_U64, bits_u32, bits_u64};
use gpukernel_device_tests::on_every_device;

use super::number_of;

/// Triples of extreme and of random numbers.
fn triples() -> Vec<[u64; 3]> {
    let extreme = [
        0,
        1,
        u64::MAX,
        1 << 63,
        1 << 31,
        0x7FFF_FFFF,
        0x8080_8080_8080_8080,
        0xFFFF_FFFF,
        0x7FFF_FFFF_FFFF_FFFF,
    ];
    let mut triples: Vec<_> =
        extreme.iter().flat_map(|&a| extreme.iter().map(move |&b| [a, b, a.rotate_left(7) ^ b])).collect();
    let mut state = 11_u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state ^ state >> 33
    };
    triples.extend((0..500).map(|_| [random(), random(), random()]));
    triples
}

/// The bits `start..start + len` of a number of `width` bits, one by one; beyond its end `above`.
fn field(x: u64, width: u32, start: u32, len: u32, above: bool) -> u64 {
    (0..len.min(64)).fold(0, |field, i| {
        let set = if start + i < width { x >> (start + i) & 1 != 0 } else { above };
        field | u64::from(set) << i
    })
}

/// A field whose uppermost bit is its sign.
fn signed_field(x: u64, width: u32, start: u32, len: u32) -> u64 {
    let field = field(x, width, start, len, x >> (width - 1) & 1 != 0);
    let rest = 64 - len.clamp(1, 64);
    if len == 0 { 0 } else { ((field << rest) as i64 >> rest) as u64 }
}

/// `x` with the bits `start..start + len` from `field`, one by one.
fn inserted(x: u64, field: u64, start: u32, len: u32) -> u64 {
    (0..len.min(64)).filter(|i| start + i < 64).fold(x, |x, i| {
        let bit = 1 << (start + i);
        if field >> i & 1 != 0 { x | bit } else { x & !bit }
    })
}

fn bytes(x: u32) -> [i64; 4] {
    x.to_le_bytes().map(i64::from)
}

fn signed_bytes(x: u32) -> [i64; 4] {
    x.to_le_bytes().map(|byte| i64::from(byte as i8))
}

fn dot(a: &[i64], b: &[i64], sum: u32) -> u32 {
    (a.iter().zip(b).map(|(a, b)| a * b).sum::<i64>() + i64::from(sum)) as u32
}

fn check_u32(name: &str, expected: impl Fn(u32, u32, u32) -> u32) {
    let rows: Vec<_> = triples().into_iter().map(|triple| triple.map(|x| (x ^ x >> 32) as u32)).collect();
    let column = |i: usize| rows.iter().map(|row| row[i]).collect::<Vec<_>>();
    on_every_device(|device, module| {
        let (a, b, c) = (device.upload(&column(0))?, device.upload(&column(1))?, device.upload(&column(2))?);
        let mut out = device.zeroed::<u32>(rows.len())?;
        let args = (number_of(BITS_U32, name), &*a, &*b, &*c, &mut *out);
        module.launch(bits_u32, for_each(rows.len()), args)?;
        for (&[a, b, c], found) in rows.iter().zip(out.to_vec()?) {
            let expected = expected(a, b, c);
            assert_eq!(found, expected, "{name} of {a:#x}, {b:#x}, {c:#x}: {found:#x}, not {expected:#x}");
        }
        Ok(())
    });
}

fn check_u64(name: &str, expected: impl Fn(u64, u64, u64) -> u64) {
    let rows = triples();
    let column = |i: usize| rows.iter().map(|row| row[i]).collect::<Vec<_>>();
    on_every_device(|device, module| {
        let (a, b, c) = (device.upload(&column(0))?, device.upload(&column(1))?, device.upload(&column(2))?);
        let mut out = device.zeroed::<u64>(rows.len())?;
        let args = (number_of(BITS_U64, name), &*a, &*b, &*c, &mut *out);
        module.launch(bits_u64, for_each(rows.len()), args)?;
        for (&[a, b, c], found) in rows.iter().zip(out.to_vec()?) {
            let expected = expected(a, b, c);
            assert_eq!(found, expected, "{name} of {a:#x}, {b:#x}, {c:#x}: {found:#x}, not {expected:#x}");
        }
        Ok(())
    });
}

macro_rules! tests {
    ($check:ident: $($name:ident |$a:ident, $b:ident, $c:ident| $expected:expr;)*) => {$(
        #[test]
        fn $name() {
            $check(stringify!($name), |$a, $b, $c| {
                let _ = ($b, $c);
                $expected
            });
        }
    )*};
}

fn joined(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

mod of_u32 {
    use super::*;

    tests! { check_u32:
        count_ones |a, b, c| (0..32).map(|i| a >> i & 1).sum();
        leading_zeros |a, b, c| (0..32).find(|i| a >> (31 - i) & 1 != 0).unwrap_or(32);
        trailing_zeros |a, b, c| (0..32).find(|i| a >> i & 1 != 0).unwrap_or(32);
        reverse_bits |a, b, c| (0..32).fold(0, |x, i| x | (a >> i & 1) << (31 - i));
        swap_bytes |a, b, c| u32::from_be_bytes(a.to_le_bytes());
        rotate_left |a, b, c| (joined(a, a) << (c % 32) >> 32) as u32;
        rotate_right |a, b, c| (joined(a, a) >> (c % 32)) as u32;
        mul_hi |a, b, c| ((u64::from(a) * u64::from(b)) >> 32) as u32;
        mul_hi_signed |a, b, c| ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32;
        mul24_unsigned |a, b, c| (u64::from(a % (1 << 24)) * u64::from(b % (1 << 24))) as u32;
        mul24_signed |a, b, c| (signed_field(a.into(), 24, 0, 24) as i64 * signed_field(b.into(), 24, 0, 24) as i64) as u32;
        average_floor |a, b, c| ((u64::from(a) + u64::from(b)) / 2) as u32;
        average_floor_signed |a, b, c| (i64::from(a as i32) + i64::from(b as i32)).div_euclid(2) as u32;
        average_ceil |a, b, c| (u64::from(a) + u64::from(b)).div_ceil(2) as u32;
        average_ceil_signed |a, b, c| (i64::from(a as i32) + i64::from(b as i32) + 1).div_euclid(2) as u32;
        find_first_set |a, b, c| (0..32).find(|i| a >> i & 1 != 0).map_or(0, |i| i + 1);
        extract |a, b, c| field(a.into(), 32, c % 40, b % 40, false) as u32;
        extract_signed |a, b, c| signed_field(a.into(), 32, c % 40, b % 40) as u32;
        insert |a, b, c| inserted(a.into(), b.into(), c % 40, (c >> 8) % 40) as u32;
        byte_perm |a, b, c| u32::from_le_bytes([0, 4, 8, 12].map(|at| {
            let byte = (joined(a, b) >> (8 * (c >> at & 7))) as u8;
            match c >> at & 8 {
                0 => byte,
                _ if byte >= 128 => 255,
                _ => 0,
            }
        }));
        sad_unsigned |a, b, c| ((i64::from(a) - i64::from(b)).abs() + i64::from(c)) as u32;
        sad_signed |a, b, c| ((i64::from(a as i32) - i64::from(b as i32)).abs() + i64::from(c)) as u32;
        funnel_left |a, b, c| (joined(a, b) << (c % 32) >> 32) as u32;
        funnel_left_clamped |a, b, c| (joined(a, b) << c.min(32) >> 32) as u32;
        funnel_right |a, b, c| (joined(a, b) >> (c % 32)) as u32;
        funnel_right_clamped |a, b, c| (joined(a, b) >> c.min(32)) as u32;
        dot_4x8_signed |a, b, c| dot(&signed_bytes(a), &signed_bytes(b), c);
        dot_4x8_unsigned |a, b, c| dot(&bytes(a), &bytes(b), c);
        dot_2x16x8_low_signed |a, b, c| dot(&[(a as i16).into(), ((a >> 16) as i16).into()], &signed_bytes(b)[..2], c);
        dot_2x16x8_high_signed |a, b, c| dot(&[(a as i16).into(), ((a >> 16) as i16).into()], &signed_bytes(b)[2..], c);
        dot_2x16x8_low_unsigned |a, b, c| dot(&[(a % 65_536).into(), (a / 65_536).into()], &bytes(b)[..2], c);
        dot_2x16x8_high_unsigned |a, b, c| dot(&[(a % 65_536).into(), (a / 65_536).into()], &bytes(b)[2..], c);
    }
}

mod of_u64 {
    use super::*;

    tests! { check_u64:
        count_ones |a, b, c| (0..64).map(|i| a >> i & 1).sum();
        leading_zeros |a, b, c| (0..64).find(|i| a >> (63 - i) & 1 != 0).unwrap_or(64);
        reverse_bits |a, b, c| (0..64).fold(0, |x, i| x | (a >> i & 1) << (63 - i));
        rotate_left |a, b, c| ((u128::from(a) << 64 | u128::from(a)) << (c as u32 % 64) >> 64) as u64;
        mul_hi |a, b, c| ((u128::from(a) * u128::from(b)) >> 64) as u64;
        mul_hi_signed |a, b, c| ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64;
        average_floor |a, b, c| ((u128::from(a) + u128::from(b)) / 2) as u64;
        average_ceil_signed |a, b, c| (i128::from(a as i64) + i128::from(b as i64) + 1).div_euclid(2) as u64;
        find_first_set |a, b, c| (0..64).find(|i| a >> i & 1 != 0).map_or(0, |i| i + 1);
        extract |a, b, c| field(a, 64, c as u32 % 70, b as u32 % 70, false);
        extract_signed |a, b, c| signed_field(a, 64, c as u32 % 70, b as u32 % 70);
        insert |a, b, c| inserted(a, b, c as u32 % 70, (c >> 8) as u32 % 70);
    }
}

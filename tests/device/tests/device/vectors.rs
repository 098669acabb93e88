//! Vectors: as plain numbers on the host, as one load on the device.

use gpu_std::vector::{f32x2, f32x3, f32x4, f64x2, f64x3, i32x3, i32x4, u8x4};
use gpukernel::{Error, for_each};
use gpukernel_device_test_kernels::vectors::{
    lane, of_bytes, of_floats, of_integers, of_pairs, of_threes, saxpy_by_four, sums_of_parts,
};
use gpukernel_device_tests::on_every_device;

#[test]
fn plain_numbers_are_lent_as_vectors() {
    let xs: Vec<f32> = (0..4000).map(|i| i as f32).collect();
    on_every_device(|device, module| {
        let x = device.upload(&xs)?;
        let mut y = device.filled(xs.len(), 1.0_f32)?;
        module.launch(saxpy_by_four, for_each(1000), (2.0, x.cast()?, y.cast_mut()?))?;
        assert!(y.to_vec()?.iter().zip(&xs).all(|(&y, x)| y == 2.0 * x + 1.0));
        Ok(())
    });
}

#[test]
fn parts_that_are_aligned_for_vectors_can_be_lent() {
    on_every_device(|device, _| {
        let x = device.upload(&[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0])?;
        assert_eq!(x[4..8].cast::<f32x4>()?.to_vec()?, [f32x4::new(5.0, 6.0, 7.0, 8.0)]);
        assert_eq!(x[2..4].cast::<f32x2>()?.to_vec()?, [f32x2::new(3.0, 4.0)]);
        Ok(())
    });
}

#[test]
fn parts_that_are_not_whole_vectors_are_errors() {
    on_every_device(|device, _| {
        let x = device.zeroed::<f32>(9)?;
        let error = x.cast::<f32x4>().expect_err("9 numbers");
        assert_eq!(
            error.to_string(),
            "a slice of 9 f32 cannot be cast to gpu_std::vector::types::f32x4: its bytes are not whole elements of that type"
        );
        Ok(())
    });
}

#[test]
fn parts_that_are_not_aligned_for_vectors_are_errors() {
    on_every_device(|device, _| {
        let mut x = device.zeroed::<f32>(8)?;
        assert!(matches!(x[1..5].cast::<f32x4>(), Err(Error::NotCastable { len: 4, .. })));
        assert!(matches!(x[2..6].cast_mut::<f32x4>(), Err(Error::NotCastable { len: 4, .. })));
        Ok(())
    });
}

#[test]
fn nothing_can_be_cast_to_anything() {
    on_every_device(|device, module| {
        let mut x = device.zeroed::<f32>(0)?;
        assert!(x.cast::<f64x2>()?.is_empty());
        let empty = device.zeroed::<f32>(0)?;
        module.launch(saxpy_by_four, for_each(0), (2.0, empty.cast()?, x.cast_mut()?))
    });
}

#[test]
fn vectors_are_numbers_again() {
    on_every_device(|device, _| {
        let x = device.upload(&[i32x4::new(1, 2, 3, 4), i32x4::new(5, 6, 7, 8)])?;
        assert_eq!(x.cast::<i32>()?.to_vec()?, [1, 2, 3, 4, 5, 6, 7, 8]);
        Ok(())
    });
}

#[test]
fn floats_have_operators() {
    let xs: Vec<f32x4> = (0..64).map(|i| f32x4::new(i as f32, -1.5, 0.25 * i as f32, 3.0)).collect();
    let ys: Vec<f32x4> = (0..64).map(|i| f32x4::new(2.0, i as f32 + 1.0, -4.0, 0.5)).collect();
    on_every_device(|device, module| {
        let (x, y) = (device.upload(&xs)?, device.upload(&ys)?);
        let mut vectors = device.zeroed::<[f32x4; 8]>(64)?;
        let mut numbers = device.zeroed::<[f32; 4]>(64)?;
        module.launch(of_floats, for_each(64), (&x, &y, &mut vectors, &mut numbers))?;
        let (vectors, numbers) = (vectors.to_vec()?, numbers.to_vec()?);
        for (i, (x, y)) in xs.iter().zip(&ys).enumerate() {
            let (x, y) = (x.to_array(), y.to_array());
            for lane in 0..4 {
                let (x, y) = (x[lane], y[lane]);
                let expected = [x + y, x - y, x * y, x / y, -x, x.min(y), x.max(y), x * y + 1.0];
                assert_eq!(vectors[i].map(|vector| vector[lane]), expected, "lane {lane} of {i}");
            }
            // All of these are exact, so that neither contraction nor order matters, but for the root.
            let dot: f32 = x.iter().zip(y).map(|(x, y)| x * y).sum();
            let length = x.iter().map(|x| x * x).sum::<f32>().sqrt();
            assert_eq!(numbers[i], [x.iter().sum(), dot, length, x[i % 4]]);
        }
        Ok(())
    });
}

#[test]
fn integers_have_operators() {
    let xs: Vec<i32x4> = (0..64).map(|i| i32x4::new(i * 33_333_333, -i, i32::MIN + i, 5)).collect();
    let ys: Vec<i32x4> = xs.iter().rev().copied().collect();
    on_every_device(|device, module| {
        let (x, y) = (device.upload(&xs)?, device.upload(&ys)?);
        let mut out = device.zeroed::<[i32x4; 7]>(64)?;
        module.launch(of_integers, for_each(64), (&x, &y, &mut out))?;
        for ((x, y), found) in xs.iter().zip(&ys).zip(out.to_vec()?) {
            for lane in 0..4 {
                let (x, y) = (x[lane], y[lane]);
                let expected = [x & y, x | y, x ^ y, !x, x << 3, x >> 2, x.wrapping_mul(y).wrapping_add(x)];
                assert_eq!(found.map(|vector| vector[lane]), expected);
            }
        }
        Ok(())
    });
}

#[test]
fn bytes_of_pixels() {
    let pixels: Vec<u8> = (0..256_u32).map(|i| (i * 7 + 13) as u8).collect();
    on_every_device(|device, module| {
        let there = device.upload(&pixels)?;
        let (mut mean, mut turned) = (device.zeroed::<u8>(64)?, device.zeroed::<u8>(256)?);
        let args = (there.cast::<u8x4>()?, &mut *mean, turned.cast_mut()?);
        module.launch(of_bytes, for_each(64), args)?;
        let (mean, turned) = (mean.to_vec()?, turned.to_vec()?);
        for (i, pixel) in pixels.chunks_exact(4).enumerate() {
            assert_eq!(u32::from(mean[i]), pixel.iter().map(|&x| u32::from(x)).sum::<u32>() / 4);
            assert!(turned[4 * i..4 * i + 4].iter().eq(pixel.iter().rev()));
        }
        Ok(())
    });
}

#[test]
fn pairs_of_both_widths() {
    on_every_device(|device, module| {
        let x = device.upload(&[f32x2::new(1.5, -2.0), f32x2::new(0.0, 8.0)])?;
        let y = device.upload(&[f64x2::new(2.0, 3.0), f64x2::new(1e300, 0.125)])?;
        let mut out = device.zeroed::<f64x2>(2)?;
        module.launch(of_pairs, for_each(2), (&x, &y, &mut out))?;
        assert_eq!(out.to_vec()?, [f64x2::new(3.5, -5.5), f64x2::new(0.5, 1.5)]);
        Ok(())
    });
}

#[test]
fn kernels_find_the_part_that_is_aligned() {
    let xs: Vec<i32> = (0..40).collect();
    on_every_device(|device, module| {
        let x = device.upload(&xs)?;
        for (start, end) in [(0, 40), (1, 40), (3, 17), (4, 8), (5, 7), (6, 6)] {
            let mut out = device.zeroed::<[i64; 6]>(1)?;
            module.launch(sums_of_parts, for_each(1), (&x[start..end], &mut out))?;
            let [front, middle, back, sums @ ..] = out.to_vec()?[0];
            assert_eq!(front + 4 * middle + back, (end - start) as i64);
            let sum: i32 = xs[start..end].iter().sum();
            assert_eq!(sums.iter().sum::<i64>(), i64::from(sum), "{start}..{end}");
            if end - start >= 8 {
                assert_eq!((front, back), ((4 - start % 4) as i64 % 4, (end % 4) as i64), "{start}..{end}");
            }
        }
        Ok(())
    });
}

#[test]
fn lanes_by_number() {
    on_every_device(|device, module| {
        let x = device.upload(&[f32x4::new(1.0, 2.0, 3.0, 4.0)])?;
        for number in 0..4 {
            let mut out = device.zeroed::<f32>(1)?;
            module.launch(lane, for_each(1), (&x, number, &mut out))?;
            assert_eq!(out.to_vec()?, [number as f32 + 1.0]);
        }
        Ok(())
    });
}

/// Small integers, so that nothing is rounded, fused or not.
#[test]
fn vectors_of_three_lie_one_behind_the_other() {
    assert_eq!((size_of::<f32x3>(), align_of::<f32x3>(), size_of::<f64x3>()), (12, 4, 24));
    let numbers: Vec<f32> = (0..3 * 500).map(|i| (i * 7 % 11) as f32).collect();
    let vectors: Vec<[f32; 3]> = numbers.chunks(3).map(|v| [v[0], v[1], v[2]]).collect();
    on_every_device(|device, module| {
        let x = device.upload(&numbers)?;
        let wide: Vec<f64x3> = vectors.iter().map(|v| f64x3::from(v.map(f64::from))).collect();
        let bits: Vec<i32x3> = vectors.iter().map(|v| i32x3::from(v.map(|x| x as i32 - 5))).collect();
        let (wide, bits) = (device.upload(&wide)?, device.upload(&bits)?);
        let mut crosses = device.zeroed::<f32>(numbers.len())?;
        let mut found = device.zeroed::<[f32; 2]>(500)?;
        let mut sums = device.zeroed::<f64x3>(500)?;
        let mut shifted = device.zeroed::<i32x3>(500)?;
        module.launch(
            of_threes,
            for_each(500),
            (x.cast()?, &wide, &bits, crosses.cast_mut()?, &mut found, &mut sums, &mut shifted),
        )?;
        let (crosses, found) = (crosses.to_vec()?, found.to_vec()?);
        let (sums, shifted) = (sums.to_vec()?, shifted.to_vec()?);
        for (i, &[a, b, c]) in vectors.iter().enumerate() {
            let [d, e, f] = vectors[(i + 1) % 500];
            assert_eq!(crosses[3 * i..][..3], [b * f - c * e, c * d - a * f, a * e - b * d], "{i}");
            let length = (a * a + b * b + c * c).sqrt();
            assert_eq!(found[i], [length, [a, b, c][i % 3]], "{i}");
            assert_eq!(sums[i].to_array(), [a, b, c].map(|x| 2.0 * f64::from(x) + 1.0), "{i}");
            assert_eq!(shifted[i].to_array(), [a, b, c].map(|x| ((x as i32 - 5) * 4) | 1), "{i}");
        }
        Ok(())
    });
}

//! `Out2d` and `PerRow`.

use gpukernel_array::{Array, ArrayPipeline};
use gpukernel_pipeline_tests::on_every_device;
use ndarray::{Array2, Axis, s};
use pipeline_test_kernels::*;

use crate::noise;

/// Rows and columns: of lengths around those of chunks and warps, of the last short, the first long and the first longest rows, beyond what registers keep by
/// some elements, one chunk for each thread and several, and none; of whole chunks and others; and so many rows that blocks have several.
const SHAPES: [(usize, usize); 37] = [
    (0, 5),
    (5, 0),
    (1, 1),
    (2, 3),
    (3, 4),
    (4, 31),
    (3, 32),
    (2, 33),
    (3, 128),
    (2, 511),
    (2, 512),
    (3, 1000),
    (2, 1024),
    (3, 1028),
    (2, 2048),
    (2, 2052),
    (2, 4099),
    (1, 8192),
    (2, 9001),
    (1, 16_390),
    (2, 16_384),
    (1, 20_480),
    (2, 33_000),
    (1, 50_001),
    (70, 1),
    (37, 7),
    (41, 10),
    (300, 8),
    (19, 64),
    (9, 160),
    (5, 256),
    (1030, 100),
    (11, 77),
    (5, 132),
    (4, 255),
    (4, 257),
    (1, 16_385),
];

fn matrix(shape: (usize, usize), seed: usize) -> Array2<f32> {
    Array2::from_shape_fn(shape, |(row, column)| {
        (noise(seed + row * 10_007 + column) % 2001) as f32 / 1000.0 - 1.0
    })
}

#[test]
fn softmax_is_what_ndarray_computes() {
    on_every_device(|device, module| {
        for shape in SHAPES {
            let x = matrix(shape, 1);
            let mut expected = x.mapv(|v| f64::from(v).exp());
            for mut row in expected.rows_mut() {
                let sum = row.sum();
                row /= sum;
            }
            let found = softmax::call(module, &Array::from_ndarray(device, &x)?)?.to_ndarray()?;
            assert_eq!(found.dim(), shape);
            let wide =
                softmax::call(module, &Array::from_ndarray(device, &x.mapv(f64::from))?)?.to_ndarray()?;
            for ((found, wide), expected) in found.iter().zip(&wide).zip(&expected) {
                assert!(
                    (f64::from(*found) - expected).abs() < 1e-5 * expected,
                    "{shape:?}: {found} {expected}"
                );
                assert!((wide - expected).abs() < 1e-12 * expected, "{shape:?}: {wide} {expected}");
            }
        }
        Ok(())
    });
}

#[test]
fn rows_are_zipped_with_arrays() {
    on_every_device(|device, module| {
        for (rows, columns) in SHAPES {
            let (x, scale, offset) =
                (matrix((rows, columns), 2), matrix((1, columns), 3), matrix((1, columns), 4));
            let mut expected = x.mapv(f64::from);
            for mut row in expected.rows_mut() {
                let mean = row.sum() / columns as f64;
                let variance = row.mapv(|v| (v - mean) * (v - mean)).sum() / columns as f64;
                for ((v, scale), offset) in row.iter_mut().zip(&scale).zip(&offset) {
                    *v = (*v - mean) / (variance + 1e-5).sqrt() * f64::from(*scale) + f64::from(*offset);
                }
            }
            let on = |x: &Array2<f32>| Array::from_ndarray(device, x);
            let found = layer_norm::call(module, (&on(&x)?, &on(&scale)?, &on(&offset)?))?.to_ndarray()?;
            assert_eq!(found.dim(), (rows, columns));
            for (found, expected) in found.iter().zip(&expected) {
                assert!(
                    (f64::from(*found) - expected).abs() < 1e-3,
                    "{rows} x {columns}: {found} {expected}"
                );
            }
        }
        Ok(())
    });
}

#[test]
fn values_of_rows() {
    on_every_device(|device, module| {
        for shape @ (rows, columns) in SHAPES {
            let (a, b) = (matrix(shape, 5), matrix(shape, 6));
            let (on_a, on_b) = (Array::from_ndarray(device, &a)?, Array::from_ndarray(device, &b)?);
            let found = cosines::call(module, (&on_a, &on_b))?.to_vec()?;
            assert_eq!(found.len(), rows);
            for (row, found) in found.iter().enumerate() {
                let (a, b) = (a.row(row).mapv(f64::from), b.row(row).mapv(f64::from));
                let expected = a.dot(&b) / (a.dot(&a) * b.dot(&b)).sqrt();
                assert!(columns == 0 && found.is_nan() || (f64::from(*found) - expected).abs() < 1e-4);
            }
            let x = Array2::from_shape_fn(shape, |(row, column)| (noise(row * 31 + column) % 100) as i32);
            let found = above::call(module, (&Array::from_ndarray(device, &x)?, 50))?.to_vec()?;
            let expected: Vec<[u32; 2]> = x
                .rows()
                .into_iter()
                .map(|row| {
                    let count = row.iter().filter(|v| **v > 50).count() as u32;
                    [u32::from(count > 0), count]
                })
                .collect();
            assert_eq!(found, expected);
        }
        Ok(())
    });
}

#[test]
fn parts_of_rows_and_rows_of_another_length() {
    on_every_device(|device, module| {
        for (rows, columns) in SHAPES {
            for others in [0, columns / 2 + 1, 5 * columns + 3] {
                let of = |columns: usize, seed: usize| {
                    Array2::from_shape_fn((rows, columns), |(row, column)| {
                        (noise(seed + row * 31 + column) % 1000) as i32
                    })
                };
                let (a, b) = (of(columns, 11), of(others, 12));
                let (on_a, on_b) = (Array::from_ndarray(device, &a)?, Array::from_ndarray(device, &b)?);
                let found = sums_of_two::call(module, (&on_a, &on_b))?.to_vec()?;
                let sums = a.rows().into_iter().zip(b.rows());
                let expected = sums.map(|(a, b)| [a.iter().skip(1).sum(), b.sum()]);
                assert!(found.into_iter().eq(expected), "{rows} x {columns}, {others}");
            }
        }
        Ok(())
    });
}

#[test]
fn rows_are_numbered_and_reversed() {
    on_every_device(|device, module| {
        for shape in SHAPES {
            let x = Array2::from_shape_fn(shape, |(row, column)| noise(row * 77 + column) as u8);
            let found = reversed_rows::call(module, &Array::from_ndarray(device, &x)?)?.to_ndarray()?;
            let expected = Array2::from_shape_fn(shape, |(row, column)| {
                (row as u16) << 8 | u16::from(x[(row, shape.1 - 1 - column)])
            });
            assert_eq!(found, expected);
        }
        Ok(())
    });
}

#[test]
fn rows_of_views_and_of_arrays_with_more_axes() {
    on_every_device(|device, module| {
        let x = Array::from_ndarray(device, &matrix((7, 129), 9))?;
        let whole = softmax::call(module, &x)?.to_ndarray()?;
        // Not aligned to 16 bytes.
        let part = softmax::call(module, x.slice(s![3.., ..])?)?.to_ndarray()?;
        assert_eq!(part, whole.slice(s![3.., ..]));
        let row = softmax::call(module, x.index_axis(Axis(0), 5)?)?.to_ndarray()?;
        assert_eq!(row.row(0), whole.row(5));
        // Short rows, and such that registers do not keep, alone and among others, aligned to 16 bytes and not.
        for columns in [260, 12_345, 12_352, 20_001, 20_004] {
            let padded = Array::from_ndarray(device, &matrix((1, 1 + 5 * columns), 10))?;
            let part = padded.slice(s![.., 1..])?.reshape((5, columns))?;
            let aligned = softmax::call(module, part.to_shape((5, columns))?.view())?.to_ndarray()?;
            assert_eq!(softmax::call(module, part)?.to_ndarray()?, aligned);
            let row = softmax::call(module, part.index_axis(Axis(0), 3)?)?.to_ndarray()?;
            assert_eq!(row.row(0), aligned.row(3));
        }
        let volume = Array::from_shape_fn(device, (2, 3, 4), |(i, j, k)| (i * 12 + j * 4 + k) as i32)?;
        assert_eq!(
            above::call(module, (&volume, 13))?.to_vec()?,
            [[0, 0], [0, 0], [0, 0], [1, 2], [1, 4], [1, 4]]
        );
        Ok(())
    });
}

/// Floats, also of rows of another length, whose elements are divided as those of the first input are.
#[test]
fn rows_have_the_same_bits_on_every_device() {
    let found = std::cell::RefCell::new(Vec::new());
    on_every_device(|device, module| {
        let mut bits = Vec::new();
        for (rows, columns) in SHAPES {
            for others in [columns, 5 * columns + 3] {
                let on = |columns, seed| Array::from_ndarray(device, &matrix((rows, columns), seed));
                let result = float_sums_of_two::call(module, (&on(columns, 21)?, &on(others, 22)?))?;
                bits.extend(result.to_vec()?.into_iter().map(|sums| sums.map(f32::to_bits)));
            }
        }
        found.borrow_mut().push(bits);
        Ok(())
    });
    let found = found.into_inner();
    assert!(!found.is_empty() && found.iter().all(|bits| *bits == found[0]));
}

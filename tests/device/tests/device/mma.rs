//! Matrix multiplication by warps.

use gpukernel::{Device, Error, LaunchConfig, Module, Result, for_each, for_each_2d};
use gpukernel_device_test_kernels::mma::{
    ASYNC_SHARED, DeviceCopy, GEMM, Tf32, any_block, bf16, bf16_to_f32, f16, f16_to_f16, f16_to_f32,
    f64_to_f64, gemm, i8_to_i32, i8_u8_to_i32, load_at, load_bf16, load_f16, load_i8, load_rows, load_tf32,
    load_u8, mapped, number_tiles, scaled, store_at, tf32_to_f32, u8_i8_to_i32, u8_to_i32,
};
use gpukernel_device_tests::{on_every_device, on_the_cpu};

/// Numbers that matrices hold in these tests.
trait Number: DeviceCopy + PartialEq + std::fmt::Debug {
    /// What a matrix has for each of these numbers, which are integers from -128 to 127.
    fn of(number: i32) -> Self;
    fn value(self) -> f64;
}

macro_rules! numbers {
    ($($t:ty: $of:expr, $value:expr;)*) => {$(
        impl Number for $t {
            fn of(number: i32) -> Self {
                let of: fn(i32) -> Self = $of;
                of(number)
            }

            fn value(self) -> f64 {
                let value: fn(Self) -> f64 = $value;
                value(self)
            }
        }
    )*};
}

numbers! {
    // Not all of them have few bits.
    f16: |n| f16::from_f32(n as f32 / 64.0), |x| x.to_f32().into();
    bf16: |n| bf16::from_f32(n as f32 * 0.37), |x| x.to_f32().into();
    f32: |n| n as f32 * 0.123, |x| x.into();
    f64: |n| f64::from(n) * 0.123, |x| x;
    i8: |n| n as i8, f64::from;
    u8: |n| n as u8, f64::from;
    i32: |n| n * 1001, f64::from;
}

/// A matrix, row by row.
#[derive(Clone, Debug)]
struct Matrix<T> {
    rows: usize,
    columns: usize,
    elements: Vec<T>,
}

impl<T: Copy> Matrix<T> {
    fn new(rows: usize, columns: usize, mut element: impl FnMut(usize, usize) -> T) -> Self {
        let places = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        Self { rows, columns, elements: places.map(|(row, column)| element(row, column)).collect() }
    }

    fn at(&self, row: usize, column: usize) -> T {
        self.elements[row * self.columns + column]
    }
}

impl<T: Number> Matrix<T> {
    fn random(rows: usize, columns: usize, seed: u64) -> Self {
        // splitmix64
        let mut state = seed;
        Self::new(rows, columns, |_, _| {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            T::of((mixed >> 56) as i32 - 128)
        })
    }

    fn identity(extent: usize, one: T, zero: T) -> Self {
        Self::new(extent, extent, |row, column| if row == column { one } else { zero })
    }
}

/// C + A·B by a kernel that takes views of the three and has tiles of `rows` x 8.
macro_rules! product {
    ($device:expr, $module:expr, $kernel:expr, $rows:expr, $a:expr, $b:expr, $c:expr) => {{
        let (a, b) = ($device.upload(&$a.elements)?, $device.upload(&$b.elements)?);
        let mut c = $device.upload(&$c.elements)?;
        let grid = LaunchConfig::new(($c.columns.div_ceil(8), $c.rows.div_ceil($rows)), 32);
        let args = (a.view_2d($a.columns)?, b.view_2d($b.columns)?, c.view_2d_mut($c.columns)?);
        $module.launch($kernel, grid, args)?;
        Matrix { elements: c.to_vec()?, ..$c.clone() }
    }};
}

/// Compares with what `f64` makes of it: `error` is relative to the sum of the products' magnitudes.
fn check<A: Number, B: Number, C: Number>(
    found: &Matrix<C>,
    (a, b, c): (&Matrix<A>, &Matrix<B>, &Matrix<C>),
    round: fn(f64) -> f64,
    error: f64,
) {
    for row in 0..c.rows {
        for column in 0..c.columns {
            let product = |k| round(a.at(row, k).value()) * round(b.at(k, column).value());
            let start = c.at(row, column).value();
            let (mut sum, mut magnitude) = (start, start.abs());
            for k in 0..a.columns {
                sum += product(k);
                magnitude += product(k).abs();
            }
            let found = found.at(row, column).value();
            assert!(
                (found - sum).abs() <= error * magnitude,
                "({row}, {column}) of {} x {} x {}: {found}, not {sum}",
                c.rows,
                c.columns,
                a.columns
            );
        }
    }
}

macro_rules! products {
    ($($name:ident: $kernel:ident, $a:ty, $b:ty => $c:ty, $rows:literal x $depth:literal, $round:expr, $error:expr;)*) => {$(
        mod $name {
            use super::*;

            /// Whole tiles, and extents that are multiples of nothing.
            #[test]
            fn random_matrices() {
                let extents =
                    [($rows, 8, $depth), (2 * $rows, 24, 3 * $depth), (1, 1, 1), (5, 13, 7), (37, 9, 70), (3, 3, 0)];
                on_every_device(|device, module| {
                    for (seed, (rows, columns, depth)) in (1..).zip(extents) {
                        let a = Matrix::<$a>::random(rows, depth.max(1), seed);
                        let b = Matrix::<$b>::random(depth.max(1), columns, seed + 100);
                        let c = Matrix::<$c>::random(rows, columns, seed + 200);
                        let found = product!(device, module, $kernel, $rows, a, b, c);
                        check(&found, (&a, &b, &c), $round, $error);
                    }
                    Ok(())
                });
            }

            /// Each element of A is found at its place, and no other.
            #[test]
            fn identity_on_the_right_gives_the_left_matrix() {
                on_every_device(|device, module| {
                    let a = Matrix::<$a>::random($rows, $depth, 7);
                    let b = Matrix::identity($depth, <$b>::ONE, <$b>::ZERO);
                    let c = Matrix::new($rows, $depth, |_, _| <$c>::ZERO);
                    let found = product!(device, module, $kernel, $rows, a, b, c);
                    let round: fn(f64) -> f64 = $round;
                    for (found, expected) in found.elements.iter().zip(&a.elements) {
                        assert_eq!(found.value(), round(expected.value()));
                    }
                    Ok(())
                });
            }

            /// Each element of B is found at its place, and no other.
            #[test]
            fn identity_on_the_left_gives_the_right_matrix() {
                on_every_device(|device, module| {
                    let a = Matrix::identity($depth, <$a>::ONE, <$a>::ZERO);
                    let b = Matrix::<$b>::random($depth, 16, 8);
                    let c = Matrix::new($depth, 16, |_, _| <$c>::ZERO);
                    let found = product!(device, module, $kernel, $rows, a, b, c);
                    let round: fn(f64) -> f64 = $round;
                    for (found, expected) in found.elements.iter().zip(&b.elements) {
                        assert_eq!(found.value(), round(expected.value()));
                    }
                    Ok(())
                });
            }

            /// Each element of C is at its place.
            #[test]
            fn nothing_is_added_for_zeros() {
                on_every_device(|device, module| {
                    let a = Matrix::new(2 * $rows, $depth, |_, _| <$a>::ZERO);
                    let b = Matrix::<$b>::random($depth, 24, 3);
                    let c = Matrix::<$c>::random(2 * $rows, 24, 9);
                    let found = product!(device, module, $kernel, $rows, a, b, c);
                    assert_eq!(found.elements, c.elements);
                    Ok(())
                });
            }
        }
    )*};
}

/// Zero and one.
trait Units {
    const ZERO: Self;
    const ONE: Self;
}

macro_rules! units {
    ($($t:ty: $zero:expr, $one:expr;)*) => {$(
        impl Units for $t {
            const ZERO: Self = $zero;
            const ONE: Self = $one;
        }
    )*};
}

units! {
    f16: f16::ZERO, f16::ONE;
    bf16: bf16::ZERO, bf16::ONE;
    f32: 0.0, 1.0;
    f64: 0.0, 1.0;
    i8: 0, 1;
    u8: 0, 1;
    i32: 0, 1;
}

const EXACT: fn(f64) -> f64 = |x| x;
const AS_TF32: fn(f64) -> f64 = |x| Tf32::from(x as f32).to_f32().into();

products! {
    f16_into_f32: f16_to_f32, f16, f16 => f32, 16 x 16, EXACT, 1e-5;
    f16_into_f16: f16_to_f16, f16, f16 => f16, 16 x 16, EXACT, 4e-3;
    bf16_into_f32: bf16_to_f32, bf16, bf16 => f32, 16 x 16, EXACT, 1e-5;
    tf32_into_f32: tf32_to_f32, f32, f32 => f32, 16 x 8, AS_TF32, 1e-5;
    f64_into_f64: f64_to_f64, f64, f64 => f64, 8 x 4, EXACT, 1e-14;
    i8_into_i32: i8_to_i32, i8, i8 => i32, 16 x 32, EXACT, 0.0;
    u8_into_i32: u8_to_i32, u8, u8 => i32, 16 x 32, EXACT, 0.0;
    i8_by_u8_into_i32: i8_u8_to_i32, i8, u8 => i32, 16 x 32, EXACT, 0.0;
    u8_by_i8_into_i32: u8_i8_to_i32, u8, i8 => i32, 16 x 32, EXACT, 0.0;
}

#[test]
fn the_largest_integers_are_multiplied_exactly() {
    on_every_device(|device, module| {
        for (x, y) in [(i8::MIN, i8::MIN), (i8::MIN, i8::MAX), (i8::MAX, i8::MAX)] {
            let (a, b) = (Matrix::new(16, 64, |_, _| x), Matrix::new(64, 8, |_, _| y));
            let c = Matrix::new(16, 8, |_, _| 0);
            let found = product!(device, module, i8_to_i32, 16, a, b, c);
            assert_eq!(found.elements, [64 * i32::from(x) * i32::from(y); 128]);
        }
        let (a, b) = (Matrix::new(16, 64, |_, _| u8::MAX), Matrix::new(64, 8, |_, _| u8::MAX));
        let found = product!(device, module, u8_to_i32, 16, a, b, Matrix::new(16, 8, |_, _| 0));
        assert_eq!(found.elements, [64 * 255 * 255; 128]);
        Ok(())
    });
}

#[test]
fn sums_of_integers_wrap() {
    on_every_device(|device, module| {
        let (a, b) = (Matrix::new(16, 32, |_, _| 127_i8), Matrix::new(32, 8, |_, _| 127_i8));
        let c = Matrix::new(
            16,
            8,
            |_, column| if column % 2 == 0 { i32::MAX } else { i32::MAX - 32 * 127 * 127 },
        );
        let found = product!(device, module, i8_to_i32, 16, a, b, c);
        let expected = Matrix::new(16, 8, |_, column| {
            if column % 2 == 0 { i32::MAX.wrapping_add(32 * 127 * 127) } else { i32::MAX }
        });
        assert_eq!(found.elements, expected.elements);
        Ok(())
    });
}

/// What 1 and `special` in A make of B's ones and what else it has in the row of `special`.
fn special_product(device: &Device, module: &Module, special: f32, other: f32) -> Result<[f32; 4]> {
    let of = f16::from_f32;
    // Two of A's rows see the special value, the others do not.
    let a = Matrix::new(16, 16, |row, column| match (row, column) {
        (3 | 12, 5) => of(special),
        _ => of(1.0),
    });
    let b = Matrix::new(16, 8, |row, _| of(if row == 5 { other } else { 0.0 }));
    let c = Matrix::new(16, 8, |_, _| 0.5_f32);
    let found = product!(device, module, f16_to_f32, 16, a, b, c);
    let halves = product!(device, module, f16_to_f16, 16, a, b, Matrix::new(16, 8, |_, _| of(0.5)));
    Ok([found.at(3, 0), found.at(12, 7), found.at(4, 0), halves.at(3, 0).to_f32()])
}

#[test]
fn infinity_and_what_is_no_number_stay_in_their_rows() {
    on_every_device(|device, module| {
        let [first, second, untouched, half] = special_product(device, module, f32::INFINITY, 2.0)?;
        assert_eq!([first, second, untouched, half], [f32::INFINITY, f32::INFINITY, 2.5, f32::INFINITY]);
        let [first, _, untouched, half] = special_product(device, module, f32::NEG_INFINITY, 2.0)?;
        assert_eq!([first, untouched, half], [f32::NEG_INFINITY, 2.5, f32::NEG_INFINITY]);
        let [first, second, untouched, half] = special_product(device, module, f32::NAN, 2.0)?;
        assert!(first.is_nan() && second.is_nan() && half.is_nan());
        assert_eq!(untouched, 2.5);
        let [first, ..] = special_product(device, module, f32::INFINITY, 0.0)?;
        assert!(first.is_nan(), "{first}");
        Ok(())
    });
}

/// 2⁻²⁴ · 2⁻²⁴ has no place in `f16` but one in `f32`.
#[test]
fn subnormal_elements_count() {
    on_every_device(|device, module| {
        let smallest = f16::from_bits(1);
        let a = Matrix::new(16, 16, |_, column| if column == 0 { smallest } else { f16::from_bits(0) });
        let b = Matrix::new(16, 8, |row, column| {
            if row == 0 {
                if column == 0 { smallest } else { f16::from_bits(0x3c00) }
            } else {
                f16::from_bits(0)
            }
        });
        let found = product!(device, module, f16_to_f32, 16, a, b, Matrix::new(16, 8, |_, _| 0.0_f32));
        assert_eq!(found.at(0, 0), 2.0_f32.powi(-48));
        assert_eq!(found.at(0, 1), 2.0_f32.powi(-24));
        Ok(())
    });
}

#[test]
fn sums_too_large_for_f16_are_infinite() {
    on_every_device(|device, module| {
        let large = Matrix::new(16, 16, |_, _| f16::from_f32(255.0));
        let c = Matrix::new(16, 16, |_, _| f16::from_bits(0));
        let found = product!(device, module, f16_to_f16, 16, large, large, c);
        assert!(found.elements.iter().all(|&x| x == f16::from_bits(0x7c00)));
        let found =
            product!(device, module, f16_to_f32, 16, large, large, Matrix::new(16, 16, |_, _| 0.0_f32));
        assert!(found.elements.iter().all(|&x| x == 16.0 * 255.0 * 255.0));
        Ok(())
    });
}

/// bf16 has the exponents of f32.
#[test]
fn products_of_bf16_reach_to_the_ends_of_f32() {
    on_every_device(|device, module| {
        let of = |x: f32| bf16::from_f32(x);
        let a = Matrix::new(16, 16, |row, column| {
            of(if column != 0 {
                0.0
            } else if row == 0 {
                2.0_f32.powi(100)
            } else {
                2.0_f32.powi(-60)
            })
        });
        let b = Matrix::new(16, 8, |row, column| {
            of(if row != 0 {
                0.0
            } else if column == 0 {
                2.0_f32.powi(27)
            } else {
                2.0_f32.powi(-60)
            })
        });
        let found = product!(device, module, bf16_to_f32, 16, a, b, Matrix::new(16, 8, |_, _| 0.0_f32));
        assert_eq!(found.at(0, 0), 2.0_f32.powi(127));
        assert_eq!(found.at(0, 1), 2.0_f32.powi(40));
        assert_eq!(found.at(1, 1), 2.0_f32.powi(-120));
        Ok(())
    });
}

/// 1 + 2⁻¹¹ lies between two numbers of 10 bits.
#[test]
fn f32_is_rounded_to_tf32() {
    on_every_device(|device, module| {
        let ulp = 2.0_f32.powi(-10);
        for (x, rounded) in
            [(1.0 + ulp / 2.0, 1.0 + ulp), (1.0 + ulp / 2.1, 1.0), (-1.0 - ulp / 2.0, -1.0 - ulp)]
        {
            let a = Matrix::new(16, 8, |_, column| if column == 2 { x } else { 0.0 });
            let b = Matrix::new(8, 8, |_, _| 1.0);
            let found = product!(device, module, tf32_to_f32, 16, a, b, Matrix::new(16, 8, |_, _| 0.0_f32));
            assert_eq!(found.elements, [rounded; 128], "{x}");
        }
        Ok(())
    });
}

macro_rules! loads {
    ($($name:ident: $kernel:ident, $t:ty, $depth:literal, $of:expr;)*) => {$(
        #[test]
        fn $name() {
            let of: fn(u32) -> $t = $of;
            let [rows, columns, _] = ASYNC_SHARED;
            // Less than 2⁸ in each of the parts that are loaded, so that bytes tell places apart.
            let number = |row: usize, column: usize| (row * 37 + column * 5) as u32 % 251;
            on_every_device(|device, module| {
                let x = Matrix::new(rows, columns, |row, column| of(number(row, column)));
                let x = device.upload(&x.elements)?;
                let step = 16 / size_of::<$t>();
                for (row, column) in [(0, 0), (3, step), (rows - 16, columns - $depth)] {
                    let mut out = device.filled(40 * $depth, u32::MAX)?;
                    module.launch($kernel, LaunchConfig::new(1, 32), (row, column, x.view_2d(columns)?, &mut out))?;
                    let found = out.to_vec()?;
                    for (i, found) in found.into_iter().enumerate() {
                        let (line, k) = (i / $depth, i % $depth);
                        // A has 16 rows, one B has 8 columns, two have 16.
                        let line = match line { 0..16 => line, 16..24 => line - 16, _ => line - 24 };
                        let expected = of(number(row + line, column + k));
                        assert_eq!(of(found), expected, "element {i} from ({row}, {column})");
                    }
                }
                Ok(())
            });
        }
    )*};
}

loads! {
    fragments_of_f16_are_loaded: load_f16, f16, 16, |n| f16::from_bits(n as u16);
    fragments_of_bf16_are_loaded: load_bf16, bf16, 16, |n| bf16::from_bits(n as u16);
    fragments_of_i8_are_loaded: load_i8, i8, 32, |n| n as i8;
    fragments_of_u8_are_loaded: load_u8, u8, 32, |n| n as u8;
}

#[test]
fn fragments_of_tf32_are_loaded() {
    let [rows, columns, _] = ASYNC_SHARED;
    on_every_device(|device, module| {
        let x = Matrix::new(rows, columns, |row, column| Tf32::from((row * 100 + column) as f32));
        let x = device.upload(&x.elements)?;
        let mut out = device.filled(40 * 8, u32::MAX)?;
        module.launch(load_tf32, LaunchConfig::new(1, 32), (5, 12, x.view_2d(columns)?, &mut out))?;
        for (i, found) in out.to_vec()?.into_iter().enumerate() {
            let line = [i / 8, i / 8 - 16 * usize::from(i / 8 >= 16), (i / 8).wrapping_sub(24)]
                [usize::from(i / 8 >= 16) + usize::from(i / 8 >= 24)];
            assert_eq!(f32::from_bits(found), ((5 + line) * 100 + 12 + i % 8) as f32, "element {i}");
        }
        Ok(())
    });
}

#[test]
fn right_matrices_are_loaded_from_rows() {
    let [rows, columns, _] = ASYNC_SHARED;
    on_every_device(|device, module| {
        let x = Matrix::new(rows, columns, |row, column| f16::from_bits((row * 100 + column) as u16));
        let x = device.upload(&x.elements)?;
        for (row, column) in [(0, 0), (7, 8), (24, 48)] {
            let mut out = device.filled(48 * 8, u32::MAX)?;
            module.launch(
                load_rows,
                LaunchConfig::new(1, 32),
                (row, column, x.view_2d(columns)?, &mut out),
            )?;
            for (i, found) in out.to_vec()?.into_iter().enumerate() {
                // One matrix of 16 x 8, then two of them side by side.
                let (matrix, k, j) = (i / 128, i / 8 % 16, i % 8);
                let expected = (row + k) * 100 + column + j + if matrix == 2 { 8 } else { 0 };
                assert_eq!(found, expected as u32, "element {i} from ({row}, {column})");
            }
        }
        Ok(())
    });
}

#[test]
fn elements_of_accumulators_are_changed_one_by_one() {
    on_every_device(|device, module| {
        let mut out = device.zeroed::<f32>(128)?;
        module.launch(mapped, LaunchConfig::new(1, 32), (out.view_2d_mut(8)?,))?;
        assert!(out.to_vec()?.into_iter().eq((0..128).map(|i| 1000.0 + i as f32 / 2.0)));
        Ok(())
    });
}

#[test]
fn fragments_are_changed_before_they_are_multiplied() {
    on_every_device(|device, module| {
        let (a, b) = (Matrix::<f64>::random(8, 4, 1), Matrix::<f64>::random(4, 8, 2));
        let c = Matrix::new(8, 8, |_, _| 0.0);
        let found = product!(device, module, scaled, 8, a, b, c);
        let twice = Matrix::new(8, 4, |row, column| 2.0 * a.at(row, column));
        let thrice = Matrix::new(4, 8, |row, column| 3.0 * b.at(row, column));
        check(&found, (&twice, &thrice, &c), EXACT, 1e-14);
        Ok(())
    });
}

/// Whole tiles, edges, rows whose pairs are not aligned, and parts of a larger matrix.
#[test]
fn every_element_belongs_to_one_tile() {
    on_every_device(|device, module| {
        for (rows, columns) in [(96, 32), (97, 33), (200, 70), (1, 1), (31, 15)] {
            let mut out = device.filled(rows * columns, 7)?;
            let grid = LaunchConfig::new((columns.div_ceil(32), rows.div_ceil(96)), (32, 2, 3));
            module.launch(number_tiles, grid, (out.view_2d_mut(columns)?,))?;
            let expected =
                Matrix::new(rows, columns, |row, column| 7 + (row / 32 * 100 + column / 16) as i32);
            assert_eq!(out.to_vec()?, expected.elements, "{rows} x {columns}");
        }
        Ok(())
    });
}

#[test]
fn blocks_along_z_have_no_tiles() {
    on_every_device(|device, module| {
        let mut out = device.zeroed::<i32>(96 * 32)?;
        module.launch(number_tiles, LaunchConfig::new((1, 1, 3), (32, 2, 3)), (out.view_2d_mut(32)?,))?;
        let expected = Matrix::new(96, 32, |row, column| (row / 32 * 100 + column / 16) as i32);
        assert_eq!(out.to_vec()?, expected.elements);
        Ok(())
    });
}

#[test]
fn a_full_warp_is_enough_without_a_contract() {
    on_every_device(|device, module| {
        let mut out = device.zeroed::<i32>(128)?;
        module.launch(any_block, LaunchConfig::new(1, 32), (out.view_2d_mut(8)?,))?;
        assert_eq!(out.to_vec()?, [67; 128]);
        Ok(())
    });
}

/// The panic of a launch, which ends nothing but the launch on the CPU.
fn panic_of(launched: Result<()>) -> String {
    let done = launched.and_then(|()| Device::cpu().synchronize());
    done.expect_err("the kernel panics").to_string()
}

#[test]
fn a_warp_with_less_lanes_multiplies_nothing() {
    on_the_cpu(|device, module| {
        let mut out = device.zeroed::<i32>(128)?;
        let message = panic_of(module.launch(any_block, LaunchConfig::new(1, 31), (out.view_2d_mut(8)?,)));
        assert!(message.contains("a warp of 32 lanes, and this one has 31"), "{message}");
        Ok(())
    });
}

#[test]
fn accumulators_are_not_stored_outside_of_a_tile() {
    on_the_cpu(|device, module| {
        let mut out = device.zeroed::<f32>(32 * 16)?;
        for (row, column) in [(24, 0), (0, 16), (4, 0), (0, 4), (usize::MAX - 7, 0)] {
            let launch =
                module.launch(store_at, LaunchConfig::new(1, 32), (row, column, out.view_2d_mut(16)?));
            let message = panic_of(launch);
            assert!(message.contains("have no place at"), "{message}");
        }
        module.launch(store_at, LaunchConfig::new(1, 32), (16, 8, out.view_2d_mut(16)?))
    });
}

#[test]
fn fragments_are_not_loaded_from_outside() {
    on_the_cpu(|device, module| {
        let x = device.zeroed::<f16>(32 * 32)?;
        let mut out = device.zeroed::<f32>(16 * 8)?;
        for (row, column) in [(17, 0), (0, 24), (0, 4), (usize::MAX, 0), (0, usize::MAX)] {
            let args = (row, column, x.view_2d(32)?, out.view_2d_mut(8)?);
            let message = panic_of(module.launch(load_at, LaunchConfig::new(1, 32), args));
            assert!(message.contains("no matrix of 16 x 16 can be loaded"), "{message}");
        }
        module.launch(load_at, LaunchConfig::new(1, 32), (16, 16, x.view_2d(32)?, out.view_2d_mut(8)?))
    });
}

#[test]
fn matrices_are_multiplied_in_tiles_while_the_next_are_fetched() {
    on_every_device(|device, module| {
        for (rows, columns, depth) in
            [(64, 64, 32), (128, 64, 256), (64, 128, 40), (70, 90, 50), (1, 7, 3), (33, 65, 129)]
        {
            let a = Matrix::<f16>::random(rows, depth, 11);
            let b = Matrix::<f16>::random(depth, columns, 12);
            let (on_a, on_b) = (device.upload(&a.elements)?, device.upload(&b.elements)?);
            let mut on_c = device.filled(rows * columns, f32::NAN)?;
            let grid = LaunchConfig::new((columns.div_ceil(GEMM[1]), rows.div_ceil(GEMM[0])), (32, 2, 2));
            module.launch(
                gemm,
                grid,
                (on_a.view_2d(depth)?, on_b.view_2d(columns)?, on_c.view_2d_mut(columns)?),
            )?;
            let found = Matrix { rows, columns, elements: on_c.to_vec()? };
            let zero = Matrix::new(rows, columns, |_, _| 0.0_f32);
            check(&found, (&a, &b, &zero), EXACT, 1e-5);
        }
        Ok(())
    });
}

/// `for_each` makes a thread per element, which are other grids than a warp per tile: elements would be left out without a word.
#[test]
fn tiles_of_warps_are_not_launched_by_for_each() {
    on_every_device(|device, module| {
        let mut out = device.filled(20 * 30, 7)?;
        for shape in [for_each_2d(20, 30), for_each(600), for_each(0)] {
            let error = module.launch(number_tiles, shape, (out.view_2d_mut(30)?,)).unwrap_err();
            assert!(matches!(error, Error::TilesNeedGrid { tile: [32, 16], .. }), "{error}");
        }
        assert_eq!(out.to_vec()?, [7; 600]);
        Ok(())
    });
}

//! Kernels of `gpukernel-algorithms` in several shapes, of which the fastest becomes that which ships.
//!
//! The lists are macros, so that the program which times them has the same.
#![no_std]

use gpu_std::collective::Sum;
use gpukernel_algorithms_kernels::{
    __kernels::{Distinct, Flagged},
    Bytes,
};

/// Scans: type, elements of a vector, rows, threads, blocks of a multiprocessor.
#[macro_export]
macro_rules! scans {
    ($with:ident) => {
        $with! {
            scan_u32_128x16_10: u32, 4, 4, 128, 10;
            scan_u32_128x24_8: u32, 4, 6, 128, 8;
            scan_u32_256x12_7: u32, 4, 3, 256, 7;
            scan_u32_256x16_5: u32, 4, 4, 256, 5;
            scan_u32_256x16_6: u32, 4, 4, 256, 6;
            scan_u32_256x24_4: u32, 4, 6, 256, 4;
            scan_u32_256x32_3: u32, 4, 8, 256, 3;
            scan_u32_384x16_4: u32, 4, 4, 384, 4;
            scan_u32_512x16_3: u32, 4, 4, 512, 3;
            scan_f32_256x16_6: f32, 4, 4, 256, 6;
            scan_f32_128x24_8: f32, 4, 6, 128, 8;
            scan_f64_256x8_6: f64, 2, 4, 256, 6;
            scan_f64_256x12_5: f64, 2, 6, 256, 5;
            scan_f64_256x16_4: f64, 2, 8, 256, 4;
            scan_f64_256x16_3: f64, 2, 8, 256, 3;
            scan_f64_256x4x3_5: f64, 4, 3, 256, 5;
            scan_f64_256x4x4_4: f64, 4, 4, 256, 4;
            scan_f64_256x4x5_3: f64, 4, 5, 256, 3;
            scan_f64_128x4x5_6: f64, 4, 5, 128, 6;
            scan_f64_128x12_10: f64, 2, 6, 128, 10;
            scan_f64_384x12_3: f64, 2, 6, 384, 3;
            scan_f64_512x8_3: f64, 2, 4, 512, 3;
        }
    };
}

/// Selections by flags: elements of a vector, rows, threads, blocks of a multiprocessor.
#[macro_export]
macro_rules! selections {
    ($with:ident) => {
        $with! {
            select_u32_128x16_10: 4, 4, 128, 10;
            select_u32_128x24_8: 4, 6, 128, 8;
            select_u32_256x12_7: 4, 3, 256, 7;
            select_u32_256x16_5: 4, 4, 256, 5;
            select_u32_256x16_6: 4, 4, 256, 6;
            select_u32_256x24_4: 4, 6, 256, 4;
            select_u32_256x32_3: 4, 8, 256, 3;
            select_u32_384x16_4: 4, 4, 384, 4;
            select_u32_512x16_3: 4, 4, 512, 3;
        }
    };
}

/// Selections of the first of equal elements: as above.
#[macro_export]
macro_rules! uniques {
    ($with:ident) => {
        $with! {
            unique_u32_128x16_10: 4, 4, 128, 10;
            unique_u32_128x24_8: 4, 6, 128, 8;
            unique_u32_256x12_7: 4, 3, 256, 7;
            unique_u32_256x16_6: 4, 4, 256, 6;
            unique_u32_256x24_4: 4, 6, 256, 4;
            unique_u32_256x32_3: 4, 8, 256, 3;
            unique_u32_512x16_3: 4, 4, 512, 3;
        }
    };
}

/// Reductions by key: as above.
#[macro_export]
macro_rules! reductions_by_key {
    ($with:ident) => {
        $with! {
            by_key_128x16_8: 4, 4, 128, 8;
            by_key_128x12_10: 4, 3, 128, 10;
            by_key_256x8_6: 4, 2, 256, 6;
            by_key_256x12_5: 4, 3, 256, 5;
            by_key_256x16_3: 4, 4, 256, 3;
            by_key_256x16_4: 4, 4, 256, 4;
            by_key_512x8_3: 4, 2, 512, 3;
            by_key_512x12_2: 4, 3, 512, 2;
        }
    };
}

/// Passes of sorts: keys, values, the larger of both, keys of a thread, threads, blocks of a multiprocessor, tiles read at once.
#[macro_export]
macro_rules! sorts {
    ($with:ident) => {
        $with! {
            sort_u32_256x18_4_1: u32, (), u32, 18, 256, 4, 1;
            sort_u32_256x18_4_4: u32, (), u32, 18, 256, 4, 4;
            sort_u32_256x23_4_4: u32, (), u32, 23, 256, 4, 4;
            sort_u32_384x15_3_4: u32, (), u32, 15, 384, 3, 4;
            sort_u32_384x18_3_4: u32, (), u32, 18, 384, 3, 4;
            sort_u32_384x21_3_1: u32, (), u32, 21, 384, 3, 1;
            sort_u32_384x21_3_4: u32, (), u32, 21, 384, 3, 4;
            sort_u32_384x21_2_4: u32, (), u32, 21, 384, 2, 4;
            sort_u32_512x14_3_4: u32, (), u32, 14, 512, 3, 4;
            sort_u32_512x18_2_4: u32, (), u32, 18, 512, 2, 4;
            sort_pairs_256x18_3_4: u32, Bytes<u32>, u32, 18, 256, 3, 4;
            sort_pairs_256x23_3_4: u32, Bytes<u32>, u32, 23, 256, 3, 4;
            sort_pairs_384x15_3_4: u32, Bytes<u32>, u32, 15, 384, 3, 4;
            sort_pairs_384x18_2_4: u32, Bytes<u32>, u32, 18, 384, 2, 4;
            sort_pairs_384x21_2_4: u32, Bytes<u32>, u32, 21, 384, 2, 4;
            sort_pairs_512x14_2_4: u32, Bytes<u32>, u32, 14, 512, 2, 4;
            sort_u64_256x12_4_4: u64, (), u64, 12, 256, 4, 4;
            sort_u64_256x16_3_4: u64, (), u64, 16, 256, 3, 4;
            sort_u64_384x10_3_4: u64, (), u64, 10, 384, 3, 4;
            sort_u64_384x12_2_4: u64, (), u64, 12, 384, 2, 4;
            sort_u64_384x15_2_4: u64, (), u64, 15, 384, 2, 4;
            sort_u64_512x9_2_4: u64, (), u64, 9, 512, 2, 4;
            sort_u64_512x12_2_4: u64, (), u64, 12, 512, 2, 4;
        }
    };
}

macro_rules! declare_scans {
    ($($name:ident: $T:ty, $v:literal, $r:literal, $threads:literal, $blocks:literal;)*) => {$(
        gpu_std::instantiate! {
            /// A scan.
            pub fn $name = gpukernel_algorithms_kernels::__kernels::scan::<$T, Sum, $v, $r, $threads, $blocks>
        }
    )*};
}
scans! { declare_scans }

macro_rules! declare_selections {
    ($($name:ident: $v:literal, $r:literal, $threads:literal, $blocks:literal;)*) => {$(
        gpu_std::instantiate! {
            /// A selection.
            ///
            /// # Safety
            /// As for the kernel.
            pub unsafe fn $name = gpukernel_algorithms_kernels::__kernels::select::<
                Bytes<u32>, Flagged, $v, $r, $threads, { $v * $r * $threads }, $blocks
            >
        }
    )*};
}
selections! { declare_selections }

macro_rules! declare_uniques {
    ($($name:ident: $v:literal, $r:literal, $threads:literal, $blocks:literal;)*) => {$(
        gpu_std::instantiate! {
            /// A selection.
            ///
            /// # Safety
            /// As for the kernel.
            pub unsafe fn $name = gpukernel_algorithms_kernels::__kernels::select::<
                u32, Distinct, $v, $r, $threads, { $v * $r * $threads }, $blocks
            >
        }
    )*};
}
uniques! { declare_uniques }

macro_rules! declare_reductions_by_key {
    ($($name:ident: $v:literal, $r:literal, $threads:literal, $blocks:literal;)*) => {$(
        gpu_std::instantiate! {
            /// A reduction by key.
            ///
            /// # Safety
            /// As for the kernel.
            pub unsafe fn $name = gpukernel_algorithms_kernels::__kernels::reduce_by_key::<
                u32, f32, Sum, $v, $r, $threads, { $v * $r * $threads }, $blocks
            >
        }
    )*};
}
reductions_by_key! { declare_reductions_by_key }

macro_rules! declare_sorts {
    ($($name:ident: $W:ty, $V:ty, $M:ty, $items:literal, $threads:literal, $blocks:literal, $ahead:literal;)*) => {$(
        gpu_std::instantiate! {
            /// A pass of a sort.
            ///
            /// # Safety
            /// As for the kernel.
            pub unsafe fn $name = gpukernel_algorithms_kernels::__kernels::sort_pass::<
                $W, $V, $M, $items, $threads, { $items * $threads }, { $threads * 8 }, $blocks, $ahead
            >
        }
    )*};
}
sorts! { declare_sorts }

gpu_std::instantiate! {
    /// Counts digits.
    pub fn count_u32 = gpukernel_algorithms_kernels::__kernels::count_digits::<u32, 4, 1024>,
    /// Counts digits.
    pub fn count_u64 = gpukernel_algorithms_kernels::__kernels::count_digits::<u64, 2, 2048>
}

//! The instances for numbers.

use gpu_std::prelude::collective::{Max, Min, Sum};

#[cfg(not(target_arch = "nvptx64"))]
use crate::launch::{LargeTile, Slice};
use crate::{
    Bytes, gather, matrix,
    random::{self, Bits, Normal, Uniform},
    search, select, sort, top_k,
};

gpu_std::instantiate!(sort::count_digits::<u32, 4, 1024>, sort::count_digits::<u64, 2, 2048>);

/// So many tiles before its own a sort reads at once.
const AHEAD: usize = 4;

/// The kernel of a shape.
#[cfg(not(target_arch = "nvptx64"))]
macro_rules! sort_pass {
    ($W:ty, $V:ty, $M:ty: $threads:literal of $items:literal, $blocks:literal) => {
        sort::sort_pass::<$W, $V, $M, $items, $threads, { $threads * $items }, { $threads * 8 }, $blocks, AHEAD>
    };
}

macro_rules! sorts {
    ($(
        $W:ident with $V:ty as $M:ty: $threads:literal of $items:literal, $blocks:literal
            $(or from $large_from:literal $large_threads:literal of $large_items:literal, $large_blocks:literal)?;
            ahead $far:literal; counts $lanes:literal, $counters:literal;
    )*) => {$(
        gpu_std::instantiate!(
            sort::sort_pass::<$W, $V, $M, $items, $threads, { $threads * $items }, { $threads * 8 }, $blocks, AHEAD>
        );
        $(gpu_std::instantiate!(
            sort::sort_pass::<
                $W, $V, $M, $large_items, $large_threads, { $large_threads * $large_items }, { $large_threads * 8 }, $large_blocks, AHEAD
            >
        );)?

        // SAFETY: they are.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl crate::SortWords<$V> for $W {
            const TILE: usize = $threads * $items;
            const LARGE_TILE: Option<LargeTile> = {
                let tiles = [None $(, Some(LargeTile { keys: $large_threads * $large_items, from: $large_from }))?];
                tiles[tiles.len() - 1]
            };
            const LANES: usize = $lanes;

            fn count_digits<'a, L: crate::Launch>(
                launch: L,
                keys: &'a Slice<L, $W>,
                order: crate::Order<$W>,
                stride: usize,
                counts: &'a mut Slice<L, u64>,
            ) -> L::Output {
                launch.launch(sort::count_digits::<$W, $lanes, $counters>, (keys, order, stride, counts))
            }

            #[allow(unused_variables, reason = "not all have large tiles")]
            unsafe fn sort_pass<'a, L: crate::Launch>(
                launch: L,
                keys: &'a Slice<L, $W>,
                values: &'a Slice<L, $V>,
                index: usize,
                [from, to]: [crate::Order<$W>; 2],
                shift: u32,
                starts: &'a mut Slice<L, u64>,
                state: &'a mut Slice<L, u32>,
                (keys_out, values_out): (
                    &'a mut Slice<L, $W>,
                    &'a mut Slice<L, $V>,
                ),
                is_large: bool,
            ) -> L::Output {
                let ahead = launch.ahead($far);
                let args = (keys, values, index, from, to, shift, starts, state, keys_out, values_out, ahead);
                $(if is_large {
                    let kernel = sort_pass!($W, $V, $M: $large_threads of $large_items, $large_blocks);
                    // SAFETY: as the caller promises.
                    return unsafe { launch.launch_unsafe(kernel, args) };
                })?
                let kernel = sort_pass!($W, $V, $M: $threads of $items, $blocks);
                // SAFETY: as the caller promises.
                unsafe { launch.launch_unsafe(kernel, args) }
            }
        }
    )*};
}

// Keys, values, the larger of both; threads of keys, how many blocks a multiprocessor is to hold, and the same of large tiles, with the number of keys
// from which they are faster; how far the tile is that is brought to the L2 cache, in halves of the number of multiprocessors; vectors and counters of
// counts.
//
// The fastest of keys alone, and of 4 bytes with values of 4, of those measured on an H100 (decision 50). Arrays of a block have less than the 64 KiB
// that it has at most on compute capability 7.5, and those of large tiles less than 100 KiB.
sorts! {
    u32 with () as u32: 384 of 21, 3 or from 0x40_0000 512 of 28, 2; ahead 2; counts 4, 1024;
    u32 with Bytes<u32> as u32: 512 of 16, 2 or from 0x400_0000 1024 of 16, 1; ahead 1; counts 4, 1024;
    u32 with Bytes<u64> as u64: 384 of 12, 2; ahead 1; counts 4, 1024;
    u64 with () as u64: 384 of 15, 2 or from 0x40_0000 512 of 15, 2; ahead 2; counts 2, 2048;
    u64 with Bytes<u32> as u64: 384 of 12, 2; ahead 1; counts 2, 2048;
    u64 with Bytes<u64> as u64: 384 of 12, 2; ahead 1; counts 2, 2048;
}

macro_rules! parts {
    ($($part:ident)*) => {$(
        gpu_std::instantiate!(
            gather::gather::<Bytes<$part>>,
            select::select::<
                Bytes<$part>,
                select::Flagged,
                { crate::Shape::select::<$part>().lanes },
                { crate::Shape::select::<$part>().rows },
                { crate::Shape::select::<$part>().threads },
                { crate::Shape::select::<$part>().tile() },
                { crate::Shape::select::<$part>().blocks }
            >,
            matrix::transpose::<
                Bytes<$part>,
                { matrix::transposed_len::<$part>() },
                { matrix::of_thread::<$part>() }
            >,
            matrix::transpose_parts::<
                Bytes<$part>,
                { matrix::transposed_len::<$part>() },
                { matrix::of_thread::<$part>() }
            >,
        );

        // SAFETY: it is.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl crate::Part for Bytes<$part> {
            const TILE: usize = matrix::transposed_tile::<$part>();

            fn gather<'a, L: crate::Launch>(
                launch: L,
                from: &'a Slice<L, Self>,
                parts: u32,
                indices: &'a Slice<L, u32>,
                limit: &'a Slice<L, u64>,
                to: &'a mut Slice<L, Self>,
            ) -> L::Output {
                launch.launch(gather::gather::<Self>, (from, parts, indices, limit, to))
            }

            unsafe fn transpose<'a, L: crate::Launch>(
                launch: L,
                from: &'a Slice<L, Self>,
                parts: u32,
                [rows, columns]: [usize; 2],
                first: [u32; 2],
                x_is_down: bool,
                to: &'a mut Slice<L, Self>,
            ) -> L::Output {
                // SAFETY: as the caller promises.
                unsafe {
                    if parts == 1 {
                        let args = (from, rows, columns, first, u32::from(x_is_down), to);
                        let kernel = matrix::transpose::<
                            Self,
                            { matrix::transposed_len::<$part>() },
                            { matrix::of_thread::<$part>() }
                        >;
                        launch.launch_unsafe(kernel, args)
                    } else {
                        let args = (from, parts, rows, columns, first, u32::from(x_is_down), to);
                        let kernel = matrix::transpose_parts::<
                            Self,
                            { matrix::transposed_len::<$part>() },
                            { matrix::of_thread::<$part>() }
                        >;
                        launch.launch_unsafe(kernel, args)
                    }
                }
            }

            unsafe fn select<'a, L: crate::Launch>(
                launch: L,
                x: &'a Slice<L, Self>,
                flags: &'a Slice<L, u8>,
                state: &'a mut Slice<L, u64>,
                count: &'a mut Slice<L, u64>,
                [chosen, rest]: [&'a mut Slice<L, Self>; 2],
            ) -> L::Output {
                let kernel = select::select::<
                    Self,
                    select::Flagged,
                    { crate::Shape::select::<$part>().lanes },
                    { crate::Shape::select::<$part>().rows },
                    { crate::Shape::select::<$part>().threads },
                    { crate::Shape::select::<$part>().tile() },
                    { crate::Shape::select::<$part>().blocks }
                >;
                let ahead = launch.ahead(crate::Shape::select::<$part>().ahead);
                let args = (x, flags, select::Flagged, state, count, chosen, rest, ahead);
                // SAFETY: as the caller promises.
                unsafe { launch.launch_unsafe(kernel, args) }
            }
        }
    )*};
}

parts! { u8 u16 u32 u64 u128 }

crate::unique! {
    mod unique_i32 = i32;
    mod unique_i64 = i64;
    mod unique_u32 = u32;
    mod unique_u64 = u64;
    mod unique_f32 = f32;
    mod unique_f64 = f64;
}

crate::reduction! {
    mod sum_i32 = Sum of i32;
    mod sum_i64 = Sum of i64;
    mod sum_u32 = Sum of u32;
    mod sum_u64 = Sum of u64;
    mod sum_f32 = Sum of f32;
    mod sum_f64 = Sum of f64;
    mod min_i32 = Min of i32;
    mod min_i64 = Min of i64;
    mod min_u32 = Min of u32;
    mod min_u64 = Min of u64;
    mod min_f32 = Min of f32;
    mod min_f64 = Min of f64;
    mod max_i32 = Max of i32;
    mod max_i64 = Max of i64;
    mod max_u32 = Max of u32;
    mod max_u64 = Max of u64;
    mod max_f32 = Max of f32;
    mod max_f64 = Max of f64;
}

crate::scan! {
    mod running_sum_i32 = Sum of i32;
    mod running_sum_i64 = Sum of i64;
    mod running_sum_u32 = Sum of u32;
    mod running_sum_u64 = Sum of u64;
    mod running_sum_f32 = Sum of f32;
    mod running_sum_f64 = Sum of f64;
}

macro_rules! searches {
    ($($W:ident: $lanes:literal $(or $packed:ident below $packed_len:literal)?;)*) => {$(
        gpu_std::instantiate!(
            search::search::<$W>,
            search::first_of_smallest::<$W, $lanes>,
            $(search::$packed::<$lanes>,)?
            top_k::count_candidates::<$W, $lanes>,
            top_k::collect_smallest::<$W, $lanes>,
        );

        // SAFETY: they are.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl crate::SearchWords for $W {
            const PACKED_LEN: usize = 0 $(+ $packed_len)?;

            fn search<'a, L: crate::Launch>(
                launch: L,
                keys: &'a Slice<L, Self>,
                needles: &'a Slice<L, Self>,
                order: crate::Order<Self>,
                upper: u32,
                positions: &'a mut Slice<L, u64>,
            ) -> L::Output {
                launch.launch(search::search::<$W>, (keys, needles, order, upper, positions))
            }

            #[allow(unused_variables, reason = "not all words leave room for a position")]
            fn first_of_smallest<'a, L: crate::Launch>(
                launch: L,
                keys: &'a Slice<L, Self>,
                order: crate::Order<Self>,
                parts: &'a mut Slice<L, u64>,
                arrived: &'a mut Slice<L, u32>,
                position: &'a mut Slice<L, u64>,
                is_packed: bool,
            ) -> L::Output {
                let args = (keys, order, parts, arrived, position);
                $(if is_packed {
                    return launch.launch(search::$packed::<$lanes>, args);
                })?
                launch.launch(search::first_of_smallest::<$W, $lanes>, args)
            }

            fn count_candidates<'a, L: crate::Launch>(
                launch: L,
                keys: &'a Slice<L, Self>,
                order: crate::Order<Self>,
                shift: u32,
                found: &'a mut Slice<L, u64>,
                counts: &'a mut Slice<L, u64>,
            ) -> L::Output {
                launch.launch(top_k::count_candidates::<$W, $lanes>, (keys, order, shift, found, counts))
            }

            unsafe fn collect_smallest<'a, L: crate::Launch>(
                launch: L,
                keys: &'a Slice<L, Self>,
                order: crate::Order<Self>,
                k: u64,
                found: &'a Slice<L, u64>,
                state: &'a mut Slice<L, u64>,
                words: &'a mut Slice<L, Self>,
                positions: &'a mut Slice<L, u32>,
            ) -> L::Output {
                let kernel = top_k::collect_smallest::<$W, $lanes>;
                // SAFETY: as the caller promises.
                unsafe { launch.launch_unsafe(kernel, (keys, order, k, found, state, words, positions)) }
            }
        }
    )*};
}

searches! {
    u32: 4 or first_of_smallest_packed below 0x1_0000_0000;
    u64: 2;
}

crate::histogram! {
    mod histogram_u8 = u8;
    mod histogram_i32 = i32;
    mod histogram_u32 = u32;
    mod histogram_f32 = f32;
    mod histogram_f64 = f64;
}

crate::matrix_product! {
    mod products_f32 = f32;
    mod products_f64 = f64;
}

macro_rules! randoms {
    ($($t:ident by $D:ident: $group:literal;)*) => {$(
        gpu_std::instantiate!(random::random::<$t, $D, $group>);

        // SAFETY: it is.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl crate::Random<$D> for $t {
            const GROUP: usize = $group;

            fn random<L: crate::Launch>(launch: L, seed: u64, parameters: [$t; 2], out: &mut Slice<L, $t>) -> L::Output {
                launch.launch(random::random::<$t, $D, $group>, (seed, parameters, out))
            }
        }
    )*};
}

randoms! {
    u32 by Bits: 4;
    u64 by Bits: 2;
    f32 by Uniform: 4;
    f64 by Uniform: 2;
    f32 by Normal: 4;
    f64 by Normal: 2;
}

crate::reduce_by_key! {
    mod sum_u32_by_u32 = Sum of u32, u32;
    mod sum_u64_by_u32 = Sum of u32, u64;
    mod sum_f32_by_u32 = Sum of u32, f32;
    mod sum_f64_by_u32 = Sum of u32, f64;
    mod sum_u32_by_u64 = Sum of u64, u32;
    mod sum_u64_by_u64 = Sum of u64, u64;
    mod sum_f32_by_u64 = Sum of u64, f32;
    mod sum_f64_by_u64 = Sum of u64, f64;
}

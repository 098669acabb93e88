//! Groups of lanes: shuffles, votes, labels, reductions and scans, of every type and in blocks of every kind.

use gpukernel::{Device, Extents, LaunchConfig, Module, Result};
use gpukernel_device_test_kernels::warps::{self, Mixed};
use gpukernel_device_tests::{on_every_device, on_every_device_that_lets_threads_end};

/// Blocks of whole warps, of less than one, of more, along one to three axes.
const BLOCKS: [[usize; 3]; 8] =
    [[64, 1, 1], [32, 1, 1], [1, 1, 1], [7, 1, 1], [45, 1, 1], [256, 1, 1], [9, 5, 1], [3, 5, 7]];

/// The threads of some blocks, as (first thread of the warp, threads in it, lane), in the order of their global rank.
///
/// The grids here are of one block along y and z, so that is block after block only if the block has one axis: `out` is
/// indexed by global rank, which goes along x through all blocks first.
#[derive(Clone, Copy, Debug)]
struct Lane {
    /// The global rank of each lane of the warp.
    warp: [usize; 32],
    size: u32,
    lane: u32,
    warp_index: u32,
}

fn lanes(blocks: usize, [x, y, z]: [usize; 3]) -> Vec<Lane> {
    let threads = x * y * z;
    // Global rank of a thread of a block.
    let global = |block: usize, rank: usize| {
        let (i, j, k) = (rank % x, rank / x % y, rank / x / y);
        (k * y + j) * x * blocks + block * x + i
    };
    let mut all = vec![None; blocks * threads];
    for block in 0..blocks {
        for rank in 0..threads {
            let first = rank / 32 * 32;
            let size = (threads - first).min(32);
            let mut warp = [usize::MAX; 32];
            for (lane, slot) in warp.iter_mut().enumerate().take(size) {
                *slot = global(block, first + lane);
            }
            all[global(block, rank)] =
                Some(Lane { warp, size: size as u32, lane: rank as u32 % 32, warp_index: rank as u32 / 32 });
        }
    }
    all.into_iter().flatten().collect()
}

fn grid(blocks: usize, [x, y, z]: [usize; 3]) -> LaunchConfig {
    match (y, z) {
        (1, 1) => LaunchConfig::new(blocks, x),
        (_, 1) => LaunchConfig::new((blocks, 1), (x, y)),
        _ => LaunchConfig::new(Extents::from((blocks, 1, 1)), (x, y, z)),
    }
}

/// Where each way of a shuffle by `by` leads from a lane.
fn ways(by: u32, lane: u32, size: u32) -> [u32; 4] {
    let or_own = |from: Option<u32>| from.filter(|&from| from < size).unwrap_or(lane);
    [
        or_own(Some(by % 32)),
        or_own(lane.checked_sub(by)),
        or_own(lane.checked_add(by)),
        or_own(Some(lane ^ by)),
    ]
}

/// Distances, those that a warp does not have included.
const DISTANCES: [u32; 9] = [0, 1, 2, 5, 16, 31, 32, 33, u32::MAX];

macro_rules! shuffles {
    ($($name:ident $kernel:ident $t:ty, $value:expr;)*) => {$(
        mod $name {
            use super::*;

            fn check(way: usize) {
                let value: fn(usize) -> $t = $value;
                let x: Vec<$t> = (0..997).map(value).collect();
                on_every_device(|device, module| {
                    let x_there = device.upload(&x)?;
                    for block in BLOCKS {
                        let lanes = lanes(2, block);
                        for by in DISTANCES {
                            let mut out = device.filled::<[$t; 4]>(lanes.len(), [x[0]; 4])?;
                            module.launch(warps::$kernel, grid(2, block), (by, &x_there, &mut out))?;
                            for (i, (found, at)) in out.to_vec()?.iter().zip(&lanes).enumerate() {
                                let from = at.warp[ways(by, at.lane, at.size)[way] as usize];
                                assert_eq!(found[way], x[from % x.len()], "thread {i} of {block:?}, by {by}");
                            }
                        }
                    }
                    Ok(())
                });
            }

            #[test]
            fn shuffles_by_lane() {
                check(0);
            }

            #[test]
            fn shuffles_up() {
                check(1);
            }

            #[test]
            fn shuffles_down() {
                check(2);
            }

            #[test]
            fn shuffles_by_xor() {
                check(3);
            }
        }
    )*};
}

/// Numbers whose every byte varies.
fn bits(i: usize) -> u64 {
    (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

shuffles! {
    u8_values shuffle_u8 u8, |i| bits(i) as u8;
    i8_values shuffle_i8 i8, |i| bits(i) as i8;
    u16_values shuffle_u16 u16, |i| bits(i) as u16;
    i16_values shuffle_i16 i16, |i| bits(i) as i16;
    u32_values shuffle_u32 u32, |i| bits(i) as u32;
    i32_values shuffle_i32 i32, |i| bits(i) as i32;
    f32_values shuffle_f32 f32, |i| bits(i) as i32 as f32 / 3.0;
    u64_values shuffle_u64 u64, bits;
    i64_values shuffle_i64 i64, |i| bits(i) as i64;
    f64_values shuffle_f64 f64, |i| bits(i) as i64 as f64 / 3.0;
    u128_values shuffle_u128 u128, |i| u128::from(bits(i)) << 64 | u128::from(bits(i + 1));
    odd_bytes shuffle_bytes [u8; 7], |i| std::array::from_fn(|byte| (bits(i) >> (8 * byte)) as u8);
    vectors shuffle_vector [f32; 3], |i| [i as f32, -0.5 * i as f32, 0.25];
    structs shuffle_mixed Mixed, mixed;
}

fn mixed(i: usize) -> Mixed {
    Mixed { wide: bits(i), real: i as f32, half: -(i as i16), bytes: [i as u8, !i as u8] }
}

macro_rules! reductions {
    ($($name:ident $kernel:ident $t:ty, $count:literal, $value:expr, [$($test:ident $index:literal $fold:expr;)*];)*) => {$(
        mod $name {
            use super::*;

            fn check(which: usize, fold: fn($t, $t) -> $t) {
                let value: fn(usize) -> $t = $value;
                let x: Vec<$t> = (0..997).map(value).collect();
                on_every_device(|device, module| {
                    let x_there = device.upload(&x)?;
                    for threads in [256, 32, 1, 7, 45] {
                        let lanes = lanes(3, [threads, 1, 1]);
                        let mut out = device.filled::<[[$t; $count]; 3]>(lanes.len(), [[x[0]; $count]; 3])?;
                        module.launch(warps::$kernel, LaunchConfig::new(3, threads), (&x_there, &mut out))?;
                        for (i, (found, at)) in out.to_vec()?.iter().zip(&lanes).enumerate() {
                            for (found, width) in found.iter().zip([32, 8, 1]) {
                                let first = at.lane / width * width;
                                let members = (first..(first + width).min(at.size)).map(|lane| x[at.warp[lane as usize] % x.len()]);
                                let expected = members.reduce(fold).unwrap();
                                assert_eq!(found[which], expected, "thread {i} of {threads}, tiles of {width}");
                            }
                        }
                    }
                    Ok(())
                });
            }

            $(
                #[test]
                fn $test() {
                    check($index, $fold);
                }
            )*
        }
    )*};
    ($($name:ident $kernel:ident $t:ty,)* => integers) => {
        reductions! {$(
            $name $kernel $t, 6, |i| bits(i) as $t, [
                sums 0 |a, b| a.wrapping_add(b);
                least 1 |a, b| a.min(b);
                greatest 2 |a, b| a.max(b);
                bits_of_all 3 |a, b| a & b;
                bits_of_any 4 |a, b| a | b;
                odd_bits 5 |a, b| a ^ b;
            ];
        )*}
    };
    ($($name:ident $kernel:ident $t:ty,)* => floats) => {
        // Whole numbers: sums are exact in any order.
        reductions! {$(
            $name $kernel $t, 3, |i| (bits(i) as i16) as $t, [
                sums 0 |a, b| a + b;
                least 1 |a, b| a.min(b);
                greatest 2 |a, b| a.max(b);
            ];
        )*}
    };
}

reductions! {
    reduces_u8 reduce_u8 u8,
    reduces_i8 reduce_i8 i8,
    reduces_u16 reduce_u16 u16,
    reduces_i16 reduce_i16 i16,
    reduces_u32 reduce_u32 u32,
    reduces_i32 reduce_i32 i32,
    reduces_u64 reduce_u64 u64,
    reduces_i64 reduce_i64 i64,
    => integers
}
reductions! { reduces_f32 reduce_f32 f32, reduces_f64 reduce_f64 f64, => floats }

// Halves of 64 bits are compared by an instruction each.
reductions! {
    reduces_u64_with_equal_halves reduce_u64 u64, 6, |i| bits(i) & 0x8000_0001_ffff_ffff, [
        least 1 |a, b| a.min(b);
        greatest 2 |a, b| a.max(b);
    ];
    reduces_i64_with_equal_halves reduce_i64 i64, 6, |i| (bits(i) & 0x8000_0001_ffff_ffff) as i64, [
        least 1 |a, b| a.min(b);
        greatest 2 |a, b| a.max(b);
    ];
}

#[test]
fn sums_of_floats_are_the_same_bits_everywhere() {
    let x: Vec<f32> = (0..997).map(|i| (bits(i) as i32) as f32 * 1e-7).collect();
    on_every_device(|device, module| {
        let mut out = device.zeroed::<[[f32; 3]; 3]>(32)?;
        module.launch(warps::reduce_f32, LaunchConfig::new(1, 32), (&device.upload(&x)?, &mut out))?;
        // Neighbours first, then pairs of pairs.
        let mut sums = x[..32].to_vec();
        while sums.len() > 1 {
            sums = sums.chunks(2).map(|pair| pair[0] + pair[1]).collect();
        }
        assert!(out.to_vec()?.iter().all(|found| found[0][0].to_bits() == sums[0].to_bits()));
        Ok(())
    });
}

macro_rules! tiles {
    ($($name:ident $kernel:ident $width:literal;)*) => {$(
        mod $name {
            use super::*;

            /// Compares some of what the kernel found with what the members' values say.
            fn check(columns: std::ops::Range<usize>) {
                let x: Vec<u32> = (0..997).map(|i| bits(i) as u32 >> 20).collect();
                on_every_device(|device, module| {
                    let x_there = device.upload(&x)?;
                    for block in BLOCKS {
                        let lanes = lanes(2, block);
                        let mut out = device.zeroed::<[u32; 12]>(lanes.len())?;
                        module.launch(warps::$kernel, grid(2, block), (&x_there, &mut out))?;
                        for (i, (found, at)) in out.to_vec()?.iter().zip(&lanes).enumerate() {
                            let first = at.lane / $width * $width;
                            let last = (first + $width).min(at.size);
                            let values: Vec<u32> = (first..last).map(|lane| x[at.warp[lane as usize] % x.len()]).collect();
                            let expected = tile_of(&values, (at.lane - first) as usize, first, $width);
                            assert_eq!(found[columns.clone()], expected[columns.clone()], "thread {i} of {block:?}");
                        }
                    }
                    Ok(())
                });
            }

            #[test]
            fn know_their_members() {
                check(0..3);
            }

            #[test]
            fn shuffle() {
                check(3..7);
            }

            #[test]
            fn vote() {
                check(7..8);
                check(11..12);
            }

            #[test]
            fn match_values() {
                check(8..9);
            }

            #[test]
            fn scan() {
                check(9..11);
            }
        }
    )*};
}

tiles! {
    tiles_of_1 tiles_of_1 1;
    tiles_of_2 tiles_of_2 2;
    tiles_of_4 tiles_of_4 4;
    tiles_of_8 tiles_of_8 8;
    tiles_of_16 tiles_of_16 16;
    tiles_of_32 tiles_of_32 32;
}

fn mask(members: impl Iterator<Item = bool>) -> u32 {
    members.enumerate().fold(0, |mask, (rank, is)| mask | u32::from(is) << rank)
}

fn tile_of(values: &[u32], rank: usize, first: u32, width: usize) -> [u32; 12] {
    let mine = values[rank];
    let before: u32 = values[..rank].iter().sum();
    let of = |rank: Option<usize>| rank.and_then(|rank| values.get(rank)).copied().unwrap_or(u32::MAX);
    let all = values.iter().all(|x| x % 8 != 0);
    let any = values.iter().any(|x| x.is_multiple_of(8));
    let uniform = values.iter().all(|x| x.is_multiple_of(8) == mine.is_multiple_of(8));
    let same = values.iter().all(|x| x / 8 == mine / 8);
    [
        values.len() as u32,
        rank as u32,
        mask(values.iter().map(|_| true)) << first,
        values[0],
        of(rank.checked_sub(1)),
        of(Some(rank + 1)),
        of(Some(rank ^ (width / 2))),
        mask(values.iter().map(|x| x.is_multiple_of(2))),
        mask(values.iter().map(|x| x % 4 == mine % 4)),
        before + mine,
        before + 100,
        u32::from(all) | u32::from(any) << 1 | u32::from(uniform) << 2 | u32::from(same) << 3,
    ]
}

macro_rules! matches {
    ($($test:ident $kernel:ident $t:ty, $value:expr;)*) => {$(
        #[test]
        fn $test() {
            let value: fn(usize) -> $t = $value;
            for different in [1, 2, 3, 40] {
                let x: Vec<$t> = (0..64 * different).map(|i| value(i / 3 % different)).collect();
                on_every_device(|device, module| {
                    let mut out = device.zeroed::<[u32; 2]>(96)?;
                    module.launch(warps::$kernel, LaunchConfig::new(2, 48), (&device.upload(&x)?, &mut out))?;
                    for (i, (found, at)) in out.to_vec()?.iter().zip(&lanes(2, [48, 1, 1])).enumerate() {
                        let members: Vec<$t> = at.warp[..at.size as usize].iter().map(|&i| x[i % x.len()]).collect();
                        let bytes = |value: &$t| bytemuck::bytes_of(value).to_vec();
                        let mine = bytes(&members[at.lane as usize]);
                        let same = mask(members.iter().map(|other| bytes(other) == mine));
                        let all = members.iter().all(|other| bytes(other) == mine);
                        assert_eq!(*found, [same, u32::from(all)], "thread {i} of {different} values");
                    }
                    Ok(())
                });
            }
        }
    )*};
}

matches! {
    equal_u8_are_found match_u8 u8, |i| i as u8;
    equal_u16_are_found match_u16 u16, |i| (i as u16) << 8;
    equal_u32_are_found match_u32 u32, |i| (i as u32) << 24;
    equal_i32_are_found match_i32 i32, |i| -(i as i32);
    equal_f32_are_found_by_their_bits match_f32 f32, |i| if i == 0 { -0.0 } else { i as f32 - 1.0 };
    equal_u64_are_found match_u64 u64, |i| (i as u64) << 40;
    equal_i64_are_found match_i64 i64, |i| -(i as i64);
    equal_f64_are_found_by_their_bits match_f64 f64, |i| if i == 0 { -0.0 } else { i as f64 - 1.0 };
    equal_u128_are_found match_u128 u128, |i| ((i as u128 % 7) << 100) | (i as u128 / 7);
    equal_structs_are_found match_mixed Mixed, |i| Mixed { half: i as i16 % 2, wide: i as u64 / 2, ..Mixed::default() };
}

#[test]
fn threads_know_their_lane_and_warp() {
    on_every_device(|device, module| {
        for block in BLOCKS {
            let lanes = lanes(2, block);
            let mut out = device.zeroed::<[u32; 9]>(lanes.len())?;
            module.launch(warps::lane_numbers, grid(2, block), (&mut out,))?;
            for (i, (found, at)) in out.to_vec()?.iter().zip(&lanes).enumerate() {
                let (own, threads) = (1_u32 << at.lane, block.iter().product::<usize>());
                let below = own - 1;
                let warps = threads.div_ceil(32) as u32;
                let expected =
                    [at.lane, at.warp_index, warps, own, below, below | own, !(below | own), !below, 32];
                assert_eq!(*found, expected, "thread {i} of {block:?}");
            }
        }
        Ok(())
    });
}

#[test]
fn operations_that_do_not_commute_keep_their_order() {
    let compose =
        |f: [u64; 2], g: [u64; 2]| [f[0].wrapping_mul(g[0]), f[1].wrapping_mul(g[0]).wrapping_add(g[1])];
    on_every_device(|device, module| {
        for threads in [32, 64, 1, 2, 3, 5, 17, 31, 33] {
            let lanes = lanes(2, [threads, 1, 1]);
            let mut out = device.zeroed::<[u64; 4]>(lanes.len())?;
            module.launch(warps::reduce_in_order, LaunchConfig::new(2, threads), (&mut out,))?;
            for (i, (found, at)) in out.to_vec()?.iter().zip(&lanes).enumerate() {
                let value = |&i: &usize| [i as u64 * 2 + 3, i as u64 + 1];
                let members = &at.warp[..at.size as usize];
                let all = members.iter().map(value).reduce(compose).unwrap();
                let up_to = members[..=at.lane as usize].iter().map(value).reduce(compose).unwrap();
                assert_eq!(*found, [all[0], all[1], up_to[0], up_to[1]], "thread {i} of {threads}");
            }
        }
        Ok(())
    });
}

/// What the kernels of groups find, from the members' lanes and numbers.
fn group_of(members: &[(u32, u32)], rank: usize) -> [u32; 10] {
    let mine = members[rank].1;
    let value = |rank: Option<usize>| rank.and_then(|rank| members.get(rank)).map(|member| member.1);
    let values = || members.iter().map(|member| member.1);
    [
        members.len() as u32,
        rank as u32,
        members.iter().fold(0, |lanes, member| lanes | 1 << member.0),
        value(Some(1)).unwrap_or(mine),
        value(rank.checked_sub(1)).unwrap_or(mine),
        value(Some(rank + 1)).unwrap_or(u32::MAX),
        mask(values().map(|x| x.is_multiple_of(2))),
        values().sum(),
        // The order of the tree shows in this one: neighbours first.
        tree(values().collect()),
        7 + values().take(rank).sum::<u32>(),
    ]
}

/// Combines neighbours, then pairs of pairs.
fn tree(mut values: Vec<u32>) -> u32 {
    while values.len() > 1 {
        let pairs = values.chunks(2);
        values = pairs
            .map(|pair| {
                pair.iter()
                    .copied()
                    .reduce(|low, high| low.wrapping_mul(33).wrapping_add(high))
                    .expect("a pair")
            })
            .collect();
    }
    values[0]
}

macro_rules! partitions {
    ($($test:ident $kernel:ident $label:expr;)*) => {$(
        #[test]
        fn $test() {
            let label: fn(u32) -> u32 = $label;
            for spread in [1, 2, 5, 100] {
                let labels: Vec<u32> = (0..997).map(|i| bits(i) as u32 % spread).collect();
                on_every_device(|device, module| {
                    let there = device.upload(&labels)?;
                    for threads in [64, 20, 1, 45] {
                        let lanes = lanes(2, [threads, 1, 1]);
                        let mut out = device.zeroed::<[u32; 10]>(lanes.len())?;
                        module.launch(warps::$kernel, LaunchConfig::new(2, threads), (&there, &mut out))?;
                        for (i, (found, at)) in out.to_vec()?.iter().zip(&lanes).enumerate() {
                            let label_of = |lane: u32| label(labels[at.warp[lane as usize] % labels.len()]);
                            let lanes = (0..at.size).filter(|&lane| label_of(lane) == label_of(at.lane));
                            let members: Vec<_> =
                                lanes.map(|lane| (lane, at.warp[lane as usize] as u32 * 3 + 1)).collect();
                            let rank = members.iter().position(|member| member.0 == at.lane).unwrap();
                            assert_eq!(*found, group_of(&members, rank), "thread {i} of {threads}, {spread} labels");
                        }
                    }
                    Ok(())
                });
            }
        }
    )*};
}

partitions! {
    lanes_with_the_same_label_work_together partitions |label| label;
    lanes_that_say_the_same_work_together partitions_in_two |label| u32::from(label != 0);
    groups_are_parted_again nested_partitions |label| label;
}

#[test]
fn tiles_are_parted_again() {
    let x: Vec<u32> = (0..96).collect();
    on_every_device(|device, module| {
        let mut out = device.zeroed::<[u32; 4]>(96)?;
        module.launch(warps::nested_tiles, LaunchConfig::new(1, 96), (&device.upload(&x)?, &mut out))?;
        let sum = |first: u32, width: u32| (first..first + width).sum::<u32>();
        for (i, found) in (0..).zip(out.to_vec()?) {
            let expected = [sum(i / 16 * 16, 16), sum(i / 4 * 4, 4), i / 16 % 2, i / 4 % 8];
            assert_eq!(found, expected, "thread {i}");
        }
        Ok(())
    });
}

#[test]
fn tiles_go_their_own_ways() {
    let x: Vec<u32> = (0..64).map(|i| i * 7 % 5).collect();
    on_every_device(|device, module| {
        let mut out = device.zeroed::<u32>(64)?;
        module.launch(warps::divergent_tiles, LaunchConfig::new(1, 64), (&device.upload(&x)?, &mut out))?;
        for (i, found) in out.to_vec()?.into_iter().enumerate() {
            let tile = &x[i / 8 * 8..i / 8 * 8 + 8];
            let expected = match i / 8 % 4 {
                0 => tile.iter().sum(),
                1 => (0..3).map(|round| tile[round] + u32::from(tile.contains(&(round as u32)))).sum(),
                2 => mask(tile.iter().map(|x| x % 2 == 1)),
                _ => tile[..=i % 8].iter().sum(),
            };
            assert_eq!(found, expected, "thread {i}");
        }
        Ok(())
    });
}

#[test]
fn lanes_that_have_ended_hold_nobody_up() {
    on_every_device(|device, module| {
        for stay in [1, 2, 7, 31, 32] {
            let mut out = device.zeroed::<[u32; 4]>(64)?;
            module.launch(warps::some_have_ended, LaunchConfig::new(1, 64), (stay, &mut out))?;
            let present = u32::MAX >> (32 - stay);
            for (i, found) in (0..).zip(out.to_vec()?) {
                let lane: u32 = i % 32;
                let same = if lane.is_multiple_of(2) { 0x5555_5555 } else { 0xaaaa_aaaa };
                let expected = if lane < stay { [present, 1, same & present, stay / 2] } else { [0; 4] };
                assert_eq!(found, expected, "thread {i}, {stay} stay");
            }
        }
        Ok(())
    });
}

#[test]
fn lanes_that_are_together_append_at_once() {
    let x: Vec<i32> = (0..5000).map(|i| bits(i) as i32).collect();
    let mut expected: Vec<i32> = x.iter().copied().filter(|&x| x > 0).collect();
    expected.sort_unstable();
    on_every_device(|device, module| {
        let mut count = device.zeroed::<u32>(1)?;
        let mut out = device.zeroed::<i32>(x.len())?;
        module.launch(
            warps::compact,
            LaunchConfig::new(8, 96),
            (&device.upload(&x)?, &mut count, &mut out),
        )?;
        let count = count.to_vec()?[0] as usize;
        let mut found = out.to_vec()?;
        assert!(found[count..].iter().all(|&x| x == 0));
        found.truncate(count);
        found.sort_unstable();
        assert_eq!(found, expected);
        Ok(())
    });
}

#[test]
fn each_side_of_a_branch_has_its_own_lanes() {
    on_every_device(|device, module| {
        for split in [0, 1, 13, 32] {
            let mut counts = device.zeroed::<u32>(2)?;
            module.launch(warps::coalesced_sides, LaunchConfig::new(3, 64), (split, &mut counts))?;
            assert_eq!(counts.to_vec()?, [6 * split, 6 * (32 - split)]);
        }
        Ok(())
    });
}

#[test]
fn waiting_in_a_warp_orders_its_memory() {
    on_every_device(|device, module| {
        let mut slots = device.zeroed::<u32>(128)?;
        let mut out = device.zeroed::<u32>(128)?;
        module.launch(warps::sync_orders_memory, LaunchConfig::new(2, 64), (&mut slots, &mut out))?;
        assert!(out.to_vec()?.into_iter().eq((0..128).map(|i| 8 * (i ^ 5) + 28)));
        Ok(())
    });
}

/// What a block says at its barriers.
fn check_votes(device: &Device, module: &Module, stay: usize, which: usize) -> Result<()> {
    for yes in [vec![1], vec![0], vec![1, 0, 0], (0..1024).map(|i| u32::from(i != 31)).collect()] {
        for block in [[256, 1, 1], [33, 1, 1], [1, 1, 1], [8, 4, 1], [4, 4, 4]] {
            let threads = block.iter().product::<usize>();
            let mut out = device.filled::<[u32; 3]>(2 * threads, [77; 3])?;
            let yes_there = device.upload(&yes)?;
            module.launch(warps::barrier_votes, grid(2, block), (&yes_there, stay as u32, &mut out))?;
            let says_yes = |rank: &usize| yes[rank % yes.len()] != 0;
            let voters = threads.min(stay);
            let count = (0..voters).filter(says_yes).count();
            let expected = [count as u32, u32::from(count == voters), u32::from(count != 0)];
            let found = out.to_vec()?;
            let voted = found.iter().filter(|found| **found != [77; 3]);
            assert_eq!(voted.clone().count(), 2 * voters, "{block:?}");
            for found in voted {
                assert_eq!(found[which], expected[which], "{block:?}, {yes:?}");
            }
        }
    }
    Ok(())
}

#[test]
fn barriers_count_votes() {
    on_every_device(|device, module| check_votes(device, module, 1024, 0));
}

#[test]
fn barriers_tell_whether_all_say_yes() {
    on_every_device(|device, module| check_votes(device, module, 1024, 1));
}

#[test]
fn barriers_tell_whether_any_says_yes() {
    on_every_device(|device, module| check_votes(device, module, 1024, 2));
}

#[test]
fn threads_that_have_ended_do_not_vote() {
    for which in 0..3 {
        on_every_device_that_lets_threads_end(|device, module| check_votes(device, module, 20, which));
    }
}

#[test]
fn arrays_pass_through_barriers_that_count() {
    on_every_device(|device, module| {
        let mut out = device.zeroed::<[u32; 2]>(256)?;
        module.launch(warps::barrier_votes_with_arrays, LaunchConfig::new(2, 128), (&mut out,))?;
        assert!(out.to_vec()?.into_iter().eq((0..256).map(|i| [127 - i % 128, 43])));
        Ok(())
    });
}

//! Groups of lanes: what they give to each other, how they vote, and what they find in common.

use bytemuck::{Pod, Zeroable};
use gpu_std::{
    prelude::{collective::*, warp::*, *},
    warp::Coalesced,
};

/// A struct of several words, not all of one size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable, DeviceCopy)]
#[repr(C)]
pub struct Mixed {
    /// Two words.
    pub wide: u64,
    /// One.
    pub real: f32,
    /// Half of one.
    pub half: i16,
    /// The other half.
    pub bytes: [u8; 2],
}

macro_rules! shuffles {
    ($($kernel:ident $t:ty;)*) => {$(
        /// The value of each thread's element goes all four ways through its warp.
        #[kernel(dims = 3)]
        pub fn $kernel(by: u32, x: &[$t], out: PerThread<[$t; 4]>) {
            let warp = warp();
            let mine = x[global_rank() % x.len()];
            let found = [
                warp.shuffle(mine, by),
                warp.shuffle_up(mine, by),
                warp.shuffle_down(mine, by),
                warp.shuffle_xor(mine, by),
            ];
            for (_, out) in out {
                *out = found;
            }
        }
    )*};
}

shuffles! {
    shuffle_u8 u8;
    shuffle_i8 i8;
    shuffle_u16 u16;
    shuffle_i16 i16;
    shuffle_u32 u32;
    shuffle_i32 i32;
    shuffle_f32 f32;
    shuffle_u64 u64;
    shuffle_i64 i64;
    shuffle_f64 f64;
    shuffle_u128 u128;
    shuffle_bytes [u8; 7];
    shuffle_vector [f32; 3];
    shuffle_mixed Mixed;
}

macro_rules! reductions {
    ($($kernel:ident $t:ty, $count:literal, [$($method:ident),*];)*) => {$(
        /// Every reduction of the type, over tiles of 32, 8 and 1.
        #[kernel]
        pub fn $kernel(x: &[$t], out: PerThread<[[$t; $count]; 3]>) {
            let mine = x[global_rank() % x.len()];
            let found = [
                [$(warp().$method(mine)),*],
                [$(tiled_partition::<8>().$method(mine)),*],
                [$(tiled_partition::<1>().$method(mine)),*],
            ];
            for (_, out) in out {
                *out = found;
            }
        }
    )*};
    ($($kernel:ident $t:ty,)* => integers) => {
        reductions! {$(
            $kernel $t, 6, [reduce_sum, reduce_min, reduce_max, reduce_and, reduce_or, reduce_xor];
        )*}
    };
    ($($kernel:ident $t:ty,)* => floats) => {
        reductions! { $($kernel $t, 3, [reduce_sum, reduce_min, reduce_max];)* }
    };
}

reductions! { reduce_u8 u8, reduce_i8 i8, reduce_u16 u16, reduce_i16 i16, reduce_u32 u32, reduce_i32 i32, reduce_u64 u64, reduce_i64 i64, => integers }
reductions! { reduce_f32 f32, reduce_f64 f64, => floats }

macro_rules! tiles {
    ($($kernel:ident $n:literal;)*) => {$(
        /// What a tile of this size does: shuffles by one both ways, votes, labels, scans.
        #[kernel(dims = 3)]
        pub fn $kernel(x: &[u32], out: PerThread<[u32; 12]>) {
            let tile = tiled_partition::<$n>();
            let mine = x[global_rank() % x.len()];
            let found = [
                tile.size(),
                tile.rank(),
                tile.lanes(),
                tile.broadcast(mine, 0),
                tile.try_shuffle_up(mine, 1).unwrap_or(u32::MAX),
                tile.try_shuffle_down(mine, 1).unwrap_or(u32::MAX),
                tile.try_shuffle_xor(mine, $n / 2).unwrap_or(u32::MAX),
                tile.ballot(mine % 2 == 0),
                tile.match_any(mine % 4),
                tile.inclusive_scan(mine, u32::wrapping_add),
                tile.exclusive_scan(mine, 100, u32::wrapping_add),
                u32::from(tile.all(mine % 8 != 0)) | u32::from(tile.any(mine % 8 == 0)) << 1
                    | u32::from(tile.uniform(mine % 8 == 0)) << 2 | u32::from(tile.match_all(mine / 8)) << 3,
            ];
            for (_, out) in out {
                *out = found;
            }
        }
    )*};
}

tiles! {
    tiles_of_1 1;
    tiles_of_2 2;
    tiles_of_4 4;
    tiles_of_8 8;
    tiles_of_16 16;
    tiles_of_32 32;
}

macro_rules! matches {
    ($($kernel:ident $t:ty;)*) => {$(
        /// Who has the same bits, and whether all do.
        #[kernel]
        pub fn $kernel(x: &[$t], out: PerThread<[u32; 2]>) {
            let mine = x[global_rank() % x.len()];
            let warp = warp();
            let found = [warp.match_any(mine), u32::from(warp.match_all(mine))];
            for (_, out) in out {
                *out = found;
            }
        }
    )*};
}

matches! {
    match_u8 u8;
    match_u16 u16;
    match_u32 u32;
    match_i32 i32;
    match_f32 f32;
    match_u64 u64;
    match_i64 i64;
    match_f64 f64;
    match_u128 u128;
    match_mixed Mixed;
}

/// Every number that a thread has in its warp, and every mask.
#[kernel(dims = 3)]
pub fn lane_numbers(out: PerThread<[u32; 9]>) {
    for (_, out) in out {
        *out = [
            lane_index(),
            warp_index(),
            warps_per_block(),
            lane_mask_eq(),
            lane_mask_lt(),
            lane_mask_le(),
            lane_mask_gt(),
            lane_mask_ge(),
            WARP_SIZE,
        ];
    }
}

/// An operation that is associative but not commutative.
#[kernel]
pub fn reduce_in_order(out: PerThread<[u64; 4]>) {
    // Compositions of x -> a·x + b.
    let compose =
        |f: [u64; 2], g: [u64; 2]| [f[0].wrapping_mul(g[0]), f[1].wrapping_mul(g[0]).wrapping_add(g[1])];
    let mine = [global_rank() as u64 * 2 + 3, global_rank() as u64 + 1];
    let all = warp().reduce(mine, compose);
    let up_to = warp().inclusive_scan(mine, compose);
    for (_, out) in out {
        *out = [all[0], all[1], up_to[0], up_to[1]];
    }
}

fn describe(group: Coalesced, mine: u32) -> [u32; 10] {
    [
        group.size(),
        group.rank(),
        group.lanes(),
        group.shuffle(mine, 1),
        group.shuffle_up(mine, 1),
        group.try_shuffle_down(mine, 1).unwrap_or(u32::MAX),
        group.ballot(mine.is_multiple_of(2)),
        group.reduce_sum(mine),
        group.reduce(mine, |low, high| low.wrapping_mul(33).wrapping_add(high)),
        group.exclusive_scan(mine, 7, u32::wrapping_add),
    ]
}

/// Groups of lanes with the same label.
#[kernel]
pub fn partitions(labels: &[u32], out: PerThread<[u32; 10]>) {
    let label = labels[global_rank() % labels.len()];
    let found = describe(warp().partition(label), global_rank() as u32 * 3 + 1);
    for (_, out) in out {
        *out = found;
    }
}

/// Groups of lanes that say the same.
#[kernel]
pub fn partitions_in_two(labels: &[u32], out: PerThread<[u32; 10]>) {
    let label = labels[global_rank() % labels.len()];
    let found = describe(warp().partition_if(label != 0), global_rank() as u32 * 3 + 1);
    for (_, out) in out {
        *out = found;
    }
}

/// A partition of a partition: first by the label's low bit, then by the rest.
#[kernel]
pub fn nested_partitions(labels: &[u32], out: PerThread<[u32; 10]>) {
    let label = labels[global_rank() % labels.len()];
    let found =
        describe(warp().partition_if(label & 1 != 0).partition(label / 2), global_rank() as u32 * 3 + 1);
    for (_, out) in out {
        *out = found;
    }
}

/// BlockTiles in tiles.
#[kernel]
pub fn nested_tiles(x: &[u32], out: PerThread<[u32; 4]>) {
    let mine = x[global_rank() % x.len()];
    let half = warp().tiled_partition::<16>();
    let part = half.tiled_partition::<4>();
    let found = [half.reduce_sum(mine), part.reduce_sum(mine), half.index_in_warp(), part.index_in_warp()];
    for (_, out) in out {
        *out = found;
    }
}

/// Each tile of 8 takes its own way through a branch and works there alone.
#[kernel]
pub fn divergent_tiles(x: &[u32], out: PerThread<u32>) {
    let mine = x[global_rank() % x.len()];
    let tile = tiled_partition::<8>();
    let found = match tile.index_in_warp() {
        0 => tile.reduce_sum(mine),
        1 => {
            let mut sum = 0;
            for round in 0..3 {
                sum += tile.shuffle(mine, round) + u32::from(tile.any(mine == round));
            }
            sum
        }
        2 => tile.ballot(mine % 2 == 1),
        _ => tile.inclusive_scan(mine, u32::wrapping_add),
    };
    for (_, out) in out {
        *out = found;
    }
}

/// The last `out` threads of each warp end before the others vote, add and wait.
#[kernel]
pub fn some_have_ended(stay: u32, out: PerThread<[u32; 4]>) {
    if lane_index() >= stay {
        return;
    }
    let warp = warp();
    let found = [
        warp.ballot(true),
        u32::from(warp.all(true)) | u32::from(warp.any(false)) << 1,
        warp.match_any(lane_index() % 2),
        warp.shuffle(lane_index(), stay / 2),
    ];
    warp.sync();
    for (_, out) in out {
        *out = found;
    }
}

/// Appends what is positive: one atomic operation for the lanes that are together.
#[kernel]
pub fn compact(x: &[i32], count: &[Atomic<u32>], out: &[Atomic<i32>]) {
    for i in grid_stride(x.len()) {
        if x[i] > 0 {
            let lanes = coalesced();
            let first = lanes.invoke_one(|| count[0].fetch_add(lanes.size()));
            let first = lanes.broadcast(first.unwrap_or(0), 0);
            out[(first + lanes.rank()) as usize].store(x[i]);
        }
    }
}

/// Adds the number of active lanes of each side of a branch, by one of them.
#[kernel]
pub fn coalesced_sides(split: u32, counts: &[Atomic<u32>]) {
    let side = usize::from(lane_index() >= split);
    if side == 0 {
        let lanes = coalesced();
        lanes.invoke_one(|| counts[0].fetch_add(lanes.size()));
    } else {
        let lanes = coalesced();
        lanes.invoke_one(|| counts[1].fetch_add(lanes.size()));
    }
}

/// What lanes write before the warp waits is read by others after it.
#[kernel(block = 64)]
pub fn sync_orders_memory(slots: &[Atomic<u32>], out: PerThread<u32>) {
    let warp = warp();
    let mut seen = 0;
    for round in 0..8 {
        slots[global_rank()].store(global_rank() as u32 + round);
        warp.sync();
        seen += slots[global_rank() ^ 5].load();
        warp.sync();
    }
    for (_, out) in out {
        *out = seen;
    }
}

/// What the threads of a block say at its barrier.
#[kernel(dims = 3)]
pub fn barrier_votes(yes: &[u32], stay: u32, out: PerThread<[u32; 3]>) {
    if thread_rank() >= stay {
        return;
    }
    let vote = yes[thread_rank() as usize % yes.len()] != 0;
    let ((), count) = sync_count((), vote);
    let ((), all) = sync_all((), vote);
    let ((), any) = sync_any((), vote);
    for (_, out) in out {
        *out = [count, u32::from(all), u32::from(any)];
    }
}

/// A shared array passes through a barrier that counts.
#[kernel(block = 128)]
pub fn barrier_votes_with_arrays(mut part: Shared<u32, 128>, out: PerThread<[u32; 2]>) {
    for (i, element) in &mut part {
        *element = i as u32;
    }
    let (part, count) = sync_count(part, thread_rank().is_multiple_of(3));
    for (i, out) in out {
        *out = [part[127 - i % 128], count];
    }
}

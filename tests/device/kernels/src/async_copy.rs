//! Asynchronous copies into shared memory.

use gpu_std::prelude::{async_copy::*, *};

/// Elements of the `AsyncShared` arrays below: no multiple of a block, nor, with small elements, of 16 bytes.
pub const LEN: usize = 101;

macro_rules! copies {
    ($($name:ident: $t:ty;)*) => {$(
        /// Copies what starts at `first`, through an `AsyncShared` array of one block.
        #[kernel(block = 64)]
        pub fn $name(first: usize, x: &[$t], out: PerThread<$t>, part: AsyncShared<$t, LEN>) {
            let part = sync(part.copy_async(x.get(first..).unwrap_or_default()).wait());
            for (i, out) in out {
                *out = part[i];
            }
        }
    )*};
}

copies! {
    copy_u8: u8;
    copy_u16: u16;
    copy_f32: f32;
    copy_u64: u64;
    copy_u128: u128;
    copy_triples: [f32; 3];
}

macro_rules! bulk_copies {
    ($($name:ident: $t:ty;)*) => {$(
        /// The same by the copy engine, where there is one.
        #[kernel(block = 64)]
        pub fn $name(
            first: usize,
            x: &[$t],
            out: PerThread<$t>,
            part: AsyncShared<$t, LEN>,
            barrier: Mbarrier,
        ) {
            let (arrived, _) = part.copy_bulk(x.get(first..).unwrap_or_default(), barrier).wait();
            let part = sync(arrived);
            for (i, out) in out {
                *out = part[i];
            }
        }
    )*};
}

bulk_copies! {
    bulk_u8: u8;
    bulk_u16: u16;
    bulk_f32: f32;
    bulk_u64: u64;
    bulk_u128: u128;
    bulk_triples: [f32; 3];
}

/// One barrier for many copies, and two copies on their way at once; what one round reads, the next overwrites, in part by hand.
#[kernel(block = 32)]
pub fn bulk_rounds(
    x: &[u32],
    out: &[Atomic<u64>],
    even: AsyncShared<u32, PART>,
    odd: AsyncShared<u32, PART>,
    first_barrier: Mbarrier,
    second_barrier: Mbarrier,
) {
    let part = |i: usize| x.get(i * PART..).unwrap_or_default();
    let (mut even, mut odd, mut first, mut second) = (even, odd, first_barrier, second_barrier);
    for round in (0..x.len().div_ceil(PART)).step_by(2) {
        let (one, two) = (even.copy_bulk(part(round), first), odd.copy_bulk(part(round + 1), second));
        let (arrived, free) = one.wait();
        first = free;
        let view = sync(arrived);
        out[0].fetch_add(weigh(&view, round));
        even = sync(view);
        let (arrived, free) = two.wait();
        second = free;
        let view = sync(arrived);
        out[0].fetch_add(weigh(&view, round + 1));
        odd = sync(view);
    }
}

/// Elements of an array that fills most of what a block can have without asking for more.
pub const LARGE: usize = 10 * 1024;

/// Each block sums a part of its own, rank by rank.
#[kernel(block = 128)]
pub fn bulk_large(x: &[u32], sums: &[Atomic<u64>], part: AsyncShared<u32, LARGE>, barrier: Mbarrier) {
    let block = block_index().x as usize;
    let source = x.get(block * LARGE..).unwrap_or_default();
    let (arrived, _) = part.copy_bulk(source, barrier).wait();
    let part = sync(arrived);
    let mut sum = 0;
    for i in (thread_rank() as usize..LARGE).step_by(128) {
        sum += u64::from(part[i]) * (i as u64 + 1);
    }
    sums[block].fetch_add(sum);
}

/// The engine reads what this thread wrote just before, round by round.
#[kernel(block = 32)]
pub fn bulk_of_what_was_written(
    rounds: u32,
    mine: PerThread<[u32; 64]>,
    out: &[Atomic<u32>],
    mut part: AsyncShared<u32, 64>,
    mut barrier: Mbarrier,
) {
    let mut mine = mine.into_iter().next();
    for round in 0..rounds {
        let source: &[u32] = match &mut mine {
            Some((_, mine)) => {
                for (i, element) in mine.iter_mut().enumerate() {
                    *element = round * 1000 + i as u32;
                }
                *mine
            }
            None => &[],
        };
        let (arrived, free) = part.copy_bulk(source, barrier).wait();
        let view = sync(arrived);
        for i in [thread_rank() as usize, thread_rank() as usize + 32] {
            if view[i] != round * 1000 + i as u32 {
                out[i].fetch_add(1);
            }
        }
        (part, barrier) = (sync(view), free);
    }
}

/// The engine and the threads fill one array by turns.
#[kernel(block = 32)]
pub fn bulk_and_by_hand(x: &[u32], out: &[Atomic<u64>], part: AsyncShared<u32, PART>, barrier: Mbarrier) {
    let (mut part, mut barrier) = (part, barrier);
    for round in 0..x.len().div_ceil(PART) {
        let source = x.get(round * PART..).unwrap_or_default();
        let view = if round % 2 == 0 {
            let (arrived, free) = part.copy_bulk(source, barrier).wait();
            barrier = free;
            sync(arrived)
        } else {
            sync(part.copy_async(source).wait())
        };
        out[0].fetch_add(weigh(&view, round));
        part = sync(view);
    }
}

/// The last threads have ended; the engine does not need them.
#[kernel(block = 96)]
pub fn bulk_after_some_left(x: &[u32], out: PerThread<u32>, part: AsyncShared<u32, 16>, barrier: Mbarrier) {
    if thread_rank() >= 32 {
        return;
    }
    let (arrived, _) = part.copy_bulk(x, barrier).wait();
    let part = sync(arrived);
    for (i, out) in out {
        *out = part[i % 16];
    }
}

/// The source is an argument.
#[kernel(block = 32)]
pub fn bulk_from_argument(x: [u32; 40], out: PerThread<u32>, part: AsyncShared<u32, 64>, barrier: Mbarrier) {
    let (arrived, _) = part.copy_bulk(&x, barrier).wait();
    let part = sync(arrived);
    for (i, out) in out {
        *out = part[i];
    }
}

/// The tile of a matrix that starts at a place, by the copy engine.
#[kernel(block = (32, 2))]
pub fn bulk_tile(
    place: [usize; 2],
    x: View2d<u16>,
    out: PerThread<u16>,
    tile: AsyncShared2d<u16, { TILE[0] }, { TILE[1] }, { TILE[2] }>,
    barrier: Mbarrier,
) {
    let (arrived, _) = tile.copy_bulk(x, (place[0], place[1]), barrier).wait();
    let tile = sync(arrived);
    for (i, out) in out {
        *out = tile[(i / TILE[1], i % TILE[1])];
    }
}

/// The sum of each column of 16 rows; the next tile is on its way while one is read.
#[kernel(block = 32)]
pub fn bulk_column_sums(
    x: View2d<u32>,
    out: &[Atomic<u32>],
    front: AsyncShared2d<u32, 16, 32>,
    back: AsyncShared2d<u32, 16, 32>,
    front_barrier: Mbarrier,
    back_barrier: Mbarrier,
) {
    let mut pending = front.copy_bulk(x, (0, 0), front_barrier);
    let (mut free, mut free_barrier) = (back, back_barrier);
    for first in (0..x.columns()).step_by(32) {
        let next = free.copy_bulk(x, (0, first + 32), free_barrier);
        let (arrived, barrier) = pending.wait();
        let view = sync(arrived);
        let column = thread_rank() as usize;
        let mut sum = 0;
        for row in 0..16 {
            sum += view[(row, column)];
        }
        if let Some(out) = out.get(first + column) {
            out.store(sum);
        }
        (pending, free, free_barrier) = (next, sync(view), barrier);
    }
}

/// Gives a copy up.
#[kernel(block = 32)]
pub fn bulk_dropped(x: &[u32], out: PerThread<u32>, part: AsyncShared<u32, 64>, barrier: Mbarrier) {
    drop(part.copy_bulk(x, barrier));
    for (i, out) in out {
        *out = x[i];
    }
}

/// The engine reads global memory only.
#[kernel(block = 32)]
pub fn bulk_from_local(scale: u32, out: PerThread<u32>, part: AsyncShared<u32, 64>, barrier: Mbarrier) {
    let mut local = [0; 50];
    for (i, local) in local.iter_mut().enumerate() {
        *local = scale * i as u32;
    }
    let (arrived, _) = part.copy_bulk(&local, barrier).wait();
    let part = sync(arrived);
    for (i, out) in out {
        *out = part[i];
    }
}

/// BlockTile rows, columns, and padding.
pub const TILE: [usize; 3] = [12, 40, 8];

/// The tile of a matrix that starts at a place.
#[kernel(block = (32, 2))]
pub fn copy_tile(
    place: [usize; 2],
    x: View2d<u16>,
    out: PerThread<u16>,
    tile: AsyncShared2d<u16, { TILE[0] }, { TILE[1] }, { TILE[2] }>,
) {
    let tile = sync(tile.copy_async(x, (place[0], place[1])).wait());
    for (i, out) in out {
        *out = tile[(i / TILE[1], i % TILE[1])];
    }
}

/// Rows as slices.
#[kernel(block = 32)]
pub fn sum_tile_rows(x: View2d<u32>, out: PerThread<u32>, tile: AsyncShared2d<u32, 4, 32, 4>) {
    let tile = sync(tile.copy_async(x, (0, 0)).wait());
    for (i, out) in out {
        *out = tile.row(i).map_or(u32::MAX, |row| row.iter().sum());
    }
}

/// The source lies in the thread's own memory.
#[kernel(block = 32)]
pub fn copy_from_local(scale: u32, out: PerThread<u32>, part: AsyncShared<u32, 64>) {
    let mut local = [0; 50];
    for (i, local) in local.iter_mut().enumerate() {
        *local = scale * i as u32;
    }
    let part = sync(part.copy_async(&local).wait());
    for (i, out) in out {
        *out = part[i];
    }
}

/// The source lies in shared memory.
#[kernel(block = 32)]
pub fn copy_from_shared(
    x: &[u32],
    out: PerThread<u32>,
    mut before: Shared<u32, 64>,
    part: AsyncShared<u32, 64>,
) {
    for (i, before) in &mut before {
        *before = x[i];
    }
    let before = sync(before);
    let part = sync(part.copy_async(&before[3..]).wait());
    for (i, out) in out {
        *out = part[i];
    }
}

/// The source is a constant.
#[kernel(block = 32)]
pub fn copy_from_constant(out: PerThread<u32>, part: AsyncShared<u32, 8>) {
    let part = sync(part.copy_async(&[11, 22, 33, 44, 55]).wait());
    for (i, out) in out {
        *out = part[i];
    }
}

/// Two arrays through one wait and one barrier.
#[kernel(block = 32)]
pub fn copy_both(
    x: &[u32],
    y: &[u64],
    out: PerThread<u64>,
    xs: AsyncShared<u32, 64>,
    ys: AsyncShared<u64, 64>,
) {
    let (xs, ys) = sync(xs.copy_async(x).and(ys.copy_async(y)).wait());
    for (i, out) in out {
        *out = u64::from(xs[i]) + ys[i];
    }
}

/// Gives up one copy and makes another.
#[kernel(block = 32)]
pub fn drop_and_go_on(
    x: &[u32],
    out: PerThread<u32>,
    given_up: AsyncShared<u32, 64>,
    part: AsyncShared<u32, 64>,
) {
    drop(given_up.copy_async(x));
    let part = sync(part.copy_async(x).wait());
    for (i, out) in out {
        *out = part[63 - i];
    }
}

/// The last threads have no part in the barriers and copy nothing.
#[kernel(block = 96)]
pub fn some_leave_early(x: &[u32], out: PerThread<u32>, part: AsyncShared<u32, 16>) {
    if thread_rank() >= 32 {
        return;
    }
    let part = sync(part.copy_async(x).wait());
    for (i, out) in out {
        *out = part[i % 16];
    }
}

/// Elements per stage.
pub const PART: usize = 160;

/// Weighs elements by the rounds in which they are read, so that a part read in the wrong round shows.
fn weigh(view: &[u32; PART], round: usize) -> u64 {
    (thread_rank() as usize..PART).step_by(32).map(|i| u64::from(view[i]) * (round as u64 + 1)).sum()
}

macro_rules! pipelines {
    ($($name:ident: $depth:literal, $($stage:ident)*;)*) => {$(
        /// A weighted sum, with some parts on their way and one read.
        #[kernel(block = 32)]
        pub fn $name(
            x: &[u32],
            out: &[Atomic<u64>],
            $($stage: AsyncShared<u32, PART>,)*
            spare: AsyncShared<u32, PART>,
        ) {
            let part = |i: usize| x.get(i * PART..).unwrap_or_default();
            let mut pipeline = Pipeline::start([$($stage),*], |i, stage| stage.copy_async(part(i)));
            let mut free = sync(spare);
            let rounds = x.len().div_ceil(PART);
            for round in 0..rounds {
                let (arrived, rest) = pipeline.wait();
                let (view, stage) = sync((arrived, free));
                let next = round + $depth;
                pipeline = rest.push(if next < rounds { stage.copy_async(part(next)) } else { stage.skip() });
                out[0].fetch_add(weigh(&view, round));
                free = view;
            }
        }
    )*};
}

pipelines! {
    pipeline_of_1: 1, first;
    pipeline_of_2: 2, first second;
    pipeline_of_3: 3, first second third;
    pipeline_of_4: 4, first second third fourth;
    pipeline_of_5: 5, first second third fourth fifth;
}

//! Loops around operations that threads do together, which they leave after different numbers of rounds.

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use gpu_std::prelude::{cluster::*, collective::*, warp::*, *};

/// Kernels whose threads do something in as many rounds as each is told. `total` is what they write.
macro_rules! rounds {
    ($($(#[$doc:meta])* $name:ident($k:ident, $total:ident) $body:block)*) => {$(
        $(#[$doc])*
        #[kernel]
        pub fn $name(rounds: &[u32], out: PerThread<u32>) {
            let mut $total = 0;
            for $k in 0..rounds[global_rank()] $body
            for (_, out) in out {
                *out = $total;
            }
        }
    )*};
}

rounds! {
    /// How many of the block are still there, in every second round.
    counted(k, total) { total += sync_count((), k % 2 == 0).1; }
    /// In how many rounds all that are still there agree.
    all_agree(k, total) { total += u32::from(sync_all((), k % 3 != 0).1); }
    /// In how many rounds the first thread of the block votes.
    any_votes(k, total) { total += u32::from(sync_any((), thread_rank() == 0 && k % 2 == 0).1); }
    /// Barriers that say nothing, and one that counts.
    bare(k, total) {
        sync(());
        total += sync_count((), k % 2 == 1).1;
        sync(());
    }
    /// The sums of pairs of lanes, which make as many rounds.
    paired(k, total) { total += warp().shuffle_xor(k * 64 + warp().rank(), 1); }
    /// The same in tiles of four.
    in_tiles(k, total) { total += tiled_partition::<4>().shuffle_xor(k * 64 + warp().rank(), 1); }
    /// The lanes that are still there.
    ballots(_k, total) { total += warp().ballot(true).count_ones(); }
    /// The lanes that are still there and in the same group.
    matched(k, total) { total += warp().match_any((warp().rank() + k) % 3).count_ones(); }
    /// The sum of one for each lane that is still there: an instruction of its own where there is one.
    reduced(_k, total) { total += warp().reduce_sum(1); }
}

/// Loops of which all threads make other rounds at each entry, and which they enter in as many rounds as each is told.
#[kernel]
pub fn triangles(rounds: &[u32], out: PerThread<u32>) {
    let mut total = 0;
    for k in 0..rounds[global_rank()] {
        let mut size = 2;
        while size <= 8 {
            let mut step = size / 2;
            while step > 0 {
                total += sync_count((), (k + step) % 3 == 0).1 * step;
                step /= 2;
            }
            size *= 2;
        }
    }
    for (_, out) in out {
        *out = total;
    }
}

/// Loops of other rounds at each entry, in a loop that each thread leaves at a round of its own.
#[kernel]
pub fn triangles_left_early(rounds: &[u32], out: PerThread<u32>) {
    let (mine, mut total) = (rounds[global_rank()], 0);
    for j in 0..6 {
        if j >= mine {
            break;
        }
        for k in 0..j {
            total += sync_count((), (k + j) % 2 == 0).1 + k;
        }
    }
    for (_, out) in out {
        *out = total;
    }
}

/// A barrier of a cluster of two blocks in each round: a thread of the other block wrote before it what is read behind it.
#[kernel(cluster = 2)]
pub fn cluster_rounds(rounds: &[u32], heard: &[Atomic<u32>], out: PerThread<u32>) {
    let other = (block_rank() ^ 1) as usize * block_dim().x as usize + thread_rank() as usize;
    let mut total = 0;
    for k in 0..rounds[global_rank()] {
        heard[global_rank()].store(k + 1);
        sync_cluster(());
        // The other thread may be a round ahead, or have ended.
        total += u32::from(heard[other].load() >= rounds[other].min(k + 1));
    }
    for (_, out) in out {
        *out = total;
    }
}

/// Each thread goes its own way round two loops, and all come to the barrier equally often.
#[kernel]
pub fn loop_in_loop(outer: &[u32], inner: &[u32], out: PerThread<u32>) {
    let mut total = 0;
    let mut round = 0;
    for _ in 0..outer[global_rank()] {
        for _ in 0..inner[global_rank()] {
            total += sync_count((), round % 3 == 0).1;
            round += 1;
        }
    }
    for (_, out) in out {
        *out = total;
    }
}

/// The inner loop has a constant bound, which not all threads reach.
#[kernel]
pub fn left_before_the_bound(outer: &[u32], inner: &[u32], out: PerThread<u32>) {
    let mut total = 0;
    let mut round = 0;
    for _ in 0..outer[global_rank()] {
        for k in 0..4 {
            if k >= inner[global_rank()] {
                break;
            }
            total += sync_count((), round % 3 == 0).1;
            round += 1;
        }
    }
    for (_, out) in out {
        *out = total;
    }
}

/// As many rounds for the whole grid, which only memory knows.
#[kernel]
pub fn grid_rounds(rounds: &[u32], sum: &[Atomic<u32>], out: PerThread<u32>) {
    let mut seen = 0;
    for _ in 0..rounds[0] {
        sum[0].fetch_add(1);
        sync_grid();
        seen = sum[0].load();
        sync_grid();
    }
    for (_, out) in out {
        *out = seen;
    }
}

static LAST: AtomicU32 = AtomicU32::new(u32::MAX);

/// What any thread of the block wrote to a static, all read.
#[kernel]
pub fn static_of_all(out: PerThread<u32>) {
    LAST.store(thread_rank(), Relaxed);
    sync(());
    let last = LAST.load(Relaxed);
    for (_, out) in out {
        *out = last;
    }
}

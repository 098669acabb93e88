//! Clusters of blocks: places, barriers, and shared memory of other blocks.

use gpu_std::{
    exit_thread,
    prelude::{cluster::*, memory::*, *},
};

fn place() -> [u32; 14] {
    let cluster = cluster();
    let (dim, block, index, grid) =
        (cluster.dim(), cluster.block_index(), cluster.index(), cluster.grid_dim());
    [
        cluster.blocks(),
        cluster.block_rank(),
        dim.x,
        dim.y,
        dim.z,
        block.x,
        block.y,
        block.z,
        index.x,
        index.y,
        index.z,
        grid.x,
        grid.y,
        grid.z,
    ]
}

/// Where each block is.
#[kernel(block = 1, cluster = (2, 1, 3))]
pub fn places(out: PerBlock<[u32; 14]>) {
    for (_, out) in out {
        *out = place();
    }
}

/// The same of blocks that are on their own.
#[kernel(block = 1, dims = 2)]
pub fn places_alone(out: PerBlock<[u32; 14]>) {
    for (_, out) in out {
        *out = place();
    }
}

/// What the next block of the cluster has.
#[kernel(block = 64, cluster = 4)]
pub fn of_the_next(x: &[u32], out: PerThread<u32>, mut part: Shared<u32, 64>) {
    let first = block_rank() * 64;
    for (i, element) in &mut part {
        *element = x[first + i];
    }
    let mut part = sync(part);
    let cluster = cluster();
    cluster.share(&mut part, |peers| {
        let next = peers.of_block((cluster.block_rank() + 1) % cluster.blocks());
        for (i, out) in out {
            *out = next[i % 64];
        }
    });
}

/// The sum of all that the blocks of a cluster have, added by each block for itself; then the arrays are written again.
#[kernel(block = 32, cluster = (1, 2, 2))]
pub fn rounds(rounds: u32, out: PerThread3d<u64>, mut part: Shared<u64, 32>) {
    for (i, element) in &mut part {
        *element = (block_rank() * 32 + i) as u64;
    }
    for _ in 0..rounds {
        let mut view = sync(part);
        let sum = cluster().share(&mut view, |peers| {
            let me = thread_rank() as usize;
            peers.iter().map(|peer| peer[me] + peer[31 - me]).fold(0_u64, u64::wrapping_add)
        });
        part = sync(view);
        for (_, element) in &mut part {
            *element = sum;
        }
    }
    let part = sync(part);
    for (_, out) in out {
        *out = part[thread_rank() as usize];
    }
}

/// Counts in the shared memory of two blocks, each of which counts half of the values.
#[kernel(block = 128, cluster = 2)]
pub fn histogram(values: &[u32], bins: &[Atomic<u32>], mut counts: SharedAtomics<u32, 500>) {
    counts.fill(0);
    let cluster = cluster();
    cluster.share(&mut counts, |peers| {
        for i in grid_stride(values.len()) {
            let value = values[i] % 1000;
            peers.of_block(value / 500)[value as usize % 500].fetch_add(1);
        }
    });
    for (i, count) in counts.owned() {
        bins[cluster.block_rank() as usize * 500 + i].fetch_add(count.load());
    }
}

/// Each block writes into the other, in turned order.
#[kernel(block = 32, cluster = 2)]
pub fn exchange(out: PerThread<u16>, mut cells: SharedCells<u16, 32>) {
    let cluster = cluster();
    cluster.share(&mut cells, |peers| {
        let other = peers.of_block(1 - cluster.block_rank());
        other[31 - thread_rank() as usize].store((block_rank() * 32) as u16 + thread_rank() as u16);
    });
    for (_, out) in out {
        *out = cells[thread_rank() as usize].load();
    }
}

/// What a barrier of the cluster orders in device memory, and what it passes on.
#[kernel(block = 64, cluster = 8)]
pub fn ordered(sums: &[Atomic<u32>], out: PerThread<[u32; 2]>, mut part: Shared<u32, 64>) {
    let sum = &sums[cluster().index().x as usize];
    for (i, element) in &mut part {
        *element = i as u32 * 3;
    }
    sum.fetch_add(thread_rank() + 1);
    let part = sync_cluster(part);
    for (_, out) in out {
        *out = [sum.load(), part[63 - thread_rank() as usize]];
    }
}

/// Threads that have ended are not waited for.
#[kernel(block = 64, cluster = 2)]
pub fn some_end(sum: &[Atomic<u32>], out: PerThread<u32>) {
    if thread_rank() >= 40 && block_index().x % 2 == 1 {
        exit_thread();
    }
    sum[cluster().index().x as usize].fetch_add(1);
    sync_cluster(());
    for (_, out) in out {
        *out = sum[cluster().index().x as usize].load();
    }
}

/// Without a contract, a block is a cluster.
#[kernel(block = 32)]
pub fn alone(out: PerThread<u32>, mut part: Shared<u32, 32>) {
    for (i, element) in &mut part {
        *element = i as u32 + 7;
    }
    let mut part = sync_cluster(part);
    let sum: u32 = cluster().share(&mut part, |peers| peers.iter().map(|peer| peer[0] + peer[31]).sum());
    for (_, out) in out {
        *out = sum;
    }
}

/// There is no third block.
#[kernel(block = 32, cluster = 2)]
pub fn outside(rank: u32, out: PerThread<u32>, mut part: SharedAtomics<u32, 32>) {
    part.fill(5);
    let value = cluster().share(&mut part, |peers| peers.of_block(rank)[0].load());
    for (_, out) in out {
        *out = value;
    }
}

/// Barriers of the cluster between those of the grid.
#[kernel(block = 32, cluster = 2)]
pub fn of_cluster_and_grid(sums: &[Atomic<u32>], out: PerThread<u32>) {
    let cluster_sum = &sums[cluster().index().x as usize + 1];
    for round in 0..3 {
        cluster_sum.fetch_add(1);
        sync_cluster(());
        if thread_rank() == 0 && cluster().block_rank() == 0 {
            sums[0].fetch_add(cluster_sum.load() + round);
        }
        sync_grid();
    }
    for (_, out) in out {
        *out = sums[0].load();
    }
}

/// Half of the blocks come to another barrier.
#[kernel(block = 32, cluster = 2)]
pub fn different_barriers(out: PerThread<u32>) {
    let of_block = cluster().block_rank();
    if of_block == 0 {
        sync_cluster(());
    }
    for (_, out) in out {
        *out = of_block;
    }
    if of_block == 1 {
        sync_cluster(());
    }
}

/// Each thread writes an element of device memory and reads that of the same thread `distance` blocks on, with a barrier of the cluster
/// between.
#[kernel(block = 32, cluster = 2)]
pub fn pass_to_another_block(distance: usize, x: UnsafeSlice<u32>, out: PerThread<u32>) {
    let (me, threads) = (global_rank(), threads_per_grid());
    // SAFETY: only for the other block of the cluster, which is what the test is about.
    unsafe {
        x.set(me, me as u32);
        sync_cluster(());
        let other = (block_rank() ^ distance) * 32 + thread_rank() as usize;
        let there = x.get(other % threads);
        for (_, out) in out {
            *out = there;
        }
    }
}

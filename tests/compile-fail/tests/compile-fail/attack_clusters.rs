//! Shared memory of other blocks is used while it is lent, and as it was lent.

#![allow(unused)]

use gpu_std::prelude::{*, cluster::*};

/// Keeps an array of another block past the barrier.
#[kernel(cluster = 2)]
fn keep_an_array(mut part: Shared<f32, 32>) {
    let mut part = sync(part);
    let other = cluster().share(&mut part, |peers| peers.of_block(1));
    let first = other[0];
}

/// Keeps all of them.
#[kernel(cluster = 2)]
fn keep_the_peers(mut part: Shared<f32, 32>) {
    let mut part = sync(part);
    let mut kept = None;
    cluster().share(&mut part, |peers| kept = Some(peers));
}

/// Keeps an element by way of a variable outside.
#[kernel(cluster = 2)]
fn keep_an_element(mut counts: SharedAtomics<u32, 32>) {
    let mut kept = &Atomic::new(0);
    cluster().share(&mut counts, |peers| kept = &peers.of_block(1)[0]);
    kept.fetch_add(1);
}

/// Lends an array that its block writes.
#[kernel(cluster = 2)]
fn lend_in_the_write_phase(mut part: Shared<f32, 32>) {
    cluster().share(&mut part, |peers| ());
}

/// Writes an array of another block.
#[kernel(cluster = 2)]
fn write_what_is_read(mut part: Shared<f32, 32>) {
    let mut part = sync(part);
    cluster().share(&mut part, |peers| peers.of_block(1)[0] = 1.0);
}

/// Makes the array writable while it is lent.
#[kernel(cluster = 2)]
fn write_while_lent(mut part: Shared<f32, 32>) {
    let mut part = sync(part);
    cluster().share(&mut part, |peers| {
        let mut part = sync(part);
    });
}

/// Uses the atomics of the own block with the scope of the block while others change them.
#[kernel(cluster = 2)]
fn count_in_two_scopes(mut counts: SharedAtomics<u32, 32>) {
    cluster().share(&mut counts, |peers| {
        counts[0].fetch_add(1);
    });
}

/// Sends what was lent to another thread of the host.
fn send(peers: &gpu_std::cluster::Peers<'_, SharedAtomics<'_, u32, 32>>) {
    std::thread::scope(|scope| {
        scope.spawn(|| peers.of_block(0)[0].load());
    });
}

/// Lends what other blocks cannot reach.
#[kernel(cluster = 2)]
fn lend_a_local_array() {
    cluster().share(&mut [0_u32; 4], |peers| ());
}

/// Makes a cluster of its own.
fn forge() -> gpu_std::Cluster {
    gpu_std::Cluster(())
}

fn main() {}

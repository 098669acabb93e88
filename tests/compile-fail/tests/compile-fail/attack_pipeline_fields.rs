//! Attacks on pipelines: to make what only kernels have. In a file of their own, because rustc looks at fields when all else is right.

use gpu_std::{BlockScratch, pipeline::*};

/// Makes a window of what is not there.
fn makes_window(x: In<'static, u8>) -> Window<In<'static, u8>> {
    Window { iter: x, next: 0, end: 100 }
}

/// Makes a block.
fn makes_block(scratch: *mut BlockScratch<'static, [u64; 4]>) -> Block {
    Block { scratch, rank: 0, threads: 1, lanes: 1, division: kernels::Division::Long, columns: 1, group: 0 }
}

fn main() {}

//! Chunks that are wider than there is code for, which is found out when constants are evaluated.

use gpu_std::{elementwise::*, prelude::*};

#[kernel]
pub fn lanes(x: SliceOrScalar<u8>, out: PerThreadChunks<u8, 32>) {
    out.map((x,), |(x,)| x);
}

fn main() {}

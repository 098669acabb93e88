//! Loops over elements in each way that iterators offer, for as many elements as a launch says.

use gpu_std::prelude::*;

/// Kernels in which each thread adds numbers of a part of `x`, which begins at its own and has as many elements as its own.
macro_rules! loops {
    ($($(#[$doc:meta])* $name:ident($x:ident, $k:ident, $me:ident) $sum:expr;)*) => {$(
        $(#[$doc])*
        #[kernel]
        pub fn $name(counts: &[u32], x: &[u32], out: PerThread<u32>) {
            for ($me, out) in out {
                let $k = counts[$me];
                let $x = &x[$me..][..$k as usize];
                *out = $sum;
            }
        }
    )*};
}

/// A sum in which each number counts by its place.
fn sum<'a>(numbers: impl Iterator<Item = &'a u32>) -> u32 {
    numbers.fold(0, |sum, number| sum.wrapping_mul(3).wrapping_add(*number))
}

loops! {
    /// From the first to the last.
    forwards(x, _k, _me) sum(x.iter());
    /// From the last to the first.
    backwards(x, _k, _me) sum(x.iter().rev());
    /// Each third.
    in_steps(x, _k, _me) sum(x.iter().step_by(3));
    /// Each fourth behind some.
    behind_some(x, _k, me) sum(x.iter().skip(me % 5).step_by(4));
    /// The first of each five, and of what is left.
    in_chunks(x, _k, _me) sum(x.chunks(5).map(|chunk| &chunk[0]));
    /// The first of each five.
    in_whole_chunks(x, _k, _me) sum(x.chunks_exact(5).map(|chunk| &chunk[0]));
    /// The last of each three neighbours.
    in_windows(x, _k, _me) sum(x.windows(3).map(|window| &window[2]));
    /// Each fourth, by its index.
    by_index(x, _k, me) sum((me % 3..x.len()).step_by(4).map(|i| &x[i]));
    /// Each fourth, by an index of 32 bits.
    by_short_index(x, k, me) sum((me as u32 % 3..k).step_by(4).map(|i| &x[i as usize]));
    /// Each seventh, by an index of 32 bits.
    by_short_index_of_seven(x, k, _me) sum((0..k).step_by(7).map(|i| &x[i as usize]));
    /// As [`by_index`], with a loop in the loop.
    by_index_around_another(x, _k, me) {
        let mut sum = 0_u32;
        for i in (me % 3..x.len()).step_by(4) {
            let mut part = x[i];
            while part & 1 == 0 && part > 3 {
                part /= 2;
            }
            sum = sum.wrapping_mul(3).wrapping_add(part);
        }
        sum
    };
    /// As [`by_index`], up to a number above 100.
    by_index_until(x, _k, me) {
        let mut sum = 0_u32;
        for i in (me % 3..x.len()).step_by(4) {
            if x[i] > 100 {
                break;
            }
            sum = sum.wrapping_mul(3).wrapping_add(x[i]);
        }
        sum
    };
}

/// The rounds of a range up to the largest numbers of 32 bits.
#[kernel]
pub fn up_to_the_largest(ends: &[u32], out: PerThread<u32>) {
    for (i, out) in out {
        let mut rounds = 0;
        for at in (ends[i] - 1000..ends[i]).step_by(256) {
            rounds += 1 + at % 2;
        }
        *out = rounds;
    }
}

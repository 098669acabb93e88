//! Compile-time loop unrolling.

macro_rules! calls {
    ($N:ident, $body:ident: $($i:literal)*) => {
        $(if $N > $i {
            $body($i);
        })*
    };
    (until, $N:ident, $body:ident: $($i:literal)*) => {
        $(if $N > $i && !$body($i) {
            return;
        })*
    };
}

/// Unrolls a loop at compile time (CUDA's `#pragma unroll`): calls `body` with 0, 1, …, `N - 1`, one call after another in
/// the code.
///
/// For arrays that should stay in registers: registers have no addresses, so an array that a loop indexes is placed in local
/// memory unless the compiler unrolls the loop, which it does by itself if the body is small. `N` is at most 64.
///
/// ```
/// use gpu_std::{prelude::*, unroll};
///
/// /// Sums each 8 elements in a tree: at distances 4, 2 and 1.
/// #[kernel]
/// pub fn sums(x: &[[f32; 8]], sums: PerThread<f32>) {
///     for (i, sum) in sums {
///         let mut parts = x[i];
///         for half in [4, 2, 1] {
///             unroll::<8>(|j| {
///                 if j < half {
///                     parts[j] += parts[j + half];
///                 }
///             });
///         }
///         *sum = parts[0];
///     }
/// }
/// ```
#[doc(alias = "pragma", alias = "pragma_unroll")]
#[inline(always)]
pub fn unroll<const N: usize>(mut body: impl FnMut(usize)) {
    const { assert!(N <= 64, "at most 64 rounds are unrolled") };
    calls!(N, body:
        0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
        32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63
    );
}

/// The same until `body` returns `false`; at most 16 rounds.
#[inline(always)]
pub(crate) fn unroll_while<const N: usize>(mut body: impl FnMut(usize) -> bool) {
    const { assert!(N <= 16, "at most 16 rounds are unrolled") };
    calls!(until, N, body: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
}

#[cfg(test)]
mod tests {
    use super::{unroll, unroll_while};

    #[test]
    fn every_round_is_done_once_in_order() {
        let mut seen = std::vec::Vec::new();
        unroll::<64>(|i| seen.push(i));
        assert!(seen.iter().copied().eq(0..64));
        unroll::<0>(|_| unreachable!("no round"));
        let mut count = 0;
        unroll::<5>(|_| count += 1);
        assert_eq!(count, 5);
        unroll_while::<5>(|i| {
            count += 1;
            i < 2
        });
        assert_eq!(count, 8);
    }
}

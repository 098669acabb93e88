//! Loops around barriers and operations of warps whose rounds differ from lane to lane, warp to warp and block to block. A GPU on which one
//! of these hangs has two copies of an operation.

use gpukernel::LaunchConfig;
use gpukernel_device_test_kernels::rounds::{
    all_agree, any_votes, ballots, bare, cluster_rounds, counted, grid_rounds, in_tiles,
    left_before_the_bound, loop_in_loop, matched, paired, reduced, static_of_all, triangles,
    triangles_left_early,
};
use gpukernel_device_tests::{
    on_every_device, on_every_device_that_lets_threads_end, on_every_device_with_clusters,
};

const THREADS: usize = 96;
const BLOCKS: usize = 4;

/// How many rounds each thread makes: by its lane, its warp or its block, by all of them, and none.
fn patterns() -> [fn(usize) -> u32; 5] {
    [
        // Pairs of lanes make as many.
        |i| (i as u32 / 2 * 7 + 3) % 11,
        |i| i as u32 / 32 * 3 % 10,
        |i| (i / THREADS) as u32 * 5 + 2,
        |i| (i as u32 / 2 * 5 + i as u32 / 32 * 3 + (i / THREADS) as u32) % 13,
        |_| 0,
    ]
}

/// The threads for which one waits.
#[derive(Clone, Copy)]
enum With {
    Block,
    Warp,
}

impl With {
    fn threads(self, i: usize) -> std::ops::Range<usize> {
        match self {
            Self::Block => i / THREADS * THREADS..(i / THREADS + 1) * THREADS,
            Self::Warp => i / 32 * 32..(i / 32 + 1) * 32,
        }
    }
}

/// Launches a kernel for each pattern, or for those given. `expected` is what one round adds for a thread: of the round, the thread, and those that
/// are still there.
macro_rules! check {
    ($kernel:ident, $with:expr, $expected:expr) => {
        check!($kernel, $with, $expected, patterns())
    };
    ($kernel:ident, $with:expr, $expected:expr, $patterns:expr) => {{
        let expected: fn(u32, usize, &[usize]) -> u32 = $expected;
        let launch_all = |device: &gpukernel::Device, module: &gpukernel::Module| {
            for rounds in $patterns {
                let rounds: Vec<u32> = (0..BLOCKS * THREADS).map(rounds).collect();
                let mut out = device.zeroed::<u32>(rounds.len())?;
                module.launch(
                    $kernel,
                    LaunchConfig::new(BLOCKS, THREADS),
                    (&device.upload(&rounds)?, &mut out),
                )?;
                let total = |i: usize| {
                    let round = |k: u32| {
                        let there: Vec<_> = With::threads($with, i).filter(|&j| rounds[j] > k).collect();
                        expected(k, i, &there)
                    };
                    (0..rounds[i]).map(round).sum::<u32>()
                };
                assert_eq!(out.to_vec()?, (0..rounds.len()).map(total).collect::<Vec<_>>(), "{rounds:?}");
            }
            Ok(())
        };
        match $with {
            With::Block => on_every_device_that_lets_threads_end(launch_all),
            With::Warp => on_every_device(launch_all),
        }
    }};
}

#[test]
fn barriers_that_count() {
    check!(counted, With::Block, |k, _, there| if k % 2 == 0 { there.len() as u32 } else { 0 });
}

#[test]
fn barriers_that_ask_whether_all_agree() {
    check!(all_agree, With::Block, |k, _, _| u32::from(k % 3 != 0));
}

#[test]
fn barriers_that_ask_whether_any_votes() {
    check!(any_votes, With::Block, |k, _, there| u32::from(k % 2 == 0 && there[0] % THREADS == 0));
}

#[test]
fn several_barriers_a_round() {
    check!(bare, With::Block, |k, _, there| if k % 2 == 1 { there.len() as u32 } else { 0 });
}

#[test]
fn shuffles() {
    check!(paired, With::Warp, |k, i, _| k * 64 + ((i as u32 % 32) ^ 1));
}

#[test]
fn shuffles_in_tiles() {
    check!(in_tiles, With::Warp, |k, i, _| k * 64 + ((i as u32 % 32) ^ 1));
}

#[test]
fn votes() {
    check!(ballots, With::Warp, |_, _, there| there.len() as u32);
}

#[test]
fn matches() {
    check!(matched, With::Warp, |k, i, there| {
        let group = |j: usize| (j as u32 % 32 + k) % 3;
        there.iter().filter(|&&j| group(j) == group(i)).count() as u32
    });
}

#[test]
fn reductions() {
    // Where it takes several steps, all lanes must be there.
    let [_, of_warps, of_blocks, ..] = patterns();
    check!(reduced, With::Warp, |_, _, there| there.len() as u32, [of_warps, of_blocks]);
}

#[test]
fn other_rounds_at_each_entry() {
    check!(triangles, With::Block, |k, _, there| {
        let steps = [1, 2, 1, 4, 2, 1];
        steps.map(|step| if (k + step) % 3 == 0 { there.len() as u32 * step } else { 0 }).iter().sum()
    });
}

#[test]
fn other_rounds_at_each_entry_in_a_loop_that_threads_leave_apart() {
    check!(triangles_left_early, With::Block, |j, _, there| {
        let round = |k: u32| if (k + j).is_multiple_of(2) { there.len() as u32 + k } else { k };
        if j < 6 { (0..j).map(round).sum() } else { 0 }
    });
}

#[test]
fn barriers_of_a_cluster() {
    on_every_device_with_clusters(|device, module| {
        for rounds in patterns() {
            let rounds: Vec<u32> = (0..BLOCKS * THREADS).map(rounds).collect();
            let mut out = device.zeroed::<u32>(rounds.len())?;
            let mut heard = device.zeroed::<u32>(rounds.len())?;
            module.launch(
                cluster_rounds,
                LaunchConfig::new(BLOCKS, THREADS),
                (&device.upload(&rounds)?, &mut heard, &mut out),
            )?;
            assert_eq!(out.to_vec()?, rounds);
        }
        Ok(())
    });
}

/// Twelve rounds for every thread, in twelve times one, six times two, and so on.
fn factors(i: usize) -> (u32, u32) {
    [(12, 1), (6, 2), (4, 3), (3, 4)][(i * 7 + i / 32 + i / THREADS) % 4]
}

/// The same for all lanes of a warp.
fn factors_of_warps(i: usize) -> (u32, u32) {
    factors(i / 32 * 32)
}

macro_rules! check_loops {
    ($kernel:ident, $factors:ident) => {
        on_every_device(|device, module| {
            let (outer, inner): (Vec<_>, Vec<_>) = (0..BLOCKS * THREADS).map($factors).unzip();
            let mut out = device.zeroed::<u32>(outer.len())?;
            let (outer, inner) = (device.upload(&outer)?, device.upload(&inner)?);
            module.launch($kernel, LaunchConfig::new(BLOCKS, THREADS), (&outer, &inner, &mut out))?;
            assert_eq!(out.to_vec()?, vec![4 * THREADS as u32; BLOCKS * THREADS]);
            Ok(())
        })
    };
}

#[test]
fn loops_in_loops() {
    check_loops!(loop_in_loop, factors);
}

#[test]
fn loops_in_loops_that_are_left_before_their_bound() {
    // Not lane by lane: ptxas 13 brings the lanes that left the inner loop together (`BSYNC`) while others wait in it for the whole
    // warp (`WARPSYNC.ALL`), and an H200 hung. "Not enforced" says so.
    check_loops!(left_before_the_bound, factors_of_warps);
}

#[test]
fn barriers_of_the_grid() {
    on_every_device(|device, module| {
        for rounds in [0, 1, 4, 7] {
            let mut sum = device.zeroed::<u32>(1)?;
            let mut out = device.zeroed::<u32>(BLOCKS * THREADS)?;
            let given = device.upload(&[rounds])?;
            module.launch(grid_rounds, LaunchConfig::new(BLOCKS, THREADS), (&given, &mut sum, &mut out))?;
            let threads = (BLOCKS * THREADS) as u32;
            assert_eq!(out.to_vec()?, vec![rounds * threads; BLOCKS * THREADS], "{rounds}");
        }
        Ok(())
    });
}

#[test]
fn a_static_is_one_variable() {
    on_every_device(|device, module| {
        let mut out = device.zeroed::<u32>(THREADS)?;
        module.launch(static_of_all, LaunchConfig::new(1, THREADS), (&mut out,))?;
        let seen = out.to_vec()?;
        assert!(seen.iter().all(|&last| last == seen[0] && last < THREADS as u32), "{seen:?}");
        Ok(())
    });
}

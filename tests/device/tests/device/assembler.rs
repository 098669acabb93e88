//! What ptxas makes wrong machine code of, if it is given the PTX that LLVM writes. Found by the random programs of `tests/programs`.

use gpukernel::{LaunchConfig, for_each};
use gpukernel_device_test_kernels::assembler::{
    absolute_values, all_extremes, all_reinterpretations, extremes, match_parameters, narrow_sums,
    neighbouring_sums, reinterpretations, signs, sum_of_some, unwanted_all, unwanted_any, unwanted_ballot,
    unwanted_match_all, unwanted_match_any, unwanted_match_any_64, unwanted_partition, unwanted_reduction,
    unwanted_uniform,
};
use gpukernel_device_tests::on_every_device;

const BLOCKS: usize = 8;

/// Whole warps, and one and a part.
const THREADS: [usize; 2] = [96, 40];

/// Launches kernels that write the sum of the numbers from 5 on for every thread.
macro_rules! check {
    ($($kernel:ident $(($argument:expr))?),* $(,)?) => {
        on_every_device(|device, module| {
            for threads in THREADS {
                $({
                    let mut sums = device.zeroed::<u32>(BLOCKS * threads)?;
                    module.launch($kernel, LaunchConfig::new(BLOCKS, threads), (5, $($argument,)? &mut sums))?;
                    assert_eq!(sums.to_vec()?, vec![(5..5 + 8).sum::<u32>(); BLOCKS * threads], stringify!($kernel));
                })*
            }
            Ok(())
        })
    };
}

/// Programs 301 and 800: the lanes were left apart, and a few of them went through the barrier for their warp.
#[test]
fn results_that_nobody_wants_leave_no_lanes_apart() {
    check!(
        unwanted_all,
        unwanted_any,
        unwanted_uniform,
        unwanted_ballot,
        unwanted_match_any,
        unwanted_match_any_64,
        unwanted_match_all,
        unwanted_partition,
        unwanted_reduction,
    );
}

/// Program 800: that all lanes have the same parameter is known, and the question was erased, but not the parting of lanes.
#[test]
fn matches_whose_answer_is_known() {
    check!(match_parameters(6));
}

/// Programs 1725 and 2952: of a constant that is added to a pair of numbers, nothing was left where one of the pair is used.
#[test]
fn sums_of_16_bits() {
    let x: Vec<u16> = (0..=u16::MAX).step_by(7).collect();
    let expected: Vec<_> = x.iter().map(|&x| [neighbouring_sums(x), u64::from(sum_of_some(x))]).collect();
    on_every_device(|device, module| {
        let mut y = device.zeroed::<[u64; 2]>(x.len())?;
        module.launch(narrow_sums, for_each(x.len()), (&device.upload(&x)?, &mut y))?;
        assert_eq!(y.to_vec()?, expected);
        Ok(())
    });
}

/// Programs 2008 and 89454: the absolute value of the smallest number was taken for one that is not negative, and its negative of 16 bits
/// for one that is not itself.
#[test]
fn absolute_values_of_the_smallest_numbers() {
    let smallest = [i64::MIN, i32::MIN.into(), i16::MIN.into(), 0];
    let x: Vec<_> = smallest.iter().flat_map(|x| (-3..=3).map(|by| x.wrapping_add(by))).collect();
    on_every_device(|device, module| {
        let mut y = device.zeroed::<[i64; 10]>(x.len())?;
        module.launch(absolute_values, for_each(x.len()), (&device.upload(&x)?, &mut y))?;
        assert_eq!(y.to_vec()?, x.iter().copied().map(signs).collect::<Vec<_>>());
        Ok(())
    });
}

const EDGES: [i32; 16] =
    [i32::MIN, i32::MIN + 1, -129, -128, -101, -3, -1, 0, 1, 3, 100, 124, 127, 128, 255, i32::MAX];

/// Programs 33996 and 45167: the sign of a negative was forgotten, and the predicate of a minimum was that of another.
#[test]
fn extremes_of_the_edges() {
    let triples = EDGES.iter().flat_map(|&a| EDGES.iter().flat_map(move |&b| EDGES.map(|c| [a, b, c])));
    let numbers: Vec<_> = triples.collect();
    on_every_device(|device, module| {
        let mut y = device.zeroed::<[i64; 4]>(numbers.len())?;
        module.launch(all_extremes, for_each(numbers.len()), (&device.upload(&numbers)?, &mut y))?;
        for (numbers, found) in numbers.iter().zip(y.to_vec()?) {
            assert_eq!(found, extremes(numbers[0], numbers[1], numbers[2]), "{numbers:?}");
        }
        Ok(())
    });
}

/// Program 40157: of a boolean that became a float whose bits became an integer, the first conversion was left out.
#[test]
fn booleans_whose_bits_are_taken_for_another_type() {
    let numbers: Vec<_> = EDGES.iter().flat_map(|&a| EDGES.map(|b| [a, b])).collect();
    on_every_device(|device, module| {
        let mut y = device.zeroed::<[u64; 14]>(numbers.len())?;
        let mut bytes = device.zeroed::<u8>(numbers.len())?;
        let x = device.upload(&numbers)?;
        module.launch(all_reinterpretations, for_each(numbers.len()), (&x, &mut y, &mut bytes))?;
        for ((&[a, b], found), byte) in numbers.iter().zip(y.to_vec()?).zip(bytes.to_vec()?) {
            let expected = reinterpretations(a, b);
            assert_eq!((found, byte), (expected, expected[0] as u8), "{a} {b}");
        }
        Ok(())
    });
}

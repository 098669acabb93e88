//! Loops of each number of rounds: how they end is rewritten for ptxas.

use gpukernel::for_each;
use gpukernel_device_test_kernels::loops;
use gpukernel_device_tests::on_every_device;

const THREADS: usize = 96;

/// As many elements as rounds are unrolled, one more and one less, none, and many.
fn counts() -> Vec<u32> {
    (0..THREADS as u32).map(|i| if i < 64 { i } else { i * 37 % 1000 }).collect()
}

fn numbers() -> Vec<u32> {
    (0..2048_u32).map(|i| i.wrapping_mul(2_654_435_761) >> 25).collect()
}

fn sum(numbers: impl Iterator<Item = u32>) -> u32 {
    numbers.fold(0, |sum, number| sum.wrapping_mul(3).wrapping_add(number))
}

/// Launches a kernel of [`loops`], and compares what each thread found with the sum of the numbers at the places that `places` says, given how many
/// there are and which thread it is, as `part` makes them.
macro_rules! check {
    ($kernel:ident, |$count:pat_param, $me:pat_param| $places:expr, $part:expr) => {
        on_every_device(|device, module| {
            let (counts, numbers) = (counts(), numbers());
            let (on_counts, on_numbers) = (device.upload(&counts)?, device.upload(&numbers)?);
            let mut out = device.zeroed::<u32>(THREADS)?;
            module.launch(loops::$kernel, for_each(THREADS), (&on_counts, &on_numbers, &mut out))?;
            for (thread, found) in out.to_vec()?.into_iter().enumerate() {
                let ($count, $me) = (counts[thread] as usize, thread);
                let part: fn(Vec<u32>) -> Vec<u32> = $part;
                let expected = sum(part($places.map(|i| numbers[thread + i]).collect()).into_iter());
                assert_eq!(found, expected, "{} elements of thread {thread}", counts[thread]);
            }
            Ok(())
        })
    };
    ($kernel:ident, |$count:pat_param, $me:pat_param| $places:expr) => {
        check!($kernel, |$count, $me| $places, |numbers| numbers)
    };
}

/// The places below `count` that are so many behind one.
fn steps(count: usize, start: usize, step: usize) -> impl DoubleEndedIterator<Item = usize> {
    (0..count).filter(move |i| *i >= start && (i - start).is_multiple_of(step))
}

#[test]
fn elements_one_after_another() {
    check!(forwards, |count, _| 0..count);
    check!(backwards, |count, _| (0..count).rev());
}

#[test]
fn elements_in_steps() {
    check!(in_steps, |count, _| steps(count, 0, 3));
    check!(behind_some, |count, me| steps(count, me % 5, 4));
}

#[test]
fn parts_of_slices() {
    check!(in_chunks, |count, _| steps(count, 0, 5));
    check!(in_whole_chunks, |count, _| steps(count, 0, 5).filter(move |i| i + 5 <= count));
    check!(in_windows, |count, _| 2..count.max(2));
}

#[test]
fn indices_in_steps() {
    check!(by_index, |count, me| steps(count, me % 3, 4));
    check!(by_short_index, |count, me| steps(count, me % 3, 4));
    check!(by_short_index_of_seven, |count, _| steps(count, 0, 7));
}

#[test]
fn indices_in_steps_around_and_up_to_something() {
    let halved = |numbers: Vec<u32>| {
        let half = |mut number: u32| {
            while number.is_multiple_of(2) && number > 3 {
                number /= 2;
            }
            number
        };
        numbers.into_iter().map(half).collect()
    };
    check!(by_index_around_another, |count, me| steps(count, me % 3, 4), halved);
    check!(by_index_until, |count, me| steps(count, me % 3, 4), |numbers| {
        numbers.into_iter().take_while(|number| *number <= 100).collect()
    });
}

/// The last step passes by the largest number of 32 bits.
#[test]
fn steps_up_to_the_largest_number() {
    on_every_device(|device, module| {
        let ends: Vec<u32> = (0..300).map(|i| u32::MAX - i).collect();
        let mut out = device.zeroed::<u32>(ends.len())?;
        module.launch(loops::up_to_the_largest, for_each(ends.len()), (&device.upload(&ends)?, &mut out))?;
        let rounds = |end: &u32| (end - 1000..*end).step_by(256).map(|at| 1 + at % 2).sum::<u32>();
        assert_eq!(out.to_vec()?, ends.iter().map(rounds).collect::<Vec<_>>());
        Ok(())
    });
}

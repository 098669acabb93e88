//! Primes by trial division: in a loop, by one launch for each number, and by one launch for all. The primes among numbers on a spiral are drawn.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use elementwise_kernels::{check_prime, is_prime};
use gpukernel::{LaunchConfig, Module};
use gpukernel_array::{Array, ArrayFunction, Result};

/// Numbers along a side of the spiral, an odd number.
const SIDE: usize = 201;
/// Along a side of the square for a number.
const PIXELS: usize = 3;

/// By one launch.
fn primes(module: &Module, below: u32) -> Result<Vec<u32>> {
    let numbers: Vec<u32> = (0..below).collect();
    let are_prime = is_prime::apply(module, (&Array::from_vec(module.device(), &numbers)?,))?.to_vec()?;
    Ok(numbers
        .into_iter()
        .zip(are_prime)
        .filter_map(|(number, is_prime)| is_prime.then_some(number))
        .collect())
}

/// By one launch of one thread for each number, as nobody should: nearly all of the time is that of launches and copies.
fn primes_one_by_one(module: &Module, below: u32) -> Result<Vec<u32>> {
    let mut out = module.device().filled(1, false)?;
    let mut primes = Vec::new();
    for number in 0..below {
        module.launch(check_prime, LaunchConfig::new(1, 1), (number, &mut out))?;
        if out.to_vec()? == [true] {
            primes.push(number);
        }
    }
    Ok(primes)
}

/// `start` is when the program began to load the module.
pub(crate) fn print(module: &Module, start: Instant, below: u32, output: &Path) -> anyhow::Result<()> {
    fn timed<E>(f: impl FnOnce() -> Result<Vec<u32>, E>) -> Result<(Vec<u32>, Duration), E> {
        let start = Instant::now();
        Ok((f()?, start.elapsed()))
    }
    // The first launches load the kernels, which were compiled when the program was built.
    primes(module, 1)?;
    let first = start.elapsed();
    let (_, second) = timed(|| primes(module, 1))?;
    let [first, second] = [first, second].map(|time| time.as_secs_f64() * 1e3);
    println!("load, first launch and copy {first:.3} ms, the same launch and copy again {second:.3} ms");
    primes_one_by_one(module, 1)?;
    let in_a_loop = timed(|| anyhow::Ok((0..below).filter(|number| is_prime(*number)).collect()))?;
    let one_by_one = timed(|| primes_one_by_one(module, below))?;
    let at_once = timed(|| primes(module, below))?;
    for (name, (primes, time)) in
        [("a loop", in_a_loop), ("a launch for each number", one_by_one), ("one launch", at_once)]
    {
        println!("{name:<25} {:>6} primes below {below} {:>10.3} ms", primes.len(), time.as_secs_f64() * 1e3);
    }
    example_support::write_grey(output, SIDE * PIXELS, &drawn(module, SIDE, PIXELS)?)
}

/// The number at a place of a spiral that starts with 1 in the middle and goes to the right and up, as Ulam drew it.
fn on_spiral(side: usize, (row, column): (usize, usize)) -> u32 {
    let middle = (side / 2) as i32;
    let (x, y) = (column as i32 - middle, middle - row as i32);
    // The ring of numbers up to (2·ring + 1)², which is in its lower right corner.
    let ring = x.abs().max(y.abs());
    let last = (2 * ring + 1).pow(2);
    let number = if y == -ring {
        last - (ring - x)
    } else if x == -ring {
        last - 2 * ring - (ring + y)
    } else if y == ring {
        last - 4 * ring - (ring + x)
    } else {
        last - 6 * ring - (ring - y)
    };
    number.unsigned_abs()
}

/// Ulam's spiral: primes are black squares of so many pixels.
fn drawn(module: &Module, side: usize, pixels: usize) -> Result<Vec<u8>> {
    let numbers = Array::from_shape_fn(module.device(), (side, side), |place| on_spiral(side, place))?;
    let primes = is_prime::apply(module, (&numbers,))?.to_ndarray()?;
    let shade = |place: usize| {
        let (row, column) = (place / (side * pixels) / pixels, place % (side * pixels) / pixels);
        if primes[(row, column)] { 0 } else { 255 }
    };
    Ok((0..(side * pixels).pow(2)).map(shade).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::on_every_device;

    /// The sieve of Eratosthenes.
    fn sieved(below: usize) -> Vec<u32> {
        let mut is_prime = vec![true; below];
        for number in 2..below {
            (number * number..below).step_by(number).for_each(|multiple| is_prime[multiple] = false);
        }
        (2..below as u32).filter(|number| is_prime[*number as usize]).collect()
    }

    /// There are 1229 primes below 10 000, whose sum is 5 736 396 (OEIS A006880, A046731), and 78 498 below a million.
    #[test]
    fn primes_are_those_of_the_sieve() {
        on_every_device(|module| {
            let primes = primes(module, 10_000)?;
            assert_eq!((primes.len(), primes.iter().sum::<u32>()), (1229, 5_736_396));
            assert_eq!(primes, sieved(10_000));
            assert_eq!(super::primes(module, 1_000_000)?.len(), 78_498);
            Ok(())
        });
    }

    #[test]
    fn a_launch_for_each_number_finds_the_same() {
        on_every_device(|module| {
            assert_eq!(primes_one_by_one(module, 10_000)?, sieved(10_000));
            assert_eq!((primes(module, 0)?, primes(module, 3)?), (vec![], vec![2]));
            Ok(())
        });
    }

    #[test]
    fn numbers_wind_around_the_middle() {
        let rows = |side: usize| -> Vec<Vec<u32>> {
            (0..side).map(|row| (0..side).map(|column| on_spiral(side, (row, column))).collect()).collect()
        };
        assert_eq!(rows(3), [[5, 4, 3], [6, 1, 2], [7, 8, 9]]);
        let mut numbers = rows(201).concat();
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(1..=201 * 201));
    }

    #[test]
    fn as_many_squares_are_black_as_there_are_primes() {
        on_every_device(|module| {
            let pixels = drawn(module, 201, 2)?;
            let black = pixels.iter().filter(|pixel| **pixel == 0).count();
            assert_eq!((pixels.len(), black / 4), (402 * 402, sieved(201 * 201 + 1).len()));
            Ok(())
        });
    }

    #[test]
    fn the_picture_in_the_book_is_what_the_program_draws() {
        let file = include_bytes!("../../../docs/src/images/primes.png");
        let mut shown = png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
        let mut pixels_shown = vec![0; (SIDE * PIXELS).pow(2)];
        let frame = shown.next_frame(&mut pixels_shown).unwrap();
        assert_eq!((frame.width, frame.height, frame.color_type), (603, 603, png::ColorType::Grayscale));
        on_every_device(|module| {
            assert!(drawn(module, SIDE, PIXELS)? == pixels_shown);
            Ok(())
        });
    }
}

//! Kernels that panic, each in the one thread that it is told.
// What is tested.
#![allow(clippy::unwrap_used)]

use gpu_std::prelude::{memory::*, *};

fn none(values: &[u32]) -> Option<u32> {
    values.get(1000).copied()
}

fn error<E>(values: &[u32], error: E) -> Result<u32, E> {
    if values[1] == 1 { Err(error) } else { Ok(0) }
}

/// The line of case 0 in this file; case `n` stands `n` lines further down.
pub const FIRST_LINE: u32 = line!() + 10;

/// Panics in thread `at`, in one of many ways. `values` are 0, 1, 2, … 7.
#[rustfmt::skip]
#[kernel]
pub fn cases(case: u32, at: usize, values: &[u32], mut out: PerThread<u32>) {
    let Some((i, out)) = out.first_mut() else { return };
    let (zero, one, two) = (values[0], values[1], values[2]);
    let case = if i == at { case } else { u32::MAX };
    *out = match case {
        0 => values[i + 1000],
        1 => values[two as usize..one as usize].len() as u32,
        2 => values[..1000 + i].len() as u32,
        3 => one / zero,
        4 => one % zero,
        5 => none(values).unwrap(),
        6 => none(values).expect("a value behind the end"),
        7 => error(values, 7_u8).unwrap(),
        8 => error(values, -7_i64).expect("no error"),
        9 => panic!("plain"),
        10 => panic!("{i} |{two:>4}|{:<6}|{:#x} {:.2} {:+}", one, 255_u8, 1.5_f32 * two as f32, -3_i16 * two as i16),
        11 => panic!("{} {:?} {:?} {}", zero == 0, 'x', "text", u128::MAX - u128::from(one)),
        12 => { assert!(two == 3, "two is {two}"); 0 }
        13 => { assert!(two == 3); 0 }
        14 => { assert_eq!(two, 3); 0 }
        15 => { assert_eq!(two, 3, "in thread {i}"); 0 }
        16 => { assert_ne!(two, 2); 0 }
        17 => unreachable!("case {case}"),
        18 => todo!(),
        19 => u32::MAX.wrapping_sub(zero) + one,
        20 => zero - one,
        21 => one << (two * 16),
        22 => { debug_assert!(two == 3, "two is {two}"); 0 }
        23 => { let mut four = [0; 4]; four.copy_from_slice(values); four[i % 4] }
        24 => ((i32::MIN + zero as i32) / (zero as i32 - 1)) as u32,
        25 => panic!("{:?}", block_dim()),
        26 => panic!("{:w$.p$}", f64::from(two) / 3.0, w = 8 + zero as usize, p = 3),
        _ => 1,
    };
}

/// Line of the division below.
pub const DIVIDE_LINE: u32 = line!() + 5;

/// Not inlined, and so no part of a kernel.
#[inline(never)]
fn divide(a: u32, b: u32) -> u32 {
    a / b
}

/// Calls a function that another kernel calls too.
#[kernel]
pub fn divides(by: &[u32], out: PerThread<u32>) {
    for (i, out) in out {
        *out = divide(100, by[i]);
    }
}

/// The same from another kernel.
#[kernel]
pub fn divides_too(by: &[u32], out: PerThread<u32>) {
    for (i, out) in out {
        *out = divide(1000, by[i]) + 1;
    }
}

/// Threads from `at` panic before the barrier; the others wait at it, and then read what those before them wrote.
#[kernel(block = 64)]
pub fn before_barrier(at: u32, mut out: PerThread<u32>, mut cells: Shared<u32, 64>) {
    let thread = thread_index().x;
    for (i, cell) in cells.iter_mut() {
        *cell = i as u32 + 1;
    }
    assert!(thread < at, "thread {thread} does not come");
    let cells = sync(cells);
    if let Some((_, out)) = out.first_mut() {
        *out = cells[(thread / 2) as usize];
    }
}

/// Every thread panics.
#[kernel]
pub fn all(out: PerThread<u32>) {
    for (i, out) in out {
        *out = 1;
        assert!(i == usize::MAX, "thread {i}");
    }
}

/// Sums of each element and its neighbours, but for the first and the last. Without elements every thread panics that comes after the first: there,
/// `n - 1` is larger than any index.
#[kernel]
pub fn inner_sums(line: &[u32], out: PerThread<u32>) {
    let last = line.len().wrapping_sub(1);
    for (i, out) in out {
        *out = if i > 0 && i < last { line[i - 1] + line[i] + line[i + 1] } else { 0 };
    }
}

/// Line of the store in [`copy_rounds`].
pub const STORE_LINE: u32 = line!() + 9;

/// Copies `n` elements to places from `offset` on, and adds what the columns of a matrix with `n` columns begin with, until a check fails: in each of a few threads, which
/// all do the same.
#[kernel]
pub fn copy_rounds(n: usize, offset: usize, x: &[u32], cells: &[RelaxedCell<u32>], sums: PerThread<u32>) {
    for (_, sum) in sums {
        for k in 0..n {
            *sum += x[k];
            cells[k + offset].store(x[k]);
            *sum += cells[k * n].load();
        }
    }
}

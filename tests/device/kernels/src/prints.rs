//! Kernels that print.

use gpu_std::{
    complex::Complex,
    half::{bf16, f16, f16x2},
    prelude::*,
    print, println,
    vector::{Vector, f32x4, i16x2, u32x3},
};

/// A float that is none, and others, as the host passes them.
#[kernel]
pub fn cases(case: u32, ints: &[u32], floats: &[f32]) {
    let (one, x, f) = (ints[1], ints[3], floats[0]);
    match case {
        0 => println!("plain {{braces}}"),
        1 => println!(
            "{} {} {} {} {} {}",
            u8::MAX - one as u8,
            -(one as i8),
            u16::MAX,
            i16::MIN,
            u32::MAX,
            i32::MIN + x as i32
        ),
        2 => println!("{} {} {} {}", u64::MAX, i64::MIN, one as usize, -(x as isize)),
        3 => println!("{} {} {:#x}", u128::MAX, i128::MIN, u128::from(x) << 100),
        4 => println!("{f} {:.3} {:e} {:?} {:+08.2}", f64::from(f) / 3.0, f * 1e10, 1.0_f32, -2.5_f64),
        5 => println!("{} {:?} {} {}", floats[1], floats[2], floats[3], -0.0_f64),
        6 => println!("{} {:?} {} {:>5}|{:<6}|{:^7}|{:?}", x == 3, 'x', 'é', "ab", "cd", "ef", "q\"t"),
        7 => println!("{x} {x:>8} {x:#06x} {y:?} {} {0}", x + one, y = (x, 2.5_f32)),
        8 => println!("{:?} {:?} {:?}", [1_u8, 2], (x, 'a', "t"), thread_index()),
        9 => println!("{:#?} {:x?} {:5.1?}", [(x, f)], [255_u8, 16], [f, f]),
        10 => {
            print!("a");
            print!("b{}", &&x);
            println!();
        }
        11 => println!("{:w$.p$}|{:>1$}|{:.*}|", f, 6, 2, f, w = 8, p = one as usize),
        12 => println!(
            "{} {:?} {:8.2}|{:+?}",
            f16::from_f32(f),
            bf16::from_f32(-2.5),
            f16::from_f32(x as f32),
            f16::INFINITY
        ),
        13 => println!("{:?} {:.1?}", Complex::new(f, 2.0), Complex::new(-0.25_f64, f64::from(f))),
        14 => println!(
            "{:?} {:#?} {:4?} {:?}",
            f32x4::splat(f),
            u32x3::new(one, 2, x),
            i16x2::new(-1, 7),
            f16x2::splat(f16::ONE)
        ),
        15 => println!("{:?} {:?} {:#x?} {:?}", ints, &floats[..1], &ints[x as usize..], &ints[4..]),
        16 => println!(
            "{:?} {:?} {:5?} {:#?}",
            ints.first(),
            ints.get(x as usize + 1),
            Some(one),
            [Some((x, Some('a'))), None]
        ),
        17 => println!("{:?}", (Some(ints), [&ints[..1], &[], ints], [[(); 3]; 2])),
        _ => println!("unknown case {case}"),
    }
}

/// Each thread prints its number.
#[kernel]
pub fn numbers(below: usize) {
    let thread = global_index().x as usize;
    if thread < below {
        println!("thread {thread} of {below}");
    }
}

/// Prints, and then panics in every thread.
#[kernel]
pub fn last_words(values: &[u32]) {
    let thread = thread_index().x;
    println!("thread {thread} says goodbye");
    println!("{}", values[thread as usize + 10]);
}

/// Prints the first so many values.
#[kernel]
pub fn slices(values: &[u32], len: usize) {
    println!("{:?}", &values[..len]);
    println!("{len}");
}

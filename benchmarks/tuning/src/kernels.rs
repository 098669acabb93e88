//! The shapes, one after another.

use std::time::Duration;

use benchmark_tuning_kernels as shapes;
use bytemuck::{Pod, Zeroable};
use gpu_std::prelude::DeviceCopy;
use gpukernel::{Buffer, LaunchConfig};
use gpukernel_algorithms_kernels::{__kernels::Flagged, Bytes, DIGITS, Segment, as_they_are, state_len};
use rayon::prelude::*;

use crate::{Result, timing::Session};

/// Numbers that look random.
fn mixed(i: u64) -> u64 {
    let x = (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

fn numbers<T: Send>(n: usize, of: impl Fn(u64) -> T + Sync + Send) -> Vec<T> {
    (0..n as u64).into_par_iter().map(of).collect()
}

/// How fast memory is copied.
pub(crate) fn copy(session: &Session, n: usize) -> Result {
    let stream = &session.stream;
    let (x, mut y) = (stream.zeroed::<u32>(n)?, stream.zeroed::<u32>(n)?);
    let time = session.time(|| Ok(stream.copy(&x, &mut y)?))?;
    session.row("copy", 8 * n, time, None, None);
    Ok(())
}

/// Whether numbers are nearly the same.
fn are_near<T: Copy + Into<f64> + Sync>(found: &[T], expected: &[T]) -> bool {
    found.len() == expected.len()
        && found.par_iter().zip(expected).all(|(a, b)| {
            let (a, b): (f64, f64) = ((*a).into(), (*b).into());
            (a - b).abs() <= 1e-3 * b.abs().max(1.0)
        })
}

struct Scanned<T: DeviceCopy> {
    x: Buffer<T>,
    y: Buffer<T>,
    expected: Option<Vec<T>>,
    cub: Option<Duration>,
}

fn scanned<T>(
    session: &Session,
    name: &str,
    x: Vec<T>,
    is_checked: bool,
    add: impl Fn(T, T) -> T,
) -> Result<Scanned<T>>
where
    T: DeviceCopy + Zeroable + Pod,
{
    let stream = &session.stream;
    let expected = is_checked.then(|| {
        let mut sum = T::zeroed();
        x.iter()
            .map(|x| {
                sum = add(sum, *x);
                sum
            })
            .collect()
    });
    let (n, x) = (x.len(), stream.upload(&x)?);
    let mut y = stream.zeroed(n)?;
    let mut cub = None;
    if let Some(theirs) = &session.cub {
        let time = session.time(theirs.unary(stream, name, &x, &mut y)?)?;
        session.row(&format!("{name} CUB"), 2 * size_of::<T>() * n, time, None, None);
        cub = Some(time);
    }
    Ok(Scanned { x, y, expected, cub })
}

trait Scans: DeviceCopy {
    fn of(all: &mut AllScans) -> &mut Scanned<Self>
    where
        Self: Zeroable;
}

struct AllScans {
    u32: Scanned<u32>,
    f32: Scanned<f32>,
    f64: Scanned<f64>,
}

macro_rules! of {
    ($($t:ident)*) => {$(
        impl Scans for $t {
            fn of(all: &mut AllScans) -> &mut Scanned<Self> {
                &mut all.$t
            }
        }
    )*};
}
of! { u32 f32 f64 }

pub(crate) fn scans(session: &Session, n: usize, is_checked: bool) -> Result {
    let stream = &session.stream;
    // Whose sums are exact where they are compared.
    let mut all = AllScans {
        u32: scanned(session, "scan_u32", numbers(n, |i| mixed(i) as u32), is_checked, u32::wrapping_add)?,
        f32: scanned(session, "scan_f32", numbers(n, |i| (mixed(i) % 3) as f32), is_checked, |a, b| a + b)?,
        f64: scanned(session, "scan_f64", numbers(n, |i| (mixed(i) % 3) as f64), is_checked, |a, b| a + b)?,
    };
    macro_rules! run {
        ($($name:ident: $T:ident, $v:literal, $r:literal, $threads:literal, $blocks:literal;)*) => {$(
            if session.wants(stringify!($name)) {
                let all = <$T as Scans>::of(&mut all);
                stream.fill(&mut all.y, <$T>::zeroed())?;
                let tiles = n.div_ceil($v * $r * $threads);
                let config = LaunchConfig::new(tiles, $threads);
                let time = session.time(|| {
                    let mut state = stream.zeroed::<u64>(state_len(tiles, size_of::<$T>()))?;
                    Ok(stream.launch(&session.module, shapes::$name, config, (&all.x, <$T>::zeroed(), 1, &mut state, &mut all.y))?)
                })?;
                let is_right = match &all.expected {
                    Some(expected) => Some(are_near(&all.y.to_vec()?, expected)),
                    None => None,
                };
                session.row(stringify!($name), 2 * size_of::<$T>() * n, time, all.cub, is_right);
            }
        )*};
    }
    shapes::scans! { run }
    Ok(())
}

pub(crate) fn selections(session: &Session, n: usize, is_checked: bool) -> Result {
    let stream = &session.stream;
    let (numbers, bits) = (numbers(n, |i| mixed(i) as u32), numbers(n, |i| u8::from(i % 7 % 2 == 0)));
    let chosen = bits.par_iter().filter(|bit| **bit != 0).count();
    let bytes = 5 * n + 4 * chosen;
    let (x, flags) = (stream.upload(&numbers)?, stream.upload(&bits)?);
    let (mut y, mut count) = (stream.zeroed::<u32>(n)?, stream.zeroed::<u64>(2)?);
    let mut cub = None;
    if let Some(theirs) = &session.cub {
        let time = session.time(theirs.select(stream, (&x, &flags), &mut y, &mut count)?)?;
        session.row("select_u32 CUB", bytes, time, None, None);
        cub = Some(time);
    }
    let expected = is_checked.then(|| {
        numbers.iter().zip(&bits).filter(|(_, bit)| **bit != 0).map(|(x, _)| *x).collect::<Vec<_>>()
    });
    // SAFETY: any bytes are a number.
    let x = unsafe { x.__cast_unchecked()? };
    let mut no_rest = stream.zeroed(0)?;
    macro_rules! run {
        ($($name:ident: $v:literal, $r:literal, $threads:literal, $blocks:literal;)*) => {$(
            if session.wants(stringify!($name)) {
                stream.fill(&mut y, 0)?;
                let tiles = n.div_ceil($v * $r * $threads);
                let config = LaunchConfig::new(tiles, $threads);
                let time = session.time(|| {
                    let mut state = stream.zeroed::<u64>(state_len(tiles, 8))?;
                    // SAFETY: as above; the state is 0.
                    unsafe {
                        let to = y.__cast_unchecked_mut()?;
                        Ok(stream.launch_unsafe(&session.module, shapes::$name, config, (x, &flags, Flagged, &mut state, &mut count, to, &mut no_rest))?)
                    }
                })?;
                let is_right = match &expected {
                    Some(expected) => {
                        Some(count.to_vec()?[0] == chosen as u64 && y[..chosen].to_vec()? == *expected)
                    }
                    None => None,
                };
                session.row(stringify!($name), bytes, time, cub, is_right);
            }
        )*};
    }
    shapes::selections! { run }
    Ok(())
}

pub(crate) fn uniques(session: &Session, n: usize, is_checked: bool) -> Result {
    let stream = &session.stream;
    let distinct = n.div_ceil(7);
    let bytes = 4 * (n + distinct);
    let x = stream.upload(&numbers(n, |i| i as u32 / 7))?;
    let no_flags = stream.zeroed::<u8>(0)?;
    let (mut y, mut count) = (stream.zeroed::<u32>(n)?, stream.zeroed::<u64>(2)?);
    let mut cub = None;
    if let Some(theirs) = &session.cub {
        let time = session.time(theirs.unique(stream, &x, &mut y, &mut count)?)?;
        session.row("unique_u32 CUB", bytes, time, None, None);
        cub = Some(time);
    }
    let mut no_rest = stream.zeroed(0)?;
    macro_rules! run {
        ($($name:ident: $v:literal, $r:literal, $threads:literal, $blocks:literal;)*) => {$(
            if session.wants(stringify!($name)) {
                stream.fill(&mut y, 0)?;
                let tiles = n.div_ceil($v * $r * $threads);
                let config = LaunchConfig::new(tiles, $threads);
                let time = session.time(|| {
                    let mut state = stream.zeroed::<u64>(state_len(tiles, 8))?;
                    let choice = gpukernel_algorithms_kernels::__kernels::Distinct;
                    // SAFETY: the state is 0.
                    unsafe { Ok(stream.launch_unsafe(&session.module, shapes::$name, config, (&x, &no_flags, choice, &mut state, &mut count, &mut y, &mut no_rest))?) }
                })?;
                let is_right = if is_checked {
                    let found = y[..distinct].to_vec()?;
                    Some(count.to_vec()?[0] == distinct as u64 && found.into_iter().eq(0..distinct as u32))
                } else {
                    None
                };
                session.row(stringify!($name), bytes, time, cub, is_right);
            }
        )*};
    }
    shapes::uniques! { run }
    Ok(())
}

pub(crate) fn by_key(session: &Session, n: usize, is_checked: bool) -> Result {
    let stream = &session.stream;
    let distinct = n.div_ceil(7);
    let bytes = 8 * (n + distinct);
    let of_values = numbers(n, |i| (mixed(i) % 16) as f32);
    let (x, values) = (stream.upload(&numbers(n, |i| i as u32 / 7))?, stream.upload(&of_values)?);
    let (mut y, mut sums) = (stream.zeroed::<u32>(n)?, stream.zeroed::<f32>(n)?);
    let mut count = stream.zeroed::<u64>(1)?;
    let mut cub = None;
    if let Some(theirs) = &session.cub {
        let run = theirs.by_key(stream, (&x, &values), (&mut y, &mut sums), &mut count)?;
        let time = session.time(run)?;
        session.row("by_key CUB", bytes, time, None, None);
        cub = Some(time);
    }
    macro_rules! run {
        ($($name:ident: $v:literal, $r:literal, $threads:literal, $blocks:literal;)*) => {$(
            if session.wants(stringify!($name)) {
                stream.fill(&mut y, 0)?;
                stream.fill(&mut sums, 0.0)?;
                let tiles = n.div_ceil($v * $r * $threads);
                let config = LaunchConfig::new(tiles, $threads);
                let time = session.time(|| {
                    let mut state = stream.zeroed::<u64>(state_len(tiles, size_of::<Segment<f32>>()))?;
                    // SAFETY: the state is 0.
                    unsafe { Ok(stream.launch_unsafe(&session.module, shapes::$name, config, (&x, &values, &mut state, &mut count, &mut y, &mut sums))?) }
                })?;
                let is_right = if is_checked {
                    let (keys, sums) = (y[..distinct].to_vec()?, sums[..distinct].to_vec()?);
                    let expected = of_values.chunks(7).map(|run| run.iter().sum::<f32>());
                    Some(
                        count.to_vec()?[0] == distinct as u64
                            && keys.into_iter().eq(0..distinct as u32)
                            && sums.into_iter().eq(expected),
                    )
                } else {
                    None
                };
                session.row(stringify!($name), bytes, time, cub, is_right);
            }
        )*};
    }
    shapes::reductions_by_key! { run }
    Ok(())
}

/// Where digits start, as the kernel wants them: for each, that of the first key, and room for that behind the last.
fn starts<W: Copy + Into<u64> + Sync>(keys: &[W]) -> Vec<u64> {
    let passes = size_of::<W>();
    let none = || vec![0_u64; passes * DIGITS];
    let counts = keys
        .par_chunks(1 << 20)
        .map(|keys| {
            let mut counts = none();
            for key in keys {
                let key: u64 = (*key).into();
                for pass in 0..passes {
                    counts[pass * DIGITS + (key >> (8 * pass) & 0xff) as usize] += 1;
                }
            }
            counts
        })
        .reduce(none, |mut a, b| {
            a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
            a
        });
    let mut starts = Vec::new();
    for counts in counts.chunks(DIGITS) {
        let mut start = 0;
        for count in counts {
            starts.push(start);
            start += count;
        }
        starts.extend([0; DIGITS]);
    }
    starts
}

struct Sorted<W: DeviceCopy> {
    keys: Buffer<W>,
    a: Buffer<W>,
    b: Buffer<W>,
    starts: Buffer<u64>,
    expected: Option<Vec<W>>,
    cub: Option<Duration>,
}

fn sorted<W>(session: &Session, name: &str, keys: Vec<W>, is_checked: bool) -> Result<Sorted<W>>
where
    W: DeviceCopy + Zeroable + Copy + Into<u64> + Ord + Send + Sync,
{
    let (stream, n) = (&session.stream, keys.len());
    let starts = stream.upload(&starts(&keys))?;
    let on_device = stream.upload(&keys)?;
    let expected = is_checked.then(|| {
        let mut keys = keys;
        keys.par_sort_unstable();
        keys
    });
    let (a, mut b) = (stream.zeroed(n)?, stream.zeroed(n)?);
    let mut cub = None;
    if let Some(theirs) = &session.cub {
        let time = session.time(theirs.unary(stream, name, &on_device, &mut b)?)?;
        session.row(&format!("{name} CUB"), 2 * size_of::<W>() * n, time, None, None);
        cub = Some(time);
    }
    Ok(Sorted { keys: on_device, a, b, starts, expected, cub })
}

pub(crate) fn sorts(session: &Session, n: usize, is_checked: bool) -> Result {
    let stream = &session.stream;
    let mut of_u32 = sorted(session, "sort_u32", numbers(n, |i| mixed(i) as u32), is_checked)?;
    let half = if is_checked { n } else { n / 2 };
    let mut of_u64 = sorted(session, "sort_u64", numbers(half, mixed), is_checked)?;
    let values = stream.upload(&numbers(n, |i| i as u32))?;
    let (mut values_a, mut values_b) = (stream.zeroed::<u32>(n)?, stream.zeroed::<u32>(n)?);
    let mut cub_pairs = None;
    if let Some(theirs) = &session.cub {
        let Sorted { keys, b, .. } = &mut of_u32;
        let time = session.time(theirs.pairs(stream, (keys, &values), (b, &mut values_b))?)?;
        session.row("sort_pairs CUB", 16 * n, time, None, None);
        cub_pairs = Some(time);
    }
    let counts = &mut stream.zeroed::<u64>(8 * 2 * DIGITS)?;
    let config = LaunchConfig::new(n.div_ceil(4096).min(1 << 11), 256);
    let count_u32 = session.time(|| {
        Ok(stream.launch(
            &session.module,
            shapes::count_u32,
            config,
            (&of_u32.keys, as_they_are::<u32>(), 2 * DIGITS, &mut *counts),
        )?)
    })?;
    session.row("count_digits u32", 4 * n, count_u32, None, None);
    let count_u64 = session.time(|| {
        Ok(stream.launch(
            &session.module,
            shapes::count_u64,
            config,
            (&of_u64.keys, as_they_are::<u64>(), 2 * DIGITS, &mut *counts),
        )?)
    })?;
    session.row("count_digits u64", 8 * half, count_u64, None, None);
    macro_rules! run {
        ($($name:ident: $W:ident, $V:ty, $M:ty, $items:literal, $threads:literal, $blocks:literal, $ahead:literal;)*) => {$(
            if session.wants(stringify!($name)) {
                let has_values = size_of::<$V>() != 0;
                let Sorted { keys, a, b, starts, expected, cub } = run!(@ of $W);
                let n = keys.len();
                let width = size_of::<$W>() + size_of::<$V>();
                let tiles = n.div_ceil($items * $threads);
                let config = LaunchConfig::new(tiles, $threads);
                let mut pass = |pass: usize| -> Result {
                    let mut state = stream.zeroed::<u32>(1 + DIGITS * tiles)?;
                    let first = 2 * DIGITS * pass;
                    let starts = &mut starts[first..first + 2 * DIGITS];
                    let (from, to) = match pass {
                        0 => (&*keys, &mut *a),
                        _ if pass % 2 == 0 => (&*b, &mut *a),
                        _ => (&*a, &mut *b),
                    };
                    let (from_values, to_values) = match pass {
                        0 => (&values, &mut values_a),
                        _ if pass % 2 == 0 => (&values_b, &mut values_a),
                        _ => (&values_a, &mut values_b),
                    };
                    // SAFETY: any bytes are a value, of which there are none or as many as keys; the state is 0, and digits were counted.
                    unsafe {
                        let len = if has_values { n } else { 0 };
                        let from_values = from_values[..len].__cast_unchecked::<$V>()?;
                        let to_values = to_values[..len].__cast_unchecked_mut::<$V>()?;
                        let order = as_they_are::<$W>();
                        let shift = 8 * pass as u32;
                        Ok(stream.launch_unsafe(&session.module, shapes::$name, config, (from, from_values, 0, order, order, shift, starts, &mut state, to, to_values))?)
                    }
                };
                let first = session.time(|| pass(0))?;
                let all = session.time(|| (0..size_of::<$W>()).try_for_each(&mut pass))?;
                let counting = if size_of::<$W>() == 4 { count_u32 } else { count_u64 };
                let is_right = match &expected {
                    Some(expected) => {
                        let mut is_right = b.to_vec()? == *expected;
                        if has_values {
                            let (from, of) = (keys.to_vec()?, values_b.to_vec()?);
                            is_right &= of.iter().zip(expected).all(|(i, key)| from[*i as usize] == *key);
                            is_right &= of
                                .windows(2)
                                .zip(expected.windows(2))
                                .all(|(of, keys)| keys[0] != keys[1] || of[0] < of[1]);
                        }
                        Some(is_right)
                    }
                    None => None,
                };
                let cub = if has_values { cub_pairs } else { *cub };
                session.row(concat!(stringify!($name), " pass"), 2 * width * n, first, None, None);
                session.row(stringify!($name), 2 * width * n, all + counting, cub, is_right);
            }
        )*};
        (@ of u32) => { &mut of_u32 };
        (@ of u64) => { &mut of_u64 };
    }
    shapes::sorts! { run }
    Ok(())
}

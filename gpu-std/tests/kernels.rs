//! Kernels as users write them, run on vectors: parameters of every kind, ownership, phases, atomics.

use gpu_std::{Contract, host::Kernel, prelude::*};

mod common;

use common::{Memory, Random, launch, launch_blocks, panic_message};

/// A kernel module without `unsafe`, and as strict as a kernel crate may be.
mod kernels {
    #![forbid(unsafe_code)]
    #![deny(warnings, missing_docs, unused, nonstandard_style, rust_2018_idioms)]
    #![allow(elided_lifetimes_in_paths, unreachable_pub)]

    use gpu_std::prelude::*;

    /// y = a·x + y.
    #[kernel]
    pub fn saxpy(a: f32, x: &[f32], y: PerThread<f32>) {
        for (i, y) in y {
            *y += a * x[i];
        }
    }

    /// Counts the visits of every element, twice over.
    #[kernel(dims = 3)]
    pub fn visit(mut counts: PerThread<u32>) {
        for (_, count) in &mut counts {
            *count += 1;
        }
        for (_, count) in counts {
            *count += 1;
        }
    }

    /// The same in rows and columns, with the number of the element.
    #[kernel(dims = 3)]
    pub fn visit_2d(counts: PerThread2d<u32>) {
        let columns = counts.columns();
        for ((row, column), count) in counts {
            *count += (row * columns + column) as u32 + 1;
        }
    }

    /// The same through grid-stride loops.
    #[kernel]
    pub fn visit_strides(
        rows: usize,
        columns: usize,
        line: &[Atomic<u32>],
        plane: &[Atomic<u32>],
        space: &[Atomic<u32>],
    ) {
        for i in grid_stride(line.len()) {
            line[i].fetch_add(1);
        }
        for (row, column) in grid_stride_2d(rows, columns) {
            plane[row * columns + column].fetch_add(1);
        }
        for (layer, row, column) in grid_stride_3d(2, rows, columns) {
            space[(layer * rows + row) * columns + column].fetch_add(1);
        }
    }

    /// Which elements a thread gets when it asks for them one by one.
    #[kernel(dims = 3)]
    pub fn ask(mut counts: PerThread<u32>, mut matrix: PerThread2d<u32>) {
        for i in 0..counts.len() + 2 {
            if let Some(count) = counts.get_mut(i) {
                *count += 1;
            }
        }
        for row in 0..matrix.rows() + 2 {
            for column in 0..matrix.columns() + 2 {
                if let Some(count) = matrix.get_mut((row, column)) {
                    *count += 1;
                }
            }
        }
    }

    /// Sums each 16 elements in a tree, with a barrier between the levels.
    #[kernel(block = 16)]
    pub fn sums(x: &[u32], mut sums: PerThread<u32>, partial: Shared<u32, 16>) {
        let mut partial = partial;
        let (thread, block) = (thread_index().x as usize, block_index().x as usize);
        let mut sum = x[block * 16 + thread];
        let mut width = 8;
        while width > 0 {
            if let Some((_, mine)) = partial.first_mut() {
                *mine = sum;
            }
            let all = sync(partial);
            sum += all[thread ^ width];
            width /= 2;
            partial = sync(all);
        }
        if let Some((_, result)) = sums.first_mut() {
            *result = sum;
        }
    }

    /// Transposes by way of shared memory, and swaps two more arrays of other types.
    #[kernel(block = (8, 4))]
    pub fn exchange(
        seed: u16,
        output: PerThread2d<u64>,
        mut tile: Shared2d<u64, 8, 8, 1>,
        mut bytes: Shared<u8, 3>,
        mut words: Shared<[u16; 2], 5>,
    ) {
        for ((row, column), element) in &mut tile {
            *element = (row * 10 + column) as u64;
        }
        for (i, byte) in &mut bytes {
            *byte = i as u8 + 1;
        }
        for (i, word) in &mut words {
            *word = [seed, i as u16];
        }
        let (tile, (bytes, words)) = sync((tile, (bytes, words)));
        sync(());
        for ((row, column), element) in output {
            let more = u64::from(bytes[row % 3]) * 1000 + u64::from(words[column % 5][1]) * 10000;
            *element = tile[(column, row)] + more + u64::from(words[4][0]) * 1_000_000;
        }
    }

    /// Moves each element one place on, `rounds` times, from one array to the other and back.
    #[kernel(block = 8)]
    pub fn rotate(rounds: u32, out: PerThread<u32>, mut front: Shared<u32, 8>, mut back: Shared<u32, 8>) {
        for (i, element) in &mut front {
            *element = i as u32;
        }
        for _ in 0..rounds {
            let before = sync(front);
            for (i, element) in &mut back {
                *element = before[(i + 7) % 8];
            }
            (front, back) = (back, sync(before));
        }
        let front = sync(front);
        for (i, element) in out {
            *element = front[i % 8];
        }
    }

    /// Every kind of value.
    #[derive(Clone, Copy, Debug, PartialEq, DeviceCopy)]
    #[repr(C)]
    pub struct Mixed<T> {
        pub(crate) a: u8,
        pub(crate) b: T,
        pub(crate) c: [u16; 3],
    }

    /// A state.
    #[derive(Clone, Copy, Debug, PartialEq, DeviceCopy)]
    #[repr(u8)]
    pub enum State {
        /// One.
        Low = 3,
        /// Another, with a value.
        High(f32),
    }

    /// Takes values in any order and mutability.
    #[kernel(min_blocks_per_sm = 1 + 1, max_threads = 256, max_registers = 32, dims = 1)]
    pub fn values(
        mixed: Mixed<f64>,
        _nothing: (),
        mut flag: bool,
        wide: u128,
        state: State,
        out: PerThread<Mixed<f64>>,
        letter: char,
    ) {
        flag = !flag && wide == 1 << 100 && state == State::High(0.5);
        for (i, element) in out {
            *element = Mixed { a: letter as u8 + i as u8, b: if flag { mixed.b } else { 0.0 }, c: mixed.c };
        }
    }

    #[kernel]
    pub(super) fn r#loop(x: &[f32], y: PerThread<f32>) {
        // Kernels do not take the names of variables.
        let saxpy = x.len() as f32;
        for (_, y) in y {
            *y = saxpy;
        }
    }

    /// Reads outside.
    #[kernel(block = 1)]
    pub fn outside(tile: Shared2d<u32, 2, 3>, row: usize, column: usize) {
        let tile = sync(tile);
        let _ = tile[(row, column)];
    }
}

#[test]
fn saxpy() {
    let x = Memory((0..100).map(|i| i as f32).collect());
    let mut y = Memory(vec![1.0; 100]);
    launch(kernels::saxpy, 3, 8, (2.0, &x, &mut y));
    assert!(y.0.iter().enumerate().all(|(i, &y)| y == 2.0 * i as f32 + 1.0));
}

#[test]
fn every_element_is_visited_once_whatever_the_grid() {
    let mut random = Random::new(1);
    for _ in 0..300 {
        let (grid, block) = (random.dim(5), random.dim(6));
        let (rows, columns) = (random.below(40), random.below(40));
        let n = rows * columns;

        let mut counts = Memory(vec![0_u32; n]);
        launch(kernels::visit, grid, block, (&mut counts,));
        assert!(counts.0.iter().all(|&count| count == 2), "{grid:?} {block:?} {n}");

        let mut counts = Memory(vec![0_u32; n]);
        launch(kernels::visit_2d, grid, block, (counts.view_2d_mut(columns),));
        assert!(
            counts.0.iter().enumerate().all(|(i, &count)| count as usize == i + 1),
            "{grid:?} {block:?} {rows} {columns}"
        );

        let (mut line, mut plane, mut space) =
            (Memory(vec![0_u32; n]), Memory(vec![0_u32; n]), Memory(vec![0_u32; 2 * n]));
        launch(kernels::visit_strides, grid, block, (rows, columns, &mut line, &mut plane, &mut space));
        for counts in [line, plane, space] {
            assert!(counts.0.iter().all(|&count| count == 1), "{grid:?} {block:?} {rows} {columns}");
        }
    }
}

#[test]
fn asking_gives_what_iterating_gives() {
    let mut random = Random::new(2);
    for _ in 0..30 {
        let (mut line, mut plane) = (Memory(vec![0_u32; 30]), Memory(vec![0_u32; 42]));
        launch(kernels::ask, random.dim(4), random.dim(4), (&mut line, plane.view_2d_mut(7)));
        assert_eq!((line.0, plane.0), (vec![1; 30], vec![1; 42]));
    }
}

#[test]
fn shared_arrays_change_phase_at_barriers() {
    let x = Memory((0..48).collect());
    let mut sums = Memory(vec![0; 48]);
    launch_blocks(kernels::sums, 3, 16, (&x, &mut sums));
    for (block, sums) in sums.0.chunks(16).enumerate() {
        let expected: u32 = x.0[block * 16..][..16].iter().sum();
        assert!(sums.iter().all(|&sum| sum == expected));
    }
}

#[test]
fn shared_arrays_change_places() {
    for rounds in [0, 1, 2, 5] {
        let mut out = Memory(vec![0; 16]);
        launch_blocks(kernels::rotate, 2, 8, (rounds, &mut out));
        assert!(out.0.iter().enumerate().all(|(i, &x)| x == (i as u32 + 8 - rounds) % 8), "{out:?}");
    }
}

#[test]
fn shared_arrays_lie_side_by_side() {
    let mut output = Memory(vec![0; 64]);
    launch_blocks(kernels::exchange, 1, (8, 4), (7, output.view_2d_mut(8)));
    for row in 0..8_u64 {
        for column in 0..8_u64 {
            let more = (row % 3 + 1) * 1000 + (column % 5) * 10000 + 7_000_000;
            assert_eq!(output.0[(row * 8 + column) as usize], column * 10 + row + more);
        }
    }
}

#[test]
fn values_of_every_kind_arrive() {
    use kernels::{Mixed, State};
    let mixed = Mixed { a: 1, b: 0.25, c: [7, 8, 9] };
    let mut out = Memory(vec![Mixed { a: 0, b: 0.0, c: [0; 3] }; 3]);
    let args = (mixed, (), false, 1 << 100, State::High(0.5), &mut out, 'a');
    launch(kernels::values, 2, 1, args);
    let args = (mixed, (), false, 1, State::Low, &mut Memory(Vec::new()), 'b');
    launch(kernels::values, 2, 1, args);
    let expected = [b'a', b'b', b'c'].map(|a| Mixed { a, ..mixed });
    assert_eq!(out.0, expected);
}

#[test]
fn handles_know_their_kernels() {
    fn kernel<K: Kernel>(_: K) -> (&'static str, Contract, usize) {
        (K::INFO.name, K::INFO.contract, K::INFO.shared.len())
    }
    let contract = |dims| Contract { dims, ..Contract::NONE };
    assert_eq!(kernel(kernels::saxpy), ("kernels::kernels::saxpy", contract(1), 0));
    assert_eq!(kernel(kernels::r#loop), ("kernels::kernels::loop", contract(1), 0));
    assert_eq!(kernel(kernels::visit_strides).1, Contract::NONE);
    let exchange = Contract { block: [8, 4, 1], ..contract(2) };
    assert_eq!(kernel(kernels::exchange), ("kernels::kernels::exchange", exchange, 3));
    let values =
        Contract { block: [0; 3], max_threads: 256, min_blocks_per_sm: 2, max_registers: 32, ..contract(1) };
    assert_eq!(kernel(kernels::values).1, values);
}

#[test]
fn empty_memory_and_odd_blocks() {
    let x = Memory(Vec::new());
    let mut y = Memory(Vec::new());
    launch(kernels::saxpy, 2, (3, 2), (2.0, &x, &mut y));
    launch(kernels::r#loop, 1, 1, (&x, &mut y));
    let mut z = Memory(Vec::new());
    launch(kernels::visit_2d, 2, (3, 2), (z.view_2d_mut(0),));
}

#[test]
fn reading_outside_of_a_shared_array_panics() {
    for (row, column) in [(2, 0), (0, 3), (usize::MAX, usize::MAX)] {
        let message = panic_message(move || launch_blocks_here(row, column));
        assert_eq!(
            message,
            format!("({row}, {column}) is outside of a shared array of 2 rows and 3 columns")
        );
    }

    fn launch_blocks_here(row: usize, column: usize) {
        // One thread: its barrier is nothing, and its panic is this one's.
        let alone = common::BarrierOnly(|| ());
        common::launch_with(kernels::outside, &alone, 1.into(), 1.into(), (row, column));
    }
}

#[test]
fn indices_outside_of_a_kernel_panic() {
    let message = panic_message(|| drop(format!("{:?}", thread_index())));
    assert!(message.starts_with("this function of gpu_std can be called only in a kernel"), "{message}");
}

/// # Safety
/// `n` elements are at each address.
#[kernel(dims = 1)]
unsafe fn raw(x: *const f32, y: *mut f32, n: usize) {
    for i in grid_stride(n) {
        // SAFETY: the caller's promise.
        unsafe { *y.add(i) = *x.add(i) + 1.0 };
    }
}

#[test]
fn unsafe_kernels_take_addresses() {
    let x = Memory(vec![1.0, 2.0]);
    let mut y = Memory(vec![0.0; 2]);
    launch(raw, 1, 1, (&x, &mut y, 2));
    assert_eq!(y.0, [2.0, 3.0]);
}

//! A thread gets at no element of an output but its own, and at none of those twice at once.

#![allow(unused)]

use gpu_std::{param::Param, prelude::*};

/// Writes the same element through two loops.
#[kernel]
fn two_loops(mut y: PerThread<f32>) {
    for (_, a) in &mut y {
        for (_, b) in &mut y {
            std::mem::swap(a, b);
        }
    }
}

/// Takes the first element from two iterators.
#[kernel]
fn two_iterators(mut y: PerThread2d<f32>) {
    let mut first = y.iter_mut();
    let mut second = y.iter_mut();
    drop((first.next(), second.next()));
}

/// Takes the same element by its index and by its place in the loop.
#[kernel]
fn by_index_and_loop(mut y: PerThread<f32>) {
    for (i, a) in &mut y {
        if let Some(b) = y.get_mut(i) {
            std::mem::swap(a, b);
        }
    }
}

/// Takes the same element by its index twice.
#[kernel]
fn by_index_twice(mut y: PerThread2d<f32>) {
    let (a, b) = (y.get_mut((0, 0)), y.get_mut((0, 0)));
    drop((a, b));
}

/// Keeps an element, and takes it again.
#[kernel]
fn kept_and_taken_again(mut y: PerThread<f32>) {
    let kept = y.first_mut();
    let again = y.first_mut();
    drop((kept, again));
}

/// Uses an output that a loop has used up.
#[kernel]
fn used_up(mut y: PerThread<f32>) {
    let mut kept = None;
    for (_, y) in y {
        kept = Some(y);
    }
    drop((kept, y.first_mut()));
}

/// Clones an output.
#[kernel]
fn cloned(y: PerThread<f32>) {
    let copy = y.clone();
    drop((y, copy));
}

/// Clones an iterator, for two references to each element.
#[kernel]
fn cloned_iterator(mut y: PerThread<f32>) {
    let first = y.iter_mut();
    let second = first.clone();
    for (a, b) in first.zip(second) {
        std::mem::swap(a.1, b.1);
    }
}

/// Gives one output to two functions.
#[kernel]
fn given_twice(y: PerThread<f32>) {
    fn fill(y: PerThread<f32>) {}
    fill(y);
    fill(y);
}

/// Writes the element of another thread.
#[kernel]
fn element_of_another_thread(y: PerThread<f32>) {
    y[global_index().x as usize + 1] = 1.0;
}

/// Reads the element of another thread.
#[kernel]
fn read_of_another_thread(x: &[f32], y: PerThread2d<f32>) {
    let above = y[(0, 0)];
}

/// Takes the whole memory as a slice.
#[kernel]
fn as_slice(mut y: PerThread<f32>) {
    let all: &mut [f32] = &mut y;
}

/// Reads all elements through a shared borrow.
#[kernel]
fn shared_loop(y: PerThread<f32>) {
    for (_, element) in &y {
        let read: f32 = *element;
    }
}

/// Writes an input.
#[kernel]
fn write_to_input(x: &[f32]) {
    x[0] = 1.0;
}

/// Makes an input an output.
#[kernel]
fn input_as_output(x: &[f32]) {
    let y: PerThread<f32> = x.into();
}

/// Makes a longer output of a shorter one.
#[kernel]
fn longer(mut y: PerThread<f32>) {
    y.layout = 1_000_000;
}

/// Makes rows of another width.
#[kernel]
fn wider_rows(mut y: PerThread2d<f32>) {
    y.columns = 1;
}

/// Reads elements as those of another type.
#[kernel]
fn another_type(y: PerThread<u32>) {
    let y: PerThread<bool> = y;
}

/// Makes a second output from what the first one was made from.
fn second_output(head: <PerThread<'static, f32> as Param<'static>>::Head) {
    let y = PerThread::<f32>::assemble(head, &1_000_000);
}

fn main() {}

//! Only plain data travels: nothing that points to the host's memory, has an identity, or has bytes without a meaning.

#![allow(unused)]

use std::{cell::Cell, mem::MaybeUninit, num::NonZeroU32, rc::Rc, sync::Arc};

use gpu_std::prelude::{*, async_copy::*};

/// A reference to the host's memory.
#[kernel]
fn reference(x: &'static [&'static f32]) {}

/// A pointer that owns.
#[kernel]
fn boxed(x: Box<f32>) {}

/// A pointer that counts.
#[kernel]
fn counted(x: &[Arc<f32>]) {}

/// A cell that all threads would read and write.
#[kernel]
fn cell(x: &[Cell<u32>]) {}

/// Output elements of interior mutability.
#[kernel]
fn output_of_cells(x: PerThread<Cell<u32>>) {}

/// A function of the host.
#[kernel]
fn function(f: fn(f32) -> f32) {}

/// Slices of slices.
#[kernel]
fn nested(x: &[&[f32]]) {}

/// Outputs within outputs.
#[kernel]
fn nested_output(y: PerThread<PerThread<f32>>) {}

/// Bytes without a value, which would be read.
#[kernel]
fn uninitialised(x: &[MaybeUninit<u32>], y: PerThread<u32>) {
    for (i, y) in y {
        *y = x[i];
    }
}

/// Neither arbitrary bytes nor zeros are a value.
#[derive(Clone, Copy, DeviceCopy)]
#[repr(u8)]
enum Choice {
    First = 1,
}

/// Such a type in shared memory.
#[kernel]
fn choices(choices: Shared<Choice, 32>) {}

/// The same with two axes.
#[kernel]
fn plane_of_choices(choices: Shared2d<Choice, 4, 4>) {}

/// A type whose arbitrary bytes are no value, in memory that copies reach at any time.
#[kernel]
fn truth(flags: AsyncShared<bool, 32>) {}

/// A tuple in memory, whose layout differs from compiler to compiler.
#[kernel]
fn tuple(pairs: &[[(f32, u8); 1]]) {}

/// A text of the host.
#[kernel]
fn text(name: &'static str) {}

#[derive(Clone, Copy)]
struct Handle(*mut f32);

/// A struct that hides a pointer.
#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct Hidden {
    pointer: Handle,
}

#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct Wrapper<T> {
    value: T,
}

/// A struct whose parameter owns one.
#[kernel]
fn wrapped(x: Wrapper<Rc<f32>>) {}

/// A struct whose fields rustc may put in any order.
#[derive(Clone, Copy, DeviceCopy)]
struct AnyOrder {
    a: u8,
    b: u32,
}

/// A struct whose alignment is fixed, and nothing else.
#[derive(Clone, Copy, DeviceCopy)]
#[repr(align(16))]
struct Aligned {
    a: u8,
    b: u32,
}

/// A struct that lives for a while only.
#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct Lent<'a> {
    value: &'a f32,
}

fn main() {}

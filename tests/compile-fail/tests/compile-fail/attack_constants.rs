//! Constants hold plain data, are not written by kernels, and outlive no launch.

#![allow(unused)]

use std::cell::Cell;

use gpu_std::{Constant, constant, prelude::*};

#[constant]
static TABLE: Constant<[f32; 4]> = Constant::new([0.0; 4]);

std::thread_local! {
    static KEPT: Cell<Option<&'static [f32; 4]>> = const { Cell::new(None) };
}

/// A text is an address of the host.
#[constant]
static TEXT: Constant<&'static str> = Constant::new("text");

/// Two constants of two types at one address: rustc puts equal constants in one place, unless they can change.
fn letter() -> (&'static Constant<char>, &'static Constant<u32>) {
    (const { &Constant::new('a') }, const { &Constant::new(97) })
}

/// A constant that says which of its bytes are whose.
static NAMED: Constant<u32> = Constant { value: 97, declared: None };

#[kernel]
fn write() {
    TABLE.with(|table| table[0] = 1.0);
}

#[kernel]
fn keep() {
    TABLE.with(|table| KEPT.set(Some(table)));
}

#[kernel]
fn keep_more() {
    let table = TABLE.with(|table| table);
}

fn main() {}

//! A record has room for what is printed, and what is printed is what the reader takes it for.

#![allow(unused)]

use gpu_std::{host::{Printer, with_printer}, print::{Print, Words}, prelude::*, println};

/// Says that it takes less room than it does.
struct Large;

impl Print for Large {
    const WORDS: usize = 0;

    fn put(&self, words: &mut Words) {
        [0_u64; 1 << 10].put(words);
    }
}

struct Forwards;

impl Printer for Forwards {
    fn print(&self, record: &[u32]) {}
}

/// Takes the place of the printer, and gives it back when that has gone: in a kernel that waits meanwhile.
#[kernel]
fn takes_the_printer() {
    with_printer(&Forwards, || {
        sync(());
    });
}

fn main() {}

//! Attacks on pipelines: to say that there are positions that are not, and to send a row to another thread.

use gpu_std::{pipeline::*, prelude::*};

/// Promises positions.
struct Endless;

impl ParallelIterator for Endless {
    type Item = u8;
    type Scope = Grid;

    fn scope(&self) -> Grid {
        Grid
    }

    fn positions(&self) -> usize {
        usize::MAX
    }

    fn refusal(&self) -> Option<Refusal> {
        None
    }

    unsafe fn get(&self, _: Position) -> Option<u8> {
        None
    }
}

/// Has its own way of going through items.
#[derive(Clone, Copy)]
struct Own;

impl Scope for Own {}

static KEPT: std::sync::Mutex<Option<Row<'static, f32>>> = std::sync::Mutex::new(None);

fn main() {}

//! What memory is borrowed by functions for Python, which can get one array twice: for reading as often as anybody likes, for writing once. Rust's rules for references, checked when a
//! program runs, for this extension; other extensions and libraries follow rules of their own.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::{Error, Result};

/// Where the elements of an array lie.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// The GPU; `None` for memory of the host.
    gpu: Option<usize>,
    /// The address of the first byte, and of that after the last one.
    bytes: (usize, usize),
    /// So many bytes follow each other, such as a row.
    block: usize,
    /// Blocks lie only so many bytes, or multiples of that, from each other; 0 if there is only one.
    grid: usize,
}

impl Place {
    /// Of an array whose element of all indices 0 is at an address, with strides in elements.
    pub(crate) fn new(
        gpu: Option<usize>,
        address: usize,
        shape: &[usize],
        strides: &[isize],
        element: usize,
    ) -> Self {
        let (mut start, mut end) = (address, address.wrapping_add(element));
        if shape.contains(&0) {
            return Self { gpu, bytes: (start, start), block: element, grid: 0 };
        }
        // All elements are there, so that nothing wraps around.
        let mut axes: Vec<(usize, usize)> = Vec::new();
        for (&extent, &stride) in
            shape.iter().zip(strides).filter(|(extent, stride)| **extent > 1 && **stride != 0)
        {
            let stride = stride.wrapping_mul(element as isize);
            let reach = stride.wrapping_mul(extent as isize - 1);
            let side = if stride < 0 { &mut start } else { &mut end };
            *side = side.wrapping_add_signed(reach);
            axes.push((stride.unsigned_abs(), extent));
        }
        axes.sort_unstable();
        let (mut block, mut grid) = (element, 0);
        for (stride, extent) in axes {
            match stride == block && grid == 0 {
                true => block *= extent,
                false => grid = gcd(grid, stride),
            }
        }
        Self { gpu, bytes: (start, end), block, grid }
    }

    /// Whether both may have a byte in common.
    fn overlaps(&self, other: &Self) -> bool {
        let ((start, end), (other_start, other_end)) = (self.bytes, other.bytes);
        if self.gpu != other.gpu
            || start == end
            || other_start == other_end
            || end <= other_start
            || other_end <= start
        {
            return false;
        }
        // Columns of one matrix, say, lie between each other, and every other row.
        match gcd(self.grid, other.grid) {
            0 => true,
            grid => {
                let after = (start as isize - other_start as isize).rem_euclid(grid as isize) as usize;
                after < other.block || grid - after < self.block
            }
        }
    }
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Everything that is borrowed now, with a number.
static BORROWED: Mutex<Table> = Mutex::new(Table { next: 0, entries: Vec::new() });

struct Table {
    next: u64,
    entries: Vec<(u64, Place, bool)>,
}

fn table() -> MutexGuard<'static, Table> {
    BORROWED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Memory that is borrowed until this is dropped.
#[derive(Debug)]
pub(crate) struct Borrow(u64);

impl Borrow {
    pub(crate) fn new(place: Place, is_to_be_written: bool) -> Result<Self> {
        let mut table = table();
        let conflict = table
            .entries
            .iter()
            .find(|(_, other, is_written)| (is_to_be_written || *is_written) && place.overlaps(other));
        if let Some(&(_, _, is_written)) = conflict {
            return Err(Error::Borrowed { is_to_be_written, is_written });
        }
        let number = table.next;
        table.next += 1;
        table.entries.push((number, place, is_to_be_written));
        Ok(Self(number))
    }
}

impl Drop for Borrow {
    fn drop(&mut self) {
        let mut table = table();
        if let Some(entry) = table.entries.iter().position(|(number, ..)| *number == self.0) {
            table.entries.swap_remove(entry);
        }
    }
}

//! The solver: each process has some rows, and exchanges the first and the last with its neighbours while it computes those between.

use std::{
    mem,
    time::{Duration, Instant},
};

use gpukernel::{Buffer, Device, Image, Module, for_each, for_each_2d};
use gpukernel_communicator::{Communicator, Pending, ReduceOp, Result};
use jacobi_kernels::{change, edge, inside};

static KERNELS: Image = gpukernel::image!("kernels");

/// What is solved: the Laplace equation on a grid, with 1 above it, and 0 on the other sides.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Problem {
    /// At least one for each process.
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) sweeps: usize,
    /// Whether rows are exchanged while others are computed, or before.
    pub(crate) overlaps: bool,
}

/// What comes out.
#[derive(Debug)]
pub(crate) struct Solution {
    /// All rows, on process 0.
    pub(crate) cells: Vec<f32>,
    /// The largest change of a cell by the last sweep.
    pub(crate) change: f32,
    pub(crate) time: Duration,
}

/// The first row of a process; that of the one after the last is the number of rows.
fn first_row(problem: Problem, rank: usize, size: usize) -> usize {
    problem.rows * rank / size
}

/// The rows of one process.
struct Part<'c> {
    communicator: &'c Communicator,
    module: Module,
    columns: usize,
    rows: usize,
    cells: Buffer<f32>,
    next: Buffer<f32>,
    /// The last row of the process before, or the upper edge of the grid.
    above: Buffer<f32>,
    /// The first row of the process after, or the lower edge of the grid.
    below: Buffer<f32>,
}

impl<'c> Part<'c> {
    fn new(communicator: &'c Communicator, device: &Device, problem: Problem) -> Result<Self> {
        let (rank, size) = (communicator.rank(), communicator.size());
        let rows = first_row(problem, rank + 1, size) - first_row(problem, rank, size);
        let columns = problem.columns;
        Ok(Self {
            communicator,
            module: device.load(&KERNELS)?,
            columns,
            rows,
            cells: device.zeroed(rows * columns)?,
            next: device.zeroed(rows * columns)?,
            above: device.filled(columns, if rank == 0 { 1.0 } else { 0.0 })?,
            below: device.zeroed(columns)?,
        })
    }

    fn sweep(&mut self, overlaps: bool) -> Result<()> {
        let (rank, size, columns) = (self.communicator.rank(), self.communicator.size(), self.columns);
        let last = (self.rows - 1) * columns;
        let exchange = self.communicator.start(|group| {
            if rank > 0 {
                group.send(&self.cells[..columns], rank - 1)?;
                group.receive(&mut self.above, rank - 1)?;
            }
            if rank + 1 < size {
                group.send(&self.cells[last..], rank + 1)?;
                group.receive(&mut self.below, rank + 1)?;
            }
            Ok(())
        })?;
        let exchange = if overlaps {
            Some(exchange)
        } else {
            exchange.wait()?;
            None
        };
        if self.rows > 2 {
            let config = for_each_2d(self.rows - 2, columns);
            let next = self.next[columns..last].view_2d_mut(columns)?;
            self.module.launch(inside, config, (self.cells.view_2d(columns)?, next))?;
        }
        exchange.map_or(Ok(()), Pending::detach)?;
        for row in [0, self.rows - 1] {
            let of_row = |row: usize| &self.cells[row * columns..][..columns];
            let above = if row == 0 { &self.above } else { of_row(row - 1) };
            let below = if row + 1 == self.rows { &self.below } else { of_row(row + 1) };
            let next = &mut self.next[row * columns..][..columns];
            self.module.launch(edge, for_each(columns), (above, of_row(row), below, next))?;
        }
        mem::swap(&mut self.cells, &mut self.next);
        Ok(())
    }

    /// The largest change of a cell of any process by the last sweep.
    fn change(&self, device: &Device) -> Result<f32> {
        let mut largest = device.zeroed::<u32>(1)?;
        let config = for_each(self.cells.len());
        self.module.launch(change, config, (&self.next, &self.cells, &mut largest))?;
        self.communicator.all_reduce(&mut largest, ReduceOp::Max)?;
        Ok(largest.to_vec()?.into_iter().map(f32::from_bits).fold(0.0, f32::max))
    }

    /// The rows of all processes on process 0; nothing on others.
    fn collect(&self, device: &Device, problem: Problem) -> Result<Vec<f32>> {
        let (rank, size) = (self.communicator.rank(), self.communicator.size());
        if rank > 0 {
            self.communicator.send(&self.cells, 0)?;
            return Ok(Vec::new());
        }
        let mut all = self.cells.to_vec()?;
        for from in 1..size {
            let rows = first_row(problem, from + 1, size) - first_row(problem, from, size);
            let mut part = device.zeroed::<f32>(rows * self.columns)?;
            self.communicator.receive(&mut part, from)?;
            all.extend(part.to_vec()?);
        }
        Ok(all)
    }
}

/// Solves the problem with all processes.
pub(crate) fn run(communicator: &Communicator, device: &Device, problem: Problem) -> Result<Solution> {
    // Processes are connected by their first exchange and their first collective, which takes NCCL a second or two.
    let mut first = Part::new(communicator, device, problem)?;
    first.sweep(problem.overlaps)?;
    first.change(device)?;
    let mut part = Part::new(communicator, device, problem)?;
    communicator.barrier()?;
    let start = Instant::now();
    for _ in 0..problem.sweeps {
        part.sweep(problem.overlaps)?;
    }
    let change = part.change(device)?;
    communicator.barrier()?;
    let time = start.elapsed();
    Ok(Solution { cells: part.collect(device, problem)?, change, time })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In one loop, without a device.
    fn reference(problem: Problem) -> Vec<f32> {
        let Problem { rows, columns, .. } = problem;
        let mut cells = vec![0.0; rows * columns];
        for _ in 0..problem.sweeps {
            let before = cells.clone();
            let (upper, lower) = (vec![1.0; columns], vec![0.0; columns]);
            for row in 0..rows {
                let of_row = |row: usize| &before[row * columns..][..columns];
                let above = if row == 0 { &upper } else { of_row(row - 1) };
                let below = if row + 1 == rows { &lower } else { of_row(row + 1) };
                for column in 0..columns {
                    cells[row * columns + column] =
                        jacobi_kernels::relaxed(above[column], of_row(row), below[column], column);
                }
            }
        }
        cells
    }

    #[test]
    fn every_device_computes_what_a_plain_loop_does() {
        for device in gpukernel::devices().unwrap() {
            let alone = Communicator::single(&device).unwrap();
            for (rows, columns, sweeps) in [(1, 1, 3), (1, 40, 3), (2, 3, 5), (3, 70, 9), (65, 33, 20)] {
                for overlaps in [false, true] {
                    let problem = Problem { rows, columns, sweeps, overlaps };
                    let solution = run(&alone, &device, problem).unwrap();
                    assert_eq!(solution.cells, reference(problem), "{device}: {problem:?}");
                    let before = reference(Problem { sweeps: sweeps - 1, ..problem });
                    let changes = solution.cells.iter().zip(before).map(|(a, b)| (a - b).abs());
                    assert_eq!(solution.change, changes.fold(0.0, f32::max));
                }
            }
        }
    }

    #[test]
    fn every_row_belongs_to_one_process() {
        let problem = Problem { rows: 10, columns: 1, sweeps: 0, overlaps: true };
        for size in 1..=10 {
            let firsts: Vec<_> = (0..=size).map(|rank| first_row(problem, rank, size)).collect();
            assert_eq!((firsts[0], firsts[size]), (0, 10));
            assert!(firsts.windows(2).all(|pair| pair[0] < pair[1]), "{firsts:?}");
        }
    }
}

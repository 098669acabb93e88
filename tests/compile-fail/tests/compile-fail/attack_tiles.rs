//! An element of a tile, of a block or of a view is not used by two, nor written by those who only read.

#![allow(unused)]

use gpu_std::prelude::{*, memory::*};

#[kernel]
fn two_tiles_at_once(mut y: BlockTiles<f32, 64>) {
    let first = y.first_mut();
    let again = y.first_mut();
    drop((first, again));
}

#[kernel]
fn tile_twice(y: BlockTiles<f32, 64>) {
    for mut tile in y {
        for (_, a) in &mut tile {
            for (_, b) in &mut tile {
                std::mem::swap(a, b);
            }
        }
    }
}

#[kernel]
fn tiles_again(y: BlockTiles2d<f32, 8, 8>) {
    for tile in y {}
    for tile in y {}
}

#[kernel]
fn copy_of_tile(mut y: BlockTiles2d<f32, 8, 8>) {
    if let Some(tile) = y.first_mut() {
        let copy = tile.clone();
    }
}

#[kernel]
fn element_of_another_thread(mut y: BlockTiles<f32, 64>) {
    if let Some(mut tile) = y.first_mut() {
        tile[3] = 1.0;
    }
}

#[kernel]
fn sum_of_another_block(mut y: PerBlock<f32>) {
    y[0] = 1.0;
}

#[kernel]
fn keep_a_sum(mut y: PerBlock<f32>) {
    let first = y.first_mut();
    for (_, sum) in &mut y {}
    drop(first);
}

#[kernel]
fn two_voxels(mut y: PerThread3d<f32>) {
    let first = y.get_mut((0, 0, 0));
    let second = y.get_mut((0, 0, 0));
    drop((first, second));
}

#[kernel]
fn write_a_view(x: View2d<f32>) {
    x[(0, 0)] = 1.0;
}

#[kernel]
fn write_a_row(x: View2d<f32>) {
    if let Some(row) = x.row(0) {
        row[0] = 1.0;
    }
}

#[kernel]
fn write_strided(x: ViewStrided<f32>) {
    x[0] = 1.0;
}

#[kernel]
fn wrong_index(x: View3d<f32>) {
    let value = x[(0, 0)];
}

fn main() {}
